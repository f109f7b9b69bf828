//! Samples out of the text that an exporter serves (Prometheus text exposition format 0.0.4).
//!
//! Invariant: a line that is not a sample costs itself and nothing else, whatever its bytes.
//!
//! The crates that parse this format either split label values at every comma, which DCGM's error messages hold, or
//! give a whole scrape up for one bad line; so the one rule that is needed, the sample line, is here.
//! Deliberately absent: types, help texts, histograms, timestamps (all of them are of no use to a card's reading).

use std::borrow::Cow;

/// One sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample<'t> {
    /// Name of the metric.
    pub metric: &'t str,
    /// Labels in the order of the line.
    pub labels: Vec<(&'t str, Cow<'t, str>)>,
    /// Value; may be NaN or infinite.
    pub value: f64,
}

impl Sample<'_> {
    /// The value of a label; an empty one counts as absent, as Prometheus has it.
    pub fn label(&self, name: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(key, _)| *key == name)?;
        Some(found.1.as_ref()).filter(|value| !value.is_empty())
    }
}

/// The samples of metrics that `wanted` names.
pub fn samples<'t>(
    text: &'t str,
    wanted: impl Fn(&str) -> bool + 't,
) -> impl Iterator<Item = Sample<'t>> + 't {
    text.lines().filter_map(move |line| {
        let line = line.trim();
        let end = line.find(|c: char| !is_name(c)).unwrap_or(line.len());
        let metric = line.get(..end).filter(|name| !name.is_empty() && wanted(name))?;
        sample(metric, &line[end..])
    })
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | ':')
}

/// What follows the name: labels in braces, if any, then the value, then perhaps a timestamp.
fn sample<'t>(metric: &'t str, rest: &'t str) -> Option<Sample<'t>> {
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (Vec::new(), rest),
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(Sample { metric, labels, value })
}

type Labels<'t> = Vec<(&'t str, Cow<'t, str>)>;

/// `a="x",b="y"} ...`, with a comma allowed before the brace.
fn labels(mut rest: &str) -> Option<(Labels<'_>, &str)> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let end = rest.find(|c: char| !is_name(c)).filter(|end| *end > 0)?;
        let (key, after) = rest.split_at(end);
        let (value, after) = quoted(after.trim_start().strip_prefix('=')?.trim_start())?;
        labels.push((key, value));
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}

/// A quoted value with the escapes `\\`, `\"` and `\n`.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut value = Cow::Borrowed("");
    let mut plain_from = 0;
    let mut characters = inside.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                push(&mut value, &inside[plain_from..at]);
                return Some((value, &inside[at + 1..]));
            }
            '\\' => {
                push(&mut value, &inside[plain_from..at]);
                let (next, escaped) = characters.next()?;
                match escaped {
                    'n' => value.to_mut().push('\n'),
                    '"' | '\\' => value.to_mut().push(escaped),
                    // Go's writer makes no other escape; a reader keeps what it does not know.
                    other => value.to_mut().extend(['\\', other]),
                }
                plain_from = next + escaped.len_utf8();
            }
            _ => {}
        }
    }
    None
}

fn push<'t>(value: &mut Cow<'t, str>, plain: &'t str) {
    if value.is_empty() {
        *value = Cow::Borrowed(plain);
    } else {
        value.to_mut().push_str(plain);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str) -> Vec<Sample<'_>> {
        samples(text, |_| true).collect()
    }

    #[test]
    fn commas_braces_and_escapes_in_a_label_are_part_of_its_value() {
        let text = r#"XID{gpu="0",err_msg="a, b} = \"c\"\\ \n",} 43 1395066363000"#;
        let samples = all(text);
        assert_eq!(samples.len(), 1);
        assert_eq!(samples[0].label("gpu"), Some("0"));
        assert_eq!(samples[0].label("err_msg"), Some("a, b} = \"c\"\\ \n"));
        assert!((samples[0].value - 43.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_bad_line_costs_itself_only() {
        let text = "# HELP a b\na 1\na{ 2\na{x=\"1} 3\na{x=1} 4\na x\n\u{1F4A9} 5\n\na{} 6\na +Inf\n";
        let values: Vec<f64> = all(text).into_iter().map(|sample| sample.value).collect();
        assert_eq!(values, [1.0, 6.0, f64::INFINITY]);
    }

    #[test]
    fn an_empty_label_is_no_label() {
        assert_eq!(all(r#"a{pod=""} 1"#)[0].label("pod"), None);
    }

    #[test]
    fn only_wanted_metrics_are_read() {
        let wanted: Vec<_> = samples("a 1\nab 2\nb 3", |name| name == "a").collect();
        assert_eq!(wanted.len(), 1);
    }

    proptest! {
        #[test]
        fn whatever_the_text_nothing_panics(text in ".{0,200}") {
            let _ = all(&text);
        }

        #[test]
        fn a_written_label_is_read_back(value in "[^\u{0}]{0,40}") {
            let value = value.replace(['\r', '\u{85}', '\u{2028}', '\u{b}', '\u{c}'], "");
            let written = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
            let line = format!("m{{a=\"1\",v=\"{written}\"}} 7");
            let read = all(&line);
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!(&read[0].labels[1].1, &value);
        }
    }
}

//! Text of a server, made fit for a message: short, printable, and without what we sent it.

/// At most this many characters of a server's text are shown.
const MAX_SHOWN: usize = 200;

/// The text without control and formatting characters, cut short.
pub fn words(text: &str) -> String {
    let printable = |c: &char| !c.is_control() && !is_formatting(*c);
    text.chars().filter(printable).take(MAX_SHOWN).collect()
}

/// The text, or `None` where it repeats one of the secrets that the request carried.
pub fn words_without(text: &str, secrets: &[&str]) -> Option<String> {
    let repeats = secrets.iter().any(|secret| !secret.is_empty() && text.contains(secret));
    (!repeats).then(|| words(text))
}

/// Characters that reorder or hide what stands around them (Unicode TR 36).
fn is_formatting(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_text_is_shown_short_and_printable() {
        assert_eq!(words("no\r\n\u{1b}[31mway\u{202e}"), "no[31mway");
        assert_eq!(words(&"ä".repeat(1000)).chars().count(), MAX_SHOWN);
    }

    #[test]
    fn a_text_that_repeats_a_secret_is_not_shown() {
        assert_eq!(words_without("the code c0de is spent", &["c0de"]), None);
        assert_eq!(words_without("the code is spent", &["c0de", ""]), Some("the code is spent".into()));
    }
}

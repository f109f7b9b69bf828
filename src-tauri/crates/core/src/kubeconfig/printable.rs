//! Names out of files and answers, made safe to print.

/// The longest name that is printed whole, in characters.
const MAX_CHARACTERS: usize = 200;

/// A name, safe to print: characters that control a terminal, steer the direction of text or cannot be seen are
/// escaped, and length is bounded.
pub fn printable(name: &str) -> String {
    let mut out = String::new();
    let mut characters = name.chars();
    for character in characters.by_ref().take(MAX_CHARACTERS) {
        if character.is_control() || is_invisible(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    if characters.next().is_some() {
        out.push('…');
    }
    out
}

/// Unicode's format characters (category Cf) and its separators of lines and paragraphs: what no honest name holds and
/// a name that poses as another may.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_steer_the_terminal_or_pose_as_another() {
        assert_eq!(printable("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(printable("prod\u{202e}gnigats"), "prod\\u{202e}gnigats");
        assert_eq!(printable("pro\u{200b}d"), "pro\\u{200b}d");
        assert_eq!(printable("Küche/π:6443"), "Küche/π:6443", "letters of any script stay as they are");
    }

    #[test]
    fn a_long_name_shows_that_it_was_cut() {
        let printed = printable(&"a".repeat(201));
        assert_eq!(printed.chars().count(), 201);
        assert!(printed.ends_with('…'));
    }
}

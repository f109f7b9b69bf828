//! From a file's bytes to text: UTF-8 with or without a byte order mark, and UTF-16 as PowerShell's redirection writes
//! it. Deliberately absent: guessing any other encoding.

use zeroize::Zeroizing;

use super::refusal::Refusal;

/// A larger file is not looked into. A merged kubeconfig of a busy engineer has some 300 KiB.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// The file's text, wiped when dropped.
pub fn decode(file: &[u8]) -> Result<Zeroizing<String>, Refusal> {
    if file.len() > MAX_FILE_BYTES {
        return Err(Refusal::TooLarge { size: file.len(), max: MAX_FILE_BYTES });
    }
    let not_text = |found: &str| Refusal::NotAKubeconfig { found: found.to_owned() };
    let text = match file {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => {
            let body = file.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(file);
            std::str::from_utf8(body).ok().map(|text| Zeroizing::new(text.to_owned()))
        }
    };
    let text = match text {
        Some(text) if !text.contains('\0') => text,
        None if !file.contains(&0) => return Err(not_text("it is not UTF-8 or UTF-16 text")),
        _ => return Err(not_text("it is a binary file")),
    };
    if text.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    Ok(text)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Zeroizing<String>> {
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    // A unit takes at most three bytes of UTF-8: with that much room, no growth leaves an unwiped copy behind.
    let mut text = Zeroizing::new(String::with_capacity(bytes.len() / 2 * 3));
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    for character in char::decode_utf16(units) {
        text.push(character.ok()?);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16_bytes(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        std::iter::once('\u{feff}')
            .chain(text.chars())
            .collect::<String>()
            .encode_utf16()
            .flat_map(bytes)
            .collect()
    }

    #[test]
    fn every_encoding_that_tools_write_gives_the_same_text() {
        let text = "name: Küche 🚀\r\n";
        let with_mark = format!("\u{feff}{text}");
        for bytes in [
            text.as_bytes().to_vec(),
            with_mark.into_bytes(),
            utf16_bytes(text, u16::to_le_bytes),
            utf16_bytes(text, u16::to_be_bytes),
        ] {
            assert_eq!(decode(&bytes).map(|t| t.to_string()), Ok(text.to_owned()), "{bytes:x?}");
        }
    }

    #[test]
    fn what_is_not_text_is_said_to_be_so() {
        let code = |bytes: &[u8]| decode(bytes).map_err(|refusal| refusal.to_string()).map(|_| ());
        assert!(code(b"\x1f\x8b\x08\x00").is_err_and(|text| text.contains("binary")), "gzip");
        assert!(code(b"a: caf\xe9").is_err_and(|text| text.contains("UTF-8")), "Latin-1");
        assert!(code(&[0xff, 0xfe, 0x41]).is_err(), "half a unit");
        assert!(code(&[0xff, 0xfe, 0x00, 0xd8]).is_err(), "half a surrogate pair");
        assert!(
            code(&[0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]).is_err_and(|text| text.contains("binary")),
            "UTF-32"
        );
        assert_eq!(
            decode(b"\xef\xbb\xbf \r\n\t").err(),
            Some(Refusal::Empty),
            "a mark and blanks are nothing"
        );
    }
}

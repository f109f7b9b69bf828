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
    let binary = || Refusal::NotAKubeconfig { found: "it is a binary file".into() };
    let text = match file {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes).ok_or_else(binary)?,
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes).ok_or_else(binary)?,
        _ => {
            let body = file.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(file);
            Zeroizing::new(std::str::from_utf8(body).map_err(|_| binary())?.to_owned())
        }
    };
    if text.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    if text.contains('\0') {
        return Err(binary());
    }
    Ok(text)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Zeroizing<String>> {
    if bytes.len() % 2 != 0 {
        return None;
    }
    let units =
        Zeroizing::new(bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect::<Vec<u16>>());
    String::from_utf16(&units).ok().map(Zeroizing::new)
}

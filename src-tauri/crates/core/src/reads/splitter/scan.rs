//! Finds the end of one JSON value by its brackets and quotes, a chunk at a time.

use memchr::memchr2;

use super::SplitError;

/// How far inside a value the scan is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scan {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// A number or a literal: it ends where a delimiter stands.
    bare: bool,
}

impl Scan {
    /// At the first byte of a value; `bare` for numbers and literals.
    pub fn new(bare: bool) -> Self {
        Self { bare, ..Self::default() }
    }

    /// Scans on; the length up to the end of the value, or `None` where it goes on in the next chunk.
    pub fn advance(&mut self, bytes: &[u8], max_depth: u32) -> Result<Option<usize>, SplitError> {
        if self.bare {
            let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            return Ok(bytes.iter().position(ends));
        }
        let mut pos = 0;
        loop {
            if self.in_string {
                if self.escaped {
                    if bytes.is_empty() {
                        return Ok(None);
                    }
                    pos += 1;
                    self.escaped = false;
                }
                loop {
                    let Some(found) = memchr2(b'"', b'\\', &bytes[pos..]) else { return Ok(None) };
                    pos += found + 1;
                    if bytes[pos - 1] == b'"' {
                        break;
                    }
                    if pos == bytes.len() {
                        self.escaped = true;
                        return Ok(None);
                    }
                    pos += 1;
                }
                self.in_string = false;
                if self.depth == 0 {
                    return Ok(Some(pos));
                }
            }
            loop {
                let Some(&byte) = bytes.get(pos) else { return Ok(None) };
                pos += 1;
                match byte {
                    b'"' => {
                        self.in_string = true;
                        break;
                    }
                    b'{' | b'[' => {
                        self.depth += 1;
                        if self.depth > max_depth {
                            return Err(SplitError::TooLarge {
                                what: "the nesting of an item",
                                limit: u64::from(max_depth),
                            });
                        }
                    }
                    b'}' | b']' => {
                        self.depth -= 1;
                        if self.depth == 0 {
                            return Ok(Some(pos));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

//! A buffer that wipes every copy it leaves behind.
//!
//! Invariant: growing a plain `Vec` leaves the old allocation in memory, unwiped; this one moves by hand. What the
//! HTTP and TLS libraries hold in between is theirs and is not wiped.

use std::io;

use zeroize::Zeroizing;

use super::SecretBytes;

/// Bytes that are appended and, wherever they lay, wiped.
#[derive(Default)]
pub(crate) struct WipingBuffer(SecretBytes);

impl WipingBuffer {
    /// Room for this many bytes without moving.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Zeroizing::new(Vec::with_capacity(bytes)))
    }

    /// How many bytes it holds.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        let needed = self.0.len() + bytes.len();
        if needed > self.0.capacity() {
            let mut larger = Zeroizing::new(Vec::with_capacity(needed.max(self.0.capacity() * 2)));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
    }

    /// The bytes.
    pub(crate) fn into_bytes(self) -> SecretBytes {
        self.0
    }
}

impl io::Write for WipingBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_in_pieces_is_whole_across_moves() {
        let mut buffer = WipingBuffer::with_capacity(2);
        for piece in [&b"ab"[..], b"cde", b"", b"fghijklmnop"] {
            buffer.extend(piece);
        }
        assert_eq!(buffer.len(), 16);
        assert_eq!(&**buffer.into_bytes(), b"abcdefghijklmnop");
    }
}

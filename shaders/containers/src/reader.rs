//! A bounded reader over a slice that knows where in the file it stands.
//!
//! Nothing read from a file is trusted: every step is compared with the enclosing range first, and a step
//! outside becomes a [`Finding`] with the code the reader was given.

use crate::Finding;

/// Reads little-endian values from a range of a file; offsets are absolute.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    file: &'a [u8],
    at: usize,
    end: usize,
    code: &'static str,
}

impl<'a> Reader<'a> {
    /// A reader of the whole file whose overruns carry `code`.
    pub fn new(file: &'a [u8], code: &'static str) -> Self {
        Reader { file, at: 0, end: file.len(), code }
    }

    /// A reader of `size` bytes from `offset` of the same file, both as the file states them.
    ///
    /// # Errors
    /// The range leaves the range of `self`, by 64-bit overflow too; the finding stands at `stated_at`.
    pub fn range(&self, offset: u64, size: u64, stated_at: usize, what: &str) -> Result<Reader<'a>, Finding> {
        match offset.checked_add(size) {
            // Both fit in `usize`: they do not exceed `self.end`.
            Some(end) if end <= self.end as u64 => {
                Ok(Reader { file: self.file, at: offset as usize, end: end as usize, code: self.code })
            }
            _ => Err(Finding::new(
                self.code,
                stated_at,
                format!(
                    "{what}: {size} bytes from 0x{offset:x} leave the range, which ends at 0x{:x}",
                    self.end
                ),
            )),
        }
    }

    /// The same reader, its overruns carrying another code.
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = code;
        self
    }

    /// The absolute offset of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The absolute offset just past the range.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Bytes left in the range.
    pub fn left(&self) -> usize {
        self.end - self.at
    }

    /// Whether the range is used up.
    pub fn is_empty(&self) -> bool {
        self.at == self.end
    }

    /// The rest of the range without moving.
    pub fn rest(&self) -> &'a [u8] {
        &self.file[self.at..self.end]
    }

    /// The next `size` bytes; `what` names them in the finding.
    ///
    /// # Errors
    /// Fewer bytes are left; the reader does not move.
    pub fn take(&mut self, size: usize, what: &str) -> Result<&'a [u8], Finding> {
        if size > self.left() {
            let message = format!("{what} needs {size} bytes, {} left", self.left());
            return Err(Finding::new(self.code, self.at, message));
        }
        let bytes = &self.file[self.at..self.at + size];
        self.at += size;
        Ok(bytes)
    }

    /// The next `size` bytes as a reader of their own.
    ///
    /// # Errors
    /// As [`Reader::take`].
    pub fn split(&mut self, size: usize, what: &str) -> Result<Reader<'a>, Finding> {
        let at = self.at;
        self.take(size, what)?;
        Ok(Reader { file: self.file, at, end: at + size, code: self.code })
    }

    /// The next `N` bytes as an array.
    ///
    /// # Errors
    /// As [`Reader::take`].
    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Finding> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N, what)?);
        Ok(out)
    }

    /// The next byte. Errors as [`Reader::take`].
    pub fn u8(&mut self, what: &str) -> Result<u8, Finding> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    /// The next 16-bit value. Errors as [`Reader::take`].
    pub fn u16(&mut self, what: &str) -> Result<u16, Finding> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// The next 32-bit value. Errors as [`Reader::take`].
    pub fn u32(&mut self, what: &str) -> Result<u32, Finding> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// The next 64-bit value. Errors as [`Reader::take`].
    pub fn u64(&mut self, what: &str) -> Result<u64, Finding> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// The bytes up to the next NUL, which is skipped; `None` (and no move) when there is none in the range.
    pub fn c_string(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        let length = rest.iter().position(|&byte| byte == 0)?;
        self.at += length + 1;
        Some(&rest[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_outside_are_findings_and_do_not_move() {
        let mut reader = Reader::new(&[1, 2, 3, 4, 5], "X01");
        assert_eq!(reader.u32("word").unwrap(), 0x0403_0201);
        let finding = reader.u32("word").unwrap_err();
        assert_eq!((finding.code, finding.offset), ("X01", 4));
        assert_eq!((reader.at(), reader.left()), (4, 1));
    }

    #[test]
    fn ranges_refuse_64_bit_wrap() {
        let reader = Reader::new(&[0; 16], "X02");
        assert_eq!(reader.range(u64::MAX - 3, 8, 7, "table").unwrap_err().offset, 7);
        assert_eq!(reader.range(8, 8, 0, "table").unwrap().left(), 8);
        assert!(reader.range(8, 9, 0, "table").is_err());
    }

    #[test]
    fn strings_end_at_their_nul_or_not_at_all() {
        let mut reader = Reader::new(b"ab\0cd", "X03");
        assert_eq!(reader.c_string(), Some(&b"ab"[..]));
        assert_eq!(reader.c_string(), None);
        assert_eq!(reader.at(), 3);
    }
}

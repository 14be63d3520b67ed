//! Bytes as choices.

/// Takes numbers from bytes; behind their end all are zero.
pub struct Source<'a>(pub &'a [u8]);

impl Source<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    pub fn below(&mut self, n: usize) -> usize {
        let value = if n > 256 { self.word() as usize } else { usize::from(self.byte()) };
        value % n.max(1)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Often an edge case, otherwise anything.
    pub fn strange(&mut self) -> u32 {
        match self.byte() {
            0..100 => self.pick(&[0, 1, 2, 3, 4, 0x7f, 0x80, 0xff, 0xffff, 0x1_0000, 0x7fff_ffff, u32::MAX]),
            100..180 => u32::from(self.byte()),
            _ => self.word(),
        }
    }
}

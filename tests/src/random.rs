//! The source of all choices.

/// SplitMix64: a program follows from its seed, on every host.
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn long(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb)
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        (self.long() >> 32) as u32
    }

    /// A number from 0 on.
    pub fn below(&mut self, limit: usize) -> usize {
        self.word() as usize % limit
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

//! The instruction chain of a fragment program (containers.md §1.5). Instructions have variable length; the
//! first word of each is a control word:
//!
//! | bits | meaning |
//! |------|---------|
//! | 0–4 | words in this instruction, control word included |
//! | 5 | end of shader |
//! | 6 | synchronise |
//! | 7–18 | which [units](Unit) have a field |
//! | 19–24 | words in the next instruction, 0 for the last |
//! | 25 | prefetch |

/// A unit of the pixel processor that can have a field in an instruction; `ALL` lists them from bit 7 up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Short name for listings.
    pub name: &'static str,
    /// Width of its field in bits.
    pub bits: u32,
}

impl Unit {
    /// The twelve units in the order of their enable bits, 7 to 18.
    pub const ALL: [Unit; 12] = [
        Unit { name: "varying", bits: 34 },
        Unit { name: "texture", bits: 62 },
        Unit { name: "load", bits: 41 },
        Unit { name: "vec4_mul", bits: 43 },
        Unit { name: "scalar_mul", bits: 30 },
        Unit { name: "vec4_add", bits: 44 },
        Unit { name: "scalar_add", bits: 31 },
        Unit { name: "combine", bits: 30 },
        Unit { name: "store", bits: 41 },
        Unit { name: "branch", bits: 73 },
        Unit { name: "const0", bits: 64 },
        Unit { name: "const1", bits: 64 },
    ];
}

/// One instruction of a fragment program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PpInstruction<'a> {
    /// Byte offset from the start of the code.
    pub offset: usize,
    /// Its control word.
    pub control: u32,
    /// All its bytes, control word included.
    pub bytes: &'a [u8],
}

impl PpInstruction<'_> {
    /// Words in this instruction by its own count.
    pub fn words(&self) -> u32 {
        self.control & 0x1F
    }

    /// Whether the end bit is set. A discarding program has it twice.
    pub fn is_end(&self) -> bool {
        self.control & 1 << 5 != 0
    }

    /// Whether the synchronise bit is set.
    pub fn is_sync(&self) -> bool {
        self.control & 1 << 6 != 0
    }

    /// Words in the next instruction as this one states them; 0 for the last.
    pub fn next_words(&self) -> u32 {
        self.control >> 19 & 0x3F
    }

    /// The units that have a field.
    pub fn units(&self) -> impl Iterator<Item = Unit> {
        let enabled = self.control >> 7;
        Unit::ALL
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| enabled >> bit & 1 != 0)
            .map(|(_, unit)| unit)
    }

    /// The length the units' fields need, in words.
    pub fn words_needed(&self) -> u32 {
        (32 + self.units().map(|unit| unit.bits).sum::<u32>()).div_ceil(32)
    }
}

/// Iterator over the instructions of a fragment program; see [`pp_walk`].
#[derive(Clone, Debug)]
pub struct PpWalk<'a> {
    code: &'a [u8],
    at: usize,
}

/// Walks the instructions of `code`. An `Err` is the last item: the byte offset of a control word that says zero
/// words, or more than are left.
pub fn pp_walk(code: &[u8]) -> PpWalk<'_> {
    PpWalk { code, at: 0 }
}

impl<'a> Iterator for PpWalk<'a> {
    type Item = Result<PpInstruction<'a>, usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let left = self.code.get(self.at..)?;
        if left.is_empty() {
            return None;
        }
        let offset = self.at;
        let instruction = left.first_chunk().and_then(|word| {
            let control = u32::from_le_bytes(*word);
            let bytes = left.get(..(control & 0x1F) as usize * 4).filter(|bytes| !bytes.is_empty())?;
            Some(PpInstruction { offset, control, bytes })
        });
        self.at = instruction.map_or(self.code.len(), |instruction| offset + instruction.bytes.len());
        Some(instruction.ok_or(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 20-byte clear program of containers.md §1.5: vec4 add and constant 0 make 140 bits.
    #[test]
    fn clear_program_is_one_instruction_of_five_words() {
        let words = [0x0002_1025u32, 0xe4c, 0x03c0_07cf, 0x03c0_03c0, 0x3c0];
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let list: Vec<_> = pp_walk(&code).collect::<Result<_, _>>().unwrap();
        assert_eq!(list.len(), 1);
        assert_eq!((list[0].words(), list[0].words_needed(), list[0].next_words()), (5, 5, 0));
        assert!(list[0].is_end());
        assert_eq!(list[0].units().map(|unit| unit.name).collect::<Vec<_>>(), ["vec4_add", "const0"]);
    }

    #[test]
    fn a_zero_length_or_an_overrun_ends_the_walk() {
        assert_eq!(pp_walk(&[0x20, 0, 0, 0]).collect::<Vec<_>>(), [Err(0)]);
        let list: Vec<_> = pp_walk(&[1, 0, 0, 0, 2, 0, 0, 0]).collect();
        assert_eq!((list.len(), list[1]), (2, Err(4)));
    }
}

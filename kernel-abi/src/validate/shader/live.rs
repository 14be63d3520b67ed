//! What is known about register contents (kernel-abi.md §6.2, SHD-19 and SHD-20): clamped offsets and
//! immediates in regfile A and B 0–31 and r0–r3.

use super::word::{Unit, Word};
use crate::validate::violation::Mode;
use vc4::qpu::{AddOp, Cond, Mux, Pack, Signal, Waddr};

/// Place of file B in the table.
const FILE_B: usize = 32;
/// Place of r0.
const ACCUMULATORS: usize = 64;
/// Registers in the table.
const COUNT: usize = 68;

/// What the kernel writes where it knows nothing.
const NO_WORD: u32 = !0;
/// Clamps, of a word each, stand in front of this in the kernel's memory: flags of a byte each, for maxima. Immediates
/// follow, of a word each.
const FLAG_WORDS: usize = COUNT / 4;

#[derive(Clone, Copy, Default)]
struct Known {
    /// Result of a maximum with 0.
    not_negative: bool,
    /// Result of a minimum of such a value with the uniform at this byte.
    clamped_by: Option<u32>,
    /// Result of a load immediate.
    immediate: Option<u32>,
}

/// The table.
pub struct Live {
    mode: Mode,
    known: [Known; COUNT],
}

impl Live {
    /// Nothing is known.
    pub fn new(mode: Mode) -> Live {
        Live { mode, known: [Known::default(); COUNT] }
    }

    /// After a thread switch the other thread has used r0–r3.
    pub fn forget_accumulators(&mut self) {
        self.known[ACCUMULATORS..].fill(Known::default());
    }

    /// The uniform that clamps the first operand of the add unit.
    pub fn clamp_of_add_a(&self, word: Word) -> Option<u32> {
        let register = self.add_a(word)?;
        match self.known.get(register) {
            Some(known) => known.clamped_by,
            None => Some(self.behind_clamps(register - COUNT)).filter(|&word| word != NO_WORD),
        }
    }

    /// The immediate that the first operand of the add unit holds. Behind its immediates the kernel finds a pointer, which
    /// is taken for no offset.
    pub fn immediate_of_add_a(&self, word: Word) -> Option<u32> {
        self.known.get(self.add_a(word)?)?.immediate
    }

    /// Whether the first operand of the add unit is a maximum with 0.
    fn add_a_is_not_negative(&self, word: Word) -> bool {
        let Some(register) = self.add_a(word) else { return false };
        match self.known.get(register) {
            Some(known) => known.not_negative,
            None => self.immediate_word((register - COUNT) / 4).to_le_bytes()[(register - COUNT) % 4] != 0,
        }
    }

    /// What the kernel takes for a clamp: a word so many words behind its clamps.
    fn behind_clamps(&self, index: usize) -> u32 {
        match index.checked_sub(FLAG_WORDS) {
            None => {
                u32::from_le_bytes(std::array::from_fn(|i| u8::from(self.known[4 * index + i].not_negative)))
            }
            Some(index) => self.immediate_word(index),
        }
    }

    fn immediate_word(&self, register: usize) -> u32 {
        self.known[register].immediate.unwrap_or(NO_WORD)
    }

    /// Notes or forgets what a write does to the immediate of its destination.
    pub fn track_immediate(&mut self, word: Word, unit: Unit) {
        if let Some(register) = written(word, unit) {
            let loads = word.signal() == Signal::LoadImm
                && word.pack() == Pack::Nop.code()
                && word.cond(unit) == Cond::Always.code();
            self.known[register].immediate = loads.then_some(word.imm() as u32);
        }
    }

    /// Notes and forgets clamps; `uniforms` is the position of the uniform that this word would read.
    pub fn track_clamps(&mut self, word: Word, uniforms: u32) {
        let add_a_not_negative = self.add_a_is_not_negative(word);
        for unit in [Unit::Mul, Unit::Add] {
            if let Some(register) = written(word, unit) {
                self.known[register].not_negative = false;
                self.known[register].clamped_by = None;
            }
        }
        let Some(register) = written(word, Unit::Add) else { return };
        // The kernel tracks load immediates that look like a MIN, and ignores pack and unpack.
        let trusted = word.signal() != Signal::LoadImm && !word.changes_add_value();
        if word.cond(Unit::Add) != Cond::Always.code() || self.mode == Mode::Strict && !trusted {
            return;
        }
        let small = word.signal() == Signal::SmallImm;
        if word.op_add() == AddOp::Max.code() {
            let with_zero =
                small && word.raddr_b() == 0 && (word.add_a() == Mux::B || word.add_b() == Mux::B);
            self.known[register].not_negative = with_zero;
        } else if word.op_add() == AddOp::Min.code() && add_a_not_negative {
            let with_uniform = word.add_b_is_uniform() && !(small && word.add_b() == Mux::B);
            self.known[register].clamped_by = with_uniform.then_some(uniforms);
        }
    }

    /// The register that the first operand of the add unit comes from.
    ///
    /// The kernel takes any read address for a register number: peripherals of file A alias file B, those of file B alias
    /// r0–r3 or, from [`COUNT`] on, leave its tables: it finds what stands behind them.
    fn add_a(&self, word: Word) -> Option<usize> {
        let file = |base: usize, raddr: u8| {
            (raddr < 32 || self.mode == Mode::Faithful).then_some(base + usize::from(raddr))
        };
        match word.add_a() {
            Mux::A => file(0, word.raddr_a()),
            Mux::B if word.signal() != Signal::SmallImm => file(FILE_B, word.raddr_b()),
            mux @ (Mux::R0 | Mux::R1 | Mux::R2 | Mux::R3) => Some(ACCUMULATORS + usize::from(mux.code())),
            _ => None,
        }
    }
}

/// The register that a unit writes.
fn written(word: Word, unit: Unit) -> Option<usize> {
    let waddr = word.waddr(unit);
    let code = usize::from(waddr.code());
    match waddr {
        waddr if waddr.is_reg() => Some(if word.writes_file_b(unit) { FILE_B + code } else { code }),
        Waddr::R0 | Waddr::R1 | Waddr::R2 | Waddr::R3 => {
            Some(ACCUMULATORS + code - usize::from(Waddr::R0.code()))
        }
        _ => None,
    }
}

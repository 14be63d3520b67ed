//! The state of a QPU between two instructions.

use vc4::facts::Facts;
use vc4::hw::LANES;
use vc4::qpu::SmallImm;

use super::op::slot;
use crate::lanes::{LaneMask, Lanes};
use crate::stats::{Caches, Note};
use crate::tmu::Tmu;

/// The fragment payload (qpu.md §4.3); vertex and coordinate programs start with zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// W of each pixel, float.
    pub ra15: Lanes,
    /// Z of each pixel, 24 bits.
    pub rb15: Lanes,
}

/// What accumulators and flags hold after a thread switch: nothing a program may rely on (qpu.md §1.4).
pub(super) const LOST_IN_SWITCH: Lost = Lost { word: 0xdead_4dea, flags: [0x5555, 0x3333, 0x0f0f] };

/// See [`LOST_IN_SWITCH`].
pub(super) struct Lost {
    /// In every element.
    pub word: u32,
    /// Z, N and C.
    pub flags: [LaneMask; 3],
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Register(pub(super) Lanes);

/// The state of one QPU. Reusing it for the next instance keeps decoded texture set-ups.
pub struct Qpu {
    pub(super) regs: [Register; slot::COUNT],
    pub(super) z: LaneMask,
    pub(super) n: LaneMask,
    pub(super) c: LaneMask,
    pub(super) uniforms: u32,
    pub(super) semaphores: [u8; 16],
    pub(super) tmus: [Tmu; 2],
    /// Instruction that runs, or at which the last instance stopped.
    pub(super) pc: usize,
    /// How the machine behaves.
    pub(super) facts: Facts,
    /// The caches it sees, while somebody counts them.
    pub(super) caches: Option<Box<Caches>>,
}

impl Default for Qpu {
    fn default() -> Qpu {
        Qpu::new()
    }
}

impl Qpu {
    /// A QPU with all registers zero.
    pub fn new() -> Qpu {
        Qpu::of(&Facts::default())
    }

    /// One of a machine that behaves so.
    pub fn of(facts: &Facts) -> Qpu {
        let mut regs = [Register([0; LANES]); slot::COUNT];
        regs[usize::from(slot::ELEMENT)] = Register(std::array::from_fn(|i| i as u32));
        for code in 0..48 {
            regs[usize::from(slot::SMALL + code)] = Register([SmallImm::new(code).value(); LANES]);
        }
        Qpu {
            regs,
            z: 0,
            n: 0,
            c: 0,
            uniforms: 0,
            semaphores: [0; 16],
            tmus: [Tmu::of(facts), Tmu::of(facts)],
            pc: 0,
            facts: *facts,
            caches: None,
        }
    }

    /// Other work begins, on a slice that has not seen it.
    pub fn cool_down(&mut self) {
        if let Some(caches) = &mut self.caches {
            caches.cool_down();
        }
    }

    /// A register by its slot.
    pub(super) fn register(&self, s: u8) -> &Lanes {
        &self.regs[usize::from(s) & (slot::COUNT - 1)].0
    }

    /// Z, N and C.
    pub(super) fn flags(&self) -> [LaneMask; 3] {
        [self.z, self.n, self.c]
    }

    /// Where the next uniform comes from.
    pub(super) fn uniform_address(&self) -> u32 {
        self.uniforms
    }

    /// TMU results that were requested and not loaded.
    pub(super) fn outstanding(&self) -> usize {
        self.tmus.iter().map(Tmu::outstanding).sum()
    }

    /// Lines that the last request of a unit read.
    pub(super) fn last_lines(&self, unit: u8) -> &[u32] {
        self.tmus[usize::from(unit) & 1].last_lines()
    }

    /// A rule of the TMUs that was broken.
    pub(super) fn take_note(&mut self) -> Option<Note> {
        self.tmus.iter_mut().find_map(Tmu::take_note)
    }
}

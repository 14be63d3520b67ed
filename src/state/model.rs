//! An emitter that computes: one element, with the QPU's arithmetic. The patches' tests run on it, and what the host does in a
//! program's place.

use super::{Emitter, Flag, SampleEmitter, StateUniform, StateWords, refined};
use crate::qpu::alu::{add_value, mul_value};
use crate::qpu::pack::{f32_to_f16, float_to_unorm8, unpack};
use crate::qpu::{AddOp, MulOp, Unpack, sfu};

/// What a patch did.
#[derive(Clone, Debug)]
pub struct Model {
    state: StateWords,
    /// Destination colour per sample, consumed by reads.
    pub destination: Vec<u32>,
    /// Words written to the VPM.
    pub vpm: Vec<u32>,
    /// Colours written to all samples.
    pub color: Vec<u32>,
    /// Colours written sample by sample.
    pub samples: Vec<u32>,
    /// Depth writes.
    pub z: Vec<u32>,
    /// Stencil words.
    pub stencil: Vec<u32>,
    /// The pixel's sample mask.
    pub mask: u32,
    /// Facing, 1 for back faces.
    pub reverse: u32,
    /// The pixel's depth.
    pub payload_z: u32,
    /// Colour reads so far.
    pub reads: usize,
}

impl Model {
    pub fn new(state: StateWords) -> Self {
        Model {
            state,
            destination: Vec::new(),
            vpm: Vec::new(),
            color: Vec::new(),
            samples: Vec::new(),
            z: Vec::new(),
            stencil: Vec::new(),
            mask: 15,
            reverse: 0,
            payload_z: 0,
            reads: 0,
        }
    }
}

impl Emitter for Model {
    type Value = u32;

    fn word(&mut self, bits: u32) -> u32 {
        bits
    }
    fn uniform(&mut self, slot: StateUniform) -> u32 {
        self.state.word(slot)
    }
    fn add(&mut self, op: AddOp, a: u32, b: u32) -> u32 {
        add_value(op, a, b)
    }
    fn mul(&mut self, op: MulOp, a: u32, b: u32) -> u32 {
        mul_value(op, a, b)
    }
    fn recip(&mut self, a: u32) -> u32 {
        refined(self, a, |_, a| sfu::recip(a))
    }
    fn unpack(&mut self, from: u32, code: Unpack, float: bool) -> u32 {
        unpack(code, from, float)
    }
    fn pack_unorm8(&mut self, rgba: [u32; 4]) -> u32 {
        rgba.iter().rev().fold(0, |word, &value| word << 8 | float_to_unorm8(value))
    }
    fn log2(&mut self, a: u32) -> u32 {
        sfu::log2(a)
    }
    fn exp2(&mut self, a: u32) -> u32 {
        sfu::exp2(a)
    }
    fn pack_half_floats(&mut self, low: u32, high: u32) -> u32 {
        f32_to_f16(high) << 16 | f32_to_f16(low)
    }
    fn pack_halves(&mut self, low: u32, high: u32) -> u32 {
        high << 16 | low & 0xffff
    }
    fn select(&mut self, flag: Flag, on: u32, yes: u32, no: u32) -> u32 {
        let holds = match flag {
            Flag::Zero => on == 0,
            Flag::NotZero => on != 0,
            Flag::Negative => on >> 31 == 1,
            Flag::NotNegative => on >> 31 == 0,
        };
        if holds { yes } else { no }
    }
    fn tlb_color(&mut self) -> u32 {
        self.reads += 1;
        self.destination[self.reads - 1]
    }
    fn write_tlb_color(&mut self, v: u32) {
        self.color.push(v);
    }
    fn write_tlb_z(&mut self, z: u32) {
        self.z.push(z);
    }
    fn write_tlb_stencil(&mut self, word: u32) {
        assert!(self.z.len() < 2, "stencil words come before the depth");
        self.stencil.push(word);
    }
    fn write_vpm(&mut self, v: u32) {
        self.vpm.push(v);
    }
    fn payload_z(&mut self) -> u32 {
        self.payload_z
    }
}

impl SampleEmitter for Model {
    fn write_tlb_color_sample(&mut self, v: u32) {
        self.samples.push(v);
    }
    fn coverage(&mut self) -> u32 {
        self.mask
    }
    fn reverse(&mut self) -> u32 {
        self.reverse
    }
    fn write_coverage(&mut self, mask: u32) {
        self.mask = mask;
    }
}

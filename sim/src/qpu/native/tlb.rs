//! The tile buffer: depth tests without stencil and colours of pixels with one sample, a quad at a time. All else is left to
//! the interpreter's functions.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use vc4::hw::DEPTH_MAX;
use vc4::qpu::Cond;

use super::emit::{ADDRESS, Emitter, UNALIGNED, trusted};
use super::layout::{self, VECTOR_BYTES, VECTORS, context};
use super::part::{ByFlag, by_flag};
use super::vector::WORDS;
use crate::lanes::Lanes;
use crate::qpu::op::slot;
use crate::qpu::ports::Tlb;

/// Bits below the depth in a word of depth and stencil.
const STENCIL_BITS: i64 = 8;

impl Emitter<'_> {
    /// Tests the depths in a slot and stores those that pass.
    pub fn test_depth(&mut self, from: u8, cond: Cond, otherwise: impl FnOnce(&mut Self)) {
        let (tlb, blocks) = self.open_tlb();
        let [less, equal, greater, write] =
            [offset_of!(Tlb, less), offset_of!(Tlb, equal), offset_of!(Tlb, greater), offset_of!(Tlb, write)]
                .map(|at| {
                    let word = self.build.ins().load(types::I32, trusted(), tlb, at as i32);
                    self.build.ins().splat(WORDS, word)
                });
        let samples = self.build.ins().load(ADDRESS, trusted(), tlb, offset_of!(Tlb, zs) as i32);
        let (mut passed, mut masked) = (Vec::new(), Vec::new());
        for quad in 0..VECTORS {
            let (flags, live) = self.live_elements(tlb, quad);
            let chosen = self.chosen(cond, quad);
            let z = self.build.ins().load(WORDS, trusted(), self.qpu, layout::register(from, quad));
            let z = self.on_constants(|v| v.and_with(z, DEPTH_MAX));
            let place = self.quad(tlb, samples, quad);
            let old = self.build.ins().load(WORDS, UNALIGNED, place, 0);
            let stored = self.build.ins().ushr_imm(old, STENCIL_BITS);
            // Depths have 24 bits: they compare as signed numbers.
            let order =
                [(IntCC::SignedLessThan, less), (IntCC::Equal, equal), (IntCC::SignedGreaterThan, greater)];
            let mut passes = live;
            let [a, b, c] = order.map(|(order, wanted)| {
                let holds = self.build.ins().icmp(order, z, stored);
                self.build.ins().band(holds, wanted)
            });
            let any = self.build.ins().bor(a, b);
            let any = self.build.ins().bor(any, c);
            passes = self.build.ins().band(passes, any);
            if let Some(chosen) = chosen {
                passes = self.build.ins().band(passes, chosen);
                let given = self.nonzero(flags);
                let dropped = self.build.ins().band_not(given, chosen);
                masked.push(dropped);
            }
            let depth = self.build.ins().ishl_imm(z, STENCIL_BITS);
            let stencil = self.on_constants(|v| v.and_with(old, (1 << STENCIL_BITS) - 1));
            let new = self.build.ins().bor(depth, stencil);
            let stores = self.build.ins().band(passes, write);
            let new = self.build.ins().bitselect(stores, new, old);
            self.build.ins().store(UNALIGNED, new, place, 0);
            let left = self.build.ins().band(flags, passes);
            self.build.ins().store(UNALIGNED, left, tlb, flags_of(quad));
            passed.push(passes);
        }
        self.add_elements(tlb, offset_of!(Tlb, passed), &passed);
        self.add_elements(tlb, offset_of!(Tlb, masked), &masked);
        let at = offset_of!(Tlb, tests) as i32;
        let tests = self.build.ins().load(types::I32, trusted(), tlb, at);
        let tests = self.build.ins().iadd_imm(tests, 1);
        self.build.ins().store(trusted(), tests, tlb, at);
        self.or_else(blocks, otherwise);
    }

    /// Writes the colours in a slot.
    pub fn write_color(&mut self, from: u8, cond: Cond, otherwise: impl FnOnce(&mut Self)) {
        let (tlb, blocks) = self.open_tlb();
        let samples = self.build.ins().load(ADDRESS, trusted(), tlb, offset_of!(Tlb, color) as i32);
        let mut colored = Vec::new();
        for quad in 0..VECTORS {
            let (flags, mut live) = self.live_elements(tlb, quad);
            let mut given = self.nonzero(flags);
            if let Some(chosen) = self.chosen(cond, quad) {
                live = self.build.ins().band(live, chosen);
                given = self.build.ins().band(given, chosen);
            }
            let color = self.build.ins().load(WORDS, trusted(), self.qpu, layout::register(from, quad));
            let place = self.quad(tlb, samples, quad);
            let old = self.build.ins().load(WORDS, UNALIGNED, place, 0);
            let new = self.build.ins().bitselect(live, color, old);
            self.build.ins().store(UNALIGNED, new, place, 0);
            colored.push(given);
        }
        self.add_elements(tlb, offset_of!(Tlb, colored), &colored);
        self.or_else(blocks, otherwise);
    }

    /// Brings the pixels' colours to r4.
    pub fn read_color(&mut self, otherwise: impl FnOnce(&mut Self)) {
        let (tlb, blocks) = self.open_tlb();
        let samples = self.build.ins().load(ADDRESS, trusted(), tlb, offset_of!(Tlb, color) as i32);
        for quad in 0..VECTORS {
            let place = self.quad(tlb, samples, quad);
            let color = self.build.ins().load(WORDS, UNALIGNED, place, 0);
            self.build.ins().store(trusted(), color, self.qpu, layout::register(slot::R4, quad));
        }
        self.or_else(blocks, otherwise);
    }

    /// Goes on with the tile buffer, where there is one that code may use.
    fn open_tlb(&mut self) -> (Value, [Block; 2]) {
        let [access, call, done] = [(); 3].map(|()| self.build.create_block());
        self.build.set_cold_block(call);
        let tlb = self.build.ins().load(ADDRESS, trusted(), self.context, context::TLB as i32);
        self.build.ins().brif(tlb, access, &[], call, &[]);
        self.build.switch_to_block(access);
        self.pool.loaded.clear();
        (tlb, [call, done])
    }

    /// The address of a quad's samples.
    fn quad(&mut self, tlb: Value, samples: Value, quad: usize) -> Value {
        let at = offset_of!(Tlb, quads) + quad * size_of::<u32>();
        let offset = self.build.ins().uload32(trusted(), tlb, at as i32);
        self.build.ins().iadd(samples, offset)
    }

    /// A quad's multisample masks, and the elements whose only sample is among them.
    fn live_elements(&mut self, tlb: Value, quad: usize) -> (Value, Value) {
        let flags = self.build.ins().load(WORDS, UNALIGNED, tlb, flags_of(quad));
        let first = self.build.ins().ishl_imm(flags, 31);
        (flags, self.build.ins().sshr_imm(first, 31))
    }

    /// The elements whose word is not zero.
    fn nonzero(&mut self, words: Value) -> Value {
        let zero = self.on_constants(|v| v.constant(0));
        let is_zero = self.build.ins().icmp(IntCC::Equal, words, zero);
        self.build.ins().bnot(is_zero)
    }

    /// The elements of a quad in which a condition holds; `None` for all.
    fn chosen(&mut self, cond: Cond, quad: usize) -> Option<Value> {
        let (flag, set) = match by_flag(cond) {
            ByFlag::Always => return None,
            ByFlag::Never => return Some(self.on_constants(|v| v.constant(0))),
            ByFlag::Where { flag, set } => (flag, set),
        };
        let bits = self.build.ins().uload16(types::I32, trusted(), self.qpu, layout::FLAGS[flag] as i32);
        let bits = self.build.ins().splat(WORDS, bits);
        let lanes = self.on_constants(|v| v.constants(std::array::from_fn(|i| 1 << (quad * 4 + i))));
        let own = self.build.ins().band(bits, lanes);
        let holds = self.build.ins().icmp(IntCC::Equal, own, lanes);
        Some(if set { holds } else { self.build.ins().bnot(holds) })
    }

    /// Adds the elements of all quads to a set of them.
    fn add_elements(&mut self, tlb: Value, at: usize, quads: &[Value]) {
        if quads.is_empty() {
            return;
        }
        let mut all = self.build.ins().load(types::I32, trusted(), tlb, at as i32);
        for (quad, &mask) in quads.iter().enumerate() {
            let four = self.build.ins().vhigh_bits(types::I32, mask);
            let four = self.build.ins().ishl_imm(four, 4 * quad as i64);
            all = self.build.ins().bor(all, four);
        }
        self.build.ins().store(trusted(), all, tlb, at as i32);
    }
}

/// The place of a quad's multisample masks.
fn flags_of(quad: usize) -> i32 {
    const { assert!(VECTORS * VECTOR_BYTES == size_of::<Lanes>()) };
    (offset_of!(Tlb, ms_flags) + quad * VECTOR_BYTES) as i32
}

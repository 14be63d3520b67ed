//! Runs of arithmetic: straight code over a few elements at a time.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlags, Value, types};
use vc4::qpu::{AddOp, Cond, MulOp, Pack, SmallImm};

use super::emit::{ADDRESS, Emitter, LITTLE, trusted};
use super::known::{CHECKED, Floats, Known, SMALLEST, SUSPICIOUS};
use super::layout::{self, VECTOR_BYTES, VECTORS, context};
use super::part::{ByFlag, FLAGS, Part, bit, by_flag, has_pixel, has_uniform, is_constant};
use super::vector::{FLOATS, Memo, Vector, WORDS, Word};
use super::work::Work;
use crate::lanes::{Lanes, immediate};
use crate::qpu::op::{Dest, Op, Port, extra, slot};
use crate::qpu::ports::Coefficients;

/// Vectors of four elements that are computed side by side: programs are chains, in which a host waits for one result after the
/// other.
const WIDTH: usize = 2;

impl Emitter<'_> {
    /// Instructions without effects outside of the elements, a few elements after the other. Where floats leave the range in
    /// which the host's arithmetic is the QPU's, the interpreter does it again for the elements that are not done.
    pub fn run(&mut self, run: &[(usize, Part)], live: u128, end: usize) {
        let ops: Vec<(usize, Op)> = run
            .iter()
            .filter_map(|(at, part)| if let Part::Alu(op) = part { Some((*at, *op)) } else { None })
            .collect();
        let (again, done) = (self.build.create_block(), self.build.create_block());
        self.build.set_cold_block(again);
        self.build.append_block_param(again, ADDRESS);
        let uniforms = run.iter().map(|(_, part)| part.uniforms()).sum::<u32>();
        let varyings = run.iter().map(|(_, part)| part.varyings()).sum::<u32>();
        let mut streams = Streams::default();
        if uniforms > 0 {
            self.open_uniforms(&mut streams, &ops, uniforms, again);
        }
        if varyings > 0 {
            self.open_varyings(&mut streams, varyings, again);
        }
        if ops.iter().any(|(_, op)| has_pixel(op)) {
            let pixels = self.build.ins().load(ADDRESS, trusted(), self.context, context::PIXELS as i32);
            streams.pixels = Some(pixels);
        }
        // The same code for each vector or two: less to compile, and to hold in the host's instruction cache.
        let (body, behind) = (self.build.create_block(), self.build.create_block());
        self.build.append_block_param(body, ADDRESS);
        let start = self.build.ins().iconst(ADDRESS, 0);
        self.build.ins().jump(body, &[BlockArg::Value(start)]);
        self.build.switch_to_block(body);
        let offset = self.build.block_params(body)[0];
        let registers = self.build.ins().iadd(self.qpu, offset);
        let mut elements = Elements::new(offset, registers, streams);
        self.pool.loaded.clear();
        for (_, op) in &ops {
            self.alu(&mut elements, op);
        }
        self.check(&elements, again);
        self.store(&mut elements, live);
        let written = elements.written;
        self.floating = elements.floating(self.floating);
        let next = self.build.ins().iadd_imm(offset, (WIDTH * VECTOR_BYTES) as i64);
        let over = self.build.ins().icmp_imm(IntCC::Equal, next, (VECTORS * VECTOR_BYTES) as i64);
        self.build.ins().brif(over, behind, &[], body, &[BlockArg::Value(next)]);
        self.build.switch_to_block(behind);
        if let Some(next) = streams.uniforms_behind {
            self.build.ins().store(trusted(), next, self.qpu, layout::UNIFORMS as i32);
        }
        if let Some(next) = streams.varyings_behind {
            self.build.ins().store(trusted(), next, self.context, context::NEXT as i32);
        }
        self.build.ins().jump(done, &[]);

        self.build.switch_to_block(again);
        let offset = self.build.block_params(again)[0];
        let first = self.build.ins().ireduce(types::I32, offset);
        let first = self.build.ins().ushr_imm(first, size_of::<u32>().ilog2() as i64);
        let work = self.work.len() as u32;
        let written = (0..slot::COUNT as u8 - 1).filter(|&s| written & bit(s) != 0).collect();
        self.work.push(Work::Run { ops, written });
        self.perform(work, first, end);
        self.build.ins().jump(done, &[]);
        self.build.switch_to_block(done);
    }

    /// Goes on where a condition holds, which all elements share; else the interpreter does everything.
    fn go_on_if(&mut self, condition: Value, again: Block) {
        let on = self.build.create_block();
        let first = self.build.ins().iconst(ADDRESS, 0);
        self.build.ins().brif(condition, on, &[], again, &[BlockArg::Value(first)]);
        self.build.switch_to_block(on);
    }

    /// Goes on where words that all elements share are no suspects, which are known in front of the loop; those which are
    /// compared have normal exponents, too, or are zero.
    fn go_on_if_usual(&mut self, words: impl Iterator<Item = (Value, i32, Use)>, again: Block) {
        let little = trusted().with_endianness(LITTLE);
        // The largest of those that count from zero, and of those that count from the smallest float.
        let mut most = [None; 2];
        for (address, at, used) in words {
            let word = self.build.ins().load(types::I32, little, address, at);
            let magnitude = self.build.ins().iadd(word, word);
            let (magnitude, most) = match used {
                Use::Other => continue,
                Use::Sum => (magnitude, &mut most[0]),
                Use::Order => {
                    let above = self.build.ins().iadd_imm(magnitude, -i64::from(SMALLEST));
                    let zero = self.build.ins().iconst(types::I32, 0);
                    let is_zero = self.build.ins().icmp(IntCC::Equal, word, zero);
                    (self.build.ins().select(is_zero, zero, above), &mut most[1])
                }
            };
            *most = Some(match *most {
                Some(most) => self.build.ins().umax(most, magnitude),
                None => magnitude,
            });
        }
        for (most, first) in most.into_iter().zip([0, SMALLEST]) {
            let Some(most) = most else { continue };
            let suspicious = self.build.ins().iconst(types::I32, i64::from(SUSPICIOUS - first));
            let usual = self.build.ins().icmp(IntCC::UnsignedLessThan, most, suspicious);
            self.go_on_if(usual, again);
        }
    }

    /// The stream pointer, where the words are that it leads to, and whether so many are inside of memory.
    pub fn next_uniforms(&mut self, count: u32) -> (Value, Value, Value) {
        let at = self.build.ins().load(types::I32, trusted(), self.qpu, layout::UNIFORMS as i32);
        // The bus ignores the two low bits.
        let word = self.build.ins().band_imm(at, !3);
        let word = self.build.ins().uextend(ADDRESS, word);
        let end = self.build.ins().iadd_imm(word, i64::from(count) * 4);
        let size = self.build.ins().load(types::I64, trusted(), self.context, context::MEMORY_BYTES as i32);
        let inside = self.build.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, size);
        let memory = self.build.ins().load(ADDRESS, trusted(), self.context, context::MEMORY as i32);
        (at, self.build.ins().iadd(memory, word), inside)
    }

    fn open_uniforms(&mut self, streams: &mut Streams, ops: &[(usize, Op)], count: u32, again: Block) {
        let (at, stream, inside) = self.next_uniforms(count);
        self.go_on_if(inside, again);
        if self.floats == Floats::Finite {
            let uses = ops.iter().filter(|(_, op)| has_uniform(op)).map(|(_, op)| use_of_uniform(op));
            let words = (0..).zip(uses).map(|(n, used)| (stream, n * 4, used));
            self.go_on_if_usual(words, again);
        }
        streams.uniforms = Some(stream);
        streams.uniforms_behind = Some(self.build.ins().iadd_imm(at, i64::from(count) * 4));
    }

    fn open_varyings(&mut self, streams: &mut Streams, count: u32, again: Block) {
        let next = self.build.ins().load(types::I32, trusted(), self.context, context::NEXT as i32);
        let end = self.build.ins().iadd_imm(next, i64::from(count));
        let all = self.build.ins().load(types::I32, trusted(), self.context, context::COUNT as i32);
        let enough = self.build.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, all);
        self.go_on_if(enough, again);
        let index = self.build.ins().uextend(ADDRESS, next);
        let first = |this: &mut Self, at: usize, bytes: usize| {
            let start = this.build.ins().load(ADDRESS, trusted(), this.context, at as i32);
            let offset = this.build.ins().imul_imm(index, bytes as i64);
            this.build.ins().iadd(start, offset)
        };
        let partial = first(self, context::PARTIAL, size_of::<Lanes>());
        let coefficients = first(self, context::COEFFICIENTS, size_of::<Coefficients>());
        if self.floats == Floats::Finite {
            let at = |n: usize| (n * size_of::<Coefficients>() + offset_of!(Coefficients, c)) as i32;
            self.go_on_if_usual((0..count as usize).map(|n| (coefficients, at(n), Use::Sum)), again);
        }
        streams.varyings = Some([partial, coefficients]);
        streams.varyings_behind = Some(end);
    }

    /// Leaves if what had to be finite was not.
    fn check(&mut self, elements: &Elements, again: Block) {
        let suspects: Vec<Value> = elements.memos.iter().filter_map(|memo| memo.suspects).collect();
        let Some((&first, others)) = suspects.split_first() else { return };
        let most = others.iter().fold(first, |most, &other| self.build.ins().umax(most, other));
        let limit = self.on_constants(|v| v.constant(SUSPICIOUS));
        let suspicious = self.build.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, most, limit);
        let any = self.build.ins().vhigh_bits(types::I32, suspicious);
        let on = self.build.create_block();
        self.build.ins().brif(any, again, &[BlockArg::Value(elements.offset)], on, &[]);
        self.build.switch_to_block(on);
    }

    /// Puts what is looked at later into the QPU.
    fn store(&mut self, elements: &mut Elements, live: u128) {
        for s in 0..slot::COUNT as u8 - 1 {
            if elements.written & live & bit(s) == 0 {
                continue;
            }
            for i in 0..WIDTH {
                if let Some(word) = elements.slots[i][usize::from(s)] {
                    let value = self.on(elements, i, |v| v.settled(word));
                    self.build.ins().store(trusted(), value, elements.registers, layout::register(s, i));
                }
            }
        }
        if elements.written & live & FLAGS == 0 {
            return;
        }
        // Flags of later vectors stay for those, or for the interpreter.
        let element = self.build.ins().ireduce(types::I32, elements.offset);
        let element = self.build.ins().ushr_imm(element, size_of::<u32>().ilog2() as i64);
        let own = self.build.ins().iconst(types::I32, (1 << (4 * WIDTH)) - 1);
        let own = self.build.ins().ishl(own, element);
        for (flag, at) in layout::FLAGS.into_iter().enumerate() {
            let mut bits = None;
            for (i, flags) in elements.flags.iter().enumerate() {
                let Some(mask) = flags[flag] else { continue };
                let four = self.build.ins().vhigh_bits(types::I32, mask);
                bits = Some(match bits {
                    Some(bits) => {
                        let four = self.build.ins().ishl_imm(four, 4 * i as i64);
                        self.build.ins().bor(bits, four)
                    }
                    None => four,
                });
            }
            let Some(bits) = bits else { continue };
            let bits = self.build.ins().ishl(bits, element);
            let old = self.build.ins().uload16(types::I32, trusted(), self.qpu, at as i32);
            let old = self.build.ins().band_not(old, own);
            let bits = self.build.ins().bor(old, bits);
            self.build.ins().istore16(trusted(), bits, self.qpu, at as i32);
        }
    }

    /// A register's value in the vector `i` of the group.
    fn word(&mut self, elements: &mut Elements, s: u8, i: usize) -> Word {
        if let Some(word) = elements.slots[i][usize::from(s)] {
            return word;
        }
        let word = if is_constant(s) {
            match s {
                slot::ELEMENT => self.by_element(elements, std::array::from_fn(|lane| lane as u32), i).into(),
                s => {
                    let word = if s == slot::ZERO { 0 } else { SmallImm::new(s - slot::SMALL).value() };
                    self.constant(word)
                }
            }
        } else {
            let value = self.build.ins().load(WORDS, trusted(), elements.registers, layout::register(s, i));
            Word::of(value, if self.floating & bit(s) != 0 { Known::FLOAT } else { Known::default() })
        };
        elements.slots[i][usize::from(s)] = Some(word);
        word
    }

    /// The same word in all elements.
    fn constant(&mut self, word: u32) -> Word {
        Word::of(self.on_constants(|v| v.constant(word)), Known::constant(word))
    }

    /// A constant of its own for each element.
    fn by_element(&mut self, elements: &Elements, words: Lanes, i: usize) -> Value {
        let place = self.pool.by_element(&words);
        let address = self.build.ins().iadd(self.constants, elements.offset);
        self.build.ins().load(WORDS, trusted(), address, ((place + i) * VECTOR_BYTES) as i32)
    }

    /// A flag as a mask.
    fn flag(&mut self, elements: &mut Elements, flag: usize, i: usize) -> Value {
        if let Some(mask) = elements.flags[i][flag] {
            return mask;
        }
        let bits = self.build.ins().load(types::I16, trusted(), self.qpu, layout::FLAGS[flag] as i32);
        let bits = self.build.ins().uextend(types::I32, bits);
        let bits = self.build.ins().splat(WORDS, bits);
        let lanes = self.by_element(elements, std::array::from_fn(|lane| 1 << lane), i);
        let own = self.build.ins().band(bits, lanes);
        let mask = self.build.ins().icmp(IntCC::Equal, own, lanes);
        elements.flags[i][flag] = Some(mask);
        mask
    }

    /// The elements in which a condition holds, or `None` for all.
    fn condition(&mut self, elements: &mut Elements, cond: Cond, i: usize) -> Option<Value> {
        let (flag, set) = match by_flag(cond) {
            ByFlag::Always => return None,
            ByFlag::Never => return Some(self.on_constants(|v| v.constant(0))),
            ByFlag::Where { flag, set } => (flag, set),
        };
        let mask = self.flag(elements, flag, i);
        Some(if set { mask } else { self.build.ins().bnot(mask) })
    }

    /// One instruction on the elements of a group.
    fn alu(&mut self, elements: &mut Elements, op: &Op) {
        let uniform = has_uniform(op).then(|| self.uniform(elements, use_of_uniform(op)));
        let varying = [op.port_a, op.port_b].contains(&Port::Varying).then(|| elements.next_varying());
        for i in 0..WIDTH {
            let mut behind = None;
            for (port, s) in [(op.port_a, slot::PORT_A), (op.port_b, slot::PORT_B)] {
                let word = match port {
                    Port::Imm(mode) => {
                        let words = immediate(mode, op.imm);
                        if words.iter().all(|word| *word == words[0]) {
                            self.constant(words[0])
                        } else {
                            self.by_element(elements, words, i).into()
                        }
                    }
                    Port::Uniform => match uniform {
                        Some(word) => word,
                        None => continue,
                    },
                    Port::Varying => {
                        let (partial, c) = self.varying(elements, varying.unwrap_or(0), i);
                        behind = Some(c);
                        partial
                    }
                    Port::PixelX => self.pixel(elements, 0, i).into(),
                    Port::PixelY => self.pixel(elements, 1, i).into(),
                    _ => continue,
                };
                elements.slots[i][usize::from(s)] = Some(word);
            }
            self.alu_on(elements, op, i);
            if let Some(c) = behind {
                elements.set(slot::R5, i, c);
            }
        }
    }

    fn uniform(&mut self, elements: &mut Elements, used: Use) -> Word {
        let Some(stream) = elements.streams.uniforms else {
            unreachable!("the run has counted its uniforms")
        };
        let at = elements.uniforms as i32 * 4;
        elements.uniforms += 1;
        self.in_all(stream, at, used)
    }

    /// A word in memory in all elements; it was looked at where infinities need not be expected.
    fn in_all(&mut self, address: Value, at: i32, used: Use) -> Word {
        // As a float, as the host loads those to all elements in one step.
        let word = self.build.ins().load(types::F32, trusted().with_endianness(LITTLE), address, at);
        let word = self.build.ins().splat(FLOATS, word);
        let finite = self.floats == Floats::Finite;
        let below = (finite && used != Use::Other).then_some(CHECKED);
        let known = Known { below, normal: finite && used == Use::Order, ..Known::default() };
        Word::of(self.on_constants(|v| v.words(word)), known)
    }

    /// The next varying's partial sum and what r5 shows behind it.
    fn varying(&mut self, elements: &Elements, index: u32, i: usize) -> (Word, Word) {
        let Some([partial, coefficients]) = elements.streams.varyings else {
            unreachable!("the run has counted its varyings")
        };
        let at = index as usize * size_of::<Lanes>() + i * VECTOR_BYTES;
        // Only elements have to be aligned.
        let loose = MemFlags::new().with_notrap().with_endianness(LITTLE);
        let partial = self.build.ins().iadd(partial, elements.offset);
        let sum = self.build.ins().load(WORDS, loose, partial, at as i32);
        let at = index as usize * size_of::<Coefficients>() + offset_of!(Coefficients, c);
        (sum.into(), self.in_all(coefficients, at as i32, Use::Sum))
    }

    /// A pixel coordinate.
    fn pixel(&mut self, elements: &Elements, axis: usize, i: usize) -> Value {
        let Some(pixels) = elements.streams.pixels else { unreachable!("the run has looked for its pixels") };
        let own = self.build.ins().iadd(pixels, elements.offset);
        let at = axis * size_of::<Lanes>() + i * VECTOR_BYTES;
        self.build.ins().load(WORDS, MemFlags::new().with_notrap(), own, at as i32)
    }

    /// Runs something on one vector's arithmetic.
    fn on<T>(&mut self, elements: &mut Elements, i: usize, f: impl FnOnce(&mut Vector<'_, '_>) -> T) -> T {
        self.with(&mut elements.memos[i], f)
    }

    fn alu_on(&mut self, elements: &mut Elements, op: &Op, i: usize) {
        if op.extras & extra::UNPACK != 0 {
            let word = self.word(elements, op.unpack_from, i);
            let word = self.on(elements, i, |v| v.unpack(op.unpack, word, op.unpack_float));
            elements.slots[i][usize::from(slot::UNPACKED)] = Some(word);
        }
        let sets_flags = op.extras & extra::FLAGS != 0;
        let [add_mask, mul_mask] = [op.add_cond, op.mul_cond].map(|cond| self.condition(elements, cond, i));
        let mul = (op.mul != MulOp::Nop).then(|| {
            let (a, b) = (self.word(elements, op.mul_a, i), self.word(elements, op.mul_b, i));
            self.on(elements, i, |v| {
                let word = v.mul(op.mul, a, b);
                match op.rotate.and_then(|rotate| rotate.by) {
                    Some(by) => Word { value: v.turned(word.value, by), ..word },
                    None => word,
                }
            })
        });
        let add = (op.add != AddOp::Nop).then(|| {
            let (a, b) = (self.word(elements, op.add_a, i), self.word(elements, op.add_b, i));
            let carries = sets_flags && !op.flags_from_mul;
            self.on(elements, i, |v| v.add(op.add, a, b, carries))
        });
        if sets_flags {
            let (result, mask) =
                if op.flags_from_mul { (mul.map(|word| (word, None)), mul_mask) } else { (add, add_mask) };
            if let Some((word, carry)) = result {
                let value = self.on(elements, i, |v| v.settled(word));
                self.set_flags(elements, i, value, carry, mask);
            }
        }
        if let Some((word, _)) = add {
            self.write(elements, op, i, op.add_dest, add_mask, word, op.add.writes_float(), false);
        }
        if let Some(word) = mul {
            let packs = op.extras & extra::MUL_PACK != 0;
            let float = op.mul == MulOp::Fmul;
            self.write(elements, op, i, op.mul_dest, mul_mask, word, float, packs);
        }
    }

    fn set_flags(
        &mut self,
        elements: &mut Elements,
        i: usize,
        value: Value,
        carry: Option<Value>,
        mask: Option<Value>,
    ) {
        let [zero, negative] = self.on(elements, i, |v| v.zero_and_negative(value));
        let carry = match carry {
            Some(carry) => carry,
            None => self.on(elements, i, |v| v.constant(0)),
        };
        for (flag, new) in [zero, negative, carry].into_iter().enumerate() {
            let new = match mask {
                Some(mask) => {
                    let old = self.flag(elements, flag, i);
                    self.build.ins().bitselect(mask, new, old)
                }
                None => new,
            };
            elements.flags[i][flag] = Some(new);
        }
        elements.written |= FLAGS;
    }

    #[expect(clippy::too_many_arguments, reason = "one result of one unit in one vector")]
    fn write(
        &mut self,
        elements: &mut Elements,
        op: &Op,
        i: usize,
        dest: Dest,
        mask: Option<Value>,
        word: Word,
        float: bool,
        packs: bool,
    ) {
        let (s, quad) = match dest {
            Dest::Slot(s) | Dest::Packed(s) => (s, false),
            Dest::R5Quad => (slot::R5, true),
            // Requests of the unit are not conditional (qpu.md §3.4).
            Dest::Sfu(function) => {
                let result = self.on(elements, i, |v| v.special(function, word));
                return elements.set(slot::R4, i, result);
            }
            _ => return,
        };
        let mut word = word;
        if packs && op.pack != Pack::Nop {
            let old = self.word(elements, s, i);
            word = self.on(elements, i, |v| v.pack_mul(op.pack, word, old)).into();
        }
        if let Dest::Packed(_) = dest {
            let old = self.word(elements, s, i);
            word = self.on(elements, i, |v| v.pack_a(op.pack, word, old, float)).into();
        }
        let mut mask = mask;
        if quad {
            word.value = self.on(elements, i, |v| v.first(word.value));
            mask = mask.map(|mask| self.on(elements, i, |v| v.first(mask)));
        }
        if let Some(mask) = mask {
            let old = self.word(elements, s, i);
            word = self.on(elements, i, |v| v.either(mask, word, old));
        }
        elements.set(s, i, word);
    }
}

/// What an instruction does with a word that all elements share.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It takes the smaller or the larger one of that and another float, and may add and multiply it, too.
    Order,
    /// It adds or multiplies it.
    Sum,
    /// It is no float to it.
    Other,
}

/// What an instruction does with the uniform that it reads.
fn use_of_uniform(op: &Op) -> Use {
    let ports = [(op.port_a, slot::PORT_A), (op.port_b, slot::PORT_B)];
    let of_port = |s: u8| ports.contains(&(Port::Uniform, s));
    let added = of_port(op.add_a) || of_port(op.add_b);
    let multiplied = op.mul == MulOp::Fmul && (of_port(op.mul_a) || of_port(op.mul_b));
    match op.add {
        AddOp::Fmin | AddOp::Fmax if added => Use::Order,
        AddOp::Fadd | AddOp::Fsub if added => Use::Sum,
        _ if multiplied => Use::Sum,
        _ => Use::Other,
    }
}

/// Where a run finds its uniforms and varyings.
#[derive(Clone, Copy, Default)]
struct Streams {
    /// The address of the first word.
    uniforms: Option<Value>,
    /// The stream pointer behind the run.
    uniforms_behind: Option<Value>,
    /// The addresses of the first varying's partial sums and coefficients.
    varyings: Option<[Value; 2]>,
    varyings_behind: Option<Value>,
    /// The address of pixel coordinates.
    pixels: Option<Value>,
}

/// What is known of a group of vectors in the course of a run.
struct Elements {
    /// Bytes of a register in front of the group's.
    offset: Value,
    /// The QPU with its registers moved so far that theirs are the first.
    registers: Value,
    slots: [[Option<Word>; slot::COUNT]; WIDTH],
    /// Z, N and C as masks.
    flags: [[Option<Value>; 3]; WIDTH],
    memos: [Memo; WIDTH],
    /// Slots that were written.
    written: u128,
    streams: Streams,
    /// Uniforms and varyings so far.
    uniforms: u32,
    varyings: u32,
}

impl Elements {
    fn new(offset: Value, registers: Value, streams: Streams) -> Elements {
        Elements {
            offset,
            registers,
            slots: [[None; slot::COUNT]; WIDTH],
            flags: [[None; 3]; WIDTH],
            memos: Default::default(),
            written: 0,
            streams,
            uniforms: 0,
            varyings: 0,
        }
    }

    fn next_varying(&mut self) -> u32 {
        self.varyings += 1;
        self.varyings - 1
    }

    /// Of the slots that held floats before, and those that were written, which do now, whatever was looked at.
    fn floating(&self, before: u128) -> u128 {
        let is_float = |word: &Option<Word>| {
            word.is_some_and(|Word { known, .. }| known.always && known.normal && known.number)
        };
        let holds = |s: usize| self.slots.iter().all(|slots| is_float(&slots[s]));
        let written = (0..slot::COUNT - 1).filter(|&s| self.written & bit(s as u8) != 0);
        written.fold(before, |all, s| if holds(s) { all | bit(s as u8) } else { all & !bit(s as u8) })
    }

    fn set(&mut self, s: u8, i: usize, word: Word) {
        self.slots[i][usize::from(s)] = Some(word);
        self.written |= bit(s);
    }
}

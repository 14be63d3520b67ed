//! Lookups and loads of results, as code on the unit's own state: memory lookups are done here, the parameters of others put
//! where the unit has them. Where a rule would be broken, the interpreter's functions do it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};

use super::emit::{ADDRESS, Emitter, LITTLE, UNALIGNED, trusted};
use super::layout::{self, VECTOR_BYTES, VECTORS, context};
use super::vector::WORDS;
use crate::lanes::Lanes;
use crate::qpu::op::slot;
use crate::tmu::place as tmu;

/// Bits of an address that the bus ignores.
const IN_WORD: u32 = 3;

impl Emitter<'_> {
    /// Writes a slot to a unit's parameter s: the request of a direct lookup, if nothing was written before.
    pub fn look_up(&mut self, unit: u8, from: u8, otherwise: impl FnOnce(&mut Self)) {
        let [request, sent, call, done] = [(); 4].map(|()| self.build.create_block());
        self.build.set_cold_block(call);
        let unit = self.build.ins().iadd_imm(self.qpu, layout::tmu(unit));
        let [written, count, room] =
            [tmu::WRITTEN, tmu::COUNT, tmu::ROOM].map(|place| self.word_of(unit, place));
        let nothing = self.build.ins().icmp_imm(IntCC::Equal, written, 0);
        let free = self.build.ins().icmp(IntCC::UnsignedLessThan, count, room);
        let direct = self.build.ins().band(nothing, free);
        self.build.ins().brif(direct, request, &[], call, &[]);

        self.build.switch_to_block(request);
        self.pool.loaded.clear();
        let words: [Value; VECTORS] = std::array::from_fn(|vector| {
            let at = layout::register(from, vector);
            let address = self.build.ins().load(WORDS, trusted(), self.qpu, at);
            self.on_constants(|v| v.and_with(address, !IN_WORD))
        });
        let most = self.most(&words);
        let size = self.build.ins().load(types::I64, trusted(), self.context, context::MEMORY_BYTES as i32);
        let inside = self.build.ins().icmp(IntCC::UnsignedLessThan, most, size);
        self.build.ins().brif(inside, sent, &[], call, &[]);

        self.build.switch_to_block(sent);
        let memory = self.build.ins().load(ADDRESS, trusted(), self.context, context::MEMORY as i32);
        let first = self.word_of(unit, tmu::FIRST);
        let place = self.build.ins().iadd(first, count);
        let place = self.around(place);
        let result = self.result(unit, place);
        for (vector, addresses) in words.into_iter().enumerate() {
            for lane in 0..4 {
                let address = self.build.ins().extractlane(addresses, lane);
                let address = self.build.ins().uextend(ADDRESS, address);
                let address = self.build.ins().iadd(memory, address);
                let word = self.build.ins().load(types::I32, trusted(), address, 0);
                let at = vector * VECTOR_BYTES + usize::from(lane) * size_of::<u32>();
                self.build.ins().store(trusted(), word, result, at as i32);
            }
        }
        let slots = self.build.ins().iadd(unit, place);
        let taken = self.build.ins().iconst(types::I8, i64::from(tmu::DIRECT_SLOTS));
        self.build.ins().store(trusted(), taken, slots, tmu::SLOTS as i32);
        let more = self.build.ins().iadd_imm(count, 1);
        self.build.ins().store(trusted(), more, unit, tmu::COUNT as i32);
        let lookups = self.build.ins().load(types::I64, trusted(), self.context, context::LOOKUPS as i32);
        let lookups = self.build.ins().iadd_imm(lookups, 1);
        self.build.ins().store(trusted(), lookups, self.context, context::LOOKUPS as i32);
        self.or_else([call, done], otherwise);
    }

    /// Writes a slot to a parameter of a unit's, whose configuration word is the next uniform, and does `then`.
    pub fn set_parameter(
        &mut self,
        (unit, parameter): (u8, u8),
        from: u8,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let [write, call, done] = [(); 3].map(|()| self.build.create_block());
        self.build.set_cold_block(call);
        let unit = self.build.ins().iadd_imm(self.qpu, layout::tmu(unit));
        let written = self.word_of(unit, tmu::WRITTEN);
        let room = self.build.ins().icmp_imm(IntCC::UnsignedLessThan, written, tmu::PARAMETERS as i64);
        let (at, word, inside) = self.next_uniforms(1);
        let both = self.build.ins().band(room, inside);
        self.build.ins().brif(both, write, &[], call, &[]);

        self.build.switch_to_block(write);
        let config = self.build.ins().load(types::I32, trusted().with_endianness(LITTLE), word, 0);
        let place = self.build.ins().ishl_imm(written, i64::from(size_of::<u32>().ilog2()));
        let place = self.build.ins().iadd(unit, place);
        self.build.ins().store(trusted(), config, place, tmu::CONFIG as i32);
        let first = tmu::PARAMS + usize::from(parameter) * size_of::<Lanes>();
        for vector in 0..VECTORS {
            let words = self.build.ins().load(WORDS, trusted(), self.qpu, layout::register(from, vector));
            self.build.ins().store(UNALIGNED, words, unit, (first + vector * VECTOR_BYTES) as i32);
        }
        let more = self.build.ins().iadd_imm(written, 1);
        self.build.ins().store(trusted(), more, unit, tmu::WRITTEN as i32);
        let given = self.word_of(unit, tmu::GIVEN);
        let given = self.build.ins().bor_imm(given, 1 << parameter);
        self.build.ins().store(trusted(), given, unit, tmu::GIVEN as i32);
        let next = self.build.ins().iadd_imm(at, size_of::<u32>() as i64);
        self.build.ins().store(trusted(), next, self.qpu, layout::UNIFORMS as i32);
        then(self);
        self.or_else([call, done], otherwise);
    }

    /// Moves a unit's oldest result to r4.
    pub fn load_result(&mut self, unit: u8, otherwise: impl FnOnce(&mut Self)) {
        let [load, call, done] = [(); 3].map(|()| self.build.create_block());
        self.build.set_cold_block(call);
        let unit = self.build.ins().iadd_imm(self.qpu, layout::tmu(unit));
        let count = self.word_of(unit, tmu::COUNT);
        self.build.ins().brif(count, load, &[], call, &[]);

        self.build.switch_to_block(load);
        let first = self.word_of(unit, tmu::FIRST);
        let result = self.result(unit, first);
        for vector in 0..VECTORS {
            let words = self.build.ins().load(WORDS, UNALIGNED, result, (vector * VECTOR_BYTES) as i32);
            self.build.ins().store(trusted(), words, self.qpu, layout::register(slot::R4, vector));
        }
        let next = self.build.ins().iadd_imm(first, 1);
        let next = self.around(next);
        self.build.ins().store(trusted(), next, unit, tmu::FIRST as i32);
        let fewer = self.build.ins().iadd_imm(count, -1);
        self.build.ins().store(trusted(), fewer, unit, tmu::COUNT as i32);
        self.or_else([call, done], otherwise);
    }

    /// Ends what the code does by itself, and has `otherwise` do it where it does not.
    pub fn or_else(&mut self, [call, done]: [Block; 2], otherwise: impl FnOnce(&mut Self)) {
        self.build.ins().jump(done, &[]);
        self.build.switch_to_block(call);
        otherwise(self);
        self.build.ins().jump(done, &[]);
        self.build.switch_to_block(done);
    }

    /// A number of a unit's.
    fn word_of(&mut self, unit: Value, place: usize) -> Value {
        self.build.ins().load(ADDRESS, trusted(), unit, place as i32)
    }

    /// The greatest of all elements.
    fn most(&mut self, words: &[Value; VECTORS]) -> Value {
        let pairs = [(words[0], words[1]), (words[2], words[3])];
        let [a, b] = pairs.map(|(a, b)| self.build.ins().umax(a, b));
        let most = self.build.ins().umax(a, b);
        let [a, b, c, d] = [0, 1, 2, 3].map(|lane| self.build.ins().extractlane(most, lane));
        let [a, b] = [(a, b), (c, d)].map(|(a, b)| self.build.ins().umax(a, b));
        let most = self.build.ins().umax(a, b);
        self.build.ins().uextend(types::I64, most)
    }

    /// An index of the ring, at most once around.
    fn around(&mut self, index: Value) -> Value {
        let before = self.build.ins().iadd_imm(index, -(tmu::RING as i64));
        let beyond = self.build.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, index, tmu::RING as i64);
        self.build.ins().select(beyond, before, index)
    }

    /// The address of a result.
    fn result(&mut self, unit: Value, index: Value) -> Value {
        let offset = self.build.ins().imul_imm(index, size_of::<Lanes>() as i64);
        let ring = self.build.ins().iadd_imm(unit, tmu::RESULTS as i64);
        self.build.ins().iadd(ring, offset)
    }
}

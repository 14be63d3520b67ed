//! Loads, stores and atomic operations with their bounds.
//!
//! A word is inside if its four bytes are: the place is compared as a 64-bit number that cannot wrap. Loads outside read a
//! word of zeros and stores outside go to a word that nobody reads, so that neither branches. Neighbouring words that are all
//! inside are moved at once.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, AtomicRmwOp, InstBuilder, MemFlags, types};
use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::{Atomic, Memory, Value};

use super::state::{Generator, Mask};
use crate::divergence::Shape;
use crate::layout::{Bound, Context};

/// Where an operation's words lie.
#[derive(Clone, Copy)]
struct Room {
    memory: Memory,
    /// Address of place 0, the constant part included.
    address: clif::Value,
    /// Largest place of a word inside; negative if there is none.
    limit: clif::Value,
    /// Bytes and constant part, to find other limits.
    bytes: clif::Value,
    offset: u32,
}

/// An element's word: where, and whether it is inside.
#[derive(Clone, Copy)]
struct Spot {
    address: clif::Value,
    inside: clif::Value,
}

/// Words of all elements at equal distances.
#[derive(Clone, Copy)]
struct Row {
    /// Of the first.
    address: clif::Value,
    /// Whether all are.
    inside: clif::Value,
    /// Bytes from one to the next.
    step: i32,
}

/// Largest distance of a row's words: it is part of their addresses in code.
const MAX_STEP: u32 = 1 << 16;

fn plain() -> MemFlags {
    MemFlags::new().with_notrap()
}

impl Generator<'_, '_> {
    fn buffer(&mut self, buffer: Descriptor) -> usize {
        let known = self.needs.buffers.iter().position(|&known| known == buffer);
        known.unwrap_or_else(|| {
            self.needs.buffers.push(buffer);
            self.needs.buffers.len() - 1
        })
    }

    /// Address and bytes of a memory.
    fn extent(&mut self, memory: Memory) -> [clif::Value; 2] {
        let workgroup = self.shader.workgroup;
        match memory {
            Memory::Buffer(buffer) => {
                let at = self.buffer(buffer) * size_of::<Bound>();
                let bounds = self.pointer(std::mem::offset_of!(Context, buffers));
                let start = at + std::mem::offset_of!(Bound, address);
                let address = self.fixed(self.machine.address, bounds, start);
                [address, self.fixed(types::I64, bounds, at + std::mem::offset_of!(Bound, bytes))]
            }
            Memory::Shared => {
                let address = self.pointer(std::mem::offset_of!(Context, shared));
                [address, self.wide(workgroup.shared_bytes.into())]
            }
            Memory::Scratch => {
                let address = self.pointer(std::mem::offset_of!(Context, scratch));
                [address, self.wide(workgroup.scratch_bytes.into())]
            }
        }
    }

    fn room(&mut self, memory: Memory, offset: u32) -> Room {
        let [start, bytes] = self.extent(memory);
        let address = match memory {
            Memory::Scratch => start,
            _ => self.b.ins().iadd_imm(start, i64::from(offset)),
        };
        let limit = self.b.ins().iadd_imm(bytes, -4 - i64::from(offset));
        Room { memory, address, limit, bytes, offset }
    }

    /// The word at a place for an element.
    fn spot(&mut self, room: Room, place: clif::Value, element: u8) -> Spot {
        let place = self.b.ins().uextend(types::I64, place);
        let inside = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, place, room.limit);
        let address = match room.memory {
            Memory::Scratch => self.scratch_word(room, place, element),
            _ => {
                let distance = self.distance(place);
                self.b.ins().iadd(room.address, distance)
            }
        };
        Spot { address, inside }
    }

    /// Words of the elements of a batch lie side by side.
    fn scratch_word(&mut self, room: Room, place: clif::Value, element: u8) -> clif::Value {
        let place = self.b.ins().iadd_imm(place, i64::from(room.offset));
        let word = self.b.ins().band_imm(place, !3);
        let row = self.b.ins().ishl_imm(word, 2);
        let row = self.distance(row);
        let address = self.b.ins().iadd(room.address, row);
        self.b.ins().iadd_imm(address, 4 * i64::from(element))
    }

    fn readable(&mut self, spot: Spot) -> clif::Value {
        let zero = self.pointer(std::mem::offset_of!(Context, zero));
        self.b.ins().select(spot.inside, spot.address, zero)
    }

    fn writable(&mut self, spot: Spot) -> clif::Value {
        let sink = self.pointer(std::mem::offset_of!(Context, sink));
        self.b.ins().select(spot.inside, spot.address, sink)
    }

    /// Where elements' own words at a place that is a constant begin: bytes from the start of their memory. `None` if the place
    /// is no constant or lies outside.
    fn own_words(&self, memory: Memory, offset: u32, place: Value) -> Option<i32> {
        let place = self.shader.const_of(place).filter(|_| memory == Memory::Scratch)?;
        let word = u64::from(place) + u64::from(offset);
        let inside = word + 4 <= self.shader.workgroup.scratch_bytes.into();
        i32::try_from(4 * (word & !3)).ok().filter(|_| inside)
    }

    /// [`vc4_shaders::ir::Op::Load`].
    pub fn load(&mut self, memory: Memory, offset: u32, place: Value, result: Value) {
        if let Some(at) = self.own_words(memory, offset, place) {
            let start = self.pointer(std::mem::offset_of!(Context, scratch));
            let words = self.b.ins().load(types::I32X4, plain(), start, at);
            self.define(result, words);
            return;
        }
        match self.shape(place) {
            Shape::Linear(0) if memory != Memory::Scratch => {
                let place = self.base(place);
                self.load_at(memory, offset, place, result);
            }
            Shape::Linear(step) => {
                let base = self.base(place);
                let words = self.load_row(memory, offset, base, step, place);
                self.define(result, words);
            }
            _ => {
                let room = self.room(memory, offset);
                let places = self.lanes(place);
                let words = self.gather(room, places);
                self.define(result, words);
            }
        }
    }

    /// A word that all elements share.
    pub fn load_at(&mut self, memory: Memory, offset: u32, place: clif::Value, result: Value) {
        let room = self.room(memory, offset);
        let spot = self.spot(room, place, 0);
        let address = self.readable(spot);
        let form = self.form(result);
        let ty = if form == types::F32 { form } else { types::I32 };
        let word = self.b.ins().load(ty, plain(), address, 0);
        self.define(result, word);
    }

    /// Words at equal distances: without a look at each if all are inside.
    fn load_row(
        &mut self,
        memory: Memory,
        offset: u32,
        base: clif::Value,
        step: u32,
        place: Value,
    ) -> clif::Value {
        let room = self.room(memory, offset);
        let Some(row) = self.row(room, base, step) else {
            let places = self.lanes(place);
            return self.gather(room, places);
        };
        let [quick, slow, join] = [(); 3].map(|()| self.b.create_block());
        let words = self.b.append_block_param(join, types::I32X4);
        self.b.set_cold_block(slow);
        self.branch(row.inside, quick, slow);
        self.switch(quick);
        self.b.seal_block(quick);
        let loaded = match row.step {
            4 => self.b.ins().load(types::I32X4, plain(), row.address, 0),
            step => {
                let first = self.b.ins().load(types::I32, plain(), row.address, 0);
                let first = self.b.ins().scalar_to_vector(types::I32X4, first);
                (1..4).fold(first, |words, at| {
                    let word = self.b.ins().load(types::I32, plain(), row.address, at * step);
                    self.b.ins().insertlane(words, word, at as u8)
                })
            }
        };
        self.b.ins().jump(join, &[loaded.into()]);
        self.switch(slow);
        self.b.seal_block(slow);
        let places = self.lanes(place);
        let gathered = self.gather(room, places);
        self.b.ins().jump(join, &[gathered.into()]);
        self.switch(join);
        self.b.seal_block(join);
        words
    }

    /// The words of all elements as a row, if they can be one.
    fn row(&mut self, room: Room, base: clif::Value, step: u32) -> Option<Row> {
        let scratch = room.memory == Memory::Scratch;
        // Elements' own words at one place lie side by side.
        let step = match (scratch, step) {
            (true, 0) => 4,
            (false, 1..=MAX_STEP) => step as i32,
            _ => return None,
        };
        let place = self.b.ins().uextend(types::I64, base);
        let (limit, address) = if scratch {
            (room.limit, self.scratch_word(room, place, 0))
        } else {
            let last = 3 * i64::from(step) + 4;
            let limit = self.b.ins().iadd_imm(room.bytes, -last - i64::from(room.offset));
            let distance = self.distance(place);
            (limit, self.b.ins().iadd(room.address, distance))
        };
        let inside = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, place, limit);
        Some(Row { address, inside, step })
    }

    fn gather(&mut self, room: Room, places: clif::Value) -> clif::Value {
        let mut words = None;
        for element in 0..4u8 {
            let place = self.b.ins().extractlane(places, element);
            let spot = self.spot(room, place, element);
            let address = self.readable(spot);
            let word = self.b.ins().load(types::I32, plain(), address, 0);
            words = Some(match words {
                None => self.b.ins().scalar_to_vector(types::I32X4, word),
                Some(words) => self.b.ins().insertlane(words, word, element),
            });
        }
        words.unwrap_or(places)
    }

    /// [`vc4_shaders::ir::Op::Store`].
    pub fn store(&mut self, memory: Memory, offset: u32, place: Value, value: Value) {
        if let Some(at) = self.own_words(memory, offset, place) {
            self.store_own(at, value);
            return;
        }
        let room = self.room(memory, offset);
        let (shape, uniform) = (self.shape(place), self.is_uniform(value));
        if shape == Shape::UNIFORM && uniform && memory != Memory::Scratch {
            let place = self.base(place);
            let spot = self.spot(room, place, 0);
            let address = self.writable(spot);
            let word = self.base(value);
            self.b.ins().store(plain(), word, address, 0);
            return;
        }
        let words = self.lanes(value);
        let row = match shape {
            Shape::Linear(step) => {
                let base = self.base(place);
                self.row(room, base, step)
            }
            _ => None,
        };
        match row {
            Some(row) => self.store_row(room, row, place, words),
            None => {
                let places = self.lanes(place);
                self.scatter(room, places, words);
            }
        }
    }

    /// Stores elements' own words; those of elements that do not run stay.
    fn store_own(&mut self, at: i32, value: Value) {
        let start = self.pointer(std::mem::offset_of!(Context, scratch));
        let mut words = self.lanes(value);
        if !matches!(self.mask, Mask::All) {
            let mask = self.mask_value(self.mask);
            let old = self.b.ins().load(types::I32X4, plain(), start, at);
            words = self.b.ins().bitselect(mask, words, old);
        }
        self.b.ins().store(plain(), words, start, at);
    }

    fn store_row(&mut self, room: Room, row: Row, place: Value, words: clif::Value) {
        let mut all = row.inside;
        if !matches!(self.mask, Mask::All) {
            let mask = self.mask_value(self.mask);
            let full = self.b.ins().vall_true(mask);
            all = self.b.ins().band(all, full);
        }
        let [quick, slow, join] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        self.branch(all, quick, slow);
        self.switch(quick);
        self.b.seal_block(quick);
        if row.step == 4 {
            self.b.ins().store(plain(), words, row.address, 0);
        } else {
            for at in 0..4 {
                let word = self.b.ins().extractlane(words, at as u8);
                self.b.ins().store(plain(), word, row.address, at * row.step);
            }
        }
        self.jump(join);
        self.switch(slow);
        self.b.seal_block(slow);
        let places = self.lanes(place);
        self.scatter(room, places, words);
        self.jump(join);
        self.switch(join);
        self.b.seal_block(join);
    }

    fn scatter(&mut self, room: Room, places: clif::Value, words: clif::Value) {
        let active = self.active_bits();
        for element in 0..4u8 {
            let spot = self.active_spot(room, places, element, active);
            let address = self.writable(spot);
            let word = self.b.ins().extractlane(words, element);
            self.b.ins().store(plain(), word, address, 0);
        }
    }

    /// A bit for every element that runs; `None` if all do.
    pub fn active_bits(&mut self) -> Option<clif::Value> {
        match self.mask {
            Mask::All => None,
            mask => {
                let mask = self.mask_value(mask);
                Some(self.b.ins().vhigh_bits(types::I32, mask))
            }
        }
    }

    /// An element's word, outside if it does not run.
    fn active_spot(
        &mut self,
        room: Room,
        places: clif::Value,
        element: u8,
        active: Option<clif::Value>,
    ) -> Spot {
        let place = self.b.ins().extractlane(places, element);
        let mut spot = self.spot(room, place, element);
        if let Some(active) = active {
            let bit = self.b.ins().band_imm(active, 1 << element);
            let runs = self.b.ins().icmp_imm(IntCC::NotEqual, bit, 0);
            spot.inside = self.b.ins().band(spot.inside, runs);
        }
        spot
    }

    /// [`vc4_shaders::ir::Op::Atomic`]: what was there before.
    pub fn atomic(&mut self, memory: Memory, offset: u32, action: Atomic, args: &[Value]) -> clif::Value {
        let room = self.room(memory, offset);
        let places = self.lanes(args[0]);
        let operands: Vec<clif::Value> = args[1..].iter().map(|&arg| self.lanes(arg)).collect();
        let active = self.active_bits();
        let mut old = self.vector([0; 4]);
        for element in 0..4u8 {
            let spot = self.active_spot(room, places, element, active);
            let mut address = self.writable(spot);
            let words: Vec<clif::Value> =
                operands.iter().map(|&words| self.b.ins().extractlane(words, element)).collect();
            let word = if matches!(memory, Memory::Buffer(_)) {
                // Machines want whole words here.
                address = self.b.ins().band_imm(address, !3);
                match self.machine.interpreted {
                    true => self.atomic_by_host(action, address, &words),
                    false => self.atomic_word(action, address, &words),
                }
            } else {
                self.plain_word(action, address, &words)
            };
            // The word for what is outside holds anything.
            let zero = self.word(0);
            let word = self.b.ins().select(spot.inside, word, zero);
            old = self.b.ins().insertlane(old, word, element);
        }
        old
    }

    fn atomic_word(&mut self, action: Atomic, address: clif::Value, words: &[clif::Value]) -> clif::Value {
        let flags = MemFlags::new().with_notrap().with_aligned();
        let rmw = match action {
            Atomic::Add => AtomicRmwOp::Add,
            Atomic::SMin => AtomicRmwOp::Smin,
            Atomic::UMin => AtomicRmwOp::Umin,
            Atomic::SMax => AtomicRmwOp::Smax,
            Atomic::UMax => AtomicRmwOp::Umax,
            Atomic::And => AtomicRmwOp::And,
            Atomic::Or => AtomicRmwOp::Or,
            Atomic::Xor => AtomicRmwOp::Xor,
            Atomic::Exchange => AtomicRmwOp::Xchg,
            Atomic::CompareExchange => return self.b.ins().atomic_cas(flags, address, words[1], words[0]),
        };
        self.b.ins().atomic_rmw(types::I32, flags, rmw, address, words[0])
    }

    /// For memory that only this thread sees.
    fn plain_word(&mut self, action: Atomic, address: clif::Value, words: &[clif::Value]) -> clif::Value {
        let old = self.b.ins().load(types::I32, plain(), address, 0);
        let a = words[0];
        let ins = self.b.ins();
        let new = match action {
            Atomic::Add => ins.iadd(old, a),
            Atomic::SMin => ins.smin(old, a),
            Atomic::UMin => ins.umin(old, a),
            Atomic::SMax => ins.smax(old, a),
            Atomic::UMax => ins.umax(old, a),
            Atomic::And => ins.band(old, a),
            Atomic::Or => ins.bor(old, a),
            Atomic::Xor => ins.bxor(old, a),
            Atomic::Exchange => a,
            Atomic::CompareExchange => {
                let equal = ins.icmp(IntCC::Equal, old, words[1]);
                self.b.ins().select(equal, a, old)
            }
        };
        self.b.ins().store(plain(), new, address, 0);
        old
    }

    /// [`vc4_shaders::ir::Op::BufferElements`].
    pub fn buffer_elements(&mut self, buffer: Descriptor, offset: u32, stride: u32) -> clif::Value {
        let [_, bytes] = self.extent(Memory::Buffer(buffer));
        let start = self.wide(offset.into());
        let least = self.b.ins().umax(bytes, start);
        let rest = self.b.ins().isub(least, start);
        let stride = self.wide(stride.max(1).into());
        let count = self.b.ins().udiv(rest, stride);
        self.b.ins().ireduce(types::I32, count)
    }

    /// [`vc4_shaders::ir::Op::LoadPush`].
    pub fn push_constant(&mut self, offset: u32) -> clif::Value {
        let word = offset / 4;
        if word >= MAX_PUSH_WORDS {
            return self.word(0);
        }
        self.needs.push_words = self.needs.push_words.max(word + 1);
        let push = self.pointer(std::mem::offset_of!(Context, push));
        self.fixed(types::I32, push, 4 * word as usize)
    }
}

/// More than any device has; what lies beyond is 0.
const MAX_PUSH_WORDS: u32 = 1 << 12;

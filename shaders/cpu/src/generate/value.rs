//! Values: in which form each is held, giving and taking them.
//!
//! Words that all elements share are scalars, floats among them where they are used as such; linear ones are element 0's
//! word; the others are vectors. Truths are bytes of 0 and 1, or vectors of all ones and zeros.

use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlags, types};
use vc4_shaders::ir::{Block, Node, Op, Region, Type, Value};

use super::state::Generator;
use crate::divergence::Shape;

impl Generator<'_, '_> {
    /// Finds the form of every value and makes variables for those that have users elsewhere.
    pub fn place_values(&mut self) {
        let shader = self.shader;
        for inst in shader.insts_in_order() {
            let data = &shader.insts[inst];
            let float = is_float(data.op);
            for &result in &data.results {
                self.floats[result] |= float;
            }
            if takes_floats(data.op) {
                data.args.iter().for_each(|&arg| self.floats[arg] = true);
            }
        }
        for &block in &self.cfg.order {
            for &inst in &shader.blocks[block].insts {
                let data = &shader.insts[inst];
                for (index, &arg) in data.args.iter().enumerate() {
                    self.place_use(arg, data.phi_blocks.get(index).copied().unwrap_or(block));
                }
                if data.op == Op::Phi {
                    self.need_variable(data.results[0]);
                }
            }
        }
        self.place_conditions(&shader.body);
        for (_, values) in self.across {
            values.iter().for_each(|&value| self.need_variable(value));
        }
    }

    fn place_conditions(&mut self, region: &Region) {
        let mut last = None;
        for node in region {
            match node {
                Node::Block(block) => last = Some(*block),
                Node::If { cond, then, otherwise } => {
                    if let Some(block) = last {
                        self.place_use(*cond, block);
                    }
                    self.place_conditions(then);
                    self.place_conditions(otherwise);
                }
                Node::Loop(body) => self.place_conditions(body),
                _ => {}
            }
        }
    }

    fn place_use(&mut self, value: Value, block: Block) {
        if self.shapes.home(self.shader.values[value].inst) != Some(block) {
            self.need_variable(value);
        }
        if self.shapes.escapes(self.shader, value, block) && self.slots[value].kept.is_none() {
            // Held from the start on: elements may come by the definition in any iteration.
            let kept = self.empty();
            self.slots[value].kept = Some(kept);
            self.held.push(kept);
        }
    }

    fn need_variable(&mut self, value: Value) {
        let op = self.shader.op(value);
        if self.slots[value].variable.is_none() && !op.is_const() && op != Op::Undef {
            let form = self.form(value);
            let variable = self.variable(form);
            self.slots[value].variable = Some(variable);
        }
    }

    /// The type that a value is held in.
    pub fn form(&self, value: Value) -> clif::Type {
        let truth = self.shader.values[value].ty == Type::Bool;
        match self.shapes.of_value(value) {
            Shape::Linear(_) if truth => types::I8,
            Shape::Linear(0) if self.floats[value] => types::F32,
            Shape::Linear(_) => types::I32,
            _ => types::I32X4,
        }
    }

    /// Whether all elements share a value, seen from the block under construction.
    pub fn is_uniform(&self, value: Value) -> bool {
        self.shape(value) == Shape::UNIFORM
    }

    /// How its elements relate, seen from the block under construction.
    pub fn shape(&self, value: Value) -> Shape {
        match self.block {
            Some(block) => self.shapes.at(self.shader, value, block),
            None => self.shapes.of_value(value),
        }
    }

    /// Brings a scalar or vector into a form.
    pub fn convert(&mut self, given: clif::Value, form: clif::Type) -> clif::Value {
        let from = self.b.func.dfg.value_type(given);
        match (from, form) {
            (from, form) if from == form => given,
            (types::F32 | types::I32 | types::F32X4 | types::I32X4, _) if from.bits() == form.bits() => {
                self.b.ins().bitcast(form, MemFlags::new(), given)
            }
            (types::I8, types::I32X4) => {
                let word = self.b.ins().bmask(types::I32, given);
                self.splat(word)
            }
            (types::F32, _) => {
                let floats = self.b.ins().splat(types::F32X4, given);
                self.as_words(floats)
            }
            _ => self.splat(given),
        }
    }

    /// Gives a value what it is.
    pub fn define(&mut self, value: Value, given: clif::Value) {
        let form = self.form(value);
        let held = self.convert(given, form);
        let slot = self.slots[value];
        self.slots[value].local = Some((self.stretch, held));
        if let Some(variable) = slot.variable {
            self.b.def_var(variable, held);
        }
        self.keep(value);
    }

    /// Records what elements would have behind the loop that they may leave.
    pub fn keep(&mut self, value: Value) {
        if let Some(kept) = self.slots[value].kept {
            let lanes = self.lanes_inside(value);
            let mask = self.mask_value(self.mask);
            let old = self.b.use_var(kept);
            let new = self.b.ins().bitselect(mask, lanes, old);
            self.b.def_var(kept, new);
        }
    }

    /// A value in the form it is held in.
    fn held_value(&mut self, value: Value) -> clif::Value {
        match self.slots[value] {
            super::state::Slot { local: Some((stretch, held)), .. } if stretch == self.stretch => held,
            super::state::Slot { variable: Some(variable), .. } => self.b.use_var(variable),
            _ => {
                // Undefined values, and what control never gets to.
                match self.form(value) {
                    types::I32X4 => self.vector([0; 4]),
                    types::F32 => self.b.ins().f32const(0.0),
                    form => self.b.ins().iconst(form, 0),
                }
            }
        }
    }

    fn escapes_here(&self, value: Value) -> bool {
        self.block.is_some_and(|block| self.shapes.escapes(self.shader, value, block))
    }

    /// Element 0's word.
    pub fn base(&mut self, value: Value) -> clif::Value {
        if let Some(word) = self.shader.const_of(value) {
            return self.word(word);
        }
        let held = self.held_value(value);
        self.convert(held, types::I32)
    }

    /// A float that all elements share.
    pub fn float(&mut self, value: Value) -> clif::Value {
        if let Some(word) = self.shader.const_of(value) {
            return self.b.ins().f32const(f32::from_bits(word));
        }
        let held = self.held_value(value);
        self.convert(held, types::F32)
    }

    /// A truth that all elements share.
    pub fn truth(&mut self, value: Value) -> clif::Value {
        if let Some(word) = self.shader.const_of(value) {
            return self.b.ins().iconst(types::I8, i64::from(word != 0));
        }
        self.held_value(value)
    }

    /// The words of all elements, or a mask of those in which a truth holds.
    pub fn lanes(&mut self, value: Value) -> clif::Value {
        if self.escapes_here(value) {
            if let Some(kept) = self.slots[value].kept {
                return self.b.use_var(kept);
            }
        }
        self.lanes_inside(value)
    }

    fn lanes_inside(&mut self, value: Value) -> clif::Value {
        if let Some(word) = self.shader.const_of(value) {
            let truth = self.shader.values[value].ty == Type::Bool && word != 0;
            return self.vector([if truth { !0 } else { word }; 4]);
        }
        let held = self.held_value(value);
        let lanes = self.convert(held, types::I32X4);
        match self.shapes.of_value(value) {
            Shape::Linear(step @ 1..) => {
                let steps = self.vector([0, step, step.wrapping_mul(2), step.wrapping_mul(3)]);
                self.b.ins().iadd(lanes, steps)
            }
            _ => lanes,
        }
    }

    /// The floats of all elements.
    pub fn float_lanes(&mut self, value: Value) -> clif::Value {
        if self.is_uniform(value) && self.shader.const_of(value).is_none() {
            let float = self.float(value);
            return self.b.ins().splat(types::F32X4, float);
        }
        let lanes = self.lanes(value);
        self.as_floats(lanes)
    }

    /// A value in the form of another, for a phi.
    pub fn as_form(&mut self, value: Value, of: Value) -> clif::Value {
        match self.form(of) {
            types::I32X4 => self.lanes(value),
            types::F32 => self.float(value),
            types::I8 => self.truth(value),
            _ => self.base(value),
        }
    }
}

/// Operations whose results are floats.
fn is_float(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FMin
            | Op::FMax
            | Op::FSqrt
            | Op::FRsqrt
            | Op::FInverseLength
            | Op::FFloor
            | Op::FCeil
            | Op::FTrunc
            | Op::FRoundEven
            | Op::SToF
            | Op::UToF
    )
}

/// Operations whose operands are floats.
fn takes_floats(op: Op) -> bool {
    matches!(op, Op::FEq | Op::FNe | Op::FLt | Op::FLe | Op::FToS | Op::FToU)
        || is_float(op) && !matches!(op, Op::SToF | Op::UToF)
}

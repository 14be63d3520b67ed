//! Calls out of machine code: functions, operations without code, and the question whether to go on.

use std::mem::offset_of;

use cranelift_codegen::ir::{self as clif, AbiParam, InstBuilder, MemFlags, Signature, StackSlot, types};
use cranelift_codegen::ir::{StackSlotData, StackSlotKind};
use cranelift_codegen::isa::CallConv;
use vc4_shaders::ir::{Op, Type, Value};

use super::state::Generator;
use crate::layout::Context;
use crate::math::Call;

/// Vectors of arguments and of results that a call can have; no operation has more.
const ARGUMENTS: i32 = 24;
const RESULTS: i32 = 4;

impl Generator<'_, '_> {
    fn words(&mut self) -> StackSlot {
        *self.words.get_or_insert_with(|| {
            let bytes = 16 * (ARGUMENTS + RESULTS) as u32;
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
        })
    }

    fn call(
        &mut self,
        convention: CallConv,
        callee: usize,
        args: &[clif::Value],
        returns: bool,
    ) -> Option<clif::Value> {
        let mut signature = Signature::new(convention);
        let types = args.iter().map(|&arg| AbiParam::new(self.b.func.dfg.value_type(arg)));
        signature.params.extend(types);
        if returns {
            signature.returns.push(AbiParam::new(types::I32));
        }
        let signature = self.b.import_signature(signature);
        let callee = self.field(types::I64, callee);
        let call = self.b.ins().call_indirect(signature, callee, args);
        self.b.inst_results(call).first().copied()
    }

    /// Not 0 if the call is to end.
    pub fn ask_host(&mut self) -> clif::Value {
        let host = self.field(types::I64, offset_of!(Context, host));
        // See `layout::Tick`.
        let convention = match cfg!(target_arch = "x86_64") {
            true => CallConv::WindowsFastcall,
            false => self.b.func.signature.call_conv,
        };
        match self.call(convention, offset_of!(Context, tick), &[host], true) {
            Some(stop) => stop,
            None => self.word(0),
        }
    }

    /// A function of one float or four.
    pub fn function(&mut self, call: Call, a: clif::Value) -> clif::Value {
        let slot = self.words();
        let ty = self.b.func.dfg.value_type(a);
        let all = if ty == types::F32 { self.b.ins().splat(types::F32X4, a) } else { a };
        let address = self.b.ins().stack_addr(types::I64, slot, 0);
        self.b.ins().store(MemFlags::trusted(), all, address, 0);
        let functions = self.field(types::I64, offset_of!(Context, functions));
        let mut signature = Signature::new(self.b.func.signature.call_conv);
        signature.params.push(AbiParam::new(types::I64));
        let signature = self.b.import_signature(signature);
        let callee = self.fixed(types::I64, functions, size_of::<usize>() * call as usize);
        self.b.ins().call_indirect(signature, callee, &[address]);
        self.b.ins().load(ty, MemFlags::trusted(), address, 0)
    }

    /// Has the host perform operation `index`; where it leaves the results.
    pub fn perform(
        &mut self,
        callee: usize,
        index: usize,
        args: &[Value],
        active: clif::Value,
        results: usize,
    ) -> clif::Value {
        let slot = self.words();
        let address = self.b.ins().stack_addr(types::I64, slot, 0);
        for (at, &arg) in args.iter().enumerate() {
            let words = self.argument(arg);
            self.b.ins().store(MemFlags::trusted(), words, address, 16 * at as i32);
        }
        let zero = self.vector([0; 4]);
        for at in 0..results as i32 {
            self.b.ins().store(MemFlags::trusted(), zero, address, 16 * (ARGUMENTS + at));
        }
        let host = self.field(types::I64, offset_of!(Context, host));
        let index = self.word(index as u32);
        let results = self.b.ins().iadd_imm(address, 16 * i64::from(ARGUMENTS));
        let convention = self.b.func.signature.call_conv;
        self.call(convention, callee, &[host, index, address, active, results], false);
        results
    }

    /// An argument's words; truths as 0 and 1.
    fn argument(&mut self, arg: Value) -> clif::Value {
        let lanes = self.lanes(arg);
        match self.shader.values[arg].ty {
            Type::Bool => self.b.ins().ushr_imm(lanes, 31),
            Type::Word => lanes,
        }
    }

    /// An operation without code of its own.
    pub fn rare(&mut self, op: Op, args: &[Value], shared: bool) -> clif::Value {
        let known = self.needs.rare.iter().position(|&known| known == (op, args.len()));
        let index = known.unwrap_or_else(|| {
            self.needs.rare.push((op, args.len()));
            self.needs.rare.len() - 1
        });
        let active = self.word(15);
        let words = self.perform(offset_of!(Context, rare), index, args, active, 1);
        let ty = if shared { types::I32 } else { types::I32X4 };
        self.b.ins().load(ty, MemFlags::trusted(), words, 0)
    }
}

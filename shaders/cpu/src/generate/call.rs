//! Calls out of machine code: functions, operations without code, and the question whether to go on.

use std::mem::offset_of;

use cranelift_codegen::ir::{
    self as clif, AbiParam, ExtFuncData, ExternalName, InstBuilder, MemFlags, Signature, StackSlot,
    StackSlotData, StackSlotKind, UserExternalName, types,
};
use cranelift_codegen::isa::CallConv;
use vc4_shaders::ir::{Atomic, Op, Type, Value};

use super::state::Generator;
use crate::layout::Context;
use crate::math::Call;
use crate::service::Service;

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

    /// A call without a result.
    fn call(&mut self, service: Service, args: &[clif::Value]) {
        self.call_out(service, args, &[]);
    }

    /// A call that yields a word.
    fn word_of_call(&mut self, service: Service, args: &[clif::Value]) -> clif::Value {
        let call = self.call_out(service, args, &[AbiParam::new(types::I32)]);
        self.b.inst_results(call)[0]
    }

    fn call_out(&mut self, service: Service, args: &[clif::Value], returns: &[AbiParam]) -> clif::Inst {
        // See `layout::Tick`.
        let convention = match service {
            Service::Tick if cfg!(target_arch = "x86_64") && !self.machine.interpreted => {
                CallConv::WindowsFastcall
            }
            _ => self.machine.convention,
        };
        let mut signature = Signature::new(convention);
        let types = args.iter().map(|&arg| AbiParam::new(self.b.func.dfg.value_type(arg)));
        signature.params.extend(types);
        signature.returns.extend(returns);
        let signature = self.b.import_signature(signature);
        if self.machine.interpreted {
            let name = UserExternalName { namespace: 0, index: service.number().into() };
            let name = ExternalName::user(self.b.func.declare_imported_user_function(name));
            let callee = self.b.import_function(ExtFuncData { name, signature, colocated: false });
            return self.b.ins().call(callee, args);
        }
        let callee = self.address_of(service);
        self.b.ins().call_indirect(signature, callee, args)
    }

    /// Where machine code finds a service.
    fn address_of(&mut self, service: Service) -> clif::Value {
        let functions = offset_of!(Context, functions);
        match service {
            Service::Tick => self.pointer(offset_of!(Context, tick)),
            Service::Image => self.pointer(offset_of!(Context, image)),
            Service::Rare => self.pointer(offset_of!(Context, rare)),
            Service::Function(call) => {
                let functions = self.pointer(functions);
                self.fixed(self.machine.address, functions, size_of::<usize>() * call as usize)
            }
            Service::Atomic(_) | Service::Fence => {
                unreachable!("machine code has instructions for {service:?}")
            }
        }
    }

    /// Not 0 if the call is to end.
    pub fn ask_host(&mut self) -> clif::Value {
        let host = self.pointer(offset_of!(Context, host));
        self.word_of_call(Service::Tick, &[host])
    }

    /// An atomic operation on the word at an address: what was there before.
    pub fn atomic_by_host(
        &mut self,
        action: Atomic,
        address: clif::Value,
        words: &[clif::Value],
    ) -> clif::Value {
        let operands = [address, words[0], words.get(1).copied().unwrap_or(words[0])];
        self.word_of_call(Service::Atomic(action), &operands)
    }

    /// Orders what comes before it in front of what comes behind it.
    pub fn fence(&mut self) {
        match self.machine.interpreted {
            true => self.call(Service::Fence, &[]),
            false => {
                self.b.ins().fence();
            }
        }
    }

    /// A function of one float or four.
    pub fn function(&mut self, call: Call, a: clif::Value) -> clif::Value {
        let slot = self.words();
        let ty = self.b.func.dfg.value_type(a);
        let all = if ty == types::F32 { self.b.ins().splat(types::F32X4, a) } else { a };
        let address = self.b.ins().stack_addr(self.machine.address, slot, 0);
        self.b.ins().store(MemFlags::trusted(), all, address, 0);
        self.call(Service::Function(call), &[address]);
        self.b.ins().load(ty, MemFlags::trusted(), address, 0)
    }

    /// Has the host perform operation `index`; where it leaves the results.
    pub fn perform(
        &mut self,
        service: Service,
        index: usize,
        args: &[Value],
        active: clif::Value,
        results: usize,
    ) -> clif::Value {
        let slot = self.words();
        let address = self.b.ins().stack_addr(self.machine.address, slot, 0);
        for (at, &arg) in args.iter().enumerate() {
            let words = self.argument(arg);
            self.b.ins().store(MemFlags::trusted(), words, address, 16 * at as i32);
        }
        let zero = self.vector([0; 4]);
        for at in 0..results as i32 {
            self.b.ins().store(MemFlags::trusted(), zero, address, 16 * (ARGUMENTS + at));
        }
        let host = self.pointer(offset_of!(Context, host));
        let index = self.word(index as u32);
        let results = self.b.ins().iadd_imm(address, 16 * i64::from(ARGUMENTS));
        self.call(service, &[host, index, address, active, results]);
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
        let words = self.perform(Service::Rare, index, args, active, 1);
        let ty = if shared { types::I32 } else { types::I32X4 };
        self.b.ins().load(ty, MemFlags::trusted(), words, 0)
    }
}

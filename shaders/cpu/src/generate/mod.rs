//! A shader's code as a function of Cranelift's.
//!
//! Without barriers the function runs batch after batch of a workgroup. With barriers it runs one batch from where it stands
//! to its next barrier: what lives across is in the batch's frame, and a table at the entry leads back behind the barrier.

mod call;
mod flow;
mod image;
mod memory;
mod operation;
mod state;
mod value;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self as clif, AbiParam, BlockCall, Function, InstBuilder, JumpTableData, UserFuncName, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use vc4_shaders::ir::Shader;
use vc4_shaders::ir::cfg::Cfg;

pub use operation::is_supported;
pub use state::Needs;
use state::{Generator, Mask, Start};

use crate::batch::WIDTH;
use crate::divergence::Shapes;
use crate::liveness;
use crate::machine::Machine;

/// Generates a shader's function. `invocations` is the workgroup's number of them.
pub fn generate(shader: &Shader, invocations: u32, machine: Machine) -> (Function, Needs) {
    let cfg = Cfg::new(shader);
    let shapes = Shapes::of(shader, &cfg);
    let across = liveness::across_barriers(shader, &cfg);
    let mut signature = clif::Signature::new(machine.convention);
    signature.params.extend([machine.address, types::I32, types::I32].map(AbiParam::new));
    signature.returns.push(AbiParam::new(types::I32));
    let mut function = Function::with_name_signature(UserFuncName::default(), signature);
    let mut context = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut function, &mut context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    b.seal_block(entry);
    let params = [0, 1, 2].map(|at| b.block_params(entry)[at]);
    let start = Start { context: params[0], batch: params[1] };
    let mut generator = Generator::new(shader, &cfg, &shapes, &across, b, start, machine);
    generator.needs.barriers = !across.is_empty();
    let fuel = generator.variable(types::I32);
    generator.fuel = Some(fuel);
    generator.refuel();
    if across.is_empty() {
        generator.batches(invocations, params[2]);
    } else {
        generator.one_batch(invocations, params[2]);
    }
    generator.finish_stopped();
    generator.b.seal_all_blocks();
    let Generator { b, needs, .. } = generator;
    b.finalize();
    (function, needs)
}

impl Generator<'_, '_> {
    /// The batches up to one.
    fn batches(&mut self, invocations: u32, end: clif::Value) {
        let [body, exit] = [(); 2].map(|()| self.b.create_block());
        let batch = self.b.append_block_param(body, types::I32);
        let first = self.start.batch;
        self.b.ins().jump(body, &[first.into()]);
        self.switch(body);
        self.start.batch = batch;
        self.mask = self.first_mask(invocations);
        self.place_values();
        self.body();
        self.switch(self.done);
        self.b.seal_block(self.done);
        let next = self.b.ins().iadd_imm(batch, 1);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, end);
        self.b.ins().brif(more, body, &[next.into()], exit, &[]);
        self.b.seal_block(body);
        self.switch(exit);
        self.b.seal_block(exit);
        self.finish(0);
    }

    /// One batch from barrier to barrier.
    fn one_batch(&mut self, invocations: u32, resume: clif::Value) {
        self.mask = self.first_mask(invocations);
        self.place_values();
        self.resumptions = self.across.iter().map(|_| self.b.create_block()).collect();
        let begin = self.b.create_block();
        let pool = &mut self.b.func.dfg.value_lists;
        let none: [clif::BlockArg; 0] = [];
        let ways: Vec<BlockCall> = [begin]
            .iter()
            .chain(&self.resumptions)
            .map(|&block| BlockCall::new(block, none.iter().copied(), pool))
            .collect();
        let table = self.b.create_jump_table(JumpTableData::new(ways[0], &ways));
        self.b.ins().br_table(resume, table);
        self.switch(begin);
        self.b.seal_block(begin);
        self.body();
        self.switch(self.done);
        self.b.seal_block(self.done);
        self.finish(0);
    }

    fn body(&mut self) {
        if self.region(&self.shader.body) {
            self.jump(self.done);
        }
    }

    /// The elements that there are.
    fn first_mask(&mut self, invocations: u32) -> Mask {
        let width = WIDTH as u32;
        if invocations % width == 0 {
            return Mask::All;
        }
        let numbers = self.vector([0, 1, 2, 3]);
        if invocations < width {
            let mask = std::array::from_fn(|element| if (element as u32) < invocations { !0 } else { 0 });
            return Mask::Start(self.vector(mask));
        }
        let begin = self.b.ins().ishl_imm(self.start.batch, 2);
        let count = self.word(invocations);
        let rest = self.b.ins().isub(count, begin);
        let rest = self.splat(rest);
        Mask::Start(self.b.ins().icmp(IntCC::SignedLessThan, numbers, rest))
    }
}

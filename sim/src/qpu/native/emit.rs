//! A program as functions of the compiler's: traces as blocks, runs of arithmetic as straight code over a few elements at
//! a time, and calls for everything else. Most programs are one function; of long ones each leads to the next.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, Endianness, Function, InstBuilder, MemFlags, SigRef, Signature, Type, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch};
use vc4::qpu::BranchCond;

use super::function::{divided, entries};
use super::known::Floats;
use super::layout::{self, VECTORS, context};
use super::live::{Live, before, lost};
use super::part::{FLAGS, Part, bit, has_uniform, is_constant, parts};
use super::trace::{Then, Trace, traces};
use super::vector::{Memo, Pool, Vector};
use super::work::{Entry, Exit, Work};
use crate::qpu::op::{Action, Dest, Op, slot};
use crate::qpu::state::LOST_IN_SWITCH;
use crate::tmu::place as tmu;

pub const ADDRESS: Type = types::I64;
/// Of bus memory.
pub const LITTLE: Endianness = Endianness::Little;

/// A program as functions, and what they refer to.
pub struct Emitted {
    pub functions: Vec<Function>,
    /// Traces that are entered from elsewhere, the program's first one among them.
    pub entries: BTreeMap<usize, Entry>,
    pub work: Vec<Work>,
    pub exits: Vec<Exit>,
    /// Slots that begin as zero.
    pub cleared: Vec<u8>,
    /// See [`super::layout::Context::constants`].
    pub constants: Vec<[u32; 4]>,
}

/// Translates a program that stands at a bus address. `None` if it has to be interpreted.
pub fn emit(ops: &[Op], address: u32, floats: Floats, convention: CallConv) -> Option<Emitted> {
    let traces = traces(ops, address)?;
    let taken_apart: BTreeMap<usize, Vec<(usize, Part)>> =
        traces.iter().map(|(&start, trace)| (start, parts_of(ops, trace))).collect();
    let live = Live::of(&traces, &taken_apart);
    let functions = divided(&traces);
    let entries = entries(&traces, &functions);
    let mut emitted = Emitted {
        functions: Vec::new(),
        entries,
        work: Vec::new(),
        exits: Vec::new(),
        cleared: Vec::new(),
        constants: Vec::new(),
    };
    let mut pool = Pool::default();
    let mut floating_behind = BTreeMap::new();
    let mut frontend = FunctionBuilderContext::new();
    for (number, starts) in functions.iter().enumerate() {
        let mut signature = Signature::new(convention);
        signature.params.push(AbiParam::new(ADDRESS));
        signature.returns.push(AbiParam::new(types::I32));
        let mut function = Function::with_name_signature(Default::default(), signature);
        let mut service = Signature::new(convention);
        service.params.extend([ADDRESS, types::I32, types::I32].map(AbiParam::new));
        service.returns.push(AbiParam::new(types::I32));
        let service = function.import_signature(service);
        let mut build = FunctionBuilder::new(&mut function, &mut frontend);

        let entry = build.create_block();
        build.append_block_params_for_function_params(entry);
        build.switch_to_block(entry);
        let context = build.block_params(entry)[0];
        let qpu = build.ins().load(ADDRESS, trusted(), context, context::QPU as i32);
        let constants = build.ins().load(ADDRESS, trusted(), context, context::CONSTANTS as i32);
        let blocks = starts.iter().map(|&start| (start, build.create_block())).collect();
        pool.loaded.clear();
        let mut emitter = Emitter {
            build,
            context,
            qpu,
            constants,
            service,
            floats,
            pool,
            blocks,
            live: &live,
            floating: 0,
            floating_behind,
            work: std::mem::take(&mut emitted.work),
            exits: std::mem::take(&mut emitted.exits),
        };
        let entered = emitted.entries.iter().filter(|(_, entry)| entry.function == number);
        emitter.enter(entered.map(|(&start, _)| start));
        for &start in starts {
            let trace = &traces[&start];
            // What is known behind the only trace that leads here.
            let mut before =
                traces.iter().filter(|(_, trace)| trace.then.successors().any(|next| next == start));
            let only = match (before.next(), before.next()) {
                (Some((before, _)), None) if start != 0 => Some(before),
                _ => None,
            };
            emitter.floating =
                only.and_then(|before| emitter.floating_behind.get(before)).copied().unwrap_or(0);
            emitter.trace(start, trace, &taken_apart[&start]);
            if let Then::Switched(_) = trace.then {
                emitter.floating &= !lost();
            }
            let floating = emitter.floating;
            emitter.floating_behind.insert(start, floating);
        }
        let mut build;
        Emitter { build, pool, floating_behind, work: emitted.work, exits: emitted.exits, .. } = emitter;
        build.seal_all_blocks();
        build.finalize();
        emitted.functions.push(function);
    }
    let payload = bit(slot::RA + 15) | bit(slot::RB + 15);
    let entered = live.at(0) & !payload;
    emitted.cleared =
        (0..slot::COUNT as u8 - 1).filter(|&s| entered & bit(s) != 0 && !is_constant(s)).collect();
    emitted.constants = pool.words;
    Some(emitted)
}

fn parts_of(ops: &[Op], trace: &Trace) -> Vec<(usize, Part)> {
    let mut out = Vec::new();
    for at in trace.ops.clone() {
        parts(&ops[at], |part| out.push((at, part)));
    }
    out
}

/// Accesses to vectors that are certainly there and aligned to words only.
pub const UNALIGNED: MemFlags = MemFlags::new().with_notrap();

/// Accesses to what is certainly there, aligned.
pub fn trusted() -> MemFlags {
    MemFlags::trusted()
}

/// The function in the making.
pub struct Emitter<'f> {
    pub build: FunctionBuilder<'f>,
    pub context: Value,
    pub qpu: Value,
    pub constants: Value,
    pub service: SigRef,
    pub floats: Floats,
    pub pool: Pool,
    /// Of the function's traces.
    pub blocks: BTreeMap<usize, Block>,
    pub live: &'f Live,
    /// Slots that hold floats with normal exponents, or zero, whoever computed them last.
    pub floating: u128,
    /// The same behind traces that are there.
    pub floating_behind: BTreeMap<usize, u128>,
    pub work: Vec<Work>,
    pub exits: Vec<Exit>,
}

impl Emitter<'_> {
    fn trace(&mut self, start: usize, trace: &Trace, parts: &[(usize, Part)]) {
        let block = self.blocks[&start];
        self.build.switch_to_block(block);
        self.take_from_budget(start, trace.ops.len());
        let behind = self.live.behind(trace.then);
        let mut decided = None;
        // Units with a parameter that was written in this trace.
        let mut assembled = [false; 2];
        let mut rest = parts;
        while let Some(((at, part), others)) = rest.split_first() {
            let arithmetic = rest.iter().take_while(|(_, part)| matches!(part, Part::Alu(_))).count();
            if arithmetic > 0 {
                let (run, others) = rest.split_at(arithmetic);
                self.run(run, before(others, behind), trace.ops.end);
                rest = others;
                continue;
            }
            match part {
                Part::Decide(cond) => decided = Some(self.decide(*cond)),
                Part::Deliver { dest: Dest::Tmu(unit, tmu::S), from, .. }
                    if !assembled[usize::from(*unit) & 1] =>
                {
                    self.look_up(*unit, *from, |emitter| emitter.perform_part(*at, *part, trace.ops.end));
                }
                Part::Deliver { op, dest: Dest::Tmu(unit, parameter), from, .. } if !has_uniform(op) => {
                    let sends = *parameter == tmu::S;
                    assembled[usize::from(*unit) & 1] = !sends;
                    let send = |emitter: &mut Self| {
                        if sends {
                            emitter.perform_work(Work::Request(*at, *unit), trace.ops.end);
                        }
                    };
                    self.set_parameter((*unit, *parameter), *from, send, |emitter| {
                        emitter.perform_part(*at, *part, trace.ops.end);
                    });
                }
                Part::Deliver { dest: Dest::TlbZ, from, cond, .. } => {
                    self.test_depth(*from, *cond, |emitter| emitter.perform_part(*at, *part, trace.ops.end));
                }
                Part::Deliver { dest: Dest::TlbColor { .. }, from, cond, .. } => {
                    self.write_color(*from, *cond, |emitter| emitter.perform_part(*at, *part, trace.ops.end));
                }
                Part::Act(Op { action: Action::ColorLoad, .. }) => {
                    self.read_color(|emitter| emitter.perform_part(*at, *part, trace.ops.end));
                }
                Part::Act(Op { action: Action::LoadTmu(unit), .. }) => {
                    self.load_result(*unit, |emitter| emitter.perform_part(*at, *part, trace.ops.end));
                }
                part => self.perform_part(*at, *part, trace.ops.end),
            }
            self.floating &= !part.changes();
            rest = others;
        }
        match trace.then {
            Then::End => self.leave(Exit::End(trace.ops.end)),
            Then::Next(next) => self.go_to(next),
            Then::Switched(next) => {
                self.lose((self.live.at(next) | FLAGS) & lost());
                self.go_to(next);
            }
            Then::Either { taken, otherwise } => match decided {
                Some(condition) => self.go_either_way(condition, taken, otherwise),
                None => unreachable!("a trace that may go two ways has a branch"),
            },
        }
    }

    /// Begins with the trace that was asked for.
    fn enter(&mut self, entries: impl Iterator<Item = usize>) {
        let blocks: Vec<Block> = entries.map(|start| self.blocks[&start]).collect();
        let Some((&last, others)) = blocks.split_last() else { unreachable!("each function is entered") };
        if others.is_empty() {
            self.build.ins().jump(last, &[]);
            return;
        }
        let mut switch = Switch::new();
        for (number, &block) in (0..).zip(others) {
            switch.set_entry(number, block);
        }
        let entry = self.build.ins().load(types::I32, trusted(), self.context, context::ENTRY as i32);
        switch.emit(&mut self.build, entry, last);
    }

    fn go_to(&mut self, start: usize) {
        match self.blocks.get(&start) {
            Some(&block) => {
                self.build.ins().jump(block, &[]);
            }
            None => self.leave(Exit::Next(start)),
        }
    }

    fn go_either_way(&mut self, condition: Value, taken: usize, otherwise: usize) {
        let [yes, no] = [(); 2].map(|()| self.build.create_block());
        self.build.ins().brif(condition, yes, &[], no, &[]);
        for (block, start) in [(yes, taken), (no, otherwise)] {
            self.build.switch_to_block(block);
            self.go_to(start);
        }
    }

    fn leave(&mut self, exit: Exit) {
        let number = self.build.ins().iconst(types::I32, self.exits.len() as i64);
        self.exits.push(exit);
        self.build.ins().return_(&[number]);
    }

    /// Goes on where a condition is not zero, and else leaves.
    fn leave_unless(&mut self, condition: Value, exit: Exit) {
        let (on, out) = (self.build.create_block(), self.build.create_block());
        self.build.set_cold_block(out);
        self.build.ins().brif(condition, on, &[], out, &[]);
        self.build.switch_to_block(out);
        self.leave(exit);
        self.build.switch_to_block(on);
    }

    /// The interpreter takes over where a program that runs for ever is to be stopped.
    fn take_from_budget(&mut self, start: usize, instructions: usize) {
        let at = context::BUDGET as i32;
        let budget = self.build.ins().load(types::I64, trusted(), self.context, at);
        let left = self.build.ins().iadd_imm(budget, -(instructions as i64));
        let enough = self.build.ins().icmp_imm(IntCC::SignedGreaterThanOrEqual, left, 0);
        self.leave_unless(enough, Exit::Resume(start));
        self.build.ins().store(trusted(), left, self.context, at);
    }

    /// Has the host do a part of an instruction.
    fn perform_part(&mut self, at: usize, part: Part, end: usize) {
        self.perform_work(Work::Part(at, part), end);
    }

    /// Has the host do something for all elements.
    fn perform_work(&mut self, work: Work, end: usize) {
        let number = self.work.len() as u32;
        self.work.push(work);
        let zero = self.build.ins().iconst(types::I32, 0);
        self.perform(number, zero, end);
    }

    /// Calls the host.
    pub fn perform(&mut self, work: u32, first: Value, end: usize) {
        let host = self.build.ins().load(ADDRESS, trusted(), self.context, context::HOST as i32);
        let function = self.build.ins().load(ADDRESS, trusted(), self.context, context::PERFORM as i32);
        let work = self.build.ins().iconst(types::I32, i64::from(work));
        let call = self.build.ins().call_indirect(self.service, function, &[host, work, first]);
        let failed = self.build.inst_results(call)[0];
        let fine = self.build.ins().icmp_imm(IntCC::Equal, failed, 0);
        self.leave_unless(fine, Exit::Fault(end));
    }

    /// Accumulators and flags behind a thread switch, as far as somebody looks.
    fn lose(&mut self, slots: u128) {
        self.pool.loaded.clear();
        let word = self.on_constants(|v| v.constant(LOST_IN_SWITCH.word));
        for s in (slot::ACC..=slot::R5).filter(|&s| slots & bit(s) != 0) {
            for v in 0..VECTORS {
                self.build.ins().store(trusted(), word, self.qpu, layout::register(s, v));
            }
        }
        if slots & FLAGS != 0 {
            for (at, mask) in layout::FLAGS.into_iter().zip(LOST_IN_SWITCH.flags) {
                let mask = self.build.ins().iconst(types::I16, i64::from(mask));
                self.build.ins().store(trusted(), mask, self.qpu, at as i32);
            }
        }
    }

    /// Whether a branch is taken.
    fn decide(&mut self, cond: BranchCond) -> Value {
        use BranchCond::*;
        let (flag, all, set) = match cond {
            AllZs => (0, true, true),
            AllZc => (0, true, false),
            AnyZs => (0, false, true),
            AnyZc => (0, false, false),
            AllNs => (1, true, true),
            AllNc => (1, true, false),
            AnyNs => (1, false, true),
            AnyNc => (1, false, false),
            AllCs => (2, true, true),
            AllCc => (2, true, false),
            AnyCs => (2, false, true),
            AnyCc => (2, false, false),
            Always => return self.build.ins().iconst(types::I8, 1),
        };
        let mask = self.build.ins().load(types::I16, trusted(), self.qpu, layout::FLAGS[flag] as i32);
        // Any of a kind means: not all of the other kind.
        let cc = if all { IntCC::Equal } else { IntCC::NotEqual };
        let other = if set == all { 0xffff } else { 0 };
        let other = self.build.ins().iconst(types::I16, other);
        self.build.ins().icmp(cc, mask, other)
    }

    /// Runs something that computes nothing from values.
    pub fn on_constants<T>(&mut self, f: impl FnOnce(&mut Vector<'_, '_>) -> T) -> T {
        self.with(&mut Memo::default(), f)
    }

    /// Runs something that knows what was computed before.
    pub fn with<T>(&mut self, memo: &mut Memo, f: impl FnOnce(&mut Vector<'_, '_>) -> T) -> T {
        let Emitter { build, floats, pool, constants, .. } = self;
        f(&mut Vector { build, floats: *floats, pool, constants: *constants, memo })
    }
}

//! Decoded programs.

use std::sync::OnceLock;

use vc4::qpu::cost::{Cost, LineCost};
use vc4::qpu::{Cond, Inst, Pack, Signal, Stage};

use super::facts::Facts;
use super::fault::{Fault, unsupported};
use super::flatten::flatten;
use super::hidden::is_hidden_by_depth;
#[cfg(feature = "jit")]
use super::native::{Compiled, Native};
use super::op::{Action, Branch, Dest, Op, slot};
#[cfg(feature = "jit")]
use super::variant;
use crate::memory::Memory;
#[cfg(feature = "jit")]
use crate::stats::Engine;

/// A decoded program, from its first instruction to the two that follow the end signal.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) ops: Vec<Op>,
    /// How the machine behaves.
    pub(super) behaviour: vc4::facts::Facts,
    /// Whether machine code computes as the machine does.
    #[cfg(feature = "jit")]
    compiles: bool,
    /// The undecoded form, for the checker and for messages.
    pub(super) insts: Vec<Inst>,
    pub(super) address: u32,
    /// Register slots that some instruction reads: they start from zero in every instance.
    pub(super) reads: Vec<u8>,
    /// Whether it contains a thread switch.
    pub(super) threaded: bool,
    facts: OnceLock<Facts>,
    slots: OnceLock<Vec<u32>>,
    hidden_by_depth: OnceLock<bool>,
    /// That an instance on a path which all take broke no rule: one of vertices, one of fragments.
    kept_rules: [OnceLock<()>; 2],
    #[cfg(feature = "jit")]
    compiled: OnceLock<std::sync::Arc<Compiled>>,
}

/// Longest program that is decoded, in instructions: the kernel's object size limit is far below.
const MAX_INSTRUCTIONS: u32 = 1 << 20;

impl Program {
    /// Decodes the program at the bus address `address` up to the two instructions behind its first
    /// end signal.
    ///
    /// # Errors
    /// [`Fault::Bus`] when the code leaves memory, [`Fault::Decode`] for a reserved code and
    /// [`Fault::Unsupported`] for what the kernel forbids or this simulator lacks.
    pub fn decode(memory: &Memory, address: u32) -> Result<Program, Fault> {
        Program::decode_for(&vc4::facts::Facts::default(), memory, address)
    }

    /// [`Program::decode`] on a machine that behaves so.
    ///
    /// # Errors
    /// As [`Program::decode`].
    pub fn decode_for(
        behaviour: &vc4::facts::Facts,
        memory: &Memory,
        address: u32,
    ) -> Result<Program, Fault> {
        let mut insts = Vec::new();
        let mut last = MAX_INSTRUCTIONS;
        let mut index = 0;
        while index <= last {
            let at = address.wrapping_add(index * 8);
            let word = u64::from(memory.read(at)?) | u64::from(memory.read(at.wrapping_add(4))?) << 32;
            let inst = Inst::decode(word).map_err(|error| Fault::Decode { index, error })?;
            if last == MAX_INSTRUCTIONS && matches!(inst.signal(), Signal::End | Signal::ColorLoadEnd) {
                last = index + 2;
            }
            insts.push(inst);
            index += 1;
            if index == MAX_INSTRUCTIONS {
                return Err(unsupported(index, "no end signal; end the program with sig_end"));
            }
        }
        Program::from_insts_for(behaviour, insts, address)
    }

    /// Flattens instructions that stand at the bus address `address`; the last two follow the end signal.
    ///
    /// # Errors
    /// As [`Program::decode`].
    pub fn from_insts(insts: Vec<Inst>, address: u32) -> Result<Program, Fault> {
        Program::from_insts_for(&vc4::facts::Facts::default(), insts, address)
    }

    /// [`Program::from_insts`] on a machine that behaves so.
    ///
    /// # Errors
    /// As [`Program::decode`].
    pub fn from_insts_for(
        behaviour: &vc4::facts::Facts,
        insts: Vec<Inst>,
        address: u32,
    ) -> Result<Program, Fault> {
        let ops = insts
            .iter()
            .enumerate()
            .map(|(i, inst)| flatten(behaviour, inst, address, i as u32))
            .collect::<Result<Vec<Op>, Fault>>()?;
        let mut read = [false; slot::COUNT];
        for op in &ops {
            for s in [op.add_a, op.add_b, op.mul_a, op.mul_b, op.unpack_from] {
                read[usize::from(s)] = true;
            }
            // A partial pack keeps the rest of its register.
            for dest in [op.add_dest, op.mul_dest] {
                if let Dest::Packed(s) | Dest::Slot(s) = dest {
                    read[usize::from(s)] |=
                        op.pack != Pack::Nop || op.add_cond != Cond::Always || op.mul_cond != Cond::Always;
                }
            }
            if let Action::Branch(Branch { reg: Some(r), .. }) = op.action {
                read[usize::from(slot::RA + r)] = true;
            }
        }
        let reads = (0..=slot::R5).filter(|&s| read[usize::from(s)]).collect();
        let threaded = ops.iter().any(|op| op.action == Action::Switch);
        Ok(Program {
            ops,
            behaviour: *behaviour,
            #[cfg(feature = "jit")]
            compiles: !variant::is_other_machine(behaviour),
            insts,
            address,
            reads,
            threaded,
            facts: OnceLock::new(),
            slots: OnceLock::new(),
            hidden_by_depth: OnceLock::new(),
            kept_rules: Default::default(),
            #[cfg(feature = "jit")]
            compiled: OnceLock::new(),
        })
    }

    /// Machine code that does the same.
    #[cfg(feature = "jit")]
    pub(super) fn native(&self, engine: Engine) -> Option<&Native> {
        if engine == Engine::Interpreter || !self.compiles {
            return None;
        }
        let compiled = self.compiled.get_or_init(|| Compiled::find(&self.insts, self.address));
        compiled.native(&self.ops, self.address, engine == Engine::Compiler)
    }

    /// Whether no path through it breaks a rule, as far as paths decide: some instance was watched, and there is no other one.
    pub(super) fn keeps_rules(&self, stage: Stage) -> bool {
        self.kept_rules[usize::from(stage == Stage::Fragment)].get().is_some()
    }

    /// An instance broke no rule.
    pub(super) fn kept_rules(&self, stage: Stage) {
        if !self.ops.iter().any(|op| matches!(op.action, Action::Branch(_))) {
            self.kept_rules[usize::from(stage == Stage::Fragment)].get_or_init(|| ());
        }
    }

    /// What the checker asks about it.
    pub(super) fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| Facts::of(&self.insts, &self.ops))
    }

    /// Whether nothing of it can be seen where the depth test fails: then early Z may skip it.
    pub fn is_hidden_by_depth(&self) -> bool {
        *self.hidden_by_depth.get_or_init(|| is_hidden_by_depth(&self.insts))
    }

    /// How the machine behaves that it runs on.
    pub fn behaviour(&self) -> &vc4::facts::Facts {
        &self.behaviour
    }

    /// Bus address of its first instruction.
    pub fn address(&self) -> u32 {
        self.address
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Slots that an instruction takes by the static estimate of [`vc4::qpu::cost`]; 1 behind the program's end.
    pub fn slots(&self, index: usize) -> u32 {
        let slots = || Cost::of(&self.insts).lines.iter().map(LineCost::slots).collect();
        self.slots.get_or_init(slots).get(index).copied().unwrap_or(1)
    }

    /// Whether there is no instruction at all.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The decoded instructions.
    pub fn insts(&self) -> &[Inst] {
        &self.insts
    }
}

//! Watches what a program does while it runs: the hazards of qpu.md §5.1 and §5.2 on the path that was really taken,
//! registers and flags that were never written, and what the neighbours of the QPU remark. The simulator gives such
//! programs a meaning; the chip does not. What can be told without running a program is
//! [`vc4::qpu::rules::check_program`]'s business.

use std::collections::VecDeque;

use vc4::qpu::Stage;

use super::exec::Observer;
use super::facts::{FLAGS, Facts, bit};
use super::op::{Action, Dest, Op, Port, slot};
use super::ports::Ports;
use super::program::Program;
use super::report;
use super::state::Qpu;
use crate::stats::{Caches, Finding, Held, Note, Stats, Words};

/// Reported for the last instruction.
const TMU_LEFT_OVER: Note = Note {
    id: "tmu-results-left",
    manual: "qpu.md §5.1 6",
    text: "all TMU results must be loaded before the program ends",
};

const REGISTER_UNDEFINED: Note = Note {
    id: "register-undefined",
    manual: "qpu.md §1.3, §1.4",
    text: "a register is written before it is read; at the start and, for accumulators, after a thread switch it holds anything",
};

const FLAGS_UNDEFINED: Note = Note {
    id: "flags-undefined",
    manual: "qpu.md §1.3, §1.4",
    text: "the flags are set before a condition or branch looks at them; at the start and after a thread switch they are anything",
};

/// Remembers the instructions before the current one and what they wrote.
struct Checker<'p> {
    facts: &'p Facts,
    /// Executed instructions, the latest first.
    history: VecDeque<usize>,
    /// How many of them stand in front of the last one, without a gap.
    straight: usize,
    /// Bit n: slot n was written.
    defined: u128,
}

impl<'p> Checker<'p> {
    fn new(program: &'p Program, stage: Stage) -> Checker<'p> {
        let payload = if stage == Stage::Fragment { bit(slot::RA + 15) | bit(slot::RB + 15) } else { 0 };
        Checker { facts: program.facts(), history: VecDeque::new(), straight: 0, defined: payload }
    }

    /// Judges an instruction about to run; `broken` gets each rule.
    fn before(&mut self, index: usize, mut broken: impl FnMut(Note)) {
        let facts = self.facts;
        self.straight = match self.history.front() {
            Some(last) if last + 1 == index => self.straight + 1,
            _ => 0,
        };
        // Less in front cannot break more.
        if !facts.is_clean[index] || self.straight < self.history.len() {
            facts.broken(index, self.history.iter().copied()).for_each(|rule| broken(Note::of(rule)));
        }
        self.history.truncate(facts.reach.saturating_sub(1));
        self.history.push_front(index);
        let [read, written] = facts.registers[index];
        let undefined = read & !self.defined;
        if undefined & !bit(FLAGS) != 0 {
            broken(REGISTER_UNDEFINED);
        }
        if undefined & bit(FLAGS) != 0 {
            broken(FLAGS_UNDEFINED);
        }
        // Each register is worth one finding.
        self.defined |= undefined | written;
    }

    fn switched(&mut self) {
        for s in slot::ACC..=FLAGS {
            self.defined &= !bit(s);
        }
    }
}

/// Watches one instance for the rules, the caches, or both.
pub(super) struct Watcher<'p, 's> {
    program: &'p Program,
    checker: Option<Checker<'p>>,
    pub caches: Option<Box<Caches>>,
    stats: &'s mut Stats,
    /// The stream pointer before the current instruction.
    uniforms: u32,
    /// No rule was broken.
    clean: bool,
}

impl<'p, 's> Watcher<'p, 's> {
    pub fn new(
        program: &'p Program,
        stage: Stage,
        caches: Option<Box<Caches>>,
        stats: &'s mut Stats,
    ) -> Watcher<'p, 's> {
        let checker = stats.check.then(|| Checker::new(program, stage));
        Watcher { program, checker, caches, stats, uniforms: 0, clean: true }
    }

    fn found(stats: &mut Stats, program: &Program, q: &Qpu, rule: Note, index: usize) {
        if !stats.knows(&rule, program.address, index as u32) {
            let report = report::excerpt(program, index, q);
            stats.report(Finding { rule, program: program.address, index: index as u32, report });
        }
    }

    /// The program ran to its end.
    pub fn end(&mut self, q: &Qpu, stage: Stage) {
        if self.checker.is_none() {
            return;
        }
        if q.outstanding() > 0 {
            Self::found(self.stats, self.program, q, TMU_LEFT_OVER, self.program.len() - 1);
        } else if self.clean {
            self.program.kept_rules(stage);
        }
    }

    /// Notes what an instruction did to the pixel that is traced.
    fn trace(&mut self, q: &Qpu, ports: &impl Ports, index: usize) {
        let Some(trace) = &mut self.stats.pixel else { return };
        let Some(element) = trace.element() else { return };
        let [_, written] = self.program.facts().registers[index];
        trace.step(index, words(q, written, element), ports.held(element));
    }

    fn count(&mut self, q: &mut Qpu, op: &Op, index: usize) {
        let Some(caches) = &mut self.caches else { return };
        let counters = &mut self.stats.counters;
        caches.instruction(self.program.address.wrapping_add(index as u32 * 8), counters);
        let is = |port| op.port_a == port || op.port_b == port;
        let moved = op.add_dest == Dest::UnifAddr || op.mul_dest == Dest::UnifAddr;
        if is(Port::Uniform) || !moved && q.uniform_address() != self.uniforms {
            caches.uniform(self.uniforms, counters);
        }
        if moved {
            caches.stream_moved();
        }
        if is(Port::Varying) {
            caches.varying();
        }
        if is(Port::Vpm) {
            caches.vector();
        }
        let writes_tile = |dest| matches!(dest, Dest::TlbZ | Dest::TlbColor { .. });
        if op.action == Action::ColorLoad || writes_tile(op.add_dest) || writes_tile(op.mul_dest) {
            self.stats.tile_accesses += 1;
        }
        if let Action::LoadTmu(unit) = op.action {
            caches.load(usize::from(unit));
        }
        for dest in [op.add_dest, op.mul_dest] {
            match dest {
                Dest::Tmu(unit, 0) => caches.lookup(usize::from(unit), q.last_lines(unit), counters),
                Dest::Sfu(_) => caches.special(),
                _ => {}
            }
        }
    }
}

impl<P: Ports> Observer<P> for Watcher<'_, '_> {
    fn before(&mut self, q: &Qpu, index: usize) {
        self.uniforms = q.uniform_address();
        let (stats, program, clean) = (&mut *self.stats, self.program, &mut self.clean);
        if let Some(checker) = &mut self.checker {
            checker.before(index, |rule| {
                *clean = false;
                Self::found(stats, program, q, rule, index);
            });
        }
    }

    fn after(&mut self, q: &mut Qpu, ports: &mut P, op: &Op, index: usize) {
        self.count(q, op, index);
        if let Some(counts) = &mut self.stats.counts {
            counts.line(index, self.program.slots(index));
        }
        self.trace(q, ports, index);
        if self.checker.is_some() {
            while let Some(rule) = ports.take_note().or_else(|| q.take_note()) {
                self.clean = false;
                Self::found(self.stats, self.program, q, rule, index);
            }
        }
    }

    fn switched(&mut self) {
        if let Some(checker) = &mut self.checker {
            checker.switched();
        }
    }
}

/// What stands in the given slots of an element.
fn words(q: &Qpu, slots: u128, element: usize) -> Words {
    let named = |s: u8| match s {
        FLAGS => Held::Flags,
        s if s < slot::RB => Held::FileA(s - slot::RA),
        s if s < slot::ACC => Held::FileB(s - slot::RB),
        s => Held::Accumulator(s - slot::ACC),
    };
    let word = |s: u8| match s {
        FLAGS => q.flags().iter().rev().fold(0, |bits, flag| bits << 1 | u32::from(flag >> element & 1)),
        s => q.register(s)[element],
    };
    (0..=FLAGS).filter(|&s| slots & bit(s) != 0).map(|s| (named(s), word(s))).collect()
}

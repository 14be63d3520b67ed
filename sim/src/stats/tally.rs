//! What running a part of a job yields besides its picture, and how closely it is watched meanwhile.

use super::caches::CacheModel;
use super::counters::Counters;
use super::counts::Counts;
use super::finding::{Finding, Note};
use super::pixel::PixelTrace;

/// Instructions after which a program counts as hung, unless the configuration says otherwise. The kernel resets the
/// GPU when a job makes no progress for 100 ms (kernel-abi.md §11), which is about this many instruction slots.
pub const INSTRUCTION_LIMIT: u64 = 1 << 23;

/// How QPU programs run where nobody watches them for broken rules and nobody counts their caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Interpreted, until they have run so often that compiling them pays.
    #[default]
    Best,
    /// Interpreted.
    Interpreter,
    /// As machine code from the first instance on, where there is some for the host.
    Compiler,
}

/// Counts over all instances that were run with it.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Program instances.
    pub instances: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Those of them that ran in vertex and coordinate programs.
    pub vertex_instructions: u64,
    /// Texture and direct lookups of 16 elements.
    pub lookups: u64,
    /// Blocks of overflow memory that tile lists took.
    pub spills: u32,
    /// Performance events.
    pub counters: Counters,
    /// Instructions that access the tile buffer, where caches are modelled.
    pub tile_accesses: u64,
    /// Clocks in fragment programs for which these kept them waiting.
    pub tile_waits: u64,
    /// Whether to look for broken programming rules on the path that is executed; costs time.
    pub check: bool,
    /// The caches and stalls to model for the counters, if any; costs time.
    pub caches: Option<CacheModel>,
    /// How programs run that nobody watches.
    pub engine: Engine,
    /// Instructions after which a program instance counts as hung.
    pub instruction_limit: u64,
    /// Broken rules, each place once, in the order of discovery.
    pub findings: Vec<Finding>,
    /// Counts per line and tile, when the job is observed; they cost time.
    pub counts: Option<Box<Counts>>,
    /// What happens to one pixel, when somebody asks.
    pub pixel: Option<Box<PixelTrace>>,
}

impl Default for Stats {
    fn default() -> Stats {
        Stats {
            instances: 0,
            instructions: 0,
            vertex_instructions: 0,
            lookups: 0,
            spills: 0,
            counters: Counters::default(),
            tile_accesses: 0,
            tile_waits: 0,
            check: false,
            caches: None,
            engine: Engine::Best,
            instruction_limit: INSTRUCTION_LIMIT,
            findings: Vec::new(),
            counts: None,
            pixel: None,
        }
    }
}

impl Stats {
    /// Empty counts for another part of the same job.
    pub fn part(&self) -> Stats {
        Stats {
            check: self.check,
            caches: self.caches,
            engine: self.engine,
            instruction_limit: self.instruction_limit,
            counts: self.counts.as_ref().map(|_| Box::default()),
            pixel: self.pixel.as_ref().map(|trace| Box::new(trace.part())),
            ..Stats::default()
        }
    }

    /// Adds what a part did.
    pub fn merge(&mut self, part: Stats) {
        self.instances += part.instances;
        self.instructions += part.instructions;
        self.vertex_instructions += part.vertex_instructions;
        self.lookups += part.lookups;
        self.spills += part.spills;
        self.counters.merge(&part.counters);
        self.tile_accesses += part.tile_accesses;
        self.tile_waits += part.tile_waits;
        for finding in part.findings {
            self.report(finding);
        }
        if let (Some(counts), Some(part)) = (&mut self.counts, part.counts) {
            counts.merge(*part);
        }
        if let (Some(trace), Some(part)) = (&mut self.pixel, part.pixel) {
            trace.merge(*part);
        }
    }

    /// Whether this place is known already.
    pub(crate) fn knows(&self, rule: &Note, program: u32, index: u32) -> bool {
        self.findings.iter().any(|f| f.rule.id == rule.id && f.program == program && f.index == index)
    }

    /// Adds a finding, unless its place is known.
    pub(crate) fn report(&mut self, finding: Finding) {
        if !self.findings.iter().any(|known| known.same_place(&finding)) {
            self.findings.push(finding);
        }
    }

    /// Adds a finding about a list when rules are watched.
    pub(crate) fn note(&mut self, rule: Note, report: impl FnOnce() -> String) {
        if self.check && !self.knows(&rule, 0, 0) {
            self.report(Finding { rule, program: 0, index: 0, report: report() });
        }
    }
}

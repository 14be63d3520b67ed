//! Running an instance of a program, and what it adds to the counts.

use vc4::hw::LANES;
use vc4::qpu::Stage;
use vc4::qpu::cost::CLOCKS_PER_SLOT;

use super::check::Watcher;
use super::exec::Instance;
use super::fault::Fault;
use super::op::slot;
use super::ports::Ports;
use super::program::Program;
#[cfg(feature = "jit")]
use super::report;
use super::state::{Payload, Qpu, Register};
use crate::memory::Memory;
use crate::stats::{Caches, Event, Stats};

/// Quads of a lookup of 16 elements.
const QUADS: u64 = LANES as u64 / 4;

/// Runs one instance on a fresh QPU; see [`Qpu::run`].
pub fn run<P: Ports>(
    program: &Program,
    memory: &Memory,
    uniforms_address: u32,
    ports: &mut P,
    initial: &Payload,
    stats: &mut Stats,
) -> Result<(), Fault> {
    Qpu::new().run(program, memory, uniforms_address, ports, initial, stats)
}

impl Qpu {
    /// Runs one instance of `program` from its first instruction to its end. Registers that the program
    /// reads start as zero, except for the payload; nothing of an earlier instance is visible.
    ///
    /// # Errors
    /// What the program did that the machine has no answer for; memory and ports keep the effects so far.
    pub fn run<P: Ports>(
        &mut self,
        program: &Program,
        memory: &Memory,
        uniforms_address: u32,
        ports: &mut P,
        initial: &Payload,
        stats: &mut Stats,
    ) -> Result<(), Fault> {
        let traced = stats.pixel.as_ref().is_some_and(|trace| trace.element().is_some());
        let counted = stats.caches.is_some() || stats.counts.is_some() || traced;
        let stage = ports.stage();
        // What depends on the path alone is known from one instance of a program with one path.
        let watched = counted || stats.check && !program.keeps_rules(stage);
        #[cfg(feature = "jit")]
        let native = if watched { None } else { program.native(stats.engine) };
        #[cfg(feature = "jit")]
        let cleared = native.map_or(&program.reads, |native| &native.cleared);
        #[cfg(not(feature = "jit"))]
        let cleared = &program.reads;
        for &s in cleared {
            self.regs[usize::from(s)] = Register([0; LANES]);
        }
        self.regs[usize::from(slot::RA + 15)] = Register(initial.ra15);
        self.regs[usize::from(slot::RB + 15)] = Register(initial.rb15);
        (self.z, self.n, self.c) = (0, 0, 0);
        self.uniforms = uniforms_address;
        self.semaphores = [0; 16];
        for tmu in &mut self.tmus {
            tmu.reset(program.threaded, stats.caches.is_some());
        }
        stats.instances += 1;
        let limit = stats.instruction_limit;
        let mut instance = Instance { q: self, memory, ports, lookups: 0, executed: 0, limit };
        let mut stalled = 0;
        #[cfg(feature = "jit")]
        let compiled = native.map(|native| {
            let mut notes = Vec::new();
            let result = native.call(&mut instance, program, stats.check.then_some(&mut notes));
            for (at, rule) in notes {
                report::noted(program, at, rule, stats);
            }
            result
        });
        #[cfg(not(feature = "jit"))]
        let compiled = None;
        let result = compiled.unwrap_or_else(|| {
            if !watched && !stats.check {
                return instance.run_loop(program, 0, &mut ());
            }
            let (result, clocks) = run_watched(&mut instance, program, stage, stats);
            stalled = clocks;
            result
        });
        let (executed, lookups) = (instance.executed, instance.lookups);
        stats.instructions += executed;
        stats.lookups += lookups;
        let clocks = executed * u64::from(CLOCKS_PER_SLOT);
        let busy = if stage == Stage::Fragment { Event::QpuFragment } else { Event::QpuVertex };
        stats.counters.add(busy, clocks + stalled);
        stats.counters.add(Event::QpuInstructions, clocks);
        if stage != Stage::Fragment {
            stats.vertex_instructions += executed;
        }
        stats.counters.add(Event::TextureQuads, lookups * QUADS);
        if let Some(counts) = &mut stats.counts {
            counts.instance(lookups);
        }
        result
    }
}

/// Runs with everything watched that `stats` asks for. Returns the clocks that it stalled as well.
fn run_watched<P: Ports>(
    instance: &mut Instance<'_, P>,
    program: &Program,
    stage: Stage,
    stats: &mut Stats,
) -> (Result<(), Fault>, u64) {
    let cold = |model| Box::new(Caches::new(model));
    let mut caches = stats.caches.map(|model| instance.q.caches.take().unwrap_or_else(|| cold(model)));
    if let Some(caches) = &mut caches {
        caches.begin();
    }
    let mut watcher = Watcher::new(program, stage, caches, stats);
    let result = instance.run_loop(program, 0, &mut watcher);
    if result.is_ok() {
        watcher.end(instance.q, stage);
    }
    let caches = watcher.caches.take();
    let mut stalled = 0;
    if let Some(mut caches) = caches {
        stalled = caches.end(instance.executed, program.threaded, &mut stats.counters);
        instance.q.caches = Some(caches);
    }
    (result, stalled)
}

//! A static estimate of what a program costs (qpu.md §7). It ranks programs; it predicts no frame rate.
//!
//! The model walks the program once from top to bottom: branches fall through, loops run once. Each instruction takes one
//! slot of 4 clocks, and waits before it where a result is not there yet. What units shared by several QPUs allow is
//! reported beside it as a bound. Every number of the model is a row of [`COSTS`].

use super::access::{Access, link_tmu};
use super::inst::Inst;
use super::isa::{RegFile, Waddr};
use super::uniforms::uniform_reads;
use crate::facts::{Number, Numbers};

/// Core clocks of a slot (qpu.md §1.1).
pub const CLOCKS_PER_SLOT: u32 = 4;
/// QPUs that share an SFU, an interpolator and the TMUs of a slice (qpu.md §1.1).
pub const QPUS_PER_SLICE: u32 = 4;
/// TMUs of a slice (qpu.md §1.1).
pub const TMUS_PER_SLICE: u32 = 2;
/// Slices of the Raspberry Pi 0 to 3 (qpu.md §1.1).
pub const SLICES: u32 = 3;

/// What costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// An instruction is issued.
    Issue,
    /// From a TMU request to its result when the texel is in the TMU's cache.
    TmuHit,
    /// The same from the L2 cache.
    TmuL2,
    /// The same from memory.
    TmuMemory,
    /// A request keeps its TMU busy.
    TmuRequest,
    /// From a write of the uniform address to the first word behind it.
    UniformRefill,
    /// From a VPM read set-up to the first vector.
    VpmReadSetup,
    /// An SFU request keeps the SFU of a slice busy.
    SfuRequest,
    /// Varyings that the interpolator of a slice delivers per slot.
    VaryingsPerSlot,
    /// A tile access keeps the tile buffer of the chip busy.
    TileAccess,
    /// A vector keeps the port of the VPM busy.
    VpmVector,
}

/// A row of the cost table.
#[derive(Clone, Copy, Debug)]
pub struct CostRow {
    /// What costs.
    pub event: Event,
    /// Slots of 4 clocks; for [`Event::VaryingsPerSlot`] a rate.
    pub slots: u32,
    /// Where the manual says so.
    pub manual: &'static str,
    /// The event in words, and what the number is good for.
    pub text: &'static str,
}

const fn row(event: Event, slots: u32, manual: &'static str, text: &'static str) -> CostRow {
    CostRow { event, slots, manual, text }
}

/// The cost table, in the order of [`Event`].
///
/// UNVERIFIED: how many slots do TMU results (cache, L2, memory), shared units and the uniforms cache take under load? Time
/// programs that do nothing else, on 1, 4 and 12 QPUs.
pub const COSTS: &[CostRow] = &[
    row(Event::Issue, 1, "§7, §1.1", "any instruction, delay slots of branches and signals included"),
    row(
        Event::TmuHit,
        Number::TmuHit.assumed() as u32,
        "§7",
        "TMU request to result, cache hit; the estimate counts this one",
    ),
    row(Event::TmuL2, Number::TmuL2.assumed() as u32, "§7", "TMU request to result from L2"),
    row(
        Event::TmuMemory,
        Number::TmuMemory.assumed() as u32,
        "§7",
        "TMU request to result from memory, or more",
    ),
    row(Event::TmuRequest, 4, "§7", "a TMU serves one 16-element bilinear request; direct lookups alike"),
    row(
        Event::UniformRefill,
        Number::UniformRefill.assumed() as u32,
        "§7",
        "uniforms_addr to the next uniform, from the uniforms cache",
    ),
    row(Event::VpmReadSetup, 3, "§7, §5.2", "VPM read set-up to the first vector; earlier reads stall"),
    row(Event::SfuRequest, Number::Sfu.assumed() as u32, "§7", "one SFU for the four QPUs of a slice"),
    row(
        Event::VaryingsPerSlot,
        Number::Varyings.assumed() as u32,
        "§7",
        "varyings per slot of a slice's interpolator",
    ),
    row(
        Event::TileAccess,
        Number::TileAccess.assumed() as u32,
        "§7",
        "one tile access per slot for all QPUs",
    ),
    row(Event::VpmVector, 1, "§7", "one vector per slot for all QPUs"),
];

/// The slots of an event.
pub const fn slots(event: Event) -> u32 {
    COSTS[event as usize].slots
}

const _: () = {
    let mut at = 0;
    while at < COSTS.len() {
        assert!(COSTS[at].event as usize == at, "the cost table stands in the order of Event");
        at += 1;
    }
};

/// Why an instruction waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// For a TMU result.
    Tmu,
    /// For the uniform stream after its address moved.
    Uniform,
    /// For the first vector of a VPM read.
    Vpm,
}

/// What one instruction costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCost {
    /// Slots spent waiting before it.
    pub wait: u32,
    /// For what.
    pub reason: Option<Wait>,
    /// Words of the uniform stream that it takes.
    pub uniforms: u32,
}

impl LineCost {
    /// Slots with its own.
    pub fn slots(&self) -> u32 {
        self.wait + slots(Event::Issue)
    }
}

/// A unit that several QPUs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedUnit {
    /// Its name.
    pub name: &'static str,
    /// Accesses that the program makes.
    pub accesses: u32,
    /// Slots per program while all QPUs that share the unit run it.
    pub slots: u32,
}

/// What a program costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Instructions up to the end of the program.
    pub instructions: u32,
    /// Of these, instructions that do nothing.
    pub nops: u32,
    /// Words of the uniform stream.
    pub uniforms: u32,
    /// Whether two threads share the QPU.
    pub threaded: bool,
    /// Branches; each was counted as not taken.
    pub branches: u32,
    /// Every instruction.
    pub lines: Vec<LineCost>,
    /// SFU, interpolator, TMUs, tile buffer and VPM.
    pub shared: [SharedUnit; 5],
}

impl Cost {
    /// The cost of a program on the machine that is assumed; what stands behind its end is left out.
    pub fn of(insts: &[Inst]) -> Cost {
        Cost::on(&Numbers::default(), insts)
    }

    /// The cost on a machine of which some numbers were measured.
    pub fn on(machine: &Numbers, insts: &[Inst]) -> Cost {
        let mut accesses: Vec<Access> = insts.iter().map(Access::of).collect();
        let end = accesses.iter().position(Access::is_end);
        let len = end.map_or(insts.len(), |end| insts.len().min(end + super::rules::SIGNAL_SLOTS + 1));
        accesses.truncate(len);
        link_tmu(&mut accesses);
        let mut lines = waits(machine, &accesses);
        for read in uniform_reads(&insts[..len]) {
            lines[read.instruction].uniforms += 1;
        }
        Cost {
            instructions: len as u32,
            nops: insts[..len].iter().filter(|inst| inst.encode() == Inst::NOP.encode()).count() as u32,
            uniforms: lines.iter().map(|line| line.uniforms).sum(),
            threaded: accesses.iter().any(Access::is_switch),
            branches: count(&accesses, |access| access.is_branch),
            shared: shared(machine, &accesses),
            lines,
        }
    }

    /// Slots of one run on a QPU that has its units to itself. Two threads fill each other's waits: half of both then.
    pub fn slots(&self) -> u32 {
        let issued = self.instructions * slots(Event::Issue);
        let alone: u32 = self.lines.iter().map(LineCost::slots).sum();
        if self.threaded { issued.max(alone.div_ceil(2)) } else { alone }
    }

    /// The shared unit that takes longer than the program itself when all QPUs run it, if one does.
    pub fn limit(&self) -> Option<SharedUnit> {
        let slowest = self.shared.iter().max_by_key(|unit| unit.slots).copied();
        slowest.filter(|unit| unit.slots > self.slots())
    }

    /// Estimated core clocks per run, for 16 elements, with all QPUs at work.
    pub fn cycles(&self) -> u32 {
        self.limit().map_or(self.slots(), |unit| unit.slots) * CLOCKS_PER_SLOT
    }
}

/// The waits of each instruction, in program order.
fn waits(machine: &Numbers, accesses: &[Access]) -> Vec<LineCost> {
    let mut now = 0;
    let [tmu_hit, refill] =
        [Number::TmuHit, Number::UniformRefill].map(|number| machine.get(number).round() as u32);
    let mut model = Model { tmu_hit, refill, ..Model::default() };
    accesses
        .iter()
        .map(|access| {
            let (ready, reason) = model.ready(access);
            let wait = ready.saturating_sub(now);
            now += wait;
            model.issue(access, now);
            now += slots(Event::Issue);
            LineCost { wait, reason: reason.filter(|_| wait > 0), uniforms: 0 }
        })
        .collect()
}

/// When results are there, in slots since the start.
#[derive(Default)]
struct Model {
    /// Slots from a request to its result.
    tmu_hit: u32,
    /// Slots from a write of the stream's address to the next uniform.
    refill: u32,
    /// Per TMU the results on their way, oldest first.
    results: [std::collections::VecDeque<u32>; 2],
    /// Per TMU when it is free for a request.
    free: [u32; 2],
    uniforms: u32,
    vpm: u32,
}

impl Model {
    /// When the instruction has all that it needs, and what comes last.
    fn ready(&self, access: &Access) -> (u32, Option<Wait>) {
        let mut ready = (0, None);
        let mut need = |slot: u32, wait: Wait| {
            if slot > ready.0 {
                ready = (slot, Some(wait));
            }
        };
        if let Some(&result) = access.tmu_load().and_then(|tmu| self.results[usize::from(tmu)].front()) {
            need(result, Wait::Tmu);
        }
        if access.takes_uniform() {
            need(self.uniforms, Wait::Uniform);
        }
        if access.reads_vpm() {
            need(self.vpm, Wait::Vpm);
        }
        ready
    }

    /// The instruction is issued at slot `now`.
    fn issue(&mut self, access: &Access, now: u32) {
        if let Some(tmu) = access.tmu_load() {
            self.results[usize::from(tmu)].pop_front();
        }
        if let Some(waddr @ (Waddr::TMU0_S | Waddr::TMU1_S)) = access.tmu_write() {
            let tmu = usize::from(waddr.tmu().unwrap_or(0));
            let start = self.free[tmu].max(now);
            self.free[tmu] = start + slots(Event::TmuRequest);
            self.results[tmu].push_back(start + self.tmu_hit);
        }
        if access.writes_to(Waddr::UNIF_ADDR) {
            self.uniforms = now + self.refill;
        }
        if access.written().any(|write| write.waddr == Waddr::VPM_SETUP && write.file == RegFile::A) {
            self.vpm = now + slots(Event::VpmReadSetup);
        }
    }
}

fn count(accesses: &[Access], is: impl Fn(&Access) -> bool) -> u32 {
    accesses.iter().filter(|access| is(access)).count() as u32
}

fn shared(machine: &Numbers, accesses: &[Access]) -> [SharedUnit; 5] {
    let chip = QPUS_PER_SLICE * SLICES;
    let requests = count(accesses, |a| matches!(a.tmu_write(), Some(Waddr::TMU0_S | Waddr::TMU1_S)));
    let varyings = count(accesses, Access::reads_varying);
    let of = |accesses: u32, slots: f64| (f64::from(accesses) * slots).ceil() as u32;
    let of_slice = |accesses: u32, slots: f64| of(accesses * QPUS_PER_SLICE, slots);
    let unit = |name, accesses: u32, slots: u32| SharedUnit { name, accesses, slots };
    let sfu = count(accesses, Access::sfu_write);
    let tile = count(accesses, |a| a.tile_load() || a.tile_write() && !a.writes_to(Waddr::TLB_STENCIL_SETUP));
    let vpm = count(accesses, |a| a.reads_vpm() || a.writes_to(Waddr::VPM));
    [
        unit("sfu", sfu, of_slice(sfu, machine.get(Number::Sfu))),
        unit("varyings", varyings, of_slice(varyings, 1.0 / machine.get(Number::Varyings))),
        unit("tmu", requests, requests * slots(Event::TmuRequest) * QPUS_PER_SLICE / TMUS_PER_SLICE),
        unit("tile", tile, of(tile * chip, machine.get(Number::TileAccess))),
        unit("vpm", vpm, vpm * slots(Event::VpmVector) * chip),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::assemble;
    use super::*;

    /// One instruction per word.
    fn cost(text: &str) -> Cost {
        let add = |op: &str| format!("sig_none ; {op} ; nop = nop() ;");
        let lines: String = text
            .split(" / ")
            .map(|word| match word {
                "nop" => "sig_none ; nop = nop() ; nop = nop() ;".into(),
                "end" => "sig_end ; nop = nop() ; nop = nop() ;".into(),
                "load" => "sig_load_tmu0 ; nop = nop() ; nop = nop() ;".into(),
                "load1" => "sig_load_tmu1 ; nop = nop() ; nop = nop() ;".into(),
                "switch" => "sig_last_thread_switch ; nop = nop() ; nop = nop() ;".into(),
                "s" => add("tmu0_s = or.always(r0, r0)"),
                "t" => add("tmu0_t = or.always(r0, r0)"),
                "uni" => add("r0 = or.always(a, a, uni)"),
                op => add(op),
            })
            .collect();
        Cost::of(&assemble(&lines).expect(text).instructions().expect(text))
    }

    fn slot_list(cost: &Cost) -> Vec<u32> {
        cost.lines.iter().map(LineCost::slots).collect()
    }

    #[test]
    fn instructions_and_uniforms() {
        let cost = cost("uni / t / s / load / nop / end / nop / nop / uni / uni");
        assert_eq!((cost.instructions, cost.uniforms, cost.nops), (8, 3, 3));
        // The request at slot 2 is there at slot 11.
        assert_eq!(slot_list(&cost), [1, 1, 1, 9, 1, 1, 1, 1]);
        assert_eq!((cost.lines[3].wait, cost.lines[3].reason), (8, Some(Wait::Tmu)));
        assert_eq!((cost.slots(), cost.cycles()), (16, 64));
    }

    #[test]
    fn measured_latency_counts() {
        let text = "sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop() ;\nsig_load_tmu0 ; nop = nop() ; nop = nop() ;";
        let insts = assemble(text).unwrap().instructions().unwrap();
        let slow = Numbers::default().with(Number::TmuHit, 14.2);
        assert_eq!((Cost::of(&insts).lines[1].wait, Cost::on(&slow, &insts).lines[1].wait), (8, 13));
    }

    #[test]
    fn measured_refills_count() {
        let text = "sig_none ; uniforms_addr = or.always(r0, r0) ; nop = nop() ;\n\
            sig_none ; nop = nop() ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\n\
            sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;";
        let insts = assemble(text).unwrap().instructions().unwrap();
        let slow = Numbers::default().with(Number::UniformRefill, 15.0);
        assert_eq!((Cost::of(&insts).lines[3].wait, Cost::on(&slow, &insts).lines[3].wait), (6, 12));
    }

    #[test]
    fn measured_accesses_bound_programs() {
        let insts = assemble("sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;").unwrap();
        let insts = insts.instructions().unwrap();
        let tile = |machine: &Numbers| Cost::on(machine, &insts).shared[3];
        assert_eq!((tile(&Numbers::default()).name, tile(&Numbers::default()).slots), ("tile", 12));
        assert_eq!(tile(&Numbers::default().with(Number::TileAccess, 1.5)).slots, 18);
    }

    #[test]
    fn useful_work_hides_latency() {
        let cost = cost("s / nop / nop / nop / nop / nop / nop / nop / nop / load / end / nop / nop");
        assert!(slot_list(&cost).iter().all(|&slots| slots == 1));
        assert_eq!(cost.lines[9].reason, None);
    }

    #[test]
    fn requests_queue_in_their_tmu() {
        // Requests at 0 and 1; the TMU begins the second at 4.
        assert_eq!(slot_list(&cost("s / s / load / load")), [1, 1, 8, 4]);
        assert_eq!(slot_list(&cost("s / tmu1_s = or.always(r0, r0) / load / load1"))[2..4], [8, 1]);
    }

    #[test]
    fn threads_fill_waits() {
        let program = "t / s / switch / nop / nop / load / nop / nop / nop / nop / end / nop / nop";
        let cost = cost(program);
        let alone: u32 = slot_list(&cost).iter().sum();
        assert!(cost.threaded && alone > 13);
        assert_eq!(cost.slots(), 13);
    }

    #[test]
    fn set_ups_delay_their_streams() {
        let cost = cost(
            "uniforms_addr = or.always(r0, r0) / nop / nop / uni / vr_setup = or.always(r0, r0) / r0 = or.always(a, a, vpm_read)",
        );
        assert_eq!(slot_list(&cost), [1, 1, 1, 7, 1, 3]);
        assert_eq!([cost.lines[3].reason, cost.lines[5].reason], [Some(Wait::Uniform), Some(Wait::Vpm)]);
    }

    #[test]
    fn shared_units_bound_busy_programs() {
        let sfu = "sfu_recip = or.always(r0, r0)";
        let cost = cost(&[sfu, "nop", "nop", sfu, "end", "nop", "nop"].join(" / "));
        assert_eq!((cost.shared[0].accesses, cost.shared[0].slots), (2, 8));
        assert_eq!(cost.limit().map(|unit| unit.name), Some("sfu"));
        assert_eq!(cost.cycles(), 8 * CLOCKS_PER_SLOT);
    }
}

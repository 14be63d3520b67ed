//! Rules about what happened before on the way to an instruction: every path through the program is walked with
//! a small state; a state seen before at the same instruction is not walked again.

use super::program::{Program, Stage};
use crate::qpu::access::Access;
use crate::qpu::isa::{RegFile, Signal, Waddr};
use crate::qpu::{Inst, LoadMode};
use std::collections::BTreeSet;

/// What can go wrong on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathFault {
    /// A switch after the last switch.
    SwitchAfterLast,
    /// A program with switches ends without the last switch.
    NoLastSwitch,
    /// The tile buffer is touched before the last switch.
    TileBeforeLastSwitch,
    /// A switch while the scoreboard is held.
    SwitchHoldingScoreboard,
    /// The scoreboard is never released.
    ScoreboardNotReleased,
    /// A fragment program ends without touching the tile buffer.
    TileUntouched,
    /// A tile access behind the release.
    TileAfterRelease,
    /// An accumulator or the flags read after a switch destroyed them.
    DeadAccumulator,
    /// A Z write behind a colour write.
    ZAfterColor,
    /// A TMU load without a request.
    LoadWithoutRequest,
    /// A TMU load in a threaded program without a switch behind its request.
    LoadBeforeSwitch,
    /// A switch with results of requests made before the previous switch.
    ResultsOverSwitch,
    /// More requests than the queues hold.
    TmuQueueFull,
    /// A program ends with TMU results.
    ResultsLeft,
    /// A TMU request is begun and not sent.
    RequestNotSent,
    /// A VPM read that was not set up.
    VpmReadWithoutSetup,
    /// A VPM set-up or the end while vectors of the previous one are left.
    VpmVectorsLeft,
    /// A program ends before it read all declared varyings.
    VaryingsLeft,
    /// A varying is read that is not declared.
    VaryingNotDeclared,
}

/// Slots of a TMU's request queue, and requests whose results it holds (qpu.md §4.6).
const TMU_LIMITS: [(u8, u8); 2] = [(8, 4), (4, 2)];

/// One TMU as the program sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Tmu {
    /// Parameters written since the last request.
    pending: u8,
    /// Slots of the requests without a load, oldest first.
    requests: [u8; 9],
    count: u8,
    /// How many of them were made before the last switch took effect.
    before_switch: u8,
}

impl Tmu {
    fn request(&mut self) {
        if usize::from(self.count) < self.requests.len() {
            self.requests[usize::from(self.count)] = self.pending + 1;
            self.count += 1;
        }
        self.pending = 0;
    }

    fn load(&mut self) {
        self.requests.copy_within(1.., 0);
        self.requests[usize::from(self.count) - 1] = 0;
        self.count -= 1;
        self.before_switch = self.before_switch.saturating_sub(1);
    }

    fn slots(&self) -> u8 {
        self.requests.iter().sum::<u8>() + self.pending
    }
}

/// Whether the instance owns its pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Scoreboard {
    #[default]
    Untouched,
    Held,
    Released,
}

/// Vectors to be read from the VPM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Vectors {
    /// The set-up was no constant.
    Unknown,
    Left(u8),
}

/// A thread switch on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Switching {
    slots: u8,
    last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    switching: Option<Switching>,
    switched_last: bool,
    scoreboard: Scoreboard,
    wrote_color: bool,
    /// Accumulators that a switch destroyed, bit n for rn; bit 6 for the flags.
    dead: u8,
    tmus: [Tmu; 2],
    vectors: Vectors,
    /// Varyings read; stays 0 unless their number is declared.
    varyings: u8,
}

const FLAGS: u8 = 1 << 6;

/// States walked per instruction before the walk gives up; real programs need a handful.
const MAX_STATES: usize = 64;

/// All faults on all paths with their instruction.
pub fn walk(program: &Program<'_>) -> BTreeSet<(PathFault, usize)> {
    let start = State {
        switching: None,
        switched_last: false,
        scoreboard: Scoreboard::Untouched,
        wrote_color: false,
        dead: 0,
        tmus: [Tmu::default(); 2],
        vectors: Vectors::Left(0),
        varyings: 0,
    };
    let mut faults = BTreeSet::new();
    let mut seen: Vec<BTreeSet<State>> = vec![BTreeSet::new(); program.len()];
    let mut work = vec![(0, start)];
    while let Some((index, mut state)) = work.pop() {
        if index >= program.len() || seen[index].len() >= MAX_STATES || !seen[index].insert(state) {
            continue;
        }
        step(program, index, &mut state, &mut |fault| {
            faults.insert((fault, index));
        });
        work.extend(program.successors(index).into_iter().map(|next| (next, state)));
    }
    faults
}

fn step(program: &Program<'_>, index: usize, state: &mut State, fault: &mut dyn FnMut(PathFault)) {
    let access = &program.accesses[index];
    switch_takes_effect(state, fault);
    accumulators(access, state, fault);
    tile(program, access, state, fault);
    tmu(program, access, state, fault);
    vpm(program, index, state, fault);
    varyings(program, access, state, fault);
    if access.is_switch() {
        switch(access, state, fault);
    }
    if program.end.is_some_and(|end| index == end + 2) {
        end(program, state, fault);
    }
}

/// A switch takes effect behind its two delay slots; what they do counts as before it (qpu.md §5.4).
fn switch_takes_effect(state: &mut State, fault: &mut dyn FnMut(PathFault)) {
    let Some(switching) = &mut state.switching else { return };
    if switching.slots > 0 {
        switching.slots -= 1;
        return;
    }
    state.switched_last |= switching.last;
    state.switching = None;
    state.dead = 0x3f | FLAGS;
    if state.scoreboard == Scoreboard::Held {
        fault(PathFault::SwitchHoldingScoreboard);
    }
    for tmu in &mut state.tmus {
        if tmu.before_switch > 0 {
            fault(PathFault::ResultsOverSwitch);
        }
        tmu.before_switch = tmu.count;
    }
}

fn accumulators(access: &Access, state: &mut State, fault: &mut dyn FnMut(PathFault)) {
    let read = access.accumulators | if access.reads_flags { FLAGS } else { 0 };
    if read & state.dead != 0 {
        fault(PathFault::DeadAccumulator);
    }
    state.dead &= !access.written_accumulators();
    if access.sets_flags {
        state.dead &= !FLAGS;
    }
    if access.sfu_write() {
        state.dead &= !(1 << 4);
    }
}

fn tile(program: &Program<'_>, access: &Access, state: &mut State, fault: &mut dyn FnMut(PathFault)) {
    if access.takes_scoreboard() {
        if program.threaded && !state.switched_last {
            fault(PathFault::TileBeforeLastSwitch);
        }
        if state.scoreboard == Scoreboard::Released {
            fault(PathFault::TileAfterRelease);
        } else {
            state.scoreboard = Scoreboard::Held;
        }
    }
    if access.writes_to(Waddr::TLB_Z) && state.wrote_color {
        fault(PathFault::ZAfterColor);
    }
    state.wrote_color |= access.writes_to(Waddr::TLB_COLOR_ALL) || access.writes_to(Waddr::TLB_COLOR_MS);
    if access.signal == Signal::UnlockScoreboard && state.scoreboard == Scoreboard::Held {
        state.scoreboard = Scoreboard::Released;
    }
}

fn tmu(program: &Program<'_>, access: &Access, state: &mut State, fault: &mut dyn FnMut(PathFault)) {
    if let Some(number) = access.tmu_load() {
        let tmu = &mut state.tmus[usize::from(number)];
        if tmu.count == 0 {
            fault(PathFault::LoadWithoutRequest);
        } else {
            if program.threaded && tmu.before_switch == 0 {
                fault(PathFault::LoadBeforeSwitch);
            }
            tmu.load();
        }
    }
    let Some(waddr) = access.tmu_write() else { return };
    let tmu = &mut state.tmus[usize::from(waddr.tmu().unwrap_or(0))];
    if matches!(waddr, Waddr::TMU0_S | Waddr::TMU1_S) {
        tmu.request();
    } else {
        tmu.pending = (tmu.pending + 1).min(4);
    }
    let (slots, requests) = TMU_LIMITS[usize::from(program.threaded)];
    if tmu.slots() > slots || tmu.count > requests {
        fault(PathFault::TmuQueueFull);
        // One report per overflow; the queue would have stalled here.
        *tmu = Tmu::default();
    }
}

fn vpm(program: &Program<'_>, index: usize, state: &mut State, fault: &mut dyn FnMut(PathFault)) {
    let access = &program.accesses[index];
    if access.reads_vpm() {
        state.vectors = match state.vectors {
            Vectors::Left(0) => {
                fault(PathFault::VpmReadWithoutSetup);
                Vectors::Unknown
            }
            Vectors::Left(n) => Vectors::Left(n - 1),
            Vectors::Unknown => Vectors::Unknown,
        };
    }
    let sets_up = access.written().any(|w| w.waddr == Waddr::VPM_SETUP && w.file == RegFile::A);
    if sets_up {
        if matches!(state.vectors, Vectors::Left(1..)) {
            fault(PathFault::VpmVectorsLeft);
        }
        state.vectors = match setup_constant(&program.insts[index]) {
            // The count field; 0 stands for 16. Words with bit 31 set up a DMA (qpu.md §4.9, §4.10).
            Some(word) if word >> 30 == 0 => Vectors::Left(((word >> 20 & 15) as u8 + 15) % 16 + 1),
            _ => Vectors::Unknown,
        };
    }
}

/// One varying per instruction that reads them, through either file or both (qpu.md §4.2).
fn varyings(program: &Program<'_>, access: &Access, state: &mut State, fault: &mut dyn FnMut(PathFault)) {
    let Some(declared) = program.declared.varyings.filter(|_| access.reads_varying()) else { return };
    if state.varyings < declared {
        state.varyings += 1;
    } else {
        fault(PathFault::VaryingNotDeclared);
    }
}

/// The value that a load immediate puts everywhere.
fn setup_constant(inst: &Inst) -> Option<u32> {
    match inst {
        Inst::LoadImm(load) if load.mode == LoadMode::Word => Some(load.imm),
        _ => None,
    }
}

fn switch(access: &Access, state: &mut State, fault: &mut dyn FnMut(PathFault)) {
    if state.switched_last {
        fault(PathFault::SwitchAfterLast);
    }
    if state.switching.is_none() {
        state.switching = Some(Switching { slots: 2, last: access.signal == Signal::LastThreadSwitch });
    }
}

fn end(program: &Program<'_>, state: &State, fault: &mut dyn FnMut(PathFault)) {
    let last = state.switched_last || state.switching.is_some_and(|switching| switching.last);
    if program.threaded && !last {
        fault(PathFault::NoLastSwitch);
    }
    match state.scoreboard {
        Scoreboard::Untouched if program.stage == Stage::Fragment => fault(PathFault::TileUntouched),
        Scoreboard::Held => fault(PathFault::ScoreboardNotReleased),
        _ => {}
    }
    for tmu in &state.tmus {
        if tmu.count > 0 {
            fault(PathFault::ResultsLeft);
        }
        if tmu.pending > 0 {
            fault(PathFault::RequestNotSent);
        }
    }
    if matches!(state.vectors, Vectors::Left(1..)) {
        fault(PathFault::VpmVectorsLeft);
    }
    if program.declared.varyings.is_some_and(|declared| state.varyings < declared) {
        fault(PathFault::VaryingsLeft);
    }
}

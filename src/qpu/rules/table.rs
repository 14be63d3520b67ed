//! The rules, in the manual's order.

use super::hazards;
use super::paths::PathFault;
use super::program::{BRANCH_SLOTS, Program, SIGNAL_SLOTS, Stage};
use super::rule::{Check, Findings, Rule};
use crate::qpu::access::{Access, Write};
use crate::qpu::inst::Inst;
use crate::qpu::isa::{AddOp, Cond, Pack, Raddr, Signal, Waddr};
use crate::qpu::pack::exists_on_mul;

const fn rule(id: &'static str, manual: &'static str, text: &'static str, check: Check) -> Rule {
    Rule { id, manual, text, check }
}

/// Every rule.
pub static RULES: &[Rule] = &[
    // Program end.
    rule(
        "end-missing",
        "§2.2",
        "a program ends with an end signal and two more instructions",
        Check::Program(end_missing),
    ),
    rule(
        "end-streams",
        "§5.1 1",
        "the end and the two instructions behind it take no uniform or varying and leave the VPM alone",
        Check::Program(end_streams),
    ),
    rule(
        "end-file-write",
        "§5.1 2",
        "the instruction with the end signal writes no file register",
        Check::Instruction(end_file_write),
    ),
    rule(
        "end-register-14",
        "§5.1 3",
        "the end and the two instructions behind it leave ra14 and rb14 to the next program's payload",
        Check::Program(end_register_14),
    ),
    rule(
        "end-z-write",
        "§5.1 4, §4.8",
        "the end signal comes at least two slots after tlb_z, and tlb_z is not in the last instruction",
        Check::Program(end_z_write),
    ),
    rule(
        "end-scoreboard",
        "§5.1 5",
        "the instruction with the end signal is not the first that waits for the scoreboard",
        Check::Program(end_scoreboard),
    ),
    rule(
        "tmu-results-left",
        "§5.1 6",
        "all TMU results are loaded before the program ends",
        Check::Path(PathFault::ResultsLeft),
    ),
    rule(
        "tmu-request-open",
        "§4.5",
        "a TMU request that was begun is sent by writing s",
        Check::Path(PathFault::RequestNotSent),
    ),
    rule(
        "vpm-vectors",
        "§5.1 6, §4.9",
        "all vectors of a VPM read set-up are read before the next set-up and before the program ends",
        Check::Path(PathFault::VpmVectorsLeft),
    ),
    rule(
        "vpm-setup",
        "§4.9",
        "a VPM read has a vector left of its set-up",
        Check::Path(PathFault::VpmReadWithoutSetup),
    ),
    rule(
        "varyings-left",
        "§5.1 6, §4.2",
        "all declared varyings are read before the program ends",
        Check::Path(PathFault::VaryingsLeft),
    ),
    rule(
        "varyings-declared",
        "§4.2",
        "no more varyings are read than are declared",
        Check::Path(PathFault::VaryingNotDeclared),
    ),
    // Program start.
    rule(
        "start-scoreboard",
        "§5.1 7",
        "neither the scoreboard wait nor a tile access stands in the first two instructions",
        Check::Program(start_scoreboard),
    ),
    rule(
        "noswap-distance",
        "§5.1 8",
        "tmu_noswap is written at least three slots before a TMU write",
        Check::Hazard(&hazards::NO_SWAP),
    ),
    // Sequences.
    rule(
        "file-latency",
        "§5.1 9",
        "a file register is not read in the instruction after its write",
        Check::Hazard(&hazards::FILE_LATENCY),
    ),
    rule(
        "sfu-r4",
        "§5.1 10",
        "the two instructions after an SFU write neither read nor write r4",
        Check::Hazard(&hazards::SFU_R4),
    ),
    rule(
        "uniform-address",
        "§5.1 11",
        "the two instructions after a write of uniforms_addr take no uniform",
        Check::Hazard(&hazards::UNIFORM_ADDRESS),
    ),
    rule(
        "rotate-operand",
        "§5.1 12",
        "a rotate does not directly follow the write of its accumulator",
        Check::Hazard(&hazards::ROTATE_OPERAND),
    ),
    rule(
        "rotate-r5",
        "§5.1 12",
        "a rotate by r5 does not directly follow a write of r5 or a varying read",
        Check::Hazard(&hazards::ROTATE_BY_R5),
    ),
    rule(
        "z-then-flags",
        "§5.1 13",
        "the two instructions after tlb_z do not read ms_flags",
        Check::Hazard(&hazards::Z_FLAGS),
    ),
    rule(
        "branch-slots",
        "§5.1 14",
        "no branch, thread switch or end stands in the three delay slots of a branch",
        Check::Program(branch_slots),
    ),
    rule(
        "branch-target",
        "§2.8",
        "a branch goes to an instruction of the program",
        Check::Program(branch_target),
    ),
    rule(
        "branch-flags",
        "§2.8",
        "a branch without register keeps an even raddr_a, as an odd one sets the flags",
        Check::Instruction(branch_flags),
    ),
    rule(
        "switch-slots",
        "§5.1 15, §5.4",
        "no branch, switch or end stands in the two delay slots of a thread switch",
        Check::Program(switch_slots),
    ),
    rule(
        "switch-accumulators",
        "§5.1 15, §1.4",
        "accumulators and flags do not survive a thread switch",
        Check::Path(PathFault::DeadAccumulator),
    ),
    // Within one instruction.
    rule(
        "one-peripheral",
        "§5.1 16",
        "an instruction makes at most one TMU, tile, SFU, mutex or semaphore access",
        Check::Instruction(one_peripheral),
    ),
    rule(
        "one-vpm-access",
        "§4.9",
        "an instruction makes at most one VPM write or set-up, and no read beside a set-up",
        Check::Instruction(one_vpm_access),
    ),
    rule(
        "one-uniform",
        "§4.1, §4.5",
        "a TMU parameter that takes a uniform is not written where a uniform is read",
        Check::Instruction(one_uniform),
    ),
    rule(
        "same-destination",
        "§5.1 18",
        "both units do not write the same accumulator or peripheral",
        Check::Instruction(same_destination),
    ),
    rule(
        "conditional-peripheral",
        "§5.1 19, §2.6",
        "writes to TMU, VPM, SFU, set-up and address registers are unconditional",
        Check::Instruction(conditional_peripheral),
    ),
    rule(
        "partial-peripheral",
        "§5.1 19, §2.11",
        "a pack that changes only part of its destination does not go to a peripheral",
        Check::Instruction(partial_peripheral),
    ),
    rule(
        "mul-pack",
        "§2.11",
        "the mul result is packed as 8888, 8a, 8b, 8c or 8d only",
        Check::Instruction(mul_pack),
    ),
    rule(
        "flags-source",
        "§2.7",
        "flags are not taken from a unit whose condition is never",
        Check::Instruction(flags_source),
    ),
    rule(
        "semaphore-destination",
        "§2.10",
        "a semaphore instruction writes no tile, TMU or SFU register",
        Check::Instruction(semaphore_destination),
    ),
    // Stages.
    rule(
        "stage-units",
        "§4.2, §1.4",
        "fragment programs leave the VPM alone, vertex programs the tile, varyings and threads",
        Check::Instruction(stage_units),
    ),
    // Threads.
    rule(
        "threaded-registers",
        "§1.4",
        "a program with thread switches uses registers 0 to 15 only",
        Check::Program(threaded_registers),
    ),
    rule(
        "switch-after-last",
        "§5.4",
        "no thread switch follows the last thread switch",
        Check::Path(PathFault::SwitchAfterLast),
    ),
    rule(
        "last-switch-missing",
        "§1.4",
        "a program with thread switches makes the last one a last thread switch on every path",
        Check::Path(PathFault::NoLastSwitch),
    ),
    rule(
        "tile-before-last-switch",
        "§1.4",
        "the tile buffer is not touched before the last thread switch took effect",
        Check::Path(PathFault::TileBeforeLastSwitch),
    ),
    rule(
        "switch-scoreboard",
        "§5.4, §4.7",
        "no thread switch while the scoreboard is held",
        Check::Path(PathFault::SwitchHoldingScoreboard),
    ),
    // TMU.
    rule(
        "tmu-load-request",
        "§4.6",
        "a TMU load has a request to wait for",
        Check::Path(PathFault::LoadWithoutRequest),
    ),
    rule(
        "tmu-load-switch",
        "§5.4",
        "in a threaded program a thread switch stands between a TMU request and its load",
        Check::Path(PathFault::LoadBeforeSwitch),
    ),
    rule(
        "tmu-over-switch",
        "§5.4",
        "results of requests from before the previous thread switch are loaded before the next one",
        Check::Path(PathFault::ResultsOverSwitch),
    ),
    rule(
        "tmu-queue",
        "§4.6",
        "requests fit the TMU's queues: 8 parameters and 4 results, half of it when threaded",
        Check::Path(PathFault::TmuQueueFull),
    ),
    // Tile buffer.
    rule(
        "scoreboard-release",
        "§4.7",
        "a program that touches the tile buffer releases the scoreboard",
        Check::Path(PathFault::ScoreboardNotReleased),
    ),
    rule(
        "tile-after-release",
        "§4.7",
        "the scoreboard is released in or after the last tile access",
        Check::Path(PathFault::TileAfterRelease),
    ),
    rule(
        "tile-untouched",
        "§4.7",
        "a fragment program touches the tile buffer on every path",
        Check::Path(PathFault::TileUntouched),
    ),
    rule("z-before-color", "§4.8", "tlb_z is written before any colour", Check::Path(PathFault::ZAfterColor)),
];

/// The end signal and the two instructions behind it.
fn last_three(program: &Program<'_>) -> std::ops::Range<usize> {
    program.end.map_or(0..0, |end| end..program.len().min(end + SIGNAL_SLOTS + 1))
}

fn end_missing(program: &Program<'_>, out: &mut Findings) {
    match program.end {
        None => out.at(program.len(), "the program has no end signal"),
        Some(end) if end + SIGNAL_SLOTS >= program.len() => {
            out.at(end, "two instructions must follow the end signal");
        }
        Some(_) => {}
    }
}

fn end_streams(program: &Program<'_>, out: &mut Findings) {
    for index in last_three(program) {
        let access = &program.accesses[index];
        if access.takes_uniform() {
            out.at(index, "takes a uniform at the program end");
        }
        if access.reads_varying() {
            out.at(index, "reads a varying at the program end");
        }
        if access.touches_vpm() {
            out.at(index, "accesses the VPM at the program end");
        }
    }
}

fn end_file_write(_: Stage, _: &Inst, access: &Access) -> Option<&'static str> {
    let writes = access.written().any(|w| w.waddr.is_reg());
    (access.is_end() && writes).then_some("writes a file register beside the end signal")
}

fn end_register_14(program: &Program<'_>, out: &mut Findings) {
    let register = Raddr::reg(14);
    for index in last_three(program) {
        let access = &program.accesses[index];
        if access.names(register) || access.writes_to(Waddr::reg(14)) {
            out.at(index, "uses register 14 at the program end");
        }
    }
}

fn end_z_write(program: &Program<'_>, out: &mut Findings) {
    let Some(end) = program.end else { return };
    for (index, access) in program.accesses.iter().enumerate() {
        if !access.writes_to(Waddr::TLB_Z) {
            continue;
        }
        if index >= end {
            out.pair(index, end, "writes tlb_z at the program end");
        } else if program.successors(index).contains(&end) {
            out.pair(end, index, "the end signal directly follows the tlb_z write");
        }
    }
}

fn end_scoreboard(program: &Program<'_>, out: &mut Findings) {
    let Some(end) = program.end else { return };
    let first = program.accesses.iter().position(Access::takes_scoreboard);
    if first == Some(end) {
        out.at(end, "waits for the scoreboard for the first time beside the end signal");
    }
}

fn start_scoreboard(program: &Program<'_>, out: &mut Findings) {
    for (index, access) in program.accesses.iter().take(2).enumerate() {
        if access.takes_scoreboard() {
            out.at(index, "waits for the scoreboard or touches the tile too early");
        }
    }
}

fn branch_slots(program: &Program<'_>, out: &mut Findings) {
    for (branch, access) in program.accesses.iter().enumerate() {
        if !access.is_branch {
            continue;
        }
        if branch + BRANCH_SLOTS >= program.len() {
            out.at(branch, "three instructions must follow a branch");
        }
        for slot in branch + 1..program.len().min(branch + BRANCH_SLOTS + 1) {
            let other = &program.accesses[slot];
            if other.is_branch || other.is_switch() || other.is_end() {
                out.pair(slot, branch, format!("stands in the delay slots of the branch at {branch}"));
            }
        }
    }
}

fn branch_target(program: &Program<'_>, out: &mut Findings) {
    for (index, inst) in program.insts.iter().enumerate() {
        let Inst::Branch(branch) = inst else { continue };
        if branch.rel && branch.reg.is_none() && program.branch_target(index).is_none() {
            out.at(index, format!("offset {} leaves the program or hits no instruction", branch.offset));
        }
    }
}

fn branch_flags(_: Stage, inst: &Inst, _: &Access) -> Option<&'static str> {
    let odd = matches!(inst, Inst::Branch(b) if b.reg.is_none() && b.unused_raddr_a & 1 != 0);
    odd.then_some("the unused raddr_a of the branch is odd and sets the flags")
}

fn switch_slots(program: &Program<'_>, out: &mut Findings) {
    for (first, access) in program.accesses.iter().enumerate() {
        if !access.is_switch() && !access.is_end() {
            continue;
        }
        for slot in first + 1..program.len().min(first + SIGNAL_SLOTS + 1) {
            let other = &program.accesses[slot];
            if other.is_branch || other.is_switch() || other.is_end() {
                out.pair(slot, first, format!("stands in the delay slots of the signal at {first}"));
            }
        }
    }
}

fn one_peripheral(_: Stage, _: &Inst, access: &Access) -> Option<&'static str> {
    let writes = |is: fn(Waddr) -> bool| access.written().filter(|w| is(w.waddr)).count();
    // Stencil set-up does not count: Mesa pairs it with colour loads, on boards.
    let tile_writes = writes(|waddr| waddr.is_tlb() && waddr != Waddr::TLB_STENCIL_SETUP);
    // A colour load may go with the write of the same sample.
    let paired = access.signal == Signal::ColorLoad && access.writes_to(Waddr::TLB_COLOR_MS);
    let count = writes(Waddr::is_tmu)
        + usize::from(access.tmu_load().is_some())
        + tile_writes
        + usize::from(access.tile_load() && !(paired && tile_writes == 1))
        + writes(Waddr::is_sfu)
        + usize::from(access.names(Raddr::MUTEX))
        + usize::from(access.is_semaphore);
    (count > 1).then_some("makes more than one TMU, tile, SFU, mutex or semaphore access")
}

fn one_vpm_access(_: Stage, _: &Inst, access: &Access) -> Option<&'static str> {
    let setups = access.written().filter(|w| matches!(w.waddr, Waddr::VPM_SETUP | Waddr::VPM_ADDR)).count();
    let writes = access.written().filter(|w| w.waddr == Waddr::VPM).count();
    // A read beside a write works.
    let count = setups + writes.max(usize::from(access.reads_vpm()));
    (count > 1).then_some("makes more than one VPM access")
}

fn one_uniform(_: Stage, _: &Inst, access: &Access) -> Option<&'static str> {
    let both = access.tmu_takes_uniform && access.reads_uniform();
    both.then_some("reads a uniform beside a TMU write that takes one")
}

fn same_destination(_: Stage, _: &Inst, access: &Access) -> Option<&'static str> {
    match access.writes {
        [Some(add), Some(mul)] if add.waddr == mul.waddr && !add.waddr.differs_by_file() => {
            Some("both units write the same destination")
        }
        _ => None,
    }
}

fn conditional_peripheral(_: Stage, _: &Inst, access: &Access) -> Option<&'static str> {
    let wrong = |w: Write| {
        let maskable = matches!(
            w.waddr,
            Waddr::TLB_Z | Waddr::TLB_COLOR_MS | Waddr::TLB_COLOR_ALL | Waddr::MS_REV_FLAGS | Waddr::HOST_INT
        );
        w.cond != Cond::Always && w.is_peripheral() && !maskable
    };
    access.written().any(wrong).then_some("writes a peripheral under a condition")
}

fn partial_peripheral(_: Stage, _: &Inst, access: &Access) -> Option<&'static str> {
    let whole = |pack| matches!(pack, Pack::Nop | Pack::Rep8 | Pack::Sat | Pack::Rep8Sat);
    let partial = access.written().any(|w| w.is_peripheral() && !whole(w.pack));
    partial.then_some("packs into part of a peripheral")
}

fn mul_pack(_: Stage, inst: &Inst, _: &Access) -> Option<&'static str> {
    let (pm, pack) = match inst {
        Inst::Alu(i) => (i.pm, i.pack),
        Inst::LoadImm(i) => (i.pm, i.pack),
        Inst::Semaphore(i) => (i.pm, i.pack),
        Inst::Branch(_) => return None,
    };
    (pm && !exists_on_mul(pack)).then_some("this pack does not exist on the mul result")
}

fn flags_source(_: Stage, inst: &Inst, _: &Access) -> Option<&'static str> {
    let Inst::Alu(i) = inst else { return None };
    let source = if i.op_add == AddOp::Nop { i.cond_mul } else { i.cond_add };
    (i.sf && source == Cond::Never).then_some("the unit that sets the flags never runs")
}

fn semaphore_destination(_: Stage, _: &Inst, access: &Access) -> Option<&'static str> {
    let wrong = access.written().any(|w| w.waddr.is_tlb() || w.waddr.is_tmu() || w.waddr.is_sfu());
    (access.is_semaphore && wrong).then_some("a semaphore instruction writes the tile, a TMU or the SFU")
}

fn stage_units(stage: Stage, _: &Inst, access: &Access) -> Option<&'static str> {
    if stage == Stage::Fragment {
        return access.touches_vpm().then_some("a fragment program accesses the VPM");
    }
    let tile = access.takes_scoreboard() || access.tile_write() || access.signal == Signal::UnlockScoreboard;
    if tile {
        Some("a vertex program touches the tile buffer")
    } else if access.reads_varying() {
        Some("a vertex program reads a varying")
    } else {
        access.is_switch().then_some("a vertex program switches threads")
    }
}

fn threaded_registers(program: &Program<'_>, out: &mut Findings) {
    if !program.threaded {
        return;
    }
    for (index, access) in program.accesses.iter().enumerate() {
        let high = |n: &u8| access.names(Raddr::reg(*n)) || access.writes_to(Waddr::reg(*n));
        if let Some(n) = (16..32).find(high) {
            out.at(index, format!("uses register {n} in a threaded program"));
        }
    }
}

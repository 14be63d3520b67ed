//! What a kernel costs as a fragment program and as machine code: estimates that rank the two, no forecasts.
//!
//! Both take loops for `LOOP_ROUNDS` rounds and arms for taken, so what they do not know is the same on both sides.

use vc4::facts::{Number, Numbers};
use vc4::hw::{LANES, TILE_PX};
use vc4::qpu::Inst;
use vc4::qpu::cost::{Cost, LineCost, QPUS_PER_SLICE, SLICES};

use crate::ir::{Node, Op, Region, Shader};
use crate::program::Program;

/// Rounds that a loop is taken to run.
const LOOP_ROUNDS: f64 = 16.0;
/// Clocks of the GPU in a second (v3d.md §1).
pub const GPU_HZ: f64 = Number::CoreClock.assumed();
/// UNVERIFIED: how long does a job take on a board that draws nothing - its ioctl, both lists, the interrupts?
pub const JOB_SECONDS: f64 = Number::Job.assumed();
/// UNVERIFIED: how many clocks per second has a core that runs kernels, at one vector operation each? A Cortex-A53's.
pub const CORE_HZ: f64 = 1.2e9;
/// Invocations that machine code works on at a time.
const BATCH: f64 = 4.0;

/// Seconds that a tile may be estimated to take. The kernel looks every 100 ms whether a job goes on, by tiles, and ends it if
/// not, without telling anybody (kernel-abi.md §11); loops may have many more rounds than [`LOOP_ROUNDS`].
const MOST_TILE_SECONDS: f64 = 10e-3;

/// Seconds that an invocation takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// And that a job takes, whatever it does.
    pub job: f64,
    /// With all QPUs at work.
    pub qpu: f64,
    /// On one core.
    pub cpu: f64,
}

impl Estimate {
    /// Of a kernel and the fragment program that stands for it, on a machine of which some numbers were measured.
    pub fn new(kernel: &Shader, fragment: &Program, machine: &Numbers) -> Estimate {
        let clocks = region(kernel, &kernel.body);
        let lanes = (LANES as u32 * QPUS_PER_SLICE * SLICES).into();
        let seconds = |clocks: f64, lanes: f64, hertz: f64| clocks / lanes / hertz;
        Estimate {
            job: machine.get(Number::Job),
            qpu: seconds(fragment_clocks(fragment, machine), lanes, machine.get(Number::CoreClock)),
            cpu: seconds(clocks, BATCH, CORE_HZ),
        }
    }

    /// Whether a tile takes so long that the kernel may take the job for one that hangs.
    pub fn may_hang(&self) -> bool {
        self.qpu * f64::from(TILE_PX * TILE_PX) > MOST_TILE_SECONDS
    }

    /// Whether so many invocations in so many jobs take less time on the QPUs than on so many cores.
    pub fn favours_qpu(&self, invocations: u64, jobs: u32, cores: u32) -> bool {
        let invocations = invocations as f64;
        let qpu = f64::from(jobs) * self.job + invocations * self.qpu;
        qpu < invocations * self.cpu / f64::from(cores.max(1))
    }

    /// Invocations from which on one job takes less time than so many cores; `None` if it never does.
    pub fn least(&self, cores: u32) -> Option<u64> {
        let saved = self.cpu / f64::from(cores.max(1)) - self.qpu;
        (saved > 0.0).then(|| (self.job / saved).ceil() as u64)
    }
}

/// Clocks of a fragment program for 16 pixels, with all QPUs at work.
fn fragment_clocks(program: &Program, machine: &Numbers) -> f64 {
    let insts: Vec<Inst> = program.code.iter().map_while(|&word| Inst::decode(word).ok()).collect();
    let cost = Cost::on(machine, &insts);
    let once: u32 = cost.lines.iter().map(LineCost::slots).sum();
    let rounds: f64 =
        cost.lines.iter().zip(rounds(&insts)).map(|(line, n)| f64::from(line.slots()) * n).sum();
    f64::from(cost.cycles()) * rounds / f64::from(once.max(1))
}

/// How often each instruction runs.
fn rounds(insts: &[Inst]) -> Vec<f64> {
    /// Instructions from a branch to where its offset counts from.
    const DELAY: i64 = 4;
    const BYTES: i64 = 8;
    let mut rounds = vec![1.0; insts.len()];
    for (at, inst) in (0i64..).zip(insts) {
        let Inst::Branch(branch) = inst else { continue };
        let to = at + DELAY + i64::from(branch.offset) / BYTES;
        if (0..=at).contains(&to) {
            let end = (at + DELAY).min(insts.len() as i64) as usize;
            rounds[to as usize..end].iter_mut().for_each(|n| *n *= LOOP_ROUNDS);
        }
    }
    rounds
}

/// Clocks of a batch on a core.
fn region(shader: &Shader, nodes: &Region) -> f64 {
    let node = |node: &Node| match node {
        Node::Block(block) => {
            shader.blocks[*block].insts.iter().map(|&inst| operation(shader.insts[inst].op)).sum()
        }
        Node::If { then, otherwise, .. } => region(shader, then) + region(shader, otherwise),
        Node::Loop(body) => LOOP_ROUNDS * region(shader, body),
        Node::Break | Node::Continue | Node::Return | Node::Discard => 0.0,
    };
    nodes.iter().map(node).sum()
}

/// Clocks of an operation of a batch on a core.
fn operation(op: Op) -> f64 {
    match op {
        op if op.is_const() => 0.0,
        Op::Undef | Op::Phi | Op::LoadBuiltin(_) | Op::LoadUbo { .. } | Op::LoadPush(_) => 0.0,
        Op::BufferElements { .. } | Op::ImageSize { .. } | Op::ImageLevels(_) | Op::ImageSamples(_) => 0.0,
        Op::FDiv | Op::FSqrt | Op::FRsqrt | Op::FInverseLength => 20.0,
        Op::UDiv | Op::SDiv | Op::UMod | Op::SMod | Op::SRem => 30.0,
        Op::FExp2 | Op::FLog2 | Op::FSin | Op::FCos => 60.0,
        Op::Load { .. } | Op::LoadUboDynamic { .. } | Op::Store { .. } => 8.0,
        Op::ImageRead(_) | Op::ImageWrite(_) => 30.0,
        Op::Fetch(_) => 150.0,
        Op::Sample(_) | Op::Gather { .. } => 400.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_job_saves_pays_for_it() {
        let estimate = Estimate { job: JOB_SECONDS, qpu: 1e-9, cpu: 5e-9 };
        let least = estimate.least(1).unwrap();
        assert_eq!(least, 50_000);
        assert!(estimate.favours_qpu(least + 1, 1, 1) && !estimate.favours_qpu(least - 1, 1, 1));
        assert!(!estimate.favours_qpu(least + 1, 2, 1), "two jobs cost twice");
        assert!(
            !estimate.favours_qpu(1 << 40, 1, 8) && estimate.least(8).is_none(),
            "eight cores are faster"
        );
    }

    #[test]
    fn loops_run_more_than_once() {
        let text = "nop / nop / branch / nop / nop / nop / end / nop / nop";
        let insts: Vec<Inst> = text
            .split(" / ")
            .map(|word| match word {
                // Back to the second instruction.
                "branch" => Inst::Branch(vc4::qpu::BranchInst::relative(vc4::qpu::BranchCond::Always, -40)),
                _ => Inst::decode(Inst::NOP.encode()).unwrap(),
            })
            .collect();
        let expected = [1.0, LOOP_ROUNDS, LOOP_ROUNDS, LOOP_ROUNDS, LOOP_ROUNDS, LOOP_ROUNDS, 1.0, 1.0, 1.0];
        assert_eq!(rounds(&insts), expected);
    }
}

//! Control flow (kernel-abi.md §6.1): the pass over the branches that comes before all other checks.

use super::program::Program;
use crate::validate::rule::Rule;
use crate::validate::violation::{Mode, Place, Violation};
use vc4::qpu::{Signal, inst};

/// Instructions from a branch to where it takes effect.
const DELAY: u32 = 4;
/// Delay slots of the program end.
const END_DELAY: u32 = 2;

/// What the pass over the branches finds.
pub struct Branches {
    targets: Vec<bool>,
    /// The last instruction that is executed and checked.
    pub last: u32,
}

impl Branches {
    /// SHD-1 to SHD-7, SHD-10.
    pub fn find(program: &Program<'_>, mode: Mode) -> Result<Branches, Violation> {
        let mut targets = vec![false; program.len as usize];
        // As far as is known: until the end signal is met, the whole BO.
        let mut range = program.len;
        let (mut end, mut previous) = (None, None);
        // Branch and where it goes at most, for the checks that need the end.
        let (mut farthest_fall, mut farthest_target) = ((0, 0), (0, 0));
        let mut ip = 0;
        while ip < range {
            match program.word(ip).signal() {
                Signal::End => {
                    end = Some(ip);
                    range = ip + 1 + END_DELAY;
                }
                Signal::Branch => {
                    distance(program, ip, previous)?;
                    previous = Some(ip);
                    let target = target(program, ip, range)?;
                    let fall = ip + DELAY;
                    if fall >= range {
                        return Err(program.violation(
                            Rule::Shd6,
                            ip,
                            format!("continues at {fall}, the program has {range} instructions"),
                        ));
                    }
                    for landing in [target, fall] {
                        if let Some(mark) = targets.get_mut(landing as usize) {
                            *mark = true;
                        }
                    }
                    farthest_fall = farthest_fall.max((fall, ip));
                    farthest_target = farthest_target.max((target, ip));
                }
                _ => {}
            }
            ip += 1;
        }
        let Some(end) = end.filter(|end| end + END_DELAY < program.len) else {
            let what = match end {
                Some(end) => format!("the delay slots of the end at {end} leave the BO"),
                None => "no end signal in the BO".to_owned(),
            };
            return Err(Violation::new(
                Rule::Shd10,
                Place::Instruction(program.len - program.len.min(1)),
                what,
            ));
        };
        if farthest_fall.0 > end {
            let (fall, branch) = farthest_fall;
            let what = format!("continues at {fall}, the program ends at {end}");
            return Err(program.violation(Rule::Shd7, branch, what));
        }
        // The kernel misses targets behind an end that it has not met yet.
        if mode == Mode::Strict && farthest_target.0 > end {
            let (target, branch) = farthest_target;
            let what = format!("target {target}, the program ends at {end}");
            return Err(program.violation(Rule::Shd5, branch, what));
        }
        Ok(Branches { targets, last: end + END_DELAY })
    }

    /// Whether a branch lands on this instruction, by jumping or by falling through.
    pub fn is_target(&self, ip: u32) -> bool {
        self.targets.get(ip as usize).copied().unwrap_or(false)
    }
}

/// SHD-1. The kernel counts as if a branch stood two instructions before the program.
fn distance(program: &Program<'_>, ip: u32, previous: Option<u32>) -> Result<(), Violation> {
    let distance = match previous {
        Some(previous) => ip - previous,
        None => ip + 2,
    };
    if distance >= DELAY {
        return Ok(());
    }
    let what = match previous {
        Some(previous) => format!("in the delay slots of the branch at {previous}"),
        None => "branch among the first two instructions".to_owned(),
    };
    Err(program.violation(Rule::Shd1, ip, what))
}

/// SHD-2 to SHD-5: where the branch goes.
fn target(program: &Program<'_>, ip: u32, range: u32) -> Result<u32, Violation> {
    let word = program.word(ip);
    if inst::REG.get(word.0) != 0 {
        return Err(program.violation(Rule::Shd2, ip, "branch to a register"));
    }
    if inst::REL.get(word.0) == 0 {
        return Err(program.violation(Rule::Shd3, ip, "absolute branch"));
    }
    if word.imm() % 8 != 0 {
        return Err(program.violation(Rule::Shd4, ip, format!("offset {}", word.imm())));
    }
    let target = i64::from(ip) + i64::from(DELAY) + i64::from(word.imm() / 8);
    match u32::try_from(target) {
        Ok(target) if target < range => Ok(target),
        _ => {
            let what = format!("target {target}, the program has {range} instructions");
            Err(program.violation(Rule::Shd5, ip, what))
        }
    }
}

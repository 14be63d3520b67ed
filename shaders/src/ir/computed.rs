//! Arithmetic on words that a draw gives to all elements alike: the CPU does it once, when it writes the uniform stream.

use smallvec::SmallVec;

use super::eval::eval;
use super::op::Op;
use crate::binding::UniformSlot;

/// A step of the arithmetic in front of a program; its number is its place in the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A word that could stand in the stream, too: a constant, a push constant or a word of a uniform buffer.
    Word(UniformSlot),
    /// One of [`OPERATIONS`] on earlier steps, booleans as 0 and 1.
    Op {
        /// The operation.
        op: Op,
        /// Numbers of earlier steps, one to three.
        args: SmallVec<[u32; 3]>,
    },
}

/// What steps may do. Program files name an operation by its place here: new ones come last.
pub const OPERATIONS: [Op; 55] = [
    Op::Select,
    Op::FAdd,
    Op::FSub,
    Op::FMul,
    Op::FDiv,
    Op::FNeg,
    Op::FAbs,
    Op::FSign,
    Op::FMin,
    Op::FMax,
    Op::FFloor,
    Op::FCeil,
    Op::FTrunc,
    Op::FRoundEven,
    Op::FRsqrt,
    Op::FInverseLength,
    Op::FSqrt,
    Op::FExp2,
    Op::FLog2,
    Op::FSin,
    Op::FCos,
    Op::IAdd,
    Op::ISub,
    Op::IMul,
    Op::UDiv,
    Op::SDiv,
    Op::UMod,
    Op::SMod,
    Op::SRem,
    Op::Shl,
    Op::Shr,
    Op::Asr,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Not,
    Op::SMin,
    Op::SMax,
    Op::UMin,
    Op::UMax,
    Op::FEq,
    Op::FNe,
    Op::FLt,
    Op::FLe,
    Op::IEq,
    Op::INe,
    Op::SLt,
    Op::SLe,
    Op::ULt,
    Op::ULe,
    Op::BAnd,
    Op::BOr,
    Op::FToS,
    Op::FToU,
    Op::SToF,
];

/// Operands of one of [`OPERATIONS`].
pub fn operands(op: Op) -> usize {
    match op.signature() {
        super::op::Signature::Fixed { args, .. } => args.len(),
        _ => 3,
    }
}

impl Step {
    /// The step's word. `word` gives words from outside, `earlier` the results of earlier steps.
    pub fn word(&self, word: impl FnOnce(UniformSlot) -> u32, earlier: impl Fn(u32) -> u32) -> u32 {
        match self {
            Step::Word(slot) => word(*slot),
            Step::Op { op, args } => {
                let args: SmallVec<[u32; 3]> = args.iter().map(|&arg| earlier(arg)).collect();
                // Steps have operations whose value depends on their operands only.
                eval(*op, &args).unwrap_or(0)
            }
        }
    }

    /// Numbers of the steps that it takes.
    pub fn args(&self) -> &[u32] {
        match self {
            Step::Word(_) => &[],
            Step::Op { args, .. } => args,
        }
    }
}

/// The words of all steps.
pub fn words(steps: &[Step], mut word: impl FnMut(UniformSlot) -> u32) -> Vec<u32> {
    let mut words = Vec::with_capacity(steps.len());
    for step in steps {
        let next = step.word(&mut word, |at| words.get(at as usize).copied().unwrap_or(0));
        words.push(next);
    }
    words
}

/// The operations among steps as text: `computed[4] = fmul push[0], computed[3]`.
pub fn lines(steps: &[Step]) -> impl Iterator<Item = String> {
    let name = |at: &u32| match steps.get(*at as usize) {
        Some(Step::Word(slot)) => slot.to_string(),
        _ => UniformSlot::Computed(*at).to_string(),
    };
    (0..).zip(steps).filter_map(move |(number, step)| {
        let Step::Op { op, args } = step else { return None };
        let args: Vec<String> = args.iter().map(name).collect();
        Some(format!("{} = {op} {}", UniformSlot::Computed(number), args.join(", ")))
    })
}

/// Leaves the steps that words of `stream` need, and numbers them anew.
pub fn prune(steps: &[Step], stream: &mut [UniformSlot]) -> Vec<Step> {
    let mut needed = vec![false; steps.len()];
    for slot in stream.iter() {
        if let UniformSlot::Computed(number) = slot {
            needed[*number as usize] = true;
        }
    }
    for number in (0..steps.len()).rev() {
        if needed[number] {
            steps[number].args().iter().for_each(|&arg| needed[arg as usize] = true);
        }
    }
    let mut numbers = vec![0; steps.len()];
    let mut left: Vec<Step> = Vec::new();
    for (number, step) in steps.iter().enumerate().filter(|(number, _)| needed[*number]) {
        numbers[number] = left.len() as u32;
        let mut step = step.clone();
        if let Step::Op { args, .. } = &mut step {
            args.iter_mut().for_each(|arg| *arg = numbers[*arg as usize]);
        }
        left.push(step);
    }
    for slot in stream {
        if let UniformSlot::Computed(number) = slot {
            *number = numbers[*number as usize];
        }
    }
    left
}

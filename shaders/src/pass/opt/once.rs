//! What is made of constants, push constants and uniform buffers alone is the same for the whole draw: the CPU computes it
//! once, when it writes the stream, and the program reads the result.
//!
//! Products of matrices, reciprocals, `cos(time)`, normalised directions of lights are of that kind. A result that is read in
//! many places takes a word of the stream in each, so that cheap arithmetic stays where it is: what is moved must save more
//! operations and words than it costs.

use std::convert::Infallible;

use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use vc4::qpu::SmallImm;

use crate::binding::UniformSlot;
use crate::ir::computed::{OPERATIONS, Step};
use crate::ir::{Inst, Op, Shader, Stage, Type, Value, for_each_condition};
use crate::pass::rewrite::{Action, rewrite};

/// What a word must save in a fragment program and in a vertex program, which runs for fewer elements per draw.
const LEAST_GAIN: [i64; 2] = [1, 2];

/// Shared operations of a fragment stage and of a vertex stage up to which any are moved: every draw pays for them whose words
/// are new. Fragment stages with thousands are the passes of image filters, of which a frame has a few.
const MAX_STEPS: [usize; 2] = [4096, 512];

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let divides = invert(shader);
    let moved = Moved::of(shader);
    if moved.is_empty() {
        return divides;
    }
    let mut steps = Steps {
        steps: std::mem::take(&mut shader.computed),
        known: FxHashMap::default(),
        numbers: SecondaryMap::new(),
    };
    let numbers: FxHashMap<Value, u32> =
        moved.iter().map(|&value| (value, steps.number(shader, value))).collect();
    shader.computed = steps.steps;
    let Ok(()) = rewrite(shader, |b, data| {
        let Some(value) = data.results.first() else {
            return Ok::<_, Infallible>(Action::Keep);
        };
        let Some(&number) = numbers.get(value) else { return Ok(Action::Keep) };
        let word = b.op(Op::Uniform(UniformSlot::Computed(number)), &[]);
        Ok(Action::with(match b.shader.values[*value].ty {
            Type::Word => word,
            Type::Bool => {
                let zero = b.word(0);
                b.op(Op::INe, &[word, zero])
            }
        }))
    });
    true
}

/// The steps so far.
struct Steps {
    steps: Vec<Step>,
    known: FxHashMap<Step, u32>,
    /// The step of each value that was asked for: what many values share is looked at once.
    numbers: SecondaryMap<Value, Option<u32>>,
}

impl Steps {
    /// The number of the step that computes a value.
    fn number(&mut self, shader: &Shader, value: Value) -> u32 {
        if let Some(number) = self.numbers[value] {
            return number;
        }
        let step = match leaf(shader, value) {
            Some(UniformSlot::Computed(number)) => return number,
            Some(slot) => Step::Word(slot),
            None => {
                let args: SmallVec<[Value; 3]> = shader.args(value).iter().copied().collect();
                let args = args.into_iter().map(|arg| self.number(shader, arg)).collect();
                Step::Op { op: shader.op(value), args }
            }
        };
        let number = *self.known.entry(step).or_insert_with_key(|step| {
            self.steps.push(step.clone());
            self.steps.len() as u32 - 1
        });
        self.numbers[value] = Some(number);
        number
    }
}

/// The word of the stream that a value is.
fn leaf(shader: &Shader, value: Value) -> Option<UniformSlot> {
    Some(match shader.op(value) {
        Op::Const(word) => UniformSlot::Const(word),
        Op::ConstBool(truth) => UniformSlot::Const(truth.into()),
        Op::LoadUbo { buffer, offset } => UniformSlot::Ubo { buffer, offset },
        Op::LoadPush(offset) => UniformSlot::Push(offset),
        Op::Uniform(slot) if slot.is_step_word() => slot,
        _ => return None,
    })
}

/// Makes divisions by what is shared multiplications by its reciprocal, which is shared, too: a division may be off by 2.5 units
/// in the last place. Returns whether there are any.
fn invert(shader: &mut Shader) -> bool {
    let insts = shader.insts_in_order();
    if !insts.iter().any(|&inst| shader.insts[inst].op.is(Op::FDiv)) {
        return false;
    }
    let shared = shared(shader, &insts);
    let mut changed = false;
    let Ok(()) = rewrite(shader, |b, data| {
        if !data.op.is(Op::FDiv) || shared.contains(data.args[0]) || !shared.contains(data.args[1]) {
            return Ok::<_, Infallible>(Action::Keep);
        }
        changed = true;
        let one = b.float(1.0);
        let reciprocal = b.op(Op::FDiv, &[one, data.args[1]]);
        Ok(Action::with(b.fmul(data.args[0], reciprocal)))
    });
    changed
}

/// Values that a draw gives to all elements alike.
fn shared(shader: &Shader, insts: &[Inst]) -> EntitySet<Value> {
    let mut shared = EntitySet::new();
    for &inst in insts {
        let data = &shader.insts[inst];
        let [value] = data.results[..] else { continue };
        // The list of operations is long: it is looked at last.
        let takes_shared = || !data.args.is_empty() && data.args.iter().all(|&arg| shared.contains(arg));
        let is_sum = || takes_shared() && OPERATIONS.contains(&data.op);
        if leaf(shader, value).is_some() || is_sum() {
            shared.insert(value);
        }
    }
    shared
}

/// Which values move.
struct Moved<'a> {
    shader: &'a Shader,
    /// Uses by what is not shared.
    uses: SecondaryMap<Value, usize>,
    /// Shared values that the program computes all the same.
    stays: EntitySet<Value>,
}

impl Moved<'_> {
    fn of(shader: &Shader) -> Vec<Value> {
        let insts = shader.insts_in_order();
        let shared = shared(shader, &insts);
        let mut moved = Moved { shader, uses: SecondaryMap::new(), stays: EntitySet::new() };
        moved.uses.resize(shader.values.len());
        let mut sums = Vec::new();
        for &inst in &insts {
            match shader.insts[inst].results[..] {
                [value] if shared.contains(value) => {
                    sums.extend(leaf(shader, value).is_none().then_some(value));
                }
                _ => shader.insts[inst].args.iter().for_each(|&arg| moved.uses[arg] += 1),
            }
        }
        let stage = usize::from(shader.stage == Stage::Vertex);
        if sums.len() > MAX_STEPS[stage] {
            return Vec::new();
        }
        for_each_condition(&shader.body, &mut |condition| moved.uses[condition] += 1);
        let mut open: Vec<Value> = sums.into_iter().filter(|&value| moved.uses[value] > 0).collect();
        let least = LEAST_GAIN[stage];
        // What stays makes it cheaper for others to stay.
        loop {
            let before = open.len();
            open.retain(|&value| {
                let tree = moved.tree(value);
                let pays = !moved.stays.contains(value) && moved.gain(value, &tree) >= least;
                if !pays {
                    moved.stays.extend(tree);
                }
                pays
            });
            if open.len() == before {
                return open;
            }
        }
    }

    /// What computes a value and is not computed anyway, itself included.
    fn tree(&self, value: Value) -> Vec<Value> {
        let mut seen = EntitySet::new();
        let (mut open, mut found) = (vec![value], Vec::new());
        while let Some(next) = open.pop() {
            let is_there = leaf(self.shader, next).is_some() || self.stays.contains(next);
            if !is_there && seen.insert(next) {
                found.push(next);
                open.extend(self.shader.args(next));
            }
        }
        found
    }

    /// Operations and words that go, less the words that come.
    fn gain(&self, value: Value, tree: &[Value]) -> i64 {
        let mut gain = -(self.uses[value] as i64);
        if self.shader.values[value].ty == Type::Bool {
            gain -= 1;
        }
        for &part in tree {
            gain += weight(self.shader.op(part));
            let args = self.shader.args(part);
            let is_other = |at: usize| !args[..at].contains(&args[at]);
            gain += (0..args.len()).filter(|&at| self.takes_word(args[at]) && is_other(at)).count() as i64;
        }
        gain
    }

    /// Whether a value takes a word of the stream where it is used.
    fn takes_word(&self, value: Value) -> bool {
        match leaf(self.shader, value) {
            Some(UniformSlot::Const(word)) => SmallImm::from_value(word).is_none(),
            slot => slot.is_some(),
        }
    }
}

/// Operations of the QPU that a generic one takes, about.
fn weight(op: Op) -> i64 {
    match op {
        Op::FNeg | Op::FAbs => 0,
        Op::FDiv | Op::FSqrt | Op::FRsqrt | Op::FInverseLength | Op::FExp2 | Op::FLog2 => 5,
        Op::FSin | Op::FCos | Op::IMul => 8,
        Op::UDiv | Op::SDiv | Op::UMod | Op::SMod | Op::SRem => 20,
        Op::FFloor | Op::FCeil | Op::FSign | Op::FRoundEven => 4,
        _ => 1,
    }
}

//! The machine that the interpreter is: elements with a mask of those that are active, batch by batch.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use vc4::hw::LANES;
use vc4::qpu::Lanes;

use super::environment::{Environment, SampleRequest};
use super::mask::{Mask, is_set, lanes_of, mask_of};
use super::memory::Local;
use crate::ir::entity::{Block, Inst, Value};
use crate::ir::eval::{self, eval};
use crate::ir::image::Texel;
use crate::ir::interface::{BuiltinInput, Output, SUBGROUP};
use crate::ir::memory::{Atomic, Memory, Workgroup};
use crate::ir::op::Op;
use crate::ir::shader::{Node, Region, Shader};

/// What a run left behind.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Last stored word of every output per element.
    pub outputs: BTreeMap<Output, Lanes>,
    /// Elements that were discarded.
    pub discarded: u16,
    /// Instructions executed.
    pub steps: u64,
}

impl Outcome {
    /// The words of one output; zeros if it was never stored.
    pub fn output(&self, output: Output) -> Lanes {
        self.outputs.get(&output).copied().unwrap_or([0; LANES])
    }

    /// An output as floats.
    pub fn floats(&self, output: Output) -> [f32; LANES] {
        self.output(output).map(f32::from_bits)
    }
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterpError {
    /// More instructions than allowed: most likely an endless loop.
    #[error("the shader executed more than {limit} instructions")]
    StepLimit {
        /// The allowed number.
        limit: u64,
    },
    /// More invocations than run as one.
    #[error("a workgroup of {elements} invocations; at most {limit} run")]
    Workgroup {
        /// How many it has.
        elements: u32,
        /// The allowed number.
        limit: u32,
    },
    /// The environment does not know an operation.
    #[error("the environment does not provide `{op}`")]
    Unsupported {
        /// The instruction.
        op: String,
    },
}

/// Invocations that a workgroup may have.
const MOST_INVOCATIONS: u32 = 1024;

/// Instructions that [`run`] executes before it gives up.
pub const STEP_LIMIT: u64 = 10_000_000;

/// Runs a vertex or fragment shader for all sixteen elements.
pub fn run(shader: &Shader, environment: &mut dyn Environment) -> Result<Outcome, InterpError> {
    let workgroup = Workgroup { size: [LANES as u32, 1, 1], ..Workgroup::default() };
    let local = Local::new(&workgroup, LANES, [0; 3], [1; 3]);
    run_elements(shader, environment, LANES, local)
}

/// Runs all workgroups of a dispatch of a compute shader, one after the other.
pub fn run_dispatch(
    shader: &Shader,
    environment: &mut dyn Environment,
    groups: [u32; 3],
) -> Result<(), InterpError> {
    let elements = shader.workgroup.invocations().unwrap_or(u32::MAX);
    if elements > MOST_INVOCATIONS {
        return Err(InterpError::Workgroup { elements, limit: MOST_INVOCATIONS });
    }
    let [columns, rows, layers] = groups;
    for z in 0..layers {
        for y in 0..rows {
            for x in 0..columns {
                let local = Local::new(&shader.workgroup, elements as usize, [x, y, z], groups);
                run_elements(shader, environment, elements as usize, local)?;
            }
        }
    }
    Ok(())
}

fn run_elements(
    shader: &Shader,
    environment: &mut dyn Environment,
    elements: usize,
    local: Local,
) -> Result<Outcome, InterpError> {
    let all = Mask::first(elements);
    let none = Mask::none_of(&all);
    let mut machine = Machine {
        shader,
        environment,
        local,
        values: SecondaryMap::new(),
        from: vec![[None; LANES]; all.0.len()],
        discarded: none.clone(),
        outcome: Outcome::default(),
    };
    let mut ends = LoopMasks { breaks: none.clone(), continues: none };
    machine.region(&shader.body, all, &mut ends)?;
    machine.outcome.discarded = machine.discarded.0.first().copied().unwrap_or(0);
    Ok(machine.outcome)
}

/// Elements that left the body of the innermost loop.
struct LoopMasks {
    breaks: Mask,
    continues: Mask,
}

struct Machine<'a> {
    shader: &'a Shader,
    environment: &'a mut dyn Environment,
    local: Local,
    /// Words of every batch; none where nothing was written yet.
    values: SecondaryMap<Value, Vec<Lanes>>,
    /// The block that each element was in last.
    from: Vec<[Option<Block>; LANES]>,
    discarded: Mask,
    outcome: Outcome,
}

impl Machine<'_> {
    /// Executes a region and returns the elements that reach its end.
    fn region(&mut self, region: &Region, mut mask: Mask, ends: &mut LoopMasks) -> Result<Mask, InterpError> {
        for node in region {
            if mask.is_empty() {
                return Ok(mask);
            }
            match node {
                &Node::Block(block) => self.block(block, &mask)?,
                Node::If { cond, then, otherwise } => {
                    let holds = self.holds(*cond, &mask);
                    let others = mask.without(&holds);
                    mask = self.region(then, holds, ends)?;
                    mask.add(&self.region(otherwise, others, ends)?);
                }
                Node::Loop(body) => mask = self.endless_loop(body, mask)?,
                Node::Break => {
                    ends.breaks.add(&mask);
                    return Ok(Mask::none_of(&mask));
                }
                Node::Continue => {
                    ends.continues.add(&mask);
                    return Ok(Mask::none_of(&mask));
                }
                Node::Return => return Ok(Mask::none_of(&mask)),
                Node::Discard => {
                    self.discarded.add(&mask);
                    return Ok(Mask::none_of(&mask));
                }
            }
        }
        Ok(mask)
    }

    /// The elements of a mask in which a condition holds.
    fn holds(&self, cond: Value, mask: &Mask) -> Mask {
        let batch = |number: usize| mask_of(&self.word(cond, number));
        mask.and(&Mask((0..mask.0.len()).map(batch).collect()))
    }

    fn endless_loop(&mut self, body: &Region, mut mask: Mask) -> Result<Mask, InterpError> {
        let mut left = Mask::none_of(&mask);
        while !mask.is_empty() {
            // An empty body would spin without executing an instruction.
            self.step()?;
            let mut ends = LoopMasks { breaks: Mask::none_of(&mask), continues: Mask::none_of(&mask) };
            let mut rest = self.region(body, mask, &mut ends)?;
            left.add(&ends.breaks);
            rest.add(&ends.continues);
            // A discarded element runs on as a helper of its quad, but its loops end.
            mask = rest.without(&self.discarded);
        }
        Ok(left)
    }

    fn step(&mut self) -> Result<(), InterpError> {
        self.outcome.steps += 1;
        if self.outcome.steps > STEP_LIMIT {
            return Err(InterpError::StepLimit { limit: STEP_LIMIT });
        }
        Ok(())
    }

    fn block(&mut self, block: Block, mask: &Mask) -> Result<(), InterpError> {
        let shader = self.shader;
        let insts = &shader.blocks[block].insts;
        let phis = insts.iter().take_while(|&&inst| shader.insts[inst].op == Op::Phi).count();
        for (batch, active) in mask.batches() {
            let results: Vec<Lanes> = insts[..phis].iter().map(|&inst| self.phi(inst, batch)).collect();
            for (&inst, lanes) in insts.iter().zip(&results) {
                self.write(inst, 0, lanes, (batch, active));
            }
        }
        for &inst in &insts[phis..] {
            self.step()?;
            for (batch, active) in mask.batches() {
                self.inst(inst, (batch, active))?;
            }
        }
        for (batch, active) in mask.batches() {
            lanes_of(active).for_each(|lane| self.from[batch][lane] = Some(block));
        }
        Ok(())
    }

    fn word(&self, value: Value, batch: usize) -> Lanes {
        self.values[value].get(batch).copied().unwrap_or([0; LANES])
    }

    fn phi(&self, inst: Inst, batch: usize) -> Lanes {
        let data = &self.shader.insts[inst];
        std::array::from_fn(|lane| {
            let index = data.phi_blocks.iter().position(|&block| Some(block) == self.from[batch][lane]);
            index.map_or(0, |index| self.word(data.args[index], batch)[lane])
        })
    }

    fn write(&mut self, inst: Inst, result: usize, lanes: &Lanes, (batch, mask): (usize, u16)) {
        let value = self.shader.insts[inst].results[result];
        let old = &mut self.values[value];
        old.resize(self.from.len(), [0; LANES]);
        lanes_of(mask).for_each(|lane| old[batch][lane] = lanes[lane]);
    }

    fn inst(&mut self, inst: Inst, (batch, mask): (usize, u16)) -> Result<(), InterpError> {
        let data = &self.shader.insts[inst];
        let args: SmallVec<[Lanes; 4]> = data.args.iter().map(|&arg| self.word(arg, batch)).collect();
        match data.op {
            Op::StoreOutput(output) => self.store(output, &args[0], (batch, mask)),
            Op::DiscardIf => self.discarded.0[batch] |= mask_of(&args[0]) & mask,
            Op::Fence | Op::Barrier => {}
            Op::Sample(sample) => {
                let (coordinates, rest) = args.split_at(sample.coordinates());
                let coordinates = coordinates.iter().copied().collect();
                let request =
                    SampleRequest { sample, coordinates, rest: rest.iter().copied().collect(), active: mask };
                let texels = self.environment.sample(&request);
                self.write_all(inst, &texels[..sample.results()], (batch, mask));
            }
            Op::Fetch(fetch) => {
                let texels = self.environment.fetch(fetch, &args, mask);
                self.write_all(inst, &texels, (batch, mask));
            }
            Op::ImageRead(texel) => {
                let mut texels = [[0; LANES]; 4];
                for lane in lanes_of(mask) {
                    let words = self.environment.image_read(texel, &row(&args, lane));
                    (0..4).for_each(|component| texels[component][lane] = words[component]);
                }
                self.write_all(inst, &texels, (batch, mask));
            }
            Op::ImageWrite(texel) => {
                let (at, words) = args.split_at(texel.coordinates());
                for lane in lanes_of(mask) {
                    let words = std::array::from_fn(|component| words[component][lane]);
                    self.environment.image_write(texel, &row(at, lane), words);
                }
            }
            Op::Gather { .. } | Op::ImageLod(_) => {
                return Err(InterpError::Unsupported { op: data.op.to_string() });
            }
            op => {
                let lanes = self.one_result(op, &args, (batch, mask))?;
                if !data.results.is_empty() {
                    self.write(inst, 0, &lanes, (batch, mask));
                }
            }
        }
        Ok(())
    }

    fn write_all(&mut self, inst: Inst, texels: &[Lanes], place: (usize, u16)) {
        for (result, lanes) in texels.iter().enumerate() {
            self.write(inst, result, lanes, place);
        }
    }

    /// Stages with outputs have one batch.
    fn store(&mut self, output: Output, lanes: &Lanes, (batch, mask): (usize, u16)) {
        let mask = mask & !self.discarded.0[batch];
        let old = self.outcome.outputs.entry(output).or_insert([0; LANES]);
        lanes_of(mask).for_each(|lane| old[lane] = lanes[lane]);
    }

    /// The word at a byte of a memory, for one element.
    fn load(&mut self, memory: Memory, element: usize, place: u32) -> u32 {
        let word = match memory {
            Memory::Buffer(buffer) => return self.environment.load(buffer, place),
            Memory::Shared => self.local.shared(place),
            Memory::Scratch => self.local.scratch(element, place),
        };
        word.map_or(0, |word| *word)
    }

    fn store_word(&mut self, memory: Memory, element: usize, place: u32, new: u32) {
        let word = match memory {
            Memory::Buffer(buffer) => return self.environment.store(buffer, place, new),
            Memory::Shared => self.local.shared(place),
            Memory::Scratch => self.local.scratch(element, place),
        };
        if let Some(word) = word {
            *word = new;
        }
    }

    /// Loads, stores and atomics, element by element; what was there before.
    fn memory(&mut self, op: Op, args: &[Lanes], (batch, mask): (usize, u16)) -> Lanes {
        let (memory, offset) = match op {
            Op::Load { memory, offset }
            | Op::Store { memory, offset }
            | Op::Atomic { memory, offset, .. } => (memory, offset),
            _ => return [0; LANES],
        };
        let mut before = [0; LANES];
        for lane in lanes_of(mask) {
            let element = batch * LANES + lane;
            // What is beyond 2^32 is outside of all memory.
            let Some(place) = args[0][lane].checked_add(offset) else {
                continue;
            };
            let new = match op {
                Op::Store { .. } => args[1][lane],
                _ => {
                    before[lane] = self.load(memory, element, place);
                    match op {
                        Op::Atomic { action, .. } => changed(action, before[lane], &args[1..], lane),
                        _ => continue,
                    }
                }
            };
            self.store_word(memory, element, place, new);
        }
        before
    }

    /// An atomic operation on texels of one word; what was there before.
    fn image_atomic(&mut self, texel: Texel, action: Atomic, args: &[Lanes], mask: u16) -> Lanes {
        let (at, operands) = args.split_at(texel.coordinates());
        let mut before = [0; LANES];
        for lane in lanes_of(mask) {
            let at = row(at, lane);
            before[lane] = self.environment.image_read(texel, &at)[0];
            let new = changed(action, before[lane], operands, lane);
            self.environment.image_write(texel, &at, [new, 0, 0, 1]);
        }
        before
    }

    fn one_result(
        &mut self,
        op: Op,
        args: &[Lanes],
        (batch, mask): (usize, u16),
    ) -> Result<Lanes, InterpError> {
        Ok(match op {
            Op::Undef => [0; LANES],
            Op::LoadInput { location, component, .. } => self.environment.input(location, component),
            Op::LoadBuiltin(BuiltinInput::Invocation(what)) => {
                std::array::from_fn(|lane| self.local.place(what, batch * LANES + lane))
            }
            Op::LoadBuiltin(builtin) => self.environment.builtin(builtin),
            Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. } => self.memory(op, args, (batch, mask)),
            Op::ImageAtomic(texel, action) => self.image_atomic(texel, action, args, mask),
            Op::LoadUbo { buffer, offset } => [self.environment.ubo(buffer, offset); LANES],
            Op::LoadUboDynamic { buffer, offset, .. } => {
                std::array::from_fn(|lane| match is_set(mask, lane) {
                    true => self.environment.ubo(buffer, args[0][lane].wrapping_add(offset)),
                    false => 0,
                })
            }
            Op::LoadPush(offset) => [self.environment.push(offset); LANES],
            Op::Ddx => derivative(&args[0], 1),
            Op::Ddy => derivative(&args[0], 2),
            Op::Rotate(by) => {
                std::array::from_fn(|lane| args[0][lane & !3 | lane.wrapping_sub(by.into()) & 3])
            }
            Op::Ballot => {
                let votes = u32::from(mask_of(&args[0]) & mask);
                std::array::from_fn(|lane| votes >> first_of_subgroup(lane) & ((1 << SUBGROUP) - 1))
            }
            Op::Shuffle => std::array::from_fn(|lane| {
                args[0][first_of_subgroup(lane) + (args[1][lane] % SUBGROUP) as usize]
            }),
            Op::BAny => [u32::from(mask_of(&args[0]) & mask != 0); LANES],
            Op::ElementNumber => std::array::from_fn(|lane| lane as u32),
            op => return self.pure_or_machine(op, args, mask),
        })
    }

    fn pure_or_machine(&mut self, op: Op, args: &[Lanes], mask: u16) -> Result<Lanes, InterpError> {
        let words = |lane: usize| -> SmallVec<[u32; 4]> { args.iter().map(|lanes| lanes[lane]).collect() };
        if eval(op, &words(0)).is_some() {
            return Ok(std::array::from_fn(|lane| eval(op, &words(lane)).unwrap_or(0)));
        }
        match self.environment.machine(op, args, mask) {
            Some(lanes) => Ok(lanes),
            None => Err(InterpError::Unsupported { op: op.to_string() }),
        }
    }
}

/// The first element of a subgroup.
const fn first_of_subgroup(lane: usize) -> usize {
    lane - lane % SUBGROUP as usize
}

/// One element's words.
fn row(lanes: &[Lanes], lane: usize) -> SmallVec<[u32; 4]> {
    lanes.iter().map(|words| words[lane]).collect()
}

/// What an atomic operation makes of a word with one element's operands.
fn changed(action: Atomic, word: u32, operands: &[Lanes], lane: usize) -> u32 {
    eval::atomic(action, word, operands[0][lane], operands.get(1).map_or(0, |compared| compared[lane]))
}

/// Difference between the two elements of a quad that differ in bit `axis` of their number.
fn derivative(a: &Lanes, axis: usize) -> Lanes {
    std::array::from_fn(|lane| {
        let (near, far) = (f32::from_bits(a[lane & !axis]), f32::from_bits(a[lane | axis]));
        (far - near).to_bits()
    })
}

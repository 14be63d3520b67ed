//! Runs a shader for the sixteen elements of one QPU batch: the oracle of the compiler's tests.
//!
//! Generic operations are IEEE single precision, machine operations what the ALU does. Elements form four
//! quads as on the machine (qpu.md §1.3). Control flow keeps a mask of active elements; what inactive
//! elements hold is whatever they held before.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use vc4::hw::LANES;
use vc4::qpu::Lanes;

use super::entity::{Block, Inst, Value};
use super::eval::eval;
use super::image::{Fetch, Sample};
use super::interface::{BuiltinInput, Output};
use super::op::Op;
use super::shader::{Node, Region, Shader};
use crate::binding::Descriptor;

/// Mask of all elements.
pub const ALL: u16 = !0;

/// One sample operation of all elements.
#[derive(Clone, Debug)]
pub struct SampleRequest {
    /// What is sampled how.
    pub sample: Sample,
    /// Coordinates as float words, with the layer of an array.
    pub coordinates: SmallVec<[Lanes; 3]>,
    /// The other arguments: bias, level or gradients, offset, reference.
    pub rest: SmallVec<[Lanes; 1]>,
    /// Elements that want a result; the others' coordinates may mean nothing.
    pub active: u16,
}

/// What a shader sees of the world. Every method has a default that yields zeros.
pub trait Environment {
    /// An input component of every element.
    fn input(&mut self, _location: u32, _component: u8) -> Lanes {
        [0; LANES]
    }

    /// A built-in input of every element; gl_FrontFacing as 0 or 1.
    fn builtin(&mut self, _builtin: BuiltinInput) -> Lanes {
        [0; LANES]
    }

    /// A word of a uniform buffer at a byte offset, which may lie outside.
    fn ubo(&mut self, _buffer: Descriptor, _offset: u32) -> u32 {
        0
    }

    /// A push-constant word at a byte offset.
    fn push(&mut self, _offset: u32) -> u32 {
        0
    }

    /// Samples an image: r, g, b, a as float words; the first counts in a comparison.
    fn sample(&mut self, _request: &SampleRequest) -> [Lanes; 4] {
        [[0; LANES]; 4]
    }

    /// Fetches texels by integer coordinates and LOD: r, g, b, a.
    fn fetch(&mut self, _fetch: Fetch, _arguments: &[Lanes], _active: u16) -> [Lanes; 4] {
        [[0; LANES]; 4]
    }

    /// A machine operation that deals with the world outside the ALUs (uniforms, varyings, VPM, TMU, tile
    /// buffer, payload). `None` if the environment does not know it. Operations without result may return anything.
    fn machine(&mut self, _op: Op, _arguments: &[Lanes], _active: u16) -> Option<Lanes> {
        None
    }
}

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
    /// The environment does not know an operation.
    #[error("the environment does not provide `{op}`")]
    Unsupported {
        /// The instruction.
        op: String,
    },
}

/// Instructions that [`run`] executes before it gives up.
pub const STEP_LIMIT: u64 = 10_000_000;

/// Runs a shader for all sixteen elements.
pub fn run(shader: &Shader, environment: &mut dyn Environment) -> Result<Outcome, InterpError> {
    let mut machine = Machine {
        shader,
        environment,
        values: SecondaryMap::with_default([0; LANES]),
        from: [None; LANES],
        outcome: Outcome::default(),
    };
    machine.region(&shader.body, ALL, &mut LoopMasks::default())?;
    Ok(machine.outcome)
}

/// Elements that left the body of the innermost loop.
#[derive(Default)]
struct LoopMasks {
    breaks: u16,
    continues: u16,
}

struct Machine<'a> {
    shader: &'a Shader,
    environment: &'a mut dyn Environment,
    values: SecondaryMap<Value, Lanes>,
    /// The block that each element was in last.
    from: [Option<Block>; LANES],
    outcome: Outcome,
}

fn is_set(mask: u16, lane: usize) -> bool {
    mask >> lane & 1 != 0
}

fn mask_of(lanes: &Lanes) -> u16 {
    (0..LANES).fold(0, |mask, lane| mask | u16::from(lanes[lane] != 0) << lane)
}

impl Machine<'_> {
    /// Executes a region and returns the elements that reach its end.
    fn region(&mut self, region: &Region, mut mask: u16, ends: &mut LoopMasks) -> Result<u16, InterpError> {
        for node in region {
            if mask == 0 {
                return Ok(0);
            }
            match node {
                &Node::Block(block) => mask = self.block(block, mask)?,
                Node::If { cond, then, otherwise } => {
                    let holds = mask_of(&self.values[*cond]);
                    let yes = self.region(then, mask & holds, ends)?;
                    mask = yes | self.region(otherwise, mask & !holds, ends)?;
                }
                Node::Loop(body) => mask = self.endless_loop(body, mask)?,
                Node::Break => {
                    ends.breaks |= mask;
                    return Ok(0);
                }
                Node::Continue => {
                    ends.continues |= mask;
                    return Ok(0);
                }
                Node::Return => return Ok(0),
                Node::Discard => {
                    self.outcome.discarded |= mask;
                    return Ok(0);
                }
            }
        }
        Ok(mask)
    }

    fn endless_loop(&mut self, body: &Region, mut mask: u16) -> Result<u16, InterpError> {
        let mut left = 0;
        while mask != 0 {
            // An empty body would spin without executing an instruction.
            self.step()?;
            let mut ends = LoopMasks::default();
            let rest = self.region(body, mask, &mut ends)?;
            left |= ends.breaks;
            // A discarded element runs on as a helper of its quad, but its loops end.
            mask = (rest | ends.continues) & !self.outcome.discarded;
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

    fn block(&mut self, block: Block, mask: u16) -> Result<u16, InterpError> {
        let insts = &self.shader.blocks[block].insts;
        let phis = insts.iter().take_while(|&&inst| self.shader.insts[inst].op == Op::Phi).count();
        let results: Vec<Lanes> = insts[..phis].iter().map(|&inst| self.phi(inst)).collect();
        for (&inst, lanes) in insts.iter().zip(&results) {
            self.write(inst, 0, lanes, mask);
        }
        for &inst in &insts[phis..] {
            self.step()?;
            self.inst(inst, mask)?;
        }
        for lane in 0..LANES {
            if is_set(mask, lane) {
                self.from[lane] = Some(block);
            }
        }
        Ok(mask)
    }

    fn phi(&self, inst: Inst) -> Lanes {
        let data = &self.shader.insts[inst];
        std::array::from_fn(|lane| {
            let index = data.phi_blocks.iter().position(|&block| Some(block) == self.from[lane]);
            index.map_or(0, |index| self.values[data.args[index]][lane])
        })
    }

    fn write(&mut self, inst: Inst, result: usize, lanes: &Lanes, mask: u16) {
        let value = self.shader.insts[inst].results[result];
        let old = &mut self.values[value];
        for lane in 0..LANES {
            if is_set(mask, lane) {
                old[lane] = lanes[lane];
            }
        }
    }

    fn inst(&mut self, inst: Inst, mask: u16) -> Result<(), InterpError> {
        let data = &self.shader.insts[inst];
        let args: SmallVec<[Lanes; 4]> = data.args.iter().map(|&arg| self.values[arg]).collect();
        match data.op {
            Op::StoreOutput(output) => self.store(output, &args[0], mask),
            Op::DiscardIf => self.outcome.discarded |= mask_of(&args[0]) & mask,
            Op::Sample(sample) => {
                let (coordinates, rest) = args.split_at(sample.coordinates());
                let coordinates = coordinates.iter().copied().collect();
                let request =
                    SampleRequest { sample, coordinates, rest: rest.iter().copied().collect(), active: mask };
                let texels = self.environment.sample(&request);
                self.write_all(inst, &texels[..sample.results()], mask);
            }
            Op::Fetch(fetch) => {
                let texels = self.environment.fetch(fetch, &args, mask);
                self.write_all(inst, &texels, mask);
            }
            Op::Gather { .. } | Op::ImageLod(_) => {
                return Err(InterpError::Unsupported { op: data.op.to_string() });
            }
            op => {
                let lanes = self.one_result(op, &args, mask)?;
                if !data.results.is_empty() {
                    self.write(inst, 0, &lanes, mask);
                }
            }
        }
        Ok(())
    }

    fn write_all(&mut self, inst: Inst, texels: &[Lanes], mask: u16) {
        for (result, lanes) in texels.iter().enumerate() {
            self.write(inst, result, lanes, mask);
        }
    }

    fn store(&mut self, output: Output, lanes: &Lanes, mask: u16) {
        let mask = mask & !self.outcome.discarded;
        let old = self.outcome.outputs.entry(output).or_insert([0; LANES]);
        for lane in 0..LANES {
            if is_set(mask, lane) {
                old[lane] = lanes[lane];
            }
        }
    }

    fn one_result(&mut self, op: Op, args: &[Lanes], mask: u16) -> Result<Lanes, InterpError> {
        Ok(match op {
            Op::Undef => [0; LANES],
            Op::LoadInput { location, component, .. } => self.environment.input(location, component),
            Op::LoadBuiltin(builtin) => self.environment.builtin(builtin),
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

/// Difference between the two elements of a quad that differ in bit `axis` of their number.
fn derivative(a: &Lanes, axis: usize) -> Lanes {
    std::array::from_fn(|lane| {
        let (near, far) = (f32::from_bits(a[lane & !axis]), f32::from_bits(a[lane | axis]));
        (far - near).to_bits()
    })
}

//! Runs the programs of a pipeline on the simulated QPU, sixteen vertices or fragments at a time, with nothing of a GPU
//! around them: rows go in, rows and colours come out.

use std::collections::BTreeMap;

use vc4_kernel_abi::validate::{self, Mode};
use vc4_shaders::program::{AttributeSource, Descriptor, Pipeline, Program, UniformSlot};
use vc4_sim::memory::Memory;
use vc4_sim::qpu::{Fault, LaneMask, Lanes, Payload, Ports, Program as Decoded, Stats, run};

use crate::rows::Rows;

/// What the programs read besides their inputs.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    /// Words of every uniform buffer.
    pub uniform: Vec<u32>,
    /// Words of the push constants.
    pub push: Vec<u32>,
}

/// Why a run gives no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The simulator stopped the program.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The program broke a rule of the machine, or one of the kernel's.
    #[error("{0}")]
    Rule(String),
}

/// A program with its uniform stream in memory.
struct Loaded {
    decoded: Decoded,
    memory: Memory,
    stream: u32,
}

impl Loaded {
    fn new(program: &Program, buffers: &Buffers) -> Result<Loaded, RunError> {
        validate::shader::validate(&program.code, Mode::Strict)
            .map_err(|violation| RunError::Rule(format!("the kernel refuses the program: {violation:?}")))?;
        let memory = Memory::new(1 << 16);
        let allocate =
            |words: usize| memory.allocate(4 * words.max(1) as u32).expect("the memory is large enough");
        let stream = allocate(program.uniforms.len());
        let mut bases: BTreeMap<Descriptor, u32> = BTreeMap::new();
        let mut words = Vec::new();
        let computed = vc4_shaders::ir::computed::words(&program.computed, |slot| match slot {
            UniformSlot::Const(word) => word,
            UniformSlot::Push(offset) => buffers.push[offset as usize / 4],
            UniformSlot::Ubo { offset, .. } => buffers.uniform[offset as usize / 4],
            other => panic!("programs of these suites compute with no {other}"),
        });
        for slot in &program.uniforms {
            words.push(match *slot {
                UniformSlot::Const(word) => word,
                UniformSlot::Computed(step) => computed[step as usize],
                UniformSlot::State(slot) => vc4::state::uniforms::StateWords::default().word(slot),
                UniformSlot::Push(offset) => buffers.push[offset as usize / 4],
                UniformSlot::Ubo { offset, .. } => buffers.uniform[offset as usize / 4],
                UniformSlot::UboLimit { last, .. } => {
                    (4 * buffers.uniform.len() as u32).saturating_sub(4 + last)
                }
                UniformSlot::UboBase { buffer, offset } => match bases.get(&buffer) {
                    Some(&base) => base + offset,
                    None => {
                        let base = allocate(buffers.uniform.len());
                        memory.write_words(base, &buffers.uniform).map_err(Fault::from)?;
                        bases.insert(buffer, base);
                        base + offset
                    }
                },
                // Vertices are numbered from 0 on.
                UniformSlot::VertexIndexBias => 0,
                UniformSlot::StreamAddress => stream,
                ref other => panic!("programs of these suites read no {other}"),
            });
        }
        memory.write_words(stream, &words).map_err(Fault::from)?;
        let insts =
            program.code.iter().map(|&word| vc4::qpu::Inst::decode(word).expect("compiled code decodes"));
        Ok(Loaded { decoded: Decoded::from_insts(insts.collect(), 0)?, memory, stream })
    }

    /// Returns how many instructions were executed.
    fn run(&self, machine: &mut Machine, check: bool) -> Result<u64, RunError> {
        // W is one, so that a varying is its plane's constant.
        let payload = Payload { ra15: [1f32.to_bits(); vc4::hw::LANES], ..Payload::default() };
        let mut stats = Stats { check, ..Default::default() };
        run(&self.decoded, &self.memory, self.stream, machine, &payload, &mut stats)?;
        match stats.findings.first() {
            None => Ok(stats.instructions),
            Some(finding) => Err(RunError::Rule(format!("{finding:?}"))),
        }
    }
}

/// The programs of a pipeline, ready to run.
pub struct Runner {
    vertex: Loaded,
    coordinate: Loaded,
    fragment: Loaded,
    attributes: Vec<vc4_shaders::program::AttributeArray>,
}

impl Runner {
    /// Loads the programs; the kernel's validator looks at each in strict mode.
    ///
    /// # Errors
    /// A program that the kernel or the machine refuses.
    pub fn new(pipeline: &Pipeline, buffers: &Buffers) -> Result<Runner, RunError> {
        Ok(Runner {
            vertex: Loaded::new(&pipeline.vertex, buffers)?,
            coordinate: Loaded::new(&pipeline.coordinate, buffers)?,
            fragment: Loaded::new(&pipeline.fragment, buffers)?,
            attributes: pipeline.attributes.clone(),
        })
    }

    /// Runs the vertex program; `attribute` gives word n of a location's sixteen vertices. Output rows: the header of a
    /// shaded vertex (three words, without a point size), then varyings in hardware order. With `check`, the machine's
    /// rules are looked at and the coordinate program is run and held against it.
    ///
    /// # Errors
    /// What the simulator says.
    pub fn vertex(&self, attribute: impl Fn(u32, u32) -> Lanes, check: bool) -> Result<Vec<Lanes>, RunError> {
        let run = |loaded: &Loaded, coordinate: bool| {
            let mut rows = Vec::new();
            for array in &self.attributes {
                let offset = if coordinate { array.coordinate_offset } else { array.vertex_offset };
                if offset.is_none() {
                    continue;
                }
                rows.extend((0..array.bytes.div_ceil(4)).map(|word| match array.source {
                    AttributeSource::Location(location) => attribute(location, word),
                    AttributeSource::VertexIndex => std::array::from_fn(|lane| lane as u32),
                    AttributeSource::Corner { .. }
                    | AttributeSource::CornerIndex(_)
                    | AttributeSource::Place => unreachable!("no primitives"),
                    AttributeSource::Dummy => [0xdead_beef; vc4::hw::LANES],
                }));
            }
            let mut machine = Machine { inputs: rows, ..Machine::default() };
            loaded.run(&mut machine, check)?;
            Ok::<_, RunError>(machine.rows.finish())
        };
        let rows = run(&self.vertex, false)?;
        if check {
            let coordinate = run(&self.coordinate, true)?;
            if rows[..3] != coordinate[4..7] {
                return Err(RunError::Rule(
                    "vertex and coordinate program disagree about the position".into(),
                ));
            }
        }
        Ok(rows)
    }

    /// Runs the fragment program on varyings in hardware order: the colour words, and which elements wrote them.
    ///
    /// # Errors
    /// What the simulator says.
    pub fn fragment(&self, varyings: &[Lanes], check: bool) -> Result<(LaneMask, Lanes), RunError> {
        let mut machine = Machine { inputs: varyings.to_vec(), ..Machine::default() };
        self.fragment.run(&mut machine, check)?;
        machine.color.ok_or_else(|| RunError::Rule("the fragment program writes no colour".into()))
    }

    /// Runs the fragment program on varyings in hardware order: how many instructions it executes.
    ///
    /// # Errors
    /// What the simulator says.
    pub fn fragment_instructions(&self, varyings: &[Lanes]) -> Result<u64, RunError> {
        let mut machine = Machine { inputs: varyings.to_vec(), ..Machine::default() };
        self.fragment.run(&mut machine, true)
    }
}

/// The fixed-function neighbours.
#[derive(Default)]
struct Machine {
    inputs: Vec<Lanes>,
    read: usize,
    rows: Rows,
    color: Option<(LaneMask, Lanes)>,
}

impl Machine {
    fn next(&mut self) -> Result<Lanes, Fault> {
        self.read += 1;
        let missing =
            || Fault::Unsupported { index: 0, what: "the program reads more inputs than it declares".into() };
        self.inputs.get(self.read - 1).copied().ok_or_else(missing)
    }
}

impl Ports for Machine {
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        Ok(([0; vc4::hw::LANES], self.next()?))
    }

    fn vpm_read_setup(&mut self, _: u32) -> Result<(), Fault> {
        Ok(())
    }

    fn vpm_write_setup(&mut self, word: u32) -> Result<(), Fault> {
        self.rows.set_up(word);
        Ok(())
    }

    fn vpm_read(&mut self) -> Result<Lanes, Fault> {
        self.next()
    }

    fn vpm_write(&mut self, value: &Lanes) -> Result<(), Fault> {
        self.rows.write(value);
        Ok(())
    }

    fn tlb_color_read(&mut self) -> Result<Lanes, Fault> {
        Ok([0; vc4::hw::LANES])
    }

    fn tlb_color_write(&mut self, mask: LaneMask, value: &Lanes, _: bool) -> Result<(), Fault> {
        self.color = Some((mask, *value));
        Ok(())
    }

    fn tlb_z(&mut self, _: LaneMask, _: &Lanes) -> Result<(), Fault> {
        Ok(())
    }

    fn tlb_stencil(&mut self, _: u32) -> Result<(), Fault> {
        Ok(())
    }

    fn ms_flags(&self) -> Lanes {
        [15; vc4::hw::LANES]
    }

    fn set_ms_flags(&mut self, _: LaneMask, _: &Lanes) {}

    fn rev_flag(&self) -> Lanes {
        [0; vc4::hw::LANES]
    }

    fn pixel_xy(&self) -> (Lanes, Lanes) {
        let axis = |bit: usize| std::array::from_fn(|lane| (lane / 4 * 2) as u32 + (lane as u32 >> bit & 1));
        (axis(0), axis(1))
    }
}

//! A fragment program in front of a tile: sixteen pixels, one per element.

use vc4::cl::packets::CompareFunc;
use vc4::cl::words::StencilWord;
use vc4::hw::LANES;
use vc4::state::StateWords;
use vc4_kernel_abi::validate::{self, Mode};
use vc4_shaders::backend::{self, Inputs};
use vc4_shaders::compile::PipelineState;
use vc4_shaders::ir::{Builder, Interpolation, Op, Shader, Stage, Value};
use vc4_shaders::pass::{self, lower};
use vc4_shaders::program::{Program, UniformSlot};
use vc4_sim::memory::Memory;
use vc4_sim::qpu::{Fault, LaneMask, Lanes, Payload, Ports, Program as Decoded, Stats, run};
use vc4_sim::tlb::{BatchTest, ClearValues, DepthMode, QUADS, Stencil, Tile, first_sample};

/// A small generator of numbers, so that every run sees the same ones.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) as u32
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.word() as usize % bound
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// In 0..1.
    pub fn unit(&mut self) -> f32 {
        (self.word() >> 8) as f32 / 16_777_216.0
    }
}

/// A fragment shader of one block.
pub fn fragment(build: impl FnOnce(&mut Builder)) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let block = shader.entry().expect("a new shader has a block");
    build(&mut Builder::new(&mut shader, block));
    shader
}

/// Component `component` of input `location`.
pub fn input(b: &mut Builder, location: u32, component: u8) -> Value {
    b.op(Op::LoadInput { location, component, interpolation: Interpolation::Smooth }, &[])
}

/// A compiled fragment program.
pub struct Compiled {
    pub program: Program,
    decoded: Decoded,
    varyings: Vec<(u32, u8)>,
    memory: Memory,
    stream: u32,
}

/// What surrounds the program.
#[derive(Clone, Debug)]
pub struct Pixels {
    /// Samples that are covered, per element.
    pub coverage: Lanes,
    /// Elements of back faces.
    pub back: LaneMask,
    /// Interpolated Z.
    pub z: Lanes,
    /// CONFIGURATION_BITS' part of the depth test.
    pub depth: DepthMode,
    /// Depth of each sample relative to the pixel's.
    pub sample_z: [f64; 4],
    /// Words of state.
    pub words: StateWords,
}

impl Default for Pixels {
    fn default() -> Self {
        Pixels {
            coverage: [15; LANES],
            back: 0,
            z: [0; LANES],
            depth: DepthMode { func: CompareFunc::Always, write: false },
            sample_z: [0.0; 4],
            words: StateWords::default(),
        }
    }
}

/// A tile with four samples or one per pixel, everything zero.
pub fn tile(four_samples: bool) -> Tile {
    let mut tile = Tile::default();
    tile.reset(four_samples, ClearValues::default());
    tile
}

/// The compiler's way from a fragment shader to a program, as `compile_shaders` goes it.
pub fn compile(mut shader: Shader, state: &PipelineState) -> Compiled {
    pass::optimize(&mut shader);
    pass::lower_control(&mut shader);
    lower::outputs::fragment(&mut shader, state).unwrap_or_else(|error| panic!("{error}"));
    pass::optimize(&mut shader);
    let interface = lower::inputs::fragment(&mut shader, state).unwrap_or_else(|error| panic!("{error}"));
    pass::lower(&mut shader, state, &[]);
    let inputs = Inputs { count: interface.inputs(), flat: interface.flat_inputs() };
    let program = backend::compile(&shader, inputs).unwrap_or_else(|error| panic!("{error}"));
    validate::shader::validate(&program.code, Mode::Strict)
        .unwrap_or_else(|violation| panic!("the kernel refuses the program: {violation:?}"));
    let insts = program.code.iter().map(|&word| vc4::qpu::Inst::decode(word).expect("compiled code decodes"));
    let decoded = Decoded::from_insts(insts.collect(), 0).expect("the program is complete");
    let memory = Memory::new(1 << 16);
    let stream =
        memory.allocate(4 * program.uniforms.len().max(1) as u32).expect("the memory is large enough");
    let varyings = interface.varyings.iter().map(|varying| (varying.location, varying.component)).collect();
    Compiled { program, decoded, varyings, memory, stream }
}

impl Compiled {
    /// Instructions up to the end sequence.
    pub fn len(&self) -> usize {
        self.program.code.len()
    }

    /// Runs the program on the first sixteen pixels of a tile's first row. `inputs`: value of an input component in
    /// each element.
    pub fn run(&self, tile: &mut Tile, pixels: &Pixels, inputs: impl Fn(u32, u8) -> Lanes) {
        let word = |slot: &UniformSlot| match *slot {
            UniformSlot::Const(word) => word,
            UniformSlot::State(slot) => pixels.words.word(slot),
            ref other => panic!("no stream word for {other:?}"),
        };
        let words: Vec<u32> = self.program.uniforms.iter().map(word).collect();
        self.memory.write_words(self.stream, &words).expect("the stream was allocated");
        let quads = std::array::from_fn(|quad| (quad * tile.quad_samples()) as u16);
        let mut machine = Machine {
            quads,
            tile,
            pixels,
            varyings: self
                .varyings
                .iter()
                .map(|&(location, component)| inputs(location, component))
                .collect(),
            next: 0,
            flags: pixels.coverage,
            stencil: Stencil::default(),
            read_sample: 0,
            write_sample: 0,
            broken: Vec::new(),
        };
        let payload = Payload { ra15: [1f32.to_bits(); LANES], rb15: pixels.z };
        let mut stats = Stats { check: true, ..Default::default() };
        run(&self.decoded, &self.memory, self.stream, &mut machine, &payload, &mut stats)
            .expect("the program runs");
        assert_eq!(machine.next, machine.varyings.len(), "every varying is read");
        assert!(machine.broken.is_empty(), "{:?}", machine.broken);
        assert!(stats.findings.is_empty(), "broken rules: {:?}", stats.findings);
    }
}

struct Machine<'a> {
    tile: &'a mut Tile,
    quads: [u16; QUADS],
    pixels: &'a Pixels,
    varyings: Vec<Lanes>,
    next: usize,
    flags: Lanes,
    stencil: Stencil,
    read_sample: usize,
    write_sample: usize,
    broken: Vec<&'static str>,
}

impl Machine<'_> {
    /// The first sample of an element's pixel.
    fn first(&self, element: usize) -> usize {
        first_sample(&self.quads, element, self.tile.samples())
    }
}

impl Ports for Machine<'_> {
    /// The value is the partial sum; W is 1 and C is 0, so that it arrives as it is.
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        self.next += 1;
        Ok((self.varyings[self.next - 1], [0; LANES]))
    }

    fn vpm_read_setup(&mut self, _: u32) -> Result<(), Fault> {
        unreachable!("fragment programs have no VPM")
    }

    fn vpm_write_setup(&mut self, _: u32) -> Result<(), Fault> {
        unreachable!("fragment programs have no VPM")
    }

    fn vpm_read(&mut self) -> Result<Lanes, Fault> {
        unreachable!("fragment programs have no VPM")
    }

    fn vpm_write(&mut self, _: &Lanes) -> Result<(), Fault> {
        unreachable!("fragment programs have no VPM")
    }

    fn tlb_color_read(&mut self) -> Result<Lanes, Fault> {
        let sample = self.read_sample;
        self.read_sample += 1;
        if sample >= self.tile.samples() {
            self.broken.push("more colour reads than samples");
        }
        Ok(std::array::from_fn(|lane| self.tile.color()[self.first(lane) + sample % 4]))
    }

    fn tlb_color_write(&mut self, mask: LaneMask, value: &Lanes, all: bool) -> Result<(), Fault> {
        let samples = self.tile.samples();
        let written = if all { 0..samples } else { self.write_sample..self.write_sample + 1 };
        self.write_sample = written.end;
        if written.end > samples || (all && written.start != 0) {
            self.broken.push("more colour writes than samples");
        }
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            for sample in written.clone().filter(|sample| self.flags[lane] >> sample & 1 != 0) {
                let first = self.first(lane);
                self.tile.color_mut()[first + sample] = value[lane];
            }
        }
        Ok(())
    }

    fn tlb_z(&mut self, mask: LaneMask, z: &Lanes) -> Result<(), Fault> {
        if self.write_sample != 0 {
            self.broken.push("a depth write behind a colour write");
        }
        let test = BatchTest {
            mode: self.pixels.depth,
            stencil: self.stencil,
            quads: &self.quads,
            reverse: self.pixels.back,
            sample_z: self.pixels.sample_z,
        };
        test.run(self.tile, mask, z, &mut self.flags);
        Ok(())
    }

    fn tlb_stencil(&mut self, word: u32) -> Result<(), Fault> {
        self.stencil.set_up(StencilWord::from_bits(word).expect("set-up words are valid"));
        Ok(())
    }

    fn ms_flags(&self) -> Lanes {
        self.flags
    }

    fn set_ms_flags(&mut self, mask: LaneMask, value: &Lanes) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            self.flags[lane] = value[lane] & 15;
        }
    }

    fn rev_flag(&self) -> Lanes {
        std::array::from_fn(|lane| u32::from(self.pixels.back >> lane & 1))
    }

    fn pixel_xy(&self) -> (Lanes, Lanes) {
        (std::array::from_fn(|lane| lane as u32), [0; LANES])
    }
}

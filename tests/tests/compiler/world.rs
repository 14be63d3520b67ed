//! One batch of sixteen elements as both sides see it: the IR interpreter by names, the simulated QPU by stream
//! words, FIFOs and payload. All numbers come from one hash of their name, so neither side can be led astray by
//! the other.

use std::collections::{BTreeMap, BTreeSet};

use vc4::state::uniforms::StateWords;
use vc4::state::viewport::Viewport;
use vc4_shaders::ir::interp::{Environment, SampleRequest};
use vc4_shaders::ir::{BuiltinInput, Fetch};
use vc4_shaders::pass::lower::inputs::Varying;
use vc4_shaders::program::{
    AttributeSource, Descriptor, DrawWord, Lookup, Pipeline, Program, Texture, TextureValue, UniformSlot,
};
use vc4_sim::memory::Memory;
use vc4_sim::qpu::{Fault, LaneMask, Lanes, Payload, Ports, Program as Decoded, Stats, run};
use vc4_tests::hash::hash;
use vc4_tests::rows::Rows;

const LANES: usize = vc4::hw::LANES;
/// Words of every uniform buffer.
pub const UBO_WORDS: u32 = 1024;
/// What the index fetch delivers in element 0, and what the driver adds to it.
const FIRST_INDEX: u32 = 100;
const INDEX_BIAS: u32 = 98u32.wrapping_neg();
/// The instance of every draw.
pub const INSTANCE: u32 = 3;
/// Texels along the edges of every image.
const IMAGE_SIZE: u32 = 4;

/// A multiple of 1/64 in [-1, 1]: sums and products of a few of them are exact.
fn dyadic(parts: &[u32]) -> f32 {
    (hash(parts) % 129) as f32 / 64.0 - 1.0
}

/// The world of one test.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Makes worlds differ.
    pub seed: u32,
    /// Inputs are integers.
    pub integers: bool,
    /// Points are drawn: varyings begin with the point coordinate.
    pub points: bool,
}

/// What a program did.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Output rows.
    pub rows: Vec<Lanes>,
    /// Colour words and the elements that wrote them.
    pub color: Option<(LaneMask, Lanes)>,
    /// Depth and the elements that wrote it.
    pub z: Option<(LaneMask, Lanes)>,
    /// Stencil words.
    pub stencil: Vec<u32>,
    /// Broken rules.
    pub findings: Vec<vc4_sim::qpu::Finding>,
}

impl World {
    /// Value of an input as coefficients: at the reference point, per pixel to the right, per row.
    fn plane(&self, location: u32, component: u8, quad: usize) -> [f32; 3] {
        let name = |n| [self.seed, 1, location, component.into(), quad as u32, n];
        [dyadic(&name(0)), dyadic(&name(1)) / 16.0, dyadic(&name(2)) / 16.0]
    }

    fn varying(&self, location: u32, component: u8, flat: bool, lane: usize) -> f32 {
        let [base, dx, dy] = self.plane(location, component, lane / 4);
        if flat { base } else { base + dx * (lane & 1) as f32 + dy * (lane >> 1 & 1) as f32 }
    }

    /// W of an element: a power of two, so that dividing by it is exact.
    fn w(&self, lane: usize) -> f32 {
        [0.5, 1.0, 2.0, 4.0][hash(&[self.seed, 2, lane as u32 / 4]) as usize % 4]
    }

    /// The point coordinate with y downwards.
    fn point(&self, lane: usize) -> [f32; 2] {
        [0, 1].map(|axis| (hash(&[self.seed, 12, axis, lane as u32 / 4]) % 64) as f32 / 64.0)
    }

    fn z(&self, lane: usize) -> u32 {
        hash(&[self.seed, 3, lane as u32]) & 0xff_ffff
    }

    fn pixel(&self, lane: usize) -> [u32; 2] {
        let quad = lane as u32 / 4;
        let corner = hash(&[self.seed, 4, quad]);
        [(corner & 0x1fe) + (lane as u32 & 1), (corner >> 9 & 0x1fe) + (lane as u32 >> 1 & 1)]
    }

    fn is_back(&self, lane: usize) -> bool {
        hash(&[self.seed, 5, lane as u32 / 4]) & 1 != 0
    }

    /// Word of an attribute as it stands in memory.
    pub fn attribute(&self, location: u32, component: u32, lane: usize) -> u32 {
        let name = [self.seed, 6, location, component, lane as u32];
        if self.integers && location != 0 {
            hash(&name) >> (hash(&[name[4], component, self.seed, 7]) % 32)
        } else {
            dyadic(&name).to_bits()
        }
    }

    fn ubo_word(&self, buffer: Descriptor, offset: u32) -> u32 {
        // Out of bounds reads give the last word, as the clamp of the hardware does.
        let word = if (offset as i32) < 0 { 0 } else { (offset / 4).min(UBO_WORDS - 1) };
        let name = [self.seed, 8, buffer.set, buffer.binding, buffer.element, word];
        if self.integers { hash(&name) % 32 } else { dyadic(&name).to_bits() }
    }

    /// The colour word that stands in the tile buffer.
    pub fn destination(&self, lane: usize) -> u32 {
        hash(&[self.seed, 11, lane as u32])
    }

    fn texel(&self, image: Descriptor) -> u32 {
        hash(&[self.seed, 9, image.set, image.binding, image.element])
    }

    fn texel_components(&self, image: Descriptor) -> [Lanes; 4] {
        let bytes = self.texel(image).to_le_bytes();
        bytes.map(|byte| [(f32::from(byte) / 255.0).to_bits(); LANES])
    }

    fn state(&self) -> StateWords {
        let viewport =
            Viewport { x: 10.0, y: 20.0, width: 300.0, height: 200.0, min_depth: 0.0, max_depth: 1.0 };
        StateWords { viewport, ..Default::default() }
    }

    /// Runs the vertex or coordinate program.
    pub fn run_vertex(&self, pipeline: &Pipeline, coordinate: bool) -> Result<Effects, Fault> {
        let program = if coordinate { &pipeline.coordinate } else { &pipeline.vertex };
        let mut rows = Vec::new();
        for array in &pipeline.attributes {
            let offset = if coordinate { array.coordinate_offset } else { array.vertex_offset };
            let Some(offset) = offset else { continue };
            assert_eq!(usize::from(offset), 4 * rows.len(), "arrays fill the VPM without gaps");
            for word in 0..array.bytes.div_ceil(4) {
                rows.push(std::array::from_fn(|lane| match array.source {
                    AttributeSource::Location(location) => self.attribute(location, word, lane),
                    AttributeSource::VertexIndex => FIRST_INDEX + lane as u32,
                    AttributeSource::Corner { .. }
                    | AttributeSource::CornerIndex(_)
                    | AttributeSource::Place => unreachable!("no primitives"),
                    AttributeSource::Dummy => 0xdead_beef,
                }));
            }
        }
        let declared =
            if coordinate { pipeline.coordinate_attribute_bytes } else { pipeline.vertex_attribute_bytes };
        assert_eq!(declared as usize, 4 * rows.len());
        let machine = Machine { attributes: rows, ..Machine::new(self) };
        self.run(program, machine, &Payload::default())
    }

    /// Runs the fragment program; `varyings` in hardware order.
    pub fn run_fragment(&self, pipeline: &Pipeline, varyings: &[Varying]) -> Result<Effects, Fault> {
        use vc4_shaders::ir::Interpolation;
        let planes = varyings.iter().map(|v| {
            let flat = v.interpolation == Interpolation::Flat;
            let c = |lane| self.varying(v.location, v.component, flat, lane & !3);
            let slope = |lane: usize| match v.interpolation {
                // The vertex program multiplied by W, which interpolation divides by and W multiplies back.
                Interpolation::NoPerspective => self.varying(v.location, v.component, flat, lane) - c(lane),
                _ => (self.varying(v.location, v.component, flat, lane) - c(lane)) / self.w(lane),
            };
            let scale =
                |lane| if v.interpolation == Interpolation::NoPerspective { self.w(lane) } else { 1.0 };
            let vp: Lanes = std::array::from_fn(|lane| slope(lane).to_bits());
            let c: Lanes = std::array::from_fn(|lane| (c(lane) * scale(lane)).to_bits());
            (vp, c)
        });
        // The hardware's y runs upwards (v3d.md §9.6).
        let point = [0, 1].map(|axis| -> (Lanes, Lanes) {
            let at = |lane| if axis == 0 { self.point(lane)[0] } else { 1.0 - self.point(lane)[1] };
            ([0; LANES], std::array::from_fn(|lane| at(lane).to_bits()))
        });
        let implicit = if self.points { &point[..] } else { &[] };
        let varyings = implicit.iter().copied().chain(planes).collect();
        let machine = Machine { varyings, ..Machine::new(self) };
        let payload = Payload {
            ra15: std::array::from_fn(|lane| self.w(lane).to_bits()),
            rb15: std::array::from_fn(|lane| self.z(lane)),
        };
        self.run(&pipeline.fragment, machine, &payload)
    }

    fn run(&self, program: &Program, mut machine: Machine, payload: &Payload) -> Result<Effects, Fault> {
        let memory = Memory::new(1 << 20);
        let mut places = Places { world: self, memory: &memory, known: BTreeMap::new() };
        let stream =
            memory.allocate(4 * program.uniforms.len().max(1) as u32).expect("the memory is large enough");
        let computed = vc4_shaders::ir::computed::words(&program.computed, |slot| places.word(&slot));
        let word = |slot: &UniformSlot| match *slot {
            UniformSlot::StreamAddress => stream,
            UniformSlot::Computed(step) => computed[step as usize],
            _ => places.word(slot),
        };
        let words: Vec<u32> = program.uniforms.iter().map(word).collect();
        memory.write_words(stream, &words)?;
        let insts =
            program.code.iter().map(|&word| vc4::qpu::Inst::decode(word).expect("compiled code decodes"));
        let decoded = Decoded::from_insts(insts.collect(), 0)?;
        let mut stats = Stats { check: true, ..Default::default() };
        run(&decoded, &memory, stream, &mut machine, payload, &mut stats)?;
        let declared = (machine.attributes.len(), machine.varyings.len());
        let read = (machine.attributes_read, machine.varyings_read);
        assert_eq!(read, declared, "every attribute row and varying is read exactly once");
        Ok(Effects {
            rows: machine.rows.finish(),
            color: machine.color,
            z: machine.z,
            stencil: machine.stencil,
            findings: stats.findings,
        })
    }
}

/// Addresses of buffers and images in bus memory.
struct Places<'a> {
    world: &'a World,
    memory: &'a Memory,
    known: BTreeMap<(bool, Descriptor), u32>,
}

impl Places<'_> {
    fn ubo(&mut self, buffer: Descriptor) -> u32 {
        let (world, memory) = (self.world, self.memory);
        *self.known.entry((false, buffer)).or_insert_with(|| {
            let address = memory.allocate(4 * UBO_WORDS).expect("the memory is large enough");
            for word in 0..UBO_WORDS {
                memory.write(address + 4 * word, world.ubo_word(buffer, 4 * word)).expect("allocated");
            }
            address
        })
    }

    /// Six faces of one page each, every texel the image's only colour.
    fn image(&mut self, image: Descriptor) -> u32 {
        let (world, memory) = (self.world, self.memory);
        *self.known.entry((true, image)).or_insert_with(|| {
            let address = memory.allocate(6 * 4096).expect("the memory is large enough");
            for word in 0..6 * 1024 {
                memory.write(address + 4 * word, world.texel(image)).expect("allocated");
            }
            address
        })
    }

    fn word(&mut self, slot: &UniformSlot) -> u32 {
        match *slot {
            UniformSlot::Const(word) => word,
            UniformSlot::State(slot) => self.world.state().word(slot),
            UniformSlot::Push(offset) => self.world.clone().push_word(offset),
            UniformSlot::Ubo { buffer, offset } => self.world.ubo_word(buffer, offset),
            UniformSlot::UboBase { buffer, offset } => self.ubo(buffer) + offset,
            UniformSlot::UboLimit { last, .. } => 4 * UBO_WORDS - 4 - last,
            UniformSlot::TextureP0(Lookup { texture: Texture { image, .. }, .. }) => {
                self.image(image) | u32::from(self.world.is_cube(image)) << 9
            }
            // Nearest, clamped.
            UniformSlot::TextureP1(_) => IMAGE_SIZE << 20 | IMAGE_SIZE << 8 | 1 << 7 | 1 << 4 | 1 << 2 | 1,
            UniformSlot::TextureP2 { lookup, explicit_lod } => {
                let stride = if self.world.is_cube(lookup.texture.image) { 1 << 12 } else { 0 };
                1 << 30 | stride | u32::from(explicit_lod)
            }
            UniformSlot::Texture { value: TextureValue::Size(_), .. } => (IMAGE_SIZE as f32).to_bits(),
            UniformSlot::Texture { .. } => 0,
            UniformSlot::BufferElements { offset, stride, .. } => (4 * UBO_WORDS - offset) / stride,
            UniformSlot::VertexIndexBias => INDEX_BIAS,
            UniformSlot::InstanceIndex => INSTANCE,
            UniformSlot::Draw(word) => draw_word(word),
            UniformSlot::InstanceAttribute { location, word } => {
                self.world.attribute(location, word.into(), 0)
            }
            UniformSlot::Computed(_) | UniformSlot::StreamAddress => {
                unreachable!("whoever writes the stream knows")
            }
        }
    }
}

/// What the draw says of itself.
fn draw_word(word: DrawWord) -> u32 {
    match word {
        DrawWord::BaseVertex => 11,
        DrawWord::BaseInstance => 12,
        DrawWord::DrawIndex => 13,
        DrawWord::ViewIndex => 3,
    }
}

impl World {
    fn push_word(&self, offset: u32) -> u32 {
        let name = [self.seed, 10, offset];
        if self.integers { hash(&name) % 32 } else { dyadic(&name).to_bits() }
    }

    /// Descriptors of odd bindings from 101 on are cubes.
    fn is_cube(&self, image: Descriptor) -> bool {
        image.binding >= 101 && image.binding % 2 == 1
    }
}

impl Environment for World {
    fn input(&mut self, location: u32, component: u8) -> Lanes {
        std::array::from_fn(|lane| self.attribute(location, component.into(), lane))
    }

    fn builtin(&mut self, builtin: BuiltinInput) -> Lanes {
        std::array::from_fn(|lane| match builtin {
            BuiltinInput::VertexIndex => FIRST_INDEX.wrapping_add(INDEX_BIAS) + lane as u32,
            BuiltinInput::InstanceIndex => INSTANCE,
            BuiltinInput::Draw(word) => draw_word(word),
            BuiltinInput::FragCoord(n @ 0..=1) => (self.pixel(lane)[usize::from(n)] as f32 + 0.5).to_bits(),
            BuiltinInput::Pixel(axis) => self.pixel(lane)[usize::from(axis)],
            BuiltinInput::FragCoord(2) => (self.z(lane) as f32 / 16_777_215.0).to_bits(),
            BuiltinInput::FragCoord(_) => (1.0 / self.w(lane)).to_bits(),
            BuiltinInput::FrontFacing => u32::from(!self.is_back(lane)),
            BuiltinInput::PointCoord(axis) => self.point(lane)[usize::from(axis)].to_bits(),
            BuiltinInput::SampleMask => 1,
            BuiltinInput::SampleId | BuiltinInput::SampleOffset { .. } => 0,
            BuiltinInput::SamplePosition(_) => 0.5f32.to_bits(),
            BuiltinInput::HelperInvocation => 0,
            BuiltinInput::Invocation(_) => unreachable!("graphics programs have no workgroups"),
        })
    }

    fn ubo(&mut self, buffer: Descriptor, offset: u32) -> u32 {
        self.ubo_word(buffer, offset)
    }

    fn push(&mut self, offset: u32) -> u32 {
        self.push_word(offset)
    }

    fn sample(&mut self, request: &SampleRequest) -> [Lanes; 4] {
        self.texel_components(request.sample.texture.image)
    }

    fn fetch(&mut self, fetch: Fetch, _: &[Lanes], _: u16) -> [Lanes; 4] {
        self.texel_components(fetch.image)
    }
}

/// The fragment stage's view of a world: inputs are interpolated.
pub struct Fragments {
    /// The world.
    pub world: World,
    /// Locations and components of flat inputs: equal outputs share a location, however they are interpolated.
    pub flat: BTreeSet<(u32, u8)>,
}

impl Environment for Fragments {
    fn input(&mut self, location: u32, component: u8) -> Lanes {
        let flat = self.flat.contains(&(location, component));
        std::array::from_fn(|lane| self.world.varying(location, component, flat, lane).to_bits())
    }

    fn builtin(&mut self, builtin: BuiltinInput) -> Lanes {
        self.world.builtin(builtin)
    }

    fn ubo(&mut self, buffer: Descriptor, offset: u32) -> u32 {
        self.world.ubo_word(buffer, offset)
    }

    fn push(&mut self, offset: u32) -> u32 {
        self.world.push_word(offset)
    }

    fn sample(&mut self, request: &SampleRequest) -> [Lanes; 4] {
        self.world.texel_components(request.sample.texture.image)
    }

    fn fetch(&mut self, fetch: Fetch, _: &[Lanes], _: u16) -> [Lanes; 4] {
        self.world.texel_components(fetch.image)
    }
}

/// The fixed-function neighbours.
struct Machine<'a> {
    world: &'a World,
    attributes: Vec<Lanes>,
    attributes_read: usize,
    /// Rows that the read set-up announced.
    announced: usize,
    varyings: Vec<(Lanes, Lanes)>,
    varyings_read: usize,
    rows: Rows,
    color: Option<(LaneMask, Lanes)>,
    z: Option<(LaneMask, Lanes)>,
    stencil: Vec<u32>,
}

impl<'a> Machine<'a> {
    fn new(world: &'a World) -> Self {
        Machine {
            world,
            attributes: Vec::new(),
            attributes_read: 0,
            announced: 0,
            varyings: Vec::new(),
            varyings_read: 0,
            rows: Rows::default(),
            color: None,
            z: None,
            stencil: Vec::new(),
        }
    }
}

impl Ports for Machine<'_> {
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        let value = self.varyings[self.varyings_read];
        self.varyings_read += 1;
        Ok(value)
    }

    fn vpm_read_setup(&mut self, word: u32) -> Result<(), Fault> {
        assert_eq!(word & !0x00f0_003f, 0x1a00, "32-bit rows, horizontal, stride 1");
        assert_eq!((word & 63) as usize, self.announced, "blocks follow each other");
        assert_eq!(self.attributes_read, self.announced, "a block is read before the next is set up");
        let count = (word >> 20 & 15) as usize;
        self.announced += if count == 0 { 16 } else { count };
        Ok(())
    }

    fn vpm_write_setup(&mut self, word: u32) -> Result<(), Fault> {
        self.rows.set_up(word);
        Ok(())
    }

    fn vpm_read(&mut self) -> Result<Lanes, Fault> {
        assert!(self.attributes_read < self.announced, "reads stay inside the set-up");
        self.attributes_read += 1;
        Ok(self.attributes[self.attributes_read - 1])
    }

    fn vpm_write(&mut self, value: &Lanes) -> Result<(), Fault> {
        self.rows.write(value);
        Ok(())
    }

    fn tlb_color_read(&mut self) -> Result<Lanes, Fault> {
        Ok(std::array::from_fn(|lane| self.world.destination(lane)))
    }

    fn tlb_color_write(&mut self, mask: LaneMask, value: &Lanes, _: bool) -> Result<(), Fault> {
        assert!(self.color.is_none(), "one colour write");
        self.color = Some((mask, *value));
        Ok(())
    }

    fn tlb_z(&mut self, mask: LaneMask, z: &Lanes) -> Result<(), Fault> {
        assert!(self.z.is_none() && self.color.is_none(), "one depth write, before the colour");
        self.z = Some((mask, *z));
        Ok(())
    }

    fn tlb_stencil(&mut self, word: u32) -> Result<(), Fault> {
        assert!(self.z.is_none(), "stencil words come before the depth");
        self.stencil.push(word);
        Ok(())
    }

    fn ms_flags(&self) -> Lanes {
        [15; LANES]
    }

    fn set_ms_flags(&mut self, _: LaneMask, _: &Lanes) {}

    fn rev_flag(&self) -> Lanes {
        std::array::from_fn(|lane| u32::from(self.world.is_back(lane)))
    }

    fn pixel_xy(&self) -> (Lanes, Lanes) {
        let axis = |n| std::array::from_fn(|lane| self.world.pixel(lane)[n]);
        (axis(0), axis(1))
    }
}

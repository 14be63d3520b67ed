//! Recordings that are submitted again and again while what they read changes, in every way that memory can.

use ash::vk;

use super::case::{Case, around};
use super::draws::{Canvas, SIZE};
use crate::picture::Picture;
use crate::random::Random;
use crate::vulkan::{Buffer, Error, Held, Lab, Pipeline};

/// The programs.
pub const CASES: [Case; 4] = [
    around("again-uniforms", EDGES, |lab| rounds(lab, 1, &Change::OF_UNIFORMS)),
    around("again-memory", EDGES, |lab| rounds(lab, 2, &Change::OF_MEMORY)),
    around("again-commands", EDGES, |lab| rounds(lab, 3, &Change::BY_COMMANDS)),
    around("again-everything", EDGES, |lab| rounds(lab, 4, &Change::ALL)),
];

/// Vertices lie on whole pixels; which side of a diagonal has a pixel in its middle is the device's choice.
const EDGES: f64 = 0.001;
/// Submissions of a recording.
const ROUNDS: u32 = 9;
/// Quads in the vertex buffer.
const QUADS: u32 = 12;
/// Bytes of a vertex.
const VERTEX_BYTES: u32 = 24;
/// Instances that have attributes.
const INSTANCES: u32 = 6;
/// Indices in each index buffer.
const INDICES: u32 = 96;
/// Draws of a recording.
const DRAWS: u32 = 40;
/// Matrices: pairs of them, each at a multiple of what dynamic offsets are multiples of.
const MATRICES: u32 = 10;
const MATRIX_STRIDE: u32 = 256;
/// Arguments of indirect draws, with indices or without.
const ARGUMENTS: u32 = 4;
const ARGUMENT_BYTES: u32 = 20;

/// What happens between two submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// A uniform buffer that stays mapped.
    Uniforms,
    /// One that is mapped for the change.
    Tints,
    /// The same by vkCmdUpdateBuffer.
    TintsByCommand,
    /// Indices of 16 bits, mapped for the change.
    ShortIndices,
    /// Attributes of instances, mapped for the change.
    Instances,
    /// Indices of 32 bits by vkCmdUpdateBuffer.
    LongIndices,
    /// Indices of 32 bits by a copy.
    Copy,
    /// Arguments of indirect draws by vkCmdUpdateBuffer.
    Arguments,
    /// Nothing.
    Nothing,
}

impl Change {
    const OF_UNIFORMS: [Change; 3] = [Change::Uniforms, Change::Tints, Change::TintsByCommand];
    const OF_MEMORY: [Change; 4] =
        [Change::Uniforms, Change::ShortIndices, Change::Instances, Change::Nothing];
    const BY_COMMANDS: [Change; 4] = [Change::LongIndices, Change::Copy, Change::Arguments, Change::Nothing];
    const ALL: [Change; 9] = [
        Change::Uniforms,
        Change::Tints,
        Change::TintsByCommand,
        Change::ShortIndices,
        Change::Instances,
        Change::LongIndices,
        Change::Copy,
        Change::Arguments,
        Change::Nothing,
    ];
}

/// A recording and what it reads.
struct Scene<'a> {
    lab: &'a Lab<'a>,
    canvas: Canvas,
    matrices: Held<'a>,
    tints: Buffer,
    short: Buffer,
    long: Buffer,
    staging: Buffer,
    instances: Buffer,
    arguments: Buffer,
    commands: vk::CommandBuffer,
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A colour.
fn tint(random: &mut Random) -> [f32; 4] {
    [(); 4].map(|()| random.below(17) as f32 / 16.0)
}

/// From whole pixels to the picture, and a shift by whole pixels.
fn matrices(random: &mut Random) -> Vec<u8> {
    let [width, height] = SIZE.map(|edge| edge as f32);
    #[rustfmt::skip]
    let view = [
        2.0 / width, 0.0, 0.0, 0.0,
        0.0, 2.0 / height, 0.0, 0.0,
        0.0, 0.0, 1.0, 0.0,
        -1.0, -1.0, 0.0, 1.0,
    ];
    let [x, y] = SIZE.map(|edge| random.below(edge as usize) as f32);
    #[rustfmt::skip]
    let model = [
        1.0, 0.0, 0.0, 0.0,
        0.0, 1.0, 0.0, 0.0,
        0.0, 0.0, 1.0, 0.0,
        x, y, 0.0, 1.0,
    ];
    [floats(&view), floats(&model)].concat()
}

/// `light`, five rows that nobody reads, and `shade`.
fn tints(random: &mut Random) -> Vec<u8> {
    [tint(random), [0.0; 4], [0.0; 4], [0.0; 4], [0.0; 4], [0.0; 4], tint(random)]
        .iter()
        .flat_map(|row| floats(row))
        .collect()
}

/// Quads by six indices each, or strips of five that end with `restart`.
fn indices(random: &mut Random, restart: u32) -> Vec<u32> {
    let half = INDICES / 2;
    let quads = (0..half / 6).flat_map(|_| {
        let first = 4 * random.below(QUADS as usize) as u32;
        [0, 1, 2, 2, 1, 3].map(|corner| first + corner)
    });
    let mut all: Vec<u32> = quads.collect();
    for _ in 0..half / 6 {
        let first = 4 * random.below(QUADS as usize) as u32;
        all.extend([first, first + 1, first + 2, first + 3, restart, restart]);
    }
    all
}

fn short_indices(random: &mut Random) -> Vec<u8> {
    indices(random, 0xffff).into_iter().flat_map(|index| (index as u16).to_le_bytes()).collect()
}

fn long_indices(random: &mut Random) -> Vec<u8> {
    words(&indices(random, u32::MAX))
}

/// Shifts by whole pixels, and what colours are multiplied with.
fn instances(random: &mut Random) -> Vec<u8> {
    let one = |_| {
        let [x, y] = [(); 2].map(|()| random.below(12) as f32 - 6.0);
        let [r, g, ..] = tint(random);
        floats(&[x, y, r, g])
    };
    (0..INSTANCES).flat_map(one).collect()
}

/// Arguments that do for draws with indices and without: vertices, instances, first vertex or index, zeros.
fn arguments(random: &mut Random) -> Vec<u8> {
    let one = |_| {
        let first = 6 * random.below(4) as u32;
        [6 * (1 + random.below(3) as u32), random.below(3) as u32, first, 0, 0]
    };
    (0..ARGUMENTS).flat_map(one).flat_map(u32::to_le_bytes).collect()
}

fn vertices(random: &mut Random) -> Vec<u8> {
    let quad = |_| {
        let [x, y] = [(); 2].map(|()| random.below(8) as f32);
        let [width, height] = [(); 2].map(|()| 3.0 + random.below(12) as f32);
        let color = tint(random);
        let corner = move |x, y| {
            let [r, g, b, a] = color;
            [x, y, r, g, b, a]
        };
        [corner(x, y), corner(x + width, y), corner(x, y + height), corner(x + width, y + height)]
    };
    (0..QUADS).flat_map(quad).flat_map(|vertex| floats(&vertex)).collect()
}

impl<'a> Scene<'a> {
    fn new(lab: &'a Lab<'a>, random: &mut Random) -> Result<Scene<'a>, Error> {
        let canvas = Canvas::new(lab, false)?;
        let ty = [vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, vk::DescriptorType::UNIFORM_BUFFER];
        let stages = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT];
        let bindings: Vec<_> = (0..)
            .zip(ty.iter().zip(stages))
            .map(|(binding, (ty, stages))| {
                let binding = vk::DescriptorSetLayoutBinding::default().binding(binding);
                binding.descriptor_type(*ty).descriptor_count(1).stage_flags(stages)
            })
            .collect();
        let set_layouts = [lab.set_layout(&bindings)?];
        let push =
            [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::FRAGMENT, offset: 0, size: 16 }];
        let layout = vk::PipelineLayoutCreateInfo::default();
        let layout = lab.pipeline_layout(&layout.set_layouts(&set_layouts).push_constant_ranges(&push))?;
        let pipeline = |topology, restart| {
            let state = Pipeline {
                vertex: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/again.vert.spv")),
                fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/again.frag.spv")),
                topology,
                restart,
                stride: VERTEX_BYTES,
                attributes: vec![vk::Format::R32G32_SFLOAT, vk::Format::R32G32B32A32_SFLOAT],
                of_instances: vec![vk::Format::R32G32B32A32_SFLOAT],
                layout: Some(layout),
                ..Pipeline::default()
            };
            lab.pipeline(canvas.pass, SIZE, &state)
        };
        let list = pipeline(vk::PrimitiveTopology::TRIANGLE_LIST, false)?;
        let strip = pipeline(vk::PrimitiveTopology::TRIANGLE_STRIP, true)?;
        let matrix_bytes = vec![0; (MATRICES * MATRIX_STRIDE) as usize];
        let uniform = vk::BufferUsageFlags::UNIFORM_BUFFER;
        let matrix_buffer = lab.mapped(&matrix_bytes, uniform)?;
        let tint_buffer = lab.mapped(&tints(random), uniform | vk::BufferUsageFlags::TRANSFER_DST)?;
        let set =
            lab.set(set_layouts[0], &ty.map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 }))?;
        for (binding, (ty, (buffer, range))) in
            (0..).zip(ty.into_iter().zip([(matrix_buffer, 128), (tint_buffer, vk::WHOLE_SIZE)]))
        {
            let info = [vk::DescriptorBufferInfo { buffer: buffer.buffer, offset: 0, range }];
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
            // SAFETY: the handles live as long as the lab.
            unsafe {
                lab.device.update_descriptor_sets(&[write.descriptor_type(ty).buffer_info(&info)], &[]);
            }
        }
        let matrices = lab.hold(&matrix_buffer)?;
        for number in 0..MATRICES {
            matrices.write((number * MATRIX_STRIDE) as usize, &self::matrices(random))?;
        }
        let (index, written) = (vk::BufferUsageFlags::INDEX_BUFFER, vk::BufferUsageFlags::TRANSFER_DST);
        let vertex = vk::BufferUsageFlags::VERTEX_BUFFER;
        let vertices = lab.buffer(&vertices(random), vertex)?;
        let [short, long] = [short_indices(random), long_indices(random)];
        let mut scene = Scene {
            lab,
            matrices,
            tints: tint_buffer,
            short: lab.mapped(&short, index)?,
            staging: lab.mapped(&long, vk::BufferUsageFlags::TRANSFER_SRC)?,
            long: lab.mapped(&long, index | written)?,
            instances: lab.mapped(&instances(random), vertex)?,
            arguments: lab.mapped(&arguments(random), vk::BufferUsageFlags::INDIRECT_BUFFER | written)?,
            canvas,
            commands: vk::CommandBuffer::null(),
        };
        scene.commands = lab.recorded(|commands| {
            scene.canvas.record(lab, commands, |commands| {
                // SAFETY: the handles live as long as the lab.
                unsafe {
                    let buffers = [vertices, scene.instances.buffer];
                    lab.device.cmd_bind_vertex_buffers(commands, 0, &buffers, &[0, 0]);
                }
                for _ in 0..DRAWS {
                    let pipeline = if random.one_in(4) { strip } else { list };
                    scene.draw(random, commands, (pipeline, pipeline == strip), layout, set);
                }
            });
            lab.barrier(commands);
        })?;
        Ok(scene)
    }

    /// Records a draw of any kind; strips take the half of the indices that is made for them.
    fn draw(
        &self,
        random: &mut Random,
        commands: vk::CommandBuffer,
        (pipeline, is_strip): (vk::Pipeline, bool),
        layout: vk::PipelineLayout,
        set: vk::DescriptorSet,
    ) {
        let device = self.lab.device;
        let point = vk::PipelineBindPoint::GRAPHICS;
        let instances = 1 + random.below(2) as u32;
        let first_instance = random.below((INSTANCES - instances) as usize) as u32;
        let count = 6 * (1 + random.below(3) as u32);
        let half = INDICES / 2;
        let first = 6 * random.below(((half - count) / 6) as usize) as u32 + if is_strip { half } else { 0 };
        let at = u64::from(ARGUMENT_BYTES) * random.below(ARGUMENTS as usize) as u64;
        // SAFETY: the handles live as long as the lab; indices and instances are there.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline);
            let offset = MATRIX_STRIDE * random.below(MATRICES as usize) as u32;
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[offset]);
            let more = floats(&tint(random));
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::FRAGMENT, 0, &more);
            let (short, long) = (vk::IndexType::UINT16, vk::IndexType::UINT32);
            match random.below(5) {
                0 => device.cmd_draw(commands, count, instances, 4, first_instance),
                1 => {
                    device.cmd_bind_index_buffer(commands, self.short.buffer, 0, short);
                    device.cmd_draw_indexed(commands, count, instances, first, 0, first_instance);
                }
                2 => {
                    device.cmd_bind_index_buffer(commands, self.long.buffer, 0, long);
                    device.cmd_draw_indexed(commands, count, instances, first, 0, first_instance);
                }
                3 => device.cmd_draw_indirect(commands, self.arguments.buffer, at, 1, ARGUMENT_BYTES),
                _ => {
                    device.cmd_bind_index_buffer(commands, self.long.buffer, 0, long);
                    let arguments = self.arguments.buffer;
                    device.cmd_draw_indexed_indirect(commands, arguments, at, 1, ARGUMENT_BYTES);
                }
            }
        }
    }

    /// Changes what the recording reads.
    fn change(&self, random: &mut Random, change: Change) -> Result<(), Error> {
        match change {
            Change::Uniforms => {
                let number = MATRIX_STRIDE * random.below(MATRICES as usize) as u32;
                self.matrices.write(number as usize, &matrices(random))
            }
            Change::Tints => self.lab.write(&self.tints, 0, &tints(random)),
            Change::TintsByCommand => self.update(&self.tints, &tints(random)),
            Change::ShortIndices => self.lab.write(&self.short, 0, &short_indices(random)),
            Change::Instances => self.lab.write(&self.instances, 0, &instances(random)),
            Change::LongIndices => self.update(&self.long, &long_indices(random)),
            Change::Copy => {
                let content = long_indices(random);
                self.lab.write(&self.staging, 0, &content)?;
                let regions = [vk::BufferCopy::default().size(content.len() as u64)];
                self.lab.run(|commands| {
                    let (from, to) = (self.staging.buffer, self.long.buffer);
                    // SAFETY: the handles live as long as the lab.
                    unsafe { self.lab.device.cmd_copy_buffer(commands, from, to, &regions) };
                    self.lab.barrier(commands);
                })
            }
            Change::Arguments => self.update(&self.arguments, &arguments(random)),
            Change::Nothing => Ok(()),
        }
    }

    fn update(&self, buffer: &Buffer, content: &[u8]) -> Result<(), Error> {
        self.lab.run(|commands| {
            // SAFETY: the handles live as long as the lab.
            unsafe { self.lab.device.cmd_update_buffer(commands, buffer.buffer, 0, content) };
            self.lab.barrier(commands);
        })
    }
}

/// One recording, submitted again after each of some changes; all pictures, one below the other.
fn rounds(lab: &Lab<'_>, seed: u64, changes: &[Change]) -> Result<Picture, Error> {
    let mut random = Random(seed);
    let scene = Scene::new(lab, &mut random)?;
    let mut sheet = Picture { width: SIZE[0], height: 0, rgba: Vec::new() };
    for round in 0..ROUNDS {
        // The driver has to see that it comes again first.
        if round > 2 {
            let change = random.pick(changes);
            scene.change(&mut random, change)?;
        }
        lab.run_again(scene.commands)?;
        let picture = scene.canvas.picture(lab)?;
        sheet.height += picture.height;
        sheet.rgba.extend(picture.rgba);
    }
    Ok(sheet)
}

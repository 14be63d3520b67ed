//! Programs as kernels that are pictures, through the Vulkan loader on our driver: every invocation shows what its program means
//! for it as a texel of an image, or a word of a buffer, of its own. The QPUs draw them (`VC4VK_COMPUTE=qpu`), then the CPU runs
//! them, and the IR interpreter does as well; all bytes have to be those that the interpreter of the language gives.
//!
//! Sizes are no multiples of workgroups or tiles, guards end pictures early, what is discarded keeps its texel.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use ash::vk;
use vc4::hw::TILE_PX;
use vc4_shaders::compile::compute_stage;
use vc4_shaders::ir::interp::{Environment, run_dispatch};
use vc4_shaders::ir::{Op, Texel};
use vc4_shaders::picture;
use vc4_shaders::program::Descriptor;
use vc4_shaders::spirv::StageSource;
use vc4_shaders::state::Conversions;
use vc4_tests::compute::{Case, Resource, Shape, texels};
use vc4_tests::format::texel_info;
use vc4_tests::{driver, scratch};

use crate::ast::{Program, SOURCES, Source, Stage};
use crate::random::Random;
use crate::value::{LANES, Value};
use crate::world::{Lanes, World, world};
use crate::{eval, front, generate, print, setting};

/// Kernels of a plain test run.
const KERNELS: usize = 48;
/// Words in front of those of a buffer.
const HEAD: u32 = 4;
/// What an invocation of a buffer leaves that shows nothing.
const NOTHING: u32 = 0xdead_beef;

/// How a texel shows a word.
struct Format {
    format: vk::Format,
    /// Its name in GLSL, and the letter in front of `image2D`.
    names: (&'static str, &'static str),
    /// The texel that shows `h`, in GLSL.
    color: &'static str,
    /// And as the words of four components.
    words: fn(u32) -> [u32; 4],
}

fn floats(floats: [f32; 4]) -> [u32; 4] {
    floats.map(f32::to_bits)
}

/// Bits of a word as a signed number.
fn signed(word: u32, bit: u32, bits: u32) -> i32 {
    (word << (32 - bit - bits)) as i32 >> (32 - bits)
}

const FORMATS: [Format; 20] = [
    Format { format: vk::Format::R32_UINT, names: ("r32ui", "u"), color: "uvec4(h)", words: |h| [h; 4] },
    Format { format: vk::Format::R32_SINT, names: ("r32i", "i"), color: "ivec4(h)", words: |h| [h; 4] },
    Format {
        format: vk::Format::R32_SFLOAT,
        names: ("r32f", ""),
        color: "vec4(float(int(h) >> 8))",
        words: |h| floats([(h as i32 >> 8) as f32; 4]),
    },
    Format {
        format: vk::Format::R8G8B8A8_UNORM,
        names: ("rgba8", ""),
        color: "unpackUnorm4x8(h)",
        words: |h| floats(h.to_le_bytes().map(|byte| f32::from(byte) / 255.0)),
    },
    Format {
        format: vk::Format::R8G8B8A8_SNORM,
        names: ("rgba8_snorm", ""),
        color: "unpackSnorm4x8(h)",
        words: |h| floats(h.to_le_bytes().map(|byte| (f32::from(byte as i8) / 127.0).max(-1.0))),
    },
    Format {
        format: vk::Format::R8G8B8A8_UINT,
        names: ("rgba8ui", "u"),
        color: "uvec4(h, h >> 8, h >> 16, h >> 24) & 255u",
        words: |h| h.to_le_bytes().map(u32::from),
    },
    Format {
        format: vk::Format::R8G8B8A8_SINT,
        names: ("rgba8i", "i"),
        color: "ivec4(h << 24, h << 16, h << 8, h) >> 24",
        words: |h| h.to_le_bytes().map(|byte| i32::from(byte as i8) as u32),
    },
    Format {
        format: vk::Format::R16G16_UINT,
        names: ("rg16ui", "u"),
        color: "uvec4(h & 65535u, h >> 16, 0u, 0u)",
        words: |h| [h & 0xffff, h >> 16, 0, 0],
    },
    Format {
        format: vk::Format::R16G16_SINT,
        names: ("rg16i", "i"),
        color: "ivec4(h << 16, h, 0, 0) >> 16",
        words: |h| [signed(h, 0, 16) as u32, signed(h, 16, 16) as u32, 0, 0],
    },
    Format {
        format: vk::Format::R16G16_SFLOAT,
        names: ("rg16f", ""),
        color: "vec4(int(h & 2047u) - 1024, int(h >> 11 & 2047u) - 1024, 0, 0) * 0.0625",
        words: |h| {
            let number = |bit: u32| ((h >> bit & 2047) as f32 - 1024.0) / 16.0;
            floats([number(0), number(11), 0.0, 0.0])
        },
    },
    Format {
        format: vk::Format::R16G16_UNORM,
        names: ("rg16", ""),
        color: "vec4(unpackUnorm2x16(h), 0.0, 0.0)",
        words: |h| floats([(h & 0xffff) as f32 / 65535.0, (h >> 16) as f32 / 65535.0, 0.0, 0.0]),
    },
    Format {
        format: vk::Format::R16G16_SNORM,
        names: ("rg16_snorm", ""),
        color: "vec4(unpackSnorm2x16(h), 0.0, 0.0)",
        words: |h| {
            let number = |bit: u32| (signed(h, bit, 16) as f32 / 32767.0).max(-1.0);
            floats([number(0), number(16), 0.0, 0.0])
        },
    },
    Format {
        format: vk::Format::A2B10G10R10_UINT_PACK32,
        names: ("rgb10_a2ui", "u"),
        color: "uvec4(h & 1023u, h >> 10 & 1023u, h >> 20 & 1023u, h >> 30)",
        words: |h| [h & 1023, h >> 10 & 1023, h >> 20 & 1023, h >> 30],
    },
    Format {
        format: vk::Format::A2B10G10R10_UNORM_PACK32,
        names: ("rgb10_a2", ""),
        color: "vec4(h & 1023u, h >> 10 & 1023u, h >> 20 & 1023u, h >> 30) / vec4(vec3(1023.0), 3.0)",
        words: |h| {
            let number = |bit: u32| (h >> bit & 1023) as f32 / 1023.0;
            floats([number(0), number(10), number(20), (h >> 30) as f32 / 3.0])
        },
    },
    Format {
        format: vk::Format::B10G11R11_UFLOAT_PACK32,
        names: ("r11f_g11f_b10f", ""),
        color: "vec4(h & 63u, h >> 6 & 63u, h >> 12 & 31u, 0u) * 0.25",
        words: |h| {
            floats([(h & 63) as f32, (h >> 6 & 63) as f32, (h >> 12 & 31) as f32, 0.0].map(|n| n / 4.0))
        },
    },
    // Texels of less than 32 bits.
    Format {
        format: vk::Format::R8_UINT,
        names: ("r8ui", "u"),
        color: "uvec4(h & 255u)",
        words: |h| [h & 255; 4],
    },
    Format {
        format: vk::Format::R8_UNORM,
        names: ("r8", ""),
        color: "vec4(h & 255u) / 255.0",
        words: |h| floats([(h & 255) as f32 / 255.0; 4]),
    },
    Format {
        format: vk::Format::R8G8_UNORM,
        names: ("rg8", ""),
        color: "unpackUnorm4x8(h & 65535u)",
        words: |h| floats((h & 0xffff).to_le_bytes().map(|byte| f32::from(byte) / 255.0)),
    },
    Format {
        format: vk::Format::R16_SINT,
        names: ("r16i", "i"),
        color: "ivec4(h << 16) >> 16",
        words: |h| [signed(h, 0, 16) as u32; 4],
    },
    Format {
        format: vk::Format::R16_SFLOAT,
        names: ("r16f", ""),
        color: "vec4(int(h & 2047u) - 1024) * 0.0625",
        words: |h| floats([((h & 2047) as f32 - 1024.0) / 16.0; 4]),
    },
];

/// What is written.
enum Target {
    /// Texels of an image, of a format by number; whether the kernel names it.
    Image { format: usize, named: bool, shape: Shape },
    /// So many words of a buffer, in a line or in rows of so many.
    Buffer { words: u32, row: Option<u32> },
}

/// How invocations outside are kept from writing.
#[derive(Clone, Copy)]
enum Guard {
    None,
    /// By the size of what is written.
    Size,
    /// By push constants.
    Push,
    /// By push constants, as signed numbers, in ifs of their own.
    Signed,
}

/// A program as a picture.
struct Picture {
    seed: u64,
    program: Program,
    world: World,
    target: Target,
    guard: Guard,
    /// Columns, rows, layers from which on nothing is written.
    limits: [u32; 3],
    workgroup: [u32; 3],
    groups: [u32; 3],
    /// Inputs come from a buffer, else from an invocation's place.
    given: bool,
}

/// Where an invocation stands.
struct Invocation {
    global: [u32; 3],
    local: [u32; 3],
    group: [u32; 3],
}

impl Picture {
    fn new(seed: u64) -> Picture {
        let mut program = generate::program(&mut Random(seed));
        // Vertex stages cannot discard.
        program.stage = Stage::Fragment;
        assert!(program.is_exact(), "seed {seed} makes floats that are not exact");
        let random = &mut Random(seed ^ 0x91c7);
        let world = world(seed ^ 7 << 40, &program.stored);
        let (target, workgroup) = match random.below(4) {
            0 => buffer(random),
            _ => image(random),
        };
        let size = target.extent();
        let guard = random.pick(&[Guard::None, Guard::Size, Guard::Push, Guard::Signed]);
        let mut limits = match guard {
            Guard::Push | Guard::Signed => size.map(|edge| edge - random.below(1 + edge as usize / 3) as u32),
            Guard::None | Guard::Size => [u32::MAX; 3],
        };
        // Tiles end with rows.
        if let Target::Buffer { row: Some(row), .. } = target {
            limits[0] = limits[0].min(row).next_multiple_of(TILE_PX);
        }
        let groups = [0, 1, 2].map(|axis| {
            let all = size[axis].div_ceil(workgroup[axis]);
            // Mostly all of it, sometimes less or more.
            match random.below(6) {
                0 if all > 1 && !target.is_buffer() => all - 1,
                1 if axis == 0
                    && matches!(target, Target::Image { .. } | Target::Buffer { row: None, .. }) =>
                {
                    all + 1
                }
                _ => all,
            }
        });
        Picture { seed, program, world, target, guard, limits, workgroup, groups, given: random.one_in(2) }
    }

    fn name(&self) -> String {
        format!("picture {:09}", self.seed)
    }

    fn source(&self) -> String {
        let [x, y, z] = self.workgroup;
        let mut head = format!("layout(local_size_x = {x}, local_size_y = {y}, local_size_z = {z}) in;\n");
        let place = "gl_GlobalInvocationID";
        head += match self.given {
            true => {
                "struct Given { ivec4 i; uvec4 u; vec4 f; };\n\
                 layout(set = 0, binding = 1, std430) readonly buffer G { Given given[]; };\n\
                 #define AT (gl_GlobalInvocationID.x + 5u * gl_GlobalInvocationID.y + 11u * gl_GlobalInvocationID.z) % 16u\n\
                 #define in_i given[AT].i\n#define in_u given[AT].u\n#define in_f given[AT].f\n"
            }
            false => {
                "#define in_i ivec4(gl_GlobalInvocationID, gl_LocalInvocationIndex)\n\
                 #define in_u uvec4(gl_WorkGroupID, gl_NumWorkGroups.x)\n\
                 #define in_f (vec4(uvec4(gl_LocalInvocationID, gl_GlobalInvocationID.x) & 511u) * 0.0625)\n"
            }
        };
        let (write, sizes) = match &self.target {
            Target::Image { format, named, shape } => {
                let Format { names: (layout, kind), color, .. } = &FORMATS[*format];
                let (name, at, size) = match shape.ty {
                    vk::ImageViewType::TYPE_1D => ("1D", "int(P.x)", "uvec3(imageSize(dst), 1, 1)"),
                    vk::ImageViewType::TYPE_2D_ARRAY => ("2DArray", "ivec3(P)", "uvec3(imageSize(dst))"),
                    vk::ImageViewType::TYPE_3D => ("3D", "ivec3(P)", "uvec3(imageSize(dst))"),
                    vk::ImageViewType::CUBE => ("Cube", "ivec3(P)", "uvec3(imageSize(dst), 6)"),
                    _ => ("2D", "ivec2(P.xy)", "uvec3(imageSize(dst), 1)"),
                };
                let layout = if *named { format!(", {layout}") } else { String::new() };
                head += &format!(
                    "layout(set = 0, binding = 2{layout}) uniform writeonly {kind}image{name} dst;\n"
                );
                (format!("imageStore(dst, {}, {color});", at.replace('P', place)), size)
            }
            Target::Buffer { row, .. } => {
                head += "layout(set = 0, binding = 2, std430) writeonly buffer S { uint head[4]; uint shown[]; };\n";
                let at = match row {
                    None => format!("{place}.x"),
                    Some(_) => format!("{place}.y * p.limits.w + {place}.x"),
                };
                head += &format!("#define AT_OWN {at}\n");
                let size = if row.is_some() {
                    "uvec3(p.limits.w, 1000000u, 1u)"
                } else {
                    "uvec3(shown.length(), 1u, 1u)"
                };
                ("shown[AT_OWN] = h;".into(), size)
            }
        };
        let guard = match self.guard {
            Guard::None => String::new(),
            Guard::Size => {
                format!("uvec3 size = {sizes}; if ({place}.x >= size.x || {place}.y >= size.y) return;")
            }
            Guard::Push => format!("if (any(greaterThanEqual({place}, p.limits.xyz))) return;"),
            Guard::Signed => format!(
                "ivec3 at = ivec3({place}); if (at.x >= int(p.limits.x)) return; if (!(at.y < int(p.limits.y))) return;"
            ),
        };
        let discard = match self.target {
            Target::Image { .. } => "return;",
            Target::Buffer { .. } => "{ shown[AT_OWN] = 0xdeadbeefu; return; }",
        };
        print::around(&self.program, &head, &guard, &write, discard)
    }

    fn push(&self) -> Vec<u32> {
        let mut push = self.world.buffers.push.clone();
        let row = match self.target {
            Target::Buffer { row: Some(row), .. } => row,
            _ => 0,
        };
        push.extend(self.limits);
        push.push(row);
        push
    }

    fn given(&self) -> Vec<u32> {
        let own = [Source::InputInt, Source::InputUint, Source::InputFloat];
        self.world
            .inputs
            .iter()
            .flat_map(|inputs| own.map(|source| inputs[source.place()]))
            .flatten()
            .collect()
    }

    fn case(&self) -> Case {
        let uniform = self.world.buffers.uniform.iter().flat_map(|word| word.to_le_bytes()).collect();
        let target = match &self.target {
            Target::Image { format, shape, .. } => Resource::Storage(FORMATS[*format].format, *shape),
            Target::Buffer { words, .. } => Resource::zeros((HEAD + words) as usize),
        };
        let resources = vec![
            Resource::Buffer(vk::DescriptorType::UNIFORM_BUFFER, uniform, None),
            Resource::words(&self.given()),
            target,
        ];
        Case::made_up(self.name(), resources, self.push(), self.groups)
    }

    /// What the program shows for an invocation.
    fn meant(&self, at: &Invocation) -> Option<u32> {
        let mut sources = self.world.inputs[0];
        let [x, y, z] = at.global;
        let inputs: [Value; 3] = if self.given {
            let element = (x + 5 * y + 11 * z) as usize % LANES;
            [0, 1, 2].map(|n| self.world.inputs[element][n])
        } else {
            let [columns, rows, _] = self.workgroup;
            let [a, b, c] = at.local;
            let index = a + columns * (b + rows * c);
            let [i, j, k] = at.group;
            let float = |n: u32| ((n & 511) as f32 / 16.0).to_bits();
            [[x, y, z, index], [i, j, k, self.groups[0]], [float(a), float(b), float(c), float(x)]]
        };
        for (source, value) in
            [Source::InputInt, Source::InputUint, Source::InputFloat].into_iter().zip(inputs)
        {
            sources[source.place()] = value;
        }
        eval::run(&self.program, &eval::Inputs { sources, table: &self.world.table })
    }

    /// What each invocation that writes means to leave, by its place among texels or words.
    fn meanings(&self) -> HashMap<usize, Option<u32>> {
        let size = self.target.extent();
        let ends = [0, 1, 2].map(|axis| {
            let limit = match self.guard {
                Guard::None | Guard::Size => u32::MAX,
                // The third axis has no guard of that kind.
                Guard::Signed if axis == 2 => u32::MAX,
                Guard::Push | Guard::Signed => self.limits[axis],
            };
            (self.groups[axis] * self.workgroup[axis]).min(size[axis]).min(limit)
        });
        let mut meanings = HashMap::new();
        for z in 0..ends[2] {
            for y in 0..ends[1] {
                for x in 0..ends[0] {
                    let global = [x, y, z];
                    let local = [0, 1, 2].map(|axis| global[axis] % self.workgroup[axis]);
                    let group = [0, 1, 2].map(|axis| global[axis] / self.workgroup[axis]);
                    let place = ((z * size[1] + y) * size[0] + x) as usize;
                    meanings.insert(place, self.meant(&Invocation { global, local, group }));
                }
            }
        }
        meanings
    }

    /// The bytes that it has to leave.
    fn expected(&self) -> Vec<u8> {
        let meanings = self.meanings();
        match &self.target {
            Target::Image { format, shape, .. } => {
                let Format { format, words, .. } = &FORMATS[*format];
                let info = texel_info(*format).expect("a colour");
                let bytes = info.bytes as usize;
                let count = shape.size.iter().product::<u32>() * shape.layers;
                let mut content = texels(*format, count, 0);
                for (place, meaning) in meanings {
                    if let Some(word) = meaning {
                        let texel = info.encode(words(word)).to_le_bytes();
                        content[place * bytes..][..bytes].copy_from_slice(&texel[..bytes]);
                    }
                }
                content
            }
            Target::Buffer { words, .. } => {
                let mut content = vec![0; (HEAD + words) as usize];
                for (place, meaning) in meanings {
                    content[HEAD as usize + place] = meaning.unwrap_or(NOTHING);
                }
                content.iter().flat_map(|word| word.to_le_bytes()).collect()
            }
        }
    }

    /// The first texel or word of a result that is another one than it has to be.
    fn difference(&self, shown: &[u8]) -> Option<String> {
        let expected = self.expected();
        // Buffers come in the order of their bindings, images behind them.
        let shown = shown.get(shown.len().checked_sub(expected.len())?..)?;
        let bytes = match &self.target {
            Target::Image { format, .. } => {
                texel_info(FORMATS[*format].format).map_or(4, |info| info.bytes as usize)
            }
            Target::Buffer { .. } => 4,
        };
        let wrong: Vec<usize> = (0..expected.len() / bytes)
            .filter(|n| shown[n * bytes..][..bytes] != expected[n * bytes..][..bytes])
            .collect();
        let first = *wrong.first()?;
        let part = |all: &[u8]| all[first * bytes..][..bytes].to_vec();
        Some(format!(
            "{} of {} differ, first number {first}: {:x?} instead of {:x?}",
            wrong.len(),
            expected.len() / bytes,
            part(shown),
            part(&expected)
        ))
    }

    /// What the IR interpreter leaves that the program does not mean.
    fn interpreted(&self, words: &[u32]) -> Result<(), String> {
        let source = StageSource { words, entry: "main", specialization: &[] };
        let shader = compute_stage(&source, &Conversions::new()).map_err(|error| error.to_string())?;
        let mut seen =
            Interpreted { picture: self, push: self.push(), given: self.given(), left: HashMap::new() };
        run_dispatch(&shader, &mut seen, self.groups).map_err(|error| format!("IR interpreter: {error}"))?;
        for (place, meaning) in self.meanings() {
            let left = seen.left.get(&place).copied();
            let (left, expected) = match &self.target {
                Target::Buffer { .. } => {
                    (left.map(|words| words[0].into()), Some(meaning.unwrap_or(NOTHING).into()))
                }
                Target::Image { format, .. } => {
                    let Format { format, words, .. } = &FORMATS[*format];
                    let info = texel_info(*format).expect("a colour");
                    (left.map(|words| info.encode(words)), meaning.map(|word| info.encode(words(word))))
                }
            };
            if left != expected {
                return Err(format!("IR interpreter, number {place}: {left:x?} instead of {expected:x?}"));
            }
        }
        Ok(())
    }
}

impl Target {
    /// Columns, rows and layers.
    fn extent(&self) -> [u32; 3] {
        match self {
            Target::Image { shape, .. } => [shape.size[0], shape.size[1], shape.size[2].max(shape.layers)],
            Target::Buffer { words, row: None } => [*words, 1, 1],
            Target::Buffer { words, row: Some(row) } => [*row, words / row, 1],
        }
    }

    fn is_buffer(&self) -> bool {
        matches!(self, Target::Buffer { .. })
    }
}

fn image(random: &mut Random) -> (Target, [u32; 3]) {
    use vk::ImageViewType as Type;
    let mut below = |most: usize| 1 + random.below(most) as u32;
    let (width, height, layers) = (below(150), below(90), below(4));
    let shape = |ty, size, layers| Shape { ty, size, layers, levels: 1 };
    let flat = [[8, 8, 1], [16, 4, 1], [7, 3, 1], [64, 1, 1], [1, 1, 1], [32, 2, 1]];
    let deep = [[8, 4, 1], [4, 4, 4], [5, 3, 2], [16, 1, 1]];
    let (shape, workgroup) = match random.below(8) {
        0 => (shape(Type::TYPE_1D, [5 * width, 1, 1], 1), random.pick(&[[64, 1, 1], [7, 1, 1]])),
        1 => (shape(Type::TYPE_2D_ARRAY, [width, height / 2 + 1, 1], layers), random.pick(&deep)),
        2 => (shape(Type::TYPE_3D, [width, height / 2 + 1, layers], 1), random.pick(&deep)),
        3 => (shape(Type::CUBE, [height / 2 + 1, height / 2 + 1, 1], 6), random.pick(&deep)),
        _ => (shape(Type::TYPE_2D, [width, height, 1], 1), random.pick(&flat)),
    };
    let format = random.below(FORMATS.len());
    (Target::Image { format, named: !random.one_in(4), shape }, workgroup)
}

fn buffer(random: &mut Random) -> (Target, [u32; 3]) {
    match random.one_in(2) {
        true => {
            let words = 8192 + random.below(4000) as u32;
            (
                Target::Buffer { words, row: None },
                random.pick(&[[64, 1, 1], [32, 1, 1], [128, 1, 1], [16, 1, 1]]),
            )
        }
        false => {
            let (row, rows) = (random.pick(&[64, 128, 192]), 100 + random.below(20) as u32);
            (
                Target::Buffer { words: row * rows, row: Some(row) },
                random.pick(&[[8, 8, 1], [16, 2, 1], [64, 1, 1]]),
            )
        }
    }
}

/// The world as the IR interpreter asks for it.
struct Interpreted<'a> {
    picture: &'a Picture,
    push: Vec<u32>,
    given: Vec<u32>,
    /// What was left.
    left: HashMap<usize, [u32; 4]>,
}

impl Environment for Interpreted<'_> {
    fn ubo(&mut self, _: Descriptor, offset: u32) -> u32 {
        self.picture.world.buffers.uniform.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn push(&mut self, offset: u32) -> u32 {
        self.push.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn load(&mut self, _: Descriptor, offset: u32) -> u32 {
        self.given.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn store(&mut self, _: Descriptor, offset: u32, word: u32) {
        if let Target::Buffer { words, .. } = self.picture.target {
            let place = (offset / 4).wrapping_sub(HEAD);
            if place < words {
                self.left.insert(place as usize, [word; 4]);
            }
        }
    }

    fn image_write(&mut self, _: Texel, coordinates: &[u32], words: [u32; 4]) {
        let size = self.picture.target.extent();
        let at = [0, 1, 2].map(|axis| coordinates.get(axis).copied().unwrap_or(0));
        if at.iter().zip(&size).all(|(at, size)| at < size) {
            self.left.insert(((at[2] * size[1] + at[1]) * size[0] + at[0]) as usize, words);
        }
    }

    fn machine(&mut self, op: Op, _: &[Lanes], _: u16) -> Option<Lanes> {
        match op {
            Op::ImageSize { axis, .. } => Some([self.picture.target.extent()[usize::from(axis)]; LANES]),
            Op::BufferElements { .. } => Some([self.picture.target.extent()[0]; LANES]),
            _ => None,
        }
    }
}

/// Runs all cases of a directory; where their results are, by `name` and engine, and what the driver said.
pub fn run(modules: &Path, name: &str, engine: &str) -> (std::path::PathBuf, String) {
    let out = scratch::empty(env!("CARGO_TARGET_TMPDIR"), format!("metamorphic-{name}-{engine}"));
    let mut command: Command = driver::command(env!("CARGO_BIN_EXE_compute"), &driver::ours());
    command.arg("--made-up").args([modules, &out]).envs([("VC4VK_COMPUTE", engine), ("VC4VK_DEBUG", "perf")]);
    let output = driver::run(&mut command, engine);
    (out, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Dispatches that were drawn, by what the driver said.
pub fn drawn(said: &str) -> u64 {
    let is_drawn = |line: &&str| line.starts_with("perf: dispatch") && line.contains(" is drawn by ");
    said.lines().filter(is_drawn).count() as u64
}

#[test]
fn pictures_mean_the_same_on_the_qpus() {
    let count = setting("METAMORPHIC").map_or(KERNELS, |n| n as usize) as u64;
    let first = setting("METAMORPHIC_SEED").unwrap_or(1);
    let modules = scratch::empty(env!("CARGO_TARGET_TMPDIR"), "metamorphic-pictures");
    let (mut failures, mut pictures, mut candidates) = (Vec::new(), Vec::new(), 0);
    for seed in first..first + count {
        let picture = Picture::new(seed);
        let source = picture.source();
        let failed = |why: String| format!("seed {seed}: {why}\n{source}");
        let words = match front::compute(source.clone()) {
            Ok(words) => words,
            Err(error) => {
                failures.push(failed(error));
                continue;
            }
        };
        let stage = StageSource { words: &words, entry: "main", specialization: &[] };
        candidates += u64::from(
            compute_stage(&stage, &Conversions::new()).is_ok_and(|shader| picture::find(&shader).is_ok()),
        );
        failures.extend(picture.interpreted(&words).err().map(failed));
        picture.case().write(&words, &modules).expect("a directory for tests");
        pictures.push((picture, source));
    }
    front::clean();
    let mut drawn = 0;
    for engine in ["qpu", "cpu"] {
        let (out, said) = run(&modules, "pictures", engine);
        for (picture, source) in &pictures {
            let wrong = match std::fs::read(picture.case().result(&out)) {
                Ok(bytes) => picture.difference(&bytes),
                Err(_) => Some("it did not run".into()),
            };
            failures
                .extend(wrong.map(|why| format!("seed {}, engine {engine}: {why}\n{source}", picture.seed)));
        }
        drawn = drawn.max(self::drawn(&said));
        if setting("METAMORPHIC").is_some() {
            let others = said.lines().filter(|line| line.contains(" on the CPU"));
            println!("{engine}:\n{}", others.collect::<Vec<_>>().join("\n"));
        }
    }
    println!("seeds {first} to {}: {candidates} kernels are pictures, {drawn} were drawn", first + count - 1);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n\n"));
    assert!(3 * drawn > 2 * count, "too few kernels were drawn to prove anything: {drawn} of {count}");
}

#[test]
fn every_format_and_shape_occurs() {
    let pictures: Vec<Picture> = (1..400).map(Picture::new).collect();
    for (number, row) in FORMATS.iter().enumerate() {
        let is_it =
            |picture: &Picture| matches!(picture.target, Target::Image { format, .. } if format == number);
        assert!(pictures.iter().any(is_it), "{:?}", row.format);
    }
    let has = |is: fn(&Picture) -> bool| assert!(pictures.iter().any(is));
    has(|picture| matches!(picture.target, Target::Buffer { row: None, .. }));
    has(|picture| matches!(picture.target, Target::Buffer { row: Some(_), .. }));
    has(|picture| picture.target.extent()[0] % picture.workgroup[0] != 0 && picture.target.extent()[2] > 1);
    assert_eq!(SOURCES.len(), 8, "inputs come first");
}

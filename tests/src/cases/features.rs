//! Shaders by language feature: the tables `shaders/features/*.glsl`, compiled by glslangValidator when they are
//! drawn. A section `//# NAME WORDS...` is one picture; its words say how the text becomes a pipeline:
//!
//! | word | meaning |
//! | --- | --- |
//! | (none) | the text has `vec4 f(vec2 p)`, drawn at the pixel's place in (0, 1), exact in floats |
//! | `word` | the text has `uint g(uint a, uint b, uint c)`, drawn as four bytes; operands differ per pixel. Implies `exact` |
//! | `whole` | the text is a fragment shader but for version and output |
//! | `stages` | the text is a vertex shader behind `//vert` and a fragment shader behind `//frag` |
//! | `exact` | pictures must be equal, byte for byte |
//! | `plain` | the right picture has one colour |
//! | `es` | GLSL ES, which has RelaxedPrecision |
//! | `depth`, `points`, `instances=N` | state of the draw |
//! | `spec=ID:WORD,...` | specialisation |
//! | `formats=F,...` | vertex formats of locations 2 and up |
//!
//! What stands in front of a table's first section is part of all its stages.

use std::path::{Path, PathBuf};

use ash::vk;

use crate::format::attribute_bytes;
use crate::outside::glsl;
use crate::scene::{Draw, Scene, bytes};

/// Edge of the pictures in pixels; a power of two, so that places are exact.
pub const SIZE: u32 = 64;
/// Cells along an edge of the mesh.
const CELLS: u32 = 8;

/// One section of a table.
#[derive(Clone, Debug, Default)]
pub struct Feature {
    /// The table's name and the section's.
    pub name: String,
    words: Vec<String>,
    /// What all sections of the table begin with.
    prelude: String,
    text: String,
}

/// All sections of all tables, in order.
pub fn all() -> Vec<Feature> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders/features");
    let entries = std::fs::read_dir(&directory).expect("the tables are committed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a directory entry").path()).collect();
    paths.sort();
    paths.iter().flat_map(|path| sections(path)).collect()
}

/// Compiles features into `directory` on two threads; what glslangValidator refuses.
pub fn compile_all(features: &[Feature], directory: &Path) -> Vec<String> {
    let compile = |part: &[Feature]| -> Vec<String> {
        part.iter().filter_map(|feature| feature.compile(directory).err()).collect()
    };
    // One of each sort first, so that the stages that features share are there.
    let mut failures = Vec::new();
    for es in [false, true] {
        let first = features.iter().find(|feature| !feature.has("stages") && feature.has("es") == es);
        failures.extend(first.and_then(|feature| feature.compile(directory).err()));
    }
    let (first, second) = features.split_at(features.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| compile(second));
        failures.extend(compile(first));
        failures.extend(other.join().expect("compiling does not panic"));
    });
    failures
}

fn sections(path: &Path) -> Vec<Feature> {
    let table = path.file_stem().expect("a table has a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("a table is readable");
    let mut found: Vec<Feature> = Vec::new();
    let mut prelude = String::new();
    for line in text.lines() {
        if let Some(header) = line.strip_prefix("//# ") {
            let mut words = header.split_whitespace().map(str::to_string);
            let name = format!("{table}.{}", words.next().expect("a section has a name"));
            found.push(Feature {
                name,
                words: words.collect(),
                prelude: prelude.clone(),
                text: String::new(),
            });
        } else {
            let text = found.last_mut().map_or(&mut prelude, |section| &mut section.text);
            *text += line;
            text.push('\n');
        }
    }
    found
}

const FRAGMENT: &str = "layout(location = 0) out vec4 color;\n";

const INTEGERS: &str = "layout(set = 0, binding = 1, std140) uniform Integers { ivec4 ints[16]; };\n\
    uint scramble(uint x) { x = (x ^ x >> 16) * 0x85ebca6bu; x = (x ^ x >> 13) * 0xc2b2ae35u; return x ^ x >> 16; }\n\
    uint operand(uint k) {\n\
        uvec2 i = uvec2(gl_FragCoord.xy);\n\
        uint n = scramble(i.x + 64u * i.y + 4096u * k + 1u);\n\
        return n >> (scramble(n) & 31u);\n\
    }\n";

const VERTEX: &str = "layout(location = 0) in vec2 place;\n\
    layout(location = 1) in vec4 data;\n\
    #define cell int(data.x)\n\
    #define turned (vec2(data.y, place.y) * 2.0 - 1.0)\n\
    #define weight data.z\n\
    void position() { gl_Position = vec4(place * 2.0 - 1.0, 0.0, 1.0); }\n";

const PLAIN_VERTEX: &str = "layout(location = 0) out vec2 v;\nvoid main() { position(); v = place; }\n";

impl Feature {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    /// Whether both pictures must be the same bytes.
    pub fn exact(&self) -> bool {
        self.has("exact") || self.has("word")
    }

    /// Whether the right picture has one colour.
    pub fn plain(&self) -> bool {
        self.has("plain")
    }

    /// GLSL of the vertex and of the fragment stage.
    pub fn sources(&self) -> [String; 2] {
        let version = if self.has("es") {
            "#version 320 es\nprecision highp float;\nprecision highp int;\n"
        } else {
            "#version 450\n"
        };
        let varying = "layout(location = 0) in vec2 v;\n";
        let Feature { prelude, text, .. } = self;
        let (vertex, fragment) = if self.has("stages") {
            let both = text.trim_start().strip_prefix("//vert").and_then(|t| t.split_once("//frag"));
            let (vertex, fragment) = both.unwrap_or_else(|| panic!("{}: two stages", self.name));
            (vertex.to_string(), format!("{FRAGMENT}{fragment}"))
        } else if self.has("whole") {
            (PLAIN_VERTEX.to_string(), format!("{FRAGMENT}{text}"))
        } else {
            let main = if self.has("word") {
                "void main() { color = unpackUnorm4x8(g(operand(0u), operand(1u), operand(2u))); }\n"
            } else {
                "void main() { color = f(gl_FragCoord.xy / 64.0); }\n"
            };
            (PLAIN_VERTEX.to_string(), format!("{FRAGMENT}{varying}{INTEGERS}{text}{main}"))
        };
        // Features without a vertex stage of their own share one.
        let in_vertex = if self.has("stages") { prelude.as_str() } else { "" };
        [format!("{version}{VERTEX}{in_vertex}{vertex}"), format!("{version}{prelude}{fragment}")]
    }

    /// Paths of the stages' SPIR-V in `directory`. Features without a vertex stage of their own share one.
    pub fn modules(&self, directory: &Path) -> [PathBuf; 2] {
        let vertex = match (self.has("stages"), self.has("es")) {
            (true, _) => self.name.as_str(),
            (false, false) => "plain",
            (false, true) => "plain-es",
        };
        [directory.join(format!("{vertex}.vert.spv")), directory.join(format!("{}.frag.spv", self.name))]
    }

    /// Compiles both stages into `directory`, where nothing of another run may lie.
    ///
    /// # Errors
    /// What glslangValidator says.
    pub fn compile(&self, directory: &Path) -> Result<(), String> {
        for (source, module) in self.sources().iter().zip(self.modules(directory)) {
            if module.exists() {
                continue;
            }
            let path = module.with_extension("");
            std::fs::write(&path, source).map_err(|error| format!("{}: {error}", path.display()))?;
            glsl::compile(&path, &module).map_err(|error| format!("{}: {error}", self.name))?;
        }
        Ok(())
    }

    /// Specialisation as words by constant id.
    pub fn specialization(&self) -> Vec<(u32, u32)> {
        let number = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).expect("a hexadecimal number"),
            None => text.parse().expect("a number"),
        };
        let entries = self.value("spec").into_iter().flat_map(|list| list.split(','));
        entries
            .map(|entry| entry.split_once(':').expect("ID:WORD"))
            .map(|(id, word)| (number(id), number(word)))
            .collect()
    }

    /// Formats of locations 2 and up.
    fn formats(&self) -> Vec<vk::Format> {
        let names = self.value("formats").into_iter().flat_map(|list| list.split(','));
        names
            .map(|name| {
                let known = FORMATS.iter().find(|(known, _)| *known == name);
                known.unwrap_or_else(|| panic!("{}: no format {name}", self.name)).1
            })
            .collect()
    }

    /// The picture to draw with the stages that [`Feature::compile`] put into `directory`.
    ///
    /// # Errors
    /// A stage that cannot be read.
    pub fn scene(&self, directory: &Path) -> std::io::Result<Scene> {
        // Modules live as long as the process that draws them, like those that are compiled into it.
        let read = |path: &PathBuf| Ok::<_, std::io::Error>(&*std::fs::read(path)?.leak());
        let [vertex, fragment] = self.modules(directory);
        let mut attributes = vec![vk::Format::R32G32_SFLOAT, vk::Format::R32G32B32A32_SFLOAT];
        attributes.extend(self.formats());
        let points = self.has("points");
        let packed: u32 = attributes.iter().map(|&format| attribute_bytes(format)).sum();
        let stride = packed.next_multiple_of(4);
        let vertices = mesh(stride as usize, points);
        Ok(Scene {
            name: self.name.clone(),
            size: [SIZE; 2],
            clear: [0.2, 0.4, 0.6, 0.8],
            depth: self.has("depth"),
            draws: vec![Draw {
                vertex_shader: read(&vertex)?,
                fragment_shader: read(&fragment)?,
                count: vertices.len() as u32 / stride,
                vertices,
                stride,
                attributes,
                instances: self.value("instances").map_or(1, |n| n.parse().expect("a number")),
                topology: if points {
                    vk::PrimitiveTopology::POINT_LIST
                } else {
                    vk::PrimitiveTopology::TRIANGLE_LIST
                },
                specialization: self.specialization(),
                uniforms: vec![
                    (0, fractions(256, 37)),
                    (1, integers(256, |k| (k * 7 + 7) % 16)),
                    (2, fractions(64, 23)),
                    (2, fractions(64, 41)),
                ],
                push: [fractions(16, 29), integers(16, |k| k * 29 % 200)].concat(),
                ..Draw::default()
            }],
            ..Scene::default()
        })
    }
}

/// Formats that tables name.
const FORMATS: &[(&str, vk::Format)] = &[
    ("R8_UNORM", vk::Format::R8_UNORM),
    ("R8G8_UNORM", vk::Format::R8G8_UNORM),
    ("R8G8B8A8_UNORM", vk::Format::R8G8B8A8_UNORM),
    ("R8G8B8A8_SNORM", vk::Format::R8G8B8A8_SNORM),
    ("R8G8B8A8_UINT", vk::Format::R8G8B8A8_UINT),
    ("R8G8B8A8_USCALED", vk::Format::R8G8B8A8_USCALED),
    ("R16_UNORM", vk::Format::R16_UNORM),
    ("R16_SINT", vk::Format::R16_SINT),
    ("R16G16_UNORM", vk::Format::R16G16_UNORM),
    ("R16G16_SINT", vk::Format::R16G16_SINT),
    ("R16G16_SSCALED", vk::Format::R16G16_SSCALED),
    ("R16G16B16A16_SNORM", vk::Format::R16G16B16A16_SNORM),
    ("R32G32B32_UINT", vk::Format::R32G32B32_UINT),
    ("A2B10G10R10_UNORM_PACK32", vk::Format::A2B10G10R10_UNORM_PACK32),
];

/// Multiples of 1/64 below 1.
fn fractions(words: u32, step: u32) -> Vec<u8> {
    (0..words).flat_map(|k| ((k * step % 61 + 1) as f32 / 64.0).to_le_bytes()).collect()
}

fn integers(words: u32, value: impl Fn(u32) -> u32) -> Vec<u8> {
    (0..words).flat_map(|k| value(k).to_le_bytes()).collect()
}

/// Two triangles for each cell of a grid that fills the target, or a point in its middle: place, then cell number,
/// x mirrored in the cell, weight, corner number; what follows depends on the cell only.
fn mesh(stride: usize, points: bool) -> Vec<u8> {
    let corners: &[[f32; 2]] =
        if points { &[[0.5, 0.5]] } else { &[[0., 0.], [1., 0.], [1., 1.], [0., 0.], [1., 1.], [0., 1.]] };
    let mut vertices = Vec::new();
    for cell in 0..CELLS * CELLS {
        let [left, top] = [cell % CELLS, cell / CELLS].map(|n| n as f32);
        for (number, [x, y]) in (0u32..).zip(corners) {
            let scale = CELLS as f32;
            let [x, y, mirrored] = [left + x, top + y, left + 1.0 - x];
            let w = 1.0 + ((3.0 * x + 5.0 * y) % 4.0) / 4.0;
            let floats = [x / scale, y / scale, cell as f32, mirrored / scale, w, number as f32];
            let start = vertices.len();
            vertices.extend(bytes(&floats));
            let mut state = cell.wrapping_mul(0x9e37_79b1) ^ 0x1234_5678;
            while vertices.len() < start + stride {
                state = (state ^ state >> 15).wrapping_mul(0x85eb_ca6b).wrapping_add(1);
                vertices.push((state >> 24) as u8);
            }
        }
    }
    vertices
}

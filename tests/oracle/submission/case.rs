//! Valid submissions: surfaces, a list with draws, and what these read.

use vc4::cl::packets::*;
use vc4::cl::records::{Attribute, ShaderRecord, VertexProgram};
use vc4::cl::words::{ShaderFlags, TextureType, TextureWords};
use vc4::cl::{Binner, Bits, Count, List, S12_4};
use vc4_kernel_abi::{Submit, SubmitFlags, Surface};

use super::program::Uniform::{Anything, P0, P1, Word};
use super::program::{END, FRAGMENTS, Fragment, TWO_VARYINGS, assemble, pass_through};
use super::source::Source;

/// Bytes of a texture or index BO.
const DATA_BYTES: u32 = 64 << 10;
/// Bytes of a vertex.
const VERTEX_BYTES: u32 = 44;
const VERTICES: u32 = 12;

/// A submission before anything is wrong with it.
pub struct Case {
    pub job: Submit,
    pub list: Vec<u8>,
    /// Programs by their place among the BOs.
    pub code: Vec<(usize, Vec<u64>)>,
    /// Contents of the other BOs.
    pub data: Vec<(usize, Vec<u8>)>,
    multisample: bool,
}

impl Case {
    fn bo(&mut self, bytes: Vec<u8>) -> u32 {
        let at = self.code.len() + self.data.len();
        self.data.push((at, bytes));
        at as u32
    }

    fn shader(&mut self, code: Vec<u64>) -> u32 {
        let at = self.code.len() + self.data.len();
        self.code.push((at, code));
        at as u32
    }

    pub fn new(source: &mut Source) -> Case {
        let multisample = source.byte() % 4 == 0;
        let width = u16::from(source.byte()) % 100 + 1;
        let height = u16::from(source.byte()) % 100 + 1;
        let mut case = Case {
            job: Submit { width, height, ..Submit::default() },
            list: Vec::new(),
            code: Vec::new(),
            data: Vec::new(),
            multisample,
        };
        case.surfaces(source);
        let mut list = case.head();
        for _ in 0..source.below(4) {
            case.draw(source, &mut list);
        }
        list.push(IncrementSemaphore {}).push(Flush {});
        if source.byte() % 16 != 0 {
            case.list = list.into_bytes();
        }
        case
    }

    fn surfaces(&mut self, source: &mut Source) {
        let edge = if self.multisample { 32 } else { 64 };
        let (columns, rows) = (self.job.width.div_ceil(edge), self.job.height.div_ceil(edge));
        self.job.tiles = [0, 0, columns as u8 - 1, rows as u8 - 1];
        let bytes = 128 * 128 * 4;
        let color = self.bo(vec![0x5a; bytes]);
        let zs = self.bo(vec![0xa5; bytes]);
        let raw = self.bo(vec![1; bytes * 4]);
        let surface = |bo_index, bits, flags| Some(Surface { bo_index, offset: 0, bits, flags });
        let layout = source.pick(&[0u16, 1, 2]);
        let format = source.pick(&[0u16, 1, 1, 2]);
        let ms = if self.multisample { 0x11 } else { 0 };
        self.job.color_write_bits_if_absent = ms;
        self.job.color_write = surface(color, layout << 6 | format << 2 | ms, 0);
        let choices = source.byte();
        if choices & 1 != 0 {
            let load = [1u16, 0, 2][usize::from(format)];
            self.job.color_read = surface(color, 1 | layout << 4 | load << 8, 0);
        }
        if choices & 2 != 0 {
            self.job.zs_read = surface(zs, 2 | layout << 4, 0);
        }
        if choices & 4 != 0 {
            self.job.zs_write = surface(zs, 2 | layout << 4, 0);
        }
        if choices & 8 != 0 {
            self.job.msaa_color_write = surface(raw, 0, 0);
        }
        if choices & 16 != 0 {
            self.job.color_read = surface(raw, 0, 1);
        }
        if choices & 32 != 0 {
            self.job.flags = SubmitFlags::USE_CLEAR_COLOR;
            self.job.clear_color = [source.word(); 2];
            self.job.clear_z = source.word();
            self.job.clear_s = source.byte();
        }
    }

    fn head(&self) -> List<Binner> {
        let [_, _, columns, rows] = self.job.tiles;
        let centre = |extent: u16| S12_4::from_px(i32::from(extent / 2)).expect("small");
        let half = |extent: u16| f32::from(extent) * 8.0;
        let Submit { width, height, .. } = self.job;
        let mut list = List::new();
        list.push(TileBinningModeConfig {
            width_tiles: columns + 1,
            height_tiles: rows + 1,
            multisample: self.multisample,
            ..TileBinningModeConfig::default()
        })
        .push(StartTileBinning {})
        .push(PrimitiveListFormat::default())
        .push(ClipWindow { left: 0, bottom: 0, width, height })
        .push(ClipperXyScaling { x: half(width), y: half(height) })
        .push(ClipperZScaleAndOffset::default())
        .push(ViewportOffset { x: centre(width), y: centre(height) });
        list
    }

    fn draw(&mut self, source: &mut Source, list: &mut List<Binner>) {
        let fragment = FRAGMENTS[source.below(FRAGMENTS.len())];
        let vertices = self.vertices(source);
        let vertices = self.bo(vertices);
        let code = fragment.code.replace("V ", TWO_VARYINGS);
        let code = self.shader(assemble(&format!("{code}{END}")));
        let vertex = self.shader(pass_through(3 + usize::from(fragment.varyings)));
        let coordinate = self.shader(pass_through(7));
        let indexed = source.byte() % 2 == 0;
        let mode = source.pick(PrimitiveMode::ALL);
        let oversample = if self.multisample { Oversample::X4 } else { Oversample::X1 };
        list.push(ConfigurationBits {
            oversample,
            depth_func: source.pick(CompareFunc::ALL),
            depth_write: source.byte() % 2 == 0,
            depth_offset: source.byte() % 4 == 0,
            early_z: source.byte() % 2 == 0,
            early_z_update: source.byte() % 4 != 0,
            ..ConfigurationBits::default()
        })
        .push(FlatShadeFlags { flags: u32::from(source.byte()) })
        .push(PointSize { size: f32::from(source.byte()) / 8.0 })
        .push(LineWidth { width: f32::from(source.byte()) / 8.0 });
        let count = u32::from(source.byte()) % 40;
        let indices: Vec<u8> = (0..80).map(|_| source.byte() % VERTICES as u8).collect();
        let index_type = source.pick(IndexType::ALL);
        if indexed {
            let index0 = self.bo(indices);
            list.push(GemHandles { index0, index1: 0 });
        }
        let attribute_arrays = Count::new(3).expect("three");
        list.push(GlShaderState { attribute_arrays, ..GlShaderState::default() });
        if indexed {
            let max_index = VERTICES - 1;
            list.push(IndexedPrimitiveList { mode, index_type, count, max_index, ..Default::default() });
        } else {
            list.push(VertexArrayPrimitives { mode, count: count % VERTICES + 1, first: 0 });
        }
        for index in [code, vertex, coordinate, vertices, vertices, vertices] {
            self.job.shader_rec.extend(index.to_le_bytes());
        }
        record(&fragment).write(&mut self.job.shader_rec).expect("a valid record");
        self.job.shader_rec_count += 1;
        let texture = if fragment.textures > 0 { self.bo(vec![0x77; DATA_BYTES as usize]) } else { 0 };
        let words = texture_words(source).bits();
        let mut push = |word: u32| self.job.uniforms.extend(word.to_le_bytes());
        (0..fragment.textures).for_each(|_| push(texture));
        for uniform in fragment.uniforms {
            push(match uniform {
                Word(word) => *word,
                P0 => words[0],
                P1 => words[1],
                Anything => source.strange() & 0x3fff_ffff,
            });
        }
    }

    /// Clip coordinates, the words of both programs, and varyings.
    fn vertices(&self, source: &mut Source) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..VERTICES {
            let mut coordinate = || f32::from(source.byte() as i8) / 64.0;
            let [x, y, z] = [coordinate(), coordinate(), coordinate()];
            let w = if source.byte() % 8 == 0 { f32::from_bits(source.strange()) } else { 1.0 };
            let fixed = |v: f32, extent: u16| (v / w * f32::from(extent) * 8.0) as i32 as u16;
            let xy = u32::from(fixed(x, self.job.width)) | u32::from(fixed(y, self.job.height)) << 16;
            let words = [x.to_bits(), y.to_bits(), z.to_bits(), w.to_bits(), xy, (z * 0.5 + 0.5).to_bits()];
            bytes.extend(words.into_iter().chain([(1.0 / w).to_bits()]).flat_map(u32::to_le_bytes));
            for _ in 0..4 {
                bytes.extend((f32::from(source.byte()) / 128.0).to_le_bytes());
            }
        }
        bytes
    }
}

fn record(fragment: &Fragment) -> ShaderRecord {
    let array = |address, bytes, vertex_offset, coordinate_offset| Attribute {
        address,
        bytes,
        stride: VERTEX_BYTES,
        vertex_offset,
        coordinate_offset,
    };
    let extra = fragment.varyings * 4;
    let more = if extra > 0 { 0b100 } else { 0 };
    ShaderRecord {
        flags: ShaderFlags { single_threaded: !fragment.threaded, clipping: true, point_size: false },
        varyings: fragment.varyings,
        vertex: VertexProgram {
            attribute_select: 0b010 | more,
            attribute_bytes: 12 + extra,
            ..VertexProgram::default()
        },
        coordinate: VertexProgram {
            attribute_select: 0b011,
            attribute_bytes: 28,
            ..VertexProgram::default()
        },
        attributes: vec![
            array(0, 16, 0xff, 0),
            array(16, 12, 0, 16),
            array(28, u16::from(extra.max(4)), 12, 0xff),
        ],
        ..ShaderRecord::default()
    }
}

/// A texture that fits its BO.
fn texture_words(source: &mut Source) -> TextureWords {
    let edge = |source: &mut Source| Count::new(u32::from(source.byte()) % 100 + 1).expect("1 to 100");
    let ty = TextureType::from_code(source.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16]));
    let mut words = TextureWords::from_bits(0, 0).expect("zero is a texture");
    words.ty = ty.expect("a known type");
    words.p1.width = edge(source);
    words.p1.height = edge(source);
    words.p0.flip_y = source.byte() % 4 == 0;
    // Level 0 stands where its smaller levels fit in front of it.
    if source.byte() % 2 == 0 {
        words.p0.last_level = Bits::low(u32::from(source.byte()) % 5);
    }
    let filters = TextureWords::from_bits(0, u32::from(source.byte())).map(|filters| filters.p1);
    if let Ok(p1) = filters {
        (words.p1.mag, words.p1.min) = (p1.mag, p1.min);
        (words.p1.wrap_s, words.p1.wrap_t) = (p1.wrap_s, p1.wrap_t);
    }
    let [p0, p1] = words.bits();
    TextureWords::from_bits(p0 | 0x6000, p1).unwrap_or(words)
}

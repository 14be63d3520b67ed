//! What must hold for any submission that a stranger makes: the simulated device refuses it as the kernel does, or runs it
//! to an end within the hang limit, and serves the next one. Bytes choose a valid submission and then what is wrong with it.

use std::num::NonZeroUsize;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use vc4::cl::packets::*;
use vc4::cl::records::{Attribute, ShaderRecord, VertexProgram};
use vc4::cl::words::{ShaderFlags, TextureType, TextureWords};
use vc4::cl::{Binner, Bits, Count, List, S12_4};
use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Submit, SubmitFlags, Surface};
use vc4_sim::{Config, Mode, Simulator};

/// Far longer than a job may take with [`INSTRUCTION_LIMIT`].
const PATIENCE: Duration = Duration::from_secs(120);
/// Instructions of a program instance, and vertices of a draw, before it counts as hung.
const INSTRUCTION_LIMIT: u64 = 3000;
/// Bytes of a texture or index BO.
const DATA_BYTES: u32 = 64 << 10;
/// Bytes of a vertex.
const VERTEX_BYTES: u32 = 44;
const VERTICES: u32 = 12;

/// Takes numbers from bytes; behind their end all are zero.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    fn below(&mut self, n: usize) -> usize {
        let value = if n > 256 { self.word() as usize } else { usize::from(self.byte()) };
        value % n.max(1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Often an edge case, otherwise anything.
    fn strange(&mut self) -> u32 {
        match self.byte() {
            0..100 => self.pick(&[0, 1, 2, 3, 4, 0x7f, 0x80, 0xff, 0xffff, 0x1_0000, 0x7fff_ffff, u32::MAX]),
            100..180 => u32::from(self.byte()),
            _ => self.word(),
        }
    }
}

/// A fragment program with what it needs.
#[derive(Clone, Copy)]
struct Fragment {
    code: &'static str,
    varyings: u8,
    threaded: bool,
    /// Texture handles before the uniforms.
    textures: usize,
    uniforms: &'static [Uniform],
}

#[derive(Clone, Copy)]
enum Uniform {
    Word(u32),
    /// p0 and p1 of a 2D texture.
    P0,
    P1,
    Anything,
}

const END: &str = "sig_none ; tlb_z = or.always(b, b, nop, rb15) ; nop = nop() ;\n\
    sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;\n\
    sig_end ; nop = nop() ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\n\
    sig_unlock_score ; nop = nop() ; nop = nop() ;\n";

const TWO_VARYINGS: &str = "sig_none ; r3 = or.always(a, a, ra15) ; nop = nop() ;\n\
    sig_none ; nop = nop(r0, r0, vary) ; r1 = fmul.always(a, r3) ;\n\
    sig_none ; r1 = fadd.always(r1, r5) ; nop = nop() ;\n\
    sig_none ; nop = nop(r0, r0, vary) ; r2 = fmul.always(a, r3) ;\n\
    sig_none ; r2 = fadd.always(r2, r5) ; nop = nop() ;\n";

use Uniform::{Anything, P0, P1, Word};

const FRAGMENTS: &[Fragment] = &[
    Fragment {
        code: "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\n",
        varyings: 0,
        threaded: false,
        textures: 0,
        uniforms: &[Anything],
    },
    Fragment {
        code: "sig_none ; tlb_stencil_setup = or.always(a, a, uni) ; nop = nop() ;\n\
               sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n\
               sig_color_load ; nop = nop() ; nop = nop() ;\n\
               sig_none ; r0 = v8adds.always(r0, r4) ; nop = nop() ;\n",
        varyings: 0,
        threaded: false,
        textures: 0,
        uniforms: &[Word(3 << 30 | 3 << 28 | 1 << 25 | 3 << 22 | 1 << 19 | 7 << 16 | 0xff), Anything],
    },
    Fragment {
        code: "V sig_none ; tmu0_t = or.always(r2, r2) ; nop = nop() ;\n\
               sig_none ; tmu0_s = or.always(r1, r1) ; nop = nop() ;\n\
               sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n\
               sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
        varyings: 2,
        threaded: false,
        textures: 1,
        uniforms: &[P0, P1],
    },
    Fragment {
        code: "V sig_none ; tmu1_r = or.always(r1, r1) ; nop = nop() ;\n\
               sig_none ; tmu1_b = or.always(r2, r2) ; nop = nop() ;\n\
               sig_none ; tmu1_t = or.always(r2, r2) ; nop = nop() ;\n\
               sig_none ; tmu1_s = or.always(r1, r1) ; nop = nop() ;\n\
               sig_load_tmu1 ; nop = nop() ; nop = nop() ;\n\
               sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
        varyings: 2,
        threaded: false,
        textures: 1,
        uniforms: &[P0, P1, Anything, Anything],
    },
    Fragment {
        code: "sig_small_imm ; r0 = max.always(a, b, x_pix, 0) ; nop = nop() ;\n\
               sig_none ; r0 = min.always(r0, a, uni) ; nop = nop() ;\n\
               sig_none ; tmu0_s = add.always(r0, a, uni) ; nop = nop() ;\n\
               sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n\
               sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
        varyings: 0,
        threaded: false,
        textures: 1,
        uniforms: &[Word(4000), Word(64)],
    },
    Fragment {
        code: "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n\
               sig_none ; nop = nop() ; nop = nop() ;\n\
               top: sig_small_imm ; r0 = sub.sf.always(r0, b, nop, 1) ; nop = nop() ;\n\
               sig_branch ; nop = branch.rel(top, any_zc) ; nop = branch() ;\n\
               sig_none ; nop = nop() ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\n\
               sig_none ; nop = nop() ; nop = nop() ;\n",
        varyings: 0,
        threaded: false,
        textures: 0,
        uniforms: &[Word(5)],
    },
    Fragment {
        code: "V sig_last_thread_switch ; nop = nop() ; nop = nop() ;\n\
               sig_none ; tmu0_t = or.always(r2, r2) ; nop = nop() ;\n\
               sig_none ; tmu0_s = or.always(r1, r1) ; nop = nop() ;\n\
               sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n\
               sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
        varyings: 2,
        threaded: true,
        textures: 1,
        uniforms: &[P0, P1],
    },
];

fn assemble(text: &str) -> Vec<u64> {
    vc4::qpu::assemble(text).unwrap_or_else(|error| panic!("{text}\n{error}")).words
}

/// Copies so many attribute words to the output.
fn pass_through(words: usize) -> Vec<u64> {
    let nop = "sig_none ; nop = nop() ; nop = nop() ;\n";
    let mut text = format!(
        "sig_load_imm ; vw_setup = load32.always.ws(0x1a00) ; nop = load32() ;\n\
         sig_load_imm ; vr_setup = load32.always({:#x}) ; nop = load32() ;\n{nop}{nop}",
        0x1a00 | (words & 15) << 20
    );
    for _ in 0..words {
        text += "sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop() ;\n";
        text += "sig_none ; vpm = or.always(r0, r0) ; nop = nop() ;\n";
    }
    assemble(&format!("{text}sig_end ; nop = nop() ; nop = nop() ;\n{nop}{nop}"))
}

/// A submission before anything is wrong with it.
struct Case {
    job: Submit,
    list: Vec<u8>,
    /// Programs by their place among the BOs.
    code: Vec<(usize, Vec<u64>)>,
    /// Contents of the other BOs.
    data: Vec<(usize, Vec<u8>)>,
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

    fn new(source: &mut Source) -> Case {
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

    /// Breaks something.
    fn damage(&mut self, source: &mut Source) {
        let kind = source.byte() % 12;
        match kind {
            0 | 1 => poke(source, &mut self.list),
            2 => poke(source, &mut self.job.shader_rec),
            3 => poke(source, &mut self.job.uniforms),
            4 | 5 => {
                let program = source.below(self.code.len());
                if let Some((_, code)) = self.code.get_mut(program) {
                    let at = source.below(code.len());
                    match source.byte() % 4 {
                        0 => code[at] = u64::from(source.word()) << 32 | u64::from(source.word()),
                        1 => code.swap(at, 0),
                        _ => code[at] ^= 1 << source.below(64),
                    }
                }
            }
            6 => {
                let bo = source.below(self.data.len());
                poke(source, &mut self.data[bo].1);
            }
            7 => self.damage_surface(source),
            8 => self.damage_frame(source),
            9 => {
                // A stretch of the list again, or gone.
                let at = source.below(self.list.len());
                let end = (at + source.below(30)).min(self.list.len());
                let stretch: Vec<u8> = self.list[at..end].to_vec();
                if source.byte() % 2 == 0 {
                    self.list.splice(at..at, stretch);
                } else {
                    self.list.drain(at..end);
                }
            }
            10 => {
                let length = source.below(self.job.uniforms.len() + 1);
                self.job.uniforms.truncate(length);
            }
            _ => self.job.shader_rec_count = self.job.shader_rec_count.wrapping_add(source.strange()),
        }
    }

    fn damage_surface(&mut self, source: &mut Source) {
        let job = &mut self.job;
        let surface = match source.byte() % 6 {
            0 => &mut job.color_write,
            1 => &mut job.color_read,
            2 => &mut job.zs_write,
            3 => &mut job.zs_read,
            4 => &mut job.msaa_color_write,
            _ => &mut job.msaa_zs_write,
        };
        let surface = surface.get_or_insert(Surface { bo_index: 2, offset: 0, bits: 0, flags: 0 });
        match source.byte() % 4 {
            0 => surface.bits ^= 1 << (source.byte() % 16),
            1 => surface.flags ^= 1 << (source.byte() % 16),
            2 => surface.bo_index = source.strange() % 16,
            _ => surface.offset = source.strange() & 0x3ffff,
        }
    }

    fn damage_frame(&mut self, source: &mut Source) {
        let job = &mut self.job;
        match source.byte() % 4 {
            0 => job.width = source.strange() as u16,
            1 => job.height = source.strange() as u16,
            // Frames of thousands of tiles only cost time.
            2 => job.tiles[source.below(4)] = source.byte() % 12,
            _ => job.flags = SubmitFlags::from_bits_truncate(source.word()),
        }
    }
}

fn poke(source: &mut Source, bytes: &mut [u8]) {
    if bytes.is_empty() {
        return;
    }
    let at = source.below(bytes.len());
    match source.byte() % 3 {
        0 => bytes[at] ^= 1 << (source.byte() % 8),
        1 => bytes[at] = source.byte(),
        _ => {
            let word = source.strange().to_le_bytes();
            for (byte, new) in bytes[at..].iter_mut().zip(word) {
                *byte = new;
            }
        }
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

static PANICKED: AtomicBool = AtomicBool::new(false);

/// The device catches panics of its threads, so the hook tells about them.
fn watch_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICKED.store(true, Ordering::Relaxed);
            before(info);
        }));
    });
}

/// How a submission went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was refused.
    Refused,
    /// It ran to its end.
    Done,
    /// It ran until the hang check.
    Hung,
}

/// A submission made from bytes meets its end in time, without a panic.
pub fn submit(bytes: &[u8]) -> Outcome {
    watch_panics();
    let mut source = Source(bytes);
    let mode = if source.byte() % 4 == 0 { Mode::Strict } else { Mode::Faithful };
    let options = source.byte();
    let gpu = Simulator::new(Config {
        memory_bytes: 32 << 20,
        threads: NonZeroUsize::new(1),
        mode,
        check_programs: options & 1 != 0,
        count_caches: options & 2 != 0,
        instruction_limit: INSTRUCTION_LIMIT,
        ..Config::default()
    });
    let mistakes = source.byte() % 6;
    let mut case = Case::new(&mut source);
    let sound = mistakes == 0;
    for _ in 0..mistakes {
        case.damage(&mut source);
    }
    let outcome = run(&gpu, case, sound);
    assert!(!PANICKED.load(Ordering::Relaxed), "a thread of the device panicked");
    outcome
}

fn run(gpu: &Simulator, case: Case, sound: bool) -> Outcome {
    let Case { mut job, list, code, data, .. } = case;
    job.bin_cl = list;
    job.bos = vec![BoHandle(0); code.len() + data.len()];
    for (at, code) in code {
        // A refused program is replaced by one that ends at once.
        let end = || {
            assemble(
                "sig_end ; nop = nop() ; nop = nop() ;\nnop: sig_none ; nop = nop() ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\n",
            )
        };
        job.bos[at] =
            gpu.create_shader_bo(&code).or_else(|_| gpu.create_shader_bo(&end())).expect("a program");
    }
    for (at, data) in data {
        job.bos[at] = gpu.create_bo(data.len() as u32).expect("small BOs");
        gpu.map_bo(job.bos[at]).expect("no shader").write(0, &data);
    }
    let seqno = match gpu.submit(&job) {
        Ok(seqno) => seqno,
        Err(GpuError::Refused(what)) => {
            assert!(!sound || !what.is_empty());
            return Outcome::Refused;
        }
        Err(GpuError::OutOfMemory(_)) => return Outcome::Refused,
        Err(other) => panic!("{other}: no answer of the kernel"),
    };
    match gpu.wait_seqno(seqno, Some(PATIENCE)) {
        Ok(true) => Outcome::Done,
        Ok(false) => panic!("still running after {PATIENCE:?}"),
        Err(GpuError::Hang(_)) => Outcome::Hung,
        Err(other) => panic!("{other}: no answer to a wait"),
    }
}

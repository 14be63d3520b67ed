//! Hand-written jobs for the simulator: tiny programs, records and lists around the public [`Gpu`] calls.

#![allow(dead_code, reason = "each test file uses its part")]

use std::num::NonZeroUsize;

use vc4::cl::packets::*;
use vc4::cl::records::{Attribute, ShaderRecord, VertexProgram};
use vc4::cl::words::ShaderFlags;
use vc4::cl::{Addr, Binner, Count, List, S12_4};
use vc4::image::Level;
use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Seqno, Submit, SubmitFlags, Surface};
use vc4_sim::{Config, Simulator};

/// Colours of whole targets.
pub const BLACK: u32 = 0xff00_0000;
pub const RED: u32 = 0xff00_00ff;

/// A simulator with this many rendering threads.
pub fn simulator(threads: usize) -> Simulator {
    Simulator::new(Config {
        memory_bytes: 64 << 20,
        threads: NonZeroUsize::new(threads),
        ..Config::default()
    })
}

/// Assembles a program.
pub fn assemble(text: &str) -> Vec<u64> {
    match vc4::qpu::asm::assemble(text) {
        Ok(program) => program.words,
        Err(error) => panic!("{error}\n{text}"),
    }
}

const NOP: &str = "sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;\n";
const END: &str = "sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;\n";
const DONE: &str = "sig_unlock_score ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;\n";

/// Copies `words` attribute words to the output.
pub fn pass_through(words: usize) -> Vec<u64> {
    let mut text = format!(
        "sig_load_imm ; vw_setup = load32.always.ws(0x00001a00) ; nop = load32() ;\n\
         sig_load_imm ; vr_setup = load32.always({:#x}) ; nop = load32() ;\n{NOP}{NOP}",
        0x1a00 | (words & 15) << 20
    );
    for _ in 0..words {
        text += "sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;\n";
        text += "sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;\n";
    }
    assemble(&format!("{text}{END}{NOP}{NOP}"))
}

/// Writes Z, then `body`'s r0 as colour.
fn fragment(body: &str) -> Vec<u64> {
    assemble(&format!(
        "{body}sig_none ; tlb_z = or.always(b, b, nop, rb15) ; nop = nop(r0, r0) ;\n\
         sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop(r0, r0) ;\n{END}{NOP}{DONE}"
    ))
}

/// The colour is one uniform.
pub fn uniform_color() -> Vec<u64> {
    fragment(&format!("sig_none ; r0 = or.always(a, a, uni) ; nop = nop(r0, r0) ;\n{NOP}"))
}

/// First a stencil word, then the colour from uniforms.
pub fn stencil_and_color() -> Vec<u64> {
    fragment(
        "sig_none ; tlb_stencil_setup = or.always(a, a, uni) ; nop = nop(r0, r0) ;\n\
         sig_none ; r0 = or.always(a, a, uni) ; nop = nop(r0, r0) ;\n",
    )
}

/// Four varyings are the channels.
pub fn varying_color() -> Vec<u64> {
    let mut body = String::from("sig_none ; r3 = or.always(a, a, ra15) ; nop = nop(r0, r0) ;\n");
    for byte in ["8a", "8b", "8c", "8d"] {
        body += "sig_none ; nop = nop(r0, r0, vary) ; r1 = fmul.always(a, r3) ;\n";
        body += "sig_none ; r1 = fadd.always(r1, r5) ; nop = nop(r0, r0) ;\n";
        body += &format!("sig_none ; nop = nop.pm(r0, r0) ; r0.{byte} = v8min.always(r1, r1) ;\n");
    }
    fragment(&body)
}

/// Red is x, green is y, blue is the facing.
pub fn position_color() -> Vec<u64> {
    fragment(
        "sig_none ; r0 = or.always(a, a, x_pix) ; nop = nop(r0, r0) ;\n\
         sig_none ; r1 = or.always(b, b, nop, y_pix) ; nop = nop(r0, r0) ;\n\
         sig_small_imm ; r1 = shl.always(r1, b, nop, 8) ; nop = nop(r0, r0) ;\n\
         sig_none ; r0 = or.always(r0, r1) ; nop = nop(r0, r0) ;\n\
         sig_none ; r1 = or.always(b, b, nop, rev_flag) ; nop = nop(r0, r0) ;\n\
         sig_small_imm ; r1 = shl.always(r1, b, nop, 8) ; nop = nop(r0, r0) ;\n\
         sig_small_imm ; r1 = shl.always(r1, b, nop, 8) ; nop = nop(r0, r0) ;\n\
         sig_none ; r0 = or.always(r0, r1) ; nop = nop(r0, r0) ;\n",
    )
}

/// Averages its uniform with the colour of the tile, per channel (v8muld by one half each).
pub fn blend_half() -> Vec<u64> {
    assemble(&format!(
        "sig_none ; r0 = or.always(a, a, uni) ; nop = nop(r0, r0) ;\n\
         sig_none ; r1 = or.always(a, a, uni) ; nop = nop(r0, r0) ;\n\
         sig_color_load ; nop = nop(r0, r0) ; r0 = v8muld.always(r0, r1) ;\n\
         sig_none ; nop = nop(r0, r0) ; r1 = v8muld.always(r4, r1) ;\n\
         sig_none ; tlb_color_all = v8adds.always(r0, r1) ; nop = nop(r0, r0) ;\n{END}{NOP}{DONE}"
    ))
}

/// Never ends.
pub fn endless() -> Vec<u64> {
    assemble(&format!(
        "{NOP}{NOP}sig_branch ; nop = branch.rel(-32, always, ra0) ; nop = branch() ;\n{NOP}{NOP}{NOP}{END}{NOP}{DONE}"
    ))
}

/// A vertex as clip coordinates; the shaded words follow as a shader would compute them for the
/// target's viewport.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    pub clip: [f32; 4],
    pub varyings: [f32; 4],
}

/// A vertex at pixel (x, y) of a 64x64 target, window depth z, w = 1.
pub fn at(x: f32, y: f32, z: f32) -> Vertex {
    Vertex { clip: [x / 32.0 - 1.0, y / 32.0 - 1.0, z * 2.0 - 1.0, 1.0], varyings: [0.0; 4] }
}

/// The lower left half of a 64x64 target.
pub fn half(z: f32) -> Vec<Vertex> {
    vec![at(0.0, 0.0, z), at(64.0, 0.0, z), at(0.0, 64.0, z)]
}

impl Vertex {
    pub fn varyings(self, varyings: [f32; 4]) -> Vertex {
        Vertex { varyings, ..self }
    }

    /// Xc Yc Zc Wc, {Ys Xs} Zs 1/Wc, varyings.
    fn words(&self, width: u16, height: u16) -> Vec<u32> {
        let [x, y, z, w] = self.clip;
        let rw = 1.0 / w;
        let fixed = |v: f32, extent: u16| (v * rw * f32::from(extent) * 8.0) as i32 as i16 as u16;
        let xy = u32::from(fixed(x, width)) | u32::from(fixed(y, height)) << 16;
        let mut words: Vec<u32> = self.clip.iter().map(|c| c.to_bits()).collect();
        words.extend([xy, (z * rw * 0.5 + 0.5).to_bits(), rw.to_bits()]);
        words.extend(self.varyings.iter().map(|v| v.to_bits()));
        words
    }
}

const VERTEX_BYTES: u32 = 44;

/// What draws what.
#[derive(Clone, Debug)]
pub struct Draw {
    pub vertices: Vec<Vertex>,
    pub mode: PrimitiveMode,
    /// Indices and their type; `None` draws the array.
    pub indices: Option<(IndexType, Vec<u16>)>,
    pub config: ConfigurationBits,
    pub fragment: Vec<u64>,
    pub varyings: u8,
    pub uniforms: Vec<u32>,
    pub clipping: bool,
    /// The first varying's place holds a point size instead.
    pub point_size: bool,
    /// State packets right before the draw.
    pub state: List<Binner>,
}

impl Draw {
    /// Triangles in one colour, depth LESS with write.
    pub fn color(vertices: Vec<Vertex>, color: u32) -> Draw {
        Draw {
            vertices,
            mode: PrimitiveMode::Triangles,
            indices: None,
            config: ConfigurationBits {
                depth_func: CompareFunc::Less,
                depth_write: true,
                ..ConfigurationBits::default()
            },
            fragment: uniform_color(),
            varyings: 0,
            uniforms: vec![color],
            clipping: true,
            point_size: false,
            state: List::new(),
        }
    }

    /// Triangles coloured by varyings.
    pub fn varying(vertices: Vec<Vertex>) -> Draw {
        Draw { fragment: varying_color(), varyings: 4, uniforms: vec![], ..Draw::color(vertices, 0) }
    }

    pub fn mode(self, mode: PrimitiveMode) -> Draw {
        Draw { mode, ..self }
    }

    pub fn indexed(self, ty: IndexType, indices: &[u16]) -> Draw {
        Draw { indices: Some((ty, indices.to_vec())), ..self }
    }
}

/// A target with its colour and depth BOs.
pub struct Target {
    pub width: u16,
    pub height: u16,
    pub tiling: Tiling,
    pub multisample: bool,
    pub color: BoHandle,
    pub zs: BoHandle,
}

impl Target {
    pub fn new(gpu: &dyn Gpu, width: u16, height: u16, tiling: Tiling) -> Target {
        let bo = || gpu.create_bo(level(tiling, 4, width, height).size).unwrap();
        Target { width, height, tiling, multisample: false, color: bo(), zs: bo() }
    }

    fn tiles(&self) -> (u8, u8) {
        let edge = if self.multisample { 32 } else { 64 };
        (self.width.div_ceil(edge) as u8, self.height.div_ceil(edge) as u8)
    }

    /// A job that clears and stores colour.
    pub fn clear_job(&self, color: u32) -> Submit {
        let (columns, rows) = self.tiles();
        let ms = if self.multisample { 0x11 } else { 0 };
        let bits = 1 << 2 | (self.tiling.code() as u16) << 6 | ms;
        Submit {
            bos: vec![self.color, self.zs],
            width: self.width,
            height: self.height,
            tiles: [0, 0, columns - 1, rows - 1],
            color_write: Some(Surface { bo_index: 0, offset: 0, bits, flags: 0 }),
            clear_color: [color; 2],
            clear_z: 0xff_ffff,
            flags: SubmitFlags::USE_CLEAR_COLOR,
            ..Submit::default()
        }
    }

    /// The pixels of the colour BO.
    pub fn pixels(&self, gpu: &dyn Gpu) -> Pixels {
        self.read(gpu, self.color)
    }

    /// The words of the depth/stencil BO.
    pub fn depths(&self, gpu: &dyn Gpu) -> Pixels {
        self.read(gpu, self.zs)
    }

    fn read(&self, gpu: &dyn Gpu, bo: BoHandle) -> Pixels {
        let level = level(self.tiling, 4, self.width, self.height);
        let map = gpu.map_bo(bo).unwrap();
        let word = |x, y| map.read_u32(level.offset_of(x, y) as usize);
        let (width, height) = (u32::from(self.width), u32::from(self.height));
        let words = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| word(x, y));
        Pixels { width, words: words.collect() }
    }

    /// A job that clears and draws.
    pub fn draw_job(&self, gpu: &dyn Gpu, clear: u32, draws: &[Draw]) -> Submit {
        let mut job = self.clear_job(clear);
        let mut list = self.head();
        for draw in draws {
            self.draw(gpu, &mut job, &mut list, draw);
        }
        list.push(IncrementSemaphore {}).push(Flush {});
        job.bin_cl = list.into_bytes();
        job
    }

    fn head(&self) -> List<Binner> {
        let (width_tiles, height_tiles) = self.tiles();
        let half = |extent: u16| f32::from(extent) * 8.0;
        let centre = |extent: u16| S12_4::from_px(i32::from(extent / 2)).unwrap();
        let mut list = List::new();
        list.push(TileBinningModeConfig {
            width_tiles,
            height_tiles,
            multisample: self.multisample,
            ..Default::default()
        })
        .push(StartTileBinning {})
        .push(PrimitiveListFormat::default())
        .push(ClipWindow { left: 0, bottom: 0, width: self.width, height: self.height })
        .push(ClipperXyScaling { x: half(self.width), y: half(self.height) })
        .push(ClipperZScaleAndOffset::default())
        .push(ViewportOffset { x: centre(self.width), y: centre(self.height) })
        .push(DepthOffset::default())
        .push(PointSize::default())
        .push(LineWidth::default())
        .push(FlatShadeFlags::default());
        list
    }

    fn draw(&self, gpu: &dyn Gpu, job: &mut Submit, list: &mut List<Binner>, draw: &Draw) {
        let mut bo_index = |bo: BoHandle| {
            job.bos.push(bo);
            job.bos.len() as u32 - 1
        };
        let words: Vec<u32> = draw.vertices.iter().flat_map(|v| v.words(self.width, self.height)).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let vertices = bo_index(filled(gpu, &bytes));
        let shader = |code: &[u64]| gpu.create_shader_bo(code).unwrap();
        let fragment = bo_index(shader(&draw.fragment));
        let vertex = bo_index(shader(&pass_through(3 + draw.extra_words())));
        let coordinate = bo_index(shader(&pass_through(if draw.point_size { 8 } else { 7 })));
        let indices = draw.indices.as_ref().map(|(ty, indices)| {
            let bytes: Vec<u8> = match ty {
                IndexType::U8 => indices.iter().map(|&i| i as u8).collect(),
                IndexType::U16 => indices.iter().flat_map(|i| i.to_le_bytes()).collect(),
            };
            (*ty, indices, bo_index(filled(gpu, &bytes)))
        });
        let oversample = if self.multisample { Oversample::X4 } else { Oversample::X1 };
        list.push(ConfigurationBits { oversample, ..draw.config });
        for item in draw.state.items() {
            push_state(list, item.unwrap().packet);
        }
        if let Some((_, _, bo)) = indices {
            list.push(GemHandles { index0: bo, index1: 0 });
        }
        let attribute_arrays = Count::new(3).unwrap();
        list.push(GlShaderState { attribute_arrays, ..Default::default() });
        match indices {
            Some((index_type, indices, _)) => list.push(IndexedPrimitiveList {
                mode: draw.mode,
                index_type,
                count: indices.len() as u32,
                address: Addr::ZERO,
                max_index: u32::from(indices.iter().max().copied().unwrap_or(0)),
            }),
            None => list.push(VertexArrayPrimitives {
                mode: draw.mode,
                count: draw.vertices.len() as u32,
                first: 0,
            }),
        };
        for index in [fragment, vertex, coordinate, vertices, vertices, vertices] {
            job.shader_rec.extend(index.to_le_bytes());
        }
        draw.record().write(&mut job.shader_rec).unwrap();
        job.shader_rec_count += 1;
        job.uniforms.extend(draw.uniforms.iter().flat_map(|word| word.to_le_bytes()));
    }
}

fn push_state(list: &mut List<Binner>, packet: vc4::cl::AnyPacket) {
    use vc4::cl::AnyPacket as P;
    match packet {
        P::ClipWindow(p) => list.push(p),
        P::FlatShadeFlags(p) => list.push(p),
        P::PointSize(p) => list.push(p),
        P::LineWidth(p) => list.push(p),
        P::DepthOffset(p) => list.push(p),
        P::ConfigurationBits(p) => list.push(p),
        other => panic!("{other} is no state of these tests"),
    };
}

impl Draw {
    /// Words that the vertex program passes on behind the position.
    fn extra_words(&self) -> usize {
        usize::from(self.varyings) + usize::from(self.point_size)
    }

    fn record(&self) -> ShaderRecord {
        let array = |address, bytes, vertex_offset, coordinate_offset| Attribute {
            address,
            bytes,
            stride: VERTEX_BYTES,
            vertex_offset,
            coordinate_offset,
        };
        let extra_bytes = self.extra_words() as u16 * 4;
        ShaderRecord {
            flags: ShaderFlags {
                single_threaded: true,
                clipping: self.clipping,
                point_size: self.point_size,
            },
            varyings: self.varyings,
            vertex: VertexProgram {
                attribute_select: if extra_bytes > 0 { 0b110 } else { 0b010 },
                attribute_bytes: 12 + extra_bytes as u8,
                ..VertexProgram::default()
            },
            coordinate: VertexProgram {
                attribute_select: if self.point_size { 0b111 } else { 0b011 },
                attribute_bytes: if self.point_size { 32 } else { 28 },
                ..VertexProgram::default()
            },
            attributes: vec![
                array(0, 16, 0xff, 0),
                array(16, 12, 0, 16),
                array(28, extra_bytes.max(4), 12, 28),
            ],
            ..ShaderRecord::default()
        }
    }
}

/// A picture as words.
#[derive(Clone, PartialEq, Eq)]
pub struct Pixels {
    pub width: u32,
    pub words: Vec<u32>,
}

impl Pixels {
    pub fn at(&self, x: u32, y: u32) -> u32 {
        self.words[(y * self.width + x) as usize]
    }

    /// Compares every pixel and shows the first that differs.
    pub fn check(&self, expected: impl Fn(u32, u32) -> u32) {
        for (i, &word) in self.words.iter().enumerate() {
            let (x, y) = (i as u32 % self.width, i as u32 / self.width);
            let expected = expected(x, y);
            assert_eq!(word, expected, "pixel ({x}, {y}): {word:#010x}, expected {expected:#010x}");
        }
    }
}

/// The layout of a target.
pub fn level(tiling: Tiling, cpp: u32, width: u16, height: u16) -> Level {
    Level::new(tiling, cpp, u32::from(width), u32::from(height)).unwrap()
}

/// A BO with this content.
pub fn filled(gpu: &dyn Gpu, bytes: &[u8]) -> BoHandle {
    let bo = gpu.create_bo(bytes.len().max(1) as u32).unwrap();
    gpu.map_bo(bo).unwrap().write(0, bytes);
    bo
}

/// Submits and waits.
pub fn run(gpu: &dyn Gpu, job: &Submit) -> Result<Seqno, GpuError> {
    let seqno = gpu.submit(job)?;
    assert!(gpu.wait_seqno(seqno, None)?);
    Ok(seqno)
}

//! A job: a target, what is cleared and drawn there, and the picture that came of it.

use vc4::cl::packets::*;
use vc4::cl::records::{Attribute, ShaderRecord, VertexProgram};
use vc4::cl::words::ShaderFlags;
use vc4::cl::{Addr, AnyPacket, Binner, Count, List, S12_4};
use vc4::hw::tile_px;
use vc4::image::surface::{color_write_bits, load_bits};
use vc4::image::{Level, TileFormat};
use vc4_kernel_abi::{BoHandle, GpuError, Submit, SubmitFlags, Surface};

use super::bench::{Bench, Failure};
use super::picture::Picture;
use super::programs;

/// Of all targets.
const FORMAT: TileFormat = TileFormat::Rgba8888;
/// Xc Yc Zc Wc, {Ys Xs} Zs 1/Wc, varyings.
const VERTEX_WORDS: usize = 11;
const VERTEX_BYTES: u32 = 4 * VERTEX_WORDS as u32;
/// What the far plane's depth is in the tile buffer.
const FAR: u32 = 0xff_ffff;

/// A vertex: its place in pixels, its depth from 0 to 1, and words of varyings.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    pub x: f32,
    pub y: f32,
    pub z: f32,
    /// Clip coordinates that are not those of its place: the coordinate program can say what it likes.
    pub clip: Option<[f32; 4]>,
    pub varyings: [u32; 4],
}

/// A vertex without varyings.
pub fn at(x: f32, y: f32, z: f32) -> Vertex {
    Vertex { x, y, z, clip: None, varyings: [0; 4] }
}

impl Vertex {
    pub fn varyings<const N: usize>(self, values: [f32; N]) -> Vertex {
        let varyings = std::array::from_fn(|i| values.get(i).map_or(0, |value| value.to_bits()));
        Vertex { varyings, ..self }
    }

    pub fn clip(self, clip: [f32; 4]) -> Vertex {
        Vertex { clip: Some(clip), ..self }
    }

    fn words(&self, target: &Target<'_>) -> [u32; VERTEX_WORDS] {
        let half = [target.width, target.height].map(|extent| (extent / 2) as f32);
        let (x, y) = (self.x - half[0], self.y - half[1]);
        let fixed = |v: f32| u32::from((v * 16.0) as i16 as u16);
        let clip = self.clip.unwrap_or([x / half[0], y / half[1], self.z * 2.0 - 1.0, 1.0]);
        let [xc, yc, zc, wc] = clip.map(f32::to_bits);
        let [a, b, c, d] = self.varyings;
        [xc, yc, zc, wc, fixed(x) | fixed(y) << 16, self.z.to_bits(), 1f32.to_bits(), a, b, c, d]
    }
}

/// Two triangles.
pub fn rectangle(x: [f32; 2], y: [f32; 2], z: f32) -> Vec<Vertex> {
    [(0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1)].map(|(i, j)| at(x[i], y[j], z)).to_vec()
}

/// An index list, and the largest index that the draw says it has.
pub struct Indices {
    pub ty: IndexType,
    pub bytes: Vec<u8>,
    /// Where it begins.
    pub offset: u32,
    pub count: u32,
    pub max: u32,
}

/// Primitives and what draws them.
pub struct Draw {
    pub vertices: Vec<Vertex>,
    pub mode: PrimitiveMode,
    pub indices: Option<Indices>,
    pub config: ConfigurationBits,
    pub clipping: bool,
    /// State packets in front of it.
    pub state: Vec<AnyPacket>,
    pub fragment: Vec<u64>,
    /// How many varyings the fragment program takes.
    pub varyings: u8,
    /// And how many behind those, which are zero.
    pub zeros: u8,
    /// Copies seven words of attributes.
    pub coordinate: Vec<u64>,
    /// Bytes that the attribute of the varyings lacks at its end.
    pub cut: u16,
    pub textures: Vec<BoHandle>,
    pub uniforms: Vec<u32>,
}

impl Draw {
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
            clipping: true,
            state: Vec::new(),
            fragment: programs::uniform_color(),
            varyings: 0,
            zeros: 0,
            coordinate: programs::pass_through(7),
            cut: 0,
            textures: Vec::new(),
            uniforms: vec![color],
        }
    }
}

/// A colour target. Targets to draw to have even sizes.
pub struct Target<'a> {
    bench: &'a Bench<'a>,
    width: u32,
    height: u32,
    level: Level,
    multisample: bool,
    pub color: BoHandle,
}

impl<'a> Target<'a> {
    pub fn new(bench: &'a Bench<'a>, tiling: Tiling, width: u32, height: u32) -> Result<Target<'a>, Failure> {
        let level = level(tiling, width, height)?;
        Ok(Target { bench, width, height, level, multisample: false, color: bench.bo(level.size)? })
    }

    /// The same with four samples per pixel, which are averaged as it is stored.
    pub fn multisampled(self) -> Target<'a> {
        Target { multisample: true, ..self }
    }

    fn tiles(&self) -> (u8, u8) {
        let edge = tile_px(self.multisample);
        (self.width.div_ceil(edge) as u8, self.height.div_ceil(edge) as u8)
    }

    fn surface(&self, bits: u16) -> Surface {
        Surface { bo_index: 0, offset: 0, bits, flags: 0 }
    }

    /// A job that clears all of it.
    pub fn clear(&self, color: u32) -> Submit {
        let (columns, rows) = self.tiles();
        Submit {
            bos: vec![self.color],
            width: self.width as u16,
            height: self.height as u16,
            tiles: [0, 0, columns - 1, rows - 1],
            color_write: Some(self.surface(color_write_bits(
                Some(FORMAT),
                self.level.tiling,
                self.multisample,
            ))),
            clear_color: [color; 2],
            clear_z: FAR,
            flags: SubmitFlags::USE_CLEAR_COLOR,
            ..Submit::default()
        }
    }

    /// A job that clears and draws, the nearer in front.
    pub fn draw(&self, clear: u32, draws: &[Draw]) -> Result<Submit, Failure> {
        let mut job = self.clear(clear);
        let mut list = self.head();
        for draw in draws {
            self.add(&mut job, &mut list, draw)?;
        }
        list.push(IncrementSemaphore {}).push(Flush {});
        job.bin_cl = list.into_bytes();
        Ok(job)
    }

    /// A job that draws over what is there.
    pub fn draw_over(&self, draws: &[Draw]) -> Result<Submit, Failure> {
        let job = self.draw(0, draws)?;
        let color_read = self.surface(load_bits(FORMAT, self.level.tiling));
        Ok(Submit { flags: SubmitFlags::empty(), color_read: Some(color_read), ..job })
    }

    fn head(&self) -> List<Binner> {
        let (width_tiles, height_tiles) = self.tiles();
        let half = |extent: u32| (extent / 2) as f32 * 16.0;
        let centre = |extent: u32| S12_4((extent / 2 * 16) as i16);
        let mut list = List::new();
        let multisample = self.multisample;
        list.push(TileBinningModeConfig { width_tiles, height_tiles, multisample, ..Default::default() })
            .push(StartTileBinning {})
            .push(PrimitiveListFormat::default())
            .push(ClipWindow { left: 0, bottom: 0, width: self.width as u16, height: self.height as u16 })
            .push(ClipperXyScaling { x: half(self.width), y: half(self.height) })
            .push(ClipperZScaleAndOffset::default())
            .push(ViewportOffset { x: centre(self.width), y: centre(self.height) })
            .push(DepthOffset::default())
            .push(PointSize::default())
            .push(LineWidth::default())
            .push(FlatShadeFlags::default());
        list
    }

    fn add(&self, job: &mut Submit, list: &mut List<Binner>, draw: &Draw) -> Result<(), Failure> {
        let words = draw.vertices.iter().flat_map(|vertex| vertex.words(self));
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let vertices = self.bench.filled(&bytes)?;
        let bos = [
            self.bench.shader(&draw.fragment)?,
            self.bench.shader(&programs::vertex(3 + usize::from(draw.varyings), draw.zeros.into()))?,
            self.bench.shader(&draw.coordinate)?,
            vertices,
        ];
        let first = job.bos.len() as u32;
        job.bos.extend(bos);
        list.push(draw.config);
        self.set(list, &draw.state)?;
        let indices = match &draw.indices {
            Some(indices) => {
                let index0 = job.bos.len() as u32;
                job.bos.push(self.bench.filled(&indices.bytes)?);
                list.push(GemHandles { index0, index1: 0 });
                Some(indices)
            }
            None => None,
        };
        list.push(GlShaderState {
            attribute_arrays: Count::new(3).unwrap_or(Count::ONE),
            ..Default::default()
        });
        match indices {
            Some(&Indices { ty, offset, count, max, .. }) => list.push(IndexedPrimitiveList {
                mode: draw.mode,
                index_type: ty,
                count,
                address: Addr::from(offset),
                max_index: max,
            }),
            None => {
                let count = draw.vertices.len() as u32;
                list.push(VertexArrayPrimitives { mode: draw.mode, count, first: 0 })
            }
        };
        for index in [0, 1, 2, 3, 3, 3] {
            job.shader_rec.extend((first + index).to_le_bytes());
        }
        record(draw).write(&mut job.shader_rec).map_err(|error| Failure::Wrong(error.to_string()))?;
        job.shader_rec_count += 1;
        for texture in &draw.textures {
            // Each BO stands there once.
            let known = job.bos.iter().position(|bo| bo == texture);
            let place = known.unwrap_or(job.bos.len());
            if known.is_none() {
                job.bos.push(*texture);
            }
            job.uniforms.extend((place as u32).to_le_bytes());
        }
        job.uniforms.extend(draw.uniforms.iter().flat_map(|word| word.to_le_bytes()));
        Ok(())
    }

    /// Its state, without a draw.
    fn set(&self, list: &mut List<Binner>, state: &[AnyPacket]) -> Result<(), Failure> {
        for packet in state {
            match *packet {
                AnyPacket::ClipWindow(p) => list.push(p),
                AnyPacket::ClipperZScaleAndOffset(p) => list.push(p),
                AnyPacket::DepthOffset(p) => list.push(p),
                AnyPacket::FlatShadeFlags(p) => list.push(p),
                AnyPacket::LineWidth(p) => list.push(p),
                AnyPacket::PointSize(p) => list.push(p),
                other => return Err(Failure::Wrong(format!("{} is no state", other.name()))),
            };
        }
        Ok(())
    }

    /// What is in it now.
    pub fn picture(&self) -> Result<Picture, GpuError> {
        let map = self.bench.map(self.color)?;
        let word = |x, y| map.read_u32(self.level.offset_of(x, y) as usize);
        Ok(Picture::from_fn(self.width, self.height, word))
    }

    /// The pixels in its corners.
    pub fn corners(&self) -> Result<[u32; 4], GpuError> {
        let map = self.bench.map(self.color)?;
        let (right, lower) = (self.width - 1, self.height - 1);
        let places = [(0, 0), (right, 0), (0, lower), (right, lower)];
        Ok(places.map(|(x, y)| map.read_u32(self.level.offset_of(x, y) as usize)))
    }

    /// Runs the job; the target must then be what `pixel` says, or as near in every channel as `tolerance`.
    pub fn expect(
        &self,
        job: &Submit,
        tolerance: u8,
        pixel: impl Fn(u32, u32) -> u32,
    ) -> Result<Picture, Failure> {
        let took = self.bench.run(job)?;
        let expected = Picture::from_fn(self.width, self.height, pixel);
        let seen = self.picture()?;
        match seen.compare(&expected, tolerance) {
            Ok(()) => Ok(seen),
            Err(why) => Err(Failure::Picture {
                why: why + self.bench.suspicion(took),
                seen: Box::new(seen),
                expected: Box::new(expected),
            }),
        }
    }
}

/// Where texels of 32 bits lie.
pub fn level(tiling: Tiling, width: u32, height: u32) -> Result<Level, Failure> {
    Level::new(tiling, 4, width, height).map_err(|error| Failure::Wrong(error.to_string()))
}

fn record(draw: &Draw) -> ShaderRecord {
    let array = |address, bytes, vertex_offset, coordinate_offset| Attribute {
        address,
        bytes,
        stride: VERTEX_BYTES,
        vertex_offset,
        coordinate_offset,
    };
    let extra = 4 * draw.varyings;
    ShaderRecord {
        flags: ShaderFlags { single_threaded: true, clipping: draw.clipping, point_size: false },
        varyings: draw.varyings + draw.zeros,
        vertex: VertexProgram {
            attribute_select: if extra > 0 { 0b110 } else { 0b010 },
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
            array(28, u16::from(extra.max(4)) - draw.cut, 12, 28),
        ],
        ..ShaderRecord::default()
    }
}

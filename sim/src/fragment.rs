//! Fragment shading: quads of a primitive collected into batches of 16 elements, run against the tile
//! buffer (v3d.md §9.2, §9.6; qpu.md §4.2–§4.3, §4.7–§4.8).

use vc4::cl::words::StencilWord;
use vc4::hw::{DEPTH_MAX, LANES};

use crate::error::JobError;
use crate::memory::Memory;
use crate::pse::{Coefficients, Plane, Prepared, Primitive};
use crate::ptb::Draw;
use crate::qpu::{Fault, LaneMask, Lanes, Payload, Ports, Qpu, Stats};
use crate::raster::{Rect, SUBPIXELS};
use crate::tlb::{BatchTest, DepthMode, Stencil, TILE_SAMPLES, Tile};
use crate::unverified::{SAMPLE_POSITIONS_4X, ms_flags_from_coverage, sample_coverage, z_to_24_bits};
use crate::vpm::fault;

/// Quads of a batch.
const QUADS: usize = LANES / 4;

/// What a worker keeps from batch to batch.
#[derive(Default)]
pub struct Worker {
    /// The tile that is rendered.
    pub tile: Tile,
    qpu: Qpu,
}

/// Draws one primitive into the worker's tile, whose first pixel is (`left`, `top`).
pub fn draw_primitive(
    worker: &mut Worker,
    memory: &Memory,
    draw: &Draw,
    prepared: &Prepared,
    primitive: &Primitive,
    (left, top): (i32, i32),
    stats: &mut Stats,
) -> Result<(), JobError> {
    let multisample = worker.tile.multisample();
    let edge = worker.tile.edge() as i32;
    let tile = Rect { x0: left, y0: top, x1: left + edge, y1: top + edge };
    let window = draw.state.window().intersect(tile);
    let sample_coverage = sample_coverage(multisample, draw.state.config.oversample);
    let first = primitive.first_coefficient;
    let mut shading = Shading {
        memory,
        draw,
        primitive,
        coefficients: &prepared.coefficients[first..first + prepared.varyings],
        left,
        top,
        sample_z: sample_z(&primitive.z),
        batch: Batch::default(),
        stats,
    };
    let result = primitive.shape.scan(window, sample_coverage, |x, y, masks| {
        let coverage = masks
            .map(|mask| if sample_coverage { u32::from(mask) } else { ms_flags_from_coverage(mask != 0) });
        shading.batch.push(x, y, coverage);
        if shading.batch.quads == QUADS { shading.run(worker) } else { Ok(()) }
    });
    result.and_then(|()| shading.run(worker)).map_err(|fault| draw.fragment.fault(fault))
}

/// Depth of each sample relative to the pixel centre, in steps of the 24-bit buffer.
fn sample_z(z: &Plane) -> [f64; 4] {
    SAMPLE_POSITIONS_4X.map(|(x, y)| {
        let from_centre = |at: i64| (at - SUBPIXELS / 2) as f64 / SUBPIXELS as f64;
        (z.dx * from_centre(x) + z.dy * from_centre(y)) * f64::from(DEPTH_MAX)
    })
}

/// Up to four quads. Unfilled places keep valid coordinates and no coverage: helper elements.
#[derive(Default)]
struct Batch {
    quads: usize,
    x: [i32; LANES],
    y: [i32; LANES],
    coverage: Lanes,
}

impl Batch {
    fn push(&mut self, x: i32, y: i32, coverage: [u32; 4]) {
        let base = self.quads * 4;
        for (pixel, flags) in coverage.into_iter().enumerate() {
            self.x[base + pixel] = x + (pixel as i32 & 1);
            self.y[base + pixel] = y + (pixel as i32 >> 1);
            self.coverage[base + pixel] = flags;
        }
        self.quads += 1;
    }

    /// Gives the unfilled places the coordinates of the first quad.
    fn fill(&mut self) {
        for lane in self.quads * 4..LANES {
            self.x[lane] = self.x[lane % 4];
            self.y[lane] = self.y[lane % 4];
            self.coverage[lane] = 0;
        }
    }
}

struct Shading<'a> {
    memory: &'a Memory,
    draw: &'a Draw,
    primitive: &'a Primitive,
    coefficients: &'a [Coefficients],
    left: i32,
    top: i32,
    sample_z: [f64; 4],
    batch: Batch,
    stats: &'a mut Stats,
}

impl Shading<'_> {
    /// Runs the batch and empties it.
    fn run(&mut self, worker: &mut Worker) -> Result<(), Fault> {
        if self.batch.quads == 0 {
            return Ok(());
        }
        self.batch.fill();
        let (x0, y0) = self.primitive.reference;
        let dx: [f64; LANES] = std::array::from_fn(|lane| f64::from(self.batch.x[lane]) + 0.5 - x0);
        let dy: [f64; LANES] = std::array::from_fn(|lane| f64::from(self.batch.y[lane]) + 0.5 - y0);
        let payload = payload(self.primitive, &dx, &dy);
        let Worker { tile, qpu } = worker;
        let pixels = std::array::from_fn(|lane| {
            tile.pixel((self.batch.x[lane] - self.left) as u32, (self.batch.y[lane] - self.top) as u32) as u16
        });
        let mut ports = FragmentPorts {
            tile,
            pixels,
            batch: &self.batch,
            dx: dx.map(|d| d as f32),
            dy: dy.map(|d| d as f32),
            coefficients: self.coefficients,
            next_varying: 0,
            ms_flags: self.batch.coverage,
            reverse: if self.primitive.reverse { 0xffff } else { 0 },
            mode: DepthMode {
                func: self.draw.state.config.depth_func,
                write: self.draw.state.config.depth_write,
            },
            stencil: Stencil::default(),
            sample_z: self.sample_z,
            read_sample: 0,
            write_sample: 0,
        };
        let fragment = &self.draw.fragment;
        qpu.run(&fragment.program, self.memory, fragment.uniforms, &mut ports, &payload, self.stats)?;
        ports.finish()?;
        self.batch.quads = 0;
        Ok(())
    }
}

/// W and Z of every element (v3d.md §9.6).
fn payload(primitive: &Primitive, dx: &[f64; LANES], dy: &[f64; LANES]) -> Payload {
    let Primitive { z, rw, .. } = primitive;
    let mut payload = Payload::default();
    for lane in 0..LANES {
        let w = 1.0 / (rw.at + rw.dx * dx[lane] + rw.dy * dy[lane]);
        payload.ra15[lane] = (w as f32).to_bits();
        payload.rb15[lane] = z_to_24_bits(z.at + z.dx * dx[lane] + z.dy * dy[lane]);
    }
    payload
}

/// [`Ports`] of a fragment program.
struct FragmentPorts<'a> {
    tile: &'a mut Tile,
    pixels: [u16; LANES],
    batch: &'a Batch,
    dx: [f32; LANES],
    dy: [f32; LANES],
    coefficients: &'a [Coefficients],
    next_varying: usize,
    ms_flags: Lanes,
    reverse: LaneMask,
    mode: DepthMode,
    stencil: Stencil,
    sample_z: [f64; 4],
    read_sample: usize,
    write_sample: usize,
}

impl FragmentPorts<'_> {
    fn finish(&self) -> Result<(), Fault> {
        if self.next_varying == self.coefficients.len() {
            return Ok(());
        }
        Err(fault(format!(
            "the program read {} of {} varyings; it must read all of them (qpu.md §4.2)",
            self.next_varying,
            self.coefficients.len()
        )))
    }

    /// The next of a pixel's samples, in order.
    fn step(&self, sample: usize) -> usize {
        (sample + 1) % self.tile.samples()
    }
}

fn no_vpm<T>() -> Result<T, Fault> {
    Err(fault("VPM access in a fragment program: its FIFO carries the varyings (qpu.md §4.2)"))
}

impl Ports for FragmentPorts<'_> {
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        let Some(&Coefficients { a, b, c }) = self.coefficients.get(self.next_varying) else {
            return Err(fault(format!("the program reads more than {} varyings", self.coefficients.len())));
        };
        self.next_varying += 1;
        let vp = std::array::from_fn(|lane| (a * self.dx[lane] + b * self.dy[lane]).to_bits());
        Ok((vp, [c.to_bits(); LANES]))
    }

    fn vpm_read_setup(&mut self, _: u32) -> Result<(), Fault> {
        no_vpm()
    }

    fn vpm_write_setup(&mut self, _: u32) -> Result<(), Fault> {
        no_vpm()
    }

    fn vpm_read(&mut self) -> Result<Lanes, Fault> {
        no_vpm()
    }

    fn vpm_write(&mut self, _: &Lanes) -> Result<(), Fault> {
        no_vpm()
    }

    fn tlb_color_read(&mut self) -> Result<Lanes, Fault> {
        let sample = self.read_sample;
        self.read_sample = self.step(sample);
        Ok(std::array::from_fn(|lane| {
            self.tile.color()[(usize::from(self.pixels[lane]) + sample) % TILE_SAMPLES]
        }))
    }

    fn tlb_color_write(&mut self, mask: LaneMask, value: &Lanes, all: bool) -> Result<(), Fault> {
        let samples = self.tile.samples();
        if samples == 1 {
            let color = self.tile.color_mut();
            for lane in 0..LANES {
                if mask >> lane & 1 != 0 && self.ms_flags[lane] & 1 != 0 {
                    color[usize::from(self.pixels[lane]) % TILE_SAMPLES] = value[lane];
                }
            }
            return Ok(());
        }
        let range = if all { 0..samples } else { self.write_sample..self.write_sample + 1 };
        if !all {
            self.write_sample = self.step(self.write_sample);
        }
        let color = self.tile.color_mut();
        for lane in 0..LANES {
            if mask >> lane & 1 == 0 {
                continue;
            }
            for sample in range.clone() {
                if self.ms_flags[lane] >> sample & 1 != 0 {
                    color[usize::from(self.pixels[lane]) + sample] = value[lane];
                }
            }
        }
        Ok(())
    }

    fn tlb_z(&mut self, mask: LaneMask, z: &Lanes) -> Result<(), Fault> {
        let test = BatchTest {
            mode: self.mode,
            stencil: self.stencil,
            pixels: &self.pixels,
            reverse: self.reverse,
            sample_z: self.sample_z,
        };
        test.run(self.tile, mask, z, &mut self.ms_flags);
        Ok(())
    }

    fn tlb_stencil(&mut self, word: u32) -> Result<(), Fault> {
        let word = StencilWord::from_bits(word).map_err(|error| fault(error.to_string()))?;
        self.stencil.set_up(word);
        Ok(())
    }

    fn ms_flags(&self) -> Lanes {
        self.ms_flags
    }

    fn set_ms_flags(&mut self, mask: LaneMask, value: &Lanes) {
        for (lane, flags) in self.ms_flags.iter_mut().enumerate() {
            if mask >> lane & 1 != 0 {
                *flags = value[lane] & 0xf;
            }
        }
    }

    fn rev_flag(&self) -> Lanes {
        std::array::from_fn(|lane| u32::from(self.reverse >> lane & 1))
    }

    fn pixel_xy(&self) -> (Lanes, Lanes) {
        (self.batch.x.map(|x| x as u32), self.batch.y.map(|y| y as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4::cl::packets::CompareFunc;

    fn ports<'a>(
        tile: &'a mut Tile,
        batch: &'a Batch,
        coefficients: &'a [Coefficients],
    ) -> FragmentPorts<'a> {
        FragmentPorts {
            pixels: std::array::from_fn(|lane| (lane * tile.samples()) as u16),
            tile,
            batch,
            dx: std::array::from_fn(|lane| lane as f32),
            dy: [2.0; LANES],
            coefficients,
            next_varying: 0,
            ms_flags: batch.coverage,
            reverse: 0,
            mode: DepthMode { func: CompareFunc::Less, write: true },
            stencil: Stencil::default(),
            sample_z: [0.0; 4],
            read_sample: 0,
            write_sample: 0,
        }
    }

    #[test]
    fn quads_fill_lanes_in_order_and_helpers_copy_the_first() {
        let mut batch = Batch::default();
        batch.push(4, 6, [1, 0, 2, 3]);
        batch.push(8, 6, [0, 0, 0, 9]);
        batch.fill();
        assert_eq!(batch.x, [4, 5, 4, 5, 8, 9, 8, 9, 4, 5, 4, 5, 4, 5, 4, 5]);
        assert_eq!(batch.y, [6, 6, 7, 7, 6, 6, 7, 7, 6, 6, 7, 7, 6, 6, 7, 7]);
        assert_eq!(batch.coverage, [1, 0, 2, 3, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn varyings_come_in_order_and_must_all_be_read() {
        let (mut tile, batch) = (Tile::default(), Batch::default());
        let coefficients = [Coefficients { a: 2.0, b: 10.0, c: 5.0 }, Coefficients::default()];
        let mut ports = ports(&mut tile, &batch, &coefficients);
        let (vp, c) = ports.varying().unwrap();
        assert_eq!((f32::from_bits(vp[3]), f32::from_bits(c[7])), (26.0, 5.0));
        assert!(ports.finish().is_err());
        ports.varying().unwrap();
        assert!(ports.finish().is_ok());
        assert!(ports.varying().is_err());
    }

    #[test]
    fn failed_elements_keep_their_colour() {
        let mut tile = Tile::default();
        tile.zs_mut()[1] = 50 << 8;
        tile.zs_mut()[2] = 70 << 8;
        tile.zs_mut()[3] = 70 << 8;
        let batch = Batch { coverage: [0xf; LANES], ..Batch::default() };
        let mut ports = ports(&mut tile, &batch, &[]);
        // Elements 1 and 2 are tested; 3 is discarded by its condition.
        ports.tlb_z(0b0110, &[60; LANES]).unwrap();
        ports.tlb_color_write(0xffff, &[9; LANES], true).unwrap();
        assert_eq!(ports.tlb_color_read().unwrap()[..4], [0, 0, 9, 0]);
        assert_eq!(tile.zs()[..4], [0, 50 << 8, 60 << 8, 70 << 8]);
    }

    #[test]
    fn samples_are_read_and_written_in_turn() {
        let mut tile = Tile::default();
        tile.reset(true, Default::default());
        let batch = Batch { coverage: [0b0101; LANES], ..Batch::default() };
        let mut ports = ports(&mut tile, &batch, &[]);
        for value in 1..=4 {
            ports.tlb_color_write(1, &[value; LANES], false).unwrap();
        }
        let read: Vec<u32> = (0..5).map(|_| ports.tlb_color_read().unwrap()[0]).collect();
        assert_eq!(read, [1, 0, 3, 0, 1]);
        ports.tlb_color_write(0b10, &[7; LANES], true).unwrap();
        assert_eq!(tile.color()[4..8], [7, 0, 7, 0]);
    }
}

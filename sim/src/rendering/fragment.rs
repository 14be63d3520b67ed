//! Fragment shading: quads of a primitive collected into batches of 16 elements, run against the tile
//! buffer (v3d.md §9.2, §9.6).

use vc4::facts::{Facts, MsFlags, ShaderDepth};
use vc4::hw::{DEPTH_MAX, LANES, SUBPIXELS, sample_positions_4x};

use super::batch::{Batch, coverage_of, z_at};
use super::early_z::Shadow;
use super::ports::{FragmentPorts, Machine};
use super::pse::{Plane, Prepared, Primitive};
use super::tlb::{ClearValues, DepthMode, QUADS, Tile};
use crate::binning::{BinnedPrimitive, Draw};
use crate::error::JobError;
use crate::geometry::Rect;
use crate::memory::Memory;
use crate::qpu::{Coefficients, Fault, Lanes, Ports, Qpu, Stats};
use crate::stats::{Event, Held};
use crate::unverified::{ms_flags_from_coverage, sample_coverage};

/// What a worker keeps from batch to batch.
pub struct Worker {
    /// The tile that is rendered.
    pub tile: Tile,
    qpu: Qpu,
    shadow: Shadow,
    /// The tile's depth changed without the shadow.
    shadow_is_stale: bool,
    coefficients: Vec<Coefficients>,
    /// The varyings' partial sums in a batch.
    partial: Vec<Lanes>,
}

impl Worker {
    /// A worker of a machine that behaves so.
    pub fn new(facts: &Facts) -> Worker {
        Worker {
            tile: Tile::default(),
            qpu: Qpu::of(facts),
            shadow: Shadow::default(),
            shadow_is_stale: false,
            coefficients: Vec::new(),
            partial: Vec::new(),
        }
    }

    /// A new tile with these values.
    pub fn begin(&mut self, multisample: bool, values: ClearValues) {
        self.tile.reset(multisample, values);
        self.shadow.clear(values.zs);
        self.shadow_is_stale = false;
        self.qpu.cool_down();
    }

    /// The tile's depth was loaded or cleared.
    pub fn depth_changed(&mut self) {
        self.shadow_is_stale = true;
    }

    /// Draws one primitive of a tile list into the tile, whose first pixel is (`left`, `top`).
    ///
    /// # Errors
    /// What its fragment program did that the machine has no answer for.
    pub fn draw(
        &mut self,
        memory: &Memory,
        draw: &Draw,
        prepared: &Prepared,
        binned: &BinnedPrimitive,
        (left, top): (i32, i32),
        stats: &mut Stats,
    ) -> Result<(), JobError> {
        let mut coefficients = std::mem::take(&mut self.coefficients);
        if let Some(primitive) = prepared.set_up(draw, binned, &mut coefficients) {
            if self.partial.len() < coefficients.len() {
                self.partial.resize(coefficients.len(), [0; LANES]);
            }
            let target = Target { memory, draw, left, top };
            draw_primitive(self, &target, &primitive, &coefficients, stats)?;
        }
        self.coefficients = coefficients;
        Ok(())
    }
}

/// What all primitives of a draw in a tile have in common.
#[derive(Clone, Copy)]
struct Target<'a> {
    memory: &'a Memory,
    draw: &'a Draw,
    left: i32,
    top: i32,
}

impl Target<'_> {
    /// Index of a pixel's first sample in the tile.
    #[inline]
    fn pixel(&self, tile: &Tile, x: i32, y: i32) -> usize {
        tile.pixel((x - self.left) as u32, (y - self.top) as u32)
    }
}

fn draw_primitive(
    worker: &mut Worker,
    target: &Target,
    primitive: &Primitive,
    coefficients: &[Coefficients],
    stats: &mut Stats,
) -> Result<(), JobError> {
    let draw = target.draw;
    let multisample = worker.tile.multisample();
    let edge = worker.tile.edge() as i32;
    let Target { left, top, .. } = *target;
    let tile = Rect { x0: left, y0: top, x1: left + edge, y1: top + edge };
    let window = draw.state.window().intersect(tile);
    let facts = &draw.state.facts;
    let sample_coverage = sample_coverage(facts.oversample_none, multisample, draw.state.config.oversample);
    let early_z = draw.early_z && !multisample;
    if early_z && std::mem::take(&mut worker.shadow_is_stale) {
        worker.shadow.load(&worker.tile);
    }
    // Without the test, the shadow is not kept up to date.
    worker.shadow_is_stale |= !early_z;
    stats.counters.add(Event::ValidPrimitives, 1);
    let spread = multisample && facts.shader_depth == ShaderDepth::Base;
    let sample_z = if spread { sample_z(facts, &primitive.z) } else { [0.0; 4] };
    let batch = Batch::default();
    let mut shading = Shading { target: *target, primitive, coefficients, sample_z, batch, early_z, stats };
    let (mut shaded, mut dropped) = (0, 0);
    // In 4x mode all samples follow the one that was looked at.
    let all = if multisample { MsFlags::All } else { facts.ms_flags };
    let covered = if sample_coverage { 1 } else { ms_flags_from_coverage(all, true) };
    let result = primitive.shape.scan(window, sample_coverage, |from, y, quads, masks| {
        let first = target.pixel(&worker.tile, from, y);
        let coverage = coverage_of(masks, covered);
        for n in 0..quads {
            let (x, pixel) = (from + 2 * n as i32, first + n * worker.tile.quad_samples());
            if early_z && shading.is_hidden(worker, (x, y), pixel, masks) {
                dropped += 1;
                continue;
            }
            shaded += 1;
            shading.batch.push(x, y, pixel as u16, coverage);
            if shading.batch.quads() == QUADS {
                shading.run(worker)?;
            }
        }
        Ok(())
    });
    let result = result.and_then(|()| shading.run(worker));
    stats.counters.add(Event::ValidQuads, shaded);
    stats.counters.add(Event::ClippedQuads, dropped);
    stats.counters.add(Event::PrimitivesWithoutPixels, u64::from(shaded + dropped == 0));
    result.map_err(|fault| draw.fragment.stopped(fault, &worker.qpu))
}

/// Depth of each sample relative to the pixel centre, in steps of the 24-bit buffer.
fn sample_z(facts: &Facts, z: &Plane) -> [f64; 4] {
    sample_positions_4x(facts.sample_positions).map(|(x, y)| {
        let from_centre = |at: i64| (at - SUBPIXELS / 2) as f64 / SUBPIXELS as f64;
        (z.dx * from_centre(x) + z.dy * from_centre(y)) * f64::from(DEPTH_MAX)
    })
}

struct Shading<'a> {
    target: Target<'a>,
    primitive: &'a Primitive,
    coefficients: &'a [Coefficients],
    sample_z: [f64; 4],
    batch: Batch,
    early_z: bool,
    stats: &'a mut Stats,
}

impl Shading<'_> {
    /// Whether early Z drops the quad: none of its covered pixels can pass the depth test.
    fn is_hidden(&self, worker: &Worker, (x, y): (i32, i32), first: usize, masks: [u8; 4]) -> bool {
        let (Primitive { z, reference: (x0, y0), .. }, func) =
            (self.primitive, self.target.draw.state.config.depth_func);
        let depth = |pixel: usize| {
            let dx = f64::from(x + (pixel as i32 & 1)) + 0.5 - x0;
            let dy = f64::from(y + (pixel as i32 >> 1)) + 0.5 - y0;
            z_at(&self.target.draw.state.facts, z, dx, dy)
        };
        let nearest = if masks.contains(&0) {
            (0..4).filter(|&pixel| masks[pixel] != 0).map(depth).min().unwrap_or(u32::MAX)
        } else {
            // Depth and all its roundings rise or fall along either axis: one pixel is the nearest of a whole quad.
            depth(usize::from(z.dx < 0.0) | usize::from(z.dy < 0.0) << 1)
        };
        worker.shadow.rejects(func, first, nearest)
    }

    /// Runs the batch and empties it.
    fn run(&mut self, worker: &mut Worker) -> Result<(), Fault> {
        if self.batch.quads() == 0 {
            return Ok(());
        }
        self.batch.fill();
        let partial = &mut worker.partial[..self.coefficients.len()];
        let facts = &self.target.draw.state.facts;
        let setting = self.batch.setting(facts, self.primitive, self.coefficients, partial);
        if let Some(counts) = &mut self.stats.counts {
            counts.quads(self.batch.quads(), &setting.coverage);
        }
        let Worker { tile, qpu, shadow, partial, .. } = worker;
        let Target { memory, draw, .. } = self.target;
        let mode = DepthMode { func: draw.state.config.depth_func, write: draw.state.config.depth_write };
        let machine = Machine {
            facts: &draw.state.facts,
            mode,
            sample_z: self.sample_z,
            reverse: self.primitive.reverse,
            early_z: draw.state.config.early_z,
            checked: self.stats.check,
        };
        let mut ports = FragmentPorts::new(tile, &self.batch, &setting, machine, self.coefficients, partial);
        let fragment = &draw.fragment;
        if let Some(trace) = &mut self.stats.pixel {
            if let Some(element) = self.batch.element_of(trace.x, trace.y, &setting) {
                let w_and_z = [
                    (Held::FileA(15), setting.payload.ra15[element]),
                    (Held::FileB(15), setting.payload.rb15[element]),
                ];
                trace.begin(fragment.program.address(), element, w_and_z, ports.held(element));
            }
        }
        qpu.run(&fragment.program, memory, fragment.uniforms, &mut ports, &setting.payload, self.stats)?;
        if let Some(trace) = &mut self.stats.pixel {
            trace.end();
        }
        let tested = ports.has_tested();
        ports.count(&mut self.stats.counters);
        if self.stats.check {
            for rule in ports.end() {
                fragment.broke_at_end(rule, qpu, self.stats);
            }
        }
        if self.early_z && mode.write && tested {
            for first in self.batch.firsts() {
                shadow.update(tile.zs(), first);
            }
        }
        self.batch.clear();
        Ok(())
    }
}

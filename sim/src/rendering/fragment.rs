//! Fragment shading: quads of a primitive collected into batches of 16 elements, run against the tile
//! buffer (v3d.md §9.2, §9.6; qpu.md §4.2–§4.3, §4.7–§4.8).

use vc4::cl::words::{StencilOp, StencilWord};
use vc4::facts::{Facts, MsFlags, OcclusionEvents, ShaderDepth, StencilLatch};
use vc4::hw::{DEPTH_MAX, LANES, SUBPIXELS, sample_positions_4x};

use super::early_z::{self, Shadow};
use super::pse::{Plane, Prepared, Primitive};
use super::tlb::{
    BatchTest, ClearValues, DepthMode, QUADS, Stencil, TILE_SAMPLES, Tile, first_sample, quad_mut,
};
use crate::binning::{BinnedPrimitive, Draw};
use crate::error::JobError;
use crate::geometry::Rect;
use crate::memory::Memory;
use crate::qpu::{Coefficients, Fault, LaneMask, Lanes, Note, Payload, Ports, Qpu, Stats, Tlb, Varyings};
use crate::stats::{Counters, Event, Held, Words};
use crate::unverified::{
    is_usual_z, ms_flags_from_coverage, sample_coverage, usual_z_in_vectors, z_to_24_bits,
};
use crate::wide::on_wide_vectors;

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
    let result = primitive.shape.scan(window, sample_coverage, |x, y, masks| {
        let pixel = target.pixel(&worker.tile, x, y);
        if early_z && shading.is_hidden(worker, (x, y), pixel, masks) {
            dropped += 1;
            return Ok(());
        }
        shaded += 1;
        let coverage = masks.map(|mask| {
            // In 4x mode all samples follow the one that was looked at.
            let all = if multisample { MsFlags::All } else { facts.ms_flags };
            if sample_coverage { u32::from(mask) } else { ms_flags_from_coverage(all, mask != 0) }
        });
        shading.batch.push(x, y, pixel as u16, coverage);
        if shading.batch.quads == QUADS { shading.run(worker) } else { Ok(()) }
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

/// Up to four quads. Unfilled places keep valid coordinates and no coverage: helper elements.
#[derive(Default)]
struct Batch {
    quads: usize,
    x: [i32; LANES],
    y: [i32; LANES],
    /// First sample of each quad in the tile.
    firsts: [u16; QUADS],
    coverage: Lanes,
}

impl Batch {
    /// Adds a quad, of which there is room for another one.
    #[inline]
    fn push(&mut self, x: i32, y: i32, first: u16, coverage: [u32; 4]) {
        let quad = self.quads % QUADS;
        self.set(quad, x, y, first);
        self.coverage[quad * 4..quad * 4 + 4].copy_from_slice(&coverage);
        self.quads += 1;
    }

    /// Where a quad lies.
    #[inline]
    fn set(&mut self, quad: usize, x: i32, y: i32, first: u16) {
        self.x[quad * 4..quad * 4 + 4].copy_from_slice(&[x, x + 1, x, x + 1]);
        self.y[quad * 4..quad * 4 + 4].copy_from_slice(&[y, y, y + 1, y + 1]);
        self.firsts[quad] = first;
    }

    /// The element of a pixel that is covered.
    fn element_of(&self, x: i32, y: i32) -> Option<usize> {
        (0..self.quads * 4).find(|&lane| (self.x[lane], self.y[lane]) == (x, y) && self.coverage[lane] != 0)
    }

    /// Gives the unfilled places the coordinates of the first quad.
    fn fill(&mut self) {
        for quad in self.quads..QUADS {
            self.set(quad, self.x[0], self.y[0], self.firsts[0]);
            self.coverage[quad * 4..quad * 4 + 4].fill(0);
        }
    }
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
        if self.batch.quads == 0 {
            return Ok(());
        }
        if let Some(counts) = &mut self.stats.counts {
            counts.quads(self.batch.quads, &self.batch.coverage);
        }
        self.batch.fill();
        let setting = setting(&self.target.draw.state.facts, self.primitive, &self.batch);
        let Worker { tile, qpu, shadow, partial, .. } = worker;
        let Target { memory, draw, .. } = self.target;
        let mode = DepthMode { func: draw.state.config.depth_func, write: draw.state.config.depth_write };
        let mut ports = FragmentPorts {
            tlb: tlb(tile, &self.batch, mode),
            tile,
            batch: &self.batch,
            distances: &setting.distances,
            coefficients: self.coefficients,
            partial,
            next_varying: 0,
            facts: &draw.state.facts,
            reverse: if self.primitive.reverse { 0xffff } else { 0 },
            mode,
            stencil: Stencil::default(),
            latched: None,
            sample_z: self.sample_z,
            read_sample: 0,
            write_sample: 0,
            early_z_depth: draw.state.config.early_z.then_some(&setting.payload.rb15),
            note: None,
            failed_stencil: 0,
        };
        let fragment = &draw.fragment;
        if let Some(trace) = &mut self.stats.pixel {
            if let Some(element) = ports.batch.element_of(trace.x, trace.y) {
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
        ports.count(&mut self.stats.counters);
        if self.early_z && mode.write && ports.tlb.tests > 0 {
            for &first in &self.batch.firsts[..self.batch.quads] {
                shadow.update(ports.tile.zs(), usize::from(first));
            }
        }
        if self.stats.check {
            for rule in ports.end() {
                fragment.broke_at_end(rule, qpu, self.stats);
            }
        }
        self.batch.quads = 0;
        Ok(())
    }
}

/// What a batch's instance begins with, for machine code as well.
#[inline]
fn tlb(tile: &mut Tile, batch: &Batch, mode: DepthMode) -> Tlb {
    let [less, equal, greater] = mode.passing().map(|passes| if passes { u32::MAX } else { 0 });
    let word = size_of::<u32>() as u32;
    Tlb {
        ms_flags: batch.coverage,
        color: tile.color_mut().as_mut_ptr(),
        zs: tile.zs_mut().as_mut_ptr(),
        quads: batch.firsts.map(|first| u32::from(first) * word),
        less,
        equal,
        greater,
        write: if mode.write { u32::MAX } else { 0 },
        tests: 0,
        passed: 0,
        masked: 0,
        colored: 0,
    }
}

/// Depth of the pixel at this distance from the reference point, 24 bits.
#[inline]
fn z_at(facts: &Facts, z: &Plane, dx: f64, dy: f64) -> u32 {
    z_to_24_bits(facts, z.at + z.dx * dx + z.dy * dy)
}

/// The quads of a batch in which some element is set.
fn quads_of(lanes: LaneMask) -> u64 {
    let any = lanes | lanes >> 1;
    u64::from(((any | any >> 2) & 0x1111).count_ones())
}

/// What a batch's elements begin with (v3d.md §9.6).
struct Setting {
    /// W and Z.
    payload: Payload,
    distances: Distances,
}

/// Distances from the reference point in pixels.
struct Distances {
    x: [f32; LANES],
    y: [f32; LANES],
}

on_wide_vectors! {
    fn setting(facts: &Facts, primitive: &Primitive, batch: &Batch) -> Setting {
        let Primitive { z, rw, reference: (x0, y0), .. } = primitive;
        let distances = Distances { x: [0.0; LANES], y: [0.0; LANES] };
        let mut setting = Setting { payload: Payload::default(), distances };
        for lane in 0..LANES {
            let dx = f64::from(batch.x[lane]) + 0.5 - x0;
            let dy = f64::from(batch.y[lane]) + 0.5 - y0;
            let w = 1.0 / (rw.at + rw.dx * dx + rw.dy * dy);
            setting.payload.ra15[lane] = (w as f32).to_bits();
            setting.payload.rb15[lane] = usual_z_in_vectors(z.at + z.dx * dx + z.dy * dy);
            setting.distances.x[lane] = dx as f32;
            setting.distances.y[lane] = dy as f32;
        }
        if !is_usual_z(facts) {
            for lane in 0..LANES {
                let (dx, dy) = (f64::from(batch.x[lane]) + 0.5 - x0, f64::from(batch.y[lane]) + 0.5 - y0);
                setting.payload.rb15[lane] = z_at(facts, z, dx, dy);
            }
        }
        setting
    }
}

on_wide_vectors! {
    fn partial_sums(varyings: &[Coefficients], distances: &Distances, out: &mut Vec<Lanes>) -> () {
        out.resize(varyings.len(), [0; LANES]);
        for (out, varying) in out.iter_mut().zip(varyings) {
            *out = varying.partial(&distances.x, &distances.y);
        }
    }
}

/// [`Ports`] of a fragment program.
struct FragmentPorts<'a> {
    tile: &'a mut Tile,
    batch: &'a Batch,
    distances: &'a Distances,
    coefficients: &'a [Coefficients],
    /// Where machine code finds their partial sums.
    partial: &'a mut Vec<Lanes>,
    next_varying: usize,
    facts: &'a Facts,
    /// What machine code knows as well.
    tlb: Tlb,
    reverse: LaneMask,
    mode: DepthMode,
    stencil: Stencil,
    /// The set-up of the first Z write, on a machine that keeps it for the batch.
    latched: Option<Stencil>,
    sample_z: [f64; 4],
    read_sample: usize,
    write_sample: usize,
    /// The depth that the rasteriser gave, where the driver enabled early Z.
    early_z_depth: Option<&'a Lanes>,
    note: Option<Note>,
    /// Elements of which every covered sample failed the stencil test.
    failed_stencil: LaneMask,
}

const VARYINGS_LEFT: Note = Note {
    id: "varyings-left",
    manual: "qpu.md §5.1 6, §4.2",
    text: "all declared varyings are read before the program ends",
};

const VARYING_NOT_DECLARED: Note = Note {
    id: "varyings-declared",
    manual: "qpu.md §4.2",
    text: "no more varyings are read than are declared",
};

const TWO_FACES: Note = Note {
    id: "stencil-faces",
    manual: "v3d.md §12 HW-2924",
    text: "stencil set-ups that differ by face need two Z writes with separated masks: the set-up is latched per batch",
};

impl FragmentPorts<'_> {
    /// Rules that the instance broke as a whole.
    fn end(&self) -> impl Iterator<Item = Note> + use<> {
        let left = self.next_varying < self.coefficients.len();
        let faces = self.stencil.faces_differ() && self.tlb.tests == 1;
        [left.then_some(VARYINGS_LEFT), faces.then_some(TWO_FACES)].into_iter().flatten()
    }

    fn count(&self, counters: &mut Counters) {
        counters.add(Event::QuadsNonZeroCoverage, self.batch.quads as u64);
        counters.add(Event::QuadsZeroCoverage, (QUADS - self.batch.quads) as u64);
        // What is masked away, on a machine that counts it all the same.
        let filled = ((1u32 << (self.batch.quads * 4)) - 1) as LaneMask;
        let Tlb { colored, passed, masked, tests, .. } = self.tlb;
        let [colored, passed, masked] = [colored, passed, masked].map(|lanes| lanes as LaneMask);
        let masked =
            if self.facts.occlusion_events == OcclusionEvents::Counted { masked & filled } else { 0 };
        counters.add(Event::QuadsWrittenToColor, quads_of(colored | masked));
        if tests > 0 {
            let passing = quads_of(passed | masked);
            counters.add(Event::QuadsPassingZAndStencil, passing);
            counters.add(Event::QuadsFailingZAndStencil, self.batch.quads as u64 - passing);
            // A quad fails the stencil test when none of its covered pixels gets past it.
            if self.failed_stencil != 0 {
                let covered = lanes_with(&self.batch.coverage) & filled;
                let past = covered & !self.failed_stencil;
                counters.add(Event::QuadsFailingStencil, quads_of(covered) - quads_of(past));
            }
        }
    }

    /// The next of a pixel's samples, in order.
    fn step(&self, sample: usize) -> usize {
        (sample + 1) % self.tile.samples()
    }
}

/// Elements whose word is not zero.
#[inline]
fn lanes_with(flags: &Lanes) -> LaneMask {
    // Words first: their sum is computed in vectors.
    let mut bits = [0u32; LANES];
    for lane in 0..LANES {
        bits[lane] = if flags[lane] != 0 { 1 << lane } else { 0 };
    }
    bits.iter().fold(0, |all, bit| all | bit) as LaneMask
}

fn no_vpm<T>() -> Result<T, Fault> {
    Err(Fault::port("VPM access in a fragment program: its FIFO carries the varyings (qpu.md §4.2)"))
}

impl Ports for FragmentPorts<'_> {
    fn take_note(&mut self) -> Option<Note> {
        self.note.take()
    }

    fn held(&self, element: usize) -> Words {
        let masks = [
            (Held::Coverage, self.tlb.ms_flags[element]),
            (Held::Reverse, u32::from(self.reverse >> element & 1)),
        ];
        let first = first_sample(&self.batch.firsts, element, self.tile.samples());
        let samples = (0u8..).zip(first..first + self.tile.samples()).flat_map(|(sample, at)| {
            [(Held::Color(sample), self.tile.color()[at]), (Held::DepthStencil(sample), self.tile.zs()[at])]
        });
        masks.into_iter().chain(samples).collect()
    }

    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        let Some(varying) = self.coefficients.get(self.next_varying) else {
            self.note = Some(VARYING_NOT_DECLARED);
            return Ok(([0; LANES], [0; LANES]));
        };
        self.next_varying += 1;
        Ok((varying.partial(&self.distances.x, &self.distances.y), [varying.c.to_bits(); LANES]))
    }

    fn varyings(&mut self) -> Varyings {
        partial_sums(self.coefficients, self.distances, self.partial);
        Varyings {
            partial: self.partial.as_ptr(),
            coefficients: self.coefficients.as_ptr(),
            count: self.coefficients.len() as u32,
            next: self.next_varying(),
        }
    }

    fn next_varying(&self) -> u32 {
        self.next_varying as u32
    }

    fn set_next_varying(&mut self, next: u32) {
        self.next_varying = next as usize;
    }

    fn tlb(&mut self) -> *mut Tlb {
        let plain = !self.tile.multisample() && self.stencil == Stencil::default() && self.latched.is_none();
        if plain { &raw mut self.tlb } else { std::ptr::null_mut() }
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
        let samples = self.tile.samples();
        let place = |lane| (first_sample(&self.batch.firsts, lane, samples) + sample) % TILE_SAMPLES;
        Ok(std::array::from_fn(|lane| self.tile.color()[place(lane)]))
    }

    fn tlb_color_write(&mut self, mask: LaneMask, value: &Lanes, all: bool) -> Result<(), Fault> {
        let samples = self.tile.samples();
        self.tlb.colored |= u32::from(mask & lanes_with(&self.tlb.ms_flags));
        if samples == 1 {
            for quad in 0..QUADS {
                let stored = quad_mut(self.tile.color_mut(), self.batch.firsts[quad]);
                for i in 0..4 {
                    let lane = quad * 4 + i;
                    let live = (u32::from(mask) & 1 << lane != 0) & (self.tlb.ms_flags[lane] & 1 != 0);
                    stored[i] = if live { value[lane] } else { stored[i] };
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
                if self.tlb.ms_flags[lane] >> sample & 1 != 0 {
                    color[first_sample(&self.batch.firsts, lane, samples) + sample] = value[lane];
                }
            }
        }
        Ok(())
    }

    fn tlb_z(&mut self, mask: LaneMask, z: &Lanes) -> Result<(), Fault> {
        self.tlb.masked |= u32::from(lanes_with(&self.tlb.ms_flags) & !mask);
        let test = BatchTest {
            mode: self.mode,
            stencil: self.latched.unwrap_or(self.stencil),
            quads: &self.batch.firsts,
            reverse: self.reverse,
            sample_z: self.sample_z,
        };
        if self.facts.stencil_latch == StencilLatch::FirstWrite {
            self.latched.get_or_insert(self.stencil);
        }
        self.failed_stencil = test.run(self.tile, mask, z, &mut self.tlb.ms_flags);
        self.tlb.passed |= u32::from(lanes_with(&self.tlb.ms_flags));
        self.tlb.tests += 1;
        if self.early_z_depth.is_some_and(|own| own != z) {
            self.note = Some(early_z::SHADER_DEPTH);
        }
        Ok(())
    }

    fn tlb_stencil(&mut self, word: u32) -> Result<(), Fault> {
        let word = StencilWord::from_bits(word).map_err(|error| Fault::port(error.to_string()))?;
        if let (Some(_), StencilWord::Setup(setup)) = (self.early_z_depth, word) {
            if setup.depth_fail != StencilOp::Keep {
                self.note = Some(early_z::STENCIL);
            }
        }
        // Machine code may have written the first one.
        if self.facts.stencil_latch == StencilLatch::FirstWrite && self.tlb.tests > 0 {
            self.latched.get_or_insert(self.stencil);
        }
        self.stencil.set_up(word);
        Ok(())
    }

    fn ms_flags(&self) -> Lanes {
        self.tlb.ms_flags
    }

    fn set_ms_flags(&mut self, mask: LaneMask, value: &Lanes) {
        for (lane, flags) in self.tlb.ms_flags.iter_mut().enumerate() {
            if mask >> lane & 1 != 0 {
                let old = std::mem::replace(flags, value[lane] & 0xf);
                self.tlb.masked |= u32::from(old != 0 && *flags == 0) << lane;
            }
        }
    }

    fn rev_flag(&self) -> Lanes {
        std::array::from_fn(|lane| u32::from(self.reverse >> lane & 1))
    }

    fn set_reverse(&mut self, reverse: bool) {
        self.reverse = if reverse { 0xffff } else { 0 };
    }

    fn pixel_xy(&self) -> (Lanes, Lanes) {
        (self.batch.x.map(|x| x as u32), self.batch.y.map(|y| y as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;
    use vc4::cl::packets::CompareFunc;

    static FACTS: LazyLock<Facts> = LazyLock::new(Facts::default);
    static DISTANCES: LazyLock<Distances> =
        LazyLock::new(|| Distances { x: std::array::from_fn(|lane| lane as f32), y: [2.0; LANES] });

    /// Elements with this coverage, side by side in a tile of so many samples.
    fn in_a_row(coverage: u32, samples: usize) -> Batch {
        let firsts = std::array::from_fn(|quad| (quad * 4 * samples) as u16);
        Batch { quads: QUADS, firsts, coverage: [coverage; LANES], ..Batch::default() }
    }

    fn ports<'a>(
        tile: &'a mut Tile,
        batch: &'a Batch,
        coefficients: &'a [Coefficients],
    ) -> FragmentPorts<'a> {
        let mode = DepthMode { func: CompareFunc::Less, write: true };
        FragmentPorts {
            tlb: tlb(tile, batch, mode),
            tile,
            batch,
            distances: &DISTANCES,
            coefficients,
            partial: Box::leak(Box::default()),
            next_varying: 0,
            facts: &FACTS,
            reverse: 0,
            mode,
            stencil: Stencil::default(),
            latched: None,
            sample_z: [0.0; 4],
            read_sample: 0,
            write_sample: 0,
            early_z_depth: None,
            note: None,
            failed_stencil: 0,
        }
    }

    #[test]
    fn quads_are_counted_by_their_elements() {
        assert_eq!([0, 1, 0x8000, 0x0ff0, 0x1248, 0xffff].map(quads_of), [0, 1, 1, 2, 4, 4]);
    }

    #[test]
    fn quads_fill_lanes_in_order_and_helpers_copy_the_first() {
        let mut batch = Batch::default();
        batch.push(4, 6, 100, [1, 0, 2, 3]);
        batch.push(8, 6, 108, [0, 0, 0, 9]);
        batch.fill();
        assert_eq!(batch.x, [4, 5, 4, 5, 8, 9, 8, 9, 4, 5, 4, 5, 4, 5, 4, 5]);
        assert_eq!(batch.y, [6, 6, 7, 7, 6, 6, 7, 7, 6, 6, 7, 7, 6, 6, 7, 7]);
        assert_eq!(batch.firsts, [100, 108, 100, 100]);
        assert_eq!(batch.coverage, [1, 0, 2, 3, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn varyings_come_in_order_and_must_all_be_read() {
        let (mut tile, batch) = (Tile::default(), in_a_row(0, 1));
        let coefficients = [Coefficients { a: 2.0, b: 10.0, c: 5.0 }, Coefficients::default()];
        let mut ports = ports(&mut tile, &batch, &coefficients);
        let (vp, c) = ports.varying().unwrap();
        assert_eq!((f32::from_bits(vp[3]), f32::from_bits(c[7])), (26.0, 5.0));
        assert_eq!(ports.end().collect::<Vec<_>>(), [VARYINGS_LEFT]);
        ports.varying().unwrap();
        assert_eq!(ports.end().count(), 0);
        assert_eq!(ports.take_note(), None);
        ports.varying().unwrap();
        assert_eq!(ports.take_note(), Some(VARYING_NOT_DECLARED));
    }

    #[test]
    fn failed_elements_keep_their_colour() {
        let mut tile = Tile::default();
        tile.zs_mut()[1] = 50 << 8;
        tile.zs_mut()[2] = 70 << 8;
        tile.zs_mut()[3] = 70 << 8;
        let batch = in_a_row(0xf, 1);
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
        let batch = in_a_row(0b0101, 4);
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

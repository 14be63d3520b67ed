//! What a fragment program is connected to (qpu.md §4.2–§4.3, §4.7–§4.8).

use vc4::cl::words::{StencilOp, StencilWord};
use vc4::facts::{Facts, OcclusionEvents, StencilLatch};
use vc4::hw::LANES;

use super::batch::{Batch, Setting};
use super::early_z;
use super::tlb::{BatchTest, DepthMode, QUADS, Stencil, TILE_SAMPLES, Tile, first_sample, quad_mut};
use crate::qpu::{Coefficients, Fault, LaneMask, Lanes, Note, Ports, Tlb, Varyings};
use crate::stats::{Counters, Event, Held, Words};

/// [`Ports`] of a fragment program.
pub struct FragmentPorts<'a> {
    tile: &'a mut Tile,
    batch: &'a Batch,
    coverage: &'a Lanes,
    coefficients: &'a [Coefficients],
    /// Their partial sums.
    partial: &'a [Lanes],
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
    /// Rules are watched.
    checked: bool,
    note: Option<Note>,
    /// Elements of which every covered sample failed the stencil test.
    failed_stencil: LaneMask,
}

/// How the tile buffer behaves for a primitive.
#[derive(Clone, Copy)]
pub struct Machine<'a> {
    pub facts: &'a Facts,
    pub mode: DepthMode,
    /// Depth of each sample relative to its pixel's, in steps of the 24-bit buffer.
    pub sample_z: [f64; 4],
    /// It faces backwards.
    pub reverse: bool,
    /// The driver enabled early Z.
    pub early_z: bool,
    /// Somebody asks whether rules are kept.
    pub checked: bool,
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

impl<'a> FragmentPorts<'a> {
    /// Those of a batch with so many varyings and their partial sums.
    #[inline]
    pub fn new(
        tile: &'a mut Tile,
        batch: &'a Batch,
        setting: &'a Setting,
        machine: Machine<'a>,
        coefficients: &'a [Coefficients],
        partial: &'a [Lanes],
    ) -> FragmentPorts<'a> {
        let Machine { facts, mode, sample_z, reverse, early_z, checked } = machine;
        FragmentPorts {
            tlb: tlb(tile, batch, &setting.coverage, mode),
            tile,
            batch,
            coverage: &setting.coverage,
            coefficients,
            partial,
            next_varying: 0,
            facts,
            reverse: if reverse { 0xffff } else { 0 },
            mode,
            stencil: Stencil::default(),
            latched: None,
            sample_z,
            read_sample: 0,
            write_sample: 0,
            early_z_depth: early_z.then_some(&setting.payload.rb15),
            checked,
            note: None,
            failed_stencil: 0,
        }
    }

    /// Whether depths were tested.
    pub fn has_tested(&self) -> bool {
        self.tlb.tests > 0
    }

    /// Rules that the instance broke as a whole.
    pub fn end(&self) -> impl Iterator<Item = Note> + use<> {
        let left = self.next_varying < self.coefficients.len();
        let faces = self.stencil.faces_differ() && self.tlb.tests == 1;
        [left.then_some(VARYINGS_LEFT), faces.then_some(TWO_FACES)].into_iter().flatten()
    }

    /// Adds to the counters what became of the quads.
    pub fn count(&self, counters: &mut Counters) {
        counters.add(Event::QuadsNonZeroCoverage, self.batch.quads() as u64);
        counters.add(Event::QuadsZeroCoverage, (QUADS - self.batch.quads()) as u64);
        // Programs may give samples to elements without pixels.
        let filled = ((1u32 << (self.batch.quads() * 4)) - 1) as LaneMask;
        let Tlb { colored, passed, masked, tests, .. } = self.tlb;
        let [colored, passed, masked] = [colored, passed, masked].map(|lanes| lanes as LaneMask & filled);
        // What is masked away counts all the same on some machines.
        let masked = if self.facts.occlusion_events == OcclusionEvents::Counted { masked } else { 0 };
        counters.add(Event::QuadsWrittenToColor, quads_of(colored | masked));
        if tests > 0 {
            let passing = quads_of(passed | masked);
            counters.add(Event::QuadsPassingZAndStencil, passing);
            counters.add(Event::QuadsFailingZAndStencil, self.batch.quads() as u64 - passing);
            // A quad fails the stencil test when none of its covered pixels gets past it.
            if self.failed_stencil != 0 {
                let covered = lanes_with(self.coverage) & filled;
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
        let first = first_sample(self.batch.places(), element, self.tile.samples());
        let samples = (0u8..).zip(first..first + self.tile.samples()).flat_map(|(sample, at)| {
            [(Held::Color(sample), self.tile.color()[at]), (Held::DepthStencil(sample), self.tile.zs()[at])]
        });
        masks.into_iter().chain(samples).collect()
    }

    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        let next = self.next_varying;
        let (Some(partial), Some(varying)) = (self.partial.get(next), self.coefficients.get(next)) else {
            self.note = Some(VARYING_NOT_DECLARED);
            return Ok(([0; LANES], [0; LANES]));
        };
        self.next_varying += 1;
        Ok((*partial, [varying.c.to_bits(); LANES]))
    }

    // A call would hand it over in memory, in halves that are read whole.
    #[inline(always)]
    fn varyings(&mut self) -> Varyings {
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
        // Here alone depths are compared with the rasteriser's.
        let plain = plain && !(self.checked && self.early_z_depth.is_some());
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
        let place = |lane| (first_sample(self.batch.places(), lane, samples) + sample) % TILE_SAMPLES;
        Ok(std::array::from_fn(|lane| self.tile.color()[place(lane)]))
    }

    fn tlb_color_write(&mut self, mask: LaneMask, value: &Lanes, all: bool) -> Result<(), Fault> {
        let samples = self.tile.samples();
        self.tlb.colored |= u32::from(mask & lanes_with(&self.tlb.ms_flags));
        if samples == 1 {
            for quad in 0..QUADS {
                let stored = quad_mut(self.tile.color_mut(), self.batch.places()[quad]);
                for (i, stored) in stored.iter_mut().enumerate() {
                    let lane = quad * 4 + i;
                    let live = (u32::from(mask) & 1 << lane != 0) & (self.tlb.ms_flags[lane] & 1 != 0);
                    *stored = if live { value[lane] } else { *stored };
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
                    color[first_sample(self.batch.places(), lane, samples) + sample] = value[lane];
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
            quads: self.batch.places(),
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
        let pixels: [_; LANES] = std::array::from_fn(|element| self.batch.pixel(element));
        (pixels.map(|(x, _)| x as u32), pixels.map(|(_, y)| y as u32))
    }
}

/// The quads of a batch in which some element is set.
fn quads_of(lanes: LaneMask) -> u64 {
    let any = lanes | lanes >> 1;
    let quads = u32::from((any | any >> 2) & 0x1111);
    // Their sum is the fourth digit of the product.
    u64::from((quads * 0x1111) >> 12 & 0xf)
}

/// What a batch's instance begins with, for machine code as well.
#[inline]
fn tlb(tile: &mut Tile, batch: &Batch, coverage: &Lanes, mode: DepthMode) -> Tlb {
    let [less, equal, greater] = mode.passing().map(|passes| if passes { u32::MAX } else { 0 });
    let word = size_of::<u32>() as u32;
    Tlb {
        ms_flags: *coverage,
        color: tile.color_mut().as_mut_ptr(),
        zs: tile.zs_mut().as_mut_ptr(),
        quads: batch.places().map(|first| u32::from(first) * word),
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;
    use vc4::cl::packets::CompareFunc;

    use super::super::batch::Distances;
    use crate::qpu::Payload;

    static FACTS: LazyLock<Facts> = LazyLock::new(Facts::default);
    /// Partial sums of two varyings.
    const PARTIAL: &[Lanes] = &[[7; LANES], [8; LANES]];

    /// Elements side by side in a tile of so many samples.
    fn in_a_row(samples: u16) -> Batch {
        let mut batch = Batch::default();
        for quad in 0..QUADS as u16 {
            batch.push(0, 0, quad * 4 * samples, 0);
        }
        batch
    }

    /// With this coverage.
    fn setting(coverage: u32) -> Setting {
        let distances = Distances { x: [0.0; LANES], y: [0.0; LANES] };
        Setting { payload: Payload::default(), distances, coverage: [coverage; LANES] }
    }

    fn ports<'a>(
        tile: &'a mut Tile,
        batch: &'a Batch,
        setting: &'a Setting,
        coefficients: &'a [Coefficients],
    ) -> FragmentPorts<'a> {
        let mode = DepthMode { func: CompareFunc::Less, write: true };
        let machine = Machine {
            facts: &FACTS,
            mode,
            sample_z: [0.0; 4],
            reverse: false,
            early_z: false,
            checked: false,
        };
        FragmentPorts::new(tile, batch, setting, machine, coefficients, PARTIAL)
    }

    #[test]
    fn quads_are_counted_by_their_elements() {
        assert_eq!([0, 1, 0x8000, 0x0ff0, 0x1248, 0xffff].map(quads_of), [0, 1, 1, 2, 4, 4]);
    }

    #[test]
    fn varyings_come_in_order_and_must_all_be_read() {
        let (mut tile, batch, setting) = (Tile::default(), in_a_row(1), setting(0));
        let coefficients = [Coefficients { a: 2.0, b: 10.0, c: 5.0 }, Coefficients::default()];
        let mut ports = ports(&mut tile, &batch, &setting, &coefficients);
        let (vp, c) = ports.varying().unwrap();
        assert_eq!((vp[3], f32::from_bits(c[7])), (7, 5.0));
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
        let (batch, setting) = (in_a_row(1), setting(0xf));
        let mut ports = ports(&mut tile, &batch, &setting, &[]);
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
        let (batch, setting) = (in_a_row(4), setting(0b0101));
        let mut ports = ports(&mut tile, &batch, &setting, &[]);
        for value in 1..=4 {
            ports.tlb_color_write(1, &[value; LANES], false).unwrap();
        }
        let read: Vec<u32> = (0..5).map(|_| ports.tlb_color_read().unwrap()[0]).collect();
        assert_eq!(read, [1, 0, 3, 0, 1]);
        ports.tlb_color_write(0b10, &[7; LANES], true).unwrap();
        assert_eq!(tile.color()[4..8], [7, 0, 7, 0]);
    }
}

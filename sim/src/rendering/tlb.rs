//! The tile buffer: colour, depth and stencil of one tile, and the tests on them (v3d.md §10).

use vc4::cl::packets::CompareFunc;
use vc4::cl::words::{StencilFace, StencilOp, StencilSetup, StencilWord};
use vc4::hw::{LANES, TILE_PX, tile_px};

use crate::qpu::{LaneMask, Lanes};
use crate::unverified::ms_sample_z;

/// Samples of a tile with 32-bit colour (v3d.md §10.1).
pub const TILE_SAMPLES: usize = (TILE_PX * TILE_PX) as usize;

/// Values that a store leaves behind (packet 114, v3d.md §5.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClearValues {
    /// RGBA8888 word.
    pub color: u32,
    /// Depth in bits 31:8, stencil in 7:0.
    pub zs: u32,
}

/// The samples of one buffer of a tile. A fixed size lets masked indices go unchecked.
pub type Samples = [u32; TILE_SAMPLES];

/// One tile's buffers: quads row by row; in each its pixels as a QPU has them for elements, and their samples.
pub struct Tile {
    color: Box<Samples>,
    zs: Box<Samples>,
    multisample: bool,
}

impl Default for Tile {
    fn default() -> Self {
        Tile { color: Box::new([0; TILE_SAMPLES]), zs: Box::new([0; TILE_SAMPLES]), multisample: false }
    }
}

impl Tile {
    /// Sets the mode and every sample.
    pub fn reset(&mut self, multisample: bool, values: ClearValues) {
        self.multisample = multisample;
        self.clear(Some(values.color), Some(values.zs));
    }

    /// Sets every sample of the given buffers.
    pub fn clear(&mut self, color: Option<u32>, zs: Option<u32>) {
        if let Some(color) = color {
            self.color.fill(color);
        }
        if let Some(zs) = zs {
            self.zs.fill(zs);
        }
    }

    /// Whether pixels have four samples.
    pub fn multisample(&self) -> bool {
        self.multisample
    }

    /// Samples per pixel.
    pub fn samples(&self) -> usize {
        if self.multisample { 4 } else { 1 }
    }

    /// Samples per quad.
    #[inline]
    pub fn quad_samples(&self) -> usize {
        4 * self.samples()
    }

    /// Pixels per edge.
    pub fn edge(&self) -> u32 {
        tile_px(self.multisample)
    }

    /// Index of the first sample of a pixel of the tile.
    #[inline]
    pub fn pixel(&self, x: u32, y: u32) -> usize {
        let quad = y / 2 * (self.edge() / 2) + x / 2;
        (quad * 4 + (y & 1) * 2 + (x & 1)) as usize * self.samples()
    }

    /// Colour samples, RGBA8888.
    pub fn color(&self) -> &Samples {
        &self.color
    }

    /// Colour samples.
    pub fn color_mut(&mut self) -> &mut Samples {
        &mut self.color
    }

    /// Depth and stencil samples, depth in bits 31:8.
    pub fn zs(&self) -> &Samples {
        &self.zs
    }

    /// Depth and stencil samples.
    pub fn zs_mut(&mut self) -> &mut Samples {
        &mut self.zs
    }
}

/// Whether `incoming` passes against `stored`.
#[inline]
pub fn compare(func: CompareFunc, incoming: u32, stored: u32) -> bool {
    match func {
        CompareFunc::Never => false,
        CompareFunc::Less => incoming < stored,
        CompareFunc::Equal => incoming == stored,
        CompareFunc::LessOrEqual => incoming <= stored,
        CompareFunc::Greater => incoming > stored,
        CompareFunc::NotEqual => incoming != stored,
        CompareFunc::GreaterOrEqual => incoming >= stored,
        CompareFunc::Always => true,
    }
}

/// One face's stencil set-up (v3d.md §10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FaceState {
    setup: StencilSetup,
    write_mask: u8,
}

impl FaceState {
    fn passes(&self, stored: u8) -> bool {
        let mask = self.setup.compare_mask;
        compare(self.setup.func, u32::from(self.setup.reference & mask), u32::from(stored & mask))
    }

    fn update(&self, operation: StencilOp, stored: u8) -> u8 {
        let value = match operation {
            StencilOp::Zero => 0,
            StencilOp::Keep => stored,
            StencilOp::Replace => self.setup.reference,
            StencilOp::IncrementClamp => stored.saturating_add(1),
            StencilOp::DecrementClamp => stored.saturating_sub(1),
            StencilOp::Invert => !stored,
            StencilOp::IncrementWrap => stored.wrapping_add(1),
            StencilOp::DecrementWrap => stored.wrapping_sub(1),
        };
        (value & self.write_mask) | (stored & !self.write_mask)
    }
}

/// The stencil state of one program instance: disabled until set-up words arrive (v3d.md §10.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stencil {
    front: Option<FaceState>,
    back: Option<FaceState>,
}

impl Stencil {
    /// Whether both faces are set up, and not alike.
    pub fn faces_differ(&self) -> bool {
        self.front.is_some() && self.back.is_some() && self.front != self.back
    }

    /// Takes a set-up word.
    pub fn set_up(&mut self, word: StencilWord) {
        match word {
            StencilWord::Masks(masks) => {
                for (face, mask) in [(&mut self.front, masks.front), (&mut self.back, masks.back)] {
                    if let Some(face) = face {
                        face.write_mask = mask;
                    }
                }
            }
            StencilWord::Setup(setup) => {
                let face = Some(FaceState { setup, write_mask: setup.write_mask.mask() });
                if setup.face != StencilFace::Back {
                    self.front = face;
                }
                if setup.face != StencilFace::Front {
                    self.back = face;
                }
            }
        }
    }
}

/// The depth part of the test, from packet 96 (v3d.md §5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthMode {
    /// Comparison.
    pub func: CompareFunc,
    /// Whether passing samples store their depth.
    pub write: bool,
}

impl DepthMode {
    /// Whether a depth passes that is less than the stored one, as large, or greater.
    pub fn passing(&self) -> [bool; 3] {
        [0, 1, 2].map(|incoming| compare(self.func, incoming, 1))
    }
}

/// Tests one sample: whether it survives, and the word to store.
///
/// Order: stencil, depth, update (v3d.md §10.3).
#[inline]
fn test_sample(mode: DepthMode, stencil: Option<FaceState>, z: u32, stored: u32) -> (bool, u32) {
    let depth = compare(mode.func, z, stored >> 8);
    let Some(face) = stencil else {
        let word = if depth && mode.write { (z << 8) | (stored & 0xff) } else { stored };
        return (depth, word);
    };
    let old = stored as u8;
    if !face.passes(old) {
        return (false, (stored & !0xff) | u32::from(face.update(face.setup.stencil_fail, old)));
    }
    let operation = if depth { face.setup.depth_pass } else { face.setup.depth_fail };
    let z_part = if depth && mode.write { z << 8 } else { stored & !0xff };
    (depth, z_part | u32::from(face.update(operation, old)))
}

/// What the depth and stencil test of one batch works on.
pub struct BatchTest<'a> {
    /// Depth comparison and write.
    pub mode: DepthMode,
    /// Stencil set-up so far.
    pub stencil: Stencil,
    /// First sample of each quad in the tile.
    pub quads: &'a [u16; QUADS],
    /// Elements that belong to a back-facing primitive.
    pub reverse: LaneMask,
    /// Depth of each sample relative to its pixel's, in steps of the 24-bit buffer.
    pub sample_z: [f64; 4],
}

impl BatchTest<'_> {
    /// Runs the test; samples that fail leave `ms_flags`, also those of elements outside of `mask`
    /// (qpu.md §3.4). Returns the elements of which every covered sample failed the stencil test.
    pub fn run(&self, tile: &mut Tile, mask: LaneMask, z: &Lanes, ms_flags: &mut Lanes) -> LaneMask {
        let samples = tile.samples();
        if samples == 1 && self.stencil == Stencil::default() {
            self.run_depth(tile, mask, z, ms_flags);
            return 0;
        }
        let mut failed_stencil = 0;
        for lane in 0..LANES {
            if mask >> lane & 1 == 0 {
                ms_flags[lane] = 0;
                continue;
            }
            if ms_flags[lane] & 0xf == 0 {
                continue;
            }
            let face = if self.reverse >> lane & 1 != 0 { self.stencil.back } else { self.stencil.front };
            let base = first_sample(self.quads, lane, samples);
            let incoming = z[lane] & vc4::hw::DEPTH_MAX;
            let mut flags = ms_flags[lane] & 0xf;
            let mut past_stencil = face.is_none();
            for (sample, word) in tile.zs[base..base + samples].iter_mut().enumerate() {
                if flags >> sample & 1 == 0 {
                    continue;
                }
                let z = if samples == 1 { incoming } else { ms_sample_z(incoming, self.sample_z[sample]) };
                past_stencil = past_stencil || face.is_some_and(|face| face.passes(*word as u8));
                let (passed, new) = test_sample(self.mode, face, z, *word);
                *word = new;
                if !passed {
                    flags &= if samples == 1 { 0 } else { !(1 << sample) };
                }
            }
            ms_flags[lane] = flags;
            failed_stencil |= LaneMask::from(!past_stencil) << lane;
        }
        failed_stencil
    }

    /// The usual case: one sample, no stencil.
    fn run_depth(&self, tile: &mut Tile, mask: LaneMask, z: &Lanes, ms_flags: &mut Lanes) {
        match self.mode.func {
            CompareFunc::Less => self.depth_quads(tile, mask, z, ms_flags, |z, stored| z < stored),
            CompareFunc::LessOrEqual => self.depth_quads(tile, mask, z, ms_flags, |z, stored| z <= stored),
            CompareFunc::Always => self.depth_quads(tile, mask, z, ms_flags, |_, _| true),
            func => {
                self.depth_quads(tile, mask, z, ms_flags, |z, stored| compare(func, z as u32, stored as u32))
            }
        }
    }

    /// Depths have 24 bits: they compare as signed numbers, which the hosts' vectors do.
    #[inline]
    fn depth_quads(
        &self,
        tile: &mut Tile,
        mask: LaneMask,
        z: &Lanes,
        ms_flags: &mut Lanes,
        passes: impl Fn(i32, i32) -> bool,
    ) {
        for quad in 0..QUADS {
            let stored = quad_mut(&mut tile.zs, self.quads[quad]);
            for (i, stored) in stored.iter_mut().enumerate() {
                let lane = quad * 4 + i;
                let incoming = z[lane] & vc4::hw::DEPTH_MAX;
                let live = (u32::from(mask) & 1 << lane != 0) & (ms_flags[lane] & 1 != 0);
                let passed = live & passes(incoming as i32, (*stored >> 8) as i32);
                let new = (incoming << 8) | (*stored & 0xff);
                *stored = if passed & self.mode.write { new } else { *stored };
                ms_flags[lane] = if passed { ms_flags[lane] } else { 0 };
            }
        }
    }
}

/// Quads of a batch.
pub const QUADS: usize = LANES / 4;

/// The first sample of an element's pixel, by those of the quads.
#[inline]
pub fn first_sample(quads: &[u16; QUADS], element: usize, samples: usize) -> usize {
    usize::from(quads[element / 4]) + element % 4 * samples
}

/// A quad's samples in a tile without multisampling, by the first one.
#[inline]
pub fn quad_mut(samples: &mut Samples, first: u16) -> &mut [u32; 4] {
    let first = usize::from(first) & (TILE_SAMPLES - 4);
    (&mut samples[first..first + 4]).try_into().expect("four")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALWAYS: DepthMode = DepthMode { func: CompareFunc::Always, write: true };

    #[test]
    fn every_depth_function() {
        let expected = [
            (CompareFunc::Never, [false, false, false]),
            (CompareFunc::Less, [true, false, false]),
            (CompareFunc::Equal, [false, true, false]),
            (CompareFunc::LessOrEqual, [true, true, false]),
            (CompareFunc::Greater, [false, false, true]),
            (CompareFunc::NotEqual, [true, false, true]),
            (CompareFunc::GreaterOrEqual, [false, true, true]),
            (CompareFunc::Always, [true, true, true]),
        ];
        for (func, passes) in expected {
            for (z, pass) in [4u32, 5, 6].into_iter().zip(passes) {
                let (passed, word) = test_sample(DepthMode { func, write: true }, None, z, 0x5_07);
                assert_eq!(passed, pass, "{func:?} {z}");
                assert_eq!(word, if pass { z << 8 | 7 } else { 0x5_07 });
                assert_eq!(test_sample(DepthMode { func, write: false }, None, z, 0x5_07), (pass, 0x5_07));
            }
        }
    }

    /// Set-up word: faces, mask code, depth fail, depth pass, stencil fail, function, reference, mask.
    fn word(faces: u32, code: u32, ops: [u32; 3], func: u32, reference: u32, mask: u32) -> StencilWord {
        let [depth_fail, depth_pass, stencil_fail] = ops;
        let ops = depth_fail << 25 | depth_pass << 22 | stencil_fail << 19;
        StencilWord::from_bits(faces << 30 | code << 28 | ops | func << 16 | reference << 8 | mask).unwrap()
    }

    fn front(word: StencilWord) -> Option<FaceState> {
        let mut stencil = Stencil::default();
        stencil.set_up(word);
        stencil.front
    }

    #[test]
    fn every_stencil_operation() {
        // operation -> result on 0x00, 0x7e, 0xff with reference 0x42.
        let expected = [
            [0x00, 0x00, 0x00],
            [0x00, 0x7e, 0xff],
            [0x42, 0x42, 0x42],
            [0x01, 0x7f, 0xff],
            [0x00, 0x7d, 0xfe],
            [0xff, 0x81, 0x00],
            [0x01, 0x7f, 0x00],
            [0xff, 0x7d, 0xfe],
        ];
        for (operation, results) in expected.into_iter().enumerate() {
            for (stored, result) in [0x00u32, 0x7e, 0xff].into_iter().zip(results) {
                let face = front(word(1, 3, [1, operation as u32, 1], 7, 0x42, 0xff));
                assert_eq!(test_sample(ALWAYS, face, 9, stored), (true, 9 << 8 | result), "{operation}");
            }
        }
    }

    #[test]
    fn stencil_and_depth_failures_take_their_own_operations() {
        // fail: depth -> increment, pass -> zero, stencil -> invert; passes where (1 & 3) = (stored & 3).
        let face = front(word(3, 3, [3, 0, 5], 2, 0xf1, 3));
        let never = DepthMode { func: CompareFunc::Never, write: true };
        assert_eq!(test_sample(ALWAYS, face, 8, 0x1_02), (false, 0x1_fd));
        assert_eq!(test_sample(never, face, 8, 0x1_05), (false, 0x1_06));
        assert_eq!(test_sample(ALWAYS, face, 8, 0x1_05), (true, 0x8_00));
    }

    #[test]
    fn write_masks_by_code_and_in_full() {
        let mut stencil = Stencil::default();
        stencil.set_up(word(3, 2, [1, 5, 1], 7, 0, 0));
        assert_eq!(test_sample(ALWAYS, stencil.front, 0, 0xff), (true, 0xf0));
        stencil.set_up(StencilWord::from_bits(0x80_01).unwrap());
        assert_eq!(test_sample(ALWAYS, stencil.front, 0, 0xff), (true, 0xfe));
        assert_eq!(test_sample(ALWAYS, stencil.back, 0, 0xff), (true, 0x7f));
    }

    #[test]
    fn faces_and_masks_of_a_batch() {
        let mut tile = Tile::default();
        let mut stencil = Stencil::default();
        stencil.set_up(word(2, 3, [1, 2, 1], 7, 0x55, 0xff));
        let quads = [0, 4, 8, 12];
        let test = BatchTest { mode: ALWAYS, stencil, quads: &quads, reverse: 0b100, sample_z: [0.0; 4] };
        let mut flags = [0xf; LANES];
        flags[3] = 0;
        assert_eq!(test.run(&mut tile, 0b1110, &[0x123456; LANES], &mut flags), 0);
        assert_eq!(flags[..4], [0, 0xf, 0xf, 0]);
        assert_eq!(tile.zs()[..5], [0, 0x1234_5600, 0x1234_5655, 0, 0]);
    }

    #[test]
    fn samples_have_their_own_depth() {
        let mut tile = Tile::default();
        tile.reset(true, ClearValues { color: 0, zs: 100 << 8 });
        let mode = DepthMode { func: CompareFunc::Less, write: true };
        let test = BatchTest {
            mode,
            stencil: Stencil::default(),
            quads: &[4; QUADS],
            reverse: 0,
            sample_z: [-3.0, -1.0, 1.0, 3.0],
        };
        let mut flags = [0xf; LANES];
        test.run(&mut tile, 1, &[100; LANES], &mut flags);
        assert_eq!(flags[0], 0b0011);
        assert_eq!(tile.zs()[4..8], [97 << 8, 99 << 8, 100 << 8, 100 << 8]);
    }
}

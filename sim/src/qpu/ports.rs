//! What a QPU is connected to.

use vc4::hw::LANES;
use vc4::qpu::Stage;

use super::fault::Fault;
use crate::lanes::{LaneMask, Lanes};
use crate::stats::{Note, Words};

/// What a varying is made of: VP = A·(x−x0) + B·(y−y0), value = VP·W + C (v3d.md §9.6).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Coefficients {
    /// Gradient of (value − C)/Wc to the right.
    pub a: f32,
    /// Gradient downwards.
    pub b: f32,
    /// Value at the reference point.
    pub c: f32,
}

impl Coefficients {
    /// The partial sums A·dx + B·dy of all elements.
    #[inline(always)]
    pub fn partial(&self, dx: &[f32; LANES], dy: &[f32; LANES]) -> Lanes {
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = (self.a * dx[lane] + self.b * dy[lane]).to_bits();
        }
        out
    }
}

/// Varyings where machine code finds them: what [`Ports::varying`] would return in turn.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Varyings {
    /// The first varying's partial sums, others behind it.
    pub partial: *const Lanes,
    /// The first varying's coefficients.
    pub coefficients: *const Coefficients,
    /// How many there are.
    pub count: u32,
    /// The one to be read next.
    pub next: u32,
}

impl Varyings {
    /// None: [`Ports::varying`] is called.
    pub const NONE: Varyings =
        Varyings { partial: std::ptr::null(), coefficients: std::ptr::null(), count: 0, next: 0 };
}

/// The tile buffer where machine code finds it: depth tests without stencil, and colours, of pixels with one sample.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Tlb {
    /// The multisample mask of each element.
    pub ms_flags: Lanes,
    /// Colours of the tile, words.
    pub color: *mut u32,
    /// Depths and stencils of the tile.
    pub zs: *mut u32,
    /// Bytes in front of each quad's four words, in both.
    pub quads: [u32; LANES / 4],
    /// All ones where a depth passes that is less than the stored one, else zero.
    pub less: u32,
    /// The same of one that is as large.
    pub equal: u32,
    /// The same of one that is greater.
    pub greater: u32,
    /// All ones where depths that pass are stored, else zero.
    pub write: u32,
    /// Depth tests so far.
    pub tests: u32,
    /// Elements with a sample that passed the last one.
    pub passed: u32,
    /// Elements whose samples a program has masked away.
    pub masked: u32,
    /// Elements whose colour was written.
    pub colored: u32,
}

/// The fixed-function neighbours of a QPU during one program instance (qpu.md §4).
///
/// `mask` arguments hold the elements whose write condition was true.
pub trait Ports {
    /// What the program is run for.
    fn stage(&self) -> Stage {
        Stage::Fragment
    }
    /// A rule that the program broke since the last call; the access that broke it was given some meaning.
    fn take_note(&mut self) -> Option<Note> {
        None
    }
    /// What the fixed-function blocks hold of an element's pixel: masks and the tile buffer.
    fn held(&self, _element: usize) -> Words {
        Words::new()
    }
    /// Next varying: the partial sum A·dx + B·dy per element, and C as r5 will show it (§4.2).
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault>;
    /// The same for all varyings, which stay where they are for as long as the instance runs.
    fn varyings(&mut self) -> Varyings {
        Varyings::NONE
    }
    /// The number of the one that [`Ports::varying`] returns next.
    fn next_varying(&self) -> u32 {
        0
    }
    /// Goes to a varying: those before were read in memory.
    fn set_next_varying(&mut self, _next: u32) {}
    /// The tile buffer, where machine code may use it as it is now; null elsewhere.
    fn tlb(&mut self) -> *mut Tlb {
        std::ptr::null_mut()
    }
    /// VPM read set-up word (§4.9).
    fn vpm_read_setup(&mut self, word: u32) -> Result<(), Fault>;
    /// VPM write set-up word (§4.9).
    fn vpm_write_setup(&mut self, word: u32) -> Result<(), Fault>;
    /// Pops one vector of the VPM read FIFO.
    fn vpm_read(&mut self) -> Result<Lanes, Fault>;
    /// Writes one vector to the VPM.
    fn vpm_write(&mut self, value: &Lanes) -> Result<(), Fault>;
    /// Colour of the next sample from the tile buffer (§4.7).
    fn tlb_color_read(&mut self) -> Result<Lanes, Fault>;
    /// Colour to all samples (`all`) or to the next one.
    fn tlb_color_write(&mut self, mask: LaneMask, value: &Lanes, all: bool) -> Result<(), Fault>;
    /// Starts the depth and stencil test with these 24-bit values; failing and masked-out samples
    /// leave the multisample mask (§4.8, §3.4).
    fn tlb_z(&mut self, mask: LaneMask, z: &Lanes) -> Result<(), Fault>;
    /// Stencil set-up word (§4.8), element 0.
    fn tlb_stencil(&mut self, word: u32) -> Result<(), Fault>;
    /// The multisample mask of each element.
    fn ms_flags(&self) -> Lanes;
    /// Replaces the multisample mask.
    fn set_ms_flags(&mut self, mask: LaneMask, value: &Lanes);
    /// 1 in elements whose pixel belongs to a back-facing primitive.
    fn rev_flag(&self) -> Lanes;
    /// Replaces the facing of all elements.
    fn set_reverse(&mut self, _reverse: bool) {}
    /// Integer pixel coordinates, x and y.
    fn pixel_xy(&self) -> (Lanes, Lanes);
}

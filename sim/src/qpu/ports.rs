//! What a QPU is connected to.

use vc4::qpu::Stage;

use super::fault::Fault;
use crate::lanes::{LaneMask, Lanes};
use crate::stats::Note;

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
    /// Next varying: the partial sum A·dx + B·dy per element, and C as r5 will show it (§4.2).
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault>;
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

//! What is done with a fragment program's colour.

use super::equation::{Blend, BlendEquation, BlendFactor, LogicOp};
use crate::image::{ColorKind, FormatInfo, TileFormat};
use crate::state::error::StateError;
use crate::state::target::Encoding;

/// What happens between the fragment program's colour and the tile buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColorOutput {
    /// Format of the target's memory: how the tile buffer loads and stores it.
    pub format: &'static FormatInfo,
    /// What the bits of the tile's word mean.
    pub encoding: Encoding,
    /// Components that are written, R, G, B, A.
    pub write: [bool; 4],
    /// Blending; `None` writes the source.
    pub blend: Option<Blend>,
    /// Logic operation; replaces blending.
    pub logic_op: Option<LogicOp>,
    /// The target has four samples.
    pub multisample: bool,
    /// Blend in floats even where bytes are exact enough.
    pub precise: bool,
}

impl ColorOutput {
    /// An unblended target of a format that the table of formats describes.
    pub fn plain(format: &'static FormatInfo, multisample: bool) -> Self {
        let encoding = Encoding::of_format(format).unwrap_or(Encoding::RGBA8);
        ColorOutput {
            format,
            encoding,
            write: [true; 4],
            blend: None,
            logic_op: None,
            multisample,
            precise: false,
        }
    }

    /// An unblended target of 32-bit words that mean what `encoding` says.
    pub fn encoded(encoding: Encoding, multisample: bool) -> Self {
        ColorOutput { encoding, ..ColorOutput::plain(crate::image::Format::R8G8B8A8.info(), multisample) }
    }

    /// The logic operation, if it acts on this target.
    pub(super) fn logic(&self) -> Option<LogicOp> {
        self.logic_op.filter(|_| self.encoding.has_logic())
    }

    /// The equation of a component, 0-3, in its simplest form. A logic operation turns blending off, even where it
    /// does not act.
    pub(super) fn equation(&self, component: usize) -> BlendEquation {
        let equation = match self.blend.filter(|_| self.logic_op.is_none()) {
            Some(blend) if component < 3 => blend.color,
            Some(blend) => blend.alpha.map(BlendFactor::of_alpha),
            None => BlendEquation::REPLACE,
        };
        let clamped = matches!(self.encoding.kind, ColorKind::Unorm | ColorKind::Srgb);
        if self.encoding.has_alpha() { equation } else { equation.map(|f| f.without_alpha(clamped)) }
    }

    /// Whether the target keeps component `component`, so that it matters.
    fn stores(&self, component: usize) -> bool {
        self.encoding.has(component)
    }

    /// Whether some component that the target keeps is not written.
    pub(super) fn masks(&self) -> bool {
        (0..4).any(|component| self.stores(component) && !self.write[component])
    }

    /// Whether component `component` is written and kept.
    pub(super) fn writes(&self, component: usize) -> bool {
        self.stores(component) && self.write[component]
    }

    /// Whether the program's colour reaches the target at all.
    pub fn writes_color(&self) -> bool {
        (0..4).any(|component| self.writes(component))
    }

    /// Whether some component is the result of an equation other than the source itself.
    pub(super) fn blends(&self) -> bool {
        (0..4).any(|n| self.writes(n) && self.equation(n) != BlendEquation::REPLACE)
    }

    /// Whether this output can be written.
    pub(super) fn check(&self, second_source: bool) -> Result<(), StateError> {
        if self.reads_second_source() && !second_source {
            return Err(StateError::SecondSource);
        }
        if !matches!(self.format.tile, Some(TileFormat::Rgba8888 | TileFormat::Bgr565)) {
            return Err(StateError::NoColorTarget(self.format.name));
        }
        if self.blends() && !self.encoding.blends() {
            return Err(StateError::NoBlending);
        }
        Ok(())
    }

    /// Whether blending looks at the alpha of the destination, which with wide formats lies in another word than red.
    pub fn reads_destination_alpha(&self) -> bool {
        use BlendFactor::{DstAlpha, OneMinusDstAlpha, SrcAlphaSaturate};
        let reads = |factor| matches!(factor, DstAlpha | OneMinusDstAlpha | SrcAlphaSaturate);
        self.blend.is_some_and(|Blend { color, .. }| reads(color.src) || reads(color.dst))
    }

    /// Whether the destination is read.
    pub fn reads_destination(&self) -> bool {
        let combined = match self.logic() {
            Some(op) => op.reads_dst(),
            None => (0..4).any(|n| self.writes(n) && self.equation(n).reads_dst()),
        };
        self.writes_color() && (combined || self.masks())
    }

    /// Whether blending uses the program's second colour.
    pub fn reads_second_source(&self) -> bool {
        (0..4).any(|n| self.writes(n) && self.equation(n).reads_src1())
    }
}

/// Whether a logic operation acts on the bits that the target keeps.
pub fn logic_op_is_exact(format: &FormatInfo) -> bool {
    matches!(format.tile, Some(TileFormat::Rgba8888 | TileFormat::Bgr565))
}

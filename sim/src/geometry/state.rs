//! The state that control lists set between draws (v3d.md §5.6).

use vc4::cl::AnyPacket;
use vc4::cl::packets::{
    ClipWindow, ClipperXyScaling, ClipperZScaleAndOffset, ConfigurationBits, DepthOffset, FlatShadeFlags,
    GlShaderState, LineWidth, PointSize, ViewportOffset,
};

use vc4::facts::{EmptyWindow, Facts};

use super::clip::ClipperScales;
use super::raster::Rect;
use crate::unverified::packet_106;

const EVERYTHING: Rect = Rect { x0: 0, y0: 0, x1: u16::MAX as i32, y1: u16::MAX as i32 };

/// Everything that a draw takes from earlier packets.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// How the machine behaves.
    pub facts: Facts,
    /// Packet 96.
    pub config: ConfigurationBits,
    /// Packet 97.
    pub flat: FlatShadeFlags,
    /// Packet 98.
    pub point_size: PointSize,
    /// Packet 99.
    pub line_width: LineWidth,
    /// Packet 101.
    pub depth_offset: DepthOffset,
    /// Packet 102; without one, the whole target.
    pub clip_window: Option<ClipWindow>,
    /// Packet 103.
    pub viewport: ViewportOffset,
    /// Packet 105.
    pub clipper_xy: ClipperXyScaling,
    /// Packet 106.
    pub clipper_z: ClipperZScaleAndOffset,
    /// Packet 64.
    pub shader: Option<GlShaderState>,
}

impl State {
    /// UNVERIFIED: which values does the state have at power-up? The packets' defaults.
    pub fn reset(facts: Facts) -> State {
        State {
            facts,
            config: ConfigurationBits::default(),
            flat: FlatShadeFlags::default(),
            point_size: PointSize::default(),
            line_width: LineWidth::default(),
            depth_offset: DepthOffset::default(),
            clip_window: None,
            viewport: ViewportOffset::default(),
            clipper_xy: ClipperXyScaling::default(),
            clipper_z: ClipperZScaleAndOffset::default(),
            shader: None,
        }
    }

    /// Takes a state packet; false if it is none.
    pub fn apply(&mut self, packet: &AnyPacket) -> bool {
        match *packet {
            AnyPacket::ConfigurationBits(p) => self.config = p,
            AnyPacket::FlatShadeFlags(p) => self.flat = p,
            AnyPacket::PointSize(p) => self.point_size = p,
            AnyPacket::LineWidth(p) => self.line_width = p,
            AnyPacket::DepthOffset(p) => self.depth_offset = p,
            AnyPacket::ClipWindow(p) => self.clip_window = Some(p),
            AnyPacket::ViewportOffset(p) => self.viewport = p,
            AnyPacket::ClipperXyScaling(p) => self.clipper_xy = p,
            AnyPacket::ClipperZScaleAndOffset(p) => self.clipper_z = p,
            AnyPacket::GlShaderState(p) => self.shader = Some(p),
            // They steer the encoding of tile lists and OpenVG, neither of which exists here.
            AnyPacket::PrimitiveListFormat(_) | AnyPacket::RhtXBoundary(_) => {}
            _ => return false,
        }
        true
    }

    /// Pixels that a draw may touch. UNVERIFIED: does an empty clip window draw nothing? It does here.
    pub fn window(&self) -> Rect {
        match self.clip_window {
            None => EVERYTHING,
            Some(ClipWindow { width, height, .. })
                if (width == 0 || height == 0) && self.facts.empty_window == EmptyWindow::Everything =>
            {
                EVERYTHING
            }
            Some(ClipWindow { left, bottom, width, height }) => {
                let (x0, y0) = (i32::from(left), i32::from(bottom));
                Rect { x0, y0, x1: x0 + i32::from(width), y1: y0 + i32::from(height) }
            }
        }
    }

    /// How the clipper makes window coordinates.
    pub fn clipper_scales(&self) -> ClipperScales {
        let (z_scale, z_offset) =
            packet_106(self.facts.packet_106, self.clipper_z.scale, self.clipper_z.offset);
        ClipperScales { facts: self.facts, xy: [self.clipper_xy.x, self.clipper_xy.y], z_scale, z_offset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_and_foreign_packets() {
        let mut state = State::reset(Facts::default());
        assert!(!state.window().is_empty());
        let window = ClipWindow { left: 65535, bottom: 2, width: 65535, height: 0 };
        assert!(state.apply(&window.into()));
        assert!(state.window().is_empty());
        assert!(!state.apply(&vc4::cl::packets::Flush {}.into()));
    }
}

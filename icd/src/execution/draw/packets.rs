//! Packets of the bin list: state where it changes, then the primitives (v3d.md §5.5, §5.6).

use ash::vk;
use vc4::cl::S12_4;
use vc4::cl::packets::{
    ClipWindow, ClipperXyScaling, ClipperZScaleAndOffset, FlatShadeFlags, GemHandles, IndexType,
    IndexedPrimitiveList, PointSize, PrimitiveMode, VertexArrayPrimitives, ViewportOffset,
};
use vc4::facts::{DepthUnit, Packet106};
use vc4::hw::DEPTH_MAX;
use vc4::state::raster::line_width;
use vc4::state::{DepthBias, PixelRect, RasterMap, StateWords, Viewport};

use super::bindings::Bindings;
use super::geometry::{Piece, Primitives};
use super::indices::cut;
use super::job::JobBuilder;
use crate::foundation::error::Error;
use crate::foundation::facts::facts;
use crate::foundation::terms::viewport;
use crate::pipeline::assembly::RasterWindow;
use crate::segments::Snapshot;
use crate::segments::Target;

/// Where a draw may change pixels.
pub(super) fn area(state: &Snapshot<'_>, target: &Target) -> PixelRect {
    let vk::Rect2D { offset, extent } = state.dynamic().scissor;
    let scissor = PixelRect::new(offset.x, offset.y, extent.width, extent.height).intersect(target.area);
    // Points reach over the viewport's edge.
    match state.pipeline().drawn {
        PrimitiveMode::Points => scissor,
        _ => scissor.intersect(viewport(&state.dynamic().viewport).pixels()),
    }
}

/// State of a draw.
pub(super) fn state(job: &mut JobBuilder, bindings: &Bindings<'_>, window: ClipWindow) -> Result<(), Error> {
    let (compiled, dynamic) = (bindings.compiled, bindings.state.dynamic());
    let [constant, clamp, slope] = match compiled.raster.depth_bias {
        true => dynamic.depth_bias,
        false => [0.0; 3],
    };
    let bias = DepthBias { constant: clamped_bias(constant, clamp, slope) / unit_steps(), slope, clamp: 0.0 }
        .packet();
    let bias = bias.map_err(|error| Error::unsupported(error.to_string(), "use no clamp"))?;
    job.set(window);
    job.set(compiled.raster.configuration(compiled.depth_stencil.as_ref()));
    job.set(bias);
    job.set(PointSize::default());
    job.set(line_width(dynamic.line_width));
    match compiled.window() {
        None | Some(RasterWindow::Driver) => {
            let StateWords { viewport, raster, .. } = bindings.words;
            let map = match (compiled.window(), raster) {
                (Some(_), RasterMap::Viewport) => RasterMap::Window,
                (_, raster) => raster,
            };
            job.set(map.clipper_xy(&viewport, facts().guard_band));
            job.set(ordered(viewport.clipper_z(facts().near_plane)));
            job.set(map.offset(&viewport, facts().guard_band));
        }
        Some(RasterWindow::Viewport) => {
            let (scaling, depth, offset) = viewport_raster(&bindings.words.viewport)?;
            job.set(scaling);
            job.set(ordered(depth));
            job.set(offset);
        }
    }
    job.set(FlatShadeFlags { flags: bindings.variant.programs.flat_varyings });
    Ok(())
}

/// Packet 106 with its words where this machine takes them from (v3d.md §5.6).
fn ordered(packet: ClipperZScaleAndOffset) -> ClipperZScaleAndOffset {
    match facts().packet_106 {
        Packet106::ScaleFirst => packet,
        Packet106::OffsetFirst => ClipperZScaleAndOffset { scale: packet.offset, offset: packet.scale },
    }
}

/// Steps of the depth buffer that a unit of this machine's depth offset is (v3d.md §9.7).
fn unit_steps() -> f32 {
    match facts().depth_unit {
        DepthUnit::Step => 1.0,
        DepthUnit::TwoSteps => 2.0,
        DepthUnit::Coarse => DEPTH_MAX as f32 / 65535.0,
    }
}

/// The constant factor of a depth bias with a clamp, which the machine has none of (v3d.md §9.7): without a slope the
/// bias is known here, with one the program moves depths.
fn clamped_bias(constant: f32, clamp: f32, slope: f32) -> f32 {
    let most = clamp * DEPTH_MAX as f32;
    match (slope == 0.0, clamp > 0.0, clamp < 0.0) {
        (true, true, _) => constant.min(most),
        (true, _, true) => constant.max(most),
        _ => constant,
    }
}

/// The raster of programs whose screen coordinates count from the viewport's middle (v3d.md §9.4).
fn viewport_raster(
    viewport: &Viewport,
) -> Result<(ClipperXyScaling, ClipperZScaleAndOffset, ViewportOffset), Error> {
    const SIXTEENTHS: f32 = 16.0;
    let Viewport { x, y, width, height, min_depth, max_depth } = *viewport;
    let middle = |start: f32, size: f32| ((start + size / 2.0) * SIXTEENTHS).round();
    let (column, row) = (middle(x, width), middle(y, height));
    if column.abs().max(row.abs()) > f32::from(i16::MAX) {
        return Err(Error::unsupported(
            format!(
                "assembly in a viewport whose middle lies {column}, {row} sixteenths of a pixel from the drawn part"
            ),
            "use viewports of at most 2048x2048 pixels for it",
        ));
    }
    let half = |size: f32| size / 2.0 * SIXTEENTHS;
    Ok((
        ClipperXyScaling { x: half(width), y: half(height) },
        ClipperZScaleAndOffset { scale: max_depth - min_depth, offset: min_depth },
        ViewportOffset { x: S12_4(column as i16), y: S12_4(row as i16) },
    ))
}

/// Most indices of a packet. A list that stands at one packet for 100 ms is taken for hung (kernel-abi.md §11); so many vertices
/// through a coordinate program of 1,000 instructions take 22 ms at 250 MHz.
const INDICES_AT_ONCE: u32 = 1 << 18;

/// The primitives, after their shader record.
#[inline]
pub(super) fn primitives(job: &mut JobBuilder, piece: &Piece<'_>) -> Result<(), Error> {
    let mode = piece.mode;
    match &piece.primitives {
        Primitives::Array { count } => {
            job.draw(VertexArrayPrimitives { mode, count: *count, first: 0 });
        }
        Primitives::Indexed { memory, offset, count, max_index } => {
            let first = u64::from(*offset);
            let index0 = job.part(memory.bo(), first..first + 2 * u64::from(*count))?;
            job.set(GemHandles { index0, index1: 0 });
            let packet = |start: u32, count| IndexedPrimitiveList {
                mode,
                index_type: IndexType::U16,
                count,
                address: (*offset + 2 * start).into(),
                max_index: *max_index,
            };
            match *count <= INDICES_AT_ONCE {
                true => job.draw(packet(0, *count)),
                false => cut(mode, *count, INDICES_AT_ONCE)
                    .for_each(|(start, count)| job.draw(packet(start, count))),
            }
        }
    }
    Ok(())
}

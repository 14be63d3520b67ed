//! What experiments have in common: the usual target, what covers it, and what is read of it.

use vc4::cl::AnyPacket;
use vc4::cl::packets::*;
use vc4_kernel_abi::uapi::MAX_PERF_COUNTERS;
use vc4_kernel_abi::{GpuError, PerfmonId, Submit};

use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target, Vertex, at};
use crate::jobs::picture::Picture;

/// Edge of the usual target.
pub const EDGE: u32 = 64;
/// What stands where nothing was drawn.
pub const CLEAR: u32 = 0x0040_2010;
/// What stands in a target before its job.
pub const UNTOUCHED: u32 = 0xdddd_dddd;
pub const WHITE: u32 = 0xffff_ffff;

/// Triangles that no test drops and the clipper does not see, in one colour.
pub fn draw(vertices: Vec<Vertex>) -> Draw {
    let config = ConfigurationBits { depth_func: CompareFunc::Always, ..ConfigurationBits::default() };
    Draw { config, clipping: false, ..Draw::color(vertices, WHITE) }
}

/// A triangle that covers a target of these edges, its diagonal outside.
pub fn everywhere(width: u32, height: u32, z: f32) -> Vec<Vertex> {
    vec![at(0.0, 0.0, z), at(2.0 * width as f32, 0.0, z), at(0.0, 2.0 * height as f32, z)]
}

/// The usual target, all of it.
pub fn all(z: f32) -> Vec<Vertex> {
    everywhere(EDGE, EDGE, z)
}

pub fn window(left: u16, bottom: u16, width: u16, height: u16) -> AnyPacket {
    ClipWindow { left, bottom, width, height }.into()
}

/// Runs a job that stores all of a target, and sees to it that it did: the kernel calls jobs done that it had to end.
pub fn run(bench: &Bench<'_>, target: &Target<'_>, job: &Submit) -> Result<(), Failure> {
    let map = bench.map(target.color)?;
    map.write(0, &UNTOUCHED.to_le_bytes());
    bench.run(job)?;
    match map.read_u32(0) {
        UNTOUCHED => Err(Failure::Wrong("the job stored nothing: it was dropped, or the GPU hung".into())),
        _ => Ok(()),
    }
}

/// What is drawn on the usual target.
pub fn picture(bench: &Bench<'_>, draws: &[Draw]) -> Result<Picture, Failure> {
    let target = Target::new(bench, Tiling::Raster, EDGE, EDGE)?;
    run(bench, &target, &target.draw(CLEAR, draws)?)?;
    Ok(target.picture()?)
}

/// Words of a picture at some places.
pub fn at_places(picture: &Picture, places: &[(u32, u32)]) -> Vec<u32> {
    places.iter().map(|(x, y)| picture.words[(y * picture.width + x) as usize]).collect()
}

/// Whether something was drawn at some places.
pub fn drawn(picture: &Picture, places: &[(u32, u32)]) -> Vec<u32> {
    at_places(picture, places).into_iter().map(|word| u32::from(word != CLEAR)).collect()
}

/// Edge of the part of the target that a draw of [`cells`] has.
pub const CELL: u16 = 8;

/// The draws, each with a part of the usual target for itself, of which one word counts.
pub fn cells(bench: &Bench<'_>, draws: Vec<Draw>) -> Result<Vec<u32>, Failure> {
    let per_row = EDGE as u16 / CELL;
    let origin = |n: usize| (n as u16 % per_row * CELL, n as u16 / per_row * CELL);
    let count = draws.len();
    let draws = draws.into_iter().enumerate().map(|(n, mut draw)| {
        let (x, y) = origin(n);
        draw.state.push(window(x, y, CELL, CELL));
        draw
    });
    let picture = picture(bench, &draws.collect::<Vec<_>>())?;
    let places: Vec<_> = (0..count).map(origin).map(|(x, y)| (u32::from(x) + 3, u32::from(y) + 3)).collect();
    Ok(at_places(&picture, &places))
}

/// Performance counters, as long as they are needed.
pub struct Monitor<'a> {
    bench: &'a Bench<'a>,
    pub id: PerfmonId,
}

impl<'a> Monitor<'a> {
    pub fn new(bench: &'a Bench<'a>, events: &[u8]) -> Result<Monitor<'a>, GpuError> {
        Ok(Monitor { bench, id: bench.gpu.create_perfmon(events)? })
    }

    /// What they counted, in the order of the events.
    pub fn values(&self) -> Result<[u64; MAX_PERF_COUNTERS], GpuError> {
        self.bench.gpu.perfmon_values(self.id)
    }
}

impl Drop for Monitor<'_> {
    fn drop(&mut self) {
        self.bench.gpu.destroy_perfmon(self.id);
    }
}

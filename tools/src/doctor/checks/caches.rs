//! Memory that the CPU caches, and whether caches do as they are told.

use vc4::cl::packets::Tiling;
use vc4::image::TileFormat;
use vc4::image::surface::{color_write_bits, load_bits};
use vc4_kernel_abi::{Submit, SubmitFlags, Surface};

use super::outcome::Outcome;
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::Target;

/// Pixels of an edge: 64 KiB, as much as the CPU's first cache holds.
const EDGE: u32 = 128;
const BYTES: u32 = 4 * EDGE * EDGE;
/// How often: lines leave caches by themselves, too.
const ROUNDS: u32 = 8;

/// What the CPU writes reaches jobs, what jobs write reaches the CPU, and nothing is lost between them.
pub fn caches(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    if !bench.gpu.has_cached_memory() {
        return Ok(Outcome::said("there is no such memory: no heap for this user, or a program of 32 bits"));
    }
    let bo = bench.cached_bo(BYTES)?;
    let (map, all) = (bench.map(bo)?, 0..BYTES as usize);
    // The other side of both ways: a job copies to it, or clears this one as it would clear it.
    let beside = Target::new(bench, Tiling::Raster, EDGE, EDGE)?;
    let surface = |bo_index, bits| Surface { bo_index, offset: 0, bits, flags: 0 };
    let store = surface(0, color_write_bits(Some(TileFormat::Rgba8888), Tiling::Raster, false));
    let load = surface(1, load_bits(TileFormat::Rgba8888, Tiling::Raster));
    for round in 0..ROUNDS {
        let word = |x: u32, y: u32| (x | y << 8 | round << 16).wrapping_mul(0x9e37_79b1);
        for (y, x) in (0..EDGE).flat_map(|y| (0..EDGE).map(move |x| (y, x))) {
            map.write_u32((4 * (y * EDGE + x)) as usize, word(x, y));
        }
        bench.gpu.write_back(bo, all.clone());
        let clear = beside.clear(0);
        let bos = [&clear.bos[..], &[bo]].concat();
        let copy = Submit { bos, color_read: Some(load), flags: SubmitFlags::empty(), ..clear.clone() };
        beside.expect(&copy, 0, word)?;
        // The lower half stays the CPU's, which writes nothing back.
        let (own, color) = (BYTES / 2, 0x0102_0304 * (round + 1));
        map.write_u32(own as usize, !color);
        let [left, top, right, bottom] = clear.tiles;
        let clear = Submit {
            bos: vec![bo],
            height: (EDGE / 2) as u16,
            tiles: [left, top, right, bottom / 2],
            color_write: Some(store),
            clear_color: [color; 2],
            ..clear
        };
        bench.run(&clear)?;
        bench.gpu.forget(bo, 0..own as usize);
        let seen = (0..own).step_by(4).find_map(|at| {
            let seen = map.read_u32(at as usize);
            (seen != color).then_some((at, seen))
        });
        if let Some((at, seen)) = seen {
            return Err(Failure::Wrong(format!("byte {at} is {seen:08x} where a job left {color:08x}")));
        }
        bench.gpu.forget(bo, all.clone());
        let kept = map.read_u32(own as usize);
        if kept != !color {
            return Err(Failure::Wrong(format!("{:08x} that was not written back is {kept:08x}", !color)));
        }
    }
    Ok(Outcome::said("what is written back and forgotten is right"))
}

//! Jobs without draws: clears and copies of whole tiles in every layout and format.

mod support;

use support::*;
use vc4::cl::packets::Tiling;
use vc4_kernel_abi::{Gpu, Submit, SubmitFlags, Surface};

const TILINGS: [Tiling; 3] = [Tiling::Raster, Tiling::T, Tiling::Lt];

#[test]
fn clear_in_every_layout() {
    let gpu = simulator(2);
    for tiling in TILINGS {
        for (width, height) in [(64, 64), (100, 70), (1, 1), (500, 300)] {
            let target = Target::new(&gpu, width, height, tiling);
            run(&gpu, &target.clear_job(0x1234_5678)).unwrap();
            target.pixels(&gpu).check(|_, _| 0x1234_5678);
            gpu.close_bo(target.color);
            gpu.close_bo(target.zs);
        }
    }
}

#[test]
fn clear_depth_and_stencil_in_every_layout() {
    let gpu = simulator(2);
    for tiling in TILINGS {
        let target = Target::new(&gpu, 100, 70, tiling);
        let mut job = target.clear_job(0x11);
        job.clear_z = 0xab_cdef;
        job.clear_s = 0x42;
        let bits = 2 | (tiling.code() as u16) << 4;
        job.zs_write = Some(Surface { bo_index: 1, offset: 0, bits, flags: 0 });
        run(&gpu, &job).unwrap();
        target.depths(&gpu).check(|_, _| 0xabcd_ef42);
        target.pixels(&gpu).check(|_, _| 0x11);
    }
}

#[test]
fn clear_565_in_every_layout() {
    let gpu = simulator(2);
    for tiling in TILINGS {
        let target = Target::new(&gpu, 70, 40, tiling);
        let mut job = target.clear_job(0xff_00_80_ff);
        let bits = 2 << 2 | (tiling.code() as u16) << 6;
        job.color_write = Some(Surface { bo_index: 0, offset: 0, bits, flags: 0 });
        run(&gpu, &job).unwrap();
        let level = level(tiling, 2, 70, 40);
        let map = gpu.map_bo(target.color).unwrap();
        for (x, y) in [(0, 0), (69, 39), (33, 17)] {
            let mut pixel = [0; 2];
            map.read(level.offset_of(x, y) as usize, &mut pixel);
            // R 255 -> 31, G 128 -> 32, B 0.
            assert_eq!(u16::from_le_bytes(pixel), 31 << 11 | 32 << 5);
        }
    }
}

#[test]
fn only_the_tiles_of_the_range_are_touched() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 256, 192, Tiling::T);
    run(&gpu, &target.clear_job(1)).unwrap();
    let mut job = target.clear_job(2);
    job.tiles = [1, 1, 2, 1];
    run(&gpu, &job).unwrap();
    target.pixels(&gpu).check(|x, y| if (64..192).contains(&x) && (64..128).contains(&y) { 2 } else { 1 });
}

/// Loads one image and stores it as another.
fn copy_job(from: &Target, to: &Target, from_offset: u32, to_offset: u32) -> Submit {
    let mut job = to.clear_job(0);
    job.flags = SubmitFlags::empty();
    let index = if from.color == to.color {
        0
    } else {
        job.bos.push(from.color);
        2
    };
    let bits = 1 | (from.tiling.code() as u16) << 4;
    job.color_read = Some(Surface { bo_index: index, offset: from_offset, bits, flags: 0 });
    if let Some(write) = &mut job.color_write {
        write.offset = to_offset;
    }
    job
}

fn paint(gpu: &vc4_sim::Simulator, target: &Target) {
    let level = level(target.tiling, 4, target.width, target.height);
    let map = gpu.map_bo(target.color).unwrap();
    for y in 0..u32::from(target.height) {
        for x in 0..u32::from(target.width) {
            map.write_u32(level.offset_of(x, y) as usize, x | y << 16);
        }
    }
}

#[test]
fn copies_between_all_layouts() {
    let gpu = simulator(2);
    for from in TILINGS {
        let source = Target::new(&gpu, 150, 90, from);
        paint(&gpu, &source);
        for to in TILINGS {
            let target = Target::new(&gpu, 150, 90, to);
            run(&gpu, &copy_job(&source, &target, 0, 0)).unwrap();
            target.pixels(&gpu).check(|x, y| x | y << 16);
        }
    }
}

#[test]
fn overlapping_copies_follow_the_order_of_the_list() {
    // One image of 64 x 192 rows, moved down by one tile row: with increasing y every tile reads what the
    // tile above it has just written, with decreasing y the picture moves.
    for (flags, moved) in [
        (SubmitFlags::empty(), false),
        (SubmitFlags::FIXED_RCL_ORDER | SubmitFlags::RCL_ORDER_INCREASING_X, true),
    ] {
        let gpu = simulator(4);
        let target = Target::new(&gpu, 64, 256, Tiling::Raster);
        paint(&gpu, &target);
        let mut job = copy_job(&target, &target, 0, 64 * 256);
        job.height = 192;
        job.tiles = [0, 0, 0, 2];
        job.flags = flags;
        run(&gpu, &job).unwrap();
        target.pixels(&gpu).check(|x, y| match y {
            0..64 => x | y << 16,
            _ if moved => x | (y - 64) << 16,
            _ => x | (y % 64) << 16,
        });
    }
}

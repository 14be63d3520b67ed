//! Our own render-node path through the library: the pictures are those of the simulator in this process.

mod preload;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use preload::{preloaded, preloaded_with};
use support::*;
use vc4::cl::packets::{IndexType, PrimitiveMode, Tiling};
use vc4_kernel_abi::{DrmGpu, Gpu, GpuError, Seqno, Submit};

fn node() -> DrmGpu {
    DrmGpu::open(None).expect("the library shows a device")
}

fn go(gpu: &dyn Gpu, job: &Submit) {
    let seqno = gpu.submit(job).unwrap();
    assert!(gpu.wait_seqno(seqno, None).unwrap());
}

/// Draws the same on both devices and compares every word of both targets.
fn same_on_both(draw: impl Fn(&dyn Gpu) -> Vec<u32>) {
    let ours = draw(&node());
    let reference = draw(&simulator(1));
    let differs = ours.iter().zip(&reference).position(|(a, b)| a != b);
    assert_eq!((ours.len(), differs), (reference.len(), None));
    assert!(ours.iter().any(|&word| word != ours[0]), "a picture of one colour proves nothing");
}

#[test]
fn the_device_is_a_vc4() {
    preloaded("the_device_is_a_vc4", || {
        for gpu in [node(), DrmGpu::open(Some(Path::new("/dev/dri/card0"))).unwrap()] {
            assert_eq!(gpu.ident().unwrap().ident0, 0x0244_3356);
            assert!(gpu.description().contains("/dev/dri/"), "{}", gpu.description());
        }
    });
}

#[test]
fn a_sync_file_may_be_signalled_from_the_start() {
    preloaded("a_sync_file_may_be_signalled_from_the_start", || {
        for file in [node().signalled_sync_file(), simulator(1).signalled_sync_file()] {
            let file = file.expect("both make some");
            let mut set = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
            assert_eq!(poll(&mut set, PollTimeout::ZERO), Ok(1));
            assert!(set[0].revents().is_some_and(|events| events.contains(PollFlags::POLLIN)));
        }
    });
}

#[test]
fn the_number_of_the_node_can_be_chosen() {
    preloaded_with("the_number_of_the_node_can_be_chosen", &[("VC4SIM_MINOR", "131")], || {
        assert!(node().description().contains("renderD131"));
        assert!(!Path::new("/dev/dri/renderD128").exists() && Path::new("/dev/dri/card3").exists());
    });
}

#[test]
fn clears_are_the_same() {
    preloaded("clears_are_the_same", || {
        for tiling in [Tiling::Raster, Tiling::T, Tiling::Lt] {
            same_on_both(|gpu| {
                let target = Target::new(gpu, 100, 70, tiling);
                go(gpu, &target.clear_job(0x1234_5678));
                let mut job = target.clear_job(0x9abc_def0);
                job.tiles = [1, 0, 1, 1];
                go(gpu, &job);
                target.pixels(gpu).words
            });
        }
    });
}

#[test]
fn draws_are_the_same() {
    preloaded("draws_are_the_same", || {
        same_on_both(|gpu| {
            let target = Target::new(gpu, 200, 150, Tiling::T);
            let corner = |x, y, varyings| at(x, y, 0.5).varyings(varyings);
            let vertices = vec![
                corner(3.5, 2.25, [1.0, 0.0, 0.0, 1.0]),
                corner(60.0, 10.0, [0.0, 1.0, 0.0, 1.0]),
                corner(20.0, 61.75, [0.0, 0.0, 1.0, 1.0]),
                corner(-30.0, 80.0, [0.3, 0.6, 0.9, 0.0]),
            ];
            let draws = [
                Draw::varying(vertices.clone()).indexed(IndexType::U16, &[0, 1, 2, 2, 3, 0]),
                Draw::color(vertices.clone(), 0xff00_ff00).mode(PrimitiveMode::TriangleFan),
            ];
            go(gpu, &target.draw_job(gpu, 0x2020_2020, &draws));
            let mut words = target.pixels(gpu).words;
            let job = Submit {
                zs_write: Some(vc4_kernel_abi::Surface { bo_index: 1, offset: 0, bits: 0x12, flags: 0 }),
                ..target.draw_job(gpu, 0, &draws)
            };
            go(gpu, &job);
            words.extend(target.depths(gpu).words);
            words
        });
    });
}

#[test]
fn refusals_name_their_rule() {
    preloaded("refusals_name_their_rule", || {
        let gpu = node();
        let Err(GpuError::Refused(why)) = gpu.create_shader_bo(&[0; 8]) else { panic!() };
        assert!(why.contains("SHD-"), "{why}");
        let target = Target::new(&gpu, 64, 64, Tiling::T);
        let Err(GpuError::Refused(why)) = gpu.submit(&Submit { width: 65, ..target.clear_job(0) }) else {
            panic!()
        };
        assert!(why.contains("RCL-12"), "{why}");
        assert!(matches!(gpu.create_bo(u32::MAX - 4095), Err(GpuError::OutOfMemory(_))));
        assert!(!gpu.wait_seqno(Seqno(1 << 40), Some(Duration::from_millis(5))).unwrap());
        assert!(gpu.wait_seqno(Seqno(0), Some(Duration::ZERO)).unwrap());
    });
}

#[test]
fn threads_share_a_device() {
    preloaded("threads_share_a_device", || {
        let gpu = node();
        std::thread::scope(|scope| {
            for color in 1..=4u32 {
                let gpu = &gpu;
                scope.spawn(move || {
                    for round in 0..20 {
                        let target = Target::new(gpu, 64, 64, Tiling::T);
                        go(gpu, &target.clear_job(color * 1000 + round));
                        target.pixels(gpu).check(|_, _| color * 1000 + round);
                        gpu.close_bo(target.color);
                        gpu.close_bo(target.zs);
                    }
                });
            }
        });
    });
}

#[test]
fn memory_comes_back() {
    preloaded("memory_comes_back", || {
        // Together far more than there is: closing handles, or the device, gives it back.
        for _ in 0..8 {
            let gpu = node();
            for _ in 0..4 {
                let bo = gpu.create_bo(200 << 20).unwrap();
                gpu.map_bo(bo).unwrap().write_u32(4096, 1);
                gpu.close_bo(bo);
            }
            gpu.create_bo(200 << 20).unwrap();
        }
    });
}

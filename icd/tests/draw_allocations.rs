//! Recording and building draws takes no memory per draw: tables grow by doubling and no faster.
//!
//! One test in a binary of its own: the counter is the process's allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ash::vk;
use vulkan_vc4::entry::vk_icdGetInstanceProcAddr;

#[path = "../benches/draws/scene.rs"]
mod scene;
use scene::Scene;

/// The pipelines' push constants.
const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::VERTEX;

/// The system's allocator, counting the calls that get or move memory.
struct Counting;

/// Calls of all threads, and of each.
static CALLS: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    static MINE: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    CALLS.fetch_add(1, Relaxed);
    MINE.set(MINE.get() + 1);
}

/// The calls that a test can hold against draws. Builds with debug assertions check every submission on the queue
/// thread, which takes memory; there, only the recording thread counts.
fn counted() -> usize {
    if cfg!(debug_assertions) { MINE.get() } else { CALLS.load(Relaxed) }
}

// SAFETY: every call goes to the system's allocator with the same arguments; the counter has no influence on it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's contract is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls while a frame of so many draws is recorded and run.
fn calls(scene: &Scene, draws: u32, uniform: bool) -> usize {
    let pipeline = if uniform { scene.uniform } else { scene.push };
    let before = counted();
    // SAFETY: valid usage; the frame before is complete.
    unsafe {
        scene.begin(pipeline);
        for draw in 0..draws {
            if draw % 10 == 0 {
                scene.bind_texture(draw / 10);
            }
            match uniform {
                true => scene.bind_matrix(draw),
                false => scene.push_matrix(draw),
            }
            match draw % 2 {
                0 => scene.device.cmd_draw(scene.commands, 36, 1, draw % 3, 0),
                _ => scene.device.cmd_draw_indexed(scene.commands, 36, 1, 0, 0, 0),
            }
        }
        scene.end();
    }
    scene.submit(1);
    counted() - before
}

#[test]
fn draws_take_no_memory_each() {
    // SAFETY: nothing else runs in this process.
    unsafe { std::env::set_var("VC4VK_DEVICE", "noop") };
    let scene = Scene::new(ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr });
    for uniform in [false, true] {
        calls(&scene, 100, uniform);
        let (few, many) = (calls(&scene, 200, uniform), calls(&scene, 3200, uniform));
        // Four doublings of about twenty tables.
        assert!(many < few + 100, "uniform {uniform}: {few} calls for 200 draws, {many} for 3200");
    }
}

//! Time per draw of recording and submitting, and of submitting once more what is recorded, on a device that drops its jobs
//! (`VC4VK_DEVICE=noop`).
//!
//! `--case NAME --draws N --frames N` runs one case for so long and prints nothing: two such runs under valgrind give
//! the host instructions of a draw. With `--again` it is recorded once.

use std::time::Instant;

use ash::vk;
use vulkan_vc4::entry::vk_icdGetInstanceProcAddr;

#[path = "draws/scene.rs"]
mod scene;
use scene::Scene;

/// What changes from draw to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// A matrix by push constants; the texture at every tenth draw.
    Push,
    /// A matrix in a uniform buffer, by dynamic offset; the texture at every tenth draw.
    Uniform,
    /// As `Push`, with indices.
    Indexed,
    /// Nothing.
    Same,
}

const CASES: [(Case, &str, &str); 4] = [
    (Case::Push, "push", "matrix by push constants, texture at every tenth draw"),
    (Case::Uniform, "uniform", "matrix by uniform buffer, texture at every tenth draw"),
    (Case::Indexed, "indexed", "as push, with 36 indices"),
    (Case::Same, "same", "nothing changes"),
];

/// Draws of a frame that is submitted again.
const AGAIN_DRAWS: u32 = 1000;
/// Frames between two waits: the time of a draw is asked for, not that of waking threads.
const FRAMES_IN_ROW: u32 = 100;
/// Frames until the driver knows that a recording comes again.
const FIRST_FRAMES: u32 = 3;
/// Draws between two changes of the texture.
const SAME_TEXTURE: u32 = 10;

fn functions() -> ash::StaticFn {
    ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr }
}

impl Case {
    /// Records a frame.
    ///
    /// # Safety
    /// The command buffer of `scene` is not in use.
    unsafe fn record(self, scene: &Scene, draws: u32) {
        let (device, commands) = (&scene.device, scene.commands);
        let pipeline = if self == Case::Uniform { scene.uniform } else { scene.push };
        // SAFETY: the handles are the scene's.
        unsafe {
            scene.begin(pipeline);
            for draw in 0..draws {
                if draw == 0 || self != Case::Same && draw % SAME_TEXTURE == 0 {
                    scene.bind_texture(draw / SAME_TEXTURE);
                }
                match self {
                    Case::Push | Case::Indexed => scene.push_matrix(draw),
                    Case::Uniform => scene.bind_matrix(draw),
                    Case::Same if draw == 0 => scene.push_matrix(draw),
                    Case::Same => {}
                }
                match self {
                    Case::Indexed => device.cmd_draw_indexed(commands, 36, 1, 0, 0, 0),
                    _ => device.cmd_draw(commands, 36, 1, 0, 0),
                }
            }
            scene.end();
        }
    }

    /// Records a frame once and submits it again and again; seconds per frame of the fastest row of frames.
    fn again(self, scene: &Scene, draws: u32, frames: u32) -> f64 {
        // SAFETY: nothing runs.
        unsafe { self.record(scene, draws) };
        (0..FIRST_FRAMES).for_each(|_| scene.submit(1));
        let mut best = f64::INFINITY;
        for _ in 0..frames.div_ceil(FRAMES_IN_ROW) {
            let start = Instant::now();
            scene.submit(FRAMES_IN_ROW);
            best = best.min(start.elapsed().as_secs_f64() / f64::from(FRAMES_IN_ROW));
        }
        best
    }

    /// Records and runs frames; seconds per frame of the fastest.
    fn run(self, scene: &Scene, draws: u32, frames: u32) -> f64 {
        let mut best = f64::INFINITY;
        for _ in 0..frames {
            let start = Instant::now();
            // SAFETY: the frame before is complete.
            unsafe { self.record(scene, draws) };
            scene.submit(1);
            best = best.min(start.elapsed().as_secs_f64());
        }
        best
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let number = |name, default| value(name).map_or(default, |text| text.parse().expect("a number"));
    // SAFETY: nothing else runs yet.
    unsafe { std::env::set_var("VC4VK_DEVICE", "noop") };
    let (draws, frames) = (number("--draws", 4000), number("--frames", 200));
    let scene = Scene::new(functions());
    if let Some(name) = value("--case") {
        let case = CASES.iter().find(|(_, known, _)| *known == name).expect("a case");
        match arguments.iter().any(|argument| argument == "--again") {
            true => case.0.again(&scene, draws, frames),
            false => case.0.run(&scene, draws, frames),
        };
        return;
    }
    println!("recording and submitting {draws} draws, best of {frames} frames");
    for (case, name, what) in CASES {
        let seconds = case.run(&scene, draws, frames) / f64::from(draws);
        println!(
            "  {name:8} {:7.1} ns per draw, {:6.2} million per second  ({what})",
            seconds * 1e9,
            1e-6 / seconds
        );
    }
    println!("submitting {AGAIN_DRAWS} recorded draws again, best of rows of {FRAMES_IN_ROW} frames");
    for (case, name, what) in CASES {
        let seconds = case.again(&scene, AGAIN_DRAWS, 10 * frames) / f64::from(AGAIN_DRAWS);
        println!("  {name:8} {:7.1} ns per draw  ({what})", seconds * 1e9);
    }
}

/// The pipelines' push constants.
const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::VERTEX;

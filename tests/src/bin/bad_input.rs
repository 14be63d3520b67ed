//! Hands one kind of bad input to the driver and prints what it answers, for `tests/bad_input.rs`.
//!
//! `bad_input CASE`: prints `answer: RESULT` and exits with 0 as long as nothing crashed.

use ash::vk;
use vc4_tests::player;
use vc4_tests::scene::Draw;
use vc4_tests::vulkan::{Error, Harness};

const VERTEX: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/pos_color.vert.spv"));
const FRAGMENT: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/pos_color.frag.spv"));
const MANY: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/bad/many_attributes.vert.spv"));

/// Byte offset of the operand of the first instruction, `OpCapability`, behind the five header words.
const FIRST_CAPABILITY: usize = 24;
/// Capability `Kernel`: OpenCL's, unknown to graphics drivers.
const KERNEL: u32 = 6;

fn main() {
    let case = std::env::args().nth(1).unwrap_or_default();
    match answer(&case) {
        Ok(()) => println!("answer: success"),
        Err(error) => println!("answer: {error}"),
    }
}

fn answer(case: &str) -> Result<(), Error> {
    let harness = Harness::new()?;
    match case {
        "device" => Ok(()),
        "truncated-spirv" => pipeline(&harness, leak(VERTEX[..VERTEX.len() - 24].to_vec()), FRAGMENT),
        "garbage-spirv" => {
            let garbage = VERTEX.iter().enumerate().map(|(i, &b)| if i < 20 { b } else { b ^ (i as u8) });
            pipeline(&harness, leak(garbage.collect()), FRAGMENT)
        }
        "unknown-capability" => {
            let mut module = VERTEX.to_vec();
            module[FIRST_CAPABILITY..FIRST_CAPABILITY + 4].copy_from_slice(&KERNEL.to_le_bytes());
            pipeline(&harness, leak(module), FRAGMENT)
        }
        "too-many-attributes" => {
            let attributes = vec![vk::Format::R32G32B32A32_SFLOAT; 16];
            let draw = Draw {
                vertex_shader: MANY,
                fragment_shader: FRAGMENT,
                stride: 256,
                attributes,
                ..Draw::default()
            };
            player::try_pipeline(&harness, &draw)
        }
        "zero-allocation" => allocate(&harness, 0),
        "huge-allocation" => allocate(&harness, 1 << 40),
        "huger-than-addressable" => allocate(&harness, u64::MAX - 4095),
        other => Err(format!("unknown case {other}").into()),
    }
}

fn leak(bytes: Vec<u8>) -> &'static [u8] {
    bytes.leak()
}

fn pipeline(harness: &Harness, vertex: &'static [u8], fragment: &'static [u8]) -> Result<(), Error> {
    let draw = Draw {
        vertex_shader: vertex,
        fragment_shader: fragment,
        stride: 28,
        attributes: vec![vk::Format::R32G32B32_SFLOAT, vk::Format::R32G32B32A32_SFLOAT],
        ..Draw::default()
    };
    player::try_pipeline(harness, &draw)
}

fn allocate(harness: &Harness, size: u64) -> Result<(), Error> {
    let create = vk::MemoryAllocateInfo::default().allocation_size(size);
    // SAFETY: the device is live; the memory is freed at once.
    unsafe {
        match harness.device.allocate_memory(&create, None) {
            Ok(memory) => {
                harness.device.free_memory(memory, None);
                Ok(())
            }
            Err(result) => Err(format!("vkAllocateMemory: {result:?}").into()),
        }
    }
}

//! What the tests share: buffers to run kernels on, and an interpreter that runs one invocation after the other.

pub mod oracle;
pub mod programs;

use std::time::{Duration, Instant};

use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::{Shader, Stage, Workgroup, verify};
use vc4_shaders_cpu::{Dispatch, Halt, Images, Kernel, Range, Words};

/// The descriptor of test buffer `binding`.
pub const fn buffer(binding: u32) -> Descriptor {
    Descriptor { set: 0, binding, element: 0 }
}

/// An empty compute shader.
pub fn compute(size: [u32; 3], shared_bytes: u32, scratch_bytes: u32) -> Shader {
    let mut shader = Shader::new(Stage::Compute);
    shader.workgroup = Workgroup { size, shared_bytes, scratch_bytes };
    shader
}

/// Images for kernels without any.
pub struct NoImages;

impl Images for NoImages {
    fn access(&self, index: usize, _: &[Words], _: u8, _: &mut [Words]) {
        panic!("image operation {index} of a kernel without images");
    }
}

/// Compiles a valid shader.
pub fn kernel(shader: &Shader) -> Kernel {
    verify::verify(shader).unwrap_or_else(|error| panic!("{error}\n{shader}"));
    Kernel::compile_for(shader, crate::ENGINE).unwrap_or_else(|error| panic!("{error}\n{shader}"))
}

/// Runs a kernel on buffers that are numbered by binding.
pub fn run_kernel(
    kernel: &Kernel,
    groups: [u32; 3],
    push: &[u32],
    buffers: &mut [Vec<u32>],
) -> Result<(), Halt> {
    let ranges: Vec<Range> = kernel
        .buffers()
        .iter()
        .map(|descriptor| {
            let words = &mut buffers[descriptor.binding as usize];
            Range { address: words.as_mut_ptr().cast(), bytes: 4 * words.len() as u32 }
        })
        .collect();
    let deadline = Some(Instant::now() + Duration::from_secs(60));
    let (base, images) = ([0; 3], &NoImages);
    let dispatch = Dispatch { base, groups, count: groups, push, buffers: &ranges, images, deadline };
    // SAFETY: the ranges are those of vectors that live on.
    unsafe { kernel.run(&dispatch) }
}

/// Runs a shader on buffers.
pub fn run(shader: &Shader, groups: [u32; 3], push: &[u32], buffers: &mut [Vec<u32>]) {
    run_kernel(&kernel(shader), groups, push, buffers).unwrap_or_else(|halt| panic!("{halt}\n{shader}"));
}

/// Runs a shader as machine code and in the interpreter, and compares what they leave in the buffers.
pub fn compare(shader: &Shader, groups: [u32; 3], push: &[u32], buffers: &[Vec<u32>]) {
    let (mut ours, mut theirs) = (buffers.to_vec(), buffers.to_vec());
    run(shader, groups, push, &mut ours);
    oracle::run(shader, groups, push, &mut theirs);
    for (binding, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        for (at, (a, b)) in ours.iter().zip(theirs).enumerate() {
            assert_eq!(a, b, "buffer {binding} word {at}: {a:#x}, should be {b:#x}\n{shader}");
        }
    }
}

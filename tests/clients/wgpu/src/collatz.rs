//! Steps that numbers take to 1 when even ones are halved and odd ones tripled and raised by 1.

use crate::gpu::{Error, Gpu};

const KERNEL: &str = "
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;

fn steps(first: u32) -> u32 {
    var n = first;
    var count = 0u;
    while n > 1u {
        n = select(n / 2u, 3u * n + 1u, (n & 1u) == 1u);
        count += 1u;
    }
    return count;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&numbers) {
        numbers[id.x] = steps(numbers[id.x]);
    }
}
";

/// Compares the device's steps with the host's.
pub fn check(gpu: &Gpu) -> Result<(), Error> {
    let numbers: Vec<u32> = (1..=10_000).collect();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let storage = gpu.buffer(bytemuck::cast_slice(&numbers), usage);
    let read = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: storage.size(),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &gpu.module(KERNEL),
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: storage.as_entire_binding() }],
    });
    let mut commands = gpu.device.create_command_encoder(&Default::default());
    let mut pass = commands.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(numbers.len().div_ceil(64) as u32, 1, 1);
    drop(pass);
    commands.copy_buffer_to_buffer(&storage, 0, &read, 0, read.size());
    let bytes = gpu.read(commands, &read)?;
    let wrong =
        numbers.iter().zip(bytemuck::cast_slice::<u8, u32>(&bytes)).find(|(n, have)| steps(**n) != **have);
    match wrong {
        None => Ok(()),
        Some((n, have)) => Err(format!("{n} takes {} steps, the device says {have}", steps(*n)).into()),
    }
}

fn steps(first: u32) -> u32 {
    let next = |n: &u32| Some(if n % 2 == 1 { 3 * n + 1 } else { n / 2 });
    std::iter::successors(Some(first), next).take_while(|n| *n > 1).count() as u32
}

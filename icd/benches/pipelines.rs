//! Time to make pipelines: compiled, and from a pipeline cache that an earlier run has left.
//! Prints only. `cargo bench -p vc4-icd --bench pipelines`

#[allow(dead_code, reason = "shared with the tests")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use ash::vk;
use support::Vk;
use support::canvas::{Canvas, Parts, Setup, build, spirv_module};

/// How long each measurement goes on.
const MEASURE: Duration = Duration::from_millis(1000);

/// Both stages of a shader of the corpus, and the formats of its attributes.
macro_rules! shaders {
    ($($name:literal: $($format:ident $bytes:literal),+;)*) => {
        [$((
            $name,
            [
                include_bytes!(concat!("../../tests/shaders/corpus/", $name, ".vert.spv")).as_slice(),
                include_bytes!(concat!("../../tests/shaders/corpus/", $name, ".frag.spv")).as_slice(),
            ],
            [$((vk::Format::$format, $bytes)),+].as_slice(),
        )),*]
    };
}

fn main() {
    let shaders = shaders! {
        "vertex_color": R32G32B32_SFLOAT 12, R32G32B32A32_SFLOAT 16;
        "gouraud": R32G32B32_SFLOAT 12, R32G32B32_SFLOAT 12, R32G32B32A32_SFLOAT 16;
        "blinn_phong": R32G32B32_SFLOAT 12, R32G32B32_SFLOAT 12;
    };
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 64, false, vk::AttachmentLoadOp::CLEAR);
    println!("{:16} {:>12} {:>12} {:>8}", "pipeline", "compiled", "from cache", "ratio");
    for (name, [vertex, fragment], formats) in shaders {
        let (vertex, fragment) = (spirv_module(&vk, vertex), spirv_module(&vk, fragment));
        let parts = Parts { layout: layout(&vk), ..Parts::new(&vk, vertex, fragment, formats) };
        let time = |cache| {
            let setup = Setup { cache, ..Setup::default() };
            let (start, mut count) = (Instant::now(), 0u32);
            while start.elapsed() < MEASURE {
                let pipeline = build(&vk, &canvas, &setup, &parts).expect("a pipeline");
                // SAFETY: nothing uses it.
                unsafe { vk.device.destroy_pipeline(pipeline, None) };
                count += 1;
            }
            start.elapsed().as_secs_f64() * 1e6 / f64::from(count)
        };
        let compiled = time(vk::PipelineCache::null());
        let first = cache(&vk, &[]);
        build(&vk, &canvas, &Setup { cache: first, ..Setup::default() }, &parts).expect("a pipeline");
        // What the next run of a program begins with.
        // SAFETY: valid usage.
        let data = unsafe { vk.device.get_pipeline_cache_data(first).expect("data") };
        let cached = time(cache(&vk, &data));
        println!("{name:16} {compiled:9.1} us {cached:9.1} us {:7.1}x", compiled / cached);
    }
}

/// Uniform buffers at the first bindings of set 0.
fn layout(vk: &Vk) -> vk::PipelineLayout {
    let binding = |binding| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding)
            .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT)
    };
    let bindings: Vec<_> = (0..4).map(binding).collect();
    // SAFETY: valid usage.
    unsafe {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let sets = [vk.device.create_descriptor_set_layout(&info, None).expect("a set layout")];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        vk.device.create_pipeline_layout(&info, None).expect("a layout")
    }
}

fn cache(vk: &Vk, data: &[u8]) -> vk::PipelineCache {
    let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
    // SAFETY: valid usage.
    unsafe { vk.device.create_pipeline_cache(&info, None).expect("a cache") }
}

//! VkPipelineCache through the API: what it holds goes out, comes back, and makes pipelines that draw the same.

#[allow(dead_code, reason = "shared by several test programs")]
mod support;

use ash::vk;
use support::Vk;
use support::canvas::{self, Canvas, GREEN, Mesh, RED, Setup, WRITE, draw, try_pipeline};

fn cache(vk: &Vk, data: &[u8]) -> vk::PipelineCache {
    let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
    // SAFETY: valid usage.
    unsafe { vk.device.create_pipeline_cache(&info, None).unwrap() }
}

fn data(vk: &Vk, cache: vk::PipelineCache) -> Vec<u8> {
    // SAFETY: valid usage.
    unsafe { vk.device.get_pipeline_cache_data(cache).unwrap() }
}

/// What vkGetPipelineCacheData does with room for `room` bytes.
fn with_room(vk: &Vk, cache: vk::PipelineCache, room: usize) -> (vk::Result, Vec<u8>) {
    let (mut size, mut bytes) = (room, vec![0xa5u8; room + 8]);
    let get = vk.device.fp_v1_0().get_pipeline_cache_data;
    // SAFETY: valid usage.
    let result = unsafe { get(vk.device.handle(), cache, &mut size, bytes.as_mut_ptr().cast()) };
    assert!(bytes[size..].iter().all(|&byte| byte == 0xa5), "written beyond {size} bytes");
    bytes.truncate(size);
    (result, bytes)
}

/// A pipeline whose code depends on `blend`.
fn pipeline(vk: &Vk, canvas: &Canvas, cache: vk::PipelineCache, blend: bool) -> vk::Pipeline {
    let blend = vk::PipelineColorBlendAttachmentState { blend_enable: blend.into(), ..WRITE };
    canvas::pipeline(vk, canvas, &Setup { cache, blend, ..Setup::default() })
}

/// The picture of a red square under a green one.
fn picture(vk: &Vk, canvas: &Canvas, pipeline: vk::Pipeline) -> Vec<u32> {
    let red = Mesh::rect(vk, 32, [2.0, 2.0, 20.0, 20.0], 0.5, RED);
    let green = Mesh::rect(vk, 32, [10.0, 10.0, 30.0, 30.0], 0.5, GREEN);
    let picture = canvas.draw(vk, canvas.whole(), |device, commands| {
        draw(device, commands, pipeline, canvas, &red);
        draw(device, commands, pipeline, canvas, &green);
    });
    picture.words
}

#[test]
fn what_a_cache_holds_draws_the_same() {
    let (first, pictures) = {
        let vk = Vk::new();
        let canvas = Canvas::new(&vk, 32, false, vk::AttachmentLoadOp::CLEAR);
        let cache = cache(&vk, &[]);
        let empty = data(&vk, cache);
        assert_eq!(empty.len(), 32);
        let pictures = [false, true].map(|blend| {
            let pipeline = pipeline(&vk, &canvas, cache, blend);
            picture(&vk, &canvas, pipeline)
        });
        assert_ne!(pictures[0], pictures[1]);
        (data(&vk, cache), pictures)
    };
    // Another device, another run of the program.
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 32, false, vk::AttachmentLoadOp::CLEAR);
    let cache = cache(&vk, &first);
    for (blend, expected) in [false, true].into_iter().zip(pictures) {
        let pipeline = pipeline(&vk, &canvas, cache, blend);
        assert_eq!(picture(&vk, &canvas, pipeline), expected);
    }
    assert_eq!(data(&vk, cache), first, "nothing was compiled again");
}

#[test]
fn room_decides_how_much_is_handed_out() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 32, false, vk::AttachmentLoadOp::CLEAR);
    let full = cache(&vk, &[]);
    pipeline(&vk, &canvas, full, false);
    let one = data(&vk, full);
    pipeline(&vk, &canvas, full, true);
    let all = data(&vk, full);
    assert!(32 < one.len() && one.len() < all.len());
    assert_eq!(with_room(&vk, full, all.len()), (vk::Result::SUCCESS, all.clone()));
    assert_eq!(with_room(&vk, full, all.len() + 8), (vk::Result::SUCCESS, all.clone()));
    for room in [0, 1, 31] {
        assert_eq!(with_room(&vk, full, room), (vk::Result::INCOMPLETE, Vec::new()));
    }
    for room in [32, 67, all.len() - 1] {
        let (result, bytes) = with_room(&vk, full, room);
        assert_eq!(result, vk::Result::INCOMPLETE);
        assert_eq!(bytes[..32], all[..32]);
        assert_eq!(data(&vk, cache(&vk, &bytes)), bytes, "{room} bytes are a cache of their own");
    }
}

#[test]
fn caches_merge() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 32, false, vk::AttachmentLoadOp::CLEAR);
    let [both, first, second, merged] = [(); 4].map(|()| cache(&vk, &[]));
    for (blend, alone) in [(false, first), (true, second)] {
        pipeline(&vk, &canvas, both, blend);
        pipeline(&vk, &canvas, alone, blend);
    }
    // SAFETY: valid usage.
    unsafe { vk.device.merge_pipeline_caches(merged, &[first, second]).unwrap() };
    assert_eq!(data(&vk, merged), data(&vk, both));
    assert_ne!(data(&vk, merged), data(&vk, first));
}

#[test]
fn data_of_others_are_no_error() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 32, false, vk::AttachmentLoadOp::CLEAR);
    let full = cache(&vk, &[]);
    pipeline(&vk, &canvas, full, false);
    let good = data(&vk, full);
    let mut foreign = good.clone();
    foreign[20] ^= 1;
    for bytes in [&good[..good.len() - 1], &foreign[..], &[1, 2, 3], &[0xff; 100]] {
        let other = cache(&vk, bytes);
        assert_eq!(data(&vk, other), good[..32]);
        pipeline(&vk, &canvas, other, false);
        assert_eq!(data(&vk, other), good);
    }
}

#[test]
fn nothing_is_compiled_where_that_is_not_wanted() {
    let vk = Vk::with(&[c"VK_EXT_pipeline_creation_cache_control"]);
    let canvas = Canvas::new(&vk, 32, false, vk::AttachmentLoadOp::CLEAR);
    // Nobody else uses the cache while it is used.
    let info =
        vk::PipelineCacheCreateInfo::default().flags(vk::PipelineCacheCreateFlags::EXTERNALLY_SYNCHRONIZED);
    // SAFETY: valid usage.
    let full = unsafe { vk.device.create_pipeline_cache(&info, None).unwrap() };
    let flags = vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
    let known = |cache, blend: bool| {
        let blend = vk::PipelineColorBlendAttachmentState { blend_enable: blend.into(), ..WRITE };
        try_pipeline(&vk, &canvas, &Setup { cache, blend, flags, ..Setup::default() })
    };
    let required = Err(vk::Result::PIPELINE_COMPILE_REQUIRED);
    assert_eq!(known(full, false), required);
    assert_eq!(data(&vk, full).len(), 32, "nothing was compiled");
    let compiled = pipeline(&vk, &canvas, full, false);
    let found = known(full, false).unwrap();
    assert_eq!(picture(&vk, &canvas, found), picture(&vk, &canvas, compiled));
    assert_eq!(known(full, true), required, "of another state");
    assert_eq!(known(vk::PipelineCache::null(), false), required);
    assert_eq!(known(cache(&vk, &data(&vk, full)), true), required);
    known(cache(&vk, &data(&vk, full)), false).unwrap();
}

//! Several threads record at once; thousands of objects live at once; recordings are used again and again.

mod support;

use std::sync::Mutex;

use ash::vk;
use support::canvas::{BLUE, Canvas, GREEN, GREY, Mesh, RED, Setup, bind, pipeline};
use support::{Buffer, Vk, rect};

const EDGE: u32 = 64;
const THREADS: u32 = 4;

/// What a thread draws with: handles only, which may go anywhere.
struct Part {
    pass: vk::RenderPassBeginInfo<'static>,
    pipeline: vk::Pipeline,
    buffers: [vk::Buffer; 2],
}

// SAFETY: the structures that the pass points to live longer than the threads, and nobody writes them.
unsafe impl Send for Part {}

fn begin(canvas: &Canvas) -> vk::RenderPassBeginInfo<'static> {
    // SAFETY: only the lifetime changes; canvases outlive the threads of their test.
    unsafe {
        std::mem::transmute::<vk::RenderPassBeginInfo<'_>, vk::RenderPassBeginInfo<'_>>(
            canvas.begin(canvas.whole()),
        )
    }
}

/// Records and submits frames from a pool of the thread's own.
fn record(device: &ash::Device, queue: &Mutex<vk::Queue>, part: &Part, number: u32) {
    // SAFETY: valid usage; every object here belongs to this thread.
    unsafe {
        let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
        let pool =
            device.create_command_pool(&vk::CommandPoolCreateInfo::default().flags(flags), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let fence = device.create_fence(&Default::default(), None).unwrap();
        let commands = device.allocate_command_buffers(&info).unwrap();
        for frame in 0..20 {
            device.begin_command_buffer(commands[0], &Default::default()).unwrap();
            device.cmd_begin_render_pass(commands[0], &part.pass, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands[0], vk::PipelineBindPoint::GRAPHICS, part.pipeline);
            let edge = EDGE as f32;
            let viewport = vk::Viewport { width: edge, height: edge, max_depth: 1.0, ..Default::default() };
            device.cmd_set_viewport(commands[0], 0, &[viewport]);
            device.cmd_set_stencil_reference(commands[0], vk::StencilFaceFlags::FRONT_AND_BACK, 0);
            device.cmd_bind_vertex_buffers(commands[0], 0, &part.buffers, &[0, 0]);
            // The last frame of each thread ends at another column.
            for column in 0..EDGE.min(frame + 10 + number) {
                device.cmd_set_scissor(commands[0], 0, &[rect(column as i32, 0, 1, EDGE)]);
                device.cmd_draw(commands[0], 6, 1, 0, 0);
            }
            device.cmd_end_render_pass(commands[0]);
            device.end_command_buffer(commands[0]).unwrap();
            let info = vk::SubmitInfo::default().command_buffers(&commands);
            device.queue_submit(*queue.lock().unwrap(), &[info], fence).unwrap();
            device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            device.reset_fences(&[fence]).unwrap();
        }
        device.destroy_fence(fence, None);
        device.destroy_command_pool(pool, None);
    }
}

#[test]
fn threads_record_and_submit_side_by_side() {
    let vk = Vk::new();
    let canvases: Vec<_> =
        (0..THREADS).map(|_| Canvas::new(&vk, EDGE, false, vk::AttachmentLoadOp::CLEAR)).collect();
    let mesh = Mesh::rect(&vk, EDGE, [0.0, 0.0, 64.0, 64.0], 0.5, RED);
    let queue = Mutex::new(vk.queue);
    std::thread::scope(|scope| {
        for (number, canvas) in (0..).zip(&canvases) {
            let pipeline = pipeline(&vk, canvas, &Setup::default());
            let buffers = [mesh.positions.handle, mesh.colors.handle];
            let part = Part { pass: begin(canvas), pipeline, buffers };
            let (device, queue) = (vk.device.clone(), &queue);
            scope.spawn(move || {
                let part = part;
                record(&device, queue, &part, number);
            });
        }
    });
    for (number, canvas) in (0..).zip(&canvases) {
        let words = vk.pixels(&canvas.image);
        for (index, word) in (0..).zip(words) {
            let expected = if index % EDGE < 29 + number { RED } else { GREY };
            assert_eq!(word, expected, "thread {number}, pixel {index}");
        }
    }
}

#[test]
fn thousands_of_objects_live_at_once_and_die_in_any_order() {
    const COUNT: usize = 4000;
    let vk = Vk::new();
    let device = &vk.device;
    // SAFETY: valid usage.
    unsafe {
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(64).usage(usage);
        let buffers: Vec<_> = (0..COUNT).map(|_| device.create_buffer(&info, None).unwrap()).collect();
        let info = vk::MemoryAllocateInfo::default().allocation_size(64);
        let memory: Vec<_> = (0..COUNT).map(|_| device.allocate_memory(&info, None).unwrap()).collect();
        let info = vk::SamplerCreateInfo::default();
        let samplers: Vec<_> = (0..COUNT).map(|_| device.create_sampler(&info, None).unwrap()).collect();
        let fences: Vec<_> =
            (0..COUNT).map(|_| device.create_fence(&Default::default(), None).unwrap()).collect();
        for (buffer, memory) in buffers.iter().zip(&memory) {
            device.bind_buffer_memory(*buffer, *memory, 0).unwrap();
        }
        vk.run(|device, commands| {
            for (number, buffer) in (0..).zip(&buffers) {
                device.cmd_fill_buffer(commands, *buffer, 0, 64, number);
            }
        });
        // Memory goes first, in an order of its own: objects may outlive what they are bound to.
        for index in (0..COUNT).map(|index| index * 1237 % COUNT) {
            let mapped = device.map_memory(memory[index], 0, 64, Default::default()).unwrap().cast::<u32>();
            assert_eq!(mapped.read(), index as u32);
            device.free_memory(memory[index], None);
        }
        fences.into_iter().rev().for_each(|fence| device.destroy_fence(fence, None));
        samplers.into_iter().for_each(|sampler| device.destroy_sampler(sampler, None));
        buffers.into_iter().rev().for_each(|buffer| device.destroy_buffer(buffer, None));
    }
}

/// Buffers by which a recording that runs several times is told what to draw.
fn recolor(buffer: &Buffer, word: u32) {
    buffer.write(&support::canvas::bytes([support::canvas::color(word); 6].into_iter().flatten()));
}

#[test]
fn a_recording_runs_again_with_what_its_buffers_hold_then() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, EDGE, false, vk::AttachmentLoadOp::CLEAR);
    let pipeline = pipeline(&vk, &canvas, &Setup::default());
    let mesh = Mesh::rect(&vk, EDGE, [0.0, 0.0, 32.0, 64.0], 0.5, RED);
    let commands = vk.commands(vk::CommandBufferLevel::PRIMARY);
    // SAFETY: valid usage.
    unsafe {
        let flags = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        let info = vk::CommandBufferBeginInfo::default().flags(flags);
        vk.device.begin_command_buffer(commands, &info).unwrap();
        vk.device.cmd_begin_render_pass(commands, &canvas.begin(canvas.whole()), vk::SubpassContents::INLINE);
        bind(&vk.device, commands, pipeline, &canvas);
        mesh.bind(&vk.device, commands);
        vk.device.cmd_draw(commands, 6, 1, 0, 0);
        vk.device.cmd_end_render_pass(commands);
        vk.device.end_command_buffer(commands).unwrap();
    }
    for word in [GREEN, BLUE] {
        recolor(&mesh.colors, word);
        let fences = [vk.submit(commands), vk.submit(commands)];
        // SAFETY: valid usage.
        unsafe { vk.device.wait_for_fences(&fences, true, u64::MAX) }.unwrap();
        assert_eq!(vk.pixels(&canvas.image)[0], word);
    }
}

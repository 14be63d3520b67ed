//! What programs do by accident: no call crashes, what is wrong draws nothing, and what is right beside it is drawn.

mod support;

use ash::vk;
use support::canvas::{
    Canvas, FLOAT_COLOR, GREEN, GREY, Mesh, POSITION, Parts, RED, Setup, bind, build, draw, inside, pipeline,
    spirv_module,
};
use support::{Buffer, Vk};

const EDGE: u32 = 32;
const LEFT: [f32; 4] = [0.0, 0.0, 16.0, 32.0];
const RIGHT: [f32; 4] = [16.0, 0.0, 32.0, 32.0];

/// A canvas, its pipeline, and a mesh on the right that must be drawn whatever else goes wrong.
struct Scene {
    vk: Vk,
    canvas: Canvas,
    pipeline: vk::Pipeline,
    good: Mesh,
}

impl Scene {
    fn new() -> Scene {
        let vk = Vk::new();
        let canvas = Canvas::new(&vk, EDGE, false, vk::AttachmentLoadOp::CLEAR);
        let pipeline = pipeline(&vk, &canvas, &Setup::default());
        let good = Mesh::rect(&vk, EDGE, RIGHT, 0.5, GREEN);
        Scene { vk, canvas, pipeline, good }
    }

    /// Runs `wrong` between two good draws; the picture must be that of the good ones. Twice, since the first may have
    /// broken the device.
    #[track_caller]
    fn survives(&self, wrong: impl Fn(&ash::Device, vk::CommandBuffer)) {
        for _ in 0..2 {
            let picture = self.canvas.draw(&self.vk, self.canvas.whole(), |device, commands| {
                draw(device, commands, self.pipeline, &self.canvas, &self.good);
                wrong(device, commands);
                draw(device, commands, self.pipeline, &self.canvas, &self.good);
            });
            picture.expect(|x, y| if inside(x, y, [16, 0, 32, 32]) { GREEN } else { GREY });
        }
    }

    /// A buffer that nobody gave memory.
    fn empty_buffer(&self, usage: vk::BufferUsageFlags) -> vk::Buffer {
        let info = vk::BufferCreateInfo::default().size(4096).usage(usage);
        // SAFETY: valid usage.
        unsafe { self.vk.device.create_buffer(&info, None) }.unwrap()
    }
}

#[test]
fn null_handles_where_none_may_be() {
    let scene = Scene::new();
    let null = vk::Buffer::null();
    scene.survives(|device, commands| {
        // SAFETY: wrong on purpose; the driver looks at the handles first.
        unsafe {
            let graphics = vk::PipelineBindPoint::GRAPHICS;
            device.cmd_bind_pipeline(commands, graphics, vk::Pipeline::null());
            device.cmd_bind_index_buffer(commands, null, 0, vk::IndexType::UINT16);
            device.cmd_bind_vertex_buffers(commands, 0, &[null], &[0]);
            let layout = vk::PipelineLayout::null();
            device.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &[vk::DescriptorSet::null()], &[]);
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::VERTEX, 0, &[0; 4]);
            device.cmd_draw_indirect(commands, null, 0, 1, 16);
        }
    });
    let device = &scene.vk.device;
    // SAFETY: wrong on purpose.
    unsafe {
        let view = vk::ImageViewCreateInfo::default().view_type(vk::ImageViewType::TYPE_2D);
        assert!(device.create_image_view(&view, None).is_err());
        assert!(device.bind_buffer_memory(null, vk::DeviceMemory::null(), 0).is_err());
        assert!(device.map_memory(vk::DeviceMemory::null(), 0, 4, Default::default()).is_err());
        let pipeline = vk::GraphicsPipelineCreateInfo::default();
        assert!(device.create_graphics_pipelines(vk::PipelineCache::null(), &[pipeline], None).is_err());
        assert!(device.get_fence_status(vk::Fence::null()).is_err());
        let submit = [vk::SubmitInfo::default()];
        device.queue_submit(scene.vk.queue, &submit, vk::Fence::null()).unwrap();
        // Destroying nothing is allowed.
        device.destroy_buffer(null, None);
        device.destroy_pipeline(vk::Pipeline::null(), None);
    }
}

#[test]
fn draws_that_lack_something_draw_nothing() {
    let scene = Scene::new();
    let bad = Mesh::rect(&scene.vk, EDGE, LEFT, 0.5, RED);
    let empty = scene.empty_buffer(vk::BufferUsageFlags::VERTEX_BUFFER | vk::BufferUsageFlags::INDEX_BUFFER);
    scene.survives(|device, commands| {
        // SAFETY: wrong on purpose: no index buffer, none with memory, no vertex buffer with memory, no indirect one.
        unsafe {
            bad.bind(device, commands);
            device.cmd_draw_indexed(commands, 6, 1, 0, 0, 0);
            device.cmd_bind_index_buffer(commands, empty, 0, vk::IndexType::UINT16);
            device.cmd_draw_indexed(commands, 6, 1, 0, 0, 0);
            device.cmd_draw_indirect(commands, empty, 0, 1, 16);
            device.cmd_draw_indirect(commands, bad.positions.handle, 1 << 20, 1, 16);
            device.cmd_bind_vertex_buffers(commands, 0, &[empty, empty], &[0, 0]);
            device.cmd_draw(commands, 6, 1, 0, 0);
        }
    });
}

#[test]
fn draws_that_leave_their_buffers_read_zeros() {
    let scene = Scene::new();
    let bad = Mesh::rect(&scene.vk, EDGE, LEFT, 0.5, RED);
    let indices = scene.vk.buffer_with(&[0xff; 64]);
    scene.survives(|device, commands| {
        // SAFETY: wrong on purpose: first vertices, indices and offsets far behind the buffers' ends. Vertices without
        // data are all at one place, and so are those of indices without data: nothing of that covers a pixel.
        unsafe {
            bad.bind(device, commands);
            device.cmd_draw(commands, 6, 1, 100_000, 0);
            device.cmd_draw(commands, 6, 1, u32::MAX - 6, u32::MAX);
            device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT16);
            device.cmd_draw_indexed(commands, 6, 1, 0, 0, 0);
            device.cmd_draw_indexed(commands, 6, 1, 0, i32::MIN, 0);
            device.cmd_draw_indexed(commands, 6, 1, u32::MAX, 0, 0);
            device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT32);
            device.cmd_draw_indexed(commands, 6, 1, 0, i32::MAX, 0);
            device.cmd_bind_index_buffer(commands, indices.handle, 1 << 40, vk::IndexType::UINT32);
            device.cmd_draw_indexed(commands, 3, 1, 0, 0, 0);
            let buffers = [bad.positions.handle, bad.colors.handle];
            device.cmd_bind_vertex_buffers(commands, 0, &buffers, &[1 << 40, u64::MAX - 8]);
            device.cmd_draw(commands, 6, 1, 0, 0);
        }
    });
}

/// A pipeline that reads a texture and a uniform buffer.
fn reading(scene: &Scene) -> (vk::PipelineLayout, Vec<vk::DescriptorSetLayout>, vk::Pipeline) {
    let device = &scene.vk.device;
    let layout = |ty, stages| {
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(ty)
            .descriptor_count(1)
            .stage_flags(stages)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
        // SAFETY: valid usage.
        unsafe { device.create_descriptor_set_layout(&info, None) }.unwrap()
    };
    let sets = vec![
        layout(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT),
        layout(vk::DescriptorType::UNIFORM_BUFFER, vk::ShaderStageFlags::VERTEX),
    ];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
    // SAFETY: valid usage.
    let layout = unsafe { device.create_pipeline_layout(&info, None) }.unwrap();
    let vertex = spirv_module(&scene.vk, include_bytes!("../../tests/shaders/mvp_uniform.vert.spv"));
    let fragment = spirv_module(&scene.vk, include_bytes!("../../tests/shaders/quad.frag.spv"));
    let parts = Parts { layout, ..Parts::new(&scene.vk, vertex, fragment, &[FLOAT_COLOR, POSITION]) };
    (layout, sets, build(&scene.vk, &scene.canvas, &Setup::default(), &parts).unwrap())
}

#[test]
fn descriptors_that_are_not_there() {
    let scene = Scene::new();
    let (layout, set_layouts, reader) = reading(&scene);
    let device = &scene.vk.device;
    let sizes = [
        vk::DescriptorPoolSize { ty: vk::DescriptorType::COMBINED_IMAGE_SAMPLER, descriptor_count: 1 },
        vk::DescriptorPoolSize { ty: vk::DescriptorType::UNIFORM_BUFFER, descriptor_count: 2 },
    ];
    let info = vk::DescriptorPoolCreateInfo::default().max_sets(3).pool_sizes(&sizes);
    // SAFETY: valid usage but for what is left out.
    let (sets, homeless) = unsafe {
        let pool = device.create_descriptor_pool(&info, None).unwrap();
        let layouts = [set_layouts[0], set_layouts[1], set_layouts[1]];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let sets = device.allocate_descriptor_sets(&info).unwrap();
        // The third set names a buffer without memory.
        let buffer = scene.empty_buffer(vk::BufferUsageFlags::UNIFORM_BUFFER);
        let info = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
        let ty = vk::DescriptorType::UNIFORM_BUFFER;
        let write = vk::WriteDescriptorSet::default().dst_set(sets[2]).descriptor_type(ty).buffer_info(&info);
        device.update_descriptor_sets(&[write], &[]);
        (sets, buffer)
    };
    let graphics = vk::PipelineBindPoint::GRAPHICS;
    scene.survives(|device, commands| {
        // SAFETY: wrong on purpose: nothing bound, empty sets, sets of other layouts, a buffer without memory.
        unsafe {
            bind(device, commands, reader, &scene.canvas);
            scene.good.bind(device, commands);
            device.cmd_draw(commands, 6, 1, 0, 0);
            device.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &sets[..2], &[]);
            device.cmd_draw(commands, 6, 1, 0, 0);
            device.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &sets[1..], &[]);
            device.cmd_draw(commands, 6, 1, 0, 0);
        }
    });
    // SAFETY: wrong on purpose: the set still names it.
    unsafe { scene.vk.device.destroy_buffer(homeless, None) };
    scene.survives(|_, _| {});
}

#[test]
fn what_is_destroyed_too_early_lives_until_it_was_drawn() {
    let scene = Scene::new();
    let Scene { vk, canvas, pipeline, good } = &scene;
    let commands = vk.record(|device, commands| {
        // SAFETY: valid usage.
        unsafe {
            let begin = canvas.begin(canvas.whole());
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            draw(device, commands, *pipeline, canvas, good);
            device.cmd_end_render_pass(commands);
        }
    });
    // SAFETY: wrong on purpose: the command buffer was not submitted yet.
    unsafe {
        let Buffer { handle, .. } = good.positions;
        vk.device.destroy_buffer(handle, None);
        vk.device.destroy_buffer(good.colors.handle, None);
        vk.device.destroy_pipeline(*pipeline, None);
        let fence = vk.submit(commands);
        vk.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
    }
    let pixels = vk.pixels(&canvas.image);
    assert_eq!((pixels[0], pixels[31]), (GREY, GREEN));
}

#[test]
fn commands_in_the_wrong_place_fail_the_recording() {
    let Scene { vk, canvas, pipeline, good } = &Scene::new();
    let fails = |body: &dyn Fn(&ash::Device, vk::CommandBuffer)| {
        let commands = vk.commands(vk::CommandBufferLevel::PRIMARY);
        // SAFETY: wrong on purpose.
        unsafe {
            vk.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
            body(&vk.device, commands);
            assert!(vk.device.end_command_buffer(commands).is_err());
            // What failed is not run.
            let commands = [commands];
            let info = vk::SubmitInfo::default().command_buffers(&commands);
            assert!(vk.device.queue_submit(vk.queue, &[info], vk::Fence::null()).is_err());
        }
    };
    let begin = |device: &ash::Device, commands| {
        // SAFETY: valid usage.
        unsafe {
            device.cmd_begin_render_pass(
                commands,
                &canvas.begin(canvas.whole()),
                vk::SubpassContents::INLINE,
            );
        }
    };
    // SAFETY: wrong on purpose, all of them.
    unsafe {
        fails(&|device, commands| draw(device, commands, *pipeline, canvas, good));
        fails(&|device, commands| begin(device, commands));
        fails(&|device, commands| device.cmd_end_render_pass(commands));
        fails(&|device, commands| {
            begin(device, commands);
            begin(device, commands);
        });
        fails(&|device, commands| {
            begin(device, commands);
            device.cmd_draw(commands, 3, 1, 0, 0);
        });
        fails(&|device, commands| {
            begin(device, commands);
            device.cmd_fill_buffer(commands, good.positions.handle, 0, 4, 0);
        });
        fails(&|device, commands| device.cmd_execute_commands(commands, &[commands]));
        let idle = vk.commands(vk::CommandBufferLevel::PRIMARY);
        vk.device.cmd_draw(idle, 3, 1, 0, 0);
        assert!(vk.device.end_command_buffer(idle).is_err());
    }
}

//! Compute through the driver's entry points: what is recorded how, and what is refused.
#![cfg(feature = "compute")]

mod support;

use ash::vk;
use support::canvas::{Canvas, Setup, pipeline, spirv_module};
use support::{Buffer, Vk};

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const ADD: &[u8] = include_bytes!("../../tests/shaders/compute/add.comp.spv");

/// The kernel that adds a push constant and its own number to the words of a buffer.
struct Adder {
    module: vk::ShaderModule,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
}

impl Adder {
    fn new(vk: &Vk, flags: vk::DescriptorSetLayoutCreateFlags) -> Adder {
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(STORAGE)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&bindings);
        let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(4)];
        // SAFETY: valid usage.
        unsafe {
            let set_layout = vk.device.create_descriptor_set_layout(&info, None).unwrap();
            let layouts = [set_layout];
            let info =
                vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = vk.device.create_pipeline_layout(&info, None).unwrap();
            Adder { module: spirv_module(vk, ADD), set_layout, layout }
        }
    }

    /// Pipelines by stage, entry point and columns of the workgroup.
    fn pipelines(
        &self,
        vk: &Vk,
        stages: &[(vk::ShaderStageFlags, &std::ffi::CStr, u32)],
    ) -> Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)> {
        let entry = [vk::SpecializationMapEntry { constant_id: 1, offset: 0, size: 4 }];
        let sizes: Vec<[u8; 4]> = stages.iter().map(|(_, _, size)| size.to_le_bytes()).collect();
        let special: Vec<_> = sizes
            .iter()
            .map(|size| vk::SpecializationInfo::default().map_entries(&entry).data(size))
            .collect();
        let infos: Vec<_> = stages
            .iter()
            .zip(&special)
            .map(|((stage, name, _), special)| {
                let stage = vk::PipelineShaderStageCreateInfo::default().stage(*stage).name(name);
                let stage = stage.module(self.module).specialization_info(special);
                vk::ComputePipelineCreateInfo::default()
                    .flags(vk::PipelineCreateFlags::ALLOW_DERIVATIVES)
                    .stage(stage)
                    .layout(self.layout)
            })
            .collect();
        // SAFETY: usage is valid but for what the test is about.
        unsafe { vk.device.create_compute_pipelines(vk::PipelineCache::null(), &infos, None) }
    }

    fn pipeline(&self, vk: &Vk) -> vk::Pipeline {
        self.pipelines(vk, &[(vk::ShaderStageFlags::COMPUTE, c"main", 4)]).unwrap()[0]
    }

    /// A set with a buffer.
    fn set(&self, vk: &Vk, buffer: &Buffer) -> vk::DescriptorSet {
        let sizes = [vk::DescriptorPoolSize { ty: STORAGE, descriptor_count: 1 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let layouts = [self.set_layout];
        // SAFETY: valid usage.
        unsafe {
            let pool = vk.device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = vk.device.allocate_descriptor_sets(&info).unwrap()[0];
            let whole = [whole(buffer)];
            let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(STORAGE);
            vk.device.update_descriptor_sets(&[write.buffer_info(&whole)], &[]);
            set
        }
    }
}

fn whole(buffer: &Buffer) -> vk::DescriptorBufferInfo {
    vk::DescriptorBufferInfo::default().buffer(buffer.handle).range(vk::WHOLE_SIZE)
}

/// Binds everything but sets.
fn bind(device: &ash::Device, commands: vk::CommandBuffer, pipeline: vk::Pipeline, adder: &Adder, add: u32) {
    // SAFETY: valid usage.
    unsafe {
        device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
        let stage = vk::ShaderStageFlags::COMPUTE;
        device.cmd_push_constants(commands, adder.layout, stage, 0, &add.to_le_bytes());
    }
}

#[test]
fn pushed_descriptors_hold_for_the_dispatches_behind_them() {
    let vk = Vk::with(&[c"VK_KHR_push_descriptor", c"VK_KHR_descriptor_update_template"]);
    let push = ash::khr::push_descriptor::Device::new(&vk.instance, &vk.device);
    let templates = ash::khr::descriptor_update_template::Device::new(&vk.instance, &vk.device);
    let adder = Adder::new(&vk, vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
    let pipeline = adder.pipeline(&vk);
    let [first, second] = [vk.buffer_with(&[0; 16]), vk.buffer_with(&[0; 32])];
    let entries = [vk::DescriptorUpdateTemplateEntry {
        descriptor_count: 1,
        descriptor_type: STORAGE,
        ..Default::default()
    }];
    vk.run(|device, commands| {
        bind(device, commands, pipeline, &adder, 10);
        let infos = [whole(&first)];
        let write = vk::WriteDescriptorSet::default().descriptor_type(STORAGE).buffer_info(&infos);
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
            .pipeline_bind_point(COMPUTE)
            .pipeline_layout(adder.layout);
        let data = whole(&second);
        // SAFETY: valid usage; the data are as the template says.
        unsafe {
            push.cmd_push_descriptor_set(commands, COMPUTE, adder.layout, 0, &[write]);
            device.cmd_dispatch(commands, 1, 1, 1);
            let mut template = vk::DescriptorUpdateTemplate::null();
            let (functions, handle) = (templates.fp(), templates.device());
            let create = functions.create_descriptor_update_template_khr;
            create(handle, &info, std::ptr::null(), &mut template).result().unwrap();
            let data = (&raw const data).cast();
            push.cmd_push_descriptor_set_with_template(commands, template, adder.layout, 0, data);
            (functions.destroy_descriptor_update_template_khr)(handle, template, std::ptr::null());
            device.cmd_dispatch(commands, 2, 1, 1);
        }
    });
    assert_eq!(first.words(), [10, 11, 12, 13]);
    assert_eq!(second.words(), [10, 11, 12, 13, 14, 15, 16, 17]);
}

#[test]
fn pipelines_that_cannot_be_are_refused_and_the_others_made() {
    let vk = Vk::new();
    let adder = Adder::new(&vk, Default::default());
    let compute = vk::ShaderStageFlags::COMPUTE;
    let refused = [
        (vk::ShaderStageFlags::VERTEX, c"main", 4, vk::Result::ERROR_VALIDATION_FAILED_EXT),
        (compute, c"other", 4, vk::Result::ERROR_INVALID_SHADER_NV),
        (compute, c"main", 1025, vk::Result::ERROR_INVALID_SHADER_NV),
        (compute, c"main", u32::MAX, vk::Result::ERROR_INVALID_SHADER_NV),
    ];
    for (stage, name, size, expected) in refused {
        let stages = [(compute, c"main", 8), (stage, name, size), (compute, c"main", 1024)];
        let Err((made, result)) = adder.pipelines(&vk, &stages) else { panic!("{name:?} {size} is made") };
        assert_eq!(result, expected, "{stage:?} {name:?} {size}");
        let null: Vec<bool> = made.iter().map(|pipeline| *pipeline == vk::Pipeline::null()).collect();
        assert_eq!(null, [false, true, false]);
    }
}

#[test]
fn kernels_that_no_cache_has_are_left_out_where_that_is_wanted() {
    use vk::PipelineCreateFlags as Flags;
    let vk = Vk::with(&[c"VK_EXT_pipeline_creation_cache_control"]);
    let adder = Adder::new(&vk, Default::default());
    let sizes = [8u32, 16, 32].map(u32::to_le_bytes);
    let entry = [vk::SpecializationMapEntry { constant_id: 1, offset: 0, size: 4 }];
    let special =
        sizes.each_ref().map(|size| vk::SpecializationInfo::default().map_entries(&entry).data(size));
    let info = |number: usize, flags: Flags| {
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(adder.module)
            .name(c"main")
            .specialization_info(&special[number]);
        vk::ComputePipelineCreateInfo::default().flags(flags).stage(stage).layout(adder.layout)
    };
    // SAFETY: valid usage.
    let cache = unsafe { vk.device.create_pipeline_cache(&Default::default(), None) }.unwrap();
    // Which are made, and the result.
    let make = |infos: [vk::ComputePipelineCreateInfo<'_>; 3]| {
        // SAFETY: valid usage.
        let made = unsafe { vk.device.create_compute_pipelines(cache, &infos, None) };
        let (made, result) = made.map_or_else(|failed| failed, |made| (made, vk::Result::SUCCESS));
        (made.iter().map(|pipeline| *pipeline != vk::Pipeline::null()).collect::<Vec<_>>(), result)
    };
    let (none, known) = (Flags::empty(), Flags::FAIL_ON_PIPELINE_COMPILE_REQUIRED);
    let last = known | Flags::EARLY_RETURN_ON_FAILURE;
    let required = vk::Result::PIPELINE_COMPILE_REQUIRED;
    assert_eq!(make([info(0, last), info(1, none), info(2, none)]), (vec![false; 3], required));
    assert_eq!(make([info(0, none), info(1, known), info(2, known)]), (vec![true, false, false], required));
    assert_eq!(make([info(0, known), info(1, known), info(2, none)]), (vec![true, false, true], required));
    let all = make([info(0, last), info(1, none), info(2, last)]);
    assert_eq!(all, (vec![true; 3], vk::Result::SUCCESS));
}

/// The result of a recording that breaks a rule.
fn recorded(vk: &Vk, body: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<(), vk::Result> {
    let commands = vk.commands(vk::CommandBufferLevel::PRIMARY);
    // SAFETY: usage is valid but for what the test is about.
    unsafe {
        vk.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
        body(&vk.device, commands);
        vk.device.end_command_buffer(commands)
    }
}

#[test]
fn dispatches_that_cannot_be_recorded_make_the_recording_fail() {
    let vk = Vk::new();
    let adder = Adder::new(&vk, Default::default());
    let kernel = adder.pipeline(&vk);
    let canvas = Canvas::new(&vk, 16, false, vk::AttachmentLoadOp::CLEAR);
    let graphics = pipeline(&vk, &canvas, &Setup::default());
    let invalid = Err(vk::Result::ERROR_VALIDATION_FAILED_EXT);
    // SAFETY: usage is valid but for what the test is about.
    unsafe {
        assert_eq!(recorded(&vk, |device, commands| device.cmd_dispatch(commands, 1, 1, 1)), invalid);
        let inside = recorded(&vk, |device, commands| {
            bind(device, commands, kernel, &adder, 1);
            let begin = canvas.begin(canvas.whole());
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_dispatch(commands, 1, 1, 1);
            device.cmd_end_render_pass(commands);
        });
        assert_eq!(inside, invalid);
        let wrong = [(vk::PipelineBindPoint::GRAPHICS, kernel), (COMPUTE, graphics)];
        for (point, pipeline) in wrong {
            let bound = recorded(&vk, |device, commands| device.cmd_bind_pipeline(commands, point, pipeline));
            assert_eq!(bound, invalid, "{point:?}");
        }
    }
}

#[test]
fn a_dispatch_may_begin_behind_the_first_workgroup() {
    let vk = Vk::with(&[c"VK_KHR_device_group"]);
    let group = ash::khr::device_group::Device::new(&vk.instance, &vk.device);
    let adder = Adder::new(&vk, Default::default());
    let pipeline = adder.pipeline(&vk);
    let buffer = vk.buffer_with(&[0; 64]);
    let set = adder.set(&vk, &buffer);
    let words = |groups: [[u32; 3]; 2]| {
        buffer.write(&[0; 64]);
        vk.run(|device, commands| {
            bind(device, commands, pipeline, &adder, 10);
            let [[x, y, z], [columns, rows, slices]] = groups;
            // SAFETY: usage is valid but for what the test is about.
            unsafe {
                device.cmd_bind_descriptor_sets(commands, COMPUTE, adder.layout, 0, &[set], &[]);
                group.cmd_set_device_mask(commands, 1);
                group.cmd_dispatch_base(commands, (x, y, z), (columns, rows, slices));
            }
        });
        buffer.words()
    };
    // Workgroups have four invocations, each of which adds its own number.
    let expected: Vec<u32> = (0..16).map(|n| if (4..12).contains(&n) { 10 + n } else { 0 }).collect();
    assert_eq!(words([[1, 0, 0], [2, 1, 1]]), expected);
    // What leaves the limits is left out.
    assert_eq!(words([[1, 0, 0], [65535, 1, 1]]), [0; 16]);
    assert_eq!(words([[u32::MAX, 0, 0], [1, 1, 1]]), [0; 16]);
    assert_eq!(words([[1, 0, 0], [0, 1, 1]]), [0; 16]);
    // SAFETY: usage is valid but for the mask.
    let other = recorded(&vk, |_, commands| unsafe { group.cmd_set_device_mask(commands, 2) });
    assert_eq!(other, Err(vk::Result::ERROR_VALIDATION_FAILED_EXT));
}

#[test]
fn dispatches_that_cannot_be_executed_are_left_out() {
    let vk = Vk::new();
    let adder = Adder::new(&vk, Default::default());
    let pipeline = adder.pipeline(&vk);
    let (buffer, groups) = (vk.buffer_with(&[0; 16]), vk.buffer_with(&65536u32.to_le_bytes().repeat(3)));
    let set = adder.set(&vk, &buffer);
    vk.run(|device, commands| {
        bind(device, commands, pipeline, &adder, 5);
        // SAFETY: usage is valid but for the numbers of workgroups and the place of the last parameters.
        unsafe {
            // No set is bound: nothing is there to be changed.
            device.cmd_dispatch(commands, 1, 1, 1);
            device.cmd_bind_descriptor_sets(commands, COMPUTE, adder.layout, 0, &[set], &[]);
            device.cmd_dispatch(commands, 65536, 1, 1);
            device.cmd_dispatch_indirect(commands, groups.handle, 0);
            device.cmd_dispatch_indirect(commands, groups.handle, 4);
            device.cmd_dispatch(commands, 3, 1, 1);
        }
    });
    // Three workgroups of four write four words.
    assert_eq!(buffer.words(), [5, 6, 7, 8]);
}

#[test]
fn dispatches_stand_in_line_with_events_and_timestamps() {
    let vk = Vk::new();
    let adder = Adder::new(&vk, Default::default());
    let kernel = adder.pipeline(&vk);
    let buffer = vk.buffer_with(&[0; 16]);
    let set = adder.set(&vk, &buffer);
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let kernels = vk::PipelineStageFlags::COMPUTE_SHADER;
    // SAFETY: valid usage; the device is idle when the test ends.
    unsafe {
        let device = &vk.device;
        let [host, queue] = [(); 2].map(|()| device.create_event(&Default::default(), None).unwrap());
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
        let pool = device.create_query_pool(&info, None).unwrap();
        // A secondary buffer with two dispatches, between which the queue's own event is set and reset.
        let secondary = vk.commands(vk::CommandBufferLevel::SECONDARY);
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        device.begin_command_buffer(secondary, &begin).unwrap();
        bind(device, secondary, kernel, &adder, 1);
        device.cmd_bind_descriptor_sets(secondary, COMPUTE, adder.layout, 0, &[set], &[]);
        device.cmd_dispatch(secondary, 1, 1, 1);
        device.cmd_set_event(secondary, queue, kernels);
        device.cmd_wait_events(secondary, &[queue], kernels, kernels, &[], &[], &[]);
        device.cmd_reset_event(secondary, queue, kernels);
        device.cmd_dispatch(secondary, 1, 1, 1);
        device.end_command_buffer(secondary).unwrap();
        let commands = vk.record(|device, commands| {
            device.cmd_reset_query_pool(commands, pool, 0, 2);
            device.cmd_wait_events(commands, &[host], all, all, &[], &[], &[]);
            device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, 0);
            device.cmd_execute_commands(commands, &[secondary]);
            device.cmd_write_timestamp(commands, kernels, pool, 1);
        });
        let fence = vk.submit(commands);
        // Nothing behind the host's event has happened.
        assert_eq!(device.wait_for_fences(&[fence], true, 20_000_000), Err(vk::Result::TIMEOUT));
        assert_eq!(buffer.words(), [0; 4]);
        device.set_event(host).unwrap();
        device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        assert_eq!(buffer.words(), [2, 4, 6, 8]);
        assert!(!device.get_event_status(queue).unwrap());
        let mut times = [[0u64; 2]; 2];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        device.get_query_pool_results(pool, 0, &mut times, flags).unwrap();
        assert!(times[0][0] < times[1][0] && times.iter().all(|time| time[1] == 1), "{times:?}");
        device.destroy_query_pool(pool, None);
        device.destroy_event(host, None);
        device.destroy_event(queue, None);
    }
}

const SUBGROUPS: &[u8] = include_bytes!("../../shaders/tests/spirv/subgroups.comp.spv");

/// What the compiler's tests find in the interpreter, from machine code: where an invocation stands, what its subgroup's sum
/// and ballot are, and what others passed on at a barrier.
#[test]
fn subgroups_have_four_invocations() {
    let vk = Vk::new();
    let mut subgroups = vk::PhysicalDeviceSubgroupProperties::default();
    let get_instance_proc_addr = vulkan_vc4::entry::vk_icdGetInstanceProcAddr;
    // SAFETY: the driver's own functions.
    let entry = unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }) };
    let functions = ash::khr::get_physical_device_properties2::Instance::new(&entry, &vk.instance);
    // SAFETY: valid usage.
    unsafe {
        let physical = vk.instance.enumerate_physical_devices().unwrap()[0];
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut subgroups);
        functions.get_physical_device_properties2(physical, &mut all);
    }
    assert_eq!((subgroups.subgroup_size, subgroups.supported_stages), (4, vk::ShaderStageFlags::COMPUTE));
    use vk::SubgroupFeatureFlags as Operations;
    let operations = Operations::BASIC | Operations::BALLOT | Operations::ARITHMETIC | Operations::QUAD;
    assert!(subgroups.supported_operations.contains(operations));

    let binding = |number| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number)
            .descriptor_type(STORAGE)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings = [binding(0), binding(1), binding(2)];
    let numbers: Vec<u32> = (0..28).map(|n| n * 37 % 91 + 3).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let buffers = [vk.buffer_with(&bytes), vk.buffer(28 * 160), vk.buffer(28 * 32)];
    // SAFETY: valid usage.
    unsafe {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set_layouts = [vk.device.create_descriptor_set_layout(&info, None).unwrap()];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        let layout = vk.device.create_pipeline_layout(&info, None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .name(c"main")
            .module(spirv_module(&vk, SUBGROUPS));
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let pipeline =
            vk.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None).unwrap()[0];
        let sizes = [vk::DescriptorPoolSize { ty: STORAGE, descriptor_count: 3 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = vk.device.create_descriptor_pool(&info, None).unwrap();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&set_layouts);
        let sets = vk.device.allocate_descriptor_sets(&info).unwrap();
        for (number, buffer) in (0..).zip(&buffers) {
            let whole = [whole(buffer)];
            let write = vk::WriteDescriptorSet::default().dst_set(sets[0]).dst_binding(number);
            let write = write.descriptor_type(STORAGE).buffer_info(&whole);
            vk.device.update_descriptor_sets(&[write], &[]);
        }
        vk.run(|device, commands| {
            device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
            device.cmd_bind_descriptor_sets(commands, COMPUTE, layout, 0, &sets, &[]);
            device.cmd_dispatch(commands, 2, 1, 1);
        });
    }
    let words = buffers[1].words();
    for (n, &number) in numbers.iter().enumerate() {
        let local = n % 14;
        let group = &numbers[n - local..][..14];
        let subgroup = group.chunks(4).nth(local / 4).unwrap();
        let result = &words[40 * n..];
        assert_eq!(result[..4], [4, local as u32 / 4, 4, local as u32 % 4], "invocation {n}");
        let ballot = subgroup.iter().rev().fold(0, |bits, number| bits << 1 | number & 1);
        assert_eq!(result[5..7], [subgroup[0] + subgroup[1] + 1, ballot], "invocation {n}");
        assert_eq!(result[15], subgroup.iter().sum::<u32>(), "invocation {n}");
        let next = group[(local + 1) % 14];
        assert_eq!(result[29], next + 5 * (next & 1), "invocation {n}");
        // Its neighbour in the quad.
        assert_eq!(result[31], group[local ^ 1], "invocation {n}, {number}");
    }
}

//! VK_EXT_debug_utils: what an application calls things is what it hears of them, and what captures call them.

mod support;

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::sync::Mutex;

use ash::ext::debug_utils;
use ash::vk::{self, Handle};
use support::canvas::{Canvas, Mesh, Setup, bind, pipeline};
use support::{Vk, extent};
use vc4_sim::capture::read::Capture;
use vulkan_vc4::entry::vk_icdGetInstanceProcAddr;

/// So large that the image has a BO of its own.
const SIZE: u32 = 256;

type Severity = vk::DebugUtilsMessageSeverityFlagsEXT;
type Kind = vk::DebugUtilsMessageTypeFlagsEXT;
type Heard = Mutex<Vec<(Severity, Kind, String)>>;

unsafe extern "system" fn keep(
    severity: Severity,
    kind: Kind,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    heard: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the driver passes what the messenger was made with, and terminated strings.
    unsafe {
        let text = CStr::from_ptr((*data).p_message).to_string_lossy().into_owned();
        (*heard.cast::<Heard>()).lock().unwrap().push((severity, kind, text));
    }
    vk::FALSE
}

fn listener(heard: &'static Heard) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::ERROR | Severity::WARNING)
        .message_type(Kind::GENERAL | Kind::PERFORMANCE)
        .pfn_user_callback(Some(keep))
        .user_data((&raw const *heard).cast_mut().cast())
}

/// The only message that has all of these, and of which severity and kind it is.
#[track_caller]
fn expect(heard: &Heard, severity: Severity, kind: Kind, parts: &[&str]) {
    let heard = heard.lock().unwrap();
    let all = heard.iter().filter(|(.., text)| parts.iter().all(|part| text.contains(part)));
    let found: Vec<_> = all.map(|(severity, kind, _)| (*severity, *kind)).collect();
    assert_eq!(found, [(severity, kind)], "{parts:?} in {heard:#?}");
}

fn functions(vk: &Vk) -> (debug_utils::Instance, debug_utils::Device) {
    let functions = ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr };
    // SAFETY: the functions are the driver's own.
    let entry = unsafe { ash::Entry::from_static_fn(functions) };
    (debug_utils::Instance::new(&entry, &vk.instance), debug_utils::Device::new(&vk.instance, &vk.device))
}

fn label(name: &CStr) -> vk::DebugUtilsLabelEXT<'_> {
    vk::DebugUtilsLabelEXT::default().label_name(name)
}

/// A buffer that never gets memory.
fn unbound(vk: &Vk) -> vk::Buffer {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::VERTEX_BUFFER;
    // SAFETY: valid usage.
    unsafe { vk.device.create_buffer(&vk::BufferCreateInfo::default().size(256).usage(usage), None).unwrap() }
}

#[test]
fn names_and_labels_are_in_messages_and_in_captures() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debug_utils.vc4cap");
    let _ = std::fs::remove_file(&file);
    // SAFETY: the other test of this process makes no device, and reads no variable.
    unsafe { std::env::set_var("VC4SIM_CAPTURE", &file) };
    static HEARD: Heard = Mutex::new(Vec::new());
    let vk = Vk::new();
    let (instance, device) = functions(&vk);
    // SAFETY: valid usage.
    let messenger = unsafe { instance.create_debug_utils_messenger(&listener(&HEARD), None).unwrap() };
    fn name_of<T: Handle>(device: &debug_utils::Device, object: T, name: &CStr) {
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(name);
        // SAFETY: valid usage.
        unsafe { device.set_debug_utils_object_name(&info).unwrap() }
    }

    let canvas = Canvas::new(&vk, SIZE, false, vk::AttachmentLoadOp::CLEAR);
    let sky = pipeline(&vk, &canvas, &Setup::default());
    let mesh = Mesh::rect(&vk, SIZE, [0.0, 0.0, SIZE as f32, SIZE as f32], 0.5, support::canvas::RED);
    let (source, target) = (unbound(&vk), vk.buffer(256));
    name_of(&device, sky, c"sky");
    name_of(&device, canvas.image.handle, c"scene");
    name_of(&device, source, c"no\nmemory");
    name_of(&device, target.handle, c"target");
    // Nobody speaks of queues.
    name_of(&device, vk.queue, c"queue");

    // SAFETY: valid usage but for the buffer without memory.
    unsafe {
        device.queue_begin_debug_utils_label(vk.queue, &label(c"frame 7"));
        vk.run(|commands_of, commands| {
            device.cmd_begin_debug_utils_label(commands, &label(c"upload"));
            let region = vk::BufferCopy { size: 64, ..Default::default() };
            commands_of.cmd_copy_buffer(commands, source, target.handle, &[region]);
            device.cmd_end_debug_utils_label(commands);
        });
        device.queue_end_debug_utils_label(vk.queue);
        let picture = canvas.draw(&vk, canvas.whole(), |commands_of, commands| {
            device.cmd_begin_debug_utils_label(commands, &label(c"opaque"));
            bind(commands_of, commands, sky, &canvas);
            mesh.bind(commands_of, commands);
            commands_of.cmd_draw(commands, mesh.count, 1, 0, 0);
            device.cmd_insert_debug_utils_label(commands, &label(c"broken"));
            commands_of.cmd_bind_vertex_buffers(commands, 0, &[source], &[0]);
            commands_of.cmd_draw(commands, 3, 1, 0, 0);
            device.cmd_end_debug_utils_label(commands);
        });
        assert_eq!(picture.at(32, 32), support::canvas::RED);
    }
    let (error, warning) = (Severity::ERROR, Severity::WARNING);
    expect(
        &HEARD,
        error,
        Kind::GENERAL,
        &[r#"left out: "frame 7": "upload": copy 1 regions from buffer "no\nmemory" to buffer "target""#],
    );
    expect(&HEARD, error, Kind::GENERAL, &[r#""opaque / broken": a draw by pipeline "sky" is left out"#]);

    // Something that only the CPU does.
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
    // SAFETY: valid usage.
    unsafe {
        let pool = vk.device.create_query_pool(&info, None).unwrap();
        vk.run(|device, commands| {
            device.cmd_reset_query_pool(commands, pool, 0, 1);
            device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, 0);
            let flags = vk::QueryResultFlags::TYPE_64;
            device.cmd_copy_query_pool_results(commands, pool, 0, 1, target.handle, 0, 8, flags);
        });
        expect(
            &HEARD,
            warning,
            Kind::PERFORMANCE,
            &[r#"copy 1 query results to buffer "target" is done by the CPU"#],
        );
        // Nobody listens any more.
        instance.destroy_debug_utils_messenger(messenger, None);
        let count = HEARD.lock().unwrap().len();
        let _ = vk.device.create_image(&vk::ImageCreateInfo::default().extent(extent(0, 0)), None);
        assert_eq!(HEARD.lock().unwrap().len(), count);
    }
    drop(vk);
    let capture = Capture::read(std::fs::File::open(&file).unwrap()).unwrap();
    let names: Vec<&str> = capture.names.values().map(String::as_str).collect();
    for name in ["scene", "sky, vertex", "sky, coordinate", "sky, fragment"] {
        assert!(names.contains(&name), "{name:?} in {names:?}");
    }
    // What shares a BO with others names none.
    assert!(!names.contains(&"target"), "{names:?}");
}

#[test]
fn instances_have_their_own_messages_and_hear_of_their_creation() {
    static HEARD: [Heard; 3] = [const { Mutex::new(Vec::new()) }; 3];
    let functions = ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr };
    // SAFETY: valid usage but for the extension that does not exist.
    unsafe {
        let entry = ash::Entry::from_static_fn(functions);
        let names = [debug_utils::NAME.as_ptr()];
        let make = || {
            let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
            entry.create_instance(&info, None).unwrap()
        };
        let instances = [make(), make()];
        let functions = instances.each_ref().map(|instance| debug_utils::Instance::new(&entry, instance));
        let listen =
            |n: usize| functions[n].create_debug_utils_messenger(&listener(&HEARD[n]), None).unwrap();
        let messengers = [listen(0), listen(1)];
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default().message(c"from the application");
        functions[1].submit_debug_utils_message(Severity::WARNING, Kind::GENERAL, &data);
        // Not what it asked for.
        functions[1].submit_debug_utils_message(Severity::INFO, Kind::GENERAL, &data);
        functions[1].submit_debug_utils_message(Severity::WARNING, Kind::VALIDATION, &data);
        let of_application = |n: usize| {
            HEARD[n].lock().unwrap().iter().filter(|(.., text)| text == "from the application").count()
        };
        assert_eq!([of_application(0), of_application(1)], [0, 1]);

        let wrong = [c"VK_EXT_of_nobody".as_ptr()];
        let mut chained = listener(&HEARD[2]);
        let info = vk::InstanceCreateInfo::default().enabled_extension_names(&wrong).push_next(&mut chained);
        assert_eq!(entry.create_instance(&info, None).err(), Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
        expect(&HEARD[2], Severity::ERROR, Kind::GENERAL, &["VK_EXT_of_nobody"]);

        for (functions, messenger) in functions.iter().zip(messengers) {
            functions.destroy_debug_utils_messenger(messenger, None);
        }
        instances.iter().for_each(|instance| instance.destroy_instance(None));
    }
}

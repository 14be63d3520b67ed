//! What happens to a process that draws; for `tests/process.rs`.
//!
//! | command | prints |
//! | --- | --- |
//! | `process fork` | `parent=DIGEST` before and after children were forked, `child=DIGEST` of one that draws |
//! | `process signals` | `digest=DIGEST` under a storm of signals, `signals=COUNT` |
//! | `process memory` | `refused=COUNT` of allocations of the program's that were refused, one in each attempt |
//! | `process threads` | `digest=DIGEST` of each picture that threads draw with what they share |
//! | `process wait` | `submitted`, and waits for its end while the GPU draws |

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ash::{Entry, vk};
use vc4_tests::vulkan::{CLEAR_STORE, Error, Harness, Lab, Named, Pipeline, Subpass, Vertex, area, color};
use vc4_tests::{heap, tour};

fn main() -> ExitCode {
    let what = std::env::args().nth(1).unwrap_or_default();
    let done = match what.as_str() {
        "fork" => fork(),
        "signals" => signals(),
        "memory" => memory(),
        "threads" => threads(),
        "wait" => wait(),
        // What a child executes.
        "nothing" => Ok(()),
        _ => Err("usage: process fork|signals|memory|threads|wait".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{what}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints at once: a child's copy of what waits to be printed would be printed, too.
fn say(what: &str, digest: u64) {
    println!("{what}={digest:016x}");
    let _ = std::io::stdout().flush();
}

/// Forks; the child does `work` and ends. Returns the child's number.
fn child(work: impl FnOnce() -> Result<(), Error>) -> libc::pid_t {
    // SAFETY: the child has this thread alone. It may wait for locks that others held, which is what is tried here; it leaves
    // without the ends of the process.
    match unsafe { libc::fork() } {
        0 => {
            let code = match work() {
                Ok(()) => 0,
                Err(error) => {
                    eprintln!("child: {error}");
                    1
                }
            };
            // SAFETY: takes a number.
            unsafe { libc::_exit(code) }
        }
        pid => pid,
    }
}

/// Waits for a child's end.
fn reap(pid: libc::pid_t) -> Result<(), Error> {
    let mut status = 0;
    // SAFETY: the status is a variable of this function's.
    let reaped = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    match reaped == pid && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
        true => Ok(()),
        false => Err(format!("a child ended with {status:#x}").into()),
    }
}

/// Children that execute something else, end at once, or draw with a device of their own, while the parent's draws on.
fn fork() -> Result<(), Error> {
    let harness = Harness::new()?;
    say("parent", tour::digest(&harness)?);
    let (execute, ends) = (
        child(|| {
            let arguments = [c"process".as_ptr(), c"nothing".as_ptr(), std::ptr::null()];
            // SAFETY: a list of strings that ends with null. Returns where it failed.
            unsafe { libc::execv(c"/proc/self/exe".as_ptr(), arguments.as_ptr()) };
            Err(std::io::Error::last_os_error().to_string().into())
        }),
        child(|| Ok(())),
    );
    let draws = child(|| {
        // What the parent has is not the child's to use or to end.
        let own = Harness::new()?;
        say("child", tour::digest(&own)?);
        Ok(())
    });
    say("parent", tour::digest(&harness)?);
    [execute, ends, draws].into_iter().try_for_each(reap)?;
    drop(harness);
    say("parent", tour::digest(&Harness::new()?)?);
    Ok(())
}

static SIGNALS: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_: libc::c_int) {
    SIGNALS.fetch_add(1, SeqCst);
}

/// A signal every 200 µs to whichever thread, whose system calls it interrupts.
fn signals() -> Result<(), Error> {
    // SAFETY: the handler touches an atomic only; structures are complete, as zeros are values of all their fields.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = count as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut());
        let every = libc::timeval { tv_sec: 0, tv_usec: 200 };
        let timer = libc::itimerval { it_interval: every, it_value: every };
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
    }
    for _ in 0..3 {
        say("digest", tour::digest(&Harness::new()?)?);
    }
    println!("signals={}", SIGNALS.load(SeqCst));
    Ok(())
}

/// Threads and pictures of each.
const THREADS: (usize, usize) = (4, 12);

/// Threads that share a device, a render pass, vertices and a pipeline. Each makes targets, framebuffers and pipelines of its own while
/// others make theirs, draw and end what they made; who uses the queue, or waits for all of it, does so alone.
fn threads() -> Result<(), Error> {
    let harness = Harness::new()?;
    let lab = Lab::new(&harness);
    let size = [64; 2];
    let pass = lab.pass(&[CLEAR_STORE], &[Subpass { color: Some(0), ..Subpass::default() }])?;
    let shared = lab.pipeline(pass, size, &Pipeline::default())?;
    let triangle: [Vertex; 3] =
        [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]].map(|[x, y]| [x, y, 0.5, x, 0.5, y, 1.0]);
    let vertices = lab.vertices(&triangle)?;
    let (harness, queue) = (&harness, Mutex::new(()));
    let picture = |number: usize| -> Result<Vec<u8>, Error> {
        let own = Lab::new(harness);
        let target = own.target(size, CLEAR_STORE.format, CLEAR_STORE.samples)?;
        let framebuffer = own.framebuffer(pass, &[target], size)?;
        // Others are not asked for the same again.
        let cull = [vk::CullModeFlags::NONE, vk::CullModeFlags::FRONT, vk::CullModeFlags::BACK][number % 3];
        let made = own.pipeline(pass, size, &Pipeline { cull, ..Pipeline::default() })?;
        let _alone = queue.lock().unwrap_or_else(PoisonError::into_inner);
        own.run(|commands| {
            own.begin(commands, pass, framebuffer, area(size), &[color([0.0; 4])]);
            own.draw(commands, made, vertices, 3);
            own.draw(commands, shared, vertices, 3);
            // SAFETY: the pass was begun.
            unsafe { own.device.cmd_end_render_pass(commands) };
        })?;
        let rgba = own.picture(&target)?.rgba;
        drop(own);
        Ok(rgba)
    };
    std::thread::scope(|scope| {
        let work = || (0..THREADS.1).map(picture).collect::<Result<Vec<_>, _>>();
        let all: Vec<_> = (0..THREADS.0).map(|_| scope.spawn(work)).collect();
        for thread in all {
            for rgba in thread.join().map_err(|_| "a thread panicked")?? {
                let mut digest = DefaultHasher::new();
                rgba.hash(&mut digest);
                say("digest", digest.finish());
            }
        }
        Ok(())
    })
}

/// Submits more than is done at once and waits for ever.
fn wait() -> Result<(), Error> {
    let harness = Harness::new()?;
    let lab = Lab::new(&harness);
    let size = [256; 2];
    let pass = lab.pass(&[CLEAR_STORE], &[Subpass { color: Some(0), ..Subpass::default() }])?;
    let target = lab.target(size, CLEAR_STORE.format, CLEAR_STORE.samples)?;
    let framebuffer = lab.framebuffer(pass, &[target], size)?;
    let pipeline = lab.pipeline(pass, size, &Pipeline::default())?;
    let triangle: [Vertex; 3] =
        [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]].map(|[x, y]| [x, y, 0.5, 1.0, 0.0, 0.0, 1.0]);
    let vertices = lab.vertices(&triangle)?;
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(100));
        println!("submitted");
    });
    loop {
        lab.run(|commands| {
            lab.begin(commands, pass, framebuffer, area(size), &[color([0.0; 4])]);
            for _ in 0..20 {
                lab.draw(commands, pipeline, vertices, 3);
            }
            // SAFETY: the handles live as long as the lab.
            unsafe { lab.device.cmd_end_render_pass(commands) };
        })?;
    }
}

/// Makes an instance, a device and something of most kinds, each time with another allocation of the program's refused, until
/// there is none left to refuse.
fn memory() -> Result<(), Error> {
    for number in 1.. {
        heap::refuse_one(number);
        let made = everything_once();
        let met = heap::count() >= number;
        heap::refuse_one(0);
        match made {
            Err(error) if met && error.to_string().contains("OUT_OF_HOST_MEMORY") => {}
            // The loader goes on without what it does not need.
            Ok(()) if met => {}
            Ok(()) => {
                println!("refused={}", number - 1);
                return Ok(());
            }
            Err(error) => return Err(format!("allocation {number}: {error}").into()),
        }
        if heap::live() != 0 {
            return Err(format!("allocation {number}: {} others are not given back", heap::live()).into());
        }
    }
    Ok(())
}

/// With the program's own host memory.
fn everything_once() -> Result<(), Error> {
    let callbacks = heap::callbacks();
    let own = Some(&callbacks);
    // SAFETY: handles come from this instance and device and are destroyed once, after their last use, by the callbacks that they
    // were made by; create infos point to what lives longer than the calls; this thread alone uses them.
    unsafe {
        let entry = Entry::load()?;
        let create = vk::InstanceCreateInfo::default();
        let instance = entry.create_instance(&create, own).named("vkCreateInstance")?;
        let made = on_instance(&instance, own);
        instance.destroy_instance(own);
        made
    }
}

/// # Safety
/// The instance was made by `own`.
unsafe fn on_instance(
    instance: &ash::Instance,
    own: Option<&vk::AllocationCallbacks<'_>>,
) -> Result<(), Error> {
    // SAFETY: as in `everything_once`.
    unsafe {
        let physical = instance.enumerate_physical_devices().named("vkEnumeratePhysicalDevices")?;
        let physical = *physical.first().ok_or("no Vulkan device: check VK_DRIVER_FILES")?;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let create = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let device = instance.create_device(physical, &create, own).named("vkCreateDevice")?;
        let made = on_device(&device, own);
        device.destroy_device(own);
        made
    }
}

/// # Safety
/// The device was made by `own`.
unsafe fn on_device(device: &ash::Device, own: Option<&vk::AllocationCallbacks<'_>>) -> Result<(), Error> {
    // SAFETY: as in `everything_once`; destroying what was not made does nothing.
    unsafe {
        let mut ends: Vec<Box<dyn FnOnce()>> = Vec::new();
        let made = (|| {
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), own).named("vkCreateFence")?;
            ends.push(Box::new(move || device.destroy_fence(fence, own)));
            let semaphore = device.create_semaphore(&vk::SemaphoreCreateInfo::default(), own);
            let semaphore = semaphore.named("vkCreateSemaphore")?;
            ends.push(Box::new(move || device.destroy_semaphore(semaphore, own)));
            let create =
                vk::BufferCreateInfo::default().size(4096).usage(vk::BufferUsageFlags::UNIFORM_BUFFER);
            let buffer = device.create_buffer(&create, own).named("vkCreateBuffer")?;
            ends.push(Box::new(move || device.destroy_buffer(buffer, own)));
            let create = vk::MemoryAllocateInfo::default().allocation_size(4096);
            let memory = device.allocate_memory(&create, own).named("vkAllocateMemory")?;
            ends.push(Box::new(move || device.free_memory(memory, own)));
            let create = vk::CommandPoolCreateInfo::default();
            let pool = device.create_command_pool(&create, own).named("vkCreateCommandPool")?;
            ends.push(Box::new(move || device.destroy_command_pool(pool, own)));
            let create = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(3);
            device.allocate_command_buffers(&create).named("vkAllocateCommandBuffers")?;
            let binding = vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::VERTEX);
            let bindings = [binding];
            let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layout = device.create_descriptor_set_layout(&create, own);
            let layout = layout.named("vkCreateDescriptorSetLayout")?;
            ends.push(Box::new(move || device.destroy_descriptor_set_layout(layout, own)));
            let size = vk::DescriptorPoolSize { ty: vk::DescriptorType::UNIFORM_BUFFER, descriptor_count: 3 };
            let sizes = [size];
            let create = vk::DescriptorPoolCreateInfo::default().max_sets(3).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&create, own).named("vkCreateDescriptorPool")?;
            ends.push(Box::new(move || device.destroy_descriptor_pool(pool, own)));
            let layouts = [layout; 3];
            let create = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            device.allocate_descriptor_sets(&create).named("vkAllocateDescriptorSets")?;
            Ok(())
        })();
        ends.into_iter().rev().for_each(|end| end());
        made
    }
}

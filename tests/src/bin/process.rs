//! What happens to a process that draws; for `tests/process.rs`.
//!
//! | command | prints |
//! | --- | --- |
//! | `process fork` | `parent=DIGEST` before and after children were forked, `child=DIGEST` of one that draws |
//! | `process signals` | `digest=DIGEST` under a storm of signals, `signals=COUNT` |
//! | `process wait` | `submitted`, and waits for its end while the GPU draws |

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use vc4_tests::tour;
use vc4_tests::vulkan::{CLEAR_STORE, Error, Harness, Lab, Pipeline, Subpass, Vertex, area, color};

fn main() -> ExitCode {
    let what = std::env::args().nth(1).unwrap_or_default();
    let done = match what.as_str() {
        "fork" => fork(),
        "signals" => signals(),
        "wait" => wait(),
        _ => Err("usage: process fork|signals|wait".into()),
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
            let arguments = [c"true".as_ptr(), std::ptr::null()];
            // SAFETY: a list of strings that ends with null. Returns where it failed.
            unsafe { libc::execvp(arguments[0], arguments.as_ptr()) };
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

/// Submits more than is done at once and waits for ever.
fn wait() -> Result<(), Error> {
    let harness = Harness::new()?;
    let lab = Lab::new(&harness);
    let size = [1024; 2];
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
            for _ in 0..50 {
                lab.draw(commands, pipeline, vertices, 3);
            }
            // SAFETY: the handles live as long as the lab.
            unsafe { lab.device.cmd_end_render_pass(commands) };
        })?;
    }
}

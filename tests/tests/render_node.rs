//! Every scene through the driver's own render-node path, on the preload library: the pictures are bit for bit those of
//! the simulator inside the driver.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use vc4_sim::Config;
use vc4_sim::drm::kms::Display;
use vc4_sim::drm::serve::Server;
use vc4_tests::{driver, scenes, scratch};

fn draw_all(name: &str, prepare: impl FnOnce(&mut Command)) -> PathBuf {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), name);
    let mut command = driver::command(env!("CARGO_BIN_EXE_scenes"), &driver::ours());
    prepare(command.arg(&directory));
    driver::run(&mut command, name);
    directory
}

#[test]
fn a_render_node_draws_what_the_simulator_draws() {
    let inside = draw_all("scenes-inside", |_| {});
    let through = draw_all("scenes-render-node", |command| {
        command.env("VC4VK_DEVICE", "drm").env("LD_PRELOAD", driver::drm_shim());
    });
    let differing: Vec<String> = scenes::all()
        .into_iter()
        .map(|scene| format!("{}.png", scene.name))
        .filter(|file| {
            let read = |directory: &Path| std::fs::read(directory.join(file)).expect("scenes saved it");
            read(&inside) != read(&through)
        })
        .collect();
    assert!(
        differing.is_empty(),
        "{differing:?} differ between {} and {}",
        inside.display(),
        through.display()
    );
}

#[test]
fn the_driver_finds_the_node_by_itself() {
    let mut command = driver::command(env!("CARGO_BIN_EXE_scenes"), &driver::ours());
    command
        .env("VC4VK_DEVICE", "auto")
        .env("VC4VK_LOG", "info")
        .env("LD_PRELOAD", driver::drm_shim())
        .args([env!("CARGO_TARGET_TMPDIR"), "no such scene"]);
    let output = driver::run(&mut command, "scenes");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(log.contains("/dev/dri/renderD128"), "{log}");
}

#[test]
fn processes_share_a_served_device() {
    let path = std::env::temp_dir().join(format!("vc4-scenes-{}", std::process::id()));
    let config = Config { mode: vc4_sim::Mode::Faithful, ..Config::default() };
    let server = Server::new(&path, config, Display::new(None)).expect("the path is free");
    let host = server.host().clone();
    std::thread::spawn(move || server.run());
    let names: Vec<String> = scenes::all().into_iter().map(|scene| scene.name).step_by(7).take(6).collect();
    let draw = |name: &str, served: bool| {
        draw_all(name, |command| {
            command.args(&names);
            if served {
                command
                    .env("VC4VK_DEVICE", "drm")
                    .env("LD_PRELOAD", driver::drm_shim())
                    .env("VC4SIM_SERVER", &path);
            }
        })
    };
    let directories = std::thread::scope(|scope| {
        let drawn = ["scenes-served-1", "scenes-served-2"].map(|name| scope.spawn(move || draw(name, true)));
        drawn.map(|drawn| drawn.join().expect("drawn"))
    });
    let inside = draw("scenes-not-served", false);
    for (directory, name) in
        directories.iter().flat_map(|directory| names.iter().map(move |name| (directory, name)))
    {
        let read = |directory: &Path| std::fs::read(directory.join(format!("{name}.png"))).expect("saved");
        assert!(read(directory) == read(&inside), "{name} differs in {}", directory.display());
    }
    let start = Instant::now();
    while host.descriptors_out() > 0 {
        assert!(start.elapsed() < Duration::from_secs(5), "something of a process that ended is left");
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = std::fs::remove_file(&path);
}

/// The pictures that Debian's modetest puts on the screen, as soon as there are `count` of them.
fn modetest(name: &str, count: usize, arguments: &[&str]) -> Vec<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    let mut child = Command::new("modetest")
        .args(["-M", "vc4"])
        .args(arguments)
        .env("LD_PRELOAD", driver::drm_shim())
        .env("VC4SIM_SCANOUT", &directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("modetest starts: install Debian's libdrm-tests, or run `cargo xtask test`");
    let start = Instant::now();
    let found = loop {
        let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut found: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == "png")).collect();
        if found.len() >= count {
            found.sort();
            break found;
        }
        let ended = child.try_wait().expect("our child");
        if ended.is_some() || start.elapsed() > Duration::from_secs(20) {
            let _ = child.kill();
            let _ = child.wait();
            panic!("modetest {arguments:?} showed {} pictures; it ended: {ended:?}", found.len());
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    // It stays until a key is pressed, and takes its picture away.
    let mut keys = child.stdin.take().expect("piped");
    let _ = keys.write_all(b"\n\n");
    drop(keys);
    let _ = child.wait();
    found
}

/// Width, height and some pixels of a picture.
fn pixels(path: &Path, at: &[(usize, usize)]) -> (u32, u32, Vec<[u8; 3]>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("a picture"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut bytes).expect("a whole PNG");
    let pixel = |&(x, y): &(usize, usize)| {
        let first = (y * info.width as usize + x) * 3;
        [bytes[first], bytes[first + 1], bytes[first + 2]]
    };
    (info.width, info.height, at.iter().map(pixel).collect())
}

/// The colour bars of modetest, somewhere in the middle of the first, third and last.
const BARS: [(usize, usize); 3] = [(46, 100), (230, 100), (600, 100)];

#[test]
fn modetest_shows_its_bars() {
    let mode = &["-s", "44:640x480"];
    let found = modetest("modetest-mode", 1, mode);
    assert_eq!(pixels(&found[0], &BARS), (640, 480, vec![[192, 192, 192], [0, 192, 192], [0, 0, 192]]));
    // Five and six bits a channel, by an atomic commit.
    let found = modetest("modetest-atomic", 1, &["-a", "-s", "44:640x480", "-P", "40@42:640x480@RG16"]);
    assert_eq!(pixels(&found[0], &BARS), (640, 480, vec![[198, 195, 198], [0, 195, 198], [0, 0, 198]]));
}

#[test]
fn modetest_flips_pages() {
    // Each flip is made on the event of the one before.
    let found = modetest("modetest-flips", 12, &["-v", "-s", "44:640x480"]);
    let different =
        found.windows(2).filter(|pair| pixels(&pair[0], &BARS) != pixels(&pair[1], &BARS)).count();
    assert!(different >= 10, "{different}");
}

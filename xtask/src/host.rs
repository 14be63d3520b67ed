//! `bench host`: what a frame of unmodified programs costs the CPU, by shared memory and where images are shown as they are: bytes
//! of BOs, and instructions of this machine and of others.

use std::path::PathBuf;
use std::process::Command;

use crate::clients::{self, Client, Screens};
use crate::counter::Counter;
use crate::{Error, build, cross, guest};

/// Frames of the shorter of two runs whose difference is counted: all but the first find caches and tables filled.
const FRAMES: u32 = 40;
/// What a client's name ends with where its images are shown as they are.
const IMAGES: &str = "-images";
/// Debian's package whose programs are counted on other machines, too: vkcube and its kin, which need no more libraries than the driver.
const PACKAGE: &str = "vulkan-tools";
const PROGRAMS: &[&str] = &["vkcube", "vkcube-wayland"];

/// What the driver says of a program.
struct Moves {
    /// The way that its pictures go.
    path: String,
    /// What the CPU moved in each frame.
    frames: Vec<String>,
    /// How late each picture was seen.
    seen: Vec<String>,
}

/// A machine whose instructions are counted.
struct Machine {
    name: &'static str,
    counter: Counter,
    manifest: PathBuf,
    /// Where the programs are, if not this machine's own.
    root: Option<PathBuf>,
}

/// What is compared between the ways of a program's pictures.
struct Cost {
    name: &'static str,
    read: Option<u64>,
    /// By machine, where the program was counted.
    instructions: Vec<Option<f64>>,
}

/// Prints a paragraph for each program, and ratios where one goes both ways.
pub fn run(names: &[String], machines: &[String], frames: u32, install: bool) -> Result<(), Error> {
    let clients = clients::named(names, |client| client.draws)?;
    clients::require(&clients, install)?;
    let mut counted = vec![Machine::host(install)?];
    for name in machines {
        counted.push(Machine::emulated(name, install)?);
    }
    let screens = Screens::private()?;
    let mut costs = Vec::new();
    for client in clients {
        let command = client.command(&counted[0].manifest, &screens, frames)?;
        let Moves { path, frames: moved, seen } = moves(client, command)?;
        // Programs run ahead of their pictures: in the middle neither their first nor their last frames are missing.
        let number = moved.len() / 2;
        let (Some(first), Some(later)) = (moved.first(), moved.get(number)) else {
            return Err(format!("{} presented nothing", client.name).into());
        };
        println!("{} ({path})", client.name);
        println!("  first frame  {first}");
        println!("  frame {:<6} {later}", number + 1);
        if let Some(late) = seen.get(number) {
            println!("  picture {:<4} {late}", number + 1);
        }
        let counts = counted.iter().map(|machine| machine.instructions(client, &screens));
        let instructions = counts.collect::<Result<Vec<_>, _>>()?;
        println!("  instructions {}", said(&counted, &instructions));
        costs.push(Cost { name: client.name, read: bytes_read(later), instructions });
    }
    compare(&counted, &costs);
    Ok(())
}

/// Instructions of a frame on each machine, with the ratio to those of the first.
fn said(machines: &[Machine], counts: &[Option<f64>]) -> String {
    let Some(&Some(first)) = counts.first() else {
        return "not counted: the program takes no number of frames, or does nothing more for more of them"
            .into();
    };
    let others = machines.iter().zip(counts).skip(1).filter_map(|(machine, count)| {
        count.map(|count| format!(", {count:.0} on {} ({:.2})", machine.name, count / first))
    });
    format!("{first:.0} a frame on {}{}", machines[0].name, others.collect::<String>())
}

/// What it costs to show images as they are, beside shared memory.
fn compare(machines: &[Machine], costs: &[Cost]) {
    for images in costs.iter().filter(|cost| cost.name.ends_with(IMAGES)) {
        let program = images.name.trim_end_matches(IMAGES);
        // Of two ways with shared memory the one of the same window system.
        let by_memory = |name: &str| costs.iter().find(|cost| cost.name == name);
        let Some(memory) = by_memory(&format!("{program}-wayland")).or_else(|| by_memory(program)) else {
            continue;
        };
        let ratio = |(images, memory): (Option<f64>, Option<f64>)| Some(images? / memory?);
        let bytes = ratio((images.read.map(|bytes| bytes as f64), memory.read.map(|bytes| bytes as f64)));
        let counts = images.instructions.iter().copied().zip(memory.instructions.iter().copied()).map(ratio);
        let counts = machines.iter().zip(counts).filter_map(|(machine, ratio)| {
            ratio.map(|ratio| format!(", {ratio:.2} of the instructions on {}", machine.name))
        });
        let bytes =
            bytes.map_or("nothing read in either".into(), |ratio| format!("{ratio:.4} of the bytes read"));
        println!("{} beside {}: {bytes}{}", images.name, memory.name, counts.collect::<String>());
    }
}

/// The number in "the CPU reads 64 bytes of BOs …".
fn bytes_read(said: &str) -> Option<u64> {
    said.split("reads ").nth(1)?.split(' ').next()?.parse().ok()
}

/// Runs a program and gives what the driver says of it.
fn moves(client: &Client, mut command: Command) -> Result<Moves, Error> {
    let log = std::env::temp_dir().join(format!("vc4-moves-{}-{}", client.name, std::process::id()));
    let own = client.environment.iter().find(|(name, _)| *name == "VC4VK_DEBUG");
    command
        .env("VC4VK_DEBUG", own.map_or("perf".into(), |(_, words)| format!("perf,{words}")))
        .stderr(std::fs::File::create(&log)?);
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", client.program))?;
    if clients::wait(&mut child, client.limit())?.is_none() {
        clients::end(&mut child)?;
    }
    let text = std::fs::read_to_string(&log)?;
    std::fs::remove_file(&log)?;
    let of = |what: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix("perf: ")?.strip_prefix(what));
        lines.filter_map(|line| line.split_once(": ")).map(|(_, said)| said.to_owned()).collect::<Vec<_>>()
    };
    let path = of("swapchain of ").into_iter().next();
    let path = path.ok_or_else(|| format!("{} made no swapchain", client.name))?;
    Ok(Moves { path, frames: of("frame "), seen: of("picture ") })
}

impl Machine {
    fn host(install: bool) -> Result<Machine, Error> {
        let (counter, manifest) = (Counter::host(install)?, build::driver()?);
        Ok(Machine { name: std::env::consts::ARCH, counter, manifest, root: None })
    }

    fn emulated(name: &str, install: bool) -> Result<Machine, Error> {
        let target = cross::target(name)?;
        cross::require(target, install)?;
        let root = guest::root_with(target, &[PACKAGE])?;
        let manifest = build::write_manifest(&cross::build(target, "vc4-icd")?)?;
        let counter = Counter::emulated(target, &root, install)?;
        Ok(Machine { name: target.name, counter, manifest, root: Some(root) })
    }

    /// What the longer of two runs executes more, for each of its additional frames, on a device that drops its jobs; `None` if
    /// the program does not run here, counts no frames, or does nothing more for more of them.
    fn instructions(&self, client: &Client, screens: &Screens) -> Result<Option<f64>, Error> {
        let is_there = self.root.is_none() || PROGRAMS.contains(&client.program);
        if client.frames.is_none() || !is_there {
            return Ok(None);
        }
        let count = |frames: u32| {
            let mut command = client.command(&self.manifest, screens, frames)?;
            if let Some(root) = &self.root {
                let mut own = Command::new(root.join("usr/bin").join(client.program));
                own.args(command.get_args());
                for (name, value) in command.get_envs() {
                    match value {
                        Some(value) => own.env(name, value),
                        None => own.env_remove(name),
                    };
                }
                command = own;
            }
            self.counter.count(command.env("VC4VK_DEVICE", "noop"))
        };
        let (short, long) = (count(FRAMES)?, count(3 * FRAMES)?);
        // Some programs end otherwise without a GPU, or under Valgrind.
        let more = long.checked_sub(short).filter(|more| *more > 0);
        Ok(more.map(|more| more as f64 / f64::from(2 * FRAMES)))
    }
}

//! Many programs in one process, one after the other or on several threads at once.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::generate::Program;
use super::run::machine::Machine;
use super::run::{Outcome, Runner};
use super::slot::Id;
use super::spoil::spoil;
use super::step::*;
use crate::heap;
use crate::vulkan::Error;

/// Programs that share a device.
const SHARED: u64 = 24;
/// Bytes that the process may have grown by since its first devices.
const GROWTH: u64 = 96 << 20;
/// Bytes of device memory that a driver may keep for later.
const KEPT: u64 = 1 << 20;

/// What a process runs.
struct Options {
    valid: bool,
    first: u64,
    count: u64,
    moves: usize,
    threads: usize,
    limit: Duration,
    surfaces: bool,
    results: bool,
    bytes: usize,
    print: bool,
    keep: Option<BTreeSet<usize>>,
}

fn options(arguments: impl Iterator<Item = String>) -> Result<Options, Error> {
    let mut options = Options {
        valid: true,
        first: 1,
        count: 1,
        moves: 200,
        threads: 1,
        limit: Duration::from_secs(1 << 20),
        surfaces: true,
        results: false,
        bytes: 16,
        print: false,
        keep: None,
    };
    for argument in arguments {
        let (name, value) = argument.split_once('=').unwrap_or((&argument, ""));
        let number = || value.parse::<u64>().map_err(|_| format!("{argument}: no number"));
        match name {
            "valid" => options.valid = true,
            "invalid" => options.valid = false,
            "first" => options.first = number()?,
            "count" => options.count = number()?,
            "moves" => options.moves = number()? as usize,
            "threads" => options.threads = number()? as usize,
            "seconds" => options.limit = Duration::from_secs(number()?),
            "offscreen" => options.surfaces = false,
            "results" => options.results = true,
            "bytes" => options.bytes = number()? as usize,
            "print" => options.print = true,
            "keep" => {
                let numbers = value.split(',').filter(|text| !text.is_empty()).map(str::parse);
                options.keep = Some(numbers.collect::<Result<_, _>>().map_err(|_| argument.clone())?);
            }
            _ => return Err(format!("what is {argument}?").into()),
        }
    }
    Ok(options)
}

/// The steps of a program, with those left out that are not to be kept.
pub(super) fn steps(
    seed: u64,
    valid: bool,
    moves: usize,
    surfaces: bool,
    keep: Option<&BTreeSet<usize>>,
) -> Vec<Step> {
    let program = Program::of_seed(seed, moves, surfaces, common_of(seed));
    let steps = if valid { program.steps } else { spoil(&program.steps, seed) };
    let Some(keep) = keep else { return steps };
    let kept: Vec<Step> =
        steps.into_iter().enumerate().filter(|(n, _)| keep.contains(n)).map(|(_, step)| step).collect();
    if valid { Program::of_steps(&kept, common_of(seed)).steps } else { kept }
}

/// What programs that share a device share besides.
fn common_of(seed: u64) -> Vec<Step> {
    Program::common(seed / SHARED)
}

/// The command line of `api_fuzz`.
pub fn main(arguments: impl Iterator<Item = String>) -> ExitCode {
    match options(arguments).and_then(|options| run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("api_fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the process has besides memory that it may keep.
fn belongings() -> (usize, usize) {
    let count = |directory: &str| std::fs::read_dir(directory).map_or(0, Iterator::count);
    (count("/proc/self/fd"), count("/proc/self/task"))
}

/// What it has when threads that were joined have left the system's list, too, which may take a moment.
fn settled(before: (usize, usize)) -> (usize, usize) {
    for _ in 0..200 {
        if belongings() == before {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    belongings()
}

/// Bytes of memory in the process.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn finding(seed: u64, text: &str) {
    println!("finding {seed}: {text}");
}

fn run(options: &Options) -> Result<bool, Error> {
    if options.print {
        let all = steps(options.first, options.valid, options.moves, options.surfaces, options.keep.as_ref());
        all.iter().for_each(|step| println!("{step:?}"));
        return Ok(true);
    }
    // A sanitizer starts a thread of its own with the first other one, and what the loader opens once stays.
    let _ = std::thread::spawn(|| ()).join();
    drop(Machine::open()?);
    let (before, start) = (belongings(), Instant::now());
    let (mut calls, mut programs, mut next, mut fine) = (0, 0, options.first, true);
    let end = options.first.saturating_add(options.count);
    let mut grown = Vec::new();
    while next < end && start.elapsed() < options.limit {
        let machine = Machine::open()?;
        let until = end.min((next / SHARED + 1) * SHARED);
        let unused = machine.used_bytes();
        let (good, after) = share(options, &machine, next, until);
        fine &= good;
        let used = machine.used_bytes();
        if good && used > unused + KEPT {
            finding(next, &format!("{} bytes of device memory are not given back", used - unused));
            fine = false;
        }
        calls += machine.calls.load(Relaxed);
        programs += after - next;
        drop(machine);
        heap::settle();
        let now = settled(before);
        if good && (now != before || heap::live() != 0) {
            let live = heap::live();
            finding(
                next,
                &format!("(descriptors, threads) {now:?} were {before:?}; {live} host allocations are left"),
            );
            fine = false;
        }
        if heap::broken() > 0 {
            finding(next, "host memory was written to beside an object");
            return Ok(false);
        }
        grown.push(resident());
        next = after;
    }
    if let (Some(first), Some(last)) = (grown.get(1), grown.last()) {
        if *last > first + GROWTH {
            finding(options.first, &format!("memory grows: {grown:?}"));
            fine = false;
        }
    }
    println!("done: {programs} programs, {calls} calls, {:.1} s", start.elapsed().as_secs_f64());
    Ok(fine)
}

/// Runs programs on one device until it is lost; whether nothing was found, and the next program.
fn share(options: &Options, machine: &Machine, first: u64, end: u64) -> (bool, u64) {
    let mut founder = Runner::new(machine, true);
    common_of(first).iter().for_each(|step| founder.step(step));
    let lent = founder.lent();
    let next = AtomicU64::new(first);
    let lost = AtomicU64::new(0);
    let findings = AtomicU64::new(0);
    let output = Mutex::new(());
    let work = || {
        while lost.load(Relaxed) == 0 {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= end {
                break;
            }
            println!("begin {seed}");
            eprintln!("begin {seed}");
            let all = steps(seed, options.valid, options.moves, options.surfaces, options.keep.as_ref());
            if !options.valid {
                heap::refuse([0, 0, 3, 40][seed as usize % 4]);
            }
            let mut runner = Runner::new(machine, options.valid);
            runner.borrow(&lent);
            all.iter().for_each(|step| runner.step(step));
            heap::refuse(0);
            let outcome = runner.finish();
            let _one = output.lock();
            findings.fetch_add(report(options, seed, &all, &outcome), Relaxed);
            if outcome.stuck {
                // Neither the device nor this process gets any further.
                std::process::exit(1);
            }
            lost.fetch_add(u64::from(outcome.lost), Relaxed);
            if !options.valid && !outcome.lost && !probe(machine) {
                finding(seed, "the device does not work afterwards");
                findings.fetch_add(1, Relaxed);
            }
            println!("end {seed}");
            eprintln!("end {seed}");
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.threads {
            scope.spawn(work);
        }
        work();
    });
    let founded = founder.finish();
    if lost.into_inner() == 0 {
        for error in &founded.errors {
            finding(first, error);
            findings.fetch_add(1, Relaxed);
        }
    }
    (findings.into_inner() == 0, next.into_inner().min(end))
}

/// Says what a program ended in; the number of findings.
fn report(options: &Options, seed: u64, steps: &[Step], outcome: &Outcome) -> u64 {
    let mut found = 0;
    for error in &outcome.errors {
        // What is refused to programs that are not valid is as it should be.
        if options.valid || error.starts_with("foreign memory") {
            finding(seed, error);
            found += 1;
        }
    }
    if options.results {
        let tainted = tainted(seed, steps);
        for (n, (id, bytes)) in outcome.results.iter().enumerate() {
            if !tainted.contains(id) {
                println!("result {seed} {n} {id:?} {:016x} {}", digest(bytes), ends(bytes, options.bytes));
            }
        }
    }
    found
}

/// Runs the program of some bytes, of which the first says whether it is valid, on a driver that is linked in.
///
/// # Panics
/// If a valid program is refused, or foreign memory was written to.
pub fn fuzz(entry: ash::Entry, bytes: &[u8]) {
    let Some((grade, moves)) = bytes.split_first() else { return };
    static MACHINE: Mutex<Option<Machine>> = Mutex::new(None);
    let mut machine = MACHINE.lock().expect("what panics ends the process");
    let machine = match &mut *machine {
        Some(machine) => machine,
        none => none.insert(Machine::of(entry).expect("the driver has a device")),
    };
    let valid = grade % 2 == 0;
    let program = Program::of_bytes(moves);
    let steps = if valid { program.steps } else { spoil(&program.steps, u64::from(*grade)) };
    let mut runner = Runner::new(machine, valid);
    steps.iter().for_each(|step| runner.step(step));
    let Outcome { errors, lost, .. } = runner.finish();
    let foreign = |error: &&String| error.starts_with("foreign memory");
    let wrong = if valid { errors.first() } else { errors.iter().find(foreign) };
    assert!(wrong.is_none(), "{wrong:?} of {steps:#?}");
    assert!(lost || probe(machine), "the device does not work after {steps:#?}");
    if lost {
        // A process is cheap, and the next one has a device again.
        std::process::exit(0);
    }
}

fn tainted(seed: u64, steps: &[Step]) -> BTreeSet<Id> {
    Program::of_steps(steps, common_of(seed)).model().flow.tainted()
}

fn digest(bytes: &[u8]) -> u64 {
    let mix = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// The first bytes and the last ones.
fn ends(bytes: &[u8], most: usize) -> String {
    let text = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let edge = bytes.len().min(most);
    format!("{}..{}", text(&bytes[..edge]), text(&bytes[bytes.len() - edge..]))
}

/// A small valid program; whether it does what it should.
fn probe(machine: &Machine) -> bool {
    let mut runner = Runner::new(machine, true);
    let [from, to, memory, pool, commands] = [1, 2, 3, 4, 5].map(Id);
    let usage = ash::vk::BufferUsageFlags::TRANSFER_SRC | ash::vk::BufferUsageFlags::TRANSFER_DST;
    let create = |id, what| Step::Create { id, what };
    let record = |command| Step::Record { commands, command };
    let barrier = || record(Command::Barrier { newer: false, buffer: None });
    let size = 64;
    for step in [
        create(from, Create::Buffer { size, usage }),
        create(to, Create::Buffer { size, usage }),
        create(memory, Create::Memory { owners: vec![from, to], spare: 0, gap: 0, newer: false }),
        create(pool, Create::CommandPool { flags: Default::default() }),
        create(commands, Create::Commands { pool, secondary: false }),
        Step::Begin { commands, flags: Default::default(), pass: None, framebuffer: None },
        record(Command::Fill { buffer: from, offset: 0, size, word: 0x0102_0304 }),
        barrier(),
        record(Command::CopyBuffer { from, to, regions: vec![[0, 0, size]], newer: false }),
        barrier(),
        Step::End { commands },
        Step::Submit {
            commands: vec![commands],
            waits: Vec::new(),
            signals: Vec::new(),
            fence: None,
            newer: false,
        },
        Step::Do { what: Host::WaitIdle { device: false } },
        Step::Do { what: Host::Read { buffer: to } },
    ] {
        runner.step(&step);
    }
    let outcome = runner.finish();
    let right = |(_, bytes): &(Id, Vec<u8>)| bytes.iter().all(|byte| (1..=4).contains(byte));
    outcome.errors.is_empty() && outcome.results.first().is_some_and(right)
}

//! Prints what the compiler makes of the shared shader corpus beside Mesa's: `cargo xtask bench compiler`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use vc4_shaders::program::Pipeline;
use vc4_tests::corpus::{Baseline, Counts, Module, PROGRAMS};
use vc4_tests::shared;

/// Compilations per shader; the shortest counts, because what else the machine does only makes them longer.
const RUNS: usize = 15;

/// Compilations of the long shader.
const LONG_RUNS: usize = 3;

/// Statements of the long shader; each is eight operations on a word of the uniform stream, of which an instruction
/// takes one.
const LONG_STATEMENTS: usize = 2600;

fn main() {
    if !shared::available() {
        eprintln!(
            "the shader corpus and Mesa's figures lie beside the repository, in shared/shader-corpus; they are not there"
        );
        std::process::exit(2);
    }
    let baseline = Baseline::read();
    let directory = std::env::temp_dir().join(format!("vc4-bench-compiler-{}", std::process::id()));
    let outcome = std::fs::create_dir_all(&directory)
        .map_err(|error| format!("{}: {error}", directory.display()))
        .and_then(|()| run(&baseline, &directory));
    // A directory of temporary files that stays is no failure.
    let _ = std::fs::remove_dir_all(&directory);
    if let Err(error) = outcome {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run(baseline: &Baseline, directory: &std::path::Path) -> Result<(), String> {
    baseline.origin.iter().for_each(|line| println!("{line}"));
    println!("# ours / Mesa's; slots: the cost model's estimate of both; us: one thread, shortest of {RUNS}");
    println!(
        "{:20} {:2}  {:>11} {:>5}  {:>9} {:>5}  {:>11} {:>5}  threads",
        "shader", "", "inst", "", "uniforms", "", "slots", ""
    );
    let (mut ours, mut theirs) = ([Counts::default(); 3], [Counts::default(); 3]);
    let (mut our_us, mut their_us) = (0.0, 0.0);
    let mut above = 0;
    let names = baseline.names();
    let mut modules = Vec::new();
    for name in &names {
        modules.push(Module::from_corpus(directory, name)?);
    }
    for (name, module) in names.iter().zip(&modules) {
        let (pipeline, time) = shortest(module, RUNS).map_err(|error| format!("{name}: {error}"))?;
        let us = time.as_secs_f64() * 1e6;
        for (index, (program, counts)) in PROGRAMS.iter().zip(Counts::of_pipeline(&pipeline)).enumerate() {
            let mesa = baseline.programs[&(name.clone(), program.to_string())];
            println!("{}", row(name, program, counts, mesa));
            ours[index] = ours[index].plus(counts);
            theirs[index] = theirs[index].plus(mesa);
            above += u32::from(f64::from(counts.instructions) > 1.05 * f64::from(mesa.instructions));
        }
        let mesa_us = baseline.compile_us[name];
        println!("{name:20}     compile {us:.0} us / {mesa_us:.0} us = {:.2}", us / mesa_us);
        our_us += us;
        their_us += mesa_us;
    }
    for (index, program) in PROGRAMS.iter().enumerate() {
        println!("{}", row("all", program, ours[index], theirs[index]));
    }
    let sum = |counts: [Counts; 3]| counts.into_iter().fold(Counts::default(), Counts::plus);
    println!("{}", row("all", "", sum(ours), sum(theirs)));
    println!("programs above 1.05 of Mesa's instructions: {above} of {}", 3 * names.len());
    println!(
        "compile time {our_us:.0} us / {their_us:.0} us = {:.2} (Mesa's on the machine named above)",
        our_us / their_us
    );
    long_shader(directory)?;
    shares(&modules)
}

/// A module's programs, and the shortest time in which they were compiled.
fn shortest(module: &Module, runs: usize) -> Result<(Pipeline, Duration), String> {
    let compile = || {
        let start = Instant::now();
        module.compile().map(|pipeline| (pipeline, start.elapsed()))
    };
    let mut best = compile()?;
    for _ in 0..runs {
        let next = compile()?;
        best.1 = best.1.min(next.1);
    }
    Ok(best)
}

/// A shader of about 20,000 instructions: no pass may take more than its share.
fn long_shader(directory: &std::path::Path) -> Result<(), String> {
    let vertex = "#version 450\nlayout(location = 0) in vec4 position;\nlayout(location = 0) out vec4 color;\n\
        void main() { gl_Position = position; color = position; }\n";
    let mut fragment = String::from(
        "#version 450\nlayout(location = 0) in vec4 color;\nlayout(location = 0) out vec4 result;\n\
        layout(set = 0, binding = 0) uniform Words { vec4 words[64]; };\nvoid main() {\n    vec4 sum = color;\n",
    );
    for n in 0..LONG_STATEMENTS {
        let line = writeln!(fragment, "    sum = sum * words[{}] + words[{}];", n % 64, (7 * n + 3) % 64);
        line.expect("writing to a string does not fail");
    }
    fragment.push_str("    result = sum;\n}\n");
    let module = Module::from_source(directory, "long", [vertex, &fragment])?;
    let (pipeline, time) = shortest(&module, LONG_RUNS)?;
    let instructions = pipeline.fragment.code.len();
    println!("a fragment shader of {instructions} instructions: {:.2} s", time.as_secs_f64());
    Ok(())
}

fn row(name: &str, program: &str, ours: Counts, mesa: Counts) -> String {
    let ratio = |a: u32, b: u32| f64::from(a) / f64::from(b.max(1));
    let mut text = format!("{name:20} {program:2}");
    for (a, b, width) in [
        (ours.instructions, mesa.instructions, 5),
        (ours.uniforms, mesa.uniforms, 4),
        (ours.slots, mesa.slots, 5),
    ] {
        let pair = write!(text, "  {a:width$}/{b:width$} {:5.2}", ratio(a, b));
        pair.expect("writing to a string does not fail");
    }
    text + &format!("  {}/{}", ours.threads, mesa.threads)
}

/// Time up to each note that the compiler logs behind a pass.
static CLOCK: Mutex<Option<Clock>> = Mutex::new(None);

struct Clock {
    last: Instant,
    passes: BTreeMap<String, Duration>,
}

struct Passes;

impl log::Log for Passes {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let Ok(mut clock) = CLOCK.lock() else { return };
        let Some(clock) = clock.as_mut() else { return };
        let taken = clock.last.elapsed();
        // The shader behind the first line would be long to print.
        let mut head = Head(String::new());
        let _ = write!(head, "{}", record.args());
        if let Some((_, pass)) = head.0.trim_end_matches(':').split_once(" after ") {
            *clock.passes.entry(pass.to_string()).or_default() += taken;
        }
        clock.last = Instant::now();
    }

    fn flush(&self) {}
}

/// Takes text up to the end of its first line.
struct Head(String);

impl Write for Head {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        match text.split_once('\n') {
            Some((rest, _)) => {
                self.0.push_str(rest);
                Err(std::fmt::Error)
            }
            None => {
                self.0.push_str(text);
                Ok(())
            }
        }
    }
}

/// The share of each pass, of the translation in front of them and of the back end behind them.
fn shares(modules: &[Module]) -> Result<(), String> {
    log::set_logger(&Passes).map_err(|error| error.to_string())?;
    log::set_max_level(log::LevelFilter::Trace);
    let start = Instant::now();
    for module in modules {
        if let Ok(mut clock) = CLOCK.lock() {
            let passes = clock.take().map(|clock| clock.passes).unwrap_or_default();
            *clock = Some(Clock { last: Instant::now(), passes });
        }
        module.compile()?;
    }
    let whole = start.elapsed();
    let clock = CLOCK.lock().map_err(|error| error.to_string())?.take();
    let passes = clock.map(|clock| clock.passes).unwrap_or_default();
    let mut sorted: Vec<(String, Duration)> = passes.into_iter().collect();
    sorted.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
    println!("share of each pass");
    for (pass, time) in sorted {
        println!("  {pass:24} {:5.1} %", 100.0 * time.as_secs_f64() / whole.as_secs_f64());
    }
    Ok(())
}

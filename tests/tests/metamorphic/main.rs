//! Metamorphic fuzzing of the compiler: random programs with exact meaning ([`ast`]) run on the simulated QPU as they are,
//! after spirv-opt and after changes that keep their meaning, and must show what an interpreter of the language, which
//! knows no compiler, says. The IR interpreter runs the front end's output, too; every program passes the kernel's
//! validator (strict) and the machine's rules.
//!
//! `METAMORPHIC=N` runs N programs, `METAMORPHIC_SEED=S` starts at seed S; `cargo xtask test --metamorphic N --seed S` does
//! both. A failure is made small and printed.

mod ast;
mod eval;
mod generate;
mod ops;
mod print;
mod reduce;
mod transform;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ast::{LANES, Program, SOURCES, STORED, Source, TABLE, Value};
use generate::Random;
use ops::Base;
use transform::{TRANSFORMS, Transform};
use vc4::state::blend::ColorOutput;
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4_shaders::compile::{CompileError, PipelineState, VertexAttribute, compile_shaders};
use vc4_shaders::ir::interp::{self, Environment};
use vc4_shaders::ir::{BuiltinInput, Output, Shader};
use vc4_shaders::program::Descriptor;
use vc4_shaders::spirv::{StageSource, translate};
use vc4_tests::runner::{Buffers, Runner};

type Lanes = [u32; LANES];

/// Programs of a plain test run.
const PROGRAMS: usize = 150;
/// Seeds of programs that were compiled wrongly once, whose meaning every run checks in all forms.
const FAILED_ONCE: [u64; 5] = [2_000_309, 2_000_537, 2_002_968, 2_003_329, 2_004_204];
/// Batches of sixteen elements that each program runs.
const BATCHES: u64 = 2;

/// How a program is changed before it is compiled.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Plain,
    /// spirv-opt with these flags.
    Optimised(&'static [&'static str]),
    /// spirv-opt with passes that follow from the number, in an order that no flag has.
    Passes(u64),
    Changed(Transform),
}

/// Passes of spirv-opt that keep a module's meaning. Some do not before others have run: --loop-invariant-code-motion moves
/// loads across stores.
const PASSES: &[&str] = &[
    "--inline-entry-points-exhaustive",
    "--merge-return",
    "--ssa-rewrite",
    "--eliminate-local-single-block",
    "--eliminate-local-single-store",
    "--scalar-replacement=100",
    "--convert-local-access-chains",
    "--private-to-local",
    "--eliminate-dead-branches",
    "--eliminate-dead-code-aggressive",
    "--merge-blocks",
    "--if-conversion",
    "--loop-unroll",
    "--loop-unroll-partial=2",
    "--simplify-instructions",
    "--redundancy-elimination",
    "--local-redundancy-elimination",
    "--copy-propagate-arrays",
    "--reduce-load-size",
    "--combine-access-chains",
    "--vector-dce",
    "--ccp",
    "--cfg-cleanup",
    "--strength-reduction",
    "--wrap-opkill",
    "--unify-const",
];

/// Up to six passes.
fn passes(number: u64) -> Vec<&'static str> {
    let mut random = Random(number);
    (0..2 + random.below(5)).map(|_| PASSES[random.below(PASSES.len())]).collect()
}

/// What elements show; `None` for a discarded one.
type Shown = [Option<u32>; LANES];

/// Why there is nothing to compare.
enum Outcome {
    Agrees,
    /// The back end found no registers; the driver says so, too.
    Refused,
    Wrong(String),
}

/// The world of a batch: values by source.
struct World {
    inputs: Vec<[Value; SOURCES.len()]>,
    table: [Value; TABLE],
    buffers: Buffers,
}

fn world(seed: u64, stored: &[Value]) -> World {
    let mut random = Random(seed);
    let mut vector = |base| -> Value {
        std::array::from_fn(|_| {
            let word = random.word();
            match base {
                Base::Float => (((word % 1024) as f32 - 512.0) / 16.0).to_bits(),
                _ if word % 3 == 0 => word >> 8 & 31,
                _ => word >> (word & 31),
            }
        })
    };
    let shared: [Value; SOURCES.len()] = std::array::from_fn(|n| vector(SOURCES[n].base()));
    let inputs = (0..LANES)
        .map(|_| {
            std::array::from_fn(|n| match SOURCES[n] {
                Source::InputInt | Source::InputUint | Source::InputFloat => vector(SOURCES[n].base()),
                _ => shared[n],
            })
        })
        .collect();
    let table = std::array::from_fn(|_| vector(Base::Int));
    let shared_of = |source| shared[SOURCES.iter().position(|&s| s == source).expect("a source")];
    let mut uniform: Vec<u32> = vec![0, 1, 0, 0, 0, 1f32.to_bits(), 0, 0];
    for source in [Source::UniformInt, Source::UniformUint, Source::UniformFloat] {
        uniform.extend(shared_of(source));
    }
    uniform.extend(table.iter().flatten());
    uniform.extend(stored.iter().flatten());
    uniform.resize(20 + 4 * (TABLE + STORED), 0);
    let push = [shared_of(Source::PushInt), shared_of(Source::PushFloat)].concat();
    World { inputs, table, buffers: Buffers { uniform, push } }
}

impl World {
    fn attribute(&self, location: u32, component: u32) -> Lanes {
        std::array::from_fn(|lane| match location {
            0 => [0, 0, 0, 1f32.to_bits()][component as usize],
            n => self.inputs[lane][n as usize - 1][component as usize],
        })
    }
}

/// The world as the IR interpreter asks for it; inputs by location.
struct Seen<'a> {
    world: &'a World,
    varyings: Option<&'a interp::Outcome>,
}

impl Environment for Seen<'_> {
    fn input(&mut self, location: u32, component: u8) -> Lanes {
        match self.varyings {
            None => self.world.attribute(location, component.into()),
            Some(outcome) => outcome.output(Output::User { location, component }),
        }
    }

    fn builtin(&mut self, _: BuiltinInput) -> Lanes {
        [0; LANES]
    }

    fn ubo(&mut self, _: Descriptor, offset: u32) -> u32 {
        self.world.buffers.uniform.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn push(&mut self, offset: u32) -> u32 {
        self.world.buffers.push[offset as usize / 4]
    }
}

fn state() -> PipelineState {
    let format = VertexFormat { packing: Packing::Words(4), numeric: Numeric::Float, swap_rb: false };
    PipelineState {
        attributes: (0..4)
            .map(|location| VertexAttribute { location, format, per_instance: false })
            .collect(),
        color: Some(ColorOutput::plain(vc4::image::format::Format::R8G8B8A8.info(), false)),
        ..Default::default()
    }
}

/// A directory of this thread's own.
fn directory() -> PathBuf {
    let name = format!("metamorphic-{}-{:?}", std::process::id(), std::thread::current().id());
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    directory
}

fn tool(name: &str, package: &str, arguments: &[&std::ffi::OsStr]) -> Result<(), String> {
    let output = Command::new(name).args(arguments).output();
    let output = output.map_err(|error| {
        format!("{name} ({error}): install Debian's {package}, or run `cargo xtask test`")
    })?;
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    if output.status.success() { Ok(()) } else { Err(format!("{name}: {}", String::from_utf8_lossy(&said))) }
}

/// Compiles with what is done already kept: processes cost more than anything else here.
#[derive(Default)]
struct Front {
    /// The source whose module lies in the directory.
    last: Option<(ast::Stage, String)>,
    /// Modules of the stages that hand through, by source.
    plain: HashMap<String, Vec<u32>>,
}

thread_local! {
    static FRONT: RefCell<Front> = RefCell::default();
}

fn words(module: &Path) -> Result<Vec<u32>, String> {
    let bytes = std::fs::read(module).map_err(|error| format!("{}: {error}", module.display()))?;
    Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

fn glslang(stage: &str, source: &str) -> Result<PathBuf, String> {
    let directory = directory();
    let (path, module) = (directory.join(format!("program.{stage}")), directory.join(format!("{stage}.spv")));
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    let arguments = ["-V".as_ref(), "-o".as_ref(), module.as_os_str(), path.as_os_str()];
    tool("glslangValidator", "glslang-tools", &arguments)?;
    Ok(module)
}

impl Front {
    /// SPIR-V of both stages; the program's own goes through spirv-opt when there is a flag.
    fn modules(&mut self, program: &Program, flags: &[&str]) -> Result<[Vec<u32>; 2], String> {
        let mut modules = [Vec::new(), Vec::new()];
        let stages = [(ast::Stage::Vertex, "vert"), (ast::Stage::Fragment, "frag")];
        for (((stage, name), source), found) in
            stages.into_iter().zip(print::sources(program)).zip(&mut modules)
        {
            if stage != program.stage {
                if !self.plain.contains_key(&source) {
                    // The module of this name is another one now.
                    self.last = self.last.take().filter(|(last, _)| *last != stage);
                    self.plain.insert(source.clone(), words(&glslang(name, &source)?)?);
                }
                *found = self.plain[&source].clone();
                continue;
            }
            let mut module = directory().join(format!("{name}.spv"));
            if self.last.as_ref() != Some(&(stage, source.clone())) {
                self.last = None;
                glslang(name, &source)?;
                self.last = Some((stage, source));
            }
            if !flags.is_empty() {
                let optimised = directory().join("optimised.spv");
                let mut arguments: Vec<&std::ffi::OsStr> = flags.iter().map(|flag| flag.as_ref()).collect();
                arguments.extend([module.as_os_str(), "-o".as_ref(), optimised.as_os_str()]);
                tool("spirv-opt", "spirv-tools", &arguments)?;
                module = optimised;
            }
            *found = words(&module)?;
        }
        Ok(modules)
    }
}

fn interpreted(vertex: &Shader, fragment: &Shader, world: &World) -> Result<Shown, String> {
    let first = interp::run(vertex, &mut Seen { world, varyings: None }).map_err(|e| e.to_string())?;
    let second =
        interp::run(fragment, &mut Seen { world, varyings: Some(&first) }).map_err(|e| e.to_string())?;
    let bytes = [0, 1, 2, 3].map(|component| second.floats(Output::User { location: 0, component }));
    Ok(std::array::from_fn(|lane| {
        let word = bytes.map(|byte| (byte[lane] * 255.0).round() as u8);
        (second.discarded >> lane & 1 == 0).then(|| u32::from_le_bytes(word))
    }))
}

/// Compiles a program as it is given and compares what it shows with what `meaning` shows.
fn check(program: &Program, meaning: &Program, flags: &[&str], seed: u64) -> Outcome {
    let [vertex, fragment] = match FRONT.with_borrow_mut(|front| front.modules(program, flags)) {
        Ok(modules) => modules,
        Err(error) => return Outcome::Wrong(error),
    };
    let stage = |words: &[u32], stage| {
        translate(&StageSource { words, entry: "main", specialization: &[] }, stage)
            .map_err(|e| e.to_string())
    };
    use vc4_shaders::ir::Stage;
    let shaders = stage(&vertex, Stage::Vertex).and_then(|v| Ok((v, stage(&fragment, Stage::Fragment)?)));
    let (vertex, fragment) = match shaders {
        Ok(shaders) => shaders,
        Err(error) => return Outcome::Wrong(format!("front end: {error}")),
    };
    let pipeline = match compile_shaders(vertex.clone(), Some(fragment.clone()), &state()) {
        Ok(pipeline) => Some(pipeline),
        Err(CompileError::Backend { .. }) => None,
        Err(error) => return Outcome::Wrong(format!("compiler: {error}")),
    };
    for batch in 0..BATCHES {
        let world = world(seed ^ batch << 40, &program.stored);
        let meant: Shown = std::array::from_fn(|lane| {
            eval::run(meaning, &eval::Inputs { sources: world.inputs[lane], table: &world.table })
        });
        let difference = |what: &str, shown: &Shown| {
            (0..LANES).find(|&lane| shown[lane] != meant[lane]).map(|lane| {
                Outcome::Wrong(format!(
                    "{what}, batch {batch}, element {lane}: {:x?} instead of {:x?}",
                    shown[lane], meant[lane]
                ))
            })
        };
        match interpreted(&vertex, &fragment, &world) {
            Err(error) => return Outcome::Wrong(format!("IR interpreter: {error}")),
            Ok(shown) => {
                if let Some(wrong) = difference("IR interpreter", &shown) {
                    return wrong;
                }
            }
        }
        let Some(pipeline) = &pipeline else { continue };
        let run = || {
            let runner = Runner::new(pipeline, &world.buffers)?;
            let rows = runner.vertex(|location, word| world.attribute(location, word), true)?;
            runner.fragment(&rows[3..], true)
        };
        match run() {
            Err(error) => return Outcome::Wrong(format!("QPU: {error}")),
            Ok((mask, color)) => {
                let shown: Shown = std::array::from_fn(|lane| (mask >> lane & 1 != 0).then_some(color[lane]));
                if let Some(wrong) = difference("QPU", &shown) {
                    return wrong;
                }
            }
        }
    }
    if pipeline.is_some() { Outcome::Agrees } else { Outcome::Refused }
}

/// The program of a seed in one variant, checked.
fn check_variant(program: &Program, variant: Variant, seed: u64) -> Outcome {
    match variant {
        Variant::Plain => check(program, program, &[], seed),
        Variant::Optimised(flags) => check(program, program, flags, seed),
        Variant::Passes(number) => check(program, program, &passes(number), seed),
        Variant::Changed(transform) => {
            let changed = transform::apply(program, transform, &mut Random(seed ^ 0x7a4f));
            // A change that would need more digits than floats have proves nothing.
            if !changed.is_exact() {
                return Outcome::Agrees;
            }
            check(&changed, program, &[], seed)
        }
    }
}

/// Variants of the program of a seed; the longer run has `all`. The plain one comes before those that spirv-opt makes of its
/// module: starting
/// glslangValidator costs more than all the rest.
fn variants(seed: u64, all: bool) -> Vec<Variant> {
    let mut variants = vec![
        Variant::Plain,
        Variant::Optimised(&["-O"]),
        Variant::Optimised(&["-Os"]),
        Variant::Changed(TRANSFORMS[(seed % TRANSFORMS.len() as u64) as usize]),
    ];
    if all {
        variants.extend([Variant::Passes(2 * seed), Variant::Passes(2 * seed + 1)]);
    }
    variants
}

fn report(seed: u64, variant: Variant, program: &Program, error: &str) -> String {
    // Whatever fails on the way to the smallest program counts, or reducing would end early.
    let kind = |error: &str| error.split([':', ',']).next().unwrap_or_default().to_string();
    let wanted = kind(error);
    let mut fails = |candidate: &Program| matches!(check_variant(candidate, variant, seed), Outcome::Wrong(said) if kind(&said) == wanted);
    let small = reduce::reduce(program, &mut fails);
    let shown = match variant {
        Variant::Changed(transform) => transform::apply(&small, transform, &mut Random(seed ^ 0x7a4f)),
        _ => small.clone(),
    };
    let now = match check_variant(&small, variant, seed) {
        Outcome::Wrong(now) => now,
        _ => "does not fail any more".to_string(),
    };
    let [vertex, fragment] = print::sources(&shown);
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("metamorphic_{seed}");
    for (stage, source) in [("vert", &vertex), ("frag", &fragment)] {
        // The report holds the source as well.
        let _ = std::fs::write(directory.join(format!("{name}.{stage}")), source);
    }
    let source = if small.stage == ast::Stage::Vertex { vertex } else { fragment };
    let how = match variant {
        Variant::Passes(number) => format!(" {}", passes(number).join(" ")),
        _ => String::new(),
    };
    format!(
        "seed {seed}, {variant:?}{how}: {error}\nmade small ({name} in {}): {now}\n{source}",
        directory.display()
    )
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
fn programs_mean_the_same_in_every_form() {
    let count = setting("METAMORPHIC").map_or(PROGRAMS, |n| n as usize);
    let first = setting("METAMORPHIC_SEED").unwrap_or(1);
    let (next, checked, refused) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let failures: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let n = next.fetch_add(1, Relaxed);
            if n >= count + FAILED_ONCE.len() || failures.lock().expect("no panic").len() >= 5 {
                break;
            }
            let again = n.checked_sub(count).map(|n| FAILED_ONCE[n]);
            let seed = again.unwrap_or(first + n as u64);
            let program = generate::program(&mut Random(seed));
            assert!(program.is_exact(), "seed {seed} makes floats that are not exact");
            for variant in variants(seed, again.is_some() || setting("METAMORPHIC").is_some()) {
                match check_variant(&program, variant, seed) {
                    Outcome::Agrees => drop(checked.fetch_add(1, Relaxed)),
                    Outcome::Refused => drop(refused.fetch_add(1, Relaxed)),
                    Outcome::Wrong(error) => {
                        let report = report(seed, variant, &program, &error);
                        failures.lock().expect("no panic").push(report);
                        break;
                    }
                }
            }
            if n % 100 == 99 {
                println!("{} programs", n + 1);
            }
        }
        let _ = std::fs::remove_dir_all(directory());
    };
    // Most of the time goes to processes, so that more threads than cores are well used.
    let threads = 4 * std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let (checked, refused) = (checked.into_inner(), refused.into_inner());
    println!(
        "seeds {first} to {}: {checked} programs agree, {refused} fit no registers",
        first + count as u64 - 1
    );
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(
        checked > 20 * refused,
        "too many programs are refused to prove anything: {refused} of {checked}"
    );
}

#[test]
fn programs_are_exact_and_worth_running() {
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 1..2000 {
        let mut program = generate::program(&mut Random(seed));
        assert!(program.is_exact(), "seed {seed}");
        program.expressions(&mut |expr| {
            if let ast::Expr::Op(row, ..) = expr {
                kinds.insert(*row);
            }
            false
        });
    }
    assert_eq!(kinds.len(), ops::ROWS.len(), "every operation occurs");
}

/// The reducer finds the one statement that matters.
#[test]
fn reducing_keeps_what_fails() {
    let is_there = |program: &Program| {
        let mut found = false;
        program.clone().expressions(&mut |expr| {
            found |= matches!(expr, ast::Expr::Op(row, ..) if ops::ROWS[*row].text.starts_with("bitCount"));
            found
        });
        found
    };
    let seed = (1..).find(|&seed| is_there(&generate::program(&mut Random(seed)))).expect("seeds do not end");
    let program = generate::program(&mut Random(seed));
    let small = reduce::reduce(&program, &mut |candidate| is_there(candidate));
    assert!(is_there(&small));
    let lines = |program: &Program| print::sources(program).concat().lines().count();
    assert!(lines(&small) < lines(&program));
    assert!(small.body.len() <= 1, "{}", print::sources(&small).concat());
}

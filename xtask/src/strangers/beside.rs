//! The same shaders through Mesa's compiler for this GPU, as far as OpenGL ES 2 has what they need.
//!
//! `spirv-cross` makes GLSL ES 1.00 of the modules, Debian's arm64 Mesa compiles that under an emulator on the simulated device, and
//! prints its code. Modules that are named as the two stages of a program are one for both compilers; another one gets a stage to
//! go with it, which copies attributes or adds varyings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cost;
use super::measure::Compiler;
use super::record::Program;
use super::sources::Module;
use crate::mesa::Guest;
use crate::{Error, build, debian, packages};

/// What Mesa's programs are called in its output, and here.
const KINDS: [(&str, &str); 3] = [("VERTEX", "VS"), ("COORD", "CS"), ("FRAGMENT", "FS")];
/// A program is worse than Mesa's from here on.
const WORSE: f64 = 1.1;
/// Locations of varyings; those that a module has not are not renamed.
const LOCATIONS: usize = 32;
/// The triangle of a program without a vertex stage.
const POSITION: &str = "corner";
/// What a vertex stage sets in GLSL if it is for points.
const POINT_SIZE: &str = "gl_PointSize";
/// Attributes that are left beside it: the driver has eight.
const ATTRIBUTES: usize = 7;

/// Instructions of a program by kind.
type Sizes = BTreeMap<&'static str, u32>;

/// A program of one or two modules.
struct Pair<'a> {
    name: String,
    modules: Vec<(&'a Module, Stage)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Vertex,
    Fragment,
}

impl Stage {
    fn extension(self) -> &'static str {
        ["vert", "frag"][self as usize]
    }
}

/// Compiles with both, and prints what that comes to, the `top` worst programs, and what it costs the CPU if that is asked for.
pub fn run(ours: &Compiler, modules: &[Module], top: usize, cost: bool, install: bool) -> Result<(), Error> {
    packages::require(&["spirv-cross"], install)?;
    let target = build::target_directory()?;
    let place = debian::fresh(&target.join("strangers/mesa"))?;
    let guest = Guest::prepare(&target, install)?;
    let compiler = place.join("compile-arm64");
    guest.compile(&[build::workspace().join("tests/strangers/compile.c")], &compiler)?;
    let (mut pairs, mut absent) = (Vec::new(), Absent::default());
    for pair in self::pairs(modules) {
        match translated(&pair, &place.join(pairs.len().to_string()))? {
            Some(files) => pairs.push((pair, files)),
            None => absent.in_glsl += 1,
        }
    }
    let files: Vec<&[PathBuf; 2]> = pairs.iter().map(|(_, files)| files).collect();
    let theirs = sizes(&guest, &compiler, &files, &place.join("programs.list"))?;
    let ours_for_points = ours.for_points(&place)?;
    let (mut rows, mut whole) = (Vec::new(), Vec::new());
    for ((pair, files), theirs) in pairs.iter().zip(theirs) {
        let Some(theirs) = theirs else {
            absent.in_mesa += 1;
            continue;
        };
        let is_for_points = fs::read_to_string(&files[0])?.contains(POINT_SIZE);
        let Some(programs) = made(if is_for_points { &ours_for_points } else { ours }, pair)? else {
            absent.here += 1;
            continue;
        };
        if let [(vertex, _), (fragment, _)] = pair.modules[..] {
            let spirv = [vertex.spirv.clone(), fragment.spirv.clone()];
            whole.push(cost::Program { spirv, glsl: files.clone() });
        }
        for program in programs {
            // Of a program with a stage that goes with it only the other one is compared.
            let own =
                pair.modules.iter().any(|&(_, stage)| (stage == Stage::Fragment) == (program.kind == "FS"));
            if let (true, Some(&size)) = (own, theirs.get(program.kind.as_str())) {
                rows.push((pair.name.clone(), program, size));
            }
        }
    }
    report(rows, &absent, top);
    if cost { cost::run(&guest, &compiler, &whole, &place, install) } else { Ok(()) }
}

/// Programs that are not compared.
#[derive(Default)]
struct Absent {
    /// `spirv-cross` finds no GLSL ES 1.00 for them.
    in_glsl: usize,
    /// Mesa refuses them, or its driver ends by them.
    in_mesa: usize,
    /// This compiler refuses them.
    here: usize,
}

/// Modules by the name in front of their stage's.
fn pairs(modules: &[Module]) -> Vec<Pair<'_>> {
    let mut by_name: BTreeMap<String, Vec<(&Module, Stage)>> = BTreeMap::new();
    for module in modules {
        let Some(stage) = stage(&module.spirv) else { continue };
        for name in module.others.iter().chain([&module.name]) {
            let mut parts: Vec<&str> = name.split('.').collect();
            parts.retain(|part| !["spv", "glsl", "hlsl", stage.extension()].contains(part));
            by_name.entry(parts.join(".")).or_default().push((module, stage));
        }
    }
    let mut pairs = Vec::new();
    let mut alone = BTreeSet::new();
    for (name, mut modules) in by_name {
        modules.sort_by_key(|&(_, stage)| stage);
        let is_pair = matches!(modules[..], [(_, Stage::Vertex), (_, Stage::Fragment)]);
        // Many programs may have a module in common; without one it is looked at once.
        modules.retain(|(module, _)| is_pair || alone.insert(&module.spirv));
        let size = if is_pair { 2 } else { 1 };
        pairs.extend(
            modules.chunks(size).map(|modules| Pair { name: name.clone(), modules: modules.to_vec() }),
        );
    }
    pairs
}

/// The stage of a module's only entry point, if that is called `main`.
fn stage(spirv: &Path) -> Option<Stage> {
    /// `OpEntryPoint`: the execution model, the function, then the name.
    const ENTRY_POINT: u32 = 15;
    let words = words(&fs::read(spirv).ok()?);
    let mut entries = instructions(&words).filter(|inst| inst[0] & 0xffff == ENTRY_POINT);
    let entry = entries.next()?;
    let is_main = entry.get(3..5)? == [u32::from_le_bytes(*b"main"), 0];
    match (entry.get(1)?, is_main, entries.next()) {
        (0, true, None) => Some(Stage::Vertex),
        (4, true, None) => Some(Stage::Fragment),
        _ => None,
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// The instructions of a module, each with the word that begins it; up to the first that is cut short.
fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = words.get(5..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = (rest.first()? >> 16) as usize;
        let inst = rest.get(..length.max(1))?;
        rest = &rest[length.max(1)..];
        Some(inst)
    })
}

/// The module with signed integers for those without a sign, which GLSL ES 1.00 has not.
fn with_signs(words: &[u32]) -> Vec<u8> {
    const TYPE_INT: u32 = 21;
    /// `OpConvertFToU`, `OpConvertUToF`: the signed one is the next one, or the one before.
    const CONVERSIONS: [(u32, u32); 2] = [(109, 110), (112, 111)];
    let mut signed = words[..words.len().min(5)].to_vec();
    for inst in instructions(words) {
        let start = signed.len();
        signed.extend_from_slice(inst);
        let op = inst[0] & 0xffff;
        match CONVERSIONS.iter().find(|(unsigned, _)| *unsigned == op) {
            Some((_, with_sign)) => signed[start] = inst[0] & !0xffff | with_sign,
            None if op == TYPE_INT && inst.get(2) == Some(&32) => signed[start + 3] = 1,
            None => {}
        }
    }
    signed.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A vertex and a fragment shader in GLSL ES 1.00, at `stem`; nothing if that has not what the program needs.
fn translated(pair: &Pair<'_>, stem: &Path) -> Result<Option<[PathBuf; 2]>, Error> {
    let files = [Stage::Vertex, Stage::Fragment].map(|stage| stem.with_extension(stage.extension()));
    for &(module, stage) in &pair.modules {
        let signed = stem.with_extension("spv");
        fs::write(&signed, with_signs(&words(&fs::read(&module.spirv)?)))?;
        let Some(text) = glsl(&signed, stage)? else { return Ok(None) };
        if let [_] = pair.modules[..] {
            let Some(other) = counterpart(&text, stage) else { return Ok(None) };
            fs::write(&files[1 - stage as usize], other)?;
        }
        fs::write(&files[stage as usize], text)?;
    }
    Ok(Some(files))
}

fn glsl(module: &Path, stage: Stage) -> Result<Option<String>, Error> {
    let direction = ["out", "in"][stage as usize];
    // Blocks become arrays of vectors, or structures where their members have different types.
    for flags in [&["--flatten-ubo"][..], &[]] {
        let mut command = Command::new("spirv-cross");
        command.args(["--es", "--version", "100"]).args(flags);
        for location in 0..LOCATIONS {
            let (number, name) = (location.to_string(), format!("varying{location}"));
            command.args(["--rename-interface-variable", direction, &number, &name]);
        }
        let output = command.arg(module).stdin(Stdio::null()).output()?;
        if output.status.success() {
            return Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()));
        }
    }
    Ok(None)
}

/// A stage for a program that has only the other one: it writes varyings from attributes of its own, or adds them up.
fn counterpart(text: &str, stage: Stage) -> Option<String> {
    let (mut declared, mut statements) = (String::from("precision highp float;\n"), String::new());
    let varyings = text.lines().filter_map(|line| line.trim().strip_prefix("varying "));
    let mut factor = 0;
    for (n, varying) in varyings.enumerate() {
        let varying = varying.trim_end_matches(';');
        let (name, size) = match varying.rsplit(' ').next()?.split_once('[') {
            Some((name, size)) => (name, size.trim_end_matches(']').parse().ok()?),
            None => (varying.rsplit(' ').next()?, 1),
        };
        let components = ["float", "vec2", "vec3", "vec4"]
            .iter()
            .position(|ty| varying.split(' ').any(|word| word == *ty))?;
        writeln!(declared, "varying {varying};").ok()?;
        let attribute = n % ATTRIBUTES;
        if stage == Stage::Fragment && attribute == n {
            writeln!(declared, "attribute vec4 attribute{n};").ok()?;
        }
        for element in 0..size {
            factor += 1;
            let place = if varying.contains('[') { format!("{name}[{element}]") } else { name.to_owned() };
            // Different ones, for equal varyings would be one.
            match stage {
                Stage::Fragment => {
                    let components = &"xyzw"[..=components];
                    writeln!(statements, "{place} = attribute{attribute}.{components} * {factor}.0;")
                }
                Stage::Vertex => {
                    let rest = [", 0.0, 0.0, 0.0", ", 0.0, 0.0", ", 0.0", ""][components];
                    writeln!(statements, "sum += vec4({place}{rest}) * {factor}.0;")
                }
            }
            .ok()?;
        }
    }
    Some(match stage {
        Stage::Fragment => {
            format!(
                "{declared}attribute vec4 {POSITION};\nvoid main() {{\n{statements}gl_Position = {POSITION};\n}}\n"
            )
        }
        Stage::Vertex => {
            format!("{declared}void main() {{\nvec4 sum = vec4(0.0);\n{statements}gl_FragColor = sum;\n}}\n")
        }
    })
}

/// Instructions of each program by kind; nothing for those that the driver has not. One by which the driver ends costs it only itself.
fn sizes(
    guest: &Guest,
    compiler: &Path,
    programs: &[&[PathBuf; 2]],
    list: &Path,
) -> Result<Vec<Option<Sizes>>, Error> {
    let mut sizes = Vec::with_capacity(programs.len());
    while sizes.len() < programs.len() {
        let rest = &programs[sizes.len()..];
        let lines: String = rest
            .iter()
            .map(|[vertex, fragment]| format!("{}\t{}\n", vertex.display(), fragment.display()))
            .collect();
        fs::write(list, lines)?;
        let server = guest.serve(None)?;
        let mut command = guest.command(&server, compiler);
        command.arg(list).arg("VC4").env("VC4_DEBUG", "qpu");
        let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let drawn = listed(&said);
        if drawn.is_empty() {
            let last = said.lines().next_back().unwrap_or_default();
            return Err(format!("Mesa's driver compiled nothing ({}): {last}", output.status).into());
        }
        sizes.extend(drawn.into_iter().take(rest.len()));
    }
    Ok(sizes)
}

/// Instructions by kind of the programs that a listing of the driver's begins; nothing for those it does not draw.
fn listed(said: &str) -> Vec<Option<Sizes>> {
    let mut programs = Vec::new();
    let mut open: Option<(Sizes, Option<&'static str>)> = None;
    for line in said.lines() {
        if line.starts_with("PROGRAM ") {
            programs.push(None);
            open = Some((Sizes::new(), None));
        } else if line == "DRAWN" {
            if let (Some(program), Some((sizes, _))) = (programs.last_mut(), open.take()) {
                *program = Some(sizes);
            }
        } else if let Some((sizes, kind)) = &mut open {
            if let Some(text) = line.strip_prefix("MESA_SHADER_") {
                *kind = KINDS.iter().find(|(name, _)| text.starts_with(name)).map(|&(_, kind)| kind);
                sizes.extend(kind.map(|kind| (kind, 0)));
            } else if let (true, Some(kind)) = (line.starts_with("0x"), kind) {
                *sizes.entry(kind).or_default() += 1;
            }
        }
    }
    programs
}

/// What this compiler makes of a program; nothing if it refuses.
fn made(compiler: &Compiler, pair: &Pair<'_>) -> Result<Option<Vec<Program>>, Error> {
    let mut command = compiler.command();
    command.args(pair.modules.iter().map(|(module, _)| &module.spirv));
    let output = command.stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.success().then(|| text.lines().skip(1).filter_map(super::measure::program).collect()))
}

fn report(mut rows: Vec<(String, Program, u32)>, absent: &Absent, top: usize) {
    let ratio = |row: &(String, Program, u32)| f64::from(row.1.instructions) / f64::from(row.2.max(1));
    rows.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    let names: BTreeSet<&str> = rows.iter().map(|(name, ..)| name.as_str()).collect();
    println!(
        "beside Mesa's compiler: {} programs; not compared: {} that OpenGL ES 2 has not, {} that Mesa's driver has not, \
         {} that are refused here",
        names.len(),
        absent.in_glsl,
        absent.in_mesa,
        absent.here
    );
    println!(
        "{:8} {:>7} {:>9} {:>9} {:>6} {:>7} {:>6} {:>6} {:>11}",
        "", "number", "ours", "Mesa's", "ratio", "median", "90 %", "worst", "above 1.1"
    );
    for (_, kind) in KINDS {
        let of_kind: Vec<_> = rows.iter().filter(|(_, program, _)| program.kind == kind).collect();
        let (Some(worst), Some(middle)) = (of_kind.first(), of_kind.get(of_kind.len() / 2)) else { continue };
        let ours: u32 = of_kind.iter().map(|(_, program, _)| program.instructions).sum();
        let theirs: u32 = of_kind.iter().map(|(.., size)| size).sum();
        println!(
            "{kind:8} {:7} {ours:9} {theirs:9} {:6.3} {:7.3} {:6.3} {:6.3} {:11}",
            of_kind.len(),
            f64::from(ours) / f64::from(theirs.max(1)),
            ratio(middle),
            ratio(of_kind[of_kind.len() / 10]),
            ratio(worst),
            of_kind.iter().filter(|row| ratio(row) > WORSE).count()
        );
    }
    for row in rows.iter().take_while(|row| ratio(row) > 1.0).take(top) {
        let (name, program, size) = row;
        println!("  {:6.3}  {:2} {:5} for {size:5}  {name}", ratio(row), program.kind, program.instructions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_are_counted() {
        let said = "PROGRAM 0\nREFUSED a.frag: no\nPROGRAM 1\nMESA_SHADER_FRAGMENT prog 1/1 QPU:\n0x1 nop\n0x2 nop\n\n\
                    MESA_SHADER_COORD prog 0/2 QPU:\n0x3\n\nDRAWN\nMESA_SHADER_VERTEX prog 0/3 QPU:\n0x4\n\
                    PROGRAM 2\nMESA_SHADER_COORD prog 0/4 QPU:\n0x5\nAborted\n";
        assert_eq!(listed(said), [None, Some(Sizes::from([("FS", 2), ("CS", 1)])), None]);
    }

    #[test]
    fn counterparts_go_with_all_varyings() {
        let fragment = "varying highp vec2 varying0;\nvarying highp float varying1[2];\nvoid main() {}\n";
        let vertex = counterpart(fragment, Stage::Fragment).unwrap();
        for line in [
            "varying0 = attribute0.xy * 1.0;",
            "varying1[1] = attribute1.x * 3.0;",
            "varying highp vec2 varying0;",
        ] {
            assert!(vertex.contains(line), "{vertex}");
        }
        let many: String = (0..9).map(|n| format!("varying vec4 varying{n};\n")).collect();
        let vertex = counterpart(&many, Stage::Fragment).unwrap();
        assert!(vertex.contains("varying8 = attribute1.xyzw * 9.0;"), "{vertex}");
        assert_eq!(vertex.matches("attribute vec4").count(), 1 + ATTRIBUTES);
        assert_eq!(counterpart("varying mat3 varying0;\n", Stage::Vertex), None);
    }

    #[test]
    fn integers_get_signs() {
        let header = [0x0723_0203, 0x1_0000, 0, 9, 0];
        // OpTypeInt %1 32 0, OpConvertUToF %2 %3 %4, OpTypeInt %5 64 0.
        let code = [4 << 16 | 21, 1, 32, 0, 4 << 16 | 112, 2, 3, 4, 4 << 16 | 21, 5, 64, 0];
        let signed = words(&with_signs(&[&header[..], &code].concat()));
        assert_eq!(signed[5..], [4 << 16 | 21, 1, 32, 1, 4 << 16 | 111, 2, 3, 4, 4 << 16 | 21, 5, 64, 0]);
    }
}

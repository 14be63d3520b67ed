//! What compiling costs the CPU of a board: instructions that both compilers execute on arm64, counted under the emulator.
//!
//! Each round compiles all programs anew, so a round more tells what that takes, without what starting does. Mesa's compiler
//! runs where a program is linked and first drawn; what the draw itself takes does not count.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::counter::Counter;
use crate::mesa::{Guest, MACHINE};
use crate::{Error, cross};

const PACKAGE: &str = "vc4-shaders";
const EXAMPLE: &str = "compile";

/// A program of two stages, for both compilers.
pub struct Program {
    /// Vertex and fragment module.
    pub spirv: [PathBuf; 2],
    /// The same in GLSL ES 1.00.
    pub glsl: [PathBuf; 2],
}

/// Prints what these programs take; `theirs` is the guest's program that has Mesa compile a list, `place` takes files.
pub fn run(
    guest: &Guest,
    theirs: &Path,
    programs: &[Program],
    place: &Path,
    install: bool,
) -> Result<(), Error> {
    if programs.is_empty() {
        return Err("no program of two stages is compiled by both".into());
    }
    let list = |name: &str, files: fn(&Program) -> &[PathBuf; 2]| -> Result<PathBuf, Error> {
        let mut text = String::new();
        for program in programs {
            let [vertex, fragment] = files(program);
            writeln!(text, "{}\t{}", vertex.display(), fragment.display())?;
        }
        let path = place.join(name);
        fs::write(&path, text)?;
        Ok(path)
    };
    let ours = ours(&list("ours.list", |program| &program.spirv)?, install)?;
    let theirs = mesas(guest, theirs, &list("mesas.list", |program| &program.glsl)?, install)?;
    let millions = |count: u64| count as f64 / 1e6;
    println!(
        "compiling {} programs on {MACHINE}: {:.1} M instructions, Mesa's {:.1} M, {:.3}",
        programs.len(),
        millions(ours),
        millions(theirs),
        ours as f64 / theirs.max(1) as f64
    );
    Ok(())
}

/// Instructions of a round of this compiler's.
fn ours(list: &Path, install: bool) -> Result<u64, Error> {
    let target = cross::target(MACHINE)?;
    let program = cross::build_example(target, PACKAGE, EXAMPLE)?;
    let counter = Counter::emulated(target, &cross::libraries(target), install)?;
    let rounds = |count: u32| counter.count(Command::new(&program).arg(list).arg(count.to_string()));
    beyond(rounds(2)?, rounds(1)?)
}

/// Instructions of a round of Mesa's compiler.
fn mesas(guest: &Guest, compiler: &Path, list: &Path, install: bool) -> Result<u64, Error> {
    let server = guest.serve(None)?;
    let counter = guest.counter(&server, install)?;
    let count = |rounds: u32, draws: u32| {
        let mut command = Command::new(compiler);
        command.arg(list).arg("VC4").args([rounds, draws].map(|count| count.to_string()));
        counter.count(guest.told(&mut command))
    };
    let once = count(1, 1)?;
    let (round, draws) = (beyond(count(2, 1)?, once)?, beyond(count(1, 2)?, once)?);
    beyond(round, draws)
}

fn beyond(more: u64, less: u64) -> Result<u64, Error> {
    more.checked_sub(less).ok_or_else(|| format!("the longer run takes {more} instructions of {less}").into())
}

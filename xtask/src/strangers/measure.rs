//! Each entry point through `vc4 compile`, in a process of its own: what ends one ends no other.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::record::{Compiled, Outcome, Program};
use super::sources::Module;
use crate::Error;

/// How long one entry point may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Stages that the driver has, by SPIR-V's name and the command's.
const STAGES: [(&str, &str); 3] = [("Vertex", "vertex"), ("Fragment", "fragment"), ("GLCompute", "compute")];

/// The command that compiles, and what for.
pub struct Compiler {
    /// `vc4`.
    pub tool: PathBuf,
    /// A file of pipeline state.
    pub state: Option<PathBuf>,
}

impl Compiler {
    /// The same for programs that draw points; `place` takes the file of that state.
    pub fn for_points(&self, place: &Path) -> Result<Compiler, Error> {
        let text = self.state.as_ref().map(std::fs::read_to_string).transpose()?.unwrap_or_default();
        let state = place.join("points.state");
        std::fs::write(&state, text + "\ntopology points\n")?;
        Ok(Compiler { tool: self.tool.clone(), state: Some(state) })
    }

    /// Compiles what is added, and prints its programs.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.tool);
        command.args(["compile", "--stats", "tsv"]);
        if let Some(state) = &self.state {
            command.arg("--state").arg(state);
        }
        command
    }
}

/// What becomes of every entry point, in the modules' order.
pub fn all(compiler: &Compiler, modules: &[Module], jobs: usize) -> Result<Vec<Compiled>, Error> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Vec<Compiled>)>> = Mutex::new(Vec::new());
    let work = || -> Result<(), String> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(module) = modules.get(index) else { return Ok(()) };
            let compiled =
                module_of(compiler, module).map_err(|error| format!("{}: {error}", module.name))?;
            done.lock().map_err(|error| error.to_string())?.push((index, compiled));
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a thread panicked".to_string())?)
    })?;
    let mut done = done.into_inner().map_err(|error| error.to_string())?;
    done.sort_by_key(|&(index, _)| index);
    Ok(done.into_iter().flat_map(|(_, compiled)| compiled).collect())
}

fn module_of(compiler: &Compiler, module: &Module) -> Result<Vec<Compiled>, Error> {
    let (text, _, _) = answer(Command::new(&compiler.tool).arg("inspect").arg(&module.spirv))?;
    let operations = operations(&text);
    let entries: Vec<(&str, String)> = text.lines().filter_map(entry).collect();
    let one = |(stage, entry): (&str, String)| -> Result<Compiled, Error> {
        let mut command = compiler.command();
        command.args(["--stage", stage, "--entry", &entry]).arg(&module.spirv);
        let start = Instant::now();
        let (text, error, status) = answer(&mut command)?;
        let milliseconds = start.elapsed().as_millis() as u32;
        let name = format!("{} {stage} {entry}", module.name);
        Ok(Compiled { name, operations, milliseconds, outcome: outcome(&text, &error, status) })
    };
    entries.into_iter().map(one).collect()
}

/// The number in `  243 instructions, capabilities: …`.
fn operations(text: &str) -> u32 {
    let number = |line: &str| line.trim().split_once(" instructions")?.0.parse().ok();
    text.lines().find_map(number).unwrap_or(0)
}

/// Stage and name in `  entry Vertex main: 6 interface variables`.
fn entry(line: &str) -> Option<(&'static str, String)> {
    let rest = line.trim().strip_prefix("entry ")?;
    let (stage, rest) = rest.split_once(' ')?;
    let (name, _) = rest.rsplit_once(": ")?;
    let (_, stage) = STAGES.into_iter().find(|(spirv, _)| *spirv == stage)?;
    Some((stage, name.to_owned()))
}

fn outcome(text: &str, error: &str, status: Option<ExitStatus>) -> Outcome {
    match status {
        None => Outcome::Fault(format!("no answer in {} s", PATIENCE.as_secs())),
        Some(status) if status.success() => {
            Outcome::Compiled(text.lines().skip(1).filter_map(program).collect())
        }
        // A refusal is an answer of the command; a panic ends a process with another number, a signal with none.
        Some(status) if status.code().is_some_and(|code| code <= 2) => {
            Outcome::Refused(error.trim().trim_start_matches("error: ").to_owned())
        }
        Some(status) => {
            let first = error.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
            Outcome::Fault(format!("{status}: {first}"))
        }
    }
}

/// A row of the command's table.
pub fn program(line: &str) -> Option<Program> {
    let columns: Vec<&str> = line.split('\t').collect();
    let number = |index: usize| columns.get(index)?.parse().ok();
    let kind = (*columns.get(1)?).to_owned();
    if kind == "compute" {
        let instructions = columns.last()?.parse().ok()?;
        return Some(Program { kind, instructions, uniforms: 0, threads: 1 });
    }
    Some(Program { kind, instructions: number(2)?, uniforms: number(3)?, threads: number(4)? })
}

/// Output, errors and status; no status if it took too long.
fn answer(command: &mut Command) -> Result<(String, String, Option<ExitStatus>), Error> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    // Both pipes are emptied while the process runs, or a long answer would stop it.
    let output = child.stdout.take().map(drain);
    let errors = child.stderr.take().map(drain);
    let status = wait(&mut child)?;
    let text = |thread: Option<std::thread::JoinHandle<String>>| {
        thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    };
    Ok((text(output), text(errors), status))
}

fn drain(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is still worth having.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child) -> Result<Option<ExitStatus>, Error> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inspector_is_understood() {
        let text = "a.spv: spirv, 3920 bytes\n  SPIR-V 1.0, generator 0x0008000b, bound 163\n  243 instructions, capabilities: Shader\n  entry Vertex main: 6 interface variables\n  entry Fragment fs: main: 2 interface variables\n  entry Geometry main: 1 interface variable\n";
        assert_eq!(operations(text), 243);
        let entries: Vec<_> = text.lines().filter_map(entry).collect();
        assert_eq!(entries, [("vertex", "main".to_string()), ("fragment", "fs: main".to_string())]);
    }
}

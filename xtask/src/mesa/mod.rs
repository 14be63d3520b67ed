//! Mesa's vc4 OpenGL ES driver, as Debian ships it for arm64, on the simulated device: a user-mode emulator runs the
//! driver, and its pictures are held against those of Mesa's software renderer on this machine.

mod guest;
mod record;
mod root;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

pub use guest::{Guest, MACHINE, Server};
use table::{Expected, REFERENCES, Scene};

use crate::pictures::Picture;
use crate::{Error, build, debian};

/// Which scenes are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scenes {
    /// All of them.
    All,
    /// A selection that touches every subject.
    Ci,
}

/// Draws the scenes with both drivers and compares.
pub fn run(scenes: Scenes, install: bool) -> Result<(), Error> {
    let start = Instant::now();
    let target = build::target_directory()?;
    let place = debian::fresh(&target.join("mesa"))?;
    let text = std::fs::read_to_string(sources().join("scenes.tsv"))?;
    let mut wanted = table::parse(&text)?;
    wanted.retain(|scene| scenes == Scenes::All || scene.quick);
    let guest = Guest::prepare(&target, install)?;
    let programs = Programs::build(&guest, &place)?;
    if std::env::var_os(record::VARIABLE).is_some() {
        record::record(&guest, &place, &|server, directory, scene| {
            programs.vc4(&guest, server, directory, &[scene]).map(drop)
        })?;
    }
    let server = guest.serve(None)?;
    let ready = start.elapsed();
    let names: Vec<&str> = wanted.iter().map(|scene| scene.name.as_str()).collect();
    let mut references = BTreeMap::new();
    for renderer in REFERENCES {
        let names = wanted.iter().filter(|scene| scene.reference == renderer);
        let names: Vec<&str> = names.map(|scene| scene.name.as_str()).collect();
        if !names.is_empty() {
            references.insert(renderer, programs.reference(renderer, &place.join(renderer), &names)?);
        }
    }
    let drawing = Instant::now();
    let drawn = programs.vc4(&guest, &server, &place.join("vc4"), &names)?;
    println!(
        "Set up in {:.1} s, drawn by vc4 in {:.1} s",
        ready.as_secs_f64(),
        drawing.elapsed().as_secs_f64()
    );
    let sheets = debian::fresh(&place.join("sheets"))?;
    let failures = compare(&wanted, &drawn, &references, &sheets)?;
    println!("Pictures side by side: {}", sheets.display());
    if failures == 0 { Ok(()) } else { Err(format!("{failures} of {} scenes differ", wanted.len()).into()) }
}

fn sources() -> PathBuf {
    build::workspace().join("tests/mesa")
}

/// Pictures of one driver.
struct Drawn {
    directory: PathBuf,
    /// What the program said of each scene: "drawn MILLISECONDS" or "absent WHAT".
    said: BTreeMap<String, String>,
}

/// The scene program for this machine and for the guest.
struct Programs {
    host: PathBuf,
    guest: PathBuf,
}

impl Programs {
    fn build(guest: &Guest, place: &Path) -> Result<Programs, Error> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(sources())?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
            .collect();
        files.sort();
        let programs = Programs { host: place.join("scenes-host"), guest: place.join("scenes-arm64") };
        Guest::compile_here(&files, &programs.host)?;
        guest.compile(&files, &programs.guest)?;
        Ok(programs)
    }

    fn reference(&self, renderer: &str, directory: &Path, scenes: &[&str]) -> Result<Drawn, Error> {
        let mut command = Command::new(&self.host);
        command
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("GALLIUM_DRIVER", renderer)
            .env_remove("MESA_LOADER_DRIVER_OVERRIDE");
        draw(command, renderer, directory, scenes)
    }

    fn vc4(&self, guest: &Guest, server: &Server, directory: &Path, scenes: &[&str]) -> Result<Drawn, Error> {
        draw(guest.command(server, &self.guest), "VC4", directory, scenes)
    }
}

/// Runs the scene program on a driver whose name begins with `renderer`.
fn draw(mut command: Command, renderer: &str, directory: &Path, scenes: &[&str]) -> Result<Drawn, Error> {
    let directory = debian::fresh(directory)?;
    command.args(["--renderer", renderer]).arg(&directory).args(scenes);
    command.env("MESA_SHADER_CACHE_DISABLE", "true").stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("{renderer}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let said: BTreeMap<String, String> = said
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, said)| (name.to_owned(), said.to_owned()))
        .collect();
    if !output.status.success() {
        let after = scenes.iter().find(|&&scene| !said.contains_key(scene)).unwrap_or(&"the last scene");
        return Err(format!("the scenes on {renderer} ended at {after} ({})", output.status).into());
    }
    Ok(Drawn { directory, said })
}

/// Prints a line per scene; returns how many fail.
fn compare(
    scenes: &[Scene],
    drawn: &Drawn,
    references: &BTreeMap<&str, Drawn>,
    sheets: &Path,
) -> Result<usize, Error> {
    println!("{:<28} {:>7} {:>8} {:>6} {:>9} {:>6}", "scene", "off", "percent", "worst", "bound", "ms");
    let mut failures = 0;
    for scene in scenes {
        let reference = references.get(scene.reference.as_str()).ok_or("no reference was drawn")?;
        let line = judge(scene, drawn, reference, sheets)?;
        failures += usize::from(!line.passed);
        let verdict = if line.passed { "pass" } else { "FAIL" };
        println!("{:<28} {} {verdict}", scene.name, line.text);
    }
    Ok(failures)
}

struct Line {
    text: String,
    passed: bool,
}

fn judge(scene: &Scene, drawn: &Drawn, reference: &Drawn, sheets: &Path) -> Result<Line, Error> {
    let said_by =
        |drawn: &Drawn| drawn.said.get(&scene.name).cloned().unwrap_or("unknown to the program".into());
    let said = said_by(drawn);
    let theirs = said_by(reference);
    let absent = said.strip_prefix("absent ");
    let (Expected::Close { percent: bound, reach }, Some(milliseconds)) =
        (scene.expected, said.strip_prefix("drawn "))
    else {
        let passed = scene.expected == Expected::Absent && absent.is_some();
        return Ok(Line { text: format!("{:<40} {}", said, scene.reason), passed });
    };
    if !theirs.starts_with("drawn ") {
        return Ok(Line { text: format!("the reference is {theirs}"), passed: false });
    }
    let file = format!("{}.pam", scene.name);
    let ours = Picture::load(&drawn.directory.join(&file))?;
    let theirs = Picture::load(&reference.directory.join(&file))?;
    let difference =
        ours.difference(&theirs, reach).ok_or_else(|| format!("{}: sizes differ", scene.name))?;
    if difference.pixels > 0 {
        ours.save_sheet(&theirs, &sheets.join(format!("{}.png", scene.name)))?;
    }
    let reach = if reach > 0 { format!("~{reach}px") } else { String::new() };
    let bound_shown = format!("{bound}%{reach}");
    let text = format!(
        "{:>7} {:>7.3}% {:>6} {bound_shown:>9} {milliseconds:>6}",
        difference.pixels, difference.percent, difference.worst
    );
    Ok(Line { text, passed: difference.percent <= bound })
}

//! `bench frames`: what the silicon would take for a frame of ours and for the same frame of Mesa's.
//!
//! Both drivers draw on the simulated device, which notes what they submit. `vc4 sim price` tells what one frame takes: what three
//! take beyond one, so that set-up and reading the picture do not count. It is the mean of several places of all BOs: which lines of
//! textures share a set of the L2 cache is up to who else takes memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::mesa::Guest;
use crate::pictures::Picture;
use crate::{Error, build, debian, packages};

/// Frames of both runs.
const COUNTS: [u32; 2] = [1, 3];
/// Places of BOs that a price is the mean of.
const PLACEMENTS: u32 = 8;
/// The exit code of the player where the driver does not offer what a frame needs.
const ABSENT: i32 = 3;
/// Of the pixels of two drivers' pictures, as many percent may differ: edges lie a little apart.
const MOST_DIFFERENT: f64 = 2.0;

/// What a frame takes, by the columns of `vc4 sim price --tsv`.
struct Price(BTreeMap<String, String>);

impl Price {
    fn of(&self, column: &str) -> Result<f64, Error> {
        let value = self.0.get(column).and_then(|text| text.parse().ok());
        value.ok_or_else(|| format!("vc4 sim price tells no {column}").into())
    }

    fn sum(&self, columns: &[&str]) -> Result<f64, Error> {
        columns.iter().try_fold(0.0, |sum, column| Ok(sum + self.of(column)?))
    }

    fn qpu(&self) -> Result<f64, Error> {
        self.sum(&["coordinate_clocks", "vertex_clocks", "fragment_clocks"])
    }

    fn bytes(&self) -> Result<f64, Error> {
        self.sum(&["load_bytes", "store_bytes", "list_bytes", "read_bytes"])
    }
}

/// The programs of both sides.
struct Both {
    place: PathBuf,
    programs: PathBuf,
    manifest: PathBuf,
    guest: Guest,
    player: PathBuf,
}

/// Prints a line per frame; those that are named, or all.
pub fn run(names: &[String], install: bool) -> Result<(), Error> {
    packages::require(&["glslang-tools"], install)?;
    let target = build::target_directory()?;
    let place = debian::fresh(&target.join("frames"))?;
    let guest = Guest::prepare(&target, install)?;
    let manifest = build::test_driver()?;
    let player = place.join("player-arm64");
    guest.compile(&[build::workspace().join("tests/frames/player.c")], &player)?;
    let both = Both { programs: target.join("debug"), place, manifest, guest, player };
    let listed = output(Command::new(both.programs.join("frames")).arg("list"))?;
    let all: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    if let Some(unknown) = names.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(format!("no frame has the name {unknown}; there are {}", all.join(", ")).into());
    }
    println!(
        "ours / Mesa's: estimated time at 250 MHz, and what it would be at least, did memory nothing but store pixels and read \
         vertices and textures; clocks of QPUs, bytes of memory, vertices shaded, jobs; what bounds ours"
    );
    println!(
        "{:<16} {:>7} {:>7} {:>6} {:>6} {:>6} {:>8}  {:<8} {:>9}",
        "frame", "time", "least", "QPU", "memory", "shaded", "jobs", "bound", "ms"
    );
    let mut ratios = [const { Vec::new() }; 4];
    for name in all.into_iter().filter(|&name| names.is_empty() || names.iter().any(|wanted| wanted == name))
    {
        let ours = both.ours(name)?;
        let Some(theirs) = both.theirs(name)? else {
            println!(
                "{name:<16} Mesa's driver does not offer what it needs; ours takes {:.3} ms",
                ours.of("ms_250")?
            );
            continue;
        };
        both.compare(name)?;
        let values = [
            ours.of("ms_250")? / theirs.of("ms_250")?,
            ours.of("least_ms")? / theirs.of("ms_250")?,
            ours.qpu()? / theirs.qpu()?,
            ours.bytes()? / theirs.bytes()?,
        ];
        ratios.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
        println!(
            "{name:<16} {:>7.3} {:>7.3} {:>6.3} {:>6.3} {:>6.3} {:>8}  {:<8} {:>9.3}",
            values[0],
            values[1],
            values[2],
            values[3],
            ours.of("shaded")? / theirs.of("shaded")?.max(1.0),
            format!("{:.0}/{:.0}", ours.of("jobs")?, theirs.of("jobs")?),
            ours.0.get("bound").map_or("", String::as_str),
            ours.of("ms_250")?
        );
    }
    for (list, what) in ratios.iter_mut().zip(["time", "least time", "QPU clocks", "memory"]) {
        list.sort_by(f64::total_cmp);
        if let (Some(median), Some(worst)) = (list.get(list.len() / 2), list.last()) {
            println!("{what}: median {median:.3}, worst {worst:.3} of {} frames", list.len());
        }
    }
    Ok(())
}

fn output(command: &mut Command) -> Result<String, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program} ({}): {said}", output.status).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Both {
    fn file(&self, name: &str, extension: &str) -> PathBuf {
        self.place.join(format!("{name}.{extension}"))
    }

    fn vc4(&self) -> Command {
        Command::new(self.programs.join("vc4"))
    }

    /// What a frame of ours takes.
    fn ours(&self, name: &str) -> Result<Price, Error> {
        let capture = |count: u32| -> Result<PathBuf, Error> {
            let file = self.file(name, &format!("ours-{count}.vc4cap"));
            let mut command = self.vc4();
            command
                .args(["sim", "capture", "--quiet", "--in-process", "-o"])
                .arg(&file)
                .arg("--icd")
                .arg(&self.manifest);
            command.arg("--").arg(self.programs.join("frames"));
            command.args(["draw", name, &count.to_string()]).arg(self.file(name, "png"));
            output(&mut command)?;
            Ok(file)
        };
        self.price(&capture(COUNTS[0])?, &capture(COUNTS[1])?)
    }

    /// What a frame of Mesa's takes, if its driver can draw it.
    fn theirs(&self, name: &str) -> Result<Option<Price>, Error> {
        let frame = self.file(name, "vc4f");
        output(Command::new(self.programs.join("frames")).args(["write", name]).arg(&frame))?;
        let mut files = Vec::new();
        for count in COUNTS {
            let file = self.file(name, &format!("mesa-{count}.vc4cap"));
            let server = self.guest.serve(Some(&file))?;
            let mut command = self.guest.command(&server, &self.player);
            command.arg(&frame).arg(count.to_string()).arg(self.file(name, "pam")).arg("VC4");
            let output = command.stdin(Stdio::null()).output()?;
            if output.status.code() == Some(ABSENT) {
                return Ok(None);
            }
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                return Err(format!("{name} on Mesa ({}): {said}", output.status).into());
            }
            files.push(file);
        }
        self.price(&files[0], &files[1]).map(Some)
    }

    fn price(&self, one: &Path, more: &Path) -> Result<Price, Error> {
        let mut command = self.vc4();
        command.args(["sim", "price", "--tsv"]).arg(more).arg("--beyond").arg(one);
        command.args(["--frames", &(COUNTS[1] - COUNTS[0]).to_string()]);
        let said = output(command.args(["--placements", &PLACEMENTS.to_string()]))?;
        let mut lines = said.lines().map(|line| line.split('\t').map(str::to_owned));
        let (Some(header), Some(row)) = (lines.next(), lines.next()) else {
            return Err("vc4 sim price says nothing".into());
        };
        Ok(Price(header.zip(row).collect()))
    }

    /// Both drew the same.
    fn compare(&self, name: &str) -> Result<(), Error> {
        let [ours, theirs] =
            [Picture::load(&self.file(name, "png"))?, Picture::load(&self.file(name, "pam"))?];
        let difference = ours.difference(&theirs, 1).ok_or_else(|| format!("{name}: sizes differ"))?;
        if difference.percent > MOST_DIFFERENT {
            let sheet = self.file(name, "sheet.png");
            ours.save_sheet(&theirs, &sheet)?;
            let percent = difference.percent;
            return Err(
                format!("{name}: {percent:.2} % of the pixels differ, see {}", sheet.display()).into()
            );
        }
        Ok(())
    }
}

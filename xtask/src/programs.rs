//! `bench programs`: whole programs of others on the simulated device, and on lavapipe in the same run. A layer of Mesa's counts the
//! frames of both.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::clients::{self, CLIENTS, Client, Screens};
use crate::{Error, build, packages};

/// What is run where nothing is named: a race, a first-person game by either renderer, windows with widgets. Others mostly wait for
/// the display.
const PROGRAMS: &[&str] = &["supertuxkart", "openarena-opengl1", "openarena", "egui-window"];
/// Mesa's OpenGL takes a device that calls itself a CPU only where software is asked for, and others only where it is not.
const SOFTWARE: (&str, &str) = ("LIBGL_ALWAYS_SOFTWARE", "1");
/// How long frames are counted.
const COUNTED: Duration = Duration::from_secs(20);
/// Between two lines of the layer.
const PERIOD: Duration = Duration::from_millis(500);
/// How long a program may take until it draws, and how long it draws until frames are counted: programs are compiled meanwhile.
const LOADING: Duration = Duration::from_secs(120);
const SETTLING: Duration = Duration::from_secs(15);

/// What was counted.
struct Rate {
    /// Frames per second.
    frames: f64,
    /// Seconds of processors' time for each.
    cpu: f64,
}

/// Prints a paragraph for each program.
pub fn run(names: &[String], install: bool) -> Result<(), Error> {
    let clients = match names.is_empty() {
        true => CLIENTS.iter().filter(|client| PROGRAMS.contains(&client.name)).collect(),
        false => clients::named(names, |client| client.draws)?,
    };
    clients::require(&clients, install)?;
    packages::require(&["mesa-vulkan-drivers"], install)?;
    let ours = build::driver()?;
    let lavapipe = PathBuf::from(format!("/usr/share/vulkan/icd.d/lvp_icd.{}.json", std::env::consts::ARCH));
    let screens = Screens::private()?;
    for client in clients {
        println!("{}", client.name);
        let sides = [("simulated", &ours, None), ("lavapipe", &lavapipe, Some(SOFTWARE))];
        let rates = sides.map(|(name, manifest, environment)| {
            let rate = rate(client, manifest, environment, &screens)?;
            println!("  {name:10} {:6.2} frames/s, {:6.1} ms of CPU for each", rate.frames, rate.cpu * 1e3);
            Ok::<_, Error>(rate)
        });
        let [ours, theirs] = rates;
        let (ours, theirs) = (ours?, theirs?);
        println!("  ratio      {:6.2}           {:6.2}", ours.frames / theirs.frames, theirs.cpu / ours.cpu);
    }
    Ok(())
}

/// Runs a program until enough was counted.
fn rate(
    client: &Client,
    manifest: &Path,
    environment: Option<(&str, &str)>,
    screens: &Screens,
) -> Result<Rate, Error> {
    let log = std::env::temp_dir().join(format!("vc4-frames-{}-{}.csv", client.name, std::process::id()));
    // Programs that count their frames themselves get as many as nobody waits for.
    let mut command = client.command(manifest, screens, u32::MAX >> 1)?;
    let period = PERIOD.as_millis();
    command
        .env("VC4VK_DEVICE", "sim")
        .envs(environment)
        .env("VK_INSTANCE_LAYERS", "VK_LAYER_MESA_overlay")
        .env(
            "VK_LAYER_MESA_OVERLAY_CONFIG",
            format!("no_display,fps_sampling_period={period},output_file={}", log.display()),
        )
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", client.program))?;
    let counted = count(&log, child.id(), || Ok(child.try_wait()?.is_none()));
    if child.try_wait()?.is_none() {
        clients::end(&mut child)?;
    }
    let _ = std::fs::remove_file(&log);
    counted.map_err(|error| format!("{}: {error}", client.name).into())
}

fn count(log: &Path, process: u32, mut runs: impl FnMut() -> Result<bool, Error>) -> Result<Rate, Error> {
    let mut wait = |until: Instant| -> Result<(), Error> {
        while Instant::now() < until {
            if !runs()? {
                return Err("ended by itself".into());
            }
            std::thread::sleep(PERIOD / 5);
        }
        Ok(())
    };
    let began = Instant::now();
    while lines(log).is_empty() {
        if began.elapsed() > LOADING {
            return Err("drew nothing that Mesa's layer counts".into());
        }
        wait(Instant::now() + PERIOD)?;
    }
    wait(Instant::now() + SETTLING)?;
    let (skipped, busy, start) = (lines(log).len(), cpu_seconds(process)?, Instant::now());
    wait(start + COUNTED)?;
    let (seconds, busy) = (start.elapsed().as_secs_f64(), cpu_seconds(process)? - busy);
    let rates = lines(log).split_off(skipped);
    if rates.is_empty() {
        return Err(format!("drew nothing for {} s", COUNTED.as_secs()).into());
    }
    let frames = rates.iter().sum::<f64>() / rates.len() as f64;
    Ok(Rate { frames, cpu: busy / (frames * seconds) })
}

/// The layer's lines: device, format, frames per second, microseconds. Behind a heading.
fn lines(log: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().filter_map(|line| line.split(',').nth(2)?.trim().parse().ok()).collect()
}

/// Processors' time that a process took, with its threads: fields 14 and 15 of proc(5), behind a name in parentheses, in hundredths.
fn cpu_seconds(process: u32) -> Result<f64, Error> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    Ok(ticks.sum::<f64>() / 100.0)
}

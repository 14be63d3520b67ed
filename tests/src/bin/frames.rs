//! Frames for two APIs.
//!
//! `frames list`: a line for each; `frames write NAME FILE`: for the player for OpenGL ES; `frames draw NAME COUNT PNG`: so many times on
//! the driver that the Vulkan loader finds.

use std::path::Path;
use std::process::ExitCode;

use vc4_tests::frames::{self, Frame};
use vc4_tests::vulkan::{Error, Harness};

const USAGE: &str = "usage: frames list | write NAME FILE | draw NAME COUNT PNG";

fn find(name: &str) -> Result<Frame, Error> {
    let found = frames::all().into_iter().find(|frame| frame.name == name);
    found.ok_or_else(|| format!("no frame has the name {name}; `frames list` tells them").into())
}

fn run(words: &[&str]) -> Result<(), Error> {
    match words {
        ["list"] => {
            frames::all().iter().for_each(|frame| println!("{} {}", frame.name, frame.what));
            Ok(())
        }
        ["write", name, file] => Ok(std::fs::write(file, frames::write(&find(name)?))?),
        ["draw", name, count, png] => {
            let (frame, png) = (find(name)?, Path::new(png));
            let count = count.parse().map_err(|_| Error::from(USAGE))?;
            let directory = png.parent().filter(|parent| !parent.as_os_str().is_empty());
            let directory = directory.unwrap_or(Path::new("."));
            frames::player::draw(&Harness::new()?, &frame, count, directory)?.save_png(png)?;
            Ok(())
        }
        _ => Err(USAGE.into()),
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("frames: {error}");
            ExitCode::FAILURE
        }
    }
}

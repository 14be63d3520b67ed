//! The first hour of a board that is other than assumed, with the installed programs: the probe finds out what the chip is like, and
//! the driver that is told so draws what it draws on the chip that was expected.

use std::path::Path;
use std::process::{Command, Output};

use crate::{Error, package};

/// Facts about the board, to which the driver answers, as the probe writes them, and numbers.
const BOARD: &str = include_str!("../../tests/rehearsal/board.toml");
/// Files in the root.
const BOARD_FILE: &str = "board.toml";
const FOUND_FILE: &str = "found.toml";
const REPORT_FILE: &str = "report.html";
/// Colours differ by more than rounding.
const CLEARLY: u8 = 32;

/// Variables of a program.
type Variables<'a> = &'a [(&'a str, &'a str)];

/// Draws a picture on a device that people call so, with these variables.
type Draw<'a> = dyn Fn(&str, Variables<'_>) -> Result<Vec<u8>, Error> + 'a;

/// A directory with the packages installed.
pub struct Place<'a> {
    /// The directory.
    pub root: &'a Path,
    /// The picture on the chip that is expected.
    pub expected: &'a [u8],
    /// A program of it.
    pub program: &'a dyn Fn(&str, Variables<'_>) -> Result<Command, Error>,
    /// Draws the picture on a device.
    pub draw: &'a Draw<'a>,
}

/// Rehearses it.
pub fn rehearse(place: &Place<'_>) -> Result<(), Error> {
    let at = |name: &str| place.root.join(name);
    std::fs::write(at(BOARD_FILE), BOARD)?;
    let (shim, board) = (format!("/{}", package::PRELOADED), format!("/{BOARD_FILE}"));
    let node = [("VC4VK_DEVICE", "drm"), ("LD_PRELOAD", &shim[..]), ("VC4SIM_FACTS", &board[..])];

    let found = format!("/{FOUND_FILE}");
    let output = (place.program)("vc4", &node)?.args(["probe", "--facts-out", &found]).output()?;
    let text = std::fs::read_to_string(at(FOUND_FILE)).unwrap_or_default();
    let facts = || BOARD.lines().filter(|line| line.ends_with('"'));
    let missed: Vec<_> = facts().filter(|fact| !text.lines().any(|line| line == *fact)).collect();
    let changed = format!("{} otherwise than assumed", facts().count());
    if !said(&output).contains(&changed) || !missed.is_empty() {
        return Err(format!("vc4 probe missed {missed:?}:\n{}", said(&output)).into());
    }
    let report = format!("/{REPORT_FILE}");
    let output = (place.program)("vc4", &node)?.args(["doctor", "--report", &report]).output()?;
    let page = std::fs::read_to_string(at(REPORT_FILE)).unwrap_or_default();
    if !page.contains(&changed) {
        return Err(format!("the report holds no answers:\n{}", said(&output)).into());
    }
    let told = [&node[..], &[("VC4VK_FACTS", &found)]].concat();
    let (seen, expected) =
        ((place.draw)("a node of another chip, told what was found", &told)?, place.expected);
    let other = seen.iter().zip(expected).filter(|(a, b)| a.abs_diff(**b) > CLEARLY).count();
    if seen.len() != expected.len() || other * 100 > seen.len() {
        return Err(format!(
            "{other} of {} colours are others than on the chip that was expected",
            seen.len()
        )
        .into());
    }
    for file in [BOARD_FILE, FOUND_FILE, REPORT_FILE] {
        std::fs::remove_file(at(file))?;
    }
    println!("rehearsed: ten facts found, and drawn by");
    Ok(())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

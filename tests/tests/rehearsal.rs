//! The first hour of a board that is other than assumed, on the preload library: the probe finds out what it is like, and the driver,
//! told by the file that the probe wrote, draws there what it draws on the machine that was expected.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::path::{Path, PathBuf};
use std::process::Command;

use vc4::facts::Number;
use vc4_tests::{driver, scenes, scratch};

/// Facts about the board, and numbers.
const BOARD: &str = include_str!("../rehearsal/board.toml");

/// The scenes through the board's node.
fn draw(name: &str, board: &Path, told: Option<&Path>) -> PathBuf {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), name);
    let mut command = driver::command(env!("CARGO_BIN_EXE_scenes"), &driver::ours());
    command.arg(&directory).env("VC4VK_DEVICE", "drm").env("LD_PRELOAD", driver::drm_shim());
    command.env("VC4SIM_FACTS", board).envs(told.map(|path| ("VC4VK_FACTS", path)));
    driver::run(&mut command, name);
    directory
}

/// The scenes that are not as lavapipe draws them.
fn wrong(ours: &Path, reference: &Path) -> Vec<String> {
    let names = scenes::all().into_iter().map(|scene| scene.name);
    names.filter(|name| !scenes::compare(name, ours, reference).expect("two pictures").acceptable()).collect()
}

#[test]
fn a_board_that_is_other_than_assumed_ends_with_a_driver_that_draws_right() {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "rehearsal");
    let (board, found) = (directory.join("board.toml"), directory.join("pi.toml"));
    std::fs::write(&board, BOARD).expect("a file");
    let output = Command::new(driver::tool())
        .args(["probe", "--numbers", "--facts-out", found.to_str().expect("a plain name")])
        .env("VC4VK_DEVICE", "drm")
        .env("LD_PRELOAD", driver::drm_shim())
        .env("VC4SIM_FACTS", &board)
        .output()
        .expect("vc4 starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("10 otherwise than assumed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let read =
        |path: &Path| vc4::facts::read_all(&std::fs::read_to_string(path).expect("a file")).expect("facts");
    let ((facts, numbers), (other, others)) = (read(&found), read(&board));
    assert_eq!(facts, other);
    for (number, value) in Number::ALL.iter().filter_map(|number| Some((*number, others.measured(*number)?)))
    {
        let seen = numbers.measured(number);
        assert!(
            seen.is_some_and(|seen| (seen / value - 1.0).abs() < 0.05),
            "{number:?}: {seen:?}, is {value}"
        );
    }

    let reference = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "rehearsal-lavapipe");
    let mut command = driver::command(env!("CARGO_BIN_EXE_scenes"), &driver::lavapipe());
    driver::run(command.arg(&reference), "scenes");
    let told = draw("rehearsal-told", &board, Some(&found));
    assert_eq!(wrong(&told, &reference), [""; 0], "{}", told.display());
    let guesses = draw("rehearsal-untold", &board, None);
    assert!(wrong(&guesses, &reference).len() > 10, "{}", guesses.display());
}

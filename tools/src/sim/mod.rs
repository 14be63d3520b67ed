//! `vc4 sim`: the simulated GPU from the outside, one subcommand per file.

mod capture;
mod different;
mod load;
mod pictures;
mod pixel;
mod price;
mod replay;
mod report;
mod serve;
mod unverified;

use crate::output::{Error, Status};

#[derive(clap::Args)]
pub struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Run a program and write all its submissions to a file
    Capture(capture::Options),
    /// Estimate what the submissions of a capture would take the silicon
    Price(price::Options),
    /// Run the submissions of a capture again, without the program
    Replay(replay::Options),
    /// Make one HTML page that shows what every submission of a capture did
    Report(report::Options),
    /// Serve the device to processes that have the preload library
    Serve(serve::Options),
    /// List what the simulator assumes about the silicon and no board has confirmed
    Unverified(unverified::Options),
}

pub fn run(options: &Options) -> Result<Status, Error> {
    match &options.command {
        Command::Capture(options) => capture::run(options),
        Command::Price(options) => price::run(options),
        Command::Replay(options) => replay::run(options),
        Command::Report(options) => report::run(options),
        Command::Serve(options) => serve::run(options),
        Command::Unverified(options) => unverified::run(options),
    }
}

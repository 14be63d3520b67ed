//! `vc4 sim`: the simulated GPU from the outside, one subcommand per file.

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
    /// Serve the device to processes that have the preload library
    Serve(serve::Options),
    /// List what the simulator assumes about the silicon and no board has confirmed
    Unverified(unverified::Options),
}

pub fn run(options: &Options) -> Result<Status, Error> {
    match &options.command {
        Command::Serve(options) => serve::run(options),
        Command::Unverified(options) => unverified::run(options),
    }
}

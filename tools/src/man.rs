//! `vc4 man`: for packagers.

use std::path::PathBuf;

use crate::output::{Error, Status};

#[derive(clap::Args)]
pub struct Options {
    /// Where the pages go: `vc4.1`, and one for each subcommand
    directory: PathBuf,
}

/// Writes the pages of `command`.
pub fn run(options: &Options, command: clap::Command) -> Result<Status, Error> {
    let write = |error| Error::Write { path: options.directory.clone(), error };
    std::fs::create_dir_all(&options.directory).map_err(write)?;
    clap_mangen::generate_to(command, &options.directory).map_err(write)?;
    Ok(Status::Success)
}

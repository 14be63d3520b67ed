//! `vc4 completions`

use crate::output::{self, Error, Status};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  vc4 completions bash > /etc/bash_completion.d/vc4
  vc4 completions fish > ~/.config/fish/completions/vc4.fish";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The shell
    shell: Shell,
}

/// Completes the words of `command`.
pub fn run(options: &Options, mut command: clap::Command) -> Result<Status, Error> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, "vc4", &mut script);
    output::write(None, &script)?;
    Ok(Status::Success)
}

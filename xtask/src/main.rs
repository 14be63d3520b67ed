//! Chores on a bare machine: `cargo xtask vkcube`, `clients`, `test`, `bench`, `strangers`, `imports`, `package`, `docs`.
//!
//! One file or folder per chore. `test` has `cts`, `gles2` (both by `deqp`) and `mesa` for what tests of others need, `oldest` for the compiler of Debian 13, `sanitize` for tests under a sanitizer, `installed` for packages in use, `cross` for other machines and `guest` for the driver there,
//! `bench` has `draws` and `host` (whose instructions `counter` counts) and `compute`. Below all of them: `packages` and `display` (what the machine must have), `debian` (packages for other machines), `python` (those of Python), `build` (cargo, and where
//! the driver lies), `pictures`, `error`. `clients` has `compared` for programs whose pictures are compared. `strangers` is a folder, which begins with its own page.

mod bench;
mod build;
mod clients;
mod compared;
mod compute;
mod counter;
mod cross;
mod cts;
mod debian;
mod deqp;
mod display;
mod docs;
mod draws;
mod error;
mod frames;
mod gles2;
mod guest;
mod host;
mod imports;
mod installed;
mod mesa;
mod oldest;
mod package;
mod packages;
mod pictures;
mod programs;
mod python;
mod rehearsal;
mod sanitize;
mod strangers;
mod test;
mod vkcube;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use error::Error;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of vulkan-vc4")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
    /// Install nothing: refuse and list the Debian packages that are missing.
    #[arg(long, global = true)]
    no_install: bool,
}

#[derive(Subcommand)]
enum Chore {
    /// Run Debian's unmodified vkcube on the driver.
    Vkcube(vkcube::Options),
    /// Run programs of others on the driver, on a private display.
    Clients(clients::Options),
    /// Check that imports between modules run one way.
    Imports(imports::Options),
    /// Build the book: its figures, links and pages.
    Docs(docs::Options),
    /// Make Debian packages of the driver and the tools.
    Package(package::Options),
    /// Run all tests.
    Test(Box<test::Options>),
    /// Measure and print; asserts nothing.
    Bench(bench::Options),
    /// Compile shaders of other people and print refusals, sizes, outliers and changes.
    Strangers(strangers::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let install = !arguments.no_install;
    let result: Result<(), Error> = match arguments.chore {
        Chore::Vkcube(options) => vkcube::run(&options, install),
        Chore::Clients(options) => clients::run(&options, install),
        Chore::Imports(options) => imports::run(&options),
        Chore::Docs(options) => docs::run(&options),
        Chore::Package(options) => package::run(&options, install),
        Chore::Test(options) => test::run(&options, install),
        Chore::Bench(options) => bench::run(&options, install),
        Chore::Strangers(options) => strangers::run(&options, install),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}

//! What cases end in, saved one after the other: the command line of the programs in `bin/`. Imports [`crate::vulkan`].

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use crate::vulkan::{Error, Harness};

/// A directory, and the device whose results go there.
pub struct Album {
    harness: Harness,
    directory: PathBuf,
    names: Vec<String>,
}

impl Album {
    /// Reads the arguments `OUT_DIR [NAME...]` and opens the device that the loader finds.
    ///
    /// # Errors
    /// What the program ends with; why is said on the error output.
    pub fn open(program: &str, mut arguments: impl Iterator<Item = String>) -> Result<Album, ExitCode> {
        let Some(directory) = arguments.next().map(PathBuf::from) else {
            eprintln!("usage: {program} OUT_DIR [NAME...]");
            return Err(ExitCode::from(2));
        };
        let harness = Harness::new().map_err(|error| {
            eprintln!("{program}: {error}");
            ExitCode::FAILURE
        })?;
        println!("device: {}", harness.device_name());
        Ok(Album { harness, directory, names: arguments.collect() })
    }

    /// The device's name.
    pub fn device_name(&self) -> String {
        self.harness.device_name()
    }

    /// Whether the case was asked for by its name.
    pub fn names(&self, name: &str) -> bool {
        self.names.iter().any(|wanted| wanted == name)
    }

    /// Whether the case was asked for: all are, unless some were named.
    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names(name)
    }

    /// Saves what a case that is wanted ends in: `save` writes to the directory. `false` if it failed, which is said on
    /// the error output.
    pub fn add(&self, name: &str, save: impl FnOnce(&Harness, &Path) -> Result<(), Error>) -> bool {
        if !self.wants(name) {
            return true;
        }
        let start = Instant::now();
        let saved = save(&self.harness, &self.directory);
        match &saved {
            Ok(()) => println!("{name}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3),
            Err(error) => eprintln!("{name}: {error}"),
        }
        saved.is_ok()
    }
}

//! Imports run one way: inside each crate no file imports one that leads back to it, nor does a folder.

mod graph;
mod resolve;
mod source;

use std::path::{Path, PathBuf};

use graph::{Circle, Level};
use source::Source;

use crate::Error;
use crate::build::workspace;

#[derive(clap::Args)]
pub struct Options {
    /// Print the rooms of every folder from the top floor down; each imports only what stands below it.
    #[arg(long)]
    floors: bool,
    /// Look at this crate only: its directory, such as `icd` or `sim/drm-shim`; `.` is the core.
    #[arg(value_name = "CRATE")]
    only: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace();
    let mut crates = Vec::new();
    find(root, &mut crates)?;
    crates.sort();
    if let Some(only) = &options.only {
        let only = root.join(only).components().collect::<PathBuf>();
        crates.retain(|directory| *directory == only);
        if crates.is_empty() {
            return Err(format!("{} is no crate of this workspace", only.display()).into());
        }
    }
    let mut circles = 0;
    for directory in crates {
        for file in roots(&directory)? {
            circles += check(&file, root, options.floors)?;
        }
    }
    match circles {
        0 => Ok(()),
        _ => Err(format!("{circles} circles; move what both sides need below them").into()),
    }
}

/// Directories with a manifest and sources below `directory`.
fn find(directory: &Path, crates: &mut Vec<PathBuf>) -> Result<(), Error> {
    if directory.join("Cargo.toml").is_file() && directory.join("src").is_dir() {
        crates.push(directory.to_path_buf());
    }
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        if entry.file_type()?.is_dir() && !hidden && name != "target" && name != "src" {
            find(&entry.path(), crates)?;
        }
    }
    Ok(())
}

/// The root files of a crate's library and programs.
fn roots(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let source = directory.join("src");
    let mut roots: Vec<PathBuf> = ["lib.rs", "main.rs"].iter().map(|name| source.join(name)).collect();
    if let Ok(programs) = std::fs::read_dir(source.join("bin")) {
        for program in programs {
            roots.push(program?.path());
        }
    }
    roots.retain(|root| root.is_file());
    Ok(roots)
}

/// Looks at one library or program; returns how many circles it has.
fn check(root: &Path, workspace: &Path, floors: bool) -> Result<usize, Error> {
    let mut source = Source::read(root)?;
    for file in &mut source.files {
        file.path = file.path.strip_prefix(workspace).unwrap_or(&file.path).to_path_buf();
    }
    let imports = graph::imports(&source);
    let levels = graph::levels(&source, &imports);
    let circles: Vec<(&Level, Circle)> = levels
        .iter()
        .flat_map(|level| level.circles().into_iter().map(move |circle| (level, circle)))
        .collect();
    let name = source.files[0].path.display();
    if source.files.len() == 1 {
        return Ok(0);
    }
    println!("{name}: {} files, {} imports, {} circles", source.files.len(), imports.len(), circles.len());
    for (level, circle) in &circles {
        describe(&source, level, circle);
    }
    if floors {
        levels.iter().for_each(print_floors);
    }
    Ok(circles.len())
}

fn describe(source: &Source, level: &Level, circle: &Circle) {
    match level.folder.as_deref() {
        None => println!("  {} files import each other: {}", circle.members.len(), circle.members.join(", ")),
        Some("") => println!("  rooms import each other: {}", circle.members.join(", ")),
        Some(folder) => println!("  rooms of {folder}/ import each other: {}", circle.members.join(", ")),
    }
    for import in &circle.climbing {
        let (from, to) = (&source.files[import.from].path, &source.files[import.to].path);
        println!("    {}:{} takes {} from {}", from.display(), import.line, import.name, to.display());
    }
}

fn print_floors(level: &Level) {
    let (Some(folder), Some(floors)) = (&level.folder, level.floors()) else { return };
    println!("  {}", if folder.is_empty() { "/" } else { folder });
    for rooms in floors {
        println!("    {}", rooms.join("  "));
    }
}

#[cfg(test)]
mod tests;

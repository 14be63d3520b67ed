//! The licences of everything that is linked in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::deb;
use crate::{Error, build};

/// Debian has this text on every machine.
const COMMON: (&str, &str) = ("Apache License", "/usr/share/common-licenses/Apache-2.0");

/// A crate that is linked in.
struct Crate {
    name: String,
    version: String,
    licence: String,
    repository: String,
    /// Part of this workspace.
    ours: bool,
}

/// The copyright file of a package that links `package` for `triple`.
pub fn text(package: &[&str], triple: &str) -> Result<String, Error> {
    let mut arguments = vec!["--edges", "normal", "--target", triple];
    arguments.extend(package.iter().flat_map(|name| ["--package", name]));
    let sources = Sources::find()?;
    let mut text = String::from(
        "vulkan-vc4 is free software under the MIT licence or the Apache License 2.0, at your choice.\n\n",
    );
    text += &std::fs::read_to_string(build::workspace().join("LICENSE-MIT"))?;
    text += &format!("\nThe Apache License 2.0 is in {}.\n\n", COMMON.1);
    text += "The programs contain these crates, and the standard library of Rust (MIT OR Apache-2.0,\n\
        Copyright The Rust Project Developers):\n\n";
    // Texts that differ in nothing but who holds the rights stand once.
    let mut texts: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    for one in crates(&arguments)?.iter().filter(|one| !one.ours) {
        let label = format!("{} {}", one.name, one.version);
        text += &format!("{label}: {}\n  {}\n", one.licence, one.repository);
        let mut holders = BTreeSet::new();
        for licence in sources.licences(one)? {
            let (own, body): (Vec<&str>, Vec<&str>) = licence.lines().partition(|line| {
                line.trim_start().starts_with("Copyright (") || line.starts_with("Copyright ")
            });
            // The Apache License ends with a form to fill in.
            let own = own.iter().filter(|line| !line.contains("[yyyy]"));
            holders.extend(own.map(|line| line.trim().to_owned()));
            let key = body.iter().flat_map(|line| line.split_whitespace()).collect::<Vec<_>>().join(" ");
            if !key.starts_with(COMMON.0) || key.contains("LLVM Exceptions") {
                let body = body.join("\n").trim().to_owned();
                texts.entry(key).or_insert_with(|| (body, BTreeSet::new())).1.insert(label.clone());
            }
        }
        for holder in holders {
            text += &format!("  {holder}\n");
        }
    }
    for (body, crates) in texts.values() {
        let crates: Vec<&str> = crates.iter().map(String::as_str).collect();
        text += &format!("\n----------------------------------------\n{}\n\n{body}\n", crates.join(", "));
    }
    Ok(text)
}

/// What cargo says is in the tree of dependencies.
fn crates(arguments: &[&str]) -> Result<Vec<Crate>, Error> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut tree = Command::new(program);
    tree.args(["tree", "--locked", "--quiet", "--prefix", "none", "--no-dedupe", "--format", "{p}|{l}|{r}"])
        .args(arguments);
    let lines = deb::text(tree.current_dir(build::workspace()))?;
    let lines: BTreeSet<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
    lines
        .into_iter()
        .map(|line| parse(line).ok_or_else(|| format!("cargo tree says {line:?}").into()))
        .collect()
}

/// A line of `cargo tree`: "NAME vVERSION (PATH or kind)|LICENCE|REPOSITORY".
fn parse(line: &str) -> Option<Crate> {
    let mut fields = line.split('|');
    let mut words = fields.next()?.split_whitespace();
    let (name, version) = (words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned());
    let place = words.find(|word| *word != "(proc-macro)").unwrap_or_default();
    Some(Crate {
        name,
        version,
        licence: fields.next()?.to_owned(),
        repository: fields.next()?.to_owned(),
        ours: place.starts_with("(/"),
    })
}

/// Where cargo keeps the sources of crates.
struct Sources(Vec<PathBuf>);

impl Sources {
    fn find() -> Result<Sources, Error> {
        let registries = build::cargo_home()?.join("registry/src");
        let entries = std::fs::read_dir(registries)?;
        Ok(Sources(entries.map(|entry| Ok(entry?.path())).collect::<Result<_, Error>>()?))
    }

    /// The licence files of a crate, in the order of their names.
    fn licences(&self, one: &Crate) -> Result<Vec<String>, Error> {
        let name = format!("{}-{}", one.name, one.version);
        let Some(directory) = self.0.iter().map(|registry| registry.join(&name)).find(|place| place.is_dir())
        else {
            return Err(format!("the sources of {name} are not where cargo keeps them").into());
        };
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_file() && is_licence(&path) {
                files.push(path);
            }
        }
        files.sort();
        files.iter().map(|file| Ok(String::from_utf8_lossy(&std::fs::read(file)?).into_owned())).collect()
    }
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
    ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_tree_say_whose_a_crate_is() {
        let ours = parse("vc4 v0.1.0 (/somewhere)|MIT OR Apache-2.0|https://example.org").expect("a crate");
        assert!(ours.ours);
        let macros = parse("thiserror-impl v2.0.1 (proc-macro)|MIT|").expect("a crate");
        assert!(!macros.ours && macros.version == "2.0.1" && macros.licence == "MIT");
        let git = parse("x v1.0.0 (https://example.org/x#1234)|MIT|").expect("a crate");
        assert!(!git.ours);
    }
}

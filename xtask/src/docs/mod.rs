//! The book: its figures, its links, and its pages as HTML.
//!
//! The sources are those of mdBook (`docs/book.toml`). mdBook itself would be a build of minutes and a newer compiler;
//! what the book needs of it - a list of chapters, files that are included - is little. `book` reads the pages, `figure` draws,
//! `links` looks where links lead and `commits` whether the history holds what pages name, `html` writes.

mod book;
mod commits;
mod figure;
mod html;
mod links;

use std::path::{Path, PathBuf};

use book::Book;

use crate::Error;
use crate::build;

#[derive(clap::Args)]
pub struct Options {
    /// Write nothing: fail if a link leads nowhere or a figure is not that of its source.
    #[arg(long)]
    check: bool,
    /// Where the pages go: `target/book` by default.
    #[arg(long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
}

/// Draws the figures, checks the links and writes the pages.
pub fn run(options: &Options) -> Result<(), Error> {
    let sources = build::workspace().join("docs/book");
    figures(&sources.join("figures"), options.check)?;
    let book = Book::read(&sources)?;
    let faults = [links::faults(&book, &documents()?), commits::faults(&book)].concat();
    if !faults.is_empty() {
        return Err(format!("links and commits:\n  {}", faults.join("\n  ")).into());
    }
    if options.check {
        println!("{} pages: all links lead somewhere", book.pages.len());
        return Ok(());
    }
    let output = match &options.output {
        Some(output) => output.clone(),
        None => build::target_directory()?.join("book"),
    };
    html::write(&book, &output)?;
    println!("{}", output.join("index.html").display());
    Ok(())
}

/// Pages outside of the book whose links are looked at, too.
fn documents() -> Result<Vec<PathBuf>, Error> {
    let mut documents = Vec::new();
    for directory in [
        "",
        "docs",
        "icd",
        "tools",
        "shaders/containers",
        "tests/cts",
        "tests/gles2",
        "tests/mesa",
        "tests/vectors",
    ] {
        for entry in std::fs::read_dir(build::workspace().join(directory))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    documents.sort();
    Ok(documents)
}

/// Draws every figure beside its source, or sees whether that was done.
fn figures(directory: &Path, check: bool) -> Result<(), Error> {
    for entry in std::fs::read_dir(directory)? {
        let source = entry?.path();
        if source.extension().is_none_or(|extension| extension != "fig") {
            continue;
        }
        let picture = figure::svg(&std::fs::read_to_string(&source)?);
        let picture = picture.map_err(|error| format!("{}: {error}", source.display()))?;
        let file = source.with_extension("svg");
        if std::fs::read_to_string(&file).is_ok_and(|old| old == picture) {
            continue;
        }
        if check {
            return Err(
                format!("{} is not the figure of its source: cargo xtask docs", file.display()).into()
            );
        }
        std::fs::write(file, picture)?;
    }
    Ok(())
}

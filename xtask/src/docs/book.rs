//! The pages of a book in mdBook's form.

use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::Error;

/// A book.
pub struct Book {
    /// In reading order.
    pub pages: Vec<Page>,
}

/// A page.
pub struct Page {
    /// The part of the book that begins here.
    pub part: Option<String>,
    /// As the list of chapters names it.
    pub title: String,
    /// Its file, below the sources.
    pub path: PathBuf,
    /// Its text, by the files that it comes from.
    pub texts: Vec<Text>,
}

/// Markdown with the file that its links are relative to.
pub struct Text {
    pub file: PathBuf,
    pub markdown: String,
}

impl Book {
    /// Reads all pages that the list of chapters names.
    pub fn read(sources: &Path) -> Result<Book, Error> {
        let summary = std::fs::read_to_string(sources.join("SUMMARY.md"))?;
        let mut pages = Vec::new();
        for (part, title, path) in chapters(&summary) {
            let texts = texts(&sources.join(&path))?;
            pages.push(Page { part, title, path: path.into(), texts });
        }
        Ok(Book { pages })
    }
}

/// Part, title and file of each chapter.
fn chapters(summary: &str) -> Vec<(Option<String>, String, String)> {
    let mut chapters = Vec::new();
    let (mut part, mut heading, mut link) = (None, None, None::<(String, String)>);
    for event in Parser::new(summary) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => part = heading.take(),
            Event::Start(Tag::Link { dest_url, .. }) => link = Some((String::new(), dest_url.into_string())),
            Event::End(TagEnd::Link) => {
                if let Some((title, path)) = link.take() {
                    chapters.push((part.take(), title, path));
                }
            }
            Event::Text(text) => {
                if let Some((title, _)) = &mut link {
                    title.push_str(&text);
                } else if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    // The list's own title is no part.
    if let Some(first) = chapters.first_mut() {
        first.0 = None;
    }
    chapters
}

/// The text of a file, and those of the files that it includes.
fn texts(file: &Path) -> Result<Vec<Text>, Error> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut texts = Vec::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("{{#include ") {
        let (name, behind) =
            after.split_once("}}").ok_or_else(|| format!("{}: an include has no end", file.display()))?;
        texts.push(Text { file: file.to_path_buf(), markdown: before.to_owned() });
        let (name, anchor) =
            name.trim().split_once(':').map_or((name.trim(), None), |(name, anchor)| (name, Some(anchor)));
        let included = file.parent().unwrap_or(file).join(name);
        let whole =
            std::fs::read_to_string(&included).map_err(|error| format!("{}: {error}", included.display()))?;
        let markdown = match anchor {
            None => whole,
            Some(anchor) => section(&whole, anchor)
                .ok_or_else(|| format!("{} has no anchor {anchor}", included.display()))?,
        };
        texts.push(Text { file: included, markdown });
        rest = behind;
    }
    texts.push(Text { file: file.to_path_buf(), markdown: rest.to_owned() });
    Ok(texts)
}

/// What stands between the lines with an anchor and its end.
fn section(text: &str, anchor: &str) -> Option<String> {
    let (_, behind) = text.split_once(&format!("ANCHOR: {anchor}"))?;
    let (inside, _) = behind.split_once(&format!("ANCHOR_END: {anchor}"))?;
    let (_, inside) = inside.split_once('\n')?;
    let (inside, _) = inside.rsplit_once('\n')?;
    Some(inside.to_owned())
}

/// The parser that all pages are read with.
pub fn parser(markdown: &str) -> Parser<'_> {
    Parser::new_ext(markdown, Options::ENABLE_TABLES)
}

/// The names by which links find a page's headings.
pub fn anchors(markdown: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut heading = None::<String>;
    for event in parser(markdown) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let name = slug(&heading.take().unwrap_or_default());
                let same = anchors.iter().filter(|other| **other == name).count();
                anchors.push(if same == 0 { name } else { format!("{name}-{same}") });
            }
            _ => {}
        }
    }
    anchors
}

/// A heading as part of an address.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chapters_have_parts() {
        let summary =
            "# Summary\n\n[First](first.md)\n\n# Part\n\n- [Second](a/second.md)\n- [Third](a/third.md)\n";
        let chapter = |part: Option<&str>, title: &str, path: &str| {
            (part.map(str::to_owned), title.to_owned(), path.to_owned())
        };
        assert_eq!(
            chapters(summary),
            [
                chapter(None, "First", "first.md"),
                chapter(Some("Part"), "Second", "a/second.md"),
                chapter(None, "Third", "a/third.md")
            ]
        );
    }

    #[test]
    fn headings_are_found_by_their_words() {
        assert_eq!(
            anchors("# What *it* is\n\n## `vc4 sim`: seeing\n\n## What it is\n"),
            ["what-it-is", "vc4-sim-seeing", "what-it-is-1"]
        );
    }

    #[test]
    fn sections_stand_between_anchors() {
        let text = "a\n<!-- ANCHOR: x -->\nb\nc\n<!-- ANCHOR_END: x -->\nd\n";
        assert_eq!(section(text, "x"), Some("b\nc".to_owned()));
        assert_eq!(section(text, "y"), None);
    }
}

//! Where links lead.

use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Tag};

use super::book::{Book, anchors, parser};

/// Links of the book and of other pages that lead to no file, or to no heading of it.
pub fn faults(book: &Book, documents: &[PathBuf]) -> Vec<String> {
    let mut faults = Vec::new();
    for page in &book.pages {
        for text in &page.texts {
            look(&text.file, &text.markdown, &mut faults);
        }
    }
    for document in documents {
        match std::fs::read_to_string(document) {
            Ok(text) => look(document, &text, &mut faults),
            Err(error) => faults.push(format!("{}: {error}", document.display())),
        }
    }
    faults.sort();
    faults.dedup();
    faults
}

fn look(file: &Path, markdown: &str, faults: &mut Vec<String>) {
    for event in parser(markdown) {
        let (Event::Start(Tag::Link { dest_url, .. }) | Event::Start(Tag::Image { dest_url, .. })) = event
        else {
            continue;
        };
        if is_outside(&dest_url) {
            continue;
        }
        let (path, anchor) =
            dest_url.split_once('#').map_or((&*dest_url, None), |(path, anchor)| (path, Some(anchor)));
        let target = if path.is_empty() { file.to_path_buf() } else { resolve(file, path) };
        if !target.exists() {
            faults.push(format!("{}: {dest_url} leads to no file", file.display()));
        } else if let Some(anchor) = anchor {
            let found = std::fs::read_to_string(&target)
                .is_ok_and(|text| anchors(&text).iter().any(|name| name == anchor));
            if !found {
                faults.push(format!("{}: {dest_url} leads to no heading", file.display()));
            }
        }
    }
}

/// Whether an address is of another site.
pub fn is_outside(address: &str) -> bool {
    address.contains("://") || address.starts_with("mailto:")
}

/// A link's file, from the file that it stands in.
pub fn resolve(file: &Path, link: &str) -> PathBuf {
    let mut target = PathBuf::new();
    for part in file.parent().unwrap_or(file).join(link).components() {
        if part == Component::ParentDir {
            target.pop();
        } else if part != Component::CurDir {
            target.push(part);
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_to_their_file() {
        assert_eq!(resolve(Path::new("/a/b/c.md"), "../d.md"), Path::new("/a/d.md"));
        assert_eq!(resolve(Path::new("/a/b/c.md"), "./e/f.md"), Path::new("/a/b/e/f.md"));
        assert!(is_outside("https://example.org") && !is_outside("a.md#b"));
    }

    #[test]
    fn a_link_to_nothing_is_a_fault() {
        let mut faults = Vec::new();
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
        look(
            &here,
            "[a](Cargo.toml) [b](none.md) [c](https://example.org) [d](../README.md#no-such-heading)",
            &mut faults,
        );
        assert_eq!(faults.len(), 2, "{faults:?}");
    }
}

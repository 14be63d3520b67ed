//! Pages as HTML, with the list of chapters at the left.

use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{CowStr, Event, Tag};

use super::book::{Book, Page, anchors, parser};
use super::links::{is_outside, resolve};
use crate::Error;
use crate::build;

const STYLE: &str = include_str!("style.css");
/// Where files of the repository are that are no pages.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// Writes all pages, and what they show, into a directory.
pub fn write(book: &Book, output: &Path) -> Result<(), Error> {
    let _ = std::fs::remove_dir_all(output);
    std::fs::create_dir_all(output)?;
    std::fs::write(output.join("style.css"), STYLE)?;
    for page in &book.pages {
        let file = output.join(&page.path).with_extension("html");
        std::fs::create_dir_all(file.parent().ok_or("a page has no directory")?)?;
        std::fs::write(file, render(book, page, output)?)?;
    }
    if let Some(first) = book.pages.first() {
        let first = first.path.with_extension("html");
        let first = first.display();
        let text = format!(
            "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={first}\"><a href=\"{first}\">vulkan-vc4</a>\n"
        );
        std::fs::write(output.join("index.html"), text)?;
    }
    Ok(())
}

fn render(book: &Book, page: &Page, output: &Path) -> Result<String, Error> {
    let up = "../".repeat(page.path.components().count() - 1);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{} - vulkan-vc4</title><link rel=\"stylesheet\" href=\"{up}style.css\"></head>\n<body><nav>",
        page.title
    );
    for other in &book.pages {
        if let Some(part) = &other.part {
            html += &format!("<h2>{part}</h2>");
        }
        let here = if other.path == page.path { " class=\"here\"" } else { "" };
        html += &format!(
            "<a{here} href=\"{up}{}\">{}</a>\n",
            other.path.with_extension("html").display(),
            other.title
        );
    }
    html += "</nav>\n<main>\n";
    for text in &page.texts {
        let mut names = anchors(&text.markdown).into_iter();
        let mut events = Vec::new();
        for event in parser(&text.markdown) {
            events.push(match event {
                Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                    let id = names.next().map(CowStr::from);
                    Event::Start(Tag::Heading { level, id, classes, attrs })
                }
                Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                    let dest_url = address(book, &text.file, &dest_url, &up).into();
                    Event::Start(Tag::Link { link_type, dest_url, title, id })
                }
                Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                    let dest_url = picture(&text.file, &dest_url, output, &up)?.into();
                    Event::Start(Tag::Image { link_type, dest_url, title, id })
                }
                other => other,
            });
        }
        pulldown_cmark::html::push_html(&mut html, events.into_iter());
    }
    Ok(html + "</main></body></html>\n")
}

/// A link as it stands in the written page.
fn address(book: &Book, file: &Path, link: &str, up: &str) -> String {
    if is_outside(link) || link.starts_with('#') {
        return link.to_owned();
    }
    let (path, anchor) =
        link.split_once('#').map_or((link, String::new()), |(path, anchor)| (path, format!("#{anchor}")));
    let target = resolve(file, path);
    // A file that a page includes is that page.
    let page = book.pages.iter().find(|page| page.texts.iter().any(|text| plain(&text.file) == target));
    match page {
        Some(page) => format!("{up}{}{anchor}", page.path.with_extension("html").display()),
        None => {
            let name = target.strip_prefix(build::workspace()).unwrap_or(&target);
            format!("{REPOSITORY}{}{anchor}", name.display())
        }
    }
}

/// Puts a picture beside the pages; returns its address there.
fn picture(file: &Path, link: &str, output: &Path, up: &str) -> Result<String, Error> {
    let source = resolve(file, link);
    let name = source.file_name().ok_or_else(|| format!("{link} is no file"))?;
    let place = output.join("pictures");
    std::fs::create_dir_all(&place)?;
    std::fs::copy(&source, place.join(name)).map_err(|error| format!("{}: {error}", source.display()))?;
    Ok(format!("{up}pictures/{}", name.to_string_lossy()))
}

/// A path without steps up.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

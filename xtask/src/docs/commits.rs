//! Commits that pages name.

use std::process::{Command, Stdio};

use pulldown_cmark::Event;

use super::book::{Book, parser};
use crate::build;

/// Commits in the book that the history does not hold. Where it is not whole nothing can be said.
pub fn faults(book: &Book) -> Vec<String> {
    let whole = git(&["rev-parse", "--is-shallow-repository"]).is_some_and(|said| said.trim() == "false");
    if !whole {
        return Vec::new();
    }
    let texts = book.pages.iter().flat_map(|page| &page.texts);
    let named = texts.flat_map(|text| named(&text.markdown).into_iter().map(move |name| (&text.file, name)));
    named
        .filter(|(_, name)| git(&["cat-file", "-e", &format!("{name}^{{commit}}")]).is_none())
        .map(|(file, name)| format!("{}: no commit is called {name}", file.display()))
        .collect()
}

/// Words in code that can be nothing else than short names of commits.
fn named(markdown: &str) -> Vec<String> {
    let short = |text: &str| {
        text.len() == 7
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && text.bytes().any(|byte| byte.is_ascii_digit())
            && text.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    parser(markdown)
        .filter_map(|event| match event {
            Event::Code(text) if short(&text) => Some(text.to_string()),
            _ => None,
        })
        .collect()
}

/// What git says, if it knows an answer.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).current_dir(build::workspace()).stderr(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_words_of_seven_digits() {
        assert_eq!(
            named("`91031a7`, `1234567`, 91031a7, `91031a`, `defaced`, `git show 91031a7`"),
            ["91031a7"]
        );
        assert!(git(&["cat-file", "-e", "0000000000000000000000000000000000000001^{commit}"]).is_none());
    }
}

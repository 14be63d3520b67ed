//! Errors and warnings of the assembler, drawn under the text that they are about.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::io::{IsTerminal, Write};
use vc4::qpu::Diagnostic;

/// Findings that are drawn; more would only scroll the first ones away.
const DRAWN: usize = 50;

/// Draws errors on standard error.
pub fn errors(name: &str, text: &str, diagnostics: &[Diagnostic]) {
    all(name, text, diagnostics, Level::ERROR);
}

/// Draws warnings on standard error.
pub fn warnings(name: &str, text: &str, diagnostics: &[Diagnostic]) {
    all(name, text, diagnostics, Level::WARNING);
}

fn all(name: &str, text: &str, diagnostics: &[Diagnostic], level: Level<'_>) {
    let stderr = std::io::stderr();
    let colours = stderr.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for diagnostic in diagnostics.iter().take(DRAWN) {
        out.push_str(&drawn(&renderer, name, text, diagnostic, &level));
        out.push('\n');
    }
    if diagnostics.len() > DRAWN {
        out.push_str(&format!("and {} more\n", diagnostics.len() - DRAWN));
    }
    // There is nobody left to tell if standard error fails.
    let _ = stderr.lock().write_all(out.as_bytes());
}

/// One finding with its line and, if there is one, the suggestion.
fn drawn(renderer: &Renderer, name: &str, text: &str, diagnostic: &Diagnostic, level: &Level<'_>) -> String {
    let start = text[..diagnostic.span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[diagnostic.span.end..].find('\n').map_or(text.len(), |at| diagnostic.span.end + at);
    let span = diagnostic.span.start - start..diagnostic.span.end - start;
    let snippet = Snippet::source(&text[start..end])
        .line_start(diagnostic.line)
        .path(name)
        .annotation(AnnotationKind::Primary.span(span));
    let title = level.clone().primary_title(&diagnostic.message).element(snippet);
    let help = diagnostic.suggestion.as_ref().map(|suggestion| format!("did you mean `{suggestion}`?"));
    let mut report = vec![title];
    if let Some(help) = &help {
        report.push(Group::with_title(Level::HELP.secondary_title(help)));
    }
    renderer.render(&report).to_string()
}

//! Errors while the text is read.

use super::assembled::Diagnostic;
use super::lexer::Span;

/// An error before its line and column are counted.
pub(super) struct Error {
    pub message: String,
    pub span: Span,
    pub suggestion: Option<String>,
}

impl Error {
    #[cold]
    pub fn new(span: Span, message: impl Into<String>) -> Box<Error> {
        Box::new(Error { message: message.into(), span, suggestion: None })
    }

    pub fn suggest(mut self: Box<Self>, suggestion: Option<String>) -> Box<Error> {
        self.suggestion = suggestion;
        self
    }
}

pub(super) type Result<T, E = Box<Error>> = std::result::Result<T, E>;

/// The errors in the order of the text, with lines and columns; one walk over the text.
pub(super) fn diagnostics(text: &str, mut errors: Vec<Error>) -> Vec<Diagnostic> {
    errors.sort_by_key(|error| error.span.start);
    let (mut at, mut line, mut column) = (0, 1, 1);
    let locate = |Error { message, span, suggestion }: Error| {
        for c in text[at..span.start].chars() {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        at = span.start;
        let token = text[span.start..span.end].to_string();
        Diagnostic { message, span: span.start..span.end, line, column, token, suggestion }
    };
    errors.into_iter().map(locate).collect()
}

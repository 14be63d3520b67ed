//! One line of assembler text as tokens, and the error that points at one.

use core::fmt::{self, Display, Formatter};

/// Why a text does not assemble, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsmError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The token at fault; empty at the end of a line.
    pub token: String,
    /// What was expected, or what is wrong with the token.
    pub message: String,
}

impl Display for AsmError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let token = if self.token.is_empty() { "end of line" } else { &self.token };
        write!(f, "{}:{}: `{token}`: {}", self.line, self.column, self.message)
    }
}

impl core::error::Error for AsmError {}

/// A token and its column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub text: &'a str,
    pub line: usize,
    pub column: usize,
}

impl Token<'_> {
    pub fn error(self, message: impl Into<String>) -> AsmError {
        let token = self.text.chars().take(40).collect();
        AsmError { line: self.line, column: self.column, token, message: message.into() }
    }
}

/// The tokens of a line that are still to be read.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    rest: &'a str,
    line: usize,
    column: usize,
}

impl<'a> Line<'a> {
    /// The line numbered `line` (from 1), without its comment.
    pub fn new(text: &'a str, line: usize) -> Line<'a> {
        let end = ["//", ";", "#"].iter().filter_map(|mark| text.find(mark)).min();
        Line { rest: &text[..end.unwrap_or(text.len())], line, column: 1 }
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest.trim_start();
        self.column += self.rest[..self.rest.len() - rest.len()].chars().count();
        self.rest = rest;
    }

    /// The next token; its text is empty at the end of the line.
    pub fn peek(&mut self) -> Token<'a> {
        self.skip_blanks();
        Token { text: &self.rest[..token_length(self.rest)], line: self.line, column: self.column }
    }

    /// Takes the next token.
    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.column += token.text.chars().count();
        self.rest = &self.rest[token.text.len()..];
        token
    }

    /// Takes the next token if it is `text`.
    pub fn accept(&mut self, text: &str) -> bool {
        let hit = self.peek().text == text;
        if hit {
            self.next();
        }
        hit
    }

    /// Takes `text` or fails.
    pub fn expect(&mut self, text: &str) -> Result<(), AsmError> {
        let token = self.next();
        if token.text == text { Ok(()) } else { Err(token.error(format!("`{text}` expected here"))) }
    }

    /// Takes a number, decimal or with `0x`.
    pub fn number(&mut self, what: &str) -> Result<(u32, Token<'a>), AsmError> {
        let token = self.next();
        match parse_number(token.text) {
            Some(value) => Ok((value, token)),
            None => Err(token.error(format!("{what} (a number) expected here"))),
        }
    }

    /// Takes a name.
    pub fn name(&mut self, what: &str) -> Result<Token<'a>, AsmError> {
        let token = self.next();
        let good = token.text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if good { Ok(token) } else { Err(token.error(format!("{what} expected here"))) }
    }

    /// Fails unless the line is used up.
    pub fn finish(&mut self) -> Result<(), AsmError> {
        let token = self.peek();
        if token.text.is_empty() { Ok(()) } else { Err(token.error("nothing more is expected on this line")) }
    }
}

fn token_length(text: &str) -> usize {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    match text.chars().next() {
        None => 0,
        Some(first) if is_word(first) => text.find(|letter| !is_word(letter)).unwrap_or(text.len()),
        Some(_) if text.starts_with("&&") || text.starts_with("||") => 2,
        Some(first) => first.len_utf8(),
    }
}

/// A decimal number or one with `0x`, at most 32 bits.
pub(super) fn parse_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // `from_str_radix` would take a sign.
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            u32::from_str_radix(digits, 16).ok()
        }
        None if text.starts_with(|c: char| c.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

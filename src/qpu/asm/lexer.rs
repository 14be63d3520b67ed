//! Assembler text to tokens, one at a time. Line ends mean nothing, `#` starts a comment up to the line's end,
//! `/*` one up to `*/`; invisible format characters that word processors leave behind count as blanks.

/// A piece of the text in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
}

impl Span {
    /// From the start of `self` to the end of `last`.
    pub fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Letters, digits and `_`: names, numbers without sign.
    Word,
    /// One of `; = ( ) , . + - : [ ]`.
    Mark(u8),
    /// A character that has no place in the syntax.
    Unknown,
    /// A block comment without end.
    OpenComment,
    /// Behind the last token.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// Its place.
    pub span: Span,
}

/// What a byte can begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Mark,
    LineComment,
    Slash,
    NotAscii,
    Unknown,
}

const CLASSES: [Class; 256] = {
    let mut table = [Class::Unknown; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        table[byte] = match c {
            b' ' | b'\t'..=b'\r' => Class::Blank,
            b'#' => Class::LineComment,
            b'/' => Class::Slash,
            b';' | b'=' | b'(' | b')' | b',' | b'.' | b'+' | b'-' | b':' | b'[' | b']' => Class::Mark,
            b'_' => Class::Word,
            0x80.. => Class::NotAscii,
            _ if c.is_ascii_alphanumeric() => Class::Word,
            _ => Class::Unknown,
        };
        byte += 1;
    }
    table
};

/// Format characters without a glyph: zero-width spaces and marks, direction overrides, byte-order mark.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// A place in the text.
#[derive(Clone, Copy)]
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    /// At the beginning of `text`.
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    /// The next token; at the end `End` for ever.
    #[inline]
    pub fn token(&mut self) -> Token {
        let bytes = self.text.as_bytes();
        loop {
            let start = self.at;
            let Some(&byte) = bytes.get(start) else {
                return Token { kind: Kind::End, span: Span { start, end: start } };
            };
            match CLASSES[usize::from(byte)] {
                Class::Blank => self.at += 1,
                Class::Word => {
                    let mut end = start + 1;
                    while bytes.get(end).is_some_and(|&b| CLASSES[usize::from(b)] == Class::Word) {
                        end += 1;
                    }
                    self.at = end;
                    return Token { kind: Kind::Word, span: Span { start, end } };
                }
                Class::Mark => {
                    self.at += 1;
                    return Token { kind: Kind::Mark(byte), span: Span { start, end: self.at } };
                }
                _ => {
                    if let Some(token) = self.rare(start, byte) {
                        return token;
                    }
                }
            }
        }
    }

    /// Comments, and what is no ASCII or has no place; `None` if it was blank.
    #[cold]
    fn rare(&mut self, start: usize, byte: u8) -> Option<Token> {
        let rest = &self.text[start..];
        if byte == b'#' {
            self.at += rest.find('\n').unwrap_or(rest.len());
            return None;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            let Some(length) = comment.find("*/") else {
                self.at = self.text.len();
                return Some(Token { kind: Kind::OpenComment, span: Span { start, end: start + 2 } });
            };
            self.at += length + 4;
            return None;
        }
        let c = rest.chars().next()?;
        self.at += c.len_utf8();
        if c.is_whitespace() || is_invisible(c) {
            return None;
        }
        Some(Token { kind: Kind::Unknown, span: Span { start, end: self.at } })
    }
}

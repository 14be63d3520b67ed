//! Assembler text to tokens. Line ends mean nothing, `#` starts a comment, invisible format characters that
//! word processors leave behind count as blanks.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Letters, digits and `_`: names, numbers without sign.
    Word,
    /// One of `; = ( ) , . + -`.
    Mark(char),
    /// A character that has no place in the syntax.
    Unknown,
    /// Behind the last token.
    End,
}

/// A token and where it stands.
#[derive(Clone, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// Its bytes in the text.
    pub span: Range<usize>,
}

/// Format characters without a glyph: zero-width spaces and marks, direction overrides, byte-order mark.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// All tokens of `text`, the last one being `End`.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if c.is_whitespace() || is_invisible(c) {
            continue;
        }
        if c == '#' {
            while chars.next_if(|&(_, c)| c != '\n').is_some() {}
            continue;
        }
        let mut end = start + c.len_utf8();
        let kind = match c {
            ';' | '=' | '(' | ')' | ',' | '.' | '+' | '-' => Kind::Mark(c),
            _ if is_word(c) => {
                while let Some((at, c)) = chars.next_if(|&(_, c)| is_word(c)) {
                    end = at + c.len_utf8();
                }
                Kind::Word
            }
            _ => Kind::Unknown,
        };
        out.push(Token { kind, span: start..end });
    }
    out.push(Token { kind: Kind::End, span: text.len()..text.len() });
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

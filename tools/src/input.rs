//! Where programs come from: a file or standard input, as text, as hexadecimal words or as bytes.

use crate::diagnose;
use crate::output::Error;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use vc4::qpu::{Inst, assemble};

/// Bytes and the name to speak of them.
pub struct Input {
    /// The file's name, or `<stdin>`.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Reads a file; none, or `-`, is standard input.
pub fn read(path: Option<&Path>) -> Result<Input, Error> {
    let read_error = |path: PathBuf| move |error| Error::Read { path, error };
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => {
            let bytes = std::fs::read(path).map_err(read_error(path.to_path_buf()))?;
            Ok(Input { name: path.display().to_string(), bytes })
        }
        None => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map_err(read_error("standard input".into()))?;
            Ok(Input { name: "<stdin>".into(), bytes })
        }
    }
}

/// How a program is written down. Without an option it is found out.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
#[group(multiple = false)]
pub struct Form {
    /// The input is hexadecimal words, with or without 0x, divided by blanks or lines; # begins a comment
    #[arg(long)]
    pub hex: bool,
    /// The input is binary: 8 bytes per instruction, lowest first
    #[arg(long)]
    pub bin: bool,
}

/// A program and where its instructions stand.
pub struct Program {
    /// Name of the file.
    pub name: String,
    /// The words.
    pub words: Vec<u64>,
    /// Text and place of each instruction, if it was text.
    pub source: Option<(String, Vec<Range<usize>>)>,
}

impl Program {
    /// Reads a program of any form. Errors in assembly text are printed with their place.
    pub fn read(path: Option<&Path>, form: Form) -> Result<Program, Error> {
        let Input { name, bytes } = read(path)?;
        if form.bin {
            return Ok(Program { words: binary_words(&name, &bytes)?, name, source: None });
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) if form.hex => return Err(Error::Input(format!("{name}: this is no text"))),
            Err(bytes) => {
                return Ok(Program { words: binary_words(&name, bytes.as_bytes())?, name, source: None });
            }
        };
        if form.hex || looks_like_hex(&text) {
            return Ok(Program { words: hex_words(&name, &text)?, name, source: None });
        }
        if text.contains('\0') {
            return Ok(Program { words: binary_words(&name, text.as_bytes())?, name, source: None });
        }
        match assemble(&text) {
            Ok(assembled) => {
                diagnose::warnings(&name, &text, &assembled.warnings);
                Ok(Program { words: assembled.words, name, source: Some((text, assembled.spans)) })
            }
            Err(error) => {
                diagnose::errors(&name, &text, &error.diagnostics);
                Err(Error::Reported("the program does not assemble"))
            }
        }
    }

    /// The words as instructions.
    pub fn instructions(&self) -> Result<Vec<Inst>, Error> {
        let decode = |(number, &word): (usize, &u64)| {
            Inst::decode(word)
                .map_err(|e| Error::Input(format!("{}: instruction {number}: {word:#018x}: {e}", self.name)))
        };
        self.words.iter().enumerate().map(decode).collect()
    }

    /// `file:line:column: ` of an instruction, or `file: ` if the program was no text.
    pub fn place(&self, instruction: usize) -> String {
        match &self.source {
            Some((text, spans)) => {
                let at = spans.get(instruction).map_or(text.len(), |span| span.start);
                let before = &text[..at];
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                format!("{}:{line}:{column}: ", self.name)
            }
            None => format!("{}: ", self.name),
        }
    }
}

/// Lines without their comments.
fn without_comments(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split('#').next().unwrap_or_default())
}

/// Whether the text is nothing but words of 16 digits, at least one.
fn looks_like_hex(text: &str) -> bool {
    let digits = |word: &str| {
        let word = word.strip_prefix("0x").unwrap_or(word);
        word.len() == 16 && word.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let mut words = without_comments(text).flat_map(str::split_whitespace).peekable();
    words.peek().is_some() && words.all(digits)
}

fn hex_words(name: &str, text: &str) -> Result<Vec<u64>, Error> {
    let mut out = Vec::new();
    for (line, words) in without_comments(text).enumerate() {
        for word in words.split([' ', '\t', ',', '\r']).filter(|word| !word.is_empty()) {
            let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
            let all_digits = digits.bytes().all(|b| b.is_ascii_hexdigit());
            match u64::from_str_radix(digits, 16) {
                Ok(value) if all_digits => out.push(value),
                _ => {
                    let message = format!("{name}:{}: `{word}` is no hexadecimal 64-bit word", line + 1);
                    return Err(Error::Input(message));
                }
            }
        }
    }
    Ok(out)
}

fn binary_words(name: &str, bytes: &[u8]) -> Result<Vec<u64>, Error> {
    let (words, rest) = split_words(bytes);
    if rest > 0 {
        let message = format!("{name}: {} bytes are no whole number of 8-byte instructions", bytes.len());
        return Err(Error::Input(message));
    }
    Ok(words)
}

/// The words, and how many bytes are left.
fn split_words(bytes: &[u8]) -> (Vec<u64>, usize) {
    let chunks = bytes.chunks_exact(8);
    let rest = chunks.remainder().len();
    (chunks.map(|c| u64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]])).collect(), rest)
}

/// The bytes of a text of hexadecimal digits; blanks, line ends and `0x` do not count, `#` begins a comment.
pub fn hex_bytes(name: &str, text: &str) -> Result<Vec<u8>, Error> {
    let mut digits = Vec::new();
    for (line, content) in without_comments(text).enumerate() {
        for word in content.split_whitespace() {
            for c in word.strip_prefix("0x").unwrap_or(word).chars() {
                let digit = c.to_digit(16).ok_or_else(|| {
                    Error::Input(format!("{name}:{}: `{c}` is no hexadecimal digit", line + 1))
                })?;
                digits.push(digit as u8);
            }
        }
    }
    if digits.len() % 2 != 0 {
        return Err(Error::Input(format!(
            "{name}: an odd number of hexadecimal digits is no number of bytes"
        )));
    }
    Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_words() {
        let text = "0x100009e7009e7000 # nop\n300009e7009e7000\n";
        assert!(looks_like_hex(text));
        assert_eq!(hex_words("x", text).expect("words"), [0x1000_09e7_009e_7000, 0x3000_09e7_009e_7000]);
        assert!(!looks_like_hex("sig_none ;") && !looks_like_hex("# only a comment\n"));
        let error = hex_words("x", "1\n2 +3").expect_err("no word").to_string();
        assert_eq!(error, "x:2: `+3` is no hexadecimal 64-bit word");
    }

    #[test]
    fn bytes_are_whole_words() {
        assert_eq!(binary_words("x", &[1, 0, 0, 0, 0, 0, 0, 0x10]).expect("a word"), [0x1000_0000_0000_0001]);
        assert!(binary_words("x", &[1, 2, 3]).is_err());
        assert_eq!(hex_bytes("x", "70 00\n0x0607 # end").expect("bytes"), [0x70, 0, 6, 7]);
        assert!(hex_bytes("x", "7").is_err() && hex_bytes("x", "7g").is_err());
    }
}

//! `.uniform` annotations: names for the words that a program takes from the uniform stream, in the order in which it
//! takes them. An annotation may stand anywhere before the instruction that takes its word: in front of it, or in
//! a list at the top.

use super::assembled::Uniform;
use super::error::{Error, Result};
use super::lexer::{Kind, Span};
use super::statement::Parser;
use crate::qpu::inst::Inst;
use crate::qpu::uniforms::{UniformRead, UniformSource, uniform_reads};

/// A name and where it stands.
pub struct Annotation<'a> {
    name: &'a str,
    span: Span,
    /// Number of the instruction that follows it.
    before: usize,
}

/// `name.part[3]`, `name+4` or `name+[3]` behind `.uniform`, without blanks inside.
pub fn annotation<'a>(parser: &mut Parser<'a>, before: usize) -> Result<Annotation<'a>> {
    let (_, mut span) = parser.word("the name of a uniform")?;
    loop {
        let adjacent = parser.token.span.start == span.end;
        match parser.token.kind {
            Kind::Mark(b'.') if adjacent => {
                parser.advance();
                span = span.to(parser.word("a name")?.1);
            }
            Kind::Mark(b'+' | b'-') if adjacent => {
                parser.advance();
                span = span.to(parser.taken);
                if parser.token.kind != Kind::Mark(b'[') {
                    span = span.to(parser.word("a distance")?.1);
                }
            }
            Kind::Mark(b'[') if adjacent => {
                parser.advance();
                parser.word("an index")?;
                parser.mark(b']')?;
                span = span.to(parser.taken);
            }
            _ => return Ok(Annotation { name: parser.slice(span), span, before }),
        }
    }
}

/// Gives the words their names. `words` that are no instruction take nothing. Without annotations there is
/// nothing to check.
pub fn apply(
    annotations: &[Annotation<'_>],
    words: &[u64],
    spans: &[std::ops::Range<usize>],
    errors: &mut Vec<Error>,
) -> Vec<Uniform> {
    if annotations.is_empty() {
        return Vec::new();
    }
    let insts: Vec<Inst> = words.iter().map(|&word| Inst::decode(word).unwrap_or(Inst::NOP)).collect();
    let reads = uniform_reads(&insts);
    let mut out = Vec::with_capacity(annotations.len());
    for (annotation, read) in annotations.iter().zip(&reads) {
        if read.instruction < annotation.before {
            let message = format!(
                "uniform word {} is taken before this by instruction {}; its name must stand before that",
                out.len(),
                read.instruction
            );
            errors.push(*Error::new(annotation.span, message));
            return out;
        }
        let UniformRead { instruction, source } = *read;
        out.push(Uniform {
            name: annotation.name.to_string(),
            span: annotation.span.start..annotation.span.end,
            instruction,
            source,
        });
    }
    for annotation in &annotations[reads.len().min(annotations.len())..] {
        let message = format!("no instruction takes this uniform; the program takes {} words", reads.len());
        errors.push(*Error::new(annotation.span, message));
    }
    for (number, read) in reads.iter().enumerate().skip(annotations.len()) {
        let span = &spans[read.instruction];
        let by = match read.source {
            UniformSource::Read => "read",
            UniformSource::Tmu(_) => "texture parameter",
        };
        let message = format!("uniform word {number}, taken by this {by}, has no .uniform before it");
        errors.push(*Error::new(Span { start: span.start, end: span.end }, message));
    }
    out
}

//! A whole text.

use super::annotate::{self, Annotation};
use super::assembled::{AsmError, Assembled};
use super::build::{self, Notes};
use super::error::{Error, Result, diagnostics};
use super::labels::Labels;
use super::lexer::{Kind, Span};
use super::statement::{Parser, Side};
use super::suggest;
use crate::qpu::isa::Signal;

/// Characters of a short instruction; longer ones only waste space.
const SHORT_INSTRUCTION: usize = 64;

/// Assembles a program.
pub fn assemble(text: &str) -> Result<Assembled, AsmError> {
    let mut parser = Parser::new(text);
    let mut program = Program::default();
    let capacity = text.len() / SHORT_INSTRUCTION + 1;
    program.out.words.reserve(capacity);
    program.out.spans.reserve(capacity);
    loop {
        parser.skip_semicolons();
        if parser.token.kind == Kind::End {
            break;
        }
        let start = parser.token.span.start;
        if let Err(error) = program.statement(&mut parser) {
            program.errors.push(*error);
            parser.recover(start);
        }
    }
    program.finish(text)
}

/// A program while its text is read.
#[derive(Default)]
struct Program<'a> {
    out: Assembled,
    labels: Labels<'a>,
    annotations: Vec<Annotation<'a>>,
    notes: Notes<'a>,
    errors: Vec<Error>,
}

impl<'a> Program<'a> {
    /// A label, a directive or an instruction.
    fn statement(&mut self, parser: &mut Parser<'a>) -> Result<()> {
        let start = parser.token.span;
        if parser.mark_if(b'.') {
            return self.directive(parser, start);
        }
        let (name, span) = parser.word("a signal, a label or a directive")?;
        if parser.mark_if(b':') {
            return self.labels.define(name, span, self.out.words.len());
        }
        let signal = Signal::from_name(name).ok_or_else(|| unknown_signal(name, span))?;
        parser.mark(b';')?;
        parser.skip_semicolons();
        let add = parser.half(Side::Add)?;
        parser.mark(b';')?;
        parser.skip_semicolons();
        let mul = parser.half(Side::Mul)?;
        // The last separator of the text may be missing.
        if parser.token.kind != Kind::End {
            parser.mark(b';')?;
        }
        let inst = build::instruction((signal, span), &add, &mul, &mut self.notes)?;
        if let Some(target) = self.notes.label.take() {
            self.labels.branch(self.out.words.len(), target);
        }
        self.push(inst.encode(), start.to(parser.taken));
        Ok(())
    }

    fn push(&mut self, word: u64, span: Span) {
        self.out.words.push(word);
        self.out.spans.push(span.start..span.end);
    }

    fn directive(&mut self, parser: &mut Parser<'a>, start: Span) -> Result<()> {
        let (name, span) = parser.word("`word` or `uniform`")?;
        match name {
            "word" => {
                let value = data(parser)?;
                self.push(value, start.to(parser.taken));
            }
            "uniform" => {
                let annotation = annotate::annotation(parser, self.out.words.len())?;
                self.annotations.push(annotation);
            }
            _ => {
                let suggestion = suggest::closest(name, ["word", "uniform"]);
                return Err(Error::new(span, "the directives are .word and .uniform").suggest(suggestion));
            }
        }
        Ok(())
    }

    /// Everything that is known only at the end of the text.
    fn finish(mut self, text: &str) -> Result<Assembled, AsmError> {
        // What is missing because of an error is not another error.
        if self.errors.is_empty() {
            self.labels.resolve(&mut self.out.words, &mut self.errors);
            self.out.uniforms =
                annotate::apply(&self.annotations, &self.out.words, &self.out.spans, &mut self.errors);
        }
        if !self.errors.is_empty() {
            return Err(AsmError { diagnostics: diagnostics(text, self.errors) });
        }
        self.out.labels = self.labels.into_list();
        self.out.warnings = diagnostics(text, self.notes.warnings);
        Ok(self.out)
    }
}

#[cold]
fn unknown_signal(name: &str, span: Span) -> Box<Error> {
    let names = Signal::ALL.iter().map(|signal| signal.name());
    Error::new(span, "unknown signal").suggest(suggest::closest(name, names))
}

/// The number of `.word`.
fn data(parser: &mut Parser<'_>) -> Result<u64> {
    let (text, span) = parser.word("a 64-bit number")?;
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let value = match digits {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    value.ok_or_else(|| Error::new(span, "expected a 64-bit number"))
}

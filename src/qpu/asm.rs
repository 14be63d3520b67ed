//! The assembler: text in the syntax of qpu.md §6.1 to words.
//!
//! Valid text assembles to the same words as the assembler that the syntax comes from. Where that tool
//! silently made something else of the text there is an error here, or, for oddities that existing programs rely
//! on (the compatibility list of §6.1), a warning.
//!
//! Beyond that syntax: `rot1`–`rot15`, `rot_r5`, the `.sat` packs, `tlb_alpha_mask`, `.word` data, and
//!
//! ```text
//! /* block comments */
//! .uniform camera.matrix[0]      # the next word of the uniform stream is this
//! loop:                          # a label
//! sig_none ; r0 = fadd.sf.always(r0, a, uni) ; nop = nop(r0, r0) ;
//! sig_branch ; nop = branch.rel(loop, any_ns) ; nop = branch() ;
//! ```

mod annotate;
mod build;
mod labels;
mod lexer;
mod operands;
mod statement;
mod suggest;

use super::inst::{DecodeError, Inst};
use super::isa::Signal;
use super::uniforms::UniformSource;
use annotate::Annotation;
use build::Notes;
use labels::Labels;
use lexer::{Kind, Span};
use statement::{Parser, Side};
use std::fmt;
use std::ops::Range;

/// An error or warning and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong and what to write instead.
    pub message: String,
    /// The bytes of the text it is about.
    pub span: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The text at the place.
    pub token: String,
    /// What was probably meant in its place.
    pub suggestion: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        if !self.token.is_empty() {
            write!(f, " (at `{}`)", self.token)?;
        }
        match &self.suggestion {
            Some(suggestion) => write!(f, "; did you mean `{suggestion}`?"),
            None => Ok(()),
        }
    }
}

/// Text that does not assemble: every instruction with an error has one entry, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsmError {
    /// At least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AsmError {}

/// A name for an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The name.
    pub name: String,
    /// Number of the instruction that follows it; the program's length if none does.
    pub instruction: usize,
    /// The bytes of the text that define it.
    pub span: Range<usize>,
}

/// A named word of the uniform stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// The name, as `name`, `name.part` or `name[3]`.
    pub name: String,
    /// The bytes of the text that name it.
    pub span: Range<usize>,
    /// The instruction that takes the word.
    pub instruction: usize,
    /// What takes it.
    pub source: UniformSource,
}

/// An assembled program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// The program.
    pub words: Vec<u64>,
    /// For each word the bytes of the text that it comes from.
    pub spans: Vec<Range<usize>>,
    /// The labels in program order.
    pub labels: Vec<Label>,
    /// The words of the uniform stream in order, if the text names them: then all of them.
    pub uniforms: Vec<Uniform>,
    /// Oddities that were accepted.
    pub warnings: Vec<Diagnostic>,
}

impl Assembled {
    /// The words as instructions; fails on `.word` data that is none, with the number of the word.
    pub fn instructions(&self) -> Result<Vec<Inst>, (usize, DecodeError)> {
        self.words.iter().enumerate().map(|(i, &word)| Inst::decode(word).map_err(|e| (i, e))).collect()
    }
}

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

/// An error before its line and column are counted.
struct Error {
    message: String,
    span: Span,
    suggestion: Option<String>,
}

impl Error {
    #[cold]
    fn new(span: Span, message: impl Into<String>) -> Box<Error> {
        Box::new(Error { message: message.into(), span, suggestion: None })
    }

    fn suggest(mut self: Box<Self>, suggestion: Option<String>) -> Box<Error> {
        self.suggestion = suggestion;
        self
    }
}

type Result<T, E = Box<Error>> = std::result::Result<T, E>;

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

/// The errors in the order of the text, with lines and columns; one walk over the text.
fn diagnostics(text: &str, mut errors: Vec<Error>) -> Vec<Diagnostic> {
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

#[cfg(test)]
mod defects;
#[cfg(test)]
mod tests;

//! The grammar: tokens to halves of instructions, whose operands are still text (qpu.md §6.1).

use super::arguments::{Arg, Args};
use super::error::{Error, Result};
use super::lexer::{Kind, Lexer, Span, Token};
use super::operands;
use super::suggest::closest;
use crate::qpu::isa::{AddOp, Cond, MulOp, Pack, Unpack, Waddr};

/// What the op word says the instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Add and mul operation.
    Alu,
    /// Load of a word.
    Load32,
    /// Load of two bits per element.
    Load16,
    /// Semaphore operation.
    Semaphore {
        /// Take it instead of giving it.
        decrement: bool,
    },
    /// Branch.
    Branch,
}

/// Op words of the classes without ALU operation.
const CLASS_WORDS: [(&str, Class); 5] = [
    ("load32", Class::Load32),
    ("load16", Class::Load16),
    ("sem_inc", Class::Semaphore { decrement: false }),
    ("sem_dec", Class::Semaphore { decrement: true }),
    ("branch", Class::Branch),
];

/// The operation of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Of the add unit.
    Add(AddOp),
    /// Of the mul unit.
    Mul(MulOp),
    /// An instruction that is no operation of the units.
    Word(Class),
}

impl Op {
    /// The class that the half asks for.
    pub fn class(self) -> Class {
        match self {
            Op::Word(class) => class,
            Op::Add(_) | Op::Mul(_) => Class::Alu,
        }
    }
}

/// Which half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Add,
    /// The second.
    Mul,
}

/// Behind the operation.
#[derive(Default)]
pub struct Modifiers {
    /// `.pm`
    pub pm: bool,
    /// `.sf`
    pub sf: bool,
    /// `.ws`
    pub ws: bool,
    /// `.rel`
    pub rel: bool,
    /// `.reg`
    pub reg: bool,
    /// `.signed`
    pub signed: bool,
    /// A condition.
    pub cond: Option<Cond>,
    /// An unpack.
    pub unpack: Option<Unpack>,
    /// The last modifier that has no effect on the mul half.
    pub idle: Option<Span>,
}

/// `dst = op.mods(args)` before its operands mean anything.
pub struct Half<'a> {
    /// The destination.
    pub waddr: Waddr,
    /// Its pack.
    pub pack: Option<(Pack, Span)>,
    /// The operation.
    pub op: Op,
    /// Its place.
    pub op_span: Span,
    /// What follows it.
    pub modifiers: Modifiers,
    /// What stands in parentheses.
    pub args: Args<'a>,
}

/// A place in the text with the token that stands there.
#[derive(Clone)]
pub struct Parser<'a> {
    /// The text.
    pub text: &'a str,
    lexer: Lexer<'a>,
    /// The next token.
    pub token: Token,
    /// Where the last token that was taken ends.
    pub taken: Span,
}

impl<'a> Parser<'a> {
    /// At the beginning of `text`.
    pub fn new(text: &'a str) -> Parser<'a> {
        let mut lexer = Lexer::new(text);
        let token = lexer.token();
        Parser { text, lexer, token, taken: Span { start: 0, end: 0 } }
    }

    /// Takes a token.
    #[inline]
    pub fn advance(&mut self) {
        self.taken = self.token.span;
        self.token = self.lexer.token();
    }

    /// The text at a place.
    #[inline]
    pub fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start..span.end]
    }

    /// Takes separators.
    #[inline]
    pub fn skip_semicolons(&mut self) {
        while self.token.kind == Kind::Mark(b';') {
            self.advance();
        }
    }

    /// Takes a word; `what` says what it should be.
    #[inline]
    pub fn word(&mut self, what: &str) -> Result<(&'a str, Span)> {
        let span = self.token.span;
        if self.token.kind != Kind::Word {
            return Err(self.expected(what));
        }
        self.advance();
        Ok((self.slice(span), span))
    }

    /// The error of a token that should be something else.
    #[cold]
    pub fn expected(&self, what: &str) -> Box<Error> {
        match self.token.kind {
            Kind::OpenComment => Error::new(self.token.span, "the comment has no end `*/`"),
            Kind::Unknown if self.slice(self.token.span) == "/" => {
                let message = "comments begin with `#`, or stand between `/*` and `*/`";
                Error::new(self.token.span, message)
            }
            Kind::End => Error::new(self.token.span, format!("expected {what}, found the end of the text")),
            _ => Error::new(self.token.span, format!("expected {what}")),
        }
    }

    /// Takes a mark that must stand here.
    #[inline]
    pub fn mark(&mut self, mark: u8) -> Result<()> {
        if self.mark_if(mark) { Ok(()) } else { Err(self.expected(&format!("`{}`", char::from(mark)))) }
    }

    /// Takes the mark if it stands here.
    #[inline]
    pub fn mark_if(&mut self, mark: u8) -> bool {
        let here = self.token.kind == Kind::Mark(mark);
        if here {
            self.advance();
        }
        here
    }

    /// Takes everything up to where the next statement can begin, but at least one token if none was taken since
    /// `start`.
    pub fn recover(&mut self, start: usize) {
        if self.token.span.start == start && self.token.kind != Kind::End {
            self.advance();
        }
        while self.token.kind != Kind::End && !self.at_statement() {
            self.advance();
        }
    }

    fn at_statement(&self) -> bool {
        let mut ahead = self.clone();
        ahead.advance();
        let follows = ahead.token.kind;
        match self.token.kind {
            Kind::Word => follows == Kind::Mark(b':') || self.slice(self.token.span).starts_with("sig_"),
            Kind::Mark(b'.') => {
                follows == Kind::Word && matches!(ahead.slice(ahead.token.span), "word" | "uniform")
            }
            _ => false,
        }
    }

    /// `dst[.pack] = op[.mods](args)`
    pub fn half(&mut self, side: Side) -> Result<Half<'a>> {
        let (register, span) = self.word(match side {
            Side::Add => "the destination of the add half",
            Side::Mul => "the destination of the mul half",
        })?;
        let waddr = operands::waddr(register, span)?;
        let pack = if self.mark_if(b'.') { Some(self.pack()?) } else { None };
        self.mark(b'=')?;
        let (name, op_span) = self.word("an operation")?;
        let op = op(name, op_span, side)?;
        let mut modifiers = Modifiers::default();
        while self.mark_if(b'.') {
            let (name, span) = self.word("a modifier")?;
            modifiers.set(name, span, side)?;
        }
        self.mark(b'(')?;
        let mut args = Args::new();
        while !self.mark_if(b')') {
            args.push(self.arg()?)?;
            if !self.mark_if(b',') && self.token.kind != Kind::Mark(b')') {
                return Err(self.expected("`,` or `)`"));
            }
        }
        Ok(Half { waddr, pack, op, op_span, modifiers, args })
    }

    /// `16a`, `8888.sat`, `sat`, behind the point.
    fn pack(&mut self) -> Result<(Pack, Span)> {
        let (name, mut span) = self.word("a pack")?;
        let mut pack = Pack::from_name(name);
        if self.mark_if(b'.') {
            let (_, last) = self.word("`sat`")?;
            span = span.to(last);
            // Blanks around the points are allowed.
            let name: String = self.slice(span).split_whitespace().collect();
            pack = Pack::from_name(&name);
        }
        pack.map(|pack| (pack, span)).ok_or_else(|| {
            let names = Pack::ALL.iter().map(|pack| pack.name());
            Error::new(span, "unknown pack").suggest(closest(self.slice(span), names))
        })
    }

    fn arg(&mut self) -> Result<Arg<'a>> {
        let start = self.token.span;
        let signed = self.mark_if(b'-') || self.mark_if(b'+');
        let (text, span) = self.word("an argument")?;
        if self.token.kind == Kind::Mark(b'.') && text.as_bytes()[0].is_ascii_digit() {
            self.advance();
            if self.token.kind == Kind::Word {
                self.advance();
            }
            let span = start.to(self.taken);
            return Err(operands::float_text(self.slice(span), span));
        }
        if signed {
            let span = start.to(span);
            return Ok(Arg { text: self.slice(span), span });
        }
        Ok(Arg { text, span })
    }
}

/// The operation that a name means on this side.
#[inline]
fn op(name: &str, span: Span, side: Side) -> Result<Op> {
    let unit = match side {
        Side::Add => AddOp::from_name(name).map(Op::Add),
        Side::Mul => MulOp::from_name(name).map(Op::Mul),
    };
    let word = || CLASS_WORDS.iter().find(|(word, _)| *word == name).map(|&(_, class)| Op::Word(class));
    unit.or_else(word).ok_or_else(|| unknown_op(name, span, side))
}

#[cold]
fn unknown_op(name: &str, span: Span, side: Side) -> Box<Error> {
    let words = CLASS_WORDS.iter().map(|row| row.0);
    let add = AddOp::ALL.iter().map(|op| op.name());
    let mul = MulOp::ALL.iter().map(|op| op.name());
    let (message, other, suggestion) = match side {
        Side::Add => (
            "no operation of the add half",
            MulOp::from_name(name).map(|_| "the mul half has this operation"),
            closest(name, add.chain(words)),
        ),
        Side::Mul => (
            "no operation of the mul half",
            AddOp::from_name(name).map(|_| "the add half has this operation"),
            closest(name, mul.chain(words)),
        ),
    };
    match (other, side, name) {
        (Some(_), Side::Mul, "or") => {
            Error::new(span, format!("{message}; its move is v8min of equal operands")).suggest(None)
        }
        (Some(other), ..) => Error::new(span, format!("{message}; {other}")),
        (None, ..) => Error::new(span, message).suggest(suggestion),
    }
}

impl Modifiers {
    #[inline]
    fn set(&mut self, name: &str, span: Span, side: Side) -> Result<()> {
        if let Some(cond) = Cond::from_name(name) {
            if self.cond.is_some_and(|other| other != cond) {
                return Err(Error::new(span, "a half has one condition"));
            }
            self.cond = Some(cond);
            return Ok(());
        }
        match name {
            "pm" => self.pm = true,
            "sf" => self.sf = true,
            "ws" => self.ws = true,
            "rel" => self.rel = true,
            "reg" => self.reg = true,
            "signed" => self.signed = true,
            name => match Unpack::from_name(name) {
                Some(unpack) if self.unpack.is_none_or(|other| other == unpack) => self.unpack = Some(unpack),
                Some(_) => return Err(Error::new(span, "a half has one unpack")),
                None => return Err(unknown_modifier(name, span)),
            },
        }
        if side == Side::Mul {
            self.idle = Some(span);
        }
        Ok(())
    }
}

#[cold]
fn unknown_modifier(name: &str, span: Span) -> Box<Error> {
    let names = ["pm", "sf", "ws", "rel", "reg", "signed"]
        .into_iter()
        .chain(Cond::ALL.iter().map(|cond| cond.name()))
        .chain(Unpack::ALL.iter().map(|unpack| unpack.name()));
    Error::new(span, "unknown modifier").suggest(closest(name, names))
}

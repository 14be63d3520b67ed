//! The assembler: text in the syntax of qpu.md §6.1 to words.
//!
//! Valid text assembles to the same words as the assembler that the syntax comes from. Where that tool
//! silently made something else of the text there is an error here, or, for oddities that existing programs rely
//! on (the compatibility list of §6.1), a warning.

mod lexer;
mod operands;

use super::inst::{AluInst, BranchInst, DecodeError, Inst, LoadImmInst, LoadMode, RaddrB, SemaphoreInst};
use super::isa::{AddOp, BranchCond, Cond, MulOp, Pack, Raddr, Signal, Unpack, Waddr};
use lexer::{Kind, Token};
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
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        if self.token.is_empty() { Ok(()) } else { write!(f, " (at `{}`)", self.token) }
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

/// An assembled program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// The program.
    pub words: Vec<u64>,
    /// For each word the bytes of the text that it comes from.
    pub spans: Vec<Range<usize>>,
    /// Oddities that were accepted.
    pub warnings: Vec<Diagnostic>,
}

impl Assembled {
    /// The words as instructions; fails on `.word` data that is none, with the number of the word.
    pub fn instructions(&self) -> Result<Vec<Inst>, (usize, DecodeError)> {
        self.words.iter().enumerate().map(|(i, &word)| Inst::decode(word).map_err(|e| (i, e))).collect()
    }
}

/// Assembles a program.
pub fn assemble(text: &str) -> Result<Assembled, AsmError> {
    let tokens = lexer::tokens(text);
    let mut parser = Parser { text, tokens, at: 0, warnings: Vec::new() };
    let (mut out, mut diagnostics) = (Assembled::default(), Vec::new());
    loop {
        parser.skip_semicolons();
        if parser.kind() == Kind::End {
            break;
        }
        let first = parser.at;
        match parser.statement() {
            Ok(word) => {
                out.words.push(word);
                out.spans.push(parser.tokens[first].span.start..parser.tokens[parser.at - 1].span.end);
            }
            Err(error) => {
                diagnostics.push(parser.diagnostic(error));
                parser.skip_to_next_signal(first);
            }
        }
    }
    out.warnings = std::mem::take(&mut parser.warnings);
    if diagnostics.is_empty() { Ok(out) } else { Err(AsmError { diagnostics }) }
}

/// An error before its line and column are counted.
struct Error {
    message: String,
    span: Range<usize>,
}

type Result<T, E = Error> = std::result::Result<T, E>;

/// What the op word says the instruction is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Alu,
    Load32,
    Load16,
    Semaphore { decrement: bool },
    Branch,
}

impl Class {
    fn from_op(op: &str) -> Class {
        match op {
            "load32" => Class::Load32,
            "load16" => Class::Load16,
            "sem_inc" => Class::Semaphore { decrement: false },
            "sem_dec" => Class::Semaphore { decrement: true },
            "branch" => Class::Branch,
            _ => Class::Alu,
        }
    }
}

/// `dst = op.mods(args)` before its names mean anything.
struct Half<'a> {
    waddr: Waddr,
    pack: Option<(Pack, Range<usize>)>,
    op: &'a str,
    op_span: Range<usize>,
    modifiers: Vec<(&'a str, Range<usize>)>,
    args: Vec<Arg<'a>>,
}

/// One argument: a name or number, sign included.
#[derive(Clone)]
struct Arg<'a> {
    text: &'a str,
    span: Range<usize>,
}

/// The modifiers of an add half.
#[derive(Default)]
struct Modifiers {
    pm: bool,
    sf: bool,
    ws: bool,
    rel: bool,
    reg: bool,
    signed: bool,
    cond: Option<Cond>,
    unpack: Option<Unpack>,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    warnings: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.at].span.clone()
    }

    fn slice(&self, span: Range<usize>) -> &'a str {
        &self.text[span]
    }

    fn skip_semicolons(&mut self) {
        while self.kind() == Kind::Mark(';') {
            self.at += 1;
        }
    }

    /// Where the next instruction can begin after an error in the one that began at token `first`.
    fn skip_to_next_signal(&mut self, first: usize) {
        self.at = self.at.max(first + 1).min(self.tokens.len() - 1);
        while self.kind() != Kind::End {
            let text = self.slice(self.span());
            if self.kind() == Kind::Word && text.starts_with("sig_") {
                break;
            }
            self.at += 1;
        }
    }

    fn diagnostic(&self, error: Error) -> Diagnostic {
        let before = &self.text[..error.span.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Diagnostic {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            token: self.text[error.span.clone()].to_string(),
            message: error.message,
            span: error.span,
        }
    }

    fn warn(&mut self, span: Range<usize>, message: impl Into<String>) {
        let warning = self.diagnostic(Error { message: message.into(), span });
        self.warnings.push(warning);
    }

    fn word(&mut self, what: &str) -> Result<(&'a str, Range<usize>)> {
        let span = self.span();
        if self.kind() != Kind::Word {
            return Err(Error { message: format!("expected {what}"), span });
        }
        self.at += 1;
        Ok((self.slice(span.clone()), span))
    }

    fn mark(&mut self, mark: char) -> Result<()> {
        if self.kind() != Kind::Mark(mark) {
            return Err(Error { message: format!("expected `{mark}`"), span: self.span() });
        }
        self.at += 1;
        Ok(())
    }

    /// Takes the mark if it stands here.
    fn mark_if(&mut self, mark: char) -> bool {
        let here = self.kind() == Kind::Mark(mark);
        self.at += usize::from(here);
        here
    }

    /// An instruction or `.word`.
    fn statement(&mut self) -> Result<u64> {
        if self.mark_if('.') {
            return self.data();
        }
        let (signal_text, signal_span) = self.word("a signal")?;
        let signal = Signal::from_name(signal_text)
            .ok_or_else(|| Error { message: "unknown signal".into(), span: signal_span.clone() })?;
        self.mark(';')?;
        self.skip_semicolons();
        let add = self.half("add half")?;
        self.mark(';')?;
        self.skip_semicolons();
        let mul = self.half("mul half")?;
        // The last separator of the text may be missing.
        if self.kind() != Kind::End {
            self.mark(';')?;
        }
        self.instruction(signal, signal_span, &add, &mul).map(|inst| inst.encode())
    }

    fn data(&mut self) -> Result<u64> {
        let (directive, span) = self.word("`word`")?;
        if directive != "word" {
            return Err(Error { message: "the only directive is `.word`".into(), span });
        }
        let (text, span) = self.word("a 64-bit number")?;
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let value = match digits {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        value.ok_or_else(|| Error { message: "expected a 64-bit number".into(), span })
    }

    fn half(&mut self, what: &str) -> Result<Half<'a>> {
        let (register, span) = self.word(&format!("the destination of the {what}"))?;
        let waddr = operands::waddr(register).map_err(|message| Error { message, span })?;
        let pack = self.pack()?;
        self.mark('=')?;
        let (op, op_span) = self.word("an operation")?;
        let mut modifiers = Vec::new();
        while self.mark_if('.') {
            modifiers.push(self.word("a modifier")?);
        }
        self.mark('(')?;
        let mut args = Vec::new();
        while !self.mark_if(')') {
            args.push(self.arg()?);
            if !self.mark_if(',') && self.kind() != Kind::Mark(')') {
                return Err(Error { message: "expected `,` or `)`".into(), span: self.span() });
            }
        }
        Ok(Half { waddr, pack, op, op_span, modifiers, args })
    }

    /// `.16a`, `.8888.sat`, `.sat` or nothing.
    fn pack(&mut self) -> Result<Option<(Pack, Range<usize>)>> {
        if !self.mark_if('.') {
            return Ok(None);
        }
        let (_, mut span) = self.word("a pack")?;
        if self.mark_if('.') {
            span.end = self.word("`sat`")?.1.end;
        }
        // Blanks around the points are allowed.
        let name: String = self.slice(span.clone()).split_whitespace().collect();
        match Pack::from_name(&name) {
            Some(pack) => Ok(Some((pack, span))),
            None => Err(Error { message: "unknown pack".into(), span }),
        }
    }

    fn arg(&mut self) -> Result<Arg<'a>> {
        let start = self.span().start;
        let signed = self.mark_if('-') || self.mark_if('+');
        let (text, mut span) = self.word("an argument")?;
        if self.kind() == Kind::Mark('.') && text.starts_with(|c: char| c.is_ascii_digit()) {
            self.at += 1;
            if self.kind() == Kind::Word {
                self.at += 1;
            }
            span = start..self.tokens[self.at - 1].span.end;
            return Err(operands::float_text(self.slice(span.clone()), span));
        }
        if signed {
            span = start..span.end;
        }
        Ok(Arg { text: self.slice(span.clone()), span })
    }

    fn instruction(
        &mut self,
        signal: Signal,
        signal_span: Range<usize>,
        add: &Half<'a>,
        mul: &Half<'a>,
    ) -> Result<Inst> {
        let class = Class::from_op(add.op);
        if class != Class::from_op(mul.op) {
            let message = "both halves must name the same kind of instruction";
            return Err(Error { message: message.into(), span: mul.op_span.clone() });
        }
        let modifiers = self.add_modifiers(add)?;
        let cond_mul = self.mul_condition(mul)?;
        let pack = self.effective_pack(modifiers.pm, add, mul);
        match class {
            Class::Alu => self.alu(signal, signal_span, add, mul, &modifiers, cond_mul, pack),
            Class::Load32 | Class::Load16 => self.load_imm(class, add, mul, &modifiers, cond_mul, pack),
            Class::Semaphore { decrement } => self.semaphore(decrement, add, mul, &modifiers, cond_mul, pack),
            Class::Branch => self.branch(add, mul, &modifiers),
        }
    }

    fn add_modifiers(&mut self, half: &Half<'a>) -> Result<Modifiers> {
        let mut out = Modifiers::default();
        for (name, span) in &half.modifiers {
            match *name {
                "pm" => out.pm = true,
                "sf" => out.sf = true,
                "ws" => out.ws = true,
                "rel" => out.rel = true,
                "reg" => out.reg = true,
                "signed" => out.signed = true,
                name => match (Cond::from_name(name), Unpack::from_name(name)) {
                    (Some(cond), _) => out.cond = Some(cond),
                    (_, Some(unpack)) => out.unpack = Some(unpack),
                    _ => return Err(Error { message: "unknown modifier".into(), span: span.clone() }),
                },
            }
        }
        Ok(out)
    }

    fn mul_condition(&mut self, half: &Half<'a>) -> Result<Cond> {
        let mut cond = Cond::Never;
        for (name, span) in &half.modifiers {
            if let Some(found) = Cond::from_name(name) {
                cond = found;
            } else if matches!(*name, "pm" | "sf" | "ws" | "rel" | "reg" | "signed")
                || Unpack::from_name(name).is_some()
            {
                self.warn(span.clone(), "only a condition has an effect on the mul half");
            } else {
                return Err(Error { message: "unknown modifier".into(), span: span.clone() });
            }
        }
        Ok(cond)
    }

    /// The pack that counts: the mul destination's with `pm`, otherwise the add destination's.
    fn effective_pack(&mut self, pm: bool, add: &Half<'a>, mul: &Half<'a>) -> Pack {
        let (used, ignored) = if pm { (&mul.pack, &add.pack) } else { (&add.pack, &mul.pack) };
        if let Some((pack, span)) = ignored {
            if *pack != Pack::Nop {
                let message = if pm {
                    "with pm only a pack on the mul destination has an effect"
                } else {
                    "without pm only a pack on the add destination has an effect, also for the other half under ws"
                };
                self.warn(span.clone(), message);
            }
        }
        used.as_ref().map_or(Pack::Nop, |(pack, _)| *pack)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one sentence of the grammar")]
    fn alu(
        &mut self,
        signal: Signal,
        signal_span: Range<usize>,
        add: &Half<'a>,
        mul: &Half<'a>,
        modifiers: &Modifiers,
        cond_mul: Cond,
        pack: Pack,
    ) -> Result<Inst> {
        let op_add = AddOp::from_name(add.op).ok_or_else(|| Error {
            message: "no operation of the add half".into(),
            span: add.op_span.clone(),
        })?;
        let op_mul = MulOp::from_name(mul.op).ok_or_else(|| Error {
            message: "no operation of the mul half".into(),
            span: mul.op_span.clone(),
        })?;
        if matches!(signal, Signal::LoadImm | Signal::Branch) {
            let message = "this signal needs load32, load16, sem_inc, sem_dec or branch in both halves";
            return Err(Error { message: message.into(), span: signal_span });
        }
        let small = signal == Signal::SmallImm;
        let [add_a, add_b] = operands::muxes(&add.args, &add.op_span, op_add == AddOp::Nop)?;
        let [mul_a, mul_b] = operands::muxes(&mul.args, &mul.op_span, op_mul == MulOp::Nop)?;
        let (mut raddr_a, mut raddr_b) = (Raddr::NOP, None);
        for half in [add, mul] {
            if let Some(arg) = half.args.get(4) {
                return Err(Error { message: "at most four arguments".into(), span: arg.span.clone() });
            }
            if let Some(arg) = half.args.get(2) {
                raddr_a = operands::raddr_a(arg)?;
            }
            if let Some(arg) = half.args.get(3) {
                raddr_b =
                    Some(if small { self.small_imm(arg)? } else { RaddrB::Reg(operands::raddr_b(arg)?) });
            }
        }
        if small && raddr_b.is_none() {
            self.warn(signal_span, "a small immediate is missing; the unused code 39 stands for 128.0");
            raddr_b = Some(RaddrB::Imm(operands::MISSING_SMALL_IMM));
        }
        Ok(Inst::Alu(AluInst {
            sig: if small { Signal::None } else { signal },
            unpack: modifiers.unpack.unwrap_or(Unpack::Nop),
            pm: modifiers.pm,
            pack,
            cond_add: modifiers.cond.unwrap_or(Cond::Never),
            cond_mul,
            sf: modifiers.sf,
            ws: modifiers.ws,
            waddr_add: add.waddr,
            waddr_mul: mul.waddr,
            op_mul,
            op_add,
            raddr_a,
            raddr_b: raddr_b.unwrap_or(RaddrB::Reg(Raddr::NOP)),
            add_a,
            add_b,
            mul_a,
            mul_b,
        }))
    }

    fn small_imm(&mut self, arg: &Arg<'a>) -> Result<RaddrB> {
        let (imm, warning) = operands::small_imm(arg)?;
        if let Some(warning) = warning {
            self.warn(arg.span.clone(), warning);
        }
        Ok(RaddrB::Imm(imm))
    }

    fn load_imm(
        &mut self,
        class: Class,
        add: &Half<'a>,
        mul: &Half<'a>,
        modifiers: &Modifiers,
        cond_mul: Cond,
        pack: Pack,
    ) -> Result<Inst> {
        let (mode, imm) = if class == Class::Load32 {
            let [word] = operands::exactly(&add.args, &add.op_span, "load32 takes one number")?;
            (LoadMode::Word, operands::word32(word)?)
        } else {
            let [high, low] = operands::exactly(&add.args, &add.op_span, "load16 takes two numbers")?;
            let mode =
                if modifiers.signed { LoadMode::PerElementSigned } else { LoadMode::PerElementUnsigned };
            (mode, operands::word16(high)? << 16 | operands::word16(low)?)
        };
        operands::none(&mul.args)?;
        Ok(Inst::LoadImm(LoadImmInst {
            mode,
            pm: modifiers.pm,
            pack,
            cond_add: modifiers.cond.unwrap_or(Cond::Never),
            cond_mul,
            sf: modifiers.sf,
            ws: modifiers.ws,
            waddr_add: add.waddr,
            waddr_mul: mul.waddr,
            imm,
        }))
    }

    fn semaphore(
        &mut self,
        decrement: bool,
        add: &Half<'a>,
        mul: &Half<'a>,
        modifiers: &Modifiers,
        cond_mul: Cond,
        pack: Pack,
    ) -> Result<Inst> {
        let (number, rest) = match &add.args[..] {
            [number] => (operands::limited(number, 15)?, 0),
            [number, rest] => (operands::limited(number, 15)?, operands::limited(rest, 0x7ff_ffff)?),
            _ => {
                let message = "expected the semaphore number, 0 to 15".into();
                return Err(Error { message, span: add.op_span.clone() });
            }
        };
        operands::none(&mul.args)?;
        Ok(Inst::Semaphore(SemaphoreInst {
            pm: modifiers.pm,
            pack,
            cond_add: modifiers.cond.unwrap_or(Cond::Never),
            cond_mul,
            sf: modifiers.sf,
            ws: modifiers.ws,
            waddr_add: add.waddr,
            waddr_mul: mul.waddr,
            imm: rest << 5 | u32::from(decrement) << 4 | number,
        }))
    }

    fn branch(&mut self, add: &Half<'a>, mul: &Half<'a>, modifiers: &Modifiers) -> Result<Inst> {
        let (target, cond, register) = match &add.args[..] {
            [target, cond] => (target, cond, None),
            [target, cond, register] => (target, cond, Some(register)),
            _ => {
                let message = "branch takes a target, a condition and possibly a register".into();
                return Err(Error { message, span: add.op_span.clone() });
            }
        };
        let offset = operands::word32(target)? as i32;
        let cond = BranchCond::from_name(cond.text)
            .ok_or_else(|| Error { message: "unknown branch condition".into(), span: cond.span.clone() })?;
        // Without a register the field stays 0: an odd one would change the flags (qpu.md §2.8).
        let register = register.map(operands::branch_register).transpose()?.flatten();
        if modifiers.reg && register.is_none() {
            let message = "branch.reg needs a register ra0 to ra31".into();
            return Err(Error { message, span: add.op_span.clone() });
        }
        operands::none(&mul.args)?;
        Ok(Inst::Branch(BranchInst {
            cond,
            rel: modifiers.rel,
            reg: register.filter(|_| modifiers.reg),
            unused_raddr_a: register.filter(|_| !modifiers.reg).unwrap_or(0),
            ws: modifiers.ws,
            waddr_add: add.waddr,
            waddr_mul: mul.waddr,
            offset,
        }))
    }
}

#[cfg(test)]
mod tests;

//! What the names and numbers of the text stand for.

use super::arguments::{Arg, Args};
use super::error::{Error, Result};
use super::lexer::Span;
use super::suggest::closest;
use crate::qpu::isa::{Mux, Raddr, RegFile, SmallImm, Waddr};

/// The code that a small-immediate instruction without immediate carries: that of the unused read address.
pub const MISSING_SMALL_IMM: SmallImm = SmallImm::new(Raddr::NOP.code());

/// -1, which the syntax's first assembler put in place of the float -1.0.
const MINUS_ONE: SmallImm = SmallImm::new(63);

/// A float where an integer must stand, with the pattern to write instead.
pub fn float_text(text: &str, span: Span) -> Box<Error> {
    let digits = text.trim_end_matches(['f', 'F']);
    match digits.parse::<f32>() {
        Ok(value) => Error::new(span, "floats are written as their bit pattern")
            .suggest(Some(format!("{:#010x}", value.to_bits()))),
        Err(_) => Error::new(span, "expected an integer"),
    }
}

/// A C integer without sign: decimal, `0x` hexadecimal, or octal with a leading zero.
pub fn magnitude(text: &str) -> Option<u64> {
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(&text[2..], 16).ok(),
        [b'0', _, ..] => u64::from_str_radix(text, 8).ok(),
        [b'+' | b'-', ..] => None,
        _ => text.parse().ok(),
    }
}

/// A C integer with an optional sign, in -2^63 to 2^63 - 1.
fn integer(arg: &Arg<'_>) -> Result<i64> {
    let (negative, digits) = match arg.text.as_bytes().first() {
        Some(b'-') => (true, &arg.text[1..]),
        Some(b'+') => (false, &arg.text[1..]),
        _ => (false, arg.text),
    };
    let value = magnitude(digits.trim_start()).and_then(|value| i64::try_from(value).ok());
    match value {
        Some(value) => Ok(if negative { -value } else { value }),
        None => Err(Error::new(arg.span, "expected an integer")),
    }
}

/// A number that fits 32 bits, signed or unsigned.
pub fn word32(arg: &Arg<'_>) -> Result<u32> {
    match integer(arg)? {
        value @ -0x8000_0000..=0xffff_ffff => Ok(value as u32),
        _ => Err(Error::new(arg.span, "the number does not fit 32 bits")),
    }
}

/// A number that fits 16 bits, signed or unsigned; the upper half of the result is 0.
pub fn word16(arg: &Arg<'_>) -> Result<u32> {
    match integer(arg)? {
        value @ -0x8000..=0xffff => Ok(value as u32 & 0xffff),
        _ => Err(Error::new(arg.span, "the number does not fit 16 bits")),
    }
}

/// A number from 0 to `max`.
pub fn limited(arg: &Arg<'_>, max: u32) -> Result<u32> {
    match u32::try_from(integer(arg)?) {
        Ok(value) if value <= max => Ok(value),
        _ => Err(Error::new(arg.span, format!("expected a number from 0 to {max}"))),
    }
}

/// Exactly `N` arguments.
pub fn exactly<'s, 'a, const N: usize>(
    args: &'s Args<'a>,
    op: Span,
    message: &str,
) -> Result<&'s [Arg<'a>; N]> {
    args.as_slice().try_into().map_err(|_| Error::new(op, message))
}

/// No arguments: the second half of a word that is no ALU instruction.
pub fn none(args: &Args<'_>) -> Result<()> {
    match args.get(0) {
        None => Ok(()),
        Some(arg) => Err(Error::new(arg.span, "the mul half takes no argument here")),
    }
}

/// The number behind a register prefix.
#[inline]
fn numbered(text: &str, prefix: [u8; 2]) -> Option<&str> {
    let bytes = text.as_bytes();
    (bytes.len() > 2 && bytes[..2] == prefix && bytes[2].is_ascii_digit()).then(|| &text[2..])
}

/// A register number, modulo 64 as the syntax has it. The old octal reading of a leading zero is refused.
#[inline]
fn register(digits: &str, span: Span) -> Result<u8> {
    match digits.as_bytes() {
        [d @ b'0'..=b'9'] => return Ok(d - b'0'),
        [t @ b'1'..=b'9', d @ b'0'..=b'9'] => return Ok(((t - b'0') * 10 + (d - b'0')) & 63),
        _ => {}
    }
    let octal = digits.len() > 1 && digits.bytes().all(|d| d.is_ascii_digit()) && digits.starts_with('0');
    match magnitude(digits) {
        Some(number) if octal => {
            let message = format!(
                "a leading zero makes the number octal, {} in decimal; write the decimal number",
                number & 63
            );
            Err(Error::new(span, message))
        }
        Some(number) => Ok((number & 63) as u8),
        None => Err(Error::new(span, "this is no register number")),
    }
}

/// A destination.
pub fn waddr(text: &str, span: Span) -> Result<Waddr> {
    if let Some(digits) = numbered(text, *b"rx") {
        return Ok(Waddr::new(register(digits, span)?));
    }
    match text.as_bytes() {
        b"nop" => return Ok(Waddr::NOP),
        [b'r', d @ b'0'..=b'3'] => return Ok(Waddr::acc(d - b'0')),
        _ => {}
    }
    match Waddr::NAMES.iter().find(|(name, _)| *name == text) {
        Some((_, waddr)) => Ok(*waddr),
        None => Err(unknown_destination(text, span)),
    }
}

#[cold]
fn unknown_destination(text: &str, span: Span) -> Box<Error> {
    if text == "r4" {
        return Error::new(span, "r4 cannot be written; it takes the results of SFU, TMU and tile loads");
    }
    if let Some(number) = numbered(text, *b"ra").or(numbered(text, *b"rb")) {
        let message = "destinations are written rxN; the modifier ws chooses the file";
        return Error::new(span, message).suggest(Some(format!("rx{number}")));
    }
    Error::new(span, "unknown destination").suggest(closest(text, Waddr::NAMES.iter().map(|row| row.0)))
}

/// Names that the syntax has for read addresses beside the table's.
const PAYLOAD: (&str, Raddr) = ("pay_zw", Raddr::reg(15));

/// Names of addresses that mean something else on file B.
fn only_on_b(name: &str, raddr: Raddr) -> bool {
    raddr.name(RegFile::A) != Some(name)
}

#[cold]
fn unknown_source(arg: &Arg<'_>, file: &str) -> Box<Error> {
    let names = Raddr::NAMES.iter().map(|row| row.0).chain([PAYLOAD.0]);
    Error::new(arg.span, format!("unknown source of file {file}")).suggest(closest(arg.text, names))
}

/// The third argument: a read through file A.
pub fn raddr_a(arg: &Arg<'_>) -> Result<Raddr> {
    if let Some(digits) = numbered(arg.text, *b"ra") {
        return Ok(Raddr::new(register(digits, arg.span)?));
    }
    match arg.text {
        "nop" => return Ok(Raddr::NOP),
        "uni" => return Ok(Raddr::UNIFORM),
        text if text == PAYLOAD.0 => return Ok(PAYLOAD.1),
        _ => {}
    }
    match Raddr::NAMES.iter().find(|(name, _)| *name == arg.text) {
        Some((name, raddr)) if only_on_b(name, *raddr) => {
            Err(Error::new(arg.span, "this is read through file B, the fourth argument"))
        }
        Some((_, raddr)) => Ok(*raddr),
        None if numbered(arg.text, *b"rb").is_some() => {
            Err(Error::new(arg.span, "file B is read by the fourth argument"))
        }
        None => Err(unknown_source(arg, "A")),
    }
}

/// The fourth argument: a read through file B. The names of file A stand for the same address.
pub fn raddr_b(arg: &Arg<'_>) -> Result<Raddr> {
    if let Some(digits) = numbered(arg.text, *b"rb") {
        return Ok(Raddr::new(register(digits, arg.span)?));
    }
    match arg.text {
        "nop" => return Ok(Raddr::NOP),
        "uni" => return Ok(Raddr::UNIFORM),
        text if text == PAYLOAD.0 => return Ok(PAYLOAD.1),
        _ => {}
    }
    match Raddr::NAMES.iter().find(|(name, _)| *name == arg.text) {
        Some((_, raddr)) => Ok(*raddr),
        None if numbered(arg.text, *b"ra").is_some() => {
            Err(Error::new(arg.span, "file A is read by the third argument"))
        }
        None => Err(unknown_source(arg, "B")),
    }
}

/// The register of a branch; `nop` stands for none.
pub fn branch_register(arg: &Arg<'_>) -> Result<Option<u8>> {
    match raddr_a(arg)? {
        Raddr::NOP => Ok(None),
        raddr if raddr.is_reg() => Ok(Some(raddr.code())),
        _ => Err(Error::new(arg.span, "a branch can read ra0 to ra31 only")),
    }
}

/// The fourth argument under `sig_small_imm`: a value or a rotate, and a warning if it is an accepted oddity.
pub fn small_imm(arg: &Arg<'_>) -> Result<(SmallImm, Option<&'static str>)> {
    if arg.text == "rot_r5" {
        return Ok((SmallImm::ROTATE_R5, None));
    }
    if let Some(count) = arg.text.strip_prefix("rot") {
        return match count.parse() {
            Ok(n @ 1..=15) => Ok((SmallImm::rotate(n), None)),
            _ => Err(Error::new(arg.span, "rotates are rot_r5 and rot1 to rot15")),
        };
    }
    let word = word32(arg)?;
    match SmallImm::from_value(word) {
        Some(imm) => Ok((imm, None)),
        None if word == (-1f32).to_bits() => {
            Ok((MINUS_ONE, Some("-1.0 is no small immediate; the integer -1 (as rot15) stands in its place")))
        }
        None => Err(Error::new(
            arg.span,
            "no small immediate: those are 0 to 15, -16 to -1, and the powers of two from 1/256 to 128 as float bits",
        )),
    }
}

/// The first two arguments. A `nop` may leave them out or write `nop`: both read r0.
pub fn muxes(args: &Args<'_>, op: Span, is_nop: bool) -> Result<[Mux; 2]> {
    Ok([mux(args, 0, op, is_nop)?, mux(args, 1, op, is_nop)?])
}

#[inline]
fn mux(args: &Args<'_>, at: usize, op: Span, is_nop: bool) -> Result<Mux> {
    match args.get(at) {
        Some(arg) => match arg.text.as_bytes() {
            b"a" => Ok(Mux::A),
            b"b" => Ok(Mux::B),
            b"nop" if is_nop => Ok(Mux::R0),
            _ => Mux::from_name(arg.text).ok_or_else(|| unknown_mux(arg)),
        },
        None if is_nop => Ok(Mux::R0),
        None => Err(Error::new(op, "expected two operands")),
    }
}

#[cold]
fn unknown_mux(arg: &Arg<'_>) -> Box<Error> {
    let message = "operands are r0 to r5, a or b";
    let named = |raddr: fn(&Arg<'_>) -> Result<Raddr>| raddr(arg).is_ok();
    if arg.text == "imm" {
        let message = "the small immediate is operand b; its value is the fourth argument";
        Error::new(arg.span, message).suggest(Some("b".into()))
    } else if named(raddr_a) {
        let message = "operands are r0 to r5, a or b; a source of file A is operand a and the third argument";
        Error::new(arg.span, message).suggest(Some("a".into()))
    } else if named(raddr_b) {
        let message =
            "operands are r0 to r5, a or b; a source of file B is operand b and the fourth argument";
        Error::new(arg.span, message).suggest(Some("b".into()))
    } else if magnitude(arg.text.trim_start_matches(['-', '+'])).is_some() {
        let message = "operands are r0 to r5, a or b; a number is operand b and the fourth argument under sig_small_imm";
        Error::new(arg.span, message).suggest(Some("b".into()))
    } else {
        Error::new(arg.span, message).suggest(closest(arg.text, Mux::ALL.iter().map(|mux| mux.name())))
    }
}

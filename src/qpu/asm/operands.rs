//! What the names and numbers of the text stand for.

use super::{Arg, Error, Result};
use crate::qpu::isa::{Mux, Raddr, SmallImm, Waddr};
use std::ops::Range;

/// The code that a small-immediate instruction without immediate carries: that of the unused read address.
pub const MISSING_SMALL_IMM: SmallImm = SmallImm::new(Raddr::NOP.code());

/// -1, which the syntax's first assembler put in place of the float -1.0.
const MINUS_ONE: SmallImm = SmallImm::new(63);

fn error<T>(arg: &Arg<'_>, message: impl Into<String>) -> Result<T> {
    Err(Error { message: message.into(), span: arg.span.clone() })
}

/// A float where an integer must stand, with the pattern to write instead.
pub fn float_text(text: &str, span: Range<usize>) -> Error {
    let digits = text.trim_end_matches(['f', 'F']);
    let message = match digits.parse::<f32>() {
        Ok(value) => format!("floats are written as their bit pattern, here {:#010x}", value.to_bits()),
        Err(_) => "expected an integer".into(),
    };
    Error { message, span }
}

/// A C integer without sign: decimal, `0x` hexadecimal, or octal with a leading zero.
fn magnitude(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        u64::from_str_radix(digits, 16).ok()
    } else if text.len() > 1 && text.starts_with('0') {
        u64::from_str_radix(text, 8).ok()
    } else {
        text.parse().ok()
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
        None => error(arg, "expected an integer"),
    }
}

/// A number that fits 32 bits, signed or unsigned.
pub fn word32(arg: &Arg<'_>) -> Result<u32> {
    match integer(arg)? {
        value @ -0x8000_0000..=0xffff_ffff => Ok(value as u32),
        _ => error(arg, "the number does not fit 32 bits"),
    }
}

/// A number that fits 16 bits, signed or unsigned; the upper half of the result is 0.
pub fn word16(arg: &Arg<'_>) -> Result<u32> {
    match integer(arg)? {
        value @ -0x8000..=0xffff => Ok(value as u32 & 0xffff),
        _ => error(arg, "the number does not fit 16 bits"),
    }
}

/// A number from 0 to `max`.
pub fn limited(arg: &Arg<'_>, max: u32) -> Result<u32> {
    match u32::try_from(integer(arg)?) {
        Ok(value) if value <= max => Ok(value),
        _ => error(arg, format!("expected a number from 0 to {max}")),
    }
}

/// Exactly `N` arguments.
pub fn exactly<'s, 'a, const N: usize>(
    args: &'s [Arg<'a>],
    op: &Range<usize>,
    message: &str,
) -> Result<&'s [Arg<'a>; N]> {
    args.try_into().map_err(|_| Error { message: message.into(), span: op.clone() })
}

/// No arguments: the second half of a word that is no ALU instruction.
pub fn none(args: &[Arg<'_>]) -> Result<()> {
    match args.first() {
        None => Ok(()),
        Some(arg) => error(arg, "the mul half takes no argument here"),
    }
}

/// The number behind a register prefix, modulo 64 as the syntax has it.
fn numbered(text: &str, prefix: &str) -> Option<u8> {
    magnitude(text.strip_prefix(prefix)?).map(|number| (number & 63) as u8)
}

/// A destination.
pub fn waddr(text: &str) -> Result<Waddr, String> {
    if let Some(code) = numbered(text, "rx") {
        return Ok(Waddr::new(code));
    }
    match Waddr::NAMES.iter().find(|(name, _)| *name == text) {
        Some((_, waddr)) => Ok(*waddr),
        None if text == "r4" => Err("r4 cannot be written".into()),
        None if numbered(text, "ra").or(numbered(text, "rb")).is_some() => {
            Err("destinations are written rxN; the modifier ws chooses the file".into())
        }
        None => Err("unknown destination".into()),
    }
}

/// Names that the syntax has for read addresses beside the table's.
const PAYLOAD: (&str, Raddr) = ("pay_zw", Raddr::reg(15));

/// Names of addresses that mean something else on file B.
fn only_on_b(name: &str, raddr: Raddr) -> bool {
    use crate::qpu::isa::RegFile;
    raddr.name(RegFile::A) != Some(name)
}

/// The third argument: a read through file A.
pub fn raddr_a(arg: &Arg<'_>) -> Result<Raddr> {
    if arg.text == PAYLOAD.0 {
        return Ok(PAYLOAD.1);
    }
    if let Some(code) = numbered(arg.text, "ra") {
        return Ok(Raddr::new(code));
    }
    match Raddr::NAMES.iter().find(|(name, _)| *name == arg.text) {
        Some((name, raddr)) if only_on_b(name, *raddr) => {
            error(arg, "this is read through file B, the fourth argument")
        }
        Some((_, raddr)) => Ok(*raddr),
        None if numbered(arg.text, "rb").is_some() => error(arg, "file B is read by the fourth argument"),
        None => error(arg, "unknown source of file A"),
    }
}

/// The fourth argument: a read through file B. The names of file A stand for the same address.
pub fn raddr_b(arg: &Arg<'_>) -> Result<Raddr> {
    if arg.text == PAYLOAD.0 {
        return Ok(PAYLOAD.1);
    }
    if let Some(code) = numbered(arg.text, "rb") {
        return Ok(Raddr::new(code));
    }
    match Raddr::NAMES.iter().find(|(name, _)| *name == arg.text) {
        Some((_, raddr)) => Ok(*raddr),
        None if numbered(arg.text, "ra").is_some() => error(arg, "file A is read by the third argument"),
        None => error(arg, "unknown source of file B"),
    }
}

/// The register of a branch; `nop` stands for none.
pub fn branch_register(arg: &Arg<'_>) -> Result<Option<u8>> {
    match raddr_a(arg)? {
        Raddr::NOP => Ok(None),
        raddr if raddr.is_reg() => Ok(Some(raddr.code())),
        _ => error(arg, "a branch can read ra0 to ra31 only"),
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
            _ => error(arg, "rotates are rot_r5 and rot1 to rot15"),
        };
    }
    let word = word32(arg)?;
    match SmallImm::from_value(word) {
        Some(imm) => Ok((imm, None)),
        None if word == (-1f32).to_bits() => {
            Ok((MINUS_ONE, Some("-1.0 is no small immediate; the integer -1 (as rot15) stands in its place")))
        }
        None => error(
            arg,
            "no small immediate: 0 to 15, -16 to -1, or a power of two from 1/256 to 128 as float bits",
        ),
    }
}

/// The first two arguments. A `nop` may leave them out or write `nop`: both read r0.
pub fn muxes(args: &[Arg<'_>], op: &Range<usize>, is_nop: bool) -> Result<[Mux; 2]> {
    let mux = |at: usize| match args.get(at) {
        Some(arg) if is_nop && arg.text == "nop" => Ok(Mux::R0),
        Some(arg) => match Mux::from_name(arg.text) {
            Some(mux) => Ok(mux),
            None => error(arg, "expected r0 to r5, a or b"),
        },
        None if is_nop => Ok(Mux::R0),
        None => Err(Error { message: "expected two operands".into(), span: op.clone() }),
    };
    Ok([mux(0)?, mux(1)?])
}

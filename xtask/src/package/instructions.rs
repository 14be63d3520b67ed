//! Whether a processor runs every instruction of a program: LLVM's decoder is asked, as one that knows no other processor.
//!
//! What a file says of itself (`.ARM.attributes`) is what its objects were compiled for; this looks at what is there.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use super::deb;
use crate::Error;
use crate::cross::Target;

/// The packages with the decoder.
pub const TOOLS: &[&str] = &["llvm"];

/// The processor of the Pi 1 and Zero, as LLVM calls it.
const CPU: &str = "arm1176jzf-s";

/// How many wrong places are named.
const SHOWN: usize = 10;

/// Instructions that came after it, each the only one of its line: ARMv7, its virtualisation extensions, VFPv3, NEON, Thumb-2.
const NEWER: &str = "
    .syntax unified
    .arch armv7ve
    .fpu neon-vfpv4
    .arm
    movw r0, #1
    movt r0, #1
    mls r0, r1, r2, r3
    ubfx r0, r1, #1, #2
    bfi r0, r1, #1, #2
    rbit r0, r1
    dmb sy
    udiv r0, r1, r2
    vmov.f32 s0, #1.0
    vldr d16, [r0]
    vfma.f32 s0, s1, s2
    vadd.f32 q0, q1, q2
    vld1.32 {d0}, [r0]
    .thumb
    movw r0, #1
    ldr.w r8, [r0, #4]
    udiv r0, r1, r2
";

/// Instructions that it has, constants among them included.
const OWN: &str = "
    .syntax unified
    .arch armv6k
    .fpu vfpv2
    .arm
    ldrexd r0, r1, [r2]
    clrex
    rev r0, r1
    uxtab r0, r1, r2
    mcr p15, 0, r0, c7, c10, 5
    vadd.f32 s0, s1, s2
    vcvt.s32.f32 s0, s1
    vldr d15, [r0]
    .word 0xf2020d44
";

/// Counts the instructions of a file that was not stripped: its symbols tell code from constants.
///
/// # Errors
/// The places that the processor would refuse.
pub fn check(file: &Path, target: &Target, scratch: &Path) -> Result<u64, Error> {
    let decoded = decode(file, target, scratch)?;
    match decoded.refused.is_empty() {
        true if decoded.count > 0 => Ok(decoded.count),
        true => Err(format!("{} holds no code", file.display()).into()),
        false => {
            let shown = decoded.refused[..decoded.refused.len().min(SHOWN)].join("\n  ");
            let (refused, count) = (decoded.refused.len(), decoded.count);
            Err(format!("{}: {CPU} knows {refused} of {count} instructions not:\n  {shown}", file.display())
                .into())
        }
    }
}

/// Sees to it that the decoder refuses what it must and takes what it may.
pub fn check_decoder(target: &Target, scratch: &Path) -> Result<(), Error> {
    let decoded = |name: &str, source: &str| -> Result<(usize, Decoded), Error> {
        let (text, object) = (scratch.join(format!("{name}.s")), scratch.join(format!("{name}.o")));
        std::fs::write(&text, source)?;
        deb::text(Command::new(format!("{}-as", target.gnu)).arg("-o").arg(&object).arg(&text))?;
        let lines = source.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('.'));
        Ok((lines.count(), decode(&object, target, scratch)?))
    };
    let (lines, newer) = decoded("newer", NEWER)?;
    // A refused instruction of Thumb is left byte by byte, so there are more places than lines.
    let taken = newer.taken.iter().filter(|text| NEWER.contains(first_word(text))).collect::<Vec<_>>();
    if newer.refused.len() < lines || !taken.is_empty() {
        return Err(format!("llvm-objdump takes {taken:?} for instructions of {CPU}").into());
    }
    let (lines, own) = decoded("own", OWN)?;
    match own.refused.is_empty() && own.count == lines as u64 {
        true => Ok(()),
        false => {
            Err(format!("llvm-objdump does not know all instructions of {CPU}: {:?}", own.refused).into())
        }
    }
}

/// A file's instructions.
#[derive(Default)]
struct Decoded {
    count: u64,
    refused: Vec<String>,
    /// The text of those of short files.
    taken: Vec<String>,
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn decode(file: &Path, target: &Target, scratch: &Path) -> Result<Decoded, Error> {
    // With what the file says of itself the decoder would know more processors than one.
    let bare = scratch.join("bare");
    let mut command = Command::new(format!("{}-objcopy", target.gnu));
    deb::text(command.args(["-R", ".ARM.attributes"]).arg(file).arg(&bare))?;
    let mut decoder = Command::new("llvm-objdump")
        .args(["-d", "--no-show-raw-insn", "--no-leading-addr", "--triple=armv6-linux-gnueabihf"])
        .arg(format!("--mcpu={CPU}"))
        .arg(&bare)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("llvm-objdump: {error}"))?;
    let lines = BufReader::new(decoder.stdout.take().ok_or("llvm-objdump says nothing")?).lines();
    let decoded = parse(lines.map_while(Result::ok));
    if !decoder.wait()?.success() {
        return Err(format!("llvm-objdump cannot read {}", file.display()).into());
    }
    std::fs::remove_file(bare)?;
    Ok(decoded)
}

/// Reads a listing: labels in angle brackets end with a colon, instructions stand behind a tabulator, constants bear a dot.
fn parse(lines: impl Iterator<Item = String>) -> Decoded {
    const SHORT: usize = 100;
    let (mut decoded, mut label) = (Decoded::default(), String::new());
    for line in lines {
        if let Some(name) = line.strip_prefix('<').and_then(|line| line.strip_suffix(">:")) {
            if !name.starts_with('$') {
                label = name.to_owned();
            }
            continue;
        }
        let Some((before, text)) = line.split_once('\t') else { continue };
        let text = text.trim();
        if !before.trim().is_empty() || text.starts_with('.') {
            continue;
        }
        decoded.count += 1;
        if text == "<unknown>" {
            decoded.refused.push(format!("in {label}"));
        } else if decoded.taken.len() < SHORT {
            decoded.taken.push(text.to_owned());
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_no_instructions_and_unknown_ones_are_named() {
        let listing = "
bare:\tfile format elf32-littlearm

Disassembly of section .text:

<draw>:
<$a>:
               \trev\tr0, r1
               \t<unknown>
<$d>:
      20:\t44 0d 02 f2\t.word\t0xf2020d44
<$a>:
               \tbx\tlr
";
        let decoded = parse(listing.lines().map(str::to_owned));
        assert_eq!((decoded.count, decoded.refused), (3, vec!["in draw".to_owned()]));
        assert_eq!(decoded.taken, ["rev\tr0, r1", "bx\tlr"]);
    }
}

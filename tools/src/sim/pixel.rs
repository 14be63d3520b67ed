//! What was done to a pixel, as text.

use std::fmt::Write;
use std::str::FromStr;

use vc4::qpu::Inst;
use vc4_sim::profile::Profile;
use vc4_sim::stats::{PixelTrace, Visit, Words};

/// A place in the frame, written `X,Y`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixel(pub u32, pub u32);

impl FromStr for Pixel {
    type Err = String;

    fn from_str(text: &str) -> Result<Pixel, String> {
        let number = |text: &str| text.trim().parse().ok();
        let both = text.split_once(',').and_then(|(x, y)| Some(Pixel(number(x)?, number(y)?)));
        both.ok_or_else(|| {
            "a pixel is written X,Y, as 17,4: columns and rows count from 0 at the top left".into()
        })
    }
}

/// Columns of an instruction's text.
const INSTRUCTION: usize = 84;

/// Every program that ran for the pixel of a profile: what it began with, and each instruction with the words that it left.
pub fn text(profile: &Profile) -> String {
    let Some(PixelTrace { x, y, visits, .. }) = profile.pixel.as_deref() else { return String::new() };
    let mut out = match visits.len() {
        0 => format!("pixel ({x}, {y}): no program ran for it\n"),
        1 => format!("pixel ({x}, {y}): 1 program ran for it\n"),
        count => format!("pixel ({x}, {y}): {count} programs ran for it\n"),
    };
    for visit in visits {
        let Visit { draw, program, begins, steps } = visit;
        // A string takes everything.
        let _ = writeln!(out, "\ndraw {draw}, program at {program:#010x}, begins with {}", words(begins));
        let code = profile.fragment_code(*draw);
        for step in steps {
            let inst = code.get(step.index).map(Inst::to_string).unwrap_or_default();
            let line = format!("{:4}: {inst:INSTRUCTION$}  {}", step.index, words(&step.left));
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    out
}

fn words(words: &Words) -> String {
    words.iter().map(|(held, word)| format!("{held} {word:08x}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_two_numbers() {
        assert_eq!("17,4".parse(), Ok(Pixel(17, 4)));
        assert_eq!(" 0 , 2047".parse(), Ok(Pixel(0, 2047)));
        for wrong in ["", "17", "17,", "1,2,3", "-1,2", "a,b", "4294967296,0"] {
            assert!(wrong.parse::<Pixel>().unwrap_err().contains("X,Y"), "{wrong}");
        }
    }
}

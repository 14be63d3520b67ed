//! `vc4 stencil`

use crate::output::{self, Error, Status};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use vc4::cl::field::FieldType;
use vc4::cl::packets::CompareFunc;
use vc4::cl::words::{StencilOp, StencilWord};
use vc4::state::depth_stencil::{StencilPlan, StencilWords};
use vc4::state::{DepthStencil, DepthStencilPlan, StencilFaceState};

const EXAMPLES: &str = "\
Examples:
  vc4 stencil --func equal --pass replace --reference 1
  vc4 stencil --func less-or-equal --write-mask 0x0f --back-fail increment-and-wrap
  vc4 stencil --dynamic                       masks and references set per draw: always three words
  vc4 stencil --word 0xc92700ff               what a word means

Without --back-... both faces are alike. The words go to tlb_stencil_setup before tlb_z.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Compare function: (reference & mask) func (stored & mask)
    #[arg(long, value_parser = names::<CompareFunc>(), default_value = "always")]
    func: CompareFunc,
    /// When the stencil test fails
    #[arg(long, value_parser = names::<StencilOp>(), default_value = "keep")]
    fail: StencilOp,
    /// When both tests pass
    #[arg(long, value_parser = names::<StencilOp>(), default_value = "keep")]
    pass: StencilOp,
    /// When the depth test fails
    #[arg(long, value_parser = names::<StencilOp>(), default_value = "keep")]
    depth_fail: StencilOp,
    /// Bits that are compared
    #[arg(long, value_parser = byte, default_value = "0xff")]
    compare_mask: u8,
    /// Bits that are written
    #[arg(long, value_parser = byte, default_value = "0xff")]
    write_mask: u8,
    /// Reference
    #[arg(long, value_parser = byte, default_value = "0")]
    reference: u8,
    /// As --func, for back faces
    #[arg(long, value_parser = names::<CompareFunc>())]
    back_func: Option<CompareFunc>,
    /// As --fail, for back faces
    #[arg(long, value_parser = names::<StencilOp>())]
    back_fail: Option<StencilOp>,
    /// As --pass, for back faces
    #[arg(long, value_parser = names::<StencilOp>())]
    back_pass: Option<StencilOp>,
    /// As --depth-fail, for back faces
    #[arg(long, value_parser = names::<StencilOp>())]
    back_depth_fail: Option<StencilOp>,
    /// As --compare-mask, for back faces
    #[arg(long, value_parser = byte)]
    back_compare_mask: Option<u8>,
    /// As --write-mask, for back faces
    #[arg(long, value_parser = byte)]
    back_write_mask: Option<u8>,
    /// As --reference, for back faces
    #[arg(long, value_parser = byte)]
    back_reference: Option<u8>,
    /// Masks or references are set per draw
    #[arg(long)]
    dynamic: bool,
    /// Print what this word means instead
    #[arg(long, value_parser = word)]
    word: Option<u32>,
}

/// Vulkan's names for values that the machine's tables name otherwise.
const VULKAN_NAMES: &[(&str, &str)] = &[
    ("less", "lt"),
    ("equal", "eq"),
    ("less-or-equal", "le"),
    ("greater", "gt"),
    ("not-equal", "ne"),
    ("greater-or-equal", "ge"),
    ("increment-and-clamp", "inc_sat"),
    ("decrement-and-clamp", "dec_sat"),
    ("increment-and-wrap", "inc_wrap"),
    ("decrement-and-wrap", "dec_wrap"),
];

/// A parser for the names of an enumeration.
fn names<T: FieldType + Send + Sync + 'static>() -> impl TypedValueParser<Value = T> {
    let aliases = |name| VULKAN_NAMES.iter().filter(move |row| row.1 == name).map(|row| row.0);
    let values = T::NAMES.iter().map(|&(_, name)| PossibleValue::new(name).aliases(aliases(name)));
    PossibleValuesParser::new(values).map(|text| {
        let name = VULKAN_NAMES.iter().find(|row| row.0 == text).map_or(text.as_str(), |row| row.1);
        T::from_text(name).expect("a possible value has its code")
    })
}

/// A number of 8 bits, decimal or 0x.
fn byte(text: &str) -> Result<u8, String> {
    let value = word(text)?;
    u8::try_from(value).map_err(|_| "more than 8 bits".into())
}

/// A number of 32 bits, decimal or 0x.
pub fn word(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "no 32-bit number, decimal or 0x".into())
}

pub fn run(options: &Options) -> Result<Status, Error> {
    if let Some(bits) = options.word {
        let word = StencilWord::from_bits(bits).map_err(|error| Error::Input(error.to_string()))?;
        output::print(&line(word))?;
        return Ok(Status::Success);
    }
    let faces = faces(options);
    let state = DepthStencil {
        depth_test: false,
        depth_write: false,
        depth_func: CompareFunc::Always,
        stencil: Some(faces),
    };
    let plan = DepthStencilPlan::new(&state, options.dynamic).stencil;
    let words = StencilWords::new(plan, &faces);
    let written = match plan {
        StencilPlan::Off => vec![],
        StencilPlan::Both => vec![words.front],
        StencilPlan::BothMasks => vec![words.front, words.masks],
        StencilPlan::Faces => vec![words.front, words.back],
        StencilPlan::Full => vec![words.front, words.back, words.masks],
        StencilPlan::Apart => vec![words.back, words.back_masks, words.front, words.masks],
    };
    let mut out = String::new();
    for bits in written {
        let word = StencilWord::from_bits(bits).map_err(|error| Error::Input(error.to_string()))?;
        out.push_str(&line(word));
    }
    output::print(&out)?;
    Ok(Status::Success)
}

fn faces(options: &Options) -> [StencilFaceState; 2] {
    let front = StencilFaceState {
        fail: options.fail,
        pass: options.pass,
        depth_fail: options.depth_fail,
        func: options.func,
        compare_mask: options.compare_mask,
        write_mask: options.write_mask,
        reference: options.reference,
    };
    let back = StencilFaceState {
        fail: options.back_fail.unwrap_or(front.fail),
        pass: options.back_pass.unwrap_or(front.pass),
        depth_fail: options.back_depth_fail.unwrap_or(front.depth_fail),
        func: options.back_func.unwrap_or(front.func),
        compare_mask: options.back_compare_mask.unwrap_or(front.compare_mask),
        write_mask: options.back_write_mask.unwrap_or(front.write_mask),
        reference: options.back_reference.unwrap_or(front.reference),
    };
    [front, back]
}

fn line(word: StencilWord) -> String {
    let mut out = format!("{:#010x} ", word.bits());
    match word {
        StencilWord::Setup(word) => {
            out.push_str(" setup");
            word.put_fields(&mut out);
        }
        StencilWord::Masks(word) => {
            out.push_str(" masks");
            word.put_fields(&mut out);
        }
    }
    out.push('\n');
    out
}

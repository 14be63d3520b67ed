//! `vc4 vpm`

use crate::output::{self, Error, Status};
use crate::stencil::word;
use clap::Subcommand;
use vc4::cl::Count;
use vc4::cl::words::{VpmRead, VpmSize, VpmWrite};

const EXAMPLES: &str = "\
Examples:
  vc4 vpm read --count 4                  four rows from row 0, 32 bits per element
  vc4 vpm write --address 4 --size 16 --laned
  vc4 vpm decode-read 0x00401a00
  vc4 vpm decode-write 0x00001a00

Prints the word, its fields and the instruction that writes it.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// A read set-up, for vr_setup
    Read {
        /// Vectors to read, 1 to 16
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
        count: u32,
        #[command(flatten)]
        access: Access,
    },
    /// A write set-up, for vw_setup
    Write {
        #[command(flatten)]
        access: Access,
    },
    /// What a read set-up means
    DecodeRead {
        /// The word
        #[arg(value_parser = word)]
        word: u32,
    },
    /// What a write set-up means
    DecodeWrite {
        /// The word
        #[arg(value_parser = word)]
        word: u32,
    },
}

/// What both directions have.
#[derive(clap::Args)]
struct Access {
    /// First vector; the row for horizontal 32-bit access
    #[arg(long, default_value_t = 0)]
    address: u8,
    /// Rows or columns from one vector to the next, 1 to 64
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    stride: u32,
    /// Bits of an element
    #[arg(long, default_value = "32", value_parser = ["8", "16", "32"])]
    size: String,
    /// Vectors are columns instead of rows
    #[arg(long)]
    vertical: bool,
    /// Elements below 32 bits are interleaved instead of packed
    #[arg(long)]
    laned: bool,
}

impl Access {
    fn size(&self) -> VpmSize {
        match self.size.as_str() {
            "8" => VpmSize::Bits8,
            "16" => VpmSize::Bits16,
            _ => VpmSize::Bits32,
        }
    }

    fn stride(&self) -> Count<6> {
        Count::new(self.stride).unwrap_or(Count::ONE)
    }
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let refused = |error: vc4::cl::words::WordError| Error::Input(error.to_string());
    let text = match &options.action {
        Action::Read { count, access } => read(VpmRead {
            count: Count::new(*count).unwrap_or(Count::ONE),
            stride: access.stride(),
            horizontal: !access.vertical,
            laned: access.laned,
            size: access.size(),
            address: access.address,
        }),
        Action::Write { access } => write(VpmWrite {
            stride: access.stride(),
            horizontal: !access.vertical,
            laned: access.laned,
            size: access.size(),
            address: access.address,
        }),
        Action::DecodeRead { word } => read(VpmRead::from_bits(*word).map_err(refused)?),
        Action::DecodeWrite { word } => write(VpmWrite::from_bits(*word).map_err(refused)?),
    };
    output::print(&text)?;
    Ok(Status::Success)
}

fn read(word: VpmRead) -> String {
    let mut out = format!("{:#010x}  read", word.bits());
    word.put_fields(&mut out);
    out + &format!("\nsig_load_imm ; vr_setup = load32.always({:#010x}) ; nop = load32() ;\n", word.bits())
}

fn write(word: VpmWrite) -> String {
    let mut out = format!("{:#010x}  write", word.bits());
    word.put_fields(&mut out);
    out + &format!("\nsig_load_imm ; vw_setup = load32.always.ws({:#010x}) ; nop = load32() ;\n", word.bits())
}

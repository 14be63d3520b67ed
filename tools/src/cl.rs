//! `vc4 cl`

use crate::input;
use crate::output::{self, Error, Status};
use std::path::PathBuf;
use vc4::cl::{Reader, dump};

const EXAMPLES: &str = "\
Examples:
  vc4 cl frame.bin                       one packet per line, with its fields
  vc4 cl --hex bin.txt --list binner     hexadecimal bytes; packets of render lists are errors
  vc4 cl --hex bin.txt | vc4 cl --encode --hex      the same bytes again
  echo 70000000000000000000000000010100060704 | vc4 cl --hex";

/// What a list is for.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum ListKind {
    /// Either.
    Any,
    /// A binning list.
    Binner,
    /// A rendering list.
    Renderer,
}

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The list; standard input without
    file: Option<PathBuf>,
    /// The bytes are hexadecimal digits; with --encode, print them so
    #[arg(long)]
    hex: bool,
    /// Refuse packets that the other kind of list holds
    #[arg(long, value_enum, default_value_t = ListKind::Any, conflicts_with = "encode")]
    list: ListKind,
    /// Turn the printed form back into bytes
    #[arg(long)]
    encode: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let input = input::read(options.file.as_deref())?;
    let text = |bytes: Vec<u8>| {
        String::from_utf8(bytes).map_err(|_| Error::Input(format!("{}: this is no text", input.name)))
    };
    if options.encode {
        let bytes = dump::parse(&text(input.bytes)?)
            .map_err(|error| Error::Input(format!("{}: {error}", input.name)))?;
        let out = if options.hex { hex(&bytes).into_bytes() } else { bytes };
        output::write(options.output.as_deref(), &out)?;
        return Ok(Status::Success);
    }
    let bytes = if options.hex { input::hex_bytes(&input.name, &text(input.bytes)?)? } else { input.bytes };
    output::write(options.output.as_deref(), dump::dump(&bytes).as_bytes())?;
    let mut packets = match options.list {
        ListKind::Any => Reader::new(&bytes),
        ListKind::Binner => Reader::binner(&bytes),
        ListKind::Renderer => Reader::renderer(&bytes),
    };
    match packets.find_map(Result::err) {
        None => Ok(Status::Success),
        Some(error) => Err(Error::Input(format!("{}: {error}", input.name))),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n"
}

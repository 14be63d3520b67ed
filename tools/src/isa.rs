//! `vc4 isa`

use crate::output::{self, Error, Status};
use vc4::qpu::reference::{TOPICS, reference};

const EXAMPLES: &str = "\
Examples:
  vc4 isa            everything
  vc4 isa words      the 64-bit words, bit by bit
  vc4 isa rules      what a program must not do";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// One part of it
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(TOPICS.iter().map(|topic| topic.name)))]
    topic: Option<String>,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let topic = options.topic.as_ref().and_then(|name| TOPICS.iter().find(|topic| topic.name == name));
    output::print(&topic.map_or_else(reference, |topic| topic.text()))?;
    Ok(Status::Success)
}

//! `vc4 sim unverified`

use crate::output::{self, Error, Status, json_list, json_string};

const EXAMPLES: &str = "\
Examples:
  vc4 sim unverified              a table: where the assumption stands, and the question to ask a real board
  vc4 sim unverified tmu          those whose place or question contains a word
  vc4 sim unverified --json       the same for programs";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only those whose place or question contains this
    word: Option<String>,
    /// Print a JSON list of objects with `name` and `question`
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let word = options.word.as_deref().unwrap_or_default().to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&word);
    let rows: Vec<_> =
        vc4_sim::unverified::all().filter(|(name, question)| has(name) || has(question)).collect();
    output::print(&if options.json { json(&rows) } else { table(&rows) })?;
    Ok(Status::Success)
}

fn json(rows: &[(&str, &str)]) -> String {
    let object = |(name, question): &(&str, &str)| {
        format!("{{\"name\": {}, \"question\": {}}}", json_string(name), json_string(question))
    };
    json_list(rows.iter().map(object)) + "\n"
}

fn table(rows: &[(&str, &str)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out: String =
        rows.iter().map(|(name, question)| format!("{name:width$}  {question}\n")).collect();
    out.push_str(&format!("{} assumptions; each is one constant or function\n", rows.len()));
    out
}

//! `vc4 sim unverified`

use vc4::facts::{Ask, ROWS, Row};

use crate::output::{self, Error, Status, json_list, json_string};

const EXAMPLES: &str = "\
Examples:
  vc4 sim unverified              each assumption: the question to ask a board, and the answers to choose from
  vc4 sim unverified tmu          those whose name, place or question contains a word
  vc4 sim unverified --json       the same for programs";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only those whose name, place or question contains this
    word: Option<String>,
    /// Print a JSON list of objects with `name`, `question`, `hypotheses`, `evidence` and `place`
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let word = options.word.as_deref().unwrap_or_default().to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&word);
    let rows: Vec<_> = ROWS
        .iter()
        .filter(|row| [row.name, row.question, row.place.0, row.place.1].into_iter().any(has))
        .collect();
    output::print(&if options.json { json(&rows) } else { table(&rows) })?;
    Ok(Status::Success)
}

fn json(rows: &[&Row]) -> String {
    let object = |row: &&Row| {
        let hypotheses = json_list(row.hypotheses.iter().map(|one| json_string(one.name)));
        format!(
            "{{\"name\": {}, \"question\": {}, \"hypotheses\": {hypotheses}, \"evidence\": {}, \"place\": {}}}",
            json_string(row.name),
            json_string(row.question),
            json_string(row.evidence),
            json_string(&format!("{}: {}", row.place.0, row.place.1)),
        )
    };
    json_list(rows.iter().map(object)) + "\n"
}

fn table(rows: &[&Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut out: String = rows.iter().map(|row| line(row, width)).collect();
    let probed = rows.iter().filter(|row| row.ask == Ask::Probe).count();
    out.push_str(&format!("{} assumptions; `vc4 probe` asks a board for {probed} of them\n", rows.len()));
    out
}

fn line(row: &Row, width: usize) -> String {
    let names: Vec<_> = row.hypotheses.iter().map(|one| one.name).collect();
    let answers = if names.is_empty() { String::new() } else { format!("  [{}]", names.join(" | ")) };
    format!("{:width$}  {}{answers}\n", row.name, row.question)
}

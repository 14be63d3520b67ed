//! `vc4 cost`

use crate::input::{Form, Program};
use crate::output::{self, Error, Status};
use std::path::{Path, PathBuf};
use vc4::facts::{self, Numbers};
use vc4::qpu::cost::{CLOCKS_PER_SLOT, Wait};
use vc4::qpu::{Cost, Inst};

const EXAMPLES: &str = "\
Examples:
  vc4 cost shader.qpu                   every line with its slots, and the sums
  vc4 cost --stats tsv *.qpu            one row per program
  vc4 cost --stats tsv --hex words.txt
  vc4 cost --facts pi.toml shader.qpu   with the latencies that were measured on a board

The estimate ranks programs: branches fall through, loops run once, textures hit their cache.
`vc4 isa costs` prints the numbers behind it.";

/// A form of the sums alone.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Stats {
    /// Tab-separated, a header and one row per program.
    Tsv,
}

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Program text or words; standard input without
    files: Vec<PathBuf>,
    #[command(flatten)]
    form: Form,
    /// A file of facts with numbers that `vc4 probe --numbers` measured
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
    /// Only the sums, in this form
    #[arg(long, value_enum)]
    stats: Option<Stats>,
}

const HEADER: &str = "program\tinstructions\tnops\tuniforms\tbranches\tthreaded\tslots\tcycles\tlimit\n";

pub fn run(options: &Options) -> Result<Status, Error> {
    let programs: Vec<Program> = match &options.files[..] {
        [] => vec![Program::read(None, options.form)?],
        files => {
            files.iter().map(|file| Program::read(Some(file), options.form)).collect::<Result<_, _>>()?
        }
    };
    let machine = match &options.facts {
        Some(path) => measured(path)?,
        None => Numbers::default(),
    };
    let mut out = String::new();
    if options.stats.is_some() {
        out.push_str(HEADER);
    }
    for program in &programs {
        let insts = program.instructions()?;
        let cost = Cost::on(&machine, &insts);
        match options.stats {
            Some(Stats::Tsv) => out.push_str(&row(&program.name, &cost)),
            None => out.push_str(&listing(&program.name, &insts, &cost)),
        }
    }
    output::print(&out)?;
    Ok(Status::Success)
}

/// The numbers of a file.
pub fn measured(path: &Path) -> Result<Numbers, Error> {
    let at = |error: &dyn std::fmt::Display| Error::Input(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| at(&error))?;
    Ok(facts::read_all(&text).map_err(|error| at(&error))?.1)
}

fn limit(cost: &Cost) -> &'static str {
    cost.limit().map_or("issue", |unit| unit.name)
}

fn row(name: &str, cost: &Cost) -> String {
    // A name may hold anything; a tab or line end would break the table.
    let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    format!(
        "{name}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
        cost.instructions,
        cost.nops,
        cost.uniforms,
        cost.branches,
        u8::from(cost.threaded),
        cost.slots(),
        cost.cycles(),
        limit(cost)
    )
}

fn listing(name: &str, insts: &[Inst], cost: &Cost) -> String {
    let mut out = format!("{name}\n  slots  instruction\n");
    for (number, (line, inst)) in cost.lines.iter().zip(insts).enumerate() {
        let wait = match line.reason {
            Some(Wait::Tmu) => format!("  # waits {} for the TMU", line.wait),
            Some(Wait::Uniform) => format!("  # waits {} for uniforms", line.wait),
            Some(Wait::Vpm) => format!("  # waits {} for the VPM", line.wait),
            None => String::new(),
        };
        out.push_str(&format!("  {:>5}  {number:>4}: {inst}{wait}\n", line.slots()));
    }
    out.push_str(&format!(
        "{} instructions, {} of them nops; {} uniforms; {} branches; {}\n",
        cost.instructions,
        cost.nops,
        cost.uniforms,
        cost.branches,
        if cost.threaded { "two threads" } else { "one thread" }
    ));
    for unit in cost.shared.iter().filter(|unit| unit.accesses > 0) {
        out.push_str(&format!(
            "{:<9} {:>4} accesses, {:>4} slots per program when all QPUs run it\n",
            unit.name, unit.accesses, unit.slots
        ));
    }
    out.push_str(&format!(
        "{} slots alone; about {} cycles of {CLOCKS_PER_SLOT} per slot with all QPUs at work, limited by {}\n",
        cost.slots(),
        cost.cycles(),
        limit(cost)
    ));
    out
}

//! `vc4 sim price`

use std::path::{Path, PathBuf};

use vc4::facts::Numbers;
use vc4_sim::price::{CLOCKS, Price, Unit};
use vc4_sim::replay::{Replay, Watch};

use super::load;
use super::replay::Machine;
use crate::cost;
use crate::output::{self, Error, Status};

const EXAMPLES: &str = "\
Examples:
  vc4 sim price capture.vc4cap                      what all submissions take, and how long that is
  vc4 sim price long.vc4cap --beyond short.vc4cap --frames 2
                                                    a frame of three, without what came before the first
  vc4 sim price capture.vc4cap --facts pi.toml      with the rates that were measured on a board
  vc4 sim price capture.vc4cap --tsv

Times are estimates: the slowest unit of each half of a job. `vc4 probe --numbers` measures the rates behind them.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The capture
    file: PathBuf,
    /// Only what it takes beyond this capture of the same program
    #[arg(long, value_name = "FILE")]
    beyond: Option<PathBuf>,
    /// So many frames: everything is divided by it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    frames: u64,
    /// Estimate for BOs at so many random places, and print the mean: which lines of textures share a set of the cache is luck
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    placements: Option<u64>,
    /// A file of facts with numbers that `vc4 probe --numbers` measured
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
    /// Tab-separated: a header and one row
    #[arg(long)]
    tsv: bool,
    #[command(flatten)]
    machine: Machine,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let numbers = match &options.facts {
        Some(path) => cost::measured(path)?,
        None => Numbers::default(),
    };
    let (whole, bo_bytes) = price(options, &options.file, &numbers)?;
    let before = match &options.beyond {
        Some(file) => price(options, file, &numbers)?.0,
        None => Price::default(),
    };
    let price = whole.beyond(&before, options.frames * options.placements.unwrap_or(1));
    let said = if options.tsv { HEADER.to_owned() + &row(&price, bo_bytes) } else { text(&price, bo_bytes) };
    output::print(&said)?;
    Ok(Status::Success)
}

/// The price of all submissions of a capture, added up over placements, and the most bytes that BOs took at once.
fn price(options: &Options, file: &Path, numbers: &Numbers) -> Result<(Price, u64), Error> {
    let capture = load::capture(file)?;
    let mut sum = Price::default();
    let mut bo_bytes = 0;
    for placement in options.placements.map_or(0..=0, |count| 1..=count) {
        let mut replay = Replay::placed(&capture, options.machine.config(&capture), placement);
        for entry in &capture.entries {
            let Some(replayed) = replay.step(Watch::Profile) else { break };
            let replayed = replayed.map_err(|error| Error::Input(format!("{}: {error}", file.display())))?;
            if let Some(profile) = &replayed.profile {
                sum.add(&Price::of(&entry.submission.submit, profile, numbers));
            }
            bo_bytes = replay.bo_bytes().max(bo_bytes);
        }
    }
    Ok((sum, bo_bytes))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}

fn text(price: &Price, bo_bytes: u64) -> String {
    let [coordinate, vertex, fragment] = price.qpu_clocks;
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    let all = coordinate + vertex + fragment;
    let mut out = String::new();
    let mut row = |name: &str, value: String| out.push_str(&format!("{name:<28} {value}\n"));
    row("jobs", price.jobs.to_string());
    row("QPU clocks, coordinates", coordinate.to_string());
    row("QPU clocks, vertices", vertex.to_string());
    row("QPU clocks, fragments", fragment.to_string());
    row("of them waiting", format!("{:.1} %", percent(price.wait_clocks, all)));
    row("fragments, two threads", format!("{:.1} %", percent(price.threaded_clocks, fragment)));
    row("quads shaded or dropped", price.quads.to_string());
    row("quads looked up", price.texture_quads.to_string());
    row("texture lines missed", price.texture_misses.to_string());
    row("tiles load", megabytes(price.tile_bytes[0]));
    row("tiles store", megabytes(price.tile_bytes[1]));
    row("tile lists", megabytes(price.list_bytes));
    row("vertices and missed lines", megabytes(price.read_bytes));
    row("vertices shaded", format!("{} for {}", price.vertices[0], price.vertices[1]));
    row("primitives binned", price.primitives.to_string());
    row("binner memory", format!("{} more blocks", price.spills));
    row("BOs of jobs, most at once", megabytes(bo_bytes));
    row("memory alone", format!("{:.3} ms for pixels stored, vertices and missed lines", price.least * 1e3));
    for (hertz, seconds) in CLOCKS.into_iter().zip(price.seconds) {
        row(&format!("time at {:.0} MHz", hertz / 1e6), format!("{:.3} ms", seconds * 1e3));
    }
    let total: f64 = price.bound.iter().sum();
    let shares = Unit::ALL.into_iter().zip(price.bound).filter(|(_, seconds)| *seconds > 0.0);
    let shares = shares.map(|(unit, seconds)| format!("{} {:.0} %", unit.name(), 100.0 * seconds / total));
    row("bound by", shares.collect::<Vec<_>>().join(", "));
    out
}

/// Names of the columns of a row.
const HEADER: &str = "jobs\tcoordinate_clocks\tvertex_clocks\tfragment_clocks\twait_clocks\tthreaded_clocks\tquads\ttexture_quads\t\
    texture_misses\tload_bytes\tstore_bytes\tlist_bytes\tread_bytes\tshaded\tvertices\tprimitives\tspills\tbo_bytes\tms_250\tms_300\tms_400\t\
    least_ms\tbound\n";

fn row(price: &Price, bo_bytes: u64) -> String {
    let [coordinate, vertex, fragment] = price.qpu_clocks;
    let ([loads, stores], [shaded, vertices]) = (price.tile_bytes, price.vertices);
    let counts = [
        price.jobs,
        coordinate,
        vertex,
        fragment,
        price.wait_clocks,
        price.threaded_clocks,
        price.quads,
        price.texture_quads,
        price.texture_misses,
        loads,
        stores,
        price.list_bytes,
        price.read_bytes,
        shaded,
        vertices,
        price.primitives,
        price.spills,
        bo_bytes,
    ];
    let counts = counts.iter().map(ToString::to_string);
    let times = price.seconds.iter().chain([&price.least]).map(|seconds| format!("{:.6}", seconds * 1e3));
    let bound = std::iter::once(price.slowest().name().to_owned());
    counts.chain(times).chain(bound).collect::<Vec<_>>().join("\t") + "\n"
}

//! `vc4 sim report`: one page that shows what every submission of a capture did.

mod draw;
mod job;
mod json;
mod places;
mod pools;
mod program;

use std::io::IsTerminal;
use std::ops::Range;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use vc4_sim::capture::read::Capture;
use vc4_sim::replay::{Replay, Watch};

use super::load;
use super::replay::Machine;
use crate::json::inside_html;
use crate::output::{self, Error, Status};
use json::{Object, list, texts};
use pools::Pools;

const EXAMPLES: &str = "\
Examples:
  vc4 sim report capture.vc4cap -o out.html              every submission, at most the first 100
  vc4 sim report capture.vc4cap -o out.html --submissions 7
  vc4 sim report capture.vc4cap -o out.html --submissions 20-29 --strict

The page needs nothing but itself: it opens from a file, and can be mailed. ? in the page lists its keys.
Cycles are estimates (`vc4 isa costs` prints the numbers behind them).";

/// Submissions of a page that nobody asked for by number.
const MOST: usize = 100;

/// The page around the data.
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 3] =
    [include_str!("page.js"), include_str!("page_tiles.js"), include_str!("page_sections.js")];

/// The performance events by the kernel's numbers (kernel-abi.md §4.15).
const EVENTS: [&str; vc4_sim::counters::EVENTS] = [
    "primitives without pixels",
    "primitives set up",
    "quads dropped by early Z",
    "quads shaded",
    "quads failing stencil",
    "quads failing depth and stencil",
    "quads passing depth and stencil",
    "quads without coverage",
    "quads with coverage",
    "quads written to colour",
    "primitives outside of the window",
    "primitives clipped",
    "primitives reversed",
    "QPU clocks idle",
    "QPU clocks in vertex and coordinate programs",
    "QPU clocks in fragment programs",
    "QPU clocks with an instruction",
    "QPU clocks waiting for a TMU",
    "QPU clocks waiting for the scoreboard",
    "QPU clocks waiting for varyings",
    "instruction cache hits",
    "instruction cache misses",
    "uniforms cache hits",
    "uniforms cache misses",
    "quads looked up in textures",
    "texture cache misses",
    "VPM DMA write stalls",
    "VPM vertex cache stalls",
    "L2 cache hits",
    "L2 cache misses",
];

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The capture
    file: PathBuf,
    /// Write the page to this file; standard output without
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only these submissions, counted from 0: N or FIRST-LAST
    #[arg(long, value_name = "RANGE", value_parser = range)]
    submissions: Option<Range<usize>>,
    /// Leave out the pictures of what was stored, which make most of a page's size
    #[arg(long)]
    no_pictures: bool,
    #[command(flatten)]
    machine: Machine,
}

/// `7` or `20-29`, ends included.
fn range(text: &str) -> Result<Range<usize>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last && last < usize::MAX => Ok(first..last + 1),
        _ => Err("a submission's number, or two with - between them".into()),
    }
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let capture = load::capture(&options.file)?;
    let count = capture.entries.len();
    let wanted = match &options.submissions {
        Some(range) if range.start >= count => {
            let file = options.file.display();
            return Err(Error::Input(format!("{file} has {count} submissions, counted from 0")));
        }
        Some(range) => range.start..range.end.min(count),
        None => 0..count.min(MOST),
    };
    if options.submissions.is_none() && count > MOST {
        eprintln!("vc4: the page shows the first {MOST} of {count} submissions; --submissions picks others");
    }
    let page = page(options, &capture, wanted)?;
    output::write(options.output.as_deref(), page.as_bytes())?;
    Ok(Status::Success)
}

fn page(options: &Options, capture: &Capture, wanted: Range<usize>) -> Result<String, Error> {
    let mut replay = Replay::new(capture, options.machine.config(capture));
    let mut pools = Pools::default();
    let mut submissions = Vec::new();
    let bar = match std::io::stderr().is_terminal() {
        true => ProgressBar::new(wanted.end as u64).with_style(
            ProgressStyle::with_template("{bar:40} {pos}/{len} submissions, {eta} left")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        ),
        false => ProgressBar::hidden(),
    };
    while replay.position() < wanted.end {
        let number = replay.position();
        let shown = wanted.contains(&number);
        let Some(step) = replay.step(if shown { Watch::Profile } else { Watch::Results }) else { break };
        let replayed = step.map_err(|error| Error::Input(format!("submission {number}: {error}")))?;
        if shown {
            let entry = &capture.entries[number];
            let pictures = !options.no_pictures;
            let seen = (&replayed, &replay);
            submissions.push(job::submission(number, entry, &capture.names, seen, pictures, &mut pools));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let data = Object::new()
        .text("program", &capture.head.program)
        .raw("process", capture.head.process)
        .text("version", &capture.head.version)
        .raw("strict", capture.head.strict || options.machine.strict)
        .raw("count", capture.entries.len())
        .text("file", &options.file.file_name().unwrap_or_default().to_string_lossy())
        .raw("events", texts(EVENTS))
        .raw("programs", pools.programs.list())
        .raw("lists", pools.lists.list())
        .raw("pictures", pools.pictures.list())
        .raw("submissions", list(submissions))
        .end();
    Ok(fill(&data))
}

/// The page with style, data and scripts in place.
fn fill(data: &str) -> String {
    let mut page = String::with_capacity(data.len() + PAGE.len() + STYLE.len());
    let parts = [STYLE.to_owned(), inside_html(data), SCRIPTS.concat()];
    let mut rest = PAGE;
    for (mark, part) in ["/*STYLE*/", "/*DATA*/", "/*SCRIPT*/"].iter().zip(parts) {
        let (before, after) = rest.split_once(mark).expect("the page has its marks in this order");
        page.push_str(before);
        page.push_str(&part);
        rest = after;
    }
    page.push_str(rest);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_include_their_ends() {
        assert_eq!((range("7"), range("20-29")), (Ok(7..8), Ok(20..30)));
        assert!(range("9-3").is_err() && range("x").is_err() && range("1-").is_err());
    }

    #[test]
    fn the_page_holds_everything_and_loads_nothing() {
        let page = fill(r#"{"a":"</script>"}"#);
        assert!(page.contains(r#"{"a":"\u003c/script\u003e"}"#) && !page.contains("/*DATA*/"));
        assert_eq!(page.matches("</script>").count(), 2);
        for other in ["http:", "https:", "src=", "@import", "url("] {
            let own = page.replace("http://www.w3.org/2000/svg", "").replace("url(#swap)", "");
            assert!(!own.contains(other), "{other}");
        }
    }
}

//! `vc4 inspect`: what is in a shader file.
//!
//! Exit status: 0 when everything asked for was done (with `--check`: and no error was found, with `--strict` nothing at all);
//! 1 when a file has errors, is refused, cannot be read or is of no known format; 2 for wrong usage.

mod content;
mod extract;
mod mbs;
mod metallib;
mod program;
mod shbin;
mod source;
mod spirv;

use crate::json::Value;
use crate::output::{Error, Status};
use content::{Content, Kind};
use indicatif::ProgressBar;
use shader_containers::Finding;
use source::Source;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Version of the document; it changes when a field changes its meaning or goes away. See `tools/INSPECT.md`.
const SCHEMA: u64 = 1;

/// Arguments of `vc4 inspect`.
#[derive(clap::Args)]
pub struct Args {
    /// Files to look into, `-` for standard input; the format is found by content
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Show code: PICA200 and QPU assembly, Mali instruction lengths and units, modules of a metallib
    #[arg(long)]
    code: bool,
    /// Print one JSON document instead of a tree (schema: tools/INSPECT.md)
    #[arg(long, conflicts_with = "check")]
    json: bool,
    /// Print findings only, one per line, and exit with 1 if there are errors among them
    #[arg(long)]
    check: bool,
    /// With --check: warnings count like errors. Files that compilers made in earnest have some
    #[arg(long, requires = "check")]
    strict: bool,
    /// Write code, modules and embedded sources below this folder; existing files are never replaced
    #[arg(long, value_name = "DIR")]
    extract: Option<PathBuf>,
    /// With --extract: modules with their bitcode wrapper
    #[arg(long, requires = "extract")]
    wrapped: bool,
    /// With --extract: most bytes one source archive may unpack to
    #[arg(long, requires = "extract", value_name = "BYTES", default_value_t = 256 << 20)]
    archive_limit: usize,
    /// Take files for this format whatever their content says
    #[arg(long, value_enum)]
    format: Option<Kind>,
}

/// How a file, or the whole run, went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Fine,
    Found,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Status, Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    let outcome = inspect_all(args, &mut out).and_then(|outcome| out.flush().map(|()| outcome));
    match outcome {
        Ok(outcome) => Ok(Status::of_findings(outcome == Outcome::Found)),
        Err(error) => Err(Error::Write { path: "output".into(), error }),
    }
}

fn inspect_all(args: &Args, out: &mut impl Write) -> io::Result<Outcome> {
    let mut outcome = Outcome::Fine;
    let mut documents = Vec::new();
    // Drawn on a terminal only; a listing on the same terminal needs none.
    let quiet = args.files.len() < 2 || !(args.check || args.extract.is_some());
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(args.files.len() as u64) };
    for path in &args.files {
        let one = match Source::open(path) {
            Ok(source) => inspect_file(args, path, source.bytes(), out, &mut documents)?,
            Err(error) => {
                eprintln!("vc4: {}: {error}", path.display());
                Outcome::Found
            }
        };
        outcome = outcome.max(one);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if args.json {
        let document = Value::object([("schema", Value::from(SCHEMA)), ("files", Value::Array(documents))]);
        writeln!(out, "{document}")?;
    }
    Ok(outcome)
}

/// One file, or the containers inside a file that is none itself.
fn inspect_file(
    args: &Args,
    path: &Path,
    bytes: &[u8],
    out: &mut impl Write,
    documents: &mut Vec<Value>,
) -> io::Result<Outcome> {
    let name = path.display().to_string();
    if let Some(kind) = args.format.or(Kind::detect(bytes)).or(Kind::by_extension(path)) {
        return inspect_container(args, &Item { name, bytes, kind, at: 0 }, out, documents);
    }
    let embedded = content::embedded(bytes);
    if embedded.is_empty() {
        eprintln!("vc4: {name}: not MBS, SHBIN, metallib, SPIR-V or VC4P, and none of them inside");
        return Ok(Outcome::Found);
    }
    let mut outcome = Outcome::Fine;
    for (kind, at, size) in embedded {
        let item = Item { name: format!("{name}@0x{at:x}"), bytes: &bytes[at..at + size], kind, at };
        outcome = outcome.max(inspect_container(args, &item, out, documents)?);
    }
    Ok(outcome)
}

/// A container to look into: a file or a part of one.
struct Item<'a> {
    name: String,
    bytes: &'a [u8],
    kind: Kind,
    /// Where it begins in its file.
    at: usize,
}

fn inspect_container(
    args: &Args,
    item: &Item<'_>,
    out: &mut impl Write,
    documents: &mut Vec<Value>,
) -> io::Result<Outcome> {
    if args.check {
        return check(args, item, out);
    }
    let content = Content::parse(item.kind, item.bytes);
    if args.json {
        documents.push(document(item, &content, args.code));
    } else {
        let note = if item.at == 0 { String::new() } else { format!(" at 0x{:x} of its file", item.at) };
        writeln!(out, "{}: {}, {} bytes{note}", item.name, item.kind.name(), item.bytes.len())?;
        match &content {
            Ok(content) => content.text(out, args.code)?,
            Err(finding) => writeln!(out, "  refused at {finding}")?,
        }
    }
    let Ok(content) = content else { return Ok(Outcome::Found) };
    match &args.extract {
        Some(folder) => extract(args, item, &content, folder),
        None => Ok(Outcome::Fine),
    }
}

fn check(args: &Args, item: &Item<'_>, out: &mut impl Write) -> io::Result<Outcome> {
    let spinner =
        if item.bytes.len() > 32 << 20 { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    spinner.set_message(format!("checking {}", item.name));
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    let findings = content::check(item.kind, item.bytes);
    spinner.finish_and_clear();
    for finding in &findings {
        writeln!(out, "{}:{finding}", item.name)?;
    }
    let counts = findings.iter().any(|finding| finding.is_error() || args.strict);
    let mut outcome = if counts { Outcome::Found } else { Outcome::Fine };
    if let (Some(folder), Ok(content)) = (&args.extract, Content::parse(item.kind, item.bytes)) {
        outcome = outcome.max(extract(args, item, &content, folder)?);
    }
    Ok(outcome)
}

fn extract(args: &Args, item: &Item<'_>, content: &Content<'_>, folder: &Path) -> io::Result<Outcome> {
    let options = extract::Options { wrapped: args.wrapped, archive_limit: args.archive_limit };
    let name = Path::new(&item.name).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut target = extract::Folder::create(folder, &name)?;
    for problem in extract::extract(content, &options, &mut target)? {
        eprintln!("vc4: {}: {problem}", item.name);
    }
    eprintln!("vc4: {}: {} files written below {}", item.name, target.written(), target.path().display());
    Ok(Outcome::Fine)
}

fn document(item: &Item<'_>, content: &Result<Content<'_>, Finding>, code: bool) -> Value {
    let mut fields = vec![
        ("file", Value::from(&item.name[..])),
        ("offset", Value::from(item.at)),
        ("format", Value::from(item.kind.name())),
        ("size", Value::from(item.bytes.len())),
    ];
    match content {
        Ok(content) => fields.push(("content", content.json(code))),
        Err(finding) => fields.push(("refused", finding_value(finding))),
    }
    let findings = content::check(item.kind, item.bytes);
    fields.push(("findings", findings.iter().map(finding_value).collect()));
    Value::object(fields)
}

fn finding_value(finding: &Finding) -> Value {
    let severity = if finding.is_error() { "error" } else { "warning" };
    Value::object([
        ("code", Value::from(finding.code)),
        ("severity", Value::from(severity)),
        ("offset", Value::Unsigned(finding.offset)),
        ("message", Value::from(&finding.message[..])),
    ])
}

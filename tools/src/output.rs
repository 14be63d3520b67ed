//! What commands leave behind: text on standard output, files, errors and the exit code.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How a command that did its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing to complain about.
    Success,
    /// The input has faults, which were printed.
    Findings,
    /// Another program was run; this is its exit code.
    Exit(u8),
}

impl Status {
    /// `Findings` if there are some.
    pub fn of_findings(some: bool) -> Status {
        if some { Status::Findings } else { Status::Success }
    }
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// Its name.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file or standard output cannot be written.
    #[error("{}: {error}", path.display())]
    Write {
        /// Its name.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The input is not of the form that was asked for.
    #[error("{0}")]
    Input(String),
    /// The input has errors, which were printed.
    #[error("{0}")]
    Reported(&'static str),
}

/// The exit code of a shell's process that dies of a broken pipe: 128 + SIGPIPE.
const BROKEN_PIPE: u8 = 141;

impl Error {
    /// Says it on standard error; nobody reads on behind a broken pipe, so that one stays quiet.
    pub fn report(&self) -> ExitCode {
        if let Error::Write { error, .. } = self {
            if error.kind() == ErrorKind::BrokenPipe {
                return ExitCode::from(BROKEN_PIPE);
            }
        }
        // There is nobody left to tell if standard error fails.
        let _ = writeln!(io::stderr(), "vc4: {self}");
        ExitCode::FAILURE
    }
}

/// Writes to a file, or to standard output without one.
pub fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), Error> {
    let written = match path {
        Some(path) => std::fs::write(path, bytes),
        None => {
            let mut out = io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush())
        }
    };
    let name = path.unwrap_or(Path::new("standard output"));
    written.map_err(|error| Error::Write { path: name.to_path_buf(), error })
}

/// Writes to standard output.
pub fn print(text: &str) -> Result<(), Error> {
    write(None, text.as_bytes())
}

/// Text as a JSON string.
pub fn json_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A JSON list of values that are JSON already.
pub fn json_list(values: impl IntoIterator<Item = String>) -> String {
    let values: Vec<String> = values.into_iter().collect();
    format!("[{}]", values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_escapes() {
        assert_eq!(json_string("a\"b\\c\n"), r#""a\"b\\c\u000a""#);
        assert_eq!(json_list(["1".into(), "2".into()]), "[1, 2]");
    }
}

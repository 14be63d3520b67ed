//! Writing parts of a file out. Every name comes from strangers: it is reduced to harmless characters, stays below
//! the folder asked for, and never replaces anything.

use super::content::Content;
use indicatif::ProgressBar;
use shader_containers::mbs::Mbs;
use shader_containers::metallib::{Library, Sources};
use shader_containers::shbin::Shbin;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use vc4_shaders::file::Contents;

/// What is asked for besides the folder.
pub struct Options {
    /// Modules with their wrapper.
    pub wrapped: bool,
    /// Most bytes one source archive may unpack to.
    pub archive_limit: usize,
}

/// The folder that receives one file's parts.
pub struct Folder {
    root: PathBuf,
    written: usize,
}

impl Folder {
    /// Makes a folder named after the file inside `target`.
    ///
    /// # Errors
    /// The folder cannot be made, or leads out of `target` through a link.
    pub fn create(target: &Path, name: &str) -> io::Result<Folder> {
        fs::create_dir_all(target)?;
        let target = target.canonicalize()?;
        let root = target.join(safe_name(name));
        fs::create_dir_all(&root)?;
        let root = root.canonicalize()?;
        inside(&root, &target)?;
        Ok(Folder { root, written: 0 })
    }

    /// Where the files are.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Files written so far.
    pub fn written(&self) -> usize {
        self.written
    }

    /// Writes a file below the folder; both `folder` and `name` may hold anything. A name that is taken, perhaps
    /// by a stranger that became equal when made harmless, gets a number.
    fn write(&mut self, folder: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut path = self.root.clone();
        path.extend(safe_parts(folder));
        let mut parts: Vec<String> = safe_parts(name).collect();
        let last = parts.pop().unwrap_or_else(|| "unnamed".into());
        path.extend(parts);
        fs::create_dir_all(&path)?;
        let path = path.canonicalize()?;
        inside(&path, &self.root)?;
        for number in 1.. {
            let name = if number == 1 { last.clone() } else { format!("{number}-{last}") };
            match File::create_new(path.join(name)) {
                Ok(mut file) => {
                    file.write_all(bytes)?;
                    self.written += 1;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A folder made before could be a link to elsewhere.
fn inside(path: &Path, root: &Path) -> io::Result<()> {
    if path.starts_with(root) {
        return Ok(());
    }
    let message = format!("{} leads out of {}", path.display(), root.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

/// The parts of a path that name something: no root, no drive, no `.` and no `..`; eight levels at most.
fn safe_parts(path: &str) -> impl Iterator<Item = String> + '_ {
    let parts = path.split(['/', '\\']).filter(|part| !part.chars().all(|c| c == '.' || c == ' '));
    parts.map(safe_name).take(8)
}

/// Letters, digits and a few signs; no leading dot, dash or blank; 100 bytes at most.
fn safe_name(name: &str) -> String {
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "._+-@".contains(c) { c } else { '_' };
    let name: String = name.chars().map(harmless).take(100).collect();
    match name.starts_with(['.', '-']) || name.is_empty() {
        true => format!("_{name}"),
        false => name,
    }
}

/// Writes the parts of a file; the list has what could not be written because it could not be read.
///
/// # Errors
/// Writing failed.
pub fn extract(content: &Content<'_>, options: &Options, folder: &mut Folder) -> io::Result<Vec<String>> {
    match content {
        Content::Mbs(mbs) => extract_mbs(mbs, folder),
        Content::Shbin(shbin) => extract_shbin(shbin, folder),
        Content::Metallib(library) => extract_metallib(library, options, folder),
        Content::Spirv(_) => Ok(vec!["a SPIR-V module has no parts to write".into()]),
        Content::Vc4p(contents) => extract_programs(contents, folder),
    }
}

fn extract_mbs(mbs: &Mbs, folder: &mut Folder) -> io::Result<Vec<String>> {
    for program in mbs.programs() {
        if let Some(code) = program.code() {
            folder.write("", &format!("{}.bin", program.stage.name()), code)?;
        }
    }
    Ok(Vec::new())
}

fn extract_shbin(shbin: &Shbin, folder: &mut Folder) -> io::Result<Vec<String>> {
    let code: Vec<u8> = shbin.dvlp.code.entries.iter().flat_map(|word| word.to_le_bytes()).collect();
    folder.write("", "code.bin", &code)?;
    folder.write("", "code.pica", shbin.program().to_string().as_bytes())?;
    Ok(Vec::new())
}

fn extract_programs(contents: &Contents, folder: &mut Folder) -> io::Result<Vec<String>> {
    for (stage, program) in super::program::programs(contents) {
        let code: Vec<u8> = program.code.iter().flat_map(|word| word.to_le_bytes()).collect();
        folder.write("", &format!("{stage}.bin"), &code)?;
        folder.write("", &format!("{stage}.qasm"), crate::compile::listing(program).as_bytes())?;
    }
    Ok(Vec::new())
}

fn extract_metallib(
    library: &Library<'_>,
    options: &Options,
    folder: &mut Folder,
) -> io::Result<Vec<String>> {
    let mut problems = Vec::new();
    let bar = ProgressBar::new(library.functions.len() as u64);
    for (index, function) in library.functions.iter().enumerate() {
        match library.module(function) {
            Ok(module) => {
                let bytes = if options.wrapped { module.bytes } else { module.bitcode };
                // Slashes are a part of the function's name, not folders; numbers keep names apart that are equal.
                let name = format!("{index:05}-{}.bc", safe_name(&function.name_text()));
                folder.write("modules", &name, bytes)?;
            }
            Err(finding) => problems.push(format!("{}: {finding}", function.name_text())),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    match library.sources() {
        Ok(None) => {}
        Ok(Some(sources)) => extract_sources(&sources, options, folder, &mut problems)?,
        Err(finding) => problems.push(finding.to_string()),
    }
    Ok(problems)
}

fn extract_sources(
    sources: &Sources<'_>,
    options: &Options,
    folder: &mut Folder,
    problems: &mut Vec<String>,
) -> io::Result<()> {
    for archive in &sources.archives {
        let id = String::from_utf8_lossy(archive.id).into_owned();
        match archive.unpack(options.archive_limit) {
            Ok(unpacked) => {
                for file in unpacked.files() {
                    folder.write(&format!("sources/{}", safe_name(&id)), file.path, file.content)?;
                }
            }
            Err(error) => problems.push(format!("archive {id}: {error}")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_harmless() {
        let parts = |path: &str| safe_parts(path).collect::<Vec<_>>();
        assert_eq!(parts("../../etc/passwd"), ["etc", "passwd"]);
        assert_eq!(parts("/a/./b//c"), ["a", "b", "c"]);
        assert_eq!(parts("C:\\x\\..\\y"), ["C_", "x", "y"]);
        assert_eq!(parts("... /.hidden/-rf"), ["_.hidden", "_-rf"]);
        assert_eq!(safe_name("a\0b\u{1F600}\n"), "a_b__");
        assert_eq!(safe_name(&"x".repeat(5000)).len(), 100);
        assert_eq!(parts(&"d/".repeat(50)).len(), 8);
    }
}

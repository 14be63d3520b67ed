//! The shaders of folders, as SPIR-V.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;

/// What a folder held.
pub struct Modules {
    /// The modules, each content once.
    pub found: Vec<Module>,
    /// Files that hold what another one holds.
    pub alike: usize,
    /// Files that their own compiler refuses, as most that want a program's macros or includes.
    pub unread: Vec<PathBuf>,
}

/// A SPIR-V module.
pub struct Module {
    /// Its source's path below the folder that was named, or as it was named.
    pub name: String,
    /// Those of other sources that are the same module.
    pub others: Vec<String>,
    /// The module's file.
    pub spirv: PathBuf,
}

/// What a file is written in.
#[derive(Clone, Copy)]
enum Language {
    Spirv,
    Glsl(&'static str),
    Hlsl(&'static str),
    Wgsl,
}

const STAGES: [&str; 3] = ["vert", "frag", "comp"];

/// Language and stage by the file's name; nothing for files that are no shaders, or of stages that this driver has not.
fn language(path: &Path) -> Option<Language> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let (stem, last) = name.rsplit_once('.')?;
    let stage = |of: &str| STAGES.into_iter().find(|stage| *stage == of);
    let before = || stem.rsplit_once('.').and_then(|(_, middle)| stage(middle));
    match last {
        "spv" => Some(Language::Spirv),
        "wgsl" => Some(Language::Wgsl),
        "glsl" => before().map(Language::Glsl),
        "hlsl" => before().map(Language::Hlsl),
        other => stage(other).map(Language::Glsl),
    }
}

/// All modules of `folders`; what had to be compiled goes to `cache`, where it is found again the next time.
pub fn modules(folders: &[PathBuf], cache: &Path) -> Result<Modules, Error> {
    fs::create_dir_all(cache)?;
    let mut modules = Modules { found: Vec::new(), alike: 0, unread: Vec::new() };
    let mut seen: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for folder in folders {
        let mut files = Vec::new();
        collect(folder, &mut files)?;
        files.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (path, language) in files {
            let name = match path.strip_prefix(folder) {
                Ok(below) if below.file_name().is_some() => below.display().to_string(),
                _ => path.display().to_string(),
            };
            let Some(spirv) = spirv(&path, language, cache)? else {
                modules.unread.push(path);
                continue;
            };
            match seen.entry(fs::read(&spirv)?) {
                Entry::Vacant(place) => {
                    place.insert(modules.found.len());
                    modules.found.push(Module { name, others: Vec::new(), spirv });
                }
                Entry::Occupied(place) => {
                    modules.found[*place.get()].others.push(name);
                    modules.alike += 1;
                }
            }
        }
    }
    if modules.found.is_empty() {
        return Err(
            "there is no shader in what was named; `cargo xtask strangers --help` says what is read".into()
        );
    }
    Ok(modules)
}

fn collect(path: &Path, files: &mut Vec<(PathBuf, Language)>) -> Result<(), Error> {
    let metadata = fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if !metadata.is_dir() {
        files.extend(language(path).map(|language| (path.to_path_buf(), language)));
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        // A link may lead back to a folder above.
        if !entry.file_type()?.is_symlink() {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// The file's module; nothing if its compiler refuses it.
fn spirv(path: &Path, language: Language, cache: &Path) -> Result<Option<PathBuf>, Error> {
    if let Language::Spirv = language {
        return Ok(Some(path.to_path_buf()));
    }
    let whole = path.canonicalize()?;
    let module = cache.join(format!("{}.spv", plain(&whole)));
    let changed = |file: &Path| fs::metadata(file).and_then(|metadata| metadata.modified());
    if module.exists() && changed(&module)? >= changed(path)? {
        return Ok(Some(module));
    }
    let mut command = match language {
        Language::Wgsl => Command::new("naga"),
        _ => Command::new("glslangValidator"),
    };
    match language {
        Language::Glsl(stage) => {
            command.args(["-V", "--target-env", "vulkan1.2", "-S", stage, "-o"]).arg(&module);
        }
        Language::Hlsl(stage) => {
            command
                .args(["-D", "-V", "--target-env", "vulkan1.2", "-S", stage, "-e", "main", "-o"])
                .arg(&module);
        }
        Language::Spirv | Language::Wgsl => {}
    }
    command.arg(&whole);
    if let Language::Wgsl = language {
        command.arg(&module);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        format!("{program}: {error}\n  `cargo xtask strangers --help` says where it is to be had")
    })?;
    if status.success() && module.exists() {
        return Ok(Some(module));
    }
    // A compiler may leave a part behind.
    let _ = fs::remove_file(&module);
    Ok(None)
}

/// A path as one part of a file name.
pub fn plain(path: &Path) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    path.to_string_lossy().trim_matches('/').chars().map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_language() {
        let stage = |name: &str| match language(Path::new(name)) {
            Some(Language::Glsl(stage)) => format!("glsl {stage}"),
            Some(Language::Hlsl(stage)) => format!("hlsl {stage}"),
            Some(Language::Spirv) => "spirv".into(),
            Some(Language::Wgsl) => "wgsl".into(),
            None => "none".into(),
        };
        assert_eq!(stage("a/b.frag"), "glsl frag");
        assert_eq!(stage("a/b.vert.glsl"), "glsl vert");
        assert_eq!(stage("a/b.comp.hlsl"), "hlsl comp");
        assert_eq!(stage("a/b.FRAG"), "glsl frag");
        assert_eq!(stage("b.frag.spv"), "spirv");
        assert_eq!(stage("b.wgsl"), "wgsl");
        for no in ["b.glsl", "b.geom", "b.tesc.glsl", "frag", "b.hlsl", "README.md"] {
            assert_eq!(stage(no), "none", "{no}");
        }
    }
}

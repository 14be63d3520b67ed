//! The stages that are compiled: modules, entry points and settings.

use crate::input;
use crate::output::Error;
use vc4_shaders::ir::{Shader, Stage};
use vc4_shaders::spirv::{SpirvError, StageSource, translate};

use super::module::Module;
use super::options::Options;
use super::state::Settings;

/// A stage's module and entry point.
pub struct Source<'a> {
    /// The module.
    pub module: &'a Module,
    /// The entry point.
    pub entry: String,
}

/// The settings of a state file, if there is one.
pub fn settings(options: &Options) -> Result<Settings, Error> {
    let Some(path) = &options.state else { return Ok(Settings::default()) };
    let input::Input { name, bytes } = input::read(Some(path))?;
    let text = String::from_utf8(bytes).map_err(|_| Error::Input(format!("{name}: this is no text")))?;
    Settings::parse(&text).map_err(|(line, what)| Error::Input(format!("{name}:{line}: {what}")))
}

/// The module and entry point of a stage, if it is wanted and there.
pub fn source<'a>(
    options: &Options,
    modules: &'a [Module],
    stage: Stage,
) -> Result<Option<Source<'a>>, Error> {
    if options.stage.is_some_and(|wanted| wanted.stage() != stage) {
        return Ok(None);
    }
    let mut found = Vec::new();
    for module in modules {
        let entry = module
            .entry_points()
            .into_iter()
            .find(|(of, name)| *of == stage && options.entry.as_ref().is_none_or(|wanted| wanted == name));
        found.extend(entry.map(|(_, entry)| Source { module, entry }));
    }
    if found.len() > 1 {
        let message = format!("both files have a {} stage: give one of each", stage.name());
        return Err(Error::Input(message));
    }
    if found.is_empty() && needed(options, modules, stage) {
        // The compiler says what it misses.
        let entry = options.entry.clone().unwrap_or_else(|| "main".into());
        found.push(Source { module: &modules[0], entry });
    }
    Ok(found.pop())
}

/// Whether nothing at all would be compiled without this stage.
fn needed(options: &Options, modules: &[Module], stage: Stage) -> bool {
    let other = |(of, name): (Stage, String)| {
        of != stage && options.entry.as_ref().is_none_or(|wanted| *wanted == name)
    };
    options.stage.is_some() || !modules.iter().flat_map(Module::entry_points).any(other)
}

/// The stage as the passes get it.
pub fn read(
    source: &Source<'_>,
    stage: Stage,
    settings: &Settings,
    sources: &mut String,
) -> Result<Shader, Error> {
    let words = &source.module.words;
    let from = StageSource { words, entry: &source.entry, specialization: &settings.constants };
    let shader = translate(&from, stage).map_err(|error| refused(source.module, stage, &error))?;
    sources.push_str(&shader.to_string());
    Ok(shader)
}

/// The error with the file, and the source line if the module knows it.
fn refused(module: &Module, stage: Stage, error: &SpirvError) -> Error {
    let mut message = format!("{}: {} stage: {}", module.name, stage.name(), error.cause());
    if let SpirvError::At { place, .. } = error {
        message.push_str(&format!("\n  --> {place}"));
        if let Some(text) = module.source_text(place) {
            message.push_str(&format!("\n{:>5} | {}", place.line, text.trim_end()));
        }
    }
    Error::Input(message)
}

/// `cube` for `dir/cube.vert.spv`.
pub fn short_name(path: &std::path::Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.strip_suffix(".spv").unwrap_or(&name);
    name.strip_suffix(".vert")
        .or(name.strip_suffix(".frag"))
        .or(name.strip_suffix(".comp"))
        .unwrap_or(name)
        .to_owned()
}

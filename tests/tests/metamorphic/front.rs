//! The way of a program to SPIR-V, through glslangValidator and spirv-opt.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use vc4_tests::{glsl, scratch};

use crate::ast::{Program, Stage};
use crate::print;

/// A directory of this thread's own.
fn directory() -> PathBuf {
    let name = format!("metamorphic-{}-{:?}", std::process::id(), std::thread::current().id());
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    scratch::directory(env!("CARGO_TARGET_TMPDIR"), name)
}

fn spirv_opt(flags: &[&str], module: &Path, optimised: &Path) -> Result<(), String> {
    let output = Command::new("spirv-opt").args(flags).arg(module).arg("-o").arg(optimised).output();
    let output = output.map_err(|error| {
        format!("spirv-opt ({error}): install Debian's spirv-tools, or run `cargo xtask test`")
    })?;
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    if output.status.success() {
        return Ok(());
    }
    Err(format!("spirv-opt: {}", String::from_utf8_lossy(&said)))
}

/// Compiles with what is done already kept: processes cost more than anything else here.
#[derive(Default)]
struct Front {
    /// The source whose module lies in the directory, with its stage.
    last: Option<(&'static str, String)>,
    /// Modules of the stages that hand through, by source.
    plain: HashMap<String, Vec<u32>>,
}

thread_local! {
    static FRONT: RefCell<Front> = RefCell::default();
}

/// SPIR-V of both stages; the program's own goes through spirv-opt when there is a flag.
pub fn modules(program: &Program, flags: &[&str]) -> Result<[Vec<u32>; 2], String> {
    let [vertex, fragment] = print::sources(program);
    FRONT.with_borrow_mut(|front| match program.stage {
        Stage::Vertex => Ok([front.own("vert", vertex, flags)?, front.through("frag", fragment)?]),
        Stage::Fragment => Ok([front.through("vert", vertex)?, front.own("frag", fragment, flags)?]),
    })
}

/// SPIR-V of the program as a compute shader, which goes through spirv-opt when there is a flag.
pub fn kernel(program: &Program, flags: &[&str]) -> Result<Vec<u32>, String> {
    FRONT.with_borrow_mut(|front| front.own("comp", print::kernel(program), flags))
}

/// SPIR-V of a compute shader.
pub fn compute(source: String) -> Result<Vec<u32>, String> {
    FRONT.with_borrow_mut(|front| front.own("comp", source, &[]))
}

/// Removes what this thread left.
pub fn clean() {
    let _ = std::fs::remove_dir_all(directory());
}

fn glslang(stage: &str, source: &str) -> Result<PathBuf, String> {
    let directory = directory();
    let (path, module) = (directory.join(format!("program.{stage}")), directory.join(format!("{stage}.spv")));
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    glsl::compile(&path, &module)?;
    Ok(module)
}

impl Front {
    /// The module of a stage that only hands through.
    fn through(&mut self, stage: &'static str, source: String) -> Result<Vec<u32>, String> {
        if let Some(words) = self.plain.get(&source) {
            return Ok(words.clone());
        }
        // The module of this name is another one now.
        self.last = self.last.take().filter(|(last, _)| *last != stage);
        let words = glsl::words(&glslang(stage, &source)?)?;
        self.plain.insert(source, words.clone());
        Ok(words)
    }

    /// The module of the program's own stage.
    fn own(&mut self, stage: &'static str, source: String, flags: &[&str]) -> Result<Vec<u32>, String> {
        let mut module = directory().join(format!("{stage}.spv"));
        if !self.last.as_ref().is_some_and(|last| last.0 == stage && last.1 == source) {
            self.last = None;
            glslang(stage, &source)?;
            self.last = Some((stage, source));
        }
        if !flags.is_empty() {
            let optimised = directory().join("optimised.spv");
            spirv_opt(flags, &module, &optimised)?;
            module = optimised;
        }
        glsl::words(&module)
    }
}

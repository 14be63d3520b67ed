//! Shader modules of QPU assembly: programs as text or words, and what each word of their uniform streams is.
//!
//! `icd/include/vulkan_vc4.h` is what applications see, `icd/ASSEMBLY.md` explains it. Reading the structures is the
//! edge's business; linking programs into a pipeline that of `pipeline`.

pub mod compat;
pub mod uniform;

use vc4::qpu::{Inst, Stage, UniformRead, assemble, uniform_reads};

use crate::foundation::error::Error;
pub use uniform::Word;

/// Longest text in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
/// Most instructions of a program.
pub const MAX_INSTRUCTIONS: usize = 1 << 16;
/// Most words of a uniform stream that a structure may name.
pub const MAX_UNIFORMS: u32 = 1 << 16;
/// Most attributes that a structure may name.
pub const MAX_INPUTS: usize = 32;
/// Most varyings (v3d.md §14).
pub const MAX_VARYINGS: u32 = 32;

/// Who turns pipeline state into code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The driver, around the programs.
    Patched,
    /// The programs themselves.
    Raw,
}

/// How a patched fragment program gives its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceColor {
    /// A word with red in bits 7:0.
    Rgba8,
    /// A word with blue in bits 7:0.
    Bgra8,
    /// Floats or integers in r0 to r3.
    Floats,
}

/// Where the raster lies that raw vertex programs work in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RasterWindow {
    /// The driver's fixed one; the viewport is in uniforms.
    Driver,
    /// The viewport.
    Viewport,
}

/// One program of a module.
#[derive(Clone, Debug)]
pub struct Source {
    /// What it runs for.
    pub stage: Stage,
    /// Its instructions.
    pub insts: Vec<Inst>,
    /// The words of its uniform stream.
    pub uniforms: Vec<Word>,
    /// Vertex input location and components of each attribute that is loaded, by increasing location; empty for all.
    pub inputs: Vec<(u32, u32)>,
    /// The index of the vertex is loaded behind the attributes.
    pub vertex_index: bool,
    /// How a patched fragment program gives its colour.
    pub color: SourceColor,
}

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Who turns pipeline state into code.
    pub mode: Mode,
    /// Of raw vertex programs.
    pub window: RasterWindow,
    /// Broken hardware rules are warnings: the program comes from a driver that had no checker.
    pub lenient: bool,
    /// Buffers of direct lookups in order, for modules that do not name the words of lookups.
    pub lookups: Vec<vc4_shaders::program::Descriptor>,
    /// The programs by increasing stage, at most one each.
    pub programs: Vec<Source>,
    /// Scalar varyings; `None` for as many as the fragment program reads.
    pub varyings: Option<u32>,
    /// Bit n: varying n is flat.
    pub flat: u32,
    /// Location and component of each varying; empty for four to a location.
    pub names: Vec<(u32, u32)>,
}

/// Name of a stage in messages.
pub fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Coordinate => "coordinate",
        Stage::Vertex => "vertex",
        Stage::Fragment => "fragment",
    }
}

fn wrong(what: impl std::fmt::Display) -> Error {
    Error::Shader(format!("assembly module: {what}"))
}

/// Refuses a module.
pub fn refuse<T>(what: impl std::fmt::Display) -> Result<T, Error> {
    Err(wrong(what))
}

/// The code of a program as a structure gives it.
pub enum Code<'a> {
    /// Text.
    Text(&'a str),
    /// Instruction words.
    Words(&'a [u64]),
}

impl Source {
    /// A program. `uniforms`: what a structure says about the uniform stream, `None` if that is in the text.
    ///
    /// # Errors
    /// The text does not assemble, a word is no instruction, or the uniforms do not match the program.
    pub fn new(stage: Stage, code: &Code<'_>, uniforms: Option<Vec<Word>>) -> Result<Source, Error> {
        let name = stage_name(stage);
        let (words, named) = match code {
            Code::Words(words) => (words.to_vec(), Vec::new()),
            Code::Text(text) => {
                let out = assemble(text).map_err(|error| wrong(format!("{name} program:\n{error}")))?;
                out.warnings.iter().for_each(|w| log::warn!(target: "vc4::asm", "{name} program: {w}"));
                (out.words, annotated(name, text, &out.uniforms)?)
            }
        };
        if words.len() > MAX_INSTRUCTIONS {
            return refuse(format!(
                "{name} program: {} instructions, at most {MAX_INSTRUCTIONS}",
                words.len()
            ));
        }
        let decode = |(index, &word): (usize, &u64)| {
            let none = |error| wrong(format!("{name} program: instruction {index}, {word:#018x}: {error}"));
            Inst::decode(word).map_err(none)
        };
        let insts = words.iter().enumerate().map(decode).collect::<Result<Vec<_>, _>>()?;
        let uniforms = match (uniforms, named.is_empty()) {
            (Some(_), false) => {
                let what = "uniforms are described by the structure and by the text; keep one of them";
                return refuse(format!("{name} program: {what}"));
            }
            (Some(uniforms), true) => uniforms,
            (None, _) => named,
        };
        count(name, uniform_reads(&insts), uniforms.len())?;
        let (inputs, color) = (Vec::new(), SourceColor::Rgba8);
        Ok(Source { stage, insts, uniforms, inputs, vertex_index: false, color })
    }

    /// Checks the attributes.
    ///
    /// # Errors
    /// Locations do not increase, or an attribute has more than four components.
    pub fn checked(self) -> Result<Source, Error> {
        let name = stage_name(self.stage);
        if let Some(pair) = self.inputs.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return refuse(format!(
                "{name} program: input location {} behind {}; they must increase",
                pair[1].0, pair[0].0
            ));
        }
        if let Some((location, count)) = self.inputs.iter().find(|(_, components)| *components > 4) {
            return refuse(format!("{name} program: {count} components of location {location}, at most 4"));
        }
        Ok(self)
    }
}

/// The words that the annotations of a text name.
fn annotated(name: &str, text: &str, uniforms: &[vc4::qpu::Uniform]) -> Result<Vec<Word>, Error> {
    let word = |uniform: &vc4::qpu::Uniform| {
        let line = || text[..uniform.span.start].matches('\n').count() + 1;
        uniform::named(&uniform.name).map_err(|what| wrong(format!("{name} program: {}: {what}", line())))
    };
    uniforms.iter().map(word).collect()
}

/// Every word that a program takes is described.
fn count(name: &str, reads: Vec<UniformRead>, have: usize) -> Result<(), Error> {
    // The kernel fills a word behind the last for loops that only set the address (qpu.md §5.3).
    if reads.len() == have || reads.len() + 1 == have {
        return Ok(());
    }
    let what = match reads.get(have) {
        Some(read) => format!("instruction {} takes uniform word {have}, which is not", read.instruction),
        None => format!("{have} words are"),
    };
    let all = reads.len();
    refuse(format!("{name} program: it takes {all} uniform words; {what} described (pUniforms or .uniform)"))
}

impl Module {
    /// Checks what no single program can tell.
    ///
    /// # Errors
    /// Programs that do not go together, or too many varyings.
    pub fn new(mut module: Module) -> Result<Module, Error> {
        module.programs.sort_by_key(|program| program.stage);
        if module.programs.is_empty() {
            return refuse("there is no program");
        }
        if let Some(pair) = module.programs.windows(2).find(|pair| pair[0].stage == pair[1].stage) {
            return refuse(format!("there are two {} programs", stage_name(pair[0].stage)));
        }
        // What a patched coordinate program writes behind the position is dropped.
        if let (Mode::Patched, Some(vertex), None) =
            (module.mode, module.program(Stage::Vertex), module.program(Stage::Coordinate))
        {
            module.programs.push(Source { stage: Stage::Coordinate, ..vertex.clone() });
        }
        let has = |stage| module.program(stage).is_some();
        if has(Stage::Vertex) != has(Stage::Coordinate) {
            let missing = if has(Stage::Vertex) { "coordinate" } else { "vertex" };
            return refuse(format!(
                "the {missing} program is missing: the machine runs the coordinate program to sort primitives \
                 into tiles and the vertex program to draw them"
            ));
        }
        let count = module.varyings.unwrap_or(module.names.len() as u32);
        if count > MAX_VARYINGS {
            return refuse(format!("{count} varyings, at most {MAX_VARYINGS}"));
        }
        if !module.names.is_empty() && module.names.len() != count as usize {
            return refuse(format!("{count} varyings, but names for {}", module.names.len()));
        }
        if let Some((_, component)) = module.names.iter().find(|(_, component)| *component > 3) {
            return refuse(format!("a varying is component {component} of its location; there are 0 to 3"));
        }
        Ok(module)
    }

    /// The program for a stage.
    pub fn program(&self, stage: Stage) -> Option<&Source> {
        self.programs.iter().find(|program| program.stage == stage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: &str = "sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
        sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
        sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;";
    const READ: &str = "sig_none ; r0 = or.always(a, a, uni, nop) ; nop = nop(r0, r0) ;\n";

    fn source(text: &str, uniforms: Option<Vec<Word>>) -> Result<Source, String> {
        Source::new(Stage::Fragment, &Code::Text(text), uniforms).map_err(|error| error.to_string())
    }

    #[test]
    fn uniforms_come_from_text_or_structure() {
        let word = Word::Specialization(3);
        let named = format!(".uniform spec[3]\n{READ}{END}");
        assert_eq!(source(&named, None).unwrap().uniforms, [word]);
        assert_eq!(source(&format!("{READ}{END}"), Some(vec![word])).unwrap().uniforms, [word]);
        assert!(source(&named, Some(vec![word])).unwrap_err().contains("keep one"));
        assert!(
            source(&format!("{READ}{END}"), None).unwrap_err().contains("instruction 0 takes uniform word 0")
        );
        assert!(source(END, Some(vec![word; 2])).unwrap_err().contains("2 words are described"));
        let message = source(&format!("\n.uniform color\n{READ}{END}"), None).unwrap_err();
        assert!(message.contains("2: no uniform is called color"), "{message}");
    }

    #[test]
    fn what_is_no_program_is_refused_with_its_place() {
        let message = source("sig_none ; r0 = fad(r0, r0) ; nop = nop(r0, r0) ;", None).unwrap_err();
        assert!(message.contains("1:") && message.contains("fadd"), "{message}");
        let words = [Inst::NOP.encode(), u64::MAX];
        let error = Source::new(Stage::Vertex, &Code::Words(&words), None).unwrap_err().to_string();
        assert!(error.contains("instruction 1, 0xffffffffffffffff"), "{error}");
    }

    #[test]
    fn programs_go_together() {
        let program = |stage| Source::new(stage, &Code::Text(END), None).unwrap();
        let of_mode = |mode, stages: &[Stage]| {
            let programs = stages.iter().map(|&stage| program(stage)).collect();
            let window = RasterWindow::Driver;
            let module = Module {
                mode,
                window,
                lenient: false,
                lookups: Vec::new(),
                programs,
                varyings: None,
                flat: 0,
                names: Vec::new(),
            };
            Module::new(module).map_err(|error| error.to_string())
        };
        let patched = of_mode(Mode::Patched, &[Stage::Vertex]).unwrap();
        assert!(patched.program(Stage::Coordinate).is_some(), "the vertex program serves");
        let module = |stages: &[Stage]| of_mode(Mode::Raw, stages);
        module(&[Stage::Fragment]).unwrap();
        assert!(module(&[Stage::Vertex, Stage::Coordinate]).unwrap().program(Stage::Fragment).is_none());
        assert!(module(&[]).unwrap_err().contains("no program"));
        assert!(module(&[Stage::Vertex]).unwrap_err().contains("coordinate program is missing"));
        assert!(module(&[Stage::Coordinate]).unwrap_err().contains("vertex program is missing"));
        assert!(module(&[Stage::Fragment, Stage::Fragment]).unwrap_err().contains("two fragment"));
    }
}

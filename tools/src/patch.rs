//! `vc4 patch`

mod print;

use crate::input::{Form, Program};
use crate::names::{self, FACTORS, LOGIC_OPS, OPS, STENCIL, names};
use crate::output::{Error, Status};
use clap::Subcommand;
use print::Printing;
use std::path::PathBuf;
use vc4::facts::NearPlane;
use vc4::qpu::{Inst, Stage, UniformRead, assemble, uniform_reads};
use vc4::splice::{
    self, FragmentState, Reg, Source, SourceColor, SpliceError, Spliced, VertexInput, VertexState,
};
use vc4::state::depth_stencil::StencilPlan;
use vc4::state::{
    Blend, BlendEquation, BlendFactor, BlendOp, ColorOutput, DepthStencilPlan, LogicOp, Multisample,
    StateWords, VertexFormat,
};

const EXAMPLES: &str = "\
Examples:
  vc4 patch blend --src src-alpha --dst one-minus-src-alpha
  vc4 patch blend --src constant-color --dst zero --constants 0.5,0.5,0.5,1 --format 565
  vc4 patch blend --logic-op xor --write-mask rgb --json
  vc4 patch depth-stencil --stencil full
  vc4 patch vertex --format R8G8B8A8_UNORM --format R16G16_SFLOAT
  vc4 patch position --stage coordinate
  vc4 patch multisample --alpha-to-coverage --src src-alpha --dst one
  vc4 patch apply --stage fragment shader.qpu --src one --dst one --depth
  vc4 patch apply --stage vertex --attribute R32G32B32_SFLOAT shader.qpu --hex

Without `apply` the code is that of a program which does nothing else: its colour is in r0, its position in r0-r3. Words of the
uniform stream stand in .uniform lines; `vc4 stencil` prints the stencil words.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Blending, logic operation, write mask and packing of a colour
    Blend {
        #[command(flatten)]
        color: Color,
        #[command(flatten)]
        printing: Printing,
    },
    /// The depth write and the stencil set-up in front of it
    DepthStencil {
        #[command(flatten)]
        depth: Depth,
        #[command(flatten)]
        printing: Printing,
    },
    /// Colour of targets with four samples: mask, alpha to coverage, blending of each sample
    Multisample {
        #[command(flatten)]
        samples: Samples,
        #[command(flatten)]
        color: Color,
        #[command(flatten)]
        printing: Printing,
    },
    /// Attribute fetch: VPM set-up and conversion
    Vertex {
        /// Format in the vertex buffer, by its Vulkan name; once per attribute
        #[arg(long = "format", value_parser = names::vertex_format, required = true)]
        formats: Vec<VertexFormat>,
        #[command(flatten)]
        printing: Printing,
    },
    /// Position: viewport, clip and screen coordinates
    Position {
        /// Which of the two programs
        #[arg(long, value_enum, default_value_t = VertexStageName::Vertex)]
        stage: VertexStageName,
        /// Points are drawn; their size is in ra0
        #[arg(long)]
        points: bool,
        #[command(flatten)]
        printing: Printing,
    },
    /// Splice state into a program
    Apply(Box<Apply>),
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum VertexStageName {
    Vertex,
    Coordinate,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum StageName {
    Vertex,
    Coordinate,
    Fragment,
}

/// The colour target.
#[derive(clap::Args)]
struct Color {
    /// Source factor of red, green and blue; with --dst turns blending on
    #[arg(long, value_parser = names(FACTORS))]
    src: Option<BlendFactor>,
    /// Destination factor of red, green and blue
    #[arg(long, value_parser = names(FACTORS))]
    dst: Option<BlendFactor>,
    /// Blend operation of red, green and blue
    #[arg(long, value_parser = names(OPS))]
    op: Option<BlendOp>,
    /// As --src, for alpha
    #[arg(long, value_parser = names(FACTORS))]
    src_alpha: Option<BlendFactor>,
    /// As --dst, for alpha
    #[arg(long, value_parser = names(FACTORS))]
    dst_alpha: Option<BlendFactor>,
    /// As --op, for alpha
    #[arg(long, value_parser = names(OPS))]
    op_alpha: Option<BlendOp>,
    /// Logic operation, which replaces blending
    #[arg(long, value_parser = names(LOGIC_OPS))]
    logic_op: Option<LogicOp>,
    /// Components that are written: letters of rgba, or none
    #[arg(long, value_parser = names::components, default_value = "rgba")]
    write_mask: [bool; 4],
    /// Format of the target: rgba8, bgra8, srgb, 565, a2b10g10r10, or a Vulkan name
    #[arg(long, value_parser = names::target, default_value = "rgba8", value_name = "FORMAT")]
    format: ColorOutput,
    /// Blend constants R,G,B,A, to print the words that hold them
    #[arg(long, value_parser = names::constants)]
    constants: Option<[f32; 4]>,
    /// Blend in floats even where bytes are exact enough
    #[arg(long)]
    precise: bool,
    /// The colour's form: rgba8, bgra8, or four registers with floats, as r0,r1,ra2,rb3
    #[arg(long, value_parser = source_color, default_value = "rgba8", value_name = "FORM")]
    source: SourceColor,
    /// Registers of the second colour, for factors of a second source
    #[arg(long, value_parser = names::registers, value_name = "REGISTERS")]
    second: Option<[Reg; 4]>,
}

/// Depth and stencil.
#[derive(clap::Args)]
struct Depth {
    /// Stencil words: off, both (one word), both-masks (two), faces (two), full (three)
    #[arg(long, value_parser = names(STENCIL), default_value = "off")]
    stencil: StencilPlan,
}

/// Samples.
#[derive(clap::Args)]
struct Samples {
    /// The pipeline's sample mask leaves samples out
    #[arg(long)]
    sample_mask: bool,
    /// Alpha becomes coverage
    #[arg(long)]
    alpha_to_coverage: bool,
    /// Alpha counts as 1 from then on
    #[arg(long)]
    alpha_to_one: bool,
}

#[derive(clap::Args)]
struct Apply {
    /// Program text or words; standard input without
    file: Option<PathBuf>,
    /// What the program runs for
    #[arg(long, value_enum)]
    stage: StageName,
    #[command(flatten)]
    color: Color,
    /// The program drops its colour: there is no target
    #[arg(long)]
    no_color: bool,
    /// Depth or stencil test is on
    #[arg(long)]
    depth: bool,
    #[command(flatten)]
    stencil: Depth,
    /// The target has four samples
    #[arg(long)]
    four_samples: bool,
    #[command(flatten)]
    samples: Samples,
    /// Format of an attribute, by its Vulkan name, in the order of reading; with `:N` the program reads N components
    #[arg(long = "attribute", value_parser = attribute, value_name = "FORMAT")]
    attributes: Vec<VertexInput>,
    /// Points are drawn
    #[arg(long)]
    points: bool,
    /// The input is hexadecimal words
    #[arg(long)]
    hex_input: bool,
    /// The input is binary
    #[arg(long, conflicts_with = "hex_input")]
    bin_input: bool,
    #[command(flatten)]
    printing: Printing,
}

fn source_color(text: &str) -> Result<SourceColor, String> {
    match text {
        "rgba8" => Ok(SourceColor::Rgba8),
        "bgra8" => Ok(SourceColor::Bgra8),
        registers => names::registers(registers).map(SourceColor::Registers),
    }
}

fn attribute(text: &str) -> Result<VertexInput, String> {
    let (format, count) = text.split_once(':').map_or((text, None), |(format, count)| (format, Some(count)));
    let whole = VertexInput::whole(names::vertex_format(format)?);
    let Some(count) = count else { return Ok(whole) };
    match count.parse() {
        Ok(components @ 0..=4) => Ok(VertexInput { components, ..whole }),
        _ => Err("a program reads 0 to 4 components of an attribute".into()),
    }
}

impl Color {
    fn output(&self, multisample: bool) -> ColorOutput {
        let blends = [self.src, self.dst, self.src_alpha, self.dst_alpha].iter().any(Option::is_some);
        let blend = (blends || self.op.is_some() || self.op_alpha.is_some()).then(|| {
            let color = BlendEquation {
                src: self.src.unwrap_or(BlendFactor::One),
                dst: self.dst.unwrap_or(BlendFactor::Zero),
                op: self.op.unwrap_or(BlendOp::Add),
            };
            let alpha = BlendEquation {
                src: self.src_alpha.unwrap_or(color.src),
                dst: self.dst_alpha.unwrap_or(color.dst),
                op: self.op_alpha.unwrap_or(color.op),
            };
            Blend { color, alpha }
        });
        let logic_op = self.logic_op;
        ColorOutput {
            write: self.write_mask,
            blend,
            logic_op,
            multisample,
            precise: self.precise,
            ..self.format
        }
    }

    fn state(&self, multisample: Multisample) -> FragmentState {
        let color = self.output(multisample.four_samples);
        FragmentState { multisample, source: self.source, second: self.second, ..FragmentState::plain(color) }
    }

    fn words(&self) -> Option<StateWords> {
        self.constants.map(|blend_constants| StateWords { blend_constants, ..StateWords::default() })
    }
}

impl Samples {
    fn state(&self, four_samples: bool) -> Multisample {
        let Samples { sample_mask, alpha_to_coverage, alpha_to_one } = *self;
        Multisample { four_samples, sample_mask, alpha_to_coverage, alpha_to_one }
    }
}

const END: &str = "sig_end ; nop = nop() ; nop = nop() ;
    sig_none ; nop = nop() ; nop = nop() ;
    sig_none ; nop = nop() ; nop = nop() ;";

pub fn run(options: &Options) -> Result<Status, Error> {
    match &options.action {
        Action::Blend { color, printing } => fragment(color, &color.state(Multisample::default()), printing),
        Action::Multisample { samples, color, printing } => {
            fragment(color, &color.state(samples.state(true)), printing)
        }
        Action::DepthStencil { depth, printing } => {
            let plan = DepthStencilPlan { write_z: true, stencil: depth.stencil };
            let plain = FragmentState::plain(names::target("rgba8").map_err(Error::Input)?);
            let state = FragmentState { color: None, depth_stencil: plan, ..plain };
            let insts = alone("sig_none ; nop = nop() ; nop = nop() ;")?;
            let spliced = splice::fragment(&source(Stage::Fragment, &insts, &[]), &state).map_err(refused)?;
            printing.print(&spliced, None, |_| true)
        }
        Action::Vertex { formats, printing } => vertex(formats, printing),
        Action::Position { stage, points, printing } => position(*stage, *points, printing),
        Action::Apply(apply) => apply.run(),
    }
}

fn alone(text: &str) -> Result<Vec<Inst>, Error> {
    let assembled = assemble(&format!("{text}\n{END}")).map_err(|error| Error::Input(error.to_string()))?;
    assembled.instructions().map_err(|(_, error)| Error::Input(error.to_string()))
}

fn source<'a>(stage: Stage, insts: &'a [Inst], uniforms: &'a [String]) -> Source<'a, String> {
    Source { stage, insts, uniforms }
}

fn refused(error: SpliceError) -> Error {
    Error::Input(error.to_string())
}

fn fragment(color: &Color, state: &FragmentState, printing: &Printing) -> Result<Status, Error> {
    let insts = alone("sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;")?;
    let mut state = *state;
    if state.color.is_some_and(|color| color.reads_second_source()) {
        // Somewhere: there is no program that could say.
        state.second.get_or_insert([16, 17, 18, 19].map(Reg::A));
    }
    let spliced = splice::fragment(&source(Stage::Fragment, &insts, &[]), &state).map_err(refused)?;
    printing.print(&spliced, color.words().as_ref(), |_| true)
}

fn vertex(formats: &[VertexFormat], printing: &Printing) -> Result<Status, Error> {
    let inputs: Vec<VertexInput> = formats.iter().map(|&format| VertexInput::whole(format)).collect();
    let mut text = String::new();
    for input in &inputs {
        for n in 0..input.components {
            text += &format!("sig_none ; r{n} = or.always(a, a, vpm_read) ; nop = nop() ;\n");
        }
    }
    text += &"sig_none ; vpm = or.always(r0, r0) ; nop = nop() ;".repeat(4);
    let insts = alone(&text)?;
    let state = VertexState { inputs: &inputs, points: false, near_plane: NearPlane::default() };
    let spliced = splice::vertex(&source(Stage::Vertex, &insts, &[]), &state).map_err(refused)?;
    let reads = inputs.iter().map(|input| usize::from(input.components)).sum();
    printing.print(&spliced, None, |origin| match origin {
        splice::Origin::Own(index) => index < reads,
        splice::Origin::Patch(patch) => matches!(patch, "vpm" | "fetch"),
    })
}

fn position(stage: VertexStageName, points: bool, printing: &Printing) -> Result<Status, Error> {
    let mut text = String::new();
    for n in 0..4 {
        text += &format!("sig_none ; vpm = or.always(r{n}, r{n}) ; nop = nop() ;\n");
    }
    if points {
        text += "sig_none ; vpm = or.always(a, a, ra0) ; nop = nop() ;";
    }
    let insts = alone(&text)?;
    let state = VertexState { inputs: &[], points, near_plane: NearPlane::default() };
    let (stage, put): (_, fn(&Source<'_, String>, &VertexState<'_>) -> _) = match stage {
        VertexStageName::Vertex => (Stage::Vertex, splice::vertex),
        VertexStageName::Coordinate => (Stage::Coordinate, splice::coordinate),
    };
    let spliced = put(&source(stage, &insts, &[]), &state).map_err(refused)?;
    printing.print(&spliced, None, |_| true)
}

impl Apply {
    fn run(&self) -> Result<Status, Error> {
        let form = Form { hex: self.hex_input, bin: self.bin_input };
        let program = Program::read(self.file.as_deref(), form)?;
        let insts = program.instructions()?;
        let uniforms = own_uniforms(&program, &insts);
        let at = |error: SpliceError| match error {
            SpliceError::Program { instruction, .. }
            | SpliceError::NoRegister { instruction, .. }
            | SpliceError::Rule { instruction: Some(instruction), .. } => {
                Error::Input(format!("{}{error}", program.place(instruction)))
            }
            error => Error::Input(format!("{}: {error}", program.name)),
        };
        let spliced = self.splice(&insts, &uniforms).map_err(at)?;
        self.printing.print(&spliced, self.color.words().as_ref(), |_| true)
    }

    fn splice(&self, insts: &[Inst], uniforms: &[String]) -> Result<Spliced<String>, SpliceError> {
        let state =
            VertexState { inputs: &self.attributes, points: self.points, near_plane: NearPlane::default() };
        match self.stage {
            StageName::Vertex => splice::vertex(&source(Stage::Vertex, insts, uniforms), &state),
            StageName::Coordinate => splice::coordinate(&source(Stage::Coordinate, insts, uniforms), &state),
            StageName::Fragment => {
                let mut state = self.color.state(self.samples.state(self.four_samples));
                let stencil = self.stencil.stencil;
                let write_z = self.depth || stencil != StencilPlan::Off;
                state.depth_stencil = DepthStencilPlan { write_z, stencil };
                state.color = state.color.filter(|_| !self.no_color);
                splice::fragment(&source(Stage::Fragment, insts, uniforms), &state)
            }
        }
    }
}

/// Names of the words that a program takes: its own where it has some.
fn own_uniforms(program: &Program, insts: &[Inst]) -> Vec<String> {
    let named = program.source.as_ref().and_then(|(text, _)| assemble(text).ok()).map(|out| out.uniforms);
    match named {
        Some(named) if !named.is_empty() => named.into_iter().map(|uniform| uniform.name).collect(),
        _ => {
            let name = |(n, _): (usize, &UniformRead)| format!("own[{n}]");
            uniform_reads(insts).iter().enumerate().map(name).collect()
        }
    }
}

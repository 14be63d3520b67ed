//! Assembly programs become the programs of a pipeline: rules, attributes, varyings, and what each word of their
//! uniform streams is.

use vc4::qpu::{
    Access, AddOp, Declared, Inst, MulOp, Mux, Raddr, RaddrB, RegFile, Signal, Stage, Waddr, check_declared,
    disassemble, rules,
};
use vc4_kernel_abi::validate::{self, ShaderInfo};
use vc4_shaders::compile::{PipelineState, Varying};
use vc4_shaders::ir::Interpolation;
use vc4_shaders::program::{AttributeArray, Descriptor, Pipeline, Program, SampleBo, UniformSlot};

use super::assembly::{Mode, Module, Source, Word, refuse, stage_name};
use super::attributes::{Loads, arrays};
use super::info::{GraphicsInfo, constant};
use super::patch::{self, Ready};
use super::resources;
use crate::foundation::error::Error;

/// Words of a shaded vertex before its varyings, and of a coordinate program's whole output (v3d.md §7.2, §7.3).
const VERTEX_HEADER: usize = 3;
const COORDINATE_HEADER: usize = 7;

/// What programs are linked for.
pub(super) struct Linker<'a> {
    /// The pipeline.
    pub info: &'a GraphicsInfo,
    /// Its state.
    pub state: &'a PipelineState,
}

/// Specialisation constants: id and bytes.
type Constants = [(u32, Vec<u8>)];

/// A fragment program and what the shader record says of it.
pub(super) struct Fragment {
    program: Program,
    /// Scalar varyings, without those of points and lines.
    pub varyings: u32,
    flat: u32,
    writes_depth: bool,
    discards: bool,
    reads_color: bool,
}

impl Fragment {
    /// That of a compiled pipeline.
    pub(super) fn compiled(pipeline: Pipeline) -> Fragment {
        Fragment {
            program: pipeline.fragment,
            varyings: pipeline.varyings,
            flat: pipeline.flat_varyings,
            writes_depth: pipeline.writes_depth,
            discards: pipeline.discards,
            reads_color: pipeline.reads_color,
        }
    }

    /// The program.
    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    /// The pipeline of the vertex half with this program.
    pub(super) fn attach(&self, vertex: Pipeline) -> Pipeline {
        Pipeline {
            fragment: self.program.clone(),
            varyings: self.varyings,
            flat_varyings: self.flat,
            writes_depth: self.writes_depth,
            discards: self.discards,
            reads_color: self.reads_color,
            ..vertex
        }
    }
}

/// How the vertex stage names the varyings of a fragment program.
pub(super) fn varyings(module: &Module, count: u32) -> Vec<Varying> {
    let name = |n: u32| module.names.get(n as usize).copied().unwrap_or((n / 4, n % 4));
    let varying = |n: u32| {
        let (location, component) = name(n);
        let interpolation = match module.flat >> n & 1 {
            1 => Interpolation::Flat,
            _ => Interpolation::Smooth,
        };
        Varying { location, component: component as u8, interpolation }
    };
    (0..count).map(varying).collect()
}

impl Linker<'_> {
    /// Links a module's fragment program.
    ///
    /// # Errors
    /// There is none, it breaks a rule, or its uniforms do not fit the pipeline's layout.
    pub(super) fn fragment(&self, module: &Module, constants: &Constants) -> Result<Fragment, Error> {
        let source = self.source(module, Stage::Fragment, "fragment")?;
        let ready = self.ready(module, source, constants, None)?;
        let reads = ready.insts.iter().filter(|inst| Access::of(inst).reads_varying()).count() as u32;
        let implicit = self.implicit_varyings();
        let varyings = match module.varyings {
            Some(count) => count,
            None => reads.checked_sub(implicit).map_or_else(
                || refuse(format!("the fragment program reads {reads} varyings; {implicit} come first, of points or lines")),
                Ok,
            )?,
        };
        let declared = u8::try_from(varyings + implicit).unwrap_or(u8::MAX);
        self.check(module, Stage::Fragment, &ready.insts, Declared { varyings: Some(declared) })?;
        let writes_depth = ready.insts.iter().any(computes_depth);
        let conditional =
            |access: &Access| access.written().any(|w| w.waddr.is_tlb() && w.cond != vc4::qpu::Cond::Always);
        let accesses: Vec<Access> = ready.insts.iter().map(Access::of).collect();
        Ok(Fragment {
            varyings,
            flat: module.flat & 1u32.checked_shl(varyings).map_or(u32::MAX, |bit| bit - 1),
            writes_depth,
            discards: accesses.iter().any(conditional),
            reads_color: accesses.iter().any(|access| access.signal == Signal::ColorLoad),
            program: self.program(module, Stage::Fragment, ready)?,
        })
    }

    /// Links a module's vertex and coordinate programs with a fragment program.
    ///
    /// # Errors
    /// As for [`Linker::fragment`].
    pub(super) fn vertex(
        &self,
        module: &Module,
        constants: &Constants,
        fragment: Fragment,
    ) -> Result<Pipeline, Error> {
        let mut loads = Vec::new();
        let mut programs = Vec::new();
        for (stage, header) in [
            (Stage::Vertex, VERTEX_HEADER + fragment.varyings as usize),
            (Stage::Coordinate, COORDINATE_HEADER),
        ] {
            let source = self.source(module, stage, "vertex")?;
            let load = Loads::new(source, self.state)?;
            let ready = self.ready(module, source, constants, Some(&load))?;
            self.check(module, stage, &ready.insts, Declared::default())?;
            let rows = header + usize::from(self.state.points);
            output_rows(stage, &ready.insts, rows)?;
            input_rows(stage, &ready.insts, load.rows())?;
            programs.push(self.program(module, stage, ready)?);
            loads.push(load);
        }
        let attributes = arrays(&loads[0], &loads[1])?;
        let bytes = |offset: fn(&AttributeArray) -> Option<u8>| {
            let loaded = attributes.iter().filter(|array| offset(array).is_some());
            loaded.map(|array| array.bytes.next_multiple_of(4)).sum()
        };
        let (vertex_attribute_bytes, coordinate_attribute_bytes) =
            (bytes(|array| array.vertex_offset), bytes(|array| array.coordinate_offset));
        let mut programs = programs.into_iter();
        Ok(fragment.attach(Pipeline {
            vertex: programs.next().unwrap_or_default(),
            coordinate: programs.next().unwrap_or_default(),
            attributes,
            vertex_attribute_bytes,
            coordinate_attribute_bytes,
            point_size: self.state.points,
            ..Pipeline::default()
        }))
    }

    fn source<'m>(&self, module: &'m Module, stage: Stage, api: &str) -> Result<&'m Source, Error> {
        let have = || module.programs.iter().map(|program| stage_name(program.stage)).collect::<Vec<_>>();
        let missing = || {
            format!("the module of the {api} stage has no {} program, but {:?}", stage_name(stage), have())
        };
        module.program(stage).map_or_else(|| refuse(missing()), Ok)
    }

    /// Varyings that the machine puts before those of vertices (qpu.md §4.2).
    fn implicit_varyings(&self) -> u32 {
        match (self.state.points, self.state.lines) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    }

    /// The program that runs: the source as it is, or with state around it.
    fn ready(
        &self,
        module: &Module,
        source: &Source,
        constants: &Constants,
        loads: Option<&Loads>,
    ) -> Result<Ready, Error> {
        let slots = source.uniforms.iter().map(|word| slot(word, constants));
        let uniforms = slots.collect::<Result<Vec<_>, Error>>()?;
        for uniform in &uniforms {
            if let Err(what) = resources::check(self.info, uniform) {
                let what = format!("{} program: {what}", stage_name(source.stage));
                if !module.lenient {
                    return refuse(what);
                }
                log::warn!(target: "vc4::asm", "{what}");
            }
        }
        let ready = Ready { insts: source.insts.clone(), uniforms };
        match module.mode {
            Mode::Raw => Ok(ready),
            Mode::Patched => patch::apply(self.state, source, ready, loads),
        }
    }

    /// The machine's rules.
    fn check(&self, module: &Module, stage: Stage, insts: &[Inst], declared: Declared) -> Result<(), Error> {
        let violations = check_declared(stage, insts, declared);
        if violations.is_empty() {
            return Ok(());
        }
        let listing = rules::render(insts, &violations);
        let what = format!("{} program: {} broken rules\n{listing}", stage_name(stage), violations.len());
        if !module.lenient {
            return refuse(what);
        }
        log::warn!(target: "vc4::asm", "{what}");
        Ok(())
    }

    /// The kernel's rules, and the stream by them.
    fn program(&self, module: &Module, stage: Stage, ready: Ready) -> Result<Program, Error> {
        let Ready { insts, mut uniforms } = ready;
        let code: Vec<u64> = insts.iter().map(Inst::encode).collect();
        let name = stage_name(stage);
        let info = validate::shader::validate(&code, validate::Mode::Strict)
            .or_else(|violation| refuse(format!("{name} program: {violation}\n{}", disassemble(&code))))?;
        let words = (info.uniforms_size / 4) as usize;
        if uniforms.len() + 1 == words && info.uniform_addr_slots.contains(&(words as u32 - 1)) {
            uniforms.push(UniformSlot::StreamAddress);
        }
        if uniforms.len() != words {
            let have = uniforms.len();
            return refuse(format!(
                "{name} program: {words} uniform words up to its end, but {have} are described"
            ));
        }
        let samples = samples(&info, &mut uniforms, &module.lookups);
        let samples = samples.and_then(|samples| placed(&info, &uniforms).map(|()| samples));
        let samples = samples.or_else(|what| refuse(format!("{name} program: {what}")))?;
        Ok(Program { code, uniforms, samples, threaded: info.threaded, ..Program::default() })
    }
}

/// The word with the pipeline's specialisation constants.
fn slot(word: &Word, constants: &Constants) -> Result<UniformSlot, Error> {
    match word {
        Word::Slot(slot) => Ok(*slot),
        Word::Specialization(id) => match constants.iter().find(|(key, _)| key == id) {
            Some((_, bytes)) => constant(bytes).map(UniformSlot::Const),
            None => refuse(format!("specialization constant {id} has no value in pSpecializationInfo")),
        },
    }
}

/// What each lookup reads, by the words that are its parameters. Direct lookups of `buffers` in their order get their
/// words here.
fn samples(
    info: &ShaderInfo,
    uniforms: &mut [UniformSlot],
    buffers: &[Descriptor],
) -> Result<Vec<SampleBo>, String> {
    let mut buffers = buffers.iter();
    let mut out = Vec::new();
    for (number, sample) in info.samples.iter().enumerate() {
        let at = |n: usize| sample.p[n].map(|byte| (byte / 4) as usize);
        if let (true, Some(base), Some(limit), Some(buffer)) =
            (sample.direct, at(0), at(1), buffers.as_slice().first())
        {
            buffers.next();
            let (first, last) = (
                UniformSlot::UboBase { buffer: *buffer, offset: 0 },
                UniformSlot::UboLimit { buffer: *buffer, last: 0 },
            );
            for (at, slot) in [(base, first), (limit, last)] {
                if let Some(place) = uniforms.get_mut(at) {
                    *place = slot;
                }
            }
        }
        let slot = |n: usize| at(n).and_then(|at| uniforms.get(at).copied());
        let bo = match (sample.direct, slot(0), slot(1)) {
            (false, Some(UniformSlot::TextureP0(lookup)), Some(UniformSlot::TextureP1(other)))
                if lookup == other =>
            {
                match slot(2) {
                    Some(UniformSlot::TextureP2 { lookup: other, .. }) if lookup != other => None,
                    _ => Some(SampleBo::Texture(lookup.texture.image)),
                }
            }
            (
                true,
                Some(UniformSlot::UboBase { buffer, offset: 0 }),
                Some(UniformSlot::UboLimit { buffer: other, last: 0 }),
            ) if buffer == other => Some(SampleBo::Ubo(buffer)),
            _ => None,
        };
        let wanted = if sample.direct { "ubo.base and ubo.limit" } else { "tex.p0 and tex.p1" };
        out.push(bo.ok_or_else(|| {
            let (p0, p1) = (at(0).unwrap_or(0), at(1).unwrap_or(0));
            format!(
                "lookup {number} takes uniform words {p0} and {p1}, which should be {wanted} of one descriptor, \
                 not {:?} and {:?}",
                slot(0),
                slot(1)
            )
        })?);
    }
    Ok(out)
}

/// Words with an address stand only where the kernel puts one, and everywhere there.
fn placed(info: &ShaderInfo, uniforms: &[UniformSlot]) -> Result<(), String> {
    let is_parameter = |word: u32, n: usize| info.samples.iter().any(|sample| sample.p[n] == Some(4 * word));
    for (number, slot) in (0..).zip(uniforms) {
        let is_stream = info.uniform_addr_slots.contains(&number);
        let right = match slot {
            UniformSlot::TextureP0(_) | UniformSlot::UboBase { .. } => is_parameter(number, 0),
            UniformSlot::TextureP1(_) | UniformSlot::UboLimit { .. } => is_parameter(number, 1),
            UniformSlot::TextureP2 { .. } => is_parameter(number, 2),
            UniformSlot::StreamAddress => is_stream,
            _ => true,
        };
        if !right {
            return Err(format!("uniform word {number} is described as {slot:?}, which it cannot be here"));
        }
        if is_stream && *slot != UniformSlot::StreamAddress {
            return Err(format!(
                "uniform word {number} is the stream's own address; describe it as `stream`"
            ));
        }
    }
    Ok(())
}

/// Whether the instruction writes a depth that is not plainly the payload's: then early depth tests are off.
fn computes_depth(inst: &Inst) -> bool {
    let access = Access::of(inst);
    let Some(write) = access.written().find(|write| write.waddr == Waddr::TLB_Z) else { return false };
    let Inst::Alu(alu) = inst else { return true };
    let payload = alu.raddr_b == RaddrB::Reg(Raddr::reg(15)) && write.pack == vc4::qpu::Pack::Nop;
    let by_add = alu.waddr_add == Waddr::TLB_Z;
    let moved = match by_add {
        true => alu.op_add == AddOp::Or && (alu.add_a, alu.add_b) == (Mux::B, Mux::B),
        false => {
            matches!(alu.op_mul, MulOp::V8min | MulOp::V8max) && (alu.mul_a, alu.mul_b) == (Mux::B, Mux::B)
        }
    };
    !(payload && moved)
}

/// A program without branches that sets up `register` of file `file` once: how often it does `what`.
fn straight(insts: &[Inst], file: RegFile, what: impl Fn(&Access) -> bool) -> Option<usize> {
    let accesses: Vec<Access> = insts.iter().map(Access::of).collect();
    let setup = |access: &&Access| {
        access.written().any(|write| write.waddr == Waddr::VPM_SETUP && write.file == file)
    };
    let plain = !accesses.iter().any(|access| access.is_branch) && accesses.iter().filter(setup).count() <= 1;
    plain.then(|| accesses.iter().filter(|access| what(access)).count())
}

/// The shaded vertex has as many words as the machine will read.
fn output_rows(stage: Stage, insts: &[Inst], rows: usize) -> Result<(), Error> {
    match straight(insts, RegFile::B, |access| access.writes_to(Waddr::VPM)) {
        Some(have) if have != rows => {
            let what = match stage {
                Stage::Coordinate => "Xc Yc Zc Wc, Ys:Xs, Zs, 1/Wc, and the point size of points",
                _ => "Ys:Xs, Zs, 1/Wc, the point size of points, and the varyings of the fragment program",
            };
            let name = stage_name(stage);
            refuse(format!("the {name} program writes {have} words to the VPM, {rows} are needed: {what}"))
        }
        _ => Ok(()),
    }
}

/// No more words are read than are loaded.
fn input_rows(stage: Stage, insts: &[Inst], rows: u32) -> Result<(), Error> {
    let name = stage_name(stage);
    match straight(insts, RegFile::A, Access::reads_vpm) {
        Some(have) if have > rows as usize => refuse(format!(
            "the {name} program reads {have} words of attributes per vertex, {rows} are loaded"
        )),
        Some(have) if have < rows as usize => {
            log::warn!(
                target: "vc4::asm",
                "the {name} program reads {have} of {rows} words that are loaded per vertex; set locations"
            );
            Ok(())
        }
        _ => Ok(()),
    }
}

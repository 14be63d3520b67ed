//! Fragment programs: coverage, stencil and depth in front of the colour, the tile buffer's format behind it.

use super::edit::{find_write, redirect, targets};
use super::error::SpliceError;
use super::flow::{Flow, Passed};
use super::lower::{Lowering, sets_flags};
use super::normal::Normal;
use super::program::{Source, Spliced};
use super::record::{Node, Patch, Value};
use super::registers::{Reg, RegSet};
use super::section::{Place, build};
use super::state::{FragmentState, SourceColor};
use super::weave::{Group, Weave};
use crate::image::layout::MSAA_SAMPLES;
use crate::qpu::access::Access;
use crate::qpu::isa::RegFile;
use crate::qpu::{Cond, Stage, Unpack, Waddr};
use crate::state::blend::emit_color_samples;
use crate::state::depth_stencil::{DepthStencilPlan, StencilPlan, emit_depth_stencil};
use crate::state::multisample::{Coverage, emit_coverage};
use crate::state::{ColorKind, ColorOutput, Emitter, Flag, SampleEmitter};

/// Name of the patch at a colour write.
const COLOR: &str = "color";
/// Name of the patch at the program's own depth write.
const STENCIL: &str = "stencil";
/// Name of the patch at the end of a program without a colour.
const DEPTH: &str = "depth";
/// Where the interpolated depth arrives (qpu.md §4.3).
const PAYLOAD_Z: Reg = Reg::B(15);

/// See [`super::fragment`].
pub fn splice<U: Clone>(source: &Source<'_, U>, state: &FragmentState) -> Result<Spliced<U>, SpliceError> {
    if source.stage != Stage::Fragment {
        return Err(SpliceError::Stage { have: source.stage, want: Stage::Fragment });
    }
    check_state(state)?;
    let normal = Normal::new(source, |access| writes_color(access) || access.writes_to(Waddr::TLB_Z))?;
    let plain = normal.flow(&[]);
    let plan = Plan::new(&normal, state, &plain)?;
    let flow = normal.flow(&plan.kept_for_patches(state));
    let mut weave = Weave::new(&normal);
    for &index in &plan.depths {
        plan.at_depth(&normal, state, &flow, &mut weave, index)?;
    }
    for &index in &plan.colors {
        plan.at_color(&normal, state, [&plain, &flow], &mut weave, index)?;
    }
    if plan.colors.is_empty() && plan.depths.is_empty() {
        let group = plan.at_end(&normal, state)?;
        weave.behind[normal.last()].push(group);
    }
    weave.finish()
}

fn writes_color(access: &Access) -> bool {
    access.writes_to(Waddr::TLB_COLOR_ALL) || access.writes_to(Waddr::TLB_COLOR_MS)
}

fn is_color(waddr: Waddr) -> bool {
    matches!(waddr, Waddr::TLB_COLOR_ALL | Waddr::TLB_COLOR_MS)
}

fn whole(what: impl Into<String>, instead: &'static str) -> SpliceError {
    SpliceError::Whole { what: what.into(), instead }
}

fn check_state(state: &FragmentState) -> Result<(), SpliceError> {
    if state.color.is_some_and(|color| color.multisample != state.multisample.four_samples) {
        return Err(whole(
            "the colour target and the multisample state disagree about samples",
            "set ColorOutput::multisample and Multisample::four_samples alike",
        ));
    }
    let registers = match state.source {
        SourceColor::Registers(regs) => regs.to_vec(),
        SourceColor::Rgba8 | SourceColor::Bgra8 => Vec::new(),
    };
    match registers.into_iter().chain(state.second.into_iter().flatten()).find(|reg| !reg.exists()) {
        Some(reg) => Err(whole(format!("there is no register {reg}"), "name r0-r3, ra0-ra31 or rb0-rb31")),
        None => Ok(()),
    }
}

/// What goes where.
struct Plan {
    /// Colour writes.
    colors: Vec<usize>,
    /// The program writes sample by sample.
    per_sample: bool,
    /// Colour writes that a path has passed in front of each instruction.
    passed: Passed,
    /// The program's own depth writes.
    depths: Vec<usize>,
    /// The program sets up the stencil itself.
    own_stencil: bool,
    /// The colour patches write the interpolated depth.
    payload: bool,
}

impl Plan {
    fn new<U>(normal: &Normal<'_, U>, state: &FragmentState, flow: &Flow<'_>) -> Result<Plan, SpliceError> {
        if let Some(&index) = normal.all(Access::tile_load).first() {
            return Err(normal.fault(
                index,
                "reads the tile's colour, which the state does in patched mode",
                "leave it out, or put the program into raw mode",
            ));
        }
        let colors = normal.all(writes_color);
        let samples = normal.all(|access| access.writes_to(Waddr::TLB_COLOR_MS));
        let per_sample = state.multisample.four_samples && !samples.is_empty();
        let depths = normal.all(|access| access.writes_to(Waddr::TLB_Z));
        let plan = Plan {
            passed: flow.passed(|index| colors.contains(&index)),
            per_sample,
            own_stencil: !normal.all(|access| access.writes_to(Waddr::TLB_STENCIL_SETUP)).is_empty(),
            payload: state.depth_stencil.write_z && depths.is_empty(),
            colors,
            depths,
        };
        plan.check_colors(normal, samples.len())?;
        plan.check_depths(normal, state, flow)?;
        Ok(plan)
    }

    /// Every path writes its colour as often as it should.
    fn check_colors<U>(&self, normal: &Normal<'_, U>, samples: usize) -> Result<(), SpliceError> {
        let Some(&first) = self.colors.first() else { return Ok(()) };
        if self.per_sample && samples != self.colors.len() {
            let what = "writes tlb_color_all and tlb_color_ms";
            return Err(normal.fault(first, what, "write one of them, the latter four times"));
        }
        let want = if self.per_sample { MSAA_SAMPLES as u8 } else { 1 };
        let uneven =
            self.colors.iter().find(|&&at| self.passed.before(at).is_some_and(|(low, high)| low != high));
        let (low, high) = self.passed.end;
        if (low, high) == (want, want) && uneven.is_none() {
            return Ok(());
        }
        let (what, at) = if high > want || uneven.is_some() {
            let again =
                self.colors.iter().find(|&&at| self.passed.before(at).is_some_and(|(_, high)| high >= want));
            (format!("a path writes the colour more than {}", times(want)), uneven.or(again))
        } else {
            (format!("a path writes the colour {}, not {}", times(low), times(want)), None)
        };
        let at = at.copied().unwrap_or(first);
        Err(normal.fault(
            at,
            what,
            "write it once on every path, or four times by samples; use conditions to discard",
        ))
    }

    fn check_depths<U>(
        &self,
        normal: &Normal<'_, U>,
        state: &FragmentState,
        flow: &Flow<'_>,
    ) -> Result<(), SpliceError> {
        if let Some(&first) = self.depths.first() {
            if flow.passed(|index| self.depths.contains(&index)).end != (1, 1) {
                let what = "tlb_z is not written once on every path";
                return Err(normal.fault(first, what, "write it on all paths or on none"));
            }
            if state.multisample.alpha_to_coverage {
                let what = "writes its depth before the colour is known whose alpha becomes coverage";
                return Err(normal.fault(
                    first,
                    what,
                    "turn alpha to coverage off, or leave the depth to the state",
                ));
            }
        }
        let overwrites =
            |access: &Access| access.written().any(|w| w.file == RegFile::B && w.waddr == Waddr::reg(15));
        if let (true, Some(&at)) = (self.payload, normal.all(overwrites).first()) {
            let what = "writes rb15, which holds the depth that the state needs at the colour write";
            return Err(normal.fault(at, what, "use another register, or write tlb_z"));
        }
        Ok(())
    }

    /// What patches read behind each colour write.
    fn kept_for_patches(&self, state: &FragmentState) -> Vec<(usize, RegSet)> {
        let mut regs = RegSet::EMPTY;
        if let SourceColor::Registers(colors) = state.source {
            colors.iter().for_each(|reg| regs.add(RegSet::one(*reg)));
        }
        state.second.iter().flatten().for_each(|reg| regs.add(RegSet::one(*reg)));
        if self.payload {
            regs.add(RegSet::one(PAYLOAD_Z));
        }
        self.colors.iter().map(|&index| (index, regs)).collect()
    }

    /// In front of the program's own depth write: what must precede the test.
    fn at_depth<U>(
        &self,
        normal: &Normal<'_, U>,
        state: &FragmentState,
        flow: &Flow<'_>,
        weave: &mut Weave<'_, '_, U>,
        index: usize,
    ) -> Result<(), SpliceError>
    where
        U: Clone,
    {
        let mut patch = Patch::default();
        pipeline_coverage(&mut patch, state, None);
        if state.depth_stencil.stencil != StencilPlan::Off && !self.own_stencil {
            // The plan's words without its depth.
            let words = DepthStencilPlan { write_z: true, ..state.depth_stencil };
            emit_depth_stencil(&mut patch, words, None);
            patch.effects.pop();
        }
        if patch.is_empty() {
            return Ok(());
        }
        let place = Place {
            patch: STENCIL,
            instruction: normal.number(index),
            busy: flow.before(index),
            per_file: normal.per_file(),
        };
        let how = Lowering { inputs: &[PAYLOAD_Z], outputs: &[], cond: Cond::Always, reload: false };
        weave.before[index].push(build(&patch, &how, &place)?);
        Ok(())
    }

    /// At a colour write: everything up to the tile buffer's word.
    fn at_color<U: Clone>(
        &self,
        normal: &Normal<'_, U>,
        state: &FragmentState,
        [plain, flow]: [&Flow<'_>; 2],
        weave: &mut Weave<'_, '_, U>,
        index: usize,
    ) -> Result<(), SpliceError> {
        let Some((unit, write)) = find_write(&weave.own[index], is_color) else { return Ok(()) };
        let first_sample = !self.per_sample || self.passed.before(index).is_none_or(|(low, _)| low == 0);
        let patch = self.color_patch(state, write.cond, first_sample)?;
        if write.cond != Cond::Always && patch.keep.is_some() && normal.access(index).sets_flags {
            let what = "sets flags beside a colour write with a condition";
            return Err(normal.fault(index, what, "set them in another instruction"));
        }
        let busy = plain.behind(index);
        let place =
            Place { patch: COLOR, instruction: normal.number(index), busy, per_file: normal.per_file() };
        let needed = patch.needed();
        let by_word = (0..needed.len()).any(|n| needed[n] && patch.nodes[n] == Node::Input(WORD));
        let mut inputs = vec![PAYLOAD_Z, PAYLOAD_Z];
        inputs.extend(match state.source {
            SourceColor::Registers(regs) => regs,
            SourceColor::Rgba8 | SourceColor::Bgra8 => [PAYLOAD_Z; 4],
        });
        inputs.extend(state.second.unwrap_or([PAYLOAD_Z; 4]));
        if !by_word {
            redirect(&mut weave.own[index], unit, Waddr::NOP);
            let how = Lowering { inputs: &inputs, outputs: &[], cond: write.cond, reload: false };
            return build(&patch, &how, &place).map(|group| weave.behind[index].push(group));
        }
        let unpacked = |n: usize| {
            needed[n] && matches!(patch.nodes[n], Node::Unpack(v, ..) if patch.node(v) == Node::Input(WORD))
        };
        let unpacks = (0..needed.len()).any(unpacked);
        let taken = flow.behind(index).and(plain.written(index));
        let file_first = unpacks && write.file == RegFile::A;
        let candidates = targets(&weave.own[index], &write, normal.per_file(), file_first);
        let mut free = candidates.into_iter().filter(|reg| !taken.meets(RegSet::one(*reg))).peekable();
        let Some(&one) = free.peek() else {
            return Err(SpliceError::NoRegister {
                instruction: place.instruction,
                patch: COLOR,
                need: "an accumulator or a register of the file that the colour is written through",
                live: taken.to_string(),
            });
        };
        // Another kind of register may leave more for the patch.
        let other = free.find(|reg| reg.file() != one.file());
        let mut attempt = |reg: Reg| {
            inputs[WORD] = reg;
            let how = Lowering { inputs: &inputs, outputs: &[], cond: write.cond, reload: false };
            build(&patch, &how, &place).map(|group| (reg, group))
        };
        let (reg, group) = attempt(one).or_else(|error| other.map_or(Err(error), &mut attempt))?;
        redirect(&mut weave.own[index], unit, reg.waddr());
        weave.behind[index].push(group);
        Ok(())
    }

    /// The patch at a colour write.
    fn color_patch(
        &self,
        state: &FragmentState,
        cond: Cond,
        first_sample: bool,
    ) -> Result<Patch, SpliceError> {
        let mut patch = Patch::default();
        patch.color_per_sample = self.per_sample;
        let multisample = state.multisample;
        let integers =
            state.color.is_some_and(|c| matches!(c.encoding.kind, ColorKind::Uint | ColorKind::Sint));
        let mut first = first_color(&mut patch, state.source, integers);
        let mut second = state.second.map(|_| [0, 1, 2, 3].map(|n| patch.input(SECOND + n)));
        let mut kill = None;
        if first_sample && self.depths.is_empty() {
            let alpha = multisample.alpha_to_coverage.then_some(first[3]);
            pipeline_coverage(&mut patch, state, alpha);
            kill = alpha.filter(|_| !multisample.four_samples);
            let stencil = if self.own_stencil { StencilPlan::Off } else { state.depth_stencil.stencil };
            emit_depth_stencil(&mut patch, DepthStencilPlan { stencil, ..state.depth_stencil }, None);
        }
        if multisample.alpha_to_one {
            let one = patch.float(1.0);
            first[3] = one;
            second.iter_mut().for_each(|second| second[3] = one);
        }
        let tested = state.depth_stencil.write_z || !self.depths.is_empty();
        self.write_color(&mut patch, state.color, tested, first, second)?;
        patch.keep = keep(&mut patch, cond, kill);
        Ok(patch)
    }

    fn write_color(
        &self,
        patch: &mut Patch,
        color: Option<ColorOutput>,
        tested: bool,
        first: [Value; 4],
        second: Option<[Value; 4]>,
    ) -> Result<(), SpliceError> {
        match color {
            Some(output) if output.writes_color() => {
                let output = ColorOutput { multisample: output.multisample && !self.per_sample, ..output };
                emit_color_samples(patch, &output, first, second)?;
            }
            _ if !tested => touch(patch, color.map(|c| c.multisample && !self.per_sample)),
            _ => {}
        }
        Ok(())
    }

    /// For a program that touches the tile buffer nowhere.
    fn at_end<U>(&self, normal: &Normal<'_, U>, state: &FragmentState) -> Result<Group, SpliceError> {
        let mut patch = Patch::default();
        pipeline_coverage(&mut patch, state, None);
        if state.depth_stencil.write_z {
            let stencil = if self.own_stencil { StencilPlan::Off } else { state.depth_stencil.stencil };
            emit_depth_stencil(&mut patch, DepthStencilPlan { stencil, ..state.depth_stencil }, None);
        } else {
            touch(&mut patch, state.color.map(|color| color.multisample));
        }
        let instruction = normal.number(normal.insts.len());
        let place = Place { patch: DEPTH, instruction, busy: RegSet::EMPTY, per_file: normal.per_file() };
        let how = Lowering { inputs: &[PAYLOAD_Z], outputs: &[], cond: Cond::Always, reload: false };
        build(&patch, &how, &place)
    }
}

fn times(count: u8) -> String {
    match count {
        0 => "never".into(),
        1 => "once".into(),
        count => format!("{count} times"),
    }
}

/// Number of the input with the word that the program writes.
const WORD: usize = 1;
/// Number of the first input of a colour in registers.
const FIRST: usize = 2;
/// And of a second colour.
const SECOND: usize = 6;

fn first_color(patch: &mut Patch, source: SourceColor, integers: bool) -> [Value; 4] {
    const BYTES: [Unpack; 4] = [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3];
    let mut bytes = |order: [usize; 4]| {
        let word = patch.input(WORD);
        order.map(|n| patch.unpack(word, BYTES[n], !integers))
    };
    match source {
        SourceColor::Rgba8 => bytes([0, 1, 2, 3]),
        SourceColor::Bgra8 => bytes([2, 1, 0, 3]),
        SourceColor::Registers(_) => [0, 1, 2, 3].map(|n| patch.input(FIRST + n)),
    }
}

/// Sample mask, and alpha where there are samples.
fn pipeline_coverage(patch: &mut Patch, state: &FragmentState, alpha: Option<Value>) {
    if state.multisample.four_samples {
        let coverage = Coverage { pipeline_mask: state.multisample.sample_mask, shader_mask: None, alpha };
        emit_coverage(patch, &coverage);
    }
}

/// Which elements write, if the program's condition alone does not say so. With one sample, an alpha below one half
/// covers nothing.
fn keep(patch: &mut Patch, cond: Cond, alpha: Option<Value>) -> Option<Value> {
    match alpha {
        None if cond != Cond::Always && sets_flags(patch) => Some(patch.kept()),
        None => None,
        Some(alpha) => {
            let (half, zero) = (patch.float(0.5), patch.word(0));
            let room = patch.fsub(alpha, half);
            let own = if cond == Cond::Always { patch.word(1) } else { patch.kept() };
            Some(patch.select(Flag::Negative, room, zero, own))
        }
    }
}

/// Every fragment program touches the tile buffer (qpu.md §4.7): writes the colour that is there, or one that nobody
/// stores.
fn touch(patch: &mut Patch, multisample: Option<bool>) {
    match multisample {
        None => {
            let zero = patch.word(0);
            patch.write_tlb_color(zero);
        }
        Some(false) => {
            let color = patch.tlb_color();
            patch.write_tlb_color(color);
        }
        Some(true) => {
            for _ in 0..MSAA_SAMPLES {
                let color = patch.tlb_color();
                patch.write_tlb_color_sample(color);
            }
        }
    }
}

//! Vertex and coordinate programs: attributes become numbers where they are read, the position is transformed where it
//! is written.

use super::edit::{find_write, redirect, replace_source, selects, sources, targets};
use super::encode::{Line, load_port};
use super::error::SpliceError;
use super::flow::{Flow, MOST};
use super::lower::Lowering;
use super::normal::Normal;
use super::program::{Source, Spliced};
use super::record::{Effect, Node, Patch, Value};
use super::registers::{Reg, RegSet};
use super::section::{Place, build};
use super::state::{VertexInput, VertexState};
use super::weave::{Group, Weave};
use crate::cl::Count;
use crate::cl::words::{VpmRead, VpmSize, VpmWrite};
use crate::qpu::access::Access;
use crate::qpu::isa::RegFile;
use crate::qpu::{Cond, Raddr, Stage, Waddr};
use crate::state::Emitter;
use crate::state::vertex_fetch::{Packing, emit_fetch};
use crate::state::viewport::{Position, RasterMap, VertexStage, emit_position};

/// Name of the VPM set-up.
const SETUP: &str = "vpm";
/// Name of the patch at an attribute read.
const FETCH: &str = "fetch";
/// Name of the patch behind the position.
const POSITION: &str = "position";
/// Vectors of one VPM read set-up (qpu.md §4.9).
const BLOCK: usize = 16;
/// Rows that a program sees (qpu.md §4.9).
const ROWS: usize = 64;

/// See [`super::vertex`] and [`super::coordinate`].
pub fn splice<U: Clone>(
    source: &Source<'_, U>,
    state: &VertexState<'_>,
    stage: VertexStage,
) -> Result<Spliced<U>, SpliceError> {
    let want = if stage == VertexStage::Vertex { Stage::Vertex } else { Stage::Coordinate };
    if source.stage != want {
        return Err(SpliceError::Stage { have: source.stage, want });
    }
    let normal = Normal::new(source, |access| access.reads_vpm() || access.writes_to(Waddr::VPM))?;
    let flow = normal.flow(&[]);
    let mut splicer = Splicer {
        normal: &normal,
        flow: &flow,
        weave: Weave::new(&normal),
        held: Vec::new(),
        popped: 0,
        words: 0,
    };
    splicer.check(state)?;
    // What holds the position is in use while attributes are fetched.
    let position = splicer.redirect_position(state, stage)?;
    splicer.fetch(state.inputs)?;
    splicer.position(state, stage, &position)?;
    splicer.weave.prologue.push(Group {
        patch: SETUP,
        lines: vec![Line { inst: load_port(RegFile::B, Waddr::VPM_SETUP, write_setup()), uniform: None }],
        spare: None,
    });
    splicer.weave.finish()
}

fn write_setup() -> u32 {
    VpmWrite { stride: Count::ONE, horizontal: true, laned: false, size: VpmSize::Bits32, address: 0 }.bits()
}

/// A register that holds a value across instructions of the program.
struct Held {
    reg: Reg,
    /// In use in front of these instructions.
    before: Vec<bool>,
    /// And behind these.
    behind: Vec<bool>,
}

/// The words in front of the varyings.
struct Header {
    /// Where they are kept.
    inputs: Vec<Reg>,
    /// The instruction that writes the last of them.
    last: usize,
}

/// Where a word of an attribute is.
#[derive(Clone, Copy, PartialEq)]
enum At {
    /// In the queue.
    Queue,
    /// In a register.
    Held(Reg),
    /// Nobody needs it any more, or never did.
    Gone,
}

struct Splicer<'n, 'a, U> {
    normal: &'n Normal<'a, U>,
    flow: &'n Flow<'n>,
    weave: Weave<'n, 'a, U>,
    held: Vec<Held>,
    /// Words taken off the queue so far.
    popped: usize,
    /// Words of all attributes.
    words: usize,
}

impl<U: Clone> Splicer<'_, '_, U> {
    fn check(&self, state: &VertexState<'_>) -> Result<(), SpliceError> {
        let sets_up = self.normal.all(|access| access.writes_to(Waddr::VPM_SETUP));
        if let Some(&at) = sets_up.first() {
            let what = "sets up the VPM, which the state does in patched mode";
            return Err(self.normal.fault(at, what, "leave it out, or put the program into raw mode"));
        }
        let words: usize = state.inputs.iter().map(|input| input.format.words()).sum();
        if words > ROWS {
            return Err(whole(
                format!("the attributes have {words} words, the machine shows {ROWS}"),
                "load fewer attributes, or smaller formats",
            ));
        }
        match state.inputs.iter().find(|input| input.components > 4) {
            Some(input) => Err(whole(
                format!("an attribute has four components, not {}", input.components),
                "say how many of them the program reads",
            )),
            None => Ok(()),
        }
    }

    /// The places where every path comes by once, in this order.
    fn in_order(&self, places: &[usize], what: &str) -> Result<(), SpliceError> {
        let passed = self.flow.passed(|index| places.contains(&index));
        for (count, &at) in places.iter().enumerate() {
            let count = counted(count);
            if passed.before(at) != Some((count, count)) {
                let what = format!("{what} stands in a branch or a loop");
                return Err(self.normal.fault(at, what, "put it where every path comes by once"));
            }
        }
        let count = counted(places.len());
        if passed.end != (count, count) {
            let what = format!("a path leaves out {what}");
            return Err(self.normal.fault(
                places.first().copied().unwrap_or(0),
                what,
                "move it out of the branch",
            ));
        }
        Ok(())
    }

    /// Attribute reads.
    fn fetch(&mut self, inputs: &[VertexInput]) -> Result<(), SpliceError> {
        let reads = self.normal.all(Access::reads_vpm);
        self.in_order(&reads, "an attribute read")?;
        self.words = inputs.iter().map(|input| input.format.words()).sum();
        let expected: usize = inputs.iter().map(|input| usize::from(input.components)).sum();
        if reads.len() != expected {
            let (have, instead) = (reads.len(), "read each attribute as often as its components say");
            let what =
                format!("the program reads {have} attribute components, the state has {expected} for it");
            return Err(whole(what, instead));
        }
        let mut next = 0;
        for input in inputs {
            let count = usize::from(input.components);
            let sites = &reads[next..next + count];
            next += count;
            match sites.last() {
                Some(_) => self.attribute(input, sites)?,
                None => {
                    let at = reads.get(next.wrapping_sub(1)).copied();
                    let group = self.drop_words(input.format.words());
                    match at {
                        Some(at) => self.weave.behind[at].push(group),
                        None => self.weave.prologue.push(group),
                    }
                }
            }
        }
        Ok(())
    }

    /// Pops words that nobody needs.
    fn drop_words(&mut self, count: usize) -> Group {
        let mut lines = Vec::new();
        for _ in 0..count {
            lines.extend(self.set_up());
            self.popped += 1;
            let inst = crate::qpu::AluInst { raddr_a: Raddr::VPM, ..crate::qpu::AluInst::NOP };
            lines.push(Line { inst: crate::qpu::Inst::Alu(inst), uniform: None });
        }
        Group { patch: FETCH, lines, spare: None }
    }

    /// The set-up in front of the next word, if that begins a block.
    fn set_up(&self) -> Option<Line> {
        let left = self.words - self.popped;
        if self.popped % BLOCK != 0 || left == 0 {
            return None;
        }
        let count = Count::new(left.min(BLOCK) as u32).unwrap_or(Count::ONE);
        let address = self.popped as u8;
        let word = VpmRead {
            count,
            stride: Count::ONE,
            horizontal: true,
            laned: false,
            size: VpmSize::Bits32,
            address,
        };
        Some(Line { inst: load_port(RegFile::A, Waddr::VPM_SETUP, word.bits()), uniform: None })
    }

    fn set_up_group(&self) -> Option<Group> {
        self.set_up().map(|line| Group { patch: SETUP, lines: vec![line], spare: None })
    }

    /// The reads of one attribute.
    fn attribute(&mut self, input: &VertexInput, sites: &[usize]) -> Result<(), SpliceError> {
        let format = &input.format;
        let needs: Vec<Vec<usize>> =
            (0..sites.len()).map(|n| words_of(input, n)).collect::<Result<_, _>>()?;
        let mut words = vec![At::Queue; format.words()];
        for (component, &site) in sites.iter().enumerate() {
            let next_word = words.iter().position(|at| *at == At::Queue);
            let passes = matches!(format.packing, Packing::Words(_)) && needs[component].len() == 1;
            let later = |word: usize| needs[component + 1..].iter().any(|words| words.contains(&word));
            if passes && next_word == Some(needs[component][0]) && !later(needs[component][0]) {
                let set_up = self.set_up_group();
                self.weave.before[site].extend(set_up);
                self.popped += 1;
                words[needs[component][0]] = At::Gone;
            } else {
                self.component(input, component, site, &needs, sites, &mut words)?;
            }
        }
        let left = words.iter().filter(|at| **at == At::Queue).count();
        if left > 0 {
            let group = self.drop_words(left);
            let site = sites[sites.len() - 1];
            self.weave.behind[site].push(group);
        }
        Ok(())
    }

    /// A read that gets its component from a patch in front of it.
    fn component(
        &mut self,
        input: &VertexInput,
        component: usize,
        site: usize,
        needs: &[Vec<usize>],
        sites: &[usize],
        words: &mut [At],
    ) -> Result<(), SpliceError> {
        let mut groups = Vec::new();
        let mut patch = Patch::default();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let mut values: Vec<Value> = Vec::new();
        let last = needs[component].iter().max().copied();
        for (word, at) in words.iter_mut().enumerate() {
            let value = match *at {
                At::Held(reg) => {
                    inputs.push(reg);
                    patch.input(inputs.len() - 1)
                }
                At::Queue if last.is_some_and(|last| word <= last) => {
                    groups.extend(self.set_up_group());
                    self.popped += 1;
                    let value = patch.read_vpm();
                    *at = At::Gone;
                    if let Some(user) = (component + 1..sites.len()).rfind(|&n| needs[n].contains(&word)) {
                        let reg = self.hold(site, sites[user])?;
                        outputs.push(reg);
                        patch.give(outputs.len() - 1, value);
                        *at = At::Held(reg);
                    }
                    value
                }
                At::Queue | At::Gone => patch.word(0),
            };
            values.push(value);
        }
        let value = emit_fetch(&mut patch, &input.format, &values)?[component];
        if selects(&self.weave.own[site], Raddr::VPM) {
            let reg = self.operand(site, &outputs)?;
            outputs.push(reg);
            patch.give(outputs.len() - 1, value);
            replace_source(&mut self.weave.own[site], Raddr::VPM, Some(reg));
        } else {
            replace_source(&mut self.weave.own[site], Raddr::VPM, None);
        }
        let busy = self.flow.before(site).and(self.held_before(site));
        let place = self.place(FETCH, site, busy);
        let how = Lowering { inputs: &inputs, outputs: &outputs, cond: Cond::Always, reload: false };
        groups.push(build(&patch, &how, &place)?);
        self.weave.before[site].extend(groups);
        Ok(())
    }

    fn place(&self, patch: &'static str, site: usize, busy: RegSet) -> Place {
        Place { patch, instruction: self.normal.number(site), busy, per_file: self.normal.per_file() }
    }

    /// A register for the operand of one instruction.
    fn operand(&self, site: usize, taken: &[Reg]) -> Result<Reg, SpliceError> {
        let busy = taken
            .iter()
            .fold(self.flow.before(site).and(self.held_before(site)), |set, reg| set.and(RegSet::one(*reg)));
        let candidates = sources(&self.weave.own[site], Raddr::VPM, self.normal.per_file());
        let reg = candidates.into_iter().find(|reg| !busy.meets(RegSet::one(*reg)));
        reg.ok_or_else(|| {
            self.no_register(FETCH, site, "a register of the file that vpm_read is read through", busy)
        })
    }

    fn no_register(&self, patch: &'static str, site: usize, need: &'static str, busy: RegSet) -> SpliceError {
        SpliceError::NoRegister { instruction: self.normal.number(site), patch, need, live: busy.to_string() }
    }

    fn held_before(&self, site: usize) -> RegSet {
        self.held
            .iter()
            .filter(|held| held.before[site])
            .fold(RegSet::EMPTY, |set, h| set.and(RegSet::one(h.reg)))
    }

    fn held_behind(&self, site: usize) -> RegSet {
        self.held
            .iter()
            .filter(|held| held.behind[site])
            .fold(RegSet::EMPTY, |set, h| set.and(RegSet::one(h.reg)))
    }

    /// A register for a word from the patch in front of `from` to that in front of `to`.
    fn hold(&mut self, from: usize, to: usize) -> Result<Reg, SpliceError> {
        let mut span = self.span(from, to);
        span.before[from] = true;
        span.behind[from] = true;
        span.before[to] = true;
        let files = (0..self.normal.per_file()).flat_map(|n| [Reg::A(n)]);
        let others = (0..self.normal.per_file()).map(Reg::B);
        let candidates: Vec<Reg> = files.chain(others).chain((0..4).map(Reg::Acc)).collect();
        let mut busy = self.busy_in(&span);
        busy.add(self.flow.before(from).and(self.flow.written(from)));
        self.take(span, &candidates, busy).ok_or_else(|| {
            self.no_register(FETCH, from, "one that is free up to the attribute's last read", busy)
        })
    }

    /// The instructions from one to another, without the ends.
    fn span(&self, from: usize, to: usize) -> Held {
        let len = self.normal.insts.len();
        let mut span = Held { reg: Reg::Acc(0), before: vec![false; len], behind: vec![false; len] };
        for at in self.flow.between(from, to) {
            span.before[at] = true;
            span.behind[at] = true;
        }
        span
    }

    /// What is in use somewhere in a span.
    fn busy_in(&self, span: &Held) -> RegSet {
        let mut busy = RegSet::EMPTY;
        for at in 0..span.before.len() {
            if span.before[at] {
                busy.add(self.flow.before(at).and(self.held_before(at)));
            }
            if span.behind[at] {
                busy.add(self.flow.behind(at).and(self.held_behind(at)));
            }
            if span.before[at] && span.behind[at] {
                // What patches changed counts as well.
                busy.add(self.flow.written(at));
                busy.add(written_registers(&Access::of(&self.weave.own[at])));
            }
        }
        busy
    }

    fn take(&mut self, span: Held, candidates: &[Reg], busy: RegSet) -> Option<Reg> {
        let reg = candidates.iter().copied().find(|reg| !busy.meets(RegSet::one(*reg)))?;
        self.held.push(Held { reg, ..span });
        Some(reg)
    }

    /// Sends the position to registers; what a coordinate program writes behind it goes nowhere.
    fn redirect_position(
        &mut self,
        state: &VertexState<'_>,
        stage: VertexStage,
    ) -> Result<Header, SpliceError> {
        let writes = self.normal.all(|access| access.writes_to(Waddr::VPM));
        self.in_order(&writes, "a VPM write")?;
        let header = if state.points { 5 } else { 4 };
        if writes.len() < header {
            let (have, kind) =
                (writes.len(), if state.points { "a position and a point size" } else { "a position" });
            let what = format!("the program writes {have} words to the VPM, {kind} has {header}");
            return Err(whole(
                what,
                "write x, y, z, w in clip coordinates, the size of points, then the varyings",
            ));
        }
        let last = writes[header - 1];
        let mut inputs = Vec::new();
        for &site in &writes[..header] {
            inputs.push(self.redirected(site, last)?);
        }
        if stage == VertexStage::Coordinate {
            for &site in &writes[header..] {
                if let Some((unit, _)) = find_write(&self.weave.own[site], |waddr| waddr == Waddr::VPM) {
                    redirect(&mut self.weave.own[site], unit, Waddr::NOP);
                }
            }
        }
        Ok(Header { inputs, last })
    }

    /// Transforms the position behind its last word.
    fn position(
        &mut self,
        state: &VertexState<'_>,
        stage: VertexStage,
        header: &Header,
    ) -> Result<(), SpliceError> {
        let last = header.last;
        let mut patch = Patch::default();
        let clip = [0, 1, 2, 3].map(|n| patch.input(n));
        let point_size = state.points.then(|| patch.input(4));
        emit_position(
            &mut patch,
            stage,
            &Position {
                map: RasterMap::Window,
                near_plane: state.near_plane,
                clip,
                is_far: false,
                points: state.points,
                point_size,
            },
        );
        let own = header.inputs.iter().fold(RegSet::EMPTY, |set, reg| set.and(RegSet::one(*reg)));
        let busy = self.flow.behind(last).and(self.held_behind(last).without(own));
        let how = Lowering { inputs: &header.inputs, outputs: &[], cond: Cond::Always, reload: false };
        let group = build(&patch, &how, &self.place(POSITION, last, busy))?;
        // What is dropped behind the last read comes later.
        self.weave.behind[last].insert(0, group);
        Ok(())
    }

    /// Sends a component of the position to a register that keeps it up to the instruction `last`.
    fn redirected(&mut self, site: usize, last: usize) -> Result<Reg, SpliceError> {
        let Some((unit, write)) = find_write(&self.weave.own[site], |waddr| waddr == Waddr::VPM) else {
            return Err(self.normal.fault(
                site,
                "writes the VPM with both units",
                "write one word at a time",
            ));
        };
        let mut span = self.span(site, last);
        span.behind[site] = true;
        let mut busy = self.flow.written(site).and(written_registers(&Access::of(&self.weave.own[site])));
        if site != last {
            span.before[last] = true;
            span.behind[last] = true;
            busy.add(self.flow.written(last));
        }
        busy.add(self.busy_in(&span));
        let short = site == last;
        let candidates = targets(&self.weave.own[site], &write, self.normal.per_file(), !short);
        let reg = self.take(span, &candidates, busy).ok_or_else(|| {
            self.no_register(POSITION, site, "one that is free up to the last word of the position", busy)
        })?;
        redirect(&mut self.weave.own[site], unit, reg.waddr());
        Ok(reg)
    }
}

/// A number of places as [`Flow::passed`] counts them.
fn counted(places: usize) -> u8 {
    places.min(usize::from(MOST)) as u8
}

/// Registers that an instruction writes.
fn written_registers(access: &Access) -> RegSet {
    access.written().fold(RegSet::EMPTY, |set, write| {
        let reg = match write.accumulator() {
            Some(n) => RegSet::accumulators(1 << n),
            None if write.waddr.is_reg() => RegSet::file(write.file, write.waddr.code()),
            None => RegSet::EMPTY,
        };
        set.and(reg)
    })
}

/// The words that a component is made of.
fn words_of(input: &VertexInput, component: usize) -> Result<Vec<usize>, SpliceError> {
    let mut patch = Patch::default();
    let words: Vec<Value> = (0..input.format.words()).map(|n| patch.input(n)).collect();
    let value = emit_fetch(&mut patch, &input.format, &words)?[component];
    patch.effects.push(Effect::Write(Waddr::NOP, value));
    let needed = patch.needed();
    let word = |(node, needed): (&Node, &bool)| match node {
        Node::Input(n) if *needed => Some(*n),
        _ => None,
    };
    Ok(patch.nodes.iter().zip(&needed).filter_map(word).collect())
}

fn whole(what: impl Into<String>, instead: &'static str) -> SpliceError {
    SpliceError::Whole { what: what.into(), instead }
}

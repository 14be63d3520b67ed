//! A shader: its instructions, values, blocks and regions; creating, walking in program order, looking up, replacing.

use std::sync::Arc;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use smallvec::SmallVec;

use super::computed::Step;
use super::entity::{Block, Inst, Type, Value};
use super::interface::Stage;
use super::line::{LineId, SourceLine};
use super::memory::Workgroup;
use super::op::Op;
use crate::binding::Texture;

/// An instruction's content.
#[derive(Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// Operands.
    pub args: SmallVec<[Value; 4]>,
    /// For `Phi`: the predecessor block of each argument.
    pub phi_blocks: SmallVec<[Block; 2]>,
    /// Defined values.
    pub results: SmallVec<[Value; 1]>,
    /// RelaxedPrecision: short sequences are allowed.
    pub relaxed: bool,
    /// NoContraction, or part of what has to be invariant: rounded as written, not as what the rest of the shader makes cheap.
    pub exact: bool,
    /// Where in the source it came from.
    pub line: LineId,
}

impl Default for InstData {
    /// An undefined value that nothing uses.
    fn default() -> InstData {
        InstData {
            op: Op::Undef,
            args: SmallVec::new(),
            phi_blocks: SmallVec::new(),
            results: SmallVec::new(),
            relaxed: false,
            exact: false,
            line: LineId::NONE,
        }
    }
}

// Derived, it would clone the lists element by element.
impl Clone for InstData {
    fn clone(&self) -> InstData {
        InstData {
            args: SmallVec::from_slice(&self.args),
            phi_blocks: SmallVec::from_slice(&self.phi_blocks),
            results: SmallVec::from_slice(&self.results),
            ..*self
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Defining instruction.
    pub inst: Inst,
    /// Which of its results.
    pub result: u8,
    /// Type.
    pub ty: Type,
}

/// A basic block: instructions in order.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Instructions; phis first.
    pub insts: Vec<Inst>,
}

/// A sequence of nodes; control enters at the first.
pub type Region = Vec<Node>;

/// A step of a region.
#[derive(Clone, Debug)]
pub enum Node {
    /// A basic block.
    Block(Block),
    /// Two-way branch per element; a `Block` follows it in the region.
    If {
        /// The condition, a `Bool`.
        cond: Value,
        /// Where the condition holds.
        then: Region,
        /// Where it does not.
        otherwise: Region,
    },
    /// Endless loop left by `Break`; a `Block` follows it in the region.
    Loop(Region),
    /// Leaves the innermost loop. Last of its region.
    Break,
    /// Next iteration of the innermost loop. Last of its region.
    Continue,
    /// Leaves the shader. Last of its region.
    Return,
    /// Ends the element without effect. Last of its region.
    Discard,
}

/// A shader in SSA form.
#[derive(Debug)]
pub struct Shader {
    /// Pipeline stage.
    pub stage: Stage,
    /// The fragment tests come before the shader although it discards or writes its depth.
    pub early_fragment_tests: bool,
    /// The workgroup of a compute stage.
    pub workgroup: Workgroup,
    /// All instructions ever made; only those in blocks of `body` are alive.
    pub insts: PrimaryMap<Inst, InstData>,
    /// All values.
    pub values: PrimaryMap<Value, ValueData>,
    /// All blocks.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// The program.
    pub body: Region,
    /// What the CPU computes for [`UniformSlot::Computed`](crate::binding::UniformSlot::Computed) words.
    pub computed: Vec<Step>,
    /// Source lines that instructions name.
    pub lines: Arc<[SourceLine]>,
    /// The line of instructions made from now on.
    pub line: LineId,
}

// Copies are made to be changed: derived, they would move all of their instructions for the first new one.
impl Clone for Shader {
    fn clone(&self) -> Shader {
        Shader {
            insts: with_room(&self.insts),
            values: with_room(&self.values),
            blocks: self.blocks.clone(),
            body: self.body.clone(),
            computed: self.computed.clone(),
            lines: Arc::clone(&self.lines),
            ..*self
        }
    }
}

/// A copy of a list with room for half as many entries more.
fn with_room<K: EntityRef, V: Clone>(list: &PrimaryMap<K, V>) -> PrimaryMap<K, V> {
    let mut copy = PrimaryMap::with_capacity(list.len() + list.len() / 2);
    list.values().for_each(|value| {
        copy.push(value.clone());
    });
    copy
}

impl Shader {
    /// An empty shader whose body is one empty block.
    pub fn new(stage: Stage) -> Shader {
        let mut shader = Shader {
            stage,
            early_fragment_tests: false,
            workgroup: Workgroup::default(),
            insts: PrimaryMap::new(),
            values: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            body: Vec::new(),
            computed: Vec::new(),
            lines: [].into(),
            line: LineId::NONE,
        };
        let entry = shader.blocks.push(Default::default());
        shader.body.push(Node::Block(entry));
        shader
    }

    /// Makes an instruction of the current line and its results without placing it in a block.
    pub fn make_inst(&mut self, op: Op, args: SmallVec<[Value; 4]>, results: &[Type], relaxed: bool) -> Inst {
        let line = self.line;
        let data = InstData { op, args, relaxed, line, ..InstData::default() };
        let inst = self.insts.push(data);
        for (result, &ty) in results.iter().enumerate() {
            let value = self.values.push(ValueData { inst, result: result as u8, ty });
            self.insts[inst].results.push(value);
        }
        inst
    }

    /// Makes another instruction that does what one does, on its own operands, without placing it in a block.
    pub fn copy_inst(&mut self, data: &InstData, args: SmallVec<[Value; 4]>) -> Inst {
        let types: SmallVec<[Type; 4]> = data.results.iter().map(|&value| self.values[value].ty).collect();
        let copy = self.make_inst(data.op, args, &types, data.relaxed);
        (self.insts[copy].exact, self.insts[copy].line) = (data.exact, data.line);
        copy
    }

    /// Makes another instruction that does the same, without placing it in a block.
    pub fn repeat_inst(&mut self, inst: Inst) -> Inst {
        let data = self.insts[inst].clone();
        let copy = self.insts.push(InstData { results: SmallVec::new(), ..data });
        for value in data.results {
            let repeated = self.values.push(ValueData { inst: copy, ..self.values[value] });
            self.insts[copy].results.push(repeated);
        }
        copy
    }

    /// The blocks of the body in program order.
    pub fn blocks_in_order(&self) -> SmallVec<[Block; 8]> {
        let mut blocks = SmallVec::new();
        collect_blocks(&self.body, &mut blocks);
        blocks
    }

    /// The living instructions in program order.
    pub fn insts_in_order(&self) -> Vec<Inst> {
        let blocks = self.blocks_in_order();
        let mut insts = Vec::with_capacity(blocks.iter().map(|&block| self.blocks[block].insts.len()).sum());
        blocks.iter().for_each(|&block| insts.extend_from_slice(&self.blocks[block].insts));
        insts
    }

    /// A table with an entry for each instruction that there is by now.
    pub fn per_inst<T: Clone + Default>(&self) -> SecondaryMap<Inst, T> {
        table(self.insts.len())
    }

    /// A table with an entry for each value that there is by now.
    pub fn per_value<T: Clone + Default>(&self) -> SecondaryMap<Value, T> {
        table(self.values.len())
    }

    /// A table with an entry for each block that there is by now.
    pub fn per_block<T: Clone + Default>(&self) -> SecondaryMap<Block, T> {
        table(self.blocks.len())
    }

    /// Textures that image operations name, repetitions included.
    pub fn textures(&self) -> Vec<Texture> {
        let textures = self.insts_in_order().into_iter().filter_map(|inst| match self.insts[inst].op {
            Op::Sample(sample) | Op::Gather { sample, .. } | Op::ImageLod(sample) => Some(sample.texture),
            Op::Fetch(fetch) => Some(Texture::alone(fetch.image)),
            Op::ImageSize { image, .. } | Op::ImageLevels(image) | Op::ImageSamples(image) => {
                Some(Texture::alone(image))
            }
            _ => None,
        });
        textures.collect()
    }

    /// The block that control enters at.
    pub fn entry(&self) -> Option<Block> {
        match self.body.first() {
            Some(&Node::Block(block)) => Some(block),
            _ => None,
        }
    }

    /// The body's block if the whole shader is one block.
    pub fn single_block(&self) -> Option<Block> {
        match self.body[..] {
            [Node::Block(block)] => Some(block),
            _ => None,
        }
    }

    /// The first result of an instruction.
    pub fn result(&self, inst: Inst) -> Option<Value> {
        self.insts[inst].results.first().copied()
    }

    /// The operation that defines a value.
    pub fn op(&self, value: Value) -> Op {
        self.insts[self.values[value].inst].op
    }

    /// The operands of the instruction that defines a value.
    pub fn args(&self, value: Value) -> &[Value] {
        &self.insts[self.values[value].inst].args
    }

    /// The word of a constant; booleans count as 0 and 1.
    pub fn const_of(&self, value: Value) -> Option<u32> {
        match self.op(value) {
            Op::Const(word) => Some(word),
            Op::ConstBool(truth) => Some(u32::from(truth)),
            _ => None,
        }
    }

    /// The source line with a number.
    pub fn source_line(&self, line: LineId) -> Option<&SourceLine> {
        self.lines.get(line.number()?)
    }

    /// The source line that an instruction came from.
    pub fn source_of(&self, inst: Inst) -> Option<&SourceLine> {
        self.source_line(self.insts[inst].line)
    }

    /// Number of uses of every value by living instructions and conditions.
    pub fn use_counts(&self) -> SecondaryMap<Value, u32> {
        let mut counts = self.per_value();
        for inst in self.insts_in_order() {
            for &arg in &self.insts[inst].args {
                counts[arg] += 1;
            }
        }
        for_each_condition(&self.body, &mut |cond| counts[cond] += 1);
        counts
    }

    /// Makes every user of `from` use `to`.
    pub fn replace_uses(&mut self, from: Value, to: Value) {
        let mut map = Replacements::default();
        map.insert(from, to);
        self.apply(&map);
    }

    /// Makes every user of a replaced value use its replacement, in one sweep.
    pub fn apply(&mut self, map: &Replacements) {
        if map.is_empty() {
            return;
        }
        for inst in self.insts_in_order() {
            for arg in &mut self.insts[inst].args {
                *arg = map.resolve(*arg);
            }
        }
        replace_conditions(&mut self.body, map);
    }
}

/// Values to be replaced by others; chains are followed.
#[derive(Clone, Debug, Default)]
pub struct Replacements {
    map: SecondaryMap<Value, PackedOption<Value>>,
    len: usize,
}

impl Replacements {
    /// Asks for `from` to be replaced by `to`; nothing happens if that would close a circle.
    pub fn insert(&mut self, from: Value, to: Value) {
        let to = self.resolve(to);
        if to != from {
            self.map[from] = to.into();
            self.len += 1;
        }
    }

    /// What stands for `value` at the end of its chain.
    pub fn resolve(&self, mut value: Value) -> Value {
        while let Some(next) = self.map[value].expand() {
            value = next;
        }
        value
    }

    /// Whether nothing is to be replaced.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many values are replaced.
    pub const fn len(&self) -> usize {
        self.len
    }
}

/// A table with an entry for each of `count` entities.
fn table<K: EntityRef, T: Clone + Default>(count: usize) -> SecondaryMap<K, T> {
    let mut table = SecondaryMap::with_capacity(count);
    table.resize(count);
    table
}

/// Appends the blocks of a region in program order.
pub fn collect_blocks(region: &Region, blocks: &mut impl Extend<Block>) {
    for node in region {
        match node {
            Node::Block(block) => blocks.extend([*block]),
            Node::If { then, otherwise, .. } => {
                collect_blocks(then, blocks);
                collect_blocks(otherwise, blocks);
            }
            Node::Loop(body) => collect_blocks(body, blocks),
            Node::Break | Node::Continue | Node::Return | Node::Discard => {}
        }
    }
}

/// Calls `f` with the condition of every `If` of a region.
pub fn for_each_condition(region: &Region, f: &mut impl FnMut(Value)) {
    for node in region {
        match node {
            Node::If { cond, then, otherwise } => {
                f(*cond);
                for_each_condition(then, f);
                for_each_condition(otherwise, f);
            }
            Node::Loop(body) => for_each_condition(body, f),
            _ => {}
        }
    }
}

/// Whether there is a loop in a region.
pub fn has_loop(region: &Region) -> bool {
    region.iter().any(|node| match node {
        Node::Loop(_) => true,
        Node::If { then, otherwise, .. } => has_loop(then) || has_loop(otherwise),
        _ => false,
    })
}

fn replace_conditions(region: &mut Region, map: &Replacements) {
    for node in region {
        match node {
            Node::If { cond, then, otherwise } => {
                *cond = map.resolve(*cond);
                replace_conditions(then, map);
                replace_conditions(otherwise, map);
            }
            Node::Loop(body) => replace_conditions(body, map),
            _ => {}
        }
    }
}

//! How the values of a batch's elements relate: equal, apart by a constant, or anyhow; and which loops its elements leave at
//! different times.
//!
//! A branch on a value that all elements share is a real one; where they differ, both ways run under masks. So what a phi
//! behind a differing branch chooses from differs, and so does what a loop leaves behind that elements leave one by one: a
//! value that is equal in all of them in every iteration is not equal to those that left in other iterations. All is taken for
//! equal until something says otherwise; sweeps over the tree repeat until nothing changes.

use cranelift_entity::SecondaryMap;
use vc4_shaders::ir::cfg::Cfg;
use vc4_shaders::ir::{
    Block, BuiltinInput, Inst, Invocation, Memory, Node, Op, Region, Shader, Value, Workgroup,
};

use crate::batch::WIDTH;

/// How a value's elements relate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Not known yet: only while the analysis runs, and of what control never gets to.
    #[default]
    Unknown,
    /// Element n is element 0's plus n times this, modulo 2^32; with 0 all are equal.
    Linear(u32),
    /// Anyhow.
    Varying,
}

impl Shape {
    /// All elements are equal.
    pub const UNIFORM: Shape = Shape::Linear(0);

    fn join(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Unknown, shape) | (shape, Shape::Unknown) => shape,
            (a, b) if a == b => a,
            _ => Shape::Varying,
        }
    }
}

/// A loop of the tree.
#[derive(Debug)]
struct LoopData {
    parent: Option<usize>,
    divergent: bool,
    repeats: bool,
}

/// What is around a place in the tree.
#[derive(Clone, Copy)]
enum Around {
    If { divergent: bool },
    Loop(usize),
}

/// What control comes from where it enters a block.
#[derive(Clone, Copy)]
enum Entry {
    Plain,
    Join { divergent: bool },
    Header(usize),
    Exit(usize),
}

/// The shapes of a shader's values and the kinds of its loops.
#[derive(Debug)]
pub struct Shapes {
    shapes: SecondaryMap<Value, Shape>,
    loops: Vec<LoopData>,
    /// The innermost loop around each block, plus one.
    inside: SecondaryMap<Block, usize>,
    home: SecondaryMap<Inst, Option<Block>>,
}

impl Shapes {
    /// Analyses a shader.
    pub fn of(shader: &Shader, cfg: &Cfg) -> Shapes {
        let mut shapes = Shapes {
            shapes: SecondaryMap::new(),
            loops: Vec::new(),
            inside: SecondaryMap::new(),
            home: SecondaryMap::new(),
        };
        let mut place = SecondaryMap::<Block, usize>::new();
        for (index, &block) in cfg.order.iter().enumerate() {
            place[block] = index;
            for &inst in &shader.blocks[block].insts {
                shapes.home[inst] = Some(block);
            }
        }
        shapes.number_loops(&shader.body, None, &|header| {
            cfg.preds(header).iter().any(|&pred| place[pred] >= place[header])
        });
        loop {
            let mut sweep = Sweep { shader, cfg, shapes: &mut shapes, next: 0, last: None, changed: false };
            sweep.region(&shader.body, &mut Vec::new());
            if !sweep.changed {
                return shapes;
            }
        }
    }

    fn number_loops(&mut self, region: &Region, parent: Option<usize>, repeats: &dyn Fn(Block) -> bool) {
        for node in region {
            match node {
                &Node::Block(block) => self.inside[block] = parent.map_or(0, |index| index + 1),
                Node::If { then, otherwise, .. } => {
                    self.number_loops(then, parent, repeats);
                    self.number_loops(otherwise, parent, repeats);
                }
                Node::Loop(body) => {
                    let repeats_here = matches!(body.first(), Some(&Node::Block(header)) if repeats(header));
                    self.loops.push(LoopData { parent, divergent: false, repeats: repeats_here });
                    self.number_loops(body, Some(self.loops.len() - 1), repeats);
                }
                _ => {}
            }
        }
    }

    /// How the elements relate where the value is made, and inside the loops around that place.
    pub fn of_value(&self, value: Value) -> Shape {
        match self.shapes[value] {
            Shape::Unknown => Shape::UNIFORM,
            shape => shape,
        }
    }

    /// How they relate to a user in `block`.
    pub fn at(&self, shader: &Shader, value: Value, block: Block) -> Shape {
        if self.escapes(shader, value, block) { Shape::Varying } else { self.of_value(value) }
    }

    /// Whether elements left a loop around the value's definition one by one before they come to `block`.
    pub fn escapes(&self, shader: &Shader, value: Value, block: Block) -> bool {
        let data = &shader.insts[shader.values[value].inst];
        let Some(home) = self.home[shader.values[value].inst] else {
            return false;
        };
        if home == block || data.op.is_const() || data.op == Op::Undef {
            return false;
        }
        let mut around = self.inside[home].checked_sub(1);
        while let Some(index) = around {
            let data = &self.loops[index];
            if data.divergent && data.repeats && !self.is_inside(block, index) {
                return true;
            }
            around = data.parent;
        }
        false
    }

    fn is_inside(&self, block: Block, wanted: usize) -> bool {
        let mut around = self.inside[block].checked_sub(1);
        while let Some(index) = around {
            if index == wanted {
                return true;
            }
            around = self.loops[index].parent;
        }
        false
    }

    /// Whether elements leave loop `index`, counted in program order, at different times.
    pub fn is_divergent_loop(&self, index: usize) -> bool {
        self.loops[index].divergent
    }

    /// Whether loop `index` can run more than once.
    pub fn repeats(&self, index: usize) -> bool {
        self.loops[index].repeats
    }

    /// The block that an instruction stands in.
    pub fn home(&self, inst: Inst) -> Option<Block> {
        self.home[inst]
    }
}

/// One walk over the tree.
struct Sweep<'a> {
    shader: &'a Shader,
    cfg: &'a Cfg,
    shapes: &'a mut Shapes,
    /// Number of the next loop.
    next: usize,
    /// The block before.
    last: Option<Block>,
    changed: bool,
}

impl Sweep<'_> {
    fn region(&mut self, region: &Region, around: &mut Vec<Around>) {
        let mut entry = Entry::Plain;
        if let Some(&Around::Loop(index)) = around.last() {
            entry = Entry::Header(index);
        }
        for node in region {
            match node {
                &Node::Block(block) => {
                    self.block(block, entry);
                    self.last = Some(block);
                    entry = Entry::Plain;
                }
                Node::If { cond, then, otherwise } => {
                    let divergent = self.last.is_some_and(|block| self.at(*cond, block) == Shape::Varying);
                    around.push(Around::If { divergent });
                    self.region(then, around);
                    self.region(otherwise, around);
                    around.pop();
                    entry = Entry::Join { divergent };
                }
                Node::Loop(body) => {
                    let index = self.next;
                    self.next += 1;
                    around.push(Around::Loop(index));
                    self.region(body, around);
                    around.pop();
                    entry = Entry::Exit(index);
                }
                Node::Break | Node::Continue => self.leave_loop(around),
                Node::Return | Node::Discard => self.leave_all(around),
            }
        }
    }

    fn leave_loop(&mut self, around: &[Around]) {
        let mut parted = false;
        for place in around.iter().rev() {
            match *place {
                Around::If { divergent } => parted |= divergent,
                Around::Loop(index) => {
                    if parted {
                        self.part(index);
                    }
                    return;
                }
            }
        }
    }

    fn leave_all(&mut self, around: &[Around]) {
        let mut parted = false;
        for place in around.iter().rev() {
            match *place {
                Around::If { divergent } => parted |= divergent,
                Around::Loop(index) => {
                    if parted {
                        self.part(index);
                    }
                    parted |= self.shapes.loops[index].divergent;
                }
            }
        }
    }

    fn part(&mut self, index: usize) {
        self.changed |= !self.shapes.loops[index].divergent;
        self.shapes.loops[index].divergent = true;
    }

    /// Shape as a user in `block` sees it, unknown ones included.
    fn at(&self, value: Value, block: Block) -> Shape {
        if self.shapes.escapes(self.shader, value, block) {
            Shape::Varying
        } else {
            self.shapes.shapes[value]
        }
    }

    fn block(&mut self, block: Block, entry: Entry) {
        if !self.cfg.is_reachable(block) {
            return;
        }
        let shader = self.shader;
        for &inst in &shader.blocks[block].insts {
            let shape = match shader.insts[inst].op {
                Op::Phi => self.phi(inst, entry),
                op => self.operation(inst, op, block),
            };
            for &result in &shader.insts[inst].results {
                let joined = self.shapes.shapes[result].join(shape);
                self.changed |= joined != self.shapes.shapes[result];
                self.shapes.shapes[result] = joined;
            }
        }
    }

    fn phi(&self, inst: Inst, entry: Entry) -> Shape {
        let data = &self.shader.insts[inst];
        let sources = || data.args.iter().zip(&data.phi_blocks);
        let joined = sources().fold(Shape::Unknown, |shape, (&arg, &from)| shape.join(self.at(arg, from)));
        let differ = |mut values: Vec<Value>| {
            values.dedup();
            values.len() > 1
        };
        let parted = match entry {
            Entry::Plain => false,
            Entry::Join { divergent } => divergent && differ(data.args.to_vec()),
            Entry::Header(index) => {
                let inside = sources().filter(|&(_, &from)| self.shapes.is_inside(from, index));
                self.shapes.loops[index].divergent && differ(inside.map(|(&arg, _)| arg).collect())
            }
            Entry::Exit(index) => {
                let data_of = |value: Value| self.shader.values[value].inst;
                let made_inside = |value: Value| {
                    let home = self.shapes.home[data_of(value)];
                    home.is_some_and(|home| self.shapes.is_inside(home, index))
                };
                let moving =
                    self.shapes.loops[index].repeats && data.args.iter().any(|&arg| made_inside(arg));
                self.shapes.loops[index].divergent && (moving || differ(data.args.to_vec()))
            }
        };
        if parted { Shape::Varying } else { joined }
    }

    fn operation(&self, inst: Inst, op: Op, block: Block) -> Shape {
        let args = &self.shader.insts[inst].args;
        let shape = |index: usize| self.at(args[index], block);
        match op {
            Op::LoadBuiltin(BuiltinInput::Invocation(place)) => place_shape(place, &self.shader.workgroup),
            Op::Atomic { .. } | Op::ImageAtomic(..) | Op::Load { memory: Memory::Scratch, .. } => {
                Shape::Varying
            }
            Op::BAny | Op::Ballot => Shape::UNIFORM,
            // Of whom is asked, or what all have, is the same.
            Op::Shuffle => match [shape(0), shape(1)] {
                [Shape::UNIFORM, _] | [_, Shape::UNIFORM] => Shape::UNIFORM,
                [Shape::Unknown, _] | [_, Shape::Unknown] => Shape::Unknown,
                _ => Shape::Varying,
            },
            Op::Select => match shape(0) {
                Shape::Varying if args[1] != args[2] => Shape::Varying,
                Shape::Unknown => Shape::Unknown,
                _ => shape(1).join(shape(2)),
            },
            Op::IAdd => both(shape(0), shape(1), |a, b| Some(a.wrapping_add(b))),
            Op::ISub => both(shape(0), shape(1), |a, b| Some(a.wrapping_sub(b))),
            Op::IMul => {
                let factors = [self.shader.const_of(args[0]), self.shader.const_of(args[1])];
                both(shape(0), shape(1), |a, b| match (a, b, factors) {
                    (0, 0, _) => Some(0),
                    (a, _, [_, Some(factor)]) => Some(a.wrapping_mul(factor)),
                    (_, b, [Some(factor), _]) => Some(b.wrapping_mul(factor)),
                    _ => None,
                })
            }
            Op::Shl => {
                let by = self.shader.const_of(args[1]);
                both(shape(0), shape(1), |a, b| match (a, b, by) {
                    (0, 0, _) => Some(0),
                    (a, _, Some(by)) => Some(a << (by & 31)),
                    _ => None,
                })
            }
            _ => (0..args.len()).map(shape).fold(Shape::UNIFORM, |all, arg| match (all, arg) {
                (Shape::Varying, _) | (_, Shape::Varying | Shape::Linear(1..)) => Shape::Varying,
                (Shape::Unknown, _) | (_, Shape::Unknown) => Shape::Unknown,
                _ => Shape::UNIFORM,
            }),
        }
    }
}

/// The shape of what is made of two linear operands, `None` from `steps` for any.
fn both(a: Shape, b: Shape, steps: impl Fn(u32, u32) -> Option<u32>) -> Shape {
    match (a, b) {
        (Shape::Varying, _) | (_, Shape::Varying) => Shape::Varying,
        (Shape::Unknown, _) | (_, Shape::Unknown) => Shape::Unknown,
        (Shape::Linear(a), Shape::Linear(b)) => steps(a, b).map_or(Shape::Varying, Shape::Linear),
    }
}

fn place_shape(place: Invocation, workgroup: &Workgroup) -> Shape {
    let width = WIDTH as u64;
    match place {
        Invocation::LocalIndex | Invocation::SubgroupInvocation => Shape::Linear(1),
        Invocation::LocalId(axis) => {
            let sizes = workgroup.size.map(u64::from);
            let axis = usize::from(axis.min(2));
            let inner: u64 = sizes[..axis].iter().product();
            let outer: u64 = sizes[axis + 1..].iter().product();
            match (inner, sizes[axis]) {
                (_, 1) => Shape::UNIFORM,
                (inner, _) if inner % width == 0 => Shape::UNIFORM,
                (1, size) if size % width == 0 || outer == 1 => Shape::Linear(1),
                _ => Shape::Varying,
            }
        }
        _ => Shape::UNIFORM,
    }
}

//! Random kernels that are pictures, and the world that they see.

// Each suite that includes this uses a part of it.
#![allow(dead_code, reason = "shared by several suites")]

use std::collections::BTreeMap;

use vc4_shaders::ir::interp::Environment;
use vc4_shaders::ir::{
    Block, Builder, BuiltinInput, Fetch, ImageDim, Invocation, Memory, Node, Op, Shader, Stage, Texel, Value,
};
use vc4_shaders::pass;
use vc4_shaders::picture::{GROUPS_AT, HostWord, LAYER_AT, PARAMETERS_AT};
use vc4_shaders::program::Descriptor;

const fn place(binding: u32) -> Descriptor {
    Descriptor { set: 0, binding, element: 0 }
}

/// The image that kernels write.
pub const IMAGE: Texel = Texel::plain(TARGET, ImageDim::D2);
/// What is written.
pub const TARGET: Descriptor = place(0);
/// Something else.
pub const OTHER: Descriptor = place(1);
/// A storage buffer.
pub const BUFFER: Descriptor = place(2);
/// A uniform buffer.
pub const UNIFORM: Descriptor = place(3);
/// Words of each buffer.
pub const WORDS: u32 = 64;
/// Words of push constants: the guard's width and height, and others.
pub const PUSHED: u32 = 6;

/// An optimised kernel.
pub fn kernel(size: [u32; 3], build: impl FnOnce(&mut Builder)) -> Shader {
    let mut shader = Shader::new(Stage::Compute);
    shader.workgroup.size = size;
    let entry = shader.entry().unwrap();
    build(&mut Builder::new(&mut shader, entry));
    pass::optimize(&mut shader);
    shader
}

fn builtin(b: &mut Builder, what: Invocation) -> Value {
    b.emit(Op::LoadBuiltin(BuiltinInput::Invocation(what)), &[])[0]
}

/// gl_GlobalInvocationID, as the translator makes it.
pub fn gid(b: &mut Builder, axis: u8) -> Value {
    let (group, local) = (builtin(b, Invocation::WorkgroupId(axis)), builtin(b, Invocation::LocalId(axis)));
    let size = b.shader.workgroup.size[usize::from(axis)];
    let size = b.word(size);
    let first = b.imul(group, size);
    b.iadd(first, local)
}

/// What a kernel writes under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Nothing.
    None,
    /// `if (x >= width || y >= height) return;`, of push constants.
    Inside,
    /// Some condition.
    Other,
}

/// A kernel.
pub struct Kernel {
    /// It.
    pub shader: Shader,
    /// What it writes under.
    pub guard: Guard,
}

/// A generator of numbers.
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A word.
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    fn below(&mut self, limit: usize) -> usize {
        self.word() as usize % limit
    }
}

/// Integer operations on any two words.
const OPERATIONS: [Op; 14] = [
    Op::IAdd,
    Op::ISub,
    Op::IMul,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Shl,
    Op::Shr,
    Op::Asr,
    Op::SMin,
    Op::SMax,
    Op::UMin,
    Op::UMax,
    Op::UDiv,
];

struct Grower<'r, 'b> {
    random: &'r mut Random,
    b: Builder<'b>,
    words: Vec<Value>,
}

impl Grower<'_, '_> {
    fn any(&mut self) -> Value {
        let at = self.random.below(self.words.len());
        self.words[at]
    }

    fn condition(&mut self) -> Value {
        let op = [Op::ULt, Op::SLt, Op::IEq, Op::INe, Op::ULe, Op::SLe][self.random.below(6)];
        let (a, b) = (self.any(), self.any());
        self.b.op(op, &[a, b])
    }

    /// Adds some words.
    fn grow(&mut self, count: usize) {
        for _ in 0..count {
            let word = match self.random.below(8) {
                0 => {
                    let (at, mask) = (self.any(), self.b.word(4 * (WORDS - 1)));
                    let at = self.b.and(at, mask);
                    self.b.emit(Op::Load { memory: Memory::Buffer(BUFFER), offset: 0 }, &[at])[0]
                }
                1 => {
                    let (at, mask) = (self.any(), self.b.word(4 * (WORDS - 1)));
                    let at = self.b.and(at, mask);
                    self.b.emit(Op::LoadUboDynamic { buffer: UNIFORM, offset: 0, last: 0 }, &[at])[0]
                }
                2 => {
                    let (c, a, b) = (self.condition(), self.any(), self.any());
                    self.b.select(c, a, b)
                }
                _ => {
                    let mut op = OPERATIONS[self.random.below(OPERATIONS.len())];
                    let (a, mut b) = (self.any(), self.any());
                    if op == Op::UDiv {
                        // Quotients by 0 are undefined.
                        let one = self.b.word(1);
                        b = self.b.op(Op::Or, &[b, one]);
                    } else if self.random.below(12) == 0 {
                        op = Op::Xor;
                    }
                    self.b.op(op, &[a, b])
                }
            };
            self.words.push(word);
        }
    }

    fn write(&mut self, at: [Value; 2]) {
        let words = [(); 4].map(|()| self.any());
        let args: Vec<Value> = at.into_iter().chain(words).collect();
        self.b.emit(Op::ImageWrite(IMAGE), &args);
    }
}

/// A random kernel with integer arithmetic.
pub fn random(seed: u64) -> Kernel {
    let random = &mut Random::new(seed + 1);
    let mut shader = Shader::new(Stage::Compute);
    shader.workgroup.size = [[8, 4, 1], [5, 3, 1], [16, 1, 1], [1, 1, 1]][random.below(4)];
    let entry = shader.entry().unwrap();
    let [arm, other, behind] = [(); 3].map(|()| shader.blocks.push(Default::default()));
    let mut g = Grower { random, b: Builder::new(&mut shader, entry), words: Vec::new() };
    let at = [0, 1].map(|axis| gid(&mut g.b, axis));
    g.words.extend(at);
    let places = [
        Invocation::LocalId(0),
        Invocation::LocalIndex,
        Invocation::WorkgroupId(1),
        Invocation::WorkgroupCount(0),
    ];
    for what in places {
        let word = builtin(&mut g.b, what);
        g.words.push(word);
    }
    for n in 0..PUSHED {
        let word = g.b.op(Op::LoadPush(4 * n), &[]);
        g.words.push(word);
    }
    let number = g.random.word();
    let number = g.b.word(number);
    let uniform = g.b.op(Op::LoadUbo { buffer: UNIFORM, offset: 8 }, &[]);
    g.words.extend([number, uniform]);
    g.grow(6);
    let guard = [Guard::None, Guard::Inside, Guard::Other][g.random.below(3)];
    let mut nodes = Vec::new();
    match guard {
        Guard::None => {
            g.grow(6);
            g.write(at);
        }
        Guard::Inside => {
            let size = [0, 4].map(|offset| g.b.op(Op::LoadPush(offset), &[]));
            let (compare, flip) = [(Op::ULe, false), (Op::SLe, false), (Op::ULt, true)][g.random.below(3)];
            let beyond = [0, 1].map(|axis| match flip {
                false => g.b.op(compare, &[size[axis], at[axis]]),
                true => {
                    let inside = g.b.op(compare, &[at[axis], size[axis]]);
                    g.b.bnot(inside)
                }
            });
            let cond = match g.random.below(3) {
                0 => g.b.op(Op::BOr, &beyond),
                // As the branches of || become choices.
                1 => {
                    let truth = g.b.truth(true);
                    g.b.op(Op::Select, &[beyond[0], truth, beyond[1]])
                }
                _ => {
                    let inside = g.b.bnot(beyond[0]);
                    g.b.op(Op::Select, &[inside, beyond[1], beyond[0]])
                }
            };
            g.b.block = behind;
            g.grow(8);
            g.write(at);
            nodes = choice(cond, vec![Node::Block(arm), Node::Return], vec![Node::Block(other)], behind);
        }
        Guard::Other => {
            let cond = g.condition();
            let overwrites = g.random.below(2) == 0;
            if overwrites {
                g.write(at);
            }
            let known = g.words.len();
            g.b.block = arm;
            g.grow(4);
            g.write(at);
            g.words.truncate(known);
            nodes = choice(cond, vec![Node::Block(arm)], vec![Node::Block(other)], behind);
        }
    }
    shader.body.extend(nodes);
    pass::optimize(&mut shader);
    Kernel { shader, guard }
}

fn choice(cond: Value, then: Vec<Node>, otherwise: Vec<Node>, behind: Block) -> Vec<Node> {
    vec![Node::If { cond, then, otherwise }, Node::Block(behind)]
}

/// What kernels see and leave.
#[derive(Clone)]
pub struct World {
    pub push: Vec<u32>,
    pub buffers: BTreeMap<Descriptor, Vec<u32>>,
    /// Size of the image.
    pub width: u32,
    pub height: u32,
    /// What was written, by place.
    pub target: BTreeMap<[u32; 2], [u32; 4]>,
}

impl World {
    /// A world whose guard is that of an image of this size.
    pub fn new(seed: u64, width: u32, height: u32) -> World {
        let random = &mut Random::new(seed + 77);
        let mut words = |count: u32| -> Vec<u32> { (0..count).map(|_| random.word() >> 8).collect() };
        let mut push = words(PUSHED);
        (push[0], push[1]) = (width - 2, height - 3);
        let buffers = [(BUFFER, words(WORDS)), (UNIFORM, words(WORDS))].into();
        World { push, buffers, width, height, target: BTreeMap::new() }
    }

    fn word(&self, buffer: Descriptor, offset: u32) -> u32 {
        self.buffers[&buffer].get(offset as usize / 4).copied().unwrap_or(0)
    }

    /// What the host finds out.
    pub fn host(&self, word: &HostWord, groups: [u32; 3]) -> Option<u32> {
        match *word {
            HostWord::Push(offset) => self.push.get(offset as usize / 4).copied(),
            HostWord::Ubo { buffer, offset } => Some(self.word(buffer, offset)),
            HostWord::Groups(axis) => Some(groups[usize::from(axis)]),
            HostWord::Extent { .. } | HostWord::Elements { .. } => None,
        }
    }

    /// The same for sixteen fragments at these places.
    pub fn fragments(&self, places: [[u32; 2]; 16], groups: [u32; 3]) -> Fragments<'_> {
        Fragments { world: self, places, groups }
    }

    /// The push constants of the picture.
    pub fn parameters(&self, groups: [u32; 3]) -> Vec<u32> {
        let mut push = self.push.clone();
        push.resize((PARAMETERS_AT / 4) as usize, 0);
        assert_eq!((LAYER_AT, GROUPS_AT), (PARAMETERS_AT, PARAMETERS_AT + 4));
        push.push(0);
        push.extend(groups);
        push.push(0);
        push
    }
}

impl Environment for World {
    fn ubo(&mut self, buffer: Descriptor, offset: u32) -> u32 {
        self.word(buffer, offset)
    }

    fn push(&mut self, offset: u32) -> u32 {
        self.push[offset as usize / 4]
    }

    fn load(&mut self, buffer: Descriptor, offset: u32) -> u32 {
        self.word(buffer, offset)
    }

    fn image_write(&mut self, texel: Texel, coordinates: &[u32], words: [u32; 4]) {
        assert_eq!(texel, IMAGE);
        if coordinates[0] < self.width && coordinates[1] < self.height {
            self.target.insert([coordinates[0], coordinates[1]], words);
        }
    }
}

/// What fragments see.
pub struct Fragments<'a> {
    world: &'a World,
    places: [[u32; 2]; 16],
    groups: [u32; 3],
}

impl Environment for Fragments<'_> {
    fn ubo(&mut self, buffer: Descriptor, offset: u32) -> u32 {
        self.world.word(buffer, offset)
    }

    fn push(&mut self, offset: u32) -> u32 {
        self.world.parameters(self.groups)[offset as usize / 4]
    }

    fn fetch(&mut self, fetch: Fetch, _: &[[u32; 16]], _: u16) -> [[u32; 16]; 4] {
        panic!("no image is read, but {fetch:?}")
    }

    fn machine(&mut self, op: Op, _: &[[u32; 16]], _: u16) -> Option<[u32; 16]> {
        match op {
            Op::PixelX => Some(self.places.map(|[x, _]| x)),
            Op::PixelY => Some(self.places.map(|[_, y]| y)),
            _ => None,
        }
    }
}

//! What the generation of a kernel's code goes by: the shader and what is known of it, the function under construction, where
//! values are, and which elements run.

use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlags, StackSlot, types};
use cranelift_entity::{EntityRef, SecondaryMap};
use cranelift_frontend::{FunctionBuilder, Variable};
use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::cfg::Cfg;
use vc4_shaders::ir::{Block, Inst, Op, Shader, Value};

use crate::divergence::Shapes;
use crate::machine::Machine;

/// The elements that run. There is always one: code whose mask may be empty is branched around.
#[derive(Clone, Copy, Debug)]
pub enum Mask {
    /// All four.
    All,
    /// Those of a value that is there from the batch's start on.
    Start(clif::Value),
    /// Those that a variable says.
    Variable(Variable),
}

/// Where a value is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// As a value of the function, in the stretch of code with this number.
    pub local: Option<(u32, clif::Value)>,
    /// For users in other blocks and behind barriers.
    pub variable: Option<Variable>,
    /// For users behind a loop that elements leave one by one: what each had when it left.
    pub kept: Option<Variable>,
    /// Of the phi at the start of a loop that elements leave one by one: the next iteration's.
    pub next: Option<Variable>,
}

/// A loop that elements leave one by one.
#[derive(Clone, Copy, Debug)]
pub struct Masked {
    /// Where elements go whose iteration is over.
    pub latch: clif::Block,
    /// Elements of this iteration.
    pub run: Variable,
    /// Elements of the next iteration.
    pub next: Option<Variable>,
    /// Elements that left to what is behind, where others return.
    pub left: Option<Variable>,
    /// Whether several edges lead back.
    pub merges: bool,
}

/// The loop around.
#[derive(Clone, Copy, Debug)]
pub struct LoopFrame {
    /// Where iterations begin.
    pub header: clif::Block,
    /// What is behind.
    pub exit: clif::Block,
    /// The blocks of the shader that these are.
    pub first: Option<Block>,
    /// See above.
    pub behind: Option<Block>,
    /// `None` if all elements leave together.
    pub masked: Option<Masked>,
}

/// The parts of the batch's surroundings, there from its start on.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The context.
    pub context: clif::Value,
    /// Number of the batch.
    pub batch: clif::Value,
}

/// What a kernel needs of its host beside the code.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Buffers, each once.
    pub buffers: Vec<Descriptor>,
    /// Image operations by number.
    pub images: Vec<Op>,
    /// Their numbers of operands and results.
    pub image_words: Vec<(usize, usize)>,
    /// Rare operations by number, with their numbers of operands.
    pub rare: Vec<(Op, usize)>,
    /// Words of push constants.
    pub push_words: u32,
    /// Bytes that a batch keeps at barriers.
    pub frame_bytes: u32,
    /// Whether a group runs in rounds.
    pub barriers: bool,
    /// Whether a batch can run for long.
    pub loops: bool,
}

/// The generation of one kernel.
pub struct Generator<'a, 'f> {
    /// The shader.
    pub shader: &'a Shader,
    /// Its graph.
    pub cfg: &'a Cfg,
    /// How its values differ between elements.
    pub shapes: &'a Shapes,
    /// The function.
    pub b: FunctionBuilder<'f>,
    /// Where values are.
    pub slots: SecondaryMap<Value, Slot>,
    /// Values used as numbers with a point.
    pub floats: SecondaryMap<Value, bool>,
    /// The batch's surroundings.
    pub start: Start,
    /// The elements that run.
    pub mask: Mask,
    /// Where elements go that have nothing more to do in the innermost construct.
    pub skip: clif::Block,
    /// Behind the batch's last instruction.
    pub done: clif::Block,
    /// Ends the call early.
    pub stopped: clif::Block,
    /// The block of the shader under construction.
    pub block: Option<Block>,
    /// Number of the stretch of code without entry from elsewhere.
    pub stretch: u32,
    /// Loops around, innermost last.
    pub loops: Vec<LoopFrame>,
    /// Number of the next loop.
    pub next_loop: usize,
    /// Variables of control flow that hold something here.
    pub held: Vec<Variable>,
    /// Number of the next barrier, and its resumption.
    pub barrier: usize,
    /// Where batches go on behind each barrier.
    pub resumptions: Vec<clif::Block>,
    /// What lives across each barrier.
    pub across: &'a [(Inst, Vec<Value>)],
    /// Places in the frame.
    pub places: SecondaryMap<Variable, Option<u32>>,
    /// Iterations until the host is asked whether to go on.
    pub fuel: Option<Variable>,
    /// Arguments and results of calls.
    pub words: Option<StackSlot>,
    /// What the machine is like.
    pub machine: Machine,
    /// Collected along the way.
    pub needs: Needs,
    variables: usize,
}

impl<'a, 'f> Generator<'a, 'f> {
    /// Nothing generated yet.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        shader: &'a Shader,
        cfg: &'a Cfg,
        shapes: &'a Shapes,
        across: &'a [(Inst, Vec<Value>)],
        mut b: FunctionBuilder<'f>,
        start: Start,
        machine: Machine,
    ) -> Generator<'a, 'f> {
        let [done, stopped] = [b.create_block(), b.create_block()];
        b.set_cold_block(stopped);
        Generator {
            shader,
            cfg,
            shapes,
            b,
            slots: SecondaryMap::new(),
            floats: SecondaryMap::new(),
            start,
            mask: Mask::All,
            skip: done,
            done,
            stopped,
            block: None,
            stretch: 0,
            loops: Vec::new(),
            next_loop: 0,
            held: Vec::new(),
            barrier: 0,
            resumptions: Vec::new(),
            across,
            places: SecondaryMap::new(),
            fuel: None,
            words: None,
            machine,
            needs: Needs::default(),
            variables: 0,
        }
    }

    /// A new variable.
    pub fn variable(&mut self, ty: clif::Type) -> Variable {
        let variable = Variable::new(self.variables);
        self.variables += 1;
        self.b.declare_var(variable, ty);
        variable
    }

    /// A new variable that holds a mask of no elements, or zeros.
    pub fn empty(&mut self) -> Variable {
        let variable = self.variable(types::I32X4);
        let zero = self.vector([0; 4]);
        self.b.def_var(variable, zero);
        variable
    }

    /// A constant of every element.
    pub fn vector(&mut self, words: [u32; 4]) -> clif::Value {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let constant = self.b.func.dfg.constants.insert(bytes.into());
        self.b.ins().vconst(types::I32X4, constant)
    }

    /// A word in all elements.
    pub fn splat(&mut self, word: clif::Value) -> clif::Value {
        self.b.ins().splat(types::I32X4, word)
    }

    /// A constant word.
    pub fn word(&mut self, word: u32) -> clif::Value {
        self.b.ins().iconst(types::I32, i64::from(word))
    }

    /// A constant number of bytes.
    pub fn wide(&mut self, value: u64) -> clif::Value {
        self.b.ins().iconst(types::I64, value as i64)
    }

    /// A number of bytes, not negative and below the memory's size, as a part of an address.
    pub fn distance(&mut self, bytes: clif::Value) -> clif::Value {
        match self.machine.address {
            types::I64 => bytes,
            narrow => self.b.ins().ireduce(narrow, bytes),
        }
    }

    /// An address that the context holds for the call.
    pub fn pointer(&mut self, offset: usize) -> clif::Value {
        self.field(self.machine.address, offset)
    }

    /// A part of the context that is fixed for the call.
    pub fn field(&mut self, ty: clif::Type, offset: usize) -> clif::Value {
        self.fixed(ty, self.start.context, offset)
    }

    /// A load of what is fixed for the call.
    pub fn fixed(&mut self, ty: clif::Type, address: clif::Value, offset: usize) -> clif::Value {
        let flags = MemFlags::trusted().with_readonly().with_can_move();
        self.b.ins().load(ty, flags, address, offset as i32)
    }

    /// The running elements as a vector of all ones and zeros.
    pub fn mask_value(&mut self, mask: Mask) -> clif::Value {
        match mask {
            Mask::All => self.vector([!0; 4]),
            Mask::Start(value) => value,
            Mask::Variable(variable) => self.b.use_var(variable),
        }
    }

    /// A vector of words as floats.
    pub fn as_floats(&mut self, vector: clif::Value) -> clif::Value {
        self.b.ins().bitcast(types::F32X4, MemFlags::new(), vector)
    }

    /// A vector of floats as words.
    pub fn as_words(&mut self, vector: clif::Value) -> clif::Value {
        self.b.ins().bitcast(types::I32X4, MemFlags::new(), vector)
    }

    /// Not 0 if any element of a mask is set.
    pub fn any(&mut self, mask: clif::Value) -> clif::Value {
        if cfg!(target_arch = "x86_64") {
            self.b.ins().vhigh_bits(types::I32, mask)
        } else {
            self.b.ins().vany_true(mask)
        }
    }

    /// Begins a block that control enters from more than its predecessor in the text.
    pub fn switch(&mut self, block: clif::Block) {
        self.b.switch_to_block(block);
    }

    /// A block and the jump to it.
    pub fn jump(&mut self, block: clif::Block) {
        self.b.ins().jump(block, &[]);
    }

    /// A branch.
    pub fn branch(&mut self, cond: clif::Value, yes: clif::Block, no: clif::Block) {
        self.b.ins().brif(cond, yes, &[], no, &[]);
    }
}

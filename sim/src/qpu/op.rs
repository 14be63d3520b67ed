//! Instructions flattened for running: operands are slots of one register array, destinations and side effects are
//! resolved, and what an instruction does not need costs one bit test.

use vc4::qpu::sfu::SfuOp;
use vc4::qpu::{AddOp, BranchCond, Cond, LoadMode, MulOp, Pack, Unpack};

/// Places in the register array of a [`super::Qpu`].
pub(super) mod slot {
    /// Number of slots; a power of two, so that a masked index needs no bounds check.
    pub const COUNT: usize = 128;
    /// ra0.
    pub const RA: u8 = 0;
    /// rb0.
    pub const RB: u8 = 32;
    /// r0.
    pub const ACC: u8 = 64;
    /// SFU, TMU and tile load results.
    pub const R4: u8 = 68;
    /// The per-quad register.
    pub const R5: u8 = 69;
    /// What a peripheral delivered to read port A, or an immediate.
    pub const PORT_A: u8 = 70;
    /// What a peripheral delivered to read port B.
    pub const PORT_B: u8 = 71;
    /// The file-A value or r4 after its unpack.
    pub const UNPACKED: u8 = 72;
    /// All zero: reads that deliver nothing defined (qpu.md §3.4), and the QPU number.
    pub const ZERO: u8 = 73;
    /// Element numbers.
    pub const ELEMENT: u8 = 74;
    /// Small immediate 0; the codes up to 47 follow.
    pub const SMALL: u8 = 80;
}

/// What a read port fetches besides the register files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Port {
    None,
    Uniform,
    Varying,
    PixelX,
    PixelY,
    MsFlags,
    RevFlag,
    Vpm,
    Imm(LoadMode),
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dest {
    None,
    /// A whole register or r0–r3.
    Slot(u8),
    /// A file-A register through the pack unit.
    Packed(u8),
    R5Quad,
    R5All,
    UnifAddr,
    MsFlags,
    RevFlag,
    TlbStencil,
    TlbZ,
    TlbColor {
        all: bool,
    },
    Vpm,
    VpmReadSetup,
    VpmWriteSetup,
    Sfu(SfuOp),
    /// Unit and parameter: 0 s, 1 t, 2 r, 3 b.
    Tmu(u8, u8),
}

/// What the instruction's signal does in the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    None,
    LoadTmu(u8),
    ColorLoad,
    /// Program end behind its slots.
    End,
    /// Thread switch behind its slots.
    Switch,
    /// Semaphore number and direction.
    Semaphore {
        number: u8,
        decrement: bool,
    },
    Branch(Branch),
}

/// Instructions behind a branch that run all the same (qpu.md §2.8).
pub(super) const BRANCH_SLOTS: usize = 3;
/// The same behind a thread switch or a program's end.
pub(super) const SWITCH_SLOTS: usize = 2;

/// A branch with its target split into the known part and the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    pub cond: BranchCond,
    /// Added to the register (if any); absolute.
    pub base: u32,
    pub reg: Option<u8>,
    /// Value of the link writes.
    pub link: u32,
    /// Registers that a taken branch writes the link to.
    pub link_to: [Option<u8>; 2],
    /// Whether a taken branch sets the flags from the link value: raddr_a is odd (qpu.md §2.8).
    pub sets_flags: bool,
}

/// Mul units' own rotation (qpu.md §2.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rotate {
    /// Elements, or `None` for r5 element 0.
    pub by: Option<u8>,
    /// Only inside of each quad: an operand comes from elsewhere than r0–r3.
    pub quad: bool,
}

/// Bits of [`Op::extras`]: the steps that most instructions skip.
pub(super) mod extra {
    pub const PORTS: u8 = 1;
    pub const UNPACK: u8 = 2;
    pub const FLAGS: u8 = 4;
    pub const ROTATE: u8 = 8;
    pub const MUL_PACK: u8 = 16;
    pub const ACTION: u8 = 32;
    /// The machine behaves otherwise than is assumed.
    pub const VARIANT: u8 = 64;
}

/// One flattened instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub extras: u8,
    pub add: AddOp,
    pub mul: MulOp,
    pub add_a: u8,
    pub add_b: u8,
    pub mul_a: u8,
    pub mul_b: u8,
    pub add_cond: Cond,
    pub mul_cond: Cond,
    pub add_dest: Dest,
    pub mul_dest: Dest,
    pub port_a: Port,
    pub port_b: Port,
    pub unpack: Unpack,
    /// Slot that the unpack reads.
    pub unpack_from: u8,
    /// Whether a float operation consumes the unpacked value.
    pub unpack_float: bool,
    pub pack: Pack,
    pub rotate: Option<Rotate>,
    /// Whether the flags come from the mul result.
    pub flags_from_mul: bool,
    pub imm: u32,
    pub action: Action,
}

/// An instruction that does nothing.
pub(super) const IDLE: Op = Op {
    extras: 0,
    add: AddOp::Nop,
    mul: MulOp::Nop,
    add_a: slot::ZERO,
    add_b: slot::ZERO,
    mul_a: slot::ZERO,
    mul_b: slot::ZERO,
    add_cond: Cond::Never,
    mul_cond: Cond::Never,
    add_dest: Dest::None,
    mul_dest: Dest::None,
    port_a: Port::None,
    port_b: Port::None,
    unpack: Unpack::Nop,
    unpack_from: slot::ZERO,
    unpack_float: false,
    pack: Pack::Nop,
    rotate: None,
    flags_from_mul: false,
    imm: 0,
    action: Action::None,
};

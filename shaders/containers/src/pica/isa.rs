//! The instruction table: one row per operation, from which encoding, decoding, printing and parsing follow.
//!
//! A word is drawn most significant bit first: `0`/`1` are fixed, a letter is a field of [`Field`], `-` is a
//! bit the hardware ignores. The compiler refuses a drawing that is not 32 bits wide, tears a field apart, or
//! claims an opcode that another row has.

/// Code words the 12-bit targets reach.
pub const MAX_WORDS: usize = 4096;
/// Operand descriptors the 7-bit field reaches; mad and madi reach the first 32.
pub const MAX_DESCRIPTORS: usize = 128;

/// Names of the comparisons of `cmp`; the hardware leaves 6 and 7 undefined.
pub(super) const COMPARISONS: [&str; 8] = ["eq", "ne", "lt", "le", "gt", "ge", "undef6", "undef7"];
/// Names of the address registers, by [`Field::Index`].
pub(super) const ADDRESSES: [&str; 4] = ["", "a0.x", "a0.y", "aL"];

/// A field of an instruction word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// `d`: destination register, 0x00–0x0F o, 0x10–0x1F r.
    Dst,
    /// `i`: address register added to the 7-bit source: 0 none, 1 a0.x, 2 a0.y, 3 aL.
    Index,
    /// `a`: first source, 0x00–0x0F v, 0x10–0x1F r, 0x20–0x7F c; the last only where 7 bits are drawn.
    SrcA,
    /// `b`: second source.
    SrcB,
    /// `c`: third source.
    SrcC,
    /// `x`: number of the operand descriptor.
    Desc,
    /// `u`: comparison of the x components.
    CmpX,
    /// `v`: comparison of the y components.
    CmpY,
    /// `y`: value the x flag is compared with.
    RefX,
    /// `z`: value the y flag is compared with.
    RefY,
    /// `k`: how the two flags are combined: 0 or, 1 and, 2 only x, 3 only y.
    Cond,
    /// `f`: boolean uniform b0–b15.
    Bool,
    /// `g`: jump when the boolean is false.
    Not,
    /// `l`: integer uniform; the hardware has i0–i3.
    Int,
    /// `t`: code word to go to.
    Target,
    /// `n`: number of code words.
    Num,
    /// `e`: vertex slot.
    Vertex,
    /// `p`: emit finishes a primitive.
    Primitive,
    /// `w`: the primitive's winding is inverted.
    Invert,
}

/// Number of [`Field`]s.
const FIELDS: usize = Field::Invert as usize + 1;
const LETTERS: &[u8; FIELDS] = b"diabcxuvyzkfgltnepw";

impl Field {
    /// The letter that draws the field in [`Row::picture`].
    pub fn letter(self) -> char {
        char::from(LETTERS[self as usize])
    }
}

/// Where the fields of a drawn word are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    shift: [u8; FIELDS],
    width: [u8; FIELDS],
    mask: u32,
    value: u32,
    ignored: u32,
}

impl Layout {
    const fn of(picture: &str) -> Layout {
        let bytes = picture.as_bytes();
        let mut layout = Layout { shift: [0; FIELDS], width: [0; FIELDS], mask: 0, value: 0, ignored: 0 };
        let (mut at, mut left) = (0, 32u8);
        while at < bytes.len() {
            let letter = bytes[at];
            at += 1;
            if letter == b' ' {
                continue;
            }
            assert!(left > 0, "a word has 32 bits");
            left -= 1;
            match letter {
                b'0' => layout.mask |= 1 << left,
                b'1' => {
                    layout.mask |= 1 << left;
                    layout.value |= 1 << left;
                }
                b'-' => layout.ignored |= 1 << left,
                _ => layout = layout.grow(field_of(letter), left),
            }
        }
        assert!(left == 0, "a word has 32 bits");
        layout
    }

    const fn grow(mut self, field: usize, bit: u8) -> Layout {
        assert!(self.width[field] == 0 || self.shift[field] == bit + 1, "field stands in two pieces");
        self.shift[field] = bit;
        self.width[field] += 1;
        self
    }
}

const fn field_of(letter: u8) -> usize {
    let mut field = 0;
    while field < FIELDS {
        if LETTERS[field] == letter {
            return field;
        }
        field += 1;
    }
    panic!("no field has this letter")
}

/// Which components of an operation's sources count, after the swizzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// It has no sources.
    None,
    /// Those the destination mask enables.
    Masked,
    /// The first.
    X,
    /// The first two.
    Xy,
    /// The first three.
    Xyz,
    /// All four.
    All,
}

impl Reads {
    /// The components as a mask like [`super::Mask`]'s, for an instruction with the given destination mask.
    pub(super) fn places(self, mask: u32) -> u32 {
        match self {
            Reads::None => 0,
            Reads::Masked => mask & 15,
            Reads::X => 8,
            Reads::Xy => 12,
            Reads::Xyz => 14,
            Reads::All => 15,
        }
    }
}

/// One operation of the PICA200.
#[derive(Debug)]
pub struct Row {
    /// The operation.
    pub op: Op,
    /// Mnemonic.
    pub name: &'static str,
    /// Other mnemonics the assembler takes: those of nihstro and of the oldest public description.
    pub aliases: &'static [&'static str],
    /// The word, most significant bit first.
    pub picture: &'static str,
    /// Which components of its sources count.
    pub reads: Reads,
    /// What it does.
    pub effect: &'static str,
    layout: Layout,
}

impl Row {
    /// Whether the word has this field.
    pub fn has(&self, field: Field) -> bool {
        self.layout.width[field as usize] != 0
    }

    /// Width of a field in bits, 0 when the word does not have it.
    pub fn width(&self, field: Field) -> u32 {
        self.layout.width[field as usize].into()
    }

    /// Lowest bit of a field; meaningless when the word does not have it.
    pub fn shift(&self, field: Field) -> u32 {
        self.layout.shift[field as usize].into()
    }

    /// Bits the hardware ignores.
    pub fn ignored(&self) -> u32 {
        self.layout.ignored
    }

    /// The word with every field zero.
    pub fn base(&self) -> u32 {
        self.layout.value
    }

    /// The source operands the operation reads, in the order they are written.
    pub fn sources(&self) -> impl Iterator<Item = Field> + '_ {
        [Field::SrcA, Field::SrcB, Field::SrcC].into_iter().filter(|&field| self.has(field))
    }
}

macro_rules! operations {
    ($($op:ident $name:literal $([$($alias:literal)*])? $picture:literal $reads:ident $effect:literal)*) => {
        /// An operation; its row is in [`TABLE`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = concat!("`", $name, "`: ", $effect)] $op,)*
        }

        /// Every operation, in the order of [`Op`].
        pub static TABLE: &[Row] = ROWS;

        const ROWS: &[Row] = &[$(Row {
            op: Op::$op,
            name: $name,
            aliases: &[$($($alias),*)?],
            picture: $picture,
            reads: Reads::$reads,
            effect: $effect,
            layout: Layout::of($picture),
        },)*];
    };
}

operations! {
    Add    "add"             "000000 ddddd ii aaaaaaa bbbbb xxxxxxx"       Masked "a + b"
    Dp3    "dp3" ["dt3"]     "000001 ddddd ii aaaaaaa bbbbb xxxxxxx"       Xyz    "dot product of xyz, to every enabled component"
    Dp4    "dp4" ["dt4"]     "000010 ddddd ii aaaaaaa bbbbb xxxxxxx"       All    "dot product of xyzw"
    Dph    "dph"             "000011 ddddd ii aaaaaaa bbbbb xxxxxxx"       All    "dot product of (a.xyz, 1) and b"
    Dst    "dst"             "000100 ddddd ii aaaaaaa bbbbb xxxxxxx"       All    "(1, a.y*b.y, a.z, b.w)"
    Ex2    "ex2" ["exp"]     "000101 ddddd ii aaaaaaa ----- xxxxxxx"       X      "2 to the power a.x"
    Lg2    "lg2" ["log"]     "000110 ddddd ii aaaaaaa ----- xxxxxxx"       X      "base 2 logarithm of a.x"
    Litp   "litp" ["lit"]    "000111 ddddd ii aaaaaaa ----- xxxxxxx"       All    "(max(a.x, 0), clamp(a.y, -127.996, 127.996), 0, max(a.w, 0)); flags a.x >= 0 and a.w >= 0"
    Mul    "mul"             "001000 ddddd ii aaaaaaa bbbbb xxxxxxx"       Masked "a * b, where 0 * infinity is 0"
    Sge    "sge"             "001001 ddddd ii aaaaaaa bbbbb xxxxxxx"       Masked "a >= b ? 1 : 0"
    Slt    "slt"             "001010 ddddd ii aaaaaaa bbbbb xxxxxxx"       Masked "a < b ? 1 : 0"
    Flr    "flr"             "001011 ddddd ii aaaaaaa ----- xxxxxxx"       Masked "floor of a"
    Max    "max"             "001100 ddddd ii aaaaaaa bbbbb xxxxxxx"       Masked "the larger of a and b"
    Min    "min"             "001101 ddddd ii aaaaaaa bbbbb xxxxxxx"       Masked "the smaller of a and b"
    Rcp    "rcp"             "001110 ddddd ii aaaaaaa ----- xxxxxxx"       X      "1 / a.x"
    Rsq    "rsq"             "001111 ddddd ii aaaaaaa ----- xxxxxxx"       X      "1 / square root of a.x"
    Mova   "mova"            "010010 ----- ii aaaaaaa ----- xxxxxxx"       Masked "integer part of a.x and a.y to a0.x and a0.y, as masked"
    Mov    "mov"             "010011 ddddd ii aaaaaaa ----- xxxxxxx"       Masked "a"
    Dphi   "dphi"            "011000 ddddd ii aaaaa bbbbbbb xxxxxxx"       All    "dph with the wide source second"
    Dsti   "dsti"            "011001 ddddd ii aaaaa bbbbbbb xxxxxxx"       All    "dst with the wide source second"
    Sgei   "sgei"            "011010 ddddd ii aaaaa bbbbbbb xxxxxxx"       Masked "sge with the wide source second"
    Slti   "slti"            "011011 ddddd ii aaaaa bbbbbbb xxxxxxx"       Masked "slt with the wide source second"
    Break  "break"           "100000 --------------------------"           None   "leave the loop"
    Nop    "nop"             "100001 --------------------------"           None   "nothing"
    End    "end"             "100010 --------------------------"           None   "stop"
    Breakc "breakc"          "100011 y z kk ------------ -- --------"      None   "leave the loop when the condition holds"
    Call   "call"            "100100 - - -- tttttttttttt -- nnnnnnnn"      None   "run `num` words at the target, come back"
    Callc  "callc"           "100101 y z kk tttttttttttt -- nnnnnnnn"      None   "call when the condition holds"
    Callu  "callu"           "100110 ffff tttttttttttt -- nnnnnnnn"        None   "call when the boolean is true"
    Ifu    "ifu"             "100111 ffff tttttttttttt -- nnnnnnnn"        None   "boolean true: run up to the target, then skip `num` words (the else part); false: go to the target"
    Ifc    "ifc"             "101000 y z kk tttttttttttt -- nnnnnnnn"      None   "ifu on the condition"
    Loop   "loop"            "101001 llll tttttttttttt -- --------"        None   "integer (x, y, z): x+1 rounds, aL starts at y and grows by z; the body ends with the target word"
    Emit   "emit"            "101010 --------------------------"           None   "geometry: put the vertex out"
    Setemit "setemit"        "101011 ee p w ----------------------"        None   "geometry: choose vertex slot, primitive flag, winding"
    Jmpc   "jmpc"            "101100 y z kk tttttttttttt -- --------"      None   "go to the target when the condition holds"
    Jmpu   "jmpu"            "101101 ffff tttttttttttt -- ------- g"       None   "go to the target when the boolean is true (`!`: false)"
    Cmp    "cmp"             "10111 uuu vvv ii aaaaaaa bbbbb xxxxxxx"      Xy     "flag x = a.x cmpx b.x, flag y = a.y cmpy b.y"
    Madi   "madi"            "110 ddddd ii aaaaa bbbbb ccccccc xxxxx"      Masked "mad with the wide source third"
    Mad    "mad"             "111 ddddd ii aaaaa bbbbbbb ccccc xxxxx"      Masked "a * b + c"
}

/// Row number plus one for each value of the top six bits; 0 where nothing is assigned.
static BY_OPCODE: [u8; 64] = {
    let mut map = [0u8; 64];
    let mut opcode = 0;
    while opcode < 64 {
        let mut row = 0;
        while row < ROWS.len() {
            let layout = &ROWS[row].layout;
            if ((opcode as u32) << 26 ^ layout.value) & layout.mask == 0 {
                assert!(map[opcode] == 0, "two rows claim one opcode");
                map[opcode] = row as u8 + 1;
            }
            row += 1;
        }
        opcode += 1;
    }
    map
};

impl Op {
    /// The operation's row.
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The operation of a word; `None` for the unassigned opcodes 0x10, 0x11, 0x14–0x17 and 0x1C–0x1F.
    pub fn of(word: u32) -> Option<Op> {
        let row = BY_OPCODE[(word >> 26) as usize].checked_sub(1)?;
        Some(TABLE[usize::from(row)].op)
    }

    /// The operation with this mnemonic or alias, in lower case.
    pub fn named(name: &str) -> Option<Op> {
        TABLE.iter().find(|row| row.name == name || row.aliases.contains(&name)).map(|row| row.op)
    }

    /// The same operation with the wide (7-bit) source in the other place.
    pub fn twin(self) -> Option<Op> {
        Some(match self {
            Op::Dph => Op::Dphi,
            Op::Dst => Op::Dsti,
            Op::Sge => Op::Sgei,
            Op::Slt => Op::Slti,
            Op::Mad => Op::Madi,
            _ => return None,
        })
    }
}

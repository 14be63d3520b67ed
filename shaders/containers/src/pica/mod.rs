//! The PICA200 instruction set (the 3DS's vertex and geometry shaders): table, disassembler and assembler.
//!
//! One `u32` is one instruction. The shapes of a word, `d` destination, `a b c` sources, `i` address register
//! (0 none, 1 a0.x, 2 a0.y, 3 aL; it applies to the 7-bit source), `x` operand descriptor, `t` target word,
//! `n` number of words:
//!
//! | form | word | operations |
//! |------|------|------------|
//! | 0 | `oooooo --------------------------` | break nop end emit |
//! | 1 | `oooooo ddddd ii aaaaaaa bbbbb xxxxxxx` | add dp3 dp4 dph dst mul sge slt max min |
//! | 1u | the same, `b` ignored | ex2 lg2 litp flr rcp rsq mov; mova, where `d` is ignored too |
//! | 1i | `oooooo ddddd ii aaaaa bbbbbbb xxxxxxx` | dphi dsti sgei slti |
//! | 1c | `ooooo uuu vvv ii aaaaaaa bbbbb xxxxxxx` | cmp |
//! | 2 | `oooooo y z kk tttttttttttt -- nnnnnnnn` | breakc call callc ifc jmpc |
//! | 3 | `oooooo ffff tttttttttttt -- nnnnnnnn` | callu ifu jmpu; loop |
//! | 4 | `oooooo ee p w ----------------------` | setemit |
//! | 5 | `ooo ddddd ii aaaaa bbbbbbb ccccc xxxxx` | mad |
//! | 5i | `ooo ddddd ii aaaaa bbbbb ccccccc xxxxx` | madi |
//!
//! A source register is 0x00–0x0F v, 0x10–0x1F r, 0x20–0x7F c (7-bit fields only); a destination is 0x00–0x0F o,
//! 0x10–0x1F r. The rows, with the effect of each operation, are [`TABLE`].
//!
//! # Text
//!
//! [`Program`] prints itself as a listing that [`assemble`] turns back into the same words:
//!
//! ```text
//! .opdesc 0, 0x0006c36f      ; mask, source 1, source 2, source 3
//! .alias tint c24            ; a name for a register
//! main:                      ; a label
//!     mul r0.xyz, tint.wzyx, -v1      ; the assembler finds or adds a descriptor
//!     mov o0, c8[a0.x] @0             ; this one is named, and must say what the operands say
//!     mad r1, r0, tint, v0            ; mad or madi, dph or dphi …: whichever reaches the registers
//!     cmp c20, lt, ge, r1
//!     ifc cmp.x && !cmp.y, else, done ; condition, else part, word behind it
//!     nop
//! else:
//!     nop
//! done:
//!     loop i0, last                   ; label of the last word of the body
//! last:
//!     call sub, done                  ; target and the word behind the block; a number is a length
//!     jmpu !b3, main
//!     setemit 1, prim inv
//! sub:
//!     nop !0x3                        ; ignored bits of the word, kept
//!     .word 0x40000000                ; a word whose opcode is unassigned
//! ```
//!
//! # Old and new descriptions
//!
//! The oldest public description of this instruction set differs from every file made by today's assemblers;
//! this crate follows the files:
//!
//! | old | here |
//! |-----|------|
//! | DT3, DT4 | [`dp3`](Op::Dp3), [`dp4`](Op::Dp4); the old names are accepted |
//! | six-bit destination, sources and descriptor | the widths above |
//! | MOV = 0x09 | 0x13; 0x09 is [`sge`](Op::Sge) |
//! | END = 0x84000000 | 0x88000000; 0x84000000 is [`nop`](Op::Nop) |
//! | CALL/JMP = 1001J | 0x24–0x27: call, callc, callu, ifu |
//! | IF/ELSE = 101000E | 0x28, [`ifc`](Op::Ifc); E is the value the x flag is compared with |
//! | CMP = 10111? with six-bit fields | 0x2E and 0x2F with the fields of form 1c |
//! | 10-bit length | 8 bits; the two above are ignored by the hardware |
//!
//! nihstro's names `exp`, `log` and `lit` are accepted for `ex2`, `lg2` and `litp`.
//!
//! ```
//! let program = shader_containers::pica::assemble("main:\n  dp4 o0.x, c0, v0\n  end\n")?;
//! assert_eq!(program.code, [0x0802_0000, 0x8800_0000]);
//! assert_eq!(shader_containers::pica::assemble(&program.to_string())?, program);
//! # Ok::<(), shader_containers::pica::AsmError>(())
//! ```

mod asm;
mod desc;
mod float24;
mod flow;
mod inst;
mod isa;
mod line;
mod print;
mod program;

pub use asm::assemble;
pub use desc::{Descriptor, Mask, Source, Swizzle};
pub use float24::Float24;
pub use flow::{Reach, inputs};
pub use inst::{FieldError, Inst};
pub use isa::{Field, MAX_DESCRIPTORS, MAX_WORDS, Op, Reads, Row, TABLE};
pub use line::AsmError;
pub use program::{Label, Program};

//! The PICA200 instruction set: table, disassembler and assembler.

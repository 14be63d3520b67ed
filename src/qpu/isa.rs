//! THE instruction-set table: every code of the QPU once, with its name (qpu.md §2–§3).
//! Encoding, decoding, text and checking derive from these rows.

/// Declares a code vocabulary: an enum with its hardware code, its name in the assembler text
/// and a line of documentation per row.
macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])* $code:literal $variant:ident $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[doc = $doc])* $variant = $code,)* }

        impl $name {
            /// All rows in table order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The row with this hardware code; `None` for reserved codes.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }

            /// The hardware code.
            pub const fn code(self) -> u8 { self as u8 }

            /// The name in the assembler text (qpu.md §6.1).
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The row's line of documentation.
            pub fn doc(self) -> &'static str {
                match self { $($name::$variant => concat!($($doc),*).trim_ascii(),)* }
            }

            /// The row with this assembler name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

codes! {
    /// Instruction signal, bits 63:60 (qpu.md §2.2).
    Signal {
        /// Software breakpoint; halts the QPU.
        0 Breakpoint "sig_brk",
        /// Nothing.
        1 None "sig_none",
        /// Thread switch after two more instructions.
        2 ThreadSwitch "sig_thread_switch",
        /// Program end after two more instructions.
        3 End "sig_end",
        /// Stall until this instance owns its pixels in the tile buffer.
        4 WaitScoreboard "sig_wait_score",
        /// Release the scoreboard.
        5 UnlockScoreboard "sig_unlock_score",
        /// As `ThreadSwitch`, the last one of the program.
        6 LastThreadSwitch "sig_last_thread_switch",
        /// OpenVG coverage to r4.
        7 CoverageLoad "sig_coverage_load",
        /// Tile colour of the next sample to r4.
        8 ColorLoad "sig_color_load",
        /// Colour load and program end.
        9 ColorLoadEnd "sig_color_load_end",
        /// One result word of TMU0 to r4.
        10 LoadTmu0 "sig_load_tmu0",
        /// One result word of TMU1 to r4.
        11 LoadTmu1 "sig_load_tmu1",
        /// OpenVG alpha mask to r4.
        12 AlphaMaskLoad "sig_alpha_mask_load",
        /// Bits 17:12 are a small immediate or a rotate.
        13 SmallImm "sig_small_imm",
        /// Load immediate or semaphore.
        14 LoadImm "sig_load_imm",
        /// Branch.
        15 Branch "sig_branch",
    }
}

codes! {
    /// Operation of the add unit, bits 28:24 (qpu.md §2.3). Meaning: [`super::alu`].
    AddOp {
        /// No operation.
        0 Nop "nop",
        /// a + b, rounded toward zero.
        1 Fadd "fadd",
        /// a - b, rounded toward zero.
        2 Fsub "fsub",
        /// Smaller operand word.
        3 Fmin "fmin",
        /// Larger operand word.
        4 Fmax "fmax",
        /// Smaller of the magnitudes.
        5 Fminabs "fminabs",
        /// Larger of the magnitudes.
        6 Fmaxabs "fmaxabs",
        /// Float to signed integer, truncating.
        7 Ftoi "ftoi",
        /// Signed integer to float, toward zero.
        8 Itof "itof",
        /// Integer a + b.
        12 Add "add",
        /// Integer a - b; carry is the unsigned borrow.
        13 Sub "sub",
        /// Logical shift right.
        14 Shr "shr",
        /// Arithmetic shift right.
        15 Asr "asr",
        /// Rotate right.
        16 Ror "ror",
        /// Shift left.
        17 Shl "shl",
        /// Signed minimum.
        18 Min "min",
        /// Signed maximum.
        19 Max "max",
        /// Bitwise and.
        20 And "and",
        /// Bitwise or; the usual move.
        21 Or "or",
        /// Bitwise exclusive or.
        22 Xor "xor",
        /// Bitwise not of a.
        23 Not "not",
        /// Count of leading zeros of a.
        24 Clz "clz",
        /// Saturating unsigned addition per byte.
        30 V8adds "v8adds",
        /// Saturating unsigned subtraction per byte.
        31 V8subs "v8subs",
    }
}

impl AddOp {
    /// Number of operands that the operation reads; unary ones read the `a` side.
    pub const fn operands(self) -> usize {
        match self {
            AddOp::Nop => 0,
            AddOp::Ftoi | AddOp::Itof | AddOp::Not | AddOp::Clz => 1,
            _ => 2,
        }
    }

    /// Whether a consumer of this kind makes a file-A or r4 unpack produce floats (qpu.md §2.11).
    pub const fn reads_float(self) -> bool {
        matches!(
            self,
            AddOp::Fadd
                | AddOp::Fsub
                | AddOp::Fmin
                | AddOp::Fmax
                | AddOp::Fminabs
                | AddOp::Fmaxabs
                | AddOp::Ftoi
        )
    }

    /// Whether the result counts as a float for a file-A pack (qpu.md §2.11).
    pub const fn writes_float(self) -> bool {
        matches!(
            self,
            AddOp::Fadd
                | AddOp::Fsub
                | AddOp::Fmin
                | AddOp::Fmax
                | AddOp::Fminabs
                | AddOp::Fmaxabs
                | AddOp::Itof
        )
    }

    /// Whether the operands may be exchanged without changing the result.
    pub const fn commutes(self) -> bool {
        matches!(
            self,
            AddOp::Fadd
                | AddOp::Add
                | AddOp::Min
                | AddOp::Max
                | AddOp::And
                | AddOp::Or
                | AddOp::Xor
                | AddOp::V8adds
        )
    }
}

codes! {
    /// Operation of the mul unit, bits 31:29 (qpu.md §2.4). Meaning: [`super::alu`].
    MulOp {
        /// No operation.
        0 Nop "nop",
        /// Float product.
        1 Fmul "fmul",
        /// Low 32 bits of the product of the low 24 bits.
        2 Mul24 "mul24",
        /// Per byte product of fractions of 255.
        3 V8muld "v8muld",
        /// Per byte minimum; with equal operands the move of this unit.
        4 V8min "v8min",
        /// Per byte maximum.
        5 V8max "v8max",
        /// Saturating unsigned addition per byte.
        6 V8adds "v8adds",
        /// Saturating unsigned subtraction per byte.
        7 V8subs "v8subs",
    }
}

impl MulOp {
    /// Number of operands that the operation reads.
    pub const fn operands(self) -> usize {
        if matches!(self, MulOp::Nop) { 0 } else { 2 }
    }

    /// Whether an unpacked operand is delivered as a float.
    pub const fn reads_float(self) -> bool {
        matches!(self, MulOp::Fmul)
    }

    /// Whether the operands may be exchanged without changing the result.
    pub const fn commutes(self) -> bool {
        !matches!(self, MulOp::Nop | MulOp::V8subs)
    }
}

codes! {
    /// Write condition per element (qpu.md §2.6).
    Cond {
        /// Never; the unit stops.
        0 Never "never",
        /// Always.
        1 Always "always",
        /// Z set.
        2 Zs "zs",
        /// Z clear.
        3 Zc "zc",
        /// N set.
        4 Ns "ns",
        /// N clear.
        5 Nc "nc",
        /// C set.
        6 Cs "cs",
        /// C clear.
        7 Cc "cc",
    }
}

codes! {
    /// Branch condition over all 16 elements (qpu.md §2.8).
    BranchCond {
        /// Z set in all elements.
        0 AllZs "all_zs",
        /// Z clear in all.
        1 AllZc "all_zc",
        /// Z set in any.
        2 AnyZs "any_zs",
        /// Z clear in any.
        3 AnyZc "any_zc",
        /// N set in all.
        4 AllNs "all_ns",
        /// N clear in all.
        5 AllNc "all_nc",
        /// N set in any.
        6 AnyNs "any_ns",
        /// N clear in any.
        7 AnyNc "any_nc",
        /// C set in all.
        8 AllCs "all_cs",
        /// C clear in all.
        9 AllCc "all_cc",
        /// C set in any.
        10 AnyCs "any_cs",
        /// C clear in any.
        11 AnyCc "any_cc",
        /// Unconditional.
        15 Always "always",
    }
}

impl Cond {
    /// The condition that holds in the other elements.
    pub const fn inverse(self) -> Cond {
        match Cond::from_code(self.code() ^ 1) {
            Some(cond) => cond,
            None => self,
        }
    }
}

impl BranchCond {
    /// Distance from a code to that of the other flag set: four conditions look at each flag.
    const PER_FLAG: u8 = 4;
    /// Distance from the code for all elements to the one for any.
    const ANY: u8 = 2;

    /// Taken if a condition on flags holds in all elements; `None` of [`Cond::Never`] and [`Cond::Always`].
    pub const fn all(cond: Cond) -> Option<BranchCond> {
        match cond.code().checked_sub(Cond::Zs.code()) {
            Some(code) => BranchCond::from_code(code / 2 * Self::PER_FLAG + code % 2),
            None => None,
        }
    }

    /// Taken if a condition on flags holds in any element; `None` of [`Cond::Never`] and [`Cond::Always`].
    pub const fn any(cond: Cond) -> Option<BranchCond> {
        match Self::all(cond) {
            Some(all) => BranchCond::from_code(all.code() + Self::ANY),
            None => None,
        }
    }

    /// What holds in all elements where such a branch is taken, if that is anything.
    pub fn holds_in_all(self) -> Option<Cond> {
        Cond::ALL.iter().copied().find(|&cond| Self::all(cond) == Some(self))
    }
}

codes! {
    /// Input selector of an ALU operand (qpu.md §2.5).
    Mux {
        /// Accumulator 0.
        0 R0 "r0",
        /// Accumulator 1.
        1 R1 "r1",
        /// Accumulator 2.
        2 R2 "r2",
        /// Accumulator 3.
        3 R3 "r3",
        /// Result of SFU, TMU and tile loads.
        4 R4 "r4",
        /// Per-quad register: varying C, replicated writes.
        5 R5 "r5",
        /// The value read through `raddr_a`.
        6 A "a",
        /// The value read through `raddr_b`, or the small immediate.
        7 B "b",
    }
}

codes! {
    /// Unpack code, bits 59:57 (qpu.md §2.11); what it applies to is the `pm` bit's choice.
    Unpack {
        /// 32 bits unchanged.
        0 Nop "nop",
        /// Low half: float16 or sign-extended.
        1 Half0 "16a",
        /// High half.
        2 Half1 "16b",
        /// Byte 3 to all four bytes.
        3 Rep8d "8d_rep",
        /// Byte 0: v/255 or zero-extended.
        4 Byte0 "8a",
        /// Byte 1.
        5 Byte1 "8b",
        /// Byte 2.
        6 Byte2 "8c",
        /// Byte 3.
        7 Byte3 "8d",
    }
}

codes! {
    /// Pack code, bits 55:52 (qpu.md §2.11). With `pm` = 0 it applies to the value written to file A,
    /// with `pm` = 1 to the mul result (then only `Nop`, `Rep8` and `Byte0`–`Byte3` exist).
    Pack {
        /// 32 bits unchanged.
        0 Nop "nop",
        /// Into the low half.
        1 Half0 "16a",
        /// Into the high half.
        2 Half1 "16b",
        /// Byte to all four bytes.
        3 Rep8 "8888",
        /// Into byte 0.
        4 Byte0 "8a",
        /// Into byte 1.
        5 Byte1 "8b",
        /// Into byte 2.
        6 Byte2 "8c",
        /// Into byte 3.
        7 Byte3 "8d",
        /// Signed saturation of the addition.
        8 Sat "sat",
        /// Saturated into the low half.
        9 Half0Sat "16a.sat",
        /// Saturated into the high half.
        10 Half1Sat "16b.sat",
        /// Saturated byte to all four bytes.
        11 Rep8Sat "8888.sat",
        /// Saturated into byte 0.
        12 Byte0Sat "8a.sat",
        /// Saturated into byte 1.
        13 Byte1Sat "8b.sat",
        /// Saturated into byte 2.
        14 Byte2Sat "8c.sat",
        /// Saturated into byte 3.
        15 Byte3Sat "8d.sat",
    }
}

/// One of the two register files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegFile {
    /// File A: pack and unpack live here.
    A,
    /// File B.
    B,
}

/// A 6-bit write address (qpu.md §3.2). The file is the instruction's choice (`ws`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Waddr(u8);

/// A 6-bit read address (qpu.md §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Raddr(u8);

/// Declares the named addresses of a register map: constant, code, assembler names.
macro_rules! addresses {
    ($ty:ident { $($(#[doc = $doc:literal])* $code:literal $konst:ident $($text:literal)|+,)* }) => {
        impl $ty {
            $($(#[doc = $doc])* pub const $konst: $ty = $ty($code);)*

            /// Every named address with its line of documentation, in table order.
            pub const DOCS: &'static [($ty, &'static str)] = &[$(($ty($code), concat!($($doc),*).trim_ascii()),)*];

            /// Every assembler name with its address, in table order. An address that means two
            /// things has its file-A name first.
            pub const NAMES: &'static [(&'static str, $ty)] = &[$($(($text, $ty($code)),)+)*];

            /// The address with this code; codes above 63 do not exist.
            pub const fn new(code: u8) -> $ty {
                assert!(code < 64, "register addresses have six bits");
                $ty(code)
            }

            /// The physical register `n` of the file that the instruction selects.
            pub const fn reg(n: u8) -> $ty {
                assert!(n < 32, "a file has 32 registers");
                $ty(n)
            }

            /// The hardware code, 0–63.
            pub const fn code(self) -> u8 { self.0 }

            /// The assembler name of the address in `file`; `None` for physical registers and unnamed addresses.
            pub fn name(self, file: RegFile) -> Option<&'static str> {
                let mut names = Self::NAMES.iter().filter(|row| row.1 == self).map(|row| row.0);
                match file {
                    RegFile::A => names.next(),
                    RegFile::B => names.last(),
                }
            }

            /// Whether this is a physical register of a file.
            pub const fn is_reg(self) -> bool { self.0 < 32 }
        }
    };
}

addresses! {
    Waddr {
        /// Accumulator 0.
        32 R0 "r0",
        /// Accumulator 1.
        33 R1 "r1",
        /// Accumulator 2.
        34 R2 "r2",
        /// Accumulator 3.
        35 R3 "r3",
        /// Disables the TMU swap of QPUs 2 and 3.
        36 TMU_NOSWAP "tmu_noswap",
        /// r5: per quad through file A, replicated through file B.
        37 R5 "r5",
        /// Raises the QPU's interrupt.
        38 HOST_INT "host_int",
        /// Discards the value.
        39 NOP "nop",
        /// Uniform stream address.
        40 UNIF_ADDR "uniforms_addr",
        /// Pixel position override; x through file A, y through B.
        41 QUAD_XY "quad_x" | "quad_y",
        /// Multisample mask (A) and facing (B).
        42 MS_REV_FLAGS "ms_flags" | "rev_flags",
        /// Stencil set-up word.
        43 TLB_STENCIL_SETUP "tlb_stencil_setup",
        /// Starts the depth and stencil test with this Z.
        44 TLB_Z "tlb_z",
        /// Colour of one sample.
        45 TLB_COLOR_MS "tlb_color_ms",
        /// Colour of all samples.
        46 TLB_COLOR_ALL "tlb_color_all",
        /// OpenVG alpha mask.
        47 TLB_ALPHA_MASK "tlb_alpha_mask",
        /// One vector to the VPM.
        48 VPM "vpm",
        /// VPM set-up: read through file A, write through B.
        49 VPM_SETUP "vr_setup" | "vw_setup",
        /// Starts a VPM DMA: load through A, store through B.
        50 VPM_ADDR "vr_addr" | "vw_addr",
        /// Releases the mutex.
        51 MUTEX_RELEASE "mutex_release",
        /// SFU reciprocal.
        52 SFU_RECIP "sfu_recip",
        /// SFU reciprocal square root.
        53 SFU_RSQRT "sfu_recipsqrt",
        /// SFU power of two.
        54 SFU_EXP2 "sfu_exp",
        /// SFU binary logarithm.
        55 SFU_LOG2 "sfu_log",
        /// TMU0 s, sends the request.
        56 TMU0_S "tmu0_s",
        /// TMU0 t.
        57 TMU0_T "tmu0_t",
        /// TMU0 r or border colour.
        58 TMU0_R "tmu0_r",
        /// TMU0 bias or LOD.
        59 TMU0_B "tmu0_b",
        /// TMU1 s, sends the request.
        60 TMU1_S "tmu1_s",
        /// TMU1 t.
        61 TMU1_T "tmu1_t",
        /// TMU1 r or border colour.
        62 TMU1_R "tmu1_r",
        /// TMU1 bias or LOD.
        63 TMU1_B "tmu1_b",
    }
}

addresses! {
    Raddr {
        /// Next word of the uniform stream.
        32 UNIFORM "uni",
        /// Next partially interpolated varying; C goes to r5.
        35 VARYING "vary",
        /// Element number (A) or QPU number (B).
        38 ELEM_QPU "elem",
        /// No read.
        39 NOP "nop",
        /// Pixel coordinate: x through file A, y through B.
        41 PIXEL_XY "x_pix" | "y_pix",
        /// Multisample mask (A) or facing (B).
        42 MS_REV_FLAGS "ms_flags" | "rev_flag",
        /// Next vector of the VPM read FIFO.
        48 VPM "vpm_read",
        /// DMA busy: load (A), store (B).
        49 VPM_BUSY "vpm_ld_busy" | "vpm_st_busy",
        /// Wait for the DMA: load (A), store (B).
        50 VPM_WAIT "vpm_ld_wait" | "vpm_st_wait",
        /// Acquire the mutex.
        51 MUTEX "mutex_acq",
    }
}

impl Waddr {
    /// Accumulator r0–r3.
    pub const fn acc(n: u8) -> Waddr {
        assert!(n < 4, "only r0-r3 can be written");
        Waddr(32 + n)
    }

    /// Whether this is a TMU parameter register.
    pub const fn is_tmu(self) -> bool {
        self.0 >= 56
    }

    /// TMU number of a TMU parameter register.
    pub const fn tmu(self) -> Option<u8> {
        if self.0 >= 60 {
            Some(1)
        } else if self.0 >= 56 {
            Some(0)
        } else {
            None
        }
    }

    /// Whether this is an SFU request register.
    pub const fn is_sfu(self) -> bool {
        self.0 >= 52 && self.0 <= 55
    }

    /// Whether this is a tile-buffer register (stencil set-up, Z, colours, alpha mask).
    pub const fn is_tlb(self) -> bool {
        self.0 >= 43 && self.0 <= 47
    }

    /// Whether both files mean different things by the address (qpu.md §3.2).
    pub const fn differs_by_file(self) -> bool {
        self.is_reg()
            || matches!(
                self,
                Waddr::R5
                    | Waddr::UNIF_ADDR
                    | Waddr::QUAD_XY
                    | Waddr::MS_REV_FLAGS
                    | Waddr::VPM_SETUP
                    | Waddr::VPM_ADDR
            )
    }
}

/// A small immediate, bits 17:12 under signal 13 (qpu.md §2.12): codes 0–47 are values, 48–63 rotate
/// the mul result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SmallImm(u8);

impl SmallImm {
    /// Rotate the mul result by r5 element 0 bits 3:0.
    pub const ROTATE_R5: SmallImm = SmallImm(48);

    /// The immediate with this code; codes above 63 do not exist.
    pub const fn new(code: u8) -> SmallImm {
        assert!(code < 64, "small immediates have six bits");
        SmallImm(code)
    }

    /// Rotate the mul result by `n` elements, 1–15: element i moves to (i + n) mod 16.
    pub const fn rotate(n: u8) -> SmallImm {
        assert!(n >= 1 && n <= 15, "rotates are by 1 to 15");
        SmallImm(48 + n)
    }

    /// The hardware code, 0–63.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// The 32-bit word that mux B reads. Rotate codes read as code - 64 (VASM).
    pub const fn value(self) -> u32 {
        match self.0 {
            0..=15 => self.0 as u32,
            16..=31 => (self.0 as i32 - 32) as u32,
            32..=39 => (127 + self.0 as u32 - 32) << 23,
            40..=47 => (127 - 8 + self.0 as u32 - 40) << 23,
            _ => (self.0 as i32 - 64) as u32,
        }
    }

    /// Rotation of the mul result: `None` for values, `Some(None)` by r5, `Some(Some(n))` by n.
    pub const fn rotation(self) -> Option<Option<u8>> {
        match self.0 {
            0..=47 => None,
            48 => Some(None),
            n => Some(Some(n - 48)),
        }
    }

    /// The code whose value is this word, if there is one.
    pub fn from_value(word: u32) -> Option<SmallImm> {
        (0..48).map(SmallImm).find(|imm| imm.value() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::{BranchCond, Cond};

    #[test]
    fn conditions_are_those_of_their_names() {
        let flags = Cond::ALL.iter().copied().filter(|cond| !matches!(cond, Cond::Never | Cond::Always));
        for cond in flags {
            let name = cond.name();
            let (flag, state) = name.split_at(1);
            let other = if state == "s" { "c" } else { "s" };
            assert_eq!(Some(cond.inverse()), Cond::from_name(&format!("{flag}{other}")));
            assert_eq!(BranchCond::all(cond), BranchCond::from_name(&format!("all_{name}")));
            assert_eq!(BranchCond::any(cond), BranchCond::from_name(&format!("any_{name}")));
            assert_eq!(BranchCond::all(cond).and_then(BranchCond::holds_in_all), Some(cond));
            assert_eq!(BranchCond::any(cond).and_then(BranchCond::holds_in_all), None);
        }
        for cond in [Cond::Never, Cond::Always] {
            assert_eq!((BranchCond::all(cond), BranchCond::any(cond)), (None, None));
        }
        assert_eq!((Cond::Never.inverse(), Cond::Always.inverse()), (Cond::Always, Cond::Never));
        assert_eq!(BranchCond::Always.holds_in_all(), None);
    }
}

//! THE table of the rules: name, subject and what is demanded (kernel-abi.md §6–§10).

use std::fmt;

/// Declares the rules: variant, name in the manual, what it demands.
macro_rules! rules {
    ($($variant:ident $id:literal $text:literal,)*) => {
        /// A rule of the kernel's validator, under its name in the manual.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule {
            $(
                #[doc = concat!($id, ": ", $text, ".")]
                $variant,
            )*
        }

        impl Rule {
            /// All rules in the manual's order.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)*];

            /// The name, e.g. `BIN-7`.
            pub const fn id(self) -> &'static str {
                match self { $(Rule::$variant => $id,)* }
            }

            /// What the rule demands.
            pub const fn text(self) -> &'static str {
                match self { $(Rule::$variant => $text,)* }
            }
        }
    };
}

rules! {
    Shd1 "SHD-1" "branches are at least 4 instructions apart and not among the first two instructions",
    Shd2 "SHD-2" "no branch to a register",
    Shd3 "SHD-3" "branches are relative",
    Shd4 "SHD-4" "branch offsets are multiples of 8",
    Shd5 "SHD-5" "branch targets lie inside the program",
    Shd6 "SHD-6" "the instruction after a branch's delay slots lies inside the program",
    Shd7 "SHD-7" "a branch does not fall through behind the program end",
    Shd8 "SHD-8" "branches write no register",
    Shd9 "SHD-9" "no branch in the two instructions after a thread switch",
    Shd10 "SHD-10" "the program ends, with two delay slots, inside the BO",
    Shd11 "SHD-11" "thread switches are at least 3 instructions apart",
    Shd12 "SHD-12" "no texture set-up is open where a branch lands",
    Shd13 "SHD-13" "no breakpoint, coverage, alpha-mask or load-and-end signal",
    Shd14 "SHD-14" "no write to TMU_NOSWAP, HOST_INT, alpha mask, VPM DMA address or mutex",
    Shd15 "SHD-15" "one TMU write per instruction",
    Shd16 "SHD-16" "at most four parameters per TMU request",
    Shd17 "SHD-17" "no uniform read beside a texture parameter write",
    Shd18 "SHD-18" "no texture parameter write while the uniform address is undefined",
    Shd19 "SHD-19" "a direct lookup adds a clamped offset to a uniform",
    Shd20 "SHD-20" "the uniform address is only reset to the word behind its slot",
    Shd21 "SHD-21" "no uniform read while the uniform address is undefined",
    Shd22 "SHD-22" "a threaded program leaves registers 16 to 31 alone",
    Shd23 "SHD-23" "the kernel has memory for the tables",
    Shd24 "SHD-24" "no filtered sample on a TMU after a direct lookup on it",

    Sub1 "SUB-1" "the device has a V3D",
    Sub2 "SUB-2" "only the flags 0 to 3 are set",
    Sub3 "SUB-3" "pad2 is zero",
    Sub4 "SUB-4" "the job lists at least one BO",
    Sub5 "SUB-5" "the handles are readable",
    Sub6 "SUB-6" "every handle is known and listed once",
    Sub7 "SUB-7" "no BO is purged or purgeable",
    Sub8 "SUB-8" "the performance monitor is known",
    Sub9 "SUB-9" "in_sync is known and has a fence",
    Sub10 "SUB-10" "the sizes do not overflow 32 bits",
    Sub11 "SUB-11" "the lists are readable",
    Sub13 "SUB-13" "binner memory can be had",
    Sub14 "SUB-14" "out_sync is known",

    Bin1 "BIN-1" "only packets for binning lists",
    Bin2 "BIN-2" "packets end inside the list",
    Bin3 "BIN-3" "START_TILE_BINNING once",
    Bin4 "BIN-4" "START_TILE_BINNING after TILE_BINNING_MODE_CONFIG",
    Bin5 "BIN-5" "TILE_BINNING_MODE_CONFIG once",
    Bin6 "BIN-6" "START_TILE_BINNING is there",
    Bin7 "BIN-7" "INCREMENT_SEMAPHORE only as the second to last byte",
    Bin8 "BIN-8" "FLUSH only as the last byte",
    Bin9 "BIN-9" "the list ends with INCREMENT_SEMAPHORE and FLUSH",
    Bin10 "BIN-10" "no HALT",
    Bin11 "BIN-11" "a shader state before the first primitive",
    Bin12 "BIN-12" "the index buffer is a listed BO and no shader",
    Bin13 "BIN-13" "the indices lie inside their BO",
    Bin14 "BIN-14" "first vertex + count does not wrap",
    Bin16 "BIN-16" "no more shader states than shader records",
    Bin17 "BIN-17" "shader state: only the low four bits are given",
    Bin18 "BIN-18" "the tile grid is not empty",
    Bin19 "BIN-19" "neither double buffering nor 64-bit colour",
    Bin20 "BIN-20" "the tile state fits a binner slot",
    Bin21 "BIN-21" "the device has binner memory",
    Bin22 "BIN-22" "a binner slot can be had",

    Rec1 "REC-1" "the record's BO indices lie inside the data",
    Rec2 "REC-2" "the record lies inside the data",
    Rec3 "REC-3" "the code BOs are listed",
    Rec4 "REC-4" "attribute BOs are listed and no shaders",
    Rec5 "REC-5" "the record's thread flag is that of the fragment shader",
    Rec6 "REC-6" "vertex and coordinate shader are not threaded",
    Rec7 "REC-7" "the code BOs are shaders",
    Rec8 "REC-8" "code offsets are zero",
    Rec9 "REC-9" "the uniform block lies inside the uniforms",
    Rec10 "REC-10" "the textures comply",
    Rec11 "REC-11" "the first vertex lies inside the attribute's BO",
    Rec13 "REC-13" "the largest index lies inside the attribute's BO",

    Tex1 "TEX-1" "the texture's BO is listed and no shader",
    Tex2 "TEX-2" "a direct lookup starts inside the BO",
    Tex3 "TEX-3" "a direct lookup is clamped to the BO",
    Tex4 "TEX-4" "a cube map has its stride in exactly one word",
    Tex5 "TEX-5" "the texture type is supported",
    Tex6 "TEX-6" "level 0 of all faces lies inside the BO",
    Tex7 "TEX-7" "the higher levels lie inside the BO",

    Rcl1 "RCL-1" "the tile range is not empty",
    Rcl2 "RCL-2" "the tile range lies inside the binner's grid",
    Rcl3 "RCL-3" "the tile range spans less than 256 tiles",
    Rcl4 "RCL-4" "colour store: no flags, only the known bits",
    Rcl5 "RCL-5" "colour store: listed BO, known layout and format, inside the BO",
    Rcl6 "RCL-6" "load or store: no unknown flags",
    Rcl7 "RCL-7" "load or store: listed BO",
    Rcl8 "RCL-8" "full resolution only for loads and without bits",
    Rcl9 "RCL-9" "load or store: only the known bits and layouts",
    Rcl10 "RCL-10" "load or store: colour or depth/stencil in a known format",
    Rcl11 "RCL-11" "load or store: offset a multiple of 16",
    Rcl12 "RCL-12" "the surface lies inside the BO",
    Rcl13 "RCL-13" "the full-resolution tiles lie inside the BO",
    Rcl14 "RCL-14" "multisample store: no bits or flags, listed BO, offset a multiple of 16",
    Rcl15 "RCL-15" "at least one surface is stored",
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_follow_the_variants() {
        let mut ids: Vec<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        for rule in Rule::ALL {
            assert_eq!(rule.id().replace('-', "").to_lowercase(), format!("{rule:?}").to_lowercase());
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), Rule::ALL.len());
    }
}

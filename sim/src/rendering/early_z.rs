//! Early Z (v3d.md §9.5): a coarse copy of the tile's depth that lets the rasteriser drop quads before they are shaded.
//!
//! It must never be seen in a picture, so it is only used for programs of which that is certain; what a driver gets
//! wrong about it is a finding.

use vc4::cl::packets::{CompareFunc, ConfigurationBits};
use vc4::hw::{DEPTH_MAX, TILE_PX};
use vc4::qpu::access::Access;
use vc4::qpu::{AluInst, Inst, Mux, Pack, Raddr, RaddrB, Unpack, Waddr};

use super::tlb::{Samples, Tile};
use crate::stats::Note;

/// Depth functions other than < and <= (Linux never sets the direction for > and >=).
pub const FUNCTION: Note = Note {
    id: "early-z-function",
    manual: "v3d.md §9.5",
    text: "early Z is off unless the depth function is < or <=: the update direction cannot be set through Linux",
};

/// 4x multisample jobs.
pub const MULTISAMPLE: Note = Note {
    id: "early-z-multisample",
    manual: "v3d.md §9.5, §12 HW-2905",
    text: "early Z is off in 4x multisample jobs",
};

/// Draws without updates that move the depth the other way.
pub const UPDATES: Note = Note {
    id: "early-z-updates",
    manual: "v3d.md §9.5",
    text: "early-Z updates stay on while depth is written, or later draws test against a stale copy",
};

/// Programs that compute depth.
pub const SHADER_DEPTH: Note = Note {
    id: "early-z-shader-depth",
    manual: "v3d.md §9.5",
    text: "early Z is off for programs that write a depth of their own",
};

/// Stencil operations on depth failure.
pub const STENCIL: Note = Note {
    id: "early-z-stencil",
    manual: "v3d.md §9.5",
    text: "early Z is off when a failing depth test changes the stencil",
};

const QUADS_PER_ROW: usize = TILE_PX as usize / 2;

/// The largest depth of each quad of a tile.
pub struct Shadow {
    max: Box<[u32; QUADS_PER_ROW * QUADS_PER_ROW]>,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow { max: Box::new([DEPTH_MAX; QUADS_PER_ROW * QUADS_PER_ROW]) }
    }
}

/// Place of the quad whose first pixel has this index in a tile without multisampling.
#[inline]
fn quad_of(pixel: usize) -> usize {
    let (x, y) = (pixel % TILE_PX as usize, pixel / TILE_PX as usize);
    (y / 2 * QUADS_PER_ROW + x / 2) % (QUADS_PER_ROW * QUADS_PER_ROW)
}

impl Shadow {
    /// The tile was cleared to this depth and stencil word.
    pub fn clear(&mut self, zs: u32) {
        self.max.fill(zs >> 8);
    }

    /// The tile was filled from memory.
    pub fn load(&mut self, tile: &Tile) {
        if tile.multisample() {
            return;
        }
        for y in (0..TILE_PX).step_by(2) {
            for x in (0..TILE_PX).step_by(2) {
                self.update(tile.zs(), tile.pixel(x, y));
            }
        }
    }

    /// The quad with this first pixel was written.
    #[inline]
    pub fn update(&mut self, zs: &Samples, pixel: usize) {
        let below = pixel + TILE_PX as usize;
        let at = |i: usize| zs[i % zs.len()] >> 8;
        self.max[quad_of(pixel)] = at(pixel).max(at(pixel + 1)).max(at(below)).max(at(below + 1));
    }

    /// Whether no pixel of the quad can pass that lies at `z` or farther.
    #[inline]
    pub fn rejects(&self, func: CompareFunc, pixel: usize, z: u32) -> bool {
        let max = self.max[quad_of(pixel)];
        match func {
            CompareFunc::Less => z >= max,
            CompareFunc::LessOrEqual => z > max,
            _ => false,
        }
    }
}

/// Whether the configuration lets early Z test, and the test is sound.
pub fn tests(config: &ConfigurationBits, multisample: bool) -> bool {
    config.early_z
        && !multisample
        && matches!(config.depth_func, CompareFunc::Less | CompareFunc::LessOrEqual)
}

/// Whether nothing that the program does can be seen where the depth test fails: it passes on its own depth and
/// sets no stencil up, before any branch and before it touches the tile's colour.
pub fn is_hidden_by_depth(insts: &[Inst]) -> bool {
    let mut tested = false;
    for inst in insts {
        let access = Access::of(inst);
        let is_depth = access.writes_to(Waddr::TLB_Z);
        if access.writes_to(Waddr::TLB_STENCIL_SETUP) || is_depth && !passes_depth_on(inst) {
            return false;
        }
        tested |= is_depth;
        let own_depth =
            access.written().any(|write| write.waddr == Waddr::reg(15) && write.file == vc4::qpu::RegFile::B);
        if !tested && (own_depth || access.is_branch || access.tile_write()) {
            return false;
        }
    }
    tested
}

fn passes_depth_on(inst: &Inst) -> bool {
    let Inst::Alu(alu) = inst else { return false };
    let AluInst { raddr_b, add_a, add_b, mul_a, mul_b, pack, unpack, .. } = *alu;
    let from = |a: Mux, b: Mux| a == Mux::B && b == Mux::B;
    let moves = match (alu.waddr_add == Waddr::TLB_Z, alu.waddr_mul == Waddr::TLB_Z) {
        (true, false) => alu.op_add == vc4::qpu::AddOp::Or && from(add_a, add_b),
        (false, true) => alu.op_mul == vc4::qpu::MulOp::V8min && from(mul_a, mul_b),
        _ => false,
    };
    moves && raddr_b == RaddrB::Reg(Raddr::reg(15)) && pack == Pack::Nop && unpack == Unpack::Nop
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(lines: &str) -> Vec<Inst> {
        let text = format!("{lines}sig_end ; nop = nop() ; nop = nop() ;\n");
        let words = vc4::qpu::assemble(&text).unwrap_or_else(|error| panic!("{error}")).words;
        words.into_iter().map(|word| Inst::decode(word).unwrap()).collect()
    }

    const Z: &str = "sig_none ; tlb_z = or.zs(b, b, nop, rb15) ; nop = nop() ;\n";
    const COLOR: &str = "sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;\n";

    #[test]
    fn programs_that_early_z_may_skip() {
        assert!(is_hidden_by_depth(&program(&format!("{Z}{COLOR}"))));
        assert!(!is_hidden_by_depth(&program(COLOR)));
        assert!(!is_hidden_by_depth(&program(&format!("{COLOR}{Z}"))));
        let own = "sig_none ; tlb_z = or.always(r0, r0) ; nop = nop() ;\n";
        assert!(!is_hidden_by_depth(&program(&format!("{own}{COLOR}"))));
        let changed = "sig_none ; rx15 = or.ws.always(r0, r0) ; nop = nop() ;\n";
        assert!(!is_hidden_by_depth(&program(&format!("{changed}{Z}{COLOR}"))));
        let stencil = "sig_none ; tlb_stencil_setup = or.always(r0, r0) ; nop = nop() ;\n";
        assert!(!is_hidden_by_depth(&program(&format!("{stencil}{Z}{COLOR}"))));
    }

    #[test]
    fn a_quad_is_dropped_behind_its_farthest_pixel() {
        let (mut shadow, mut tile) = (Shadow::default(), Tile::default());
        let pixel = tile.pixel(2, 4);
        for (at, z) in [(0, 5), (1, 9), (64, 3), (65, 4)] {
            tile.zs_mut()[pixel + at] = z << 8 | 0xff;
        }
        shadow.update(tile.zs(), pixel);
        let seen = |func, z| shadow.rejects(func, pixel, z);
        assert!(seen(CompareFunc::Less, 9) && !seen(CompareFunc::Less, 8));
        assert!(seen(CompareFunc::LessOrEqual, 10) && !seen(CompareFunc::LessOrEqual, 9));
        assert!(!seen(CompareFunc::Greater, 10));
        tile.clear(None, Some(7 << 8));
        shadow.load(&tile);
        assert!(shadow.rejects(CompareFunc::Less, tile.pixel(62, 62), 7));
    }
}

//! Programs that early Z may skip (v3d.md §9.5).

use vc4::qpu::access::Access;
use vc4::qpu::{AluInst, Inst, Mux, Pack, Raddr, RaddrB, Waddr};

/// Whether nothing that the program does can be seen where the depth test fails: it passes on its own depth and
/// sets no stencil up, before any branch and before it touches the tile's colour.
pub(super) fn is_hidden_by_depth(insts: &[Inst]) -> bool {
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

/// Whether the depth that the instruction writes is the payload's. Nothing unpacks what comes from file B, and a pack that is the
/// other unit's is not the depth's.
fn passes_depth_on(inst: &Inst) -> bool {
    let Inst::Alu(alu) = inst else { return false };
    let AluInst { raddr_b, add_a, add_b, mul_a, mul_b, .. } = *alu;
    let whole =
        Access::of(inst).written().all(|write| write.waddr != Waddr::TLB_Z || write.pack == Pack::Nop);
    let from = |a: Mux, b: Mux| a == Mux::B && b == Mux::B;
    let moves = match (alu.waddr_add == Waddr::TLB_Z, alu.waddr_mul == Waddr::TLB_Z) {
        (true, false) => alu.op_add == vc4::qpu::AddOp::Or && from(add_a, add_b),
        (false, true) => alu.op_mul == vc4::qpu::MulOp::V8min && from(mul_a, mul_b),
        _ => false,
    };
    moves && raddr_b == RaddrB::Reg(Raddr::reg(15)) && whole
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
        let beside = "sig_none ; tlb_z = or.pm.always.8a(b, b, ra0, rb15) ; r3.8a = fmul.always(r4, a) ;\n";
        assert!(is_hidden_by_depth(&program(&format!("{beside}{COLOR}"))), "the other unit packs");
        let packed = "sig_none ; r3 = or.always(b, b, nop, rb15) ; nop = nop() ;\n\
            sig_none ; nop = nop.pm() ; tlb_z.8a = v8min.always(r3, r3) ;\n";
        assert!(!is_hidden_by_depth(&program(&format!("{packed}{COLOR}"))));
        assert!(!is_hidden_by_depth(&program(COLOR)));
        assert!(!is_hidden_by_depth(&program(&format!("{COLOR}{Z}"))));
        let own = "sig_none ; tlb_z = or.always(r0, r0) ; nop = nop() ;\n";
        assert!(!is_hidden_by_depth(&program(&format!("{own}{COLOR}"))));
        let changed = "sig_none ; rx15 = or.ws.always(r0, r0) ; nop = nop() ;\n";
        assert!(!is_hidden_by_depth(&program(&format!("{changed}{Z}{COLOR}"))));
        let stencil = "sig_none ; tlb_stencil_setup = or.always(r0, r0) ; nop = nop() ;\n";
        assert!(!is_hidden_by_depth(&program(&format!("{stencil}{Z}{COLOR}"))));
    }
}

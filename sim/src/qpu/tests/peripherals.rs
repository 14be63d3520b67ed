//! What reaches the neighbours, and in which order.

use super::*;

#[test]
fn one_uniform_per_instruction() {
    let both = AluInst {
        raddr_a: Raddr::UNIFORM,
        raddr_b: RaddrB::Reg(Raddr::UNIFORM),
        ..add(Waddr::R0, AddOp::Add, Mux::A, Mux::B)
    };
    // Named but not selected still takes a word.
    let named = AluInst { raddr_a: Raddr::UNIFORM, ..NOP };
    let out = run_with(
        code![both, named, read(Waddr::R1, Raddr::UNIFORM), show(acc(0)), show(acc(1))],
        &[7, 8, 9],
        Mock::default(),
    );
    assert_eq!(out.shown().map_first(), [14, 9]);
}

#[test]
fn uniform_address_write_moves_the_stream() {
    let out = run_with(
        code![load(Waddr::UNIF_ADDR, UNIFORMS + 12), NOP, NOP, read(Waddr::R0, Raddr::UNIFORM), show(acc(0))],
        &[1, 2, 3, 4],
        Mock::default(),
    );
    assert_eq!(out.shown().map_first(), [4]);
    assert_eq!(out.stats.findings, []);
    let early = run_with(
        code![load(Waddr::UNIF_ADDR, UNIFORMS), NOP, read(Waddr::R0, Raddr::UNIFORM)],
        &[],
        Mock::default(),
    );
    assert_eq!(early.stats.findings.len(), 1);
    assert_eq!(early.stats.findings[0].index, 2);
}

#[test]
fn varying_delivers_c_to_the_next_instruction() {
    let same = AluInst { raddr_a: Raddr::VARYING, ..add(Waddr::R0, AddOp::Add, Mux::A, acc(5)) };
    let out = run_code(code![small(Waddr::R5, 1), same, mov(Waddr::R1, acc(5)), show(acc(0)), show(acc(1))]);
    assert_eq!(out.shown().map_first(), [101, 101]);
    assert_eq!(out.mock.varyings, 1);
}

#[test]
fn payload_and_pixel_reads() {
    let b = |reg| AluInst { raddr_b: RaddrB::Reg(reg), ..show(Mux::B) };
    let a = |raddr_a| AluInst { raddr_a, ..show(Mux::A) };
    let out = run_code(code![
        NOP,
        NOP,
        a(Raddr::new(15)),
        b(Raddr::new(15)),
        a(Raddr::PIXEL_XY),
        b(Raddr::PIXEL_XY),
        a(Raddr::MS_REV_FLAGS),
        b(Raddr::MS_REV_FLAGS),
        b(ELEMENT)
    ]);
    assert_eq!(out.shown().map_first(), [15, 0xb15, 11, 22, 0xf, 1, 0]);
}

#[test]
fn vpm_and_set_up_by_file() {
    let vw = Inst::LoadImm(match load(Waddr::VPM_SETUP, 0x1a00) {
        Inst::LoadImm(word) => LoadImmInst { ws: true, ..word },
        _ => unreachable!(),
    });
    let echo = AluInst { raddr_a: Raddr::VPM, ..mov(Waddr::VPM, Mux::A) };
    let mock = Mock { vpm_in: vec![[1; 16], [2; 16]], ..Mock::default() };
    let out = run_with(code![vw, load(Waddr::VPM_SETUP, 0x0020_1a00), NOP, NOP, echo, echo], &[], mock);
    assert_eq!(out.result, Ok(()));
    assert_eq!(out.mock.setups, [('w', 0x1a00), ('r', 0x0020_1a00)]);
    assert_eq!(out.mock.vpm_out, [[1; 16], [2; 16]]);
}

#[test]
fn tile_writes_carry_their_condition() {
    let odd = AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(SmallImm::new(1)),
        sf: true,
        ..add(Waddr::R0, AddOp::And, Mux::A, Mux::B)
    };
    let z = AluInst { raddr_b: RaddrB::Reg(Raddr::new(15)), cond_add: Cond::Zc, ..mov(Waddr::TLB_Z, Mux::B) };
    let flags = AluInst { cond_add: Cond::Zs, ..small(Waddr::MS_REV_FLAGS, 5) };
    let out = run_code(code![odd, NOP, load(Waddr::TLB_STENCIL_SETUP, 0xc000_0000), z, flags]);
    assert_eq!(out.result, Ok(()));
    assert_eq!(out.mock.z, [(0xaaaa, [0xb15; 16])]);
    assert_eq!(out.mock.ms, lanes(|i| if i % 2 == 0 { 5 } else { 0 }));
    assert_eq!(out.mock.stencil, [0xc000_0000]);
}

#[test]
fn sfu_results_arrive_in_r4() {
    let out = run_code(code![
        small(Waddr::R0, 33),
        mov(Waddr::SFU_RECIP, acc(0)),
        NOP,
        NOP,
        show(acc(4)),
        mov(Waddr::SFU_EXP2, acc(0)),
        NOP,
        NOP,
        show(acc(4))
    ]);
    // qpu.md §4.4: recip(2), exp2(2).
    assert_eq!(out.shown().map_first(), [0x3eff_fc00, 0x4080_0100]);
    assert_eq!(out.stats.findings, []);
}

#[test]
fn direct_lookups_take_no_uniform_and_come_back_in_order() {
    let address = |code| AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(SmallImm::new(code)),
        ..add(Waddr::R0, AddOp::Shl, Mux::A, Mux::B)
    };
    let request = AluInst { raddr_a: Raddr::UNIFORM, ..add(Waddr::TMU1_S, AddOp::Add, acc(0), Mux::A) };
    let fetch = AluInst { sig: Signal::LoadTmu1, ..NOP };
    let mut stream: Vec<u32> = (0..40).map(|i| 1000 + i).collect();
    (stream[0], stream[1]) = (UNIFORMS + 16, UNIFORMS + 32);
    let out = run_with(
        code![address(2), request, NOP, request, fetch, show(acc(4)), fetch, show(acc(4))],
        &stream,
        Mock::default(),
    );
    assert_eq!(out.shown(), [lanes(|i| 1004 + i as u32), lanes(|i| 1008 + i as u32)]);
    assert_eq!(out.stats.lookups, 2);
    assert_eq!(out.stats.findings, []);
}

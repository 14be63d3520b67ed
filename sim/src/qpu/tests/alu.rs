//! What both units compute, where it goes, and what decides.

use super::*;

#[test]
fn both_units_read_old_values() {
    // Swap r0 and r1 in one instruction.
    let swap = AluInst {
        op_mul: MulOp::V8min,
        mul_a: acc(0),
        mul_b: acc(0),
        waddr_mul: Waddr::R1,
        cond_mul: Cond::Always,
        ..mov(Waddr::R0, acc(1))
    };
    let out = run_code(code![small(Waddr::R0, 3), small(Waddr::R1, 5), swap, show(acc(0)), show(acc(1))]);
    assert_eq!(out.shown(), [[5; 16], [3; 16]]);
    assert_eq!(out.stats.findings, []);
}

#[test]
fn flags_of_false_elements_stay() {
    // Z = (element == 0); under zc, N = (element - 8 < 0); element 0 keeps N = 0.
    let even = AluInst { sf: true, ..read(Waddr::NOP, ELEMENT) };
    let below = AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(SmallImm::new(8)),
        sf: true,
        cond_add: Cond::Zc,
        ..add(Waddr::R1, AddOp::Sub, Mux::A, Mux::B)
    };
    let one = AluInst { cond_add: Cond::Ns, ..small(Waddr::R0, 1) };
    let out = run_code(code![small(Waddr::R0, 0), even, below, one, show(acc(0)), show(acc(1))]);
    let expected = lanes(|i| u32::from((1..8).contains(&i)));
    assert_eq!(out.shown()[0], expected);
    assert_eq!(out.shown()[1], lanes(|i| if i == 0 { 0 } else { (i as u32).wrapping_sub(8) }));
}

#[test]
fn every_condition_selects_its_elements() {
    // N for 0-3, Z for 4, C (unsigned borrow) for 0-3.
    let compare = AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(SmallImm::new(4)),
        sf: true,
        ..add(Waddr::NOP, AddOp::Sub, Mux::A, Mux::B)
    };
    let masks: [(Cond, u16); 7] = [
        (Cond::Always, 0xffff),
        (Cond::Zs, 0x0010),
        (Cond::Zc, 0xffef),
        (Cond::Ns, 0x000f),
        (Cond::Nc, 0xfff0),
        (Cond::Cs, 0x000f),
        (Cond::Cc, 0xfff0),
    ];
    for (cond, mask) in masks {
        let write = AluInst { cond_add: cond, ..small(Waddr::R0, 1) };
        let tile = AluInst { cond_add: cond, ..show(acc(0)) };
        let out = run_code(code![small(Waddr::R0, 0), compare, write, show(acc(0)), tile]);
        assert_eq!(out.shown()[0], lanes(|i| u32::from(mask >> i & 1)), "{cond:?}");
        assert_eq!(out.mock.colors[1].0, mask, "{cond:?}");
    }
}

#[test]
fn flags_come_from_the_add_unit_unless_it_is_idle() {
    let set = AluInst {
        op_mul: MulOp::V8min,
        mul_a: acc(1),
        mul_b: acc(1),
        waddr_mul: Waddr::R3,
        cond_mul: Cond::Always,
        sf: true,
        ..mov(Waddr::R2, acc(0))
    };
    let mul_only = AluInst { sf: true, ..mul(Waddr::NOP, MulOp::V8min, acc(1), acc(1)) };
    let keep = AluInst { cond_add: Cond::Zs, ..small(Waddr::R2, 9) };
    let start = code![small(Waddr::R0, 0), small(Waddr::R1, 1)];
    let run_after =
        |inst: AluInst| run_code([start.clone(), code![inst, keep, show(acc(2))]].concat()).shown();
    assert_eq!(run_after(set), [[9; 16]]);
    assert_eq!(run_after(mul_only), [[0; 16]]);
}

#[test]
fn write_swap_selects_the_files() {
    let both = AluInst {
        op_mul: MulOp::V8min,
        mul_a: acc(1),
        mul_b: acc(1),
        waddr_mul: Waddr::reg(7),
        cond_mul: Cond::Always,
        ..mov(Waddr::reg(7), acc(0))
    };
    for (ws, expected) in [(false, [[3; 16], [5; 16]]), (true, [[5; 16], [3; 16]])] {
        let from_b = AluInst { raddr_b: RaddrB::Reg(Raddr::new(7)), ..show(Mux::B) };
        let from_a = AluInst { raddr_a: Raddr::new(7), ..show(Mux::A) };
        let out = run_code(code![
            small(Waddr::R0, 3),
            small(Waddr::R1, 5),
            AluInst { ws, ..both },
            NOP,
            from_a,
            from_b
        ]);
        assert_eq!(out.shown(), expected);
    }
}

#[test]
fn unpack_on_file_a_follows_the_consumer() {
    // Byte 1 is 0x80, the high half is 1.0 as float16.
    let setup = code![load(Waddr::reg(3), 0x3c00_8001), NOP];
    let from = |unpack, inst: AluInst| AluInst { raddr_a: Raddr::new(3), unpack, ..inst };
    let integer = from(Unpack::Byte1, mov(Waddr::R0, Mux::A));
    let float = from(Unpack::Byte1, add(Waddr::R1, AddOp::Fmax, Mux::A, Mux::A));
    let half = from(Unpack::Half1, add(Waddr::R2, AddOp::Fmax, Mux::A, Mux::A));
    let sign = from(Unpack::Half0, mov(Waddr::R3, Mux::A));
    let tail = code![integer, float, half, sign, show(acc(0)), show(acc(1)), show(acc(2)), show(acc(3))];
    let out = run_code([setup.clone(), tail].concat());
    assert_eq!(out.shown().map_first(), [0x80, 0x3f00_8080, 0x3f80_0000, 0xffff_8001]);
    // One float consumer makes both units see floats.
    let mixed = AluInst {
        op_mul: MulOp::Fmul,
        mul_a: Mux::A,
        mul_b: Mux::A,
        waddr_mul: Waddr::R1,
        cond_mul: Cond::Always,
        ..integer
    };
    let out = run_code([setup, code![mixed, show(acc(0))]].concat());
    assert_eq!(out.shown().map_first(), [0x3f00_8080]);
}

#[test]
fn pm_moves_unpack_to_r4_and_pack_to_mul() {
    // The tile colour 0x04030201 arrives in r4; byte 2 is 3, as a float 3/255, packed back to 3.
    let load_color = AluInst { sig: Signal::ColorLoad, ..NOP };
    let pack = AluInst {
        pm: true,
        unpack: Unpack::Byte2,
        pack: Pack::Byte1,
        ..mul(Waddr::R0, MulOp::V8min, acc(4), acc(4))
    };
    let plain = AluInst { pm: true, unpack: Unpack::Byte2, ..mov(Waddr::R1, acc(4)) };
    let out = run_code(code![
        load(Waddr::R0, 0xaabb_ccdd),
        NOP,
        load_color,
        pack,
        plain,
        show(acc(0)),
        show(acc(1)),
        show(acc(4))
    ]);
    assert_eq!(out.shown().map_first(), [0xaabb_03dd, 0x3c40_c0c0, 0x0403_0201]);
}

#[test]
fn pack_on_file_a_keeps_the_rest_and_saturates() {
    let half = AluInst { pack: Pack::Half1, ..small(Waddr::reg(2), 32) };
    let float_half = AluInst {
        pack: Pack::Half0,
        raddr_b: RaddrB::Imm(SmallImm::new(32)),
        ..add(Waddr::reg(2), AddOp::Fmax, Mux::B, Mux::B)
    };
    let from = |n| AluInst { raddr_a: Raddr::new(n), ..show(Mux::A) };
    let sum = AluInst { pack: Pack::Sat, ..add(Waddr::reg(3), AddOp::Add, acc(0), acc(0)) };
    let out = run_code(code![
        load(Waddr::reg(2), 0x1111_2222),
        half,
        float_half,
        load(Waddr::R0, 0x7fff_0000),
        sum,
        from(2),
        from(3)
    ]);
    // The small immediate 1.0 has a zero low half.
    assert_eq!(out.shown().map_first(), [0x0000_3c00, 0x7fff_ffff]);
    // With ws the mul result goes through file A's pack, and the add result does not.
    let swapped = AluInst {
        ws: true,
        pack: Pack::Byte3,
        op_mul: MulOp::V8min,
        mul_a: acc(1),
        mul_b: acc(1),
        waddr_mul: Waddr::reg(2),
        cond_mul: Cond::Always,
        ..mov(Waddr::reg(2), acc(0))
    };
    let from_b = AluInst { raddr_b: RaddrB::Reg(Raddr::new(2)), ..show(Mux::B) };
    let out =
        run_code(code![load(Waddr::R0, 0x1234_5678), small(Waddr::R1, 7), swapped, NOP, from(2), from_b]);
    assert_eq!(out.shown().map_first(), [0x0700_0000, 0x1234_5678]);
}

#[test]
fn rotates_move_elements_up() {
    let turn = |imm, from: Mux| AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(imm),
        ..mul(Waddr::R1, MulOp::V8min, from, from)
    };
    let by = |imm, from| {
        let out = run_code(code![
            small(Waddr::R5, 6),
            read(Waddr::R0, ELEMENT),
            NOP,
            turn(imm, from),
            show(acc(1))
        ]);
        out.shown()[0]
    };
    assert_eq!(by(SmallImm::rotate(1), acc(0)), lanes(|i| (i as u32 + 15) % 16));
    assert_eq!(by(SmallImm::rotate(13), acc(0)), lanes(|i| (i as u32 + 3) % 16));
    assert_eq!(by(SmallImm::ROTATE_R5, acc(0)), lanes(|i| (i as u32 + 10) % 16));
    // With an operand from elsewhere the data stays in its quad.
    assert_eq!(by(SmallImm::rotate(5), Mux::A), lanes(|i| (i as u32 & !3) | ((i as u32 + 3) % 4)));
}

#[test]
fn small_immediates_have_their_values() {
    for code in 0..64u8 {
        let out = run_code(code![
            AluInst { raddr_b: RaddrB::Imm(SmallImm::new(code)), ..mov(Waddr::R0, Mux::B) },
            NOP,
            show(acc(0))
        ]);
        assert_eq!(out.shown().map_first(), [SmallImm::new(code).value()], "{code}");
    }
}

#[test]
fn immediates_per_element() {
    // qpu.md §8.1 examples 15 and 16.
    let per = |mode| {
        let Inst::LoadImm(word) = load(Waddr::R0, 0xff00_f0f0) else { unreachable!() };
        run_code(code![Inst::LoadImm(LoadImmInst { mode, ..word }), NOP, show(acc(0))]).shown()[0]
    };
    let signed: [i32; 16] = [0, 0, 0, 0, 1, 1, 1, 1, -2, -2, -2, -2, -1, -1, -1, -1];
    assert_eq!(per(LoadMode::PerElementSigned), signed.map(|v| v as u32));
    assert_eq!(per(LoadMode::PerElementUnsigned), lanes(|i| i as u32 / 4));
}

#[test]
fn r5_is_per_quad_or_replicated() {
    let quad = AluInst { ws: false, ..read(Waddr::R5, ELEMENT) };
    let all = AluInst { ws: true, ..add(Waddr::R5, AddOp::Add, acc(0), acc(1)) };
    let out =
        run_code(code![read(Waddr::R0, ELEMENT), small(Waddr::R1, 9), quad, show(acc(5)), all, show(acc(5))]);
    assert_eq!(out.shown(), [lanes(|i| i as u32 & !3), [9; 16]]);
}

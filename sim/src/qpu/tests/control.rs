//! Branches, switches, ends, and programs that must not run.

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::*;

#[test]
fn branches_run_three_delay_slots() {
    // Count the loop's rounds in r1 and its delay slots in r2.
    let one = SmallImm::new(1);
    let bump = |to, reg| AluInst { raddr_b: RaddrB::Imm(one), ..add(to, AddOp::Add, reg, Mux::B) };
    let down = AluInst { raddr_b: RaddrB::Imm(one), sf: true, ..add(Waddr::R0, AddOp::Sub, acc(0), Mux::B) };
    let out = run_code(code![
        small(Waddr::R0, 4),
        small(Waddr::R1, 0),
        small(Waddr::R2, 0),
        // Loop: 3 to 8.
        down,
        bump(Waddr::R1, acc(1)),
        branch(BranchCond::AnyZc, (3 - 9) * 8),
        bump(Waddr::R2, acc(2)),
        bump(Waddr::R2, acc(2)),
        bump(Waddr::R2, acc(2)),
        show(acc(1)),
        show(acc(2))
    ]);
    assert_eq!(out.shown().map_first(), [4, 12]);
    assert_eq!(out.stats.instructions, 3 + 4 * 6 + 2 + 3);
}

#[test]
fn branch_conditions_look_at_all_elements() {
    // Z in element 0 only, N in none, C (borrow of element - 1) in element 0 only.
    let z = AluInst { sf: true, ..read(Waddr::NOP, ELEMENT) };
    let c = AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(SmallImm::new(1)),
        sf: true,
        ..add(Waddr::NOP, AddOp::Sub, Mux::A, Mux::B)
    };
    let taken = |setup: AluInst, cond| {
        let out = run_code(code![
            small(Waddr::R0, 1),
            setup,
            NOP,
            branch(cond, 8),
            NOP,
            NOP,
            NOP,
            small(Waddr::R0, 0),
            NOP,
            show(acc(0))
        ]);
        out.shown().map_first()[0] == 1
    };
    use BranchCond::*;
    for (cond, expected) in [(AllZs, false), (AllZc, false), (AnyZs, true), (AnyZc, true), (Always, true)] {
        assert_eq!(taken(z, cond), expected, "{cond:?}");
    }
    for (cond, expected) in [(AllNs, false), (AllNc, true), (AnyNs, false), (AnyNc, true)] {
        assert_eq!(taken(z, cond), expected, "{cond:?}");
    }
    for (cond, expected) in [(AllCs, false), (AllCc, false), (AnyCs, true), (AnyCc, true)] {
        assert_eq!(taken(c, cond), expected, "{cond:?}");
    }
}

#[test]
fn register_branch_and_link() {
    let jump = Inst::Branch(BranchInst {
        reg: Some(6),
        rel: false,
        waddr_add: Waddr::reg(9),
        cond: BranchCond::Always,
        unused_raddr_a: 0,
        ws: false,
        waddr_mul: Waddr::NOP,
        offset: 8,
    });
    let link = AluInst { raddr_a: Raddr::new(9), ..show(Mux::A) };
    // To instruction 7, over the one that would show 16.
    let target = PROGRAM + 6 * 8;
    let skipped = AluInst { raddr_b: RaddrB::Imm(SmallImm::new(0)), ..show(Mux::B) };
    let out = run_code(code![load(Waddr::reg(6), target), NOP, jump, NOP, NOP, NOP, skipped, link]);
    assert_eq!(out.shown().map_first(), [PROGRAM + 2 * 8 + 32]);
}

#[test]
fn thread_switch_loses_accumulators_after_two_instructions() {
    let switch = AluInst { sig: Signal::LastThreadSwitch, ..NOP };
    let from = AluInst { raddr_a: Raddr::new(1), ..show(Mux::A) };
    let out = run_code(code![
        small(Waddr::R0, 5),
        small(Waddr::reg(1), 6),
        switch,
        NOP,
        show(acc(0)),
        show(acc(0)),
        from
    ]);
    let shown = out.shown().map_first();
    assert_eq!((shown[0], shown[2]), (5, 6));
    assert_ne!(shown[1], 5);
}

#[test]
fn semaphores_count() {
    let semaphore = |imm| {
        Inst::Semaphore(SemaphoreInst {
            pm: false,
            pack: Pack::Nop,
            cond_add: Cond::Never,
            cond_mul: Cond::Never,
            sf: false,
            ws: false,
            waddr_add: Waddr::NOP,
            waddr_mul: Waddr::NOP,
            imm,
        })
    };
    assert_eq!(run_code(code![semaphore(3), semaphore(0x13)]).result, Ok(()));
    let hung = run_code(code![semaphore(3), semaphore(0x14)]);
    assert!(matches!(hung.result, Err(Fault::Unsupported { index: 1, .. })), "{:?}", hung.result);
}

#[test]
fn forbidden_and_hanging_programs_are_faults() {
    let unsupported = |code: Vec<Inst>| {
        let out = run_code(code);
        assert!(matches!(out.result, Err(Fault::Unsupported { .. })), "{:?}", out.result);
    };
    for waddr in
        [Waddr::TMU_NOSWAP, Waddr::HOST_INT, Waddr::TLB_ALPHA_MASK, Waddr::VPM_ADDR, Waddr::MUTEX_RELEASE]
    {
        unsupported(code![small(waddr, 0)]);
    }
    unsupported(code![AluInst { ws: true, ..read(Waddr::UNIF_ADDR, ELEMENT) }]);
    unsupported(code![AluInst { sig: Signal::LoadTmu0, ..NOP }]);
    unsupported(code![AluInst { sig: Signal::Breakpoint, ..NOP }]);
    unsupported(code![NOP, branch(BranchCond::Always, 0x1000), NOP, NOP, NOP]);
    unsupported(code![NOP, branch(BranchCond::Always, 0), branch(BranchCond::Always, 0), NOP, NOP]);
    let endless = run_code(code![NOP, branch(BranchCond::Always, -32), NOP, NOP, NOP]);
    assert_eq!(endless.result, Err(Fault::Endless(INSTRUCTION_LIMIT)));
    let bus = run_with(
        code![load(Waddr::UNIF_ADDR, 0xffff_0000), NOP, NOP, read(Waddr::R0, Raddr::UNIFORM)],
        &[],
        Mock::default(),
    );
    assert!(matches!(bus.result, Err(Fault::Bus(_))));
    let memory = Memory::new(1 << 14);
    assert!(matches!(Program::decode(&memory, 0x10_0000), Err(Fault::Bus(_))));
    memory.write(8, 0x0900_0000).unwrap();
    memory.write(12, 0x1000_0000).unwrap();
    assert!(matches!(Program::decode(&memory, 8), Err(Fault::Decode { index: 0, .. })));
}

#[test]
fn hazards_are_reported_once_with_their_place() {
    let early_read =
        code![small(Waddr::reg(2), 1), AluInst { raddr_a: Raddr::new(2), ..mov(Waddr::R0, Mux::A) }];
    let early_r4 = code![small(Waddr::R0, 1), mov(Waddr::SFU_RECIP, acc(0)), NOP, mov(Waddr::R1, acc(4))];
    let early_turn = code![
        read(Waddr::R0, ELEMENT),
        AluInst { raddr_b: RaddrB::Imm(SmallImm::rotate(2)), ..mul(Waddr::R1, MulOp::V8min, acc(0), acc(0)) }
    ];
    for (code, index) in [(early_read, 1), (early_r4, 3), (early_turn, 1)] {
        let out = run_code(code);
        assert_eq!(out.result, Ok(()));
        assert_eq!(
            out.stats.findings.iter().map(|f| f.index).collect::<Vec<_>>(),
            [index],
            "{:?}",
            out.stats.findings
        );
    }
    let left = run_code(code![small(Waddr::R0, 0), mov(Waddr::TMU0_S, acc(0))]);
    assert_eq!(left.stats.findings.len(), 1);
}

#[test]
fn a_reused_qpu_starts_like_a_new_one() {
    let memory = Memory::new(1 << 14);
    let dirty = finished(code![
        small(Waddr::R0, 7),
        AluInst { sf: true, ..small(Waddr::reg(4), 7) },
        mov(Waddr::TMU0_T, acc(0)),
        NOP
    ]);
    let conditional = AluInst { cond_add: Cond::Zs, ..small(Waddr::R0, 1) };
    let from = AluInst { raddr_a: Raddr::new(4), ..show(Mux::A) };
    let clean = finished(code![conditional, NOP, show(acc(0)), from]);
    let (dirty, clean) = (Program::from_insts(dirty, 0).unwrap(), Program::from_insts(clean, 0).unwrap());
    let (mut qpu, mut stats, payload) = (Qpu::new(), Stats::default(), Payload::default());
    let mut colors = Vec::new();
    for program in [&clean, &dirty, &clean] {
        let mut mock = Mock::default();
        qpu.run(program, &memory, 0, &mut mock, &payload, &mut stats).unwrap();
        colors.push(mock.colors);
    }
    assert_eq!(colors[0], colors[2]);
    assert_eq!(stats.instances, 3);
}

/// Instructions from random words, with the codes that decoding refuses replaced.
fn any_inst() -> impl Strategy<Value = Inst> {
    let signals = [1, 1, 1, 2, 5, 8, 10, 11, 13, 13, 14, 15u64];
    let field = |codes: Vec<u64>| prop::sample::select(codes);
    let writes: Vec<u64> =
        (0..64).filter(|code| ![36, 38, 40, 41, 42, 47, 50, 51].contains(code) || *code == 40).collect();
    let reads: Vec<u64> = (0..33).chain([35, 38, 39, 41, 42, 49, 50]).collect();
    let fields =
        (field(signals.to_vec()), field(writes.clone()), field(writes), field(reads.clone()), field(reads));
    (any::<u64>(), fields).prop_filter_map("reserved code", |(word, (sig, add, mul, a, b))| {
        let put = |word: u64, shift: u32, bits: u32, value: u64| {
            word & !(((1 << bits) - 1) << shift) | value << shift
        };
        let mut word = put(put(put(word, 60, 4, sig), 38, 6, add), 32, 6, mul);
        match sig {
            14 | 15 => {}
            13 => word = put(word, 18, 6, a),
            _ => word = put(put(word, 18, 6, a), 12, 6, b),
        }
        if sig == 15 {
            // Relative, a short way, no link.
            word = put(put(put(word, 56, 4, 0), 45, 7, 0b100_0000), 0, 32, (word >> 20 & 15) * 8);
            word = put(put(word, 38, 6, 39), 32, 6, 39);
        }
        Inst::decode(word).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever a program does, it ends or is a fault.
    #[test]
    fn no_program_panics(code in prop::collection::vec(any_inst(), 1..20), uniforms: [u32; 16]) {
        let out = run_with(code, &uniforms, Mock::default());
        prop_assert!(out.stats.instances <= 1);
    }
}

#[test]
fn random_programs_do_run() {
    // The property above would be empty if every random program were refused.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let programs = prop::collection::vec(any_inst(), 3);
    let finished = (0..500)
        .filter(|_| {
            let code = programs.new_tree(&mut runner).expect("filter passes often").current();
            run_with(code, &[], Mock::default()).result.is_ok()
        })
        .count();
    assert!(finished > 50, "{finished}");
}

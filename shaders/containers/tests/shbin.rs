//! SHBIN: real files of four assemblers, damaged ones, and bytes nobody meant.

use std::collections::BTreeSet;

use proptest::prelude::*;
use shader_containers::pica::{Field, Inst, assemble};
use shader_containers::shbin::{
    self, Constant, ConstantValue, Dvle, Geometry, GeometryMode, OutputKind, RegisterFile, Shbin, Stage,
    WriteError,
};

mod material;
#[allow(dead_code, reason = "the assembler has a file of its own")]
#[path = "oracle/shbin.rs"]
mod oracle;

use material::{Sample, sample, samples};

#[test]
fn every_sample_reads_clean_and_comes_back() {
    let files = samples("shbin");
    assert_eq!(files.len(), 11);
    for Sample { name, bytes } in files {
        let shbin = Shbin::read(&bytes).unwrap_or_else(|finding| panic!("{name}: {finding}"));
        assert_eq!(shbin.write().as_deref(), Ok(&bytes[..]), "{name}");
        assert_eq!(shbin.check(), [], "{name}");
        oracle::shbin(&bytes);
    }
}

/// Where the damage is, from a byte comparison with the undamaged file.
const DAMAGE: [(&str, u64); 14] = [
    ("call_range.shbin", 0x34),
    ("code_range.shbin", 0x14),
    ("const_index.shbin", 0x1E2),
    ("dvle_count.shbin", 0x4),
    ("dvle_offset.shbin", 0x8),
    ("dvlp_magic.shbin", 0xC),
    ("magic.shbin", 0x0),
    ("main_range.shbin", 0x1A8),
    ("opdesc_index.shbin", 0x34),
    ("output_reg.shbin", 0x282),
    ("shader_type.shbin", 0x1A6),
    ("symbol_offset.shbin", 0x2B8),
    ("truncated.shbin", 0x1A0),
    ("uniform_order.shbin", 0x2BC),
];

#[test]
fn every_damaged_sample_has_its_code_and_place() {
    let expected = String::from_utf8(sample("shbin", "bad/EXPECT.tsv")).expect("text");
    let rows: Vec<_> = expected.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>()).collect();
    assert_eq!(rows.len(), DAMAGE.len());
    for (row, (name, offset)) in rows.iter().zip(DAMAGE) {
        assert_eq!(row[0], name);
        let bytes = sample("shbin", &format!("bad/{name}"));
        let findings = shbin::check(&bytes);
        let errors: Vec<_> = findings.iter().filter(|finding| finding.is_error()).collect();
        assert!(!errors.is_empty(), "{name}");
        assert!(errors.iter().all(|finding| finding.code == row[1]), "{name}: {errors:?}");
        if name != "opdesc_index.shbin" {
            assert_eq!(errors.len(), 1, "{name}: {errors:?}");
            assert_eq!(errors[0].offset, offset, "{name}: {errors:?}");
        }
        assert_eq!(Shbin::read(&bytes), Err(errors[0].clone()), "{name}");
        oracle::shbin(&bytes);
    }
}

#[test]
fn a_missing_descriptor_is_found_at_each_instruction_that_names_it() {
    let bytes = sample("shbin", "bad/opdesc_index.shbin");
    let good = Shbin::read(&sample("shbin", "own_allops.shbin")).unwrap();
    let expected: Vec<u64> = good
        .dvlp
        .code
        .entries
        .iter()
        .enumerate()
        .filter(|(_, word)| Inst::decode(**word).unwrap().get(Field::Desc).is_some_and(|n| n > 0))
        .map(|(n, _)| 0x34 + 4 * n as u64)
        .collect();
    let found: Vec<u64> = shbin::check(&bytes)
        .iter()
        .filter(|finding| finding.code == "S15")
        .map(|finding| finding.offset)
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn findings_use_documented_codes() {
    let known: BTreeSet<_> = shbin::CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(known.len(), shbin::CODES.len());
    let mut seen = BTreeSet::new();
    let good = sample("shbin", "own_allops.shbin");
    for at in 0..good.len() {
        for value in [0xFF, good[at] ^ 1, good[at] ^ 0x80, 0] {
            let mut bytes = good.clone();
            bytes[at] = value;
            seen.extend(shbin::check(&bytes).iter().map(|finding| finding.code));
        }
    }
    assert!(seen.is_subset(&known), "{:?}", seen.difference(&known));
    assert!(seen.len() > 20, "{seen:?}");
}

#[test]
fn all_operations_read_as_their_source_says() {
    let shbin = Shbin::read(&sample("shbin", "own_allops.shbin")).unwrap();
    let program = &shbin.programs[0];
    assert_eq!(
        (program.stage, program.main, program.end, program.inputs, program.output_mask),
        (Stage::Vertex, 2, 67, 0x23, 0x7F)
    );
    // .constf k0, k1; .constfa tab[]; .consti loopa; .setb; .setf; .seti
    let floats = |n: usize| program.constants.entries[n].floats().unwrap().map(|x| x.to_f32());
    assert_eq!(floats(0), [0.0, 1.0, -2.5, 0.125]);
    assert_eq!(floats(1), [0.0, f32::NEG_INFINITY, 65504.0, 0.333_332_06]);
    assert_eq!(program.constants.entries[4], Constant::int(3, [4, 1, 2, 0]));
    assert_eq!(program.constants.entries[5], Constant::bool(3, true));
    assert_eq!(program.constants.entries[6], Constant::float(90, [7.0, 8.0, 9.0, 10.0]));
    assert_eq!(program.constants.entries[7], Constant::int(2, [1, 2, 3, 4]));
    let outputs: Vec<_> =
        program.outputs.entries.iter().map(|o| (o.kind.name(), o.register, o.mask)).collect();
    assert_eq!(
        outputs,
        [
            ("position", 0, 15),
            ("color", 1, 15),
            ("texcoord0", 2, 3),
            ("texcoord1", 3, 3),
            ("texcoord0w", 4, 1),
            ("view", 5, 15),
            ("normalquat", 6, 15),
        ]
    );
    let names: Vec<_> = program
        .uniforms
        .entries
        .iter()
        .map(|uniform| {
            let name = std::str::from_utf8(program.name(uniform.name).unwrap()).unwrap();
            let (file, first) = RegisterFile::split(uniform.first).unwrap();
            format!("{name} {}{first} {}", file.letter(), uniform.last - uniform.first + 1)
        })
        .collect();
    assert_eq!(
        names,
        [
            "pos v0 1",
            "nrm v1 1",
            "idx v5 1",
            "projection c0 4",
            "base c4 8",
            "tint c12 1",
            "steps i0 1",
            "flag b0 1",
            "other b1 1"
        ]
    );
}

#[test]
fn samples_of_other_assemblers_read_as_their_sources_say() {
    let lines = |name: &str| {
        let program = Shbin::read(&sample("shbin", name)).unwrap().program();
        (0..program.code.len()).map(|n| program.line(n).unwrap()).collect::<Vec<_>>()
    };
    let flow = lines("aemstro_own_flow.shbin");
    for (n, text) in [
        (0, "add r1, c20, r1 @5"),
        (2, "dp4 o0.x, c4, v0 @0"),
        (6, "mov r1, c20 @5"),
        (7, "mova a0.xy, v2 @13"),
        (8, "loop i0, L00a"),
        (9, "mul r1, c20[a0.x], r1 @5"),
        (10, "call sub, endsub"),
        (11, "cmp c20, lt, ge, r1 @5"),
        (12, "ifc cmp.x && !cmp.y, iftrue, iffalse"),
        (13, "mov o1, c8 @5"),
        (15, "ifu b2, btrue, bfalse"),
        (16, "mad o2.xy, r1, -c20.xxxx, v1 @7"),
        (17, "rcp r2.x, v1.w @4"),
        (19, "mov o3.xy, v1 @6"),
        (20, "end"),
    ] {
        assert_eq!(flow[n], text, "word {n}");
    }
    let dual = lines("aemstro_own_dual.shbin");
    assert_eq!(dual[6..10], ["setemit 0", "mov o0, v0 @4", "mov o1, v1 @4", "emit"]);
    assert_eq!(dual[14], "setemit 2, prim inv");
}

#[test]
fn files_inside_others_are_found() {
    let mut bytes = vec![0xAA; 20];
    let first = sample("shbin", "tic80_n3ds.shbin");
    bytes.extend(&first);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let second_at = bytes.len();
    bytes.extend(sample("shbin", "ex_geoshader_vg.shbin"));
    bytes.extend(b"DVLB\x01\0\0\0DVLBDVLP");
    assert_eq!(shbin::embedded(&bytes).collect::<Vec<_>>(), [20, second_at]);
    let shbin = Shbin::read(&bytes[20..]).unwrap();
    assert_eq!(shbin.extent(), first.len() - 2);
    assert_eq!(shbin.write().unwrap(), bytes[20..]);
}

#[test]
fn programs_of_one_file_keep_their_geometry_fields() {
    let shbin = Shbin::read(&sample("shbin", "own_multi.shbin")).unwrap();
    let geometry: Vec<&Dvle> = shbin.programs.iter().filter(|p| p.stage == Stage::Geometry).collect();
    // .gsh fixed c48 c8 4, merged output maps
    let fixed =
        geometry.iter().find(|p| p.geometry.mode == GeometryMode::Fixed).expect("a fixed-mode program");
    assert_eq!((fixed.geometry.fixed_start, fixed.geometry.fixed_count), (8, 4));
    let point = Shbin::read(&sample("shbin", "ex_geoshader_vg.shbin")).unwrap();
    assert_eq!(point.programs[1].geometry.mode, GeometryMode::Point);
    assert_eq!((point.programs[0].main, point.programs[1].main), (0, 4));
}

#[test]
fn files_of_picasso_are_laid_out_as_picasso_does() {
    let named =
        ["own_allops", "own_multi", "own_pass", "ex_fragment_light", "ex_geoshader_vg", "ex_simple_tri"];
    for name in named {
        let bytes = sample("shbin", &format!("{name}.shbin"));
        let mut shbin = Shbin::read(&bytes).unwrap();
        shbin.layout();
        assert_eq!(shbin.write().as_deref(), Ok(&bytes[..]), "{name}");
    }
}

#[test]
fn a_file_built_from_its_source_is_the_sample() {
    let program =
        assemble("main: dp4 o0.x, c0, v0\ndp4 o0.y, c1, v0\ndp4 o0.z, c2, v0\ndp4 o0.w, c3, v0\nend");
    let mut shbin = Shbin::new();
    shbin.add_code(&program.unwrap()).unwrap();
    let main = shbin.add_program(Stage::Vertex, 0, 5).unwrap();
    main.add_output(OutputKind::Position, 0, 15);
    main.add_output(OutputKind::Generic, 1, 15);
    main.add_uniform("pos", RegisterFile::Input, 0, 1).unwrap();
    main.add_uniform("aux", RegisterFile::Input, 1, 1).unwrap();
    main.add_uniform("m", RegisterFile::Float, 0, 4).unwrap();
    // The declared ones count for picasso, used or not.
    (main.inputs, main.output_mask) = (3, 3);
    shbin.layout();
    assert_eq!(shbin.write().unwrap(), sample("shbin", "own_pass.shbin"));
}

/// The three sources of `own_multi`: their programs added one by one give the file picasso made of them.
#[test]
fn several_programs_link_into_the_sample() {
    let transform = "dp4 o0.x, c0, v0\ndp4 o0.y, c1, v0\ndp4 o0.z, c2, v0\ndp4 o0.w, c3, v0\n";
    let second = "ifu b0, e, d\nmov o1, c4\ne: mov o1, v3\nd: mov o2, v2\nend";
    let fixed = "setemit 0\nmov o0, c8\nmov o1, c95.yyyy\nemit\n\
                 setemit 1, prim\nmov o0, c9\nmov o1, c95.zzzz\nemit\n\
                 setemit 2, prim inv\nmov o0, c10\nmov o1, c95.xxxx\nemit\nend";
    let mut shbin = Shbin::new();
    let mut add = |stage, text: &str| {
        let code = assemble(text).unwrap();
        let base = shbin.add_code(&code).unwrap();
        shbin.add_program(stage, base, base + code.code.len() as u32).unwrap();
    };
    add(Stage::Vertex, &format!("{transform}end"));
    add(Stage::Vertex, &format!("{transform}{second}"));
    add(Stage::Geometry, fixed);
    let [first, second, third] = &mut shbin.programs[..] else { panic!("three programs") };

    first.add_output(OutputKind::Position, 0, 15);
    first.add_output(OutputKind::Generic, 1, 15);
    first.add_uniform("pos", RegisterFile::Input, 0, 1).unwrap();
    first.add_uniform("aux", RegisterFile::Input, 1, 1).unwrap();
    first.add_uniform("m", RegisterFile::Float, 0, 4).unwrap();
    // Declared registers count for picasso, used or not; undeclared inputs do not.
    (first.inputs, first.output_mask) = (3, 3);

    second.add_output(OutputKind::Position, 0, 15);
    second.add_output(OutputKind::Color, 1, 15);
    second.add_output(OutputKind::TexCoord2, 2, 3);
    second.add_uniform("m", RegisterFile::Float, 0, 4).unwrap();
    second.add_uniform("colour", RegisterFile::Float, 4, 1).unwrap();
    second.add_uniform("lit", RegisterFile::Bool, 0, 1).unwrap();
    assert_eq!((second.inputs, second.output_mask), (0b1101, 7));
    second.inputs = 0;

    third.add_output(OutputKind::Position, 0, 15);
    third.add_output(OutputKind::Color, 1, 15);
    third.constants.entries.push(Constant::float(95, [0.0, 0.5, 1.0, -1.0]));
    third.geometry =
        Geometry { mode: GeometryMode::Fixed, fixed_start: 8, fixed_count: 4, variable_count: 0 };

    shbin.layout();
    assert_eq!(shbin.write().unwrap(), sample("shbin", "own_multi.shbin"));
}

#[test]
fn odd_files_have_warnings_at_the_odd_place() {
    type Change = fn(&mut Shbin);
    // Blocks of the sample: code at 0x34, DVLE at 0x1A0, constants 0x40, outputs 0xE0, uniforms 0x118 behind it.
    let changes: [(&str, u64, Change); 14] = [
        ("W-opcode", 0x34, |s| s.dvlp.code.entries[0] = 0x4000_0000),
        ("W-cmp", 0x34 + 4 * 32, |s| s.dvlp.code.entries[32] |= 7 << 24),
        ("W-num-bits", 0x34 + 4 * 51, |s| s.dvlp.code.entries[51] |= 0x200),
        ("W-int-index", 0x34 + 4 * 45, |s| s.dvlp.code.entries[45] |= 8 << 22),
        ("W-two-inputs", 0x34 + 4 * 2, |s| s.dvlp.code.entries[2] = 0x0800_0081),
        ("W-mova-pair", 0x34 + 4 * 7, |s| s.dvlp.code.entries[7] = s.dvlp.code.entries[6]),
        ("W-no-end", 0x1A8, |s| s.dvlp.code.entries[66] = 0x8400_0000),
        ("W-mask", 0x1B0, |s| s.programs[0].inputs = 0x22),
        ("W-dup-const", 0x1E0 + 0x14 + 2, |s| s.programs[0].constants.entries[1].register = 95),
        ("W-f24-high", 0x1E0 + 4, |s| {
            s.programs[0].constants.entries[0].value = ConstantValue::Float([1 << 24, 0, 0, 0]);
        }),
        ("W-out-type", 0x280, |s| s.programs[0].outputs.entries[0].kind = OutputKind::Unknown(10)),
        ("W-out-mask", 0x280 + 4, |s| s.programs[0].outputs.entries[0].mask = 0x1F),
        ("W-int-gap", 0x2B8 + 8 * 6 + 6, |s| s.programs[0].uniforms.entries[6].last = 0x75),
        ("W-align", 0x1A0 + 0x38, |s| {
            s.programs[0].symbols.at += 1;
            s.rest.push(0);
        }),
    ];
    let good = Shbin::read(&sample("shbin", "own_allops.shbin")).unwrap();
    for (code, offset, change) in changes {
        let mut shbin = good.clone();
        change(&mut shbin);
        let found = shbin::check(&shbin.write().unwrap());
        let found: Vec<_> = found.iter().map(|finding| (finding.code, finding.offset)).collect();
        assert_eq!(found, [(code, offset)]);
    }
}

#[test]
fn programs_share_code_and_descriptors() {
    let first = assemble("main: mov o0, v0\n mad o1.x, v1, c0, r0\n end").unwrap();
    let second = assemble("other: jmpu b0, done\n mov o0, v0\n mov o1.y, v0\n done: end").unwrap();
    let mut shbin = Shbin::new();
    assert_eq!(shbin.add_code(&first), Ok(0));
    let base = shbin.add_code(&second).unwrap();
    assert_eq!(base, 3);
    let other = shbin.add_program(Stage::Geometry, base, base + 4).unwrap();
    other.add_label("done", base + 3).unwrap();
    assert_eq!((other.inputs, other.output_mask), (1, 3));
    shbin.layout();
    let again = Shbin::read(&shbin.write().unwrap()).unwrap();
    assert_eq!(again, shbin);
    let program = again.program();
    assert_eq!(program.line(3).unwrap(), "jmpu b0, done");
    assert_eq!(program.descriptors.len(), 3);
    assert_eq!(program.line(4), program.line(0));
}

#[test]
fn a_grown_table_needs_a_new_layout() {
    let mut shbin = Shbin::read(&sample("shbin", "own_allops.shbin")).unwrap();
    shbin.programs[0].constants.entries.push(Constant::bool(5, true));
    assert_eq!(shbin.write(), Err(WriteError::Overlap { offset: 0x282 }));
    shbin.layout();
    let again = Shbin::read(&shbin.write().unwrap()).unwrap();
    assert_eq!(again.programs[0].constants.entries.len(), 9);
}

#[test]
fn truncated_samples_are_refused_or_lose_only_padding() {
    for Sample { name, bytes } in samples("shbin") {
        for length in 0..bytes.len() {
            oracle::shbin(&bytes[..length]);
            if Shbin::read(&bytes[..length]).is_ok() {
                assert!(bytes.len() - length <= 3, "{name} at {length}");
            }
        }
    }
}

#[test]
fn every_single_bit_flip_is_survived() {
    for Sample { bytes, .. } in samples("shbin") {
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(shbin) = Shbin::parse(&bytes) else {
                assert_eq!(shbin::check(&bytes).len(), 1);
                continue;
            };
            shbin.check();
            assert_eq!(shbin.write(), Ok(bytes));
        }
    }
}

#[test]
fn blocks_that_overlap_without_end_are_refused() {
    let mut shbin = Shbin::read(&sample("shbin", "own_pass.shbin")).unwrap();
    shbin.dvlp.code.entries.resize(4096, 0x8800_0000);
    let program = shbin.programs[0].clone();
    shbin.programs = vec![program; 4000];
    shbin.layout();
    let mut bytes = shbin.write().unwrap();
    for n in 0..4000 {
        let first: [u8; 4] = bytes[8..12].try_into().unwrap();
        bytes[8 + 4 * n..12 + 4 * n].copy_from_slice(&first);
    }
    // The table alone: each entry names one program again.
    let end = shbin.programs[1].at as usize;
    assert_eq!(Shbin::parse(&bytes[..end]).unwrap_err().code, "S19");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bits_never_break_the_reader(
        file in 0usize..11,
        flips in proptest::collection::vec(any::<(proptest::sample::Index, u8)>(), 1..12),
    ) {
        let Sample { mut bytes, .. } = samples("shbin").swap_remove(file);
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << (bit % 8);
        }
        oracle::shbin(&bytes);
    }
}

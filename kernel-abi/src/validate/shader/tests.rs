use super::*;
use crate::validate::{Mode, Place, Rule};
use proptest::prelude::*;

/// kernel-abi.md §14: measured by running the kernel's own validator.
const VECTORS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/kernel-shader-vectors.tsv"));

fn words(text: &str) -> Vec<u64> {
    text.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap()).collect()
}

fn vector(case: &str) -> Vec<u64> {
    let row = VECTORS.lines().find(|row| row.split('\t').next() == Some(case));
    words(row.unwrap_or_else(|| panic!("no vector {case}")).split('\t').nth(1).unwrap())
}

fn samples(text: &str) -> Vec<SampleInfo> {
    if text == "-" {
        return Vec::new();
    }
    let sample = |text: &str| {
        let mut parts = text.split(':');
        let direct = parts.next() == Some("D");
        let p: Vec<Option<u32>> = parts.map(|part| part.parse().ok()).collect();
        SampleInfo { direct, p: p.try_into().unwrap() }
    };
    text.split(';').map(sample).collect()
}

fn slots(text: &str) -> Vec<u32> {
    if text == "-" { Vec::new() } else { text.split(',').map(|slot| slot.parse().unwrap()).collect() }
}

#[test]
fn kernel_vectors() {
    let mut rows = 0;
    for row in VECTORS.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [case, code, result, uniforms, source, count, threaded, addr_slots, offsets] = cells[..] else {
            panic!("row {row}");
        };
        let ours = validate(&words(code), Mode::Faithful);
        if result == "reject" {
            assert!(ours.is_err(), "{case}: accepted");
        } else {
            let expected = ShaderInfo {
                uniforms_size: uniforms.parse().unwrap(),
                source_size: source.parse().unwrap(),
                samples: samples(offsets),
                uniform_addr_slots: slots(addr_slots),
                threaded: threaded == "1",
            };
            assert_eq!(expected.samples.len(), count.parse::<usize>().unwrap(), "{case}");
            assert_eq!(ours.as_ref(), Ok(&expected), "{case}");
        }
        rows += 1;
    }
    assert_eq!(rows, 87);
}

#[test]
fn strict_refuses_the_quirks_only() {
    let quirks = [
        ("forward beyond end inside BO (quirk)", Rule::Shd5),
        ("LOAD_IMM posing as MIN (quirk)", Rule::Shd19),
        ("direct then normal sample on same TMU", Rule::Shd24),
    ];
    for row in VECTORS.lines().skip(1) {
        let mut cells = row.split('\t');
        let (case, code) = (cells.next().unwrap(), words(cells.next().unwrap()));
        let accepted = validate(&code, Mode::Faithful);
        let strict = validate(&code, Mode::Strict);
        match quirks.iter().find(|(name, _)| *name == case) {
            Some((_, rule)) => assert_eq!(strict.unwrap_err().rule, *rule, "{case}"),
            None => assert_eq!(strict.is_ok(), accepted.is_ok(), "{case}"),
        }
    }
}

#[test]
fn each_refusal_names_its_rule() {
    let expected = [
        ("branch at 0", Rule::Shd1, 0),
        ("branch distance 3", Rule::Shd1, 5),
        ("branch from register", Rule::Shd2, 2),
        ("absolute branch", Rule::Shd3, 2),
        ("misaligned", Rule::Shd4, 2),
        ("forward beyond BO", Rule::Shd5, 2),
        ("branch then end in delay slot", Rule::Shd7, 2),
        ("branch writes ra5", Rule::Shd8, 2),
        ("branch 2 after thrsw", Rule::Shd9, 3),
        ("no end", Rule::Shd10, 511),
        ("thrsw distance 2", Rule::Shd11, 2),
        ("tmu setup across branch target", Rule::Shd12, 6),
        ("breakpoint", Rule::Shd13, 0),
        ("write 36", Rule::Shd14, 0),
        ("add and mul both write TMU", Rule::Shd15, 0),
        ("5 tmu writes", Rule::Shd16, 4),
        ("uniform read in TMU write", Rule::Shd17, 0),
        ("direct without max", Rule::Shd19, 1),
        ("conditional MAX", Rule::Shd19, 2),
        ("uniform reset wrong offset", Rule::Shd20, 7),
        ("uniform after branch w/o reset", Rule::Shd21, 6),
        ("threaded writing ra17", Rule::Shd22, 3),
    ];
    for (case, rule, ip) in expected {
        let violation = validate(&vector(case), Mode::Faithful).unwrap_err();
        assert_eq!((violation.rule, violation.place), (rule, Place::Instruction(ip)), "{case}: {violation}");
    }
}

#[test]
fn texture_parameter_without_uniform_address() {
    // The vector's uniform read replaced by a TMU T write.
    let mut code = vector("uniform after branch w/o reset");
    code[6] = vector("write 57")[0];
    assert_eq!(validate(&code, Mode::Faithful).unwrap_err().rule, Rule::Shd18);
}

#[test]
fn fall_through_leaves_the_program() {
    // A branch in the program end's delay slots continues behind them.
    let mut code = vector("branch at 2 fallthrough");
    code[8] = code[2];
    assert_eq!(validate(&code, Mode::Faithful).unwrap_err().rule, Rule::Shd5);
    code[8] = (code[2] & !0xffff_ffff) | u64::from(-64i32 as u32);
    assert_eq!(validate(&code, Mode::Faithful).unwrap_err().rule, Rule::Shd6);
}

#[test]
fn a_violation_says_rule_place_and_content() {
    let text = validate(&vector("write 36"), Mode::Faithful).unwrap_err().to_string();
    for part in ["SHD-14", "instruction 0", "10000927009e7000", "write address 36"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn end_in_the_last_words_of_the_bo() {
    let nop = vector("minimal end")[1];
    let end = vector("minimal end")[0];
    let mut code = vec![nop; 512];
    code[510] = end;
    assert_eq!(validate(&code, Mode::Faithful).unwrap_err().rule, Rule::Shd10);
    code[510] = nop;
    code[509] = end;
    assert!(validate(&code, Mode::Strict).is_ok());
    assert_eq!(validate(&[], Mode::Faithful).unwrap_err().rule, Rule::Shd10);
}

proptest! {
    #[test]
    fn strict_accepts_no_more_than_the_kernel(code in prop::collection::vec(any::<u64>(), 0..40)) {
        if validate(&code, Mode::Faithful).is_err() {
            prop_assert!(validate(&code, Mode::Strict).is_err());
        }
    }

    #[test]
    fn spliced_vectors_never_panic(
        rows in prop::collection::vec(1usize..88, 1..4),
        bit in 0usize..64,
        at in any::<prop::sample::Index>(),
    ) {
        let mut code: Vec<u64> = Vec::new();
        for row in rows {
            code.extend(words(VECTORS.lines().nth(row).unwrap().split('\t').nth(1).unwrap()));
        }
        let at = at.index(code.len());
        code[at] ^= 1 << bit;
        if let Ok(strict) = validate(&code, Mode::Strict) {
            prop_assert_eq!(validate(&code, Mode::Faithful), Ok(strict));
        }
    }
}

/// Fields of an instruction.
fn with(word: u64, raddr_a: u8, raddr_b: u8, add_a: u8, add_b: u8) -> u64 {
    use vc4::qpu::inst::{ADD_A, ADD_B, RADDR_A, RADDR_B};
    [(RADDR_A, raddr_a), (RADDR_B, raddr_b), (ADD_A, add_a), (ADD_B, add_b)]
        .into_iter()
        .fold(word, |word, (field, value)| word & !field.put(field.mask()) | field.put(u64::from(value)))
}

#[test]
fn peripherals_of_file_b_read_behind_the_kernels_tables() {
    const UNIFORM: u8 = 32;
    let (file_a, file_b) = (6, 7);
    let pattern = vector("direct clamp pattern");
    // An addition of a file B peripheral and a uniform is looked up, with nothing clamped.
    let lookup = |peripheral: u8| {
        let mut code = pattern[2..].to_vec();
        code[0] = with(code[0], UNIFORM, peripheral, file_b, file_a);
        code
    };
    let info = |code: &[u64]| validate(code, Mode::Faithful);
    // 36 to 52 find flags of maxima, of which there are none; 53 and more find immediates: none is all ones.
    for peripheral in [36, 40, 48, 52] {
        let info = info(&lookup(peripheral)).unwrap();
        assert_eq!(info.samples[0], SampleInfo { direct: true, p: [Some(0), Some(0), None, None] });
    }
    assert_eq!(info(&lookup(53)).unwrap_err().rule, Rule::Shd19);
    assert_eq!(info(&lookup(63)).unwrap_err().rule, Rule::Shd19);
    // An immediate for ra1 is what 54 finds.
    let mut code = lookup(54);
    let immediate = "e0020067159e7000";
    code.insert(0, words(immediate)[0] & !0xffff_ffff | 12);
    assert_eq!(info(&code).unwrap().samples[0].p[1], Some(12));
    // A minimum of a peripheral counts as one of a maximum: bytes of immediates are not zero.
    let mut code = pattern.clone();
    code[1] = with(code[1], UNIFORM, 48, file_b, file_a);
    assert!(info(&code[1..]).is_ok());
    // Strict mode lets none of it through.
    for code in [lookup(48), code[1..].to_vec()] {
        assert_eq!(validate(&code, Mode::Strict).unwrap_err().rule, Rule::Shd19);
    }
}

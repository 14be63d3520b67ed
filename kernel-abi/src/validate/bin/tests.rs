use super::*;
use crate::gpu::BoHandle;
use crate::validate::shader::{SampleInfo, ShaderInfo};
use proptest::prelude::*;
use vc4::cl::records::{Attribute, ShaderRecord};
use vc4::cl::words::ShaderFlags;
use vc4::cl::{Binner, Count, List};

/// kernel-abi.md §14: measured by running the kernel's own validator.
const VECTORS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/kernel-bin-vectors.tsv"));

const LAYOUT: Layout = Layout { list: 0x9000_0000, records: 0x9100_0000, uniforms: 0x9200_0000 };
const MEMORY: BinMemory = BinMemory { slot_address: 0x4000_0000, slot_size: 512 << 10 };

fn unhex(text: &str) -> Vec<u8> {
    if text == "-" {
        return Vec::new();
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The environment of the vectors: eight BOs, FS, VS and CS first.
fn bos<'a>(fragment: &'a ShaderInfo, other: &'a ShaderInfo, bo5_size: u32) -> Vec<BoInfo<'a>> {
    (0..8)
        .map(|index| BoInfo {
            bus_address: 0x1000_0000 * (index + 1),
            size: if index == 5 { bo5_size } else { 4096 },
            shader: match index {
                0 => Some(fragment),
                1 | 2 => Some(other),
                _ => None,
            },
        })
        .collect()
}

struct Case {
    name: &'static str,
    job: Submit,
    bo5_size: u32,
    fragment: ShaderInfo,
    expected: Option<[Vec<u8>; 3]>,
}

fn cases() -> Vec<Case> {
    let case = |row: &'static str| {
        let cells: Vec<&str> = row.split('\t').collect();
        let [name, list, records, uniforms, count, size, samples, direct, bytes, result, ref out @ ..] =
            cells[..]
        else {
            panic!("row {row}")
        };
        let sample = SampleInfo { direct: direct == "1", p: [Some(0), Some(4), Some(8), None] };
        let samples = vec![sample; samples.parse().unwrap()];
        let uniforms_size = bytes.parse().unwrap();
        Case {
            name,
            job: Submit {
                bin_cl: unhex(list),
                shader_rec: unhex(records),
                shader_rec_count: count.parse().unwrap(),
                uniforms: unhex(uniforms),
                bos: (1..9).map(BoHandle).collect(),
                ..Default::default()
            },
            bo5_size: size.parse().unwrap(),
            fragment: ShaderInfo {
                uniforms_size,
                source_size: uniforms_size + 4 * samples.len() as u32,
                samples,
                ..Default::default()
            },
            expected: (result == "0").then(|| [unhex(out[0]), unhex(out[1]), unhex(out[2])]),
        }
    };
    let cases: Vec<Case> = VECTORS.lines().skip(1).map(case).collect();
    assert_eq!(cases.len(), 52);
    cases
}

fn run(case: &Case, mode: Mode) -> Result<BinJob, Violation> {
    let other = ShaderInfo::default();
    bin(&case.job, &bos(&case.fragment, &other, case.bo5_size), &LAYOUT, &MEMORY, mode)
}

#[test]
fn kernel_vectors() {
    for case in cases() {
        let ours = run(&case, Mode::Faithful);
        let bytes = ours.as_ref().ok().map(|job| [&job.list, &job.records, &job.uniforms].map(Vec::clone));
        assert_eq!(bytes, case.expected, "{}: {ours:?}", case.name);
    }
}

#[test]
fn strict_refuses_the_quirks_only() {
    for case in cases() {
        let ours = run(&case, Mode::Strict);
        if case.name.starts_with("cube stride wraps") {
            assert_eq!(ours.unwrap_err().rule, Rule::Tex6, "{}", case.name);
        } else {
            assert_eq!(ours, run(&case, Mode::Faithful), "{}", case.name);
        }
    }
}

#[test]
fn each_refusal_names_its_rule() {
    let expected = [
        ("80x136=10880", Rule::Bin20),
        ("64bit flag", Rule::Bin19),
        ("db flag", Rule::Bin19),
        ("6 before 112", Rule::Bin4),
        ("flush then incr", Rule::Bin8),
        ("trailing halt", Rule::Bin7),
        ("halt inside", Rule::Bin10),
        ("wait semaphore", Rule::Bin1),
        ("packet 104", Rule::Bin1),
        ("prim before shader state", Rule::Bin11),
        ("thread flag mismatch", Rule::Rec5),
        ("257 verts", Rule::Rec13),
        ("0 verts first 0", Rule::Rec13),
        ("attr offset too far", Rule::Rec11),
        ("more states than declared", Rule::Bin16),
        ("shader addr bits", Rule::Bin17),
        ("indexed offset 1", Rule::Bin13),
        ("indexed w/o GEM_HANDLES (BO0 is shader)", Rule::Bin12),
        ("indexed maxindex 256", Rule::Rec13),
        ("tex 32x33", Rule::Tex6),
        ("BW1", Rule::Tex5),
        ("2 levels base 0", Rule::Tex7),
        ("cube no stride", Rule::Tex4),
        ("cube short", Rule::Tex6),
        ("direct clamp 4093", Rule::Tex3),
        ("direct base 4093", Rule::Tex2),
    ];
    let cases = cases();
    for (name, rule) in expected {
        let case = cases.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no vector {name}"));
        let violation = run(case, Mode::Faithful).unwrap_err();
        assert_eq!(violation.rule, rule, "{name}: {violation}");
    }
}

#[test]
fn a_violation_says_rule_place_and_content() {
    let cases = cases();
    let text = |name| {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        run(case, Mode::Faithful).unwrap_err().to_string()
    };
    for (name, parts) in [
        ("indexed offset 1", ["BIN-13", "byte 0x1f", "INDEXED_PRIMITIVE_LIST", "BO 4"]),
        ("257 verts", ["REC-13", "shader record 0", "stride 16", "largest index 256"]),
        ("tex 32x33", ["TEX-6", "FS texture sample 0", "32x33", "p1 0x02102000"]),
    ] {
        let text = text(name);
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

/// A draw of three vertices, as the driver would write it, to be bent.
struct Draw {
    list: List<Binner>,
    record: ShaderRecord,
    handles: [u32; 4],
    uniforms: Vec<u8>,
    shaders: [ShaderInfo; 3],
}

impl Draw {
    fn clean() -> Draw {
        let mut list = List::new();
        list.push(TileBinningModeConfig { width_tiles: 2, height_tiles: 1, ..Default::default() })
            .push(StartTileBinning {})
            .push(GlShaderState { attribute_arrays: Count::ONE, ..Default::default() })
            .push(VertexArrayPrimitives { count: 3, ..Default::default() })
            .push(IncrementSemaphore {})
            .push(Flush {});
        Draw {
            list,
            record: ShaderRecord {
                flags: ShaderFlags { single_threaded: true, ..Default::default() },
                attributes: vec![Attribute { bytes: 16, stride: 16, ..Default::default() }],
                ..Default::default()
            },
            handles: [0, 1, 2, 3],
            uniforms: Vec::new(),
            shaders: Default::default(),
        }
    }

    fn job(&self) -> Submit {
        let mut shader_rec: Vec<u8> = self.handles.iter().flat_map(|handle| handle.to_le_bytes()).collect();
        self.record.write(&mut shader_rec).unwrap();
        Submit {
            bin_cl: self.list.bytes().to_vec(),
            shader_rec,
            shader_rec_count: 1,
            uniforms: self.uniforms.clone(),
            bos: (1..6).map(BoHandle).collect(),
            ..Default::default()
        }
    }

    fn run(&self, job: &Submit, mode: Mode) -> Result<BinJob, Violation> {
        let bos: Vec<BoInfo<'_>> = (0..5)
            .map(|index| BoInfo {
                bus_address: 0x1000_0000 * (index + 1),
                size: 4096,
                shader: self.shaders.get(index as usize),
            })
            .collect();
        bin(job, &bos, &LAYOUT, &MEMORY, mode)
    }

    fn rule(&self) -> Option<Rule> {
        self.run(&self.job(), Mode::Faithful).err().map(|violation| violation.rule)
    }

    fn rule_of(&self, job: &Submit) -> Option<Rule> {
        self.run(job, Mode::Faithful).err().map(|violation| violation.rule)
    }
}

fn with_list(push: impl Fn(&mut List<Binner>)) -> Option<Rule> {
    let mut draw = Draw::clean();
    draw.list = List::new();
    push(&mut draw.list);
    draw.rule()
}

#[test]
fn list_rules_without_vectors() {
    let config = TileBinningModeConfig { width_tiles: 1, height_tiles: 1, ..Default::default() };
    let end = |list: &mut List<Binner>| {
        list.push(IncrementSemaphore {}).push(Flush {});
    };
    assert_eq!(Draw::clean().rule(), None);
    let cut = |bytes: usize| {
        let draw = Draw::clean();
        let mut job = draw.job();
        job.bin_cl.truncate(job.bin_cl.len() - bytes);
        draw.rule_of(&job)
    };
    assert_eq!(cut(3), Some(Rule::Bin2));
    assert_eq!(
        with_list(|list| end(list.push(config).push(StartTileBinning {}).push(StartTileBinning {}))),
        Some(Rule::Bin3)
    );
    assert_eq!(with_list(|list| end(list.push(config).push(config))), Some(Rule::Bin5));
    assert_eq!(with_list(|list| end(list.push(config))), Some(Rule::Bin6));
    assert_eq!(
        with_list(|list| end(list.push(config).push(StartTileBinning {}).push(IncrementSemaphore {}))),
        Some(Rule::Bin7)
    );
    assert_eq!(
        with_list(|list| {
            list.push(config).push(StartTileBinning {}).push(Flush {});
        }),
        Some(Rule::Bin9)
    );
    assert_eq!(
        with_list(|list| end(list.push(TileBinningModeConfig { width_tiles: 0, ..config }))),
        Some(Rule::Bin18)
    );
    let shader_state = GlShaderState { attribute_arrays: Count::ONE, ..Default::default() };
    let wrapping = VertexArrayPrimitives { count: 2, first: u32::MAX, ..Default::default() };
    assert_eq!(
        with_list(|list| end(list.push(config).push(StartTileBinning {}).push(shader_state).push(wrapping))),
        Some(Rule::Bin14)
    );
}

#[test]
fn no_binner_memory() {
    let draw = Draw::clean();
    let memory = BinMemory { slot_address: 0, slot_size: 0 };
    let violation = bin(&draw.job(), &[], &LAYOUT, &memory, Mode::Faithful).unwrap_err();
    assert_eq!(violation.rule, Rule::Bin21);
}

#[test]
fn record_rules_without_vectors() {
    let draw = Draw::clean();
    let cut = |len: usize| {
        let mut job = draw.job();
        job.shader_rec.truncate(len);
        draw.rule_of(&job)
    };
    assert_eq!(cut(16 + 44), None);
    assert_eq!(cut(16 + 43), Some(Rule::Rec2));
    assert_eq!(cut(15), Some(Rule::Rec1));
    let handles = |handles| Draw { handles, ..Draw::clean() }.rule();
    assert_eq!(handles([0, 5, 2, 3]), Some(Rule::Rec3));
    assert_eq!(handles([0, 1, 3, 3]), Some(Rule::Rec7));
    assert_eq!(handles([0, 1, 2, 5]), Some(Rule::Rec4));
    assert_eq!(handles([0, 1, 2, 0]), Some(Rule::Rec4));
    let threaded = |stage: usize| {
        let mut draw = Draw::clean();
        draw.shaders[stage].threaded = true;
        draw.rule()
    };
    assert_eq!(threaded(0), Some(Rule::Rec5));
    assert_eq!(threaded(1), Some(Rule::Rec6));
    assert_eq!(threaded(2), Some(Rule::Rec6));
    let mut draw = Draw::clean();
    draw.record.vertex.code = 8;
    assert_eq!(draw.rule(), Some(Rule::Rec8));
}

#[test]
fn uniform_blocks() {
    let mut draw = Draw::clean();
    for (stage, words) in [2, 1, 1].into_iter().enumerate() {
        draw.shaders[stage] =
            ShaderInfo { uniforms_size: 4 * words, source_size: 4 * words, ..Default::default() };
    }
    draw.shaders[1].uniform_addr_slots = vec![0];
    draw.uniforms = (0..16).collect();
    let copies = draw.run(&draw.job(), Mode::Strict).unwrap();
    assert_eq!(copies.uniforms, [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x92, 12, 13, 14, 15]);
    assert_eq!(copies.records[8..12], 0x9200_0000u32.to_le_bytes());
    assert_eq!(copies.records[20..24], 0x9200_0008u32.to_le_bytes());
    assert_eq!(copies.records[32..36], 0x9200_000cu32.to_le_bytes());
    // The kernel compares each block with the whole: 12 bytes are enough for it, 4 are not.
    draw.uniforms.truncate(12);
    assert_eq!(draw.run(&draw.job(), Mode::Strict).unwrap_err().rule, Rule::Rec9);
    assert_eq!(draw.run(&draw.job(), Mode::Faithful).unwrap().uniforms.len(), 16);
    draw.uniforms.truncate(4);
    assert_eq!(draw.rule(), Some(Rule::Rec9));
}

#[test]
fn extended_strides() {
    let mut draw = Draw::clean();
    draw.list = List::new();
    draw.list
        .push(TileBinningModeConfig { width_tiles: 1, height_tiles: 1, ..Default::default() })
        .push(StartTileBinning {})
        .push(GlShaderState { attribute_arrays: Count::ONE, extended: true, ..Default::default() })
        .push(VertexArrayPrimitives { count: 3, ..Default::default() })
        .push(IncrementSemaphore {})
        .push(Flush {});
    draw.record.extended = true;
    draw.record.attributes[0].stride = 0x700;
    assert_eq!(draw.rule(), None);
    draw.record.attributes[0].stride = 0x800;
    assert_eq!(draw.rule(), Some(Rule::Rec13));
}

#[test]
fn texture_bo() {
    let sampling = |bo: u32| {
        let mut draw = Draw::clean();
        draw.shaders[0] = ShaderInfo {
            uniforms_size: 8,
            source_size: 12,
            samples: vec![SampleInfo { direct: false, p: [Some(0), Some(4), None, None] }],
            ..Default::default()
        };
        // 16x16 RGBA8888 at offset 0.
        draw.uniforms = [bo, 0, 16 << 20 | 16 << 8].iter().flat_map(|word| word.to_le_bytes()).collect();
        draw.rule()
    };
    assert_eq!(sampling(3), None);
    assert_eq!(sampling(1), Some(Rule::Tex1));
    assert_eq!(sampling(5), Some(Rule::Tex1));
}

proptest! {
    #[test]
    fn bent_jobs_never_panic(
        case in 0usize..52,
        list in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        records in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        uniforms in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let mut case = cases().swap_remove(case);
        for (bytes, changes) in [
            (&mut case.job.bin_cl, list),
            (&mut case.job.shader_rec, records),
            (&mut case.job.uniforms, uniforms),
        ] {
            for (at, value) in changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = value;
                }
            }
        }
        if let Ok(strict) = run(&case, Mode::Strict) {
            prop_assert_eq!(run(&case, Mode::Faithful), Ok(strict));
        }
    }
}

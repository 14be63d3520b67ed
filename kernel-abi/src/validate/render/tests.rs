use super::*;
use crate::gpu::Surface;
use crate::validate::ShaderInfo;
use crate::validate::frame::{Pointees, from_uapi};
use proptest::prelude::*;

/// kernel-abi.md §14: measured by running the kernel's own code.
const VECTORS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/kernel-rcl-vectors.tsv"));

fn unhex(text: &str) -> Vec<u8> {
    if text == "-" {
        return Vec::new();
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The environment of the vectors: eight BOs, the first three shaders.
fn bos(shader: &ShaderInfo, size: u32) -> Vec<BoInfo<'_>> {
    (0..8)
        .map(|index| BoInfo {
            bus_address: 0x1000_0000 * (index + 1),
            size: if (3..8).contains(&index) { size } else { 4096 },
            shader: (index < 3).then_some(shader),
        })
        .collect()
}

struct Case {
    name: &'static str,
    frame: SubmitCl,
    bin: Option<BinTiles>,
    bo_size: u32,
    expected: Option<Vec<u8>>,
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> = VECTORS
        .lines()
        .skip(1)
        .map(|row| {
            let cells: Vec<&str> = row.split('\t').collect();
            let [name, frame, x, y, tile_alloc, bo_size, result, rcl] = cells[..] else {
                panic!("row {row}")
            };
            let frame: SubmitCl = bytemuck::pod_read_unaligned(&unhex(frame));
            let bin = BinTiles {
                x: x.parse().unwrap(),
                y: y.parse().unwrap(),
                tile_alloc_address: tile_alloc.parse().unwrap(),
            };
            Case {
                name,
                bin: (frame.bin_cl_size != 0).then_some(bin),
                frame,
                bo_size: bo_size.parse().unwrap(),
                expected: (result == "0").then(|| unhex(rcl)),
            }
        })
        .collect();
    assert_eq!(cases.len(), 38);
    cases
}

#[test]
fn kernel_vectors() {
    let shader = ShaderInfo::default();
    for case in cases() {
        let bos = bos(&shader, case.bo_size);
        let ours = render_frame(&case.frame, &bos, case.bin.as_ref(), Mode::Faithful);
        assert_eq!(ours.as_ref().ok(), case.expected.as_ref(), "{}: {ours:?}", case.name);
        // The same by way of the safe struct.
        let safe = from_uapi(&case.frame, Pointees::default())
            .and_then(|job| render(&job, &bos, case.bin.as_ref(), Mode::Faithful));
        assert_eq!(safe.ok(), case.expected, "{}", case.name);
    }
}

#[test]
fn strict_refuses_the_quirks_only() {
    let quirks = [
        ("rcl color offset 4 unaligned", Rule::Rcl5),
        ("msaa 2 tiles in 16384 (off by one)", Rule::Rcl13),
        ("max==bin tiles (quirk)", Rule::Rcl2),
        ("span 256", Rule::Rcl3),
    ];
    let shader = ShaderInfo::default();
    for case in cases() {
        let bos = bos(&shader, case.bo_size);
        let ours = render_frame(&case.frame, &bos, case.bin.as_ref(), Mode::Strict);
        match quirks.iter().find(|(name, _)| *name == case.name) {
            Some((_, rule)) => assert_eq!(ours.unwrap_err().rule, *rule, "{}", case.name),
            None => assert_eq!(ours.ok(), case.expected, "{}", case.name),
        }
    }
}

#[test]
fn each_refusal_names_its_rule() {
    let expected = [
        ("rcl no write", Rule::Rcl15),
        ("rcl color offset 4 (too big)", Rule::Rcl12),
        ("early-z dir bit", Rule::Rcl4),
        ("layout 3", Rule::Rcl5),
        ("format 3", Rule::Rcl5),
        ("zs_write buffer 3", Rule::Rcl10),
        ("zs_write fullres", Rule::Rcl8),
        ("msaa 4 tiles in 16384", Rule::Rcl13),
        ("min>max", Rule::Rcl1),
        ("shader BO as target", Rule::Rcl5),
        ("index 8 of 8", Rule::Rcl5),
        ("color_read offset unaligned", Rule::Rcl11),
        ("absent color_read with flag 2", Rule::Rcl6),
        ("absent msaa_zs with bits", Rule::Rcl14),
        ("width 4097", Rule::Rcl12),
        ("zs with color format", Rule::Rcl10),
        ("msaa offset 8", Rule::Rcl14),
        ("full-res read with bits", Rule::Rcl8),
    ];
    let shader = ShaderInfo::default();
    let cases = cases();
    for (name, rule) in expected {
        let case = cases.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no vector {name}"));
        let bos = bos(&shader, case.bo_size);
        let violation = render_frame(&case.frame, &bos, case.bin.as_ref(), Mode::Faithful).unwrap_err();
        assert_eq!(violation.rule, rule, "{name}: {violation}");
    }
}

#[test]
fn rules_without_vectors() {
    let shader = ShaderInfo::default();
    let bos = bos(&shader, 16384);
    let clean = Submit {
        width: 64,
        height: 64,
        color_write: Some(Surface { bo_index: 3, offset: 0, bits: 4, flags: 0 }),
        color_read: Some(Surface { bo_index: 4, offset: 0, bits: 1, flags: 0 }),
        ..Default::default()
    };
    let rule = |job: &Submit, bin: Option<&BinTiles>| {
        render(job, &bos, bin, Mode::Faithful).err().map(|violation| violation.rule)
    };
    assert_eq!(rule(&clean, None), None);
    let read = |surface| Submit { color_read: Some(surface), ..clean.clone() };
    let surface = Surface { bo_index: 4, offset: 0, bits: 1, flags: 0 };
    assert_eq!(rule(&read(Surface { bo_index: 0, ..surface }), None), Some(Rule::Rcl7));
    assert_eq!(rule(&read(Surface { bits: 0x0401, ..surface }), None), Some(Rule::Rcl9));
    assert_eq!(rule(&read(Surface { bits: 0x0031, ..surface }), None), Some(Rule::Rcl9));
    let bin = BinTiles { x: 1, y: 1, tile_alloc_address: 0 };
    assert_eq!(rule(&clean, Some(&bin)), None);
    assert_eq!(rule(&Submit { tiles: [0, 0, 2, 0], ..clean.clone() }, Some(&bin)), Some(Rule::Rcl2));
}

#[test]
fn a_violation_says_rule_place_and_content() {
    let job = Submit {
        width: 64,
        height: 64,
        color_write: Some(Surface { bo_index: 0, offset: 32, bits: 0x44, flags: 0 }),
        ..Default::default()
    };
    let bos = [BoInfo { bus_address: 0, size: 16384, shader: None }];
    let text = render(&job, &bos, None, Mode::Strict).unwrap_err().to_string();
    for part in ["RCL-12", "color_write", "64x64", "16384"] {
        assert!(text.contains(part), "{text}");
    }
}

fn any_surface() -> impl Strategy<Value = SubmitRclSurface> {
    (0u32..10, any::<u32>(), any::<u16>(), 0u16..3, any::<bool>()).prop_map(
        |(hindex, offset, bits, flags, near)| SubmitRclSurface {
            hindex: if hindex == 9 { NO_SURFACE } else { hindex },
            offset: if near { offset & 0xff } else { offset },
            bits: if near { bits & 0x55 } else { bits },
            flags,
        },
    )
}

proptest! {
    #[test]
    fn strict_lists_are_the_kernels(
        surfaces in prop::array::uniform6(any_surface()),
        tiles in prop::array::uniform4(any::<u8>()),
        size in any::<(u16, u16)>(),
        size_small in any::<bool>(),
        flags in 0u32..16,
        with_bin in any::<bool>(),
    ) {
        let [color_read, color_write, zs_read, zs_write, msaa_color_write, msaa_zs_write] = surfaces;
        let [min_x_tile, min_y_tile, max_x_tile, max_y_tile] = tiles;
        let mask = if size_small { 63 } else { u16::MAX };
        let frame = SubmitCl {
            color_read, color_write, zs_read, zs_write, msaa_color_write, msaa_zs_write,
            min_x_tile, min_y_tile, max_x_tile, max_y_tile,
            width: size.0 & mask, height: size.1 & mask, flags,
            ..Default::default()
        };
        let bin = BinTiles { x: 200, y: 200, tile_alloc_address: 0x1000 };
        let bin = with_bin.then_some(&bin);
        let shader = ShaderInfo::default();
        let bos = bos(&shader, 1 << 20);
        let faithful = render_frame(&frame, &bos, bin, Mode::Faithful);
        if let Ok(strict) = render_frame(&frame, &bos, bin, Mode::Strict) {
            prop_assert_eq!(faithful, Ok(strict));
        }
    }
}

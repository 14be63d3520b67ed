//! Control lists against the manual's worked list and their own inverses.

use proptest::prelude::*;

use super::dump::{ParseError, dump, parse};
use super::list::{List, ListError, Reader, read_binner, read_renderer};
use super::packets::*;
use super::{Addr, Bits, Count, S12_4};

/// v3d.md §11.3: 64x64, one tile, two attributes, three vertices.
const WORKED_LIST: &str = "
    70 00000000 00000000 00000000 01 01 00
    06
    38 12
    66 0000 0000 4000 4000
    60 03 90 03
    65 0000 0000
    62 0000803f
    63 0000803f
    69 00000044 00000044
    6a 0000003f 0000003f
    67 0002 0002
    61 00000000
    40 02000000
    21 04 03000000 00000000
    07 04";

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
}

fn worked_list() -> List<Binner> {
    let mut list = List::new();
    list.push(TileBinningModeConfig { width_tiles: 1, height_tiles: 1, ..Default::default() })
        .push(StartTileBinning {})
        .push(PrimitiveListFormat::default())
        .push(ClipWindow { width: 64, height: 64, ..Default::default() })
        .push(ConfigurationBits {
            depth_func: CompareFunc::Less,
            depth_write: true,
            early_z: true,
            early_z_update: true,
            ..Default::default()
        })
        .push(DepthOffset::default())
        .push(PointSize::default())
        .push(LineWidth::default())
        .push(ClipperXyScaling { x: 512.0, y: 512.0 })
        .push(ClipperZScaleAndOffset::default())
        .push(ViewportOffset { x: S12_4::from_px(32).unwrap(), y: S12_4::from_px(32).unwrap() })
        .push(FlatShadeFlags::default())
        .push(GlShaderState { attribute_arrays: Count::new(2).unwrap(), ..Default::default() })
        .push(VertexArrayPrimitives { count: 3, ..Default::default() })
        .push(IncrementSemaphore {})
        .push(Flush {});
    list
}

#[test]
fn worked_list_matches_the_manual() {
    let list = worked_list();
    assert_eq!(list.len(), 92);
    assert_eq!(list.bytes(), hex(WORKED_LIST));
}

#[test]
fn worked_list_reads_back() {
    let bytes = hex(WORKED_LIST);
    let items = read_binner(&bytes).unwrap();
    assert_eq!(items.len(), 16);
    assert_eq!(items[3].offset, 16 + 1 + 2);
    let AnyPacket::ConfigurationBits(bits) = items[4].packet else { panic!("{:?}", items[4]) };
    assert!(bits.front && bits.back && bits.depth_write && bits.early_z && bits.early_z_update);
    assert_eq!(bits.depth_func, CompareFunc::Less);
    let AnyPacket::ViewportOffset(offset) = items[10].packet else { panic!("{:?}", items[10]) };
    assert_eq!(offset.x.px(), 32.0);
}

#[test]
fn worked_list_survives_text() {
    let text = dump(worked_list().bytes());
    assert!(text.starts_with("0000  TILE_BINNING_MODE_CONFIG tile_alloc=0x00000000 "), "{text}");
    assert!(
        text.contains("\n004b  GL_SHADER_STATE attribute_arrays=2 extended=0 address=0x00000000\n"),
        "{text}"
    );
    assert_eq!(parse(&text).unwrap(), worked_list().bytes());
}

/// kernel-abi.md §5.2 and v3d.md §11.3: the surface words of a submission are the low halves of 113, 28 and 29.
#[test]
fn surface_words_match_the_manual() {
    let low_word = |payload: u128, at: u32| (payload >> at) as u16;
    let frame = |tiling, multisample, decimate| {
        TileRenderingModeConfig {
            format: FrameFormat::Rgba8888,
            tiling,
            multisample,
            decimate,
            ..Default::default()
        }
        .payload()
    };
    assert_eq!(low_word(frame(Tiling::T, false, Decimate::X1), 64), 0x0044);
    assert_eq!(low_word(frame(Tiling::Lt, false, Decimate::X1), 64), 0x0084);
    assert_eq!(low_word(frame(Tiling::Raster, false, Decimate::X1), 64), 0x0004);
    assert_eq!(low_word(frame(Tiling::T, true, Decimate::X4), 64), 0x0044 | 0x0011);
    let load = |buffer, tiling| low_word(LoadGeneral { buffer, tiling, ..Default::default() }.payload(), 0);
    assert_eq!(load(TileBuffer::Color, Tiling::T), 0x0011);
    assert_eq!(load(TileBuffer::Color, Tiling::Lt), 0x0021);
    assert_eq!(load(TileBuffer::Color, Tiling::Raster), 0x0001);
    assert_eq!(load(TileBuffer::DepthStencil, Tiling::T), 0x0012);
    assert_eq!(load(TileBuffer::DepthStencil, Tiling::Lt), 0x0022);
    let no_clear = StoreGeneral {
        disable_clear_color: true,
        disable_clear_zs: true,
        disable_clear_vg: true,
        ..Default::default()
    };
    assert_eq!(low_word(no_clear.payload(), 0), 0xe000);
}

/// Render lists that the kernel's own code generated.
#[test]
fn kernel_render_lists_read_and_write_back() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/kernel-rcl-vectors.tsv");
    let table = std::fs::read_to_string(path).unwrap();
    let mut lists = 0;
    for line in table.lines().skip(1).filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let rcl = columns[columns.len() - 1];
        if rcl == "-" || rcl.is_empty() || !rcl.bytes().all(|b| b.is_ascii_hexdigit()) {
            continue;
        }
        let bytes = hex(rcl);
        let items = read_renderer(&bytes).unwrap_or_else(|error| panic!("{}: {error}", columns[0]));
        let mut again = Vec::new();
        items.iter().for_each(|item| item.packet.write(&mut again));
        assert_eq!(again, bytes, "{}", columns[0]);
        assert_eq!(parse(&dump(&bytes)).unwrap(), bytes, "{}", columns[0]);
        lists += 1;
    }
    assert!(lists > 10, "only {lists} lists were read");
}

#[test]
fn sizes_match_the_manual() {
    // v3d.md §5.1.
    let sizes = [
        (0, 1),
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 1),
        (5, 1),
        (6, 1),
        (7, 1),
        (8, 1),
        (16, 5),
        (17, 5),
        (18, 1),
        (24, 1),
        (25, 1),
        (26, 5),
        (27, 5),
        (28, 7),
        (29, 7),
        (32, 14),
        (33, 10),
        (41, 10),
        (56, 2),
        (64, 5),
        (65, 5),
        (66, 5),
        (67, 9),
        (96, 4),
        (97, 5),
        (98, 5),
        (99, 5),
        (100, 3),
        (101, 5),
        (102, 9),
        (103, 5),
        (104, 9),
        (105, 9),
        (106, 9),
        (112, 16),
        (113, 11),
        (114, 14),
        (115, 3),
        (254, 9),
    ];
    for opcode in 0..=255 {
        let expected = sizes.iter().find(|row| row.0 == opcode).map(|row| row.1);
        assert_eq!(info(opcode).and_then(|row| row.size), expected, "opcode {opcode}");
    }
    for opcode in [19, 20, 42, 48, 49] {
        assert!(matches!(AnyPacket::read(&[opcode; 16]), Err(ReadError::NoFixedSize { .. })));
    }
}

#[test]
fn errors_say_where_and_what() {
    let truncated = Reader::new(&[6, 99, 0]).last().unwrap();
    let error = ReadError::Truncated { name: "LINE_WIDTH", need: 5, have: 2 };
    assert_eq!(truncated, Err(ListError { offset: 1, error }));
    assert_eq!(
        Reader::new(&[200]).last().unwrap(),
        Err(ListError { offset: 0, error: ReadError::UnknownOpcode(200) })
    );
    let reserved = AnyPacket::read(&[96, 0, 0, 0x80]).unwrap_err();
    assert_eq!(reserved, ReadError::ReservedBits { name: "CONFIGURATION_BITS", mask: 1 << 23 });
    let bad = AnyPacket::read(&[96, 0xc0, 0, 0]).unwrap_err();
    assert_eq!(bad, ReadError::BadCode { name: "CONFIGURATION_BITS", field: "oversample", code: 3 });
    let wrong = read_binner(&[115, 0, 0]).unwrap_err();
    assert_eq!(wrong.error, ReadError::WrongList { name: "TILE_COORDINATES" });
    assert!(dump(&[6, 200]).ends_with("0001  # opcode 200 is reserved: c8\n"));
    let unknown = parse("NOP\nNOSUCH a=1").unwrap_err();
    assert_eq!(unknown, ParseError::UnknownPacket { line: 2, name: "NOSUCH".into() });
    let field = parse("LINE_WIDTH size=1.0").unwrap_err();
    assert_eq!(field, ParseError::BadField { line: 1, packet: "LINE_WIDTH", field: "size=1.0".into() });
}

#[test]
fn values_that_do_not_fit_have_no_spelling() {
    assert_eq!(Addr::<4>::new(0x18), None);
    assert_eq!(Addr::<4>::new(0x10).map(Addr::get), Some(0x10));
    assert_eq!(Bits::<3>::new(8), None);
    assert_eq!(S12_4::from_px(2048), None);
    assert_eq!(S12_4::from_px(-2048), Some(S12_4(-32768)));
}

proptest! {
    /// Whatever reads as packets writes back to the same bytes, and so does its text.
    #[test]
    fn read_then_write_is_the_identity(row in 0..PACKETS.len(), payload in prop::array::uniform15(any::<u8>())) {
        let info = &PACKETS[row];
        let mut mask = 0u128;
        for field in info.fields {
            mask |= ((1u128 << field.width) - 1) << field.bit;
        }
        let mut wide = [0; 16];
        wide[..15].copy_from_slice(&payload);
        let mut bytes = vec![info.opcode];
        bytes.extend_from_slice(&(u128::from_le_bytes(wide) & mask).to_le_bytes()[..15]);
        bytes.truncate(info.size.unwrap_or(1));
        match AnyPacket::read(&bytes) {
            Ok(packet) => {
                prop_assert_eq!(packet.size(), bytes.len());
                let mut again = Vec::new();
                packet.write(&mut again);
                prop_assert_eq!(&again, &bytes);
                prop_assert_eq!(parse(&dump(&bytes)).unwrap(), bytes);
            }
            Err(ReadError::BadCode { .. }) => prop_assert!(info.fields.iter().any(|field| field.kind == "enum")),
            Err(error) => prop_assert!(info.size.is_none(), "{}", error),
        }
    }

    /// No bytes make the reader panic.
    #[test]
    fn reading_garbage_is_safe(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = dump(&bytes);
    }
}

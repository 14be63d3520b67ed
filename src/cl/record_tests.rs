//! Records and words against the manual's numbers and their own inverses.

use proptest::prelude::*;

use super::packets::CompareFunc;
use super::records::*;
use super::words::*;
use super::{Addr, Bits, Count, Pages};

#[test]
fn vpm_words_match_the_manual() {
    // v3d.md §7.1: 0x1a00 + row, plus the count at bit 20 for reads.
    assert_eq!(
        VpmRead { count: Count::new(3).unwrap(), address: 5, ..Default::default() }.bits(),
        0x0030_1a05
    );
    assert_eq!(VpmRead::default().bits(), 0x1a00);
    assert_eq!(VpmWrite { address: 7, ..Default::default() }.bits(), 0x1a07);
}

#[test]
fn texture_words_stand_where_the_manual_says() {
    let texture = TextureWords {
        ty: TextureType::Rgba32R,
        p0: TextureP0 {
            base: Addr::new(0xabcd_e000).unwrap(),
            cube: true,
            flip_y: true,
            last_level: Bits::low(11),
            ..Default::default()
        },
        p1: TextureP1 {
            height: Count::new(2048).unwrap(),
            width: Count::new(100).unwrap(),
            etc_flip: true,
            mag: MagFilter::Nearest,
            min: MinFilter::LinearMipLinear,
            wrap_t: Wrap::Border,
            wrap_s: Wrap::Clamp,
            ..Default::default()
        },
    };
    let [p0, p1] = texture.bits();
    assert_eq!(p0, 0xabcd_e000 | 1 << 9 | 1 << 8 | 11);
    assert_eq!(p1, 1 << 31 | 1 << 19 | 100 << 8 | 1 << 7 | 5 << 4 | 3 << 2 | 1);
    let back = TextureWords::from_bits(p0, p1).unwrap();
    assert_eq!((back.ty, back.levels(), back.p1.height.get()), (TextureType::Rgba32R, 12, 2048));
    let cube = TextureCube { stride: Pages::from_bytes(0x5000).unwrap(), explicit_lod: true };
    assert_eq!(cube.bits(), 0x4000_5001);
    assert_eq!(TextureExtra::from_bits(0x4000_5001), Ok(TextureExtra::Cube(cube)));
    assert!(TextureWords::from_bits(2, 1 << 31 | 6 << 4).is_err(), "minification 6 is reserved");
}

#[test]
fn stencil_words_stand_where_the_manual_says() {
    let word = StencilSetup {
        face: StencilFace::Back,
        write_mask: StencilWriteMask::Low4,
        depth_fail: StencilOp::IncrementWrap,
        depth_pass: StencilOp::Replace,
        stencil_fail: StencilOp::DecrementWrap,
        func: CompareFunc::LessOrEqual,
        reference: 0x12,
        compare_mask: 0x34,
    };
    let bits = 2 << 30 | 2 << 28 | 6 << 25 | 2 << 22 | 7 << 19 | 3 << 16 | 0x1234;
    assert_eq!(word.bits(), bits);
    assert_eq!(StencilWord::from_bits(bits), Ok(StencilWord::Setup(word)));
    let masks = StencilMasks { back: 0xab, front: 0xcd };
    assert_eq!(masks.bits(), 0xabcd);
    assert_eq!(StencilWord::from_bits(0xabcd), Ok(StencilWord::Masks(masks)));
    assert_eq!(StencilWriteMask::from_mask(0x0f), Some(StencilWriteMask::Low4));
    assert_eq!(StencilWriteMask::from_mask(0x07), None);
}

#[test]
fn fixed_bits_are_checked() {
    assert_eq!(
        VpmWrite::from_bits(0x8000_1a00),
        Err(WordError::FixedBits { word: "VpmWrite", mask: 0x8000_0000 })
    );
    assert_eq!(
        ShaderFlags::from_bits(0x1_0001),
        Err(WordError::FixedBits { word: "ShaderFlags", mask: 0x1_0000 })
    );
}

#[test]
fn record_bytes_stand_where_the_manual_says() {
    let record = ShaderRecord {
        flags: ShaderFlags { single_threaded: true, clipping: true, ..Default::default() },
        varyings: 6,
        vertex: VertexProgram { attribute_select: 3, attribute_bytes: 28, ..Default::default() },
        coordinate: VertexProgram { attribute_select: 1, attribute_bytes: 16, ..Default::default() },
        attributes: vec![
            Attribute { address: 0x100, bytes: 16, stride: 28, ..Default::default() },
            Attribute { address: 0x110, bytes: 12, stride: 28, vertex_offset: 16, coordinate_offset: 255 },
        ],
        ..Default::default()
    };
    let mut bytes = Vec::new();
    record.write(&mut bytes).unwrap();
    assert_eq!((bytes.len(), record.size()), (36 + 16, 52));
    assert_eq!(bytes[..4], [5, 0, 0, 6]);
    assert_eq!((bytes[14], bytes[15], bytes[26], bytes[27]), (3, 28, 1, 16));
    assert_eq!(bytes[44..52], [0x10, 1, 0, 0, 11, 28, 16, 255]);
}

#[test]
fn extended_record_keeps_long_strides() {
    let attribute = Attribute { bytes: 4, stride: 0x1234, ..Default::default() };
    let mut record = ShaderRecord { attributes: vec![attribute], extended: true, ..Default::default() };
    let mut bytes = Vec::new();
    record.write(&mut bytes).unwrap();
    assert_eq!((bytes.len(), bytes[41], &bytes[100..104]), (104, 0x34, &[0x34, 0x12, 0, 0][..]));
    record.extended = false;
    let error = RecordError::Stride { index: 0, stride: 0x1234, max: 255 };
    assert_eq!(record.write(&mut Vec::new()), Err(error));
    record.attributes.clear();
    assert_eq!(record.write(&mut Vec::new()), Err(RecordError::AttributeCount(0)));
    assert_eq!(ShaderRecord::read(&[0; 43], 1, false), Err(RecordError::Truncated { need: 44, have: 43 }));
}

proptest! {
    #[test]
    fn words_read_back(bits: u32) {
        if let Ok(word) = StencilWord::from_bits(bits) { prop_assert_eq!(word.bits(), bits); }
        if let Ok(word) = TextureP1::from_bits(bits) { prop_assert_eq!(word.bits(), bits); }
        prop_assert_eq!(TextureP0::from_bits(bits).unwrap().bits(), bits);
        let vpm = bits & 0x00f3_ffff;
        if let Ok(word) = VpmRead::from_bits(vpm) { prop_assert_eq!(word.bits(), vpm); }
        let child = bits & 0xc07f_f7ff;
        if child >> 30 >= 2 { prop_assert_eq!(TextureExtra::from_bits(child).unwrap().bits(), child); }
    }

    #[test]
    fn word_fields_survive_text(bits: u32) {
        let vpm = VpmRead::from_bits(bits & 0x00f3_bfff);
        prop_assume!(vpm.is_ok());
        let (vpm, mut text) = (vpm.unwrap(), String::new());
        vpm.put_fields(&mut text);
        let mut again = VpmRead::default();
        for field in text.split_whitespace() {
            let (name, value) = field.split_once('=').unwrap();
            prop_assert!(again.set_field(name, value), "{}", field);
        }
        prop_assert_eq!(again, vpm);
        prop_assert!(!again.set_field("no_field", "0") && !again.set_field("count", "17"));
    }

    #[test]
    fn records_read_back(seed in prop::collection::vec(any::<u8>(), 132), count in 1..=8usize, extended: bool) {
        let mut bytes = seed;
        bytes[0] &= 7;
        bytes[1] = 0;
        for n in 0..count {
            bytes[103 + 4 * n] &= 3;
            bytes[100 + 4 * n] = bytes[41 + 8 * n];
        }
        // Unused attributes of the extended form are written as zero.
        bytes[36 + 8 * count..100].fill(0);
        let record = ShaderRecord::read(&bytes, count, extended).unwrap();
        let mut again = Vec::new();
        record.write(&mut again).unwrap();
        prop_assert_eq!(&again[..], &bytes[..record_size(count, extended)]);
    }
}

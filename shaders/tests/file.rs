//! Program files: what is written is read again, and nothing else is taken for one.

#[path = "oracle/file.rs"]
mod oracle;

use proptest::prelude::*;
use vc4::state::StateUniform;
use vc4_shaders::file::{Fault, FileError, read, read_with_places, sealed, write};
use vc4_shaders::ir::Op;
use vc4_shaders::ir::computed::{OPERATIONS, operands};
use vc4_shaders::program::{
    AttributeArray, AttributeSource, Descriptor, DrawWord, Lookup, Pipeline, Program, SampleBo, Step,
    Texture, TextureValue, UniformSlot,
};

fn descriptor() -> impl Strategy<Value = Descriptor> {
    any::<(u32, u32, u32)>().prop_map(|(set, binding, element)| Descriptor { set, binding, element })
}

fn state() -> impl Strategy<Value = StateUniform> {
    prop_oneof![
        prop::sample::select(vec![
            StateUniform::ViewportXScale,
            StateUniform::ViewportXBias,
            StateUniform::ViewportYScale,
            StateUniform::ViewportYBias,
            StateUniform::RasterScale,
            StateUniform::Corner(1),
            StateUniform::QuadPixel,
            StateUniform::ScreenXScale,
            StateUniform::ScreenYScale,
            StateUniform::DepthScale,
            StateUniform::DepthBias,
            StateUniform::BiasConstant,
            StateUniform::BiasSlope,
            StateUniform::BiasLow,
            StateUniform::BiasHigh,
            StateUniform::StencilFront,
            StateUniform::StencilBack,
            StateUniform::StencilMasks,
            StateUniform::StencilBackMasks,
            StateUniform::SampleMask,
        ]),
        any::<u8>().prop_map(StateUniform::BlendConstant),
        any::<u8>().prop_map(StateUniform::BlendConstantUnclamped),
        any::<[u8; 4]>().prop_map(StateUniform::BlendConstantBytes),
    ]
}

fn texture() -> impl Strategy<Value = Texture> {
    (descriptor(), prop::option::of(descriptor())).prop_map(|(image, sampler)| Texture { image, sampler })
}

fn lookup() -> impl Strategy<Value = Lookup> {
    (texture(), any::<bool>()).prop_map(|(texture, texels)| Lookup { texture, texels })
}

fn uniform() -> impl Strategy<Value = UniformSlot> {
    prop_oneof![
        any::<u32>().prop_map(UniformSlot::Const),
        state().prop_map(UniformSlot::State),
        any::<u32>().prop_map(UniformSlot::Push),
        (descriptor(), any::<u32>()).prop_map(|(buffer, offset)| UniformSlot::Ubo { buffer, offset }),
        (descriptor(), any::<u32>()).prop_map(|(buffer, offset)| UniformSlot::UboBase { buffer, offset }),
        (descriptor(), any::<u32>()).prop_map(|(buffer, last)| UniformSlot::UboLimit { buffer, last }),
        lookup().prop_map(UniformSlot::TextureP0),
        lookup().prop_map(UniformSlot::TextureP1),
        (lookup(), any::<bool>())
            .prop_map(|(lookup, explicit_lod)| UniformSlot::TextureP2 { lookup, explicit_lod }),
        (texture(), prop::sample::select(&TextureValue::ALL[..]))
            .prop_map(|(texture, value)| UniformSlot::Texture { texture, value }),
        (descriptor(), any::<u32>(), 1..u32::MAX)
            .prop_map(|(buffer, offset, stride)| { UniformSlot::BufferElements { buffer, offset, stride } }),
        Just(UniformSlot::VertexIndexBias),
        Just(UniformSlot::InstanceIndex),
        prop::sample::select(&DrawWord::ALL[..]).prop_map(UniformSlot::Draw),
        any::<(u32, u8)>().prop_map(|(location, word)| UniformSlot::InstanceAttribute { location, word }),
        Just(UniformSlot::StreamAddress),
    ]
}

fn sample() -> impl Strategy<Value = SampleBo> {
    prop_oneof![descriptor().prop_map(SampleBo::Texture), descriptor().prop_map(SampleBo::Ubo)]
}

/// Steps that take earlier ones where they can.
fn steps_of(choices: &[(UniformSlot, Op, [u32; 3])]) -> Vec<Step> {
    let step = |(number, (slot, op, args)): (usize, &(UniformSlot, Op, [u32; 3]))| {
        if slot.is_step_word() {
            return Step::Word(*slot);
        }
        match number as u32 {
            0 => Step::Word(UniformSlot::Const(args[0])),
            number => {
                let args = args[..operands(*op)].iter().map(|arg| arg % number).collect();
                Step::Op { op: *op, args }
            }
        }
    };
    choices.iter().enumerate().map(step).collect()
}

/// A program, or none.
fn program() -> impl Strategy<Value = Program> {
    let some = (
        prop::collection::vec(any::<u64>(), 1..20),
        prop::collection::vec(uniform(), 0..30),
        prop::collection::vec(sample(), 0..4),
        any::<bool>(),
        prop::collection::vec((uniform(), prop::sample::select(&OPERATIONS[..]), any::<[u32; 3]>()), 0..9),
        prop::collection::vec(any::<u32>(), 0..4),
    );
    prop_oneof![
        5 => some.prop_map(|(code, mut uniforms, samples, threaded, steps, results)| {
            let computed = steps_of(&steps);
            let count = computed.len() as u32;
            uniforms.extend(results.iter().filter_map(|at| Some(UniformSlot::Computed(at.checked_rem(count)?))));
            Program { code, uniforms, computed, samples, threaded }
        }),
        1 => Just(Program::default()),
    ]
}

fn attribute() -> impl Strategy<Value = AttributeArray> {
    let source = prop_oneof![
        any::<u32>().prop_map(AttributeSource::Location),
        Just(AttributeSource::VertexIndex),
        (0..3u8, any::<u32>()).prop_map(|(corner, location)| AttributeSource::Corner { corner, location }),
        (0..3u8).prop_map(AttributeSource::CornerIndex),
        Just(AttributeSource::Place),
        Just(AttributeSource::Dummy),
    ];
    (source, any::<u32>(), any::<bool>(), any::<Option<u8>>(), any::<Option<u8>>()).prop_map(
        |(source, bytes, joined, vertex_offset, coordinate_offset)| AttributeArray {
            source,
            bytes,
            joined,
            vertex_offset,
            coordinate_offset,
        },
    )
}

prop_compose! {
    fn pipeline()(
        programs in (program(), program(), program()),
        attributes in prop::collection::vec(attribute(), 0..9),
        textures in prop::collection::vec(texture(), 0..5),
        words in any::<[u32; 4]>(),
        flags in any::<[bool; 5]>(),
    ) -> Pipeline {
        let (vertex, coordinate, fragment) = programs;
        let [vertex_attribute_bytes, coordinate_attribute_bytes, varyings, flat_varyings] = words;
        let [point_size, writes_depth, discards, reads_color, per_sample] = flags;
        Pipeline {
            vertex, coordinate, fragment, attributes,
            vertex_attribute_bytes, coordinate_attribute_bytes, varyings, flat_varyings,
            point_size, writes_depth, discards, reads_color, per_sample, textures,
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(pipeline in pipeline()) {
        let file = write(&pipeline);
        prop_assert_eq!(oracle::one(&file), Ok(()));
        prop_assert_eq!(read(&file), Ok(pipeline));
    }

    #[test]
    fn damage_is_noticed(pipeline in pipeline(), byte in any::<prop::sample::Index>(), flip in 1u8..) {
        let mut file = write(&pipeline);
        let at = byte.index(file.len());
        file[at] ^= flip;
        let error = read(&file).expect_err("a damaged file");
        let named = match at {
            0..4 => error.fault == Fault::Magic,
            4..8 => matches!(error.fault, Fault::Version(_)),
            8..12 => matches!(error.fault, Fault::Size { .. }),
            12..16 => matches!(error.fault, Fault::Unknown { .. } | Fault::Truncated { .. } | Fault::Trailing(_)),
            _ => error.fault == Fault::Digest,
        };
        prop_assert!(named, "byte {}: {}", at, error);
    }

    /// Behind a digest that fits nothing protects the reader but itself.
    #[test]
    fn damage_behind_the_digest(
        pipeline in pipeline(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut file = write(&pipeline);
        for (at, value) in changes {
            let at = at.index(file.len());
            file[at] = value;
        }
        oracle::check(&file);
        oracle::check(&file[..cut.index(file.len())]);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        oracle::check(&bytes);
    }
}

fn small() -> Pipeline {
    let fragment = Program {
        code: vec![0x3000_09e7_009e_7000, 0x1000_09e7_009e_7000, 0x1000_09e7_009e_7000],
        uniforms: vec![
            UniformSlot::Const(0x3f80_0000),
            UniformSlot::Ubo { buffer: Descriptor { set: 1, binding: 2, element: 3 }, offset: 64 },
            UniformSlot::Computed(1),
        ],
        computed: vec![
            Step::Word(UniformSlot::Push(4)),
            Step::Op { op: Op::FMul, args: [0, 0].into_iter().collect() },
        ],
        samples: vec![SampleBo::Texture(Descriptor { set: 4, binding: 5, element: 6 })],
        threaded: true,
    };
    let array = AttributeArray {
        source: AttributeSource::Location(7),
        bytes: 12,
        joined: false,
        vertex_offset: Some(8),
        coordinate_offset: None,
    };
    Pipeline { fragment, attributes: vec![array], varyings: 2, discards: true, ..Pipeline::default() }
}

/// The layout itself, word by word as the module's table has it: files outlive the program that wrote them.
#[test]
fn the_layout_stays() {
    let file = write(&small());
    let words: Vec<u32> = file[48..]
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
        .collect();
    #[rustfmt::skip]
    assert_eq!(words, [
        0, 0, 2, 0, 0b0100, 1, 0,
        0x0008_0100, 7, 12,
        0x102, 3, 3, 1, 2,
        0x009e_7000, 0x3000_09e7, 0x009e_7000, 0x1000_09e7, 0x009e_7000, 0x1000_09e7,
        0, 0x3f80_0000,
        3, 1, 2, 3, 64,
        16, 1,
        0, 4, 5, 6,
        2, 4,
        0x3ff, 0, 0,
    ]);
    let size = 48 + 4 * words.len() as u32;
    let header: Vec<u8> = [*b"VC4P", [4, 0, 0, 0], size.to_le_bytes(), [1, 0, 0, 0]].concat();
    assert_eq!(file[..16], header);
    // The digest as sha256sum prints it for these bytes.
    let digest: String = file[16..48].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, "0fbe24d0d9f43ca88b662410b15f36e8c2808c19ac16dc18ccd7328d07deb1c0");
}

#[test]
fn places_point_at_their_parts() {
    let contents = read_with_places(&write(&small())).expect("a file");
    let place = &contents.places[0];
    assert_eq!((place.head, place.code, place.samples), (88, 108, 168));
    assert_eq!(place.uniforms, [132, 140, 160]);
}

/// One change to a good file, sealed again, and what the reader says.
#[test]
fn faults_are_named_with_their_place() {
    let fault = |at: usize, value: u32| {
        let mut file = write(&small());
        file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        read(&sealed(&file)).expect_err("a fault")
    };
    let error = |offset, fault| FileError { offset, fault };
    let unknown = |what, value| Fault::Unknown { what, value };
    assert_eq!(fault(4, 1), error(4, Fault::Version(1)));
    assert_eq!(fault(12, 4), error(12, unknown("number of programs", 4)));
    assert_eq!(fault(12, 0), error(88, Fault::Trailing(116)));
    assert_eq!(fault(64, 0x24), error(64, Fault::Reserved(0x20)));
    assert_eq!(fault(68, 0x2000_0000), error(76, Fault::Truncated { wanted: 0x1_8000_0000, left: 128 }));
    assert_eq!(fault(72, 0x2000_0000), error(88, Fault::Truncated { wanted: 0x3_8000_0000, left: 116 }));
    assert_eq!(fault(76, 0x0108_0100), error(76, Fault::Reserved(0x0100_0000)));
    assert_eq!(fault(76, 0x0008_010a), error(76, unknown("source of an attribute", 10)));
    assert_eq!(fault(88, 3), error(88, unknown("stage", 3)));
    assert_eq!(fault(92, 0), error(92, unknown("number of instructions", 0)));
    assert_eq!(fault(96, u32::MAX), error(132, Fault::Truncated { wanted: 0x3_ffff_fffc, left: 72 }));
    assert_eq!(fault(140, 99), error(140, unknown("kind of uniform", 99)));
    assert_eq!(fault(132, 0x100), error(132, unknown("kind of uniform", 0x100)));
    assert_eq!(fault(168, 2), error(168, unknown("kind of TMU request", 2)));
    assert_eq!(fault(164, 2), error(160, unknown("step", 2)));
    assert_eq!(fault(184, 11), error(184, unknown("word of a step", 11)));
    assert_eq!(fault(192, 0x37ff), error(192, unknown("operation of a step", 0x37ff)));
    assert_eq!(fault(196, 1), error(196, unknown("step", 1)));
    // A texture without a sampler that names one.
    let image = Descriptor { set: 1, binding: 2, element: 3 };
    let mut textured = write(&Pipeline { textures: vec![Texture::combined(image)], ..small() });
    textured[88] = 0;
    assert_eq!(read(&sealed(&textured)), Err(error(104, Fault::Reserved(1))));
    let mut twice = write(&small());
    twice.extend_from_within(88..);
    twice[12] = 2;
    assert_eq!(read(&sealed(&twice)), Err(error(204, Fault::Order)));
    assert_eq!(read(b"VC4"), Err(error(0, Fault::Magic)));
    assert_eq!(read(b"VC4P"), Err(error(0, Fault::Truncated { wanted: 48, left: 4 })));
}

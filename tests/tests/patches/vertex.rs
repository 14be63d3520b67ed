//! Vertex fetch: every format, in the vertex and in the coordinate program, against the bits in memory.

use vc4::hw::LANES;
use vc4::state::StateWords;
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4_shaders::compile::{PipelineState, VertexAttribute, compile_shaders};
use vc4_shaders::ir::{Builder, Interpolation, Op, Output, Shader, Stage};
use vc4_shaders::program::{AttributeSource, Pipeline, UniformSlot};
use vc4_sim::memory::Memory;
use vc4_sim::qpu::{Fault, LaneMask, Lanes, Payload, Ports, Program as Decoded, Stats, run};
use vc4_tests::rows::Rows;

use crate::machine::{Random, fragment, input};
use crate::reference::half_to_f64;

/// Every format of attributes that Vulkan 1.0 lists up to 32 bits a component: 8-, 16- and 32-bit components in
/// numbers of one to four, 10 bits and small floats; orders with blue first.
fn formats() -> Vec<VertexFormat> {
    use Numeric::{Float, Sint, Snorm, Sscaled, Uint, Unorm, Uscaled};
    let fixed = [Unorm, Snorm, Uscaled, Sscaled, Uint, Sint];
    let mut all = Vec::new();
    let mut add = |packing, numerics: &[Numeric], swaps: &[bool]| {
        for &numeric in numerics {
            all.extend(swaps.iter().map(|&swap_rb| VertexFormat { packing, numeric, swap_rb }));
        }
    };
    for count in 1..=4 {
        add(Packing::Bytes(count), &fixed, if count < 3 { &[false] } else { &[false, true] });
        add(Packing::Halves(count), &fixed, &[false]);
        add(Packing::Halves(count), &[Float], &[false]);
        add(Packing::Words(count), &[Uint, Sint, Float], &[false]);
    }
    add(Packing::Bits10_10_10_2, &fixed, &[false, true]);
    add(Packing::Floats11_11_10, &[Float], &[false]);
    all
}

/// Place of a stored component: first bit in memory, bits.
fn place(packing: Packing, component: u32) -> Option<(u32, u32)> {
    let (count, place) = match packing {
        Packing::Bytes(count) => (count.into(), (8 * component, 8)),
        Packing::Halves(count) => (count.into(), (16 * component, 16)),
        Packing::Words(count) => (count.into(), (32 * component, 32)),
        Packing::Bits10_10_10_2 => (4, (10 * component, if component == 3 { 2 } else { 10 })),
        Packing::Floats11_11_10 => (3, (11 * component, if component == 2 { 10 } else { 11 })),
        other => unreachable!("attributes are not packed as {other:?}"),
    };
    (component < count).then_some(place)
}

/// What a component should be.
enum Wanted {
    Word(u32),
    /// A number, and how far off it may be.
    Number(f64, f64),
}

/// A component as "Fixed-Point Conversion" and "Attribute Address Calculation" of the specification have it.
fn wanted(format: &VertexFormat, component: u32, words: &[u32]) -> Wanted {
    let stored = if format.swap_rb && component != 3 { 2 - component.min(2) } else { component };
    let stored = if format.swap_rb && component == 1 { 1 } else { stored };
    let integer = format.numeric.is_integer();
    let Some((bit, width)) = place(format.packing, stored) else {
        return match (component, integer) {
            (3, true) => Wanted::Word(1),
            (3, false) => Wanted::Word(1f32.to_bits()),
            _ => Wanted::Word(0),
        };
    };
    let bits = (u64::from(words[bit as usize / 32]) >> (bit % 32)) as u32 & (u32::MAX >> (32 - width));
    let signed = i64::from((bits << (32 - width)) as i32 >> (32 - width));
    let (unsigned_most, signed_most) = (((1u64 << width) - 1) as f64, ((1u64 << (width - 1)) - 1) as f64);
    match format.numeric {
        Numeric::Uint => Wanted::Word(bits),
        Numeric::Sint => Wanted::Word(signed as u32),
        Numeric::Uscaled => Wanted::Number(f64::from(bits), 0.0),
        Numeric::Sscaled => Wanted::Number(signed as f64, 0.0),
        // Ends of the range are exact, numbers between them to 22 bits.
        Numeric::Unorm => {
            let value = f64::from(bits) / unsigned_most;
            Wanted::Number(value, if bits == 0 || value == 1.0 { 0.0 } else { value * 2f64.powi(-22) })
        }
        Numeric::Snorm => {
            let value = (signed as f64 / signed_most.max(1.0)).max(-1.0);
            Wanted::Number(value, if value.abs() == 1.0 { 0.0 } else { value.abs() * 2f64.powi(-22) })
        }
        Numeric::Float => match width {
            32 => Wanted::Word(bits),
            16 => Wanted::Number(half_to_f64(bits), 0.0),
            width => Wanted::Number(half_to_f64(bits << (15 - width)), 0.0),
        },
    }
}

fn assert_is(what: &str, found: u32, wanted: &Wanted) {
    match *wanted {
        Wanted::Word(word) => assert_eq!(found, word, "{what}"),
        Wanted::Number(value, error) => {
            let found = f64::from(f32::from_bits(found));
            // Denormals count as 0, wherever they come from.
            let zero = value == 0.0 && found.abs() < 1.2e-38;
            let nan = value.is_nan() && found.is_nan();
            assert!(
                zero || nan || found == value || (found - value).abs() <= error,
                "{what}: {found}, wanted {value}"
            );
        }
    }
}

/// Hands attribute 1 through as varyings and, in `w`, one of its components.
fn vertex(component_in_w: u8) -> Shader {
    let mut shader = Shader::new(Stage::Vertex);
    let block = shader.entry().expect("a new shader has a block");
    let b = &mut Builder::new(&mut shader, block);
    let interpolation = Interpolation::Smooth;
    for component in 0..4 {
        let value = b.op(Op::LoadInput { location: 1, component, interpolation }, &[]);
        b.store_output(Output::User { location: 0, component }, value);
        if component == component_in_w {
            b.store_output(Output::Position(3), value);
        }
    }
    shader
}

fn pipeline(format: VertexFormat, component_in_w: u8) -> Pipeline {
    let fragment = fragment(|b| {
        for component in 0..4 {
            let value = input(b, 0, component);
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let state = PipelineState {
        attributes: vec![VertexAttribute { location: 1, format, per_instance: false }],
        color: Some(vc4::state::ColorOutput::plain(vc4::image::Format::R8G8B8A8.info(), false)),
        ..PipelineState::default()
    };
    compile_shaders(vertex(component_in_w), Some(fragment), &state)
        .unwrap_or_else(|e| panic!("{format:?}: {e}"))
}

/// Rows that the vertex or the coordinate program writes for these attribute words.
fn rows(pipeline: &Pipeline, coordinate: bool, words: &[Lanes]) -> Vec<Lanes> {
    let program = if coordinate { &pipeline.coordinate } else { &pipeline.vertex };
    let mut vpm = Vec::new();
    for array in &pipeline.attributes {
        let offset = if coordinate { array.coordinate_offset } else { array.vertex_offset };
        let rows = array.bytes.div_ceil(4) as usize;
        match (offset, array.source) {
            (None, _) => {}
            (Some(_), AttributeSource::Location(1)) => vpm.extend_from_slice(&words[..rows]),
            // What the format lacks is no reason to read it.
            (Some(_), AttributeSource::Dummy) => vpm.resize(vpm.len() + rows, [0xdead_beef; LANES]),
            (Some(_), other) => panic!("no array of {other:?}"),
        }
    }
    let state = StateWords::default();
    let stream: Vec<u32> = program
        .uniforms
        .iter()
        .map(|slot| match *slot {
            UniformSlot::Const(word) => word,
            UniformSlot::State(slot) => state.word(slot),
            ref other => panic!("no stream word for {other:?}"),
        })
        .collect();
    let memory = Memory::new(1 << 16);
    let address = memory.allocate(4 * stream.len().max(1) as u32).expect("the memory is large enough");
    memory.write_words(address, &stream).expect("the stream was allocated");
    let insts = program.code.iter().map(|&word| vc4::qpu::Inst::decode(word).expect("compiled code decodes"));
    let decoded = Decoded::from_insts(insts.collect(), 0).expect("the program is complete");
    let mut machine = Vpm { input: vpm, next: 0, output: Rows::default() };
    let mut stats = Stats { check: true, ..Default::default() };
    run(&decoded, &memory, address, &mut machine, &Payload::default(), &mut stats).expect("the program runs");
    assert!(stats.findings.is_empty(), "broken rules: {:?}", stats.findings);
    assert_eq!(machine.next, machine.input.len(), "every row is read");
    machine.output.finish()
}

#[test]
fn every_format_in_both_programs() {
    let formats = formats();
    println!("{} formats", formats.len());
    for format in formats {
        let vertex = pipeline(format, 0);
        let coordinates = [0, 1, 2, 3].map(|component| pipeline(format, component));
        let mut random = Random::new(11);
        for round in 0..4 {
            let words: Vec<Lanes> = (0..format.words())
                .map(|_| {
                    std::array::from_fn(|lane| match (round, lane) {
                        (0, 0) => 0,
                        (0, 1) => u32::MAX,
                        (0, 2) => 0x8080_8080,
                        (0, 3) => 0x7fff_7fff,
                        (0, 4) => 0x8000_8000,
                        (0, 5) => 0x3f80_0000,
                        _ => random.word(),
                    })
                })
                .collect();
            let found = rows(&vertex, false, &words);
            for component in 0..4 {
                let clip = rows(&coordinates[component as usize], true, &words);
                for lane in 0..LANES {
                    let memory: Vec<u32> = words.iter().map(|row| row[lane]).collect();
                    let wanted = wanted(&format, component, &memory);
                    let what = format!("{format:?}, component {component}, words {memory:#x?}");
                    assert_is(&what, found[3 + component as usize][lane], &wanted);
                    // Row 3 of a coordinate program is Wc.
                    assert_is(&format!("{what}, coordinate"), clip[3][lane], &wanted);
                }
            }
        }
    }
}

struct Vpm {
    input: Vec<Lanes>,
    next: usize,
    output: Rows,
}

impl Ports for Vpm {
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        unreachable!("vertex programs have no varyings")
    }

    fn vpm_read_setup(&mut self, word: u32) -> Result<(), Fault> {
        assert_eq!(word & !0x00f0_003f, 0x1a00, "32-bit rows, horizontal, stride 1");
        Ok(())
    }

    fn vpm_write_setup(&mut self, word: u32) -> Result<(), Fault> {
        self.output.set_up(word);
        Ok(())
    }

    fn vpm_read(&mut self) -> Result<Lanes, Fault> {
        self.next += 1;
        Ok(self.input[self.next - 1])
    }

    fn vpm_write(&mut self, value: &Lanes) -> Result<(), Fault> {
        self.output.write(value);
        Ok(())
    }

    fn tlb_color_read(&mut self) -> Result<Lanes, Fault> {
        unreachable!("vertex programs have no tile")
    }

    fn tlb_color_write(&mut self, _: LaneMask, _: &Lanes, _: bool) -> Result<(), Fault> {
        unreachable!("vertex programs have no tile")
    }

    fn tlb_z(&mut self, _: LaneMask, _: &Lanes) -> Result<(), Fault> {
        unreachable!("vertex programs have no tile")
    }

    fn tlb_stencil(&mut self, _: u32) -> Result<(), Fault> {
        unreachable!("vertex programs have no tile")
    }

    fn ms_flags(&self) -> Lanes {
        [15; LANES]
    }

    fn set_ms_flags(&mut self, _: LaneMask, _: &Lanes) {}

    fn rev_flag(&self) -> Lanes {
        [0; LANES]
    }

    fn pixel_xy(&self) -> (Lanes, Lanes) {
        ([0; LANES], [0; LANES])
    }
}

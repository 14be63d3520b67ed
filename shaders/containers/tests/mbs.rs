//! MBS: the sample files, their damage, and files built from declarations.

mod material;
#[path = "oracle/mbs.rs"]
mod oracle;

use material::{bit_flips, damaged, sample, samples, truncations};
use shader_containers::mbs::{self, *};

#[test]
fn every_sample_is_written_back_as_it_was() {
    for file in samples("mbs") {
        let mbs = Mbs::read(&file.bytes).unwrap_or_else(|finding| panic!("{}: {finding}", file.name));
        assert!(mbs.write() == file.bytes, "{} changed", file.name);
    }
}

/// Real files have no findings but those the reference names: the open compiler leaves constants of vertex
/// programs out of the space, and the synthetic files show what no tool writes.
#[test]
fn findings_of_good_samples() {
    let mut seen = Vec::new();
    for file in samples("mbs") {
        for finding in mbs::check(&file.bytes) {
            seen.push(format!("{} {finding}", file.name));
        }
    }
    let expected = include_str!("mbs_findings.txt");
    assert_eq!(seen.join("\n"), expected.trim_end());
}

/// The place of each finding is the field at fault.
#[test]
fn damaged_samples_give_their_code_and_place() {
    let places = [
        ("chunk_overrun.mbs", 0x300),
        ("count_high.mbs", 0x48),
        ("gp_count.mbs", 0x20),
        ("header_only.mbs", 8),
        ("magic.mbs", 0),
        ("parent_range.mbs", 0x76),
        ("pp_zero_len.mbs", 0x388),
        ("renamed_chunk.mbs", 0x24),
        ("string_no_nul.mbs", 0x60),
        ("trailing.mbs", 1080),
        ("truncated.mbs", 4),
    ];
    let cases = damaged("mbs");
    assert_eq!(cases.len(), places.len());
    for (file, code) in cases {
        let place = places.iter().find(|(name, _)| *name == file.name).expect("place").1;
        let findings = mbs::check(&file.bytes);
        // A damaged file may have the warnings of the good one it was made from as well.
        let finding = findings.iter().find(|f| f.is_error()).or(findings.first());
        let finding = finding.unwrap_or_else(|| panic!("{}: nothing found", file.name));
        assert_eq!((finding.code, finding.offset), (&code[..], place), "{}: {finding}", file.name);
        let loads = Mbs::read(&file.bytes);
        assert_eq!(loads.is_ok(), code.starts_with("W-"), "{}", file.name);
        if let Ok(mbs) = loads {
            assert!(mbs.write() == file.bytes, "{} changed", file.name);
        }
    }
}

#[test]
fn truncation_and_flipped_bits_never_panic() {
    for (seed, file) in samples("mbs").into_iter().enumerate() {
        truncations(&file.bytes, |cut| {
            assert!(Mbs::read(cut).is_err(), "{} cut to {}", file.name, cut.len());
        });
        bit_flips(&file.bytes, 3000, seed as u64 + 1, oracle::mbs);
    }
}

fn program(name: &str) -> Program {
    Mbs::read(&sample("mbs", name)).expect("good sample").programs().next().expect("program").clone()
}

fn offsets(name: &str, kind: SymbolKind) -> Vec<(String, Option<u16>)> {
    let program = program(name);
    let table = program.table(kind).expect("table");
    table.symbols().map(|symbol| (symbol.name.to_text(), symbol.offset())).collect()
}

/// containers.md §1.4, as the file has it.
#[test]
fn offsets_of_the_worked_example() {
    let mut list = offsets("arrays_frag.m400.mbs", SymbolKind::Uniform);
    list.sort_by_key(|symbol| symbol.1);
    let list: Vec<_> = list.iter().map(|(name, at)| (&name[..], at.unwrap())).collect();
    let expected =
        [("tex", 0), ("env", 1), ("cols", 4), ("iv", 12), ("offs", 16), ("k", 22), ("mode", 27), ("on", 28)];
    assert_eq!(list, expected);
}

/// The declaration a symbol came from, members of structs gathered.
fn declaration(symbols: &[&Symbol], index: usize) -> Decl {
    let symbol = symbols[index];
    let n = symbol.component_count as u8;
    let shape = match symbol.symbol_type().expect("known type") {
        SymbolType::Float => Shape::Float(n),
        SymbolType::Int => Shape::Int(n),
        SymbolType::Bool => Shape::Bool(n),
        SymbolType::Matrix => Shape::Matrix(n),
        SymbolType::Sampler2D => Shape::Sampler2D,
        SymbolType::SamplerCube => Shape::SamplerCube,
        SymbolType::SamplerExternal => Shape::SamplerExternal,
        SymbolType::Struct => Shape::Struct(
            (0..symbols.len())
                .filter(|&member| symbols[member].parent() == Some(index as u16))
                .map(|member| declaration(symbols, member))
                .collect(),
        ),
    };
    let mut decl = Decl::new(&symbol.name.to_text(), shape).array(symbol.entries).precision(symbol.precision);
    decl.unused = symbol.offset().is_none();
    decl.init = symbol.init().map(|values| values.iter().map(|&bits| f32::from_bits(bits)).collect());
    decl
}

fn declarations(program: &Program, kind: SymbolKind) -> Vec<Decl> {
    let Some(table) = program.table(kind) else { return Vec::new() };
    let symbols: Vec<_> = table.symbols().collect();
    (0..symbols.len()).filter(|&i| symbols[i].parent().is_none()).map(|i| declaration(&symbols, i)).collect()
}

/// The calculator puts every declaration of every compiled sample where the compiler put it.
#[test]
fn calculator_agrees_with_the_compiler() {
    let mut compared = 0;
    for file in samples("mbs").into_iter().filter(|file| !file.name.starts_with("synthetic")) {
        let program = program(&file.name);
        for table in program.tables() {
            let area = match (program.stage, table.kind) {
                (Stage::Fragment, SymbolKind::Uniform) => Area::FragmentUniforms,
                (Stage::Vertex, SymbolKind::Uniform) => Area::VertexUniforms,
                (_, SymbolKind::Varying) => Area::Varyings,
                (_, SymbolKind::Attribute) => Area::Attributes,
            };
            let layout = lay_out(&declarations(&program, table.kind), area).expect("legal declarations");
            let mut have: Vec<_> = table
                .symbols()
                .map(|s| (s.name.to_text(), s.offset(), s.component_size, s.stride, s.entries))
                .collect();
            let mut want: Vec<_> = layout
                .symbols
                .iter()
                .map(|s| (s.name.clone(), s.offset, s.measure.component_size, s.measure.stride, s.entries))
                .collect();
            have.sort();
            want.sort();
            assert_eq!(have, want, "{}: {}", file.name, table.kind.name());
            compared += have.len();
        }
    }
    assert!(compared > 30, "only {compared} symbols compared");
}

/// From nothing but declarations and code, the very bytes the open compiler wrote.
#[test]
fn built_fragment_files_equal_compiled_ones() {
    let mut equal = 0;
    for file in samples("mbs") {
        let program = program(&file.name);
        let synthetic = file.name.starts_with("synthetic");
        if synthetic || program.stage == Stage::Vertex {
            continue;
        }
        let words: Vec<u32> = program
            .code()
            .unwrap()
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
            .collect();
        let built =
            FragmentBuilder::new(program.core_version).discard(file.name.starts_with("discard")).code(&words);
        let built = if program.tables().next().is_none() {
            built
        } else {
            built
                .uniforms(declarations(&program, SymbolKind::Uniform))
                .varyings(declarations(&program, SymbolKind::Varying))
        };
        let built = built.build().unwrap();
        assert!(built.write() == file.bytes, "{} differs", file.name);
        equal += 1;
    }
    assert!(equal >= 5, "only {equal} files compared");
}

/// Where literal constants do not count into the space (`gl_*` alone do), ours does count them; all else is equal.
#[test]
fn built_vertex_files_equal_compiled_ones_but_for_space() {
    for name in ["consts_vert.m400.mbs", "varyings_vert.m200.mbs"] {
        let program = program(name);
        let mut built = VertexBuilder::new(program.core_version)
            .uniforms(declarations(&program, SymbolKind::Uniform))
            .attributes(declarations(&program, SymbolKind::Attribute))
            .varyings(declarations(&program, SymbolKind::Varying))
            .code(program.code().unwrap())
            .attribute_prefetch(program.instruction_count().unwrap().attribute_prefetch)
            .build()
            .unwrap();
        assert!(built.check().is_empty(), "{name}: {:?}", built.check());
        let Part::Program(ours) = &mut built.parts[0] else { panic!("no program") };
        for chunk in &mut ours.chunks {
            if let ProgramChunk::Table(table) = chunk {
                table.space = program.table(table.kind).unwrap().space;
            }
        }
        assert!(built.write() == sample("mbs", name), "{name} differs");
    }
}

/// containers.md §1.4: a file of ARM's compiler puts a scalar into the hole a mat3 leaves. Legal, so no finding.
#[test]
fn other_legal_places_are_no_findings() {
    let decls = [Decl::new("basis", Shape::Matrix(3)), Decl::new("one", Shape::Float(1))];
    let mut mbs = VertexBuilder::new(6).uniforms(decls).code(&[0; 16]).build().unwrap();
    let Part::Program(program) = &mut mbs.parts[0] else { panic!("no program") };
    let ProgramChunk::Table(table) = &mut program.chunks[1] else { panic!("no table") };
    let TableEntry::Symbol(one) = &mut table.entries[1] else { panic!("no symbol") };
    let place = |offset| Tail::Full { invariant: 0, offset, parent: Symbol::NONE };
    one.tail = place(7);
    let file = mbs.write();
    assert_eq!(mbs::check(&file), []);
    // One column to the left it lies on the matrix.
    let Part::Program(program) = &mut mbs.parts[0] else { panic!("no program") };
    let ProgramChunk::Table(table) = &mut program.chunks[1] else { panic!("no table") };
    let TableEntry::Symbol(one) = &mut table.entries[1] else { panic!("no symbol") };
    one.tail = place(6);
    let findings = mbs::check(&mbs.write());
    assert_eq!(findings.iter().map(|f| f.code).collect::<Vec<_>>(), ["W-overlap"]);
}

#[test]
fn mat3_has_columns_of_four() {
    let measure = measure(&Decl::new("m", Shape::Matrix(3)), Rules::Packed).unwrap();
    assert_eq!((measure.component_count, measure.component_size, measure.stride), (3, 4, 12));
}

#[test]
fn areas_are_finite() {
    let big = |entries| [Decl::new("v", Shape::Float(4)).array(entries)];
    assert!(lay_out(&big(16), Area::Varyings).is_ok());
    assert!(matches!(lay_out(&big(17), Area::Varyings), Err(LayoutError::Full(_, 64))));
    assert!(lay_out(&big(304), Area::VertexUniforms).is_ok());
    assert!(matches!(lay_out(&big(305), Area::VertexUniforms), Err(LayoutError::Full(_, 1216))));
    assert!(matches!(lay_out(&big(u16::MAX), Area::FragmentUniforms), Err(LayoutError::Full(_, 65536))));
    let sampler = [Decl::new("s", Shape::Sampler2D)];
    assert!(matches!(lay_out(&sampler, Area::VertexUniforms), Err(LayoutError::Kind(_))));
}

/// Appendix A.7 of the ES shading language: when the rows are used up, pairs go to the right half from below, and
/// scalars to the column with the least room.
#[test]
fn full_rows_are_filled_by_columns() {
    let decls = [
        Decl::new("a", Shape::Float(4)).array(300),
        Decl::new("b", Shape::Float(2)).array(4),
        Decl::new("c", Shape::Float(2)).array(3),
        Decl::new("d", Shape::Float(1)).array(1),
    ];
    let layout = lay_out(&decls, Area::VertexUniforms).unwrap();
    let offsets: Vec<_> = layout.symbols.iter().map(|s| s.offset.unwrap()).collect();
    assert_eq!(offsets, [0, 4 * 300, 4 * 301 + 2, 4 * 300 + 2]);
}

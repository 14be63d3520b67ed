//! metallib: the sample files, their damage, and libraries built from functions.

mod material;
#[path = "oracle/metallib.rs"]
mod oracle;

use material::{bit_flips, damaged, sample, samples, truncations};
use shader_containers::metallib::{self, *};

#[test]
fn every_sample_is_written_back_as_it_was() {
    for file in samples("metallib") {
        let library = Library::read(&file.bytes).unwrap_or_else(|finding| panic!("{}: {finding}", file.name));
        assert!(library.write() == file.bytes, "{} changed", file.name);
    }
}

#[test]
fn good_samples_have_no_findings_but_the_known_ones() {
    let mut seen = Vec::new();
    for file in samples("metallib") {
        for finding in metallib::check(&file.bytes) {
            seen.push(format!("{} {finding}", file.name));
        }
    }
    assert_eq!(seen.join("\n"), include_str!("metallib_findings.txt").trim_end());
}

#[test]
fn damaged_samples_give_their_code_and_place() {
    let places = [
        ("appended.metallib", 16),
        ("count_high.metallib", 0x58),
        ("group_size.metallib", 0x5c),
        ("hash_bit.metallib", 0x78),
        ("lib_type.metallib", 10),
        ("magic.metallib", 0),
        ("major.metallib", 4),
        ("module_bit.metallib", 0x78),
        ("module_offset.metallib", 0xae),
        ("name_no_nul.metallib", 0x66),
        ("no_type.metallib", 0x5c),
        ("offset_wrap.metallib", 24),
        ("section_range.metallib", 72),
        ("short.metallib", 0),
        ("truncated.metallib", 16),
        ("wrapper_magic.metallib", 0x152),
    ];
    let cases = damaged("metallib");
    assert_eq!(cases.len(), places.len());
    for (file, code) in cases {
        let place = places.iter().find(|(name, _)| *name == file.name).expect("place").1;
        let findings = metallib::check(&file.bytes);
        let finding = findings.iter().find(|f| f.is_error()).unwrap_or_else(|| panic!("{}: none", file.name));
        assert_eq!((finding.code, finding.offset), (&code[..], place), "{}: {finding}", file.name);
        assert_eq!(Library::read(&file.bytes).unwrap_err(), *finding);
    }
}

/// Files whose length changed, their size field made to fit: the structure behind the header is cut at every byte.
#[test]
fn truncation_with_a_fitting_size_never_panics() {
    for name in
        ["metaljl_constants.26.metallib", "synthetic-dynamic-hsrd.metallib", "synthetic-hsrc-old.metallib"]
    {
        truncations(&sample("metallib", name), |cut| oracle::metallib(&oracle::resized(cut)));
    }
}

#[test]
fn truncation_and_flipped_bits_never_panic() {
    for (seed, file) in samples("metallib").into_iter().enumerate() {
        truncations(&file.bytes, |cut| {
            assert!(Library::parse(cut).is_err(), "{} cut to {}", file.name, cut.len());
        });
        bit_flips(&file.bytes, 300, seed as u64 + 1, oracle::metallib);
        // The same, only where the structure is: not in the modules.
        let front = Library::parse(&file.bytes).unwrap().header.modules.offset as usize;
        let rest = &file.bytes[front..];
        bit_flips(&file.bytes[..front], 500, seed as u64 + 100, |front| {
            oracle::metallib(&[front, rest].concat())
        });
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn functions_of_a_real_library() {
    let bytes = sample("metallib", "metaljl_constants.26.metallib");
    let library = Library::read(&bytes).unwrap();
    let header = &library.header;
    assert_eq!((header.platform(), header.os_version, header.patch), (Some(Platform::MacOs), (26, 0, 0), 9));
    assert_eq!(library.oldest_macos(), Some(26));
    let [function] = &library.functions[..] else { panic!("one function") };
    assert_eq!((function.name_text(), function.function_type), ("vadd".into(), 2));
    assert_eq!(function.version, Version { air: (2, 8), language: (4, 0) });
    let constant = |name, index| Constant { name, data_type: 3, index, active: 1 };
    let public = library.public_metadata(function).unwrap();
    assert_eq!(public, [MetadataTag::Constants(vec![constant(b"foo", 0), constant(b"bar", 2)])]);
    let module = library.module(function).unwrap();
    assert!(module.is_bitcode());
    assert_eq!(module.digest(), *function.hash);
    let names: Vec<_> = library.dynamic_tags().unwrap().iter().map(|tag| text(tag.content)).collect();
    assert_eq!(names, ["constants.26.metallib\0"]);
    let reflection = library.list(b"RLST").unwrap();
    assert_eq!(&reflection[0].tag(*b"RBUF").unwrap().content[14 + 4..][..4], b"AIRR");
}

#[test]
fn vertex_attributes_of_a_real_library() {
    let bytes = sample("metallib", "sdl_render_macos_air18.metallib");
    let library = Library::read(&bytes).unwrap();
    assert_eq!(library.functions.len(), 7);
    let public = library.public_metadata(&library.functions[1]).unwrap();
    let MetadataTag::VertexAttributes(attributes) = &public[0] else { panic!("no attributes") };
    let list: Vec<_> =
        attributes.iter().map(|a| (text(a.name), a.index(), a.usage(), a.is_active())).collect();
    let expected =
        [("position", 0), ("color", 1), ("texcoord", 2)].map(|(n, i)| (n.to_string(), i, "per-vertex", true));
    assert_eq!(list, expected);
    assert_eq!(public[1], MetadataTag::VertexTypes(&[4, 6, 4]));
    assert!(library.functions.iter().all(|function| function.module_size.is_none()));
}

#[test]
fn embedded_sources_unpack() {
    let bytes = sample("metallib", "synthetic-dynamic-hsrd.metallib");
    let library = Library::read(&bytes).unwrap();
    let sources = library.sources().unwrap().expect("sources");
    assert_eq!(
        (sources.link_options, sources.working_directory),
        (&b"-frecord-sources"[..], Some(&b"workdir"[..]))
    );
    let archive = sources.archive_at(library.functions[0].source.unwrap()).expect("archive of the function");
    let unpacked = archive.unpack(1 << 20).unwrap();
    assert_eq!(unpacked.files().map(|file| file.path).collect::<Vec<_>>(), ["own2.metal"]);
    assert_eq!(archive.unpack(100).unwrap_err(), ArchiveError::TooLarge(100));
}

/// The padding of older toolchains stands behind the end of the stream.
#[test]
fn padding_of_old_archives_is_kept() {
    let bytes = sample("metallib", "synthetic-hsrc-old.metallib");
    let library = Library::read(&bytes).unwrap();
    let sources = library.sources().unwrap().expect("sources");
    assert_eq!(sources.working_directory, None);
    let archive = &sources.archives[0];
    let unpacked = archive.unpack(1 << 20).unwrap();
    assert!(unpacked.compressed_size < archive.data.len());
    assert!(archive.data[unpacked.compressed_size..].iter().all(|&byte| byte == 0));
}

/// A damaged stream is an error at its place; what is around it is still listed.
#[test]
fn damaged_archives_are_found() {
    let mut bytes = sample("metallib", "synthetic-hsrc-old.metallib");
    let at = Library::parse(&bytes).unwrap().sources().unwrap().unwrap().archives[0].data_at;
    bytes[at + 30] ^= 0x10;
    let findings = metallib::check(&bytes);
    assert_eq!(findings.iter().map(|f| (f.code, f.offset)).collect::<Vec<_>>(), [("T17", at as u64)]);
}

/// 40 MB of zeros in a few bytes: the check stops at its budget and says so.
#[test]
fn archives_that_blow_up_are_not_followed() {
    let bomb = vec![("a".to_string(), vec![0; 40 << 20])];
    let file = LibraryBuilder::new(Platform::MacOs, (14, 0, 0))
        .function(FunctionSpec::new("f", 2, (2, 6), (3, 1), b"BC\xC0\xDE").source(0))
        .sources("", "", vec![("0".into(), bomb)])
        .build()
        .unwrap();
    assert!(file.len() < 4096);
    assert_eq!(metallib::check(&file).iter().map(|f| f.code).collect::<Vec<_>>(), ["W-archive-limit"]);
}

/// Builds a library anew from what was read of one.
fn rebuild(library: &Library<'_>, builder: LibraryBuilder<'_>) -> Vec<u8> {
    let reflection = library.list(b"RLST").unwrap_or_default();
    let buffers: Vec<Vec<u8>> = reflection
        .iter()
        .map(|group| {
            let content = group.tag(*b"RBUF").unwrap().content;
            let at = content.windows(4).position(|four| four == b"AIRR").unwrap() - 4;
            content[at..].to_vec()
        })
        .collect();
    let specs = library.functions.iter().enumerate().map(|(index, function)| {
        let Version { air, language } = function.version;
        let bitcode = library.module(function).unwrap().bitcode;
        let spec = FunctionSpec::new(&function.name_text(), function.function_type, air, language, bitcode)
            .public(library.public_metadata(function).unwrap())
            .private(library.private_metadata(function).unwrap());
        if function.reflection.is_some() { spec.reflection(&buffers[index]) } else { spec }
    });
    let mut builder = specs.fold(builder.patch(library.header.patch), LibraryBuilder::function);
    if let Some(uuid) = library.extension.and_then(|extension| extension.uuid()) {
        builder = builder.uuid(uuid);
    }
    if let [name] = &library.dynamic_tags().unwrap()[..] {
        builder = builder.dynamic(text(name.content).trim_end_matches('\0'), &[]);
    }
    builder.build().unwrap()
}

/// From functions, bitcode and metadata alone, the very bytes the newer linker wrote: digests, offsets, padding.
#[test]
fn built_libraries_equal_those_of_the_newer_linker() {
    let mut equal = 0;
    for file in samples("metallib").into_iter().filter(|file| file.name.starts_with("metaljl")) {
        let library = Library::read(&file.bytes).unwrap();
        let builder = LibraryBuilder::new(Platform::MacOs, library.header.os_version);
        assert!(rebuild(&library, builder) == file.bytes, "{} differs", file.name);
        equal += 1;
    }
    assert_eq!(equal, 8);
}

/// The same for the older archiver, with and without module sizes.
#[test]
fn built_libraries_equal_those_of_the_older_archiver() {
    for name in [
        "sdl_blit_2d_ios_1.2.2.metallib",
        "sdl_blit_cube_macos_1.2.2.metallib",
        "sdl_blit_vert_1.2.4.metallib",
        "sdl_render_ios_1.2.3.metallib",
        "sdl_render_iossim_1.2.5.metallib",
        "sdl_render_macos_2017.metallib",
        "sdl_render_macos_air18.metallib",
        "syphon_macos_1.2.2.metallib",
        "zhuowei_ios_1.2.2.metallib",
    ] {
        let bytes = sample("metallib", name);
        let library = Library::read(&bytes).unwrap();
        let platform = if library.header.is_for_macos() { Platform::MacOs } else { Platform::Ios };
        let mut builder = LibraryBuilder::new(platform, (0, 0, 0));
        if library.public_group(&library.functions[0]).unwrap().form == SizeForm::Excludes {
            builder = builder.older_archiver();
        }
        if library.functions[0].module_size.is_none() {
            builder = builder.without_module_sizes();
        }
        if library.extension.is_some_and(|extension| extension.uuid().is_none()) {
            builder = builder.without_uuid();
        }
        assert!(rebuild(&library, builder) == bytes, "{name} differs");
    }
}

#[test]
fn a_library_with_everything_is_clean_and_read_back() {
    let options = ("metal-options.txt".to_string(), b"-O2".to_vec());
    let bitcode = b"BC\xC0\xDEsome bitcode";
    let build = LibraryBuilder::new(Platform::MacOs, (26, 0, 0))
        .library_type(LibraryType::Dynamic)
        .dynamic("@rpath/own.metallib", &["@rpath/first.metallib", "@rpath/second.metallib"])
        .sources("-frecord-sources", "work", vec![("0".into(), vec![options]), ("1".into(), Vec::new())])
        .function(
            FunctionSpec::new("vs", 0, (2, 8), (4, 0), bitcode)
                .public(vec![MetadataTag::Return(6)])
                .private(vec![
                    MetadataTag::Debug { line: 3, path: b"a.metal" },
                    MetadataTag::Dependency(b"a.air"),
                ])
                .reflection(b"\x08\0\0\0AIRR")
                .source(1)
                .layer(0x29)
                .tessellation(2, 16),
        )
        .function(FunctionSpec::new("cs", 2, (2, 8), (4, 0), bitcode).source(0));
    let file = build.build().unwrap();
    assert_eq!(metallib::check(&file), []);
    let library = Library::read(&file).unwrap();
    assert!(library.write() == file);
    assert_eq!(build.build().unwrap(), file, "same input, same bytes");
    let vs = &library.functions[0];
    assert_eq!((vs.patch(), vs.layer_type()), (Some(("quad", 16)), Some("ushort")));
    let sources = library.sources().unwrap().unwrap();
    assert_eq!(sources.archive_at(vs.source.unwrap()).unwrap().id, b"1");
    let unpacked = sources.archive_at(library.functions[1].source.unwrap()).unwrap().unpack(1 << 16).unwrap();
    let files: Vec<_> = unpacked.files().map(|file| (file.path, file.content)).collect();
    assert_eq!(files, [("metal-options.txt", &b"-O2"[..])]);
}

#[test]
fn what_cannot_be_written_is_refused() {
    let base = || LibraryBuilder::new(Platform::MacOs, (14, 0, 0));
    let spec = |name: &str| FunctionSpec::new(name, 2, (2, 6), (3, 1), b"BC\xC0\xDE");
    assert_eq!(base().function(spec("a\0b")).build(), Err(BuildError::Name("a\0b".into())));
    assert_eq!(base().function(spec("a").source(0)).build(), Err(BuildError::NoSource("a".into())));
    let long = "x".repeat(70_000);
    assert_eq!(base().function(spec(&long)).build(), Err(BuildError::TagTooLong("NAME".into())));
}

/// Some Core Image libraries from the vendor's tools have digests that match nothing: a warning there only.
#[test]
fn wrong_digests_of_core_image_libraries_are_warnings() {
    let mut bytes = sample("metallib", "synthetic-coreimage.metallib");
    let findings = metallib::check(&bytes);
    assert_eq!(findings.iter().map(|f| f.code).collect::<Vec<_>>(), ["W-hash"]);
    bytes[10] = 0;
    assert_eq!(Library::read(&bytes).unwrap_err().code, "T12");
}

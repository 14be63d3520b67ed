//! Modules that are broken, hostile or beyond the compiler: errors, never panics, never long.

#[path = "oracle/spirv.rs"]
#[allow(dead_code, reason = "shared with fuzz targets")]
mod oracle;
#[allow(dead_code, reason = "shared by several test programs")]
mod support;

use oracle::{Random, compile, finish, mutate};
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, LoopControl,
    MemoryModel, SelectionControl, StorageClass,
};
use support::words;
use vc4_shaders::ir::{Memory, Op, Output, Stage};
use vc4_shaders::spirv::{SpirvError, StageSource, translate};

const FILES: [&str; 20] = [
    "common.frag",
    "vectors.frag",
    "integers.frag",
    "flow.frag",
    "memory.vert",
    "texture.frag",
    "special.frag",
    "pack.frag",
    "flow.frag.opt",
    "vectors.frag.opt",
    "memory.vert.opt",
    "special.frag.opt",
    "arrays.comp",
    "arrays.comp.opt",
    "atomics.comp",
    "control.comp",
    "control.comp.opt",
    "images.comp",
    "matrix.comp",
    "scan.comp",
];

/// The stage that a file's name tells.
fn stage_of(file: &str) -> Stage {
    match file {
        _ if file.contains(".vert") => Stage::Vertex,
        _ if file.contains(".comp") => Stage::Compute,
        _ => Stage::Fragment,
    }
}

#[test]
fn mutated_modules() {
    let mut random = Random(0x2545_f491);
    let (mut fine, mut refused, mut programs) = (0, 0, 0);
    for round in 0..500 {
        for file in FILES {
            let mut words = words(file);
            mutate(&mut words, &mut random);
            match compile(&words, stage_of(file)) {
                Ok(shader) => {
                    fine += 1;
                    // The back end is slow beside the rest.
                    if round % 8 == 0 {
                        match finish(shader, round / 8) {
                            Ok(_) => programs += 1,
                            Err(error) => assert!(!error.to_string().is_empty()),
                        }
                    }
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
            }
        }
        assert!(round < 100 || refused > 0);
    }
    // Most mutations must be noticed, and some must not matter, or the mutations are no test.
    assert!(fine > 200 && refused > 1000, "{fine} fine, {refused} refused");
    assert!(programs > 20, "{programs} programs");
}

#[test]
fn truncated_modules() {
    for file in ["flow.frag", "common.frag", "control.comp"] {
        let words = words(file);
        for length in 0..words.len() {
            assert!(compile(&words[..length], stage_of(file)).is_err(), "{file} cut at {length}");
        }
    }
}

#[test]
fn other_byte_order() {
    let swapped: Vec<u32> = words("flow.frag").into_iter().map(u32::swap_bytes).collect();
    compile(&swapped, Stage::Fragment).unwrap();
}

/// What a module declares and does not use is no reason to refuse it.
#[test]
fn layers_and_viewports_may_be_declared() {
    for capability in
        [Capability::ShaderLayer, Capability::ShaderViewportIndex, Capability::ShaderViewportIndexLayerEXT]
    {
        let words = module(|b| {
            b.capability(capability);
            b.extension("SPV_EXT_shader_viewport_index_layer");
            empty(b)
        });
        compile(&words, Stage::Fragment).unwrap();
    }
}

/// Names may be anything, and change nothing: bytes that are no UTF-8, or none at all.
#[test]
fn names_mean_nothing() {
    for file in ["flow.frag", "common.frag", "control.comp"] {
        let mut words = words(file);
        let plain = compile(&words, stage_of(file)).unwrap().to_string();
        let mut names = 0;
        let mut at = 5;
        while at < words.len() {
            let (length, opcode) = ((words[at] >> 16) as usize, words[at] & 0xffff);
            let first = match opcode {
                op if op == spirv::Op::Name as u32 => 2,
                op if op == spirv::Op::MemberName as u32 => 3,
                _ => length,
            };
            // An overlong form of a slash, and no end.
            words[at..at + length][first..].fill(0xafc0_afc0);
            names += usize::from(first < length);
            at += length;
        }
        assert!(names > 2, "{file}");
        assert_eq!(compile(&words, stage_of(file)).unwrap().to_string(), plain, "{file}");
    }
}

#[test]
fn errors_name_the_place() {
    let error = |words: &[u32], entry: &str, stage: Stage| {
        translate(&StageSource { words, entry, specialization: &[] }, stage).unwrap_err()
    };
    assert_eq!(error(&[], "main", Stage::Vertex), SpirvError::Magic { found: 0 });
    let flow = words("flow.frag");
    let missing = error(&flow, "other", Stage::Fragment);
    assert!(missing.to_string().contains("Fragment \"main\""), "{missing}");
    assert!(matches!(error(&flow, "main", Stage::Vertex), SpirvError::EntryPoint { .. }));
    let mut unknown = flow.clone();
    // The first instruction is OpCapability Shader: ask for Geometry, then for no capability at all.
    unknown[6] = Capability::Geometry as u32;
    let text = error(&unknown, "main", Stage::Fragment).to_string();
    assert!(text.contains("capability Geometry") && text.contains("word 5"), "{text}");
    unknown[5] = 2 << 16 | 0xfff0;
    let text = error(&unknown, "main", Stage::Fragment).to_string();
    assert!(text.contains("unknown opcode"), "{text}");
    assert!(matches!(error(&flow[..6], "main", Stage::Fragment), SpirvError::Tiling { word: 5, .. }));
}

/// A function that does nothing.
fn empty(b: &mut Builder) -> u32 {
    let void = b.type_void();
    let ty = b.type_function(void, vec![]);
    let function = b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
    b.begin_block(None).unwrap();
    b.ret().unwrap();
    b.end_function().unwrap();
    function
}

/// A fragment module whose functions `build` makes; it returns the entry function.
fn module(build: impl FnOnce(&mut Builder) -> u32) -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 0);
    b.capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let main = build(&mut b);
    b.entry_point(ExecutionModel::Fragment, main, "main", vec![]);
    b.execution_mode(main, ExecutionMode::OriginUpperLeft, vec![]);
    b.module().assemble()
}

fn limit(words: &[u32]) -> String {
    match compile(words, Stage::Fragment) {
        Err(error @ SpirvError::TooLarge { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_that_multiply() {
    // Each of 40 functions calls the next one twice: 2^40 calls.
    let words = module(|b| {
        let void = b.type_void();
        let ty = b.type_function(void, vec![]);
        let functions: Vec<u32> = (0..40).map(|_| b.id()).collect();
        for (at, &function) in functions.iter().enumerate() {
            b.begin_function(void, Some(function), FunctionControl::NONE, ty).unwrap();
            b.begin_block(None).unwrap();
            if let Some(&next) = functions.get(at + 1) {
                for _ in 0..2 {
                    b.function_call(void, None, next, vec![]).unwrap();
                }
            }
            b.ret().unwrap();
            b.end_function().unwrap();
        }
        functions[0]
    });
    assert!(limit(&words).contains("inlining"));
}

#[test]
fn recursion() {
    let words = module(|b| {
        let void = b.type_void();
        let ty = b.type_function(void, vec![]);
        let main = b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
        b.begin_block(None).unwrap();
        b.function_call(void, None, main, vec![]).unwrap();
        b.ret().unwrap();
        b.end_function().unwrap();
        main
    });
    let error = compile(&words, Stage::Fragment).unwrap_err().to_string();
    assert!(error.contains("calls itself"), "{error}");
}

#[test]
fn huge_types() {
    // An array of arrays of 2^31 elements each, loaded as a whole; and one of empty structures.
    for empty in [false, true] {
        let words = module(|b| {
            let void = b.type_void();
            let ty = b.type_function(void, vec![]);
            let (uint, float) = (b.type_int(32, 0), b.type_float(32, None));
            let length = b.constant_bit32(uint, 1 << 31);
            let scalar = if empty { b.type_struct(vec![]) } else { float };
            let inner = b.type_array(scalar, length);
            let outer = b.type_array(inner, length);
            let pointer = b.type_pointer(None, StorageClass::Function, outer);
            let main = b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
            b.begin_block(None).unwrap();
            let variable = b.variable(pointer, None, StorageClass::Function, None);
            b.load(outer, None, variable, None, vec![]).unwrap();
            b.ret().unwrap();
            b.end_function().unwrap();
            main
        });
        assert!(compile(&words, Stage::Fragment).is_err());
    }
}

#[test]
fn deep_types() {
    let words = module(|b| {
        let void = b.type_void();
        let ty = b.type_function(void, vec![]);
        let mut nested = b.type_float(32, None);
        for _ in 0..10_000 {
            nested = b.type_struct(vec![nested]);
        }
        let main = b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
        b.begin_block(None).unwrap();
        b.ret().unwrap();
        b.end_function().unwrap();
        main
    });
    assert!(limit(&words).contains("nesting of types"));
}

/// A chain of `depth` ifs, each inside the one before.
fn nested_ifs(depth: usize) -> Vec<u32> {
    module(|b| {
        let void = b.type_void();
        let (boolean, float) = (b.type_bool(), b.type_float(32, None));
        let ty = b.type_function(void, vec![]);
        let (input, output) = (
            b.type_pointer(None, StorageClass::Input, float),
            b.type_pointer(None, StorageClass::Output, float),
        );
        let (x, o) = (
            b.variable(input, None, StorageClass::Input, None),
            b.variable(output, None, StorageClass::Output, None),
        );
        b.decorate(x, Decoration::Location, vec![Operand::LiteralBit32(0)]);
        b.decorate(o, Decoration::Location, vec![Operand::LiteralBit32(0)]);
        let zero = b.constant_bit32(float, 0);
        let main = b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
        b.begin_block(None).unwrap();
        let value = b.load(float, None, x, None, vec![]).unwrap();
        let cond = b.f_ord_less_than(boolean, None, value, zero).unwrap();
        let mut merges = Vec::new();
        for _ in 0..depth {
            let (then, merge) = (b.id(), b.id());
            b.selection_merge(merge, SelectionControl::NONE).unwrap();
            b.branch_conditional(cond, then, merge, vec![]).unwrap();
            b.begin_block(Some(then)).unwrap();
            merges.push(merge);
        }
        b.store(o, value, None, vec![]).unwrap();
        for merge in merges.into_iter().rev() {
            b.branch(merge).unwrap();
            b.begin_block(Some(merge)).unwrap();
        }
        b.ret().unwrap();
        b.end_function().unwrap();
        main
    })
}

#[test]
fn deep_control_flow() {
    compile(&nested_ifs(100), Stage::Fragment).unwrap();
    assert!(limit(&nested_ifs(5000)).contains("nesting of control flow"));
}

#[test]
fn unstructured_control_flow() {
    // A backward branch without loop merge.
    let words = module(|b| {
        let void = b.type_void();
        let ty = b.type_function(void, vec![]);
        let main = b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
        b.begin_block(None).unwrap();
        let again = b.id();
        b.branch(again).unwrap();
        b.begin_block(Some(again)).unwrap();
        b.branch(again).unwrap();
        b.end_function().unwrap();
        main
    });
    let error = compile(&words, Stage::Fragment).unwrap_err().to_string();
    assert!(error.contains("not structured"), "{error}");
}

#[test]
fn endless_loop_translates() {
    let words = module(|b| {
        let void = b.type_void();
        let ty = b.type_function(void, vec![]);
        let main = b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
        b.begin_block(None).unwrap();
        let (header, next, merge) = (b.id(), b.id(), b.id());
        b.branch(header).unwrap();
        b.begin_block(Some(header)).unwrap();
        b.loop_merge(merge, next, LoopControl::NONE, vec![]).unwrap();
        b.branch(next).unwrap();
        b.begin_block(Some(next)).unwrap();
        b.branch(header).unwrap();
        b.begin_block(Some(merge)).unwrap();
        b.ret().unwrap();
        b.end_function().unwrap();
        main
    });
    compile(&words, Stage::Fragment).unwrap();
}

#[test]
fn what_is_lacking_is_named() {
    let cases = [
        ("lacks_array.frag", "RuntimeDescriptorArray"),
        ("lacks_double.frag", "Float64"),
        ("lacks_atomic.frag", "an atomic operation (vertexPipelineStoresAndAtomics"),
        ("lacks_store.vert", "a store into a buffer"),
        ("lacks_write.frag", "a write to an image"),
        ("lacks_layer.vert", "Layer"),
        ("lacks_subgroup.comp", "capability GroupNonUniformPartitioned"),
        ("lacks_int64.comp", "Int64"),
    ];
    for (file, what) in cases {
        match compile(&words(file), stage_of(file)) {
            Err(error @ SpirvError::Unsupported { .. }) => {
                let text = error.to_string();
                assert!(text.contains(what) && text.contains("supported: "), "{file}: {text}");
            }
            other => panic!("{file}: {other:?}"),
        }
    }
}

#[test]
fn decorations_and_modes_without_effect_are_refused_by_name() {
    let with = |mark: &dyn Fn(&mut Builder, u32)| {
        let words = module(|b| {
            let main = empty(b);
            mark(b, main);
            main
        });
        compile(&words, Stage::Fragment).map_err(|error| error.to_string())
    };
    for decoration in [Decoration::Patch, Decoration::CPacked, Decoration::SaturatedConversion] {
        let error = with(&|b, main| b.decorate(main, decoration, vec![])).unwrap_err();
        assert!(error.contains(&format!("decoration {decoration:?}")), "{error}");
    }
    with(&|b, main| b.decorate(main, Decoration::Invariant, vec![])).unwrap();
    for mode in [ExecutionMode::PixelCenterInteger, ExecutionMode::Xfb] {
        let error = with(&|b, main| b.execution_mode(main, mode, vec![])).unwrap_err();
        assert!(error.contains(&format!("execution mode {mode:?}")), "{error}");
    }
    for mode in [ExecutionMode::EarlyFragmentTests, ExecutionMode::DepthReplacing, ExecutionMode::DepthLess] {
        with(&|b, main| b.execution_mode(main, mode, vec![])).unwrap();
    }
    // Other entry points may have what they like.
    with(&|b, main| b.execution_mode(main + 100, ExecutionMode::Xfb, vec![])).unwrap();
}

#[test]
fn an_origin_that_vulkan_has_not_is_refused_where_it_shows() {
    for reads in [false, true] {
        let words = module(|b| {
            let (void, float) = (b.type_void(), b.type_float(32, None));
            let vector = b.type_vector(float, 4);
            let (input, output) = (
                b.type_pointer(None, StorageClass::Input, vector),
                b.type_pointer(None, StorageClass::Output, vector),
            );
            let place = b.variable(input, None, StorageClass::Input, None);
            b.decorate(place, Decoration::BuiltIn, vec![Operand::BuiltIn(spirv::BuiltIn::FragCoord)]);
            let color = b.variable(output, None, StorageClass::Output, None);
            b.decorate(color, Decoration::Location, vec![Operand::LiteralBit32(0)]);
            let zero = b.constant_null(vector);
            let ty = b.type_function(void, vec![]);
            let main = b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
            b.begin_block(None).unwrap();
            let value = if reads { b.load(vector, None, place, None, vec![]).unwrap() } else { zero };
            b.store(color, value, None, vec![]).unwrap();
            b.ret().unwrap();
            b.end_function().unwrap();
            b.execution_mode(main, ExecutionMode::OriginLowerLeft, vec![]);
            main
        });
        match compile(&words, Stage::Fragment).map_err(|error| error.to_string()) {
            Ok(_) => assert!(!reads),
            Err(error) => assert!(reads && error.contains("OriginLowerLeft"), "{error}"),
        }
    }
}

#[test]
fn entry_points_share_a_module() {
    // A compute entry point with a shared variable, and two fragment ones of which the second uses it, too.
    let mut b = Builder::new();
    b.set_version(1, 0);
    b.capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let (void, float) = (b.type_void(), b.type_float(32, None));
    let ty = b.type_function(void, vec![]);
    let (shared, output) = (
        b.type_pointer(None, StorageClass::Workgroup, float),
        b.type_pointer(None, StorageClass::Output, float),
    );
    let zero = b.constant_bit32(float, 0);
    let variable = b.variable(shared, None, StorageClass::Workgroup, None);
    let color = b.variable(output, None, StorageClass::Output, None);
    b.decorate(color, Decoration::Location, vec![Operand::LiteralBit32(0)]);
    let mut functions = Vec::new();
    for target in [variable, color, variable] {
        functions.push(b.begin_function(void, None, FunctionControl::NONE, ty).unwrap());
        b.begin_block(None).unwrap();
        b.store(target, zero, None, vec![]).unwrap();
        b.ret().unwrap();
        b.end_function().unwrap();
    }
    b.entry_point(ExecutionModel::GLCompute, functions[0], "main", vec![]);
    b.execution_mode(functions[0], ExecutionMode::LocalSize, vec![1, 1, 1]);
    for (name, function) in [("main", functions[1]), ("other", functions[2])] {
        b.entry_point(ExecutionModel::Fragment, function, name, vec![color]);
        b.execution_mode(function, ExecutionMode::OriginUpperLeft, vec![]);
    }
    let words = b.module().assemble();
    let entry =
        |entry| translate(&StageSource { words: &words, entry, specialization: &[] }, Stage::Fragment);
    let main = entry("main").unwrap();
    let stores = |op| matches!(op, Op::StoreOutput(Output::User { location: 0, component: 0 }));
    assert!(main.insts_in_order().into_iter().any(|inst| stores(main.insts[inst].op)));
    let error = entry("other").unwrap_err().to_string();
    assert!(error.contains("storage class Workgroup"), "{error}");
}

/// A compute module with variables of its own, whose function does what `build` emits.
fn compute_module<T>(
    globals: impl FnOnce(&mut Builder) -> T,
    build: impl FnOnce(&mut Builder, &T),
    size: impl FnOnce(&mut Builder, u32),
) -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 2);
    b.capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let globals = globals(&mut b);
    let void = b.type_void();
    let ty = b.type_function(void, vec![]);
    let main = b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
    b.begin_block(None).unwrap();
    build(&mut b, &globals);
    b.ret().unwrap();
    b.end_function().unwrap();
    b.entry_point(ExecutionModel::GLCompute, main, "main", vec![]);
    size(&mut b, main);
    b.module().assemble()
}

#[test]
fn sizes_of_workgroups() {
    fn size(size: impl FnOnce(&mut Builder, u32)) -> Result<[u32; 3], String> {
        let words = compute_module(|_| {}, |_, _| {}, size);
        let source = StageSource { words: &words, entry: "main", specialization: &[(4, 9)] };
        let shader = translate(&source, Stage::Compute).map_err(|error| error.to_string())?;
        Ok(shader.workgroup.size)
    }
    assert_eq!(
        size(|b, main| b.execution_mode(main, ExecutionMode::LocalSize, vec![4, 5, 6])),
        Ok([4, 5, 6])
    );
    let empty = size(|b, main| b.execution_mode(main, ExecutionMode::LocalSize, vec![4, 0, 6]));
    assert!(empty.unwrap_err().contains("empty"));
    assert!(size(|_, _| {}).unwrap_err().contains("how large"));
    // Numbers by id, of which one is specialised.
    let by_id = size(|b, main| {
        let uint = b.type_int(32, 0);
        let ids: Vec<u32> = [2, 3, 7].into_iter().map(|number| b.spec_constant_bit32(uint, number)).collect();
        b.decorate(ids[1], Decoration::SpecId, vec![Operand::LiteralBit32(4)]);
        b.execution_mode_id(main, ExecutionMode::LocalSizeId, ids);
    });
    assert_eq!(by_id, Ok([2, 9, 7]));
    // The constant that is decorated as the size counts.
    let decorated = size(|b, main| {
        b.execution_mode(main, ExecutionMode::LocalSize, vec![4, 5, 6]);
        let uint = b.type_int(32, 0);
        let vector = b.type_vector(uint, 3);
        let parts: Vec<u32> = [8, 1, 2].into_iter().map(|number| b.constant_bit32(uint, number)).collect();
        let whole = b.spec_constant_composite(vector, parts);
        b.decorate(whole, Decoration::BuiltIn, vec![Operand::BuiltIn(spirv::BuiltIn::WorkgroupSize)]);
    });
    assert_eq!(decorated, Ok([8, 1, 2]));
}

/// A module with two arrays of a class, of which it adds elements of the first up; the second nobody names.
fn with_array(class: StorageClass, length: u32, cleared: bool) -> Vec<u32> {
    let globals = |b: &mut Builder| {
        let uint = b.type_int(32, 0);
        let zero = b.constant_bit32(uint, 0);
        let length = b.constant_bit32(uint, length);
        let array = b.type_array(uint, length);
        let pointer = b.type_pointer(None, class, array);
        let element = b.type_pointer(None, class, uint);
        let null = cleared.then(|| b.constant_null(array));
        let arrays = [(); 2].map(|()| b.variable(pointer, None, class, null));
        (uint, zero, element, arrays[0])
    };
    let code = |b: &mut Builder, &(uint, zero, element, array): &(u32, u32, u32, u32)| {
        let first = b.access_chain(element, None, array, vec![zero]).unwrap();
        let index = b.load(uint, None, first, None, vec![]).unwrap();
        let place = b.access_chain(element, None, array, vec![index]).unwrap();
        b.store(place, index, None, vec![]).unwrap();
    };
    compute_module(globals, code, |b, main| b.execution_mode(main, ExecutionMode::LocalSize, vec![64, 1, 1]))
}

#[test]
fn memory_of_compute_shaders_is_bounded() {
    let workgroup = |class, length, cleared| {
        compile(&with_array(class, length, cleared), Stage::Compute).map(|shader| shader.workgroup)
    };
    let shared = workgroup(StorageClass::Workgroup, 100, false).unwrap();
    assert_eq!((shared.shared_bytes, shared.scratch_bytes), (400, 0), "what nobody names has no place");
    let private = workgroup(StorageClass::Private, 1000, true).unwrap();
    assert_eq!((private.shared_bytes, private.scratch_bytes), (0, 4000));
    for class in [StorageClass::Workgroup, StorageClass::Private] {
        for length in [40_000, 1 << 30, u32::MAX] {
            let error = workgroup(class, length, false).unwrap_err();
            assert!(matches!(error, SpirvError::TooLarge { .. }), "{error}");
        }
    }
}

#[test]
fn shared_memory_is_cleared_where_a_module_asks() {
    let shader = compile(&with_array(StorageClass::Workgroup, 100, true), Stage::Compute).unwrap();
    let ops: Vec<Op> = shader.insts_in_order().into_iter().map(|inst| shader.insts[inst].op).collect();
    // 64 invocations clear 100 words in two steps, and wait for each other before anyone loads.
    let at = |wanted: &dyn Fn(&Op) -> bool| ops.iter().position(wanted).unwrap();
    let stores = |op: &&Op| matches!(op, Op::Store { memory: Memory::Shared, .. });
    let barrier = at(&|op| *op == Op::Barrier);
    assert_eq!(ops[..barrier].iter().filter(stores).count(), 2, "{shader}");
    assert!(at(&|op| matches!(op, Op::Load { .. })) > barrier, "{shader}");
}

#[test]
fn comparisons_of_numbers_that_are_none() {
    let globals = |b: &mut Builder| {
        let (uint, float, boolean) = (b.type_int(32, 0), b.type_float(32, None), b.type_bool());
        let [zero, one] = [0, 1].map(|number| b.constant_bit32(uint, number));
        let numbers = [f32::NAN, 2.0, 3.0].map(|number| b.constant_bit32(float, number.to_bits()));
        let pointer = b.type_pointer(None, StorageClass::Workgroup, uint);
        let place = b.variable(pointer, None, StorageClass::Workgroup, None);
        (uint, boolean, [zero, one], numbers, place)
    };
    type Ids = (u32, u32, [u32; 2], [u32; 3], u32);
    let code = |b: &mut Builder, &(uint, boolean, [zero, one], [nan, two, three], place): &Ids| {
        for (x, y) in [(nan, two), (two, three), (two, two)] {
            let ordered = b.f_ord_not_equal(boolean, None, x, y).unwrap();
            let unordered = b.f_unord_equal(boolean, None, x, y).unwrap();
            for truth in [ordered, unordered] {
                let word = b.select(uint, None, truth, one, zero).unwrap();
                b.store(place, word, None, vec![]).unwrap();
            }
        }
    };
    let words = compute_module(globals, code, |b, main| {
        b.execution_mode(main, ExecutionMode::LocalSize, vec![1, 1, 1])
    });
    let shader = compile(&words, Stage::Compute).unwrap();
    let insts = shader.insts_in_order().into_iter().map(|inst| &shader.insts[inst]);
    let stores = insts.filter(|data| matches!(data.op, Op::Store { .. }));
    let stored: Vec<Option<u32>> = stores.map(|data| shader.const_of(data.args[1])).collect();
    assert_eq!(stored, [0, 1, 1, 0, 0, 1].map(Some), "{shader}");
}

//! Instructions and errors know the source line that they come from, as far as the module tells.

#[allow(dead_code, reason = "shared by several test programs")]
mod support;

use rspirv::binary::Assemble;
use rspirv::dr::Builder;
use spirv::{AddressingModel, Capability, ExecutionMode, ExecutionModel, FunctionControl, MemoryModel};
use support::{shader, words};
use vc4::state::blend::ColorOutput;
use vc4_shaders::compile::{ErrorKind, PipelineState, compile_shaders};
use vc4_shaders::ir::{Op, Shader, Stage};
use vc4_shaders::pass;
use vc4_shaders::spirv::{SpirvError, StageSource, source_line, translate};

/// Lines of the instructions with an operation.
fn lines_of(shader: &Shader, op: Op) -> Vec<u32> {
    let insts = shader.insts_in_order().into_iter().filter(|&inst| shader.insts[inst].op == op);
    insts.map(|inst| shader.source_of(inst).map_or(0, |place| place.line)).collect()
}

#[test]
fn instructions_know_their_line() {
    let mut shader = shader("lines.frag", &[]);
    let inst = shader.insts_in_order().into_iter().find(|&inst| shader.insts[inst].op == Op::FSqrt).unwrap();
    let place = shader.source_of(inst).unwrap();
    assert!(place.file.ends_with("lines.frag"), "{place}");
    for _ in 0..2 {
        assert_eq!(lines_of(&shader, Op::FSqrt), [8]);
        assert_eq!(lines_of(&shader, Op::FSin), [5]);
        assert_eq!(lines_of(&shader, Op::FDiv), [11]);
        pass::optimize(&mut shader);
    }
    // What an instruction is lowered to keeps its line.
    pass::lower_control(&mut shader);
    pass::lower(&mut shader, &PipelineState::default(), &[]);
    assert!(lines_of(&shader, Op::SfuRsqrt).contains(&8));
    assert!(lines_of(&shader, Op::SfuRecip).contains(&11));
    let line_of_sine = |inst| shader.source_of(inst).is_some_and(|place| place.line == 5);
    assert!(shader.insts_in_order().into_iter().filter(|&inst| line_of_sine(inst)).count() > 5);
}

/// The module without its debug instructions: OpLine, OpNoLine, OpString, OpSource, OpSourceContinued,
/// OpSourceExtension, OpName, OpMemberName.
fn stripped(words: &[u32]) -> Vec<u32> {
    let mut out = words[..5].to_vec();
    let mut at = 5;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if ![8, 317, 7, 3, 2, 4, 5, 6].contains(&(words[at] & 0xffff)) {
            out.extend_from_slice(&words[at..at + length]);
        }
        at += length;
    }
    out
}

#[test]
fn lines_do_not_change_code() {
    let words = words("lines.frag");
    let plain = stripped(&words);
    assert!(plain.len() < words.len());
    let [with, without] = [&words, &plain].map(|words| {
        let source = StageSource { words, entry: "main", specialization: &[] };
        let fragment = translate(&source, Stage::Fragment).unwrap();
        let color = Some(ColorOutput::plain(&vc4::image::format::FORMATS[0], false));
        let state = PipelineState { color, ..PipelineState::default() };
        compile_shaders(Shader::new(Stage::Vertex), Some(fragment), &state).unwrap()
    });
    assert_eq!(with, without);
}

#[test]
fn modules_without_lines_have_none() {
    let shader = shader("common.frag", &[]);
    assert!(shader.insts_in_order().into_iter().all(|inst| shader.source_of(inst).is_none()));
    assert_eq!(source_line(&words("common.frag"), 100), None);
}

#[test]
fn errors_name_their_line() {
    let mut b = Builder::new();
    b.set_version(1, 0);
    b.capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let file = b.string("deep/thought.frag");
    let (void, boolean, float) = (b.type_void(), b.type_bool(), b.type_float(32, None));
    let ty = b.type_function(void, vec![]);
    let zero = b.constant_bit32(float, 0);
    let main = b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
    b.begin_block(None).unwrap();
    b.line(file, 42, 7);
    b.is_normal(boolean, None, zero).unwrap();
    b.ret().unwrap();
    b.end_function().unwrap();
    b.entry_point(ExecutionModel::Fragment, main, "main", vec![]);
    b.execution_mode(main, ExecutionMode::OriginUpperLeft, vec![]);
    let words = b.module().assemble();
    let swapped: Vec<u32> = words.iter().map(|word| word.swap_bytes()).collect();
    for words in [words, swapped] {
        let source = StageSource { words: &words, entry: "main", specialization: &[] };
        let error = translate(&source, Stage::Fragment).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("deep/thought.frag:42:7: word ") && text.contains("OpIsNormal"), "{text}");
        assert!(matches!(error.cause(), SpirvError::Unsupported { .. }));
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}

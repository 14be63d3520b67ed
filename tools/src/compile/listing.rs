//! A program as assembly with what its uniforms are and what its instructions cost.

use std::fmt::Write;
use vc4::qpu::cost::Wait;
use vc4::qpu::{Cost, Inst, uniform_reads};
use vc4_shaders::ir::computed;
use vc4_shaders::program::{Program, Step, UniformSlot};

/// The listing: it assembles to the same words, and its `.uniform` lines name the uniforms for a module of assembly, which
/// has no words that the CPU computes: those stand in front, as comments.
/// Behind each instruction stand its number and its slots, waits included.
pub fn listing(program: &Program) -> String {
    let decoded: Vec<Result<Inst, u64>> =
        program.code.iter().map(|&word| Inst::decode(word).map_err(|_| word)).collect();
    let insts: Vec<Inst> = decoded.iter().flatten().copied().collect();
    let sound = insts.len() == decoded.len();
    let cost = Cost::of(&insts);
    let reads = if sound { uniform_reads(&insts) } else { Vec::new() };
    let mut uniforms = program.uniforms.iter().zip(&reads).peekable();
    let mut out = computed(&program.computed);
    for (number, inst) in decoded.iter().enumerate() {
        while let Some((slot, _)) = uniforms.next_if(|(_, read)| read.instruction == number) {
            uniform(&mut out, *slot);
        }
        let text = match inst {
            Ok(inst) => inst.to_string(),
            Err(word) => format!(".word {word:#018x} ;"),
        };
        let line = if sound { cost.lines.get(number) } else { None };
        let slots = line.map_or(0, |line| line.slots());
        let wait = line.and_then(|line| line.reason).map_or("", |reason| match reason {
            Wait::Tmu => ", waits for the TMU",
            Wait::Uniform => ", waits for uniforms",
            Wait::Vpm => ", waits for the VPM",
        });
        // Writing to a string does not fail.
        let _ = writeln!(out, "{text:<96} # {number}: {slots}{wait}");
    }
    out
}

/// What the CPU computes for the stream, a comment per step.
fn computed(steps: &[Step]) -> String {
    computed::lines(steps).map(|line| format!("# {line}\n")).collect()
}

fn uniform(out: &mut String, slot: UniformSlot) {
    let float = match slot {
        UniformSlot::Const(word) => format!(" # {:?}", f32::from_bits(word)),
        _ => String::new(),
    };
    let _ = writeln!(out, ".uniform {slot}{float}");
}

//! One sweep over a shader that keeps or replaces each instruction.

use smallvec::SmallVec;

use crate::ir::{Builder, InstData, LineId, Replacements, Shader, Value};

/// What becomes of an instruction.
pub enum Action {
    /// It stays as it is.
    Keep,
    /// These values stand for its results; it goes.
    Replace(SmallVec<[Value; 4]>),
}

impl Action {
    /// One value stands for the result.
    pub fn with(value: Value) -> Action {
        Action::Replace(SmallVec::from_slice(&[value]))
    }

    /// The instruction goes; it had no result.
    pub fn remove() -> Action {
        Action::Replace(SmallVec::new())
    }
}

/// Emits at the start of the shader.
pub fn prepend<T>(shader: &mut Shader, emit: impl FnOnce(&mut Builder) -> T) -> T {
    let entry = shader.entry().expect("a shader starts with a block");
    let rest = std::mem::take(&mut shader.blocks[entry].insts);
    let result = emit(&mut Builder::new(shader, entry));
    shader.blocks[entry].insts.extend(rest);
    result
}

/// Visits every instruction in program order. `visit` may append instructions through the builder, which
/// stand in front of the visited one and share its source line; operands are up to date when it is called, except phis' from below.
pub fn rewrite<E>(
    shader: &mut Shader,
    mut visit: impl FnMut(&mut Builder, &InstData) -> Result<Action, E>,
) -> Result<(), E> {
    let mut map = Replacements::default();
    for block in shader.blocks_in_order() {
        let insts = std::mem::take(&mut shader.blocks[block].insts);
        shader.blocks[block].insts.reserve(insts.len());
        for inst in insts {
            // Lent to the visitor, which has no reason to look it up.
            let mut data = std::mem::take(&mut shader.insts[inst]);
            if !map.is_empty() {
                data.args.iter_mut().for_each(|arg| *arg = map.resolve(*arg));
            }
            shader.line = data.line;
            let mut builder = Builder::new(shader, block);
            (builder.relaxed, builder.exact) = (data.relaxed, data.exact);
            let action = visit(&mut builder, &data);
            shader.insts[inst] = data;
            match action? {
                Action::Keep => shader.blocks[block].insts.push(inst),
                Action::Replace(values) => {
                    for (&result, value) in shader.insts[inst].results.iter().zip(values) {
                        map.insert(result, value);
                    }
                }
            }
        }
    }
    shader.line = LineId::NONE;
    shader.apply(&map);
    Ok(())
}

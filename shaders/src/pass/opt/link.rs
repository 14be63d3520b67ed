//! Links the stages: a varying that is the same for all vertices of a draw, or the same as another one, needs no
//! interpolation of its own. The chip has 32 (T-VARY); what the fragment stage does not read costs none anyway.

use std::collections::BTreeMap;

use crate::ir::{Op, Shader, Value};
use crate::pass::analysis::outputs::{Name, stored_once};
use crate::pass::rewrite::{Action, rewrite};

/// Replaces inputs of `fragment` by what an optimised `vertex` is known to write there. Inputs that the vertex stage does
/// not write stay as they are.
pub fn run(vertex: &Shader, fragment: &mut Shader) {
    let outputs = stored_once(vertex);
    let mut names: BTreeMap<Value, Name> = BTreeMap::new();
    for (&name, &value) in &outputs {
        names.entry(value).or_insert(name);
    }
    let Ok(()) = rewrite(fragment, |b, data| {
        let Op::LoadInput { location, component, interpolation } = data.op else {
            return Ok::<_, std::convert::Infallible>(Action::Keep);
        };
        let Some(&value) = outputs.get(&(location, component)) else { return Ok(Action::Keep) };
        Ok(match vertex.op(value) {
            op @ (Op::Const(_) | Op::LoadUbo { .. } | Op::LoadPush(_)) => Action::with(b.emit(op, &[])[0]),
            _ if names[&value] != (location, component) => {
                let (location, component) = names[&value];
                Action::with(b.op(Op::LoadInput { location, component, interpolation }, &[]))
            }
            _ => Action::Keep,
        })
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::Descriptor;
    use crate::ir::{Builder, Interpolation, Output, Stage};

    fn shader(stage: Stage, build: impl FnOnce(&mut Builder)) -> Shader {
        let mut shader = Shader::new(stage);
        let block = shader.entry().unwrap();
        build(&mut Builder::new(&mut shader, block));
        shader
    }

    fn input(location: u32, component: u8, interpolation: Interpolation) -> Op {
        Op::LoadInput { location, component, interpolation }
    }

    #[test]
    fn what_is_known_needs_no_varying() {
        let buffer = Descriptor { set: 0, binding: 3, element: 0 };
        let user = |location, component| Output::User { location, component };
        let vertex = shader(Stage::Vertex, |b| {
            let x = b.op(input(0, 0, Interpolation::Smooth), &[]);
            let (one, word) = (b.float(1.0), b.op(Op::LoadUbo { buffer, offset: 8 }, &[]));
            let push = b.op(Op::LoadPush(4), &[]);
            for (output, value) in [
                (user(1, 0), x),
                (user(1, 1), one),
                (user(1, 2), x),
                (user(2, 0), word),
                (user(2, 1), push),
                (user(2, 2), one),
                (user(2, 2), x),
            ] {
                b.store_output(output, value);
            }
        });
        let (smooth, flat) = (Interpolation::Smooth, Interpolation::Flat);
        let cases = [
            (input(1, 0, smooth), input(1, 0, smooth)),
            (input(1, 1, smooth), Op::Const(1f32.to_bits())),
            (input(1, 2, flat), input(1, 0, flat)),
            (input(2, 0, flat), Op::LoadUbo { buffer, offset: 8 }),
            (input(2, 1, smooth), Op::LoadPush(4)),
            (input(2, 2, smooth), input(2, 2, smooth)),
            (input(7, 0, smooth), input(7, 0, smooth)),
        ];
        let mut fragment = shader(Stage::Fragment, |b| {
            for (n, (before, _)) in cases.into_iter().enumerate() {
                let value = b.op(before, &[]);
                b.store_output(user(n as u32, 0), value);
            }
        });
        run(&vertex, &mut fragment);
        let stored = stored_once(&fragment);
        for (n, (before, after)) in cases.into_iter().enumerate() {
            assert_eq!(fragment.op(stored[&(n as u32, 0)]), after, "{before:?}");
        }
    }
}

//! A vertex stage as a compute shader: where the fragment stage reads more than the machine interpolates (T-VARY), the CPU runs the
//! vertex stage for the corners of all primitives, and the fragment program finds what it stored in memory
//! ([`crate::pass::lower::relay`]).
//!
//! Each vertex is an invocation. Its attributes, decoded, are in [`Descriptor::ATTRIBUTES`]: [`ATTRIBUTE_WORDS`] words for each
//! of [`Relay::locations`] and then the vertex index. What it stores goes to [`Descriptor::OUTPUTS`], [`Relay::words`] words a
//! vertex. What a draw says of itself stands behind the application's push constants, at [`PARAMETERS_AT`]: the instance index, then
//! [`DrawWord::ALL`](crate::binding::DrawWord::ALL).

pub use crate::picture::PARAMETERS_AT;

use crate::binding::Descriptor;
use crate::ir::{Builder, BuiltinInput, Invocation, Memory, Op, Output, Shader, Stage, Value, Workgroup};
use crate::pass;
use crate::pass::analysis::outputs::user_outputs;
use crate::pass::rewrite::{Action, prepend, rewrite};

/// Words of an attribute.
pub const ATTRIBUTE_WORDS: u32 = 4;
/// Vertices of a workgroup: many for one call, few enough that short draws waste little.
pub const GROUP: u32 = 64;

const WORD: u32 = 4;

/// Words of a vertex in [`Descriptor::ATTRIBUTES`], with so many locations: the vertex index is the last.
pub const fn vertex_words(locations: usize) -> usize {
    locations * ATTRIBUTE_WORDS as usize + 1
}

/// A vertex stage as a compute shader.
#[derive(Clone, Debug)]
pub struct Relay {
    /// The shader: a workgroup for every [`GROUP`] vertices along x.
    pub kernel: Shader,
    /// Locations of the attributes that it reads, in order.
    pub locations: Vec<u32>,
    /// Words that it stores for a vertex.
    pub words: u32,
}

impl Relay {
    /// Makes the compute shader of an optimised vertex stage.
    pub fn new(vertex: &Shader) -> Relay {
        let mut kernel = vertex.clone();
        kernel.stage = Stage::Compute;
        kernel.workgroup = Workgroup { size: [GROUP, 1, 1], shared_bytes: 0, scratch_bytes: 0 };
        let outputs = user_outputs(vertex);
        let locations = locations(vertex);
        let words = outputs.len() as u32;
        let bytes = WORD * vertex_words(locations.len()) as u32;
        let [attributes, stored] = prepend(&mut kernel, |b| {
            let vertex = number(b);
            [bytes, WORD * words].map(|stride| {
                let stride = b.word(stride);
                b.op(Op::IMul, &[vertex, stride])
            })
        });
        let read = |b: &mut Builder, word: u32| {
            let memory = Memory::Buffer(Descriptor::ATTRIBUTES);
            Action::with(b.op(Op::Load { memory, offset: WORD * word }, &[attributes]))
        };
        let parameter = |b: &mut Builder, number: usize| {
            Action::with(b.op(Op::LoadPush(PARAMETERS_AT + WORD * number as u32), &[]))
        };
        let Ok(()) = rewrite(&mut kernel, |b, data| {
            Ok::<_, std::convert::Infallible>(match data.op {
                Op::LoadInput { location, component, .. } => match locations.binary_search(&location) {
                    Ok(place) => read(b, ATTRIBUTE_WORDS * place as u32 + u32::from(component & 3)),
                    Err(_) => Action::with(b.word(0)),
                },
                Op::LoadBuiltin(BuiltinInput::VertexIndex) => {
                    read(b, ATTRIBUTE_WORDS * locations.len() as u32)
                }
                Op::LoadBuiltin(BuiltinInput::InstanceIndex) => parameter(b, 0),
                Op::LoadBuiltin(BuiltinInput::Draw(word)) => parameter(b, 1 + word as usize),
                Op::StoreOutput(Output::User { location, component }) => {
                    if let Ok(place) = outputs.binary_search(&(location, component)) {
                        let memory = Memory::Buffer(Descriptor::OUTPUTS);
                        let store = Op::Store { memory, offset: WORD * place as u32 };
                        b.emit(store, &[stored, data.args[0]]);
                    }
                    Action::remove()
                }
                Op::StoreOutput(_) => Action::remove(),
                _ => Action::Keep,
            })
        });
        pass::optimize(&mut kernel);
        Relay { kernel, locations, words }
    }
}

/// The vertex's number among those of the dispatch.
fn number(b: &mut Builder) -> Value {
    let builtin = |place| Op::LoadBuiltin(BuiltinInput::Invocation(place));
    let group = b.op(builtin(Invocation::WorkgroupId(0)), &[]);
    let size = b.word(GROUP);
    let first = b.op(Op::IMul, &[group, size]);
    let local = b.op(builtin(Invocation::LocalId(0)), &[]);
    b.op(Op::IAdd, &[first, local])
}

/// Locations of the inputs that a vertex stage loads, in order and each once.
fn locations(vertex: &Shader) -> Vec<u32> {
    let load = |inst| match vertex.insts[inst].op {
        Op::LoadInput { location, .. } => Some(location),
        _ => None,
    };
    let mut locations: Vec<u32> = vertex.insts_in_order().into_iter().filter_map(load).collect();
    locations.sort_unstable();
    locations.dedup();
    locations
}

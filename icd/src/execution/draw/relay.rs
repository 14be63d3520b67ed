//! Vertices that the CPU shades because the fragment program reads more than the machine interpolates (T-VARY).

use std::sync::Arc;

use vc4::state::vertex_fetch::decode;
use vc4_shaders::compile::VertexAttribute;
use vc4_shaders::program::DrawWord;
use vc4_shaders::relay::{ATTRIBUTE_WORDS, PARAMETERS_AT, vertex_words};

use super::arrays::source;
use super::bindings::Bindings;
use super::gather::Gathered;
use super::geometry::Piece;
use crate::compute::vertices::{Vertices, shade};
use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::pipeline::RelayKernel;

/// Bytes of a word.
const WORD: usize = 4;
/// What a location without an attribute reads: 0, 0, 0 and 1.
const ABSENT: [u32; 4] = [0, 0, 0, 1f32.to_bits()];

/// What the vertex stage stores for the vertices of a piece, in memory, and how many bytes.
pub(super) fn outputs(
    bindings: &Bindings<'_>,
    piece: &Piece<'_>,
    instance: u32,
) -> Result<(Arc<Bo>, u32), Error> {
    let hidden = || Error::InvalidUse("a draw whose shader reads a hidden descriptor".into());
    let relay = bindings.compiled.relay().ok_or_else(hidden)?;
    let gathered = piece.gathered.as_deref().ok_or_else(hidden)?;
    let mut attributes = attributes(relay, bindings, gathered, instance)?;
    let push = parameters(bindings, instance);
    let count = gathered.vertices().len() as u32;
    let vertices = Vertices { count, attributes: &mut attributes, push: &push };
    let words = shade(relay, &bindings.state, vertices)?;
    let bytes = WORD * words.len();
    let bo = bindings.site.create_bo("shaded vertices", bytes as u64)?;
    bo.access(Cause::Vertices)?.write(0, bytemuck::cast_slice(&words));
    Ok((bo, bytes as u32))
}

/// Push constants, and behind them what the draw says of itself.
fn parameters(bindings: &Bindings<'_>, instance: u32) -> Vec<u32> {
    let mut push = bindings.state.push().to_vec();
    push.resize(PARAMETERS_AT as usize / WORD, 0);
    push.push(instance);
    push.extend(DrawWord::ALL.map(|word| bindings.call.word(word)));
    push
}

/// What the vertex stage reads of each vertex: the attributes' components, and the vertex index.
fn attributes(
    relay: &RelayKernel,
    bindings: &Bindings<'_>,
    gathered: &Gathered,
    instance: u32,
) -> Result<Vec<u32>, Error> {
    let stride = vertex_words(relay.inputs.len());
    let mut words = vec![0; stride * gathered.vertices().len()];
    for (input, at) in relay.inputs.iter().zip((0..).step_by(ATTRIBUTE_WORDS as usize)) {
        let places =
            words.chunks_exact_mut(stride).map(|vertex| &mut vertex[at..][..ATTRIBUTE_WORDS as usize]);
        match input {
            None => places.for_each(|place| place.copy_from_slice(&ABSENT)),
            Some(attribute) if attribute.per_instance => {
                let value = of_instance(attribute, bindings, instance)?;
                places.for_each(|place| place.copy_from_slice(&value));
            }
            Some(VertexAttribute { location, format, .. }) => {
                let bytes = format.bytes();
                let copied = gathered.copied(bindings.site, &bindings.state, None, *location, bytes)?;
                for (place, bytes) in places.zip(copied.chunks_exact(bytes as usize)) {
                    let mut words = [0; 4];
                    bytemuck::bytes_of_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
                    place.copy_from_slice(&decode(format, &words).map_err(unfit)?);
                }
            }
        }
    }
    for (place, vertex) in words.chunks_exact_mut(stride).zip(gathered.vertices()) {
        place[stride - 1] = *vertex as u32;
    }
    Ok(words)
}

/// The components of an attribute that all vertices of an instance share.
fn of_instance(
    attribute: &VertexAttribute,
    bindings: &Bindings<'_>,
    instance: u32,
) -> Result<[u32; 4], Error> {
    let mut words = [0; 4];
    if let Some(source) = source(&bindings.state, attribute.location)? {
        for (word, number) in words.iter_mut().zip(0..attribute.format.words() as u8) {
            *word = source.instance_word(bindings.site, bindings.call.first_instance(), instance, number)?;
        }
    }
    decode(&attribute.format, &words).map_err(unfit)
}

fn unfit(error: vc4::state::StateError) -> Error {
    Error::InvalidUse(error.to_string())
}

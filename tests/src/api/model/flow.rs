//! Which results Vulkan defines to the bit. What is not exact taints what is made of it, in whatever order command buffers
//! run; so the whole program is looked at, and what can be reached from a source is not compared.

use std::collections::BTreeSet;

use ash::vk;

use super::{Inside, Recording};
use crate::api::formats::{Numbers, row_of};
use crate::api::shaders::shader;
use crate::api::slot::Id;
use crate::api::step::{Blend, Command, Graphics};

/// What flows where.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    sources: BTreeSet<Id>,
    edges: BTreeSet<(Id, Id)>,
}

impl Flow {
    /// What is written there is not exact.
    pub fn taint(&mut self, id: Id) {
        self.sources.insert(id);
    }

    /// Contents of one become contents of the other.
    pub fn flows(&mut self, from: Id, to: Id) {
        self.edges.insert((from, to));
    }

    /// All that is not exact.
    pub fn tainted(&self) -> BTreeSet<Id> {
        let mut reached = self.sources.clone();
        loop {
            let before = reached.len();
            let next = self.edges.iter().filter(|(from, _)| reached.contains(from)).map(|(_, to)| *to);
            let next: Vec<Id> = next.collect();
            reached.extend(next);
            if reached.len() == before {
                return reached;
            }
        }
    }
}

/// Whether a format holds these numbers as they are: zeros and ones for fractions, what fits for whole numbers.
pub(super) fn is_exact(format: vk::Format, words: [u32; 4]) -> bool {
    let row = row_of(format);
    let plain = |word: u32| word == 0 || word == 1f32.to_bits();
    match row.numbers {
        Numbers::Unorm | Numbers::Srgb | Numbers::Float => words.into_iter().all(plain),
        Numbers::Depth => plain(words[0]),
        Numbers::Uint | Numbers::Sint => words.into_iter().all(|word| word < 128),
    }
}

/// Whether a draw fills whole pixels of a target with numbers that it holds as they are.
pub(super) fn draws_exactly(
    state: &Graphics,
    shaders: &[u32],
    recording: &Recording,
    inside: &Inside,
    command: &Command,
) -> bool {
    if state.discard {
        return true;
    }
    let Command::Draw { vertices, first: 0, .. } = command else { return false };
    let Some((place, [0.0, 1.0])) = recording.viewport else { return false };
    let Some((_, push)) = &recording.push else { return false };
    let pixels = |edge: usize| {
        let at = (f32::from_bits(push[edge]) + 1.0) / 2.0 * place[2 + edge % 2];
        (0.0..=512.0).contains(&at) && (at - at.round()).abs() < 1e-3
    };
    let whole = place[..2] == [0.0, 0.0] && place[2..].iter().all(|edge| edge.fract() == 0.0);
    let color = [push[4], push[5], push[6], push[7]];
    let words = [push[8], push[9], push[10], push[11]];
    let reads = |kind| move |number: &u32| shader(*number).bindings.contains(&kind);
    let texel = shaders.iter().any(reads(vk::DescriptorType::COMBINED_IMAGE_SAMPLER));
    // That shader makes zeros and ones of words.
    let tint = shaders.iter().any(reads(vk::DescriptorType::UNIFORM_BUFFER));
    let uint = shaders.iter().any(|number| shader(*number).uint);
    let colors = inside.shape.colors.iter().all(|format| match uint {
        true => is_exact(*format, words),
        false => tint || !texel && is_exact(*format, color),
    });
    let exact_blend = |blend: &Blend| {
        let whole = [vk::BlendFactor::ZERO, vk::BlendFactor::ONE];
        whole.contains(&blend.from) && whole.contains(&blend.to)
    };
    // What was there may be any number, which logic and sums of the same are exact about, of 8 bits.
    let plain = |format: &vk::Format| row_of(*format).numbers == Numbers::Uint || row_of(*format).bytes == 4;
    vertices % 6 == 0
        && whole
        && (0..4).all(pixels)
        && colors
        && shaders.iter().all(|number| !shader(*number).vertices)
        && state.topology == vk::PrimitiveTopology::TRIANGLE_LIST
        && state.polygon == vk::PolygonMode::FILL
        && state.cull.is_empty()
        && state.dynamic & 8 == 0
        && state.blend.as_ref().is_none_or(exact_blend)
        && (state.blend.is_none() && state.logic.is_none() || inside.shape.colors.iter().all(plain))
        && [0, 1f32.to_bits()].contains(&push[12])
}

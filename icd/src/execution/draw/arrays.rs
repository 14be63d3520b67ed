//! Attribute arrays: where they lie, and how far their data reach.

use vc4_shaders::program::{AttributeArray, AttributeSource, Pipeline};

use super::site::Site;
use crate::foundation::error::Error;
use crate::foundation::traffic::{Access, Cause};
use crate::objects::memory::Binding;
use crate::segments::Snapshot;

/// Where an attribute array lies.
pub(super) struct Source<'a> {
    /// The memory.
    pub place: &'a Binding,
    /// Byte of vertex 0.
    pub base: u64,
    /// Bytes from vertex to vertex, or from instance to instance.
    pub stride: u32,
    /// First byte behind the vertex buffer.
    pub end: u64,
    /// Instances that share their data; 0 if all of a draw do.
    divisor: u32,
}

/// The memory of a vertex input; `None` if no buffer is bound.
pub(super) fn source<'a>(state: &Snapshot<'a>, location: u32) -> Result<Option<Source<'a>>, Error> {
    let input = &state.pipeline().info.vertex;
    let attribute = input.attributes.iter().find(|attribute| attribute.location == location);
    let Some(attribute) = attribute else { return Ok(None) };
    let description = input.bindings.iter().find(|binding| binding.binding == attribute.binding);
    let bound = state.vertices(attribute.binding);
    let (Some(description), Some((buffer, offset))) = (description, bound) else { return Ok(None) };
    let divisor = input.divisors.iter().find(|(binding, _)| *binding == attribute.binding);
    let binding = buffer.binding()?;
    Ok(Some(Source {
        place: binding,
        base: binding.offset.saturating_add(offset).saturating_add(attribute.offset.into()),
        stride: description.stride,
        end: binding.offset + buffer.size(),
        divisor: divisor.map_or(1, |(_, divisor)| *divisor),
    }))
}

impl<'a> Source<'a> {
    /// The memory, for the CPU, on which the jobs of a site rest from now on.
    pub fn access(&self, site: Site<'_>) -> Result<Access<'a>, Error> {
        site.ledger.rests_on(self.place);
        Ok(self.place.bo.access(Cause::Vertices)?)
    }

    /// The largest vertex number whose data are there; `None` if not even that of vertex 0 are.
    pub fn limit(&self, bytes: u32) -> Option<i64> {
        let room = self.end.checked_sub(self.base)?.checked_sub(u64::from(bytes))?;
        Some(if self.stride == 0 { i64::MAX } else { (room / u64::from(self.stride)) as i64 })
    }

    /// A word of an instance's data, in a draw whose first instance is `first`; 0 where the buffer ends.
    pub fn instance_word(&self, site: Site<'_>, first: u32, instance: u32, word: u8) -> Result<u32, Error> {
        let number = match self.divisor {
            1 => instance,
            divisor => first.wrapping_add(instance.wrapping_sub(first).checked_div(divisor).unwrap_or(0)),
        };
        let behind = u64::from(self.stride) * u64::from(number) + 4 * u64::from(word);
        let at = self.base.saturating_add(behind);
        let mut bytes = [0; 4];
        let have = self.end.saturating_sub(at).min(4) as usize;
        if have > 0 {
            self.access(site)?.read(at as usize, &mut bytes[..have]);
        }
        Ok(u32::from_le_bytes(bytes))
    }
}

/// The largest vertex number that every array of a draw has data for, -1 if one has no data at all: what lies beyond is
/// gathered. Arrays without a buffer do not count: they read zeros.
pub(super) fn limit(state: &Snapshot<'_>, programs: &Pipeline) -> Result<i64, Error> {
    let mut limit = i64::MAX;
    for AttributeArray { source: from, bytes, .. } in &programs.attributes {
        match from {
            AttributeSource::Location(location) => {
                let source = source(state, *location)?;
                limit = limit.min(source.map_or(i64::MAX, |source| source.limit(*bytes).unwrap_or(-1)));
            }
            // Such arrays are made for the draw.
            AttributeSource::Corner { .. } | AttributeSource::CornerIndex(_) | AttributeSource::Place => {
                return Ok(-1);
            }
            AttributeSource::VertexIndex | AttributeSource::Dummy => {}
        }
    }
    Ok(limit)
}

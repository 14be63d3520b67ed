//! Attribute arrays of vertex and coordinate programs of assembly.

use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4_shaders::compile::PipelineState;
use vc4_shaders::program::{AttributeArray, AttributeSource};

use super::assembly::{Source, refuse, stage_name};
use crate::foundation::error::Error;

/// Attribute arrays of a shader record, and words per vertex that its byte fields can describe (v3d.md §6.1).
const MAX_ARRAYS: usize = 8;
const MAX_ROWS: u32 = 63;

/// One array that a program loads.
#[derive(Clone, Copy)]
struct Load {
    source: AttributeSource,
    /// Bytes per vertex.
    bytes: u32,
    format: VertexFormat,
    /// Components that a patched program reads; `None` for those that the format has.
    components: Option<u8>,
}

/// What one program loads per vertex, in the order of its rows.
pub(super) struct Loads(Vec<Load>);

/// One integer.
const WORD: VertexFormat =
    VertexFormat { packing: Packing::Words(1), numeric: Numeric::Uint, swap_rb: false };

impl Loads {
    /// The attributes that `source` names, or all that advance per vertex; then the vertex index.
    pub(super) fn new(source: &Source, state: &PipelineState) -> Result<Loads, Error> {
        let name = stage_name(source.stage);
        let mut attributes = state.attributes.clone();
        attributes.retain(|attribute| !attribute.per_instance);
        attributes.sort_by_key(|attribute| attribute.location);
        let named = |location| source.inputs.iter().find(|(other, _)| *other == location);
        let missing = source.inputs.iter().find(|(n, _)| attributes.iter().all(|a| a.location != *n));
        if let Some((location, _)) = missing {
            return refuse(format!(
                "the {name} program loads location {location}, which the pipeline has no per-vertex attribute for"
            ));
        }
        let mut loads = Vec::new();
        for attribute in attributes {
            let components = match named(attribute.location) {
                Some(&(_, count)) => u8::try_from(count).ok().filter(|count| *count > 0),
                None if source.inputs.is_empty() => None,
                None => continue,
            };
            let (source, format) = (AttributeSource::Location(attribute.location), attribute.format);
            loads.push(Load { source, bytes: format.bytes(), format, components });
        }
        let word = |source, components| Load { source, bytes: 4, format: WORD, components: Some(components) };
        if source.vertex_index {
            loads.push(word(AttributeSource::VertexIndex, 1));
        }
        // The machine demands an array (v3d.md §6.1).
        if loads.is_empty() {
            loads.push(word(AttributeSource::Dummy, 0));
        }
        Ok(Loads(loads))
    }

    /// Format of each array, and components that a patched program reads; `None` for those that the format has.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (VertexFormat, Option<u8>)> {
        self.0.iter().map(|load| (load.format, load.components))
    }

    /// Words per vertex.
    pub(super) fn rows(&self) -> u32 {
        self.0.iter().map(|load| load.bytes.div_ceil(4)).sum()
    }

    /// Byte offsets in the VPM.
    fn offset(&self, source: AttributeSource) -> Option<u8> {
        let at = self.0.iter().position(|load| load.source == source)?;
        let rows: u32 = self.0[..at].iter().map(|load| load.bytes.div_ceil(4)).sum();
        u8::try_from(4 * rows).ok()
    }
}

/// The arrays of both programs.
///
/// # Errors
/// More arrays or words than the record has room for.
pub(super) fn arrays(vertex: &Loads, coordinate: &Loads) -> Result<Vec<AttributeArray>, Error> {
    // The machine fills rows in the order of the arrays, so both programs must agree on it.
    let rank = |source: &AttributeSource| match source {
        AttributeSource::Location(location) => (0, *location),
        AttributeSource::VertexIndex => (1, 0),
        // Linked programs know no corners.
        AttributeSource::Corner { .. }
        | AttributeSource::CornerIndex(_)
        | AttributeSource::Place
        | AttributeSource::Dummy => (2, 0),
    };
    let mut all: Vec<_> =
        vertex.0.iter().chain(&coordinate.0).map(|load| (load.source, load.bytes)).collect();
    all.sort_by_key(|(source, _)| rank(source));
    all.dedup();
    if all.len() > MAX_ARRAYS {
        return refuse(format!("{} attribute arrays, the hardware fetches {MAX_ARRAYS}", all.len()));
    }
    if let Some(loads) = [vertex, coordinate].iter().find(|loads| loads.rows() > MAX_ROWS) {
        return refuse(format!("{} words of attributes per vertex, at most {MAX_ROWS} fit", loads.rows()));
    }
    let array = |(source, bytes): (AttributeSource, u32)| AttributeArray {
        source,
        bytes,
        joined: false,
        vertex_offset: vertex.offset(source),
        coordinate_offset: coordinate.offset(source),
    };
    Ok(all.into_iter().map(array).collect())
}

//! Vertices copied together: what indices reach far apart, or beyond the ends of vertex buffers (T-IDX32, T-ROBUST).

use std::cell::RefCell;
use std::sync::Arc;

use vc4_shaders::program::AttributeSource;

use super::arrays::source;
use super::site::Site;
use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::pipeline::Compiled;
use crate::segments::Snapshot;

/// The corner that an array is of, and the location that it comes from.
pub(super) fn from(source: AttributeSource) -> (Option<u8>, Option<u32>) {
    match source {
        AttributeSource::Location(location) => (None, Some(location)),
        AttributeSource::Corner { corner, location } => (Some(corner), Some(location)),
        AttributeSource::CornerIndex(corner) => (Some(corner), None),
        AttributeSource::VertexIndex | AttributeSource::Place | AttributeSource::Dummy => (None, None),
    }
}

const WORD: usize = 4;

/// Vertices with arrays of their own.
pub(super) struct Gathered {
    vertices: Vec<i64>,
    /// Vertices of a primitive.
    size: usize,
    /// The arrays that were asked for.
    arrays: RefCell<Vec<(AttributeSource, Arc<Bo>)>>,
}

impl Gathered {
    /// These vertices, in this order; if programs ask for corners, those of primitives of `size`, one behind the other.
    pub fn new(vertices: Vec<i64>, size: usize) -> Gathered {
        Gathered { vertices, size, arrays: RefCell::default() }
    }

    /// A vertex, or a corner of its primitive; -1 if there is none.
    pub fn vertex(&self, number: usize, corner: Option<u8>) -> i64 {
        let number = corner.map_or(number, |corner| number / self.size * self.size + usize::from(corner));
        self.vertices.get(number).copied().unwrap_or(-1)
    }

    /// An array with `bytes` bytes of each vertex and no gaps. Vertices that a buffer has no data for get zeros.
    pub fn array(
        &self,
        site: Site<'_>,
        state: &Snapshot<'_>,
        from: AttributeSource,
        bytes: u32,
    ) -> Result<Arc<Bo>, Error> {
        let mut arrays = self.arrays.borrow_mut();
        if let Some((_, bo)) = arrays.iter().find(|(key, _)| *key == from) {
            return Ok(bo.clone());
        }
        let content = match (from, self::from(from)) {
            (AttributeSource::VertexIndex | AttributeSource::CornerIndex(_), (corner, _)) => {
                self.each(corner).flat_map(|vertex| (vertex as u32).to_le_bytes()).collect()
            }
            (AttributeSource::Place, _) => self.places(state),
            (_, (corner, Some(location))) => self.copied(site, state, corner, location, bytes)?,
            (_, (_, None)) => vec![0; bytes as usize * self.vertices.len()],
        };
        let bo = site.create_bo("gathered vertices", content.len() as u64)?;
        bo.access(Cause::Vertices)?.write(0, &content);
        arrays.push((from, bo.clone()));
        Ok(bo)
    }

    /// The vertices, or those that are a corner of their primitives.
    fn each(&self, corner: Option<u8>) -> impl Iterator<Item = i64> {
        (0..self.vertices.len()).map(move |number| self.vertex(number, corner))
    }

    /// [`AttributeSource::Place`] of each vertex.
    fn places(&self, state: &Snapshot<'_>) -> Vec<u8> {
        let compiled = state.pipeline().compiled.as_ref();
        let bytes = WORD * compiled.map_or(0, Compiled::relayed_words);
        let place = |number| number / self.size * self.size * bytes + number % self.size;
        (0..self.vertices.len()).flat_map(|number| (place(number) as u32).to_le_bytes()).collect()
    }

    /// The vertices, in order.
    #[cfg(feature = "compute")]
    pub fn vertices(&self) -> &[i64] {
        &self.vertices
    }

    /// The bytes of an attribute of each vertex, or of a corner of its primitive, without gaps.
    pub fn copied(
        &self,
        site: Site<'_>,
        state: &Snapshot<'_>,
        corner: Option<u8>,
        location: u32,
        bytes: u32,
    ) -> Result<Vec<u8>, Error> {
        let bytes = bytes as usize;
        let mut content = vec![0; bytes * self.vertices.len()];
        let Some(source) = source(state, location)? else { return Ok(content) };
        let Some(limit) = source.limit(bytes as u32) else { return Ok(content) };
        let memory = source.access(site)?;
        for (to, vertex) in content.chunks_exact_mut(bytes).zip(self.each(corner)) {
            if (0..=limit).contains(&vertex) {
                memory.read((source.base + vertex as u64 * u64::from(source.stride)) as usize, to);
            }
        }
        Ok(content)
    }
}

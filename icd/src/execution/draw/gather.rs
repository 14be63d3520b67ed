//! Vertices copied together: what indices reach far apart, or beyond the ends of vertex buffers (T-IDX32, T-ROBUST).

use std::cell::RefCell;
use std::sync::Arc;

use vc4_shaders::program::AttributeSource;

use super::arrays::source;
use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::objects::device::Device;
use crate::segments::Snapshot;

/// Vertices with arrays of their own.
pub(super) struct Gathered {
    vertices: Vec<i64>,
    /// The arrays that were asked for.
    arrays: RefCell<Vec<(AttributeSource, Arc<Bo>)>>,
}

impl Gathered {
    /// These vertices, in this order.
    pub fn new(vertices: Vec<i64>) -> Gathered {
        Gathered { vertices, arrays: RefCell::default() }
    }

    /// The vertices.
    pub fn vertices(&self) -> &[i64] {
        &self.vertices
    }

    /// An array with `bytes` bytes of each vertex and no gaps. Vertices that a buffer has no data for get zeros.
    pub fn array(
        &self,
        device: &Device,
        state: &Snapshot,
        from: AttributeSource,
        bytes: u32,
    ) -> Result<Arc<Bo>, Error> {
        let mut arrays = self.arrays.borrow_mut();
        if let Some((_, bo)) = arrays.iter().find(|(key, _)| *key == from) {
            return Ok(bo.clone());
        }
        let content = match from {
            AttributeSource::VertexIndex => {
                self.vertices.iter().flat_map(|vertex| (*vertex as u32).to_le_bytes()).collect()
            }
            AttributeSource::Location(location) => self.copied(state, location, bytes)?,
            AttributeSource::Dummy => vec![0; bytes as usize * self.vertices.len()],
        };
        let bo = device.create_bo("gathered vertices", content.len() as u64)?;
        bo.map()?.write(0, &content);
        arrays.push((from, bo.clone()));
        Ok(bo)
    }

    fn copied(&self, state: &Snapshot, location: u32, bytes: u32) -> Result<Vec<u8>, Error> {
        let bytes = bytes as usize;
        let mut content = vec![0; bytes * self.vertices.len()];
        let Some(source) = source(state, location)? else { return Ok(content) };
        let Some(limit) = source.limit(bytes as u32) else { return Ok(content) };
        let mapping = source.bo.map()?;
        for (to, &vertex) in content.chunks_exact_mut(bytes).zip(&self.vertices) {
            if (0..=limit).contains(&vertex) {
                mapping.read((source.base + vertex as u64 * u64::from(source.stride)) as usize, to);
            }
        }
        Ok(content)
    }
}

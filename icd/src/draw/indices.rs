//! Index buffers: reading, and rewriting into lists.

use std::ops::Range;

use ash::vk;
use vc4::cl::packets::PrimitiveMode;
use vc4::hw::MAX_VERTEX_INDEX;
use vc4_kernel_abi::Mapping;

use crate::error::Error;
use crate::segment::IndexBinding;

/// Part of an index buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexRange {
    mapping: Mapping,
    ty: vk::IndexType,
    /// Byte of the first index in the BO.
    address: u64,
    /// Indices that a draw asks for …
    count: u32,
    /// … and those that the buffer holds.
    have: u32,
}

/// What a draw must know of its indices beforehand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    /// The largest.
    pub max: u32,
    /// One of them is the value that restarts strips and fans.
    pub restarts: bool,
}

impl IndexRange {
    /// `count` indices from number `first` on.
    pub fn new(binding: &IndexBinding, first: u32, count: u32) -> Result<IndexRange, Error> {
        let size = match binding.ty {
            vk::IndexType::UINT16 => 2,
            vk::IndexType::UINT32 => 4,
            other => return Err(Error::InvalidUse(format!("indices of type {other:?}"))),
        };
        let place = binding.buffer.binding()?;
        let start = binding.offset.saturating_add(u64::from(first) * size);
        let have = (binding.buffer.size().saturating_sub(start) / size).min(u64::from(count)) as u32;
        let (mapping, address) = (place.bo.map()?, place.offset.saturating_add(start));
        Ok(IndexRange { mapping, ty: binding.ty, address, count, have })
    }

    /// Byte of the first index in the BO.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The buffer holds all of them.
    pub fn is_complete(&self) -> bool {
        self.have == self.count
    }

    /// The index that restarts.
    pub fn restart(&self) -> u32 {
        if self.ty == vk::IndexType::UINT16 { 0xffff } else { u32::MAX }
    }

    /// Looks at every index.
    pub fn scan(&self) -> Scan {
        let mut scan = Scan { max: 0, restarts: false };
        self.each_chunk(|indices| {
            let max = indices.iter().copied().max().unwrap_or(0);
            scan.restarts |= max == self.restart();
            scan.max = scan.max.max(max);
        });
        scan
    }

    /// The indices; 0 where the buffer ends early.
    pub fn read(&self) -> Vec<u32> {
        let mut values = Vec::with_capacity(self.count as usize);
        self.each_chunk(|indices| values.extend_from_slice(indices));
        values.resize(self.count as usize, 0);
        values
    }

    /// Hands out the indices in memory. Mappings are read in bursts.
    fn each_chunk(&self, mut each: impl FnMut(&[u32])) {
        const CHUNK: usize = 256;
        let (mut bytes, mut values) = ([0; 4 * CHUNK], [0; CHUNK]);
        let size = if self.ty == vk::IndexType::UINT16 { 2 } else { 4 };
        let (mut at, mut left) = (self.address as usize, self.have as usize);
        while left > 0 {
            let count = left.min(CHUNK);
            let (bytes, values) = (&mut bytes[..size * count], &mut values[..count]);
            self.mapping.read(at, bytes);
            if size == 2 {
                let indices = bytes.chunks_exact(2).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])));
                values.iter_mut().zip(indices).for_each(|(to, from)| *to = from);
            } else {
                let indices = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                values.iter_mut().zip(indices).for_each(|(to, from)| *to = from);
            }
            each(values);
            (at, left) = (at + size * count, left - count);
        }
    }
}

/// Vertices of a primitive, and whether primitives share none.
pub(super) fn size(mode: PrimitiveMode) -> (u32, bool) {
    match mode {
        PrimitiveMode::Points => (1, true),
        PrimitiveMode::Lines => (2, true),
        PrimitiveMode::LineLoop | PrimitiveMode::LineStrip => (2, false),
        PrimitiveMode::Triangles => (3, true),
        PrimitiveMode::TriangleStrip | PrimitiveMode::TriangleFan => (3, false),
    }
}

/// The primitives as a list, each beginning with its provoking vertex (Vulkan 1.0 §19.1), or ending with it if
/// `rotate`. `restart` ends a strip or fan.
pub(super) fn assemble(mode: PrimitiveMode, indices: &[u32], restart: Option<u32>, rotate: bool) -> Vec<u32> {
    let mut list = Vec::with_capacity(indices.len());
    for part in indices.split(|index| Some(*index) == restart) {
        strip(mode, part, &mut list);
    }
    if rotate {
        let (size, _) = size(mode);
        list.chunks_exact_mut(size as usize).for_each(|primitive| primitive.rotate_left(1));
    }
    list
}

fn strip(mode: PrimitiveMode, part: &[u32], list: &mut Vec<u32>) {
    match mode {
        PrimitiveMode::Points => list.extend(part),
        PrimitiveMode::Lines => list.extend(&part[..part.len() / 2 * 2]),
        PrimitiveMode::Triangles => list.extend(&part[..part.len() / 3 * 3]),
        PrimitiveMode::LineLoop | PrimitiveMode::LineStrip => {
            part.windows(2).for_each(|line| list.extend(line));
        }
        PrimitiveMode::TriangleStrip => {
            for (n, triangle) in part.windows(3).enumerate() {
                let [a, b, c] = [triangle[0], triangle[1], triangle[2]];
                list.extend(if n % 2 == 0 { [a, b, c] } else { [a, c, b] });
            }
        }
        PrimitiveMode::TriangleFan => {
            let Some((center, rim)) = part.split_first() else { return };
            rim.windows(2).for_each(|edge| list.extend([edge[0], edge[1], *center]));
        }
    }
}

/// Primitives of a list whose vertices lie close enough together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Part of the list.
    pub range: Range<usize>,
    /// Its lowest vertex.
    pub base: i64,
    /// Its highest, counted from the lowest.
    pub max_index: u32,
}

impl Run {
    /// The indices of the run, 16 bits each.
    pub fn bytes(&self, vertices: &[i64]) -> Vec<u8> {
        vertices[self.range.clone()].iter().flat_map(|v| ((v - self.base) as u16).to_le_bytes()).collect()
    }
}

/// Cuts a list of primitives into runs, in order; `None` if a single primitive spans too much.
pub(super) fn runs(vertices: &[i64], size: usize) -> Option<Vec<Run>> {
    let span = i64::from(MAX_VERTEX_INDEX);
    let mut runs: Vec<Run> = Vec::new();
    for (n, primitive) in vertices.chunks_exact(size).enumerate() {
        let (low, high) = (*primitive.iter().min()?, *primitive.iter().max()?);
        if high - low > span {
            return None;
        }
        let end = (n + 1) * size;
        if let Some(run) = runs.last_mut() {
            let base = run.base.min(low);
            let top = (run.base + i64::from(run.max_index)).max(high);
            if top - base <= span {
                *run = Run { range: run.range.start..end, base, max_index: (top - base) as u32 };
                continue;
            }
        }
        runs.push(Run { range: n * size..end, base: low, max_index: (high - low) as u32 });
    }
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_keep_order_and_winding() {
        let list = |mode, rotate| assemble(mode, &[0, 1, 2, 3, 4], None, rotate);
        let strip = PrimitiveMode::TriangleStrip;
        assert_eq!(list(strip, false), [0, 1, 2, 1, 3, 2, 2, 3, 4]);
        assert_eq!(list(strip, true), [1, 2, 0, 3, 2, 1, 3, 4, 2]);
        assert_eq!(list(PrimitiveMode::TriangleFan, false), [1, 2, 0, 2, 3, 0, 3, 4, 0]);
        assert_eq!(list(PrimitiveMode::LineStrip, true), [1, 0, 2, 1, 3, 2, 4, 3]);
        assert_eq!(list(PrimitiveMode::Triangles, false), [0, 1, 2]);
    }

    #[test]
    fn restart_begins_anew() {
        let indices = [5, 6, 7, 8, 0xffff, 1, 2, 0xffff, 0xffff, 3, 4, 5];
        let list = assemble(PrimitiveMode::TriangleStrip, &indices, Some(0xffff), false);
        assert_eq!(list, [5, 6, 7, 6, 8, 7, 3, 4, 5]);
    }

    #[test]
    fn runs_are_as_long_as_their_span_allows() {
        let far = 1 << 20;
        let list = [0, 1, 2, 65535, 3, 4, 65536, 3, 4, far, far + 1, far + 2];
        let cut = runs(&list, 3).unwrap();
        let run = |range, base, max_index| Run { range, base, max_index };
        assert_eq!(cut, [run(0..6, 0, 65535), run(6..9, 3, 65533), run(9..12, far, 2)]);
        assert_eq!(cut[1].bytes(&list), [0xfd, 0xff, 0, 0, 1, 0]);
        assert_eq!(runs(&[0, 1, 65536], 3), None);
    }
}

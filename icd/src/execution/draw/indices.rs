//! Index buffers: reading, and rewriting into lists.

use rustc_hash::FxHashMap;
use vc4::cl::packets::PrimitiveMode;
use vc4::hw::MAX_VERTEX_INDEX;

use super::index_range::IndexRange;
use super::site::Site;
use crate::foundation::debug::is_strict;
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::objects::memory::Binding;
use crate::segments::IndexBinding;

/// Indices that are read in one go.
const CHUNK: usize = 256;

/// What a draw must know of its indices beforehand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    /// The largest.
    pub max: u32,
    /// One of them is the value that restarts strips and fans.
    pub restarts: bool,
}

impl IndexRange {
    /// Looks at every index; the binding is the one that the range was made of.
    pub fn scan(&self, site: Site<'_>, binding: &IndexBinding) -> Result<Scan, Error> {
        let mut scan = Scan { max: 0, restarts: false };
        self.each_chunk(site, binding, |indices| {
            let max = indices.iter().copied().max().unwrap_or(0);
            scan.restarts |= max == self.restart();
            scan.max = scan.max.max(max);
        })?;
        Ok(scan)
    }

    /// The indices; 0 where the buffer ends early.
    pub fn read(&self, site: Site<'_>, binding: &IndexBinding) -> Result<Vec<u32>, Error> {
        let mut values = Vec::with_capacity(self.count() as usize);
        self.each_chunk(site, binding, |indices| values.extend_from_slice(indices))?;
        values.resize(self.count() as usize, 0);
        Ok(values)
    }

    /// Hands out the indices, as they were at the last look if nothing has changed since.
    fn each_chunk(
        &self,
        site: Site<'_>,
        binding: &IndexBinding,
        mut each: impl FnMut(&[u32]),
    ) -> Result<(), Error> {
        let place = binding.buffer.binding()?;
        let first = self.address() as usize;
        site.ledger.rests_on_bytes(place, first..first + self.index_bytes() * self.have())?;
        if let Some(indices) = site.shadows.find(self, place, site.changes) {
            if is_strict() {
                let _check = site.device().physical().traffic().check();
                let mut now = Vec::with_capacity(indices.len());
                self.each_in_memory(place, |indices| now.extend_from_slice(indices))?;
                if now != *indices {
                    return Err(Error::Panic("indices have changed that are taken for unchanged".into()));
                }
            }
            indices.chunks(CHUNK).for_each(each);
            return Ok(());
        }
        if !site.shadows.wants(self.have(), place) {
            return self.each_in_memory(place, each);
        }
        let mut all = Vec::with_capacity(self.have());
        self.each_in_memory(place, |indices| {
            all.extend_from_slice(indices);
            each(indices);
        })?;
        site.shadows.keep(*self, place, all, site.changes);
        Ok(())
    }

    /// Hands out the indices in memory. Mappings are read in bursts.
    fn each_in_memory(&self, place: &Binding, mut each: impl FnMut(&[u32])) -> Result<(), Error> {
        let memory = place.bo.access(Cause::Indices)?;
        let (mut bytes, mut values) = ([0; 4 * CHUNK], [0; CHUNK]);
        let size = self.index_bytes();
        let (mut at, mut left) = (self.address() as usize, self.have());
        while left > 0 {
            let count = left.min(CHUNK);
            let (bytes, values) = (&mut bytes[..size * count], &mut values[..count]);
            memory.read(at, bytes);
            match size {
                1 => values.iter_mut().zip(&*bytes).for_each(|(to, from)| *to = u32::from(*from)),
                2 => {
                    let indices = bytes.chunks_exact(2).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])));
                    values.iter_mut().zip(indices).for_each(|(to, from)| *to = from);
                }
                _ => {
                    let indices = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                    values.iter_mut().zip(indices).for_each(|(to, from)| *to = from);
                }
            }
            each(values);
            (at, left) = (at + size * count, left - count);
        }
        Ok(())
    }
}

/// Vertices of a primitive, and whether primitives share none.
#[inline]
pub(super) fn size(mode: PrimitiveMode) -> (u32, bool) {
    match mode {
        PrimitiveMode::Points => (1, true),
        PrimitiveMode::Lines => (2, true),
        PrimitiveMode::LineLoop | PrimitiveMode::LineStrip => (2, false),
        PrimitiveMode::Triangles => (3, true),
        PrimitiveMode::TriangleStrip | PrimitiveMode::TriangleFan => (3, false),
    }
}

/// Primitives of `count` vertices, or a few more than there are in strips and fans.
#[inline]
pub(super) fn primitives(mode: PrimitiveMode, count: u32) -> u32 {
    // Divisions by constants take a few instructions, others dozens of cycles.
    match mode {
        PrimitiveMode::Lines => count / 2,
        PrimitiveMode::Triangles => count / 3,
        _ => count,
    }
}

/// Most vertices of an array draw.
pub(super) const RUN: u32 = MAX_VERTEX_INDEX;

/// Most vertices of a run of an array draw.
#[inline]
pub(super) fn run_length(mode: PrimitiveMode) -> u32 {
    part_length(mode, RUN)
}

#[inline]
fn part_length(mode: PrimitiveMode, most: u32) -> u32 {
    match mode {
        // An even advance keeps the winding.
        PrimitiveMode::TriangleStrip => most / 2 * 2,
        mode => whole(mode, most),
    }
}

/// `count` vertices in parts of at most `most`: the first of each and how many. No primitive is lost or drawn twice; fans,
/// whose primitives share their first vertex, are not cut.
#[inline]
pub(super) fn cut(mode: PrimitiveMode, count: u32, most: u32) -> impl Iterator<Item = (u32, u32)> {
    let length = if mode == PrimitiveMode::TriangleFan { count } else { part_length(mode, most) };
    let shared = match mode {
        PrimitiveMode::LineStrip => 1,
        PrimitiveMode::TriangleStrip => 2,
        _ => 0,
    };
    let starts = std::iter::successors(Some(0), move |start| {
        (count - start > length).then(|| start + length - shared)
    });
    starts.map(move |start| (start, (count - start).min(length)))
}

/// Vertices without the rest of an unfinished primitive.
#[inline]
pub(super) fn whole(mode: PrimitiveMode, count: u32) -> u32 {
    match size(mode) {
        (size, true) => primitives(mode, count) * size,
        (size, false) if count < size => 0,
        (_, false) => count,
    }
}

/// How the vertices of a primitive stand in a list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    /// The provoking vertex is the last one of the primitive (VK_EXT_provoking_vertex), not the first (Vulkan 1.0 §19.1).
    pub last_provokes: bool,
    /// The primitive ends with the provoking vertex instead of beginning with it.
    pub rotate: bool,
}

/// The primitives as a list, in an order that keeps their winding. Each part is a list, strip or fan of its own.
pub(super) fn assemble<'a>(
    mode: PrimitiveMode,
    parts: impl Iterator<Item = &'a [u32]>,
    order: Order,
) -> Vec<u32> {
    let mut list = Vec::new();
    let size = size(mode).0 as usize;
    for part in parts {
        let start = list.len();
        strip(mode, part, &mut list);
        for (n, primitive) in list[start..].chunks_exact_mut(size).enumerate() {
            let provoking = if order.last_provokes { last_vertex(mode, n) } else { 0 };
            primitive.rotate_left((provoking + usize::from(order.rotate)) % size);
        }
    }
    list
}

/// A part without the vertices that only geometry shaders see (Vulkan 1.0 §19.1).
pub(super) fn without_adjacency(mode: PrimitiveMode, part: &[u32]) -> Vec<u32> {
    match mode {
        PrimitiveMode::Lines => part.chunks_exact(4).flat_map(|line| [line[1], line[2]]).collect(),
        PrimitiveMode::LineStrip => part.get(1..part.len().saturating_sub(1)).unwrap_or(&[]).to_vec(),
        PrimitiveMode::Triangles => part.chunks_exact(6).flat_map(|t| [t[0], t[2], t[4]]).collect(),
        PrimitiveMode::TriangleStrip => part.chunks_exact(2).map(|pair| pair[0]).collect(),
        PrimitiveMode::Points | PrimitiveMode::LineLoop | PrimitiveMode::TriangleFan => part.to_vec(),
    }
}

/// Lists a part's primitives, each from its first vertex on.
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

/// Where primitive number `n` of a part has the vertex that came last, once [`strip`] has listed it.
fn last_vertex(mode: PrimitiveMode, n: usize) -> usize {
    match mode {
        PrimitiveMode::Points => 0,
        PrimitiveMode::Lines | PrimitiveMode::LineLoop | PrimitiveMode::LineStrip => 1,
        PrimitiveMode::Triangles => 2,
        PrimitiveMode::TriangleStrip => 2 - n % 2,
        PrimitiveMode::TriangleFan => 1,
    }
}

/// What is drawn of a list of primitives, one by one: themselves, or edges or corners of triangles.
pub(super) fn sides(list: &[i64], mode: PrimitiveMode, drawn: PrimitiveMode) -> Vec<i64> {
    let sides = pattern(mode, drawn);
    list.chunks_exact(size(mode).0 as usize).flat_map(|one| sides.iter().map(|corner| one[*corner])).collect()
}

/// As [`sides`], where no primitive shares vertices with another: runs whose vertices are those of primitives, one behind
/// the other.
pub(super) fn apart(list: &[i64], mode: PrimitiveMode, drawn: PrimitiveMode) -> Vec<Run> {
    let sides = pattern(mode, drawn);
    let size = size(mode).0 as usize;
    let run = |vertices: &[i64]| {
        let firsts = (0..vertices.len()).step_by(size);
        Run {
            indices: firsts.flat_map(|first| sides.iter().map(move |side| (first + side) as u16)).collect(),
            max_index: vertices.len() as u32 - 1,
            vertices: vertices.into(),
        }
    };
    list[..list.len() / size * size].chunks(RUN as usize / size * size).map(run).collect()
}

/// Vertices of a primitive in the order in which it, its edges or its corners are drawn.
fn pattern(mode: PrimitiveMode, drawn: PrimitiveMode) -> &'static [usize] {
    match (size(mode).0, drawn) {
        (3, PrimitiveMode::Lines) => &[0, 1, 1, 2, 2, 0],
        (3, _) => &[0, 1, 2],
        (2, _) => &[0, 1],
        _ => &[0],
    }
}

/// Primitives of a list that the machine can draw at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Indices into the run's vertices.
    pub indices: Vec<u16>,
    /// The largest index.
    pub max_index: u32,
    /// The vertices by index; of runs of neighbouring vertices only the first.
    pub vertices: Vec<i64>,
}

impl Run {
    /// The indices of the run, 16 bits each.
    pub fn bytes(&self) -> Vec<u8> {
        self.indices.iter().flat_map(|index| index.to_le_bytes()).collect()
    }

    /// A run of vertices from `low` to `high`.
    fn of_neighbours(vertices: &[i64], (low, high): (i64, i64)) -> Run {
        Run {
            indices: vertices.iter().map(|vertex| (vertex - low) as u16).collect(),
            max_index: (high - low) as u32,
            vertices: vec![low],
        }
    }
}

/// Cuts a list of primitives into runs of vertices that lie close enough together, in order; `None` if a single
/// primitive spans too much.
pub(super) fn runs(vertices: &[i64], size: usize) -> Option<Vec<Run>> {
    let span = i64::from(MAX_VERTEX_INDEX);
    let mut runs = Vec::new();
    let mut start = 0;
    let mut bounds: Option<(i64, i64)> = None;
    for (n, primitive) in vertices.chunks_exact(size).enumerate() {
        let (low, high) = (*primitive.iter().min()?, *primitive.iter().max()?);
        if high - low > span {
            return None;
        }
        let both = bounds.map_or((low, high), |(bottom, top)| (bottom.min(low), top.max(high)));
        match bounds {
            Some(old) if both.1 - both.0 > span => {
                runs.push(Run::of_neighbours(&vertices[start..n * size], old));
                (start, bounds) = (n * size, Some((low, high)));
            }
            _ => bounds = Some(both),
        }
    }
    let end = vertices.len() / size * size;
    runs.extend(bounds.map(|bounds| Run::of_neighbours(&vertices[start..end], bounds)));
    Some(runs)
}

/// Cuts a list of primitives into runs that number the vertices they use, in order.
pub(super) fn gather(vertices: &[i64], size: usize) -> Vec<Run> {
    let most = MAX_VERTEX_INDEX as usize + 1;
    let mut runs: Vec<Run> = Vec::new();
    let mut numbers: FxHashMap<i64, u16> = FxHashMap::default();
    for primitive in vertices.chunks_exact(size) {
        let fits = |run: &Run| run.vertices.len() + size <= most;
        if !runs.last().is_some_and(fits) {
            runs.push(Run { indices: Vec::new(), max_index: 0, vertices: Vec::new() });
            numbers.clear();
        }
        let Some(run) = runs.last_mut() else { continue };
        for &vertex in primitive {
            let number = *numbers.entry(vertex).or_insert_with(|| {
                run.vertices.push(vertex);
                (run.vertices.len() - 1) as u16
            });
            run.indices.push(number);
        }
        run.max_index = run.vertices.len() as u32 - 1;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_keep_order_and_winding() {
        let of = |mode, order| assemble(mode, [[0, 1, 2, 3, 4].as_slice()].into_iter(), order);
        let list = |mode, rotate| of(mode, Order { rotate, last_provokes: false });
        let strip = PrimitiveMode::TriangleStrip;
        assert_eq!(list(strip, false), [0, 1, 2, 1, 3, 2, 2, 3, 4]);
        assert_eq!(list(strip, true), [1, 2, 0, 3, 2, 1, 3, 4, 2]);
        assert_eq!(list(PrimitiveMode::TriangleFan, false), [1, 2, 0, 2, 3, 0, 3, 4, 0]);
        assert_eq!(list(PrimitiveMode::LineStrip, true), [1, 0, 2, 1, 3, 2, 4, 3]);
        assert_eq!(list(PrimitiveMode::Triangles, false), [0, 1, 2]);

        let last = |mode, rotate| of(mode, Order { rotate, last_provokes: true });
        assert_eq!(last(strip, false), [2, 0, 1, 3, 2, 1, 4, 2, 3]);
        assert_eq!(last(strip, true), [0, 1, 2, 2, 1, 3, 2, 3, 4]);
        assert_eq!(last(PrimitiveMode::TriangleFan, true), [0, 1, 2, 0, 2, 3, 0, 3, 4]);
        assert_eq!(last(PrimitiveMode::LineStrip, false), [1, 0, 2, 1, 3, 2, 4, 3]);
        assert_eq!(last(PrimitiveMode::Lines, true), [0, 1, 2, 3]);
        assert_eq!(last(PrimitiveMode::Triangles, false), [2, 0, 1]);
    }

    #[test]
    fn adjacent_vertices_are_passed_over() {
        let numbers: Vec<u32> = (0..13).collect();
        let without = |mode, count| without_adjacency(mode, &numbers[..count]);
        assert_eq!(without(PrimitiveMode::Lines, 11), [1, 2, 5, 6]);
        assert_eq!(without(PrimitiveMode::LineStrip, 5), [1, 2, 3]);
        assert_eq!(without(PrimitiveMode::LineStrip, 1), []);
        assert_eq!(without(PrimitiveMode::Triangles, 13), [0, 2, 4, 6, 8, 10]);
        assert_eq!(without(PrimitiveMode::TriangleStrip, 9), [0, 2, 4, 6]);
    }

    #[test]
    fn triangles_are_taken_apart() {
        let triangles = [7, 8, 9, 9, 8, 4, 1];
        assert_eq!(
            sides(&triangles, PrimitiveMode::Triangles, PrimitiveMode::Lines),
            [7, 8, 8, 9, 9, 7, 9, 8, 8, 4, 4, 9]
        );
        assert_eq!(sides(&triangles, PrimitiveMode::Triangles, PrimitiveMode::Points), triangles[..6]);
        let segments = apart(&triangles, PrimitiveMode::Lines, PrimitiveMode::Lines);
        assert_eq!(segments[0].indices, [0, 1, 2, 3, 4, 5]);
        let lines = Run {
            indices: vec![0, 1, 1, 2, 2, 0, 3, 4, 4, 5, 5, 3],
            max_index: 5,
            vertices: triangles[..6].into(),
        };
        assert_eq!(apart(&triangles, PrimitiveMode::Triangles, PrimitiveMode::Lines), [lines]);
        let many: Vec<i64> = (0..3 * 21846).collect();
        let runs = apart(&many, PrimitiveMode::Triangles, PrimitiveMode::Points);
        assert_eq!(runs.iter().map(|run| run.vertices.len()).collect::<Vec<_>>(), [65535, 3]);
        assert_eq!((runs[0].max_index, &runs[1].indices[..]), (65534, &[0, 1, 2][..]));
    }

    #[test]
    fn restart_begins_anew() {
        let indices = [5, 6, 7, 8, 0xffff, 1, 2, 0xffff, 0xffff, 3, 4, 5];
        let parts = indices.split(|index| *index == 0xffff);
        let list = assemble(PrimitiveMode::TriangleStrip, parts, Order::default());
        assert_eq!(list, [5, 6, 7, 6, 8, 7, 3, 4, 5]);
    }

    #[test]
    fn runs_are_as_long_as_their_span_allows() {
        let far = 1 << 20;
        let list = [0, 1, 2, 65535, 3, 4, 65536, 3, 4, far, far + 1, far + 2];
        let run = |indices: &[u16], base, max_index| Run {
            indices: indices.into(),
            max_index,
            vertices: vec![base],
        };
        let first = run(&[0, 1, 2, 65535, 3, 4], 0, 65535);
        let cut = runs(&list, 3).unwrap();
        assert_eq!(cut, [first, run(&[65533, 0, 1], 3, 65533), run(&[0, 1, 2], far, 2)]);
        assert_eq!(cut[1].bytes(), [0xfd, 0xff, 0, 0, 1, 0]);
        assert_eq!(runs(&[0, 1, 65536], 3), None);
        assert_eq!(runs(&[], 3), Some(vec![]));
    }

    #[test]
    fn gathered_runs_number_what_they_use() {
        let run = |indices: &[u16], vertices: &[i64]| Run {
            indices: indices.into(),
            max_index: vertices.len() as u32 - 1,
            vertices: vertices.into(),
        };
        assert_eq!(gather(&[7, -1, 1 << 40, 7, 7, 8], 3), [run(&[0, 1, 2, 0, 0, 3], &[7, -1, 1 << 40, 8])]);
        // The 21846th triangle does not fit behind 65535 vertices.
        let many: Vec<i64> = (0..3 * 21846).map(|n| n * 70000).collect();
        let cut = gather(&many, 3);
        assert_eq!((cut.len(), cut[0].vertices.len(), cut[0].max_index), (2, 65535, 65534));
        assert_eq!(cut[1], run(&[0, 1, 2], &many[65535..]));
    }
}

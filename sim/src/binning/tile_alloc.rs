//! The memory that tile lists take (v3d.md §8, §5.5): tile lists have a private form here, but the binner runs out of
//! memory when the real ones would.
//!
//! Every list begins in a block of its own and takes further ones from a pool. An empty pool is exchanged for
//! overflow memory; what was left of it is lost, as on the chip.

use crate::geometry::Kind;

/// Bytes of a branch from a full block to the next one.
const BRANCH_BYTES: u32 = 5;
/// Bytes of the state packets that reach tile lists, by their place in [`Group`].
const GROUP_BYTES: [u32; 9] = [2, 5, 4, 5, 5, 5, 5, 9, 5];
/// Packet 48, and the byte that ends a compressed list.
const LIST_BYTES: u32 = 2;
/// Packet 49 with its address.
const CLIPPED_BYTES: u32 = 5;
/// Bytes of a clipped vertex (v3d.md §6.4).
const CLIPPED_VERTEX_BYTES: u32 = 32;

/// State that the binner writes into a tile list once it is needed there (v3d.md §4): its packets 56, 64, 96, 97, 98, 99, 101, 102
/// and 103.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Packet 56.
    ListFormat,
    /// Packet 64.
    Shader,
    /// Packet 96.
    Config,
    /// Packet 97.
    Flat,
    /// Packet 98.
    PointSize,
    /// Packet 99.
    LineWidth,
    /// Packet 101.
    DepthOffset,
    /// Packet 102.
    ClipWindow,
    /// Packet 103.
    Viewport,
}

/// Where a list stands.
#[derive(Clone, Copy, Debug, Default)]
struct Tile {
    /// Bytes left in its block.
    left: u32,
    /// Vertices of the last primitive.
    last: [i32; 3],
    /// Value of [`TileAlloc::epoch`] when state was last written.
    epoch: u32,
    /// What was written of each group.
    written: [u32; GROUP_BYTES.len()],
}

/// Overflow memory of so many bytes, or `None` when there is no more.
pub type Overflow<'a> = &'a mut dyn FnMut() -> Option<u32>;

/// The binner's memory during one job.
pub struct TileAlloc<'a> {
    tiles: Vec<Tile>,
    block: u32,
    pool: u32,
    overflow: Overflow<'a>,
    /// How often each group changed.
    versions: [u32; GROUP_BYTES.len()],
    /// Changes of all groups.
    epoch: u32,
    /// Blocks of overflow memory taken.
    spills: u32,
    exhausted: bool,
}

impl<'a> TileAlloc<'a> {
    /// Memory of `bytes` bytes for so many lists, in blocks of `initial` and then of `block` bytes.
    pub fn new(bytes: u32, tiles: usize, initial: u32, block: u32, overflow: Overflow<'a>) -> TileAlloc<'a> {
        let first = Tile { left: initial, ..Tile::default() };
        TileAlloc {
            tiles: vec![first; tiles],
            block,
            pool: bytes.saturating_sub(initial.saturating_mul(tiles as u32)),
            overflow,
            versions: [0; GROUP_BYTES.len()],
            epoch: 0,
            spills: 0,
            exhausted: false,
        }
    }

    /// A state packet changes what lists must hold from here on.
    pub fn state(&mut self, group: Group) {
        self.versions[group as usize] += 1;
        self.epoch += 1;
    }

    /// Whether memory was missing: the binner stalls for ever.
    pub fn exhausted(&self) -> bool {
        self.exhausted
    }

    /// Blocks of overflow memory taken so far.
    pub fn spills(&self) -> u32 {
        self.spills
    }

    /// Room for records of clipped vertices.
    pub fn clipped_vertices(&mut self, count: u32) {
        self.take(count * CLIPPED_VERTEX_BYTES);
    }

    /// Room for a primitive with these vertex indices in a tile's list.
    ///
    /// UNVERIFIED: which of the possible encodings does the PTB choose, and when does it end a compressed list? The shortest one, and a
    /// list ends at a change of state and at a clipped primitive (v3d.md §5.5).
    pub fn primitive(&mut self, tile: usize, kind: Kind, indices: [u32; 3], clipped: bool) {
        let state = self.state_bytes(tile);
        let entry = &mut self.tiles[tile];
        let indices = indices.map(|index| index as i32);
        let mut bytes = encoded(kind, entry.last, indices) + state;
        entry.last = indices;
        if state > 0 {
            bytes += LIST_BYTES;
        }
        if clipped {
            bytes += CLIPPED_BYTES + LIST_BYTES;
        }
        if entry.left >= bytes + BRANCH_BYTES {
            entry.left -= bytes;
            return;
        }
        self.tiles[tile].left = self.block.saturating_sub(bytes);
        self.take(self.block);
    }

    /// Bytes of the state that the tile's list does not hold yet.
    fn state_bytes(&mut self, tile: usize) -> u32 {
        let tile = &mut self.tiles[tile];
        if tile.epoch == self.epoch {
            return 0;
        }
        tile.epoch = self.epoch;
        let mut bytes = 0;
        for ((written, version), size) in tile.written.iter_mut().zip(self.versions).zip(GROUP_BYTES) {
            if *written != version {
                *written = version;
                bytes += size;
            }
        }
        bytes
    }

    fn take(&mut self, bytes: u32) {
        if self.pool < bytes && !self.exhausted {
            match (self.overflow)() {
                Some(more) => {
                    self.spills += 1;
                    self.pool = more;
                }
                None => self.exhausted = true,
            }
        }
        self.pool = self.pool.saturating_sub(bytes);
    }
}

/// Bytes of a primitive with 16-bit indices behind one with the indices `last` (v3d.md §5.5).
fn encoded(kind: Kind, last: [i32; 3], new: [i32; 3]) -> u32 {
    let six = |delta: i32| (-31..=31).contains(&delta);
    let four = |n: usize| (-8..=7).contains(&(new[n] - last[n]));
    match kind {
        Kind::Point => {
            let delta = new[0] - last[0];
            if six(delta) {
                1
            } else if (-8192..=8191).contains(&delta) {
                2
            } else {
                3
            }
        }
        Kind::Line => {
            if (new[0] == last[1] || new[0] == last[0]) && six(new[1] - last[1]) {
                1
            } else if four(0) && four(1) {
                2
            } else if six(new[1] - new[0]) {
                3
            } else {
                5
            }
        }
        Kind::Triangle => {
            let shared =
                [(2, 1), (0, 2), (1, 0)].into_iter().any(|(a, b)| (new[0], new[1]) == (last[a], last[b]));
            if shared && six(new[2] - last[2]) {
                1
            } else if (0..3).all(four) {
                2
            } else if six(new[1] - new[0]) && six(new[2] - new[0]) {
                4
            } else {
                7
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_by_distance() {
        let sizes = |kind, news: &[[i32; 3]]| -> Vec<u32> {
            news.iter().map(|&new| encoded(kind, [10, 11, 12], new)).collect()
        };
        let triangles = [[12, 11, 43], [10, 12, 44], [17, 3, 5], [50, 81, 19], [50, 82, 19], [0, 40, 80]];
        assert_eq!(sizes(Kind::Triangle, &triangles), [1, 7, 2, 4, 7, 7]);
        assert_eq!(sizes(Kind::Line, &[[11, 42, 0], [17, 18, 0], [99, 80, 0], [99, 200, 0]]), [1, 2, 3, 5]);
        assert_eq!(sizes(Kind::Point, &[[41, 0, 0], [42, 0, 0], [9000, 0, 0]]), [1, 2, 3]);
    }

    #[test]
    fn lists_grow_by_blocks_and_then_by_overflow() {
        let mut given = 0;
        let mut overflow = || {
            given += 1;
            (given <= 2).then_some(256)
        };
        // One tile: 32 bytes, then one block of the pool.
        let mut alloc = TileAlloc::new(32 + 128, 1, 32, 128, &mut overflow);
        alloc.state(Group::Config);
        let mut counts = Vec::new();
        while !alloc.exhausted() {
            alloc.primitive(0, Kind::Triangle, [counts.len() as u32 * 1000, 0, 0], false);
            counts.push(alloc.spills());
        }
        // The first block: 4 + 2 + 1, then 7 twice, and no room for 7 and a branch. Each further one: 17 of 7 bytes.
        let first = 3;
        let per_block = 17;
        let at = |spills: u32| counts.iter().position(|&n| n == spills).unwrap();
        assert_eq!(at(1), first + per_block);
        assert_eq!(at(2), first + 3 * per_block);
        assert_eq!(counts.len(), first + 5 * per_block + 1);
    }

    #[test]
    fn state_is_written_when_a_list_needs_it() {
        let mut none = || None;
        let mut alloc = TileAlloc::new(1 << 20, 2, 32, 128, &mut none);
        alloc.state(Group::ClipWindow);
        alloc.state(Group::ClipWindow);
        assert_eq!((alloc.state_bytes(0), alloc.state_bytes(0)), (9, 0));
        alloc.state(Group::Shader);
        assert_eq!((alloc.state_bytes(0), alloc.state_bytes(1)), (5, 14));
    }
}

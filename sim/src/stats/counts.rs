//! Counts per line of a program, and per tile and draw, while a job is observed.

use std::collections::BTreeMap;

use vc4::qpu::Stage;
use vc4::qpu::cost::CLOCKS_PER_SLOT;

use crate::lanes::Lanes;

/// Work of the QPUs and around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Program instances of 16 elements.
    pub instances: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Core clocks by the static estimate of [`vc4::qpu::cost`], one thread per QPU.
    pub cycles: u64,
    /// Texture and direct lookups of 16 elements.
    pub lookups: u64,
    /// Quads given to fragment programs.
    pub quads: u64,
    /// Pixels with coverage in those quads.
    pub pixels: u64,
}

impl Work {
    /// Adds other work to this.
    pub fn add(&mut self, other: &Work) {
        self.instances += other.instances;
        self.instructions += other.instructions;
        self.cycles += other.cycles;
        self.lookups += other.lookups;
        self.quads += other.quads;
        self.pixels += other.pixels;
    }
}

/// A program of a draw.
pub type Place = (u32, Stage);

/// Counts per line, and per tile and draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often each instruction of a draw's program ran.
    pub lines: BTreeMap<Place, Vec<u64>>,
    /// All work of a draw's program.
    pub programs: BTreeMap<Place, Work>,
    /// Fragment work by tile (its number, row by row) and draw.
    pub tiles: BTreeMap<(usize, u32), Work>,
    /// What runs now, and its counts that are not in the maps yet.
    place: Option<(Place, Option<usize>)>,
    work: Work,
    executed: Vec<u64>,
}

impl Counts {
    /// What follows belongs to this program of this draw, in this tile list.
    pub fn enter(counts: &mut Option<Box<Counts>>, draw: usize, stage: Stage, tile: Option<usize>) {
        let Some(counts) = counts else { return };
        let place = Some(((draw as u32, stage), tile));
        if counts.place != place {
            counts.leave();
            counts.place = place;
        }
    }

    /// Instruction `index` was executed, which takes that many slots of four clocks.
    #[inline]
    pub fn line(&mut self, index: usize, slots: u32) {
        if self.executed.len() <= index {
            self.executed.resize(index + 1, 0);
        }
        self.executed[index] += 1;
        self.work.instructions += 1;
        self.work.cycles += u64::from(slots * CLOCKS_PER_SLOT);
    }

    /// A program instance ended.
    pub fn instance(&mut self, lookups: u64) {
        self.work.instances += 1;
        self.work.lookups += lookups;
    }

    /// A batch of quads is about to be shaded.
    pub fn quads(&mut self, quads: usize, coverage: &Lanes) {
        self.work.quads += quads as u64;
        self.work.pixels += coverage[..quads * 4].iter().filter(|&&flags| flags != 0).count() as u64;
    }

    /// Puts the counts of what ran last into the maps.
    pub(crate) fn leave(&mut self) {
        let (work, executed) = (std::mem::take(&mut self.work), std::mem::take(&mut self.executed));
        let Some((place, tile)) = self.place.take() else { return };
        add_lines(self.lines.entry(place).or_default(), &executed);
        self.programs.entry(place).or_default().add(&work);
        if let Some(tile) = tile {
            self.tiles.entry((tile, place.0)).or_default().add(&work);
        }
    }

    /// Adds the counts of another part of the job.
    pub fn merge(&mut self, mut other: Counts) {
        other.leave();
        for (place, lines) in &other.lines {
            add_lines(self.lines.entry(*place).or_default(), lines);
        }
        for (place, work) in &other.programs {
            self.programs.entry(*place).or_default().add(work);
        }
        for (place, work) in &other.tiles {
            self.tiles.entry(*place).or_default().add(work);
        }
    }

    /// The work of all programs.
    pub fn total(&self) -> Work {
        let mut total = Work::default();
        self.programs.values().for_each(|work| total.add(work));
        total
    }
}

fn add_lines(all: &mut Vec<u64>, more: &[u64]) {
    if all.len() < more.len() {
        all.resize(more.len(), 0);
    }
    for (sum, count) in all.iter_mut().zip(more) {
        *sum += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_to_the_place_that_was_entered() {
        let mut counts = Some(Box::<Counts>::default());
        Counts::enter(&mut counts, 3, Stage::Fragment, Some(7));
        counts.as_mut().unwrap().quads(2, &[1, 0, 0, 2, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9]);
        counts.as_mut().unwrap().instance(5);
        Counts::enter(&mut counts, 4, Stage::Vertex, None);
        counts.as_mut().unwrap().instance(1);
        let mut all = Counts::default();
        all.merge(*counts.clone().unwrap());
        all.merge(*counts.unwrap());
        let expected = Work { instances: 2, lookups: 10, quads: 4, pixels: 12, ..Work::default() };
        assert_eq!(all.tiles, BTreeMap::from([((7, 3), expected)]));
        assert_eq!(all.programs[&(4, Stage::Vertex)].lookups, 2);
        assert_eq!(all.total().instances, 4);
    }

    #[test]
    fn nobody_counts_unless_asked() {
        let mut counts = None;
        Counts::enter(&mut counts, 0, Stage::Vertex, None);
        assert!(counts.is_none());
    }
}

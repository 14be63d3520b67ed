//! Running the tiles of a frame (v3d.md §2, §11.2): each [`Segment`] of the render list begins with a
//! known tile buffer, so segments run in parallel and the result is that of running them in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;
use vc4::facts::Facts;
use vc4::hw::tile_px;
use vc4::qpu::Stage;

use super::fragment::Worker;
use super::pse::{Prepared, prepare};
use super::segment::{Segment, Step, Target};
use super::surface::{load_full_res, store_full_res};
use crate::binning::Binned;
use crate::error::JobError;
use crate::memory::Memory;
use crate::qpu::Qpu;
use crate::stats::{Counts, Event, PixelTrace, Stats, idle_clocks, tile_waits};
use crate::unverified::tile_coordinate;

/// Executes all segments and adds to `stats`; the caller's rayon pool does the work. Where caches are modelled, one thread does: the tiles
/// share the L2 cache in the order of the list.
pub fn run(
    memory: &Memory,
    facts: &Facts,
    binned: Option<&Binned>,
    segments: &[Segment],
    mut stats: Stats,
) -> Result<Stats, JobError> {
    let prepared = match binned {
        Some(binned) => prepare_draws(memory, facts, binned, segments, &mut stats)?,
        None => Vec::new(),
    };
    let frame = Frame { memory, facts, binned, prepared: &prepared, empty: stats.part() };
    if stats.caches.is_some() || must_run_in_order(segments) {
        let mut worker = Worker::new(facts);
        for segment in segments {
            stats.merge(frame.segment(&mut worker, segment)?);
        }
    } else {
        for result in side_by_side(&frame, segments) {
            stats.merge(result?);
        }
    }
    let model = stats.caches.unwrap_or_default();
    let tile_clocks = (stats.tile_accesses as f64 * model.tile_access) as u64;
    stats.tile_waits = tile_waits(&stats.counters, tile_clocks, model.quad);
    stats.counters.add(Event::QpuFragment, stats.tile_waits);
    let idle = idle_clocks(&stats.counters, model.quad);
    stats.counters.add(Event::QpuIdle, idle);
    Ok(stats)
}

/// Runs segments on all threads of the pool. Their work differs, so each thread takes the next one that nobody has.
fn side_by_side(frame: &Frame, segments: &[Segment]) -> Vec<Result<Stats, JobError>> {
    let next = AtomicUsize::new(0);
    // Behind a faulty segment nothing needs to run: the first fault in list order is the job's.
    let faulty = AtomicUsize::new(usize::MAX);
    let threads = rayon::current_num_threads().min(segments.len());
    let run = |_| {
        let mut worker = Worker::new(frame.facts);
        let mut results = Vec::new();
        loop {
            let number = next.fetch_add(1, Relaxed);
            let Some(segment) = segments.get(number).filter(|_| number <= faulty.load(Relaxed)) else {
                return results;
            };
            let result = frame.segment(&mut worker, segment);
            if result.is_err() {
                faulty.fetch_min(number, Relaxed);
            }
            results.push((number, result));
        }
    };
    let mut results: Vec<_> = (0..threads).into_par_iter().with_max_len(1).flat_map_iter(run).collect();
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Shades the vertices of every draw that a rendered tile refers to.
fn prepare_draws(
    memory: &Memory,
    facts: &Facts,
    binned: &Binned,
    segments: &[Segment],
    stats: &mut Stats,
) -> Result<Vec<Option<Prepared>>, JobError> {
    let mut wanted = vec![false; binned.draws.len()];
    for (_, step) in segments.iter().flat_map(|segment| &segment.steps) {
        if let Step::List(tile) = step {
            for item in &binned.lists[*tile] {
                wanted[item.draw as usize] = true;
            }
        }
    }
    let one = |qpu: &mut Qpu, (number, (draw, wanted))| {
        let mut stats = stats.part();
        Counts::enter(&mut stats.counts, number, Stage::Vertex, None);
        let prepared = if wanted { Some(prepare(memory, draw, qpu, &mut stats)?) } else { None };
        Ok((prepared, stats))
    };
    let results: Vec<_> = if stats.caches.is_some() {
        let mut qpu = Qpu::of(facts);
        binned.draws.iter().zip(wanted).enumerate().map(|draw| one(&mut qpu, draw)).collect()
    } else {
        let draws = binned.draws.par_iter().zip(wanted).enumerate();
        draws.map_init(|| Qpu::of(facts), one).collect()
    };
    results
        .into_iter()
        .map(|result| {
            let (prepared, one) = result?;
            stats.merge(one);
            Ok(prepared)
        })
        .collect()
}

struct Frame<'a> {
    memory: &'a Memory,
    facts: &'a Facts,
    binned: Option<&'a Binned>,
    prepared: &'a [Option<Prepared>],
    /// What the counts of a segment begin with.
    empty: Stats,
}

impl Frame<'_> {
    fn segment(&self, worker: &mut Worker, segment: &Segment) -> Result<Stats, JobError> {
        let mut stats = self.empty.part();
        worker.begin(segment.multisample, segment.initial);
        let edge = tile_px(segment.multisample);
        for &((column, row), step) in &segment.steps {
            let facts = self.facts;
            let first = |tile| tile_coordinate(facts.tile_coordinates, tile, edge);
            let (left, top) = (first(column), first(row));
            match step {
                Step::Load(Target::Image(surface, _)) => {
                    worker.depth_changed();
                    let tile = &mut worker.tile;
                    surface.load(self.memory, facts, tile, left, top).map_err(JobError::bus("tile load"))?;
                }
                Step::Load(Target::Block { zs, address }) => {
                    worker.depth_changed();
                    load_full_res(self.memory, facts, &mut worker.tile, zs, address)
                        .map_err(JobError::bus("tile load"))?;
                }
                Step::Store(Target::Image(surface, resolve)) => {
                    surface
                        .store(self.memory, facts, &worker.tile, left, top, resolve)
                        .map_err(JobError::bus("tile store"))?;
                }
                Step::Store(Target::Block { zs, address }) => {
                    store_full_res(self.memory, facts, &worker.tile, zs, address)
                        .map_err(JobError::bus("tile store"))?;
                }
                Step::Clear(color, zs) => {
                    worker.depth_changed();
                    worker.tile.clear(color, zs);
                }
                Step::List(list) => self.list(worker, list, (left as i32, top as i32), &mut stats)?,
            }
        }
        Ok(stats)
    }

    fn list(
        &self,
        worker: &mut Worker,
        list: usize,
        origin: (i32, i32),
        stats: &mut Stats,
    ) -> Result<(), JobError> {
        let binned = self.binned.expect("the render list is only given tile lists of a binned job");
        for item in &binned.lists[list] {
            let draw = &binned.draws[item.draw as usize];
            let prepared = self.prepared[item.draw as usize]
                .as_ref()
                .expect("every draw of a rendered list was prepared");
            let binned = &draw.primitives[item.primitive as usize];
            Counts::enter(&mut stats.counts, item.draw as usize, Stage::Fragment, Some(list));
            PixelTrace::enter(&mut stats.pixel, item.draw);
            worker.draw(self.memory, draw, prepared, binned, origin, stats)?;
        }
        Ok(())
    }
}

/// Address range and form of what is loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Extent {
    start: u32,
    end: u64,
    /// Images: layout and pixels. Two equal extents meet only inside of one tile.
    form: Option<(u32, u32)>,
}

impl Extent {
    fn of(target: &Target) -> Extent {
        match target {
            Target::Image(surface, _) => Extent {
                start: surface.base,
                end: u64::from(surface.base) + u64::from(surface.level.size),
                form: Some((surface.level.tiling.code(), surface.pixels as u32)),
            },
            Target::Block { address, .. } => Extent {
                start: *address,
                end: u64::from(*address) + u64::from(vc4::image::layout::MSAA_TILE_BYTES),
                form: None,
            },
        }
    }

    fn meets(&self, other: &Extent) -> bool {
        u64::from(self.start) < other.end && u64::from(other.start) < self.end && self != other
    }
}

/// Whether one tile may read or overwrite what another stores: then the order of the list counts.
fn must_run_in_order(segments: &[Segment]) -> bool {
    let (mut loads, mut stores) = (BTreeSet::new(), BTreeSet::new());
    let mut owners: BTreeMap<Extent, (u8, u8)> = BTreeMap::new();
    for &(tile, step) in segments.iter().flat_map(|segment| &segment.steps) {
        let (set, target) = match step {
            Step::Load(target) => (&mut loads, target),
            Step::Store(target) => (&mut stores, target),
            Step::List(_) | Step::Clear(..) => continue,
        };
        let extent = Extent::of(&target);
        // A block belongs to one tile.
        if extent.form.is_none() && *owners.entry(extent).or_insert(tile) != tile {
            return true;
        }
        set.insert(extent);
    }
    // All blocks have one size, so those that overlap are neighbours when sorted.
    let mut end = 0;
    for block in owners.keys() {
        if u64::from(block.start) < end {
            return true;
        }
        end = block.end;
    }
    // Images are few, blocks many: only images are compared with everything.
    let clash = |a: &BTreeSet<Extent>, b: &BTreeSet<Extent>| {
        let mut images = a.iter().filter(|extent| extent.form.is_some());
        images.any(|image| b.iter().any(|other| image.meets(other)))
    };
    clash(&stores, &stores) || clash(&stores, &loads) || clash(&loads, &stores)
}

#[cfg(test)]
mod tests {
    use super::super::surface::Surface;
    use super::super::tlb::ClearValues;
    use super::*;
    use crate::rendering::Pixels;
    use vc4::image::tiling::Tiling;

    fn image(base: u32, tiling: Tiling) -> Target {
        Target::Image(Surface::new(base, tiling, Pixels::Rgba8888, 128, 64).unwrap(), false)
    }

    /// One segment per tile.
    fn segments(tiles: &[&[Step]]) -> Vec<Segment> {
        let one = |column, steps: &&[Step]| Segment {
            initial: ClearValues::default(),
            multisample: false,
            steps: steps.iter().map(|&step| ((column, 0), step)).collect(),
        };
        tiles.iter().enumerate().map(|(column, steps)| one(column as u8, steps)).collect()
    }

    #[test]
    fn order_counts_only_where_tiles_meet() {
        let (a, b) = (image(0x10000, Tiling::T), image(0x20000, Tiling::T));
        let shifted = image(0x10800, Tiling::T);
        let other_form = image(0x10000, Tiling::Raster);
        let block = |address| Target::Block { zs: false, address };
        let cases: &[(&[&[Step]], bool)] = &[
            (&[&[Step::Load(a), Step::Store(a)], &[Step::Load(a), Step::Store(a)]], false),
            (&[&[Step::Load(a), Step::Store(b)]], false),
            (&[&[Step::Load(a), Step::Load(shifted), Step::Store(b)]], false),
            (&[&[Step::Load(shifted), Step::Store(a)]], true),
            (&[&[Step::Load(other_form), Step::Store(a)]], true),
            (&[&[Step::Store(shifted), Step::Store(a)]], true),
            (&[&[Step::Store(block(0x10000)), Step::Store(a)]], true),
            (&[&[Step::Load(block(0x10000)), Step::Store(a)]], true),
            (
                &[&[Step::Load(block(0x4000)), Step::Store(block(0x4000))], &[Step::Store(block(0x8000))]],
                false,
            ),
            (&[&[Step::Load(block(0x4000))], &[Step::Store(block(0x4000))]], true),
            (&[&[Step::Load(block(0x5000)), Step::Store(block(0x4000))]], true),
        ];
        for (steps, order) in cases {
            assert_eq!(must_run_in_order(&segments(steps)), *order, "{steps:?}");
        }
    }
}

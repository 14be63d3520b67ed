//! Render segments become GPU jobs: bin list, shader records, uniform streams, surfaces (v3d.md §11.1,
//! kernel-abi.md §5).
//!
//! The tile buffer has one colour of 32 bits. A segment with several, or with wider ones, is drawn once for each word of
//! them, each time by fragment programs that compute this word only (T-MRT, T-WIDE).
//!
//! One draw of the API is one or more *pieces*: instances, runs of at most 65535 vertices. A piece gets a shader
//! record of its own where attribute bases or uniforms differ from those of the piece before, because they stand in
//! it.
//!
//! Segments that are submitted again and again keep their jobs ([`Kept`]): a [`Ledger`] says what of memory those rest on.

mod arrays;
mod bindings;
mod gather;
mod geometry;
mod index_range;
mod indices;
mod iota;
mod job;
mod kept;
mod ledger;
mod packets;
mod patches;
mod record;
#[cfg(feature = "compute")]
mod relay;
mod shadows;
mod site;
mod surfaces;
#[cfg(test)]
mod tests;
mod texture;

use std::collections::VecDeque;
use std::sync::Arc;

use vc4::hw::MAX_DRAWS_PER_BIN_LIST;
use vc4::state::PixelRect;
use vc4_kernel_abi::Submit;

use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::foundation::facts::facts;
use crate::foundation::traffic::Cause;
use crate::objects::query::Drawn;
use crate::pipeline::{Compiled, Slice, Workshop};
use crate::segments::{Draw, DrawList};
use crate::segments::{DrawCall, DrawParameters, IndirectDraw, RenderSegment, Target};
use bindings::{Bindings, Changes, Lookups, Pass};
use geometry::Piece;
use index_range::IndexRange;
use indices::Scan;
pub use iota::Iota;
pub use job::{Job, JobBuilder};
pub use kept::{Budget, Jobs, Kept};
pub use ledger::Ledger;
use record::Streams;
pub use shadows::Shadows;
pub use site::Site;

/// Binner memory that a job may fill: the kernel's pool but for slots that other jobs hold meanwhile (kernel-abi.md §11).
/// A job that needs more hangs.
const BINNER_BYTES: u64 = 12 << 20;
/// Tiles that a primitive is taken to touch at most, on average over a job: thousands of larger ones take the machine
/// seconds to fill.
const TILES_PER_PRIMITIVE: u64 = 16;
/// Bytes of a primitive in the list of a tile: the coded primitive with its indices (v3d.md §5.5).
const BYTES_IN_TILE: u64 = 7;

/// Most pieces of a pass: building so many takes the host seconds already. The API has no limit, but arguments in memory may
/// be any numbers.
const MAX_PIECES: u32 = 1 << 26;

/// Builds the jobs of a segment and gives them to `submit` in order, each as soon as it is finished. `memory` is an
/// empty job, before and after.
pub fn build(
    site: Site<'_>,
    segment: &RenderSegment,
    memory: &mut JobBuilder,
    submit: &mut dyn FnMut(&mut Job) -> Result<(), Error>,
) -> Result<(), Error> {
    let trimmed = match site.is_counted {
        true => Some(segment.target.clone()),
        false => segment.target.trimmed(&segment.draws),
    };
    let Some(target) = trimmed else { return Ok(()) };
    for (number, mut target) in target.parts().into_iter().enumerate() {
        // All parts draw the same.
        target.counts_draws &= number == 0;
        build_part(site, (&target, &segment.draws), memory, submit)?;
    }
    Ok(())
}

/// The jobs of a part of the target.
fn build_part(
    site: Site<'_>,
    (target, draws): (&Target, &[Arc<DrawList>]),
    memory: &mut JobBuilder,
    submit: &mut dyn FnMut(&mut Job) -> Result<(), Error>,
) -> Result<(), Error> {
    let passes: Vec<usize> = target.passes().collect();
    if let [pass] = passes[..] {
        return build_pass(site, (target, draws), (pass, None), memory, submit);
    }
    let aside = passes.iter().map(|&pass| Ok((pass, surfaces::aside(site, target, pass)?)));
    let aside = aside.collect::<Result<Vec<_>, Error>>()?;
    // Where the draws need several jobs, each pass begins the next one with what the last pass of the job before left in
    // depth and stencil. All passes split at the same draws.
    let mut jobs: Vec<_> = Vec::with_capacity(passes.len());
    for (pass, aside) in &aside {
        let mut built = VecDeque::new();
        build_pass(site, (target, draws), (*pass, aside.as_ref()), memory, &mut |job| {
            built.push_back(std::mem::take(job));
            Ok(())
        })?;
        jobs.push(built);
    }
    while jobs.iter().any(|built| !built.is_empty()) {
        jobs.iter_mut().filter_map(VecDeque::pop_front).try_for_each(|mut job| submit(&mut job))?;
        for (pass, aside) in &aside {
            if let Some(aside) = aside {
                submit(&mut surfaces::bring_back(site, target, *pass, aside)?)?;
            }
        }
    }
    Ok(())
}

/// The jobs of one of a segment's passes, which draws aside if there is a place for that.
fn build_pass(
    site: Site<'_>,
    (target, draws): (&Target, &[Arc<DrawList>]),
    (pass, aside): (usize, Option<&Arc<Bo>>),
    memory: &mut JobBuilder,
    submit: &mut dyn FnMut(&mut Job) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut builder = Builder {
        site,
        target,
        pass,
        aside,
        job: std::mem::take(memory),
        streams: Streams::default(),
        is_first: true,
        touched: NOWHERE,
        binned: 0,
        primitive_bytes: tiles(target).min(TILES_PER_PRIMITIVE) * BYTES_IN_TILE,
        indices: None,
        left: MAX_PIECES,
        drawn: Drawn::default(),
        submit,
    };
    for list in draws {
        builder.list(list)?;
    }
    builder.finish_job(true)?;
    *memory = builder.job;
    Ok(())
}

/// Whether the programs of the first draws of segments of one pass are there; if not, a workshop makes them.
///
/// # Errors
/// What they bind is not there, or the programs cannot be made.
pub fn are_ready(segments: &[RenderSegment], workshop: &mut Workshop) -> Result<bool, Error> {
    let mut ready = true;
    for segment in segments {
        let parts = segment.target.parts();
        let Some(target) = parts.first() else { continue };
        let pass = Pass::new(target, 0, Slice::default());
        for list in &segment.draws {
            let Some(draw) = list.draws().first() else { continue };
            let state = list.state(draw);
            if let Some(compiled) = &state.pipeline().compiled {
                let key = bindings::key(&state, compiled, pass)?;
                ready &= state.pipeline().is_ready(&key, workshop)?;
            }
        }
    }
    Ok(ready)
}

/// Whether the first draw of a segment of one pass can be built: what it binds is there, and its programs fit.
///
/// # Errors
/// Why not.
pub fn check(site: Site<'_>, segment: &RenderSegment) -> Result<(), Error> {
    let target = segment.target.parts();
    let Some(target) = target.first() else { return Ok(()) };
    let pass = Pass::new(target, 0, Slice::default());
    for list in &segment.draws {
        let Some(draw) = list.draws().first() else { continue };
        let state = list.state(draw);
        if let Some(compiled) = &state.pipeline().compiled {
            Bindings::new(site, draw.state, state, (compiled, pass), Lookups::default())?;
        }
    }
    Ok(())
}

/// No pixel.
const NOWHERE: PixelRect = PixelRect { left: 0, top: 0, right: 0, bottom: 0 };

struct Builder<'a> {
    site: Site<'a>,
    target: &'a Target,
    pass: usize,
    aside: Option<&'a Arc<Bo>>,
    job: JobBuilder,
    streams: Streams,
    is_first: bool,
    /// What draws of the job may change.
    touched: PixelRect,
    /// Bytes of tile lists that the job's draws may take.
    binned: u64,
    /// Those of one primitive.
    primitive_bytes: u64,
    /// The indices that were looked at last.
    indices: Option<(IndexRange, Scan)>,
    /// Pieces that the pass may still have.
    left: u32,
    /// What draws of the job said.
    drawn: Drawn,
    submit: &'a mut dyn FnMut(&mut Job) -> Result<(), Error>,
}

impl Builder<'_> {
    fn list(&mut self, list: &DrawList) -> Result<(), Error> {
        let mut lookups = Lookups::default();
        for draws in list.draws().chunk_by(|a, b| list.shares_pipeline(a, b)) {
            let Some(first) = draws.first() else { continue };
            if self.target.counts_draws && self.target.is_last(self.pass) {
                self.count(list, draws);
            }
            let Some(compiled) = &list.state(first).pipeline().compiled else { continue };
            // No sample sees what another one's invocation does, so order is kept.
            for slice in compiled.slices(self.target.counts_samples) {
                let pass = Pass::new(self.target, self.pass, slice);
                self.chunk(list, draws, (compiled, pass), &mut lookups)?;
            }
        }
        Ok(())
    }

    /// Adds up what draws of one pipeline say of themselves. Restarts are taken for vertices; what is wrong with a draw comes out
    /// when it is drawn.
    fn count(&mut self, list: &DrawList, draws: &[Draw]) {
        for draw in draws {
            let pipeline = list.state(draw).pipeline();
            let mut add = |call: &DrawParameters| {
                let times = |count: u32| u64::from(count) * u64::from(call.instances);
                let (vertices, primitives) = (times(call.count), times(pipeline.primitives(call.count)));
                self.drawn.add(&Drawn { vertices, primitives, ..Drawn::default() });
            };
            match draw.call {
                DrawCall::Direct(call) => add(&call),
                DrawCall::Indirect(place) => {
                    let Some(draw) = list.indirect(place) else { continue };
                    let count = self::draws(self.site, draw).unwrap_or(0);
                    let drawn = if count <= self.left { count } else { 0 };
                    calls(self.site, draw, drawn).map_while(Result::ok).for_each(|call| add(&call));
                }
            }
        }
    }

    /// Draws of one pipeline.
    #[inline]
    fn chunk<'a>(
        &mut self,
        list: &'a DrawList,
        draws: &[Draw],
        programs: (&'a Compiled, Pass),
        lookups: &mut Lookups<'a>,
    ) -> Result<(), Error>
    where
        Self: 'a,
    {
        let mut rest = draws;
        while let Some(first) = rest.first() {
            let state = list.state(first);
            let mut tried = 1;
            let known = std::mem::take(lookups);
            let bindings = Bindings::new(self.site, first.state, state, programs, known);
            let done = bindings.and_then(|mut bindings| {
                let mut draws = rest.iter().zip(1..);
                let done = draws.try_for_each(|(draw, number)| {
                    tried = number;
                    self.draw(&mut bindings, list, draw)
                });
                *lookups = bindings.lookups;
                done
            });
            match done {
                Ok(()) => break,
                // What breaks a rule draws nothing, whatever else there is to draw goes on.
                Err(error) if error.spares_device() => {
                    self.site.ledger.give_up();
                    left_out(list, &rest[tried - 1], &error);
                }
                Err(error) => return Err(error),
            }
            rest = &rest[tried..];
        }
        Ok(())
    }

    #[inline]
    fn draw<'a>(
        &mut self,
        bindings: &mut Bindings<'a>,
        list: &'a DrawList,
        draw: &Draw,
    ) -> Result<(), Error> {
        if bindings.place != draw.state {
            bindings.update(list, draw)?;
        }
        match draw.call {
            DrawCall::Direct(call) => self.call(bindings, &call, 0),
            DrawCall::Indirect(place) => self.indirect(bindings, list.indirect(place)),
        }
    }

    /// Out of line, so that direct draws, of which there are many more, stay in line with the loop over them.
    #[inline(never)]
    fn indirect(&mut self, bindings: &mut Bindings<'_>, draw: Option<&IndirectDraw>) -> Result<(), Error> {
        let Some(draw) = draw else { return Ok(()) };
        let count = draws(self.site, draw)?;
        self.take(count.into())?;
        let mut calls = calls(self.site, draw, count).zip(0..);
        calls.try_for_each(|(call, index)| self.call(bindings, &call?, index))
    }

    /// In line in every build: out of line, a draw that changes nothing takes 20 instructions more.
    #[inline(always)]
    fn call(&mut self, bindings: &mut Bindings<'_>, call: &DrawParameters, index: u32) -> Result<(), Error> {
        if bindings.variant.recipe.is_told {
            bindings.tell(call, index);
        }
        match geometry::at_once(bindings, call) {
            Some(piece) => self.instances(bindings, &piece, call),
            None => self.pieces(bindings, call),
        }
    }

    /// Draws that are a single piece.
    #[inline]
    fn instances(
        &mut self,
        bindings: &mut Bindings<'_>,
        piece: &Piece<'_>,
        call: &DrawParameters,
    ) -> Result<(), Error> {
        if call.instances > 1 {
            self.take(call.instances.into())?;
        }
        for instance in 0..call.instances {
            self.piece(bindings, piece, call.first_instance.wrapping_add(instance))?;
            if bindings.is_unseen() {
                break;
            }
        }
        Ok(())
    }

    /// Takes pieces from what the pass may have.
    #[inline(never)]
    fn take(&mut self, pieces: u64) -> Result<(), Error> {
        let left = u64::from(self.left).checked_sub(pieces).ok_or_else(|| {
            let left = self.left;
            let what = format!(
                "a draw of {pieces} instances in runs of vertices, where {left} are left for its pass,"
            );
            Error::unsupported(what, "draw fewer at a time")
        })?;
        self.left = left as u32;
        Ok(())
    }

    #[inline(never)]
    fn pieces(&mut self, bindings: &mut Bindings<'_>, call: &DrawParameters) -> Result<(), Error> {
        if let Some(piece) = geometry::indexed_at_once(bindings, call, &self.indices) {
            return self.instances(bindings, &piece, call);
        }
        let pieces = geometry::pieces(bindings, call, &mut self.indices)?;
        self.take(pieces.len() as u64 * u64::from(call.instances))?;
        for instance in 0..if pieces.is_empty() { 0 } else { call.instances } {
            for piece in &pieces {
                self.piece(bindings, piece, call.first_instance.wrapping_add(instance))?;
                if bindings.is_unseen() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Most draws differ from the one before in nothing or in a few words: what they do is in line, the rest is not.
    #[inline]
    fn piece(&mut self, bindings: &mut Bindings<'_>, piece: &Piece<'_>, instance: u32) -> Result<(), Error> {
        let primitives = indices::primitives(piece.mode, piece.primitives.count());
        let bytes = u64::from(primitives) * self.primitive_bytes;
        if self.is_full(bytes) {
            self.finish_job(false)?;
            bindings.changes |= Changes::JOB;
        }
        self.binned += bytes;
        let is_known = bindings.changes.is_empty() && self.streams.serve(bindings, piece, instance);
        if is_known || self.prepare(bindings, piece, instance)? {
            packets::primitives(&mut self.job, piece)?;
        }
        Ok(())
    }

    /// Whether the binner's state counters could wrap (HW-2116) or its memory could end with another draw.
    #[inline]
    fn is_full(&self, bytes: u64) -> bool {
        self.job.draws() >= MAX_DRAWS_PER_BIN_LIST
            || self.job.draws() > 0 && self.binned + bytes > BINNER_BYTES
    }

    /// Tells the job what it does not know of a piece's state; whether the piece can be seen.
    #[inline(never)]
    fn prepare(
        &mut self,
        bindings: &mut Bindings<'_>,
        piece: &Piece<'_>,
        instance: u32,
    ) -> Result<bool, Error> {
        if bindings.changes.intersects(Changes::PROGRAMS | Changes::STATE | Changes::JOB) {
            let area = packets::area(&bindings.state, self.target);
            let window = area.seen_from(self.target.origin()).clip_window(facts().guard_band);
            let Some(window) = window else { return Ok(false) };
            packets::state(&mut self.job, bindings, window)?;
            self.touched = self.touched.join(area);
        }
        self.streams.write(&mut self.job, bindings, piece, instance)?;
        (bindings.changes, bindings.changed_sets) = (Changes::empty(), 0);
        Ok(true)
    }

    #[inline(never)]
    fn finish_job(&mut self, is_last: bool) -> Result<(), Error> {
        let target = part(self.target, self.is_first, is_last).pass(self.pass);
        let touched = std::mem::replace(&mut self.touched, NOWHERE);
        let mut job = std::mem::take(&mut self.job);
        // Queries count jobs that change nothing, too, and what is drawn aside is brought back as a whole.
        let target = match self.site.is_counted || self.aside.is_some() {
            true => Some(target),
            false => target.within(touched),
        };
        let Some(target) = target else {
            self.job = job.finish(Submit::default(), self.target).recycle();
            return Ok(());
        };
        self.is_first = false;
        let submit = surfaces::describe(self.site, &target, self.aside, &mut job)?;
        let mut job = job.finish(submit, &target).numbered(self.site.ledger.finish_job());
        job.expect_binned(std::mem::take(&mut self.binned));
        let job = job.of_draws(std::mem::take(&mut self.drawn));
        let mut job = if self.target.is_last(self.pass) { job } else { job.uncounted() };
        (self.submit)(&mut job)?;
        self.job = job.recycle();
        Ok(())
    }
}

/// Says which draw is left out, and why.
#[cold]
fn left_out(list: &DrawList, draw: &Draw, error: &Error) {
    let place = list.draws().iter().position(|other| std::ptr::eq(other, draw));
    let label =
        place.and_then(|place| list.label(place)).map_or(String::new(), |label| format!("{label:?}: "));
    let name = list.state(draw).pipeline().name().get();
    let by = name.map_or(String::new(), |name| format!(" by pipeline {name:?}"));
    log::error!(target: "vc4::draw", "{label}a draw{by} is left out: {error}");
}

/// Tiles that draws to the target can touch.
fn tiles(target: &Target) -> u64 {
    let px = target.tile_px() as i32;
    let tiles = |low: i32, high: i32| ((high - 1) / px - low / px + 1).max(1) as u64;
    let area = target.area;
    tiles(area.left, area.right) * tiles(area.top, area.bottom)
}

/// The target of one of several jobs: between them everything is stored and loaded.
fn part(target: &Target, first: bool, last: bool) -> Target {
    let mut part = target.clone();
    if !first {
        part.load();
    }
    if !last {
        part.keep();
    }
    part
}

/// How many draws an indirect command has, read now where memory says it.
fn draws(site: Site<'_>, draw: &IndirectDraw) -> Result<u32, Error> {
    let Some((buffer, offset)) = &draw.counted else { return Ok(draw.count) };
    if offset.checked_add(4).is_none_or(|end| end > buffer.size()) {
        return Err(Error::InvalidUse("the number of indirect draws leaves its buffer".into()));
    }
    let binding = buffer.binding()?;
    let at = (binding.offset + offset) as usize;
    site.ledger.rests_on_bytes(binding, at..at + 4)?;
    Ok(binding.bo.access(Cause::Indirect)?.read_u32(at).min(draw.count))
}

/// The draws of an indirect command, read now.
fn calls(
    site: Site<'_>,
    draw: &IndirectDraw,
    count: u32,
) -> impl Iterator<Item = Result<DrawParameters, Error>> {
    let size: u64 = if draw.indexed { 20 } else { 16 };
    (0..count).map(move |index| {
        let binding = draw.buffer.binding()?;
        let at = draw.offset.saturating_add(u64::from(index) * u64::from(draw.stride));
        if at.checked_add(size).is_none_or(|end| end > draw.buffer.size()) {
            return Err(Error::InvalidUse(format!("indirect draw {index} leaves its buffer")));
        }
        let first = (binding.offset + at) as usize;
        if index == 0 {
            let all = u64::from(count - 1) * u64::from(draw.stride) + size;
            let bytes = all.min(draw.buffer.size() - at) as usize;
            site.ledger.rests_on_bytes(binding, first..first + bytes)?;
        }
        let memory = binding.bo.access(Cause::Indirect)?;
        let word = |n: u64| memory.read_u32(first + 4 * n as usize);
        Ok(DrawParameters {
            count: word(0),
            instances: word(1),
            first: word(2),
            vertex_offset: draw.indexed.then(|| word(3) as i32),
            first_instance: word(size / 4 - 1),
        })
    })
}

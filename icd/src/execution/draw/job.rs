//! A submission under construction, and a finished one.

use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use vc4::cl::packets::{
    AllowedIn, Flush, GlShaderState, IncrementSemaphore, ListIndexing, ListPrimitive, PrimitiveListFormat,
    StartTileBinning, TileBinningModeConfig,
};
use vc4::cl::records::{RecordError, ShaderRecord};
use vc4::cl::{Binner, List, dump};
use vc4_kernel_abi::uapi::{BINNER_SLOT_BYTES, BINNER_SLOTS};
use vc4_kernel_abi::validate::{ShaderInfo, check_submit};
use vc4_kernel_abi::{BoHandle, GpuError, PerfmonId, Submit};

use crate::foundation::bo::Bo;
use crate::foundation::debug::{Debug, flags, is_strict};
use crate::foundation::error::Error;
use crate::foundation::facts::target_px;
use crate::objects::query::Drawn;
use crate::pipeline::ProgramBo;
use crate::segments::Target;

/// A BO of a job.
struct Used {
    bo: Arc<Bo>,
    /// How the job knows it.
    handle: BoHandle,
    shader: Option<Arc<ShaderInfo>>,
    /// What the job reads, if it is of a copy.
    parts: Vec<Range<u64>>,
}

impl Used {
    /// The job reads these bytes.
    fn read(&mut self, bytes: Range<u64>) {
        // Draws that follow each other mostly read the same.
        if self.parts.last() != Some(&bytes) {
            self.parts.push(bytes);
        }
    }

    /// Sorts what is read, so that nothing is copied twice.
    fn settle(&mut self) {
        self.parts.sort_unstable_by_key(|part| (part.start, part.end));
        self.parts.dedup_by(|next, part| {
            let meets = next.start <= part.end;
            if meets {
                part.end = part.end.max(next.end);
            }
            meets
        });
    }
}

/// A job under construction.
#[derive(Default)]
pub struct JobBuilder {
    used: Vec<Used>,
    places: FxHashMap<BoHandle, u32>,
    /// Packets from the first state on; what comes before depends on the surfaces.
    list: List<Binner>,
    /// The last packet of each kind of state: opcode and payload.
    state: Vec<(u8, u128)>,
    records: Vec<u8>,
    /// The last record: where it begins, and its packet.
    last_record: Option<(usize, GlShaderState)>,
    record_count: u32,
    uniforms: Vec<u8>,
    draws: u32,
}

impl JobBuilder {
    /// Draws so far.
    pub(super) fn draws(&self) -> u32 {
        self.draws
    }

    /// The place of a BO in the job's list; each stands there once (kernel-abi.md §7, SUB-6).
    pub(super) fn bo(&mut self, bo: &Arc<Bo>) -> Result<u32, Error> {
        self.part(bo, 0..bo.size())
    }

    /// The place of a BO of which the job reads these bytes only.
    pub(super) fn part(&mut self, bo: &Arc<Bo>, bytes: Range<u64>) -> Result<u32, Error> {
        let place = self.add(bo, None)?;
        if bo.is_copied() {
            self.used[place as usize].read(bytes);
        }
        Ok(place)
    }

    /// The place of a program.
    pub(super) fn program(&mut self, program: &ProgramBo) -> Result<u32, Error> {
        self.add(&program.bo, program.info.as_ref())
    }

    fn add(&mut self, bo: &Arc<Bo>, shader: Option<&Arc<ShaderInfo>>) -> Result<u32, Error> {
        Ok(match self.places.entry(bo.handle()) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                let (handle, shader) = (bo.handle_in_jobs()?, shader.cloned());
                self.used.push(Used { bo: bo.clone(), handle, shader, parts: Vec::new() });
                *place.insert(self.used.len() as u32 - 1)
            }
        })
    }

    /// Appends a state packet unless it says what holds already.
    pub(super) fn set<P: AllowedIn<Binner>>(&mut self, packet: P) {
        let payload = packet.payload();
        // What changes from draw to draw was set last.
        match self.state.iter_mut().rev().find(|(opcode, _)| *opcode == P::OPCODE) {
            Some((_, old)) if *old == payload => return,
            Some((_, old)) => *old = payload,
            None => self.state.push((P::OPCODE, payload)),
        }
        self.list.push(packet);
    }

    /// Appends a primitive packet.
    pub(super) fn draw<P: AllowedIn<Binner>>(&mut self, packet: P) {
        self.list.push(packet);
        self.draws += 1;
    }

    /// Appends a shader record: `handles` are the places of its programs and attributes (kernel-abi.md §5.3).
    pub(super) fn record(
        &mut self,
        handles: impl IntoIterator<Item = u32>,
        record: &ShaderRecord,
    ) -> Result<(), Error> {
        let start = self.records.len();
        self.records.extend(handles.into_iter().flat_map(u32::to_le_bytes));
        let wrong = |error: RecordError| Error::unsupported(error.to_string(), "see the limits");
        record.write(&mut self.records).map_err(wrong).inspect_err(|_| self.records.truncate(start))?;
        let count = vc4::cl::Count::new(record.attributes.len() as u32).unwrap_or(vc4::cl::Count::MAX);
        let packet =
            GlShaderState { attribute_arrays: count, extended: record.extended, ..Default::default() };
        self.last_record = Some((start, packet));
        self.record_count += 1;
        self.list.push(packet);
        Ok(())
    }

    /// Appends the last record again, for other uniforms; false if there is none.
    pub(super) fn repeat_record(&mut self) -> bool {
        let Some((start, packet)) = &mut self.last_record else { return false };
        let end = self.records.len();
        self.records.extend_from_within(*start..);
        *start = end;
        self.record_count += 1;
        self.list.push(*packet);
        true
    }

    /// Words of the uniform streams so far.
    pub(super) fn uniform_count(&self) -> u32 {
        (self.uniforms.len() / 4) as u32
    }

    /// Appends words of the uniform streams.
    pub(super) fn uniforms(&mut self, words: &[u32]) {
        // The machine is little-endian, and so is every host that has it.
        self.uniforms.extend_from_slice(bytemuck::cast_slice(words));
    }

    /// The finished job on the surfaces that `submit` describes.
    pub(super) fn finish(mut self, mut submit: Submit, target: &Target) -> Job {
        if self.draws > 0 {
            submit.bin_cl = self.bin_list(submit.width, submit.height, target);
            submit.shader_rec = std::mem::take(&mut self.records);
            submit.shader_rec_count = self.record_count;
            submit.uniforms = std::mem::take(&mut self.uniforms);
        }
        self.used.iter_mut().for_each(Used::settle);
        submit.bos = self.used.iter().map(|used| used.handle).collect();
        Job { submit, builder: self, binned: 0, is_counted: true, drawn: Drawn::default(), number: None }
    }

    fn bin_list(&self, width: u16, height: u16, target: &Target) -> Vec<u8> {
        // Rows in memory may be longer than what is drawn in a part.
        let tiles = |px: u16| u32::from(px).min(target_px()).div_ceil(target.tile_px()) as u8;
        let mut list = List::<Binner>::new();
        list.push(TileBinningModeConfig {
            width_tiles: tiles(width),
            height_tiles: tiles(height),
            multisample: target.is_multisampled(),
            ..Default::default()
        });
        list.push(StartTileBinning {});
        // Every tile list begins with a known format (v3d.md §4).
        let (primitive, indexing) = (ListPrimitive::Triangles, ListIndexing::Indices16);
        list.push(PrimitiveListFormat { primitive, indexing });
        let mut bytes = list.into_bytes();
        bytes.extend_from_slice(self.list.bytes());
        let mut end = List::<Binner>::new();
        // This order, and at the very end (kernel-abi.md §8, BIN-7 and BIN-8).
        end.push(IncrementSemaphore {}).push(Flush {});
        bytes.extend_from_slice(end.bytes());
        bytes
    }
}

/// A job that can be submitted. It keeps its BOs until the kernel does.
#[derive(Default)]
pub struct Job {
    submit: Submit,
    /// Its BOs, and memory for the next job.
    builder: JobBuilder,
    binned: u64,
    is_counted: bool,
    drawn: Drawn,
    /// Its number among those of its segment that draw.
    number: Option<u32>,
}

impl Job {
    /// The job as one of those that draw what another draws, too: queries do not count it.
    pub fn uncounted(self) -> Job {
        Job { is_counted: false, ..self }
    }

    /// The job with what its draws say of themselves, as far as queries want to know.
    pub fn of_draws(self, drawn: Drawn) -> Job {
        Job { drawn, ..self }
    }

    /// What its draws say of themselves, as far as queries want to know.
    pub fn drawn(&self) -> &Drawn {
        &self.drawn
    }

    /// The job with its number among those of its segment.
    pub fn numbered(self, number: u32) -> Job {
        Job { number: Some(number), ..self }
    }

    /// Its number among those of its segment that draw.
    pub fn number(&self) -> Option<u32> {
        self.number
    }

    /// Bytes of host memory that its lists take.
    pub fn bytes(&self) -> usize {
        let Submit { bin_cl, shader_rec, uniforms, bos, .. } = &self.submit;
        bin_cl.capacity() + shader_rec.capacity() + uniforms.capacity() + size_of_val(&bos[..])
    }

    /// The words of its uniform streams; `None` if they stand at no place for words.
    pub fn uniform_words(&mut self) -> Option<&mut [u32]> {
        bytemuck::try_cast_slice_mut(&mut self.submit.uniforms).ok()
    }

    /// Gives the memory up that only building needs.
    pub fn settle(&mut self) {
        let JobBuilder { used, .. } = std::mem::take(&mut self.builder);
        self.builder.used = used;
        self.submit.uniforms.shrink_to_fit();
        self.submit.shader_rec.shrink_to_fit();
    }

    /// What another job does otherwise, if anything. BOs of jobs' own are as good as equal ones.
    pub fn difference(&self, other: &Job) -> Result<Option<&'static str>, Error> {
        let (a, b) = (&self.submit, &other.submit);
        let surfaces = |submit: &Submit| {
            let Submit { color_read, color_write, zs_read, zs_write, .. } = *submit;
            [color_read, color_write, zs_read, zs_write, submit.msaa_color_write, submit.msaa_zs_write]
        };
        let rest = |submit: &Submit| {
            let Submit { width, height, tiles, clear_color, clear_z, clear_s, .. } = *submit;
            (width, height, tiles, clear_color, clear_z, clear_s, submit.shader_rec_count, submit.flags)
        };
        if surfaces(a) != surfaces(b) || rest(a) != rest(b) {
            return Ok(Some("surfaces"));
        }
        for (a, b, what) in [
            (&a.bin_cl, &b.bin_cl, "bin lists"),
            (&a.shader_rec, &b.shader_rec, "shader records"),
            (&a.uniforms, &b.uniforms, "uniform streams"),
        ] {
            if a != b {
                return Ok(Some(what));
            }
        }
        if a.bos.len() != b.bos.len() {
            return Ok(Some("BOs"));
        }
        let is_drawn_to = |place: usize| surfaces(a).iter().flatten().any(|s| s.bo_index as usize == place);
        for (place, (a, b)) in self.builder.used.iter().zip(&other.builder.used).enumerate() {
            if a.bo.handle() != b.bo.handle() && !is_drawn_to(place) && !a.bo.holds_the_same(&b.bo)? {
                return Ok(Some("the content of BOs"));
            }
            if a.parts != b.parts {
                return Ok(Some("what is copied"));
            }
        }
        Ok(None)
    }

    /// Says how many bytes of tile lists its draws may take.
    pub fn expect_binned(&mut self, bytes: u64) {
        self.binned = bytes;
    }

    /// Slots of binner memory that it may hold (kernel-abi.md §11).
    pub fn binner_slots(&self) -> u32 {
        match self.submit.bin_cl.is_empty() {
            true => 0,
            false => (1 + self.binned / u64::from(BINNER_SLOT_BYTES)).min(BINNER_SLOTS.into()) as u32,
        }
    }

    /// The submission.
    pub fn submit(&self) -> &Submit {
        &self.submit
    }

    /// An empty job in the memory of this one: streams of thousands of draws are long, and fresh pages are slow.
    pub fn recycle(self) -> JobBuilder {
        let (Submit { mut shader_rec, mut uniforms, .. }, mut old) = (self.submit, self.builder);
        shader_rec.clear();
        uniforms.clear();
        old.used.clear();
        old.places.clear();
        old.list.clear();
        old.state.clear();
        JobBuilder {
            used: old.used,
            places: old.places,
            list: old.list,
            state: old.state,
            records: shader_rec,
            uniforms,
            ..JobBuilder::default()
        }
    }

    /// Lets a performance monitor count what the job does.
    pub fn count_with(&mut self, perfmon: Option<PerfmonId>) {
        self.submit.perfmon = perfmon.filter(|_| self.is_counted);
    }

    /// Lets this monitor count what the job does, unless a query's does.
    pub fn watch_with(&mut self, monitor: Option<PerfmonId>) {
        self.submit.perfmon = self.submit.perfmon.or(monitor);
    }

    /// Prints what `VC4VK_DEBUG` asks for, and checks the job where submissions are checked.
    pub fn inspect(&self) -> Result<(), Error> {
        if flags().contains(Debug::CL) {
            eprintln!("{}", self.describe());
        }
        if flags().contains(Debug::UNIFORMS) && !self.submit.uniforms.is_empty() {
            eprintln!("uniforms:{}", words(&self.submit.uniforms));
        }
        if !is_strict() {
            return Ok(());
        }
        let lookup = |handle: BoHandle| {
            let used = self.builder.used.iter().find(|used| used.handle == handle)?;
            Some((used.bo.size() as u32, used.shader.clone()))
        };
        let checked = check_submit(&self.submit, lookup);
        checked.map_err(|violation| self.explain(GpuError::Refused(violation.to_string())))
    }

    /// The job is about to run: what it is to see has to be in memory. The BOs of cached memory that it stores to.
    pub fn hand_over(&self) -> Result<Vec<Arc<Bo>>, Error> {
        let Submit { color_write, zs_write, msaa_color_write, msaa_zs_write, .. } = &self.submit;
        let stores = [color_write, zs_write, msaa_color_write, msaa_zs_write];
        let mut stored = Vec::new();
        for (place, used) in (0..).zip(&self.builder.used).filter(|(_, used)| used.bo.is_cached()) {
            let writes = stores.iter().any(|store| store.is_some_and(|surface| surface.bo_index == place));
            used.bo.hand_over(writes, &used.parts)?;
            stored.extend(writes.then(|| used.bo.clone()));
        }
        Ok(stored)
    }

    /// The error of a submission with what was submitted.
    pub fn explain(&self, error: GpuError) -> Error {
        match error {
            GpuError::Refused(why) => Error::Gpu(GpuError::Refused(format!("{why}\n{}", self.describe()))),
            error => Error::Gpu(error),
        }
    }

    fn describe(&self) -> String {
        let Submit { width, height, tiles, bos, shader_rec_count, .. } = &self.submit;
        let [left, top, right, bottom] = tiles;
        format!(
            "job of {width}x{height}, tiles {left},{top} to {right},{bottom}, {} BOs, {shader_rec_count} records\n{}",
            bos.len(),
            dump::dump(&self.submit.bin_cl)
        )
    }
}

fn words(bytes: &[u8]) -> String {
    let word = |(at, bytes): (usize, &[u8])| {
        let word = bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let line = if at % 8 == 0 { format!("\n{:04x} ", 4 * at) } else { String::new() };
        format!("{line} {word:08x}")
    };
    bytes.chunks(4).enumerate().map(word).collect()
}

#[cfg(test)]
mod tests {
    use vc4::cl::packets::{PrimitiveMode, VertexArrayPrimitives};
    use vc4::state::PixelRect;

    use super::super::{Iota, Ledger, Shadows, Site, surfaces};
    use super::*;
    use crate::execution::changes::Changes;
    use crate::testing::device;

    #[test]
    fn a_refused_job_names_rule_place_and_packets() {
        let mut job = JobBuilder::default();
        job.draw(VertexArrayPrimitives { mode: PrimitiveMode::Triangles, count: 3, first: 0 });
        let target = Target::empty((64, 64), PixelRect::new(0, 0, 64, 64));
        let (iota, ledger) = (Iota::new(device()), Ledger::default());
        let (shadows, changes) = (&Shadows::default(), &Changes::default());
        let site = Site { iota: &iota, ledger: &ledger, shadows, changes, is_counted: false };
        let submit = surfaces::describe(site, &target, None, &mut job).unwrap();
        let error = job.finish(submit, &target).inspect().unwrap_err();
        assert_eq!(error.result(), ash::vk::Result::ERROR_DEVICE_LOST);
        let text = error.to_string();
        assert!(text.contains("BIN-11 at bin list byte 0x13"), "{text}");
        assert!(text.contains("0013  VERTEX_ARRAY_PRIMITIVES"), "{text}");
    }

    #[test]
    fn what_is_copied_is_copied_once() {
        let device = device();
        let (bo, ordinary) =
            (device.create_host_bo("test", 4096).unwrap(), device.create_bo("test", 1).unwrap());
        let mut job = JobBuilder::default();
        for part in [64..128, 0..16, 64..128, 100..200, 200..208, 1024..1040] {
            assert_eq!(job.part(&bo, part).unwrap(), 0);
        }
        job.bo(&ordinary).unwrap();
        let target = Target::empty((64, 64), PixelRect::new(0, 0, 64, 64));
        let job = job.finish(Submit::default(), &target);
        let parts: Vec<_> = job.builder.used.iter().map(|used| &used.parts[..]).collect();
        assert_eq!(parts, [&[0..16, 64..208, 1024..1040][..], &[]]);
        assert_eq!(job.submit.bos, [bo.handle_in_jobs().unwrap(), ordinary.handle()]);
        bo.map().unwrap().write(64, &[3; 16]);
        assert!(job.hand_over().unwrap().is_empty());
        let seen = device.gpu().map_bo(job.submit.bos[0]).unwrap();
        assert_eq!([60, 64, 76, 80].map(|at| seen.read_u32(at)), [0, 0x0303_0303, 0x0303_0303, 0]);
    }

    #[test]
    fn bos_stand_once_and_state_only_where_it_changes() {
        let device = device();
        let bo = device.create_bo("test", 1).unwrap();
        let mut job = JobBuilder::default();
        let mut place = |bo| job.bo(bo).unwrap();
        assert_eq!((place(&bo), place(&device.create_bo("test", 1).unwrap()), place(&bo)), (0, 1, 0));
        let width = |width| vc4::cl::packets::LineWidth { width };
        job.set(width(1.0));
        job.set(width(1.0));
        assert_eq!(job.list.len(), 5);
        job.set(width(2.0));
        assert_eq!(job.list.len(), 10);
    }
}

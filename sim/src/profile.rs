//! What a job did in detail: executed instructions per line, work per tile and draw, the draws with their
//! state, and the lists that the hardware ran.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use vc4::cl::records::ShaderRecord;
use vc4::qpu::uniforms::{UniformSource, uniform_reads};
use vc4::qpu::{Inst, Stage, Waddr};

use crate::binning::{Binned, Draw};
use crate::geometry::Kind;
use crate::geometry::State;
use crate::kernel::{Job, ListRange};
use crate::lock::lock;
use crate::memory::Memory;
use crate::qpu::Program;
use crate::stats::{Counts, PixelTrace, Stats};
pub use crate::stats::{Place, Work};
use crate::tmu::TexturePicture;
use vc4::hw::tile_px;

/// A program as a draw used it.
#[derive(Clone, Debug)]
pub struct DrawProgram {
    /// Which stage.
    pub stage: Stage,
    /// Bus address of the code.
    pub address: u32,
    /// The code up to the two instructions behind the end signal.
    pub code: Vec<Inst>,
    /// The uniform words of a run from top to bottom.
    pub uniforms: Vec<u32>,
}

impl DrawProgram {
    /// The configuration words of each texture request, in the order of the program; those that are not written are 0.
    pub fn texture_requests(&self) -> Vec<[u32; 4]> {
        let mut units = [([0; 4], 0), ([0; 4], 0)];
        let mut requests = Vec::new();
        for (read, &word) in uniform_reads(&self.code).into_iter().zip(&self.uniforms) {
            let UniformSource::Tmu(waddr) = read.source else { continue };
            let (words, written) = &mut units[usize::from(waddr.tmu().unwrap_or(0)) & 1];
            if let Some(place) = words.get_mut(*written) {
                *place = word;
            }
            *written += 1;
            if matches!(waddr, Waddr::TMU0_S | Waddr::TMU1_S) {
                requests.push(*words);
                (*words, *written) = ([0; 4], 0);
            }
        }
        requests
    }
}

/// A draw as the hardware saw it.
#[derive(Clone, Debug)]
pub struct DrawInfo {
    /// State of the rendering thread.
    pub state: State,
    /// The relocated shader record.
    pub record: ShaderRecord,
    /// Coordinate, vertex and fragment program.
    pub programs: Vec<DrawProgram>,
    /// What is drawn.
    pub kind: Kind,
    /// Distinct vertices.
    pub vertices: usize,
    /// Primitives that reached a tile list, parts of clipped ones counted by themselves.
    pub primitives: usize,
}

/// Tiles of the bin list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tiles {
    /// Columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
    /// Pixels of an edge.
    pub edge: u32,
}

/// A list as the hardware ran it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListCopy {
    /// Bus address.
    pub address: u32,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Everything that was noted about a job. A job that did not finish leaves what was known until then.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The validated binning list, if there is one.
    pub bin: Option<ListCopy>,
    /// The kernel's rendering list.
    pub render: ListCopy,
    /// Bus address and size of each BO, in the submission's order.
    pub bos: Vec<(u32, u32)>,
    /// Its tiles.
    pub tiles: Tiles,
    /// The draws in order.
    pub draws: Vec<DrawInfo>,
    /// The textures that the draws request, by their configuration words, as they were before the job rendered.
    pub textures: BTreeMap<[u32; 4], TexturePicture>,
    /// Primitives in each tile's list.
    pub tile_primitives: Vec<usize>,
    /// Counts; empty when the job did not finish.
    pub counts: Counts,
    /// Sums of the whole job.
    pub stats: Stats,
    /// What happened to the pixel that was asked for; as much as was known when a job did not finish.
    pub pixel: Option<Box<PixelTrace>>,
}

impl Profile {
    /// The code of a draw's fragment program; nothing where there is no such draw.
    pub fn fragment_code(&self, draw: u32) -> &[Inst] {
        let programs = self.draws.get(draw as usize).map_or(&[][..], |draw| &draw.programs);
        programs.iter().find(|program| program.stage == Stage::Fragment).map_or(&[], |program| &program.code)
    }
}

fn copy(memory: &Memory, list: ListRange) -> ListCopy {
    let mut bytes = vec![0; list.length as usize];
    // The kernel's copies lie in memory.
    let _ = memory.read_bytes(list.address, &mut bytes);
    ListCopy { address: list.address, bytes }
}

fn program(memory: &Memory, stage: Stage, address: u32, uniforms_address: u32) -> Option<DrawProgram> {
    let code = Program::decode(memory, address).ok()?.insts().to_vec();
    let mut uniforms = vec![0; uniform_reads(&code).len()];
    memory.read_words(uniforms_address, &mut uniforms).ok()?;
    Some(DrawProgram { stage, address, code, uniforms })
}

fn draw_info(memory: &Memory, draw: &Draw) -> DrawInfo {
    let record = &draw.record;
    let programs = [
        program(memory, Stage::Coordinate, record.coordinate.code, record.coordinate.uniforms),
        program(memory, Stage::Vertex, record.vertex.code, record.vertex.uniforms),
        program(memory, Stage::Fragment, record.fragment_code, record.fragment_uniforms),
    ];
    DrawInfo {
        state: draw.state.clone(),
        record: (**record).clone(),
        programs: programs.into_iter().flatten().collect(),
        kind: draw.kind,
        vertices: draw.vertices.len(),
        primitives: draw.primitives.len(),
    }
}

/// Notes what stands before the job runs.
pub(crate) fn begin(profile: &Mutex<Profile>, memory: &Memory, job: &Job, stats: &mut Stats) {
    stats.counts = Some(Box::default());
    let mut profile = lock(profile);
    stats.pixel = profile.pixel.clone();
    profile.bin = job.bin.map(|list| copy(memory, list));
    profile.render = copy(memory, job.render);
    profile.bos = job.bos.iter().map(|bo| (bo.pages.address(), bo.pages.bytes())).collect();
}

/// Notes what binning left.
pub(crate) fn binned(profile: &Mutex<Profile>, memory: &Memory, binned: &Binned) {
    let mut profile = lock(profile);
    profile.tiles = Tiles {
        columns: usize::from(binned.config.width_tiles),
        rows: usize::from(binned.config.height_tiles),
        edge: tile_px(binned.config.multisample),
    };
    profile.draws = binned.draws.iter().map(|draw| draw_info(memory, draw)).collect();
    let programs = profile.draws.iter().flat_map(|draw| &draw.programs);
    let requests: BTreeSet<[u32; 4]> = programs.flat_map(DrawProgram::texture_requests).collect();
    let pictures = requests.into_iter().map(|words| Some((words, TexturePicture::of(memory, &words)?)));
    profile.textures = pictures.flatten().collect();
    profile.tile_primitives = binned.lists.iter().map(Vec::len).collect();
}

/// Notes what a finished job did.
pub(crate) fn end(profile: &Mutex<Profile>, stats: &mut Stats) {
    let Some(mut counts) = stats.counts.take() else { return };
    counts.leave();
    let mut profile = lock(profile);
    profile.pixel = stats.pixel.take();
    profile.counts = *counts;
    profile.stats = stats.clone();
}

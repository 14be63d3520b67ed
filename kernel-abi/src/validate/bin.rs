//! The bin list (kernel-abi.md §8): packets that are allowed, and what becomes of them (§5.3, §5.4).

use super::bo::BoInfo;
use super::frame::{CopySizes, Layout};
use super::raw::{self, RawField};
use super::record::{self, State};
use super::render::BinTiles;
use super::rule::Rule;
use super::violation::{Mode, Place, Violation};
use crate::gpu::Submit;
use vc4::cl::AnyPacket;
use vc4::cl::packets::{
    BlockSize, ClipWindow, ClipperXyScaling, ClipperZScaleAndOffset, ConfigurationBits, DepthOffset,
    FlatShadeFlags, Flush, FlushAllState, GemHandles, GlShaderState, Halt, IncrementSemaphore,
    IndexedPrimitiveList, LineWidth, Nop, Packet, PointSize, PrimitiveListFormat, RhtXBoundary,
    StartTileBinning, TileBinningModeConfig, VertexArrayPrimitives, ViewportOffset,
};
use vc4::cl::records::record_size;

/// Bytes of tile state per tile (v3d.md §5.4).
const TILE_STATE_SIZE: u32 = 48;
/// Alignment of the tile lists behind the tile state.
const PAGE: u32 = 4096;

/// The binner slot that the job gets (kernel-abi.md §11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinMemory {
    /// Bus address.
    pub slot_address: u32,
    /// Bytes; 0 when the device has no binner memory.
    pub slot_size: u32,
}

/// A binning job as the hardware gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinJob {
    /// The list, for [`Layout::list`].
    pub list: Vec<u8>,
    /// The shader records, each padded to 16 bytes, for [`Layout::records`].
    pub records: Vec<u8>,
    /// The uniforms, for [`Layout::uniforms`]. They may reach beyond the submission's own size, but not beyond
    /// the last page of the copy (REC-9).
    pub uniforms: Vec<u8>,
    /// Columns of tiles.
    pub tiles_x: u8,
    /// Rows of tiles.
    pub tiles_y: u8,
    /// Bus address of the tile state, which must be zeroed.
    pub tile_state_address: u32,
    /// Bytes of tile state up to the tile lists.
    pub tile_state_size: u32,
    /// Bus address of the tile lists.
    pub tile_alloc_address: u32,
    /// Bytes for tile lists.
    pub tile_alloc_size: u32,
}

impl BinJob {
    /// What the render list needs.
    pub fn tiles(&self) -> BinTiles {
        BinTiles { x: self.tiles_x, y: self.tiles_y, tile_alloc_address: self.tile_alloc_address }
    }
}

/// Checks the bin list, its records, uniforms and textures, and makes the hardware's copies.
///
/// # Errors
/// The first broken rule in the kernel's order: SUB-10, the list, then the records.
pub fn bin(
    job: &Submit,
    bos: &[BoInfo<'_>],
    layout: &Layout,
    memory: &BinMemory,
    mode: Mode,
) -> Result<BinJob, Violation> {
    let sizes = CopySizes::of(job)?;
    let mut walk = Walk {
        job,
        bos,
        memory,
        offset: 0,
        index_bo: 0,
        next_record: layout.records,
        states: Vec::new(),
        config: None,
        started: false,
        incremented: false,
        flushed: false,
        list: Vec::with_capacity(job.bin_cl.len()),
    };
    walk.packets()?;
    let config = walk.finish()?;
    let (list, states) = (walk.list, walk.states);
    let room = sizes.total.checked_next_multiple_of(PAGE).unwrap_or(u32::MAX) - sizes.uniforms;
    let copies = record::records(job, bos, &states, layout, room, mode)?;
    Ok(BinJob { list, records: copies.records, uniforms: copies.uniforms, ..config })
}

/// Declares the packets of BIN-1.
macro_rules! allowed {
    ($($packet:ident),* $(,)?) => {
        /// BIN-1: size and name of a packet that may stand in a bin list.
        fn allowed(opcode: u8) -> Option<(usize, &'static str)> {
            match opcode {
                $($packet::OPCODE => Some(($packet::SIZE, $packet::NAME)),)*
                _ => None,
            }
        }
    };
}

allowed!(
    Halt,
    Nop,
    Flush,
    FlushAllState,
    StartTileBinning,
    IncrementSemaphore,
    IndexedPrimitiveList,
    VertexArrayPrimitives,
    PrimitiveListFormat,
    GlShaderState,
    ConfigurationBits,
    FlatShadeFlags,
    PointSize,
    LineWidth,
    RhtXBoundary,
    DepthOffset,
    ClipWindow,
    ViewportOffset,
    ClipperXyScaling,
    ClipperZScaleAndOffset,
    TileBinningModeConfig,
    GemHandles,
);

const fn indexed(name: &str) -> RawField {
    RawField::of(<IndexedPrimitiveList as Packet>::FIELDS, name)
}
const fn array(name: &str) -> RawField {
    RawField::of(<VertexArrayPrimitives as Packet>::FIELDS, name)
}
const fn state(name: &str) -> RawField {
    RawField::of(<GlShaderState as Packet>::FIELDS, name)
}
const fn config(name: &str) -> RawField {
    RawField::of(<TileBinningModeConfig as Packet>::FIELDS, name)
}

/// The pass over the packets.
struct Walk<'a> {
    job: &'a Submit,
    bos: &'a [BoInfo<'a>],
    memory: &'a BinMemory,
    /// Of the packet being checked.
    offset: usize,
    /// BO of following index buffers, from GEM_HANDLES.
    index_bo: u32,
    /// Address of the next record's copy.
    next_record: u32,
    states: Vec<State>,
    config: Option<BinJob>,
    started: bool,
    incremented: bool,
    flushed: bool,
    list: Vec<u8>,
}

impl Walk<'_> {
    fn rest(&self) -> &[u8] {
        self.job.bin_cl.get(self.offset..).unwrap_or_default()
    }

    fn fail<T>(&self, rule: Rule, what: impl AsRef<str>) -> Result<T, Violation> {
        let packet = match AnyPacket::read(self.rest()) {
            Ok(packet) => packet.to_string(),
            Err(_) => self.rest().iter().take(16).map(|byte| format!("{byte:02x}")).collect(),
        };
        let separator = if packet.is_empty() || what.as_ref().is_empty() { "" } else { ": " };
        let what = format!("{packet}{separator}{}", what.as_ref());
        Err(Violation::new(rule, Place::BinByte(self.offset as u32), what))
    }

    fn packets(&mut self) -> Result<(), Violation> {
        while let Some(&opcode) = self.rest().first() {
            let Some((size, name)) = allowed(opcode) else {
                return self.fail(Rule::Bin1, format!("opcode {opcode}"));
            };
            if self.rest().len() < size {
                let left = self.rest().len();
                return self.fail(Rule::Bin2, format!("{name} has {size} bytes, {left} are left"));
            }
            if opcode == Halt::OPCODE {
                // The kernel stops reading and then misses the FLUSH, which cannot stand before.
                return self.fail(Rule::Bin10, "");
            }
            self.packet(opcode, size)?;
            self.offset += size;
        }
        Ok(())
    }

    fn packet(&mut self, opcode: u8, size: usize) -> Result<(), Violation> {
        match opcode {
            GemHandles::OPCODE => {
                const INDEX0: RawField = RawField::of(<GemHandles as Packet>::FIELDS, "index0");
                self.index_bo = INDEX0.get(raw::payload::<GemHandles>(self.rest()));
                return Ok(());
            }
            StartTileBinning::OPCODE => self.start()?,
            IncrementSemaphore::OPCODE => {
                self.at_end(Rule::Bin7, 2)?;
                self.incremented = true;
            }
            Flush::OPCODE => {
                self.at_end(Rule::Bin8, 1)?;
                self.flushed = true;
            }
            IndexedPrimitiveList::OPCODE => return self.indexed_primitives(),
            VertexArrayPrimitives::OPCODE => self.array_primitives()?,
            GlShaderState::OPCODE => return self.shader_state(),
            TileBinningModeConfig::OPCODE => return self.binning_config(),
            _ => {}
        }
        let Some(bytes) = self.job.bin_cl.get(self.offset..self.offset + size) else { return Ok(()) };
        self.list.extend_from_slice(bytes);
        Ok(())
    }

    /// BIN-3, BIN-4.
    fn start(&mut self) -> Result<(), Violation> {
        if self.started {
            return self.fail(Rule::Bin3, "a second time");
        }
        if self.config.is_none() {
            return self.fail(Rule::Bin4, "no TILE_BINNING_MODE_CONFIG before");
        }
        self.started = true;
        Ok(())
    }

    /// BIN-7, BIN-8: the packet is this many bytes from the end.
    fn at_end(&self, rule: Rule, distance: usize) -> Result<(), Violation> {
        if self.rest().len() == distance {
            return Ok(());
        }
        self.fail(rule, format!("{} bytes before the end of the list", self.rest().len()))
    }

    /// BIN-11 to BIN-13.
    fn indexed_primitives(&mut self) -> Result<(), Violation> {
        const TYPE: RawField = indexed("index_type");
        const COUNT: RawField = indexed("count");
        const ADDRESS: RawField = indexed("address");
        const MAX_INDEX: RawField = indexed("max_index");
        let payload = raw::payload::<IndexedPrimitiveList>(self.rest());
        self.use_index(MAX_INDEX.get(payload))?;
        let bo = match self.bos.get(self.index_bo as usize) {
            Some(bo) if bo.shader.is_none() => bo,
            Some(_) => return self.fail(Rule::Bin12, format!("BO {} is a shader", self.index_bo)),
            None => return self.fail(Rule::Bin12, format!("BO {} of {}", self.index_bo, self.bos.len())),
        };
        let (offset, count) = (ADDRESS.get(payload), COUNT.get(payload));
        let index_size = if TYPE.get(payload) == 0 { 1 } else { 2 };
        let room = bo.size.checked_sub(offset).map(|left| left / index_size);
        if room.is_none_or(|room| room < count) {
            return self.fail(
                Rule::Bin13,
                format!(
                    "{count} indices of {index_size} bytes at offset {offset:#x} of BO {}, which has {} bytes",
                    self.index_bo, bo.size
                ),
            );
        }
        let payload = ADDRESS.set(payload, bo.bus_address.wrapping_add(offset));
        raw::push::<IndexedPrimitiveList>(&mut self.list, payload);
        Ok(())
    }

    /// BIN-11, BIN-14.
    fn array_primitives(&mut self) -> Result<(), Violation> {
        const COUNT: RawField = array("count");
        const FIRST: RawField = array("first");
        let payload = raw::payload::<VertexArrayPrimitives>(self.rest());
        let (first, count) = (FIRST.get(payload), COUNT.get(payload));
        let end = first.checked_add(count);
        if end.is_none() && !self.states.is_empty() {
            return self.fail(Rule::Bin14, "first + count needs more than 32 bits");
        }
        // BIN-15: an empty draw at vertex 0 counts as the largest index.
        self.use_index(end.unwrap_or(0).wrapping_sub(1))
    }

    /// BIN-11, and the largest index of the state for REC-13.
    fn use_index(&mut self, index: u32) -> Result<(), Violation> {
        match self.states.last_mut() {
            Some(state) => {
                state.max_index = state.max_index.max(index);
                Ok(())
            }
            None => self.fail(Rule::Bin11, "no GL_SHADER_STATE before"),
        }
    }

    /// BIN-16, BIN-17.
    fn shader_state(&mut self) -> Result<(), Violation> {
        const ARRAYS: RawField = state("attribute_arrays");
        const EXTENDED: RawField = state("extended");
        const ADDRESS: RawField = state("address");
        if self.states.len() >= self.job.shader_rec_count as usize {
            return self.fail(Rule::Bin16, format!("{} records are declared", self.job.shader_rec_count));
        }
        let payload = raw::payload::<GlShaderState>(self.rest());
        if ADDRESS.get(payload) != 0 {
            return self.fail(Rule::Bin17, "address bits are set");
        }
        let state = State {
            attributes: match ARRAYS.get(payload) {
                0 => 8,
                arrays => arrays as usize,
            },
            extended: EXTENDED.get(payload) != 0,
            max_index: 0,
        };
        let address = u128::from(self.next_record.wrapping_add(payload as u32));
        raw::push::<GlShaderState>(&mut self.list, address);
        let size = record_size(state.attributes, state.extended).next_multiple_of(16);
        self.next_record = self.next_record.wrapping_add(size as u32);
        self.states.push(state);
        Ok(())
    }

    /// BIN-5, BIN-18 to BIN-21, and kernel-abi.md §5.4.
    fn binning_config(&mut self) -> Result<(), Violation> {
        const WIDTH: RawField = config("width_tiles");
        const HEIGHT: RawField = config("height_tiles");
        const HDR: RawField = config("hdr");
        const DOUBLE_BUFFER: RawField = config("double_buffer");
        if self.config.is_some() {
            return self.fail(Rule::Bin5, "a second time");
        }
        let payload = raw::payload::<TileBinningModeConfig>(self.rest());
        let (width, height) = (WIDTH.get(payload), HEIGHT.get(payload));
        if width == 0 || height == 0 {
            return self.fail(Rule::Bin18, format!("{width}x{height} tiles"));
        }
        if HDR.get(payload) != 0 || DOUBLE_BUFFER.get(payload) != 0 {
            return self.fail(Rule::Bin19, "");
        }
        if self.memory.slot_size == 0 {
            return self.fail(Rule::Bin21, "no BO was ever created on this device file");
        }
        let tile_state_size = (TILE_STATE_SIZE * width * height).next_multiple_of(PAGE);
        if tile_state_size >= self.memory.slot_size {
            return self.fail(
                Rule::Bin20,
                format!("{tile_state_size} bytes of tile state, the slot has {}", self.memory.slot_size),
            );
        }
        let job = BinJob {
            list: Vec::new(),
            records: Vec::new(),
            uniforms: Vec::new(),
            tiles_x: width as u8,
            tiles_y: height as u8,
            tile_state_address: self.memory.slot_address,
            tile_state_size,
            tile_alloc_address: self.memory.slot_address.wrapping_add(tile_state_size),
            tile_alloc_size: self.memory.slot_size - tile_state_size,
        };
        raw::push::<TileBinningModeConfig>(&mut self.list, rewritten_config(payload, &job));
        self.config = Some(job);
        Ok(())
    }

    /// BIN-6, BIN-9: what the whole list must have had.
    fn finish(&mut self) -> Result<BinJob, Violation> {
        if self.started && self.incremented && self.flushed {
            if let Some(config) = self.config.take() {
                return Ok(config);
            }
        }
        if !self.started {
            return self.fail(Rule::Bin6, "the list ends without START_TILE_BINNING");
        }
        self.fail(Rule::Bin9, "the list ends without INCREMENT_SEMAPHORE and FLUSH")
    }
}

/// The kernel's own memory and block sizes; of the user's flags only the multisample bit remains.
fn rewritten_config(payload: u128, job: &BinJob) -> u128 {
    let payload = config("tile_alloc").set(payload, job.tile_alloc_address);
    let payload = config("tile_alloc_size").set(payload, job.tile_alloc_size);
    let payload = config("tile_state").set(payload, job.tile_state_address);
    let payload = config("auto_init").set(payload, 1);
    let payload = config("initial_block").set(payload, BlockSize::B32.code());
    config("block").set(payload, BlockSize::B128.code())
}

#[cfg(test)]
mod tests;

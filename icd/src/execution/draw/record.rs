//! The shader record of a piece: programs, attribute arrays, and the uniform streams that its programs read
//! (kernel-abi.md §5.3).

use vc4::cl::records::{Attribute, ShaderRecord, VertexProgram};
use vc4::cl::words::ShaderFlags;
use vc4_shaders::program::{AttributeArray, AttributeSource, Pipeline, SampleBo, UniformSlot};

use super::arrays::source;
use super::bindings::{Bindings, Changes, Range};
use super::gather::from;
use super::geometry::Piece;
use super::iota::ZEROS_AT;
use super::job::JobBuilder;
use super::patches::BlockId;
#[cfg(feature = "compute")]
use super::relay::outputs;
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::pipeline::{BLOCK_WORDS, Block, Inputs, Relayed, set_bit};

/// Largest stride of the plain form of record.
const MAX_PLAIN_STRIDE: u32 = 255;

/// What a direct lookup reads.
const WORD_BYTES: u64 = 4;

/// The uniform streams of the last record, and what it was made for.
pub struct Streams {
    words: Vec<u32>,
    /// Where the words of each run of the recipe were read, if somebody wants to know.
    blocks: Vec<BlockId>,
    /// Words of push constants or of a uniform buffer on their way.
    block: Box<Block>,
    base_vertex: i64,
    /// It has arrays of its own.
    gathered: bool,
    instance: u32,
    record: ShaderRecord,
    handles: Vec<u32>,
    /// Vertices that the record is good for, if it has joined arrays.
    joined: Option<u32>,
}

impl Default for Streams {
    fn default() -> Streams {
        Streams {
            words: Vec::new(),
            blocks: Vec::new(),
            block: Box::new([0; BLOCK_WORDS]),
            base_vertex: 0,
            gathered: false,
            instance: 0,
            record: ShaderRecord::default(),
            handles: Vec::new(),
            joined: None,
        }
    }
}

impl Streams {
    /// Whether the last record and its streams do for a piece, too, whose bindings have not changed since.
    #[inline]
    pub(super) fn serve(&self, bindings: &Bindings<'_>, piece: &Piece<'_>, instance: u32) -> bool {
        !self.is_moved(piece)
            && !self.is_short(piece)
            && (instance == self.instance || !bindings.variant.recipe.has_pieces)
    }

    /// Whether the attribute arrays begin elsewhere than in the last record.
    #[inline]
    fn is_moved(&self, piece: &Piece<'_>) -> bool {
        piece.base_vertex != self.base_vertex || piece.gathered.is_some() || self.gathered
    }

    /// Whether the joined arrays of the last record have too few vertices.
    #[inline]
    fn is_short(&self, piece: &Piece<'_>) -> bool {
        self.joined.is_some_and(|vertices| vertices < piece.primitives.vertices())
    }

    /// Appends the record of a piece, or the last one again, and its streams.
    pub(super) fn write(
        &mut self,
        job: &mut JobBuilder,
        bindings: &Bindings<'_>,
        piece: &Piece<'_>,
        instance: u32,
    ) -> Result<(), Error> {
        let changes = bindings.changes;
        let (is_moved, is_short) = (self.is_moved(piece), self.is_short(piece));
        let is_other = (is_moved || instance != self.instance) && bindings.variant.recipe.has_pieces;
        (self.base_vertex, self.gathered, self.instance) =
            (piece.base_vertex, piece.gathered.is_some(), instance);
        let first = Changes::PROGRAMS | Changes::VERTICES | Changes::JOB;
        // What can fail comes before what the job keeps.
        self.update(job, bindings, piece, instance, is_other)?;
        if is_moved || is_short || changes.intersects(first) || !job.repeat_record() {
            self.record(job, bindings, piece)?;
        }
        let variant = &bindings.variant;
        if bindings.site.ledger.is_noting() {
            let blocks = &self.blocks[..variant.recipe.buffers.len()];
            bindings.site.ledger.streams(variant, job.uniform_count(), &self.words, blocks);
        }
        job.uniforms(&self.words[..variant.recipe.stream_words]);
        Ok(())
    }

    /// Has the CPU shade a piece's vertices, and tells the programs where what it stored stands.
    #[inline(never)]
    fn relay(
        &mut self,
        job: &mut JobBuilder,
        bindings: &Bindings<'_>,
        piece: &Piece<'_>,
        instance: u32,
    ) -> Result<(), Error> {
        // The programs may look at anything.
        bindings.site.ledger.give_up();
        let (outputs, bytes) = outputs(bindings, piece, instance)?;
        let bo = job.bo(&outputs)?;
        for (at, what) in &bindings.variant.recipe.relayed {
            self.words[*at as usize] = match what {
                Relayed::Bo => bo,
                Relayed::Base(offset) => *offset,
                Relayed::Limit(last) => bytes.saturating_sub(WORD_BYTES as u32 + last),
            };
        }
        Ok(())
    }

    /// Appends a new record.
    fn record(
        &mut self,
        job: &mut JobBuilder,
        bindings: &Bindings<'_>,
        piece: &Piece<'_>,
    ) -> Result<(), Error> {
        let variant = &bindings.variant;
        let programs = &variant.programs;
        self.handles.clear();
        self.record.attributes.clear();
        let bos = variant.bos()?;
        for program in [&bos.fragment, &bos.vertex, &bos.coordinate] {
            self.handles.push(job.program(program)?);
        }
        self.joined = None;
        for array in arrays(programs) {
            let (handle, attribute) = match array {
                [single] => attribute(job, bindings, single, piece)?,
                joined => {
                    self.joined = Some(piece.primitives.vertices());
                    side_by_side(job, bindings, joined, piece)?
                }
            };
            self.handles.push(handle);
            self.record.attributes.push(attribute);
        }
        let record = &mut self.record;
        record.flags = ShaderFlags {
            clipping: true,
            point_size: programs.point_size,
            single_threaded: !programs.fragment.threaded,
        };
        record.varyings = programs.varyings as u8;
        record.vertex = program(programs, programs.vertex_attribute_bytes, |array| array.vertex_offset);
        record.coordinate =
            program(programs, programs.coordinate_attribute_bytes, |array| array.coordinate_offset);
        record.extended = record.attributes.iter().any(|attribute| attribute.stride > MAX_PLAIN_STRIDE);
        job.record(self.handles.iter().copied(), record)
    }

    /// Brings the words up to date.
    fn update(
        &mut self,
        job: &mut JobBuilder,
        bindings: &Bindings<'_>,
        piece: &Piece<'_>,
        instance: u32,
        is_other: bool,
    ) -> Result<(), Error> {
        let recipe = &bindings.variant.recipe;
        let mut changes = bindings.changes;
        if changes.contains(Changes::PROGRAMS) {
            self.words.clear();
            self.words.extend_from_slice(&recipe.constants);
            changes = Changes::all();
        }
        // A new job or new programs need the words of every set.
        let sets = match changes.intersects(Changes::PROGRAMS | Changes::JOB) {
            true => u32::MAX,
            false => bindings.changed_sets,
        };
        let words = &mut self.words[..];
        if changes.contains(Changes::PUSH) {
            let push = bindings.state.push();
            self.block[..push.len()].copy_from_slice(push);
            if push.len() < recipe.push.block_words() {
                // What was never pushed is undefined, but no other draw's.
                self.block[push.len()..recipe.push.block_words()].fill(0);
            }
            recipe.push.put(words, &self.block);
        }
        if changes.intersects(Changes::DESCRIPTORS | Changes::JOB) {
            for (at, sample) in &recipe.samples {
                let (SampleBo::Texture(place) | SampleBo::Ubo(place)) = sample;
                if sets & set_bit(place) != 0 {
                    words[*at as usize] = match sample {
                        SampleBo::Texture(image) => job.bo(bindings.texture_bo(*image)?)?,
                        SampleBo::Ubo(buffer) => {
                            let Range { bo, offset, size, .. } = bindings.range(*buffer)?;
                            job.part(bo, offset..offset + size)?
                        }
                    };
                }
            }
        }
        if changes.contains(Changes::DESCRIPTORS) {
            let ledger = bindings.site.ledger;
            if ledger.is_noting() {
                self.blocks.resize(recipe.buffers.len(), BlockId::default());
            }
            for (number, run) in recipe.buffers.iter().enumerate().filter(|(_, run)| sets & run.set != 0) {
                let range = bindings.range_at(run.range)?;
                range.read(run.start, &mut self.block[..run.count]);
                run.words.put(words, &self.block);
                if ledger.is_noting() {
                    let have = range.words_from(run.start).min(run.count);
                    let offset = (range.offset + u64::from(run.start)) as usize;
                    let block = |place| ledger.block(place, offset, number, &self.block[..have]);
                    self.blocks[number] = range.place.map_or(BlockId::default(), block);
                }
            }
            for (at, set, slot) in &recipe.descriptors {
                if sets & set != 0 {
                    words[*at as usize] = descriptor_word(bindings, slot)?;
                }
            }
        }
        if recipe.computes() {
            let inputs = Inputs {
                push: changes.contains(Changes::PUSH),
                sets: if changes.contains(Changes::DESCRIPTORS) { sets } else { 0 },
            };
            recipe.compute(words, inputs, changes.contains(Changes::PROGRAMS));
        }
        if changes.contains(Changes::STATE) {
            recipe.state.iter().for_each(|(at, state)| words[*at as usize] = bindings.words.word(*state));
        }
        if changes.contains(Changes::CALL) {
            recipe.draws.iter().for_each(|(at, word)| words[*at as usize] = bindings.call.word(*word));
        }
        if is_other || changes.intersects(Changes::PROGRAMS | Changes::VERTICES | Changes::CALL) {
            for (at, slot) in &recipe.pieces {
                words[*at as usize] = piece_word(bindings, slot, piece, instance)?;
            }
            if !recipe.relayed.is_empty() {
                self.relay(job, bindings, piece, instance)?;
            }
        }
        Ok(())
    }
}

/// Without the CPU's back end no vertices are shaded there.
#[cfg(not(feature = "compute"))]
fn outputs(
    _: &Bindings<'_>,
    _: &Piece<'_>,
    _: u32,
) -> Result<(std::sync::Arc<crate::foundation::bo::Bo>, u32), Error> {
    Err(Error::InvalidUse("a draw whose shader reads a hidden descriptor".into()))
}

/// The arrays of the record, each with what is joined in it.
fn arrays(programs: &Pipeline) -> impl Iterator<Item = &[AttributeArray]> {
    programs.attributes.chunk_by(|_, next| next.joined)
}

fn program(programs: &Pipeline, bytes: u32, offset: fn(&AttributeArray) -> Option<u8>) -> VertexProgram {
    let is_loaded = |array: &[AttributeArray]| array.first().is_some_and(|first| offset(first).is_some());
    let select = |(index, array): (usize, &[AttributeArray])| u8::from(is_loaded(array)) << index;
    VertexProgram {
        attribute_select: arrays(programs).enumerate().map(select).sum(),
        attribute_bytes: bytes as u8,
        ..VertexProgram::default()
    }
}

/// An attribute array and its BO's place.
fn attribute(
    job: &mut JobBuilder,
    bindings: &Bindings<'_>,
    array: &AttributeArray,
    piece: &Piece<'_>,
) -> Result<(u32, Attribute), Error> {
    let plain = Attribute {
        bytes: array.bytes as u16,
        vertex_offset: array.vertex_offset.unwrap_or(0),
        coordinate_offset: array.coordinate_offset.unwrap_or(0),
        ..Attribute::default()
    };
    if let Some(gathered) = &piece.gathered {
        let copies = job.bo(&gathered.array(bindings.site, &bindings.state, array.source, array.bytes)?)?;
        return Ok((copies, Attribute { stride: array.bytes, ..plain }));
    }
    let found = match array.source {
        AttributeSource::Location(location) => {
            let source = source(&bindings.state, location)?;
            source.filter(|source| source.limit(array.bytes).is_some())
        }
        AttributeSource::VertexIndex => {
            let numbers = job.bo(bindings.site.iota.bo()?)?;
            return Ok((numbers, Attribute { stride: 4, ..plain }));
        }
        // Corners come in gathered arrays only.
        AttributeSource::Corner { .. }
        | AttributeSource::CornerIndex(_)
        | AttributeSource::Place
        | AttributeSource::Dummy => None,
    };
    match found {
        Some(source) => {
            // Inside of the buffer: pieces keep to the limits of their sources.
            let address = source.base as i64 + i64::from(source.stride) * piece.base_vertex;
            Ok((
                job.bo(&source.place.bo)?,
                Attribute { address: address as u32, stride: source.stride, ..plain },
            ))
        }
        // Reads of what is not there give zeros (T-ROBUST).
        None => {
            let zeros = job.bo(bindings.site.iota.bo()?)?;
            Ok((zeros, Attribute { address: ZEROS_AT, ..plain }))
        }
    }
}

/// Arrays that share one of the record: their data side by side in memory of their own, and its place.
fn side_by_side(
    job: &mut JobBuilder,
    bindings: &Bindings<'_>,
    joined: &[AttributeArray],
    piece: &Piece<'_>,
) -> Result<(u32, Attribute), Error> {
    let whole_words = |array: &AttributeArray| array.bytes.next_multiple_of(4) as usize;
    let stride: usize = joined.iter().map(whole_words).sum();
    // What is not there stays zero (T-ROBUST).
    let mut data = vec![0; stride * piece.primitives.vertices() as usize];
    let mut column = 0;
    for array in joined {
        let (corner, location) = from(array.source);
        let found = location.map_or(Ok(None), |location| source(&bindings.state, location))?;
        let limit = found.as_ref().and_then(|source| source.limit(array.bytes));
        if let (Some(source), Some(limit)) = (found, limit) {
            let memory = source.access(bindings.site)?;
            for (number, to) in data.chunks_exact_mut(stride).enumerate() {
                let vertex = piece.vertex(number, corner);
                if (0..=limit).contains(&vertex) {
                    let start = source.base + vertex as u64 * u64::from(source.stride);
                    memory.read(start as usize, &mut to[column..][..array.bytes as usize]);
                }
            }
        }
        column += whole_words(array);
    }
    let bo = bindings.site.create_bo("joined attributes", data.len() as u64)?;
    bo.access(Cause::Vertices)?.write(0, &data);
    let attribute = Attribute {
        bytes: stride as u16,
        stride: stride as u32,
        vertex_offset: joined[0].vertex_offset.unwrap_or(0),
        coordinate_offset: joined[0].coordinate_offset.unwrap_or(0),
        ..Attribute::default()
    };
    Ok((job.bo(&bo)?, attribute))
}

/// A word of a descriptor.
fn descriptor_word(bindings: &Bindings<'_>, slot: &UniformSlot) -> Result<u32, Error> {
    Ok(match *slot {
        // The kernel refuses lookups that could leave the BO, so that what a range has not is moved into it.
        UniformSlot::UboBase { buffer, offset } => {
            let range = bindings.range(buffer)?;
            (range.offset + range.size.saturating_sub(WORD_BYTES).min(offset.into())) as u32 & !3
        }
        UniformSlot::UboLimit { buffer, last } => {
            bindings.range(buffer)?.size.saturating_sub(WORD_BYTES + u64::from(last)) as u32
        }
        UniformSlot::BufferElements { buffer, offset, stride } => {
            (bindings.range(buffer)?.size.saturating_sub(offset.into()) / u64::from(stride)) as u32
        }
        UniformSlot::TextureP0(lookup) => bindings.texture(lookup.texture)?.parameter(lookup, 0),
        UniformSlot::TextureP1(lookup) => bindings.texture(lookup.texture)?.parameter(lookup, 1),
        UniformSlot::TextureP2 { lookup, explicit_lod } => {
            bindings.texture(lookup.texture)?.extra(lookup, explicit_lod)
        }
        UniformSlot::Texture { texture, value } => bindings.texture(texture)?.value(value),
        // The recipe files these elsewhere.
        UniformSlot::Const(_)
        | UniformSlot::State(_)
        | UniformSlot::Push(_)
        | UniformSlot::Ubo { .. }
        | UniformSlot::VertexIndexBias
        | UniformSlot::InstanceIndex
        | UniformSlot::Draw(_)
        | UniformSlot::InstanceAttribute { .. }
        | UniformSlot::Computed(_)
        | UniformSlot::StreamAddress => 0,
    })
}

/// A word that differs from piece to piece.
fn piece_word(
    bindings: &Bindings<'_>,
    slot: &UniformSlot,
    piece: &Piece<'_>,
    instance: u32,
) -> Result<u32, Error> {
    match *slot {
        UniformSlot::VertexIndexBias => Ok(piece.base_vertex as u32),
        UniformSlot::InstanceIndex => Ok(instance),
        UniformSlot::InstanceAttribute { location, word } => {
            let first = bindings.call.first_instance();
            source(&bindings.state, location)?
                .map_or(Ok(0), |source| source.instance_word(bindings.site, first, instance, word))
        }
        _ => Ok(0),
    }
}

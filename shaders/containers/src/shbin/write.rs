//! Model to bytes, and the places of blocks in a file built from nothing.

use super::block::*;
use super::model::*;

/// Why a model has no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// Two blocks, or a block and bytes of [`Shbin::rest`], want different bytes in one place.
    Overlap {
        /// Byte offset.
        offset: usize,
    },
    /// A count or an offset exceeds 32 bits.
    TooLarge,
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WriteError::Overlap { offset } => {
                write!(f, "two blocks claim byte 0x{offset:x}; `layout` gives every block a place of its own")
            }
            WriteError::TooLarge => f.write_str("a count or an offset exceeds 32 bits"),
        }
    }
}

impl std::error::Error for WriteError {}

/// A file being put together.
struct Image {
    bytes: Vec<u8>,
    taken: Vec<bool>,
}

impl Image {
    fn put(&mut self, at: usize, block: &[u8]) -> Result<(), WriteError> {
        // An empty table may point anywhere, far behind the file too.
        if block.is_empty() {
            return Ok(());
        }
        let end = at.checked_add(block.len()).ok_or(WriteError::TooLarge)?;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.taken.resize(self.bytes.len(), false);
        for (n, &byte) in block.iter().enumerate() {
            let (here, taken) = (&mut self.bytes[at + n], &mut self.taken[at + n]);
            // Bytes of `rest` under a block are zero in a model that was read.
            if *here != byte && (*taken || *here != 0) {
                return Err(WriteError::Overlap { offset: at + n });
            }
            (*here, *taken) = (byte, true);
        }
        Ok(())
    }

    fn put_table<T: Entry>(&mut self, base: usize, table: &Table<T>) -> Result<(), WriteError> {
        let mut block = Vec::with_capacity(table.entries.len() * T::SIZE);
        table.entries.iter().for_each(|entry| entry.put(&mut block));
        self.put(base.checked_add(table.at as usize).ok_or(WriteError::TooLarge)?, &block)
    }
}

/// A header's two words for a table.
fn put_place<T>(out: &mut Vec<u8>, table: &Table<T>) -> Result<(), WriteError> {
    out.extend(table.at.to_le_bytes());
    out.extend(count(table.entries.len())?);
    Ok(())
}

fn count(n: usize) -> Result<[u8; 4], WriteError> {
    u32::try_from(n).map(u32::to_le_bytes).map_err(|_| WriteError::TooLarge)
}

impl Shbin {
    /// The file. Writing a model that was read gives the bytes it was read from.
    ///
    /// # Errors
    /// A changed model whose blocks no longer fit their places; [`Shbin::layout`] gives them new ones.
    pub fn write(&self) -> Result<Vec<u8>, WriteError> {
        let mut image = Image { bytes: self.rest.clone(), taken: Vec::new() };
        let mut dvlb = b"DVLB".to_vec();
        dvlb.extend(count(self.programs.len())?);
        self.programs.iter().for_each(|program| dvlb.extend(program.at.to_le_bytes()));
        image.put(0, &dvlb)?;
        self.dvlp.write(self.dvlp_at(), &mut image)?;
        self.programs.iter().try_for_each(|program| program.write(&mut image))?;
        Ok(image.bytes)
    }

    /// Gives every block the place picasso does, each behind the other: DVLB, DVLP with the long header, code,
    /// descriptors, file names; then for each program header, constants, labels, outputs, uniforms, names.
    /// Bytes that belong to no block are dropped.
    pub fn layout(&mut self) {
        let dvlp_at = self.dvlp_at();
        self.dvlp.unknown.get_or_insert_default();
        let mut next = DVLP_HEADER + DVLP_UNKNOWN;
        place(&mut self.dvlp.code, &mut next);
        place(&mut self.dvlp.descriptors, &mut next);
        self.dvlp.file_names.at = offset(next);
        next += self.dvlp.file_names.entries.iter().map(|name| name.len() + 1).sum::<usize>();
        let mut at = dvlp_at + next.next_multiple_of(4);
        for program in &mut self.programs {
            program.at = offset(at);
            let mut next = DVLE_HEADER;
            place(&mut program.constants, &mut next);
            place(&mut program.labels, &mut next);
            place(&mut program.outputs, &mut next);
            place(&mut program.uniforms, &mut next);
            place(&mut program.symbols, &mut next);
            at += next.next_multiple_of(4);
        }
        self.rest.clear();
        self.rest.resize(at, 0);
    }
}

/// Offsets past 32 bits saturate; `write` then finds the blocks on top of each other.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn place<T: Entry>(table: &mut Table<T>, next: &mut usize) {
    table.at = offset(*next);
    *next += table.entries.len() * T::SIZE;
}

impl Dvlp {
    fn write(&self, at: usize, image: &mut Image) -> Result<(), WriteError> {
        let mut header = b"DVLP".to_vec();
        header.extend(self.version.to_le_bytes());
        put_place(&mut header, &self.code)?;
        put_place(&mut header, &self.descriptors)?;
        header.extend(self.file_names.at.to_le_bytes());
        self.unknown.iter().flatten().for_each(|word| header.extend(word.to_le_bytes()));
        image.put(at, &header)?;
        image.put_table(at, &self.code)?;
        image.put_table(at, &self.descriptors)?;
        let names: Vec<u8> =
            self.file_names.entries.iter().flat_map(|name| name.iter().copied().chain([0])).collect();
        image.put(at.saturating_add(self.file_names.at as usize), &names)
    }
}

impl Dvle {
    fn write(&self, image: &mut Image) -> Result<(), WriteError> {
        let at = self.at as usize;
        image.put(at, &self.header()?)?;
        image.put_table(at, &self.constants)?;
        image.put_table(at, &self.labels)?;
        image.put_table(at, &self.outputs)?;
        image.put_table(at, &self.uniforms)?;
        image.put_table(at, &self.symbols)
    }

    fn header(&self) -> Result<Vec<u8>, WriteError> {
        let mut header = b"DVLE".to_vec();
        header.extend(self.version.to_le_bytes());
        header.extend([self.stage.code(), self.flags]);
        header.extend(self.main.to_le_bytes());
        header.extend(self.end.to_le_bytes());
        header.extend(self.inputs.to_le_bytes());
        header.extend(self.output_mask.to_le_bytes());
        let geometry = &self.geometry;
        header.extend([geometry.mode.code(), geometry.fixed_start]);
        header.extend([geometry.variable_count, geometry.fixed_count]);
        put_place(&mut header, &self.constants)?;
        put_place(&mut header, &self.labels)?;
        put_place(&mut header, &self.outputs)?;
        put_place(&mut header, &self.uniforms)?;
        put_place(&mut header, &self.symbols)?;
        Ok(header)
    }
}

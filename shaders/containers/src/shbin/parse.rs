//! Bytes to model: the structure only. What a count or an offset claims is compared with the file before
//! anything is reserved for it.

use super::block::*;
use super::model::*;
use crate::{Finding, Reader};

impl Shbin {
    /// Reads the structure of a file; [`Shbin::check`] says what is wrong inside it.
    ///
    /// # Errors
    /// S01 to S06 or S19 with the place: the blocks cannot be followed.
    pub fn parse(bytes: &[u8]) -> Result<Shbin, Finding> {
        let mut file = Reader::new(bytes, "S01");
        magic(&mut file, b"DVLB", "S02")?;
        let count_at = file.at();
        let offsets = offsets(&mut file, count_at)?;
        let mut budget = Budget { left: 3 * bytes.len() + 1024, at: count_at };
        let dvlp = dvlp(&mut file, bytes, &mut budget)?;
        budget.spend(offsets.len(), size_of::<Dvle>())?;
        let mut programs = Vec::with_capacity(offsets.len());
        for (n, offset) in offsets.enumerate() {
            budget.at = DVLB_HEADER + 4 * n;
            programs.push(dvle(bytes, u32::get(offset), &mut budget)?);
        }
        let mut shbin = Shbin { dvlp, programs, rest: bytes.to_vec() };
        shbin.find_unknown_words(bytes);
        shbin.find_file_names(bytes);
        shbin.clear_blocks();
        Ok(shbin)
    }

    /// Reads a file and refuses it if [`Shbin::check`] finds an error.
    ///
    /// # Errors
    /// The first error found; see [`CODES`](super::CODES).
    pub fn read(bytes: &[u8]) -> Result<Shbin, Finding> {
        let shbin = Shbin::parse(bytes)?;
        match shbin.check().into_iter().find(Finding::is_error) {
            Some(error) => Err(error),
            None => Ok(shbin),
        }
    }

    /// The long DVLP header has three more words. Nothing says which header a file has; a file in which another
    /// block stands in their place has the short one.
    fn find_unknown_words(&mut self, bytes: &[u8]) {
        let at = self.dvlp_at() + DVLP_HEADER;
        if self.is_free(at, DVLP_UNKNOWN) {
            let mut words = Reader::new(bytes, "S01");
            let read = words.take(at, "").and_then(|_| {
                Ok([words.u32("DVLP word")?, words.u32("DVLP word")?, words.u32("DVLP word")?])
            });
            self.dvlp.unknown = read.ok();
        }
    }

    /// The file name table has no size; most files only have an offset that points at some other block. Names
    /// are believed when there is one for each program, none is empty and no block is in their way.
    fn find_file_names(&mut self, bytes: &[u8]) {
        let start = self.dvlp_at().saturating_add(self.dvlp.file_names.at as usize);
        let table = bytes.get(start..).unwrap_or_default();
        let names = || table.split(|&byte| byte == 0).take(self.programs.len());
        let size: usize = names().map(|name| name.len() + 1).sum();
        // The last piece of a split has no NUL behind it.
        let complete = size <= table.len() && names().count() == self.programs.len();
        if complete && names().all(|name| !name.is_empty()) && self.is_free(start, size) {
            self.dvlp.file_names.entries = names().map(<[u8]>::to_vec).collect();
        }
    }

    fn is_free(&self, at: usize, size: usize) -> bool {
        self.blocks().all(|(start, length)| at + size <= start || start + length <= at)
    }

    fn clear_blocks(&mut self) {
        let mut rest = std::mem::take(&mut self.rest);
        for (at, size) in self.blocks() {
            rest[at..at + size].fill(0);
        }
        self.rest = rest;
    }
}

/// Keeps the model near the size of the file: blocks may overlap, so a short file could name the same bytes
/// many times over.
struct Budget {
    left: usize,
    at: usize,
}

impl Budget {
    fn spend(&mut self, count: usize, size: usize) -> Result<(), Finding> {
        match count.checked_mul(size).and_then(|bytes| self.left.checked_sub(bytes)) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let message = "blocks overlap so often that they hold several times the bytes of the file";
                Err(Finding::new("S19", self.at, message))
            }
        }
    }
}

fn magic(reader: &mut Reader<'_>, expected: &[u8; 4], code: &'static str) -> Result<(), Finding> {
    let at = reader.at();
    let found = reader.take(4, "the magic")?;
    if found == expected {
        return Ok(());
    }
    let message = format!("expected `{}`, found `{}`", expected.escape_ascii(), found.escape_ascii());
    Err(Finding::new(code, at, message))
}

fn offsets<'a>(file: &mut Reader<'a>, count_at: usize) -> Result<std::slice::ChunksExact<'a, u8>, Finding> {
    let count = file.u32("the number of programs")?;
    if count == 0 {
        return Err(Finding::new("S03", count_at, "the number of programs is 0"));
    }
    let size = u64::from(count) * 4;
    if size > file.left() as u64 {
        let message = format!("{count} program offsets need {size} bytes, {} left", file.left());
        return Err(Finding::new("S03", count_at, message));
    }
    Ok(file.take(size as usize, "program offsets")?.chunks_exact(4))
}

fn dvlp(file: &mut Reader<'_>, bytes: &[u8], budget: &mut Budget) -> Result<Dvlp, Finding> {
    let base = file.at();
    magic(file, b"DVLP", "S04")?;
    let mut header = file.split(DVLP_HEADER - 4, "the DVLP header")?;
    Ok(Dvlp {
        version: header.u32("version")?,
        code: table(&mut header, bytes, base, "code", budget)?,
        descriptors: table(&mut header, bytes, base, "operand descriptors", budget)?,
        file_names: Table { at: header.u32("file name offset")?, entries: Vec::new() },
        unknown: None,
    })
}

fn dvle(bytes: &[u8], at: u32, budget: &mut Budget) -> Result<Dvle, Finding> {
    let base = at as usize;
    if bytes.get(base..).is_none_or(|rest| !rest.starts_with(b"DVLE")) {
        let message = format!("there is no `DVLE` at 0x{at:x}; the file has 0x{:x} bytes", bytes.len());
        return Err(Finding::new("S05", budget.at, message));
    }
    let mut header =
        Reader::new(bytes, "S01").range(at.into(), DVLE_HEADER as u64, base, "the DVLE header")?;
    header.u32("magic")?;
    Ok(Dvle {
        at,
        version: header.u16("version")?,
        stage: Stage::from_code(header.u8("type")?),
        flags: header.u8("flags")?,
        main: header.u32("main")?,
        end: header.u32("end of main")?,
        inputs: header.u16("input mask")?,
        output_mask: header.u16("output mask")?,
        geometry: Geometry {
            mode: GeometryMode::from_code(header.u8("geometry mode")?),
            fixed_start: header.u8("fixed start")?,
            variable_count: header.u8("variable count")?,
            fixed_count: header.u8("fixed count")?,
        },
        constants: table(&mut header, bytes, base, "constants", budget)?,
        labels: table(&mut header, bytes, base, "labels", budget)?,
        outputs: table(&mut header, bytes, base, "outputs", budget)?,
        uniforms: table(&mut header, bytes, base, "uniforms", budget)?,
        symbols: table(&mut header, bytes, base, "symbol names", budget)?,
    })
}

/// The table whose offset and count come next in a header. An empty table may point anywhere.
fn table<T: Entry>(
    header: &mut Reader<'_>,
    bytes: &[u8],
    base: usize,
    what: &str,
    budget: &mut Budget,
) -> Result<Table<T>, Finding> {
    let stated_at = header.at();
    let at = header.u32("table offset")?;
    let count = header.u32("table entries")?;
    if count == 0 {
        return Ok(Table { at, entries: Vec::new() });
    }
    let start = base as u64 + u64::from(at);
    let size = u64::from(count) * T::SIZE as u64;
    let range = Reader::new(bytes, "S06").range(start, size, stated_at, what)?;
    budget.spend(count as usize, size_of::<T>())?;
    Ok(Table { at, entries: range.rest().chunks_exact(T::SIZE).map(T::get).collect() })
}

//! A library over a borrowed file.

use super::extension::{Extension, Place};
use super::function::{Function, SMALLEST};
use super::group::{Group, RawTag, next_tag};
use super::header::{Header, Section};
use super::metadata::MetadataTag;
use super::module::{Module, WRAPPER_MAGIC, WRAPPER_SIZE, Wrapper};
use super::sources::Sources;
use crate::{Finding, Reader};

/// A metallib: header, functions and extension typed; sections reached through the functions, on demand, without
/// copying anything of the file.
#[derive(Clone, Debug)]
pub struct Library<'a> {
    pub(super) file: &'a [u8],
    /// The header.
    pub header: Header,
    /// The functions, in file order.
    pub functions: Vec<Function<'a>>,
    /// The header extension; absent in patch 2.
    pub extension: Option<Extension<'a>>,
    /// Where groups of public metadata begin, from the start of their section: ascending, each once.
    pub(super) public_starts: Vec<u64>,
    /// The same for private metadata.
    pub(super) private_starts: Vec<u64>,
}

impl<'a> Library<'a> {
    /// Reads header, function list and extension; [`Library::check`] says what is wrong behind them. Modules are not
    /// touched: the time depends on the number of functions, not on the size of the file.
    ///
    /// # Errors
    /// T01–T10, T13 or T15 with the place.
    pub fn parse(file: &'a [u8]) -> Result<Library<'a>, Finding> {
        let header = Header::parse(file)?;
        let all = Reader::new(file, "T05");
        let functions = functions(&all, &header)?;
        let extension = match header.public.offset.checked_sub(header.list_end()) {
            None | Some(0) => None,
            Some(size) => {
                let range = all.range(header.list_end(), size, 40, "header extension")?.with_code("T07");
                Some(Extension::parse(&all, range)?)
            }
        };
        let public_starts = starts(&functions, header.public, |function| function.offsets.public);
        let private_starts = starts(&functions, header.private, |function| function.offsets.private);
        Ok(Library { file, header, functions, extension, public_starts, private_starts })
    }

    /// Reads a file and refuses it if [`Library::check`] finds an error; digests of all modules are computed.
    ///
    /// # Errors
    /// The first error found; see [`CODES`](super::CODES).
    pub fn read(file: &'a [u8]) -> Result<Library<'a>, Finding> {
        let library = Library::parse(file)?;
        match library.check().into_iter().find(Finding::is_error) {
            Some(error) => Err(error),
            None => Ok(library),
        }
    }

    /// The whole file.
    pub fn file(&self) -> &'a [u8] {
        self.file
    }

    /// The bytes of a section; empty when it leaves the file, which no section of a parsed library does.
    pub fn section_bytes(&self, section: Section) -> &'a [u8] {
        let range = Reader::new(self.file, "T05").range(section.offset, section.size, 0, "section");
        range.map(|range| range.rest()).unwrap_or_default()
    }

    /// The group of public metadata of a function. Functions may share one.
    ///
    /// # Errors
    /// T11 when the offset lies outside the section; T06 or T07 when there is no well-formed group.
    pub fn public_group(&self, function: &Function<'a>) -> Result<Group<'a>, Finding> {
        let stated_at = function.place(b"OFFT");
        self.group(self.header.public, &self.public_starts, function.offsets.public, stated_at)
    }

    /// The group of private metadata of a function.
    ///
    /// # Errors
    /// As [`Library::public_group`].
    pub fn private_group(&self, function: &Function<'a>) -> Result<Group<'a>, Finding> {
        let stated_at = function.place(b"OFFT") + 8;
        self.group(self.header.private, &self.private_starts, function.offsets.private, stated_at)
    }

    /// A group may not run into the next one a function names, so that reading all groups reads no byte twice.
    fn group(
        &self,
        section: Section,
        starts: &[u64],
        offset: u64,
        stated_at: usize,
    ) -> Result<Group<'a>, Finding> {
        if offset >= section.size {
            let message = format!("metadata offset {offset}, the section has {} bytes", section.size);
            return Err(Finding::new("T11", stated_at, message));
        }
        let next = starts.partition_point(|&start| start <= offset);
        let end = starts.get(next).copied().unwrap_or(section.size);
        let all = Reader::new(self.file, "T06");
        Group::read(&mut all.range(section.offset + offset, end - offset, stated_at, "metadata group")?)
    }

    /// Public metadata of a function, typed where it parses.
    ///
    /// # Errors
    /// As [`Library::public_group`].
    pub fn public_metadata(&self, function: &Function<'a>) -> Result<Vec<MetadataTag<'a>>, Finding> {
        Ok(self.public_group(function)?.tags().map(MetadataTag::parse_or_keep).collect())
    }

    /// Private metadata of a function, typed where it parses.
    ///
    /// # Errors
    /// As [`Library::public_group`].
    pub fn private_metadata(&self, function: &Function<'a>) -> Result<Vec<MetadataTag<'a>>, Finding> {
        Ok(self.private_group(function)?.tags().map(MetadataTag::parse_or_keep).collect())
    }

    /// The module of a function. Without `MDSZ` its length is that of the wrapper rounded up to 16.
    ///
    /// # Errors
    /// T11 when it leaves the section, T14 when the wrapper is damaged.
    pub fn module(&self, function: &Function<'a>) -> Result<Module<'a>, Finding> {
        let section = self.header.modules;
        let offset = function.offsets.module;
        if offset >= section.size {
            let message = format!("module offset {offset}, the section has {} bytes", section.size);
            return Err(Finding::new("T11", function.place(b"OFFT") + 16, message));
        }
        let all = Reader::new(self.file, "T11");
        let rest = all.range(section.offset + offset, section.size - offset, 72, "modules")?;
        let wrapper = Wrapper::read(rest.rest());
        let size = match (function.module_size, &wrapper) {
            (Some(size), _) => size,
            (None, Some(wrapper)) if wrapper.magic == WRAPPER_MAGIC => wrapper.end().next_multiple_of(16),
            (None, _) => WRAPPER_SIZE.min(rest.left()) as u64,
        };
        if size > rest.left() as u64 {
            let message = format!("module of {size} bytes, {} left in the section", rest.left());
            return Err(Finding::new("T11", function.place(b"MDSZ"), message));
        }
        let damaged = |at: usize, message: String| Finding::new("T14", rest.at() + at, message);
        let bytes = &rest.rest()[..size as usize];
        let Some(wrapper) = wrapper.filter(|_| bytes.len() >= WRAPPER_SIZE) else {
            return Err(damaged(0, format!("module of {size} bytes is too short for a wrapper")));
        };
        if wrapper.magic != WRAPPER_MAGIC {
            return Err(damaged(
                0,
                format!("wrapper magic 0x{:08x}, expected 0x{WRAPPER_MAGIC:08x}", wrapper.magic),
            ));
        }
        let Some(bitcode) =
            bytes.get(wrapper.offset as usize..).and_then(|from| from.get(..wrapper.size as usize))
        else {
            let message =
                format!("wrapper holds {} bytes from {}, the module {size}", wrapper.size, wrapper.offset);
            return Err(damaged(8, message));
        };
        Ok(Module { bytes, bitcode, version: wrapper.version, cpu_type: wrapper.cpu_type, at: rest.at() })
    }

    /// The embedded sources.
    ///
    /// # Errors
    /// T16: the section is malformed.
    pub fn sources(&self) -> Result<Option<Sources<'a>>, Finding> {
        let Some(extension) = &self.extension else { return Ok(None) };
        let place = extension.section(b"HSRD").or(extension.section(b"HSRC"));
        place.map(|place| Sources::parse(self.file, place)).transpose()
    }

    /// The tags of the dynamic header, `HDYN`: `NAME`, the install name, and `DYNL`, a linked library.
    ///
    /// # Errors
    /// T06 or T07 when they are not well formed.
    pub fn dynamic_tags(&self) -> Result<Vec<RawTag<'a>>, Finding> {
        let Some(place) = self.extension.and_then(|extension| extension.section(b"HDYN")) else {
            return Ok(Vec::new());
        };
        let Section { offset, size } = place.section;
        let mut r = Reader::new(self.file, "T07").range(offset, size, place.stated_at, "dynamic header")?;
        let mut ahead = r.clone();
        let mut count = 0;
        while next_tag(&mut ahead)?.is_some() {
            count += 1;
        }
        let mut tags = Vec::with_capacity(count);
        while let Some(tag) = next_tag(&mut r)? {
            tags.push(tag);
        }
        Ok(tags)
    }

    /// The groups of `VLST`, `ILST` or `RLST`: a u32 count, then the groups. `None` when there is no such section or
    /// it does not parse; its layout is known from descriptions only.
    pub fn list(&self, id: &[u8; 4]) -> Option<Vec<Group<'a>>> {
        let place = self.extension?.section(id)?;
        list_groups(self.file, place).map(|(groups, _)| groups)
    }
}

/// The groups and the bytes used, count word included.
pub(super) fn list_groups(file: &[u8], place: Place) -> Option<(Vec<Group<'_>>, usize)> {
    let Section { offset, size } = place.section;
    let mut r = Reader::new(file, "T06").range(offset, size, place.stated_at, "list").ok()?;
    let start = r.at();
    let count = r.u32("count").ok()? as usize;
    // A group takes eight bytes at least.
    let mut groups = Vec::with_capacity(count.min(r.left() / 8));
    for _ in 0..count {
        groups.push(Group::read(&mut r).ok()?);
    }
    Some((groups, r.at() - start))
}

fn functions<'a>(all: &Reader<'a>, header: &Header) -> Result<Vec<Function<'a>>, Finding> {
    let list = header.functions;
    // The count word is not in the size.
    let mut r = all.range(list.offset, list.size + 4, 24, "function list")?;
    let count_at = r.at();
    let count = r.u32("function count")? as usize;
    let most = r.left() / SMALLEST;
    let too_many = |have: usize| {
        let message = format!("count {count}, the list has room for {have} functions");
        Finding::new("T06", count_at, message)
    };
    let mut functions = Vec::with_capacity(count.min(most));
    for index in 0..count {
        if r.is_empty() {
            return Err(too_many(index));
        }
        functions.push(Function::read(&mut r)?);
    }
    if !r.is_empty() {
        let message = format!("list of {count} functions ends {} bytes before its section", r.left());
        return Err(Finding::new("T13", r.at(), message));
    }
    Ok(functions)
}

fn starts(functions: &[Function<'_>], section: Section, offset: impl Fn(&Function<'_>) -> u64) -> Vec<u64> {
    let mut starts = Vec::with_capacity(functions.len());
    starts.extend(functions.iter().map(offset).filter(|&start| start < section.size));
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Libraries inside a file of another kind: offset and size of every place where a plausible header stands, by
/// offset. A library found is not searched again.
pub fn embedded(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + bytes.get(from..)?.windows(4).position(|four| four == b"MTLB")?;
            from = at + 4;
            // The size is taken from the header and then checked like that of a file.
            let Some(size) = bytes[at..].get(16..24) else { continue };
            let size = u64::from_le_bytes(std::array::from_fn(|i| size[i]));
            let library = usize::try_from(size).ok().and_then(|size| bytes[at..].get(..size));
            if let Some(library) = library.filter(|library| Header::parse(library).is_ok()) {
                from = at + library.len();
                return Some((at, library.len()));
            }
        }
    })
}

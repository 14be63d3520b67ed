//! A source archive: bzip2 around ustar. What comes out is bounded by the caller; nothing of it is ever written
//! anywhere from here.

use super::sources::SourceArchive;
use bzip2::bufread::BzDecoder;
use std::fmt::{self, Display, Formatter};
use std::io::Read;
use std::ops::Range;

/// An archive's content.
#[derive(Clone, Debug)]
pub struct Unpacked {
    tar: Vec<u8>,
    entries: Vec<Entry>,
    /// Bytes of the bzip2 stream; what follows in the archive is padding.
    pub compressed_size: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    path: String,
    content: Range<usize>,
}

/// A regular file of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFile<'u> {
    /// As stored: nothing says that it is relative or stays below a folder.
    pub path: &'u str,
    /// Its bytes.
    pub content: &'u [u8],
}

/// Why an archive could not be unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchiveError {
    /// bzip2 or tar is damaged; what and how.
    Damaged(String),
    /// There is more than the limit, in bytes.
    TooLarge(usize),
}

impl Display for ArchiveError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveError::Damaged(what) => write!(f, "damaged archive: {what}"),
            ArchiveError::TooLarge(limit) => write!(f, "archive unpacks to more than {limit} bytes"),
        }
    }
}

impl std::error::Error for ArchiveError {}

impl SourceArchive<'_> {
    /// Unpacks the archive into at most `limit` bytes.
    ///
    /// # Errors
    /// Damaged, or larger than the limit.
    pub fn unpack(&self, limit: usize) -> Result<Unpacked, ArchiveError> {
        let mut decoder = BzDecoder::new(self.data).take((limit as u64).saturating_add(1));
        let mut tar = Vec::new();
        decoder.read_to_end(&mut tar).map_err(|error| ArchiveError::Damaged(format!("bzip2: {error}")))?;
        if tar.len() > limit {
            return Err(ArchiveError::TooLarge(limit));
        }
        let compressed_size = decoder.get_ref().total_in() as usize;
        let entries = entries(&tar)?;
        Ok(Unpacked { tar, entries, compressed_size })
    }
}

impl Unpacked {
    /// The regular files, in archive order.
    pub fn files(&self) -> impl Iterator<Item = SourceFile<'_>> {
        self.entries
            .iter()
            .map(|entry| SourceFile { path: &entry.path, content: &self.tar[entry.content.clone()] })
    }

    /// Bytes of the unpacked archive.
    pub fn size(&self) -> usize {
        self.tar.len()
    }
}

const BLOCK: usize = 512;

/// Walks the headers; two empty blocks, or the end of the bytes, end the archive.
fn entries(tar: &[u8]) -> Result<Vec<Entry>, ArchiveError> {
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(header) = tar.get(at..).filter(|rest| !rest.is_empty()) {
        let damaged = |what: &str| ArchiveError::Damaged(format!("tar: {what} at 0x{at:x}"));
        let header: &[u8; BLOCK] = header.first_chunk().ok_or_else(|| damaged("header cut short"))?;
        if header.iter().all(|&byte| byte == 0) {
            break;
        }
        if octal(&header[148..156]) != Some(checksum(header)) {
            return Err(damaged("wrong header checksum"));
        }
        let start = at + BLOCK;
        let size = octal(&header[124..136]).and_then(|size| usize::try_from(size).ok());
        let end = size.and_then(|size| start.checked_add(size)).filter(|&end| end <= tar.len());
        let end = end.ok_or_else(|| damaged("file leaves the archive"))?;
        // '0' and NUL are regular files; folders, links and the rest have no content of their own to show.
        if matches!(header[156], b'0' | 0) {
            list.push(Entry { path: path(header), content: start..end });
        }
        at = start.saturating_add((end - start).next_multiple_of(BLOCK));
    }
    Ok(list)
}

fn path(header: &[u8; BLOCK]) -> String {
    let text = |range: Range<usize>| {
        let bytes = header[range].split(|&byte| byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    let (name, prefix) = (text(0..100), text(345..500));
    let is_ustar = header[257..].starts_with(b"ustar");
    if is_ustar && !prefix.is_empty() { format!("{prefix}/{name}") } else { name }
}

/// An octal number between blanks and NULs.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = field.iter().skip_while(|&&byte| byte == b' ').take_while(|byte| !matches!(byte, b' ' | 0));
    digits.into_iter().try_fold(0u64, |value, &byte| match byte {
        b'0'..=b'7' => value.checked_mul(8)?.checked_add(u64::from(byte - b'0')),
        _ => None,
    })
}

/// The sum of the header's bytes, its own field counted as blanks.
fn checksum(header: &[u8; BLOCK]) -> u64 {
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
    sum(&header[..148]) + 8 * u64::from(b' ') + sum(&header[156..])
}

/// A ustar archive of regular files. `None` when a path is longer than 100 bytes or holds a NUL.
pub(super) fn write_tar(files: &[(String, Vec<u8>)]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for (path, content) in files {
        let mut header = [0; BLOCK];
        if path.len() > 100 || path.contains('\0') || content.len() as u64 >= 1 << 33 {
            return None;
        }
        header[..path.len()].copy_from_slice(path.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[108..116].copy_from_slice(b"0000000\0");
        header[116..124].copy_from_slice(b"0000000\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        header[136..148].copy_from_slice(b"00000000000\0");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum = checksum(&header);
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend_from_slice(&header);
        out.extend_from_slice(content);
        out.resize(out.len().next_multiple_of(BLOCK), 0);
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    Some(out)
}

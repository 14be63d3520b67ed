//! A capture in memory.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::codec::{Malformed, Reader};
use super::format::{MAGIC, VERSION, tag};
use super::pages::{Hash, Page, decode};
use super::submission::{BoUse, Submission, Update};

/// Why a file is no capture.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It begins otherwise.
    #[error("is no capture: it does not begin with \"VC4CAPT\"")]
    NoCapture,
    /// It is of another version.
    #[error("is a capture of version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// The first record is not the head.
    #[error("has no HEAD record at its beginning")]
    NoHead,
    /// It ends inside of a record.
    #[error("ends inside of the record at byte {offset:#x}")]
    Cut {
        /// First byte of the record.
        offset: u64,
    },
    /// A record's bytes are not those that were written.
    #[error("record {tag} at byte {offset:#x}: its checksum is wrong")]
    Checksum {
        /// First byte of the record.
        offset: u64,
        /// What it is.
        tag: String,
    },
    /// A record makes no sense.
    #[error("record {tag} at byte {offset:#x}: {what}")]
    Malformed {
        /// First byte of the record.
        offset: u64,
        /// What it is.
        tag: String,
        /// Why.
        what: String,
    },
}

/// Who recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Whether the validator was strict.
    pub strict: bool,
    /// Bytes of bus memory.
    pub memory_bytes: u32,
    /// Version of the recorder.
    pub version: String,
    /// Name by which the program was started.
    pub program: String,
    /// Its process.
    pub process: u32,
}

/// How a submission ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It became a job, which ended.
    Done(Done),
    /// It was refused.
    Refused {
        /// The kernel's answer.
        errno: u32,
        /// The broken rule.
        text: String,
    },
    /// The file ends before the job did.
    Unknown,
}

/// A job that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Its number on the device.
    pub seqno: u64,
    /// Time on the simulator.
    pub nanoseconds: u64,
    /// Program instances.
    pub instances: u64,
    /// QPU instructions.
    pub instructions: u64,
    /// Lookups of 16 elements.
    pub lookups: u64,
    /// Why it hung, if it did.
    pub hang: Option<String>,
    /// Keys and contents of the BOs that it may have written.
    pub written: Vec<(u32, Hash)>,
}

/// A submission of a capture.
#[derive(Clone, Debug)]
pub struct Entry {
    /// As the program gave it.
    pub submission: Submission,
    /// Its BOs, in the order of `submission.submit.bos`.
    pub bos: Vec<BoUse>,
    /// Keys that are BOs no longer.
    pub dropped: Vec<u32>,
    /// What the program changed before.
    pub updates: Vec<Update>,
    /// How it ended.
    pub outcome: Outcome,
}

/// A capture.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Who recorded it.
    pub head: Head,
    /// The submissions in order.
    pub entries: Vec<Entry>,
    /// Names of BOs by their keys; the last of each.
    pub names: BTreeMap<u32, String>,
    /// Whether the file ends inside of a record: where.
    pub cut_at: Option<u64>,
    /// Encoded pages, from number 1 on.
    pages: Vec<Vec<u8>>,
}

/// Records one after the other.
struct Records<R> {
    file: R,
    /// First byte of the next record.
    offset: u64,
}

struct Record {
    tag: [u8; 4],
    offset: u64,
    payload: Vec<u8>,
}

fn name(tag: [u8; 4]) -> String {
    tag.escape_ascii().to_string().trim_end().to_owned()
}

impl<R: Read> Records<R> {
    /// As many bytes as there are, at most `size`.
    fn bytes(&mut self, size: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.by_ref().take(size).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The next record; `None` at the end.
    fn next(&mut self) -> Result<Option<Record>, ReadError> {
        let offset = self.offset;
        let head = self.bytes(8)?;
        if head.is_empty() {
            return Ok(None);
        }
        let cut = ReadError::Cut { offset };
        let Ok([a, b, c, d, size @ ..]) = <[u8; 8]>::try_from(head) else { return Err(cut) };
        let tag = [a, b, c, d];
        let size = u64::from(u32::from_le_bytes(size));
        let payload = self.bytes(size)?;
        let sum = self.bytes(8)?;
        let (true, Ok(sum)) = (payload.len() as u64 == size, <[u8; 8]>::try_from(sum)) else {
            return Err(cut);
        };
        if Hash::of_bytes(&payload).low() != u64::from_le_bytes(sum) {
            return Err(ReadError::Checksum { offset, tag: name(tag) });
        }
        self.offset += size + 16;
        Ok(Some(Record { tag, offset, payload }))
    }
}

impl Capture {
    /// Reads a whole file. One that ends inside of a record, as it does when its process was killed, is read up to
    /// there.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn read(file: impl Read) -> Result<Capture, ReadError> {
        let mut records = Records { file, offset: MAGIC.len() as u64 };
        if records.bytes(MAGIC.len() as u64)? != MAGIC {
            return Err(ReadError::NoCapture);
        }
        let mut capture = Capture::default();
        let first = records.next()?.filter(|record| record.tag == tag::HEAD).ok_or(ReadError::NoHead)?;
        capture.take_head(&first)?;
        loop {
            match records.next() {
                Ok(None) => return Ok(capture),
                Ok(Some(record)) => capture.take_record(&record)?,
                Err(ReadError::Cut { offset }) => {
                    capture.cut_at = Some(offset);
                    return Ok(capture);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Number of different pages, that of zeros not counted.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// A page by its number; `None` stands for zeros. All numbers in `entries` are known.
    pub fn page(&self, number: u32) -> Option<Box<Page>> {
        let encoded = self.pages.get((number as usize).checked_sub(1)?)?;
        Some(decode(encoded).expect("pages were decoded once when they were read"))
    }

    fn take_head(&mut self, record: &Record) -> Result<(), ReadError> {
        let mut from = Reader::new(&record.payload);
        let version = from.u32().map_err(|what| malformed(record, what))?;
        if version != VERSION {
            return Err(ReadError::Version(version));
        }
        let mut read = || -> Result<Head, Malformed> {
            Ok(Head {
                strict: from.flag("the mode")?,
                memory_bytes: from.u32()?,
                version: from.text()?,
                program: from.text()?,
                process: from.u32()?,
            })
        };
        self.head = read().and_then(|head| from.finish().map(|()| head)).map_err(|e| malformed(record, e))?;
        Ok(())
    }

    fn take_record(&mut self, record: &Record) -> Result<(), ReadError> {
        let mut from = Reader::new(&record.payload);
        let taken = match record.tag {
            tag::PAGE => self.take_pages(&mut from),
            tag::JOB | tag::FAIL => self.take_entry(&mut from, record.tag == tag::FAIL),
            tag::NAME => self.take_names(&mut from),
            tag::DONE => self.take_done(&mut from),
            _ => Err(Malformed("no such record exists".into())),
        };
        taken.and_then(|()| from.finish()).map_err(|what| malformed(record, what))
    }

    fn take_pages(&mut self, from: &mut Reader) -> Result<(), Malformed> {
        let pages = from.list(2, |from| {
            let size = from.u16()?;
            let encoded = from.take(usize::from(size))?.to_vec();
            match decode(&encoded) {
                Some(_) => Ok(encoded),
                None => Err(Malformed(format!("{size} bytes are no page"))),
            }
        })?;
        self.pages.extend(pages);
        Ok(())
    }

    fn take_names(&mut self, from: &mut Reader) -> Result<(), Malformed> {
        self.names.extend(from.list(8, |from| Ok((from.u32()?, from.text()?)))?);
        Ok(())
    }

    fn take_entry(&mut self, from: &mut Reader, refused: bool) -> Result<(), Malformed> {
        let number = from.u32()?;
        if number as usize != self.entries.len() {
            return Err(Malformed(format!(
                "submission {number} stands in the place of {}",
                self.entries.len()
            )));
        }
        let mut entry = Entry {
            submission: Submission::take(from)?,
            bos: from.list(9, BoUse::take)?,
            dropped: from.list(4, Reader::u32)?,
            updates: from.list(12, Update::take)?,
            outcome: Outcome::Unknown,
        };
        if refused {
            entry.outcome = Outcome::Refused { errno: from.u32()?, text: from.text()? };
        }
        self.check(&entry)?;
        self.entries.push(entry);
        Ok(())
    }

    fn check(&self, entry: &Entry) -> Result<(), Malformed> {
        let (handles, bos) = (entry.submission.submit.bos.len(), entry.bos.len());
        if handles != bos {
            return Err(Malformed(format!("{handles} handles, but {bos} BOs")));
        }
        let mut pages = entry.updates.iter().flat_map(|update| &update.pages);
        match pages.find(|&&page| page as usize > self.pages.len()) {
            None => Ok(()),
            Some(page) => Err(Malformed(format!("page {page} of {}", self.pages.len()))),
        }
    }

    fn take_done(&mut self, from: &mut Reader) -> Result<(), Malformed> {
        let number = from.u32()?;
        let done = Done {
            seqno: from.u64()?,
            nanoseconds: from.u64()?,
            instances: from.u64()?,
            instructions: from.u64()?,
            lookups: from.u64()?,
            hang: if from.flag("the hang")? { Some(from.text()?) } else { None },
            written: from.list(20, |from| Ok((from.u32()?, Hash(from.u128()?))))?,
        };
        let entry = self.entries.get_mut(number as usize);
        match entry.filter(|entry| entry.outcome == Outcome::Unknown) {
            Some(entry) => entry.outcome = Outcome::Done(done),
            None => return Err(Malformed(format!("submission {number} is not running"))),
        }
        Ok(())
    }
}

fn malformed(record: &Record, what: Malformed) -> ReadError {
    ReadError::Malformed { offset: record.offset, tag: name(record.tag), what: what.0 }
}

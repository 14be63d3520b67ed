//! Recording the submissions of a simulator to a file.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use vc4_kernel_abi::environment;
use vc4_kernel_abi::validate::Mode;
use vc4_kernel_abi::{GpuError, Seqno, Submit};

use super::codec::Writer;
use super::format::{MAGIC, VARIABLE, VERSION, tag};
use super::pages::{Hash, PAGE_WORDS, Page, encode};
use super::submission::{BoUse, Submission, Update};
use crate::config::Config;
use crate::kernel::Bo;
use crate::lock::lock;
use crate::memory::{Memory, PAGE_BYTES};
use crate::stats::Stats;

/// Names that are tried when a file exists already.
const NAMES: u32 = 1000;
/// Page records are cut above this size, so that a reader holds no more at once.
const PAGE_RECORD_BYTES: usize = 8 << 20;
/// Of a page that a reader of the file cannot know.
const UNKNOWN: Hash = Hash(u128::MAX);
/// The kernel's answer to a broken rule and to a lack of memory.
const EINVAL: u32 = 22;
const ENOMEM: u32 = 12;

/// Writes a capture. The file is made with the first submission; after an error of the file nothing more is written.
pub struct Recorder {
    path: PathBuf,
    config: Config,
    state: Mutex<State>,
}

enum State {
    Waiting,
    Writing(Box<Session>),
    Failed,
}

impl Recorder {
    /// A recorder to `path`, or the next free of `path.1`, ….
    pub fn new(path: impl Into<PathBuf>, config: Config) -> Recorder {
        Recorder { path: path.into(), config, state: Mutex::new(State::Waiting) }
    }

    /// The recorder that the environment asks for.
    pub fn from_environment(config: Config) -> Option<Recorder> {
        let path = environment::variable(VARIABLE)?;
        Some(Recorder::new(path, config))
    }

    /// Notes a job that is about to run; its number is for [`Recorder::finished`].
    pub(crate) fn started(
        &self,
        memory: &Memory,
        submission: &Submission,
        bos: &[Arc<Bo>],
    ) -> Option<(u32, Instant)> {
        let number = self.with(|session| session.submission(memory, submission, bos, None))?;
        Some((number, Instant::now()))
    }

    /// Notes how a job went.
    pub(crate) fn finished(
        &self,
        memory: &Memory,
        submission: &Submission,
        bos: &[Arc<Bo>],
        (number, start): (u32, Instant),
        seqno: Seqno,
        result: Result<&Stats, &str>,
    ) {
        let nanoseconds = start.elapsed().as_nanos() as u64;
        self.with(|session| {
            let written = submission.written().into_iter().map(|place| &bos[place]);
            session.done(memory, written, number, seqno, nanoseconds, result)
        });
    }

    /// Notes a submission that was refused.
    pub(crate) fn refused(&self, memory: &Memory, submit: &Submit, bos: &[Arc<Bo>], error: &GpuError) {
        let errno = if matches!(error, GpuError::OutOfMemory(_)) { ENOMEM } else { EINVAL };
        let submission = Submission { submit: submit.clone(), ..Submission::default() };
        let refusal = Some((errno, error.to_string()));
        self.with(|session| session.submission(memory, &submission, bos, refusal));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, write: impl FnOnce(&mut Session) -> io::Result<T>) -> Option<T> {
        let mut state = self.state();
        if matches!(*state, State::Waiting) {
            *state = match Session::create(&self.path, &self.config) {
                Ok(session) => State::Writing(Box::new(session)),
                Err(error) => self.fail(&error),
            };
        }
        let State::Writing(session) = &mut *state else { return None };
        match write(session) {
            Ok(value) => Some(value),
            Err(error) => {
                *state = self.fail(&error);
                None
            }
        }
    }

    fn fail(&self, error: &io::Error) -> State {
        log::error!(target: "vc4::sim", "recording to {} ends: {error}", self.path.display());
        State::Failed
    }
}

/// What a reader of the file knows of a BO.
struct Known {
    key: u32,
    shader: bool,
    label: String,
    pages: Vec<Hash>,
}

struct Session {
    file: BufWriter<File>,
    /// Numbers of the pages in the file.
    numbers: BTreeMap<Hash, u32>,
    /// BOs by their bus address. Those that live do not overlap.
    bos: BTreeMap<u32, Known>,
    last_key: u32,
    submissions: u32,
    zero: Hash,
}

fn create(path: &Path) -> io::Result<(PathBuf, File)> {
    for n in 0..NAMES {
        let mut name = path.as_os_str().to_owned();
        if n > 0 {
            name.push(format!(".{n}"));
        }
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => return Ok((name.into(), file)),
        }
    }
    Err(io::Error::other(format!("{NAMES} captures of this name exist; remove them")))
}

fn read_page(memory: &Memory, address: u32) -> io::Result<Page> {
    let mut page = [0; PAGE_WORDS];
    memory.read_words(address, &mut page).map_err(io::Error::other)?;
    Ok(page)
}

impl Session {
    fn create(path: &Path, config: &Config) -> io::Result<Session> {
        let (path, file) = create(path)?;
        log::info!(target: "vc4::sim", "recording submissions to {}", path.display());
        let mut session = Session {
            file: BufWriter::new(file),
            numbers: BTreeMap::new(),
            bos: BTreeMap::new(),
            last_key: 0,
            submissions: 0,
            zero: Hash::of(&[0; PAGE_WORDS]),
        };
        let mut head = Writer::default();
        head.u32(VERSION);
        head.u8(u8::from(config.mode == Mode::Strict));
        head.u32(config.memory_bytes);
        head.bytes(env!("CARGO_PKG_VERSION").as_bytes());
        let program = std::env::args_os().next().unwrap_or_default();
        head.bytes(program.as_encoded_bytes());
        head.u32(std::process::id());
        session.file.write_all(&MAGIC)?;
        session.record(tag::HEAD, &head.0)?;
        Ok(session)
    }

    fn record(&mut self, tag: [u8; 4], payload: &[u8]) -> io::Result<()> {
        let size = u32::try_from(payload.len()).map_err(|_| io::Error::other("a record above 4 GiB"))?;
        self.file.write_all(&tag)?;
        self.file.write_all(&size.to_le_bytes())?;
        self.file.write_all(payload)?;
        self.file.write_all(&Hash::of_bytes(payload).low().to_le_bytes())
    }

    /// Notes a submission, and its refusal if it was refused. Returns its number.
    fn submission(
        &mut self,
        memory: &Memory,
        submission: &Submission,
        bos: &[Arc<Bo>],
        refusal: Option<(u32, String)>,
    ) -> io::Result<u32> {
        let (mut uses, mut dropped, mut updates) = (Vec::new(), Vec::new(), Vec::new());
        let mut fresh = Fresh::default();
        let mut labels = Vec::new();
        for bo in bos {
            // Running jobs may be writing what a refused submission names, and nobody will read it; its programs
            // stand still.
            let contents = refusal.is_none() || bo.shader.is_some();
            uses.push(self.bo(memory, bo, contents, &mut dropped, &mut updates, &mut fresh)?);
            labels.extend(self.new_label(bo));
            if fresh.bytes.len() >= PAGE_RECORD_BYTES {
                self.put_pages(&mut fresh)?;
            }
        }
        self.put_pages(&mut fresh)?;
        if !labels.is_empty() {
            let mut out = Writer::default();
            out.list(&labels, |out, (key, label)| {
                out.u32(*key);
                out.bytes(label.as_bytes());
            });
            self.record(tag::NAME, &out.0)?;
        }
        let number = self.submissions;
        self.submissions += 1;
        let mut out = Writer::default();
        out.u32(number);
        submission.put(&mut out);
        out.list(&uses, |out, bo| bo.put(out));
        out.list(&dropped, |out, key| out.u32(*key));
        out.list(&updates, |out, update| update.put(out));
        if let Some((errno, text)) = &refusal {
            out.u32(*errno);
            out.bytes(text.as_bytes());
        }
        self.record(if refusal.is_some() { tag::FAIL } else { tag::JOB }, &out.0)?;
        // Whatever the job does to this process, the file tells which job it was.
        self.file.flush()?;
        Ok(number)
    }

    /// Brings what the file knows of a BO up to date, or only its existence without `contents`.
    fn bo(
        &mut self,
        memory: &Memory,
        bo: &Bo,
        contents: bool,
        dropped: &mut Vec<u32>,
        updates: &mut Vec<Update>,
        fresh: &mut Fresh,
    ) -> io::Result<BoUse> {
        let (address, bytes, shader) = (bo.pages.address(), bo.pages.bytes(), bo.shader.is_some());
        let count = (bytes / PAGE_BYTES) as usize;
        let hashes = match contents {
            true => (0..count as u32)
                .map(|page| read_page(memory, address + page * PAGE_BYTES).map(|page| Hash::of(&page)))
                .collect::<io::Result<Vec<Hash>>>()?,
            false => Vec::new(),
        };
        let same = self.bos.get(&address).is_some_and(|known| {
            // Shader BOs are immutable: with other content it is another BO.
            known.shader == shader && known.pages.len() == count && (!shader || known.pages == hashes)
        });
        if !same {
            self.drop_overlapping(address, bytes, dropped);
            self.last_key += 1;
            let label = String::new();
            let fresh = Known { key: self.last_key, shader, label, pages: vec![self.zero; count] };
            self.bos.insert(address, fresh);
        }
        let known = self.bos.get_mut(&address).expect("it was just put there");
        let key = known.key;
        let mut changed = Vec::new();
        for (page, (known, hash)) in known.pages.iter_mut().zip(hashes).enumerate() {
            if *known != hash {
                *known = hash;
                changed.push((page as u32, hash));
            }
        }
        let mut numbered = Vec::with_capacity(changed.len());
        for (page, hash) in changed {
            numbered.push((page, self.number(memory, hash, address + page * PAGE_BYTES, fresh)?));
        }
        put_updates(key, &numbered, updates);
        Ok(BoUse { key, bytes, shader })
    }

    /// The key and the name of a known BO whose name the file does not have.
    fn new_label(&mut self, bo: &Bo) -> Option<(u32, String)> {
        let known = self.bos.get_mut(&bo.pages.address())?;
        let label = lock(&bo.label);
        if known.label == *label {
            return None;
        }
        known.label.clone_from(&label);
        Some((known.key, label.clone()))
    }

    /// Memory that a new BO has belongs to no other one any more.
    fn drop_overlapping(&mut self, address: u32, bytes: u32, dropped: &mut Vec<u32>) {
        let end = address.saturating_add(bytes);
        while let Some((&at, known)) = self.bos.range(..end).next_back() {
            if at.saturating_add(known.pages.len() as u32 * PAGE_BYTES) <= address {
                return;
            }
            dropped.push(known.key);
            self.bos.remove(&at);
        }
    }

    /// The number of the page at `address`, which becomes part of the file if it is not yet.
    fn number(&mut self, memory: &Memory, hash: Hash, address: u32, fresh: &mut Fresh) -> io::Result<u32> {
        if hash == self.zero {
            return Ok(0);
        }
        if let Some(&number) = self.numbers.get(&hash) {
            return Ok(number);
        }
        fresh.push(&read_page(memory, address)?);
        let number = self.numbers.len() as u32 + 1;
        self.numbers.insert(hash, number);
        Ok(number)
    }

    fn put_pages(&mut self, fresh: &mut Fresh) -> io::Result<()> {
        if fresh.count == 0 {
            return Ok(());
        }
        let mut payload = fresh.count.to_le_bytes().to_vec();
        payload.append(&mut fresh.bytes);
        fresh.count = 0;
        self.record(tag::PAGE, &payload)
    }

    fn done<'a>(
        &mut self,
        memory: &Memory,
        written: impl Iterator<Item = &'a Arc<Bo>>,
        number: u32,
        seqno: Seqno,
        nanoseconds: u64,
        result: Result<&Stats, &str>,
    ) -> io::Result<()> {
        let stats = result.cloned().unwrap_or_default();
        let mut out = Writer::default();
        out.u32(number);
        for value in [seqno.0, nanoseconds, stats.instances, stats.instructions, stats.lookups] {
            out.u64(value);
        }
        out.u8(u8::from(result.is_err()));
        if let Err(text) = result {
            out.bytes(text.as_bytes());
        }
        let mut hashes = Vec::new();
        for bo in written {
            // A refused submission behind this one may have renewed what is known of its BOs.
            let Some(known) = self.bos.get_mut(&bo.pages.address()) else { continue };
            if result.is_err() {
                // Which tiles a hung job stored is a matter of luck, so that a replay cannot make them again.
                known.pages.fill(UNKNOWN);
                continue;
            }
            for (page, hash) in known.pages.iter_mut().enumerate() {
                *hash = Hash::of(&read_page(memory, bo.pages.address() + page as u32 * PAGE_BYTES)?);
            }
            hashes.push((known.key, Hash::of_pages(&known.pages)));
        }
        out.list(&hashes, |out, (key, hash)| {
            out.u32(*key);
            out.u128(hash.0);
        });
        self.record(tag::DONE, &out.0)?;
        self.file.flush()
    }
}

/// Encoded pages that wait to be written.
#[derive(Default)]
struct Fresh {
    count: u32,
    bytes: Vec<u8>,
}

impl Fresh {
    fn push(&mut self, page: &Page) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 2]);
        encode(page, &mut self.bytes);
        let size = (self.bytes.len() - start - 2) as u16;
        self.bytes[start..start + 2].copy_from_slice(&size.to_le_bytes());
        self.count += 1;
    }
}

/// Neighbouring pages become one update.
fn put_updates(key: u32, changed: &[(u32, u32)], updates: &mut Vec<Update>) {
    for (at, run) in changed.chunk_by(|a, b| a.0 + 1 == b.0).map(|run| (run[0].0, run)) {
        updates.push(Update { key, first: at, pages: run.iter().map(|&(_, number)| number).collect() });
    }
}

//! Bus memory whose BOs are files (drm-shim.md §3): each BO's pages are a memfd, mapped at the BO's place in the one
//! range that the simulator reads. Another process, or a mapping in this one, shows the same file; it keeps its pages
//! whatever becomes of the BO, and shortening the file to nothing is what makes a purged BO raise SIGBUS.

use std::num::NonZeroUsize;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, SealFlag, fcntl, readlink};
use nix::libc::off_t;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, mmap_anonymous};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::stat::{SFlag, fstat};

use crate::memory::Discard;

/// Name of a BO's file, by which another simulator knows what it is given.
const NAME: &str = "vc4-bo";

/// What tells one file from all others: device and inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inode {
    /// Device.
    pub device: u64,
    /// Number.
    pub number: u64,
}

impl Inode {
    /// Of a descriptor.
    ///
    /// # Errors
    /// Those of fstat.
    pub fn of(fd: impl AsFd) -> Result<Inode, Errno> {
        let stat = fstat(fd)?;
        #[allow(clippy::unnecessary_cast, reason = "on 32-bit systems the numbers are shorter")]
        Ok(Inode { device: stat.st_dev as u64, number: stat.st_ino as u64 })
    }
}

/// Where the device keeps its descriptors: in a program that knows nothing of them, they must be out of its way.
pub trait Descriptors: Send + Sync {
    /// Takes over a descriptor and may give it another number.
    fn keep(&self, fd: OwnedFd) -> OwnedFd;
    /// Closes one that was kept.
    fn release(&self, fd: OwnedFd);
}

/// A process of our own.
pub struct OwnProcess;

impl Descriptors for OwnProcess {
    fn keep(&self, fd: OwnedFd) -> OwnedFd {
        fd
    }

    fn release(&self, _: OwnedFd) {}
}

/// A descriptor among [`Descriptors`].
pub struct Kept {
    fd: Option<OwnedFd>,
    descriptors: Arc<dyn Descriptors>,
}

impl Kept {
    /// Hands `fd` to `descriptors`.
    pub fn new(fd: OwnedFd, descriptors: &Arc<dyn Descriptors>) -> Kept {
        Kept { fd: Some(descriptors.keep(fd)), descriptors: descriptors.clone() }
    }
}

impl AsFd for Kept {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_ref().expect("taken on drop only").as_fd()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(fd) = self.fd.take() {
            self.descriptors.release(fd);
        }
    }
}

/// The range of bus memory, and how its parts become files.
pub struct Backing {
    words: &'static [AtomicU32],
    descriptors: Arc<dyn Descriptors>,
    /// Nobody uses the range after this: another one may.
    returns: bool,
}

/// Ranges that were used, zeroed again.
static RETURNED: Mutex<Vec<&'static [AtomicU32]>> = Mutex::new(Vec::new());

const PROTECTION: ProtFlags = ProtFlags::PROT_READ.union(ProtFlags::PROT_WRITE);

/// Every BO costs a descriptor: as many as this process may have.
fn raise_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        if soft < hard {
            // Without it there are fewer BOs.
            let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
        }
    }
}

impl Backing {
    /// Zeroed memory; pages cost something once they are touched. The range stays for the process's life: jobs may
    /// run until its end.
    ///
    /// # Errors
    /// Those of mmap.
    #[expect(unsafe_code, reason = "memory that other processes share is not Rust's to allocate")]
    pub fn new(bytes: u32, descriptors: Arc<dyn Descriptors>) -> Result<Arc<Backing>, Errno> {
        raise_limit();
        let length = NonZeroUsize::new(bytes as usize & !4095).ok_or(Errno::EINVAL)?;
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE;
        // SAFETY: a new mapping where there is room.
        let address = unsafe { mmap_anonymous(None, length, PROTECTION, flags)? };
        // SAFETY: the range is that long, page aligned, zeroed, and never unmapped: parts of it are only replaced by
        // mappings of the same length and protection. Others change it at any time, hence atomics.
        let words = unsafe {
            std::slice::from_raw_parts(address.cast::<AtomicU32>().as_ptr().cast_const(), length.get() / 4)
        };
        Ok(Arc::new(Backing { words, descriptors, returns: false }))
    }

    /// As [`Backing::new`] for a device whose jobs end with it, in a process of our own: the range serves again, so
    /// that a process may make devices without end. Whoever has [`Backing::words`] has [`Backing::discard`] too.
    ///
    /// # Errors
    /// Those of mmap.
    pub fn returning(bytes: u32) -> Result<Arc<Backing>, Errno> {
        let mut returned = RETURNED.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = returned.iter().position(|words| size_of_val(*words) == bytes as usize & !4095);
        let known = fits.map(|index| returned.swap_remove(index));
        drop(returned);
        let (words, descriptors) = match known {
            Some(words) => (words, Arc::new(OwnProcess) as Arc<dyn Descriptors>),
            None => {
                let new = Backing::new(bytes, Arc::new(OwnProcess))?;
                (new.words, new.descriptors.clone())
            }
        };
        Ok(Arc::new(Backing { words, descriptors, returns: true }))
    }

    /// The range, for [`crate::Simulator::on_words`].
    pub fn words(&self) -> &'static [AtomicU32] {
        self.words
    }

    /// How the device keeps descriptors.
    pub fn descriptors(&self) -> &Arc<dyn Descriptors> {
        &self.descriptors
    }

    /// Drops pages that are no BO's, which read as zero afterwards.
    pub fn discard(self: &Arc<Self>) -> Discard {
        let backing = self.clone();
        Box::new(move |address, bytes| backing.detach(address, bytes).is_ok())
    }

    fn place(&self, address: u32, bytes: u32) -> Result<(NonZeroUsize, NonZeroUsize), Errno> {
        let inside = u64::from(address) + u64::from(bytes) <= size_of_val(self.words) as u64;
        let start = self.words.as_ptr() as usize + address as usize;
        match (NonZeroUsize::new(start), NonZeroUsize::new(bytes as usize)) {
            (Some(start), Some(length)) if inside && address % 4096 == 0 => Ok((start, length)),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Shows the start of `file` at a bus address.
    #[expect(unsafe_code, reason = "replaces a part of the range by a file")]
    fn attach(&self, address: u32, bytes: u32, file: impl AsFd) -> Result<(), Errno> {
        let (start, length) = self.place(address, bytes)?;
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_FIXED | MapFlags::MAP_NORESERVE;
        // SAFETY: a part of our own range, which stays readable and writable.
        unsafe { mmap(Some(start), length, PROTECTION, flags, file, 0).map(drop) }
    }

    /// Shows zeros of nobody's there.
    #[expect(unsafe_code, reason = "replaces a part of the range by fresh memory")]
    fn detach(&self, address: u32, bytes: u32) -> Result<(), Errno> {
        let (start, length) = self.place(address, bytes)?;
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_FIXED | MapFlags::MAP_NORESERVE;
        // SAFETY: as in `attach`.
        unsafe { mmap_anonymous(Some(start), length, PROTECTION, flags).map(drop) }
    }

    /// A new file with the content of these pages, in their place.
    pub(crate) fn create(self: &Arc<Self>, address: u32, bytes: u32) -> Result<BoFile, Errno> {
        let file = bo_file(bytes)?;
        let start = address as usize / 4;
        let words = self.words.get(start..start + bytes as usize / 4).ok_or(Errno::EINVAL)?;
        let content: Vec<u8> = match words.iter().rposition(|word| word.load(Relaxed) != 0) {
            Some(last) => words[..=last].iter().flat_map(|word| word.load(Relaxed).to_ne_bytes()).collect(),
            None => Vec::new(),
        };
        let mut written = 0;
        while written < content.len() {
            written += nix::sys::uio::pwrite(&file, &content[written..], written as off_t)?;
        }
        self.adopt(file, address, bytes)
    }

    /// `file` in the place of these pages.
    pub(crate) fn adopt(self: &Arc<Self>, file: OwnedFd, address: u32, bytes: u32) -> Result<BoFile, Errno> {
        let inode = Inode::of(&file)?;
        self.attach(address, bytes, &file)?;
        let file = Kept::new(file, &self.descriptors);
        Ok(BoFile { backing: self.clone(), file, inode, address, bytes, attached: AtomicBool::new(true) })
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        if self.returns && self.detach(0, size_of_val(self.words) as u32).is_ok() {
            RETURNED.lock().unwrap_or_else(PoisonError::into_inner).push(self.words);
        }
    }
}

/// Bytes of the file when it is one that a simulator made for a BO.
pub fn bo_file_size(fd: BorrowedFd<'_>) -> Option<u32> {
    use std::os::fd::AsRawFd;
    let stat = fstat(fd).ok()?;
    let regular = SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits()) == SFlag::S_IFREG;
    let size = u32::try_from(stat.st_size).ok().filter(|&size| size > 0 && size % 4096 == 0)?;
    if !regular || stat.st_nlink != 0 {
        return None;
    }
    let target = readlink(format!("/proc/self/fd/{}", fd.as_raw_fd()).as_str()).ok()?;
    target.to_str().is_some_and(|name| name.starts_with(&format!("/memfd:{NAME} "))).then_some(size)
}

/// A new file of zeros for a BO of so many bytes, whole pages, which is nobody's yet.
///
/// # Errors
/// Those of memfd_create and ftruncate.
pub fn bo_file(bytes: u32) -> Result<OwnedFd, Errno> {
    let file = memfd_create(NAME, MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
    #[allow(clippy::unnecessary_fallible_conversions, reason = "32-bit systems have a shorter off_t")]
    let length = off_t::try_from(bytes).map_err(|_| Errno::ENOMEM)?;
    nix::unistd::ftruncate(&file, length)?;
    Ok(file)
}

/// The file of a BO, in its place as long as this lives.
pub struct BoFile {
    backing: Arc<Backing>,
    file: Kept,
    inode: Inode,
    address: u32,
    bytes: u32,
    attached: AtomicBool,
}

impl BoFile {
    /// Which file it is.
    pub fn inode(&self) -> Inode {
        self.inode
    }

    /// Its length can no longer be changed: others rely on it.
    pub(crate) fn seal(&self) -> Result<(), Errno> {
        let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW;
        fcntl(&self.file, FcntlArg::F_ADD_SEALS(seals)).map(drop)
    }

    /// Another descriptor of it, closed on exec.
    ///
    /// # Errors
    /// `EMFILE`.
    pub fn duplicate(&self) -> Result<OwnedFd, Errno> {
        let copy = self.file.as_fd().try_clone_to_owned();
        copy.map_err(|error| error.raw_os_error().map_or(Errno::EMFILE, Errno::from_raw))
    }

    fn leave(&self) {
        if self.attached.swap(false, Relaxed) {
            if let Err(errno) = self.backing.detach(self.address, self.bytes) {
                log::error!(target: "vc4::kernel", "BO memory at {:#x} stays shared: {errno}", self.address);
            }
        }
    }

    /// Drops the content: mappings of it raise SIGBUS from now on.
    pub(crate) fn purge(&self) {
        self.leave();
        // A sealed file belongs to others too and keeps its content.
        let _ = nix::unistd::ftruncate(&self.file, 0);
    }
}

impl AsFd for BoFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for BoFile {
    fn drop(&mut self) {
        self.leave();
    }
}

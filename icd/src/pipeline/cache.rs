//! VkPipelineCache: compiled programs by what they were compiled from.
//!
//! Its data are the header that Vulkan asks for and, unless the cache is empty, the entries in the order of their keys.
//! Little endian:
//!
//! | bytes | |
//! | --- | --- |
//! | 0–31 | length of the header, version one, vendor, device, pipelineCacheUUID |
//! | 32–35 | number of entries |
//! | 36–67 | SHA-256 of all bytes from 68 on |
//! | 32 each | key ([`vc4_shaders::key`]) |
//! | 4 each | size of the program file |
//! | size each | program file ([`vc4_shaders::file`]) |
//!
//! The UUID names the compiler, so that an entry never outlives what made it. Data that differ in any bit from what was
//! handed out count as none, silently, as Vulkan wants it. Kernels of compute pipelines are not among the data.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use sha2::{Digest, Sha256};
use vc4_shaders::file;
use vc4_shaders::key::Key;
use vc4_shaders::program;

#[cfg(feature = "compute")]
use super::kernel::CompiledKernel;
use crate::foundation::handle::Object;
use crate::objects::device::Device;
use crate::objects::physical_device::{VENDOR_ID, cache_uuid};

/// Bytes of the header that Vulkan defines.
const HEADER_BYTES: usize = 32;
/// Bytes before the first entry.
const ENTRIES_AT: usize = HEADER_BYTES + 4 + 32;
/// Bytes of an entry without its file.
const ENTRY_BYTES: usize = 32 + 4;

type Entries = BTreeMap<Key, Arc<[u8]>>;
#[cfg(feature = "compute")]
type Kernels = BTreeMap<Key, Arc<CompiledKernel>>;

/// VkPipelineCache. Threads may share it; Vulkan has them serialise only what it calls externally synchronised.
pub struct PipelineCache {
    device_id: u32,
    entries: Mutex<Entries>,
    /// Kernels never leave: data may come back from strangers, and machine code is not checked as programs are.
    #[cfg(feature = "compute")]
    kernels: Mutex<Kernels>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Object for PipelineCache {
    type Handle = vk::PipelineCache;
}

impl PipelineCache {
    /// A cache with the entries of `data`, which may be anything.
    pub fn new(device: &Device, data: &[u8]) -> PipelineCache {
        let cache = PipelineCache {
            device_id: device.physical().properties().device_id,
            entries: Mutex::default(),
            #[cfg(feature = "compute")]
            kernels: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        };
        if let Some(entries) = read(data, &cache.header()) {
            *cache.lock() = entries;
        }
        cache
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let version = vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32;
        let words = [HEADER_BYTES as u32, version, VENDOR_ID, self.device_id];
        let mut header = [0; HEADER_BYTES];
        for (bytes, word) in header.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        header[16..].copy_from_slice(&cache_uuid());
        header
    }

    /// The programs under a key.
    pub fn find(&self, key: &Key) -> Option<program::Pipeline> {
        let file = self.lock().get(key).cloned();
        // The digest over all entries has stood for those of the files.
        let found = file.and_then(|file| file::read_intact(&file).ok());
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Keeps programs under a key.
    pub fn insert(&self, key: Key, programs: &program::Pipeline) {
        let file = file::write(programs).into();
        self.lock().insert(key, file);
    }

    #[cfg(feature = "compute")]
    fn kernels(&self) -> MutexGuard<'_, Kernels> {
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kernel under a key.
    #[cfg(feature = "compute")]
    pub fn find_kernel(&self, key: &Key) -> Option<Arc<CompiledKernel>> {
        let found = self.kernels().get(key).cloned();
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Keeps a kernel under a key, for as long as the cache is there.
    #[cfg(feature = "compute")]
    pub fn insert_kernel(&self, key: Key, kernel: &Arc<CompiledKernel>) {
        self.kernels().insert(key, kernel.clone());
    }

    /// Takes over the entries of other caches.
    pub fn merge<'a>(&self, others: impl IntoIterator<Item = &'a PipelineCache>) {
        for other in others {
            // One lock at a time, so that no order of merges can block.
            let entries = other.lock().clone();
            self.lock().extend(entries);
            #[cfg(feature = "compute")]
            {
                let kernels = other.kernels().clone();
                self.kernels().extend(kernels);
            }
        }
    }

    /// How often programs were found, and how often not.
    pub fn lookups(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }

    /// Bytes of [`PipelineCache::data`] if there is room for all.
    pub fn size(&self) -> usize {
        let entries = self.lock();
        let files: usize = entries.values().map(|file| ENTRY_BYTES + file.len()).sum();
        if entries.is_empty() { HEADER_BYTES } else { ENTRIES_AT + files }
    }

    /// At most `room` bytes from which a cache can be made again, with as many entries as fit; and whether that is all.
    pub fn data(&self, room: usize) -> (Vec<u8>, bool) {
        if room < HEADER_BYTES {
            return (Vec::new(), false);
        }
        let mut data = self.header().to_vec();
        let entries = self.lock();
        let mut contents = Vec::new();
        let mut count = 0u32;
        for (key, file) in &*entries {
            if room < ENTRIES_AT + contents.len() + ENTRY_BYTES + file.len() {
                continue;
            }
            contents.extend_from_slice(key);
            contents.extend_from_slice(&(file.len() as u32).to_le_bytes());
            contents.extend_from_slice(file);
            count += 1;
        }
        if count > 0 {
            data.extend_from_slice(&count.to_le_bytes());
            data.extend_from_slice(&Sha256::digest(&contents));
            data.extend_from_slice(&contents);
        }
        (data, count as usize == entries.len())
    }
}

/// The entries of a cache's data; `None` if they are not what this driver handed out.
fn read(data: &[u8], header: &[u8; HEADER_BYTES]) -> Option<Entries> {
    let rest = data.strip_prefix(header)?;
    if rest.is_empty() {
        return Some(Entries::new());
    }
    let (count, rest) = rest.split_first_chunk()?;
    let (digest, mut rest) = rest.split_first_chunk::<32>()?;
    if *digest != <[u8; 32]>::from(Sha256::digest(rest)) {
        return None;
    }
    let mut entries = Entries::new();
    for _ in 0..u32::from_le_bytes(*count) {
        let (key, tail) = rest.split_first_chunk::<32>()?;
        let (size, tail) = tail.split_first_chunk()?;
        let (file, tail) = tail.split_at_checked(u32::from_le_bytes(*size) as usize)?;
        entries.insert(*key, file.into());
        rest = tail;
    }
    rest.is_empty().then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;
    use vc4_shaders::program::Program;

    fn programs(seed: u64) -> program::Pipeline {
        let code = (0..4 + seed).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed).collect();
        program::Pipeline {
            fragment: Program { code, ..Program::default() },
            varyings: seed as u32,
            ..program::Pipeline::default()
        }
    }

    fn key(seed: u64) -> Key {
        Sha256::digest(seed.to_le_bytes()).into()
    }

    fn filled(device: &Device, seeds: impl IntoIterator<Item = u64>) -> PipelineCache {
        let cache = PipelineCache::new(device, &[]);
        seeds.into_iter().for_each(|seed| cache.insert(key(seed), &programs(seed)));
        cache
    }

    fn all(cache: &PipelineCache) -> Vec<u8> {
        let (data, complete) = cache.data(cache.size());
        assert!(complete);
        assert_eq!(data.len(), cache.size());
        data
    }

    #[test]
    fn an_empty_cache_is_its_header() {
        let device = device();
        let data = all(&PipelineCache::new(&device, &[]));
        assert_eq!(data.len(), 32);
        assert_eq!(data[..12], [32, 0, 0, 0, 1, 0, 0, 0, 0xe4, 0x14, 0, 0]);
        assert_eq!(data[16..], device.physical().properties().pipeline_cache_uuid);
        assert_eq!(data[16..], vc4_shaders::key::COMPILER.to_le_bytes());
        assert_eq!(all(&PipelineCache::new(&device, &data)), data);
    }

    #[test]
    fn data_make_the_cache_again_and_lookups_are_counted() {
        let device = device();
        let first = filled(&device, 1..6);
        let second = PipelineCache::new(&device, &all(&first));
        assert_eq!(all(&second), all(&first));
        for seed in 1..6 {
            assert_eq!(second.find(&key(seed)), Some(programs(seed)));
        }
        assert_eq!(second.find(&key(6)), None);
        assert_eq!(second.lookups(), (5, 1));
        assert_eq!(first.lookups(), (0, 0));
    }

    #[test]
    fn merging_unites_entries() {
        let device = device();
        let (target, a, b) = (filled(&device, [1, 2]), filled(&device, [2, 3]), filled(&device, [4]));
        target.merge([&a, &b]);
        assert_eq!(all(&target), all(&filled(&device, 1..5)));
        assert_eq!(all(&a), all(&filled(&device, [2, 3])));
    }

    #[test]
    fn any_room_gets_data_that_can_be_used() {
        let device = device();
        let cache = filled(&device, 1..4);
        let mut most = 0;
        for room in 0..cache.size() {
            let (data, complete) = cache.data(room);
            assert!(data.len() <= room && !complete);
            if room < 32 {
                assert!(data.is_empty());
                continue;
            }
            let again = PipelineCache::new(&device, &data);
            let found = (1..4).filter(|&seed| again.find(&key(seed)) == Some(programs(seed))).count();
            assert_eq!(found, again.lock().len());
            most = most.max(found);
        }
        assert_eq!(most, 2);
    }

    #[test]
    fn truncated_data_are_none() {
        let device = device();
        let data = all(&filled(&device, 1..3));
        for length in 0..data.len() {
            assert!(PipelineCache::new(&device, &data[..length]).lock().is_empty(), "{length} bytes");
        }
    }

    #[test]
    fn data_with_a_flipped_bit_are_none() {
        let device = device();
        let data = all(&filled(&device, [1]));
        for bit in 0..8 * data.len() {
            let mut flipped = data.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(PipelineCache::new(&device, &flipped).lock().is_empty(), "bit {bit}");
        }
        let mut longer = data;
        longer.push(0);
        assert!(PipelineCache::new(&device, &longer).lock().is_empty());
    }

    #[test]
    fn data_of_another_vendor_device_or_compiler_are_none() {
        let device = device();
        let data = all(&filled(&device, [1]));
        for at in [8, 12, 16, 31] {
            let mut foreign = data.clone();
            foreign[at] = foreign[at].wrapping_add(1);
            assert!(PipelineCache::new(&device, &foreign).lock().is_empty(), "byte {at}");
        }
    }

    #[test]
    fn threads_share_a_cache() {
        let device = device();
        let (shared, other) = (filled(&device, []), filled(&device, 100..110));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (shared, other) = (&shared, &other);
                scope.spawn(move || {
                    for seed in 10 * thread..10 * thread + 10 {
                        shared.insert(key(seed), &programs(seed));
                        assert_eq!(shared.find(&key(seed)), Some(programs(seed)));
                        shared.merge([other]);
                        other.merge([shared]);
                        shared.data(shared.size());
                    }
                });
            }
        });
        assert_eq!(shared.lookups(), (40, 0));
        assert_eq!(all(&shared), all(&filled(&device, (0..40).chain(100..110))));
    }
}

//! A process for the kernel's calls: its memory is a vector, its descriptors are a table.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod desk;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use bytemuck::{Pod, bytes_of, bytes_of_mut, cast_slice};
use vc4_kernel_abi::Submit;
use vc4_kernel_abi::uapi::SubmitCl;
use vc4_kernel_abi::validate::frame::to_uapi;
use vc4_sim::drm::{Answer, Device, Errno, Exported, File, Node, Process};
use vc4_sim::{Config, Mode, Simulator};

/// Address of the process's first byte.
const BASE: u64 = 0x7000_0000;
/// Where arguments stand; what is put elsewhere lies behind.
const ARGUMENT: u64 = BASE;
/// An address that cannot be read.
pub const BAD: u64 = 0x10;
/// A handle that nobody has.
pub const NONE: u32 = 99;

/// The process.
pub struct Caller {
    memory: Mutex<Vec<u8>>,
    descriptors: Mutex<BTreeMap<i32, Exported>>,
    pub admin: bool,
    pub pid: u32,
}

impl Process for Caller {
    fn read(&self, address: u64, out: &mut [u8]) -> Answer {
        let at = address.checked_sub(BASE).ok_or(Errno::EFAULT)? as usize;
        let memory = self.memory.lock().unwrap();
        out.copy_from_slice(memory.get(at..at + out.len()).ok_or(Errno::EFAULT)?);
        Ok(())
    }

    fn write(&self, address: u64, data: &[u8]) -> Answer {
        let at = address.checked_sub(BASE).ok_or(Errno::EFAULT)? as usize;
        let mut memory = self.memory.lock().unwrap();
        memory.get_mut(at..at + data.len()).ok_or(Errno::EFAULT)?.copy_from_slice(data);
        Ok(())
    }

    fn install(&self, object: Exported, _: bool) -> Result<i32, Errno> {
        let mut descriptors = self.descriptors.lock().unwrap();
        let fd = descriptors.last_key_value().map_or(3, |(last, _)| last + 1);
        descriptors.insert(fd, object);
        Ok(fd)
    }

    fn exported(&self, fd: i32) -> Result<Exported, Errno> {
        self.descriptors.lock().unwrap().get(&fd).cloned().ok_or(Errno::EBADF)
    }

    fn pid(&self) -> u32 {
        self.pid
    }

    fn is_admin(&self) -> bool {
        self.admin
    }

    fn monotonic_ns(&self) -> u64 {
        1_000_000_000
    }
}

/// A device with an open file and its process.
pub struct World {
    pub device: Arc<Device>,
    pub file: File,
    pub caller: Caller,
}

impl World {
    pub fn new() -> World {
        World::with(Mode::Faithful, Node::Render, 64 << 20)
    }

    pub fn with(mode: Mode, node: Node, memory_bytes: u32) -> World {
        let config = Config { memory_bytes, threads: NonZeroUsize::new(1), mode, ..Config::default() };
        let device = Device::new(Simulator::new(config), config);
        let memory = Mutex::new(vec![0; 4096]);
        let caller = Caller {
            memory,
            descriptors: Mutex::default(),
            admin: node == Node::Primary,
            pid: std::process::id(),
        };
        World { file: device.open(node), device, caller }
    }

    /// Puts bytes into the process's memory; their address.
    pub fn put<T: Pod>(&self, data: &[T]) -> u64 {
        let mut memory = self.caller.memory.lock().unwrap();
        let at = memory.len().next_multiple_of(8);
        memory.resize(at, 0);
        memory.extend_from_slice(cast_slice(data));
        BASE + at as u64
    }

    /// Bytes of the process's memory.
    pub fn get<T: Pod>(&self, address: u64) -> T {
        let mut value = T::zeroed();
        self.caller.read(address, bytes_of_mut(&mut value)).unwrap();
        value
    }

    /// An ioctl of `file`: the result, and the argument as it came back.
    pub fn call_on<T: Pod>(&self, file: &File, request: u32, arg: T) -> (Answer, T) {
        self.caller.write(ARGUMENT, bytes_of(&arg)).unwrap();
        let answer = file.ioctl(request, ARGUMENT, &self.caller);
        (answer, self.get(ARGUMENT))
    }

    /// An ioctl of the world's file.
    pub fn call<T: Pod>(&self, request: u32, arg: T) -> (Answer, T) {
        self.call_on(&self.file, request, arg)
    }

    /// The errno of an ioctl that must fail.
    pub fn errno<T: Pod>(&self, request: u32, arg: T) -> Errno {
        self.call(request, arg).0.expect_err("the call must fail")
    }

    /// What an ioctl that must succeed gives back.
    pub fn ok<T: Pod>(&self, request: u32, arg: T) -> T {
        let (answer, arg) = self.call(request, arg);
        answer.expect("the call must succeed");
        arg
    }

    /// A BO.
    pub fn bo(&self, size: u32) -> u32 {
        self.ok(CREATE_BO, [size, 0, 0, 0])[2]
    }

    /// The submission of `job` with the lists and handles in memory.
    pub fn frame(&self, job: &Submit) -> SubmitCl {
        let handles: Vec<u32> = job.bos.iter().map(|bo| bo.0).collect();
        SubmitCl {
            bin_cl: self.put(&job.bin_cl),
            shader_rec: self.put(&job.shader_rec),
            uniforms: self.put(&job.uniforms),
            bo_handles: self.put(&handles),
            ..to_uapi(job)
        }
    }
}

/// 64 bits as two words.
pub fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

pub const SUBMIT_CL: u32 = 0xc0b0_6440;
pub const WAIT_SEQNO: u32 = 0xc010_6441;
pub const WAIT_BO: u32 = 0xc010_6442;
pub const CREATE_BO: u32 = 0xc010_6443;
pub const MMAP_BO: u32 = 0xc010_6444;
pub const CREATE_SHADER_BO: u32 = 0xc018_6445;
pub const GET_HANG_STATE: u32 = 0xc0a0_6446;
pub const GET_PARAM: u32 = 0xc010_6447;
pub const SET_TILING: u32 = 0xc010_6448;
pub const GET_TILING: u32 = 0xc010_6449;
pub const LABEL_BO: u32 = 0xc010_644a;
pub const GEM_MADVISE: u32 = 0xc010_644b;
pub const PERFMON_CREATE: u32 = 0xc018_644c;
pub const PERFMON_DESTROY: u32 = 0xc004_644d;
pub const PERFMON_GET_VALUES: u32 = 0xc010_644e;
pub const VERSION: u32 = 0xc040_6400;
pub const GET_UNIQUE: u32 = 0xc010_6401;
pub const GET_CAP: u32 = 0xc010_640c;
pub const SET_CLIENT_CAP: u32 = 0x4010_640d;
pub const GEM_CLOSE: u32 = 0x4008_6409;
pub const GEM_FLINK: u32 = 0xc008_640a;
pub const GEM_OPEN: u32 = 0xc010_640b;
pub const HANDLE_TO_FD: u32 = 0xc00c_642d;
pub const FD_TO_HANDLE: u32 = 0xc00c_642e;
pub const SYNCOBJ_CREATE: u32 = 0xc008_64bf;
pub const SYNCOBJ_DESTROY: u32 = 0xc008_64c0;
pub const SYNCOBJ_HANDLE_TO_FD: u32 = 0xc010_64c1;
pub const SYNCOBJ_FD_TO_HANDLE: u32 = 0xc010_64c2;
pub const SYNCOBJ_WAIT: u32 = 0xc020_64c3;
pub const SYNCOBJ_RESET: u32 = 0xc010_64c4;
pub const SYNCOBJ_SIGNAL: u32 = 0xc010_64c5;
pub const DMA_BUF_SYNC: u32 = 0x4008_6200;
pub const DMA_BUF_EXPORT_SYNC_FILE: u32 = 0xc008_6202;
pub const DMA_BUF_IMPORT_SYNC_FILE: u32 = 0x4008_6203;
pub const CREATE_DUMB: u32 = 0xc020_64b2;
pub const MAP_DUMB: u32 = 0xc010_64b3;
pub const DESTROY_DUMB: u32 = 0xc004_64b4;

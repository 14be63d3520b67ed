//! Assembly modules through the structures of `vulkan_vc4.h`, and what the driver logs about them.
#![allow(dead_code, unused_macros, unused_imports, reason = "not every suite draws with assembly")]

use std::ptr;
use std::sync::{Mutex, Once, PoisonError};
use std::thread::{ThreadId, current};

use ash::vk;
use vulkan_vc4::entry::assembly::{
    AUTO, AssemblyCreateInfo, AssemblyProgram, AssemblyUniform, STRUCTURE_TYPE, VERSION,
};

use super::Vk;

pub const COORDINATE: u32 = 0;
pub const VERTEX: u32 = 1;
pub const FRAGMENT: u32 = 2;
pub const PATCHED: u32 = 0;
pub const RAW: u32 = 1;

macro_rules! qasm {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/qasm/", $name, ".qasm"))
    };
}
pub(crate) use qasm;

/// A program of text without a structure for its uniforms.
pub fn text(stage: u32, text: &str) -> AssemblyProgram {
    AssemblyProgram {
        stage,
        flags: 0,
        input_count: 0,
        inputs: ptr::null(),
        uniform_count: 0,
        uniforms: ptr::null(),
        text: text.as_ptr().cast(),
        text_size: text.len(),
        words: ptr::null(),
        word_count: 0,
    }
}

/// A program of words.
pub fn words(stage: u32, words: &[u64], uniforms: &[AssemblyUniform]) -> AssemblyProgram {
    AssemblyProgram {
        text: ptr::null(),
        text_size: 0,
        words: words.as_ptr(),
        word_count: words.len(),
        uniforms: uniforms.as_ptr(),
        uniform_count: uniforms.len() as u32,
        ..text(stage, "")
    }
}

/// The structure of these programs.
pub fn info(mode: u32, programs: &[AssemblyProgram]) -> AssemblyCreateInfo {
    AssemblyCreateInfo {
        s_type: STRUCTURE_TYPE,
        p_next: ptr::null(),
        version: VERSION,
        flags: 0,
        mode,
        program_count: programs.len() as u32,
        programs: programs.as_ptr(),
        varying_count: AUTO,
        flat_varyings: 0,
        varyings: ptr::null(),
    }
}

pub fn create(vk: &Vk, info: &AssemblyCreateInfo) -> Result<vk::ShaderModule, vk::Result> {
    let next = ptr::from_ref(info).cast();
    let info = vk::ShaderModuleCreateInfo { p_next: next, ..Default::default() };
    // SAFETY: the structure is as its header says, or wrong in a way that is to be found.
    unsafe { vk.device.create_shader_module(&info, None) }
}

pub fn module(vk: &Vk, mode: u32, programs: &[AssemblyProgram]) -> vk::ShaderModule {
    create(vk, &info(mode, programs)).unwrap_or_else(|result| panic!("{result}: {}", log_of_this_thread()))
}

struct Log(Mutex<Vec<(ThreadId, String)>>);

static LOG: Log = Log(Mutex::new(Vec::new()));

impl log::Log for Log {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push((current().id(), record.args().to_string()));
    }

    fn flush(&self) {}
}

/// Begins to keep what the driver logs; to be called before the first instance.
pub fn keep_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&LOG).expect("no logger is there yet");
        log::set_max_level(log::LevelFilter::Warn);
    });
}

/// What was logged by calls of this thread since the last time.
pub fn log_of_this_thread() -> String {
    let mut lines = LOG.0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut out = String::new();
    lines.retain(|(thread, line)| {
        let mine = *thread == current().id();
        if mine {
            out.push_str(line);
            out.push('\n');
        }
        !mine
    });
    out
}

//! What must hold for any compute shader that the front end lets through: machine code is made of it or a reason given, and that
//! code ends when it is told to and stays within its buffers. Fuzz target and tests share it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use vc4_shaders::ir::{Op, Shader};
use vc4_shaders_cpu::{CpuError, Dispatch, Engine, Halt, Images, Kernel, Range, Words};

/// Words of each buffer.
const WORDS: usize = 61;
/// Words around each buffer, which nobody may touch.
const MARGIN: usize = 64;
/// What the margins hold.
const GUARD: u32 = 0x5afe_c0de;
/// How long a kernel may run before it is told to end.
const LONGEST: Duration = Duration::from_millis(50);
/// How long that may take, and what is beside it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Images whose texels are what was asked for last.
struct Made<'a> {
    ops: &'a [Op],
    last: AtomicU32,
}

impl Images for Made<'_> {
    fn access(&self, index: usize, arguments: &[Words], _: u8, results: &mut [Words]) {
        assert!(index < self.ops.len(), "image operation {index} of {}", self.ops.len());
        let seen = arguments.iter().flatten().fold(index as u32, |sum, word| sum.rotate_left(3) ^ word);
        self.last.store(seen, Relaxed);
        results.iter_mut().flatten().for_each(|word| *word = seen);
    }
}

/// What became of a shader.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// There is no code for it.
    Refused,
    /// It ran to its end.
    Ran,
    /// It would have run for longer.
    Stopped,
}

/// Compiles a shader for an engine and runs a few workgroups.
///
/// # Panics
/// If it does what no shader may do.
pub fn check(shader: &Shader, engine: Engine) -> End {
    let begin = Instant::now();
    let kernel = match Kernel::compile_for(shader, engine) {
        Ok(kernel) => kernel,
        Err(CpuError::Machine(error)) => panic!("Cranelift refuses our code: {error}\n{shader}"),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return End::Refused;
        }
    };
    let mut memory: Vec<Vec<u32>> =
        kernel.buffers().iter().map(|_| vec![GUARD; WORDS + 2 * MARGIN]).collect();
    for words in &mut memory {
        for (at, word) in words[MARGIN..MARGIN + WORDS].iter_mut().enumerate() {
            *word = (at as u32).wrapping_mul(0x9e37_79b9) >> (at % 32);
        }
    }
    let range = |words: &mut Vec<u32>| Range {
        address: words[MARGIN..].as_mut_ptr().cast(),
        bytes: 4 * WORDS as u32,
    };
    let ranges: Vec<Range> = memory.iter_mut().map(range).collect();
    let images = Made { ops: kernel.images(), last: AtomicU32::new(0) };
    let groups = [2, 1, 2];
    let dispatch = Dispatch {
        base: [0; 3],
        groups,
        count: groups,
        push: &[7, 0, 1 << 31],
        buffers: &ranges,
        images: &images,
        deadline: Some(Instant::now() + LONGEST),
    };
    // SAFETY: the ranges are those of vectors that live on.
    let end = match unsafe { kernel.run(&dispatch) } {
        Ok(()) => End::Ran,
        Err(Halt::Deadline) => End::Stopped,
        Err(Halt::Host(error)) => panic!("no memory or thread for a few workgroups: {error}\n{shader}"),
    };
    for words in &memory {
        let margins = words[..MARGIN].iter().chain(&words[MARGIN + WORDS..]);
        assert!(margins.into_iter().all(|word| *word == GUARD), "a store left its buffer\n{shader}");
    }
    assert!(begin.elapsed() < PATIENCE, "took {:?}\n{shader}", begin.elapsed());
    end
}

//! A compiled compute shader.

use std::sync::atomic::AtomicU64;

use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::{Op, Shader, Stage, Workgroup};

use crate::batch::WIDTH;
use crate::code::{self, Code, Engine};
use crate::dispatch::{Dispatch, Halt};
use crate::generate::{self, Needs};
use crate::layout::{Bound, Texels};
use crate::run::{self, Program};

/// Invocations of the largest workgroup that is compiled.
pub const MAX_INVOCATIONS: u32 = 1 << 16;

/// Bytes of memory that a workgroup may have, shared or its invocations' own together.
pub const MAX_MEMORY: u64 = 1 << 28;

/// Why a shader does not become a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuError {
    /// It is of another stage.
    #[error("a {} stage is no compute kernel", .0.name())]
    Stage(Stage),
    /// An operation that only other stages have, or that lowering for the QPU made.
    #[error("no CPU code for {op}")]
    Operation {
        /// The instruction.
        op: String,
    },
    /// It has too many invocations.
    #[error("a workgroup of {0:?} invocations; {MAX_INVOCATIONS} are the most")]
    Workgroup([u32; 3]),
    /// It has too much memory of its own.
    #[error("a workgroup with {0} bytes of memory; {MAX_MEMORY} are the most")]
    Memory(u64),
    /// This machine cannot run it.
    #[error("no machine code: {0}")]
    Machine(String),
}

/// A compiled compute shader.
#[derive(Debug)]
pub struct Kernel {
    engine: Engine,
    workgroup: Workgroup,
    needs: Needs,
    code: Code,
    listing: Option<String>,
    /// Local IDs by batch: four x, four y, four z.
    places: Vec<[u32; 12]>,
    /// Nanoseconds that a workgroup took last.
    pace: AtomicU64,
}

impl Kernel {
    /// Whether kernels can be compiled and run here at all.
    ///
    /// # Errors
    /// What this machine lacks.
    pub fn check_machine() -> Result<(), CpuError> {
        Engine::best().map(drop).map_err(CpuError::Machine)
    }

    /// Compiles an optimised compute stage.
    ///
    /// # Errors
    /// What of it has no code.
    pub fn compile(shader: &Shader) -> Result<Kernel, CpuError> {
        Kernel::new(shader, Engine::best().map_err(CpuError::Machine)?, false)
    }

    /// As [`Kernel::compile`], for an engine of choice.
    ///
    /// # Errors
    /// What of it has no code.
    pub fn compile_for(shader: &Shader, engine: Engine) -> Result<Kernel, CpuError> {
        Kernel::new(shader, engine, false)
    }

    /// As [`Kernel::compile`], and keeps the code as text for [`Kernel::listing`].
    ///
    /// # Errors
    /// What of it has no code.
    pub fn compile_listed(shader: &Shader) -> Result<Kernel, CpuError> {
        Kernel::new(shader, Engine::best().map_err(CpuError::Machine)?, true)
    }

    fn new(shader: &Shader, engine: Engine, listed: bool) -> Result<Kernel, CpuError> {
        if shader.stage != Stage::Compute {
            return Err(CpuError::Stage(shader.stage));
        }
        let workgroup = shader.workgroup;
        let invocations = workgroup.invocations().filter(|&count| (1..=MAX_INVOCATIONS).contains(&count));
        let invocations = invocations.ok_or(CpuError::Workgroup(workgroup.size))?;
        let own = u64::from(workgroup.scratch_bytes) * u64::from(invocations.next_multiple_of(WIDTH as u32));
        let memory = own + u64::from(workgroup.shared_bytes);
        if memory > MAX_MEMORY {
            return Err(CpuError::Memory(memory));
        }
        for inst in shader.insts_in_order() {
            if !generate::is_supported(shader.insts[inst].op) {
                return Err(CpuError::Operation { op: shader.display(inst).to_string() });
            }
        }
        let machine = engine.machine().map_err(CpuError::Machine)?;
        let (function, needs) = generate::generate(shader, invocations, machine);
        let listing = listed.then(|| code::listing(function.clone(), engine)).transpose();
        let listing = listing.map_err(CpuError::Machine)?;
        let code = Code::new(function, engine).map_err(CpuError::Machine)?;
        let places = places(&workgroup, invocations);
        Ok(Kernel { engine, workgroup, needs, code, listing, places, pace: AtomicU64::new(0) })
    }

    /// What runs it.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Its workgroup.
    pub fn workgroup(&self) -> &Workgroup {
        &self.workgroup
    }

    /// The buffers it names, uniform and storage, each once.
    pub fn buffers(&self) -> &[Descriptor] {
        &self.needs.buffers
    }

    /// Its image operations, in the order of the numbers that [`crate::Images::access`] gets.
    pub fn images(&self) -> &[Op] {
        &self.needs.images
    }

    /// Bytes of code.
    pub fn code_bytes(&self) -> usize {
        self.code.len()
    }

    /// The code as text, of [`Kernel::compile_listed`].
    pub fn listing(&self) -> Option<&str> {
        self.listing.as_deref()
    }

    /// Runs all workgroups of a dispatch, on several threads, and returns when all have ended.
    ///
    /// # Errors
    /// Why not all of them ran.
    ///
    /// # Safety
    /// Every range of `dispatch.buffers` and all that `dispatch.images` says to lie in rows is readable and, where the kernel
    /// stores to it, writable memory for as long as this runs. Other threads may access it at the same time only as Vulkan's memory model lets them.
    pub unsafe fn run(&self, dispatch: &Dispatch<'_>) -> Result<(), Halt> {
        let bounds: Vec<Bound> = (0..self.needs.buffers.len())
            .map(|index| match dispatch.buffers.get(index) {
                Some(range) if !range.address.is_null() => {
                    Bound { address: range.address, bytes: range.bytes.into() }
                }
                _ => Bound { address: std::ptr::null_mut(), bytes: 0 },
            })
            .collect();
        let texels: Vec<Texels> =
            (0..self.needs.images.len()).map(|index| Texels::of(dispatch.images.rows(index))).collect();
        let mut push = dispatch.push.to_vec();
        push.resize(push.len().max(self.needs.push_words as usize), 0);
        let program = Program {
            code: &self.code,
            needs: &self.needs,
            workgroup: &self.workgroup,
            places: &self.places,
            bounds: &bounds,
            texels: &texels,
            push: &push,
            dispatch,
            pace: &self.pace,
        };
        // SAFETY: the code outlives the call and gets what it was compiled for; the caller vouches for the ranges.
        unsafe { run::run(&program) }
    }
}

fn places(workgroup: &Workgroup, invocations: u32) -> Vec<[u32; 12]> {
    let [x, y, _] = workgroup.size;
    let batches = invocations.div_ceil(WIDTH as u32);
    let place = |batch: u32, at: usize| {
        let index = batch * WIDTH as u32 + (at % WIDTH) as u32;
        match at / WIDTH {
            0 => index % x,
            1 => index / x % y,
            _ => index / x / y,
        }
    };
    (0..batches).map(|batch| std::array::from_fn(|at| place(batch, at))).collect()
}

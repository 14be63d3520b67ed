//! What must hold for any submission that a stranger makes: the simulated device refuses it as the kernel does, or runs it
//! to an end within the hang limit, and serves the next one. Bytes choose a valid submission and then what is wrong with it.

mod case;
mod damage;
mod program;
mod source;

use std::num::NonZeroUsize;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use vc4_kernel_abi::{BoHandle, Gpu, GpuError};
use vc4_sim::{Config, Mode, Simulator};

use case::Case;
use damage::damage;
use program::assemble;
use source::Source;

/// Far longer than a job may take with [`INSTRUCTION_LIMIT`].
const PATIENCE: Duration = Duration::from_secs(120);
/// Instructions of a program instance, and vertices of a draw, before it counts as hung.
const INSTRUCTION_LIMIT: u64 = 3000;

static PANICKED: AtomicBool = AtomicBool::new(false);

/// The device catches panics of its threads, so the hook tells about them.
fn watch_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICKED.store(true, Ordering::Relaxed);
            before(info);
        }));
    });
}

/// How a submission went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was refused.
    Refused,
    /// It ran to its end.
    Done,
    /// It ran until the hang check.
    Hung,
}

/// A submission made from bytes meets its end in time, without a panic.
pub fn submit(bytes: &[u8]) -> Outcome {
    watch_panics();
    let mut source = Source(bytes);
    let mode = if source.byte() % 4 == 0 { Mode::Strict } else { Mode::Faithful };
    let options = source.byte();
    let gpu = Simulator::new(Config {
        memory_bytes: 32 << 20,
        threads: NonZeroUsize::new(1),
        mode,
        check_programs: options & 1 != 0,
        count_caches: options & 2 != 0,
        instruction_limit: INSTRUCTION_LIMIT,
        ..Config::default()
    });
    let mistakes = source.byte() % 6;
    let mut case = Case::new(&mut source);
    let sound = mistakes == 0;
    for _ in 0..mistakes {
        damage(&mut case, &mut source);
    }
    let outcome = run(&gpu, case, sound);
    assert!(!PANICKED.load(Ordering::Relaxed), "a thread of the device panicked");
    outcome
}

fn run(gpu: &Simulator, case: Case, sound: bool) -> Outcome {
    let Case { mut job, list, code, data, .. } = case;
    job.bin_cl = list;
    job.bos = vec![BoHandle(0); code.len() + data.len()];
    for (at, code) in code {
        // A refused program is replaced by one that ends at once.
        let end = || {
            assemble(
                "sig_end ; nop = nop() ; nop = nop() ;\nnop: sig_none ; nop = nop() ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\n",
            )
        };
        job.bos[at] =
            gpu.create_shader_bo(&code).or_else(|_| gpu.create_shader_bo(&end())).expect("a program");
    }
    for (at, data) in data {
        job.bos[at] = gpu.create_bo(data.len() as u32).expect("small BOs");
        gpu.map_bo(job.bos[at]).expect("no shader").write(0, &data);
    }
    let seqno = match gpu.submit(&job) {
        Ok(seqno) => seqno,
        Err(GpuError::Refused(what)) => {
            assert!(!sound || !what.is_empty());
            return Outcome::Refused;
        }
        Err(GpuError::OutOfMemory(_)) => return Outcome::Refused,
        Err(other) => panic!("{other}: no answer of the kernel"),
    };
    match gpu.wait_seqno(seqno, Some(PATIENCE)) {
        Ok(true) => Outcome::Done,
        Ok(false) => panic!("still running after {PATIENCE:?}"),
        Err(GpuError::Hang(_)) => Outcome::Hung,
        Err(other) => panic!("{other}: no answer to a wait"),
    }
}

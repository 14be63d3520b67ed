//! Running a capture again: in a simulator of its own, which tells much of it, or on any device.

mod bos;
mod device;
mod replayed;

use vc4_kernel_abi::validate::Mode;
use vc4_kernel_abi::{GpuError, Submit};

pub use bos::ReplayError;
pub use device::DeviceReplay;
pub use replayed::Replayed;

use crate::capture::read::{Capture, Done, Entry};
use crate::config::Config;
use crate::device::Simulator;
use crate::profile::Profile;
use bos::Bos;

/// The largest bus memory that a capture is given, whatever its head says.
const MOST_MEMORY: u32 = 1 << 30;

/// Memory for the gaps of a placement.
const GAPS: u32 = 256 << 20;

/// What is wanted of a submission besides its results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// Nothing.
    #[default]
    Results,
    /// A profile; slower.
    Profile,
    /// A profile that tells of a pixel of the frame what was done to it.
    Pixel(u32, u32),
}

/// A simulator that runs the submissions of a capture in order.
pub struct Replay<'a> {
    capture: &'a Capture,
    simulator: Simulator,
    bos: Bos,
    next: usize,
}

impl<'a> Replay<'a> {
    /// The mode and memory that the capture was recorded with, and else the defaults.
    pub fn config(capture: &Capture) -> Config {
        Config {
            mode: if capture.head.strict { Mode::Strict } else { crate::Mode::Faithful },
            memory_bytes: capture.head.memory_bytes.clamp(32 << 20, MOST_MEMORY),
            ..Config::default()
        }
    }

    /// Begins with the first submission.
    pub fn new(capture: &'a Capture, config: Config) -> Replay<'a> {
        Replay::placed(capture, config, 0)
    }

    /// The same with BOs at other addresses, which follow from a number; 0 is one after the other. Results are the same, lines that
    /// miss in caches are not.
    pub fn placed(capture: &'a Capture, config: Config, placement: u64) -> Replay<'a> {
        let room = if placement == 0 { 0 } else { GAPS };
        let memory_bytes = config.memory_bytes.saturating_add(room).min(MOST_MEMORY.max(config.memory_bytes));
        let simulator = Simulator::new(Config { memory_bytes, ..config });
        Replay { capture, simulator, bos: Bos::placed(placement), next: 0 }
    }

    /// Number of the next submission.
    pub fn position(&self) -> usize {
        self.next
    }

    /// The simulator.
    pub fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// Runs the next submission; `None` behind the last.
    ///
    /// # Errors
    /// When the submission cannot be put together; one that is refused or hangs is no error.
    pub fn step(&mut self, watch: Watch) -> Option<Result<Replayed, ReplayError>> {
        let entry = self.capture.entries.get(self.next)?;
        self.next += 1;
        Some(self.run(entry, watch))
    }

    /// Content of a BO, from `offset` on, as much as there is of `size` bytes.
    pub fn contents(&self, key: u32, offset: u32, size: usize) -> Option<Vec<u8>> {
        self.bos.contents(key, offset, size)
    }

    /// Bytes of contiguous memory in BOs that submissions have used so far and that are still alive.
    pub fn bo_bytes(&self) -> u64 {
        self.bos.bytes()
    }

    fn run(&mut self, entry: &Entry, watch: Watch) -> Result<Replayed, ReplayError> {
        let submit = self.bos.prepare(&self.simulator, self.capture, entry)?;
        let mut replayed = Replayed::default();
        match self.submit(&submit, watch) {
            Ok((done, profile)) => {
                replayed.done = Some(Done { written: self.bos.written(entry), ..done });
                replayed.profile = profile;
            }
            Err(error @ (GpuError::Refused(_) | GpuError::OutOfMemory(_))) => {
                replayed.refused = Some(error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        Ok(replayed)
    }

    fn submit(&self, submit: &Submit, watch: Watch) -> Result<(Done, Option<Profile>), GpuError> {
        let before = self.simulator.totals();
        let start = std::time::Instant::now();
        let observed = match watch {
            Watch::Results => None,
            Watch::Profile => Some(self.simulator.observe(submit)?),
            Watch::Pixel(x, y) => Some(self.simulator.observe_pixel(submit, (x, y))?),
        };
        let (seqno, hang, profile) = match observed {
            Some(observed) => (observed.seqno, observed.hang, Some(observed.profile)),
            None => {
                let (seqno, hang) = self.simulator.complete(submit)?;
                (seqno, hang, None)
            }
        };
        let nanoseconds = start.elapsed().as_nanos() as u64;
        let after = self.simulator.totals();
        let done = Done {
            seqno: seqno.0,
            nanoseconds,
            instances: after.instances - before.instances,
            instructions: after.instructions - before.instructions,
            lookups: after.lookups - before.lookups,
            hang,
            written: Vec::new(),
        };
        Ok((done, profile))
    }
}

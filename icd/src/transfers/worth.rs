//! Whether a job pays.

use vc4::facts::Number;

use crate::foundation::engine::{Engine, transfers};
use crate::foundation::facts::numbers;

/// Bytes that a board's CPU reads of mapped memory in the time that a job takes, if not in less: a job is 200 us, and a
/// Pi 3 reads some hundred MB/s.
const WORTH_A_JOB: u64 = 16 << 10;

/// The same of what it writes, at some 600 MB/s.
const WRITES_WORTH_A_JOB: u64 = 128 << 10;

/// [`WORTH_A_JOB`] of this machine, where it was measured.
pub(super) fn worth_a_job() -> u64 {
    bytes_of_a_job(Number::BoRead, WORTH_A_JOB)
}

fn bytes_of_a_job(rate: Number, assumed: u64) -> u64 {
    let measured = |number| numbers().measured(number);
    match (measured(Number::Job), measured(rate)) {
        (Some(job), Some(rate)) => (job * rate) as u64,
        _ => assumed,
    }
}

/// Whether so many bytes that the CPU would read are worth a job, or why not.
pub(super) fn pays(bytes: u64) -> Result<(), String> {
    pays_from(bytes, worth_a_job())
}

/// As [`pays`], of bytes that it would only write.
pub(super) fn pays_to_write(bytes: u64) -> Result<(), String> {
    pays_from(bytes, bytes_of_a_job(Number::BoWrite, WRITES_WORTH_A_JOB))
}

fn pays_from(bytes: u64, least: u64) -> Result<(), String> {
    match transfers() {
        Engine::Cpu => Err("VC4VK_TRANSFERS says so".into()),
        Engine::Auto if bytes < least => Err(format!("{bytes} bytes are too few for a job")),
        Engine::Auto | Engine::Qpu => Ok(()),
    }
}

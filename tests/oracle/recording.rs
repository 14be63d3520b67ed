//! What must hold for any capture of submissions that a stranger hands over: it is read or refused, and what was read is run or
//! refused.

use vc4_sim::capture::pages::Hash;
use vc4_sim::capture::read::Capture;
use vc4_sim::replay::{Replay, Watch};

/// Bytes before the first record.
const START: usize = 8;
/// Submissions that are run.
const STEPS: usize = 4;

/// Reads a capture and runs what it holds; how many submissions ran.
pub fn recording(bytes: &[u8]) -> usize {
    let Ok(capture) = Capture::read(bytes) else { return 0 };
    let mut config = Replay::config(&capture);
    config.memory_bytes = config.memory_bytes.min(64 << 20);
    config.instruction_limit = 1 << 22;
    let mut replay = Replay::new(&capture, config);
    let steps = std::iter::from_fn(|| replay.step(Watch::Results)).take(STEPS);
    steps.filter(|step| step.as_ref().is_ok_and(|replayed| replayed.done.is_some())).count()
}

/// Changes some bytes inside of records, whose sums are made good again: damage that is not noticed at once. `number` gives
/// numbers below its argument.
pub fn damage(bytes: &mut [u8], mut number: impl FnMut(usize) -> usize) {
    let records = records(bytes);
    for _ in 0..1 + number(4) {
        let Some((start, size)) = records.get(number(records.len().max(1))).copied() else { return };
        if size > 0 {
            let at = start + number(size);
            bytes[at] = match number(4) {
                0 => bytes[at] ^ 1 << number(8),
                1 => [0, 1, 0x7f, 0x80, 0xff][number(5)],
                2 => bytes[at].wrapping_add(1),
                _ => number(256) as u8,
            };
        }
    }
    for (start, size) in records {
        let sum = Hash::of_bytes(&bytes[start..start + size]).low();
        bytes[start + size..start + size + 8].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Where the payloads of whole records lie, and how many bytes they have.
fn records(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut records = Vec::new();
    let mut at = START;
    while let Some(size) = bytes.get(at + 4..at + 8) {
        let size = u32::from_le_bytes(size.try_into().expect("four bytes")) as usize;
        let start = at + 8;
        match start.checked_add(size).and_then(|end| end.checked_add(8)) {
            Some(end) if end <= bytes.len() => at = end,
            _ => break,
        }
        records.push((start, size));
    }
    records
}

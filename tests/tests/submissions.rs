//! Strangers' submissions to the simulated device. `PROPTEST_CASES` makes the run longer.

#[path = "../oracle/submission/mod.rs"]
mod oracle;

use oracle::submit;

/// A private generator: results do not shift with a library's.
struct Random(u64);

impl Random {
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut step = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 24) as u8
        };
        (0..count).map(|_| step()).collect()
    }
}

/// Submissions that crashed, hung or were answered wrongly once.
const ONCE_WRONG: &[&[u8]] = &[];

#[test]
fn what_was_wrong_once() {
    for bytes in ONCE_WRONG {
        submit(bytes);
    }
}

#[test]
fn random_and_mutated_submissions_end() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut outcomes = [0; 3];
    for case in 0..cases {
        let mut bytes = random.bytes(700);
        // Every fourth one is left without mistakes.
        bytes[2] = if case % 4 == 0 { 0 } else { 1 + bytes[2] % 5 };
        outcomes[submit(&bytes) as usize] += 1;
    }
    // The generator must reach all of the device: some are refused, many run, a few hang.
    let [refused, done, hung] = outcomes;
    assert!(refused * 10 > cases && done * 4 > cases && hung * 200 > cases, "{outcomes:?}");
}

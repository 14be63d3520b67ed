//! Numbers for inputs, the same on every run and host.

/// A number that depends on its name only.
pub fn hash(parts: &[u32]) -> u32 {
    let mut state = 0x9e37_79b9u32;
    for &part in parts {
        state = (state ^ part).wrapping_mul(0x85eb_ca6b);
        state = (state ^ state >> 13).wrapping_mul(0xc2b2_ae35);
        state ^= state >> 16;
    }
    state
}

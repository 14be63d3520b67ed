//! The clock that clients and the display go by.

/// CLOCK_MONOTONIC in nanoseconds.
pub fn monotonic_ns() -> u64 {
    // This clock is always there.
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    #[allow(clippy::unnecessary_cast, reason = "on 32-bit systems the numbers are shorter")]
    now.map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

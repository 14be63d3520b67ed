//! Sixteen elements side by side, and how whole vectors move: immediates, rotations and masked writes.

use vc4::hw::LANES;
use vc4::qpu::LoadMode;

/// One 32-bit value per SIMD element.
pub type Lanes = [u32; LANES];

/// One bit per SIMD element.
pub type LaneMask = u16;

/// All elements.
pub(crate) const ALL: LaneMask = 0xffff;

/// What a load immediate presents (qpu.md §2.9).
pub(crate) fn immediate(mode: LoadMode, imm: u32) -> Lanes {
    match mode {
        LoadMode::Word => [imm; LANES],
        LoadMode::PerElementUnsigned => std::array::from_fn(|i| (imm >> (16 + i) & 1) << 1 | imm >> i & 1),
        LoadMode::PerElementSigned => {
            std::array::from_fn(|i| (imm >> i & 1).wrapping_sub((imm >> (16 + i) & 1) << 1))
        }
    }
}

/// Element i to element (i + `by`) mod 16.
#[inline(always)]
pub(crate) fn turn(value: &Lanes, by: u32) -> Lanes {
    let mut twice = [0; 2 * LANES];
    twice[..LANES].copy_from_slice(value);
    twice[LANES..].copy_from_slice(value);
    let start = LANES - (by as usize & 15);
    let mut out = [0; LANES];
    out.copy_from_slice(&twice[start..start + LANES]);
    out
}

/// The same inside of each quad.
pub(crate) fn turn_quads(value: &Lanes, by: u32) -> Lanes {
    std::array::from_fn(|i| value[i & !3 | i.wrapping_sub(by as usize) & 3])
}

pub(crate) fn turn_quads_mask(mask: LaneMask, by: u32) -> LaneMask {
    (0..LANES).fold(0, |out, i| out | (mask >> (i & !3 | i.wrapping_sub(by as usize) & 3) & 1) << i)
}

/// Writes the elements of `mask`.
#[inline(always)]
pub(crate) fn select(to: &mut Lanes, mask: LaneMask, value: &Lanes) {
    if mask == ALL {
        *to = *value;
        return;
    }
    for (i, lane) in to.iter_mut().enumerate() {
        *lane = if u32::from(mask) & (1 << i) != 0 { value[i] } else { *lane };
    }
}

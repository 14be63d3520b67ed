//! Levels of detail: from differences of coordinates, in fixed point, and next to levels.

use std::sync::{Mutex, PoisonError};

use vc4::facts::{Facts, LevelRounding};
use vc4::hw::TEXTURE_MAX_PX;

/// Fraction bits of a level of detail at most, and of the weight of the next level.
pub(super) const LOD_BITS: u32 = 8;
pub(super) const NEXT_LEVEL: i32 = 1 << LOD_BITS;

/// The LOD of a difference of so many texels, squared.
pub(super) fn lod_of(square: f32) -> f32 {
    square.log2() * 0.5
}

/// A LOD in fixed point, so that the last bits of the logarithm do not matter.
pub(super) fn fixed_lod(lod: f32) -> i32 {
    (lod.min(16.0) * NEXT_LEVEL as f32) as i32
}

/// UNVERIFIED: which level is the nearest? LOD + 0.5 rounded down (textures.md §2). The LOD is in fixed point.
pub(super) fn nearest_level(fact: LevelRounding, lod: i32) -> i32 {
    let half = if fact == LevelRounding::HalfUp { NEXT_LEVEL / 2 } else { 0 };
    (lod + half) >> LOD_BITS
}

/// Levels that there can be, down to one texel.
const LEVELS: usize = TEXTURE_MAX_PX.ilog2() as usize + 1;

/// Squares of differences from which on a quad is minified, and from which on it is nearer to each level than to those before.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// Of textures that are magnified up to this LOD, on machines that round so.
    key: (u32, LevelRounding),
    /// From here on the filter is that of minification.
    pub minified: f32,
    /// From here on each level is nearer than those before.
    levels: [f32; LEVELS],
}

impl Steps {
    /// Of textures that are magnified up to this LOD.
    pub(super) fn of(facts: &Facts, magnified_until: f32) -> Steps {
        static KNOWN: Mutex<Vec<Steps>> = Mutex::new(Vec::new());
        let key = (magnified_until.to_bits(), facts.level_rounding);
        // Whoever panicked has added all of an entry, or none.
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(steps) = known.iter().find(|steps| steps.key == key) {
            return steps.clone();
        }
        let level = |square: f32| nearest_level(facts.level_rounding, fixed_lod(lod_of(square)));
        let steps = Steps {
            key,
            minified: least(|square| lod_of(square) > magnified_until),
            levels: std::array::from_fn(|n| least(|square| level(square) >= n as i32)),
        };
        known.push(steps.clone());
        steps
    }

    /// The level, of so many, that a square is nearest to.
    pub(super) fn nearest(&self, square: f32, levels: usize) -> u8 {
        self.levels[1..].iter().take(levels - 1).filter(|&&step| square >= step).count() as u8
    }
}

/// The least number that is not negative of which something holds; it holds of all above.
fn least(holds: impl Fn(f32) -> bool) -> f32 {
    let (mut from, mut to) = (0, f32::INFINITY.to_bits());
    while from < to {
        let middle = (from + to) / 2;
        (from, to) = if holds(f32::from_bits(middle)) { (from, middle) } else { (middle + 1, to) };
    }
    f32::from_bits(to)
}

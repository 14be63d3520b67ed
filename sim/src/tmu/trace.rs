//! Which cache lines a request reads, for the performance counters.

use vc4::hw::LANES;

use super::sample::{Selection, cube_face, reduce, to_texels_of, wrap_index};
use super::texture::{Level, Texture};
use crate::lanes::Lanes;
use crate::stats::LINE_BYTES;

/// Lines of a direct lookup, element by element; equal neighbours once.
pub(super) fn direct(addresses: &Lanes, lines: &mut Vec<u32>) {
    lines.clear();
    addresses.iter().for_each(|&address| push(lines, address));
}

fn push(lines: &mut Vec<u32>, address: u32) {
    let line = address & !(LINE_BYTES - 1);
    if !lines.contains(&line) {
        lines.push(line);
    }
}

impl Texture {
    /// Lines of a lookup with these parameters, each once, in the order of first use.
    pub(super) fn trace(&self, [s, t, r, b]: [&Lanes; 4], lines: &mut Vec<u32>) {
        lines.clear();
        let selections = self.selections(s, t, r, b);
        for i in 0..LANES {
            let Selection { source, next } = selections.of(i);
            let [s, t, r] = [s[i], t[i], r[i]].map(f32::from_bits);
            let (face, s, t) = if self.cube { cube_face(self.facts.cube_tie, s, t, r) } else { (0, s, t) };
            let first = usize::from(source.level);
            for level in &self.levels[first..=first + usize::from(*next != 0)] {
                self.trace_level(level, source.linear, face, [s, t], lines);
            }
        }
    }

    fn trace_level(&self, level: &Level, linear: bool, face: u32, [s, t]: [f32; 2], lines: &mut Vec<u32>) {
        let (w, h) = (level.width as i32, level.height as i32);
        let (x, _) = to_texels_of(&self.facts, reduce(self.wrap_s, s), w as f32, linear);
        let (y, _) = to_texels_of(&self.facts, reduce(self.wrap_t, t), h as f32, linear);
        for i in 0..if linear { 4 } else { 1 } {
            let x = wrap_index(self.wrap_s, x + (i & 1), w);
            let y = wrap_index(self.wrap_t, y + (i >> 1), h);
            if (0..w).contains(&x) && (0..h).contains(&y) {
                push(lines, self.address(level, face, x as u32, y as u32));
            }
        }
    }
}

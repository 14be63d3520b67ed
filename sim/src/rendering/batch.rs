//! Batches: up to four quads of a primitive, which one instance of a fragment program shades.

use vc4::facts::Facts;
use vc4::hw::LANES;

use super::pse::{Plane, Primitive};
use super::tlb::QUADS;
use crate::qpu::{Coefficients, Lanes, Payload};
use crate::unverified::{is_usual_z, usual_z_in_vectors, z_to_24_bits};
use crate::wide::on_wide_vectors;

/// Up to four quads. Unfilled places keep valid coordinates and no coverage: helper elements.
#[derive(Default)]
pub struct Batch {
    quads: usize,
    /// First pixel of each quad.
    x: [i32; QUADS],
    y: [i32; QUADS],
    /// First sample of each quad in the tile.
    firsts: [u16; QUADS],
    /// Covered samples of each quad, four bits for each pixel in the order of elements.
    coverage: [u16; QUADS],
}

/// The coverage of a quad: its pixels' samples, or flags that stand for the one sample that was looked at.
#[inline]
pub fn coverage_of(masks: [u8; 4], flags: u32) -> u16 {
    let bytes = u32::from_le_bytes(masks);
    let pairs = (bytes | bytes >> 4) & 0x00ff_00ff;
    ((pairs | pairs >> 8) & 0xffff).wrapping_mul(flags) as u16
}

impl Batch {
    /// Filled places.
    #[inline]
    pub fn quads(&self) -> usize {
        self.quads
    }

    /// First samples of the quads in all places.
    #[inline]
    pub fn places(&self) -> &[u16; QUADS] {
        &self.firsts
    }

    /// First samples of the quads in filled places.
    pub fn firsts(&self) -> impl Iterator<Item = usize> + use<'_> {
        self.firsts[..self.quads].iter().map(|&first| usize::from(first))
    }

    /// Adds a quad, of which there is room for another one, by its first pixel and that pixel's first sample in the tile.
    #[inline]
    pub fn push(&mut self, x: i32, y: i32, first: u16, coverage: u16) {
        let quad = self.quads % QUADS;
        (self.x[quad], self.y[quad], self.firsts[quad], self.coverage[quad]) = (x, y, first, coverage);
        self.quads += 1;
    }

    /// Gives the unfilled places the coordinates of the first quad.
    #[inline]
    pub fn fill(&mut self) {
        for quad in self.quads..QUADS {
            (self.x[quad], self.y[quad], self.firsts[quad]) = (self.x[0], self.y[0], self.firsts[0]);
            self.coverage[quad] = 0;
        }
    }

    /// Takes all quads out.
    pub fn clear(&mut self) {
        self.quads = 0;
    }

    /// The pixel of an element.
    pub fn pixel(&self, element: usize) -> (i32, i32) {
        let (quad, pixel) = (element / 4, element as i32 % 4);
        (self.x[quad] + (pixel & 1), self.y[quad] + (pixel >> 1))
    }

    /// The element of a pixel that is covered.
    pub fn element_of(&self, x: i32, y: i32, setting: &Setting) -> Option<usize> {
        (0..self.quads * 4).find(|&lane| self.pixel(lane) == (x, y) && setting.coverage[lane] != 0)
    }

    /// What the elements begin with; the varyings' partial sums go to `partial`.
    #[inline]
    pub fn setting(
        &self,
        facts: &Facts,
        primitive: &Primitive,
        varyings: &[Coefficients],
        partial: &mut [Lanes],
    ) -> Setting {
        setting(facts, primitive, self, varyings, partial)
    }
}

/// Depth of the pixel at this distance from the reference point, 24 bits.
#[inline]
pub fn z_at(facts: &Facts, z: &Plane, dx: f64, dy: f64) -> u32 {
    z_to_24_bits(facts, z.at + z.dx * dx + z.dy * dy)
}

/// What a batch's elements begin with (v3d.md §9.6).
pub struct Setting {
    /// W and Z.
    pub payload: Payload,
    pub distances: Distances,
    /// The multisample mask of each element.
    pub coverage: Lanes,
}

/// Distances from the reference point in pixels.
pub struct Distances {
    pub x: [f32; LANES],
    pub y: [f32; LANES],
}

on_wide_vectors! {
    fn setting(
        facts: &Facts,
        primitive: &Primitive,
        batch: &Batch,
        varyings: &[Coefficients],
        partial: &mut [Lanes],
    ) -> Setting {
        let Primitive { z, rw, reference: (x0, y0), .. } = primitive;
        let distances = Distances { x: [0.0; LANES], y: [0.0; LANES] };
        let mut setting = Setting { payload: Payload::default(), distances, coverage: [0; LANES] };
        // Subpixels of a screen, and their differences, are floats.
        let (x0, y0) = (*x0 as f32, *y0 as f32);
        for lane in 0..LANES {
            setting.distances.x[lane] = (batch.x[lane / 4] + (lane as i32 & 1)) as f32 + 0.5 - x0;
            setting.distances.y[lane] = (batch.y[lane / 4] + (lane as i32 >> 1 & 1)) as f32 + 0.5 - y0;
            setting.coverage[lane] = u32::from(batch.coverage[lane / 4]) >> (lane % 4 * 4) & 0xf;
        }
        let (mut across, mut down) = ([0.0; LANES], [0.0; LANES]);
        if !(rw.is_level() && z.is_level()) {
            for lane in 0..LANES {
                across[lane] = f64::from(setting.distances.x[lane]);
                down[lane] = f64::from(setting.distances.y[lane]);
            }
        }
        // To a level plane only zeros would be added.
        if rw.is_level() {
            setting.payload.ra15 = [((1.0 / rw.at) as f32).to_bits(); LANES];
        } else {
            for lane in 0..LANES {
                let w = 1.0 / (rw.at + rw.dx * across[lane] + rw.dy * down[lane]);
                setting.payload.ra15[lane] = (w as f32).to_bits();
            }
        }
        if !is_usual_z(facts) {
            for lane in 0..LANES {
                setting.payload.rb15[lane] = z_at(facts, z, across[lane], down[lane]);
            }
        } else if z.is_level() {
            setting.payload.rb15 = [usual_z_in_vectors(z.at); LANES];
        } else {
            for lane in 0..LANES {
                setting.payload.rb15[lane] = usual_z_in_vectors(z.at + z.dx * across[lane] + z.dy * down[lane]);
            }
        }
        for (partial, varying) in partial.iter_mut().zip(varyings) {
            *partial = varying.partial(&setting.distances.x, &setting.distances.y);
        }
        setting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{GridPoint, Shape};

    #[test]
    fn quads_fill_lanes_in_order_and_helpers_copy_the_first() {
        let mut batch = Batch::default();
        batch.push(4, 6, 100, 0x3201);
        batch.push(8, 6, 108, 0x9000);
        batch.fill();
        let at = |lane| batch.pixel(lane);
        assert_eq!([0, 1, 2, 3].map(at), [(4, 6), (5, 6), (4, 7), (5, 7)]);
        assert_eq!([4, 7, 8, 15].map(at), [(8, 6), (9, 7), (4, 6), (5, 7)]);
        assert_eq!(batch.firsts, [100, 108, 100, 100]);
        let corners = [(0, 0), (0, 16), (16, 0)].map(|(x, y)| GridPoint { x, y });
        let primitive = Primitive {
            shape: Shape::new(&Facts::default(), &corners).unwrap(),
            reverse: false,
            reference: (0.0, 0.0),
            z: Plane { at: 0.0, dx: 1.0 / 16.0, dy: 0.0 },
            rw: Plane { at: 1.0, dx: 0.0, dy: 0.0 },
        };
        let mut partial = [[0; LANES]];
        let varyings = [Coefficients { a: 2.0, b: 10.0, c: 5.0 }];
        let setting = batch.setting(&Facts::default(), &primitive, &varyings, &mut partial);
        assert_eq!(f32::from_bits(partial[0][5]), 2.0 * 9.5 + 10.0 * 6.5);
        assert_eq!((setting.distances.x[5], setting.distances.y[5]), (9.5, 6.5));
        assert_eq!(setting.payload.rb15[0], ((4.5 / 16.0) * f64::from(0xff_ffff) + 0.5) as u32);
        assert_eq!(setting.coverage, [1, 0, 2, 3, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(batch.element_of(9, 7, &setting), Some(7));
        assert_eq!(batch.element_of(8, 7, &setting), None);
    }

    #[test]
    fn coverage_is_packed_by_pixel() {
        assert_eq!(coverage_of([1, 0, 0, 1], 0xf), 0xf00f);
        assert_eq!(coverage_of([1, 1, 0, 1], 1), 0x1011);
        assert_eq!(coverage_of([0xf, 3, 0, 8], 1), 0x803f);
    }
}

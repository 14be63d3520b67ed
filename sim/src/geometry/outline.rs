//! From window positions to a shape: what the binner and the primitive setup must agree on.

use super::assembly::Kind;
use super::raster::{GridPoint, Shape, twice_area};
use super::state::State;
use crate::unverified::{line_corners, point_corners};

/// Splits a {Ys, Xs} word (v3d.md §7.2).
pub fn unpack_xy(word: u32) -> (i16, i16) {
    (word as u16 as i16, (word >> 16) as u16 as i16)
}

/// Window position of a shaded vertex: viewport centre plus its own coordinates (v3d.md §9.1).
pub fn window_position(state: &State, xs: i16, ys: i16) -> GridPoint {
    GridPoint {
        x: i64::from(state.viewport.x.0) + i64::from(xs),
        y: i64::from(state.viewport.y.0) + i64::from(ys),
    }
}

/// Whether a primitive faces backwards (v3d.md §9.3); points and lines never do.
pub fn is_reverse(state: &State, kind: Kind, positions: &[GridPoint; 3]) -> bool {
    kind == Kind::Triangle && (twice_area(positions) < 0) != state.config.clockwise_front
}

/// A primitive's outline and facing, or `None` when it is culled or empty (v3d.md §9.3).
///
/// `size` is the point size or line width in pixels.
pub fn outline(state: &State, kind: Kind, positions: &[GridPoint; 3], size: f32) -> Option<(Shape, bool)> {
    let reverse = is_reverse(state, kind, positions);
    if !(if reverse { state.config.back } else { state.config.front }) {
        return None;
    }
    let facts = &state.facts;
    let pair = |p: GridPoint| (p.x, p.y);
    let shape = match kind {
        Kind::Triangle => Shape::new(facts, positions)?,
        Kind::Line => {
            let [from, to] = [positions[0], positions[1]].map(pair);
            Shape::new(facts, &line_corners(facts.line_corners, from, to, size).map(point))?
        }
        Kind::Point => Shape::new(facts, &point_corners(facts, pair(positions[0]), size).map(point))?,
    };
    Some((shape, reverse))
}

fn point((x, y): (i64, i64)) -> GridPoint {
    GridPoint { x, y }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4::cl::packets::ConfigurationBits;
    use vc4::facts::Facts;

    #[test]
    fn facing_follows_the_numbers() {
        // Counter-clockwise with y upwards: forward unless bit 2 is set (v3d.md §9.3).
        let ccw = [point((0, 0)), point((160, 0)), point((0, 160))];
        let cw = [ccw[0], ccw[2], ccw[1]];
        let mut state = State::reset(Facts::default());
        for clockwise_front in [false, true] {
            state.config = ConfigurationBits { clockwise_front, ..ConfigurationBits::default() };
            assert_eq!(outline(&state, Kind::Triangle, &ccw, 0.0).unwrap().1, clockwise_front);
            assert_eq!(outline(&state, Kind::Triangle, &cw, 0.0).unwrap().1, !clockwise_front);
            state.config.back = false;
            assert_eq!(outline(&state, Kind::Triangle, &ccw, 0.0).is_none(), clockwise_front);
            assert_eq!(outline(&state, Kind::Triangle, &cw, 0.0).is_none(), !clockwise_front);
            state.config.front = false;
            assert!(outline(&state, Kind::Point, &ccw, 4.0).is_none());
        }
    }

    #[test]
    fn flat_triangles_draw_nothing() {
        let line = [point((0, 0)), point((16, 16)), point((32, 32))];
        assert!(outline(&State::reset(Facts::default()), Kind::Triangle, &line, 0.0).is_none());
    }

    #[test]
    fn halves_of_the_position_word() {
        assert_eq!(unpack_xy(0x8000_ffff), (-1, i16::MIN));
    }
}

//! Directions, faces of cubes, and what lies behind a face's edges (Vulkan 1.0 §15.5.4).

/// Faces of a cube.
pub(super) const FACES: u32 = 6;

/// By face: the axis that it looks along and which way, and those of its columns and rows.
const AXES: [[(usize, f32); 3]; FACES as usize] = [
    [(0, 1.0), (2, -1.0), (1, -1.0)],
    [(0, -1.0), (2, 1.0), (1, -1.0)],
    [(1, 1.0), (0, 1.0), (2, 1.0)],
    [(1, -1.0), (0, 1.0), (2, -1.0)],
    [(2, 1.0), (0, 1.0), (1, -1.0)],
    [(2, -1.0), (0, -1.0), (1, -1.0)],
];

/// A texel of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FaceTexel {
    /// The face.
    pub face: u32,
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
}

/// The texels that stand for one on a face's plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Corner {
    /// One.
    None(FaceTexel),
    /// Behind a corner there is none: the three around it.
    Of([FaceTexel; 3]),
}

/// The face that a direction points to: z wins over y, and y over x.
fn face_of(direction: [f64; 3]) -> u32 {
    let [x, y, z] = direction.map(f64::abs);
    let axis = if z >= x && z >= y {
        2
    } else if y >= x {
        1
    } else {
        0
    };
    2 * axis as u32 + u32::from(direction[axis] < 0.0)
}

fn along(direction: [f64; 3], (axis, sign): (usize, f32)) -> f64 {
    direction[axis] * f64::from(sign)
}

/// The face that a direction points to, and the place there.
pub(super) fn project(direction: [f32; 3]) -> (u32, f32, f32) {
    let direction = direction.map(f64::from);
    let face = face_of(direction);
    let [major, column, row] = AXES[face as usize];
    let length = along(direction, major);
    let place = |axis| (0.5 * along(direction, axis) / length + 0.5) as f32;
    (face, place(column), place(row))
}

/// How the place on the face that a direction points to changes with the direction.
pub(super) fn project_change(direction: [f32; 3], change: [f32; 3]) -> [f32; 3] {
    let (direction, change) = (direction.map(f64::from), change.map(f64::from));
    let [major, column, row] = AXES[face_of(direction) as usize];
    let length = along(direction, major);
    let place = |axis| {
        let step = along(change, axis) * length - along(direction, axis) * along(change, major);
        (0.5 * step / (length * length)) as f32
    };
    [place(column), place(row), 0.0]
}

/// The texel in a column and row of a face with edges of `size`, which may be just outside of it.
pub(super) fn texel(face: u32, [x, y]: [i32; 2], size: u32) -> Corner {
    let edge = size as i32;
    let (inside_x, inside_y) = ((0..edge).contains(&x), (0..edge).contains(&y));
    match (inside_x, inside_y) {
        (true, true) => Corner::None(FaceTexel { face, x: x as u32, y: y as u32 }),
        (false, false) => {
            let (column, row) = (x.clamp(0, edge - 1), y.clamp(0, edge - 1));
            Corner::Of([
                FaceTexel { face, x: column as u32, y: row as u32 },
                behind(face, [x, row], size),
                behind(face, [column, y], size),
            ])
        }
        _ => Corner::None(behind(face, [x, y], size)),
    }
}

/// The texel of a neighbour that the centre of one behind an edge points to.
fn behind(face: u32, [x, y]: [i32; 2], size: u32) -> FaceTexel {
    let center = |n: i32| (2.0 * f64::from(n) + 1.0) / f64::from(size) - 1.0;
    let reach = 1.0 + 1.0 / f64::from(size);
    let [major, column, row] = AXES[face as usize];
    let mut direction = [0.0; 3];
    direction[major.0] = f64::from(major.1);
    // Just behind the edge, however far away the texel was asked for.
    direction[column.0] = center(x).clamp(-reach, reach) * f64::from(column.1);
    direction[row.0] = center(y).clamp(-reach, reach) * f64::from(row.1);
    let face = face_of(direction);
    let [major, column, row] = AXES[face as usize];
    let length = along(direction, major);
    let place = |axis| {
        let place = (0.5 * along(direction, axis) / length + 0.5) * f64::from(size);
        (place as u32).min(size.saturating_sub(1))
    };
    FaceTexel { face, x: place(column), y: place(row) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_point_to_faces() {
        let at = |direction| project(direction);
        assert_eq!(at([1.0, 0.0, 0.0]), (0, 0.5, 0.5));
        assert_eq!(at([-2.0, 0.0, 1.0]), (1, 0.75, 0.5));
        assert_eq!(at([0.0, 1.0, 0.5]), (2, 0.5, 0.75));
        assert_eq!(at([0.0, -1.0, 0.5]), (3, 0.5, 0.25));
        assert_eq!(at([0.5, 0.0, 1.0]), (4, 0.75, 0.5));
        assert_eq!(at([0.5, 0.0, -1.0]), (5, 0.25, 0.5));
        assert_eq!(at([1.0, 1.0, 1.0]).0, 4);
        assert_eq!(at([1.0, -1.0, 0.5]).0, 3);
    }

    /// Whoever crosses an edge and turns round comes back to where they were.
    #[test]
    fn neighbours_are_neighbours_of_each_other() {
        for size in [1, 2, 5, 64, 2048] {
            for face in 0..FACES {
                for n in [0, size as i32 / 2, size as i32 - 1] {
                    for out in [[-1, n], [size as i32, n], [n, -1], [n, size as i32]] {
                        let inside = out.map(|n| n.clamp(0, size as i32 - 1) as u32);
                        let own = FaceTexel { face, x: inside[0], y: inside[1] };
                        let Corner::None(there) = texel(face, out, size) else { panic!("one texel") };
                        assert!(there.face / 2 != face / 2, "{face} {out:?}");
                        let (x, y, edge) = (there.x as i32, there.y as i32, size as i32 - 1);
                        let outs = [
                            (x == 0, [-1, y]),
                            (x == edge, [x + 1, y]),
                            (y == 0, [x, -1]),
                            (y == edge, [x, y + 1]),
                        ];
                        let back = outs.iter().filter(|(at, _)| *at);
                        let back = back.filter(|(_, out)| texel(there.face, *out, size) == Corner::None(own));
                        assert_eq!(back.count(), 1, "{size}: {face} {out:?} {there:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn changes_are_those_of_places() {
        let direction = [0.3f32, -0.4, 0.9];
        let step = [1e-3f32, 2e-3, -1e-3];
        let moved = [0, 1, 2].map(|n: usize| direction[n] + step[n]);
        let ((_, s, t), (_, s2, t2)) = (project(direction), project(moved));
        let [ds, dt, _] = project_change(direction, step);
        assert!((s2 - s - ds).abs() < 1e-5 && (t2 - t - dt).abs() < 1e-5);
    }
}

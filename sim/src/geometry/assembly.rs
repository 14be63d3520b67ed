//! From the vertices of a draw to its primitives (v3d.md §5.5).

use vc4::cl::packets::PrimitiveMode;

/// What a primitive is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One vertex, a square.
    Point,
    /// Two vertices.
    Line,
    /// Three vertices.
    Triangle,
}

impl Kind {
    /// The kind that a mode draws.
    pub fn of(mode: PrimitiveMode) -> Kind {
        match mode {
            PrimitiveMode::Points => Kind::Point,
            PrimitiveMode::Lines | PrimitiveMode::LineLoop | PrimitiveMode::LineStrip => Kind::Line,
            PrimitiveMode::Triangles | PrimitiveMode::TriangleStrip | PrimitiveMode::TriangleFan => {
                Kind::Triangle
            }
        }
    }

    /// Vertices of one primitive.
    pub fn vertices(self) -> usize {
        match self {
            Kind::Point => 1,
            Kind::Line => 2,
            Kind::Triangle => 3,
        }
    }

    /// Varyings that come before those of the program (v3d.md §9.6).
    pub fn implicit_varyings(self) -> usize {
        match self {
            Kind::Point => 2,
            Kind::Line => 1,
            Kind::Triangle => 0,
        }
    }
}

/// Number of primitives that `count` vertices form.
pub fn primitive_count(mode: PrimitiveMode, count: u32) -> u32 {
    match mode {
        PrimitiveMode::Points => count,
        PrimitiveMode::Lines => count / 2,
        // Erratum: a loop of exactly two vertices draws nothing (v3d.md §12).
        PrimitiveMode::LineLoop => {
            if count > 2 {
                count
            } else {
                0
            }
        }
        PrimitiveMode::LineStrip => count.saturating_sub(1),
        PrimitiveMode::Triangles => count / 3,
        PrimitiveMode::TriangleStrip | PrimitiveMode::TriangleFan => count.saturating_sub(2),
    }
}

/// Positions in the draw's vertex sequence of primitive `i`; unused places repeat the last one.
///
/// Strips exchange two vertices of every other triangle to keep its orientation; its last vertex
/// stays the last.
pub fn primitive_vertices(mode: PrimitiveMode, count: u32, i: u32) -> [u32; 3] {
    match mode {
        PrimitiveMode::Points => [i; 3],
        PrimitiveMode::Lines => [2 * i, 2 * i + 1, 2 * i + 1],
        PrimitiveMode::LineStrip => [i, i + 1, i + 1],
        PrimitiveMode::LineLoop => {
            let next = (i + 1) % count;
            [i, next, next]
        }
        PrimitiveMode::Triangles => [3 * i, 3 * i + 1, 3 * i + 2],
        PrimitiveMode::TriangleStrip if i % 2 == 1 => [i + 1, i, i + 2],
        PrimitiveMode::TriangleStrip => [i, i + 1, i + 2],
        PrimitiveMode::TriangleFan => [0, i + 1, i + 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mode: PrimitiveMode, count: u32) -> Vec<[u32; 3]> {
        (0..primitive_count(mode, count)).map(|i| primitive_vertices(mode, count, i)).collect()
    }

    #[test]
    fn every_mode() {
        assert_eq!(all(PrimitiveMode::Points, 2), [[0; 3], [1; 3]]);
        assert_eq!(all(PrimitiveMode::Lines, 5), [[0, 1, 1], [2, 3, 3]]);
        assert_eq!(all(PrimitiveMode::LineStrip, 3), [[0, 1, 1], [1, 2, 2]]);
        assert_eq!(all(PrimitiveMode::LineLoop, 3), [[0, 1, 1], [1, 2, 2], [2, 0, 0]]);
        assert_eq!(all(PrimitiveMode::LineLoop, 2), [[0; 3]; 0]);
        assert_eq!(all(PrimitiveMode::Triangles, 7), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(all(PrimitiveMode::TriangleStrip, 5), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
        assert_eq!(all(PrimitiveMode::TriangleFan, 4), [[0, 1, 2], [0, 2, 3]]);
        for mode in PrimitiveMode::ALL {
            assert!(all(*mode, 0).is_empty());
        }
    }
}

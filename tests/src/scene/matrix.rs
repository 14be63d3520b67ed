//! Matrices for the vertices of scenes.

/// A column-major 4x4 matrix.
pub type Matrix = [[f32; 4]; 4];

/// The identity.
pub const IDENTITY: Matrix = [[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.], [0., 0., 0., 1.]];

/// a · b.
pub fn mul(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|c| std::array::from_fn(|r| (0..4).map(|k| a[k][r] * b[c][k]).sum()))
}

/// Moves by x, y, z.
pub fn translation(x: f32, y: f32, z: f32) -> Matrix {
    let mut m = IDENTITY;
    m[3] = [x, y, z, 1.0];
    m
}

/// Turns about x, then about y (radians).
pub fn rotation(about_x: f32, about_y: f32) -> Matrix {
    let ((sx, cx), (sy, cy)) = (about_x.sin_cos(), about_y.sin_cos());
    let x = [[1., 0., 0., 0.], [0., cx, sx, 0.], [0., -sx, cx, 0.], [0., 0., 0., 1.]];
    let y = [[cy, 0., -sy, 0.], [0., 1., 0., 0.], [sy, 0., cy, 0.], [0., 0., 0., 1.]];
    mul(&y, &x)
}

/// Perspective for Vulkan's clip space: y down, depth 0 to 1.
pub fn perspective(tan_half: f32, near: f32, far: f32) -> Matrix {
    let depth = far / (near - far);
    [
        [1. / tan_half, 0., 0., 0.],
        [0., -1. / tan_half, 0., 0.],
        [0., 0., depth, -1.],
        [0., 0., depth * near, 0.],
    ]
}

//! Vertices of the shader pair `pos_color`.

/// A vertex with a colour.
pub type Vertex = [f32; 7];

/// Two triangles that fill a rectangle, given by its corners in clip space.
pub fn rectangle([left, top, right, bottom]: [f32; 4], z: f32, rgba: [f32; 4]) -> Vec<Vertex> {
    let [r, g, b, a] = rgba;
    [(left, top), (left, bottom), (right, top), (right, top), (left, bottom), (right, bottom)]
        .map(|(x, y)| [x, y, z, r, g, b, a])
        .to_vec()
}

//! Vertices: attributes come into the VPM, sixteen at a time go through a coordinate or vertex program, and its output
//! words go to the binner or to the primitive setup.

mod shade;
mod shader;
mod vpm;

pub use shade::shade;
pub use shader::Shader;
pub use vpm::{ROWS, VertexPorts};

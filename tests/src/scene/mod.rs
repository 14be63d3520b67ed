//! What a picture is made of, as data: draws with their shaders, vertices and resources. A scene knows no device;
//! [`crate::player`] draws it. Imports nothing but [`crate::format`].

mod draw;
pub mod matrix;
mod resource;
mod texture;

pub use draw::{Draw, Scene, bytes};
pub use matrix::Matrix;
pub use resource::{ImageSource, Resource, sampler};
pub use texture::Texture;

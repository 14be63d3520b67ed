//! The scenes, as data: what is drawn, with which shaders, buffers and textures.

mod basic;
mod corpus;
mod formats;
mod textures;

use crate::scene::Scene;

/// All scenes.
pub fn all() -> Vec<Scene> {
    let mut scenes = basic::scenes();
    scenes.extend(corpus::scenes());
    scenes.extend(formats::scenes());
    scenes.extend(textures::scenes());
    scenes
}

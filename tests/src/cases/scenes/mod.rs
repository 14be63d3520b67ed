//! The scenes, as data: what is drawn, with which shaders, buffers and textures.

mod basic;
mod corpus;
mod formats;
mod textures;

use std::path::Path;

use crate::picture::Difference;
use crate::scene::Scene;

/// Scenes that lavapipe does not draw as Vulkan says, and scenes that look like them: it clamps on faces of cubes with seams,
/// whatever the sampler says.
const DRAWN_OTHERWISE: [(&str, &str); 4] = [
    ("texture_cube_seams_repeat", "texture_around_repeat"),
    ("texture_cube_seams_border", "texture_around_border"),
    ("texture_cube_seams_float", "texture_around_float"),
    ("texture_cube_seams_wide", "texture_around_wide"),
];

/// Compares a scene in `directory` with lavapipe's picture of all scenes in `reference`.
///
/// # Errors
/// The file that is missing.
pub fn compare(name: &str, directory: &Path, reference: &Path) -> Result<Difference, String> {
    let twin = DRAWN_OTHERWISE.iter().find(|(other, _)| *other == name).map_or(name, |(_, twin)| twin);
    Difference::of_named(name, directory, (twin, reference))
}

/// All scenes.
pub fn all() -> Vec<Scene> {
    let mut scenes = basic::scenes();
    scenes.extend(corpus::scenes());
    scenes.extend(formats::scenes());
    scenes.extend(textures::scenes());
    scenes
}

//! A little of everything that needs the kernel: textures, depth, dynamic indices, queries, copies.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::vulkan::{Error, Harness, Lab};
use crate::{drawing, player, scenes, transfers};

const SCENES: [&str; 2] = ["depth", "texture_fetch"];
const DRAWINGS: [&str; 2] = ["query-occlusion", "query-timestamps"];
const TRANSFERS: [&str; 2] = ["copy R8G8B8A8_UNORM", "clear R8G8B8A8_UNORM"];

/// A digest of all results on a device, which is the same each time.
///
/// # Errors
/// Those of Vulkan calls.
///
/// # Panics
/// When the lists of cases lack one of those that are done.
pub fn digest(harness: &Harness) -> Result<u64, Error> {
    let mut digest = DefaultHasher::new();
    let mut count = 0;
    for scene in scenes::all().iter().filter(|scene| SCENES.contains(&scene.name.as_str())) {
        player::draw(harness, scene)?.rgba.hash(&mut digest);
        count += 1;
    }
    for case in drawing::all().iter().filter(|case| DRAWINGS.contains(&case.name)) {
        (case.run)(&Lab::new(harness))?.rgba.hash(&mut digest);
        count += 1;
    }
    for case in transfers::all().iter().filter(|case| TRANSFERS.contains(&case.name.as_str())) {
        case.run(harness)?.hash(&mut digest);
        count += 1;
    }
    assert_eq!(count, SCENES.len() + DRAWINGS.len() + TRANSFERS.len(), "all cases are there");
    Ok(digest.finish())
}

//! Every shader of `shaders/features` through the Vulkan loader on our driver (simulated VC4), held against Mesa's
//! lavapipe; its programs pass the kernel's validator and the machine's rules (strict mode ends those that do not).
//!
//! Integer results and floats that arithmetic represents exactly must be the same bytes. Other floats may be off by
//! [`ROUNDING`]: they end in eight bits, their functions have slopes of a few units at most, and both sides are within
//! 2^-10 of the true value (`docs/precision.md`), so only the rounding to a byte can turn over.

use std::path::{Path, PathBuf};

use vc4_tests::compare::Picture;
use vc4_tests::features::{self, Distance, Feature};
use vc4_tests::icd;

/// Largest difference of a channel where floats are not exact.
const ROUNDING: u8 = 1;

fn directory(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Pictures of an earlier run must not stand in for those that a driver refuses now.
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    directory
}

/// Draws all features and returns where the pictures are, and what was said.
fn draw(modules: &Path, manifest: &Path, name: &str) -> (PathBuf, String) {
    let pictures = directory(name);
    let output = icd::command(env!("CARGO_BIN_EXE_features"), manifest)
        .env("VC4VK_DEBUG", "strict")
        .args([modules, &pictures])
        .output()
        .expect("features starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "features on {name} failed:\n{said}");
    (pictures, said)
}

#[test]
fn features_match_lavapipe() {
    let modules = directory("features-spirv");
    let features = features::all();
    let compile = |part: &[Feature]| -> Vec<String> {
        part.iter().filter_map(|feature| feature.compile(&modules).err()).collect()
    };
    let (first, second) = features.split_at(features.len() / 2);
    let mut failures = std::thread::scope(|scope| {
        let other = scope.spawn(|| compile(second));
        let mut failures = compile(first);
        failures.extend(other.join().expect("compiling does not panic"));
        failures
    });
    let (ours, said) = draw(&modules, &icd::ours(), "features-vc4");
    let (reference, _) = draw(&modules, &icd::lavapipe(), "features-lavapipe");
    let mut table = String::new();
    for feature in &features {
        let load = |directory: &Path| Picture::load_png(&directory.join(format!("{}.png", feature.name)));
        let (picture, expected) = match (load(&ours), load(&reference)) {
            (Ok(picture), Ok(expected)) => (picture, expected),
            (Err(_), _) => {
                failures.push(format!("{}: not drawn by our driver", feature.name));
                continue;
            }
            (_, Err(error)) => {
                failures.push(format!("{}: not drawn by lavapipe: {error}", feature.name));
                continue;
            }
        };
        let distance = Distance::between(&picture, &expected);
        let bound = if feature.exact() { 0 } else { ROUNDING };
        let share = 100.0 * distance.pixels as f64 / (expected.width * expected.height) as f64;
        table += &format!(
            "{:48} {share:7.3} % of pixels differ, worst {:3} (bound {bound}) at {:?}\n",
            feature.name, distance.worst, distance.at
        );
        if distance.worst > bound {
            failures.push(format!("{}: {distance:?}, bound {bound}", feature.name));
        }
        let colors: std::collections::BTreeSet<&[u8]> = expected.rgba.chunks_exact(4).collect();
        if (colors.len() < 2) != feature.plain() {
            failures.push(format!("{}: {} colours", feature.name, colors.len()));
        }
    }
    println!("{table}{} features", features.len());
    assert!(
        failures.is_empty(),
        "pictures in {} and {}; our driver said:\n{said}\n{}",
        ours.display(),
        reference.display(),
        failures.join("\n")
    );
}

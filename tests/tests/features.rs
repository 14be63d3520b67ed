//! Every shader of `shaders/features` through the Vulkan loader on our driver (simulated VC4), held against Mesa's
//! lavapipe; its programs pass the kernel's validator and the machine's rules (strict mode ends those that do not).
//!
//! Integer results and floats that arithmetic represents exactly must be the same bytes. Other floats may be off by
//! [`ROUNDING`]: they end in eight bits, their functions have slopes of a few units at most, and both sides are within
//! 2^-10 of the true value (`docs/precision.md`), so only the rounding to a byte can turn over.

use std::path::{Path, PathBuf};

use vc4_tests::features;
use vc4_tests::picture::{Difference, Distance, Picture};
use vc4_tests::{corpus, driver, scratch, shared};

/// Largest difference of a channel where floats are not exact.
const ROUNDING: u8 = 1;

/// A directory where nothing of an earlier run stands in for what a driver refuses now.
fn directory(name: &str) -> PathBuf {
    scratch::empty(env!("CARGO_TARGET_TMPDIR"), name)
}

/// Draws all features, or those of some names, and returns where the pictures are, and what was said.
fn draw(modules: &Path, manifest: &Path, name: &str, options: &[&str], names: &[&str]) -> (PathBuf, String) {
    let pictures = directory(name);
    let mut command = driver::command(env!("CARGO_BIN_EXE_features"), manifest);
    command.env("VC4VK_DEBUG", "strict").args(options).args([modules, &pictures]).args(names);
    let said = String::from_utf8_lossy(&driver::run(&mut command, name).stderr).into_owned();
    (pictures, said)
}

#[test]
fn features_match_lavapipe() {
    let modules = directory("features-spirv");
    let features = features::all();
    let mut failures = features::compile_all(&features, &modules);
    let (ours, said) = draw(&modules, &driver::ours(), "features-vc4", &[], &[]);
    let (reference, _) = draw(&modules, &driver::lavapipe(), "features-lavapipe", &[], &[]);
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

/// A program that makes a large difference of one that both drivers are allowed: it must be drawn, how far the pictures are
/// from each other is printed, and with less of what amplifies it must match like all others.
struct Amplifier {
    name: &'static str,
    why: &'static str,
    /// Text of its fragment shader, and what stands for it in the calmer variant.
    amplifies: &'static str,
    calmer: &'static str,
}

const AMPLIFIERS: [Amplifier; 8] = [
    Amplifier {
        name: "value_noise",
        why: "fract(sin(x) * 43758): the allowed error of sin decides",
        amplifies: "* 43758.5453",
        calmer: "* 4.37585453",
    },
    Amplifier {
        name: "voronoi",
        why: "fract(sin(x) * 8461): the allowed error of sin decides",
        amplifies: "fract(sin(q) * 8461.37)",
        calmer: "fract(q * 0.173)",
    },
    Amplifier {
        name: "vignette",
        why: "fract(sin(x) * 43758): the allowed error of sin decides",
        amplifies: "* 43758.5453",
        calmer: "* 4.37585453",
    },
    Amplifier {
        name: "tonemap",
        why: "filtered texels, divided by the square of a small number",
        amplifies: "(u_white * u_white)",
        calmer: "(4.0)",
    },
    Amplifier {
        name: "multitexture",
        why: "twice the product of two filtered texels",
        amplifies: ".rgb * 2.0",
        calmer: ".rgb * 1.0",
    },
    Amplifier {
        name: "text_sdf",
        why: "an edge as wide as the derivative of a filtered texel",
        amplifies: "fwidth(d) * 0.7",
        calmer: "fwidth(d) * 0.7 + 0.3",
    },
    Amplifier {
        name: "parallax",
        why: "texture coordinates moved by a filtered texel",
        amplifies: "* u_scale + u_bias",
        calmer: "* u_scale * 0.125 + u_bias",
    },
    Amplifier {
        name: "raymarch_sdf",
        why: "a march that ends at a distance",
        amplifies: "d < 0.002 || t > 8.0",
        calmer: "t > 8.0",
    },
];

/// The whole shared corpus: its committed part has scenes, this draws every program with inputs that it makes up.
#[test]
fn shared_corpus_matches_lavapipe() {
    if !shared::available() {
        println!("the shared inputs are not here; the committed part of the corpus is drawn by the scenes");
        return;
    }
    let modules = directory("corpus-spirv");
    let sources = shared::path("shader-corpus");
    let names = corpus::scenes::names(&sources);
    let mut failures: Vec<String> =
        names.iter().filter_map(|name| corpus::Module::from_corpus(&modules, name).err()).collect();
    let (ours, said) = draw(&modules, &driver::ours(), "corpus-vc4", &["--corpus"], &[]);
    let (reference, _) = draw(&modules, &driver::lavapipe(), "corpus-lavapipe", &["--corpus"], &[]);
    for name in &names {
        let Ok(difference) = Difference::of_files(name, &ours, &reference) else {
            failures.push(format!("{name}: not drawn"));
            continue;
        };
        match AMPLIFIERS.iter().find(|amplifier| amplifier.name == name) {
            Some(amplifier) => println!("{:26} not held against it: {}", "", amplifier.why),
            None if difference.acceptable() => {}
            None => failures.push(format!("{name}: {difference:?}")),
        }
    }
    assert!(failures.is_empty(), "our driver said:\n{said}\n{}", failures.join("\n"));
}

#[test]
fn amplifiers_match_where_they_amplify_less() {
    if !shared::available() {
        println!("the shared inputs are not here");
        return;
    }
    let modules = directory("calmer-spirv");
    let sources = shared::path("shader-corpus");
    for Amplifier { name, amplifies, calmer, .. } in AMPLIFIERS {
        let source = |stage: &str| {
            let file = sources.join(name).join(format!("vk.{stage}"));
            std::fs::read_to_string(file).expect("the corpus is readable")
        };
        let fragment = source("frag");
        assert!(fragment.contains(amplifies), "{name} has no {amplifies}");
        let fragment = fragment.replace(amplifies, calmer);
        corpus::Module::from_source(&modules, name, [&source("vert"), &fragment]).expect("it compiles");
    }
    let names = AMPLIFIERS.map(|amplifier| amplifier.name);
    let (ours, said) = draw(&modules, &driver::ours(), "calmer-vc4", &["--corpus"], &names);
    let (reference, _) = draw(&modules, &driver::lavapipe(), "calmer-lavapipe", &["--corpus"], &names);
    let matches = |name: &&str| {
        Difference::of_files(name, &ours, &reference).is_ok_and(|difference| difference.acceptable())
    };
    let failures: Vec<&str> = names.into_iter().filter(|name| !matches(name)).collect();
    assert!(failures.is_empty(), "{failures:?} differ or are not drawn; our driver said:\n{said}");
}

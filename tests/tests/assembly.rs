//! The example of assembly shader modules, a C program that comes through the loader, against its picture computed here.

use std::path::{Path, PathBuf};
use std::process::Command;

use vc4_tests::{driver, scratch};

const SIZE: usize = 256;
const CLEAR: [f64; 3] = [0.12, 0.13, 0.16];
const OPACITY: f64 = 0.6;

type Vertex = ([f64; 2], [f64; 4]);

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The vertices as the example's source lists them: `{ x, y, { r, g, b, a } }`.
fn vertices(source: &str) -> Vec<Vertex> {
    let (_, list) = source.split_once("VERTICES[] = {").expect("a list of vertices");
    let (list, _) = list.split_once("};").expect("its end");
    let number = |text: &str| text.trim().trim_end_matches('f').parse::<f64>().ok();
    let numbers: Vec<f64> = list.split([',', '{', '}']).filter_map(number).collect();
    let vertex = |v: &[f64]| ([v[0], v[1]], [v[2], v[3], v[4], v[5]].map(|byte| byte / 255.0));
    numbers.chunks_exact(6).map(vertex).collect()
}

/// Colour of a pixel, and whether it lies on no edge.
fn expected(vertices: &[Vertex], x: usize, y: usize) -> ([f64; 3], bool) {
    let clip = |at: usize| (at as f64 + 0.5) / SIZE as f64 * 2.0 - 1.0;
    let p = [clip(x), clip(y)];
    let (mut color, mut clear_of_edges) = (CLEAR, true);
    for triangle in vertices.chunks_exact(3) {
        let cross = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
            (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        };
        let [a, b, c] = [triangle[0].0, triangle[1].0, triangle[2].0];
        let area = cross(a, b, c);
        let weights = [cross(b, c, p), cross(c, a, p), cross(a, b, p)].map(|part| part / area);
        clear_of_edges &= weights.iter().all(|weight| weight.abs() > 0.02);
        if weights.iter().any(|weight| *weight < 0.0) {
            continue;
        }
        let channel = |n: usize| (0..3).map(|v| weights[v] * triangle[v].1[n]).sum::<f64>();
        let alpha = channel(3) * OPACITY;
        for (n, color) in color.iter_mut().enumerate() {
            *color = channel(n) * alpha + *color * (1.0 - alpha);
        }
    }
    (color, clear_of_edges)
}

#[test]
fn the_example_draws_blended_triangles() {
    let repository = repository();
    let scratch = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "assembly-example");
    let directory = repository.join("icd/examples/triangle");
    let (source, program, picture) =
        (directory.join("triangle.c"), scratch.join("triangle"), scratch.join("triangle.ppm"));
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"]);
    compiler.arg(repository.join("icd/include")).arg(&source).arg("-lvulkan").arg("-o").arg(&program);
    let compiled = compiler.output().expect("cc runs: install Debian's gcc and libvulkan-dev");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let mut command = driver::command(&program, &driver::ours());
    let output = driver::run(command.arg(&directory).arg(&picture), "the example");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing to complain about");
    let ppm = std::fs::read(&picture).expect("a picture");
    let header = b"P6\n256 256\n255\n";
    let pixels = ppm.strip_prefix(header.as_slice()).expect("a PPM of 256 x 256");
    let vertices = vertices(&std::fs::read_to_string(source).expect("the source"));
    assert_eq!(vertices.len(), 9);
    let mut compared = 0;
    for (index, got) in pixels.chunks_exact(3).enumerate() {
        let (x, y) = (index % SIZE, index / SIZE);
        let (want, clear_of_edges) = expected(&vertices, x, y);
        if !clear_of_edges {
            continue;
        }
        compared += 1;
        for (got, want) in got.iter().zip(want) {
            let apart = (f64::from(*got) - 255.0 * want).abs();
            assert!(apart <= 2.5, "{got} instead of {:.1} at {x}, {y}", 255.0 * want);
        }
    }
    assert!(compared > SIZE * SIZE / 2);
}

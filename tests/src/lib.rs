//! The laboratory of the suites across crates.
//!
//! What `tests/` holds is named by one rule: **a room by what lies in it, a suite by what it judges, never by how**.
//!
//! - `src/`: the laboratory, a room per instrument. [`cases`] holds what is drawn; each list there has the name of the
//!   program in `src/bin/` that runs it in a process of its own, where the environment chooses the driver, and of the
//!   suite that judges the outcome (`scenes`, `features`, `drawing`, `transfers`, `compute`).
//! - `tests/`: one suite per subject, `SUBJECT.rs`, or `SUBJECT/main.rs` with its parts beside it. Three names are those
//!   of switches: `metamorphic` is the compiler's second suite (`cargo xtask test --metamorphic N`), and the programs
//!   `bench_compiler` and `bench_compute` are `cargo xtask bench compiler` and `compute`.
//! - `oracle/`: what must hold for anything that strangers hand in, a file per kind of input. Fuzz targets call these,
//!   and so do suites; `oracles.rs` is the core crate's.
//! - Folders of data by what they hold: `shaders/` (GLSL with its SPIR-V), `golden/` (expected output), `vectors/`
//!   (tables of independent tools), `cts/`, `gles2/` and `mesa/` (expectations and
//!   scenes of foreign suites), `frames/` (the player of frames for OpenGL ES).
//!
//! The rooms of the laboratory, each importing only from those above it:
//!
//! | room | what it is |
//! | --- | --- |
//! | [`outside`] | what a suite finds on the machine: drivers, the validation layer, glslang, directories, shared inputs |
//! | [`picture`] | pictures, and how far one is from another |
//! | [`mod@format`] | what Vulkan's formats are made of |
//! | [`scene`] | what a picture is made of, as data |
//! | [`vulkan`] | a device through the loader and a workbench on it |
//! | [`player`] | draws a scene there |
//! | [`corpus`] | the shared shader corpus: compiled, beside Mesa's figures, as pictures |
//! | [`frames`] | whole frames for two APIs, and a player for one |
//! | [`cases`] | the lists: scenes, features, programs of drawing, transfers, compute kernels, kernels that are timed |
//! | [`tour`] | a little of everything that needs the kernel |
//! | [`album`] | the command line of the programs that run them |
//! | [`runner`], [`blend`], [`mod@hash`], [`heap`] | alone: programs on the simulated QPU; blend factors by the specification; numbers from names; the host memory of API objects |

pub mod album;
pub mod api;
pub mod blend;
pub mod cases;
pub mod corpus;
pub mod format;
pub mod frames;
pub mod hash;
pub mod heap;
pub mod outside;
pub mod picture;
pub mod player;
pub mod random;
pub mod rows;
pub mod runner;
pub mod scene;
pub mod tour;
pub mod vulkan;

pub use cases::{compute, drawing, features, kernels, scenes, transfers};
pub use outside::{driver, glsl, scratch, shared, validation};

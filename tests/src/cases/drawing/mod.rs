//! One small program per feature of drawing, each with a picture as its result. The pictures of two drivers must
//! agree within the case's bound (`tests/drawing.rs`).

mod again;
mod anisotropy;
mod arrays;
mod case;
mod clears;
mod depths;
mod distances;
mod draws;
mod inputs;
mod lines;
mod multisample;
mod parts;
mod polygons;
mod queries;
mod rendering;
mod samples;
mod switches;
mod targets;
mod varyings;
mod views;

pub use case::Case;

/// All programs.
pub fn all() -> Vec<Case> {
    let all = [
        &inputs::CASES[..],
        &multisample::CASES,
        &queries::CASES,
        &draws::CASES,
        &targets::CASES,
        &parts::CASES,
        &polygons::CASES,
        &lines::CASES,
        &distances::CASES,
        &depths::CASES,
        &samples::CASES,
        &varyings::CASES,
        &views::CASES,
        &anisotropy::CASES,
        &arrays::CASES,
        &rendering::CASES,
        &switches::CASES,
        &clears::CASES,
        &again::CASES,
    ];
    all.into_iter().flatten().copied().collect()
}

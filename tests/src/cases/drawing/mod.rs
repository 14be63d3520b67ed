//! One small program per feature of drawing, each with a picture as its result. The pictures of two drivers must
//! agree within the case's bound (`tests/drawing.rs`).

mod again;
mod anisotropy;
mod arrays;
mod case;
mod chains;
mod clears;
mod costs;
mod counts;
mod depths;
mod distances;
mod draws;
mod inputs;
mod lines;
mod long;
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

/// Programs that are drawn to be priced; their pictures are nothing.
pub fn priced() -> &'static [Case] {
    &costs::CASES
}

/// All programs with pictures.
pub fn all() -> Vec<Case> {
    let all = [
        &inputs::CASES[..],
        &multisample::CASES,
        &queries::CASES,
        &counts::CASES,
        &draws::CASES,
        &targets::CASES,
        &parts::CASES,
        &polygons::CASES,
        &lines::CASES,
        &long::CASES,
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
        &chains::CASES,
        &again::CASES,
    ];
    all.into_iter().flatten().copied().collect()
}

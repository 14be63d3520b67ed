//! Cross-crate suites. [`harness`] draws a [`scenes::Scene`] offscreen through the Vulkan loader, on
//! whatever driver the loader finds; [`transfers`] copies, blits and clears there; [`compare`] holds two
//! pictures against each other.

pub mod blend;
pub mod compare;
pub mod corpus;
pub mod corpus_scenes;
pub mod drawing;
pub mod features;
pub mod harness;
pub mod icd;
pub mod lab;
pub mod runner;
pub mod scenes;
pub mod shared;
pub mod transfers;
pub mod validation;

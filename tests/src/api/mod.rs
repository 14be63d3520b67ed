//! Random programs of the API, and what must hold for them.
//!
//! | room | what it is |
//! | --- | --- |
//! | `slot` | places in steps, so that any step can be looked at and spoiled |
//! | `step` | what programs are made of, as data |
//! | `formats`, `shaders` | what they use |
//! | `model` | which steps the specification allows, and which results it defines to the bit |
//! | `generate` | makes programs up |
//! | `spoil` | makes them invalid |
//! | `run` | runs them through the loader |
//! | `work` | many programs in one process, and what must be as before at its end |
//! | `hunt` | such processes, watched; what fails is made small |

mod formats;
mod generate;
pub mod hunt;
mod model;
mod run;
mod shaders;
mod slot;
mod spoil;
mod step;
pub mod work;

//! What comes of running a program, and what should.

use crate::ast::Program;
use crate::eval;
use crate::value::LANES;
use crate::world::{World, world};

/// Batches of sixteen elements that each program runs.
pub const BATCHES: u64 = 2;

/// What elements show; `None` for a discarded one.
pub type Shown = [Option<u32>; LANES];

pub enum Outcome {
    Agrees,
    /// The back end found no registers; the driver says so, too.
    Refused,
    Wrong(String),
}

/// Sixteen elements: what they read, and what they have to show.
pub struct Batch {
    number: u64,
    pub world: World,
    meant: Shown,
}

impl Batch {
    /// The batch of this number for `program`, which shall show what `meaning` says.
    pub fn new(number: u64, seed: u64, program: &Program, meaning: &Program) -> Batch {
        let world = world(seed ^ number << 40, &program.stored);
        let meant = std::array::from_fn(|lane| {
            eval::run(meaning, &eval::Inputs { sources: world.inputs[lane], table: &world.table })
        });
        Batch { number, world, meant }
    }

    /// The first element for which `what` shows something else.
    pub fn difference(&self, what: &str, shown: &Shown) -> Option<Outcome> {
        let lane = (0..LANES).find(|&lane| shown[lane] != self.meant[lane])?;
        let (batch, shown, meant) = (self.number, shown[lane], self.meant[lane]);
        Some(Outcome::Wrong(format!(
            "{what}, batch {batch}, element {lane}: {shown:x?} instead of {meant:x?}"
        )))
    }
}

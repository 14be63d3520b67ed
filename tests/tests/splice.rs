//! Hand-written programs with pipeline state spliced in, run on the simulated QPU. What a program means without state
//! is found by running it as it was written; what state makes of that, by references in double precision.

#[path = "splice/errors.rs"]
mod errors;
#[path = "splice/fragments.rs"]
mod fragments;
#[path = "splice/machine.rs"]
mod machine;
#[path = "splice/random.rs"]
mod random;
#[path = "splice/reference.rs"]
mod reference;
#[path = "splice/vertices.rs"]
mod vertices;

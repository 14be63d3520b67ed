//! Hand-written programs with pipeline state spliced in, run on the simulated QPU. What a program means without state
//! is found by running it as it was written; what state makes of that, by references in double precision.

mod errors;
mod fragments;
mod machine;
mod random;
mod reference;
mod vertices;

//! Generated code against the IR interpreter: every shader is interpreted as it came from the front end, and its
//! programs run on the simulated QPU. The kernel's validator and the machine's rules look at every program, too.

mod arithmetic;
mod branches;
mod case;
mod committed;
mod golden;
mod large;
mod measure;
mod places;
mod pressure;
mod state;
mod world;

//! Generated code against the IR interpreter: every shader is interpreted as it came from the front end, and its
//! programs run on the simulated QPU. The kernel's validator and the machine's rules look at every program, too.

#[path = "compiler/arithmetic.rs"]
mod arithmetic;
#[path = "compiler/branches.rs"]
mod branches;
#[path = "compiler/case.rs"]
mod case;
#[path = "compiler/committed.rs"]
mod committed;
#[path = "compiler/golden.rs"]
mod golden;
#[path = "compiler/measure.rs"]
mod measure;
#[path = "compiler/pressure.rs"]
mod pressure;
#[path = "compiler/state.rs"]
mod state;
#[path = "compiler/world.rs"]
mod world;

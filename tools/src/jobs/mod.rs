//! Jobs made by hand, for checks and experiments: a [`bench`] is the device while it is used, a [`job`] a target with what is
//! drawn there, [`programs`] are the programs that are taken for it and [`picture`]s what is left; [`timing`] is the clock around it.

pub mod bench;
#[cfg(test)]
pub mod faulty;
pub mod job;
pub mod picture;
pub mod programs;
pub mod timing;

//! What code and its host say to each other.

use super::part::Part;
use crate::qpu::op::Op;

/// What code leaves to its host; the number is the instruction's.
#[derive(Debug)]
pub enum Work {
    Part(usize, Part),
    /// A unit sends the request that was assembled.
    Request(usize, u8),
    /// A run of arithmetic, and the slots that it writes.
    Run {
        ops: Vec<(usize, Op)>,
        written: Vec<u8>,
    },
}

/// Where a trace is entered that other functions lead to.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The function, by number.
    pub function: usize,
    /// Which of its entries.
    pub number: u32,
}

/// Why code returned; the number is an instruction's.
#[derive(Clone, Copy, Debug)]
pub enum Exit {
    /// The program ended in front of this one.
    End(usize),
    /// Another function goes on here.
    Next(usize),
    /// The interpreter has to go on here.
    Resume(usize),
    /// Work could not be done; the instructions up to here count as not run.
    Fault(usize),
}

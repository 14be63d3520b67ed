//! An independent check of everything behind selection: ordering, allocation, pairing, emission.
//!
//! The selected operations and the finished instruction words are both executed symbolically. A value is a term
//! over stream words, FIFO results and constants; equal terms have equal numbers. Registers hold terms, a
//! partial or conditional write makes a term of the old and the new content. Both executions must hand the same
//! terms to the same peripherals in the same order. Nothing of the allocator's or scheduler's own
//! bookkeeping is used; that distances between instructions suffice is `vc4::qpu::rules`' business.

mod code;
mod selected;
mod terms;
mod ways;

use rustc_hash::FxHashMap;
use vc4::qpu::{BranchCond, Cond, Raddr, RegFile, Signal, Waddr};

use super::virt::{Loc, Unit, VirtProgram};
use crate::binding::UniformSlot;
use crate::program::{Program, SampleBo};
use code::Stream;
use terms::{Node, Place, Term, Terms, Write};
use ways::Ways;

/// Something the outside sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    waddr: u8,
    file: Option<RegFile>,
    value: Term,
    cond: Cond,
    /// Flags, when conditional.
    flags: Option<Term>,
    parameter: Option<UniformSlot>,
}

/// Peripherals that keep an order of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Channel {
    Tmu(u8),
    Tile,
    VpmRead,
    VpmWrite,
    Branch,
    Other,
}

/// A symbolic execution.
#[derive(Default)]
struct Machine {
    places: FxHashMap<Place, Term>,
    events: FxHashMap<Channel, Vec<Event>>,
    tmu_results: [u32; 2],
    colors: u32,
    varyings: u32,
    rows: u32,
    ways: Ways,
}

/// Compares a selected program with the code made of it. Both run each loop twice, because what an iteration
/// destroys is missed by the next, and ifs in several ways.
///
/// # Errors
/// The first difference in what the outside sees.
pub fn check(selected: &VirtProgram, program: &Program) -> Result<(), String> {
    let divides = selected.ops.iter().any(|op| matches!(op.unit, Unit::If(_)));
    for ways in Ways::all().take(if divides { usize::MAX } else { 1 }) {
        let mut terms = Terms::default();
        let mut wanted = Machine { ways: ways.clone(), ..Machine::default() };
        wanted.run_selected(&mut terms, selected);
        let mut done = Machine { ways, ..Machine::default() };
        let mut stream = Stream { words: &program.uniforms, next: 0, end: 0 };
        done.run_code(&mut terms, program, &mut stream)?;
        if !divides && stream.end != program.uniforms.len() {
            return Err("words are left in the uniform stream".into());
        }
        compare(&wanted, &done)?;
    }
    compare_requests(selected, program)
}

fn compare(wanted: &Machine, done: &Machine) -> Result<(), String> {
    let mut channels: Vec<Channel> = wanted.events.keys().chain(done.events.keys()).copied().collect();
    channels.sort_unstable();
    channels.dedup();
    for channel in channels {
        let empty = Vec::new();
        let a = wanted.events.get(&channel).unwrap_or(&empty);
        let b = done.events.get(&channel).unwrap_or(&empty);
        if let Some(index) = (0..a.len().max(b.len())).find(|&index| a.get(index) != b.get(index)) {
            return Err(format!(
                "{channel:?}, access {index}: {:?} wanted, {:?} found",
                a.get(index),
                b.get(index)
            ));
        }
    }
    let counts = |m: &Machine| (m.tmu_results, m.colors, m.varyings, m.rows);
    if counts(wanted) != counts(done) {
        return Err(format!("FIFO reads: {:?} wanted, {:?} found", counts(wanted), counts(done)));
    }
    Ok(())
}

/// The request list names the requests in program order; those of different TMUs may change places.
fn compare_requests(selected: &VirtProgram, program: &Program) -> Result<(), String> {
    let wanted: Vec<SampleBo> = selected.ops.iter().filter_map(|op| op.sample).collect();
    let of_kind = |samples: &[SampleBo], ubo: bool| -> Vec<SampleBo> {
        samples.iter().copied().filter(|sample| matches!(sample, SampleBo::Ubo(_)) == ubo).collect()
    };
    for ubo in [false, true] {
        if of_kind(&wanted, ubo) != of_kind(&program.samples, ubo) {
            return Err("the request list differs from the requests".into());
        }
    }
    Ok(())
}

impl Machine {
    fn get(&mut self, terms: &mut Terms, place: Place) -> Term {
        *self.places.entry(place).or_insert_with(|| terms.number(Node::Undefined(place)))
    }

    fn store(&mut self, terms: &mut Terms, place: Place, flags: Term, write: &Write) {
        let old = self.get(terms, place);
        let mut value = terms.packed(write, old);
        if write.cond != Cond::Always {
            value = match self.ways.known(flags, write.cond) {
                Some(true) => value,
                Some(false) => old,
                None => terms.number(Node::Conditional(write.cond, flags, value, old)),
            };
        }
        self.places.insert(place, value);
    }

    fn port(&mut self, terms: &mut Terms, waddr: Waddr, file: Option<RegFile>, flags: Term, write: &Write) {
        let nothing = terms.number(Node::Const(0));
        let value = terms.packed(write, nothing);
        if waddr.is_sfu() {
            let result = terms.number(Node::Sfu(waddr.code(), value));
            self.places.insert(Place::Physical(Loc::R4), result);
            return;
        }
        if waddr == Waddr::UNIF_ADDR {
            return;
        }
        if waddr == Waddr::R5 {
            let result = terms.number(Node::R5(file.unwrap_or(RegFile::A), value));
            self.places.insert(Place::R5, result);
            return;
        }
        // Of these the file decides what is written.
        let distinct = matches!(waddr, Waddr::VPM_SETUP | Waddr::MS_REV_FLAGS | Waddr::UNIF_ADDR);
        let event = Event {
            waddr: waddr.code(),
            file: file.filter(|_| distinct),
            value,
            cond: write.cond,
            flags: (write.cond != Cond::Always).then_some(flags),
            parameter: write.parameter,
        };
        self.events.entry(channel(waddr, file)).or_default().push(event);
    }

    /// Something that has its place in a channel's order and no condition.
    fn note(&mut self, channel: Channel, waddr: u8, value: Term) {
        let event = Event { waddr, file: None, value, cond: Cond::Always, flags: None, parameter: None };
        self.events.entry(channel).or_default().push(event);
    }

    fn signal(&mut self, terms: &mut Terms, signal: Signal) {
        let node = match signal {
            Signal::LoadTmu0 | Signal::LoadTmu1 => {
                let tmu = usize::from(signal == Signal::LoadTmu1);
                self.tmu_results[tmu] += 1;
                Node::Tmu(tmu as u8, self.tmu_results[tmu])
            }
            Signal::ColorLoad => {
                self.colors += 1;
                // A read has its place among the writes.
                let nothing = terms.number(Node::Const(0));
                self.note(Channel::Tile, 0, nothing);
                Node::Color(self.colors)
            }
            _ => return,
        };
        let result = terms.number(node);
        self.places.insert(Place::Physical(Loc::R4), result);
    }

    fn read_port(&mut self, terms: &mut Terms, raddr: Raddr, file: RegFile) -> Term {
        match raddr {
            Raddr::VARYING => {
                self.varyings += 1;
                let c = terms.number(Node::VaryingC(self.varyings));
                self.places.insert(Place::R5, c);
                terms.number(Node::Varying(self.varyings))
            }
            Raddr::VPM => {
                self.rows += 1;
                let nothing = terms.number(Node::Const(0));
                self.note(Channel::VpmRead, 0, nothing);
                terms.number(Node::VpmRow(self.rows))
            }
            Raddr::MS_REV_FLAGS if file == RegFile::A => {
                let accesses = self.events.get(&Channel::Tile).map_or(0, Vec::len);
                terms.number(Node::Coverage(accesses))
            }
            _ => terms.number(Node::Fixed(raddr.code(), file)),
        }
    }

    /// The other thread leaves nothing in the accumulators and flags (qpu.md §1.4).
    fn switch_threads(&mut self) {
        let accumulators = (0..4).map(Loc::Acc).chain([Loc::R4]).map(Place::Physical);
        for place in accumulators.chain([Place::R5, Place::Flags]) {
            self.places.remove(&place);
        }
    }

    /// A branch looks at the flags.
    fn branch(&mut self, terms: &mut Terms, cond: BranchCond) {
        let flags = self.get(terms, Place::Flags);
        self.note(Channel::Branch, cond.code(), flags);
    }

    fn set_flags(&mut self, terms: &mut Terms, node: Node, cond: Cond, old: Term) {
        let mut value = terms.number(node);
        if cond != Cond::Always {
            value = match self.ways.known(old, cond) {
                Some(true) => value,
                Some(false) => old,
                None => terms.number(Node::Conditional(cond, old, value, old)),
            };
        }
        self.places.insert(Place::Flags, value);
    }
}

fn channel(waddr: Waddr, file: Option<RegFile>) -> Channel {
    if let Some(tmu) = waddr.tmu() {
        Channel::Tmu(tmu)
    } else if waddr.is_tlb() || waddr == Waddr::MS_REV_FLAGS {
        Channel::Tile
    } else if waddr == Waddr::VPM || (waddr == Waddr::VPM_SETUP && file == Some(RegFile::B)) {
        Channel::VpmWrite
    } else if waddr == Waddr::VPM_SETUP {
        Channel::VpmRead
    } else {
        Channel::Other
    }
}

//! A symbolic execution: places with their terms, what the outside has seen, peripherals.

use rustc_hash::FxHashMap;
use vc4::qpu::{BranchCond, Cond, Raddr, RegFile, Signal, Waddr};

use super::terms::{Node, Place, Term, Terms, Write};
use super::ways::Ways;
use crate::backend::virt::Loc;
use crate::binding::UniformSlot;

/// Something the outside sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub waddr: u8,
    pub file: Option<RegFile>,
    pub value: Term,
    pub cond: Cond,
    /// Flags, when conditional.
    pub flags: Option<Term>,
    pub parameter: Option<UniformSlot>,
}

/// Peripherals that keep an order of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    Tmu(u8),
    Tile,
    VpmRead,
    VpmWrite,
    Branch,
    Other,
}

/// A symbolic execution.
#[derive(Default)]
pub struct Machine {
    pub places: FxHashMap<Place, Term>,
    pub events: FxHashMap<Channel, Vec<Event>>,
    pub tmu_results: [u32; 2],
    pub colors: u32,
    pub varyings: u32,
    pub rows: u32,
    pub ways: Ways,
}

impl Machine {
    pub fn get(&mut self, terms: &mut Terms, place: Place) -> Term {
        *self.places.entry(place).or_insert_with(|| terms.number(Node::Undefined(place)))
    }

    pub fn store(&mut self, terms: &mut Terms, place: Place, flags: Term, write: &Write) {
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

    pub fn port(
        &mut self,
        terms: &mut Terms,
        waddr: Waddr,
        file: Option<RegFile>,
        flags: Term,
        write: &Write,
    ) {
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
    pub fn note(&mut self, channel: Channel, waddr: u8, value: Term) {
        let event = Event { waddr, file: None, value, cond: Cond::Always, flags: None, parameter: None };
        self.events.entry(channel).or_default().push(event);
    }

    pub fn signal(&mut self, terms: &mut Terms, signal: Signal) {
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

    pub fn read_port(&mut self, terms: &mut Terms, raddr: Raddr, file: RegFile) -> Term {
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
    pub fn switch_threads(&mut self) {
        let accumulators = (0..Loc::ACCUMULATORS).map(Loc::Acc).chain([Loc::R4]).map(Place::Physical);
        for place in accumulators.chain([Place::R5, Place::Flags]) {
            self.places.remove(&place);
        }
    }

    /// A branch looks at the flags.
    pub fn branch(&mut self, terms: &mut Terms, cond: BranchCond) {
        let flags = self.get(terms, Place::Flags);
        self.note(Channel::Branch, cond.code(), flags);
    }

    pub fn set_flags(&mut self, terms: &mut Terms, node: Node, cond: Cond, old: Term) {
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

//! What must come before what: dependences between operations, with the latencies of qpu.md §5.2.

use rustc_hash::FxHashMap;
use vc4::qpu::{Cond, Raddr, RegFile, Signal, Waddr};

use super::virt::{Dst, Loc, Operation, Reg, Src};

/// Slots between sending a TMU request and its result that scheduling tries to fill (qpu.md §7: about 9
/// for a cache hit, 20 from memory).
const TMU_LATENCY: u32 = 20;
/// Parameter slots of the request FIFO and requests of the result FIFO (qpu.md §4.6).
const TMU_REQUEST_SLOTS: usize = 8;
const TMU_RESULTS: usize = 4;

/// A register before or after allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Not allocated yet.
    Virtual(Reg),
    /// Allocated.
    Physical(Loc),
}

/// Something that orders operations.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Resource {
    Register(Place),
    R5,
    Flags,
    TmuRequest(u8),
    TmuResult(u8),
    VpmRead,
    VpmWrite,
    Tile,
    /// Position of the uniform stream.
    Stream,
}

const R4: Resource = Resource::Register(Place::Physical(Loc::R4));

/// `to` may be issued `hard` slots after the edge's source at the earliest, and had better wait `soft`.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The dependent operation.
    pub to: usize,
    /// Slots that correctness demands; 0 allows the same instruction.
    pub hard: u32,
    /// Slots without a stall.
    pub soft: u32,
}

/// The dependence graph of a program's operations, by index.
pub struct Dag {
    /// Outgoing edges.
    pub successors: Vec<Vec<Edge>>,
    /// Number of incoming edges.
    pub predecessors: Vec<usize>,
    /// Longest way to the end in slots, stalls included.
    pub height: Vec<u32>,
}

#[derive(Default)]
struct History {
    writer: Option<usize>,
    readers: Vec<usize>,
}

impl Dag {
    /// The graph of `ops`, whose order is one valid execution; `place` tells where registers are.
    pub fn new(ops: &[Operation], place: impl Fn(Reg) -> Place) -> Dag {
        let mut dag = Dag {
            successors: vec![Vec::new(); ops.len()],
            predecessors: vec![0; ops.len()],
            height: vec![0; ops.len()],
        };
        let mut histories: FxHashMap<Resource, History> = FxHashMap::default();
        for (index, op) in ops.iter().enumerate() {
            let (reads, writes) = accesses(op, &place);
            for resource in reads {
                let history = histories.entry(resource).or_default();
                if let Some(writer) = history.writer {
                    dag.edge(writer, index, data_latency(&ops[writer], resource, op));
                }
                history.readers.push(index);
            }
            for resource in writes {
                let history = histories.entry(resource).or_default();
                for &reader in history.readers.iter().filter(|&&reader| reader != index) {
                    dag.edge(reader, index, 0);
                }
                if let Some(writer) = history.writer {
                    dag.edge(writer, index, output_latency(&ops[writer], resource));
                }
                *history = History { writer: Some(index), readers: Vec::new() };
            }
        }
        dag.tmu_edges(ops);
        dag.measure();
        dag
    }

    fn edge(&mut self, from: usize, to: usize, hard: u32) {
        self.soft_edge(from, to, hard, hard);
    }

    fn soft_edge(&mut self, from: usize, to: usize, hard: u32, soft: u32) {
        debug_assert!(from < to, "dependences follow program order");
        if let Some(edge) = self.successors[from].iter_mut().find(|edge| edge.to == to) {
            edge.hard = edge.hard.max(hard);
            edge.soft = edge.soft.max(soft);
            return;
        }
        self.successors[from].push(Edge { to, hard, soft });
        self.predecessors[to] += 1;
    }

    /// A result follows its request; a request waits until the FIFOs have room for it, because a write
    /// into a full FIFO would wait for results that nobody reads.
    fn tmu_edges(&mut self, ops: &[Operation]) {
        for tmu in 0..2 {
            let requests = requests(ops, tmu);
            for (j, request) in requests.iter().enumerate() {
                let Some(load) = request.load else { continue };
                self.soft_edge(request.send, load, 1, TMU_LATENCY);
                let (mut slots, mut results) = (0, 0);
                for earlier in requests[..=j].iter().rev() {
                    (slots, results) = (slots + earlier.slots, results + 1);
                    if slots > TMU_REQUEST_SLOTS || results > TMU_RESULTS {
                        if let Some(load) = earlier.load.filter(|&load| load < request.first) {
                            self.edge(load, request.first, 1);
                        }
                        break;
                    }
                }
            }
        }
    }

    fn measure(&mut self) {
        for index in (0..self.successors.len()).rev() {
            self.height[index] =
                self.successors[index].iter().map(|edge| self.height[edge.to] + edge.soft).max().unwrap_or(0);
        }
    }
}

struct Request {
    first: usize,
    send: usize,
    load: Option<usize>,
    slots: usize,
}

fn requests(ops: &[Operation], tmu: u8) -> Vec<Request> {
    let signal = if tmu == 0 { Signal::LoadTmu0 } else { Signal::LoadTmu1 };
    let send = if tmu == 0 { Waddr::TMU0_S } else { Waddr::TMU1_S };
    let mut list: Vec<Request> = Vec::new();
    let (mut open, mut loaded): (Vec<usize>, usize) = (Vec::new(), 0);
    for (index, op) in ops.iter().enumerate() {
        if op.port().and_then(Waddr::tmu) == Some(tmu) {
            open.push(index);
            if op.port() == Some(send) {
                list.push(Request { first: open[0], send: index, load: None, slots: open.len() });
                open.clear();
            }
        }
        if op.signal == signal && loaded < list.len() {
            list[loaded].load = Some(index);
            loaded += 1;
        }
    }
    list
}

/// The resources that an operation reads and writes.
fn accesses(op: &Operation, place: &impl Fn(Reg) -> Place) -> (Vec<Resource>, Vec<Resource>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for operand in &op.src {
        match operand.src {
            Src::Reg(reg) => reads.push(Resource::Register(place(reg))),
            Src::R4 => reads.push(R4),
            Src::R5 => reads.push(Resource::R5),
            Src::Port(Raddr::VARYING, _) => writes.push(Resource::R5),
            Src::Port(Raddr::VPM, _) => writes.push(Resource::VpmRead),
            // The sample mask, which tile accesses change.
            Src::Port(Raddr::MS_REV_FLAGS, Some(RegFile::A)) => reads.push(Resource::Tile),
            Src::Port(..) | Src::Imm(_) | Src::Uniform(_) => {}
        }
    }
    if op.uniform().is_some() && op.port() != Some(Waddr::UNIF_ADDR) {
        reads.push(Resource::Stream);
    }
    if op.cond != Cond::Always {
        reads.push(Resource::Flags);
    }
    if op.sets_flags {
        writes.push(Resource::Flags);
    }
    match op.dst {
        Dst::None => {}
        Dst::Reg(reg) => writes.push(Resource::Register(place(reg))),
        Dst::Port(waddr, file) => port_access(waddr, file, &mut writes),
    }
    match op.signal {
        Signal::LoadTmu0 => writes.extend([R4, Resource::TmuResult(0)]),
        Signal::LoadTmu1 => writes.extend([R4, Resource::TmuResult(1)]),
        Signal::ColorLoad => writes.extend([R4, Resource::Tile]),
        _ => {}
    }
    writes.dedup();
    (reads, writes)
}

fn port_access(waddr: Waddr, file: Option<vc4::qpu::RegFile>, writes: &mut Vec<Resource>) {
    if let Some(tmu) = waddr.tmu() {
        writes.push(Resource::TmuRequest(tmu));
    } else if waddr.is_sfu() {
        writes.push(R4);
    } else if waddr.is_tlb() || waddr == Waddr::MS_REV_FLAGS {
        writes.push(Resource::Tile);
    } else if waddr == Waddr::VPM {
        writes.push(Resource::VpmWrite);
    } else if waddr == Waddr::VPM_SETUP {
        writes.push(match file {
            Some(vc4::qpu::RegFile::A) => Resource::VpmRead,
            _ => Resource::VpmWrite,
        });
    } else if waddr == Waddr::R5 {
        writes.push(Resource::R5);
    } else if waddr == Waddr::UNIF_ADDR {
        writes.push(Resource::Stream);
    }
}

/// Whether `op` accesses the peripheral that `write` writes to.
pub fn same_channel(op: &Operation, write: &Operation) -> bool {
    let channel = |op: &Operation| {
        let (reads, writes) = accesses(op, &Place::Virtual);
        reads.into_iter().chain(writes).filter(|resource| {
            !matches!(resource, Resource::Register(_) | Resource::Flags | Resource::Stream)
        })
    };
    let of_write: Vec<Resource> = channel(write).collect();
    channel(op).any(|resource| of_write.contains(&resource))
}

/// Slots from a write to a read of what it wrote.
fn data_latency(writer: &Operation, resource: Resource, reader: &Operation) -> u32 {
    match resource {
        R4 => writer.r4_latency().unwrap_or(1),
        Resource::Register(Place::Physical(Loc::A(_) | Loc::B(_))) => 2,
        // qpu.md §5.1 rule 11.
        Resource::Stream => 3,
        // qpu.md §5.1 rule 13.
        Resource::Tile if writer.port() == Some(Waddr::TLB_Z) => 3,
        // qpu.md §5.1 rule 12.
        Resource::Register(_) if reader.rotate != 0 => 2,
        _ => 1,
    }
}

/// Slots from a write to the next write: an SFU result in flight must not meet another one (§5.1 rule 10).
fn output_latency(writer: &Operation, resource: Resource) -> u32 {
    match resource {
        R4 => writer.r4_latency().unwrap_or(1),
        _ => 1,
    }
}

//! What must come before what: dependences between operations, with the latencies of qpu.md §5.2.

use std::ops::Range;

use smallvec::SmallVec;
use vc4::qpu::{Cond, Raddr, RegFile, Signal, Waddr, rules};

use super::virt::{Dst, Loc, Operation, Reg, Src, Threads};
use crate::work;

/// Slots between sending a TMU request and its result that scheduling tries to fill (qpu.md §7: about 9
/// for a cache hit, 20 from memory). With two threads the other one fills them.
const TMU_LATENCY: u32 = 20;
/// Slots from the Z write to the colour write that leave room for the end signal between them: it comes two behind
/// the Z write at the earliest and touches no tile itself (qpu.md §5.1 rules 4–5).
const Z_TO_COLOR: u32 = 3;

/// A register before or after allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Not allocated yet.
    Virtual(Reg),
    /// Allocated.
    Physical(Loc),
}

/// Something that orders operations, by its number: peripherals, then physical registers, then virtual ones.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Resource(u32);

impl Resource {
    const R5: Resource = Resource(0);
    const FLAGS: Resource = Resource(1);
    // From 2 to 5 the queues of the TMUs.
    const VPM_READ: Resource = Resource(6);
    const VPM_WRITE: Resource = Resource(7);
    const TILE: Resource = Resource(8);
    /// Position of the uniform stream.
    const STREAM: Resource = Resource(9);
    const R4: Resource = Resource::physical(Loc::R4);

    /// How many there are in front of the registers, and where accumulators and virtual registers begin.
    const PERIPHERALS: u32 = 10;
    const ACCUMULATORS: u32 = Resource::physical(Loc::Acc(0)).0;
    const VIRTUAL: u32 = Resource::PERIPHERALS + Loc::COUNT as u32;

    const fn tmu_request(tmu: u8) -> Resource {
        Resource(2 + tmu as u32)
    }

    const fn tmu_result(tmu: u8) -> Resource {
        Resource(4 + tmu as u32)
    }

    const fn physical(loc: Loc) -> Resource {
        Resource(Resource::PERIPHERALS + loc.index() as u32)
    }

    fn register(place: Place) -> Resource {
        match place {
            Place::Physical(loc) => Resource::physical(loc),
            Place::Virtual(reg) => Resource(Resource::VIRTUAL + reg.as_u32()),
        }
    }

    const fn index(self) -> usize {
        self.0 as usize
    }

    const fn is_register(self) -> bool {
        self.0 >= Resource::PERIPHERALS
    }

    /// Whether it is a register of a file.
    const fn is_in_file(self) -> bool {
        self.is_register() && self.0 < Resource::ACCUMULATORS
    }

    /// What a thread switch destroys (qpu.md §1.4), and does not stay in a register file before allocation.
    fn is_transient(self) -> bool {
        self == Resource::R4 || self == Resource::R5 || self == Resource::FLAGS
    }
}

/// `to` may be issued `hard` slots after the edge's source at the earliest, and had better wait `soft`.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    to: u32,
    hard: u16,
    soft: u16,
}

impl Edge {
    /// The dependent operation.
    pub const fn to(&self) -> usize {
        self.to as usize
    }

    /// Slots that correctness demands; 0 allows the same instruction.
    pub const fn hard(&self) -> u32 {
        self.hard as u32
    }

    /// Slots without a stall.
    pub const fn soft(&self) -> u32 {
        self.soft as u32
    }
}

/// The dependence graph of a program's operations, by index.
pub struct Dag {
    /// Outgoing edges.
    pub successors: Vec<SmallVec<[Edge; 4]>>,
    /// Number of incoming edges.
    pub predecessors: Vec<u32>,
    /// Longest way to the end in slots, stalls included.
    pub height: Vec<u32>,
    /// Writers of r4, r5 and the flags, each with one of its readers.
    pub transients: Vec<(usize, usize)>,
    r4_writers: Vec<bool>,
    /// What writes r4 waits for the readers of what was there in the order of the operations.
    r4_in_order: bool,
    /// The last operation that sets the flags.
    pub last_flags: Option<usize>,
    /// TMU requests in order, of both units.
    pub requests: Vec<Request>,
}

/// A TMU request.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The unit.
    pub tmu: u8,
    /// The operation that writes its first parameter.
    pub first: usize,
    /// The operation that sends it.
    pub send: usize,
    /// The operation that takes its result.
    pub load: Option<usize>,
    /// Parameters, each a slot of the queue.
    pub slots: usize,
}

#[derive(Default)]
struct History {
    writer: Option<u32>,
    readers: SmallVec<[u32; 4]>,
}

/// What operations of a piece have done with each resource. It is as large as the program, whose pieces may be many and short.
pub struct Histories {
    all: Vec<History>,
    /// Those that are not as at first.
    used: Vec<usize>,
}

impl Histories {
    /// Of a program of fewer than `registers` virtual registers.
    pub fn new(registers: usize) -> Histories {
        let mut all = Vec::new();
        all.resize_with(Resource::VIRTUAL as usize + registers, History::default);
        Histories { all, used: Vec::new() }
    }

    fn clear(&mut self) {
        self.used.drain(..).for_each(|index| self.all[index] = History::default());
    }

    fn of(&mut self, resource: Resource) -> &mut History {
        let history = &mut self.all[resource.index()];
        if history.writer.is_none() && history.readers.is_empty() {
            self.used.push(resource.index());
        }
        history
    }
}

impl Dag {
    /// The graph of allocated `ops`, whose order is one valid execution; `place` tells where registers are.
    pub fn allocated(ops: &[Operation], threads: Threads, place: impl Fn(Reg) -> Place) -> Dag {
        Dag::new(ops, &mut Histories::new(0), threads, true, place)
    }

    /// The graph of `ops`, a piece of the program that `histories` are of. Who writes r4 next is left open: see
    /// [`Dag::writes_r4`].
    pub fn selected(ops: &[Operation], histories: &mut Histories, threads: Threads) -> Dag {
        let mut dag = Dag::new(ops, histories, threads, false, Place::Virtual);
        if !dag.free_readers_of_r4(ops) {
            dag = Dag::new(ops, histories, threads, true, Place::Virtual);
        }
        dag
    }

    /// Lets what writes r4 wait for everything that the readers of its result wait for: they must not be stuck behind
    /// something that needs r4. Returns whether that is possible.
    fn free_readers_of_r4(&mut self, ops: &[Operation]) -> bool {
        let mut writer_of = vec![None; ops.len()];
        let mut writer = None;
        for (index, op) in ops.iter().enumerate() {
            if op.src.iter().any(|operand| operand.src == Src::R4) {
                writer_of[index] = writer;
            }
            if self.r4_writers[index] {
                writer = Some(index);
            }
        }
        for node in 0..self.successors.len() {
            let writers: SmallVec<[usize; 4]> =
                self.successors[node].iter().filter_map(|edge| writer_of[edge.to()]).collect();
            for writer in writers.into_iter().filter(|&writer| writer != node) {
                if writer < node {
                    return false;
                }
                self.soft_edge(node, writer, 0, 0);
            }
        }
        self.measure(0..ops.len());
        true
    }

    fn new(
        ops: &[Operation],
        histories: &mut Histories,
        threads: Threads,
        r4_in_order: bool,
        place: impl Fn(Reg) -> Place,
    ) -> Dag {
        let mut dag = Dag {
            successors: std::iter::repeat_with(SmallVec::new).take(ops.len()).collect(),
            predecessors: vec![0; ops.len()],
            height: Vec::new(),
            transients: Vec::new(),
            r4_writers: vec![false; ops.len()],
            r4_in_order,
            last_flags: None,
            requests: requests(ops),
        };
        histories.clear();
        for (index, op) in ops.iter().enumerate() {
            dag.accesses_of(ops, index, &accesses(op, &place), histories);
        }
        dag.last_flags = histories.of(Resource::FLAGS).writer.map(|writer| writer as usize);
        dag.queue_edges(threads);
        dag.measure(0..ops.len());
        dag
    }

    fn accesses_of(&mut self, ops: &[Operation], index: usize, of: &Accesses, histories: &mut Histories) {
        let op = &ops[index];
        for &resource in &of.reads {
            let history = histories.of(resource);
            if let Some(writer) = history.writer.map(|writer| writer as usize) {
                self.edge(writer, index, data_latency(&ops[writer], resource, op));
                if resource.is_transient() {
                    self.transients.push((writer, index));
                }
            }
            history.readers.push(index as u32);
        }
        for &resource in &of.writes {
            let history = histories.of(resource);
            self.r4_writers[index] |= resource == Resource::R4;
            if resource == Resource::R4 && !self.r4_in_order && !op.is_switch() {
                history.writer = Some(index as u32);
                history.readers.clear();
                continue;
            }
            for reader in history.readers.drain(..).map(|reader| reader as usize) {
                if reader != index {
                    self.edge(reader, index, u32::from(op.is_switch()));
                }
            }
            if let Some(writer) = history.writer.map(|writer| writer as usize) {
                let hard = output_latency(&ops[writer], resource);
                let soft = if resource == Resource::TILE && ops[writer].port() == Some(Waddr::TLB_Z) {
                    Z_TO_COLOR
                } else {
                    hard
                };
                self.soft_edge(writer, index, hard, soft);
            }
            history.writer = Some(index as u32);
        }
    }

    /// Whether a node writes r4, which may be done when the last result there was read.
    pub fn writes_r4(&self, node: usize) -> bool {
        self.r4_writers.get(node).is_some_and(|&writes| writes)
    }

    fn edge(&mut self, from: usize, to: usize, hard: u32) {
        self.soft_edge(from, to, hard, hard);
    }

    /// Adds an edge. Several between the same operations become one when they are added one after the other.
    pub fn soft_edge(&mut self, from: usize, to: usize, hard: u32, soft: u32) {
        work::count(1);
        let new = Edge { to: to as u32, hard: hard as u16, soft: soft as u16 };
        if let Some(edge) = self.successors[from].last_mut().filter(|edge| edge.to == new.to) {
            edge.hard = edge.hard.max(new.hard);
            edge.soft = edge.soft.max(new.soft);
            return;
        }
        self.successors[from].push(new);
        self.predecessors[to] += 1;
    }

    /// Adds a node without an operation and returns its index. [`Dag::measure_all`] has to follow.
    pub fn node(&mut self) -> usize {
        self.successors.push(SmallVec::new());
        self.predecessors.push(0);
        self.successors.len() - 1
    }

    /// A result follows its request; a request waits until the queues have room for it, because a write
    /// into a full queue would wait for results that nobody reads.
    fn queue_edges(&mut self, threads: Threads) {
        let latency = match threads {
            Threads::One => TMU_LATENCY,
            Threads::Two => 1,
        };
        let (most_slots, most_results) = threads.tmu_queues();
        for tmu in 0..2 {
            let requests: Vec<Request> =
                self.requests.iter().copied().filter(|request| request.tmu == tmu).collect();
            for (j, request) in requests.iter().enumerate() {
                let Some(load) = request.load else { continue };
                self.soft_edge(request.send, load, 1, latency);
                let (mut slots, mut results) = (0, 0);
                for earlier in requests[..=j].iter().rev() {
                    (slots, results) = (slots + earlier.slots, results + 1);
                    if slots > most_slots || results > most_results {
                        if let Some(load) = earlier.load.filter(|&load| load < request.first) {
                            self.edge(load, request.first, 1);
                        }
                        break;
                    }
                }
            }
        }
    }

    /// The heights when edges follow the order of `nodes`.
    fn measure(&mut self, nodes: Range<usize>) {
        self.height = vec![0; nodes.len()];
        for index in nodes.rev() {
            self.height[index] = self.height_above(index);
        }
    }

    /// The heights when nodes were added.
    pub fn measure_all(&mut self) {
        let mut waiting = self.predecessors.clone();
        let mut order: Vec<usize> = (0..waiting.len()).filter(|&node| waiting[node] == 0).collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for edge in &self.successors[node] {
                waiting[edge.to()] -= 1;
                if waiting[edge.to()] == 0 {
                    order.push(edge.to());
                }
            }
        }
        self.height = vec![0; waiting.len()];
        for node in order.into_iter().rev() {
            self.height[node] = self.height_above(node);
        }
    }

    /// Slots from each of `ops` to the end that correctness demands, in a graph whose edges follow their order. A switch
    /// may have taken effect when it is issued, and what reads a copy may share its instruction.
    pub fn least_heights(&self, ops: &[Operation]) -> Vec<u32> {
        let mut least = vec![0; ops.len()];
        for (index, op) in ops.iter().enumerate().rev() {
            let is_shared = op.is_switch() || op.copied().is_some();
            let distance = |edge: &Edge| if is_shared { 0 } else { edge.hard() };
            let ways = self.successors[index].iter().map(|edge| least[edge.to()] + distance(edge));
            least[index] = ways.max().unwrap_or(0);
        }
        least
    }

    fn height_above(&self, node: usize) -> u32 {
        self.successors[node].iter().map(|edge| self.height[edge.to()] + edge.soft()).max().unwrap_or(0)
    }
}

/// The requests of both units, in the order in which they are sent.
pub fn requests(ops: &[Operation]) -> Vec<Request> {
    let mut list: Vec<Request> = Vec::new();
    let mut open: [Option<(usize, usize)>; 2] = [None; 2];
    // Requests of each unit without a result yet.
    let mut sent: [std::collections::VecDeque<usize>; 2] = Default::default();
    for (index, op) in ops.iter().enumerate() {
        if let Some((waddr, tmu)) = op.port().and_then(|waddr| Some((waddr, waddr.tmu()?))) {
            let (first, slots) = open[usize::from(tmu)].unwrap_or((index, 0));
            if matches!(waddr, Waddr::TMU0_S | Waddr::TMU1_S) {
                sent[usize::from(tmu)].push_back(list.len());
                list.push(Request { tmu, first, send: index, load: None, slots: slots + 1 });
                open[usize::from(tmu)] = None;
            } else {
                open[usize::from(tmu)] = Some((first, slots + 1));
            }
        }
        let loaded = match op.signal {
            Signal::LoadTmu0 => sent[0].pop_front(),
            Signal::LoadTmu1 => sent[1].pop_front(),
            _ => None,
        };
        if let Some(request) = loaded {
            list[request].load = Some(index);
        }
    }
    list
}

/// The resources that an operation reads and writes.
#[derive(Default)]
struct Accesses {
    reads: SmallVec<[Resource; 4]>,
    writes: SmallVec<[Resource; 4]>,
}

fn accesses(op: &Operation, place: &impl Fn(Reg) -> Place) -> Accesses {
    let mut of = Accesses::default();
    let Accesses { reads, writes } = &mut of;
    for operand in op.src.iter() {
        match operand.src {
            Src::Reg(reg) => reads.push(Resource::register(place(reg))),
            Src::R4 => reads.push(Resource::R4),
            Src::R5 => reads.push(Resource::R5),
            Src::Port(Raddr::VARYING, _) => writes.push(Resource::R5),
            Src::Port(Raddr::VPM, _) => writes.push(Resource::VPM_READ),
            // The sample mask, which tile accesses change.
            Src::Port(Raddr::MS_REV_FLAGS, Some(RegFile::A)) => reads.push(Resource::TILE),
            Src::Port(..) | Src::Imm(_) | Src::Uniform(_) => {}
        }
    }
    reads.dedup();
    if op.uniform().is_some() && op.port() != Some(Waddr::UNIF_ADDR) {
        reads.push(Resource::STREAM);
    }
    if op.cond != Cond::Always {
        reads.push(Resource::FLAGS);
    }
    if op.sets_flags {
        writes.push(Resource::FLAGS);
    }
    match op.dst {
        Dst::None => {}
        Dst::Reg(reg) => writes.push(Resource::register(place(reg))),
        Dst::Port(waddr, file) => writes.extend(port_access(waddr, file)),
    }
    match op.signal {
        Signal::LoadTmu0 => writes.extend([Resource::R4, Resource::tmu_result(0)]),
        Signal::LoadTmu1 => writes.extend([Resource::R4, Resource::tmu_result(1)]),
        Signal::ColorLoad => writes.extend([Resource::R4, Resource::TILE]),
        Signal::ThreadSwitch | Signal::LastThreadSwitch => writes.extend(switch_accesses()),
        _ => {}
    }
    writes.dedup();
    of
}

/// Accumulators and flags do not survive a switch; requests, results and the tile keep their side of it.
fn switch_accesses() -> impl Iterator<Item = Resource> {
    let accumulators = (0..Loc::ACCUMULATORS).map(|n| Resource::physical(Loc::Acc(n)));
    let rest = [Resource::R4, Resource::R5, Resource::FLAGS, Resource::TILE];
    let tmus = [0, 1].into_iter().flat_map(|tmu| [Resource::tmu_request(tmu), Resource::tmu_result(tmu)]);
    accumulators.chain(rest).chain(tmus)
}

fn port_access(waddr: Waddr, file: Option<RegFile>) -> Option<Resource> {
    Some(if let Some(tmu) = waddr.tmu() {
        Resource::tmu_request(tmu)
    } else if waddr.is_sfu() {
        Resource::R4
    } else if waddr.is_tlb() || waddr == Waddr::MS_REV_FLAGS {
        Resource::TILE
    } else if waddr == Waddr::VPM {
        Resource::VPM_WRITE
    } else if waddr == Waddr::VPM_SETUP {
        match file {
            Some(RegFile::A) => Resource::VPM_READ,
            _ => Resource::VPM_WRITE,
        }
    } else if waddr == Waddr::R5 {
        Resource::R5
    } else if waddr == Waddr::UNIF_ADDR {
        Resource::STREAM
    } else {
        return None;
    })
}

/// The peripherals, r5 among them, that an operation accesses, as bits.
pub fn channels(op: &Operation) -> u32 {
    let Accesses { reads, writes } = accesses(op, &Place::Virtual);
    let bit = |&resource: &Resource| match resource {
        Resource::FLAGS | Resource::STREAM => 0,
        other if other.is_register() => 0,
        other => 1 << other.index(),
    };
    reads.iter().chain(&writes).map(bit).fold(0, |bits, bit| bits | bit)
}

/// Slots from a write to a read of what it wrote.
fn data_latency(writer: &Operation, resource: Resource, reader: &Operation) -> u32 {
    match resource {
        Resource::R4 => writer.r4_latency().unwrap_or(1),
        Resource::STREAM => rules::UNIFORM_ADDRESS.distance,
        Resource::TILE if writer.port() == Some(Waddr::TLB_Z) => rules::Z_FLAGS.distance,
        file if file.is_in_file() => rules::FILE_LATENCY.distance,
        register if register.is_register() && reader.rotate != 0 => rules::ROTATE_OPERAND.distance,
        _ => 1,
    }
}

/// Slots from a write to the next write: an SFU result in flight must not meet another one (§5.1 rule 10).
fn output_latency(writer: &Operation, resource: Resource) -> u32 {
    match resource {
        Resource::R4 => writer.r4_latency().unwrap_or(1),
        _ => 1,
    }
}

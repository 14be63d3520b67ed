//! Where a fragment program gives the QPU to the other thread.
//!
//! Requests are sent in batches. A switch follows each batch, its results are loaded behind the switch (qpu.md §1.4), and
//! before the next one (§5.4). r4, r5 and the flags do not survive a switch, so what sets them and what reads them
//! stand on the same side of each. The **level** of an operation is the number of switches that must come before it.

use vc4::qpu::{BranchCond, Signal};

use crate::backend::dag::Dag;
use crate::backend::virt::{Operation, segments};

/// Rounds until the levels of operations that share r4, r5 or the flags agree.
const MAX_ROUNDS: usize = 8;

/// The operation that switches.
pub fn switch(last: bool) -> Operation {
    Operation::signal(if last { Signal::LastThreadSwitch } else { Signal::ThreadSwitch })
}

/// The switches of one straight piece.
pub struct Plan {
    /// The switches' nodes in the graph, in order.
    pub nodes: Vec<usize>,
    /// The last one is the program's last.
    pub ends: bool,
}

/// Whether the program sends requests, and touches the tile only where the last switch is behind it.
pub fn wanted(ops: &[Operation]) -> bool {
    let pieces = segments(ops);
    let last = pieces.last().map_or(0, |piece| piece.start);
    ops.iter().any(|op| op.sample.is_some()) && !ops[..last].iter().any(Operation::touches_tile)
}

/// Adds the switches of a piece to its graph. The piece is the program's last one or ends with `marker`.
/// `None` if a value in r4, r5 or the flags would have to survive a switch.
pub fn plan(ops: &[Operation], dag: &mut Dag, marker: Option<&Operation>) -> Option<Plan> {
    let is_last = marker.is_none();
    let branch = marker.and_then(Operation::branches);
    let looks_at_flags = branch.is_some_and(|cond| cond != BranchCond::Always);
    let levels = Levels::of(ops, dag, is_last, looks_at_flags)?;
    let nodes: Vec<usize> = (0..levels.switches).map(|_| dag.node()).collect();
    for pair in nodes.windows(2) {
        dag.soft_edge(pair[0], pair[1], 1, 1);
    }
    for (request, &batch) in dag.requests.clone().iter().zip(&levels.batches) {
        dag.soft_edge(request.send, nodes[batch], 1, 1);
        if let Some(load) = request.load {
            dag.soft_edge(nodes[batch], load, 1, 1);
            if let Some(&next) = nodes.get(batch + 1) {
                dag.soft_edge(load, next, 1, 1);
            }
        }
    }
    for (op, &least) in levels.least.iter().enumerate() {
        if least > 0 {
            dag.soft_edge(nodes[least - 1], op, 1, 1);
        }
    }
    dag.measure_all();
    Some(Plan { nodes, ends: is_last })
}

struct Levels {
    switches: usize,
    /// The batch of each request.
    batches: Vec<usize>,
    /// Levels that operations need for the sake of others.
    least: Vec<usize>,
}

impl Levels {
    fn of(ops: &[Operation], dag: &Dag, is_last: bool, looks_at_flags: bool) -> Option<Levels> {
        let mut groups = dag.transients.clone();
        groups.sort_unstable_by_key(|&(writer, reader)| std::cmp::Reverse((writer, reader)));
        let mut levels =
            Levels { switches: usize::from(is_last), batches: Vec::new(), least: vec![0; ops.len()] };
        for _ in 0..MAX_ROUNDS {
            let found = levels.measure(dag);
            let mut agree = true;
            let mut raise = |op: usize, level: usize, least: &mut Vec<usize>| {
                if found[op].max(least[op]) < level {
                    least[op] = level;
                    agree = false;
                }
            };
            for &(writer, reader) in &groups {
                raise(writer, found[reader].max(levels.least[reader]), &mut levels.least);
            }
            // The parameters of a request belong together.
            for (request, &batch) in dag.requests.iter().zip(&levels.batches) {
                raise(request.first, batch, &mut levels.least);
            }
            // The branch reads the last flags.
            if let (Some(flags), true) = (dag.last_flags, looks_at_flags) {
                raise(flags, levels.switches, &mut levels.least);
            }
            for (index, _) in ops.iter().enumerate().filter(|(_, op)| op.touches_tile()) {
                raise(index, levels.switches, &mut levels.least);
            }
            if agree {
                return Some(levels);
            }
        }
        None
    }

    /// The level of each operation, and with them the batches.
    fn measure(&mut self, dag: &Dag) -> Vec<usize> {
        let mut levels = self.least.clone();
        let mut batch = 0;
        let mut requests = dag.requests.iter().peekable();
        self.batches.clear();
        for index in 0..levels.len() {
            let level = levels[index];
            if let Some(request) = requests.next_if(|request| request.send == index) {
                batch = level.max(batch);
                self.batches.push(batch);
                self.switches = self.switches.max(batch + 1);
                if let Some(load) = request.load {
                    levels[load] = levels[load].max(batch + 1);
                }
            }
            for edge in &dag.successors[index] {
                levels[edge.to()] = levels[edge.to()].max(level);
            }
        }
        levels
    }
}

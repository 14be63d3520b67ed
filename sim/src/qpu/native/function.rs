//! Which traces of a program make a function of the compiler's, and where functions are entered.

use std::collections::{BTreeMap, BTreeSet};

use super::trace::{MAX_TOGETHER, Trace};
use super::work::Entry;

/// The traces of each function, by their starts and in order.
pub fn divided(traces: &BTreeMap<usize, Trace>) -> Vec<Vec<usize>> {
    let mut functions = vec![Vec::new()];
    let mut together = 0;
    for (&start, trace) in traces {
        let length = trace.ops.len();
        if together + length > MAX_TOGETHER && together > 0 {
            functions.push(Vec::new());
            together = 0;
        }
        together += length;
        functions.last_mut().expect("there is a function").push(start);
    }
    functions
}

/// The traces that other functions than their own lead to, and the first one.
pub fn entries(traces: &BTreeMap<usize, Trace>, functions: &[Vec<usize>]) -> BTreeMap<usize, Entry> {
    let of =
        (0..).zip(functions).flat_map(|(number, starts)| starts.iter().map(move |&start| (start, number)));
    let of: BTreeMap<usize, usize> = of.collect();
    let mut entered = BTreeSet::from([0]);
    for (start, trace) in traces {
        entered.extend(trace.then.successors().filter(|next| of[next] != of[start]));
    }
    let mut numbers = vec![0; functions.len()];
    let entry = |start| {
        let function = of[&start];
        numbers[function] += 1;
        (start, Entry { function, number: numbers[function] - 1 })
    };
    entered.into_iter().map(entry).collect()
}

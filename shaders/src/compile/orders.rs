//! Code of shaders that fit in no order of their own: orders in which few values are alive are looked for, and taken if they are short.

use std::cell::OnceCell;

use crate::backend::{BackendError, Failed, Inputs, Selected};
use crate::diagnostic::ErrorKind;
use crate::ir::Shader;
use crate::pass;
use crate::pass::opt::relieve::{EFFORTS, Effort};
use crate::program::Program;

/// Instructions of the IR up to which other orders are looked for. What is longer would take the compiler seconds, and the
/// QPUs more for each picture.
const MOST_REORDERED: usize = 65_536;

/// Instructions of an order from which on it is taken if it fits, whatever else there is.
const LONG: usize = 16_384;

/// The code of a shader, with branches or without, in an order that keeps few values alive.
pub fn in_fewer_registers<'a>(
    shaders: impl Iterator<Item = &'a Shader>,
    inputs: Inputs,
) -> Option<Result<Program, BackendError>> {
    let shaders: Vec<&Shader> = shaders.filter(|shader| !is_too_long(shader)).collect();
    let forms = [true, false].into_iter().flat_map(|words| (0..shaders.len()).map(move |n| (n, words)));
    let mut search = Search { forms: forms.collect(), shaders, inputs, had_too_many: false };
    EFFORTS.into_iter().find_map(|effort| search.with(effort))
}

/// Whether no other order of a shader is looked for.
pub fn is_too_long(shader: &Shader) -> bool {
    length(shader) > MOST_REORDERED
}

/// Instructions of a shader.
fn length(shader: &Shader) -> usize {
    shader.insts_in_order().len()
}

/// An order in which values found no places for their whole lives, but there are as many as values.
struct Near<'a> {
    length: usize,
    selected: Selected<'a>,
    failed: Failed,
}

impl Near<'_> {
    /// The code with values that move; `None` if even that finds no places.
    fn moving(&self) -> Option<Result<Program, BackendError>> {
        self.selected.moving(&self.failed)
    }
}

struct Search<'a> {
    shaders: Vec<&'a Shader>,
    /// What orders are made of: each of the shaders with words kept whole and with their parts.
    forms: Vec<(usize, bool)>,
    inputs: Inputs,
    /// Whether more values were alive than there are places for, in an order that was not long.
    had_too_many: bool,
}

impl Search<'_> {
    /// The code of an order that an effort comes to.
    fn with(&mut self, effort: Effort) -> Option<Result<Program, BackendError>> {
        if effort.is_for_too_many && !self.had_too_many {
            return None;
        }
        let mut short = Vec::new();
        let spread: Vec<OnceCell<Option<Shader>>> = vec![OnceCell::new(); self.shaders.len()];
        for (n, words) in std::mem::take(&mut self.forms) {
            let spread = spread[n].get_or_init(|| pass::spread(self.shaders[n], effort));
            // What fits in no order is not tried again.
            let Some(orders) = spread.as_ref().and_then(|shader| pass::relieve(shader, effort, words)) else {
                continue;
            };
            self.forms.push((n, words));
            for order in orders {
                if length(&order) <= LONG {
                    short.push(order);
                    continue;
                }
                let code = self.in_one_order(std::mem::take(&mut short));
                match code.map_or_else(|| self.in_this_order(&order), Some) {
                    // Other orders of the same shader are as far from fitting, and there is more that can be done.
                    Some(Err(error)) if error.kind() == ErrorKind::DoesNotFit => {
                        if !effort.is_last {
                            break;
                        }
                    }
                    None => {}
                    code => return code,
                }
            }
        }
        self.in_one_order(short)
    }

    /// The code of an order, with values that move if it is near to one that fits; `None` if even that finds no places.
    fn in_this_order(&self, order: &Shader) -> Option<Result<Program, BackendError>> {
        let selected = match Selected::ordered(order, self.inputs) {
            Ok(selected) => selected,
            Err(error) => return Some(Err(error)),
        };
        match selected.code() {
            Err(failed) if failed.is_near() => selected.moving(&failed),
            code => match code.map_err(BackendError::from) {
                Err(BackendError::RegisterConflicts) => None,
                code => Some(code),
            },
        }
    }

    /// The code of the shortest order that fits, or of one that is little longer and leaves the other thread half of the registers,
    /// which hides its lookups. Where none fits, or only one that is much longer, values move.
    fn in_one_order(&mut self, mut orders: Vec<Shader>) -> Option<Result<Program, BackendError>> {
        orders.sort_by_cached_key(length);
        let mut near: Vec<Near> = Vec::new();
        let mut rest = orders.iter();
        let found = rest.find_map(|order| {
            let length = length(order);
            match Selected::ordered(order, self.inputs).map(|selected| (selected.code(), selected)) {
                Ok((Ok(code), _)) => Some((length, code)),
                Ok((Err(failed), selected)) if failed.is_near() => {
                    near.push(Near { length, selected, failed });
                    None
                }
                Ok(_) | Err(_) => {
                    self.had_too_many = true;
                    None
                }
            }
        });
        let Some((shortest, first)) = found else {
            return near.into_iter().find_map(|near| near.moving());
        };
        if first.threaded {
            return Some(Ok(first));
        }
        // A move is an instruction, too, but those of an order that is much longer are more.
        let mut shorter = near.iter().filter(|near| is_much_longer(shortest, near.length));
        if let Some(code) = shorter.find_map(Near::moving) {
            return Some(code);
        }
        if first.samples.is_empty() {
            return Some(Ok(first));
        }
        let others = rest.take_while(|order| !is_much_longer(length(order), shortest));
        let mut others =
            others.filter_map(|order| Selected::ordered(order, self.inputs).ok()?.threaded()?.ok());
        let hides = others.find(|code| code.clocks() < first.clocks());
        Some(Ok(hides.unwrap_or(first)))
    }
}

/// Whether an order is so much longer than another one that what speaks for it does not count.
fn is_much_longer(length: usize, than: usize) -> bool {
    4 * length > 5 * than
}

//! What a program means: an interpreter for one element, which knows nothing of any compiler.

use crate::ast::*;
use crate::ops::ROWS;
use crate::value::{Base, Value};

/// What one element sees.
pub struct Inputs<'a> {
    /// Values of [`SOURCES`], in their order.
    pub sources: [Value; SOURCES.len()],
    pub table: &'a [Value; TABLE],
}

/// How a block ends early.
enum Flow {
    Break,
    Continue,
    Return(Value),
    Discard,
}

struct Machine<'a> {
    program: &'a Program,
    inputs: &'a Inputs<'a>,
    variables: Vec<Value>,
    arrays: Vec<[u32; ARRAY]>,
}

/// First value of an array's element.
pub fn first_of_array(array: usize, element: usize) -> u32 {
    (array * 7 + element * 3 + 1) as u32
}

/// The word that an element shows; `None` if it is discarded.
pub fn run(program: &Program, inputs: &Inputs) -> Option<u32> {
    let arrays = (0..program.arrays).map(|a| std::array::from_fn(|e| first_of_array(a, e))).collect();
    let mut machine = Machine { program, inputs, variables: program.initial.clone(), arrays };
    if let Err(Flow::Discard) = machine.block(&program.body) {
        return None;
    }
    let mut hash = 0x811c_9dc5u32;
    let mut mix = |word: u32| hash = (hash.wrapping_mul(31) ^ hash >> 15).wrapping_add(word);
    for &v in &program.shown {
        let ty = program.variables[v];
        for &word in &machine.variables[v][..ty.size.into()] {
            mix(match ty.base {
                Base::Float => (f32::from_bits(word) * 16.0) as i32 as u32,
                _ => word,
            });
        }
    }
    for &a in &program.shown_arrays {
        machine.arrays[a].iter().for_each(|&word| mix(word));
    }
    Some(hash)
}

/// GLSL's way to keep an index in range: an unsigned remainder.
fn wrapped(word: u32, length: usize) -> usize {
    word as usize % length
}

impl Machine<'_> {
    fn block(&mut self, list: &[Stmt]) -> Result<(), Flow> {
        list.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<(), Flow> {
        match stmt {
            Stmt::Assign(place, value) => {
                let value = self.value(value)?;
                match place {
                    Place::Var(v) => self.variables[*v] = value,
                    Place::Swizzle(v, components) => {
                        for (&component, word) in components.iter().zip(value) {
                            self.variables[*v][usize::from(component)] = word;
                        }
                    }
                    Place::Component(v, index) => {
                        let length = self.program.variables[*v].size;
                        let at = wrapped(self.value(index)?[0], length.into());
                        self.variables[*v][at] = value[0];
                    }
                    Place::Element(a, index) => {
                        let at = wrapped(self.value(index)?[0], ARRAY);
                        self.arrays[*a][at] = value[0];
                    }
                }
            }
            Stmt::If(condition, yes, no) => {
                let list = if self.holds(condition)? { yes } else { no };
                self.block(list)?;
            }
            Stmt::For(counter, count, body) => {
                let count = self.value(count)?[0] as i32;
                let mut n = 0;
                while n < count {
                    self.variables[*counter] = [n as u32, 0, 0, 0];
                    if self.ends(body)? {
                        break;
                    }
                    n += 1;
                }
            }
            Stmt::DoWhile(counter, most, condition, body) => {
                for n in 0..*most {
                    self.variables[*counter] = [n, 0, 0, 0];
                    if self.ends(body)? || !self.holds(condition)? {
                        break;
                    }
                }
            }
            Stmt::Switch(selector, cases) => {
                let selector = self.value(selector)?[0] as i32;
                let labelled = cases.iter().position(|(labels, ..)| labels.contains(&selector));
                let start = labelled.or_else(|| cases.iter().position(|(labels, ..)| labels.is_empty()));
                for (_, body, ends) in &cases[start.unwrap_or(cases.len())..] {
                    match self.block(body) {
                        Err(Flow::Break) => break,
                        other => other?,
                    }
                    if *ends {
                        break;
                    }
                }
            }
            Stmt::Break(c) if self.holds(c)? => return Err(Flow::Break),
            Stmt::Continue(c) if self.holds(c)? => return Err(Flow::Continue),
            Stmt::Discard(c) if self.holds(c)? => return Err(Flow::Discard),
            Stmt::Return(c, value) if self.holds(c)? => return Err(Flow::Return(self.value(value)?)),
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Discard(_) | Stmt::Return(..) => {}
        }
        Ok(())
    }

    /// Runs a loop's body once; whether the loop ends.
    fn ends(&mut self, body: &[Stmt]) -> Result<bool, Flow> {
        match self.block(body) {
            Err(Flow::Break) => Ok(true),
            Err(Flow::Continue) => Ok(false),
            other => other.map(|()| false),
        }
    }

    fn holds(&mut self, condition: &Expr) -> Result<bool, Flow> {
        Ok(self.value(condition)?[0] != 0)
    }

    fn value(&mut self, expr: &Expr) -> Result<Value, Flow> {
        Ok(match expr {
            Expr::Literal(_, value) => *value,
            Expr::Stored(_, at) => self.program.stored[*at],
            Expr::Opaque(ty, truth) => {
                let one = if ty.base == Base::Float { 1f32.to_bits() } else { 1 };
                [if *truth { one } else { 0 }; 4]
            }
            Expr::Var(v) => self.variables[*v],
            Expr::Read(source) => {
                let at = SOURCES.iter().position(|s| s == source).expect("the list has every source");
                self.inputs.sources[at]
            }
            Expr::Table(index) => self.inputs.table[wrapped(self.value(index)?[0], TABLE)],
            Expr::Element(a, index) => {
                let at = wrapped(self.value(index)?[0], ARRAY);
                [self.arrays[*a][at], 0, 0, 0]
            }
            Expr::Component(v, index) => {
                let length = self.program.type_of(v).size;
                let value = self.value(v)?;
                [value[wrapped(self.value(index)?[0], length.into())], 0, 0, 0]
            }
            Expr::Op(row, size, args) => {
                let mut values = Vec::with_capacity(3);
                for arg in args {
                    values.push(self.value(arg)?);
                }
                let component = |c: usize| {
                    let words: Vec<u32> = values.iter().map(|v| v[c]).collect();
                    if c < usize::from(*size) { (ROWS[*row].value)(&words) } else { 0 }
                };
                [component(0), component(1), component(2), component(3)]
            }
            Expr::Select(c, a, b) => {
                let condition = self.holds(c)?;
                self.value(if condition { a } else { b })?
            }
            Expr::Swizzle(v, components) => {
                let value = self.value(v)?;
                let mut picked = [0; 4];
                for (slot, &component) in picked.iter_mut().zip(components) {
                    *slot = value[usize::from(component)];
                }
                picked
            }
            Expr::Construct(_, parts) => {
                let (mut all, mut at) = ([0; 4], 0);
                for part in parts {
                    let size = usize::from(self.program.type_of(part).size);
                    let value = self.value(part)?;
                    all[at..at + size].copy_from_slice(&value[..size]);
                    at += size;
                }
                all
            }
            Expr::Call(f, args) => {
                let function = &self.program.functions[*f];
                let mut values = Vec::new();
                for arg in args {
                    values.push(self.value(arg)?);
                }
                for (&parameter, value) in function.parameters.iter().zip(values) {
                    self.variables[parameter] = value;
                }
                for &local in &function.locals {
                    self.variables[local] = self.program.initial[local];
                }
                match self.block(&function.body) {
                    Err(Flow::Return(value)) => value,
                    other => {
                        other?;
                        self.value(&function.result)?
                    }
                }
            }
        })
    }
}

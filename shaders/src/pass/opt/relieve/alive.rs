//! What is alive at a place that moves.

use cranelift_entity::SecondaryMap;

use crate::ir::Value;

/// Values, the youngest last.
#[derive(Clone, Default)]
pub struct Alive {
    values: Vec<Value>,
    holds: SecondaryMap<Value, bool>,
}

impl Alive {
    /// Whether a value is among them.
    pub fn contains(&self, value: Value) -> bool {
        self.holds[value]
    }

    /// Adds a value, if it is not among them.
    pub fn insert(&mut self, value: Value) {
        if !std::mem::replace(&mut self.holds[value], true) {
            self.values.push(value);
        }
    }

    /// Takes a value away, if it is among them.
    pub fn remove(&mut self, value: Value) {
        if self.holds[value] {
            self.holds[value] = false;
            self.values.retain(|&other| other != value);
        }
    }

    /// Takes all of them away.
    pub fn clear(&mut self) {
        self.values.drain(..).for_each(|value| self.holds[value] = false);
    }

    /// All of them.
    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

impl Extend<Value> for Alive {
    fn extend<I: IntoIterator<Item = Value>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.insert(value));
    }
}

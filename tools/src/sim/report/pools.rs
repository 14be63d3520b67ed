//! Values that a report writes once.

use std::collections::BTreeMap;

use super::json::list;

/// Values that are written once and meant by their number.
#[derive(Default)]
pub struct Pool {
    numbers: BTreeMap<String, usize>,
    values: Vec<String>,
}

impl Pool {
    /// The number of a value that is JSON already.
    pub fn number(&mut self, value: String) -> usize {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        self.values.push(value.clone());
        self.numbers.insert(value, self.values.len() - 1);
        self.values.len() - 1
    }

    /// All values by their numbers.
    pub fn list(&self) -> String {
        list(&self.values)
    }
}

/// What several submissions share.
#[derive(Default)]
pub struct Pools {
    pub programs: Pool,
    /// Lists as lists of lines.
    pub lists: Pool,
    /// Pictures as data URIs.
    pub pictures: Pool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number() {
        let mut pool = Pool::default();
        let numbers = ["1", "2", "1"].map(|value| pool.number(value.into()));
        assert_eq!((numbers, pool.list()), ([0, 1, 0], "[1,2]".into()));
    }
}

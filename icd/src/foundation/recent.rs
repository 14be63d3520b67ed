//! A small table that keeps what was asked for last.

/// Values by key, the last that was asked for first.
pub struct Recent<K, V> {
    most: usize,
    entries: Vec<(K, V)>,
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    /// A table of at most so many values, which is looked through one by one.
    pub const fn new(most: usize) -> Recent<K, V> {
        Recent { most, entries: Vec::new() }
    }

    /// The value of a key.
    pub fn get(&mut self, key: &K) -> Option<V> {
        let place = self.entries.iter().position(|(of, _)| of == key)?;
        self.entries[..=place].rotate_right(1);
        self.entries.first().map(|(_, value)| value.clone())
    }

    /// Adds a value, of a key that has none; the one that was not asked for longest may go.
    pub fn insert(&mut self, key: K, value: V) {
        self.entries.truncate(self.most.saturating_sub(1));
        self.entries.insert(0, (key, value));
    }

    /// How many there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_asks_for_goes_first() {
        let mut recent = Recent::new(3);
        for key in 0..3 {
            recent.insert(key, 10 * key);
        }
        assert_eq!(recent.get(&0), Some(0));
        recent.insert(3, 30);
        assert_eq!([0, 1, 2, 3].map(|key| recent.get(&key)), [Some(0), None, Some(20), Some(30)]);
        assert_eq!(recent.count(), 3);
    }
}

//! Numbers of a file's objects: the smallest free one from 1 on, as the kernel gives them.

use std::collections::BTreeMap;

use nix::errno::Errno;

/// A table from numbers to objects.
pub struct Handles<T>(BTreeMap<u32, T>);

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Handles(BTreeMap::new())
    }
}

impl<T: Clone> Handles<T> {
    /// Gives `object` a number.
    ///
    /// # Errors
    /// `ENOMEM` when there is none left.
    pub fn insert(&mut self, object: T) -> Result<u32, Errno> {
        let dense = self.0.len() as u32;
        // Usually nothing was closed in between and the first gap lies behind the last number.
        let free = match self.0.last_key_value() {
            None => 1,
            Some((&last, _)) if last == dense => last.checked_add(1).ok_or(Errno::ENOMEM)?,
            Some(_) => self.first_gap(),
        };
        self.0.insert(free, object);
        Ok(free)
    }

    fn first_gap(&self) -> u32 {
        let numbers = self.0.keys().zip(1..);
        numbers.take_while(|&(&number, expected)| number == expected).count() as u32 + 1
    }

    /// The object with this number.
    pub fn get(&self, number: u32) -> Option<T> {
        self.0.get(&number).cloned()
    }

    /// Takes the object out.
    pub fn remove(&mut self, number: u32) -> Option<T> {
        self.0.remove(&number)
    }

    /// The number of the first object that `is` accepts.
    pub fn find(&self, is: impl Fn(&T) -> bool) -> Option<u32> {
        self.0.iter().find(|(_, object)| is(object)).map(|(&number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_free_number_is_next() {
        let mut handles = Handles::default();
        let numbers: Vec<u32> = "abcd".chars().map(|c| handles.insert(c).unwrap()).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        assert_eq!(handles.remove(2), Some('b'));
        assert_eq!(handles.remove(2), None);
        assert_eq!(handles.remove(1), Some('a'));
        assert_eq!(handles.insert('e'), Ok(1));
        assert_eq!(handles.insert('f'), Ok(2));
        assert_eq!(handles.insert('g'), Ok(5));
        assert_eq!(handles.get(3), Some('c'));
        assert_eq!(handles.find(|&c| c == 'g'), Some(5));
    }
}

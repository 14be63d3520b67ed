//! The rows that a vertex or coordinate program writes, in whatever order it sets them up.

use std::collections::BTreeMap;

use vc4_sim::qpu::Lanes;

/// Rows of 32-bit words, horizontal, one after the other (qpu.md §4.9), but for the row's number.
const SETUP: u32 = 0x1a00;
const NUMBER: u32 = 63;

/// Rows under way.
#[derive(Default)]
pub struct Rows {
    written: BTreeMap<u32, Lanes>,
    next: Option<u32>,
}

impl Rows {
    /// Takes the word of a write set-up.
    ///
    /// # Panics
    /// If it is no set-up of whole rows.
    pub fn set_up(&mut self, word: u32) {
        assert_eq!(word & !NUMBER, SETUP, "32-bit rows, horizontal, stride 1");
        self.next = Some(word & NUMBER);
    }

    /// Writes the next row.
    ///
    /// # Panics
    /// Without a set-up, and if the row was written before.
    pub fn write(&mut self, value: &Lanes) {
        let row = self.next.as_mut().expect("a write is set up");
        assert!(self.written.insert(*row, *value).is_none(), "row {row} is written once");
        *row += 1;
    }

    /// All rows.
    ///
    /// # Panics
    /// If one was left out.
    pub fn finish(self) -> Vec<Lanes> {
        assert!(self.written.keys().copied().eq(0..self.written.len() as u32), "rows follow each other");
        self.written.into_values().collect()
    }
}

//! A program as words, descriptors and labels.

use super::desc::Descriptor;

/// A named code word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Name.
    pub name: String,
    /// Code word it stands before; the number of words for the end.
    pub address: u32,
}

/// Code with its operand descriptors and labels. `Display` is a listing that [`super::assemble`] takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Instruction words.
    pub code: Vec<u32>,
    /// Operand descriptors.
    pub descriptors: Vec<Descriptor>,
    /// Labels, by address. The listing adds names for the targets that have none.
    pub labels: Vec<Label>,
}

impl Program {
    /// A label's address.
    pub fn address(&self, name: &str) -> Option<u32> {
        self.labels.iter().find(|label| label.name == name).map(|label| label.address)
    }
}

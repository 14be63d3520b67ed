//! A program as words, descriptors and labels, and its listing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use super::{Descriptor, Field, Inst, print};

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
    /// The text of one word, without its place; `None` beyond the code.
    pub fn line(&self, address: usize) -> Option<String> {
        self.code.get(address).map(|&word| print::word(word, self, &self.names()))
    }

    /// A label's address.
    pub fn address(&self, name: &str) -> Option<u32> {
        self.labels.iter().find(|label| label.name == name).map(|label| label.address)
    }

    /// Names by address: the labels whose names can be written and are not taken, then one for each target
    /// inside the code without a name.
    fn names(&self) -> BTreeMap<u32, Vec<String>> {
        let mut names = BTreeMap::<u32, Vec<String>>::new();
        let mut taken = BTreeSet::new();
        let end = self.code.len() as u32;
        for label in self.labels.iter().filter(|label| label.address <= end && is_name(&label.name)) {
            if taken.insert(label.name.clone()) {
                names.entry(label.address).or_default().push(label.name.clone());
            }
        }
        for inst in self.code.iter().filter_map(|&word| Inst::decode(word)) {
            for address in [inst.get(Field::Target), inst.target_end()].into_iter().flatten() {
                if address <= end && !names.contains_key(&address) {
                    let mut name = format!("L{address:03x}");
                    while !taken.insert(name.clone()) {
                        name.push('_');
                    }
                    names.insert(address, vec![name]);
                }
            }
        }
        names
    }
}

/// Whether the assembler reads `text` as one name.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (n, descriptor) in self.descriptors.iter().enumerate() {
            let second = match descriptor.second {
                0 => String::new(),
                second => format!(", {second:#x}"),
            };
            let text = format!(".opdesc {n}, {:#010x}{second}", descriptor.word);
            writeln!(f, "{text:<44}; {descriptor}")?;
        }
        let names = self.names();
        for address in 0..=self.code.len() {
            for name in names.get(&(address as u32)).into_iter().flatten() {
                writeln!(f, "{name}:")?;
            }
            if let Some(&word) = self.code.get(address) {
                let text = print::word(word, self, &names);
                writeln!(f, "    {text:<40}; {address:03x} {word:08x}")?;
            }
        }
        Ok(())
    }
}

//! Labels: names of instructions, and the branches that go there.

use super::arguments::Arg;
use super::assembled::Label;
use super::error::{Error, Result};
use super::lexer::Span;
use super::suggest::closest;
use crate::qpu::inst::IMM;
use crate::qpu::isa::Signal;
use crate::qpu::rules::BRANCH_SLOTS;
use std::collections::BTreeMap;

/// Bytes of an instruction.
const INST_BYTES: i64 = 8;

/// What is known about labels while a text is read.
#[derive(Default)]
pub struct Labels<'a> {
    names: BTreeMap<&'a str, (usize, Span)>,
    uses: Vec<(usize, Arg<'a>)>,
}

impl<'a> Labels<'a> {
    /// `name` is the instruction with number `instruction`.
    pub fn define(&mut self, name: &'a str, span: Span, instruction: usize) -> Result<()> {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Error::new(span, "a label begins with a letter or `_`"));
        }
        if Signal::from_name(name).is_some() {
            return Err(Error::new(span, "a label cannot have the name of a signal; signals end with `;`"));
        }
        match self.names.insert(name, (instruction, span)) {
            None => Ok(()),
            Some((first, _)) => {
                Err(Error::new(span, format!("the label stands before instruction {first} already")))
            }
        }
    }

    /// The branch with number `instruction` goes to the label `target`.
    pub fn branch(&mut self, instruction: usize, target: Arg<'a>) {
        self.uses.push((instruction, target));
    }

    /// Puts the distances into the branches.
    pub fn resolve(&self, words: &mut [u64], errors: &mut Vec<Error>) {
        for &(branch, target) in &self.uses {
            match self.distance(branch, target, words.len()) {
                Ok(distance) => words[branch] |= IMM.put(u64::from(distance as u32)),
                Err(error) => errors.push(*error),
            }
        }
    }

    /// Bytes from the instruction behind the branch's delay slots (qpu.md §2.8).
    fn distance(&self, branch: usize, target: Arg<'_>, len: usize) -> Result<i32> {
        let Some(&(to, _)) = self.names.get(target.text) else {
            let names = self.names.keys().copied();
            return Err(Error::new(target.span, "no such label").suggest(closest(target.text, names)));
        };
        if to >= len {
            return Err(Error::new(target.span, "no instruction stands behind this label"));
        }
        let bytes = (to as i64 - (branch + BRANCH_SLOTS + 1) as i64) * INST_BYTES;
        i32::try_from(bytes).map_err(|_| Error::new(target.span, "the label is too far away"))
    }

    /// All labels in the order of their instructions.
    pub fn into_list(self) -> Vec<Label> {
        let row = |(name, (instruction, span)): (&str, (usize, Span))| Label {
            name: name.to_string(),
            instruction,
            span: span.start..span.end,
        };
        let mut list: Vec<Label> = self.names.into_iter().map(row).collect();
        list.sort_by_key(|label| label.span.start);
        list
    }
}

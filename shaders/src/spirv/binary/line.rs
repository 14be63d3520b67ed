//! Places in the source of a module, as OpLine and OpString tell them.
//!
//! Lines are read from the plain words, so that even an error in decoding has its place.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use spirv::Op;

use super::inst::{HEADER_WORDS, Id};
use crate::ir::{LineId, SourceLine};

/// The source lines of a module.
#[derive(Debug, Default)]
pub struct Lines {
    /// The places, by number.
    pub table: Vec<SourceLine>,
    /// Words from which on another line counts.
    changes: Vec<(usize, LineId)>,
}

/// Whether a line ends behind an instruction: with its block or function.
fn ends_line(opcode: u32) -> bool {
    const ENDS: [Op; 9] = [
        Op::Branch,
        Op::BranchConditional,
        Op::Switch,
        Op::Kill,
        Op::TerminateInvocation,
        Op::Return,
        Op::ReturnValue,
        Op::Unreachable,
        Op::FunctionEnd,
    ];
    ENDS.iter().any(|&op| op as u32 == opcode)
}

/// A literal string: bytes from the lowest of each word up to a zero.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Lines {
    /// Reads the lines of a module in the host's byte order, as far as its instructions tile it.
    pub fn read(words: &[u32]) -> Lines {
        let mut lines = Lines::default();
        let mut files: FxHashMap<Id, Arc<str>> = FxHashMap::default();
        let mut known: FxHashMap<[u32; 3], LineId> = FxHashMap::default();
        let mut at = HEADER_WORDS;
        while let Some(&head) = words.get(at) {
            let (length, opcode) = ((head >> 16) as usize, head & 0xffff);
            let Some(inst) = words.get(at..at + length).filter(|inst| !inst.is_empty()) else { break };
            match *inst {
                [_, id, ref name @ ..] if opcode == Op::String as u32 => {
                    files.insert(id, text(name).into());
                }
                [_, file, line, column] if opcode == Op::Line as u32 => {
                    let id = *known.entry([file, line, column]).or_insert_with(|| {
                        let file = files.get(&file).cloned().unwrap_or_default();
                        lines.table.push(SourceLine { file, line, column });
                        LineId::from_number(lines.table.len())
                    });
                    lines.changes.push((at, id));
                }
                _ if opcode == Op::NoLine as u32 => lines.changes.push((at, LineId::NONE)),
                _ if ends_line(opcode) => lines.changes.push((at + length, LineId::NONE)),
                _ => {}
            }
            at += length;
        }
        lines
    }

    /// The line that the instruction at a word belongs to.
    pub fn at(&self, word: usize) -> LineId {
        let before = self.changes.partition_point(|&(from, _)| from <= word);
        before.checked_sub(1).map_or(LineId::NONE, |index| self.changes[index].1)
    }
}

/// The source line that the instruction at a word of a module came from.
pub fn source_line(words: &[u32], word: usize) -> Option<SourceLine> {
    let lines = Lines::read(words);
    lines.at(word).number().map(|number| lines.table[number].clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rspirv::binary::Assemble;
    use rspirv::dr::Builder;
    use rspirv::spirv::FunctionControl;

    #[test]
    fn lines_reach_to_the_end_of_their_block() {
        let mut b = Builder::new();
        b.set_version(1, 0);
        let file = b.string("a.frag");
        let void = b.type_void();
        let ty = b.type_function(void, []);
        b.begin_function(void, None, FunctionControl::NONE, ty).unwrap();
        b.begin_block(None).unwrap();
        b.line(file, 2, 5);
        b.nop().unwrap();
        b.no_line();
        b.nop().unwrap();
        b.line(file, 3, 0);
        b.nop().unwrap();
        b.ret().unwrap();
        b.end_function().unwrap();
        let words = b.module().assemble();
        let mut at = HEADER_WORDS;
        let mut found = Vec::new();
        while at < words.len() {
            found.push((words[at] & 0xffff, source_line(&words, at).map(|place| place.to_string())));
            at += (words[at] >> 16) as usize;
        }
        let place = |text: &str| Some(text.to_owned());
        let (second, third) = (place("a.frag:2:5"), place("a.frag:3"));
        let body = &found[found.len() - 8..];
        let wanted = [
            (Op::Line, second.clone()),
            (Op::Nop, second),
            (Op::NoLine, None),
            (Op::Nop, None),
            (Op::Line, third.clone()),
            (Op::Nop, third.clone()),
            (Op::Return, third),
            (Op::FunctionEnd, None),
        ];
        assert_eq!(body, wanted.map(|(op, place)| (op as u32, place)));
    }

    #[test]
    fn broken_modules_have_lines_as_far_as_they_go() {
        let line = [4 << 16 | Op::Line as u32, 9, 7, 1];
        let mut words = vec![spirv::MAGIC_NUMBER, 0x10000, 0, 10, 0];
        words.extend(line);
        words.extend([0, 1, 2]);
        assert_eq!(source_line(&words, 9).unwrap().to_string(), "line 7:1");
        assert_eq!(source_line(&words[..4], 9), None);
        words[5] = 0xffff << 16 | Op::Line as u32;
        assert_eq!(source_line(&words, 9), None);
    }
}

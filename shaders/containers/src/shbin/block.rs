//! Where the blocks of a file stand, and the bytes of their entries: what reading and writing share.

use super::model::*;
use crate::pica::Descriptor;

pub(super) const DVLB_HEADER: usize = 8;
/// The DVLP header as nihstro writes it; three more words from others.
pub(super) const DVLP_HEADER: usize = 0x1C;
pub(super) const DVLP_UNKNOWN: usize = 12;
pub(super) const DVLE_HEADER: usize = 0x40;

/// A table entry of fixed size.
pub(super) trait Entry: Sized {
    const SIZE: usize;
    /// The entry in exactly `SIZE` bytes.
    fn get(bytes: &[u8]) -> Self;
    fn put(&self, out: &mut Vec<u8>);
}

/// The u16 at a byte offset the caller knows to be inside.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn put_words(out: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| out.extend(word.to_le_bytes()));
}

impl Entry for u8 {
    const SIZE: usize = 1;

    fn get(bytes: &[u8]) -> Self {
        bytes[0]
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }
}

impl Entry for u32 {
    const SIZE: usize = 4;

    fn get(bytes: &[u8]) -> Self {
        u32_at(bytes, 0)
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_words(out, &[*self]);
    }
}

impl Entry for Descriptor {
    const SIZE: usize = 8;

    fn get(bytes: &[u8]) -> Self {
        Descriptor { word: u32_at(bytes, 0), second: u32_at(bytes, 4) }
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_words(out, &[self.word, self.second]);
    }
}

impl Entry for Constant {
    const SIZE: usize = 0x14;

    fn get(bytes: &[u8]) -> Self {
        let words: [u32; 4] = std::array::from_fn(|n| u32_at(bytes, 4 + 4 * n));
        let [first, rest @ ..] = words;
        let value = match u16_at(bytes, 0) {
            0 => ConstantValue::Bool(first, rest),
            1 => ConstantValue::Int(first.to_le_bytes(), rest),
            2 => ConstantValue::Float(words),
            kind => ConstantValue::Unknown(kind, words),
        };
        Constant { register: u16_at(bytes, 2), value }
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.kind().to_le_bytes());
        out.extend(self.register.to_le_bytes());
        match self.value {
            ConstantValue::Bool(first, rest) => put_words(out, &[first, rest[0], rest[1], rest[2]]),
            ConstantValue::Int(xyzw, rest) => {
                out.extend(xyzw);
                put_words(out, &rest);
            }
            ConstantValue::Float(words) | ConstantValue::Unknown(_, words) => put_words(out, &words),
        }
    }
}

impl Entry for LabelEntry {
    const SIZE: usize = 0x10;

    fn get(bytes: &[u8]) -> Self {
        LabelEntry {
            id: bytes[0],
            padding: [bytes[1], bytes[2], bytes[3]],
            address: u32_at(bytes, 4),
            unknown: u32_at(bytes, 8),
            name: u32_at(bytes, 12),
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.id);
        out.extend(self.padding);
        put_words(out, &[self.address, self.unknown, self.name]);
    }
}

impl Entry for Output {
    const SIZE: usize = 8;

    fn get(bytes: &[u8]) -> Self {
        Output {
            kind: OutputKind::from_code(u16_at(bytes, 0)),
            register: u16_at(bytes, 2),
            mask: u32_at(bytes, 4),
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.kind.code().to_le_bytes());
        out.extend(self.register.to_le_bytes());
        put_words(out, &[self.mask]);
    }
}

impl Entry for Uniform {
    const SIZE: usize = 8;

    fn get(bytes: &[u8]) -> Self {
        Uniform { name: u32_at(bytes, 0), first: u16_at(bytes, 4), last: u16_at(bytes, 6) }
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_words(out, &[self.name]);
        out.extend(self.first.to_le_bytes());
        out.extend(self.last.to_le_bytes());
    }
}

/// Absolute offset of a table's entry in a file where the block that names the table is at `base`.
pub(super) fn entry_at<T: Entry>(table: &Table<T>, base: usize, n: usize) -> usize {
    // An empty table may point anywhere, on a 32-bit machine beyond the largest offset.
    base.saturating_add(table.at as usize).saturating_add(n * T::SIZE)
}

/// Offset and bytes of a table that has any.
fn range<T: Entry>(table: &Table<T>, base: usize) -> Option<(usize, usize)> {
    (!table.entries.is_empty()).then(|| (entry_at(table, base, 0), table.entries.len() * T::SIZE))
}

impl Dvle {
    /// Offset and size of each block of the program that holds bytes.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let at = self.at as usize;
        [
            Some((at, DVLE_HEADER)),
            range(&self.constants, at),
            range(&self.labels, at),
            range(&self.outputs, at),
            range(&self.uniforms, at),
            range(&self.symbols, at),
        ]
        .into_iter()
        .flatten()
    }
}

impl Shbin {
    /// Offset of the DVLP.
    pub fn dvlp_at(&self) -> usize {
        DVLB_HEADER + 4 * self.programs.len()
    }

    /// Offset of a code word.
    pub fn word_at(&self, address: usize) -> usize {
        entry_at(&self.dvlp.code, self.dvlp_at(), address)
    }

    /// Offset and size of each block that holds bytes; the file names and the last DVLP header words only if the
    /// model has them.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let dvlp = self.dvlp_at();
        let names: usize = self.dvlp.file_names.entries.iter().map(|name| name.len() + 1).sum();
        let unknown = if self.dvlp.unknown.is_some() { DVLP_UNKNOWN } else { 0 };
        [
            Some((0, dvlp)),
            Some((dvlp, DVLP_HEADER + unknown)),
            range(&self.dvlp.code, dvlp),
            range(&self.dvlp.descriptors, dvlp),
            (names != 0).then(|| (dvlp.saturating_add(self.dvlp.file_names.at as usize), names)),
        ]
        .into_iter()
        .flatten()
        .chain(self.programs.iter().flat_map(Dvle::blocks))
    }
}

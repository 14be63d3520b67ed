//! The instruction set as text, printed from the tables that encode, decode and check it.

use super::cost::COSTS;
use super::inst::{LAYOUTS, Layout};
use super::isa::{
    AddOp, BranchCond, Cond, MulOp, Mux, Pack, Raddr, RegFile, Signal, SmallImm, Unpack, Waddr,
};
use super::rules::RULES;
use crate::picture::{field, width};
use std::fmt::Write;

/// A part of the reference.
pub struct Topic {
    /// One word.
    pub name: &'static str,
    /// What it is about, with its place in the manual.
    pub title: &'static str,
    print: fn(&mut String),
}

impl Topic {
    /// The part with its title.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n{}\n", self.title, "=".repeat(self.title.len()));
        (self.print)(&mut out);
        out
    }
}

const fn topic(name: &'static str, title: &'static str, print: fn(&mut String)) -> Topic {
    Topic { name, title, print }
}

/// All parts, in the manual's order.
pub static TOPICS: &[Topic] = &[
    topic("words", "Instruction words (qpu.md 2.1)", |out| LAYOUTS.iter().for_each(|l| layout(out, l))),
    topic("signals", "Signals, sig (qpu.md 2.2)", |out| {
        codes(out, Signal::ALL.iter().map(|row| (row.code(), row.name(), row.doc())));
    }),
    topic("add", "Operations of the add unit, op_add (qpu.md 2.3)", |out| {
        codes(out, AddOp::ALL.iter().map(|row| (row.code(), row.name(), row.doc())));
    }),
    topic("mul", "Operations of the mul unit, op_mul (qpu.md 2.4)", |out| {
        codes(out, MulOp::ALL.iter().map(|row| (row.code(), row.name(), row.doc())));
    }),
    topic("operands", "Operands: add_a, add_b, mul_a, mul_b (qpu.md 2.5)", |out| {
        codes(out, Mux::ALL.iter().map(|row| (row.code(), row.name(), row.doc())));
    }),
    topic("conditions", "Write conditions: cond_add, cond_mul (qpu.md 2.6)", |out| {
        codes(out, Cond::ALL.iter().map(|row| (row.code(), row.name(), row.doc())));
    }),
    topic("branches", "Branch conditions, cond_br (qpu.md 2.8)", |out| {
        codes(out, BranchCond::ALL.iter().map(|row| (row.code(), row.name(), row.doc())));
    }),
    topic("unpack", "Unpack of file A (pm = 0) or r4 (pm = 1) (qpu.md 2.11)", |out| {
        codes(out, Unpack::ALL.iter().map(|row| (row.code(), row.name(), row.doc())));
    }),
    topic("pack", "Pack of the file-A write (pm = 0) or the mul result (pm = 1) (qpu.md 2.11)", |out| {
        codes(out, Pack::ALL.iter().map(|row| (row.code(), row.name(), row.doc())));
    }),
    topic("immediates", "Small immediates and rotates (qpu.md 2.12)", immediates),
    topic("reads", "Read addresses: raddr_a, raddr_b (qpu.md 3.1)", |out| {
        let registers = (0, "ra0-ra31", "rb0-rb31", "Registers of the file.");
        let row = |&(raddr, doc): &(Raddr, &'static str)| {
            let name = |file| raddr.name(file).unwrap_or_default();
            (raddr.code(), name(RegFile::A), name(RegFile::B), doc)
        };
        addresses(out, registers, Raddr::DOCS.iter().map(row));
    }),
    topic("writes", "Write addresses: waddr_add, waddr_mul (qpu.md 3.2)", |out| {
        let registers =
            (0, "rx0-rx31", "rx0-rx31", "Registers of the file; ws exchanges the files of the units.");
        let row = |&(waddr, doc): &(Waddr, &'static str)| {
            let name = |file| waddr.name(file).unwrap_or_default();
            (waddr.code(), name(RegFile::A), name(RegFile::B), doc)
        };
        addresses(out, registers, Waddr::DOCS.iter().map(row));
    }),
    topic("rules", "What a program must not do (qpu.md 5)", rules),
    topic("costs", "Static costs in slots of 4 clocks (qpu.md 7)", costs),
];

/// The whole reference.
pub fn reference() -> String {
    TOPICS.iter().map(Topic::text).collect::<Vec<_>>().join("\n")
}

/// Writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => { writeln!($out, $($arg)*).expect("writing to a string does not fail") };
}

fn layout(out: &mut String, layout: &Layout) {
    put!(out, "{}\n  {}", layout.name, layout.picture);
    for &(letter, name) in layout.fields {
        let field = field(layout.picture, letter);
        let bits = match field.width {
            1 => field.shift.to_string(),
            width => format!("{}:{}", field.shift + width - 1, field.shift),
        };
        put!(out, "    {letter}  {bits:<6} {name}");
    }
    debug_assert_eq!(width(layout.picture), 64);
}

fn codes<'a>(out: &mut String, rows: impl Iterator<Item = (u8, &'a str, &'a str)>) {
    for (code, name, doc) in rows {
        put!(out, "  {code:>3}  {name:<24} {doc}");
    }
}

type AddressRow = (u8, &'static str, &'static str, &'static str);

fn addresses(out: &mut String, registers: AddressRow, rows: impl Iterator<Item = AddressRow>) {
    put!(out, "       {:<18} {:<18}", "file A", "file B");
    for (code, a, b, doc) in std::iter::once(registers).chain(rows) {
        put!(out, "  {code:>3}  {a:<18} {b:<18} {doc}");
    }
}

fn immediates(out: &mut String) {
    for code in 0..64 {
        let imm = SmallImm::new(code);
        let meaning = match imm.rotation() {
            Some(None) => "rotate the mul result by r5, element 0".to_string(),
            Some(Some(n)) => format!("rotate the mul result by {n}: element i to i + {n}"),
            None if code < 32 => format!("{}", imm.value() as i32),
            None => format!("{:?}", f32::from_bits(imm.value())),
        };
        put!(out, "  {code:>3}  {:<12} {meaning}", imm.to_string());
    }
}

fn rules(out: &mut String) {
    for rule in RULES {
        put!(out, "  {:<24} {} ({})", rule.id, rule.text, rule.manual.replace('§', ""));
    }
}

fn costs(out: &mut String) {
    for row in COSTS {
        put!(out, "  {:>3}  {} ({})", row.slots, row.text, row.manual.replace('§', ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_tells_every_row() {
        let text = reference();
        for topic in TOPICS {
            assert!(text.contains(topic.title), "{}", topic.title);
        }
        let names = Waddr::NAMES.iter().map(|row| row.0).chain(Raddr::NAMES.iter().map(|row| row.0));
        let ops = AddOp::ALL.iter().map(|op| op.name()).chain(RULES.iter().map(|rule| rule.id));
        for name in names.chain(ops) {
            assert!(text.contains(name), "{name}");
        }
        assert!(text.contains("Saturating unsigned addition per byte."));
    }

    #[test]
    fn pictures_name_all_their_letters() {
        for layout in &LAYOUTS {
            let letters = layout.picture.chars().filter(|c| c.is_ascii_alphabetic());
            for letter in letters {
                assert!(layout.fields.iter().any(|row| row.0 == letter), "{letter} in {}", layout.name);
            }
        }
        let words = TOPICS[0].text();
        assert!(words.contains("s  63:60  sig") && words.contains("f  45     sf"), "{words}");
        assert!(words.contains("n  49:45  raddr_a"), "{words}");
    }
}

//! A program's listing: names for its words, and each word as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter, Write};

use super::isa::{ADDRESSES, COMPARISONS};
use super::{Descriptor, Field, Inst, Mask, Op, Program, Reads, Swizzle};

type Names = BTreeMap<u32, Vec<String>>;

impl Program {
    /// The text of one word, without its place; `None` beyond the code.
    pub fn line(&self, address: usize) -> Option<String> {
        self.code.get(address).map(|&word| text_of(word, self, &self.names()))
    }

    /// Names by address: the labels whose names can be written and are not taken, then one for each target
    /// inside the code without a name.
    fn names(&self) -> Names {
        let mut names = Names::new();
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
                let text = text_of(word, self, &names);
                writeln!(f, "    {text:<40}; {address:03x} {word:08x}")?;
            }
        }
        Ok(())
    }
}

/// The text of a word of `program`. A word that is no instruction, or names a descriptor that does not exist,
/// is a `.word`.
fn text_of(word: u32, program: &Program, names: &Names) -> String {
    let Some(inst) = Inst::decode(word) else {
        return format!(".word {word:#010x}");
    };
    let descriptor = match inst.get(Field::Desc) {
        None => Descriptor::default(),
        Some(number) => match program.descriptors.get(number as usize) {
            Some(&descriptor) => descriptor,
            None => return format!(".word {word:#010x}"),
        },
    };
    let end = program.code.len() as u32;
    let mut text = String::from(inst.op().row().name);
    let mut printer = Printer { inst, descriptor, names, end, out: &mut text, first: true };
    printer.operands().expect("writing to a string succeeds");
    text
}

struct Printer<'a> {
    inst: Inst,
    descriptor: Descriptor,
    names: &'a Names,
    end: u32,
    out: &'a mut String,
    first: bool,
}

impl Printer<'_> {
    /// The operands in the one order the text has, then the descriptor's number and ignored bits.
    fn operands(&mut self) -> fmt::Result {
        self.destination()?;
        self.source(0)?;
        self.comparison(Field::CmpX)?;
        self.comparison(Field::CmpY)?;
        self.source(1)?;
        self.source(2)?;
        self.condition()?;
        self.uniforms()?;
        self.code_range()?;
        self.emission()?;
        if let Some(number) = self.inst.get(Field::Desc) {
            write!(self.out, " @{number}")?;
        }
        match self.inst.ignored_bits() {
            0 => Ok(()),
            bits => write!(self.out, " !{bits:#x}"),
        }
    }

    fn separate(&mut self) -> fmt::Result {
        self.out.write_str(if self.first { " " } else { ", " })?;
        self.first = false;
        Ok(())
    }

    fn destination(&mut self) -> fmt::Result {
        match self.inst.get(Field::Dst) {
            Some(register @ 0..16) => {
                self.separate()?;
                write!(self.out, "o{register}")?;
            }
            Some(register) => {
                self.separate()?;
                write!(self.out, "r{}", register - 16)?;
            }
            None if self.inst.op() == Op::Mova => {
                self.separate()?;
                self.out.write_str("a0")?;
            }
            None => return Ok(()),
        }
        match self.descriptor.mask() {
            Mask::XYZW => Ok(()),
            mask => write!(self.out, ".{mask}"),
        }
    }

    fn source(&mut self, n: usize) -> fmt::Result {
        let field = [Field::SrcA, Field::SrcB, Field::SrcC][n];
        let Some(register) = self.inst.get(field) else {
            return Ok(());
        };
        self.separate()?;
        let source = self.descriptor.source(n);
        if source.negate {
            self.out.push('-');
        }
        match register {
            0..16 => write!(self.out, "v{register}")?,
            16..32 => write!(self.out, "r{}", register - 16)?,
            _ => write!(self.out, "c{}", register - 32)?,
        }
        let wide = self.inst.op().row().width(field) == 7;
        if let Some(index @ 1..) = self.inst.get(Field::Index).filter(|_| wide) {
            write!(self.out, "[{}]", ADDRESSES[index as usize])?;
        }
        self.swizzle(source.swizzle)
    }

    /// The selectors, if one that counts is not in its own place; an operation on one component has one letter.
    fn swizzle(&mut self, swizzle: Swizzle) -> fmt::Result {
        let reads = self.inst.op().row().reads;
        if reads == Reads::X {
            return write!(self.out, ".{}", &swizzle.to_string()[..1]);
        }
        let places = reads.places(self.descriptor.mask().bits().into());
        let moved =
            (0..4).any(|place| places & 8 >> place != 0 && usize::from(swizzle.selector(place)) != place);
        if moved { write!(self.out, ".{swizzle}") } else { Ok(()) }
    }

    fn comparison(&mut self, field: Field) -> fmt::Result {
        let Some(comparison) = self.inst.get(field) else {
            return Ok(());
        };
        self.separate()?;
        self.out.write_str(COMPARISONS[comparison as usize])
    }

    fn condition(&mut self) -> fmt::Result {
        let (Some(how), Some(x), Some(y)) =
            (self.inst.get(Field::Cond), self.inst.get(Field::RefX), self.inst.get(Field::RefY))
        else {
            return Ok(());
        };
        self.separate()?;
        let flag = |reference, name| format!("{}cmp.{name}", if reference == 0 { "!" } else { "" });
        let (x_text, y_text) = (flag(x, 'x'), flag(y, 'y'));
        match how {
            0 => write!(self.out, "{x_text} || {y_text}"),
            1 => write!(self.out, "{x_text} && {y_text}"),
            // The flag not looked at is 1 in every file; a 0 must not get lost.
            2 if y == 0 => write!(self.out, "{x_text} ({y_text})"),
            2 => self.out.write_str(&x_text),
            _ if x == 0 => write!(self.out, "{y_text} ({x_text})"),
            _ => self.out.write_str(&y_text),
        }
    }

    fn uniforms(&mut self) -> fmt::Result {
        if let Some(register) = self.inst.get(Field::Bool) {
            self.separate()?;
            let not = if self.inst.get(Field::Not) == Some(1) { "!" } else { "" };
            write!(self.out, "{not}b{register}")?;
        }
        if let Some(register) = self.inst.get(Field::Int) {
            self.separate()?;
            write!(self.out, "i{register}")?;
        }
        Ok(())
    }

    fn code_range(&mut self) -> fmt::Result {
        let Some(target) = self.inst.get(Field::Target) else {
            return Ok(());
        };
        self.separate()?;
        match name(self.names, target, self.end) {
            Some(name) => self.out.write_str(name)?,
            None => write!(self.out, "{target}")?,
        }
        let Some(number) = self.inst.get(Field::Num) else {
            return Ok(());
        };
        self.separate()?;
        match name(self.names, target + number, self.end) {
            Some(name) => self.out.write_str(name),
            None => write!(self.out, "{number}"),
        }
    }

    fn emission(&mut self) -> fmt::Result {
        let Some(vertex) = self.inst.get(Field::Vertex) else {
            return Ok(());
        };
        self.separate()?;
        write!(self.out, "{vertex}")?;
        let primitive = self.inst.get(Field::Primitive) == Some(1);
        let invert = self.inst.get(Field::Invert) == Some(1);
        self.out.write_str(match (primitive, invert) {
            (false, false) => "",
            (true, false) => ", prim",
            (false, true) => ", inv",
            (true, true) => ", prim inv",
        })
    }
}

fn name(names: &Names, address: u32, end: u32) -> Option<&str> {
    names.get(&address).filter(|_| address <= end)?.first().map(String::as_str)
}

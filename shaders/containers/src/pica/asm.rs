//! The assembler: text to [`Program`].
//!
//! One pass reads the lines, keeping label operands and operand descriptors open; a second fills both in, so
//! labels and `.opdesc` may stand anywhere.

use std::collections::BTreeMap;

use super::isa::{ADDRESSES, COMPARISONS};
use super::line::{AsmError, Line, Token, parse_number};
use super::{Descriptor, Field, Inst, Label, MAX_DESCRIPTORS, MAX_WORDS, Mask, Op, Program, Source, Swizzle};

/// Assembles a text in the language of the [module](super).
///
/// # Errors
/// The first line that cannot be understood or encoded, with the token at fault.
pub fn assemble(text: &str) -> Result<Program, AsmError> {
    let mut assembler = Assembler::default();
    for (n, line) in text.lines().enumerate() {
        assembler.line(Line::new(line, n + 1))?;
    }
    assembler.finish()
}

/// What a descriptor must say: `bits` wherever `cared` has a one.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    bits: u32,
    cared: u32,
}

impl Need {
    /// Wants `cared` of `bits`; bits nobody wanted yet stay what they were first written as.
    fn add(&mut self, bits: u32, cared: u32) {
        self.bits = self.bits & !cared | bits & cared;
        self.cared |= cared;
    }

    fn agrees(self, other: Need) -> bool {
        (self.bits ^ other.bits) & self.cared & other.cared == 0
    }
}

/// A word whose open ends the second pass ties.
struct Pending<'a> {
    inst: Inst,
    mnemonic: Token<'a>,
    target: Option<Token<'a>>,
    number: Option<Token<'a>>,
    need: Need,
    descriptor: Option<(u32, Token<'a>)>,
}

enum Item<'a> {
    Word(u32),
    Inst(Pending<'a>),
}

/// A register operand before it is placed in a word.
struct Register<'a> {
    token: Token<'a>,
    kind: char,
    number: u32,
}

/// A source operand before it is placed in a word.
struct Operand<'a> {
    token: Token<'a>,
    value: u32,
    index: u32,
    source: Source,
}

#[derive(Default)]
struct Assembler<'a> {
    items: Vec<Item<'a>>,
    labels: Vec<Label>,
    addresses: BTreeMap<&'a str, u32>,
    aliases: BTreeMap<&'a str, (char, u32)>,
    descriptors: Vec<Descriptor>,
    needs: Vec<Need>,
}

impl<'a> Assembler<'a> {
    fn line(&mut self, mut line: Line<'a>) -> Result<(), AsmError> {
        loop {
            let token = line.next();
            let mut ahead = line.clone();
            if token.text.is_empty() {
                return Ok(());
            } else if token.text == "." {
                self.directive(&mut line)?;
                return line.finish();
            } else if ahead.accept(":") {
                line = ahead;
                self.label(token)?;
            } else {
                self.instruction(token, &mut line)?;
                return line.finish();
            }
        }
    }

    fn label(&mut self, token: Token<'a>) -> Result<(), AsmError> {
        if parse_number(token.text).is_some() || token.text.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(token.error("a label begins with a letter"));
        }
        let address = self.items.len() as u32;
        if self.addresses.insert(token.text, address).is_some() {
            return Err(token.error("this label stands elsewhere too"));
        }
        self.labels.push(Label { name: token.text.into(), address });
        Ok(())
    }

    fn directive(&mut self, line: &mut Line<'a>) -> Result<(), AsmError> {
        let token = line.next();
        match token.text {
            "word" => {
                let (word, _) = line.number("the word")?;
                self.push(token, Item::Word(word))
            }
            "alias" => {
                let name = line.name("the alias's name")?;
                line.accept(",");
                let register = self.register(line)?;
                self.aliases.insert(name.text, (register.kind, register.number));
                Ok(())
            }
            "opdesc" => self.opdesc(token, line),
            _ => Err(token.error("unknown directive; there are .opdesc, .alias and .word")),
        }
    }

    /// `.opdesc [number,] word[, second word]` or `.opdesc [number,] mask, source 1[, source 2[, source 3]]`.
    fn opdesc(&mut self, directive: Token<'a>, line: &mut Line<'a>) -> Result<(), AsmError> {
        let mut first = line.peek();
        if let Some(number) = parse_number(first.text).filter(|_| !first.text.starts_with("0x")) {
            line.next();
            if number as usize != self.descriptors.len() {
                let next = self.descriptors.len();
                return Err(first.error(format!("descriptors count up from 0; the next is {next}")));
            }
            line.expect(",")?;
            first = line.peek();
        }
        let descriptor = if parse_number(first.text).is_some() {
            let (word, _) = line.number("the descriptor")?;
            let second = if line.accept(",") { line.number("the second word")?.0 } else { 0 };
            Descriptor { word, second }
        } else {
            written_descriptor(line)?
        };
        if self.descriptors.len() == MAX_DESCRIPTORS {
            return Err(directive.error("there is room for 128 descriptors"));
        }
        self.descriptors.push(descriptor);
        self.needs.push(Need { bits: descriptor.word, cared: u32::MAX });
        Ok(())
    }

    fn push(&mut self, token: Token<'a>, item: Item<'a>) -> Result<(), AsmError> {
        if self.items.len() == MAX_WORDS {
            return Err(token.error("there is room for 4096 words"));
        }
        self.items.push(item);
        Ok(())
    }

    fn instruction(&mut self, mnemonic: Token<'a>, line: &mut Line<'a>) -> Result<(), AsmError> {
        let name = mnemonic.text.to_ascii_lowercase();
        let op = Op::named(&name).ok_or_else(|| mnemonic.error("no instruction has this name"))?;
        let mut pending = Pending {
            inst: Inst::new(op),
            mnemonic,
            target: None,
            number: None,
            need: Need::default(),
            descriptor: None,
        };
        if op.row().has(Field::Desc) {
            self.arithmetic(&mut pending, line)?;
        } else {
            flow(&mut pending, line)?;
        }
        if line.accept("@") {
            pending.descriptor = Some(line.number("a descriptor number")?);
        }
        if line.accept("!") {
            let (bits, token) = line.number("the ignored bits")?;
            pending.inst = pending
                .inst
                .with_ignored_bits(bits)
                .ok_or_else(|| token.error("the hardware does not ignore all of these bits"))?;
        }
        self.push(mnemonic, Item::Inst(pending))
    }

    fn arithmetic(&mut self, pending: &mut Pending<'a>, line: &mut Line<'a>) -> Result<(), AsmError> {
        let op = pending.inst.op();
        let row = op.row();
        let writes = row.has(Field::Dst) || op == Op::Mova;
        if writes {
            self.destination(pending, line)?;
        }
        let mut operands = Vec::new();
        for n in 0..row.sources().count() {
            if n > 0 || writes {
                line.expect(",")?;
            }
            operands.push(self.source(line)?);
            if op == Op::Cmp && n == 0 {
                comparisons(pending, line)?;
            }
        }
        let places = row.reads.places(pending.need.bits);
        for (n, operand) in operands.iter().enumerate() {
            let bits = Descriptor::default().with_source(n, operand.source).word;
            pending.need.bits |= bits;
            pending.need.add(bits, Descriptor::source_places(n, places));
        }
        pending.inst = place(pending.inst, &operands)?;
        Ok(())
    }

    fn destination(&mut self, pending: &mut Pending<'a>, line: &mut Line<'a>) -> Result<(), AsmError> {
        let token = line.peek();
        let register = self.register(line)?;
        let value = match (pending.inst.op(), register.kind) {
            (Op::Mova, 'a') => None,
            (Op::Mova, _) => return Err(token.error("mova writes a0 and nothing else")),
            (_, 'o') => Some(register.number),
            (_, 'r') => Some(register.number + 16),
            _ => return Err(token.error("a destination is o0–o15 or r0–r15")),
        };
        if let Some(value) = value {
            pending.inst = set(pending.inst, Field::Dst, value, token)?;
        }
        let mut mask = Mask::XYZW;
        if line.accept(".") {
            let token = line.next();
            mask = Mask::parse(token.text)
                .ok_or_else(|| token.error("a mask is some of xyzw in this order, or `_` for none"))?;
        }
        pending.need.add(mask.bits().into(), Descriptor::MASK_BITS);
        Ok(())
    }

    /// A register by its own name or an alias, with `[number]` added to it.
    fn register(&self, line: &mut Line<'a>) -> Result<Register<'a>, AsmError> {
        let token = line.name("a register")?;
        let (kind, base) = match self.aliases.get(token.text) {
            Some(&known) => known,
            None => named_register(token)?,
        };
        let mut number = base;
        let mut ahead = line.clone();
        if ahead.accept("[") && parse_number(ahead.peek().text).is_some() {
            number = number.saturating_add(ahead.number("an element")?.0);
            ahead.expect("]")?;
            *line = ahead;
        }
        let count = register_count(kind);
        if number >= count {
            return Err(token.error(format!("{kind}{number} does not exist; there are {count}")));
        }
        Ok(Register { token, kind, number })
    }

    fn source(&self, line: &mut Line<'a>) -> Result<Operand<'a>, AsmError> {
        let negate = line.accept("-");
        let register = self.register(line)?;
        let value = match register.kind {
            'v' => register.number,
            'r' => register.number + 16,
            'c' => register.number + 32,
            _ => return Err(register.token.error("a source is v0–v15, r0–r15 or c0–c95")),
        };
        let index = if line.accept("[") { address_register(line)? } else { 0 };
        let mut swizzle = Swizzle::IDENTITY;
        if line.accept(".") {
            let token = line.next();
            swizzle = Swizzle::parse(token.text)
                .ok_or_else(|| token.error("a swizzle is one to four of the letters xyzw"))?;
        }
        Ok(Operand { token: register.token, value, index, source: Source { negate, swizzle } })
    }

    fn finish(mut self) -> Result<Program, AsmError> {
        let items = std::mem::take(&mut self.items);
        let code = items
            .iter()
            .map(|item| match item {
                Item::Word(word) => Ok(*word),
                Item::Inst(pending) => self.resolve(pending),
            })
            .collect::<Result<_, _>>()?;
        for (descriptor, need) in self.descriptors.iter_mut().zip(&self.needs) {
            descriptor.word = need.bits;
        }
        Ok(Program { code, descriptors: self.descriptors, labels: self.labels })
    }

    fn resolve(&mut self, pending: &Pending<'a>) -> Result<u32, AsmError> {
        let mut inst = pending.inst;
        if let Some(token) = pending.target {
            let target = self.address(token)?;
            inst = set(inst, Field::Target, target, token)?;
            if let Some(token) = pending.number {
                inst = set(inst, Field::Num, self.length(token, target)?, token)?;
            }
        }
        if inst.op().row().has(Field::Desc) {
            let (number, token) = match pending.descriptor {
                Some((number, token)) => (self.named_descriptor(number, token, pending.need)?, token),
                None => (self.find_descriptor(pending)?, pending.mnemonic),
            };
            inst = set(inst, Field::Desc, number, token)?;
        } else if let Some((_, token)) = pending.descriptor {
            return Err(token.error("this instruction has no operand descriptor"));
        }
        Ok(inst.encode())
    }

    fn address(&self, token: Token<'a>) -> Result<u32, AsmError> {
        parse_number(token.text)
            .or_else(|| self.addresses.get(token.text).copied())
            .ok_or_else(|| token.error("no label has this name"))
    }

    /// A number is a length, a label the word behind the block.
    fn length(&self, token: Token<'a>, target: u32) -> Result<u32, AsmError> {
        if let Some(length) = parse_number(token.text) {
            return Ok(length);
        }
        let end = self.address(token)?;
        end.checked_sub(target).ok_or_else(|| token.error("this label stands before the target"))
    }

    fn named_descriptor(&self, number: u32, token: Token<'a>, need: Need) -> Result<u32, AsmError> {
        let Some(descriptor) = self.descriptors.get(number as usize) else {
            return Err(token.error(format!("descriptor {number} is not defined by .opdesc")));
        };
        let stated = Need { bits: descriptor.word, cared: u32::MAX };
        if need.agrees(stated) {
            Ok(number)
        } else {
            Err(token.error(format!("the operands disagree with descriptor {number} ({descriptor})")))
        }
    }

    /// The first descriptor in reach that says what is needed, or can be made to, or a new one.
    fn find_descriptor(&mut self, pending: &Pending<'a>) -> Result<u32, AsmError> {
        let reach = 1usize << pending.inst.op().row().width(Field::Desc);
        let need = pending.need;
        if let Some(n) = self.needs.iter().take(reach).position(|have| have.agrees(need)) {
            self.needs[n].add(need.bits, need.cared);
            return Ok(n as u32);
        }
        if self.needs.len() >= reach {
            return Err(pending.mnemonic.error(format!("no room among the {reach} descriptors in reach")));
        }
        self.needs.push(need);
        self.descriptors.push(Descriptor::default());
        Ok(self.needs.len() as u32 - 1)
    }
}

/// `mask, source[, source[, source]]`, a source being `[-]swizzle`; those left out are plain.
fn written_descriptor(line: &mut Line<'_>) -> Result<Descriptor, AsmError> {
    let token = line.next();
    let mask = Mask::parse(token.text).ok_or_else(|| token.error("a mask is some of xyzw in this order"))?;
    let mut descriptor = Descriptor::default().with_mask(mask);
    for n in 0..3 {
        let mut source = Source::default();
        if line.accept(",") {
            source.negate = line.accept("-");
            let token = line.next();
            source.swizzle = Swizzle::parse(token.text)
                .ok_or_else(|| token.error("a swizzle is one to four of the letters xyzw"))?;
        }
        descriptor = descriptor.with_source(n, source);
    }
    Ok(descriptor)
}

/// The rest of `[a0.x]`, `[a0.y]` or `[aL]`.
fn address_register(line: &mut Line<'_>) -> Result<u32, AsmError> {
    let token = line.next();
    let index = match token.text {
        "aL" | "lcnt" => 3,
        "a0" => {
            line.expect(".")?;
            let component = line.next();
            match component.text {
                "x" => 1,
                "y" => 2,
                _ => return Err(component.error("a0 has the components x and y")),
            }
        }
        _ => {
            let known = ADDRESSES[1..].join(", ");
            return Err(token.error(format!("an index is a number or one of {known}")));
        }
    };
    line.expect("]")?;
    Ok(index)
}

fn comparisons(pending: &mut Pending<'_>, line: &mut Line<'_>) -> Result<(), AsmError> {
    for field in [Field::CmpX, Field::CmpY] {
        line.expect(",")?;
        let token = line.next();
        let Some(value) = COMPARISONS.iter().position(|&name| name == token.text) else {
            return Err(token.error(format!("a comparison is one of {}", COMPARISONS[..6].join(", "))));
        };
        pending.inst = set(pending.inst, field, value as u32, token)?;
    }
    Ok(())
}

/// The operands of an instruction without descriptor.
fn flow<'a>(pending: &mut Pending<'a>, line: &mut Line<'a>) -> Result<(), AsmError> {
    let row = pending.inst.op().row();
    let mut first = true;
    if row.has(Field::Cond) {
        pending.inst = condition(pending.inst, line)?;
        first = false;
    }
    for (field, kind) in [(Field::Bool, 'b'), (Field::Int, 'i')] {
        if row.has(field) {
            pending.inst = uniform(pending.inst, field, kind, line)?;
            first = false;
        }
    }
    if row.has(Field::Target) {
        if !first {
            line.expect(",")?;
        }
        pending.target = Some(line.next());
    }
    if row.has(Field::Num) {
        line.expect(",")?;
        pending.number = Some(line.next());
    }
    if row.has(Field::Vertex) {
        pending.inst = emission(pending.inst, line)?;
    }
    Ok(())
}

fn uniform(inst: Inst, field: Field, kind: char, line: &mut Line<'_>) -> Result<Inst, AsmError> {
    let not = inst.op().row().has(Field::Not) && line.accept("!");
    let token = line.name("a register")?;
    let (found, number) = named_register(token)?;
    if found != kind {
        return Err(token.error(format!("a register {kind}0, {kind}1, … is expected here")));
    }
    let inst = set(inst, field, number, token)?;
    if not { set(inst, Field::Not, 1, token) } else { Ok(inst) }
}

/// `[!]cmp.x`, `[!]cmp.y`, or both with `&&` or `||` between; one alone may be followed by the value the other
/// has in the word, in parentheses.
fn condition(inst: Inst, line: &mut Line<'_>) -> Result<Inst, AsmError> {
    let (first, reference, token) = flag(line)?;
    let mut references = [1, 1];
    references[first] = reference;
    let both = line.peek();
    let how = match both.text {
        "||" => 0,
        "&&" => 1,
        _ => 2 + first as u32,
    };
    if how < 2 || both.text == "(" {
        line.next();
        let (second, reference, token) = flag(line)?;
        if second == first {
            return Err(token.error("the other flag is expected here"));
        }
        references[second] = reference;
        if how >= 2 {
            line.expect(")")?;
        }
    }
    let inst = set(inst, Field::Cond, how, token)?;
    let inst = set(inst, Field::RefX, references[0], token)?;
    set(inst, Field::RefY, references[1], token)
}

/// `[!]cmp.x` or `[!]cmp.y`: number of the flag and the value it is compared with.
fn flag<'a>(line: &mut Line<'a>) -> Result<(usize, u32, Token<'a>), AsmError> {
    let reference = u32::from(!line.accept("!"));
    line.expect("cmp")?;
    line.expect(".")?;
    let token = line.next();
    match token.text {
        "x" => Ok((0, reference, token)),
        "y" => Ok((1, reference, token)),
        _ => Err(token.error("the flags are cmp.x and cmp.y")),
    }
}

fn emission(inst: Inst, line: &mut Line<'_>) -> Result<Inst, AsmError> {
    let (vertex, token) = line.number("a vertex slot")?;
    let mut inst = set(inst, Field::Vertex, vertex, token)?;
    if line.accept(",") {
        let token = line.peek();
        let primitive = line.accept("prim");
        let invert = line.accept("inv");
        if !primitive && !invert {
            return Err(token.error("`prim`, `inv` or `prim inv` expected here"));
        }
        inst = set(inst, Field::Primitive, primitive.into(), token)?;
        inst = set(inst, Field::Invert, invert.into(), token)?;
    }
    Ok(inst)
}

/// Splits `c20` and its like.
fn named_register(token: Token<'_>) -> Result<(char, u32), AsmError> {
    let mut letters = token.text.chars();
    let kind = letters.next().unwrap_or(' ');
    let digits = letters.as_str();
    let number = digits.parse::<u32>().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()));
    match number {
        Some(number) if register_count(kind) != 0 => Ok((kind, number)),
        _ => Err(token.error("no register or alias has this name")),
    }
}

fn register_count(kind: char) -> u32 {
    match kind {
        'v' | 'r' | 'o' | 'b' | 'i' => 16,
        'c' => 96,
        'a' => 1,
        _ => 0,
    }
}

/// Puts the operands into the word, or into that of the operation's twin when only that reaches them.
fn place(inst: Inst, operands: &[Operand<'_>]) -> Result<Inst, AsmError> {
    let plain = place_exactly(inst, operands);
    let (Err(_), Some(twin)) = (&plain, inst.op().twin()) else {
        return plain;
    };
    let mut other = Inst::new(twin);
    for field in [Field::Dst, Field::CmpX, Field::CmpY] {
        if let Some(value) = inst.get(field) {
            other = other.with(field, value).unwrap_or(other);
        }
    }
    place_exactly(other, operands).or(plain)
}

fn place_exactly(mut inst: Inst, operands: &[Operand<'_>]) -> Result<Inst, AsmError> {
    let row = inst.op().row();
    for (field, operand) in row.sources().zip(operands) {
        let wide = row.width(field) == 7;
        if !wide && (operand.value >= 32 || operand.index != 0) {
            let message = "float uniforms and indices fit only one source of an instruction, \
                           and not the first of mad or dphi";
            return Err(operand.token.error(message));
        }
        inst = set(inst, field, operand.value, operand.token)?;
        if operand.index != 0 {
            inst = set(inst, Field::Index, operand.index, operand.token)?;
        }
    }
    Ok(inst)
}

fn set(inst: Inst, field: Field, value: u32, token: Token<'_>) -> Result<Inst, AsmError> {
    inst.with(field, value).map_err(|error| token.error(error.to_string()))
}

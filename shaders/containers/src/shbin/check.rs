//! What is wrong or odd in a file whose structure stands.

use std::collections::BTreeMap;

use super::block::*;
use super::model::*;
use crate::pica::{self, Field, Inst, MAX_DESCRIPTORS, MAX_WORDS, Op, Reach};
use crate::{Finding, finding::Findings};

impl Shbin {
    /// Everything wrong or odd, in the order of the file's blocks; offsets are those of the file the model was
    /// read from or laid out for.
    pub fn check(&self) -> Vec<Finding> {
        let mut check = Check { shbin: self, found: Findings::default(), reached: BTreeMap::new() };
        check.dvlp();
        check.code();
        for (n, program) in self.programs.iter().enumerate() {
            check.aligned(DVLB_HEADER + 4 * n, program.at, "the program's offset");
            check.program(program);
        }
        check.found.into_list()
    }
}

struct Check<'a> {
    shbin: &'a Shbin,
    found: Findings,
    /// What runs from each entry point looked at so far; programs may share one.
    reached: BTreeMap<u32, Reach>,
}

impl Check<'_> {
    fn words(&self) -> usize {
        self.shbin.dvlp.code.entries.len()
    }

    fn aligned(&mut self, stated_at: usize, offset: u32, what: &str) {
        if offset % 4 != 0 {
            self.found.add("W-align", stated_at, format!("{what} is 0x{offset:x}"));
        }
    }

    fn table<T>(&mut self, stated_at: usize, table: &Table<T>, what: &str) {
        if !table.entries.is_empty() {
            self.aligned(stated_at, table.at, what);
        }
    }

    fn dvlp(&mut self) {
        let (at, dvlp) = (self.shbin.dvlp_at(), &self.shbin.dvlp);
        self.table(at + 8, &dvlp.code, "the code's offset");
        self.table(at + 0x10, &dvlp.descriptors, "the descriptors' offset");
        let (words, descriptors) = (self.words(), dvlp.descriptors.entries.len());
        if words > MAX_WORDS {
            self.found.add("S07", at + 0x0C, format!("{words} code words; targets reach {MAX_WORDS}"));
        }
        if descriptors > MAX_DESCRIPTORS {
            let message = format!("{descriptors} descriptors; instructions reach {MAX_DESCRIPTORS}");
            self.found.add("S08", at + 0x14, message);
        }
    }

    fn code(&mut self) {
        let mut last = None;
        for (n, &word) in self.shbin.dvlp.code.entries.iter().enumerate() {
            let at = self.shbin.word_at(n);
            let inst = Inst::decode(word);
            match inst {
                None => {
                    let opcode = word >> 26;
                    self.found.add("W-opcode", at, format!("word 0x{word:08x} has opcode 0x{opcode:02x}"));
                }
                Some(inst) => self.instruction(at, inst),
            }
            let op = inst.map(Inst::op);
            if op == Some(Op::Mova) && last == op {
                self.found.add("W-mova-pair", at, "two mova in a row hang the hardware");
            }
            last = op;
        }
    }

    fn instruction(&mut self, at: usize, inst: Inst) {
        let name = inst.op().row().name;
        let descriptors = self.shbin.dvlp.descriptors.entries.len();
        if let Some(number) = inst.get(Field::Desc).filter(|&number| number as usize >= descriptors) {
            let message = format!("`{name}` names descriptor {number}; there are {descriptors}");
            self.found.add("S15", at, message);
        }
        self.target(at, inst);
        for field in [Field::CmpX, Field::CmpY] {
            if let Some(comparison @ 6..) = inst.get(field) {
                self.found.add("W-cmp", at, format!("comparison {comparison}; 0 to 5 have a meaning"));
            }
        }
        if let Some(register @ 4..) = inst.get(Field::Int) {
            self.found.add("W-int-index", at, format!("`{name}` names i{register}"));
        }
        let inputs = pica::inputs(inst);
        if inputs.count_ones() > 1 {
            let message = format!("`{name}` reads {}; the hardware faults", register_names('v', inputs));
            self.found.add("W-two-inputs", at, message);
        }
    }

    fn target(&mut self, at: usize, inst: Inst) {
        let (Some(target), words) = (inst.get(Field::Target), self.words() as u32) else {
            return;
        };
        let name = inst.op().row().name;
        let outside = match inst.op() {
            // The last word of the body.
            Op::Loop => target >= words,
            _ => inst.target_end().unwrap_or(target) > words,
        };
        if outside {
            let behind = match inst.target_end() {
                Some(end) => format!(" and ends before {end}"),
                None => String::new(),
            };
            let message = format!("`{name}` goes to word {target}{behind}; the code has {words}");
            self.found.add("S17", at, message);
        }
        if inst.encode() & 0x300 != 0 {
            self.found.add("W-num-bits", at, format!("`{name}` has bits 9:8 set in 0x{:08x}", inst.encode()));
        }
    }

    fn program(&mut self, program: &Dvle) {
        let at = program.at as usize;
        if let Stage::Unknown(code) = program.stage {
            self.found.add("S09", at + 6, format!("program type {code}; 0 is vertex, 1 is geometry"));
        }
        if let GeometryMode::Unknown(code) = program.geometry.mode {
            self.found.add("S18", at + 0x14, format!("geometry mode {code}; the largest is 2"));
        }
        self.entry(program);
        self.table(at + 0x18, &program.constants, "the constants' offset");
        self.table(at + 0x20, &program.labels, "the labels' offset");
        self.table(at + 0x28, &program.outputs, "the outputs' offset");
        self.table(at + 0x30, &program.uniforms, "the uniforms' offset");
        self.table(at + 0x38, &program.symbols, "the names' offset");
        self.constants(program);
        self.labels(program);
        self.outputs(program);
        self.uniforms(program);
    }

    fn entry(&mut self, program: &Dvle) {
        let (at, words) = (program.at as usize, self.words() as u32);
        if program.main >= words {
            self.found.add("S10", at + 8, format!("main is word {}, the code has {words}", program.main));
            return;
        }
        if program.end > words || program.end != 0 && program.end < program.main {
            let message =
                format!("main is word {}, its end {}, the code has {words}", program.main, program.end);
            self.found.add("S10", at + 0x0C, message);
        }
        // Longer code is refused already, and each entry point costs a walk.
        if words as usize > MAX_WORDS {
            return;
        }
        let code = &self.shbin.dvlp.code.entries;
        let reach = self.reached.entry(program.main).or_insert_with(|| Reach::from(code, program.main));
        if !reach.end {
            let message = format!("no `end` can be reached from word {}", program.main);
            self.found.add("W-no-end", at + 8, message);
        }
        let used =
            [(0x10, 'v', program.inputs, reach.inputs), (0x12, 'o', program.output_mask, reach.outputs)];
        for (field, letter, stated, used) in used {
            if stated != 0 && used & !stated != 0 {
                let missing = register_names(letter, used & !stated);
                let message = format!("the code uses {missing}, which the mask 0x{stated:04x} leaves out");
                self.found.add("W-mask", at + field, message);
            }
        }
    }

    fn constants(&mut self, program: &Dvle) {
        let mut seen = [0u128; 3];
        for (n, constant) in program.constants.entries.iter().enumerate() {
            let at = entry_at(&program.constants, program.at as usize, n);
            let (register, file) = (constant.register, constant.file());
            let count = match constant.value {
                ConstantValue::Bool(..) => 16,
                ConstantValue::Int(..) => 8,
                ConstantValue::Float(_) => 96,
                ConstantValue::Unknown(kind, _) => {
                    self.found.add("S11", at, format!("constant kind {kind}; the largest is 2"));
                    continue;
                }
            };
            if register >= count {
                let last = count - 1;
                self.found.add("S11", at + 2, format!("constant {file}{register}; the last is {file}{last}"));
                continue;
            }
            let seen = &mut seen[usize::from(constant.kind())];
            if *seen >> register & 1 != 0 {
                self.found.add("W-dup-const", at + 2, format!("{file}{register} has a value already"));
            }
            *seen |= 1 << register;
            self.constant_value(at, constant);
        }
    }

    fn constant_value(&mut self, at: usize, constant: &Constant) {
        match constant.value {
            ConstantValue::Int(..) if constant.register > 3 => {
                self.found.add("W-int-index", at + 2, format!("constant i{}", constant.register));
            }
            ConstantValue::Float(words) => {
                for (n, word) in words.iter().enumerate().filter(|(_, word)| **word >> 24 != 0) {
                    self.found.add("W-f24-high", at + 4 + 4 * n, format!("the float is 0x{word:08x}"));
                }
            }
            _ => {}
        }
    }

    fn labels(&mut self, program: &Dvle) {
        let words = self.words() as u32;
        for (n, label) in program.labels.entries.iter().enumerate() {
            let at = entry_at(&program.labels, program.at as usize, n);
            if label.address > words {
                let message = format!("the label is at word {}, the code has {words}", label.address);
                self.found.add("S17", at + 4, message);
            }
            self.name(program, at + 12, label.name);
        }
    }

    fn name(&mut self, program: &Dvle, at: usize, offset: u32) {
        if program.name(offset).is_none() {
            let size = program.symbols.entries.len();
            let message = format!("no terminated name at 0x{offset:x} of the symbol block of {size} bytes");
            self.found.add("S12", at, message);
        }
    }

    fn outputs(&mut self, program: &Dvle) {
        for (n, output) in program.outputs.entries.iter().enumerate() {
            let at = entry_at(&program.outputs, program.at as usize, n);
            if let OutputKind::Unknown(code) = output.kind {
                self.found.add("W-out-type", at, format!("output type {code}; the largest is 9"));
            }
            if output.register > 15 {
                self.found.add("S14", at + 2, format!("output o{}; the last is o15", output.register));
            }
            if !(1..16).contains(&output.mask) {
                self.found.add("W-out-mask", at + 4, format!("output mask 0x{:x}", output.mask));
            }
        }
    }

    fn uniforms(&mut self, program: &Dvle) {
        for (n, uniform) in program.uniforms.entries.iter().enumerate() {
            let at = entry_at(&program.uniforms, program.at as usize, n);
            self.name(program, at, uniform.name);
            let (first, last) = (uniform.first, uniform.last);
            let files = (RegisterFile::split(first), RegisterFile::split(last));
            let range = format!("registers 0x{first:x} to 0x{last:x}");
            match files {
                _ if first > last => {
                    self.found.add("S13", at + 4, format!("{range} go backwards"));
                }
                (Some((first_file, _)), Some((last_file, number))) if first_file == last_file => {
                    if first_file == RegisterFile::Int && number > 3 {
                        self.found.add("W-int-gap", at + 6, format!("{range} pass i3 (0x73)"));
                    }
                }
                (Some(_), Some(_)) => {
                    self.found.add("S13", at + 4, format!("{range} span two register files"));
                }
                _ => {
                    self.found.add("S13", at + 6, format!("{range} pass the last register, 0x87"));
                }
            }
        }
    }
}

/// `v0, v3` for a mask of bits 0 and 3.
fn register_names(letter: char, mask: u16) -> String {
    let names: Vec<_> = (0..16).filter(|n| mask >> n & 1 != 0).map(|n| format!("{letter}{n}")).collect();
    names.join(", ")
}

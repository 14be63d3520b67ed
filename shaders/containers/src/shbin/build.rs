//! Building a file from assembled programs.

use std::fmt::{self, Display, Formatter};

use super::model::*;
use crate::pica::{Descriptor, Field, Inst, Label, MAX_DESCRIPTORS, MAX_WORDS, Program, Reach};

/// Why a program or a name does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The code would exceed 4096 words.
    Code {
        /// Words it would have.
        words: usize,
    },
    /// No descriptor is left within reach of an instruction.
    Descriptors {
        /// Word of the program being added.
        address: usize,
        /// Descriptors the instruction reaches.
        reach: usize,
    },
    /// An instruction names a descriptor its program does not have.
    NoDescriptor {
        /// Word of the program being added.
        address: usize,
    },
    /// The entry point is outside the code.
    Entry {
        /// The word asked for.
        main: u32,
        /// Words there are.
        words: usize,
    },
    /// The register file has no such registers.
    Registers {
        /// The file.
        file: RegisterFile,
        /// First register.
        first: u16,
        /// How many.
        count: u16,
    },
    /// A name holds a NUL.
    Name(String),
}

impl Display for BuildError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Code { words } => {
                write!(f, "{words} code words; a file holds {MAX_WORDS}, split the programs over two files")
            }
            BuildError::Descriptors { address, reach } => {
                write!(f, "word {address} needs an operand descriptor and the {reach} in its reach are taken")
            }
            BuildError::NoDescriptor { address } => {
                write!(f, "word {address} names an operand descriptor that its program does not have")
            }
            BuildError::Entry { main, words } => {
                write!(f, "the entry point is word {main}, the code has {words}")
            }
            BuildError::Registers { file, first, count } => {
                write!(f, "{count} registers from {}{first} do not exist", file.letter())
            }
            BuildError::Name(name) => write!(f, "the name {name:?} holds a NUL"),
        }
    }
}

impl std::error::Error for BuildError {}

impl Shbin {
    /// A file without programs, its header in the form of picasso.
    pub fn new() -> Shbin {
        let dvlp = Dvlp { unknown: Some([0; 3]), ..Dvlp::default() };
        Shbin { dvlp, programs: Vec::new(), rest: Vec::new() }
    }

    /// Adds an assembled program's code behind what is there, its targets moved and its descriptors shared with
    /// equal ones. Returns the word it begins at, which its label addresses count from.
    ///
    /// # Errors
    /// The code or the descriptors do not fit; nothing has been added then.
    pub fn add_code(&mut self, program: &Program) -> Result<u32, BuildError> {
        let base = self.dvlp.code.entries.len();
        let words = base + program.code.len();
        if words > MAX_WORDS {
            return Err(BuildError::Code { words });
        }
        let mut descriptors = self.dvlp.descriptors.entries.clone();
        let mut code = program.code.clone();
        // Those with the shortest reach choose first.
        for reach in [32, MAX_DESCRIPTORS] {
            for (address, word) in code.iter_mut().enumerate() {
                if let Some(inst) = Inst::decode(*word).filter(|&inst| descriptor_reach(inst) == Some(reach))
                {
                    *word = share_descriptor(inst, address, reach, program, &mut descriptors)?;
                }
            }
        }
        for word in &mut code {
            *word = move_target(*word, base as u32).ok_or(BuildError::Code { words })?;
        }
        self.dvlp.code.entries.extend(code);
        self.dvlp.descriptors.entries = descriptors;
        Ok(base as u32)
    }

    /// Adds a program that begins at `main` and ends before `end`, both code words, with the masks of the inputs
    /// and outputs its code uses. It has no tables yet.
    ///
    /// # Errors
    /// The entry point is outside the code.
    pub fn add_program(&mut self, stage: Stage, main: u32, end: u32) -> Result<&mut Dvle, BuildError> {
        let code = &self.dvlp.code.entries;
        if main as usize >= code.len() || end as usize > code.len() {
            return Err(BuildError::Entry { main: main.max(end), words: code.len() });
        }
        let reach = Reach::from(code, main);
        self.programs.push(Dvle {
            at: 0,
            version: 0x1002,
            stage,
            flags: 0,
            main,
            end,
            inputs: reach.inputs,
            output_mask: reach.outputs,
            geometry: Geometry {
                mode: GeometryMode::Point,
                fixed_start: 0,
                variable_count: 0,
                fixed_count: 0,
            },
            constants: Table::default(),
            labels: Table::default(),
            outputs: Table::default(),
            uniforms: Table::default(),
            symbols: Table::default(),
        });
        let last = self.programs.len() - 1;
        Ok(&mut self.programs[last])
    }

    /// The code of all programs with their labels; a program without a label on its entry point gets `main`,
    /// with its number when there are several.
    pub fn program(&self) -> Program {
        let mut labels = Vec::new();
        for (n, program) in self.programs.iter().enumerate() {
            let own = program.labels.entries.iter().filter_map(|label| {
                let name = program.name(label.name).filter(|name| !name.is_empty())?;
                Some(Label { name: String::from_utf8_lossy(name).into_owned(), address: label.address })
            });
            let before = labels.len();
            labels.extend(own);
            if !labels[before..].iter().any(|label| label.address == program.main) {
                let name = if self.programs.len() == 1 { "main".into() } else { format!("main{n}") };
                labels.push(Label { name, address: program.main });
            }
        }
        Program {
            code: self.dvlp.code.entries.clone(),
            descriptors: self.dvlp.descriptors.entries.clone(),
            labels,
        }
    }
}

impl Dvle {
    /// Names `count` registers from `first` of a file.
    ///
    /// # Errors
    /// The file has no such registers, or the name holds a NUL.
    pub fn add_uniform(
        &mut self,
        name: &str,
        file: RegisterFile,
        first: u16,
        count: u16,
    ) -> Result<(), BuildError> {
        let last = count.checked_sub(1).and_then(|more| first.checked_add(more));
        let range = last.and_then(|last| Some((file.register(first)?, file.register(last)?)));
        let (first, last) = range.ok_or(BuildError::Registers { file, first, count })?;
        let name = self.add_name(name)?;
        self.uniforms.entries.push(Uniform { name, first, last });
        Ok(())
    }

    /// Names a code word. Labels are numbered as they are added.
    ///
    /// # Errors
    /// The name holds a NUL.
    pub fn add_label(&mut self, name: &str, address: u32) -> Result<(), BuildError> {
        let id = self.labels.entries.len() as u8;
        let name = self.add_name(name)?;
        self.labels.entries.push(LabelEntry { id, address, name, ..LabelEntry::default() });
        Ok(())
    }

    /// Maps an output register's components; the mask has bit 0 = x … bit 3 = w.
    pub fn add_output(&mut self, kind: OutputKind, register: u16, mask: u32) {
        self.outputs.entries.push(Output { kind, register, mask });
    }

    /// The offset of a name in the symbol block, which gets it if it has not.
    fn add_name(&mut self, name: &str) -> Result<u32, BuildError> {
        if name.contains('\0') {
            return Err(BuildError::Name(name.into()));
        }
        let symbols = &mut self.symbols.entries;
        let mut at = 0;
        while let Some(end) = symbols[at..].iter().position(|&byte| byte == 0) {
            if &symbols[at..at + end] == name.as_bytes() {
                return Ok(at as u32);
            }
            at += end + 1;
        }
        let at = symbols.len() as u32;
        symbols.extend(name.bytes().chain([0]));
        Ok(at)
    }
}

fn descriptor_reach(inst: Inst) -> Option<usize> {
    let row = inst.op().row();
    row.has(Field::Desc).then(|| 1 << row.width(Field::Desc))
}

fn share_descriptor(
    inst: Inst,
    address: usize,
    reach: usize,
    program: &Program,
    descriptors: &mut Vec<Descriptor>,
) -> Result<u32, BuildError> {
    let number = inst.get(Field::Desc).map_or(usize::MAX, |number| number as usize);
    let wanted = *program.descriptors.get(number).ok_or(BuildError::NoDescriptor { address })?;
    let place = match descriptors.iter().take(reach).position(|&have| have == wanted) {
        Some(place) => place,
        None if descriptors.len() < reach => {
            descriptors.push(wanted);
            descriptors.len() - 1
        }
        None => return Err(BuildError::Descriptors { address, reach }),
    };
    let moved = inst.with(Field::Desc, place as u32);
    moved.map(Inst::encode).map_err(|_| BuildError::Descriptors { address, reach })
}

/// A word with its target `base` words further; `None` when it leaves the reach.
fn move_target(word: u32, base: u32) -> Option<u32> {
    let Some(inst) = Inst::decode(word) else {
        return Some(word);
    };
    match inst.get(Field::Target) {
        Some(target) => inst.with(Field::Target, target + base).ok().map(Inst::encode),
        None => Some(word),
    }
}

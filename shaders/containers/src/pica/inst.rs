//! One instruction word seen through its row of the table.

use super::isa::{Field, Op};

/// An instruction: a word whose opcode is assigned.
///
/// The word itself is kept, so bits the hardware ignores survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    op: Op,
    word: u32,
}

/// Why a field cannot take a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldError {
    /// The operation has no such field.
    Absent {
        /// The operation.
        op: Op,
        /// The field asked for.
        field: Field,
    },
    /// The value is wider than the field.
    TooWide {
        /// The field.
        field: Field,
        /// The value.
        value: u32,
        /// Largest value that fits.
        max: u32,
    },
}

impl core::fmt::Display for FieldError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            FieldError::Absent { op, field } => write!(f, "`{}` has no field {field:?}", op.row().name),
            FieldError::TooWide { field, value, max } => {
                write!(f, "{value} does not fit field {field:?}, whose largest value is {max}")
            }
        }
    }
}

impl core::error::Error for FieldError {}

impl Inst {
    /// The operation with every field zero.
    pub fn new(op: Op) -> Inst {
        Inst { op, word: op.row().base() }
    }

    /// The instruction in a word; `None` when its opcode is unassigned.
    pub fn decode(word: u32) -> Option<Inst> {
        Some(Inst { op: Op::of(word)?, word })
    }

    /// The word.
    pub fn encode(self) -> u32 {
        self.word
    }

    /// The operation.
    pub fn op(self) -> Op {
        self.op
    }

    /// A field's value; `None` when the operation does not have it.
    pub fn get(self, field: Field) -> Option<u32> {
        let row = self.op.row();
        row.has(field).then(|| self.word >> row.shift(field) & max_of(row.width(field)))
    }

    /// The instruction with a field set.
    ///
    /// # Errors
    /// The operation does not have the field, or the value does not fit it.
    pub fn with(self, field: Field, value: u32) -> Result<Inst, FieldError> {
        let row = self.op.row();
        if !row.has(field) {
            return Err(FieldError::Absent { op: self.op, field });
        }
        let max = max_of(row.width(field));
        if value > max {
            return Err(FieldError::TooWide { field, value, max });
        }
        let shift = row.shift(field);
        Ok(Inst { word: self.word & !(max << shift) | value << shift, ..self })
    }

    /// The bits the hardware ignores, at their places.
    pub fn ignored_bits(self) -> u32 {
        self.word & self.op.row().ignored()
    }

    /// The instruction with the ignored bits set; `None` when `bits` has others.
    pub fn with_ignored_bits(self, bits: u32) -> Option<Inst> {
        let ignored = self.op.row().ignored();
        (bits & !ignored == 0).then_some(Inst { word: self.word & !ignored | bits, ..self })
    }

    /// Target plus length: the word behind a called block or an else part.
    pub fn target_end(self) -> Option<u32> {
        Some(self.get(Field::Target)? + self.get(Field::Num)?)
    }
}

/// Largest value of a field; no field is wider than 12 bits.
fn max_of(width: u32) -> u32 {
    (1 << width) - 1
}

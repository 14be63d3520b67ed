//! Uniform and storage buffers and push constants: byte offsets from the layout decorations.

use super::choice;
use super::env::{Place, Pointer};
use super::translator::Translator;
use crate::ir::{Op, Type, Value};
use crate::spirv::binary::Inst;
use crate::spirv::error::Result;
use crate::spirv::types::{Kind, MAX_SCALARS, Ty};

/// A word of a load.
struct Word {
    /// Its byte offset.
    offset: u32,
    /// The largest offset in its vector, which is in bounds or not as a whole.
    last: u32,
}

/// Steps from a composite in a buffer to its part `number` of type `part`.
pub fn descend(t: &Translator<'_>, pointer: &mut Pointer, part: Ty, number: u32, inst: &Inst) -> Result<()> {
    let types = &t.module.types;
    let distance = match types.kind(pointer.ty) {
        Kind::Struct { .. } => {
            let marks = t.module.decorations.member(types.info(pointer.ty).id, number);
            pointer.matrix.stride = marks.matrix_stride.unwrap_or(0);
            pointer.matrix.row_major = marks.row_major;
            let Some(offset) = marks.offset else {
                return Err(inst.invalid(format!("member {number} of the block has no Offset decoration")));
            };
            offset
        }
        Kind::Matrix { .. } => {
            let stride = stride(t, pointer, inst)?;
            if pointer.matrix.row_major {
                pointer.component_stride = pointer.matrix.stride;
            }
            stride.wrapping_mul(number)
        }
        _ => stride(t, pointer, inst)?.wrapping_mul(number),
    };
    pointer.offset = pointer.offset.wrapping_add(distance);
    pointer.ty = part;
    Ok(())
}

/// Bytes between the parts of an array, matrix or vector in a buffer.
pub fn stride(t: &Translator<'_>, pointer: &Pointer, inst: &Inst) -> Result<u32> {
    let types = &t.module.types;
    match types.kind(pointer.ty) {
        Kind::Array { .. } | Kind::RuntimeArray { .. } => {
            match t.module.decorations.of(types.info(pointer.ty).id).array_stride {
                Some(stride) => Ok(stride),
                None => Err(inst.invalid("an array in a block has no ArrayStride decoration")),
            }
        }
        Kind::Matrix { .. } if pointer.matrix.stride == 0 => {
            Err(inst.invalid("a matrix in a block has no MatrixStride decoration"))
        }
        Kind::Matrix { .. } if pointer.matrix.row_major => Ok(4),
        Kind::Matrix { .. } => Ok(pointer.matrix.stride),
        _ => Ok(pointer.component_stride),
    }
}

/// Loads what a pointer into a buffer points to.
pub fn load(t: &mut Translator<'_>, pointer: &Pointer, inst: &Inst) -> Result<Vec<Value>> {
    let width = t.module.types.scalars(pointer.ty);
    if width > MAX_SCALARS {
        return Err(inst.too_large("number of scalars of a load", MAX_SCALARS as usize));
    }
    let words = all_words(t, pointer, inst)?;
    t.pay(inst, words.len() / 4)?;
    let Place::Ubo(buffer) = pointer.place else {
        return load_push(t, pointer, &words, inst);
    };
    if pointer.dynamic.is_empty() {
        let load = |word: &Word| t.builder().emit(Op::LoadUbo { buffer, offset: word.offset }, &[])[0];
        return Ok(words.iter().map(load).collect());
    }
    let at = address(t, pointer, 1);
    let load = |&Word { offset, last }: &Word| {
        t.builder().emit(Op::LoadUboDynamic { buffer, offset, last }, &[at])[0]
    };
    Ok(words.iter().map(load).collect())
}

/// What a pointer's dynamic steps lead to, from the constant part of the place on; strides are in units of some bytes.
pub fn address(t: &mut Translator<'_>, pointer: &Pointer, unit: u32) -> Value {
    let mut address = None;
    for step in &pointer.dynamic {
        let scaled = scaled(t, step.index, step.stride.wrapping_mul(unit));
        address = Some(match address {
            Some(sum) => t.builder().iadd(sum, scaled),
            None => scaled,
        });
    }
    address.unwrap_or_else(|| t.constant(Type::Word, 0))
}

/// Byte offsets of the scalars of what a pointer points to, without its dynamic steps.
pub fn places(t: &Translator<'_>, pointer: &Pointer, inst: &Inst) -> Result<Vec<u32>> {
    Ok(all_words(t, pointer, inst)?.into_iter().map(|word| word.offset).collect())
}

/// OpArrayLength: elements of the runtime array that ends a storage buffer.
pub fn array_length(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let pointer = t.pointer(inst.id_at(0)?, inst)?;
    let number = inst.literal_at(1)?;
    let types = &t.module.types;
    let array = match (types.member(pointer.ty, number), pointer.place) {
        (Some((array, _)), Place::Ubo(buffer) | Place::Buffer(buffer)) if pointer.dynamic.is_empty() => {
            (array, buffer)
        }
        _ => return Err(inst.invalid("the operands do not name a member of a storage buffer")),
    };
    let (array, buffer) = array;
    if !matches!(types.kind(array), Kind::RuntimeArray { .. }) {
        return Err(inst.invalid(format!("member {number} is not a runtime array")));
    }
    let mut step = (*pointer).clone();
    descend(t, &mut step, array, number, inst)?;
    let stride = stride(t, &step, inst)?;
    if stride == 0 {
        return Err(inst.invalid("the array's ArrayStride is 0"));
    }
    let op = Op::BufferElements { buffer, offset: step.offset, stride };
    let length = t.builder().emit(op, &[])[0];
    t.define_data(inst, vec![length])
}

fn scaled(t: &mut Translator<'_>, index: Value, stride: u32) -> Value {
    if stride.is_power_of_two() {
        let by = t.constant(Type::Word, stride.trailing_zeros());
        return t.builder().shl(index, by);
    }
    let stride = t.constant(Type::Word, stride);
    t.builder().imul(index, stride)
}

/// Push constants have no memory to index: every word that the index may lead to takes part in a choice.
fn load_push(t: &mut Translator<'_>, pointer: &Pointer, words: &[Word], inst: &Inst) -> Result<Vec<Value>> {
    choice::choose(t, pointer, words.len() as u32, inst, |t, distance| {
        let load = |word: &Word| t.builder().emit(Op::LoadPush(word.offset.wrapping_add(distance)), &[])[0];
        Ok(words.iter().map(load).collect())
    })
}

/// The scalars of what a pointer points to, without its dynamic steps.
fn all_words(t: &Translator<'_>, pointer: &Pointer, inst: &Inst) -> Result<Vec<Word>> {
    let mut words = Vec::with_capacity(t.module.types.scalars(pointer.ty).min(MAX_SCALARS) as usize);
    words_of(t, &Pointer { dynamic: Default::default(), ..pointer.clone() }, inst, &mut words)?;
    Ok(words)
}

/// The scalars of what a pointer without dynamic steps points to.
fn words_of(t: &Translator<'_>, pointer: &Pointer, inst: &Inst, words: &mut Vec<Word>) -> Result<()> {
    let types = &t.module.types;
    let first = words.len();
    let parts = match types.kind(pointer.ty) {
        Kind::Int { .. } | Kind::Float => {
            if pointer.offset % 4 != 0 {
                return Err(inst.invalid(format!("offset {} is not a multiple of 4", pointer.offset)));
            }
            words.push(Word { offset: pointer.offset, last: pointer.offset });
            return Ok(());
        }
        Kind::Struct { members } => members.len() as u32,
        _ => match types.parts(pointer.ty) {
            Some((part, count)) if types.scalars(part) > 0 => count,
            _ => return Err(inst.invalid("the block holds something that is not a number")),
        },
    };
    for number in 0..parts {
        let Some((part, _)) = types.member(pointer.ty, number) else {
            return Err(inst.invalid("a part is missing"));
        };
        let mut step = pointer.clone();
        descend(t, &mut step, part, number, inst)?;
        words_of(t, &step, inst, words)?;
    }
    if matches!(types.kind(pointer.ty), Kind::Vector { .. }) {
        let vector = &mut words[first..];
        let last = vector.iter().map(|word| word.offset).max().unwrap_or_default();
        vector.iter_mut().for_each(|word| word.last = last);
    }
    Ok(())
}

//! Memory that changes: storage buffers, the workgroup's shared memory, and an invocation's scratch memory.
//!
//! Buffers are laid out as the module says. In the other two a variable is its scalars in a row, a word each, booleans as 0
//! and 1.

use super::buffer;
use super::env::{Place, Pointer};
use super::translator::{Table, Translator};
use crate::ir::{BuiltinInput, Invocation, Memory, Op, Type, Value, Workgroup};
use crate::spirv::binary::{Id, Inst};
use crate::spirv::error::Result;
use crate::spirv::types::{MAX_SCALARS, Ty};

/// Bytes of shared memory that a module may have; the driver's limit is its own matter.
const MAX_SHARED: u32 = 1 << 16;

/// Bytes of scratch memory that an invocation may have.
const MAX_SCRATCH: u32 = 1 << 17;

/// What a pointer leads to: a memory, an address in it, and the scalars behind that.
pub struct Located {
    /// The memory.
    pub memory: Memory,
    /// The part of the place that is not constant.
    pub address: Value,
    /// Constant part of the place, and type, of every scalar.
    pub scalars: Vec<(u32, Type)>,
}

/// Whether a pointer leads to memory that changes.
pub const fn is_memory(place: Place) -> bool {
    matches!(place, Place::Buffer(_) | Place::Words { .. } | Place::Table { .. })
}

/// What a pointer into memory leads to.
pub fn locate(t: &mut Translator<'_>, pointer: &Pointer, inst: &Inst) -> Result<Located> {
    let width = t.module.types.scalars(pointer.ty);
    if width > MAX_SCALARS {
        return Err(inst.too_large("number of scalars of an access to memory", MAX_SCALARS as usize));
    }
    t.pay(inst, width as usize / 4)?;
    let (memory, base) = match pointer.place {
        Place::Buffer(buffer) => {
            let places = buffer::places(t, pointer, inst)?;
            let scalars = places.into_iter().map(|place| (place, Type::Word)).collect();
            let address = buffer::address(t, pointer, 1);
            return Ok(Located { memory: Memory::Buffer(buffer), address, scalars });
        }
        Place::Words { memory, base } => (memory, base),
        Place::Table { base } => (Memory::Scratch, base),
        _ => return Err(inst.invalid("the pointer does not lead into memory")),
    };
    let first = base + 4 * pointer.offset;
    let scalars = (first..).step_by(4).zip(t.module.types.flatten(pointer.ty)).collect();
    let address = buffer::address(t, pointer, 4);
    Ok(Located { memory, address, scalars })
}

/// Loads what a pointer points to.
pub fn load(t: &mut Translator<'_>, pointer: &Pointer, inst: &Inst) -> Result<Vec<Value>> {
    let Located { memory, address, scalars } = locate(t, pointer, inst)?;
    let mut values = Vec::with_capacity(scalars.len());
    for (offset, ty) in scalars {
        let word = t.builder().emit(Op::Load { memory, offset }, &[address])[0];
        values.push(match ty {
            Type::Word => word,
            Type::Bool => {
                let zero = t.constant(Type::Word, 0);
                t.builder().ine(word, zero)
            }
        });
    }
    Ok(values)
}

/// Stores values, which fit it, through a pointer.
pub fn store(t: &mut Translator<'_>, pointer: &Pointer, values: &[Value], inst: &Inst) -> Result<()> {
    if matches!(pointer.place, Place::Table { .. }) {
        return Ok(());
    }
    let Located { memory, address, scalars } = locate(t, pointer, inst)?;
    for ((offset, ty), &value) in scalars.into_iter().zip(values) {
        let word = match ty {
            Type::Word => value,
            Type::Bool => {
                let (yes, no) = (t.constant(Type::Word, 1), t.constant(Type::Word, 0));
                t.builder().select(value, yes, no)
            }
        };
        t.builder().emit(Op::Store { memory, offset }, &[address, word]);
    }
    Ok(())
}

/// Room for a variable in shared memory.
pub fn reserve_shared(t: &mut Translator<'_>, ty: Ty, inst: &Inst) -> Result<Place> {
    let Workgroup { shared_bytes: base, .. } = t.shader.workgroup;
    let end = base.saturating_add(t.module.types.scalars(ty).saturating_mul(4));
    if end > MAX_SHARED {
        return Err(inst.too_large("number of bytes of shared memory", MAX_SHARED as usize));
    }
    t.shader.workgroup.shared_bytes = end;
    Ok(Place::Words { memory: Memory::Shared, base })
}

/// Room for a variable in scratch memory, until the function returns.
pub fn reserve_scratch(t: &mut Translator<'_>, ty: Ty, inst: &Inst) -> Result<Place> {
    let base = scratch(t, t.module.types.scalars(ty), inst)?;
    Ok(Place::Words { memory: Memory::Scratch, base })
}

fn scratch(t: &mut Translator<'_>, scalars: u32, inst: &Inst) -> Result<u32> {
    let base = t.scratch_end;
    let end = base.saturating_add(scalars.saturating_mul(4));
    if end > MAX_SCRATCH {
        return Err(inst.too_large("number of bytes of an invocation's arrays", MAX_SCRATCH as usize));
    }
    t.scratch_end = end;
    let most = &mut t.shader.workgroup.scratch_bytes;
    *most = end.max(*most);
    Ok(base)
}

/// Room for the constants that variables always hold, before any function has some.
pub fn reserve_tables(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    for id in t.residence.constants() {
        let Some(constant) = t.module.constants.get(id) else {
            continue;
        };
        let base = scratch(t, constant.words.len() as u32, inst)?;
        t.tables.insert(id, Table { base, filled: false });
    }
    Ok(())
}

/// The place of a constant in scratch memory, which is filled before anything else.
pub fn table(t: &mut Translator<'_>, id: Id, ty: Ty, inst: &Inst) -> Result<Place> {
    let words = match t.module.constants.get(id) {
        Some(constant) if constant.words.len() == t.module.types.scalars(ty) as usize => &constant.words,
        _ => return Err(inst.invalid("the constant does not fit the variable")),
    };
    let Some(Table { base, filled }) = t.tables.get(&id).copied() else {
        return Err(inst.invalid("the constant has no place"));
    };
    if !filled {
        t.pay(inst, words.len() / 2)?;
        fill(t, base, words);
        t.tables.insert(id, Table { base, filled: true });
    }
    Ok(Place::Table { base })
}

/// Stores words in scratch memory before anything else.
pub fn fill(t: &mut Translator<'_>, base: u32, words: &[u32]) {
    let zero = t.constant(Type::Word, 0);
    for (offset, &word) in (base..).step_by(4).zip(words) {
        let word = t.constant(Type::Word, word);
        t.in_prologue(Op::Store { memory: Memory::Scratch, offset }, &[zero, word]);
    }
}

/// Clears shared memory: each invocation its share, and what lies beyond the end takes no stores.
pub fn clear_shared(t: &mut Translator<'_>) {
    let Workgroup { shared_bytes, .. } = t.shader.workgroup;
    let stride = t.shader.workgroup.invocations().map_or(u32::MAX, |count| count.saturating_mul(4));
    let zero = t.constant(Type::Word, 0);
    let mut b = t.builder();
    let index = b.emit(Op::LoadBuiltin(BuiltinInput::Invocation(Invocation::LocalIndex)), &[])[0];
    let two = b.word(2);
    let address = b.shl(index, two);
    for offset in (0..shared_bytes).step_by(stride as usize) {
        b.emit(Op::Store { memory: Memory::Shared, offset }, &[address, zero]);
    }
    b.emit(Op::Barrier, &[]);
}

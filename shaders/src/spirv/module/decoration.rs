//! Decorations of ids and structure members.

use rustc_hash::FxHashMap;
use spirv::{BuiltIn, Decoration, Op};

use crate::spirv::binary::{Id, Inst, Operand};
use crate::spirv::error::Result;

/// The decorations of one id or member that mean something here.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Short arithmetic is allowed.
    pub relaxed: bool,
    /// Rounded as written.
    pub exact: bool,
    /// Interface location.
    pub location: Option<u32>,
    /// First component in the location.
    pub component: Option<u32>,
    /// Index of dual-source blending.
    pub index: Option<u32>,
    /// Descriptor set.
    pub set: Option<u32>,
    /// Binding in the set.
    pub binding: Option<u32>,
    /// Built-in variable.
    pub builtin: Option<BuiltIn>,
    /// No interpolation.
    pub flat: bool,
    /// Interpolation without perspective.
    pub no_perspective: bool,
    /// Interpolated at a place that the primitive covers.
    pub centroid: bool,
    /// Interpolation per sample.
    pub per_sample: bool,
    /// Storage buffer of SPIR-V 1.0.
    pub buffer_block: bool,
    /// Bytes between array elements.
    pub array_stride: Option<u32>,
    /// Bytes between matrix columns (or rows).
    pub matrix_stride: Option<u32>,
    /// Matrix rows are contiguous.
    pub row_major: bool,
    /// Byte offset of a member.
    pub offset: Option<u32>,
    /// Specialization constant id.
    pub spec_id: Option<u32>,
}

/// All decorations of a module.
#[derive(Clone, Debug, Default)]
pub struct Decorations {
    ids: FxHashMap<Id, Marks>,
    members: FxHashMap<(Id, u32), Marks>,
    none: Marks,
    /// The constant that is the workgroup's size, whatever execution modes say.
    pub workgroup_size: Option<Id>,
    /// Something in the module is to come out the same as in other modules that compute it alike.
    pub invariant: bool,
}

impl Decorations {
    /// Decorations of an id.
    pub fn of(&self, id: Id) -> &Marks {
        self.ids.get(&id).unwrap_or(&self.none)
    }

    /// Decorations of a structure's member.
    pub fn member(&self, id: Id, member: u32) -> &Marks {
        self.members.get(&(id, member)).unwrap_or(&self.none)
    }

    /// Reads a decoration instruction; other instructions are ignored.
    pub fn read(&mut self, inst: &Inst) -> Result<()> {
        self.invariant |= inst.operands.contains(&Operand::Decoration(Decoration::Invariant));
        if inst.op == Op::Decorate && inst.operands.contains(&Operand::BuiltIn(BuiltIn::WorkgroupSize)) {
            self.workgroup_size = Some(inst.id_at(0)?);
        }
        match inst.op {
            Op::Decorate | Op::DecorateId | Op::DecorateString => {
                let marks = self.ids.entry(inst.id_at(0)?).or_default();
                decorate(marks, inst, 1)
            }
            Op::MemberDecorate | Op::MemberDecorateString => {
                let marks = self.members.entry((inst.id_at(0)?, inst.literal_at(1)?)).or_default();
                decorate(marks, inst, 2)
            }
            Op::GroupDecorate => {
                let group = self.of(inst.id_at(0)?).clone();
                for target in inst.ids().skip(1) {
                    self.ids.entry(target).or_default().add(&group);
                }
                Ok(())
            }
            Op::GroupMemberDecorate => {
                let group = self.of(inst.id_at(0)?).clone();
                for (target, member) in inst.ids().skip(1).zip(inst.literals()) {
                    self.members.entry((target, member)).or_default().add(&group);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Marks {
    fn add(&mut self, group: &Marks) {
        self.relaxed |= group.relaxed;
        self.exact |= group.exact;
        self.flat |= group.flat;
        self.no_perspective |= group.no_perspective;
        self.centroid |= group.centroid;
        self.per_sample |= group.per_sample;
        self.buffer_block |= group.buffer_block;
        self.row_major |= group.row_major;
        self.builtin = group.builtin.or(self.builtin);
        for (mine, theirs) in [
            (&mut self.location, group.location),
            (&mut self.component, group.component),
            (&mut self.index, group.index),
            (&mut self.set, group.set),
            (&mut self.binding, group.binding),
            (&mut self.array_stride, group.array_stride),
            (&mut self.matrix_stride, group.matrix_stride),
            (&mut self.offset, group.offset),
            (&mut self.spec_id, group.spec_id),
        ] {
            *mine = theirs.or(*mine);
        }
    }
}

/// Decorations that are fulfilled without knowing of them.
fn is_harmless(decoration: Decoration) -> bool {
    matches!(
        decoration,
        // Layouts come from offsets and strides.
        Decoration::Block | Decoration::ColMajor | Decoration::GLSLShared | Decoration::GLSLPacked
        // Accesses to memory that changes are neither left out nor moved, whatever is said of it.
            | Decoration::Restrict | Decoration::Aliased | Decoration::Volatile | Decoration::Coherent
            | Decoration::NonWritable | Decoration::NonReadable | Decoration::Constant
            | Decoration::RestrictPointer | Decoration::AliasedPointer
            | Decoration::Invariant | Decoration::FPFastMathMode
        // Hints and names.
            | Decoration::Uniform | Decoration::UniformId | Decoration::NonUniform | Decoration::Alignment
            | Decoration::NoSignedWrap | Decoration::NoUnsignedWrap | Decoration::InputAttachmentIndex
            | Decoration::CounterBuffer | Decoration::UserSemantic | Decoration::UserTypeGOOGLE
    )
}

const DECORATIONS: &str = "the decorations of the Shader capability";

/// Takes over the decoration at operand `at`.
fn decorate(marks: &mut Marks, inst: &Inst, at: usize) -> Result<()> {
    let Some(&Operand::Decoration(decoration)) = inst.operands.get(at) else {
        return Err(inst.invalid("a decoration is missing"));
    };
    let literal = || inst.literal_at(at + 1).map(Some);
    match decoration {
        Decoration::RelaxedPrecision => marks.relaxed = true,
        Decoration::NoContraction => marks.exact = true,
        Decoration::Flat => marks.flat = true,
        Decoration::NoPerspective => marks.no_perspective = true,
        Decoration::Centroid => marks.centroid = true,
        Decoration::Sample => marks.per_sample = true,
        Decoration::BufferBlock => marks.buffer_block = true,
        Decoration::RowMajor => marks.row_major = true,
        Decoration::Location => marks.location = literal()?,
        Decoration::Component => marks.component = literal()?,
        Decoration::Index => marks.index = literal()?,
        Decoration::DescriptorSet => marks.set = literal()?,
        Decoration::Binding => marks.binding = literal()?,
        Decoration::ArrayStride => marks.array_stride = literal()?,
        Decoration::MatrixStride => marks.matrix_stride = literal()?,
        Decoration::Offset => marks.offset = literal()?,
        Decoration::SpecId => marks.spec_id = literal()?,
        Decoration::BuiltIn => match inst.operands.get(at + 1) {
            Some(&Operand::BuiltIn(builtin)) => marks.builtin = Some(builtin),
            _ => return Err(inst.invalid("a built-in is missing")),
        },
        decoration if is_harmless(decoration) => {}
        decoration => return Err(inst.unsupported(format!("decoration {decoration:?}"), DECORATIONS)),
    }
    Ok(())
}

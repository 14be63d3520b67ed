//! Types of a module, with the number of scalars that each flattens to.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{Dim, ImageFormat, Op, StorageClass};

use super::error::Result;
use crate::ir::{ImageDim, Type};
use crate::spirv::binary::{Id, Inst, Operand};

/// Scalars that one value or variable may flatten to.
pub const MAX_SCALARS: u32 = 4096;

/// Nesting that a type may have.
const MAX_DEPTH: u32 = 32;

/// Index of a type in [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty(u32);

/// What a type is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value.
    Void,
    /// Boolean.
    Bool,
    /// 32-bit integer.
    Int {
        /// Signedness, which only some operations look at.
        signed: bool,
    },
    /// 32-bit float.
    Float,
    /// 2 to 4 scalars.
    Vector {
        /// Scalar type.
        of: Ty,
        /// Components.
        count: u32,
    },
    /// 2 to 4 columns.
    Matrix {
        /// Column vector type.
        of: Ty,
        /// Columns.
        count: u32,
    },
    /// Array of known length.
    Array {
        /// Element type.
        of: Ty,
        /// Elements.
        count: u32,
    },
    /// Array of unknown length, the last member of a storage buffer.
    RuntimeArray {
        /// Element type.
        of: Ty,
    },
    /// Structure.
    Struct {
        /// Member types.
        members: Vec<Ty>,
    },
    /// Pointer.
    Pointer {
        /// Storage class.
        class: StorageClass,
        /// What it points to.
        to: Ty,
    },
    /// Image.
    Image(ImageType),
    /// Sampler by itself.
    Sampler,
    /// Image with its sampler.
    SampledImage(ImageType),
    /// Function type.
    Function,
}

/// Properties of an image type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageType {
    /// Dimension, `None` when this compiler lacks it.
    pub dim: Option<ImageDim>,
    /// The dimension as written.
    pub named: Dim,
    /// Array of layers.
    pub arrayed: bool,
    /// Several samples per texel.
    pub multisampled: bool,
    /// Used with a sampler, or a texel buffer that is; storage images and input attachments are not.
    pub sampled: bool,
    /// The pixel's own texel of an attachment.
    pub subpass: bool,
    /// What its texels are, of storage images.
    pub format: ImageFormat,
}

/// A type.
#[derive(Clone, Debug)]
pub struct TypeInfo {
    /// What it is.
    pub kind: Kind,
    /// Its id, under which decorations are found.
    pub id: Id,
    /// Scalars of a flattened value; saturates. 0 for types without value.
    pub scalars: u32,
    depth: u32,
}

/// All types of a module.
#[derive(Clone, Debug, Default)]
pub struct Types {
    list: Vec<TypeInfo>,
    by_id: FxHashMap<Id, Ty>,
}

impl Types {
    /// A type's description.
    pub fn info(&self, ty: Ty) -> &TypeInfo {
        &self.list[ty.0 as usize]
    }

    /// What a type is.
    pub fn kind(&self, ty: Ty) -> &Kind {
        &self.info(ty).kind
    }

    /// Scalars of a flattened value.
    pub fn scalars(&self, ty: Ty) -> u32 {
        self.info(ty).scalars
    }

    /// The type with an id.
    pub fn get(&self, id: Id) -> Option<Ty> {
        self.by_id.get(&id).copied()
    }

    /// The type with an id that `user` names.
    pub fn find(&self, id: Id, user: &Inst) -> Result<Ty> {
        self.get(id).ok_or_else(|| user.invalid(format!("%{id} is not a type")))
    }

    /// Type of the parts of a vector, matrix or array, and their number.
    pub fn parts(&self, ty: Ty) -> Option<(Ty, u32)> {
        match *self.kind(ty) {
            Kind::Vector { of, count } | Kind::Matrix { of, count } | Kind::Array { of, count } => {
                Some((of, count))
            }
            _ => None,
        }
    }

    /// Type of part `index` of a composite and the number of scalars before it.
    pub fn member(&self, ty: Ty, index: u32) -> Option<(Ty, u32)> {
        if let Kind::Struct { members } = self.kind(ty) {
            let before = members.iter().take(index as usize).map(|&member| self.scalars(member));
            let before = before.fold(0u32, u32::saturating_add);
            return Some((*members.get(index as usize)?, before));
        }
        if let Kind::RuntimeArray { of } = *self.kind(ty) {
            return Some((of, 0));
        }
        let (of, count) = self.parts(ty)?;
        (index < count).then(|| (of, index.saturating_mul(self.scalars(of))))
    }

    /// The scalar type at the bottom of a scalar, vector or matrix.
    pub fn scalar(&self, ty: Ty) -> Option<Ty> {
        match *self.kind(ty) {
            Kind::Bool | Kind::Int { .. } | Kind::Float => Some(ty),
            Kind::Vector { of, .. } | Kind::Matrix { of, .. } => self.scalar(of),
            _ => None,
        }
    }

    /// Whether the scalars of a type are floats.
    pub fn is_float(&self, ty: Ty) -> bool {
        self.scalar(ty).is_some_and(|ty| *self.kind(ty) == Kind::Float)
    }

    /// IR types of the scalars of a flattened value.
    pub fn flatten(&self, ty: Ty) -> SmallVec<[Type; 16]> {
        let mut scalars = SmallVec::with_capacity(self.scalars(ty) as usize);
        self.flatten_into(ty, &mut scalars);
        scalars
    }

    fn flatten_into(&self, ty: Ty, scalars: &mut SmallVec<[Type; 16]>) {
        match self.kind(ty) {
            Kind::Bool => scalars.push(Type::Bool),
            Kind::Int { .. } | Kind::Float => scalars.push(Type::Word),
            Kind::Struct { members } => members.iter().for_each(|&member| self.flatten_into(member, scalars)),
            _ => {
                if let Some((of, count)) = self.parts(ty) {
                    (0..count).for_each(|_| self.flatten_into(of, scalars));
                }
            }
        }
    }

    /// Whether values of a type are numbers, booleans and composites of them. Structures may be empty.
    pub fn is_plain(&self, ty: Ty) -> bool {
        match self.kind(ty) {
            Kind::Bool | Kind::Int { .. } | Kind::Float | Kind::Vector { .. } | Kind::Matrix { .. } => true,
            Kind::Array { of, .. } => self.scalars(*of) > 0 && self.is_plain(*of),
            Kind::Struct { members } => members.iter().all(|&member| self.is_plain(member)),
            _ => false,
        }
    }

    /// Adds the type that an `OpType…` instruction declares. `length` is the value of an array's length.
    pub fn declare(&mut self, inst: &Inst, length: Option<u32>) -> Result<()> {
        let kind = self.kind_of(inst, length)?;
        let (scalars, depth) = self.measure(&kind);
        if depth > MAX_DEPTH {
            return Err(inst.too_large("nesting of types", MAX_DEPTH as usize));
        }
        let ty = Ty(self.list.len() as u32);
        self.list.push(TypeInfo { kind, id: inst.id, scalars, depth });
        if self.by_id.insert(inst.id, ty).is_some() {
            return Err(inst.invalid("the id is defined twice"));
        }
        Ok(())
    }

    fn measure(&self, kind: &Kind) -> (u32, u32) {
        match kind {
            Kind::Bool | Kind::Int { .. } | Kind::Float => (1, 0),
            &Kind::Vector { of, count } | &Kind::Matrix { of, count } | &Kind::Array { of, count } => {
                let part = self.info(of);
                (part.scalars.saturating_mul(count), part.depth + 1)
            }
            Kind::Struct { members } => {
                let parts = || members.iter().map(|&member| self.info(member));
                let scalars = parts().fold(0u32, |sum, part| sum.saturating_add(part.scalars));
                (scalars, parts().map(|part| part.depth + 1).max().unwrap_or(0))
            }
            &Kind::Pointer { to: of, .. } | &Kind::RuntimeArray { of } => (0, self.info(of).depth + 1),
            _ => (0, 0),
        }
    }

    fn kind_of(&self, inst: &Inst, length: Option<u32>) -> Result<Kind> {
        let of = |index: usize| self.find(inst.id_at(index)?, inst);
        Ok(match inst.op {
            Op::TypeVoid => Kind::Void,
            Op::TypeBool => Kind::Bool,
            Op::TypeInt => {
                self.width(inst)?;
                Kind::Int { signed: inst.literal_at(1)? != 0 }
            }
            Op::TypeFloat => {
                self.width(inst)?;
                Kind::Float
            }
            Op::TypeVector => {
                let (of, count) = (of(0)?, inst.literal_at(1)?);
                let scalar = matches!(self.kind(of), Kind::Bool | Kind::Int { .. } | Kind::Float);
                if !scalar || !(2..=4).contains(&count) {
                    return Err(inst.invalid("a vector has 2 to 4 scalar components"));
                }
                Kind::Vector { of, count }
            }
            Op::TypeMatrix => {
                let (of, count) = (of(0)?, inst.literal_at(1)?);
                if !matches!(self.kind(of), Kind::Vector { .. })
                    || !self.is_float(of)
                    || !(2..=4).contains(&count)
                {
                    return Err(inst.invalid("a matrix has 2 to 4 columns of float vectors"));
                }
                Kind::Matrix { of, count }
            }
            Op::TypeArray => match length {
                Some(count) if count > 0 => Kind::Array { of: of(0)?, count },
                _ => return Err(inst.invalid("an array's length is a positive constant")),
            },
            Op::TypeRuntimeArray => Kind::RuntimeArray { of: of(0)? },
            Op::TypeStruct => {
                let members: Result<Vec<Ty>> = inst.ids().map(|id| self.find(id, inst)).collect();
                Kind::Struct { members: members? }
            }
            Op::TypePointer => match inst.operands.first() {
                Some(&Operand::StorageClass(class)) => Kind::Pointer { class, to: of(1)? },
                _ => return Err(inst.invalid("a pointer type names a storage class")),
            },
            Op::TypeImage => Kind::Image(image_type(inst)?),
            Op::TypeSampler => Kind::Sampler,
            Op::TypeSampledImage => match *self.kind(of(0)?) {
                Kind::Image(image) => Kind::SampledImage(image),
                _ => return Err(inst.invalid("a sampled image is made of an image")),
            },
            Op::TypeFunction => Kind::Function,
            op => {
                let supported =
                    "void, bool, 32-bit int and float, vectors, matrices, arrays, structures, images";
                return Err(inst.unsupported(format!("type Op{op:?}"), supported));
            }
        })
    }

    fn width(&self, inst: &Inst) -> Result<()> {
        match inst.literal_at(0)? {
            32 => Ok(()),
            bits => Err(inst.unsupported(format!("a {bits}-bit scalar"), "32-bit scalars")),
        }
    }
}

fn image_type(inst: &Inst) -> Result<ImageType> {
    let Some(&Operand::Dim(named)) = inst.operands.get(1) else {
        return Err(inst.invalid("an image type names a dimension"));
    };
    let dim = match named {
        Dim::Dim1D => Some(ImageDim::D1),
        Dim::Dim2D | Dim::DimSubpassData => Some(ImageDim::D2),
        Dim::Dim3D => Some(ImageDim::D3),
        Dim::DimCube => Some(ImageDim::Cube),
        Dim::DimBuffer => Some(ImageDim::Buffer),
        _ => None,
    };
    let flag = |index: usize| inst.literal_at(index);
    Ok(ImageType {
        dim,
        named,
        arrayed: flag(3)? != 0,
        multisampled: flag(4)? != 0,
        sampled: flag(5)? != 2,
        subpass: named == Dim::DimSubpassData,
        format: match inst.operands.get(6) {
            Some(&Operand::ImageFormat(format)) => format,
            _ => ImageFormat::Unknown,
        },
    })
}

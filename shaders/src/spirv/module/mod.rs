//! A module's global part: capabilities, entry point, types, constants, variables, functions.

pub mod constant;
pub mod decoration;
pub mod function;

use rustc_hash::{FxHashMap, FxHashSet};
use spirv::{Capability, ExecutionMode, ExecutionModel, MemoryModel, Op, StorageClass};

use super::error::{Result, SpirvError};
use super::types::{Ty, Types};
use crate::ir::{SourceLine, Stage};
use crate::spirv::binary::{Id, Inst, Operand, parse};
use constant::{Constants, is_constant};
use decoration::Decorations;
use function::{Function, FunctionReader};

/// A shader stage as the application hands it over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StageSource<'a> {
    /// The module, in either byte order.
    pub words: &'a [u32],
    /// Name of the entry point.
    pub entry: &'a str,
    /// Specialisation: constant id and value bits; booleans are zero or not.
    pub specialization: &'a [(u32, u32)],
}

/// A variable of the module.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its declaration.
    pub inst: Inst,
    /// Storage class.
    pub class: StorageClass,
    /// Type of what it holds.
    pub ty: Ty,
    /// Constant that it starts with.
    pub initializer: Option<Id>,
}

/// A module as far as it does not depend on control flow.
#[derive(Debug, Default)]
pub struct Module {
    /// Types.
    pub types: Types,
    /// Constants.
    pub constants: Constants,
    /// Decorations.
    pub decorations: Decorations,
    /// Global variables in declaration order.
    pub globals: Vec<Global>,
    /// Functions by id.
    pub functions: FxHashMap<Id, Function>,
    /// Result type of every id.
    pub types_of: FxHashMap<Id, Ty>,
    /// Import id of GLSL.std.450.
    pub glsl: Option<Id>,
    /// Import ids of instruction sets without meaning.
    pub ignored_sets: FxHashSet<Id>,
    /// The entry point's function.
    pub entry: Id,
    /// The workgroup's size as an execution mode gives it: the mode, and numbers or ids of constants.
    local_size: Option<(Inst, [u32; 3])>,
    /// Tests come first.
    pub early_fragment_tests: bool,
    /// The origin of window coordinates is the lower left corner, which Vulkan has not: nothing that depends on it can be read.
    pub origin_lower_left: bool,
    /// Source lines that instructions name.
    pub lines: Vec<SourceLine>,
}

const CAPABILITIES: &str = "Matrix, Shader, Sampled1D, Image1D, DerivativeControl, ImageQuery, ShaderLayer and ShaderViewportIndex (declaration only), \
    ClipDistance, CullDistance, DrawParameters, MultiView, DeviceGroup, GroupNonUniform with Vote, Arithmetic, Ballot, Shuffle, ShuffleRelative, \
    Clustered and Quad, VulkanMemoryModel with DeviceScope, dynamic and non-uniform indexing of arrays of descriptors";

const EXECUTION_MODES: &str = "OriginUpperLeft, EarlyFragmentTests, DepthReplacing, DepthGreater, DepthLess, \
    DepthUnchanged; of compute shaders LocalSize and LocalSizeId";

const fn is_supported(capability: Capability) -> bool {
    matches!(
        capability,
        Capability::Matrix
            | Capability::Shader
            | Capability::Sampled1D
            | Capability::Image1D
            | Capability::SampledBuffer
            | Capability::ImageBuffer
            | Capability::SampledCubeArray
            | Capability::ImageCubeArray
            // Arrays of multisampled images need it as storage images only, but compilers declare it for any.
            | Capability::ImageMSArray
            | Capability::InputAttachment
            | Capability::ImageGatherExtended
            | Capability::StorageImageExtendedFormats
            | Capability::StorageImageReadWithoutFormat
            // Where nothing is written to images, that is said of the write.
            | Capability::StorageImageWriteWithoutFormat
            | Capability::DerivativeControl
            | Capability::ImageQuery
            // Where a stage chooses a layer or a viewport, that is said of the output; zink declares it for stages that do not.
            | Capability::ShaderLayer
            | Capability::ShaderViewportIndex
            | Capability::ShaderViewportIndexLayerEXT
            | Capability::SampleRateShading
            | Capability::InterpolationFunction
            | Capability::ClipDistance
            | Capability::CullDistance
            | Capability::UniformBufferArrayDynamicIndexing
            | Capability::SampledImageArrayDynamicIndexing
            | Capability::StorageBufferArrayDynamicIndexing
            | Capability::StorageImageArrayDynamicIndexing
            | Capability::InputAttachmentArrayDynamicIndexing
            | Capability::UniformTexelBufferArrayDynamicIndexing
            | Capability::StorageTexelBufferArrayDynamicIndexing
            | Capability::ShaderNonUniform
            | Capability::UniformBufferArrayNonUniformIndexing
            | Capability::SampledImageArrayNonUniformIndexing
            | Capability::StorageBufferArrayNonUniformIndexing
            | Capability::StorageImageArrayNonUniformIndexing
            | Capability::InputAttachmentArrayNonUniformIndexing
            | Capability::UniformTexelBufferArrayNonUniformIndexing
            | Capability::StorageTexelBufferArrayNonUniformIndexing
            | Capability::DemoteToHelperInvocation
            // Invocations that see each other's stores are those of the compute engine, whose memory is the host's.
            | Capability::VulkanMemoryModel
            | Capability::VulkanMemoryModelDeviceScope
            | Capability::DrawParameters
            | Capability::MultiView
            | Capability::DeviceGroup
            | Capability::GroupNonUniform
            | Capability::GroupNonUniformVote
            | Capability::GroupNonUniformArithmetic
            | Capability::GroupNonUniformBallot
            | Capability::GroupNonUniformShuffle
            | Capability::GroupNonUniformShuffleRelative
            | Capability::GroupNonUniformClustered
            | Capability::GroupNonUniformQuad
    )
}

/// Extensions that add nothing to what must be translated, or only what is translated anyway.
const EXTENSIONS: [&str; 15] = [
    "SPV_KHR_storage_buffer_storage_class",
    "SPV_KHR_non_semantic_info",
    "SPV_KHR_multiview",
    "SPV_KHR_device_group",
    "SPV_KHR_shader_draw_parameters",
    "SPV_KHR_vulkan_memory_model",
    "SPV_KHR_no_integer_wrap_decoration",
    "SPV_KHR_terminate_invocation",
    "SPV_EXT_demote_to_helper_invocation",
    "SPV_EXT_shader_viewport_index_layer",
    "SPV_EXT_descriptor_indexing",
    "SPV_GOOGLE_decorate_string",
    "SPV_GOOGLE_hlsl_functionality1",
    "SPV_GOOGLE_user_type",
    "SPV_KHR_relaxed_extended_instruction",
];

impl Module {
    /// Reads a module for one entry point.
    pub fn read(source: &StageSource<'_>, stage: Stage) -> Result<Module> {
        let (instructions, lines) = parse(source.words)?;
        let mut module = Module { lines: lines.table, ..Module::default() };
        for inst in &instructions {
            module.preamble(inst)?;
            module.decorations.read(inst)?;
        }
        module.entry = entry_point(&instructions, source.entry, stage)?;
        for inst in &instructions {
            module.execution_mode(inst, stage)?;
        }
        let mut functions = FunctionReader::default();
        for inst in instructions {
            if !functions.takes(inst.op) {
                module.global(&inst, source)?;
                continue;
            }
            if inst.id != 0 && inst.ty != 0 {
                let ty = module.types.find(inst.ty, &inst)?;
                if module.types_of.insert(inst.id, ty).is_some() {
                    return Err(inst.invalid("the id is defined twice"));
                }
            }
            if let Some(function) = functions.read(inst)? {
                module.functions.insert(function.id, function);
            }
        }
        Ok(module)
    }

    /// The type of an id.
    pub fn type_of(&self, id: Id, user: &Inst) -> Result<Ty> {
        self.types_of.get(&id).copied().ok_or_else(|| user.invalid(format!("%{id} has no type")))
    }

    fn preamble(&mut self, inst: &Inst) -> Result<()> {
        match inst.op {
            Op::Capability => match inst.operands.first() {
                Some(&Operand::Capability(capability)) if is_supported(capability) => Ok(()),
                Some(Operand::Capability(capability)) => {
                    Err(inst.unsupported(format!("capability {capability:?}"), CAPABILITIES))
                }
                _ => Err(inst.invalid("a capability is missing")),
            },
            Op::Extension => {
                let name = inst.string_at(0)?;
                if EXTENSIONS.contains(&name) {
                    return Ok(());
                }
                Err(inst.unsupported(format!("extension {name:?}"), "extensions without effect on code"))
            }
            Op::ExtInstImport => {
                match inst.string_at(0)? {
                    "GLSL.std.450" => self.glsl = Some(inst.id),
                    name if name.starts_with("NonSemantic.") => {
                        self.ignored_sets.insert(inst.id);
                    }
                    name => {
                        return Err(inst.unsupported(format!("instruction set {name:?}"), "GLSL.std.450"));
                    }
                }
                Ok(())
            }
            Op::MemoryModel => match inst.operands[..] {
                [
                    Operand::AddressingModel(spirv::AddressingModel::Logical),
                    Operand::MemoryModel(MemoryModel::GLSL450 | MemoryModel::Simple | MemoryModel::Vulkan),
                ] => Ok(()),
                _ => Err(inst.unsupported(
                    format!("memory model {:?}", inst.operands),
                    "Logical, with GLSL450 or Vulkan",
                )),
            },
            _ => Ok(()),
        }
    }

    fn execution_mode(&mut self, inst: &Inst, stage: Stage) -> Result<()> {
        if !matches!(inst.op, Op::ExecutionMode | Op::ExecutionModeId) || inst.id_at(0)? != self.entry {
            return Ok(());
        }
        match inst.operands.get(1) {
            Some(Operand::ExecutionMode(ExecutionMode::LocalSize)) if stage == Stage::Compute => {
                let size = [inst.literal_at(2)?, inst.literal_at(3)?, inst.literal_at(4)?];
                self.local_size = Some((inst.clone(), size));
                Ok(())
            }
            Some(Operand::ExecutionMode(ExecutionMode::LocalSizeId)) if stage == Stage::Compute => {
                let size = [inst.id_at(2)?, inst.id_at(3)?, inst.id_at(4)?];
                self.local_size = Some((inst.clone(), size));
                Ok(())
            }
            Some(Operand::ExecutionMode(ExecutionMode::EarlyFragmentTests)) => {
                self.early_fragment_tests = true;
                Ok(())
            }
            // Only what is read can tell the difference; see `interface::input`.
            Some(Operand::ExecutionMode(ExecutionMode::OriginLowerLeft)) => {
                self.origin_lower_left = true;
                Ok(())
            }
            // Tests come behind a shader that writes depth, whatever it promises about its values.
            Some(Operand::ExecutionMode(
                ExecutionMode::OriginUpperLeft
                | ExecutionMode::DepthReplacing
                | ExecutionMode::DepthGreater
                | ExecutionMode::DepthLess
                | ExecutionMode::DepthUnchanged,
            )) => Ok(()),
            Some(Operand::ExecutionMode(mode)) => {
                Err(inst.unsupported(format!("execution mode {mode:?}"), EXECUTION_MODES))
            }
            _ => Err(inst.invalid("an execution mode is missing")),
        }
    }

    /// Invocations of a workgroup along each axis: of the constant that is decorated as its size, or of the execution mode.
    pub fn workgroup_size(&self, entry: &Inst) -> Result<[u32; 3]> {
        let constant = self.decorations.workgroup_size.and_then(|id| self.constants.get(id));
        let size = match (constant, &self.local_size) {
            (Some(constant), _) => <[u32; 3]>::try_from(&constant.words[..]).ok(),
            (None, Some((mode, ids))) if mode.op == Op::ExecutionModeId => {
                let [x, y, z] = ids.map(|id| self.constants.word(id));
                x.zip(y).zip(z).map(|((x, y), z)| [x, y, z])
            }
            (None, Some((_, size))) => Some(*size),
            (None, None) => None,
        };
        match size {
            Some(size) if !size.contains(&0) => Ok(size),
            Some(size) => Err(entry.invalid(format!("a workgroup of {size:?} invocations is empty"))),
            None => Err(entry.invalid("the entry point does not say how large its workgroups are")),
        }
    }

    fn global(&mut self, inst: &Inst, source: &StageSource<'_>) -> Result<()> {
        match inst.op {
            Op::Variable => self.variable(inst),
            Op::TypeArray => {
                let length = self.constants.word(inst.id_at(1)?);
                self.types.declare(inst, length)
            }
            op if is_type(op) => self.types.declare(inst, None),
            op if is_constant(op) => {
                self.constants.read(inst, &self.types, &self.decorations, source.specialization)?;
                let ty = self.types.find(inst.ty, inst)?;
                self.types_of.insert(inst.id, ty);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn variable(&mut self, inst: &Inst) -> Result<()> {
        let pointer = self.types.find(inst.ty, inst)?;
        let super::types::Kind::Pointer { class, to } = *self.types.kind(pointer) else {
            return Err(inst.invalid("a variable's type is a pointer"));
        };
        let initializer = if inst.operands.len() > 1 { Some(inst.id_at(1)?) } else { None };
        self.globals.push(Global { inst: inst.clone(), class, ty: to, initializer });
        if self.types_of.insert(inst.id, pointer).is_some() {
            return Err(inst.invalid("the id is defined twice"));
        }
        Ok(())
    }
}

fn is_type(op: Op) -> bool {
    op.is_type() && op != Op::TypeArray || op == Op::TypeForwardPointer
}

fn entry_point(instructions: &[Inst], name: &str, stage: Stage) -> Result<Id> {
    let wanted = match stage {
        Stage::Vertex => ExecutionModel::Vertex,
        Stage::Fragment => ExecutionModel::Fragment,
        Stage::Compute => ExecutionModel::GLCompute,
    };
    let mut available = Vec::new();
    for inst in instructions.iter().filter(|inst| inst.op == Op::EntryPoint) {
        let Some(&Operand::ExecutionModel(model)) = inst.operands.first() else {
            return Err(inst.invalid("an execution model is missing"));
        };
        let found = inst.string_at(2)?;
        if found == name && model == wanted {
            return inst.id_at(1);
        }
        available.push(format!("{model:?} \"{found}\""));
    }
    Err(SpirvError::EntryPoint { name: name.into(), stage, available: available.join(", ") })
}

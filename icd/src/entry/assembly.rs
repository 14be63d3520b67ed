//! Reads the structures of `icd/include/vulkan_vc4.h`. Everything that an application can get wrong without leading
//! into memory that is not its own is an error.

use std::ffi::{c_char, c_void};

use ash::vk;
use vc4::qpu::Stage;

use super::read::chain;
use crate::foundation::error::Error;
use crate::pipeline::assembly::uniform::{Description, describe};
use crate::pipeline::assembly::{
    Code, MAX_INPUTS, MAX_INSTRUCTIONS, MAX_TEXT_BYTES, MAX_UNIFORMS, MAX_VARYINGS, Mode, Module,
    RasterWindow, Source, SourceColor, Word, compat, refuse,
};

/// VK_STRUCTURE_TYPE_SHADER_MODULE_ASSEMBLY_CREATE_INFO_VC4.
pub const STRUCTURE_TYPE: i32 = 0x5643_3401;
/// VK_ASSEMBLY_VERSION_VC4.
pub const VERSION: u32 = 1;
/// VK_ASSEMBLY_AUTO_VC4.
pub const AUTO: u32 = u32::MAX;
/// VK_ASSEMBLY_VIEWPORT_RASTER_BIT_VC4.
pub const VIEWPORT_RASTER: u32 = 1;
/// VK_ASSEMBLY_PROGRAM_VERTEX_INDEX_BIT_VC4.
pub const VERTEX_INDEX: u32 = 1;
/// VK_ASSEMBLY_PROGRAM_BGRA_COLOR_BIT_VC4.
pub const BGRA_COLOR: u32 = 2;
/// VK_ASSEMBLY_PROGRAM_FLOAT_COLOR_BIT_VC4.
pub const FLOAT_COLOR: u32 = 4;
/// VkAssemblyStageVC4 by value.
pub const STAGES: [Stage; 3] = [Stage::Coordinate, Stage::Vertex, Stage::Fragment];
/// VkAssemblyModeVC4 by value.
pub const MODES: [Mode; 2] = [Mode::Patched, Mode::Raw];

/// VkAssemblyUniformVC4.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AssemblyUniform {
    /// VkAssemblyUniformSourceVC4.
    pub source: u32,
    /// Descriptor set.
    pub set: u32,
    /// Binding number.
    pub binding: u32,
    /// Array element.
    pub element: u32,
    /// What the source says.
    pub value: u32,
}

/// VkAssemblyVaryingVC4.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AssemblyVarying {
    /// Location.
    pub location: u32,
    /// Component.
    pub component: u32,
}

/// VkAssemblyInputVC4.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AssemblyInput {
    /// Vertex input location.
    pub location: u32,
    /// Components that a patched program reads.
    pub components: u32,
}

/// VkAssemblyProgramVC4.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AssemblyProgram {
    /// VkAssemblyStageVC4.
    pub stage: u32,
    /// VkAssemblyProgramFlagBitsVC4.
    pub flags: u32,
    /// Number of attributes.
    pub input_count: u32,
    /// The attributes.
    pub inputs: *const AssemblyInput,
    /// Number of words.
    pub uniform_count: u32,
    /// The words.
    pub uniforms: *const AssemblyUniform,
    /// Text.
    pub text: *const c_char,
    /// Bytes of it.
    pub text_size: usize,
    /// Instructions.
    pub words: *const u64,
    /// Number of them.
    pub word_count: usize,
}

/// VkShaderModuleAssemblyCreateInfoVC4.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AssemblyCreateInfo {
    /// [`STRUCTURE_TYPE`].
    pub s_type: i32,
    /// The next structure.
    pub p_next: *const c_void,
    /// [`VERSION`].
    pub version: u32,
    /// VkAssemblyFlagBitsVC4.
    pub flags: u32,
    /// VkAssemblyModeVC4.
    pub mode: u32,
    /// Number of programs.
    pub program_count: u32,
    /// The programs.
    pub programs: *const AssemblyProgram,
    /// Number of varyings or [`AUTO`].
    pub varying_count: u32,
    /// Bit n: varying n is flat.
    pub flat_varyings: u32,
    /// Names of the varyings.
    pub varyings: *const AssemblyVarying,
}

/// The assembly module of a chained structure, if there is one.
///
/// # Safety
/// `info` is valid, and its chain with it.
pub(super) unsafe fn chained(info: &vk::ShaderModuleCreateInfo<'_>) -> Result<Option<Module>, Error> {
    // SAFETY: by the contract the chain is valid; a structure of this type has this form.
    unsafe {
        let ours = chain(info.p_next).find(|next| (**next).s_type.as_raw() == STRUCTURE_TYPE);
        ours.map(|structure| read(&*structure.cast::<AssemblyCreateInfo>())).transpose()
    }
}

/// The assembly module whose address stands in the code, if one does.
///
/// # Safety
/// The address, if it is one, leads where [`compat`] describes.
pub(super) unsafe fn addressed(code: &[u32]) -> Result<Option<Module>, Error> {
    // SAFETY: by the contract.
    compat::address(code).map(|address| unsafe { compatible(address) }).transpose()
}

/// Memory of this process.
#[cfg(target_pointer_width = "32")]
struct Process;

#[cfg(target_pointer_width = "32")]
impl compat::Memory for Process {
    fn words(&self, address: u32, count: u32) -> Option<Vec<u32>> {
        let size = count.checked_mul(4).filter(|size| *size <= i32::MAX as u32)?;
        address.checked_add(size)?;
        // SAFETY: not null and aligned, as the reader checks; the application's module says that it is there.
        Some(unsafe { std::slice::from_raw_parts(address as *const u32, count as usize) }.to_vec())
    }
}

/// An address fits one word of the code here.
///
/// # Safety
/// The address is null or leads to a structure as [`compat`] describes.
#[cfg(target_pointer_width = "32")]
unsafe fn compatible(address: u32) -> Result<Module, Error> {
    compat::read(&Process, address)
}

/// An address does not fit one word of the code here.
///
/// # Safety
/// None is needed; the other one has a contract.
#[cfg(not(target_pointer_width = "32"))]
unsafe fn compatible(_address: u32) -> Result<Module, Error> {
    refuse(
        "pCode holds the magic number 0x14e45250 and the address of a structure in one word, which fits in 32-bit \
         processes only; chain a VkShaderModuleAssemblyCreateInfoVC4 instead (vulkan_vc4.h)",
    )
}

/// `count` elements at `first`.
///
/// # Safety
/// `first` is null, misaligned, or leads to `count` elements.
unsafe fn array<'a, T>(what: &str, first: *const T, count: usize, limit: usize) -> Result<&'a [T], Error> {
    if count == 0 {
        return Ok(&[]);
    }
    if count > limit {
        return refuse(format!("{what}: a count of {count}, at most {limit}"));
    }
    if first.is_null() || !first.is_aligned() {
        return refuse(format!("{what}: {count} elements at the address {first:?}"));
    }
    // SAFETY: by the contract.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

unsafe fn read(info: &AssemblyCreateInfo) -> Result<Module, Error> {
    if info.version != VERSION {
        return refuse(format!(
            "version {} of the structures; this driver knows version {VERSION}",
            info.version
        ));
    }
    if info.flags & !VIEWPORT_RASTER != 0 {
        return refuse(format!("unknown flags {:#x}", info.flags));
    }
    let mode = MODES.get(info.mode as usize).copied();
    let Some(mode) = mode else { return refuse(format!("mode {}; 0 is patched, 1 is raw", info.mode)) };
    let window = match info.flags & VIEWPORT_RASTER {
        0 => RasterWindow::Driver,
        _ if mode == Mode::Patched => {
            return refuse(
                "VK_ASSEMBLY_VIEWPORT_RASTER_BIT_VC4 is for raw programs; the patch does the viewport",
            );
        }
        _ => RasterWindow::Viewport,
    };
    let varyings = (info.varying_count != AUTO).then_some(info.varying_count);
    // SAFETY: the structure says that these arrays are there.
    let (programs, names) = unsafe {
        let programs = array("pPrograms", info.programs, info.program_count as usize, STAGES.len())?;
        let names = match (info.varyings.is_null(), varyings) {
            (true, _) => &[],
            (false, Some(count)) => array("pVaryings", info.varyings, count as usize, MAX_VARYINGS as usize)?,
            (false, None) => return refuse("pVaryings without a varyingCount"),
        };
        (programs, names)
    };
    // SAFETY: as above.
    let programs = programs.iter().map(|p| unsafe { program(p) }).collect::<Result<Vec<_>, _>>()?;
    Module::new(Module {
        mode,
        window,
        lenient: false,
        lookups: Vec::new(),
        programs,
        varyings,
        flat: info.flat_varyings,
        names: names.iter().map(|name| (name.location, name.component)).collect(),
    })
}

unsafe fn program(program: &AssemblyProgram) -> Result<Source, Error> {
    let Some(&stage) = STAGES.get(program.stage as usize) else {
        return refuse(format!(
            "a program for stage {}; 0 is coordinate, 1 vertex, 2 fragment",
            program.stage
        ));
    };
    let color = match (stage, program.flags & !VERTEX_INDEX, program.flags & VERTEX_INDEX) {
        (_, 0, 0) | (Stage::Vertex | Stage::Coordinate, 0, _) => SourceColor::Rgba8,
        (Stage::Fragment, BGRA_COLOR, 0) => SourceColor::Bgra8,
        (Stage::Fragment, FLOAT_COLOR, 0) => SourceColor::Floats,
        _ => return refuse(format!("flags {:#x} of a program for stage {}", program.flags, program.stage)),
    };
    if stage == Stage::Fragment && program.input_count != 0 {
        return refuse("a fragment program has no attributes");
    }
    // SAFETY: the structure says that they are there.
    let inputs = unsafe { array("pInputs", program.inputs, program.input_count as usize, MAX_INPUTS)? };
    let inputs = inputs.iter().map(|input| (input.location, input.components)).collect();
    // SAFETY: the structure says that uniforms and code are there.
    let source = unsafe {
        let uniforms = match program.uniforms.is_null() {
            true if program.uniform_count == 0 => None,
            _ => Some(uniforms(program)?),
        };
        match (program.text.is_null(), program.words.is_null()) {
            (false, true) => Source::new(stage, &Code::Text(text(program)?), uniforms)?,
            (true, false) => {
                let words = array("pWords", program.words, program.word_count, MAX_INSTRUCTIONS)?;
                Source::new(stage, &Code::Words(words), uniforms)?
            }
            (true, true) => return refuse("a program has neither pText nor pWords"),
            (false, false) => return refuse("a program has pText and pWords; set one of them"),
        }
    };
    let vertex_index = program.flags & VERTEX_INDEX != 0;
    Source { inputs, vertex_index, color, ..source }.checked()
}

unsafe fn uniforms(program: &AssemblyProgram) -> Result<Vec<Word>, Error> {
    let count = program.uniform_count as usize;
    // SAFETY: by the caller's structure.
    let words = unsafe { array("pUniforms", program.uniforms, count, MAX_UNIFORMS as usize)? };
    let one = |(index, uniform): (usize, &AssemblyUniform)| {
        let AssemblyUniform { source, set, binding, element, value } = *uniform;
        let description = Description { descriptor: [set, binding, element], value };
        describe(source, &description).or_else(|what| refuse(format!("pUniforms[{index}]: {what}")))
    };
    words.iter().enumerate().map(one).collect()
}

unsafe fn text<'a>(program: &AssemblyProgram) -> Result<&'a str, Error> {
    let first = program.text.cast::<u8>();
    let size = match program.text_size {
        // SAFETY: by the caller's structure the text ends with a zero.
        0 => (0..=MAX_TEXT_BYTES).take_while(|&at| unsafe { first.add(at).read() } != 0).count(),
        size => size,
    };
    // SAFETY: by the caller's structure.
    let bytes = unsafe { array("pText", first, size, MAX_TEXT_BYTES)? };
    std::str::from_utf8(bytes).or_else(|error| refuse(format!("pText is no UTF-8: {error}")))
}

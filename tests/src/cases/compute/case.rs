//! A case: a kernel, what it is bound to, how it is started, and the bytes that it leaves.

use std::path::{Path, PathBuf};

use ash::vk;

use super::resource::{Bound, Resource};
use crate::outside::glsl;
use crate::vulkan::{Error, Harness, Lab};

/// How a kernel is started.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// By so many workgroups.
    Groups([u32; 3]),
    /// By the words at this byte of a binding's buffer.
    Indirect(u32, u64),
    /// From a secondary command buffer.
    Secondary([u32; 3]),
}

/// How far the bytes of two drivers may be from each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Nearness {
    /// The same.
    Exact,
    /// As floats, by this.
    Floats(f32),
}

/// A kernel and what is done with it.
pub struct Case {
    /// Its name.
    pub name: String,
    /// GLSL behind the version.
    pub(super) source: String,
    /// Whose SPIR-V it becomes.
    pub(super) environment: &'static str,
    pub(super) resources: Vec<Resource>,
    pub(super) offsets: Vec<u32>,
    pub(super) push: Vec<u32>,
    pub(super) specialization: Vec<(u32, u32)>,
    /// A constant that is true on devices that cannot index arrays of all descriptors by what is not constant.
    pub(super) branches: Option<u32>,
    pub(super) starts: Vec<Start>,
    pub(super) nearness: Nearness,
    /// What it has to leave, if that is not to be asked of the other driver: it may do anything with such kernels.
    pub expected: Option<Vec<u8>>,
}

impl Case {
    /// A case with one workgroup.
    pub(super) fn new(name: impl Into<String>, source: impl Into<String>, resources: Vec<Resource>) -> Case {
        Case {
            name: name.into(),
            source: source.into(),
            environment: "vulkan1.0",
            resources,
            offsets: Vec::new(),
            push: Vec::new(),
            specialization: Vec::new(),
            branches: None,
            starts: vec![Start::Groups([1, 1, 1])],
            nearness: Nearness::Exact,
            expected: None,
        }
    }

    pub(super) fn groups(self, groups: [u32; 3]) -> Case {
        Case { starts: vec![Start::Groups(groups)], ..self }
    }

    /// Needs Vulkan 1.1's SPIR-V.
    pub(super) fn version_1_1(self) -> Case {
        Case { environment: "vulkan1.1", ..self }
    }

    pub(super) fn floats(self, bound: f32) -> Case {
        Case { nearness: Nearness::Floats(bound), ..self }
    }

    fn file(&self) -> String {
        self.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
    }

    /// Where its result goes.
    pub fn result(&self, directory: &Path) -> PathBuf {
        directory.join(self.file())
    }

    pub(super) fn module(&self, modules: &Path) -> PathBuf {
        modules.join(format!("{}.spv", self.file()))
    }

    /// Compiles its kernel into a directory.
    ///
    /// # Errors
    /// What glslangValidator says.
    pub fn compile(&self, modules: &Path) -> Result<(), String> {
        let source = modules.join(format!("{}.comp", self.file()));
        let text = format!("#version 450\n{}\n", self.source);
        std::fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
        glsl::compile_for(self.environment, &source, &self.module(modules))
            .map_err(|error| format!("{}: {error}", self.name))
    }

    /// Runs it: the bytes of all that it may have written.
    pub fn run(&self, harness: &Harness, modules: &Path) -> Result<Vec<u8>, Error> {
        let lab = Lab::new(harness);
        let words = glsl::words(&self.module(modules))?;
        let bound = Bound::new(&lab, &self.resources, 4 * self.push.len() as u32)?;
        let cache = vk::PipelineCache::null();
        let branches = self.branches.map(|id| (id, u32::from(!harness.indexes_descriptors)));
        let specialization: Vec<_> = self.specialization.iter().copied().chain(branches).collect();
        let pipeline = lab.compute_pipeline(&words, bound.layout, &specialization, cache)?;
        for start in &self.starts {
            let record = |commands| self.record(&lab, commands, &bound, pipeline, *start);
            match start {
                Start::Secondary(_) => lab.run_secondary(record)?,
                _ => lab.run(|commands| {
                    record(commands);
                    lab.barrier(commands);
                })?,
            }
        }
        bound.results(&lab)
    }

    fn record(
        &self,
        lab: &Lab<'_>,
        commands: vk::CommandBuffer,
        bound: &Bound,
        pipeline: vk::Pipeline,
        start: Start,
    ) {
        let point = vk::PipelineBindPoint::COMPUTE;
        let push: Vec<u8> = self.push.iter().flat_map(|word| word.to_le_bytes()).collect();
        // SAFETY: all handles come from the lab and live as long; the offsets are those of the layout.
        unsafe {
            lab.device.cmd_bind_pipeline(commands, point, pipeline);
            lab.device.cmd_bind_descriptor_sets(
                commands,
                point,
                bound.layout,
                0,
                &[bound.set],
                &self.offsets,
            );
            if !push.is_empty() {
                let stage = vk::ShaderStageFlags::COMPUTE;
                lab.device.cmd_push_constants(commands, bound.layout, stage, 0, &push);
            }
            match start {
                Start::Groups([x, y, z]) | Start::Secondary([x, y, z]) => {
                    lab.device.cmd_dispatch(commands, x, y, z);
                }
                Start::Indirect(binding, offset) => {
                    lab.device.cmd_dispatch_indirect(commands, bound.buffer(binding), offset);
                }
            }
        }
    }

    /// What is wrong with the result `ours`, beside that of the other driver.
    pub fn difference(&self, ours: &[u8], theirs: &[u8]) -> Option<String> {
        if ours.len() != theirs.len() {
            return Some(format!("{} bytes for {}", ours.len(), theirs.len()));
        }
        let word = |bytes: &[u8], n: usize| {
            let mut word = [0; 4];
            let part = &bytes[4 * n..bytes.len().min(4 * n + 4)];
            word[..part.len()].copy_from_slice(part);
            u32::from_le_bytes(word)
        };
        let buffers: usize = self.resources.iter().map(Resource::buffer_bytes).sum();
        let far = |n: &usize| {
            let (ours, theirs) = (word(ours, *n), word(theirs, *n));
            match self.nearness {
                // Texels hold what can be held exactly.
                Nearness::Floats(bound) if 4 * n < buffers => {
                    let (ours, theirs) = (f32::from_bits(ours), f32::from_bits(theirs));
                    let near = (ours - theirs).abs() <= bound * theirs.abs().max(1.0);
                    !(near || ours == theirs || ours.is_nan() && theirs.is_nan())
                }
                _ => ours != theirs,
            }
        };
        let wrong: Vec<usize> = (0..ours.len().div_ceil(4)).filter(far).collect();
        let first = *wrong.first()?;
        let show = |n| {
            let word = word(n, first);
            format!("{word:#x} = {}", f32::from_bits(word))
        };
        Some(format!("{} words differ, first word {first}: {} for {}", wrong.len(), show(ours), show(theirs)))
    }
}

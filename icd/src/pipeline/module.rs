//! VkShaderModule.

use std::sync::OnceLock;

use ash::vk;
use vc4_shaders::key::ModuleKey;

use super::assembly;
use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::limits::SPIRV_VERSION;

/// VkShaderModule: compiled or linked when a pipeline asks.
pub enum ShaderModule {
    /// SPIR-V.
    Spirv(Spirv),
    /// QPU assembly.
    Assembly(assembly::Module),
}

/// A module of SPIR-V.
pub struct Spirv {
    /// Its words.
    pub words: Vec<u32>,
    key: OnceLock<ModuleKey>,
}

impl Spirv {
    /// What stands for the words in keys of pipeline caches.
    pub fn key(&self) -> ModuleKey {
        *self.key.get_or_init(|| ModuleKey::of(&self.words))
    }
}

impl Object for ShaderModule {
    type Handle = vk::ShaderModule;
}

/// First word of a SPIR-V module.
const SPIRV_MAGIC: u32 = 0x0723_0203;

impl ShaderModule {
    /// SPIR-V of at least a header, of a version that is known.
    pub fn new(words: Vec<u32>) -> Result<ShaderModule, Error> {
        match words.first() {
            Some(&SPIRV_MAGIC) if words.get(1).is_some_and(|version| *version > SPIRV_VERSION) => {
                let part = |shift: u32, version: u32| version >> shift & 0xff;
                let [found, most] = [words[1], SPIRV_VERSION].map(|word| (part(16, word), part(8, word)));
                Err(Error::Shader(format!(
                    "a module of SPIR-V {}.{}; versions up to {}.{} are known",
                    found.0, found.1, most.0, most.1
                )))
            }
            Some(&SPIRV_MAGIC) if words.len() >= 5 => {
                Ok(ShaderModule::Spirv(Spirv { words, key: OnceLock::new() }))
            }
            Some(first) if words.len() >= 5 => Err(Error::Shader(format!(
                "word 0 is {first:#010x}, not the SPIR-V magic number {SPIRV_MAGIC:#010x}"
            ))),
            _ => Err(Error::Shader(format!("{} words are no SPIR-V module; its header has 5", words.len()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_begins_with_a_header() {
        assert!(ShaderModule::new(vec![]).is_err());
        assert!(ShaderModule::new(vec![SPIRV_MAGIC; 4]).is_err());
        let error = ShaderModule::new(vec![1; 5]).err().unwrap();
        assert_eq!(error.result(), vk::Result::ERROR_INVALID_SHADER_NV);
        ShaderModule::new(vec![SPIRV_MAGIC, 0x10000, 0, 1, 0]).unwrap();
        ShaderModule::new(vec![SPIRV_MAGIC, 0x10500, 0, 1, 0]).unwrap();
        let error = ShaderModule::new(vec![SPIRV_MAGIC, 0x10600, 0, 1, 0]).err().unwrap();
        assert_eq!(error.result(), vk::Result::ERROR_INVALID_SHADER_NV);
        assert!(error.to_string().contains("SPIR-V 1.6; versions up to 1.5 are known"), "{error}");
    }
}

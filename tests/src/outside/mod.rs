//! What a suite finds around it on a machine: drivers, the validation layer, the GLSL compiler, directories to write to,
//! inputs beside the repository. Nothing here knows a picture or a Vulkan object; it imports nothing.

pub mod driver;
pub mod glsl;
pub mod scratch;
pub mod shared;
pub mod validation;

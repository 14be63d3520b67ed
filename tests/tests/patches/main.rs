//! Pipeline state as code: patches are compiled, run on the simulated QPU against the simulated tile buffer, and held
//! against references written from the Vulkan specification in double precision.

mod blend;
mod coverage;
mod machine;
mod reference;
mod savings;
mod stencil;
mod vertex;

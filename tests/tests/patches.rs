//! Pipeline state as code: patches are compiled, run on the simulated QPU against the simulated tile buffer, and held
//! against references written from the Vulkan specification in double precision.

#[path = "patches/blend.rs"]
mod blend;
#[path = "patches/coverage.rs"]
mod coverage;
#[path = "patches/machine.rs"]
mod machine;
#[path = "patches/reference.rs"]
mod reference;
#[path = "patches/savings.rs"]
mod savings;
#[path = "patches/stencil.rs"]
mod stencil;
#[path = "patches/vertex.rs"]
mod vertex;

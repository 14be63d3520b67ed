//! The nouns of the API, one in a file: what each is made from and what it answers. What works on several of them is in
//! the rooms above.

pub mod buffer;
pub mod command_pool;
pub mod conversion;
pub mod descriptor;
pub mod device;
pub mod display;
pub mod fold;
pub mod heap;
pub mod image;
pub mod image_view;
pub mod instance;
pub mod memory;
pub mod memory_type;
pub mod physical_device;
pub mod placement;
pub mod private_slot;
mod probe;
pub mod query;
pub mod render_pass;
pub mod sampler;
pub mod semaphore;
pub mod sync;
pub mod timeline;

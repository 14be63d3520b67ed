//! The edge: what the loader calls.
//!
//! Each function of the submodules borrows handles, calls a safe method and maps the result; nothing
//! else in the driver reads an application's pointers. `guard` keeps panics in, `table` names every command,
//! `loader` exports what the loader looks for. To add a command: write it in the submodule of its noun inside
//! `entry_points!`, add its row to the table under what reveals it.

mod address;
pub mod assembly;
mod buffer;
mod command;
mod conversion;
mod copy2;
mod debug_utils;
mod descriptor;
mod device;
mod display;
mod external_sync;
mod features;
mod group;
mod guard;
mod image;
mod instance;
mod loader;
mod memory;
mod memory2;
mod pass;
mod pipeline;
mod private_data;
mod properties;
mod properties2;
mod query;
mod read;
mod rendering;
mod switches;
mod sync;
mod sync2;
mod table;
mod template;
#[cfg(test)]
mod tests;
mod transfer;
mod wsi;

pub use loader::{
    vk_icdGetInstanceProcAddr, vk_icdGetPhysicalDeviceProcAddr, vk_icdNegotiateLoaderICDInterfaceVersion,
};

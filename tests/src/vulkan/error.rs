//! What can go wrong on the way to a picture.

use ash::vk;

/// The loader, a Vulkan call, or a file.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Names the call in the error of a Vulkan result.
pub trait Named<T> {
    /// The result, with `call` in its error.
    fn named(self, call: &'static str) -> Result<T, Error>;
}

impl<T> Named<T> for Result<T, vk::Result> {
    fn named(self, call: &'static str) -> Result<T, Error> {
        self.map_err(|result| format!("{call}: {result:?}").into())
    }
}

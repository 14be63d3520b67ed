//! What tiles hold beside the words that a transfer writes: they load it, and store it again. Meanwhile the host must not write there.

use ash::vk;

use crate::foundation::error::Error;
use crate::objects::buffer::Buffer;
use crate::objects::image::Image;
use crate::objects::memory::Binding;

/// Whether tiles may hold other bytes of a buffer, or why not.
pub(super) fn of_buffer(buffer: &Buffer) -> Result<(), String> {
    of_memory(buffer.binding())
}

/// Whether tiles may hold other texels of an image, or why not. The host knows where texels are in rows alone.
pub(super) fn of_image(image: &Image) -> Result<(), String> {
    match image.layout().shape.raster && image.query().tiling != vk::ImageTiling::OPTIMAL {
        true => of_memory(image.binding()),
        false => Ok(()),
    }
}

fn of_memory(binding: Result<&Binding, Error>) -> Result<(), String> {
    let binding = binding.map_err(|error| error.to_string())?;
    // Who has not mapped memory cannot write to it.
    match binding.host_version() {
        Some(_) => Ok(()),
        None => Err("its memory is mapped, and tiles have more than is written".into()),
    }
}

//! Surfaces as PNG files in a directory.

use std::path::PathBuf;

use vc4_sim::capture::attachments::{Attachment, Picture};

use crate::output::{self, Error};
use crate::picture;

/// Where files are put, and how.
pub struct Pictures {
    pub directory: PathBuf,
    /// Whether red and blue are exchanged.
    pub bgra: bool,
}

impl Pictures {
    /// Makes the directory if there is none.
    pub fn new(directory: PathBuf, bgra: bool) -> Result<Pictures, Error> {
        std::fs::create_dir_all(&directory)
            .map_err(|error| Error::Write { path: directory.clone(), error })?;
        Ok(Pictures { directory, bgra })
    }

    /// Saves the surface of a submission as `NNNN-color.png`, or what it is, with a suffix behind the name.
    pub fn save(
        &self,
        number: usize,
        attachment: &Attachment,
        suffix: &str,
        bytes: &[u8],
    ) -> Result<(), Error> {
        for (name, mut pixels) in attachment.pictures(bytes) {
            if self.bgra {
                picture::swap_red_and_blue(&mut pixels);
            }
            self.write(number, attachment, &format!("{name}{suffix}"), &pixels)?;
        }
        Ok(())
    }

    /// Saves one picture of the surface's size under this name.
    pub fn write(
        &self,
        number: usize,
        attachment: &Attachment,
        name: &str,
        pixels: &Picture,
    ) -> Result<(), Error> {
        let path = self.directory.join(format!("{number:04}-{}.png", name.replace([' ', '/'], "-")));
        let file = picture::png(attachment.width, attachment.height, pixels)
            .map_err(|error| Error::Input(format!("{}: {error}", path.display())))?;
        output::write(Some(&path), &file)
    }
}

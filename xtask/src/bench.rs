//! Measurements, printed as tables; ratios where a peer runs beside.

use crate::build::{self, Profile};
use crate::display::Display;
use crate::vkcube::{self, Capture};
use crate::{Error, packages};

#[derive(clap::Args)]
pub struct Options {
    /// Frames of each vkcube run.
    #[arg(long, default_value_t = 300)]
    frames: u32,
}

pub fn run(options: &Options, install: bool) -> Result<(), Error> {
    packages::require(packages::RUN, install)?;
    packages::require(&["mesa-vulkan-drivers"], install)?;
    let manifest = build::driver(Profile::Release)?;
    let display = Display::private()?;
    let capture = Capture::new()?;
    let ours = vkcube::cube(&manifest, &display, &capture, options.frames, true)?;
    println!("vkcube 500x500, {} frames without waiting for the display", ours.frames);
    println!("  device                {}", ours.device);
    println!("  frames per second     {:.1}", ours.rate());
    println!("  first frame after     {:.0} ms", ours.first_frame * 1e3);
    println!("  peak resident memory  {:.1} MiB", ours.peak_kib as f64 / 1024.0);
    Ok(())
}

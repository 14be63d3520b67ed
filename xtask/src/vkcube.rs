//! Debian's own vkcube through the Vulkan loader.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::build;
use crate::display::Display;
use crate::{Error, packages};

#[derive(clap::Args)]
pub struct Options {
    /// Frames to draw.
    #[arg(long, default_value_t = 300)]
    frames: u32,
    /// Save the last presented frame.
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Do not wait for the display between frames (VK_PRESENT_MODE_IMMEDIATE_KHR).
    #[arg(long)]
    immediate: bool,
}

/// What the driver reports of a run (`VC4VK_CAPTURE`).
pub struct Run {
    /// How the program ended, if by itself.
    pub status: Option<ExitStatus>,
    /// Presented frames.
    pub frames: u64,
    /// Seconds from the first to the last present.
    pub seconds: f64,
    /// Seconds from the process start to the first present.
    pub first_frame: f64,
    /// What drew.
    pub device: String,
    /// Peak resident set, KiB.
    pub peak_kib: u64,
}

impl Run {
    /// Frames per second between the first and the last present.
    pub fn rate(&self) -> f64 {
        if self.seconds > 0.0 { (self.frames.saturating_sub(1)) as f64 / self.seconds } else { 0.0 }
    }
}

pub fn run(options: &Options, install: bool) -> Result<(), Error> {
    packages::require(packages::RUN, install)?;
    let manifest = build::driver()?;
    println!("Driver manifest: {}", manifest.display());
    let display = Display::open()?;
    let capture = Capture::new()?;
    let run = cube(&manifest, &display, &capture, options.frames, options.immediate)?;
    if let Some(png) = &options.png {
        capture.save_png(png)?;
        println!("Last frame: {}", png.display());
    }
    println!("vkcube: {} frames, {:.1} frames per second, on {}", run.frames, run.rate(), run.device);
    match run.status {
        Some(status) if !status.success() => Err(format!("vkcube failed ({status})").into()),
        _ => Ok(()),
    }
}

/// Runs vkcube for a number of frames.
pub fn cube(
    manifest: &Path,
    display: &Display,
    capture: &Capture,
    frames: u32,
    immediate: bool,
) -> Result<Run, Error> {
    let mut command = Command::new("vkcube");
    command
        .args(["--suppress_popups", "--c", &frames.to_string()])
        .args(if immediate { &["--present_mode", "0"][..] } else { &[] })
        .env("DISPLAY", &display.name)
        .env("VK_DRIVER_FILES", manifest)
        .env("VK_ICD_FILENAMES", manifest)
        .env("VC4VK_CAPTURE", capture.directory());
    let status = command.status().map_err(|error| format!("vkcube: {error}"))?;
    capture.report(Some(status))
}

/// A directory that the driver fills while presenting.
pub struct Capture(PathBuf);

impl Capture {
    /// An empty directory of its own.
    pub fn new() -> Result<Capture, Error> {
        Capture::at(std::env::temp_dir().join(format!("vc4-capture-{}", std::process::id())))
    }

    /// This directory, which goes with the value.
    pub fn at(directory: PathBuf) -> Result<Capture, Error> {
        std::fs::create_dir_all(&directory)?;
        Ok(Capture(directory))
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.0
    }

    /// Reads `present.txt`: one `name=value` a line.
    pub fn report(&self, status: Option<ExitStatus>) -> Result<Run, Error> {
        let path = self.0.join("present.txt");
        let text = std::fs::read_to_string(&path).map_err(|_| "nothing was presented through this driver")?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.ok_or_else(|| format!("the driver's report lacks {name}"))
        };
        Ok(Run {
            status,
            frames: field("frames")?.parse()?,
            seconds: field("seconds")?.parse()?,
            first_frame: field("first_frame_seconds")?.parse()?,
            device: field("device")?.to_owned(),
            peak_kib: field("peak_resident_kib")?.parse()?,
        })
    }

    /// The last frame, `last.ppm`: binary, 8 bits.
    pub fn last(&self) -> Result<Vec<u8>, Error> {
        let path = self.0.join("last.ppm");
        std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    /// Converts the last frame to PNG.
    pub fn save_png(&self, png: &Path) -> Result<(), Error> {
        let data = self.last()?;
        let mut header = data.splitn(4, |&byte| byte == b'\n');
        let (magic, size, _depth) = (header.next(), header.next().unwrap_or(&[]), header.next());
        let pixels = header.next().ok_or("the driver's frame has no pixels")?;
        if magic != Some(b"P6") {
            return Err("the driver's frame is no P6 picture".into());
        }
        let size = std::str::from_utf8(size)?;
        let (width, height) = size.split_once(' ').ok_or("the driver's frame has no size")?;
        let file = std::io::BufWriter::new(std::fs::File::create(png)?);
        let mut encoder = png::Encoder::new(file, width.parse()?, height.parse()?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(pixels)?;
        Ok(())
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

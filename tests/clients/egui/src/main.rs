//! egui's own demonstration in a window, by its wgpu painter as applications have it; the picture of a settled frame is saved.
//! Without a file it draws as fast as it can until it is closed.
//!
//! `vc4-egui [OUT.png]`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use eframe::egui;

/// Whatever goes wrong, in words.
type Error = Box<dyn std::error::Error + Send + Sync>;

/// Of the window, in points; screens have pixels of one point here.
const SIZE: [f32; 2] = [1000.0, 720.0];
/// Of the clock that the demonstration sees. Windows fade in: no machine may be too fast or too slow for that.
const SECONDS_PER_FRAME: f64 = 0.1;
/// When all that moves stands still.
const SETTLED: u32 = 20;

/// What is shown.
struct Demonstration {
    windows: egui_demo_lib::DemoWindows,
    /// Frames until now.
    frames: u32,
    /// Where the picture goes, if one is wanted, and what became of it, for [`run`].
    picture: Option<(PathBuf, Sender<Result<(), Error>>)>,
}

impl eframe::App for Demonstration {
    fn raw_input_hook(&mut self, _: &egui::Context, input: &mut egui::RawInput) {
        input.time = Some(f64::from(self.frames) * SECONDS_PER_FRAME);
        // The pointer is anywhere; what is below it would look otherwise.
        input.events.retain(|event| {
            !matches!(
                event,
                egui::Event::PointerMoved(_) | egui::Event::MouseMoved(_) | egui::Event::PointerGone
            )
        });
    }

    fn update(&mut self, context: &egui::Context, _: &mut eframe::Frame) {
        self.windows.ui(context);
        self.frames += 1;
        if self.frames == SETTLED && self.picture.is_some() {
            context.send_viewport_cmd(egui::ViewportCommand::Screenshot(egui::UserData::default()));
        }
        let picture: Option<Arc<egui::ColorImage>> = context.input(|input| {
            input.events.iter().find_map(|event| match event {
                egui::Event::Screenshot { image, .. } => Some(image.clone()),
                _ => None,
            })
        });
        if let (Some(picture), Some((path, saved))) = (picture, &self.picture) {
            let _ = saved.send(save(&picture, path));
            context.send_viewport_cmd(egui::ViewportCommand::Close);
        }
        context.request_repaint();
    }
}

fn save(picture: &egui::ColorImage, path: &Path) -> Result<(), Error> {
    let [width, height] = picture.size;
    let mut encoder =
        png::Encoder::new(std::fs::File::create(path)?, u32::try_from(width)?, u32::try_from(height)?);
    encoder.set_color(png::ColorType::Rgba);
    encoder.write_header()?.write_image_data(picture.as_raw())?;
    Ok(())
}

fn run(path: Option<PathBuf>) -> Result<(), Error> {
    let (saved, result) = std::sync::mpsc::channel();
    let is_endless = path.is_none();
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default().with_inner_size(SIZE),
        renderer: eframe::Renderer::Wgpu,
        vsync: !is_endless,
        ..eframe::NativeOptions::default()
    };
    let windows = egui_demo_lib::DemoWindows::default();
    let picture = path.map(|path| (path, saved));
    let demonstration = Demonstration { windows, frames: 0, picture };
    eframe::run_native(
        "vc4-egui",
        options,
        Box::new(move |creation| {
            egui_extras::install_image_loaders(&creation.egui_ctx);
            Ok(Box::new(demonstration))
        }),
    )
    .map_err(|error| error.to_string())?;
    if is_endless {
        return Ok(());
    }
    result.try_recv().map_err(|_| "the window ended without a picture")?
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = match &arguments[..] {
        [] => None,
        [path] => Some(path.into()),
        _ => {
            eprintln!("vc4-egui [OUT.png]");
            return ExitCode::FAILURE;
        }
    };
    match run(path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

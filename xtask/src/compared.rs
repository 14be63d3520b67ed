//! Programs on libraries of others that save one picture: on our driver and on lavapipe, and then compared.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::display::Display;
use crate::pictures::Picture;
use crate::{Error, build, packages, python};

/// The version that the Python program is written against.
const WGPU_PY: &str = "wgpu==0.32.0";

/// A program.
pub struct Compared {
    /// Its name.
    pub name: &'static str,
    /// Percent of the pixels that may differ by more than rounding, and why.
    percent: f64,
    /// The form of its picture.
    form: &'static str,
    /// Makes it ready; the command to which the file for the picture is added.
    prepare: fn(install: bool) -> Result<Command, Error>,
}

/// All of them.
pub const ALL: [Compared; 6] = [
    // Texels shrink to a fourth and less without mipmaps: what is nearest is a matter of the last bits.
    Compared { name: "wgpu", percent: 1.5, form: "pam", prepare: |_| wgpu("default") },
    Compared { name: "wgpu-downlevel", percent: 1.5, form: "pam", prepare: |_| wgpu("downlevel") },
    // Edges are feathered by triangles a pixel wide: a few round elsewhere.
    Compared { name: "egui", percent: 0.05, form: "png", prepare: egui },
    // Edges lie on another grid of subpixels.
    Compared { name: "imgui", percent: 0.2, form: "pam", prepare: imgui },
    Compared { name: "wgpu-py", percent: 0.2, form: "pam", prepare: wgpu_py },
    // Letters are distance fields: a texel's last bits decide on their edges.
    Compared { name: "qt-quick", percent: 0.3, form: "png", prepare: qt_quick },
];

impl Compared {
    /// Runs it on the driver of `manifest` and on lavapipe, with a window on `display` if it opens one; what is to be said
    /// about it. The pictures go side by side into `sheets`, if that is given.
    ///
    /// # Errors
    /// Why it does not run, or how far its picture is off.
    pub fn run(
        &self,
        manifest: &Path,
        display: &Display,
        sheets: Option<&Path>,
        install: bool,
    ) -> Result<String, Error> {
        packages::require(&["mesa-vulkan-drivers"], install)?;
        let lavapipe = format!("/usr/share/vulkan/icd.d/lvp_icd.{}.json", std::env::consts::ARCH);
        let directory = directory()?;
        let picture = |driver: &Path, name: &str| {
            let file = directory.join(format!("{}-{name}.{}", self.name, self.form));
            let _ = std::fs::remove_file(&file);
            let mut command = (self.prepare)(install)?;
            command
                .arg(&file)
                .env("DISPLAY", &display.name)
                .env("VK_DRIVER_FILES", driver)
                .env("VK_ICD_FILENAMES", driver);
            run(command.env("VC4VK_DEVICE", "sim"))?;
            Picture::load(&file)
        };
        let (ours, reference) = (picture(manifest, "vc4")?, picture(Path::new(&lavapipe), "lavapipe")?);
        if let Some(sheets) = sheets {
            ours.save_sheet(&reference, &sheets.join(format!("{}.png", self.name)))?;
        }
        let difference = ours.difference(&reference, 0).ok_or("the pictures have other sizes")?;
        let text = format!("{:.2} % of the pixels are not lavapipe's", difference.percent);
        match difference.percent <= self.percent {
            true => Ok(text),
            false => Err(format!("{text}; {} % may be", self.percent).into()),
        }
    }
}

/// Where programs are built and leave their pictures.
pub fn directory() -> Result<PathBuf, Error> {
    let directory = build::target_directory()?.join("clients");
    std::fs::create_dir_all(&directory)?;
    Ok(directory)
}

fn run(command: &mut Command) -> Result<(), Error> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()).into()),
    }
}

/// wgpu with its default limits, or with those that it calls downlevel defaults.
fn wgpu(limits: &str) -> Result<Command, Error> {
    let mut command = built("wgpu")?;
    command.arg(limits);
    Ok(command)
}

/// egui's demonstration.
fn egui(_: bool) -> Result<Command, Error> {
    built("egui")
}

/// egui's demonstration until it is closed, optimised: its frames are counted.
pub fn egui_window(program: &Path) -> Result<(), Error> {
    std::fs::copy(made("egui", "release")?, program)?;
    Ok(())
}

/// A program of `tests/clients` as it is compared.
fn built(name: &str) -> Result<Command, Error> {
    Ok(Command::new(made(name, "dev")?))
}

/// Builds a program of `tests/clients`, which stand outside of the workspace, by a profile of Cargo's.
fn made(name: &str, profile: &str) -> Result<PathBuf, Error> {
    let (manifest, target) =
        (build::workspace().join(format!("tests/clients/{name}/Cargo.toml")), directory()?.join(name));
    let (from, to) = (manifest.display().to_string(), target.display().to_string());
    let paths = ["--manifest-path", &from, "--target-dir", &to];
    build::cargo(&[&["build", "--locked", "--quiet", "--profile", profile][..], &paths].concat())?;
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(target.join(folder).join(format!("vc4-{name}")))
}

/// What Dear ImGui's program is made with.
const IMGUI: &[&str] = &["g++", "libimgui-dev", "libstb-dev", "libvulkan-dev"];

/// Dear ImGui's demonstration, with Debian's library and its Vulkan backend.
fn imgui(install: bool) -> Result<Command, Error> {
    packages::require(IMGUI, install)?;
    let program = directory()?.join("vc4-imgui");
    compile_imgui(&build::workspace().join("tests/clients/imgui/main.cpp"), &program, &[])?;
    Ok(Command::new(program))
}

/// What Dear ImGui's own example with a window is made with.
pub const IMGUI_WINDOW: &[&str] = &["g++", "libimgui-dev", "libstb-dev", "libvulkan-dev", "libsdl2-dev"];
/// Its source, which Debian's package has among its documents.
const IMGUI_EXAMPLE: &str = "/usr/share/doc/libimgui-dev/examples/example_sdl_vulkan/main.cpp";

/// Dear ImGui's own example with a window, as Debian ships it.
pub fn imgui_window(program: &Path) -> Result<(), Error> {
    if !Path::new(IMGUI_EXAMPLE).exists() {
        return Err(
            format!("{IMGUI_EXAMPLE} is missing: this machine installs packages without documents").into()
        );
    }
    let flags = ["-I/usr/include/imgui/backends", "-I/usr/include/SDL2", "-lSDL2"];
    compile_imgui(Path::new(IMGUI_EXAMPLE), program, &flags)
}

fn compile_imgui(source: &Path, program: &Path, flags: &[&str]) -> Result<(), Error> {
    let mut compiler = Command::new("g++");
    compiler.args(["-O1", "-Wall", "-I/usr/include/imgui"]).arg(source).arg("-o").arg(program);
    run(compiler.args(["-limgui", "-lstb", "-lvulkan"]).args(flags))
}

/// wgpu for Python, in an environment of its own.
fn wgpu_py(install: bool) -> Result<Command, Error> {
    let programs = python::environment(&directory()?.join("python"), &[WGPU_PY], install)?;
    let mut command = Command::new(programs.join("python"));
    command.arg(build::workspace().join("tests/clients/triangle.py"));
    Ok(command)
}

/// Debian's viewer of Qt Quick scenes.
pub const QML: &str = "/usr/lib/qt6/bin/qml";
/// Its packages.
pub const QT: &[&str] = &[
    "qml-qt6",
    "qml6-module-qtquick",
    "qml6-module-qtquick-window",
    "qml6-module-qtquick-shapes",
    "qml6-module-qtqml-workerscript",
    "fonts-dejavu-core",
    "qt6-wayland",
];
/// How it draws.
pub const QT_ENVIRONMENT: &[(&str, &str)] = &[("QSG_RHI_BACKEND", "vulkan"), ("QT_QPA_PLATFORM", "xcb")];
/// Its scene.
pub const QT_SCENE: &str = "tests/clients/qt/scene.qml";

/// A still picture of Qt Quick's.
fn qt_quick(install: bool) -> Result<Command, Error> {
    packages::require(QT, install)?;
    let mut command = Command::new(QML);
    command.arg(build::workspace().join(QT_SCENE)).arg("--").envs(QT_ENVIRONMENT.iter().copied());
    Ok(command)
}

//! The Debian packages as the user of a Raspberry Pi meets them: installed by dpkg into a root of Debian for that machine, used
//! there by Debian's own programs under QEMU, upgraded and removed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::build;
use crate::cross::Target;
use crate::debian::{Debian, fresh, run};
use crate::display::Display;
use crate::package::{self, Architecture};
use crate::rehearsal::{Place, rehearse};
use crate::vkcube::Capture;
use crate::{Error, cross, guest, packages};

/// What a user has who can run Vulkan programs at all.
const PROGRAMS: &[&str] = &["libvulkan1", "vulkan-tools"];
/// For seconds may one program run in the emulator.
const TIMEOUT_SECONDS: &str = "600";
/// The emulator and a directory for the driver's reports, in the root.
const EMULATOR: &str = "qemu";
const CAPTURES: &str = "captures";
/// A program for the preload library.
const FORMS: &str = "sim/drm-shim/tests/forms.c";
/// Runs the second word and what follows in the root that is the first.
const IN_ROOT: &str = "root=$1 && shift && manifests=$root/usr/share/vulkan/icd.d && cd \"$manifests\" && \
    mount -t tmpfs none \"$manifests\" && cp -a . \"$manifests\" && exec chroot \"$root\" \"$@\"";
/// Frames in the emulator are slow.
const FRAMES: u32 = 3;

/// A release of Debian that packages are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Release {
    /// Debian 12.
    Bookworm,
    /// Debian 13.
    Trixie,
}

#[derive(clap::Args)]
#[group(id = "installed")]
pub struct Options {
    /// The Debian whose programs use the package.
    #[arg(long, value_enum, default_value = "bookworm", requires = "package")]
    release: Release,
    /// Test packages that were made before, in this directory.
    #[arg(long, value_name = "DIRECTORY", requires = "package")]
    packages_from: Option<PathBuf>,
}

/// Makes the packages for a machine and uses them.
pub fn test(machine: &str, options: &Options, install: bool) -> Result<(), Error> {
    let architecture = Architecture::find(machine, false)?;
    packages::require(&["dpkg", "xvfb"], install)?;
    cross::require(architecture.target, install)?;
    let made = match &options.packages_from {
        Some(directory) => in_directory(directory)?,
        None => package::make(&architecture, None, install)?,
    };
    let root = Root::prepare(&architecture, options.release)?;
    let before = root.files()?;
    root.dpkg(&["--install"], &made)?;
    println!("installed: {} files", root.files()?.difference(&before).count());

    root.offers_no_device_without_the_gpu()?;
    root.offers_the_simulator_on_request()?;
    root.has_the_command()?;
    root.draws("the simulator in the process", &[("VC4VK_DEVICE", "sim")])?;
    let shim = format!("/{}", package::PRELOADED);
    root.serves_every_form(architecture.target, &shim)?;
    let preloaded = [("VC4VK_DEVICE", "drm"), ("LD_PRELOAD", shim.as_str())];
    let expected = root.draws("the preloaded render node", &preloaded)?;
    let driver = root.directory.join(format!("usr/lib/{}/libvulkan_vc4.so", architecture.target.gnu));
    for variables in [&[][..], &preloaded] {
        guest::test_installed(architecture.target, &driver, &root.directory, variables, install)?;
    }
    println!(
        "scenes: as lavapipe draws them, on the simulator in the process and on the preloaded render node"
    );
    rehearse(&Place {
        root: &root.directory,
        expected: &expected,
        program: &|name, variables| root.program(name, variables),
        draw: &|device, variables| root.draws(device, variables),
    })?;

    root.dpkg(&["--install"], &newer(&made, &root.place)?)?;
    root.offers_the_simulator_on_request()?;
    println!("upgraded");
    let names: Vec<&str> = ["vulkan-vc4-dbgsym", "vc4-tools-dbgsym", "vulkan-vc4", "vc4-tools"].to_vec();
    root.dpkg(&[&["--remove"], names.as_slice()].concat(), &[])?;
    root.has_nothing_but(&before)?;
    root.dpkg(&["--install"], &made)?;
    root.dpkg(&[&["--purge"], names.as_slice()].concat(), &[])?;
    root.has_nothing_but(&before)?;
    println!("removed, and installed again and purged: nothing is left");
    Ok(())
}

/// A root directory of Debian for some machine.
struct Root {
    place: PathBuf,
    directory: PathBuf,
    qemu: &'static str,
}

impl Root {
    /// Fetches and unpacks it; what was fetched before is used again.
    fn prepare(architecture: &Architecture, release: Release) -> Result<Root, Error> {
        let release = match release {
            Release::Bookworm => "bookworm",
            Release::Trixie => "trixie",
        };
        let name = format!("{}-{release}", architecture.debian);
        let place = build::target_directory()?.join("installed").join(name);
        let debian = Debian::new(place.clone(), architecture.debian, release);
        let stamp = place.join("fetched");
        if !stamp.exists() {
            println!("Fetching Debian's Vulkan programs for {} to {}", architecture.debian, place.display());
            debian.download_all(PROGRAMS)?;
            std::fs::write(stamp, "")?;
        }
        let directory = place.join("root");
        debian.unpack(&directory)?;
        // From Debian 13 on packages count on these links.
        for name in ["lib", "bin", "sbin", "lib64"] {
            if !directory.join(name).exists() {
                std::os::unix::fs::symlink(format!("usr/{name}"), directory.join(name))?;
            }
        }
        let root = Root { place, directory, qemu: architecture.target.qemu };
        root.register(architecture.debian, &debian.packages()?)?;
        std::fs::copy(Path::new("/usr/bin").join(root.qemu), root.directory.join(EMULATOR))?;
        Ok(root)
    }

    /// Tells dpkg that the unpacked packages are installed: their maintainer scripts need more of a system than is there.
    fn register(&self, machine: &str, packages: &[PathBuf]) -> Result<(), Error> {
        let database = self.directory.join("var/lib/dpkg");
        for name in ["info", "updates", "triggers"] {
            std::fs::create_dir_all(database.join(name))?;
        }
        let mut status = String::new();
        for package in packages {
            let output = Command::new("dpkg-deb").arg("--field").arg(package).output()?;
            let fields = String::from_utf8(output.stdout)?;
            status += &fields.replacen('\n', "\nStatus: install ok installed\n", 1);
            status += "\n";
            let name = fields
                .lines()
                .find_map(|line| line.strip_prefix("Package: "))
                .ok_or("a package has no name")?;
            let same = fields.contains("\nMulti-Arch: same");
            let list = if same { format!("{name}:{machine}.list") } else { format!("{name}.list") };
            std::fs::write(database.join("info").join(list), "/.\n")?;
        }
        std::fs::write(database.join("status"), status)?;
        std::fs::write(database.join("info/format"), "1\n")?;
        let host = package::this_machine()?;
        Ok(std::fs::write(database.join("arch"), format!("{host}\n{machine}\n"))?)
    }

    /// The files of before, and no trace in dpkg's own.
    fn has_nothing_but(&self, before: &BTreeSet<PathBuf>) -> Result<(), Error> {
        let left: Vec<PathBuf> = self.files()?.symmetric_difference(before).cloned().collect();
        let status = std::fs::read_to_string(self.directory.join("var/lib/dpkg/status"))?;
        if left.is_empty()
            && !status.contains("Package: vulkan-vc4")
            && !status.contains("Package: vc4-tools")
        {
            return Ok(());
        }
        Err(format!("removing leaves or takes {left:?}; dpkg's status:\n{status}").into())
    }

    fn dpkg(&self, arguments: &[&str], files: &[PathBuf]) -> Result<(), Error> {
        let mut dpkg = Command::new("dpkg");
        dpkg.arg(format!("--root={}", self.directory.display()))
            .arg(format!("--log={}", self.place.join("dpkg.log").display()))
            .arg("--force-not-root")
            .args(arguments)
            .args(files)
            .env("DEBIAN_FRONTEND", "noninteractive");
        run(&mut dpkg, &format!("dpkg {}", arguments.join(" ")))
    }

    /// All files and directories but dpkg's own.
    fn files(&self) -> Result<BTreeSet<PathBuf>, Error> {
        fn walk(directory: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), Error> {
            for entry in std::fs::read_dir(directory)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    walk(&entry.path(), files)?;
                }
                files.insert(entry.path());
            }
            Ok(())
        }
        let mut files = BTreeSet::new();
        walk(&self.directory, &mut files)?;
        files.retain(|file| !file.starts_with(self.directory.join("var/lib/dpkg")));
        Ok(files)
    }

    /// A program of the root, in the emulator. Only a changed root will do: QEMU's own translation of paths leaves out some
    /// calls that the loader makes. It sees manifests in a file system in memory: QEMU hands on to programs with 32 bits where
    /// in a directory an entry stands, and a disk's answers are too long for them.
    fn program(&self, name: &str, variables: &[(&str, &str)]) -> Result<Command, Error> {
        let mut command = Command::new("timeout");
        command.arg(TIMEOUT_SECONDS);
        command.args(["unshare", "--mount"]).args((!packages::is_root()).then_some("--map-root-user"));
        command.args(["sh", "-c", IN_ROOT, "sh"]).arg(&self.directory).arg(format!("/{EMULATOR}"));
        for (name, value) in variables {
            // Not exported: `timeout` could not load a library for another machine.
            command.arg("-E").arg(format!("{name}={value}"));
        }
        command.arg(format!("/usr/bin/{name}"));
        for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "XDG_DATA_DIRS", "DISPLAY"]
        {
            command.env_remove(name);
        }
        Ok(command)
    }

    /// The loader finds the driver, the driver finds no device, and says so to who asks.
    fn offers_no_device_without_the_gpu(&self) -> Result<(), Error> {
        let output = self.program("vulkaninfo", &[("VC4VK_LOG", "info")])?.arg("--summary").output()?;
        let said = said(&output);
        if !said.contains("VC4VK_DEVICE=sim gives a simulated one") {
            return Err(format!("the driver did not say why it has no device:\n{said}").into());
        }
        if said.contains("VideoCore") || output.status.code().is_none() {
            return Err(format!("a machine without the GPU ({}):\n{said}", output.status).into());
        }
        println!("without the GPU: no device, and the log says why");
        Ok(())
    }

    fn offers_the_simulator_on_request(&self) -> Result<(), Error> {
        let output = self.program("vulkaninfo", &[("VC4VK_DEVICE", "sim")])?.arg("--summary").output()?;
        let said = said(&output);
        let device = said.lines().find_map(|line| line.trim().strip_prefix("deviceName"));
        match device {
            Some(device) if output.status.success() && device.contains("VideoCore") => {
                println!("vulkaninfo: {}", device.trim_start_matches([' ', '=']));
                Ok(())
            }
            _ => Err(format!("vulkaninfo ({}):\n{said}", output.status).into()),
        }
    }

    fn has_the_command(&self) -> Result<(), Error> {
        let output = self.program("vc4", &[])?.arg("--version").output()?;
        let page = self.directory.join("usr/share/man/man1/vc4-asm.1.gz");
        if output.status.success() && page.exists() {
            println!("{}", said(&output).trim());
            return Ok(());
        }
        Err(format!("vc4 --version ({}):\n{}", output.status, said(&output)).into())
    }

    /// The preload library stands in front of what the C library has for offsets and times of 32 and of 64 bits.
    fn serves_every_form(&self, target: &Target, shim: &str) -> Result<(), Error> {
        const OFFSETS: &str = "-D_FILE_OFFSET_BITS=64";
        const TIMES: &str = "-D_TIME_BITS=64";
        let program = self.place.join("forms");
        for form in [&[][..], &[OFFSETS], &[OFFSETS, TIMES]] {
            let mut compiler = Command::new(format!("{}-gcc", target.gnu));
            compiler.args(form).arg(build::workspace().join(FORMS)).arg("-o").arg(&program);
            run(&mut compiler, FORMS)?;
            let mut emulator = Command::new(self.qemu);
            emulator.arg("-L").arg(&self.directory).args(["-E", &format!("LD_PRELOAD={shim}")]).arg(&program);
            run(&mut emulator, &format!("{FORMS}, built with {form:?},"))?;
        }
        println!("preload library: all forms of the C library's functions are served");
        Ok(())
    }

    /// Debian's vkcube draws some frames to a private display.
    fn draws(&self, device: &str, variables: &[(&str, &str)]) -> Result<Vec<u8>, Error> {
        let display = Display::private()?;
        let capture = Capture::at(self.directory.join(CAPTURES))?;
        let output = self
            .program("vkcube", variables)?
            .args(["--suppress_popups", "--c", &FRAMES.to_string()])
            .env("DISPLAY", &display.name)
            .env("VC4VK_CAPTURE", format!("/{CAPTURES}"))
            .output()?;
        let run = capture
            .report(Some(output.status))
            .map_err(|error| format!("vkcube on {device}: {error}\n{}", said(&output)))?;
        if !output.status.success() || run.frames < u64::from(FRAMES) {
            return Err(format!("vkcube on {device} ({}):\n{}", output.status, said(&output)).into());
        }
        println!("vkcube: {} frames on {device}: {}", run.frames, run.device);
        capture.last()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

/// The packages in a directory.
fn in_directory(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut packages: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_, Error>>()?;
    packages.retain(|path| path.extension().is_some_and(|extension| extension == "deb"));
    packages.sort();
    if packages.len() == 4 {
        Ok(packages)
    } else {
        Err(format!("{} holds no four packages", directory.display()).into())
    }
}

/// The same packages with a higher version.
fn newer(packages: &[PathBuf], place: &Path) -> Result<Vec<PathBuf>, Error> {
    let directory = fresh(&place.join("newer"))?;
    let mut newer = Vec::new();
    for package in packages {
        let tree = directory.join("tree");
        let _ = std::fs::remove_dir_all(&tree);
        run(Command::new("dpkg-deb").arg("--raw-extract").arg(package).arg(&tree), "dpkg-deb --raw-extract")?;
        let control = tree.join("DEBIAN/control");
        let text = std::fs::read_to_string(&control)?;
        let version =
            text.lines().find_map(|line| line.strip_prefix("Version: ")).ok_or("a package has no version")?;
        std::fs::write(&control, text.replace(version, &format!("{version}.1")))?;
        let file = directory.join(package.file_name().ok_or("a package has no name")?);
        run(
            Command::new("dpkg-deb").args(["-Znone", "--root-owner-group", "--build"]).arg(&tree).arg(&file),
            "dpkg-deb --build",
        )?;
        newer.push(file);
    }
    Ok(newer)
}

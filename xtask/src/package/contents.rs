//! Which file lies where in which package.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::architecture::{Architecture, this_machine};
use super::compile::Built;
use super::copyright;
use super::deb::{self, Control, SourceDate, Tree};
use super::elf::Elf;
use super::instructions;
use crate::{Error, build, cross};

const DRIVER: &str = "vulkan-vc4";
const COMMAND: &str = "vc4-tools";

/// For `vc4 sim capture`, which looks for it here, and for `LD_PRELOAD`.
pub const PRELOADED: &str = "usr/lib/vc4-tools/libvc4_drm_shim.so";

const ABOUT_DRIVER: &str = "\
This driver draws on the VideoCore IV of the Raspberry Pi Zero to 3, through
the vc4 driver of the Linux kernel. Compute shaders run on the CPU.

On machines without that GPU it offers no device, and other drivers go on.";
const ABOUT_COMMAND: &str = "\
The vc4 command assembles, checks and prints programs and control lists of
the VideoCore IV, compiles SPIR-V for it, and runs, records and replays a
simulated one. The preload library shows the simulated GPU to other programs
as /dev/dri.";
const ABOUT_SYMBOLS: &str = "For backtraces with function names and lines.";

/// Stages the packages and packs them.
pub fn pack(
    architecture: &Architecture,
    built: &Built,
    stage: &Path,
    output: &Path,
    date: &SourceDate,
) -> Result<Vec<PathBuf>, Error> {
    let _ = std::fs::remove_dir_all(output);
    let _ = std::fs::remove_dir_all(stage);
    std::fs::create_dir_all(stage)?;
    if architecture.armv6 {
        instructions::check_decoder(architecture.target, stage)?;
    }
    let maker = Maker { architecture, built, stage, output, date };
    Ok([maker.driver()?, maker.command()?].concat())
}

struct Maker<'a> {
    architecture: &'a Architecture,
    built: &'a Built,
    stage: &'a Path,
    output: &'a Path,
    date: &'a SourceDate,
}

impl Maker<'_> {
    /// The Vulkan driver.
    fn driver(&self) -> Result<Vec<PathBuf>, Error> {
        let tree = Tree::new(self.stage.join(DRIVER))?;
        let library = format!("usr/lib/{}/libvulkan_vc4.so", self.architecture.target.gnu);
        let elfs = [self.binary(&tree, DRIVER, "libvulkan_vc4.so", &library)?];
        let manifest = std::fs::read_to_string(build::workspace().join("icd/vc4_icd.json.in"))?
            .replace("@library_path@", &format!("/{library}"));
        tree.write(&format!("usr/share/vulkan/icd.d/vc4_icd.{}.json", self.architecture.cpu), &manifest)?;
        let about = include_str!("vulkan-vc4.metainfo.xml")
            .replace("@version@", env!("CARGO_PKG_VERSION"))
            .replace("@date@", &self.date.day);
        tree.write("usr/share/metainfo/io.github.vulkan_vc4.vulkan_vc4.metainfo.xml", &about)?;
        self.documents(&tree, DRIVER, &["vc4-icd"])?;
        tree.write("DEBIAN/triggers", "activate-noawait ldconfig\n")?;
        let fields = vec![
            ("Section", "libs".to_owned()),
            ("Priority", "optional".to_owned()),
            ("Multi-Arch", "same".to_owned()),
            ("Depends", depends(&elfs, &["libvulkan1"])?),
            ("Suggests", "vc4-tools, vulkan-tools".to_owned()),
            ("Provides", "vulkan-icd".to_owned()),
        ];
        let description = ("Vulkan driver for the VideoCore IV of Raspberry Pis".to_owned(), ABOUT_DRIVER);
        self.finish(&tree, DRIVER, fields, description, &elfs)
    }

    /// The `vc4` command with the preload library.
    fn command(&self) -> Result<Vec<PathBuf>, Error> {
        let tree = Tree::new(self.stage.join(COMMAND))?;
        let elfs = [
            self.binary(&tree, COMMAND, "vc4", "usr/bin/vc4")?,
            self.binary(&tree, COMMAND, "libvc4_drm_shim.so", PRELOADED)?,
        ];
        let pages = self.stage.join("man");
        let _ = std::fs::remove_dir_all(&pages);
        deb::text(self.vc4()?.arg("man").arg(&pages))?;
        for page in std::fs::read_dir(&pages)? {
            let page = page?;
            let name = format!("usr/share/man/man1/{}", page.file_name().to_string_lossy());
            tree.write_packed(&name, &std::fs::read_to_string(page.path())?)?;
        }
        for (shell, place) in [
            ("bash", "usr/share/bash-completion/completions/vc4"),
            ("zsh", "usr/share/zsh/vendor-completions/_vc4"),
            ("fish", "usr/share/fish/vendor_completions.d/vc4.fish"),
        ] {
            tree.write(place, &deb::text(self.vc4()?.args(["completions", shell]))?)?;
        }
        self.documents(&tree, COMMAND, &["vc4-tools", "vc4-drm-shim"])?;
        for (file, place) in [
            ("tools/SIM.md", "usr/share/doc/vc4-tools/SIM.md"),
            ("tools/INSPECT.md", "usr/share/doc/vc4-tools/INSPECT.md"),
            ("icd/ASSEMBLY.md", "usr/share/doc/vc4-tools/ASSEMBLY.md"),
            ("icd/include/vulkan_vc4.h", "usr/include/vulkan_vc4.h"),
        ] {
            tree.write(place, &std::fs::read_to_string(build::workspace().join(file))?)?;
        }
        let fields = vec![
            ("Section", "devel".to_owned()),
            ("Priority", "optional".to_owned()),
            ("Depends", depends(&elfs, &[])?),
            ("Suggests", DRIVER.to_owned()),
        ];
        let description = ("command and simulated GPU for the VideoCore IV".to_owned(), ABOUT_COMMAND);
        self.finish(&tree, COMMAND, fields, description, &elfs)
    }

    /// The built `vc4`, on this machine or in the emulator.
    fn vc4(&self) -> Result<Command, Error> {
        let program = self.built.file("vc4");
        if this_machine()? == self.architecture.debian {
            return Ok(Command::new(program));
        }
        let target = self.architecture.target;
        let runner = cross::runner(target, &cross::libraries(target));
        let mut words = runner.split(' ');
        let mut command = Command::new(words.next().ok_or("no emulator")?);
        command.args(words).arg(program);
        Ok(command)
    }

    /// Puts a program or library into the package, and its debug symbols into a tree of their own.
    fn binary(&self, tree: &Tree, package: &str, name: &str, place: &str) -> Result<Elf, Error> {
        let file = self.built.file(name);
        let elf = Elf::read(&file)?;
        if self.architecture.armv6 && !matches!(&elf.arm, Some((cpu, float)) if runs_on_arm1176(cpu, float)) {
            return Err(format!("{name} was linked with code for {:?}", elf.arm).into());
        }
        if self.architecture.armv6 {
            let count = instructions::check(&file, self.architecture.target, self.stage)?;
            println!("{name}: {count} instructions, all of them the ARM1176's");
        }
        let (start, rest) = elf.build_id.split_at(2);
        let symbols = self.symbols(package).join(format!("usr/lib/debug/.build-id/{start}/{rest}.debug"));
        std::fs::create_dir_all(symbols.parent().ok_or("no directory")?)?;
        self.tool("objcopy", &["--only-keep-debug", "--compress-debug-sections"], &file, &symbols)?;
        self.tool("strip", &["--strip-unneeded", "-R", ".comment", "-o"], &tree.place(place)?, &file)?;
        Ok(elf)
    }

    fn tool(&self, name: &str, options: &[&str], first: &Path, second: &Path) -> Result<(), Error> {
        let mut command = Command::new(format!("{}-{name}", self.architecture.target.gnu));
        deb::text(command.args(options).arg(first).arg(second)).map(|_| ())
    }

    fn symbols(&self, package: &str) -> PathBuf {
        self.stage.join(format!("{package}-dbgsym"))
    }

    /// What Debian asks of every package.
    fn documents(&self, tree: &Tree, package: &str, crates: &[&str]) -> Result<(), Error> {
        let place = |name: &str| format!("usr/share/doc/{package}/{name}");
        tree.write(&place("copyright"), &copyright::text(crates, self.architecture.target.triple)?)?;
        let changes = std::fs::read_to_string(build::workspace().join("CHANGELOG.md"))?;
        tree.write_packed(&place("changelog"), &changes)?;
        let entry = format!(
            "{DRIVER} ({}) unstable; urgency=medium\n\n  * Built from the sources of that day; see changelog.gz.\n\n -- {}  {}\n",
            self.version(),
            deb::MAINTAINER,
            self.date.mail
        );
        tree.write_packed(&place("changelog.Debian"), &entry)
    }

    fn version(&self) -> String {
        format!("{}-1{}", env!("CARGO_PKG_VERSION"), if self.architecture.armv6 { "+armv6" } else { "" })
    }

    /// Packs a tree, and the debug symbols that belong to it.
    fn finish(
        &self,
        tree: &Tree,
        name: &str,
        mut fields: Vec<(&'static str, String)>,
        description: (String, &'static str),
        elfs: &[Elf],
    ) -> Result<Vec<PathBuf>, Error> {
        let control = |name: &str, fields, description| Control {
            name: name.to_owned(),
            version: self.version(),
            architecture: self.architecture.debian,
            fields,
            description,
        };
        fields.push(("Homepage", env!("CARGO_PKG_REPOSITORY").to_owned()));
        let package = tree.pack(&control(name, fields, description), self.output, self.date)?;
        let symbols = Tree::existing(self.symbols(name));
        let ids: Vec<&str> = elfs.iter().map(|elf| elf.build_id.as_str()).collect();
        let fields = vec![
            ("Section", "debug".to_owned()),
            ("Priority", "optional".to_owned()),
            ("Multi-Arch", if name == DRIVER { "same" } else { "no" }.to_owned()),
            ("Depends", format!("{name} (= {})", self.version())),
            ("Auto-Built-Package", "debug-symbols".to_owned()),
            ("Build-Ids", ids.join(" ")),
        ];
        let name = format!("{name}-dbgsym");
        let description = (format!("debug symbols for {}", name.trim_end_matches("-dbgsym")), ABOUT_SYMBOLS);
        let symbols = symbols.pack(&control(&name, fields, description), self.output, self.date)?;
        Ok(vec![package, symbols])
    }
}

/// What all of the programs depend on, and `others`.
fn depends(elfs: &[Elf], others: &[&str]) -> Result<String, Error> {
    let mut all: Vec<String> = others.iter().map(|&other| other.to_owned()).collect();
    for elf in elfs {
        all.extend(elf.dependencies()?);
    }
    all.sort();
    all.dedup();
    // Of two lines for the C library the one with the newer version says more.
    let mut newest: Vec<String> = Vec::new();
    for dependency in all {
        let package = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
        match newest.last_mut() {
            Some(last) if package(last) == package(&dependency) => *last = dependency,
            _ => newest.push(dependency),
        }
    }
    Ok(newest.join(", "))
}

/// Whether a Pi 1 or Zero runs what bears these attributes.
fn runs_on_arm1176(cpu: &str, float: &str) -> bool {
    ["v6", "v6K", "v6KZ"].contains(&cpu) && float == "VFPv2"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_processors_are_told_apart() {
        assert!(runs_on_arm1176("v6", "VFPv2") && runs_on_arm1176("v6KZ", "VFPv2"));
        assert!(
            !runs_on_arm1176("v7", "VFPv2")
                && !runs_on_arm1176("v6", "VFPv3-D16")
                && !runs_on_arm1176("v6T2", "VFPv2")
        );
    }
}

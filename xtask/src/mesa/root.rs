//! A folder with Debian's arm64 Mesa and what it links to, made without touching the host's packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::debian::{Debian, fresh, run};

/// The Debian release whose Mesa is tested.
const RELEASE: &str = "bookworm";
/// What the vc4 driver and the EGL and GL ES libraries load, LLVM excepted (see [`Root::stub_llvm`]).
const PACKAGES: &[&str] = &[
    "libbsd0",
    "libc6",
    "libdrm2",
    "libdrm-amdgpu1",
    "libdrm-nouveau2",
    "libdrm-radeon1",
    "libegl1",
    "libegl-mesa0",
    "libelf1",
    "libexpat1",
    "libffi8",
    "libgbm1",
    "libgcc-s1",
    "libgl1-mesa-dri",
    "libglapi-mesa",
    "libgles2",
    "libglvnd0",
    "libmd0",
    "libsensors5",
    "libstdc++6",
    "libwayland-client0",
    "libwayland-server0",
    "libx11-xcb1",
    "libxau6",
    "libxcb1",
    "libxcb-dri2-0",
    "libxcb-dri3-0",
    "libxcb-present0",
    "libxcb-randr0",
    "libxcb-sync1",
    "libxcb-xfixes0",
    "libxdmcp6",
    "libxshmfence1",
    "libzstd1",
    "zlib1g",
];
/// The drivers are names of one file; these are the ones that a program may ask for.
const DRIVERS: [&str; 3] = ["vc4_dri.so", "swrast_dri.so", "kms_swrast_dri.so"];
/// Never opened by programs that run here.
const SUPERFLUOUS: [&str; 4] =
    ["usr/share/doc", "usr/share/locale", "usr/share/man", "usr/lib/aarch64-linux-gnu/gconv"];

/// The folder.
pub struct Root {
    directory: PathBuf,
}

impl Root {
    /// Fetches and unpacks the packages into `<target>/arm64`, unless that was done before.
    pub fn prepare(target: &Path) -> Result<Root, Error> {
        let directory = target.join("arm64");
        let root = Root { directory };
        let stamp = root.directory.join("ready");
        let recipe = format!("{RELEASE} {}\n", PACKAGES.join(" "));
        if std::fs::read_to_string(&stamp).is_ok_and(|text| text == recipe) {
            return Ok(root);
        }
        println!(
            "Fetching Debian's arm64 Mesa ({} packages) to {}",
            PACKAGES.len(),
            root.directory.display()
        );
        let _ = std::fs::remove_file(&stamp);
        let debian = Debian::new(root.directory.clone(), "arm64", RELEASE);
        debian.download(PACKAGES)?;
        root.unpack(&debian)?;
        root.stub_llvm()?;
        std::fs::write(stamp, recipe)?;
        Ok(root)
    }

    /// For `qemu-aarch64-static -L`.
    pub fn path(&self) -> PathBuf {
        self.directory.join("root")
    }

    /// The libraries that programs link to.
    pub fn libraries(&self) -> PathBuf {
        self.path().join("usr/lib/aarch64-linux-gnu")
    }

    /// For `LD_LIBRARY_PATH` in the guest.
    pub fn stub(&self) -> PathBuf {
        self.directory.join("stub")
    }

    fn unpack(&self, debian: &Debian) -> Result<(), Error> {
        let root = self.path();
        debian.unpack(&root)?;
        // A copy of this folder that does not know of hard links would grow to a gigabyte.
        for driver in std::fs::read_dir(self.libraries().join("dri"))? {
            let driver = driver?;
            if !DRIVERS.iter().any(|&name| driver.file_name() == name) {
                std::fs::remove_file(driver.path())?;
            }
        }
        for name in SUPERFLUOUS {
            let _ = std::fs::remove_dir_all(root.join(name));
        }
        Ok(())
    }

    /// Makes a library in the place of LLVM. All of Mesa's drivers are one binary that links to it, but vc4 calls
    /// only two of its functions, both of which may answer 0; the binary is opened with all symbols bound.
    fn stub_llvm(&self) -> Result<(), Error> {
        let directory = fresh(&self.stub())?;
        let driver = self.libraries().join("dri/vc4_dri.so");
        let output = Command::new("readelf").args(["-W", "--dyn-syms"]).arg(&driver).output()?;
        let symbols = String::from_utf8_lossy(&output.stdout);
        let (library, assembly, version) = stub_source(&symbols).ok_or_else(|| {
            format!("{} asks for no version of LLVM: its packaging changed", driver.display())
        })?;
        let (source, map) = (directory.join("stub.s"), directory.join("stub.map"));
        std::fs::write(&source, assembly)?;
        std::fs::write(&map, version)?;
        let mut command = Command::new("aarch64-linux-gnu-gcc");
        command.args(["-nostdlib", "-shared"]).arg(format!("-Wl,-soname,{library}"));
        command.arg(format!("-Wl,--version-script={}", map.display()));
        run(command.arg("-o").arg(directory.join(library)).arg(source), "linking the stub of LLVM")
    }
}

/// Name, assembly and version script of a library with every LLVM symbol in `symbols` (a dynamic symbol table as
/// readelf prints it): functions that return 0, and zeroed objects.
fn stub_source(symbols: &str) -> Option<(String, String, String)> {
    let mut version = None;
    let (mut text, mut data) = (String::from(".text\n"), String::from(".data\n"));
    for line in symbols.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, kind, _, _, "UND", symbol, ..] = words[..] else { continue };
        let Some((name, node)) = symbol.split_once('@') else { continue };
        if !node.starts_with("LLVM_") {
            continue;
        }
        version = Some(node.to_owned());
        if kind == "OBJECT" {
            data += &format!(".globl {name}\n.type {name},%object\n.size {name},64\n{name}: .zero 64\n");
        } else {
            text += &format!(".globl {name}\n.type {name},%function\n{name}: mov x0,#0\nret\n");
        }
    }
    let version = version?;
    let library = format!("libLLVM-{}.so.1", version.strip_prefix("LLVM_")?);
    Some((library, text + &data, format!("{version} {{ global: *; }};\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stub_has_every_undefined_symbol() {
        let symbols = "  7: 0000000000000000  0 FUNC    GLOBAL DEFAULT  UND LLVMFoo@LLVM_15 (3)\n\
            8: 0000000000000000  0 OBJECT  GLOBAL DEFAULT  UND _ZTIBar@LLVM_15 (3)\n\
            9: 0000000000000000  0 FUNC    GLOBAL DEFAULT  UND malloc@GLIBC_2.17 (2)\n\
            10: 0000000000001000  8 FUNC    GLOBAL DEFAULT  12 LLVMOwn@LLVM_15\n";
        let (library, assembly, version) = stub_source(symbols).expect("a stub");
        assert_eq!((library.as_str(), version.as_str()), ("libLLVM-15.so.1", "LLVM_15 { global: *; };\n"));
        assert!(assembly.contains("LLVMFoo: mov") && assembly.contains("_ZTIBar: .zero"));
        assert!(!assembly.contains("malloc") && !assembly.contains("LLVMOwn"));
        assert!(stub_source("").is_none());
    }
}

//! What programs and libraries say about themselves, by readelf.

use std::path::Path;
use std::process::Command;

use crate::Error;

/// The oldest Debian that packages are for has this C library.
const OLDEST_LIBC: Version = Version(2, 36);

/// Which package has a library, and from which version of the package on it is what we link to.
const LIBRARIES: &[(&str, &str)] = &[
    ("libc.so.6", "libc6"),
    ("libm.so.6", "libc6"),
    ("ld-linux-aarch64.so.1", "libc6"),
    ("ld-linux-armhf.so.3", "libc6"),
    ("ld-linux-x86-64.so.2", "libc6"),
    ("libgcc_s.so.1", "libgcc-s1"),
];

/// A version of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32, u32);

/// A program or library.
pub struct Elf {
    /// Libraries that must be there.
    needed: Vec<String>,
    /// The newest version of the C library with something that it uses.
    libc: Option<Version>,
    /// What debug symbols know it by.
    pub build_id: String,
    /// ARM's name for the oldest processor that runs it, and for that processor's floating point.
    pub arm: Option<(String, String)>,
}

impl Elf {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<Elf, Error> {
        let output = Command::new("readelf")
            .args(["-W", "-d", "-V", "-n", "-A"])
            .arg(file)
            .env("LC_ALL", "C")
            .output()?;
        if !output.status.success() {
            return Err(format!("readelf cannot read {}", file.display()).into());
        }
        parse(&String::from_utf8_lossy(&output.stdout))
            .ok_or_else(|| format!("{} has no build ID", file.display()).into())
    }

    /// What Debian's packages of it depend on.
    pub fn dependencies(&self) -> Result<Vec<String>, Error> {
        let mut dependencies = Vec::new();
        for library in &self.needed {
            let package = LIBRARIES.iter().find(|row| row.0 == library).map(|row| row.1);
            let package = package.ok_or_else(|| format!("no Debian package is known that has {library}"))?;
            let dependency = match (package, self.libc) {
                ("libc6", Some(version)) if version > OLDEST_LIBC => {
                    return Err(
                        format!("needs {version:?} of the C library; Debian 12 has {OLDEST_LIBC:?}").into()
                    );
                }
                ("libc6", Some(Version(major, minor))) => format!("libc6 (>= {major}.{minor})"),
                // Its oldest unwinder on these machines; Debian 12 has 12.
                ("libgcc-s1", _) => "libgcc-s1 (>= 4.2)".to_owned(),
                _ => package.to_owned(),
            };
            dependencies.push(dependency);
        }
        dependencies.sort();
        dependencies.dedup();
        Ok(dependencies)
    }
}

fn parse(text: &str) -> Option<Elf> {
    let after = |mark: &str| text.lines().find_map(|line| Some(line.split_once(mark)?.1.trim().to_owned()));
    let needed = text
        .lines()
        .filter(|line| line.contains("(NEEDED)"))
        .filter_map(|line| Some(line.split_once('[')?.1.trim_end().trim_end_matches(']').to_owned()));
    let versions = text.split("GLIBC_").skip(1).filter_map(|rest| {
        let number = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
        let mut parts = number.split('.').map(str::parse);
        Some(Version(parts.next()?.ok()?, parts.next()?.ok()?))
    });
    Some(Elf {
        needed: needed.collect(),
        libc: versions.max(),
        build_id: after("Build ID:")?,
        arm: after("Tag_CPU_arch:").map(|processor| (processor, after("Tag_FP_arch:").unwrap_or_default())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = " 0x0000000000000001 (NEEDED)             Shared library: [libgcc_s.so.1]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
  0x00a0:   Name: GLIBC_2.9  Flags: none  Version: 9
  0x00b0:   Name: GLIBC_2.34  Flags: none  Version: 7
    Build ID: 0123abcd
  Tag_CPU_arch: v6
  Tag_FP_arch: VFPv2
";

    #[test]
    fn dependencies_are_packages_with_versions() {
        let elf = parse(TEXT).expect("a library");
        assert_eq!(elf.dependencies().expect("known"), ["libc6 (>= 2.34)", "libgcc-s1 (>= 4.2)"]);
        assert_eq!(elf.build_id, "0123abcd");
        assert_eq!(elf.arm, Some(("v6".to_owned(), "VFPv2".to_owned())));
    }

    #[test]
    fn what_debian_12_lacks_is_refused() {
        assert!(parse(&TEXT.replace("2.34", "2.38")).expect("a library").dependencies().is_err());
        assert!(
            parse(&TEXT.replace("libgcc_s.so.1", "libstrange.so.1"))
                .expect("a library")
                .dependencies()
                .is_err()
        );
    }
}

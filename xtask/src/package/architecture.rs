//! The machines that packages are made for.

use std::process::Command;

use crate::Error;
use crate::cross::{self, Target};

/// A machine as Debian and as the compiler see it.
pub struct Architecture {
    /// Debian's name.
    pub debian: &'static str,
    /// As manifests of Vulkan drivers name it.
    pub cpu: &'static str,
    /// What it is compiled for.
    pub target: &'static Target,
    /// Whether the code must run on ARMv6.
    pub armv6: bool,
}

impl Architecture {
    /// The machine that Debian calls `name`.
    pub fn find(name: &str, armv6: bool) -> Result<Architecture, Error> {
        let row = |debian, cpu, target| Ok(Architecture { debian, cpu, target, armv6 });
        match (name, armv6) {
            ("armhf", false) => row("armhf", "arm", cross::target("armv7")?),
            ("armhf", true) => row("armhf", "arm", cross::target("armv6")?),
            ("arm64", false) => row("arm64", "aarch64", cross::target("aarch64")?),
            ("amd64", false) => row("amd64", "x86_64", &cross::DESKTOP),
            (_, true) => Err("--armv6 goes with --target armhf".into()),
            _ => Err(format!("no packages for {name}: there are armhf, arm64, amd64").into()),
        }
    }

    /// A name of its own for each build.
    pub fn name(&self) -> String {
        format!("{}{}", self.debian, if self.armv6 { "-armv6" } else { "" })
    }
}

/// Debian's name of the machine that this runs on.
pub fn this_machine() -> Result<String, Error> {
    let output = Command::new("dpkg").arg("--print-architecture").output();
    let output = output.map_err(|error| format!("dpkg: {error} (a Debian machine is needed)"))?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn armv6_is_a_build_of_armhf() {
        let names =
            |name, armv6| Architecture::find(name, armv6).map(|found| (found.name(), found.target.triple));
        assert_eq!(
            names("armhf", true).expect("a machine"),
            ("armhf-armv6".to_owned(), "arm-unknown-linux-gnueabihf")
        );
        assert_eq!(
            names("armhf", false).expect("a machine"),
            ("armhf".to_owned(), "armv7-unknown-linux-gnueabihf")
        );
        assert!(names("arm64", true).is_err() && names("mips", false).is_err());
    }
}

//! Packages of a Debian for some machine, fetched and unpacked without touching the host's.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A release for a machine, with a package manager's state of its own.
pub struct Debian {
    directory: PathBuf,
    /// Debian's name of the machine.
    architecture: &'static str,
    release: &'static str,
}

impl Debian {
    /// In a directory, where nothing is done yet.
    pub fn new(directory: PathBuf, architecture: &'static str, release: &'static str) -> Debian {
        Debian { directory, architecture, release }
    }

    /// Fetches these packages, and no others.
    pub fn download(&self, packages: &[&str]) -> Result<(), Error> {
        let place = self.update()?;
        self.apt(&[&["download"], packages].concat(), &place)
    }

    /// Fetches packages with all that they depend on.
    pub fn download_all(&self, packages: &[&str]) -> Result<(), Error> {
        let place = self.update()?;
        let archives = format!("Dir::Cache::archives={}", place.display());
        std::fs::create_dir_all(place.join("partial"))?;
        let options = ["-o", &archives, "install", "--download-only", "--yes", "--no-install-recommends"];
        self.apt(&[&options, packages].concat(), &place)
    }

    /// The fetched packages.
    pub fn packages(&self) -> Result<Vec<PathBuf>, Error> {
        let mut packages = Vec::new();
        for entry in std::fs::read_dir(self.directory.join("debs"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "deb") {
                packages.push(path);
            }
        }
        packages.sort();
        Ok(packages)
    }

    /// Unpacks what was fetched into `root`, which is emptied before.
    pub fn unpack(&self, root: &Path) -> Result<(), Error> {
        fresh(root)?;
        for package in self.packages()? {
            let shown = format!("dpkg -x {}", package.display());
            run(Command::new("dpkg").arg("-x").arg(&package).arg(root), &shown)?;
        }
        Ok(())
    }

    /// Reads what the mirrors have; returns the empty directory for packages.
    fn update(&self) -> Result<PathBuf, Error> {
        for name in ["apt/lists/partial", "apt/cache/archives/partial"] {
            std::fs::create_dir_all(self.directory.join(name))?;
        }
        if !Path::new(KEYRING).exists() {
            return Err(format!("{KEYRING} is missing: install debian-archive-keyring").into());
        }
        std::fs::write(self.directory.join("apt/status"), "")?;
        let (list, sources) = (self.directory.join("apt/sources.list"), self.sources()?);
        std::fs::write(&list, &sources)?;
        let place = fresh(&self.directory.join("debs"))?;
        let Err(error) = self.apt(&["update"], &place) else { return Ok(place) };
        // Mirrors of the security archive are out of step at times. What runs here is tested and thrown away.
        let main = sources.lines().next().ok_or("no sources")?;
        std::fs::write(&list, format!("{main}\n"))?;
        self.apt(&["update"], &place).map_err(|_| error)?;
        println!("The mirror's security archive cannot be read for {}: without it", self.architecture);
        Ok(place)
    }

    /// The Debian mirrors of this machine, as lines for a sources list.
    fn sources(&self) -> Result<String, Error> {
        let output = Command::new("apt-get")
            .args(["indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"])
            .output()
            .map_err(|error| format!("apt-get: {error} (a Debian machine is needed)"))?;
        let sources = sources_list(&String::from_utf8_lossy(&output.stdout), self.release);
        if sources.lines().count() < 2 {
            return Err("this machine's package sources name no Debian mirror with a security archive".into());
        }
        Ok(sources)
    }

    /// `apt-get` with a state of its own, so that the host gets no foreign architecture.
    fn apt(&self, arguments: &[&str], directory: &Path) -> Result<(), Error> {
        let place = |name: &str| self.directory.join(name).display().to_string();
        let options = [
            format!("APT::Architecture={}", self.architecture),
            format!("APT::Architectures={}", self.architecture),
            format!("Dir::State={}", place("apt")),
            format!("Dir::State::lists={}", place("apt/lists")),
            format!("Dir::State::status={}", place("apt/status")),
            format!("Dir::Cache={}", place("apt/cache")),
            format!("Dir::Etc::SourceList={}", place("apt/sources.list")),
            // Other sources of the host may have no index for that machine.
            "Dir::Etc::SourceParts=/dev/null".into(),
            "Acquire::Languages=none".into(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".into(),
            "Acquire::Retries=3".into(),
            "APT::Sandbox::User=".into(),
        ];
        let mut command = Command::new("apt-get");
        command.arg("--quiet").args(options.iter().flat_map(|option| ["-o", option])).args(arguments);
        let shown = format!("apt-get {} (for {})", arguments.join(" "), self.architecture);
        run(command.current_dir(directory), &shown)
    }
}

/// Two lines for a release on the mirrors in `targets`, whose lines are "URI RELEASE COMPONENT".
fn sources_list(targets: &str, release_wanted: &str) -> String {
    let mut lines = String::new();
    for suffix in ["", "-security"] {
        let site = targets.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let (site, release, component) = (words.next()?, words.next()?, words.next()?);
            let fits = if suffix.is_empty() { !release.contains('-') } else { release.ends_with(suffix) };
            (fits && component == "main").then_some(site)
        });
        if let Some(site) = site {
            lines += &format!("deb [signed-by={KEYRING}] {site} {release_wanted}{suffix} main\n");
        }
    }
    lines
}

/// An empty directory.
pub fn fresh(directory: &Path) -> Result<PathBuf, Error> {
    let _ = std::fs::remove_dir_all(directory);
    std::fs::create_dir_all(directory)?;
    Ok(directory.to_path_buf())
}

/// Runs a command in silence; its output is the error's text.
pub fn run(command: &mut Command, shown: &str) -> Result<(), Error> {
    let output = command.output().map_err(|error| format!("{shown}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let tail: Vec<&str> = said.lines().rev().take(20).collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    Err(format!("{shown} failed ({}):\n{}", output.status, tail.join("\n")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_the_hosts() {
        let targets = "https://a.example/debian/ trixie main\nhttps://a.example/debian/ trixie contrib\n\
            https://a.example/debian/ trixie-updates main\nhttps://b.example/sec/ trixie-security main\n";
        let wanted = format!(
            "deb [signed-by={KEYRING}] https://a.example/debian/ bookworm main\n\
             deb [signed-by={KEYRING}] https://b.example/sec/ bookworm-security main\n"
        );
        assert_eq!(sources_list(targets, "bookworm"), wanted);
    }
}

//! Staged trees, and packages of them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;
use crate::build;

/// Who answers for the packages.
pub const MAINTAINER: &str = "vulkan-vc4 developers <vulkan-vc4@users.noreply.github.com>";

/// The time that all files bear: that of the sources.
pub struct SourceDate {
    /// Seconds since 1970.
    seconds: String,
    /// As in mails and in Debian's changelogs.
    pub mail: String,
    /// As in ISO 8601, the day only.
    pub day: String,
}

/// `SOURCE_DATE_EPOCH`, or when the commit was made.
pub fn source_date() -> Result<SourceDate, Error> {
    let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => seconds,
        Err(_) => {
            let mut log = Command::new("git");
            log.args(["log", "-1", "--format=%ct"]).current_dir(build::workspace());
            let seconds = text(&mut log).unwrap_or_default();
            if seconds.is_empty() {
                return Err("no commit to take the date from: set SOURCE_DATE_EPOCH".into());
            }
            seconds
        }
    };
    let date = |format: &str| {
        let mut date = Command::new("date");
        date.args(["-u", "-d", &format!("@{seconds}"), format]).env("LC_ALL", "C");
        text(&mut date)
    };
    Ok(SourceDate { mail: date("+%a, %d %b %Y %H:%M:%S %z")?, day: date("+%Y-%m-%d")?, seconds })
}

/// What a command prints, without the last line's end.
pub fn text(command: &mut Command) -> Result<String, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program} failed ({})", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// What the package manager is told.
pub struct Control {
    pub name: String,
    pub version: String,
    pub architecture: &'static str,
    /// Further fields, in their order.
    pub fields: Vec<(&'static str, String)>,
    /// The first line, and the paragraphs behind it.
    pub description: (String, &'static str),
}

/// A tree that becomes a package.
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// An empty one.
    pub fn new(root: PathBuf) -> Result<Tree, Error> {
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root)?;
        Ok(Tree { root })
    }

    /// One that was filled already.
    pub fn existing(root: PathBuf) -> Tree {
        Tree { root }
    }

    /// Where a file of the package lies now; its directory is there.
    pub fn place(&self, path: &str) -> Result<PathBuf, Error> {
        let place = self.root.join(path);
        std::fs::create_dir_all(place.parent().ok_or("a file has no directory")?)?;
        Ok(place)
    }

    /// Puts a text into the package.
    pub fn write(&self, path: &str, text: &str) -> Result<(), Error> {
        Ok(std::fs::write(self.place(path)?, text)?)
    }

    /// Puts a text into the package, as gzip packs it.
    pub fn write_packed(&self, path: &str, text: &str) -> Result<(), Error> {
        self.write(path, text)?;
        let status = Command::new("gzip").args(["-9", "-n", "-f"]).arg(self.root.join(path)).status()?;
        if status.success() { Ok(()) } else { Err(format!("gzip failed on {path}").into()) }
    }

    /// The package, in `directory`.
    pub fn pack(&self, control: &Control, directory: &Path, date: &SourceDate) -> Result<PathBuf, Error> {
        let mut files = Vec::new();
        self.walk(&self.root, &mut files)?;
        files.sort();
        let mut sums = String::new();
        let mut kibibytes = 0;
        for file in &files {
            kibibytes += std::fs::metadata(self.root.join(file))?.len().div_ceil(1024);
            sums += &text(Command::new("md5sum").arg(file).current_dir(&self.root))?;
            sums += "\n";
        }
        self.write("DEBIAN/md5sums", &sums)?;
        self.write("DEBIAN/control", &control.text(kibibytes))?;
        self.modes(&self.root)?;
        std::fs::create_dir_all(directory)?;
        let name = format!("{}_{}_{}.deb", control.name, control.version, control.architecture);
        let package = directory.join(name);
        let mut build = Command::new("dpkg-deb");
        build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&self.root).arg(&package);
        // Blocks of several threads would be other bytes than those of one.
        build.env("SOURCE_DATE_EPOCH", &date.seconds).env("DPKG_DEB_THREADS_MAX", "1");
        text(&mut build)?;
        Ok(package)
    }

    /// The files below `directory`, by their names in the package.
    fn walk(&self, directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
        for entry in std::fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.strip_prefix(&self.root)?.to_path_buf();
            if path.is_dir() && name != Path::new("DEBIAN") {
                self.walk(&path, files)?;
            } else if path.is_file() {
                files.push(name);
            }
        }
        Ok(())
    }

    /// Permissions that do not depend on who packs.
    fn modes(&self, path: &Path) -> Result<(), Error> {
        let mode = if path.is_dir() {
            for entry in std::fs::read_dir(path)? {
                self.modes(&entry?.path())?;
            }
            0o755
        } else if path.starts_with(self.root.join("usr/bin")) {
            0o755
        } else {
            0o644
        };
        Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?)
    }
}

impl Control {
    fn text(&self, kibibytes: u64) -> String {
        let mut text = format!(
            "Package: {}\nVersion: {}\nArchitecture: {}\nMaintainer: {MAINTAINER}\nInstalled-Size: {kibibytes}\n",
            self.name, self.version, self.architecture
        );
        for (name, value) in &self.fields {
            text += &format!("{name}: {value}\n");
        }
        text += &format!("Description: {}\n", self.description.0);
        for line in self.description.1.lines() {
            text += &if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_files_have_one_field_a_line() {
        let control = Control {
            name: "a".into(),
            version: "1-1".into(),
            architecture: "arm64",
            fields: vec![("Depends", "libc6".into())],
            description: ("short".into(), "first\n\nsecond"),
        };
        assert_eq!(
            control.text(7),
            format!(
                "Package: a\nVersion: 1-1\nArchitecture: arm64\nMaintainer: {MAINTAINER}\nInstalled-Size: 7\n\
                 Depends: libc6\nDescription: short\n first\n .\n second\n"
            )
        );
    }
}

//! What the Vulkan loader finds: drivers, layers and its own version.

use super::private::Private;
use super::root::Root;

const LIBRARIES: [&str; 8] = [
    "/usr/local/lib",
    "/usr/lib",
    "/lib",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/arm-linux-gnueabihf",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib/aarch64-linux-gnu",
];
const LOADER: &str = "libvulkan.so.1";
const OURS: &str = "libvulkan_vc4.so";

/// A manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The file's name without `.json`.
    pub name: String,
    /// The file.
    pub file: String,
    /// The library's file name.
    pub library: String,
    /// Whether the library is there; `None` for one that the system's linker finds.
    pub library_is_there: Option<bool>,
    /// Vulkan's version in the manifest.
    pub version: Option<String>,
}

impl Manifest {
    /// Whether it is this driver's.
    pub fn is_ours(&self) -> bool {
        self.library == OURS
    }

    /// Whether it is a driver of the CPU's, which has a device on every machine.
    pub fn is_software(&self) -> bool {
        ["lvp", "lavapipe", "swiftshader", "swrast"].iter().any(|name| self.library.contains(name))
    }
}

/// What the loader finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loader {
    /// From the library's file name.
    pub version: Option<String>,
    /// Drivers in the order in which it meets them.
    pub drivers: Vec<Manifest>,
    /// The variable that names the drivers, if one does.
    pub forced_by: Option<&'static str>,
    pub layers: Vec<Manifest>,
}

impl Loader {
    pub fn collect(root: Root<'_>, variable: &dyn Fn(&str) -> Option<String>, private: &Private) -> Loader {
        let set = |name: &&'static str| variable(name).is_some_and(|value| !value.is_empty());
        let forced_by = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].into_iter().find(set);
        let home = variable("HOME").unwrap_or_default();
        let own = |name, otherwise: &str| variable(name).unwrap_or_else(|| format!("{home}/{otherwise}"));
        // Where the loader looks for manifests, in its order.
        let data = [
            own("XDG_CONFIG_HOME", ".config"),
            "/etc/xdg".into(),
            "/etc".into(),
            own("XDG_DATA_HOME", ".local/share"),
            "/usr/local/share".into(),
            "/usr/share".into(),
        ];
        let below = |folder: &str| -> Vec<String> {
            let directories = data.iter().map(|directory| format!("{directory}/vulkan/{folder}"));
            directories.flat_map(|directory| manifests(root, &directory)).collect()
        };
        let files = match forced_by.and_then(variable) {
            Some(list) => list.split(':').flat_map(|path| named(root, path)).collect(),
            None => below("icd.d"),
        };
        let read =
            |files: Vec<String>| files.iter().filter_map(|file| manifest(root, file, private)).collect();
        Loader {
            version: version(root),
            drivers: read(files),
            forced_by,
            layers: read([below("implicit_layer.d"), below("explicit_layer.d")].concat()),
        }
    }
}

/// Manifests of a directory, in the directory's order, as the loader takes them.
fn manifests(root: Root<'_>, directory: &str) -> Vec<String> {
    let names = root.names(directory).into_iter().filter(|name| name.ends_with(".json"));
    names.map(|name| format!("{directory}/{name}")).collect()
}

/// A file, or the manifests of a directory.
fn named(root: Root<'_>, path: &str) -> Vec<String> {
    if root.path(path).is_dir() { manifests(root, path) } else { vec![path.to_owned()] }
}

fn manifest(root: Root<'_>, file: &str, private: &Private) -> Option<Manifest> {
    let text = root.text(file)?;
    let name = file.rsplit('/').next()?.trim_end_matches(".json");
    let library = string_member(&text, "library_path")?;
    let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
    let library_is_there = match library.chars().next() {
        Some('/') => Some(root.exists(&library)),
        _ if library.contains('/') => Some(root.exists(&format!("{directory}/{library}"))),
        // The linker may know more directories than these.
        _ => LIBRARIES.iter().any(|place| root.exists(&format!("{place}/{library}"))).then_some(true),
    };
    Some(Manifest {
        name: private.hide(name),
        file: private.hide(file),
        library: private.hide(library.rsplit('/').next().unwrap_or_default()),
        library_is_there,
        version: string_member(&text, "api_version").map(|version| private.hide(&version)),
    })
}

/// The first member of that name whose value is a string. Manifests have no second one.
fn string_member(json: &str, name: &str) -> Option<String> {
    let key = format!("\"{name}\"");
    let mut rest = json;
    loop {
        rest = &rest[rest.find(&key)? + key.len()..];
        let Some(value) = rest.trim_start().strip_prefix(':') else { continue };
        let mut out = String::new();
        let mut characters = value.trim_start().strip_prefix('"')?.chars();
        loop {
            match characters.next()? {
                '"' => return Some(out),
                '\\' => out.push(characters.next()?),
                c => out.push(c),
            }
        }
    }
}

/// The loader's version, which its file's name ends with.
fn version(root: Root<'_>) -> Option<String> {
    LIBRARIES.iter().find_map(|directory| {
        let path = root.path(&format!("{directory}/{LOADER}"));
        let file = std::fs::read_link(&path).ok()?;
        let version = file.file_name()?.to_str()?.strip_prefix("libvulkan.so.")?.to_owned();
        Some(version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found() {
        let text = r#"{"x": "library_path", "ICD": {"library_path" : "a\/b\"c", "api_version": "1.2"}}"#;
        assert_eq!(string_member(text, "library_path").as_deref(), Some("a/b\"c"));
        assert_eq!(string_member(text, "api_version").as_deref(), Some("1.2"));
        assert_eq!(string_member(text, "y"), None);
        assert_eq!(string_member("{\"library_path\": \"cut", "library_path"), None);
    }
}

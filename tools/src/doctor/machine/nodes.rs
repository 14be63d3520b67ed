//! The nodes of DRM devices.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::root::Root;

/// What the display and the GPU of a VideoCore IV are called among the kernel's drivers.
const VC4: &str = "vc4-drm";
/// GPUs of their device tree; newer boards have displays of the same driver.
const WITH_GPU: [&str; 2] = ["brcm,bcm2835-vc4", "brcm,cygnus-vc4"];

/// Whether this process may use a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    Granted,
    /// The node is its group's, and the process is not of the group.
    Denied,
    /// Any other answer.
    Failed(String),
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// `card0`, `renderD128`.
    pub name: String,
    /// The kernel's driver.
    pub driver: String,
    /// The device tree's names of the device.
    pub compatible: Vec<String>,
    pub access: Access,
    /// Permission bits.
    pub mode: Option<u32>,
    /// The group that owns it, if it is one of the system's.
    pub group: Option<&'static str>,
}

impl Node {
    pub fn is_render(&self) -> bool {
        self.name.starts_with("renderD")
    }

    /// Whether it belongs to a VideoCore IV.
    pub fn is_vc4(&self) -> bool {
        self.driver == VC4 && self.compatible.iter().any(|name| WITH_GPU.contains(&&name[..]))
    }

    pub fn path(&self) -> String {
        format!("/dev/dri/{}", self.name)
    }
}

/// The nodes in the order of their names.
pub fn collect(root: Root<'_>, open: &dyn Fn(&Path) -> io::Result<()>) -> Vec<Node> {
    let numbered = |name: &str, prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut names = root.names("/sys/class/drm");
    names.retain(|name| numbered(name, "card") || numbered(name, "renderD"));
    names.sort();
    names.into_iter().map(|name| node(root, name, open)).collect()
}

fn node(root: Root<'_>, name: String, open: &dyn Fn(&Path) -> io::Result<()>) -> Node {
    let uevent = root.text(&format!("/sys/class/drm/{name}/device/uevent")).unwrap_or_default();
    let values = |key: &'static str| uevent.lines().filter_map(move |line| line.strip_prefix(key));
    let compatible = values("OF_COMPATIBLE_").filter_map(|rest| rest.split_once('='));
    let path = root.path(&format!("/dev/dri/{name}"));
    let metadata = std::fs::metadata(&path).ok();
    Node {
        driver: values("DRIVER=").next().unwrap_or("unknown").to_owned(),
        compatible: compatible.filter(|(n, _)| *n != "N").map(|(_, name)| name.to_owned()).collect(),
        access: match open(&path) {
            Ok(()) => Access::Granted,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Access::Denied,
            Err(error) => Access::Failed(error.to_string()),
        },
        mode: metadata.as_ref().map(|metadata| metadata.mode() & 0o7777),
        group: metadata.and_then(|metadata| group(root, metadata.gid())),
        name,
    }
}

/// The group's name if it is one that systems give to nodes; others may be people's.
fn group(root: Root<'_>, number: u32) -> Option<&'static str> {
    let groups = root.text("/etc/group")?;
    let name = groups.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.get(2)?.parse() == Ok(number)).then_some(fields[0])
    });
    ["render", "video", "root"].into_iter().find(|known| name == Some(known))
}

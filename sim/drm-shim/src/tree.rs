//! The paths of the device: its nodes, and the part of sysfs that libdrm and its like read (drm-shim.md §2).

use std::os::fd::RawFd;
use std::sync::OnceLock;

use vc4_kernel_abi::dma_heap::{HEAP_DIR, HEAP_NAMES};
use vc4_kernel_abi::environment;
use vc4_sim::drm::{DRM_MAJOR, Node, OF_COMPATIBLE, OF_FULLNAME};

use crate::state::{self, Thing};

/// Where the nodes are.
pub const NODE_DIR: &str = "/dev/dri";
const CLASS_DIR: &str = "/sys/class/drm";
/// The platform device. UNVERIFIED: which path does a Raspberry Pi give it?
const DEVICE_DIR: &str = "/sys/devices/platform/soc/soc:gpu";
/// Number of the first render node; the card of the same device is that many below.
const FIRST_RENDER_MINOR: u32 = 128;
const NODES: [Node; 2] = [Node::Primary, Node::Render];

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A device node.
    Node(Node),
    /// A directory with these entries; the real ones stay if the flag is set and real nodes are not hidden.
    Dir(Vec<(String, u8)>, bool),
    /// A file with this content.
    File(String),
    /// A link.
    Link(String),
    /// The heap of contiguous memory.
    Heap,
    /// Something of the machine's own GPU, which must not be found.
    Absent,
}

/// Whether the machine's own nodes stay visible beside ours.
pub fn shows_real() -> bool {
    static SHOW: OnceLock<bool> = OnceLock::new();
    *SHOW.get_or_init(|| environment::variable("VC4SIM_SHOW_REAL").is_some_and(|value| value == "1"))
}

/// Whether a path leads to a GPU, be it ours or not.
fn is_of_a_gpu(path: &str) -> bool {
    let below = |dir| strip(path, dir).is_some_and(|rest| !rest.is_empty());
    below(NODE_DIR) || below(CLASS_DIR) || path.starts_with(&format!("/sys/dev/char/{DRM_MAJOR}:"))
}

/// Minor number of the render node.
fn render_minor() -> u32 {
    static MINOR: OnceLock<u32> = OnceLock::new();
    *MINOR.get_or_init(|| {
        let wanted = environment::word("VC4SIM_MINOR").and_then(|text| text.parse().ok());
        wanted
            .filter(|minor| (FIRST_RENDER_MINOR..2 * FIRST_RENDER_MINOR).contains(minor))
            .unwrap_or(FIRST_RENDER_MINOR)
    })
}

/// Minor number of a node.
pub fn minor(node: Node) -> u32 {
    match node {
        Node::Primary => render_minor() - FIRST_RENDER_MINOR,
        Node::Render => render_minor(),
    }
}

/// Device number of a node.
pub fn device_number(node: Node) -> libc::dev_t {
    libc::makedev(DRM_MAJOR, minor(node))
}

fn name(node: Node) -> String {
    match node {
        Node::Primary => format!("card{}", minor(node)),
        Node::Render => format!("renderD{}", minor(node)),
    }
}

fn node_path(node: Node) -> String {
    format!("{NODE_DIR}/{}", name(node))
}

fn class_dir(node: Node) -> String {
    format!("{DEVICE_DIR}/drm/{}", name(node))
}

/// Whether a path is that of the kernel's log, which tells of our device if there is one.
pub fn is_kernel_log(path: &[u8]) -> bool {
    path == b"/dev/kmsg"
}

/// Whether a path can be ours at all: cheap, since every path of the process passes here.
pub fn may_be_ours(path: &[u8]) -> bool {
    path.starts_with(b"/dev/") || path.starts_with(b"/sys/") || descriptor(path).is_some()
}

/// The descriptor of this process that a path names.
fn descriptor(path: &[u8]) -> Option<RawFd> {
    let number = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse::<u32>().ok();
    let fd = match path.strip_prefix(b"/proc/") {
        Some(rest) => {
            let slash = rest.iter().position(|&byte| byte == b'/')?;
            let (process, rest) = rest.split_at(slash);
            let is_own = process == b"self" || number(process) == Some(std::process::id());
            rest.strip_prefix(b"/fd/").filter(|_| is_own)?
        }
        None => path.strip_prefix(b"/dev/fd/")?,
    };
    RawFd::try_from(number(fd)?).ok()
}

/// The node that a path names by a descriptor of it, for which the kernel has a link to its path.
fn node_of_descriptor(path: &[u8]) -> Option<Node> {
    match state::find(descriptor(path)?)? {
        Thing::Node(_, node) => Some(node),
        _ => None,
    }
}

/// Repeated and trailing slashes and single dots removed.
fn tidy(path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    parts.fold(String::new(), |path, part| path + "/" + part)
}

fn strip<'a>(path: &'a str, dir: &str) -> Option<&'a str> {
    path.strip_prefix(dir).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Follows the links on the way to the last component; with `last`, that one too.
fn follow(path: &str, last: bool) -> Option<String> {
    let mut path = tidy(path);
    loop {
        let next = NODES.into_iter().find_map(|node| {
            let numbered = format!("/sys/dev/char/{DRM_MAJOR}:{}", minor(node));
            let named = format!("{CLASS_DIR}/{}", name(node));
            let device = format!("{}/device", class_dir(node));
            [(numbered, class_dir(node)), (named, class_dir(node)), (device, DEVICE_DIR.to_owned())]
                .into_iter()
                .find_map(|(link, to)| {
                    let rest = strip(&path, &link)?;
                    (last || !rest.is_empty()).then(|| to + rest)
                })
        });
        match next {
            Some(next) => path = next,
            None => return Some(path).filter(|path| may_be_ours(path.as_bytes())),
        }
    }
}

/// The path without links, if it is ours; empty for one that must not be found.
pub fn canonical(path: &[u8]) -> Option<String> {
    if let Some(node) = node_of_descriptor(path) {
        return Some(node_path(node));
    }
    let path = follow(std::str::from_utf8(path).ok()?, true)?;
    match at(&path) {
        Some(_) => Some(path),
        None => (is_of_a_gpu(&path) && !shows_real()).then(String::new),
    }
}

/// What a path names; a link itself only when it is not to be followed. `None` for what is not our business.
pub fn find(path: &[u8], follow_links: bool) -> Option<Item> {
    if !may_be_ours(path) {
        return None;
    }
    if let Some(node) = node_of_descriptor(path) {
        return Some(if follow_links { Item::Node(node) } else { Item::Link(node_path(node)) });
    }
    let path = follow(std::str::from_utf8(path).ok()?, follow_links)?;
    let Some(item) = at(&path) else {
        return (is_of_a_gpu(&path) && !shows_real()).then_some(Item::Absent);
    };
    match item {
        // Only directories of others lie behind the remaining links.
        Item::Link(_) if follow_links => Some(Item::Dir(Vec::new(), false)),
        item => Some(item),
    }
}

fn node_entries(kind: u8) -> Vec<(String, u8)> {
    NODES.iter().map(|&node| (name(node), kind)).collect()
}

fn entries(names: &[(&str, u8)]) -> Vec<(String, u8)> {
    names.iter().map(|&(name, kind)| (name.to_owned(), kind)).collect()
}

/// What stands at a path without links in its directories.
fn at(path: &str) -> Option<Item> {
    use libc::{DT_CHR, DT_LNK, DT_REG};
    match path {
        NODE_DIR => return Some(Item::Dir(node_entries(DT_CHR), true)),
        HEAP_DIR => return Some(Item::Dir(entries(&[(HEAP_NAMES[0], DT_CHR)]), true)),
        CLASS_DIR => return Some(Item::Dir(node_entries(DT_LNK), true)),
        _ => {}
    }
    if strip(path, HEAP_DIR).and_then(|name| name.strip_prefix('/')) == Some(HEAP_NAMES[0]) {
        return Some(Item::Heap);
    }
    for node in NODES {
        let to_class = format!("../../devices/platform/soc/soc:gpu/drm/{}", name(node));
        if strip(path, NODE_DIR) == Some(&format!("/{}", name(node))) {
            return Some(Item::Node(node));
        }
        if strip(path, CLASS_DIR) == Some(&format!("/{}", name(node))) {
            return Some(Item::Link(to_class));
        }
        if path == format!("/sys/dev/char/{DRM_MAJOR}:{}", minor(node)) {
            return Some(Item::Link(to_class));
        }
        if let Some(rest) = strip(path, &class_dir(node)) {
            let item = match rest {
                "" => Item::Dir(
                    entries(&[
                        ("dev", DT_REG),
                        ("device", DT_LNK),
                        ("subsystem", DT_LNK),
                        ("uevent", DT_REG),
                    ]),
                    false,
                ),
                "/dev" => Item::File(format!("{DRM_MAJOR}:{}\n", minor(node))),
                "/device" => Item::Link("../../../soc:gpu".to_owned()),
                "/subsystem" => Item::Link("../../../../../../class/drm".to_owned()),
                "/uevent" => Item::File(format!(
                    "MAJOR={DRM_MAJOR}\nMINOR={}\nDEVNAME=dri/{}\nDEVTYPE=drm_minor\n",
                    minor(node),
                    name(node)
                )),
                _ => return None,
            };
            return Some(item);
        }
    }
    device_item(strip(path, DEVICE_DIR)?)
}

/// The platform device's own directory.
fn device_item(rest: &str) -> Option<Item> {
    use libc::{DT_DIR, DT_LNK, DT_REG};
    let item = match rest {
        "" => Item::Dir(
            entries(&[
                ("driver", DT_LNK),
                ("drm", DT_DIR),
                ("modalias", DT_REG),
                ("subsystem", DT_LNK),
                ("uevent", DT_REG),
            ]),
            false,
        ),
        "/driver" => Item::Link("../../../../bus/platform/drivers/vc4-drm".to_owned()),
        "/drm" => Item::Dir(node_entries(DT_DIR), false),
        "/modalias" => Item::File(format!("of:NgpuT(null)C{OF_COMPATIBLE}\n")),
        "/subsystem" => Item::Link("../../../../bus/platform".to_owned()),
        "/uevent" => Item::File(format!(
            "DRIVER=vc4-drm\nOF_NAME=gpu\nOF_FULLNAME={OF_FULLNAME}\nOF_COMPATIBLE_0={OF_COMPATIBLE}\n\
             OF_COMPATIBLE_N=1\nMODALIAS=of:NgpuT(null)C{OF_COMPATIBLE}\n"
        )),
        _ => return None,
    };
    Some(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> Option<Item> {
        find(path.as_bytes(), true)
    }

    #[test]
    fn nodes_and_strangers() {
        assert_eq!(found("/dev/dri/renderD128"), Some(Item::Node(Node::Render)));
        assert_eq!(found("/dev//dri/./card0"), Some(Item::Node(Node::Primary)));
        assert_eq!(descriptor(b"/proc/self/fd/17"), Some(17));
        assert_eq!(descriptor(format!("/proc/{}/fd/0", std::process::id()).as_bytes()), Some(0));
        assert_eq!(descriptor(b"/dev/fd/3"), Some(3));
        for path in ["/proc/1/fd/3", "/proc/self/fd/", "/proc/self/fd/3/x", "/proc/self/fdinfo/3", "/dev/fd"]
        {
            assert_eq!(descriptor(path.as_bytes()), None, "{path}");
        }
        for path in ["/dev/drill", "/sys/dev/char/22:1280", "/etc/passwd", "dev/dri", ""] {
            assert_eq!(found(path), None, "{path}");
        }
        for path in ["/dev/dri/card1", "/sys/dev/char/226:1280", "/sys/class/drm/card1/device"] {
            assert_eq!(found(path), Some(Item::Absent), "{path}");
            assert_eq!(canonical(path.as_bytes()).as_deref(), Some(""));
        }
    }

    #[test]
    fn every_way_to_the_device_ends_at_one_place() {
        for path in [
            "/sys/dev/char/226:128/device",
            "/sys/class/drm/card0/device",
            "/sys/dev/char/226:0/device/drm/renderD128/device/",
        ] {
            assert_eq!(canonical(path.as_bytes()).as_deref(), Some(DEVICE_DIR), "{path}");
        }
        let Some(Item::File(uevent)) = found("/sys/dev/char/226:128/device/uevent") else { panic!() };
        assert!(uevent.contains("OF_COMPATIBLE_N=1\n") && uevent.contains("OF_FULLNAME=/soc/gpu\n"));
    }

    #[test]
    fn links_are_links_only_to_those_who_do_not_follow() {
        let path = b"/sys/dev/char/226:128/device/subsystem";
        let Some(Item::Link(target)) = find(path, false) else { panic!() };
        assert!(target.ends_with("/platform"));
        assert!(matches!(find(path, true), Some(Item::Dir(..))));
        assert!(matches!(find(b"/sys/dev/char/226:128", false), Some(Item::Link(_))));
        assert!(matches!(found("/sys/dev/char/226:128"), Some(Item::Dir(..))));
    }
}

//! The machine as its files and variables tell it. A tree below any directory will do, so tests make theirs up.

pub mod board;
pub mod boot;
pub mod kernel;
pub mod loader;
pub mod nodes;
pub mod private;
mod root;
#[cfg(test)]
pub mod tree;

use std::io;
use std::path::Path;

use board::Board;
use boot::Boot;
use kernel::Kernel;
use loader::Loader;
use nodes::Node;
use private::Private;
use root::Root;

/// Where to look.
pub struct Surroundings<'a> {
    /// Where `/` is.
    pub root: &'a Path,
    /// A variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Tries to open a node for reading and writing.
    pub open: &'a dyn Fn(&Path) -> io::Result<()>,
    /// What the firmware says its version is.
    pub firmware: &'a dyn Fn() -> Option<String>,
}

/// Where pictures can go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// `DISPLAY` is set.
    pub x11: bool,
    /// `WAYLAND_DISPLAY` is set.
    pub wayland: bool,
    /// `XDG_RUNTIME_DIR` is set.
    pub runtime_directory: bool,
}

/// What there is to know. Nothing in it is private.
#[derive(Clone, Debug)]
pub struct Machine {
    pub board: Board,
    /// The system's name for itself.
    pub system: Option<String>,
    pub kernel: Kernel,
    pub firmware: Option<String>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Bytes of contiguous memory; 0 where the kernel has none.
    pub cma_total: Option<u64>,
    /// Bytes of it that are free.
    pub cma_free: Option<u64>,
    pub boot: Option<Boot>,
    pub nodes: Vec<Node>,
    pub loader: Loader,
    pub session: Session,
    /// What to hide in texts of others.
    pub private: Private,
}

impl Machine {
    pub fn collect(around: &Surroundings<'_>) -> Machine {
        let (root, variable) = (Root(around.root), around.variable);
        let private = Private::collect(root, variable);
        let hide = |text: String| private.hide(&text);
        let release = root.text("/etc/os-release").unwrap_or_default();
        let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
        let meminfo = root.text("/proc/meminfo").unwrap_or_default();
        let board = Board::collect(root);
        let set = |name| variable(name).is_some_and(|value| !value.is_empty());
        let kernel = Kernel::collect(root);
        Machine {
            boot: Boot::collect(root, &board),
            board,
            system: name.map(|name| hide(name.trim_matches('"').to_owned())),
            kernel: Kernel { release: kernel.release.map(hide), ..kernel },
            firmware: (around.firmware)().map(|text| private.hide(&text)),
            memory: row(&meminfo, "MemTotal:"),
            cma_total: row(&meminfo, "CmaTotal:"),
            cma_free: row(&meminfo, "CmaFree:"),
            nodes: nodes::collect(root, around.open),
            loader: Loader::collect(root, variable, &private),
            session: Session {
                x11: set("DISPLAY"),
                wayland: set("WAYLAND_DISPLAY"),
                runtime_directory: set("XDG_RUNTIME_DIR"),
            },
            private,
        }
    }

    /// The render node of a VideoCore IV.
    pub fn render_node(&self) -> Option<&Node> {
        self.nodes.iter().find(|node| node.is_render() && node.is_vc4())
    }
}

/// A row of `/proc/meminfo` in bytes.
fn row(meminfo: &str, name: &str) -> Option<u64> {
    let row = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    row.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::tree::{SECRETS, Tree};

    #[test]
    fn a_tree_is_read() {
        let machine = Tree::pi3("read").machine();
        assert_eq!(machine.board.model(), Some("Raspberry Pi 3 Model B Plus Rev 1.3"));
        assert_eq!((machine.cma_total, machine.memory), (Some(256 << 20), Some(930_000 << 10)));
        assert_eq!(machine.render_node().map(|node| &node.name[..]), Some("renderD128"));
        assert_eq!(machine.nodes.len(), 2);
        assert_eq!(machine.loader.version.as_deref(), Some("1.3.239"));
        assert_eq!(machine.loader.layers.len(), 1);
        assert_eq!(machine.kernel.has_vc4, Some(true));
    }

    #[test]
    fn what_is_private_stays_behind() {
        let tree = Tree::pi3("private")
            .manifest("/home/ann/.local/share/vulkan/icd.d/ann.json", "/home/ann/lib/lib-bob.so")
            .file("/etc/os-release", "PRETTY_NAME=\"anns-kitchen OS of Ann Example at 192.168.7.31\"\n")
            .file("/proc/sys/kernel/osrelease", "6.6.31-bob\n");
        let machine = tree.machine();
        let seen = format!(
            "{:?}",
            (
                &machine.board,
                &machine.system,
                &machine.kernel,
                &machine.firmware,
                &machine.boot,
                &machine.nodes,
                &machine.loader
            )
        );
        assert!(seen.contains("(hidden)"), "{seen}");
        for secret in SECRETS {
            // Names may be part of other words.
            let alone = seen
                .split(|c: char| !c.is_alphanumeric() && !"-:./ ".contains(c))
                .any(|word| word == secret || word.split([' ', '-', '/', '.']).any(|part| part == secret));
            assert!(!alone && (secret.len() < 4 || !seen.contains(secret)), "{secret}: {seen}");
        }
    }
}

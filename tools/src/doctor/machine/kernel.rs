//! The kernel: which, and whether it has the driver.

use super::root::Root;

/// The kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    pub release: Option<String>,
    pub architecture: Option<String>,
    /// Whether its modules, or the kernel itself, have the driver; `None` if its modules cannot be seen.
    pub has_vc4: Option<bool>,
    pub vc4_is_loaded: bool,
    /// `cma=` of its command line.
    pub cma_argument: Option<String>,
}

impl Kernel {
    pub fn collect(root: Root<'_>) -> Kernel {
        let release = root.word("/proc/sys/kernel/osrelease");
        let modules = root.text("/proc/modules").unwrap_or_default();
        let loaded = modules.lines().any(|line| line.split(' ').next() == Some("vc4"))
            || root.exists("/sys/bus/platform/drivers/vc4-drm");
        // Nothing else of the command line is read on: it has addresses and serial numbers.
        let command_line = root.text("/proc/cmdline").unwrap_or_default();
        let cma = command_line.split_whitespace().rev().find_map(|word| word.strip_prefix("cma="));
        Kernel {
            architecture: root.word("/proc/sys/kernel/arch"),
            has_vc4: if loaded {
                Some(true)
            } else {
                release.as_ref().and_then(|release| has_vc4(root, release))
            },
            vc4_is_loaded: loaded,
            cma_argument: cma.map(str::to_owned),
            release,
        }
    }

    pub fn is_64_bit(&self) -> bool {
        self.architecture.as_deref() == Some("aarch64")
            || self
                .release
                .as_deref()
                .is_some_and(|release| release.contains("v8") || release.contains("arm64"))
    }
}

fn has_vc4(root: Root<'_>, release: &str) -> Option<bool> {
    let modules = format!("/lib/modules/{release}");
    // The index names every module that depmod saw, however it is packed.
    let lists = ["modules.dep", "modules.builtin"].map(|list| root.text(&format!("{modules}/{list}")));
    if lists.iter().all(Option::is_none) {
        return None;
    }
    Some(lists.iter().flatten().any(|list| list.contains("/vc4/vc4.ko")))
}

//! Made-up machines for tests: a healthy Raspberry Pi 3, to which each test does its harm.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::{Machine, Surroundings};

/// What must not be seen anywhere outside of the tree.
pub const SECRETS: [&str; 9] = [
    "anns-kitchen",
    "ann",
    "Ann Example",
    "00000000cafe1234",
    "b8:27:eb:ca:fe:12",
    "192.168.7.31",
    "/home/ann",
    "0123456789abcdef0123456789abcdef",
    "bob",
];

/// A machine below a directory of its own, which goes when it does.
pub struct Tree {
    root: PathBuf,
    variables: BTreeMap<&'static str, String>,
    denied: bool,
    firmware: Option<String>,
}

impl Tree {
    /// Raspberry Pi OS on a Pi 3 B+, the driver installed, on its desktop.
    pub fn pi3(name: &str) -> Tree {
        let root = std::env::temp_dir().join(format!("vc4-doctor-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        let gpu = "DRIVER=vc4-drm\nOF_NAME=gpu\nOF_FULLNAME=/soc/gpu\nOF_COMPATIBLE_0=brcm,bcm2835-vc4\nOF_COMPATIBLE_N=1\n";
        let tree = Tree {
            root,
            variables: BTreeMap::from([
                ("HOME", "/home/ann".into()),
                ("USER", "ann".into()),
                ("WAYLAND_DISPLAY", "wayland-0".into()),
                ("XDG_RUNTIME_DIR", "/run/user/1000".into()),
            ]),
            denied: false,
            firmware: Some("Apr 30 2024 13:36:41, 12af703dd07d7721c1f2f58c6f71d9fe66270838".into()),
        };
        tree.file("/proc/device-tree/model", "Raspberry Pi 3 Model B Plus Rev 1.3\0")
            .file("/proc/device-tree/compatible", "raspberrypi,3-model-b-plus\0brcm,bcm2837\0")
            .file("/proc/device-tree/serial-number", "00000000cafe1234\0")
            .file("/proc/cpuinfo", "processor\t: 0\nSerial\t\t: 00000000cafe1234\n")
            .file(
                "/proc/cmdline",
                "console=tty1 smsc95xx.macaddr=b8:27:eb:ca:fe:12 ip=192.168.7.31 root=PARTUUID=1 rootwait\n",
            )
            .file("/proc/sys/kernel/osrelease", "6.6.31+rpt-rpi-v8\n")
            .file("/proc/sys/kernel/arch", "aarch64\n")
            .file("/proc/sys/kernel/hostname", "anns-kitchen\n")
            .file("/proc/modules", "vc4 385024 7 - Live 0x0000000000000000\ncec 65536 1 vc4, Live 0x0\n")
            .file("/proc/meminfo", "MemTotal:  930000 kB\nCmaTotal:  262144 kB\nCmaFree:  200000 kB\n")
            .file("/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")
            .file("/etc/hostname", "anns-kitchen\n")
            .file("/etc/machine-id", "0123456789abcdef0123456789abcdef\n")
            .file(
                "/etc/passwd",
                "root:x:0:0:root:/root:/bin/bash\nann:x:1000:1000:Ann Example,,,:/home/ann:/bin/sh\n\
                 bob:x:1001:1001::/home/bob:/bin/sh\n",
            )
            .file("/etc/group", "root:x:0:\nrender:x:106:ann\nann:x:1000:\n")
            .file("/sys/class/net/eth0/address", "b8:27:eb:ca:fe:12\n")
            .file(
                "/boot/firmware/config.txt",
                "# For more options\n[all]\ndtoverlay=vc4-kms-v3d\n[pi4]\narm_boost=1\n",
            )
            .file("/sys/class/drm/version", "drm 1.1.0 20060810\n")
            .file("/sys/class/drm/card0-HDMI-A-1/status", "connected\n")
            .file("/sys/class/drm/card0/device/uevent", gpu)
            .file("/sys/class/drm/renderD128/device/uevent", gpu)
            .file("/dev/dri/card0", "")
            .file("/dev/dri/renderD128", "")
            .file("/usr/lib/aarch64-linux-gnu/libvulkan_vc4.so", "")
            .manifest("/usr/share/vulkan/icd.d/vc4_icd.aarch64.json", "libvulkan_vc4.so")
            .manifest("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json", "libVkLayer.so")
            .link("/usr/lib/aarch64-linux-gnu/libvulkan.so.1", "libvulkan.so.1.3.239")
    }

    pub fn file(self, path: &str, text: &str) -> Tree {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, text).expect("a file");
        self
    }

    pub fn manifest(self, path: &str, library: &str) -> Tree {
        let text = format!("{{\"ICD\": {{\"library_path\": \"{library}\", \"api_version\": \"1.2.281\"}}}}");
        self.file(path, &text)
    }

    fn link(self, path: &str, to: &str) -> Tree {
        std::os::unix::fs::symlink(to, self.at(path)).expect("a link");
        self
    }

    pub fn without(self, path: &str) -> Tree {
        let path = self.at(path);
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
            .expect("it is there");
        self
    }

    pub fn variable(mut self, name: &'static str, value: &str) -> Tree {
        self.variables.insert(name, value.into());
        self
    }

    /// Without the nodes, and with a kernel that did not load their driver.
    pub fn without_nodes(self) -> Tree {
        self.without("/sys/class/drm")
            .without("/dev/dri")
            .file("/proc/modules", "snd_bcm2835 24576 1 - Live 0x0\n")
    }

    /// Nodes may not be opened.
    pub fn denied(mut self) -> Tree {
        self.denied = true;
        self
    }

    pub fn machine(&self) -> Machine {
        Machine::collect(&Surroundings {
            root: &self.root,
            variable: &|name| self.variables.get(name).cloned(),
            open: &|path: &Path| match self.denied {
                true => Err(io::ErrorKind::PermissionDenied.into()),
                false => std::fs::File::open(path).map(drop),
            },
            firmware: &|| self.firmware.clone(),
        })
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

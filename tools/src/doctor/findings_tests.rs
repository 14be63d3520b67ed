//! Each harm done to a healthy machine has its finding, and no other.

use super::Weight::{self, Error, Note, Warning};
use super::{of_gpu, of_programs};
use crate::doctor::machine::tree::Tree;

const MODULES: &str = "/lib/modules/6.6.31+rpt-rpi-v8/modules.dep";
const CONFIG: &str = "/boot/firmware/config.txt";

/// The findings are exactly this one, and its texts have these words.
fn finds(tree: Tree, code: &str, weight: Weight, words: &[&str]) {
    let findings = of_gpu(&tree.machine());
    let [finding] = &findings[..] else { panic!("{code}: {findings:?}") };
    assert_eq!((finding.code, finding.weight), (code, weight), "{finding:?}");
    let text = format!("{} {}", finding.seen, finding.advice);
    for word in words {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_healthy_pi_has_none() {
    let machine = Tree::pi3("healthy").machine();
    assert_eq!((of_gpu(&machine), of_programs(&machine)), (vec![], vec![]));
}

#[test]
fn causes_of_a_missing_node_are_told_apart() {
    let without = |name| Tree::pi3(name).without_nodes();
    let with_module = |name| without(name).file(MODULES, "kernel/drivers/gpu/drm/vc4/vc4.ko.xz: x\n");
    finds(
        with_module("no-overlay").file(CONFIG, "[pi4]\ndtoverlay=vc4-kms-v3d\n[all]\n"),
        "overlay-missing",
        Error,
        &["dtoverlay=vc4-kms-v3d", CONFIG],
    );
    finds(
        without("no-module").file(MODULES, "kernel/drivers/gpu/drm/v3d/v3d.ko.xz: x\n"),
        "kernel-without-vc4",
        Error,
        &["6.6.31+rpt-rpi-v8 (64 bits)", "CONFIG_DRM_VC4"],
    );
    finds(with_module("not-loaded"), "vc4-not-loaded", Error, &["modprobe vc4"]);
    finds(
        Tree::pi3("no-v3d").without("/sys/class/drm/renderD128"),
        "no-render-node",
        Error,
        &["card0", "dmesg"],
    );
}

#[test]
fn a_node_that_may_not_be_opened() {
    finds(Tree::pi3("denied").denied(), "node-permissions", Error, &["/dev/dri/renderD128", "usermod -aG"]);
    finds(Tree::pi3("gone").without("/dev/dri/renderD128"), "node-unusable", Error, &["No such file"]);
}

#[test]
fn little_contiguous_memory() {
    let with = |name, total, free| {
        let text = format!("MemTotal: 930000 kB\nCmaTotal: {total} kB\nCmaFree: {free} kB\n");
        Tree::pi3(name).file("/proc/meminfo", &text)
    };
    finds(with("cma-small", 32768, 30000), "cma-small", Warning, &["32 MiB", "vc4-kms-v3d,cma-128", CONFIG]);
    finds(with("cma-none", 0, 0), "cma-small", Error, &["0 MiB"]);
    finds(with("cma-full", 65536, 5000), "cma-full", Warning, &["4 MiB of 64 MiB"]);
    let argument = with("cma-argument", 32768, 30000).file("/proc/cmdline", "cma=32M root=x\n");
    finds(argument, "cma-small", Warning, &["cma=32M", "cmdline.txt"]);
    assert_eq!(of_gpu(&with("cma-least", 65536, 30000).machine()), []);
}

#[test]
fn what_the_loader_meets() {
    let ours = "/usr/share/vulkan/icd.d/vc4_icd.aarch64.json";
    let software = Tree::pi3("order").manifest("/etc/vulkan/icd.d/lvp_icd.aarch64.json", "libvulkan_lvp.so");
    finds(
        software,
        "other-driver-first",
        Warning,
        &["lvp_icd.aarch64", "VK_DRIVER_FILES=/usr/share/vulkan/icd.d/vc4_icd.aarch64.json "],
    );
    // Drivers of hardware that is not there offer nothing, wherever they stand.
    let broadcom = Tree::pi3("v3dv").manifest("/etc/vulkan/icd.d/broadcom_icd.json", "libvulkan_broadcom.so");
    assert_eq!(of_gpu(&broadcom.machine()), []);
    finds(Tree::pi3("no-driver").without(ours), "driver-not-installed", Warning, &["apt install"]);
    let gone = Tree::pi3("no-library").manifest(ours, "/usr/lib/libvulkan_vc4.so");
    finds(gone, "driver-library-missing", Warning, &["vc4_icd.aarch64"]);
    let listed = Tree::pi3("forced").variable("VK_ICD_FILENAMES", "/usr/share/vulkan/icd.d/other.json");
    finds(listed, "driver-not-listed", Warning, &["VK_ICD_FILENAMES"]);
}

#[test]
fn nowhere_to_show_pictures() {
    let none = Tree::pi3("no-display").variable("WAYLAND_DISPLAY", "");
    finds(none, "no-display", Note, &["DISPLAY"]);
    let lost = Tree::pi3("no-runtime").variable("XDG_RUNTIME_DIR", "");
    finds(lost, "no-runtime-directory", Warning, &["/run/user"]);
}

#[test]
fn the_firmware_drives_the_display() {
    let tree = Tree::pi3("fkms").file(CONFIG, "dtoverlay=vc4-fkms-v3d\n");
    finds(tree, "firmware-kms", Warning, &["vc4-kms-v3d", CONFIG]);
}

#[test]
fn other_machines() {
    let v3d = "DRIVER=v3d\nOF_COMPATIBLE_0=brcm,2711-v3d\nOF_COMPATIBLE_N=1\n";
    let display = "DRIVER=vc4-drm\nOF_COMPATIBLE_0=brcm,bcm2711-vc5\nOF_COMPATIBLE_N=1\n";
    let four = Tree::pi3("pi4")
        .file("/proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0")
        .file("/proc/device-tree/compatible", "raspberrypi,4-model-b\0brcm,bcm2711\0")
        .file("/sys/class/drm/card0/device/uevent", display)
        .file("/sys/class/drm/renderD128/device/uevent", v3d);
    finds(four, "other-gpu", Error, &["Raspberry Pi 4", "VideoCore VI", "v3dv"]);
    let desktop = Tree::pi3("desktop").without("/proc/device-tree").without_nodes();
    finds(desktop, "no-raspberry-pi", Error, &["--device sim"]);
    // Whatever the board is called: a node of the right kind is the GPU.
    let unnamed = Tree::pi3("unnamed").without("/proc/device-tree");
    assert_eq!(of_gpu(&unnamed.machine()), []);
}

//! What is wrong with a machine, and what to do about it.

use super::machine::Machine;
use super::machine::board::Board;
use super::machine::boot::Overlay;
use super::machine::nodes::Access;

/// Less is too little for a few windows and their textures.
const LEAST_CMA: u64 = 64 << 20;
/// With less free, the first job gets none: its lists alone take 16 MiB.
const LEAST_FREE_CMA: u64 = 20 << 20;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Good to know.
    Note,
    /// Some programs will have trouble.
    Warning,
    /// The GPU cannot be used.
    Error,
}

impl Weight {
    pub fn name(self) -> &'static str {
        match self {
            Weight::Note => "note",
            Weight::Warning => "warning",
            Weight::Error => "error",
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A name for scripts; it stays.
    pub code: &'static str,
    pub weight: Weight,
    /// What was seen.
    pub seen: String,
    /// What to do.
    pub advice: String,
}

fn finding(
    code: &'static str,
    weight: Weight,
    seen: impl Into<String>,
    advice: impl Into<String>,
) -> Option<Finding> {
    Some(Finding { code, weight, seen: seen.into(), advice: advice.into() })
}

/// All findings of a machine whose GPU is meant, the heaviest first.
pub fn of_gpu(machine: &Machine) -> Vec<Finding> {
    let mut findings: Vec<Finding> = match wrong_machine(machine) {
        // Nothing that can be done to its system gives it the GPU.
        Some(wrong) => vec![wrong],
        None => [no_node(machine), access(machine), firmware_kms(machine), cma(machine)]
            .into_iter()
            .flatten()
            .chain(of_programs(machine))
            .collect(),
    };
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    findings
}

/// Findings that matter to a simulated GPU, too: how programs come to the driver and pictures to the screen.
pub fn of_programs(machine: &Machine) -> Vec<Finding> {
    [drivers(machine), order(machine), display(machine)].into_iter().flatten().collect()
}

fn wrong_machine(machine: &Machine) -> Option<Finding> {
    let seen = match &machine.board {
        _ if machine.render_node().is_some() => return None,
        Board::VideoCore4 { .. } => return None,
        Board::Newer { model, gpu } => format!("{model} has a {gpu}."),
        Board::Other(_) if machine.nodes.iter().any(|node| node.driver == "v3d") => {
            "The GPU is a VideoCore VI or VII: its driver in the kernel is v3d.".into()
        }
        Board::Other(model) => {
            let name = model.as_deref().unwrap_or("This machine");
            return finding(
                "no-raspberry-pi",
                Weight::Error,
                format!("{name} has no VideoCore IV."),
                "Run this on a Raspberry Pi Zero to 3. Here, `vc4 doctor --device sim` checks a simulated GPU.",
            );
        }
    };
    let advice = "This driver is for the VideoCore IV of Raspberry Pi Zero, 1, 2, 3 and Zero 2. Mesa's v3dv serves this \
                  board: `sudo apt install mesa-vulkan-drivers`.";
    finding("other-gpu", Weight::Error, seen, advice)
}

/// Why there is no render node; the first cause that fits.
fn no_node(machine: &Machine) -> Option<Finding> {
    if machine.render_node().is_some() {
        return None;
    }
    let kernel = &machine.kernel;
    let release = kernel.release.as_deref().unwrap_or("of unknown release");
    if kernel.has_vc4 == Some(false) {
        let bits = if kernel.is_64_bit() { " (64 bits)" } else { "" };
        return finding(
            "kernel-without-vc4",
            Weight::Error,
            format!("The kernel {release}{bits} has no vc4 module."),
            "Install the kernel of Raspberry Pi OS or Debian for this board, with its modules, and reboot. If you built the \
             kernel: CONFIG_DRM_VC4=m.",
        );
    }
    if let Some(boot) = machine.boot.as_ref().filter(|boot| boot.overlay.is_none()) {
        return finding(
            "overlay-missing",
            Weight::Error,
            format!("There is no render node, and {} does not switch the GPU on.", boot.file),
            format!("Add the line `dtoverlay=vc4-kms-v3d` below [all] in {}, and reboot.", boot.file),
        );
    }
    if !kernel.vc4_is_loaded {
        return finding(
            "vc4-not-loaded",
            Weight::Error,
            "The kernel has the vc4 module and did not load it.",
            "Run `sudo modprobe vc4`, then `sudo dmesg | grep -i vc4` for what it says.",
        );
    }
    let card = machine.nodes.iter().find(|node| node.is_vc4());
    let seen = match card {
        Some(card) => format!("{} drives the display only: the 3D block is not part of it.", card.name),
        None => "The vc4 module is loaded, and there is no node of it.".into(),
    };
    finding(
        "no-render-node",
        Weight::Error,
        seen,
        "Run `sudo dmesg | grep -iE 'vc4|v3d'`: it tells why the 3D block did not start. An old firmware is one cause: \
         `sudo apt full-upgrade`.",
    )
}

fn access(machine: &Machine) -> Option<Finding> {
    let node = machine.render_node()?;
    let path = node.path();
    match &node.access {
        Access::Granted => None,
        Access::Failed(why) => finding(
            "node-unusable",
            Weight::Error,
            format!("{path} cannot be opened: {why}."),
            "Run `ls -l /dev/dri`. In a container, pass the node in (`--device /dev/dri`).",
        ),
        Access::Denied => {
            let owner = node.group.map_or("another group".into(), |group| format!("the group `{group}`"));
            let group = node.group.filter(|group| *group != "root").unwrap_or("render");
            finding(
                "node-permissions",
                Weight::Error,
                format!("{path} belongs to {owner}, and you may not open it."),
                format!("Run `sudo usermod -aG {group} $USER`, then log out and in again."),
            )
        }
    }
}

fn firmware_kms(machine: &Machine) -> Option<Finding> {
    let boot = machine.boot.as_ref().filter(|boot| boot.overlay == Some(Overlay::FirmwareKms))?;
    finding(
        "firmware-kms",
        Weight::Warning,
        format!("{} has dtoverlay=vc4-fkms-v3d: the firmware drives the display.", boot.file),
        "Write `dtoverlay=vc4-kms-v3d` instead, and reboot. Newer systems no longer have the other.",
    )
}

fn cma(machine: &Machine) -> Option<Finding> {
    let on_a_pi = matches!(machine.board, Board::VideoCore4 { .. });
    let total = machine.cma_total.or(on_a_pi.then_some(0)).filter(|_| on_a_pi)?;
    let advice = match (&machine.kernel.cma_argument, machine.boot.as_ref()) {
        (Some(argument), _) => {
            format!("Remove `cma={argument}` from cmdline.txt, or make it `cma=128M`, and reboot.")
        }
        (None, Some(boot)) => format!("Write `dtoverlay=vc4-kms-v3d,cma-128` in {}, and reboot.", boot.file),
        (None, None) => "Add `cma=128M` to the kernel's command line, and reboot.".into(),
    };
    if total < LEAST_CMA {
        let weight = if total == 0 { Weight::Error } else { Weight::Warning };
        let seen =
            format!("{} of contiguous memory (CMA); all of the GPU's memory is of it.", mebibytes(total));
        return finding("cma-small", weight, seen, advice);
    }
    let free = machine.cma_free.filter(|free| *free < LEAST_FREE_CMA)?;
    let seen = format!("{} of {} contiguous memory (CMA) are free.", mebibytes(free), mebibytes(total));
    finding("cma-full", Weight::Warning, seen, format!("Close programs that draw. For more of it: {advice}"))
}

fn drivers(machine: &Machine) -> Option<Finding> {
    let loader = &machine.loader;
    let Some(ours) = loader.drivers.iter().find(|driver| driver.is_ours()) else {
        return match loader.forced_by {
            Some(variable) => finding(
                "driver-not-listed",
                Weight::Warning,
                format!("{variable} names no manifest of this driver, so programs do not get it."),
                format!("Unset {variable}, or put this driver's manifest in its list."),
            ),
            None => finding(
                "driver-not-installed",
                Weight::Warning,
                "The Vulkan loader finds no manifest of this driver.",
                "Install the package: `sudo apt install ./vulkan-vc4_*.deb`.",
            ),
        };
    };
    if ours.library_is_there == Some(false) {
        return finding(
            "driver-library-missing",
            Weight::Warning,
            format!("The manifest {} names a library that is not there.", ours.name),
            "Install the package again: `sudo apt install --reinstall ./vulkan-vc4_*.deb`.",
        );
    }
    None
}

/// A driver of the CPU's in front of ours: programs that take the first device are slow.
fn order(machine: &Machine) -> Option<Finding> {
    let drivers = &machine.loader.drivers;
    let ours = drivers.iter().position(|driver| driver.is_ours())?;
    let first = drivers[..ours].iter().find(|driver| driver.is_software())?;
    finding(
        "other-driver-first",
        Weight::Warning,
        format!(
            "The loader meets {} before this driver; programs that take the first device draw on the CPU.",
            first.name
        ),
        format!(
            "For such programs: `VK_DRIVER_FILES={} PROGRAM` (older loaders: VK_ICD_FILENAMES).",
            drivers[ours].file
        ),
    )
}

fn display(machine: &Machine) -> Option<Finding> {
    let session = machine.session;
    if session.wayland && !session.runtime_directory {
        return finding(
            "no-runtime-directory",
            Weight::Warning,
            "WAYLAND_DISPLAY is set, and XDG_RUNTIME_DIR is not: programs do not find the compositor.",
            "Run `export XDG_RUNTIME_DIR=/run/user/$(id -u)`.",
        );
    }
    if session.wayland || session.x11 {
        return None;
    }
    finding(
        "no-display",
        Weight::Note,
        "This session has no display server: programs that open windows do not start here.",
        "Run them on the desktop. From SSH, to a desktop of yours: `export DISPLAY=:0` or WAYLAND_DISPLAY=wayland-0.",
    )
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;

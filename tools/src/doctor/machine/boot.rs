//! What the firmware's `config.txt` asks for.

use super::board::Board;
use super::root::Root;

/// Newer systems first; the other's file only points to it then.
const FILES: [&str; 2] = ["/boot/firmware/config.txt", "/boot/config.txt"];

/// The overlay of the display and the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// `vc4-kms-v3d`: the kernel drives both.
    Kms,
    /// `vc4-fkms-v3d`: the firmware drives the display.
    FirmwareKms,
}

impl Overlay {
    pub fn name(self) -> &'static str {
        match self {
            Overlay::Kms => "vc4-kms-v3d",
            Overlay::FirmwareKms => "vc4-fkms-v3d",
        }
    }
}

/// The lines that matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boot {
    /// The file.
    pub file: &'static str,
    pub overlay: Option<Overlay>,
    /// The overlay's `cma-…` parameter.
    pub cma: Option<String>,
}

impl Boot {
    /// Reads the first `config.txt` that is there.
    pub fn collect(root: Root<'_>, board: &Board) -> Option<Boot> {
        FILES.into_iter().find_map(|file| Some(Boot::parse(file, &root.text(file)?, board)))
    }

    fn parse(file: &'static str, text: &str, board: &Board) -> Boot {
        let mut boot = Boot { file, overlay: None, cma: None };
        let mut applies = true;
        for line in text.lines().map(str::trim) {
            if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                applies = board.is_meant_by(section);
            }
            let Some(value) = line.strip_prefix("dtoverlay=").filter(|_| applies) else { continue };
            let mut parts = value.split(',').map(str::trim);
            // `-pi4` variants are for other boards.
            let overlay = match parts.next() {
                Some("vc4-kms-v3d") => Overlay::Kms,
                Some("vc4-fkms-v3d") => Overlay::FirmwareKms,
                _ => continue,
            };
            boot.overlay = Some(overlay);
            boot.cma = parts.find(|part| part.starts_with("cma-")).map(str::to_owned);
        }
        boot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_other_boards_do_not_count() {
        let three = Board::VideoCore4 { model: "Raspberry Pi 3 Model B Plus Rev 1.3".into() };
        let parse = |text| Boot::parse("config.txt", text, &three);
        let lines = parse(
            "# dtoverlay=vc4-fkms-v3d\n[pi4]\ndtoverlay=vc4-fkms-v3d\n[all]\ndtoverlay=vc4-kms-v3d,cma-256\n",
        );
        assert_eq!((lines.overlay, lines.cma.as_deref()), (Some(Overlay::Kms), Some("cma-256")));
        assert_eq!(parse("[pi3]\ndtoverlay=vc4-fkms-v3d\n").overlay, Some(Overlay::FirmwareKms));
        assert_eq!(parse("[none]\ndtoverlay=vc4-kms-v3d\n").overlay, None);
        assert_eq!(parse("dtoverlay=vc4-kms-v3d-pi4\n").overlay, None);
    }
}

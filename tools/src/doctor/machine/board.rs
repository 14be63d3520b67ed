//! Which board this is.

use super::root::Root;

const TREE: &str = "/proc/device-tree";

/// The board, as far as its GPU goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Board {
    /// A Raspberry Pi with the GPU that the driver is for.
    VideoCore4 {
        /// What the board calls itself.
        model: String,
    },
    /// A Raspberry Pi with another GPU.
    Newer {
        /// What the board calls itself.
        model: String,
        /// Its GPU.
        gpu: &'static str,
    },
    /// Something else; its model, if the firmware tells.
    Other(Option<String>),
}

impl Board {
    pub fn collect(root: Root<'_>) -> Board {
        let model = root.word(&format!("{TREE}/model"));
        let compatible = root.text(&format!("{TREE}/compatible")).unwrap_or_default();
        let chip = compatible.split('\0').find_map(|name| name.trim().strip_prefix("brcm,bcm"));
        match (model, chip) {
            (Some(model), Some("2835" | "2836" | "2837")) => Board::VideoCore4 { model },
            (Some(model), Some("2711")) => Board::Newer { model, gpu: "VideoCore VI" },
            (Some(model), Some("2712")) => Board::Newer { model, gpu: "VideoCore VII" },
            (model, _) => Board::Other(model),
        }
    }

    pub fn model(&self) -> Option<&str> {
        match self {
            Board::VideoCore4 { model } | Board::Newer { model, .. } => Some(model),
            Board::Other(model) => model.as_deref(),
        }
    }

    /// Whether a section of `config.txt` is for this board. Sections that ask for anything but a model may be.
    pub fn is_meant_by(&self, section: &str) -> bool {
        let model = self.model().unwrap_or_default();
        let has = |part: &str| model.contains(part);
        match section {
            "none" | "tryboot" => false,
            "pi0" => has("Pi Zero"),
            "pi0w" => has("Pi Zero W"),
            "pi02" => has("Pi Zero 2"),
            "pi1" => has("Pi Model") || has("Compute Module Rev"),
            "pi2" => has("Pi 2"),
            "pi3" => has("Pi 3") || has("Compute Module 3"),
            "pi3+" => has("Pi 3") && has("Plus"),
            "pi4" => has("Pi 4") || has("Compute Module 4"),
            "pi5" => has("Pi 5") || has("Compute Module 5"),
            "cm4" | "cm4s" => has("Compute Module 4"),
            "cm5" => has("Compute Module 5"),
            _ => !section.starts_with("pi4") && !section.starts_with("pi5"),
        }
    }
}

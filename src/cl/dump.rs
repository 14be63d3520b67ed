//! Control lists as text, one packet per line, and back to the same bytes.
//!
//! ```text
//! 0000  START_TILE_BINNING
//! 0001  PRIMITIVE_LIST_FORMAT primitive=triangles indexing=indices16
//! ```

use std::fmt::Write as _;

use super::list::Reader;
use super::packets::AnyPacket;

/// The list as text: offset, name, fields. What cannot be read ends the text with the reason and the bytes left.
pub fn dump(bytes: &[u8]) -> String {
    let mut out = String::new();
    for item in Reader::new(bytes) {
        match item {
            Ok(item) => {
                let _ = writeln!(out, "{:04x}  {}", item.offset, item.packet);
            }
            Err(error) => {
                let _ = write!(out, "{:04x}  # {}:", error.offset, error.error);
                for byte in bytes.get(error.offset..).unwrap_or_default().iter().take(16) {
                    let _ = write!(out, " {byte:02x}");
                }
                out.push('\n');
            }
        }
    }
    out
}

/// Why text is no list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// No packet has this name.
    #[error("line {line}: no packet is called {name}")]
    UnknownPacket {
        /// Line, from 1.
        line: usize,
        /// The word.
        name: String,
    },
    /// A field is not of this packet, or its value is none.
    #[error("line {line}: {packet} does not take {field}")]
    BadField {
        /// Line, from 1.
        line: usize,
        /// Name of the packet.
        packet: &'static str,
        /// The word.
        field: String,
    },
}

/// The bytes of a dump. Offsets are ignored, `#` begins a comment, fields left out have their defaults.
pub fn parse(text: &str) -> Result<Vec<u8>, ParseError> {
    let mut out = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let code = line.split('#').next().unwrap_or_default();
        let mut words = code.split_whitespace().peekable();
        // No packet's name is a hexadecimal number.
        words.next_if(|word| u32::from_str_radix(word, 16).is_ok());
        let Some(name) = words.next() else { continue };
        let mut packet = AnyPacket::from_name(name)
            .ok_or_else(|| ParseError::UnknownPacket { line: line_number, name: name.to_owned() })?;
        for word in words {
            let bad =
                || ParseError::BadField { line: line_number, packet: packet.name(), field: word.to_owned() };
            let (field, value) = word.split_once('=').ok_or_else(bad)?;
            let error = bad();
            if !packet.set_field(field, value) {
                return Err(error);
            }
        }
        packet.write(&mut out);
    }
    Ok(out)
}

//! What must hold for any control list, as bytes or as text, that a stranger hands to the core. Fuzz targets and property
//! tests call these.

use vc4::cl::{Reader, dump};

/// Any bytes are a list or are refused at a place inside; a list survives its text.
pub fn cl(bytes: &[u8]) {
    for reader in [Reader::binner(bytes), Reader::renderer(bytes)] {
        reader.for_each(|item| match item {
            Ok(item) => assert!(item.offset + item.packet.size() <= bytes.len()),
            Err(error) => assert!(error.offset < bytes.len()),
        });
    }
    let text = dump::dump(bytes);
    if Reader::new(bytes).all(|item| item.is_ok()) {
        assert_eq!(dump::parse(&text).as_deref(), Ok(bytes), "{text}");
    }
    // Text of any kind is answered, too.
    let _ = dump::parse(&String::from_utf8_lossy(bytes));
}

//! Names that applications give objects (VK_EXT_debug_utils), for what the driver says of them.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of an object, if it has one.
#[derive(Default)]
pub struct Name(Mutex<Option<Arc<str>>>);

impl Name {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<str>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names the object; the empty name takes one away.
    pub fn set(&self, name: &str) {
        *self.lock() = (!name.is_empty()).then(|| name.into());
    }

    /// The name.
    pub fn get(&self) -> Option<Arc<str>> {
        self.lock().clone()
    }
}

/// What stands behind the kind of an object: ` "name"`, or nothing.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whatever an application writes into its names, a message stays one line.
        self.get().map_or(Ok(()), |name| write!(f, " {name:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_and_can_go() {
        let name = Name::default();
        assert_eq!(format!("image{name}"), "image");
        name.set("sky\nbox");
        assert_eq!(format!("image{name}"), r#"image "sky\nbox""#);
        name.set("");
        assert_eq!((format!("image{name}"), name.get()), ("image".into(), None));
    }
}

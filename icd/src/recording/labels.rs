//! Labels of command buffers and queues (VK_EXT_debug_utils): where in the application's frame something is.

use std::sync::Arc;

/// What stands between the labels of a path.
const SEPARATOR: &str = " / ";

/// Labels that are open, one inside of the other.
#[derive(Default)]
pub struct Labels {
    open: Vec<Box<str>>,
    /// A label of its own for what follows, until another begins or ends.
    inserted: Option<Box<str>>,
    path: Option<Arc<str>>,
}

impl Labels {
    /// Opens a region.
    pub fn begin(&mut self, label: &str) {
        self.inserted = None;
        self.open.push(label.into());
        self.note();
    }

    /// Closes the region that was opened last, if one is open: it may be another command buffer's.
    pub fn end(&mut self) {
        self.inserted = None;
        self.open.pop();
        self.note();
    }

    /// Marks a place.
    pub fn insert(&mut self, label: &str) {
        self.inserted = Some(label.into());
        self.note();
    }

    fn note(&mut self) {
        let labels: Vec<&str> = self.open.iter().chain(&self.inserted).map(AsRef::as_ref).collect();
        self.path = (!labels.is_empty()).then(|| labels.join(SEPARATOR).into());
    }

    /// All of them as one line, the outermost first; `None` if there are none.
    pub fn path(&self) -> Option<&Arc<str>> {
        self.path.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_lie_in_one_another_and_marks_last_until_the_next() {
        let mut labels = Labels::default();
        let path = |labels: &Labels| labels.path().map(ToString::to_string);
        labels.end();
        assert_eq!(path(&labels), None);
        labels.begin("frame");
        labels.insert("mark");
        assert_eq!(path(&labels).as_deref(), Some("frame / mark"));
        labels.begin("sky");
        assert_eq!(path(&labels).as_deref(), Some("frame / sky"));
        labels.end();
        assert_eq!(path(&labels).as_deref(), Some("frame"));
        labels.end();
        assert_eq!(path(&labels), None);
    }
}

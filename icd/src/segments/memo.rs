//! What execution keeps beside a segment. Segments know nothing of jobs, so it is of any type.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

/// Something that is kept from one submission of a segment to the next, and ends with it.
#[derive(Default)]
pub struct Memo(Mutex<Option<Box<dyn Any + Send>>>);

impl Memo {
    /// Hands out what was kept, new at the first time.
    pub fn with<T: Default + Send + 'static, R>(&self, run: impl FnOnce(&mut T) -> R) -> R {
        let mut memo = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept: Box<T> = memo.take().and_then(|kept| kept.downcast().ok()).unwrap_or_default();
        let result = run(&mut kept);
        *memo = Some(kept);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_comes_back() {
        let memo = Memo::default();
        assert_eq!(memo.with(|kept: &mut u32| std::mem::replace(kept, 7)), 0);
        assert_eq!(memo.with(|kept: &mut u32| *kept), 7);
        assert_eq!(memo.with(|kept: &mut String| kept.len()), 0);
    }
}

//! What higher floors keep for as long as an object of a lower one lives, which does not know it: one of each type.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// Things by their type.
#[derive(Default)]
pub struct Shelf {
    things: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

impl Shelf {
    /// The thing of a type, made when it is first asked for.
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut things = self.things.lock().unwrap_or_else(PoisonError::into_inner);
        let known = things.iter().find_map(|thing| thing.clone().downcast::<T>().ok());
        known.unwrap_or_else(|| {
            let thing = Arc::<T>::default();
            things.push(thing.clone());
            thing
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn there_is_one_of_each_type() {
        let shelf = Shelf::default();
        shelf.get::<AtomicU32>().store(7, Ordering::Relaxed);
        shelf.get::<Mutex<String>>();
        assert_eq!(shelf.get::<AtomicU32>().load(Ordering::Relaxed), 7);
        assert!(Arc::ptr_eq(&shelf.get::<Mutex<String>>(), &shelf.get::<Mutex<String>>()));
    }
}

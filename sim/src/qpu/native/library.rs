//! Compiled programs by their text: a job decodes its programs anew, and most jobs have those of the one before.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use vc4::qpu::Inst;

use super::code::Native;
use super::known::Floats;
use crate::qpu::op::Op;

/// Instances that are interpreted before a program is compiled. Compiling it costs about as much as running a few thousand.
const INTERPRETED: u32 = 1500;

/// Runs that the interpreter repeats because of infinities before a program is taken to have them.
const REPEATED: u32 = 500;

/// Programs that are remembered. Those that no job holds go first.
const REMEMBERED: usize = 2048;

/// The code of all programs with the same text at the same place.
#[derive(Debug, Default)]
pub(in crate::qpu) struct Compiled {
    /// Instances that the interpreter ran.
    interpreted: AtomicU32,
    /// Some thread compiles.
    busy: AtomicBool,
    /// For finite floats; `None` inside if there is no code for it.
    quick: OnceLock<Option<Native>>,
    /// For all floats.
    exact: OnceLock<Option<Native>>,
}

type Text = (u32, Box<[u64]>);

static LIBRARY: LazyLock<Mutex<HashMap<Text, Arc<Compiled>>>> = LazyLock::new(Mutex::default);

impl Compiled {
    /// What is known of programs with this text.
    pub fn find(insts: &[Inst], address: u32) -> Arc<Compiled> {
        // Only branches know where they are.
        let placed = insts.iter().any(|inst| matches!(inst, Inst::Branch(_)));
        let text = (if placed { address } else { 0 }, insts.iter().map(Inst::encode).collect());
        let mut library = LIBRARY.lock().unwrap_or_else(PoisonError::into_inner);
        if library.len() >= REMEMBERED && !library.contains_key(&text) {
            library.retain(|_, compiled| Arc::strong_count(compiled) > 1);
        }
        library.entry(text).or_default().clone()
    }

    /// The program's code, once it has run often enough to be worth some, or `at_once`.
    pub fn native(&self, ops: &[Op], address: u32, at_once: bool) -> Option<&Native> {
        if at_once {
            return self.quick.get_or_init(|| Native::new(ops, address, Floats::Finite)).as_ref();
        }
        let Some(quick) = self.quick.get() else {
            if self.interpreted.fetch_add(1, Relaxed) < INTERPRETED {
                return None;
            }
            return self.compiled(&self.quick, ops, address, Floats::Finite);
        };
        let quick = quick.as_ref()?;
        if quick.repeated.load(Relaxed) < REPEATED {
            return Some(quick);
        }
        match self.exact.get() {
            Some(exact) => exact.as_ref(),
            None => self.compiled(&self.exact, ops, address, Floats::All).or(Some(quick)),
        }
    }

    /// Compiles unless another thread does: then this one has something to run meanwhile.
    fn compiled<'a>(
        &self,
        place: &'a OnceLock<Option<Native>>,
        ops: &[Op],
        address: u32,
        floats: Floats,
    ) -> Option<&'a Native> {
        if self.busy.swap(true, Relaxed) {
            return None;
        }
        let native = place.get_or_init(|| Native::new(ops, address, floats)).as_ref();
        self.busy.store(false, Relaxed);
        native
    }
}

//! The guard that every call passes, and the macro that puts commands behind it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::handle::{NullHandle, WrongHandle};

/// Declares entry points. The body runs inside the guard and yields `Result<(), Error>` or
/// `Result<vk::Result, Error>` for commands that return a `VkResult`, `()` for the others.
macro_rules! entry_points {
    () => {};
    (fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> vk::Result $body:block $($rest:tt)*) => {
        #[allow(non_snake_case, reason = "the API's own name")]
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        #[allow(unused_unsafe, reason = "some commands only refuse")]
        pub(crate) unsafe extern "system" fn $name($($arg: $ty),*) -> ash::vk::Result {
            // SAFETY: the caller keeps the specification's valid usage: handles are live and of their
            // type, pointers lead to as many valid elements as their counts say.
            $crate::entry::guard::guard(stringify!($name), move || unsafe { $body })
        }
        $crate::entry::guard::entry_points!($($rest)*);
    };
    (fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        #[allow(non_snake_case, reason = "the API's own name")]
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        #[allow(unused_unsafe, reason = "some commands only refuse")]
        pub(crate) unsafe extern "system" fn $name($($arg: $ty),*) {
            // SAFETY: as for commands with a result.
            $crate::entry::guard::guard_void(stringify!($name), move || unsafe { $body })
        }
        $crate::entry::guard::entry_points!($($rest)*);
    };
}
pub(crate) use entry_points;

/// What a command's body may yield as success.
pub(crate) trait Success {
    /// The code that the application sees.
    fn code(self) -> vk::Result;
}

impl Success for () {
    fn code(self) -> vk::Result {
        vk::Result::SUCCESS
    }
}

impl Success for vk::Result {
    fn code(self) -> vk::Result {
        self
    }
}

/// The error that a caught panic stands for.
fn caught(payload: &(dyn Any + Send)) -> Error {
    if let Some(NullHandle(kind)) = payload.downcast_ref() {
        return Error::InvalidUse(format!("a null handle of type {kind:?}"));
    }
    if let Some(WrongHandle { wanted, found }) = payload.downcast_ref() {
        return Error::InvalidUse(match *found {
            vk::ObjectType::UNKNOWN => format!("a handle of type {wanted:?} whose object has ended"),
            found => format!("a handle of type {wanted:?} that leads to something else ({found:?})"),
        });
    }
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Error::Panic(text.unwrap_or_else(|| "no message".into()))
}

/// Runs the body of a command with a result. Unwinding must not cross `extern "system"`.
pub(crate) fn guard<S: Success>(name: &'static str, body: impl FnOnce() -> Result<S, Error>) -> vk::Result {
    let outcome = catch_unwind(AssertUnwindSafe(body));
    match outcome.unwrap_or_else(|payload| Err(caught(&*payload))) {
        Ok(success) => success.code(),
        Err(error) => {
            error.report(name);
            error.result()
        }
    }
}

/// Runs the body of a command without a result.
pub(crate) fn guard_void(name: &'static str, body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        caught(&*payload).report(name);
    }
}

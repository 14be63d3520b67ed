//! Where messages go: to stderr, and to messengers of applications (VK_EXT_debug_utils).
//!
//! A message does not know the instance that it is about, so all messengers of the process get it; those that applications
//! submit themselves go to the messengers of their instance.

use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use ash::vk::{self, Handle};

use crate::foundation::handle::Object;

/// Severities of messages.
pub type Severity = vk::DebugUtilsMessageSeverityFlagsEXT;
/// Types of messages.
pub type Kind = vk::DebugUtilsMessageTypeFlagsEXT;

/// What an application wants to hear, and how.
#[derive(Clone, Copy)]
pub struct Listener {
    /// What it asked for.
    severities: Severity,
    kinds: Kind,
    callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    user_data: *mut c_void,
}

// SAFETY: the specification lets any thread call the callback, several at a time, and makes the application responsible for
// whatever its data leads to.
unsafe impl Send for Listener {}
// SAFETY: as above.
unsafe impl Sync for Listener {}

impl Listener {
    /// What a structure of the application asks for.
    pub fn new(info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>) -> Listener {
        Listener {
            severities: info.message_severity,
            kinds: info.message_type,
            callback: info.pfn_user_callback,
            user_data: info.p_user_data,
        }
    }
}

/// A listener in the list.
struct Entry {
    number: u64,
    /// The instance that it belongs to.
    instance: usize,
    listener: Listener,
}

static LISTENERS: RwLock<Vec<Entry>> = RwLock::new(Vec::new());
/// Severities that anybody listens to, and kinds [`KINDS_SHIFT`] further up: what tells of slow ways asks before it builds a text.
static WANTED: AtomicU32 = AtomicU32::new(0);
/// Above all severities.
const KINDS_SHIFT: u32 = 16;

thread_local! {
    /// Whether this thread is inside of a callback, which must not call commands; whatever it does, it hears nothing of it.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// VkDebugUtilsMessengerEXT: listens from its creation to its end.
pub struct Messenger(u64);

impl Object for Messenger {
    type Handle = vk::DebugUtilsMessengerEXT;
    const SCOPE: vk::SystemAllocationScope = vk::SystemAllocationScope::INSTANCE;
}

impl Messenger {
    /// A listener that belongs to an instance, by its handle.
    pub fn new(instance: vk::Instance, listener: Listener) -> Messenger {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = u64::from(NUMBER.fetch_add(1, Ordering::Relaxed));
        change(|all| all.push(Entry { number, instance: instance.as_raw() as usize, listener }));
        Messenger(number)
    }
}

impl Drop for Messenger {
    /// Waits for callbacks that are under way.
    fn drop(&mut self) {
        change(|all| all.retain(|entry| entry.number != self.0));
    }
}

fn change(change: impl FnOnce(&mut Vec<Entry>)) {
    let mut all = LISTENERS.write().unwrap_or_else(PoisonError::into_inner);
    change(&mut all);
    let wanted =
        |entry: &Entry| entry.listener.severities.as_raw() | entry.listener.kinds.as_raw() << KINDS_SHIFT;
    WANTED.store(all.iter().map(wanted).fold(0, |a, b| a | b), Ordering::Relaxed);
    follow(severity_wanted());
}

/// Messengers of an instance that ends hear nothing any more, whether they have been destroyed or not.
pub fn end(instance: vk::Instance) {
    change(|all| all.retain(|entry| entry.instance != instance.as_raw() as usize));
}

/// All severities that anybody listens to.
fn severity_wanted() -> Severity {
    Severity::from_raw(WANTED.load(Ordering::Relaxed) & ((1 << KINDS_SHIFT) - 1))
}

/// Whether anybody may listen to such messages.
#[inline]
pub fn is_wanted(severity: Severity, kind: Kind) -> bool {
    let asked = severity.as_raw() | kind.as_raw() << KINDS_SHIFT;
    WANTED.load(Ordering::Relaxed) & asked == asked
}

/// Tells whoever listens. `id` names the part of the driver.
pub fn send(severity: Severity, kind: Kind, id: &str, text: &str) {
    if is_wanted(severity, kind) {
        send_to(None, severity, kind, id, text);
    }
}

/// Tells those of an instance, or all.
pub fn send_to(instance: Option<vk::Instance>, severity: Severity, kind: Kind, id: &str, text: &str) {
    let [id, text] = [id, text].map(|text| CString::new(text.replace('\0', " ")).unwrap_or_default());
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default().message_id_name(&id).message(&text);
    deliver(instance, severity, kind, &data);
}

/// As [`send_to`], with all that the API says of a message.
pub fn deliver(
    instance: Option<vk::Instance>,
    severity: Severity,
    kind: Kind,
    data: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
) {
    if INSIDE.get() {
        return;
    }
    INSIDE.set(true);
    let all = LISTENERS.read().unwrap_or_else(PoisonError::into_inner);
    for Entry { instance: of, listener, .. } in all.iter() {
        let is_meant = instance.is_none_or(|instance| instance.as_raw() as usize == *of);
        let Some(callback) = listener.callback.filter(|_| is_meant) else { continue };
        if listener.severities.intersects(severity) && listener.kinds.intersects(kind) {
            // SAFETY: a messenger that is in the list is live, and so are its callback and its data. What the callback
            // returns is for layers.
            let _ = unsafe { callback(severity, kind, data, listener.user_data) };
        }
    }
    drop(all);
    INSIDE.set(false);
}

/// Has all lines of the log go to `stderr`, and to messengers. A logger that is already there stays.
pub fn start(stderr: env_logger::Logger) {
    let level = stderr.filter();
    if log::set_boxed_logger(Box::new(Logger(stderr))).is_ok() {
        log::set_max_level(level);
        let _ = LEVEL.set(level);
    }
}

/// The level of what stderr gets, if the logger is the driver's.
static LEVEL: OnceLock<log::LevelFilter> = OnceLock::new();

/// Says everything that stderr or messengers of the application want to hear.
fn follow(wanted: Severity) {
    let Some(&level) = LEVEL.get() else { return };
    let levels = [log::Level::Error, log::Level::Warn, log::Level::Info, log::Level::Debug];
    let most = levels.into_iter().rfind(|level| wanted.contains(severity(*level)));
    log::set_max_level(most.map_or(level, |most| level.max(most.to_level_filter())));
}

/// How the API calls a level.
fn severity(level: log::Level) -> Severity {
    match level {
        log::Level::Error => Severity::ERROR,
        log::Level::Warn => Severity::WARNING,
        log::Level::Info => Severity::INFO,
        log::Level::Debug | log::Level::Trace => Severity::VERBOSE,
    }
}

/// Lines go to stderr, and to messengers.
struct Logger(env_logger::Logger);

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        self.0.enabled(metadata) || is_wanted(severity(metadata.level()), Kind::GENERAL)
    }

    fn log(&self, record: &log::Record<'_>) {
        // It asks its filter itself.
        self.0.log(record);
        let severity = severity(record.level());
        if is_wanted(severity, Kind::GENERAL) {
            send(severity, Kind::GENERAL, record.target(), &record.args().to_string());
        }
    }

    fn flush(&self) {
        self.0.flush();
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::sync::Mutex;

    use super::*;

    /// Keeps what it hears, and talks itself.
    unsafe extern "system" fn keep(
        severity: Severity,
        _: Kind,
        data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
        user_data: *mut c_void,
    ) -> vk::Bool32 {
        // SAFETY: the test passes both.
        let (data, heard) = unsafe { (&*data, &*user_data.cast::<Mutex<Vec<(Severity, String)>>>()) };
        // SAFETY: the driver's strings are terminated.
        let text = unsafe { CStr::from_ptr(data.p_message) }.to_string_lossy().into_owned();
        heard.lock().unwrap().push((severity, text));
        send(Severity::ERROR, Kind::VALIDATION, "test", "heard");
        vk::FALSE
    }

    #[test]
    fn listeners_hear_what_they_ask_for_and_not_themselves() {
        let heard: [Mutex<Vec<(Severity, String)>>; 2] = Default::default();
        let listen = |n: usize, severities| {
            let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                .message_severity(severities)
                // Of a type that nothing else in this process sends.
                .message_type(Kind::VALIDATION)
                .pfn_user_callback(Some(keep))
                .user_data((&raw const heard[n]).cast_mut().cast());
            Messenger::new(vk::Instance::from_raw(n as u64 + 1), Listener::new(&info))
        };
        let all = listen(0, Severity::ERROR | Severity::INFO);
        let errors = listen(1, Severity::ERROR);
        send(Severity::INFO, Kind::VALIDATION, "test", "a");
        send(Severity::WARNING, Kind::VALIDATION, "test", "b");
        send(Severity::ERROR, Kind::VALIDATION, "test", "c\0d");
        drop(errors);
        send(Severity::ERROR, Kind::VALIDATION, "test", "e");
        let text = c"f";
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default().message(text);
        for instance in [1, 2] {
            deliver(Some(vk::Instance::from_raw(instance)), Severity::ERROR, Kind::VALIDATION, &data);
        }
        drop(all);
        let forgotten = listen(0, Severity::ERROR);
        end(vk::Instance::from_raw(1));
        send(Severity::ERROR, Kind::VALIDATION, "test", "g");
        drop(forgotten);
        let texts = |n: usize| -> Vec<String> {
            heard[n].lock().unwrap().iter().map(|(_, text)| text.clone()).collect()
        };
        assert_eq!(texts(0), ["a", "c d", "e", "f"]);
        assert_eq!(texts(1), ["c d"]);
    }
}

//! What threads share: the standard library's locks, atomics and channels. With the feature `model` they are shuttle's, which
//! runs the threads of a test one at a time, in many orders; so everything that one thread waits for another by comes
//! from here.

#[cfg(feature = "model")]
pub use shuttle::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    sync::{Condvar, Mutex, MutexGuard},
    thread::{Builder, JoinHandle, yield_now},
};
#[cfg(not(feature = "model"))]
pub use std::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    sync::{Condvar, Mutex, MutexGuard},
    thread::{Builder, JoinHandle, yield_now},
};

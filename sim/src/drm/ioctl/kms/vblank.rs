//! Time of the display: vertical blanks by the clock, and the thread that makes pending commits visible and sends
//! events when their time has come.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytemuck::bytes_of;
use nix::errno::Errno;
use vc4_kernel_abi::Seqno;

use crate::drm::device::Device;
use crate::drm::file::File;
use crate::drm::kms::display::{Pending, State, Told};
use crate::drm::kms::objects::CRTC;
use crate::drm::node::Answer;
use crate::drm::process::Process;
use crate::drm::time::monotonic_ns;
use crate::drm::uapi::{GetSequence, QueueSequence, SequenceEvent, VblankEvent, WaitVblank, WaitVblank32};

/// How often the thread looks whether the device is still there, and a waiter whether its process is.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// `kind` of events.
const VBLANK: u32 = 1;
const FLIP_COMPLETE: u32 = 2;
const SEQUENCE: u32 = 3;
/// `kind` of WAIT_VBLANK.
const RELATIVE: u32 = 1;
const HIGH_CRTC: u32 = 0x3e;
const WITH_EVENT: u32 = 0x0400_0000;
const NEXT_ON_MISS: u32 = 0x1000_0000;
const SECONDARY: u32 = 0x2000_0000;
/// `flags` of CRTC_QUEUE_SEQUENCE.
const QUEUE_RELATIVE: u32 = 1;
const QUEUE_NEXT_ON_MISS: u32 = 2;

fn send(told: &Told, sequence: u64, time_ns: u64) {
    let Some(events) = told.events.as_ref().and_then(Weak::upgrade) else { return };
    let sent = if told.kind == SEQUENCE {
        events(bytes_of(&SequenceEvent {
            kind: SEQUENCE,
            length: size_of::<SequenceEvent>() as u32,
            user_data: told.user_data,
            time_ns: time_ns as i64,
            sequence,
        }))
    } else {
        events(bytes_of(&VblankEvent {
            kind: told.kind,
            length: size_of::<VblankEvent>() as u32,
            user_data: told.user_data,
            seconds: (time_ns / 1_000_000_000) as u32,
            microseconds: (time_ns % 1_000_000_000 / 1000) as u32,
            sequence: sequence as u32,
            crtc_id: CRTC,
        }))
    };
    if !sent {
        log::warn!(target: "vc4::kms", "an event is lost: its file is not read");
    }
}

/// The display's thread, as long as the device is there.
fn run(device: &Weak<Device>) {
    while let Some(device) = device.upgrade() {
        let display = device.display.clone();
        let mut state = display.state();
        let finished = device.simulator.finished();
        let now = monotonic_ns();
        let is_due = |state: &State, pending: &Pending| {
            finished.has(pending.after) && state.clock.time_of(pending.due) <= now
        };
        if let Some(first) = state.pending.iter().position(|pending| is_due(&state, pending)) {
            let pending = state.pending.remove(first);
            // What waited for its job appears at the blank after that.
            let sequence = state.clock.sequence();
            let time = state.clock.time_of(sequence);
            let changed = pending.redraw || pending.scene.is_some();
            if let Some(scene) = pending.scene {
                state.setting_mode = state.sets_mode();
                state.flipping = false;
                state.shown = scene;
            }
            let shown = changed.then(|| state.shown.clone());
            drop(state);
            if let Some(scene) = shown {
                display.present(&scene);
            }
            if let Some(told) = &pending.told {
                send(told, sequence, time);
            }
            display.state().setting_mode = false;
            display.changed.notify_all();
            continue;
        }
        let next = state.pending.iter().map(|pending| {
            let blank = state.clock.time_of(pending.due.max(state.clock.sequence() + 1));
            Duration::from_nanos(blank.saturating_sub(now))
        });
        let wait = next.min().map_or(LOOK_AGAIN, |wait| wait.min(LOOK_AGAIN));
        // The device may go meanwhile.
        drop(device);
        drop(display.changed.wait_timeout(state, wait));
    }
}

impl File {
    /// An event of this file.
    pub(super) fn told(&self, kind: u32, user_data: u64) -> Option<Told> {
        let events = self.events.get().map(Arc::downgrade);
        Some(Told { file: self.seat.number, events, kind, user_data })
    }

    /// The event of a flip.
    pub(super) fn told_of_flip(&self, user_data: u64) -> Option<Told> {
        self.told(FLIP_COMPLETE, user_data)
    }

    /// Starts the display's thread with the first thing that it has to do, and wakes it.
    pub(super) fn wake_display(&self, mut state: std::sync::MutexGuard<'_, State>) -> Answer {
        if !state.thread {
            let device = Arc::downgrade(&self.device);
            let spawned = std::thread::Builder::new().name("vc4-display".into()).spawn(move || run(&device));
            spawned.map_err(|_| Errno::ENOMEM)?;
            state.thread = true;
        }
        drop(state);
        self.display().changed.notify_all();
        Ok(())
    }

    /// Waits until `done`, which is asked after everything that happens on the display.
    pub(super) fn wait_display(&self, process: &dyn Process, mut done: impl FnMut(&State) -> bool) -> Answer {
        let display = self.display();
        let mut state = display.state();
        while !done(&state) {
            if process.is_gone() {
                return Err(Errno::EINTR);
            }
            let waited = display.changed.wait_timeout(state, LOOK_AGAIN);
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        Ok(())
    }

    fn queue(&self, due: u64, kind: u32, user_data: u64) -> Answer {
        let told = self.told(kind, user_data);
        let mut state = self.display().state();
        state.pending.push(Pending { due, after: Seqno(0), scene: None, redraw: false, told });
        self.wake_display(state)
    }

    pub(in super::super) fn wait_vblank(&self, arg: &mut WaitVblank, process: &dyn Process) -> Answer {
        if arg.kind & !(RELATIVE | HIGH_CRTC | WITH_EVENT | NEXT_ON_MISS | SECONDARY) != 0
            || arg.kind & (HIGH_CRTC | SECONDARY) != 0
        {
            return Err(Errno::EINVAL);
        }
        let state = self.display().state();
        if !state.scene.active {
            return Err(Errno::EINVAL);
        }
        let current = state.clock.sequence();
        drop(state);
        let relative = arg.kind & RELATIVE != 0;
        // Absolute numbers have 32 bits and lie near the current one.
        let distance = if relative { arg.sequence } else { arg.sequence.wrapping_sub(current as u32) };
        let mut due = current.wrapping_add_signed(i64::from(distance as i32));
        if arg.kind & NEXT_ON_MISS != 0 && (distance as i32) <= 0 {
            due = current + 1;
        }
        if arg.kind & WITH_EVENT != 0 {
            arg.sequence = due as u32;
            return self.queue(due.max(current), VBLANK, arg.first);
        }
        let wait = |state: &State| state.clock.time_of(due).saturating_sub(monotonic_ns());
        loop {
            let left = wait(&self.display().state());
            if left == 0 {
                break;
            }
            if process.is_gone() {
                return Err(Errno::EINTR);
            }
            std::thread::sleep(Duration::from_nanos(left).min(LOOK_AGAIN));
        }
        let state = self.display().state();
        let sequence = state.clock.sequence();
        let time = state.clock.time_of(sequence);
        arg.sequence = sequence as u32;
        (arg.first, arg.second) = (time / 1_000_000_000, time % 1_000_000_000 / 1000);
        Ok(())
    }

    pub(in super::super) fn wait_vblank_32(&self, arg: &mut WaitVblank32, process: &dyn Process) -> Answer {
        let mut wide =
            WaitVblank { kind: arg.kind, sequence: arg.sequence, first: arg.first.into(), second: 0 };
        let answer = self.wait_vblank(&mut wide, process);
        *arg = WaitVblank32 {
            kind: wide.kind,
            sequence: wide.sequence,
            first: wide.first as u32,
            second: wide.second as u32,
        };
        answer
    }

    pub(in super::super) fn get_sequence(&self, arg: &mut GetSequence, _: &dyn Process) -> Answer {
        if arg.crtc_id != CRTC {
            return Err(Errno::ENOENT);
        }
        let state = self.display().state();
        arg.active = state.scene.active.into();
        arg.sequence = state.clock.sequence();
        arg.time_ns = state.clock.time_of(arg.sequence) as i64;
        Ok(())
    }

    pub(in super::super) fn queue_sequence(&self, arg: &mut QueueSequence, _: &dyn Process) -> Answer {
        if arg.crtc_id != CRTC {
            return Err(Errno::ENOENT);
        }
        if arg.flags & !(QUEUE_RELATIVE | QUEUE_NEXT_ON_MISS) != 0 {
            return Err(Errno::EINVAL);
        }
        let state = self.display().state();
        if !state.scene.active {
            return Err(Errno::EINVAL);
        }
        let current = state.clock.sequence();
        drop(state);
        let mut due =
            if arg.flags & QUEUE_RELATIVE != 0 { current.wrapping_add(arg.sequence) } else { arg.sequence };
        if arg.flags & QUEUE_NEXT_ON_MISS != 0 && due <= current {
            due = current + 1;
        }
        arg.sequence = due;
        self.queue(due.max(current), SEQUENCE, arg.user_data)
    }
}

//! Who the device is: VERSION, capabilities, GET_PARAM, and the formalities of the primary node
//! (kernel-abi.md §1, §3, §13.2).

use std::sync::atomic::Ordering::Relaxed;

use nix::errno::Errno;
use vc4_kernel_abi::Gpu;
use vc4_kernel_abi::uapi::{GetParam, Param};

use crate::drm::file::File;
use crate::drm::node::Answer;
use crate::drm::process::Process;
use crate::drm::uapi::{
    Auth, Cap, Client, Client32, Nothing, SetVersion, Stats, Unique, Unique32, Version, Version32,
};
use crate::lock::lock;

const NAME: &[u8] = b"vc4";
const DATE: &[u8] = b"20140616";
const DESCRIPTION: &[u8] = b"Broadcom VC4 graphics";
/// Name of the platform device.
const UNIQUE: &[u8] = b"soc:gpu";

/// The user that stands for those that cannot be told.
const OVERFLOW_UID: u32 = 65534;

/// Capabilities and their values; numbers from the kernel's drm.h.
const CAPABILITIES: &[(u64, u64)] = &[
    (0x1, 1),  // DUMB_BUFFER
    (0x2, 1),  // VBLANK_HIGH_CRTC
    (0x3, 24), // DUMB_PREFERRED_DEPTH
    (0x4, 0),  // DUMB_PREFER_SHADOW
    (0x5, 3),  // PRIME: import and export
    (0x6, 1),  // TIMESTAMP_MONOTONIC
    (0x7, 1),  // ASYNC_PAGE_FLIP
    (0x8, 64), // CURSOR_WIDTH
    (0x9, 64), // CURSOR_HEIGHT
    (0x10, 1), // ADDFB2_MODIFIERS
    (0x11, 0), // PAGE_FLIP_TARGET
    (0x12, 1), // CRTC_IN_VBLANK_EVENT
    (0x13, 1), // SYNCOBJ
    (0x14, 0), // SYNCOBJ_TIMELINE
];

/// Fills the caller's buffer with as much of `text` as fits, and tells its whole length.
fn give(process: &dyn Process, address: u64, len: &mut u64, text: &[u8]) -> Answer {
    let fits = usize::try_from(*len).unwrap_or(usize::MAX).min(text.len());
    *len = text.len() as u64;
    if address == 0 || fits == 0 { Ok(()) } else { process.write(address, &text[..fits]) }
}

impl File {
    pub(super) fn version(&self, arg: &mut Version, process: &dyn Process) -> Answer {
        (arg.major, arg.minor, arg.patch) = (0, 0, 0);
        give(process, arg.name, &mut arg.name_len, NAME)?;
        give(process, arg.date, &mut arg.date_len, DATE)?;
        give(process, arg.desc, &mut arg.desc_len, DESCRIPTION)
    }

    pub(super) fn get_unique(&self, arg: &mut Unique, process: &dyn Process) -> Answer {
        // A master has no name before SET_VERSION: by that, clients see that a device is not in use.
        let unique = if self.has_unique() { UNIQUE } else { b"" };
        // Other than VERSION, a buffer that is too short stays empty.
        if arg.len < unique.len() as u64 {
            arg.len = unique.len() as u64;
            return Ok(());
        }
        give(process, arg.unique, &mut arg.len, unique)
    }

    pub(super) fn version_32(&self, arg: &mut Version32, process: &dyn Process) -> Answer {
        let mut wide = Version {
            name_len: arg.name_len.into(),
            name: arg.name.into(),
            date_len: arg.date_len.into(),
            date: arg.date.into(),
            desc_len: arg.desc_len.into(),
            desc: arg.desc.into(),
            ..Version::default()
        };
        let answer = self.version(&mut wide, process);
        (arg.major, arg.minor, arg.patch) = (wide.major, wide.minor, wide.patch);
        let lengths = [wide.name_len, wide.date_len, wide.desc_len].map(|length| length as u32);
        [arg.name_len, arg.date_len, arg.desc_len] = lengths;
        answer
    }

    pub(super) fn get_unique_32(&self, arg: &mut Unique32, process: &dyn Process) -> Answer {
        let mut wide = Unique { len: arg.len.into(), unique: arg.unique.into() };
        let answer = self.get_unique(&mut wide, process);
        arg.len = wide.len as u32;
        answer
    }

    /// One for each file, among those of its master: the kernel's drm_getmagic.
    pub(super) fn get_magic(&self, arg: &mut Auth, _: &dyn Process) -> Answer {
        let mut caps = lock(&self.seat.caps);
        if caps.magic == 0 {
            let mut state = self.device.display.state();
            caps.magic = state.free_magic(caps.master);
            state.magics.insert((caps.master, caps.magic), Some(self.seat.authenticated.clone()));
        }
        arg.magic = caps.magic;
        Ok(())
    }

    /// Good once, and for the master under which the file was opened.
    pub(super) fn auth_magic(&self, arg: &mut Auth, _: &dyn Process) -> Answer {
        let master = lock(&self.seat.caps).master;
        let mut state = self.device.display.state();
        let file = state.magics.get_mut(&(master, arg.magic)).and_then(Option::take).ok_or(Errno::EINVAL)?;
        file.store(true, Relaxed);
        Ok(())
    }

    /// Of clients, the kernel tells no more than whether the caller is let in: that is what libva asks.
    pub(super) fn get_client(&self, arg: &mut Client, process: &dyn Process) -> Answer {
        if arg.index != 0 {
            return Err(Errno::EINVAL);
        }
        arg.auth = self.seat.authenticated.load(Relaxed).into();
        (arg.pid, arg.uid) = (process.pid().into(), OVERFLOW_UID.into());
        (arg.magic, arg.count) = (0, 0);
        Ok(())
    }

    pub(super) fn get_client_32(&self, arg: &mut Client32, process: &dyn Process) -> Answer {
        let mut wide = Client { index: arg.index, ..Client::default() };
        let answer = self.get_client(&mut wide, process);
        *arg = Client32 {
            index: arg.index,
            auth: wide.auth,
            pid: wide.pid as u32,
            uid: wide.uid as u32,
            ..*arg
        };
        (arg.magic, arg.count) = (0, 0);
        answer
    }

    /// Nothing is counted any more.
    pub(super) fn get_stats(&self, arg: &mut Stats, _: &dyn Process) -> Answer {
        *arg = Stats::default();
        Ok(())
    }

    /// The core's interface is 1.4, the driver's is its version.
    pub(super) fn set_version(&self, arg: &mut SetVersion, _: &dyn Process) -> Answer {
        let fits = |wanted: i32, major: i32, minor: i32, has: (i32, i32)| {
            wanted == -1 || (major == has.0 && (0..=has.1).contains(&minor))
        };
        let good = fits(arg.di_major, arg.di_major, arg.di_minor, (1, 4))
            && fits(arg.dd_major, arg.dd_major, arg.dd_minor, (0, 0));
        *arg = SetVersion { di_major: 1, di_minor: 4, dd_major: 0, dd_minor: 0 };
        if !good {
            return Err(Errno::EINVAL);
        }
        self.set_unique();
        Ok(())
    }

    /// A call that does nothing any more.
    pub(super) fn nothing(&self, _: &mut Nothing, _: &dyn Process) -> Answer {
        Ok(())
    }

    pub(super) fn get_cap(&self, arg: &mut Cap, _: &dyn Process) -> Answer {
        let known = CAPABILITIES.iter().find(|(capability, _)| *capability == arg.capability);
        arg.value = known.ok_or(Errno::EINVAL)?.1;
        Ok(())
    }

    pub(super) fn get_param(&self, arg: &mut GetParam, _: &dyn Process) -> Answer {
        if arg.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let ident = self.device.simulator.ident().map_err(|_| Errno::ENODEV)?;
        const LAST: u32 = Param::SupportsPerfmon as u32;
        arg.value = match arg.param {
            param if param == Param::Ident0 as u32 => ident.ident0.into(),
            param if param == Param::Ident1 as u32 => ident.ident1.into(),
            param if param == Param::Ident2 as u32 => ident.ident2.into(),
            // All features of kernel-abi.md §3.
            0..=LAST => 1,
            _ => return Err(Errno::EINVAL),
        };
        Ok(())
    }
}

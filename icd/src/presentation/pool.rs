//! The images of a swapchain, which take turns between the application and the display.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use ash::vk;

use super::timing::REFRESH_NS;
use crate::foundation::error::Error;
use crate::foundation::threads::{Mutex, MutexGuard};
use crate::objects::device::Device;
use crate::objects::image::Image;

/// How the surface takes the pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// As they are.
    Good,
    /// As they are, but others would be less work to show.
    Suboptimal,
    /// The window has another size. Not called suboptimal: the window's extent is the only one that its
    /// surface allows, and an unscaled picture in a larger window leaves the rest of it stale.
    OutOfDate,
    /// Not at all: the window is gone.
    Lost,
}

/// How well pictures suit a surface that takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// There is nothing to be gained.
    Good,
    /// A new swapchain would be less work to show.
    Suboptimal,
}

impl Fit {
    /// As commands answer it.
    pub fn result(self) -> vk::Result {
        match self {
            Fit::Good => vk::Result::SUCCESS,
            Fit::Suboptimal => vk::Result::SUBOPTIMAL_KHR,
        }
    }
}

/// Times that are kept for an application that does not ask for them.
const TIMES: usize = 64;

struct State {
    /// Images for the application, longest free first.
    free: VecDeque<u32>,
    /// Images that the application has.
    acquired: Vec<bool>,
    condition: Condition,
    /// Pictures that the application presented.
    presented: u64,
    /// How many of them were shown or dropped.
    handled: u64,
    /// The number that the application gave the last picture that was shown, or to a later one that was overtaken.
    shown: u64,
    /// Nanoseconds between two refreshes of the display.
    refresh: u64,
    /// Of pictures whose times the application will ask for, oldest first.
    times: VecDeque<vk::PastPresentationTimingGOOGLE>,
    /// Replaced or destroyed: no images are handed out any more.
    retired: bool,
}

/// The images of a swapchain: what it shares with its present thread.
pub(super) struct Pool {
    device: Arc<Device>,
    extent: vk::Extent2D,
    images: Vec<Arc<Image>>,
    state: Mutex<State>,
}

impl Pool {
    /// All of `images` are free; `fits` says whether they are as the window wants them.
    pub fn new(device: Arc<Device>, extent: vk::Extent2D, images: Vec<Arc<Image>>, fits: bool) -> Pool {
        let state = State {
            free: (0..images.len() as u32).collect(),
            acquired: vec![false; images.len()],
            // A window may have been resized since the application asked: it hears of it when it
            // acquires, where it has to listen anyway.
            condition: if fits { Condition::Good } else { Condition::OutOfDate },
            presented: 0,
            handled: 0,
            shown: 0,
            refresh: REFRESH_NS,
            times: VecDeque::new(),
            retired: false,
        };
        Pool { device, extent, images, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Size of the pictures.
    pub fn extent(&self) -> vk::Extent2D {
        self.extent
    }

    /// An image.
    pub fn image(&self, index: u32) -> Result<&Arc<Image>, Error> {
        self.images.get(index as usize).ok_or_else(|| Error::InvalidUse(format!("swapchain image {index}")))
    }

    /// Whether no images are handed out any more.
    pub fn is_retired(&self) -> bool {
        self.state().retired
    }

    /// Gives an image back to the application's pool.
    pub fn release(&self, index: u32) {
        self.state().free.push_back(index);
        self.device.waker().ring();
    }

    /// The window's size changed.
    pub fn outdate(&self) {
        let mut state = self.state();
        if matches!(state.condition, Condition::Good | Condition::Suboptimal) {
            state.condition = Condition::OutOfDate;
        }
        drop(state);
        self.device.waker().ring();
    }

    /// Another swapchain would be less work to show.
    pub fn suboptimal(&self) {
        let mut state = self.state();
        if state.condition == Condition::Good {
            state.condition = Condition::Suboptimal;
        }
    }

    /// Nanoseconds between two refreshes of the display.
    pub fn refresh(&self) -> u64 {
        self.state().refresh
    }

    /// How many times there are to be told.
    pub fn times(&self) -> usize {
        self.state().times.len()
    }

    /// Tells the times of at most so many pictures, which are told once, and whether there are more.
    pub fn take_times(&self, limit: usize) -> (Vec<vk::PastPresentationTimingGOOGLE>, bool) {
        let mut state = self.state();
        let count = limit.min(state.times.len());
        let told = state.times.drain(..count).collect();
        (told, !state.times.is_empty())
    }

    /// A picture with this number had its turn.
    pub fn has_shown(&self, id: u64) {
        let mut state = self.state();
        state.shown = state.shown.max(id);
        drop(state);
        self.device.waker().ring();
    }

    /// A picture was seen on a display that refreshes so often; `time` is for an application that will ask.
    pub fn has_seen(&self, id: u64, refresh: u64, time: Option<vk::PastPresentationTimingGOOGLE>) {
        let mut state = self.state();
        state.refresh = refresh;
        if let Some(time) = time {
            if state.times.len() == TIMES {
                state.times.pop_front();
            }
            state.times.push_back(time);
        }
        drop(state);
        self.has_shown(id);
    }

    /// An error if nothing will be seen any more.
    pub fn check(&self) -> Result<(), Error> {
        self.device.check()?;
        match self.state().condition {
            Condition::Lost => Err(lost()),
            _ => Ok(()),
        }
    }

    /// Whether a picture with this number, or a later one, was shown; an error if none will be any more.
    pub fn is_shown(&self, id: u64) -> Result<bool, Error> {
        self.device.check()?;
        let state = self.state();
        match state.shown >= id {
            true => Ok(true),
            false => condition(&state).map(|_| false),
        }
    }

    /// A picture could not be shown.
    pub fn fail(&self, error: &Error) {
        match error.result() {
            vk::Result::ERROR_SURFACE_LOST_KHR => {
                log::warn!(target: "vc4::wsi", "surface lost: {error}");
                self.state().condition = Condition::Lost;
                self.device.waker().ring();
            }
            // Anything else is the device's or the driver's fault.
            _ => self.device.lose(error),
        }
    }

    /// Hands a free image to the application, and says how the surface takes it; `None` if it has all of them, or the
    /// display.
    pub fn try_acquire(&self) -> Result<Option<(u32, Fit)>, Error> {
        self.device.check()?;
        let mut state = self.state();
        if state.retired {
            return Err(out_of_date("the swapchain was replaced"));
        }
        let fit = condition(&state)?;
        let index = state.free.pop_front();
        if let Some(index) = index {
            state.acquired[index as usize] = true;
        }
        Ok(index.map(|index| (index, fit)))
    }

    /// Takes an acquired image back for showing it, as picture with that number, and tells how the surface takes it.
    pub fn take_back(&self, index: u32) -> Result<(u64, Result<Fit, Error>), Error> {
        let mut state = self.state();
        match state.acquired.get_mut(index as usize) {
            Some(acquired) if *acquired => *acquired = false,
            _ => return Err(Error::InvalidUse(format!("image {index} is presented without being acquired"))),
        }
        state.presented += 1;
        Ok((state.presented, condition(&state)))
    }

    /// One more picture was shown or dropped.
    pub fn has_handled(&self) {
        self.state().handled += 1;
        self.device.waker().ring();
    }

    /// Whether the pictures up to this number were shown or dropped, or never will be.
    pub fn is_handled(&self, number: u64) -> bool {
        let handled = self.state().handled;
        handled >= number || self.check().is_err()
    }

    /// Ends the handing out of images.
    pub fn retire(&self) {
        self.state().retired = true;
        self.device.waker().ring();
    }
}

fn out_of_date(why: &str) -> Error {
    Error::Result(vk::Result::ERROR_OUT_OF_DATE_KHR, why.into())
}

fn lost() -> Error {
    Error::Result(vk::Result::ERROR_SURFACE_LOST_KHR, "the window does not answer".into())
}

fn condition(state: &State) -> Result<Fit, Error> {
    match state.condition {
        Condition::Good => Ok(Fit::Good),
        Condition::Suboptimal => Ok(Fit::Suboptimal),
        Condition::OutOfDate => Err(out_of_date("the window was resized")),
        Condition::Lost => Err(lost()),
    }
}

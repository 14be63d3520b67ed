//! VkDisplayKHR, VkDisplayModeKHR and the planes of displays: connectors, their modes, and the primary planes of the kernel's
//! display driver.
//!
//! The planes that applications see are the primary ones. Each belongs to a CRTC, so a display that a plane supports is a
//! connector that can be driven by that CRTC.

use std::ffi::CString;
use std::ops::{Bound, RangeBounds};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use drm::Device as _;
use drm::DriverCapability;
use drm::control::{
    Device as _, Mode, ModeFlags, ModeTypeFlags, PlaneType, ResourceHandles, connector, crtc, plane,
};
use vc4_kernel_abi::Card;
use vc4_kernel_abi::uapi::MODIFIER_LINEAR;

use crate::foundation::error::Error;
use crate::foundation::handle::{HostAllocator, Object, OwnedHandle};
use crate::foundation::limits::MAX_ROW_PX;

/// The display driver of a device.
pub struct Kms {
    card: Card,
    planes: Vec<Plane>,
    /// Whether pictures may replace others while these are sent to the screen.
    pub tears: bool,
    /// The largest pictures that planes show.
    pub max_extent: vk::Extent2D,
    /// A node that the application is the master of, and lends.
    lent: Mutex<Option<(connector::Handle, Arc<Card>)>>,
}

/// A primary plane.
#[derive(Clone, Debug)]
pub struct Plane {
    /// The plane.
    pub handle: plane::Handle,
    /// The CRTC that it belongs to.
    pub crtc: crtc::Handle,
    /// Formats by their four letters, each with a modifier.
    pub formats: Vec<(u32, u64)>,
}

/// A connector.
pub struct Display {
    /// The connector.
    pub connector: connector::Handle,
    name: CString,
    allocator: HostAllocator,
    modes: Mutex<Vec<OwnedHandle<DisplayMode>>>,
    kms: Arc<Kms>,
}

/// A mode of a display.
pub struct DisplayMode {
    /// The display driver.
    pub kms: Arc<Kms>,
    /// The display.
    pub connector: connector::Handle,
    /// As the kernel describes it.
    pub mode: Mode,
}

impl Object for Display {
    type Handle = vk::DisplayKHR;
    const SCOPE: vk::SystemAllocationScope = vk::SystemAllocationScope::INSTANCE;
}

impl Object for DisplayMode {
    type Handle = vk::DisplayModeKHR;
    const SCOPE: vk::SystemAllocationScope = vk::SystemAllocationScope::INSTANCE;
}

/// The displays of a device, once one was asked for.
pub struct Displays {
    kms: Arc<Kms>,
    allocator: HostAllocator,
    known: Mutex<Vec<OwnedHandle<Display>>>,
}

/// What is told of a display that is plugged in.
pub struct DisplayInfo {
    /// The display.
    pub display: Arc<Display>,
    /// As the API wants it.
    pub properties: vk::DisplayPropertiesKHR<'static>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the display driver does not answer.
fn failed(what: &'static str, error: &std::io::Error) -> Error {
    Error::Result(vk::Result::ERROR_INITIALIZATION_FAILED, format!("{what}: {error}"))
}

/// Formats and modifiers of an IN_FORMATS blob: a header of words, the formats, and for each modifier a mask of 64 of them
/// from one on.
fn in_formats(blob: &[u8]) -> Option<Vec<(u32, u64)>> {
    let word = |at: usize| {
        blob.get(at..at + 4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
    };
    let long = |at: usize| Some(u64::from(word(at)?) | u64::from(word(at + 4)?) << 32);
    let (formats, formats_at) = (word(8)?, word(12)? as usize);
    let (modifiers, modifiers_at) = (word(16)?, word(20)? as usize);
    let mut all = Vec::new();
    for at in (0..modifiers as usize).map(|n| modifiers_at + 24 * n) {
        let (mask, first, modifier) = (long(at)?, word(at + 8)?, long(at + 16)?);
        for bit in (0..64).filter(|bit| mask >> bit & 1 != 0) {
            let number = first.checked_add(bit).filter(|&number| number < formats)?;
            all.push((word(formats_at + 4 * number as usize)?, modifier));
        }
    }
    Some(all)
}

impl Plane {
    fn new(
        card: &Card,
        resources: &ResourceHandles,
        handle: plane::Handle,
    ) -> std::io::Result<Option<Plane>> {
        let (info, values) = (card.get_plane(handle)?, card.get_properties(handle)?);
        let mut kind = None;
        let mut blob = 0;
        for (&property, &value) in values.iter() {
            match card.get_property(property)?.name().to_bytes() {
                b"type" => kind = Some(value),
                b"IN_FORMATS" => blob = value,
                _ => {}
            }
        }
        if kind != Some(PlaneType::Primary as u64) {
            return Ok(None);
        }
        let named = if blob == 0 { None } else { in_formats(&card.get_property_blob(blob)?) };
        let linear = || info.formats().iter().map(|&format| (format, MODIFIER_LINEAR)).collect();
        let crtc = resources.filter_crtcs(info.possible_crtcs()).into_iter().next();
        Ok(crtc.map(|crtc| Plane { handle, crtc, formats: named.unwrap_or_else(linear) }))
    }
}

impl Kms {
    fn new(card: Card) -> std::io::Result<Kms> {
        let resources = card.resource_handles()?;
        let mut planes = Vec::new();
        for handle in card.plane_handles()? {
            planes.extend(Plane::new(&card, &resources, handle)?);
        }
        let tears =
            card.get_driver_capability(DriverCapability::ASyncPageFlip).is_ok_and(|answer| answer == 1);
        let end = |bound: Bound<&u32>| match bound {
            Bound::Included(&end) => end.min(MAX_ROW_PX),
            _ => MAX_ROW_PX,
        };
        let max_extent = vk::Extent2D {
            width: end(resources.supported_fb_width().end_bound()),
            height: end(resources.supported_fb_height().end_bound()),
        };
        // Looking must not keep anybody from being master.
        card.resign();
        Ok(Kms { card, planes, tears, max_extent, lent: Mutex::default() })
    }

    /// The primary planes.
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// A plane by its number.
    pub fn plane(&self, index: u32) -> Result<&Plane, Error> {
        let unknown = || Error::InvalidUse(format!("plane {index} of {}", self.planes.len()));
        self.planes.get(index as usize).ok_or_else(unknown)
    }

    /// The node, for questions.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// The node that the application lent for a display.
    pub fn lent(&self, connector: connector::Handle) -> Option<Arc<Card>> {
        locked(&self.lent).as_ref().filter(|(lent, _)| *lent == connector).map(|(_, card)| card.clone())
    }

    /// Whether something is plugged in.
    pub fn is_connected(&self, connector: connector::Handle) -> bool {
        let info = self.card.get_connector(connector, false);
        info.is_ok_and(|info| info.state() == connector::State::Connected)
    }

    /// Whether a connector shows what a CRTC makes.
    pub fn is_fed_by(&self, connector: connector::Handle, crtc: crtc::Handle) -> bool {
        let encoder = self.card.get_connector(connector, false).ok().and_then(|info| info.current_encoder());
        let encoder = encoder.and_then(|encoder| self.card.get_encoder(encoder).ok());
        encoder.is_some_and(|encoder| encoder.crtc() == Some(crtc))
    }

    /// Whether a descriptor is one of the same node.
    pub fn is_same_device(&self, fd: BorrowedFd<'_>) -> bool {
        let node = |fd: BorrowedFd<'_>| {
            let metadata = std::fs::File::from(fd.try_clone_to_owned()?).metadata()?;
            Ok::<_, std::io::Error>(metadata.rdev())
        };
        match (node(fd), node(self.card.as_fd())) {
            (Ok(theirs), Ok(ours)) => theirs == ours,
            _ => false,
        }
    }

    /// Whether a connector can show what a CRTC makes.
    pub fn reaches(&self, connector: connector::Handle, crtc: crtc::Handle) -> bool {
        let reaches = || {
            let resources = self.card.resource_handles()?;
            for &encoder in self.card.get_connector(connector, false)?.encoders() {
                let crtcs = resources.filter_crtcs(self.card.get_encoder(encoder)?.possible_crtcs());
                if crtcs.contains(&crtc) {
                    return Ok(true);
                }
            }
            Ok::<_, std::io::Error>(false)
        };
        reaches().unwrap_or(false)
    }
}

/// Pictures in 1000 seconds.
fn refresh_rate(mode: &Mode) -> u32 {
    let (columns, rows) = (u64::from(mode.hsync().2), u64::from(mode.vsync().2));
    let flags = mode.flags();
    let fields = if flags.contains(ModeFlags::INTERLACE) { 2 } else { 1 };
    let scans = if flags.contains(ModeFlags::DBLSCAN) { 2 } else { 1 } * u64::from(mode.vscan()).max(1);
    let pixels = (columns * rows * scans).max(1);
    u32::try_from((u64::from(mode.clock()) * 1_000_000 * fields + pixels / 2) / pixels).unwrap_or(u32::MAX)
}

impl DisplayMode {
    /// Visible pixels.
    pub fn extent(&self) -> vk::Extent2D {
        let (width, height) = self.mode.size();
        vk::Extent2D { width: width.into(), height: height.into() }
    }

    /// As the API describes it.
    pub fn parameters(&self) -> vk::DisplayModeParametersKHR {
        vk::DisplayModeParametersKHR { visible_region: self.extent(), refresh_rate: refresh_rate(&self.mode) }
    }
}

impl Display {
    /// The modes that it has now, its favourite first. Handles stay for those that it had before.
    pub fn modes(&self) -> Result<Vec<(vk::DisplayModeKHR, vk::DisplayModeParametersKHR)>, Error> {
        let offered = self.kms.card.get_connector(self.connector, false);
        let offered = offered.map_err(|error| failed("the display's modes", &error))?;
        let mut known = locked(&self.modes);
        let mut modes = Vec::new();
        for &mode in offered.modes() {
            let place = known.iter().position(|known| known.object().mode == mode);
            let place = match place {
                Some(place) => place,
                None => {
                    let object = DisplayMode { kms: self.kms.clone(), connector: self.connector, mode };
                    known.push(OwnedHandle::new(self.allocator, Arc::new(object))?);
                    known.len() - 1
                }
            };
            modes.push((known[place].handle(), known[place].object().parameters()));
        }
        Ok(modes)
    }

    /// vkCreateDisplayModeKHR: the display decides what it can show, so the mode is one that it has.
    pub fn create_mode(&self, wanted: &vk::DisplayModeParametersKHR) -> Result<vk::DisplayModeKHR, Error> {
        let extent = wanted.visible_region;
        if extent.width == 0 || extent.height == 0 || wanted.refresh_rate == 0 {
            return Err(Error::InvalidUse(format!("a mode of {wanted:?}")));
        }
        let modes = self.modes()?;
        // What people call 60 Hz may be 59.94.
        let near = |rate: u32| rate.abs_diff(wanted.refresh_rate) <= 100;
        let fits =
            |mode: &vk::DisplayModeParametersKHR| mode.visible_region == extent && near(mode.refresh_rate);
        let found = modes.iter().find(|(_, mode)| fits(mode)).map(|(handle, _)| *handle);
        found.ok_or_else(|| {
            let rate = f64::from(wanted.refresh_rate) / 1e3;
            let why = format!("the display has no mode {} x {} at {rate} Hz", extent.width, extent.height);
            Error::Result(vk::Result::ERROR_INITIALIZATION_FAILED, why)
        })
    }

    /// vkAcquireDrmDisplayEXT: the application's node is used for it until it is released.
    pub fn acquire(&self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        let refused = |why: String| Error::Result(vk::Result::ERROR_INITIALIZATION_FAILED, why);
        let card = Card::share(fd).map_err(|error| refused(format!("the descriptor: {error}")))?;
        let strange =
            || Error::Result(vk::Result::ERROR_UNKNOWN, "the descriptor is another device's".into());
        let card = card.ok_or_else(strange)?;
        if !card.is_master() {
            return Err(refused("the descriptor's owner is not the display's master".into()));
        }
        let mut lent = locked(&self.kms.lent);
        if lent.is_some() {
            return Err(refused("a display is acquired already; release it first".into()));
        }
        *lent = Some((self.connector, Arc::new(card)));
        Ok(())
    }

    /// vkReleaseDisplayEXT.
    pub fn release(&self) {
        locked(&self.kms.lent).take_if(|(connector, _)| *connector == self.connector);
    }

    fn info(self: &Arc<Display>, handle: vk::DisplayKHR, connector: &connector::Info) -> DisplayInfo {
        let (width, height) = connector.size().unwrap_or_default();
        let favourite = |mode: &&Mode| mode.mode_type().contains(ModeTypeFlags::PREFERRED);
        let mode = connector.modes().iter().find(favourite).or(connector.modes().first());
        let (columns, rows) = mode.map_or((0, 0), Mode::size);
        let properties = vk::DisplayPropertiesKHR {
            display: handle,
            // Lives as long as the handle does: until the instance ends.
            display_name: self.name.as_ptr(),
            physical_dimensions: vk::Extent2D { width, height },
            physical_resolution: vk::Extent2D { width: columns.into(), height: rows.into() },
            supported_transforms: vk::SurfaceTransformFlagsKHR::IDENTITY,
            plane_reorder_possible: vk::FALSE,
            persistent_content: vk::FALSE,
            ..Default::default()
        };
        DisplayInfo { display: self.clone(), properties }
    }
}

impl Displays {
    /// The displays behind a node; `allocator` is the instance's.
    pub fn new(card: Card, allocator: HostAllocator) -> std::io::Result<Displays> {
        Ok(Displays { kms: Arc::new(Kms::new(card)?), allocator, known: Mutex::default() })
    }

    /// The display driver.
    pub fn kms(&self) -> &Kms {
        &self.kms
    }

    /// The displays that are plugged in. Their handles stay.
    pub fn connected(&self) -> Result<Vec<DisplayInfo>, Error> {
        let resources = self.kms.card.resource_handles();
        let resources = resources.map_err(|error| failed("the display's connectors", &error))?;
        let mut displays = Vec::new();
        for &handle in resources.connectors() {
            // Asks the screen itself, which only a master may.
            let Ok(connector) = self.kms.card.get_connector(handle, true) else { continue };
            if connector.state() == connector::State::Connected {
                let (display, api) = self.display(&connector)?;
                displays.push(display.info(api, &connector));
            }
        }
        Ok(displays)
    }

    /// The display of a connector by its number, whether or not it is plugged in.
    pub fn by_connector(&self, number: u32) -> Result<Option<vk::DisplayKHR>, Error> {
        let resources = self.kms.card.resource_handles();
        let resources = resources.map_err(|error| failed("the display's connectors", &error))?;
        let handle = resources.connectors().iter().copied().find(|&handle| u32::from(handle) == number);
        let Some(Ok(connector)) = handle.map(|handle| self.kms.card.get_connector(handle, false)) else {
            return Ok(None);
        };
        Ok(Some(self.display(&connector)?.1))
    }

    fn display(&self, connector: &connector::Info) -> Result<(Arc<Display>, vk::DisplayKHR), Error> {
        let mut known = locked(&self.known);
        let found = known.iter().find(|known| known.object().connector == connector.handle());
        if let Some(found) = found {
            return Ok((found.object().clone(), found.handle()));
        }
        let display = Arc::new(Display {
            connector: connector.handle(),
            name: CString::new(connector.to_string()).unwrap_or_default(),
            allocator: self.allocator,
            modes: Mutex::default(),
            kms: self.kms.clone(),
        });
        let handle = OwnedHandle::new(self.allocator, display.clone())?;
        let api = handle.handle();
        known.push(handle);
        Ok((display, api))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_with_their_modifiers() {
        let mut blob: Vec<u8> = [1u32, 0, 3, 24, 2, 40].into_iter().flat_map(u32::to_le_bytes).collect();
        blob.extend([10u32, 20, 30, 0].into_iter().flat_map(u32::to_le_bytes));
        for (mask, first, modifier) in [(0b111u64, 0u32, 0u64), (0b11, 1, 7 << 56 | 1)] {
            blob.extend(mask.to_le_bytes());
            blob.extend([first, 0].into_iter().flat_map(u32::to_le_bytes));
            blob.extend(modifier.to_le_bytes());
        }
        let tiled = 7 << 56 | 1;
        assert_eq!(in_formats(&blob), Some(vec![(10, 0), (20, 0), (30, 0), (20, tiled), (30, tiled)]));
        assert_eq!(in_formats(&blob[..blob.len() - 1]), None);
        assert_eq!(in_formats(&[]), None);
    }
}

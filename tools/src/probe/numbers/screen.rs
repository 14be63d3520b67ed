//! A pause of the display, by mode setting alone.
//!
//! Screens go off as power saving switches them off: of each CRTC that is on, ACTIVE becomes 0 and then 1 again, and nothing else is
//! named. Mode, connectors, planes and framebuffers stay in the kernel's state meanwhile, whosever they are (kernel-abi.md §13.5).
//! Without somebody's leave no screen is switched: who sets modes is the node's master, and there is one at a time.

use std::io;

use drm::Device as _;
use drm::control::atomic::AtomicModeReq;
use drm::control::{AtomicCommitFlags, Device as _, RawResourceHandle, ResourceHandle, crtc, property};
use vc4_kernel_abi::Card;

/// Numbers of an object and of a property, and its value.
type Setting = (u32, u32, u64);

/// What a connector has to do with CRTCs.
const CRTC_ID: &str = "CRTC_ID";
const ACTIVE: &str = "ACTIVE";

/// No CRTC of a card reads memory as long as this lives.
pub struct Pause {
    card: Card,
    /// CRTCs that were on, each with its property.
    on: Vec<(crtc::Handle, property::Handle)>,
    before: Vec<Setting>,
}

impl Pause {
    /// Switches all screens off.
    ///
    /// # Errors
    /// Why the display is not ours to switch, and what to do: what follows the words "the display". Then it is as before.
    pub fn begin(card: Card) -> Result<Pause, String> {
        card.acquire_master_lock().map_err(|error| {
            format!(
                "is another program's ({error}): end the desktop (`sudo systemctl isolate multi-user.target`), and ask on \
                 a console or over the network"
            )
        })?;
        let strange = |error: io::Error| format!("does not tell its state: {error}");
        let (on, before) = (active(&card).map_err(strange)?, settings(&card).map_err(strange)?);
        // From here on its end switches on what was on.
        let pause = Pause { card, on, before };
        pause.switch(false).map_err(|error| format!("does not go off: {error}"))?;
        match active(&pause.card).map_err(strange)?.len() {
            0 => Ok(pause),
            still => Err(format!("stays on at {still} of its outputs")),
        }
    }

    /// Whether a screen was on.
    pub fn was_on(&self) -> bool {
        !self.on.is_empty()
    }

    /// Switches on what was on.
    ///
    /// # Errors
    /// What is not as it was before.
    pub fn end(self) -> Result<(), String> {
        self.switch(true).map_err(|error| error.to_string())?;
        let now = settings(&self.card).map_err(|error| error.to_string())?;
        let missing = self.before.iter().find(|setting| !now.contains(setting));
        missing.map_or(Ok(()), |(object, property, value)| {
            Err(format!("property {property} of object {object} is {value} no longer"))
        })
    }

    fn switch(&self, on: bool) -> io::Result<()> {
        if self.on.is_empty() {
            return Ok(());
        }
        loop {
            let mut request = AtomicModeReq::new();
            for &(crtc, active) in &self.on {
                request.add_raw_property(crtc.into(), active, on.into());
            }
            // Comes back when the CRTCs have stopped, or run.
            match self.card.atomic_commit(AtomicCommitFlags::ALLOW_MODESET, request) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        // A second time changes nothing. The file's end gives the mastership back.
        if let Err(error) = self.switch(true) {
            log::error!("the display does not go on again: {error}");
        }
    }
}

/// CRTCs that are on.
fn active(card: &Card) -> io::Result<Vec<(crtc::Handle, property::Handle)>> {
    let mut on = Vec::new();
    for &crtc in card.resource_handles()?.crtcs() {
        let (values, infos) = named(card, crtc, &[ACTIVE])?;
        on.extend(
            values.iter().zip(infos).filter(|((.., value), _)| *value != 0).map(|(_, info)| (crtc, info)),
        );
    }
    Ok(on)
}

/// Properties of an object; only those of these names, where there are names.
fn named<T: ResourceHandle>(
    card: &Card,
    object: T,
    names: &[&str],
) -> io::Result<(Vec<Setting>, Vec<property::Handle>)> {
    let number: RawResourceHandle = object.into();
    let mut found = (Vec::new(), Vec::new());
    for (&property, &value) in &card.get_properties(object)? {
        let is_meant = || {
            let info = card.get_property(property)?;
            Ok::<_, io::Error>(info.name().to_str().is_ok_and(|name| names.contains(&name)))
        };
        if names.is_empty() || is_meant()? {
            found.0.push((number.get(), property.into(), value));
            found.1.push(property);
        }
    }
    Ok(found)
}

/// All that decides what is on screens: CRTCs and planes wholly, and which CRTC feeds each connector.
fn settings(card: &Card) -> io::Result<Vec<Setting>> {
    let mut all = Vec::new();
    let resources = card.resource_handles()?;
    for &crtc in resources.crtcs() {
        all.extend(named(card, crtc, &[])?.0);
    }
    for plane in card.plane_handles()? {
        all.extend(named(card, plane, &[])?.0);
    }
    for &connector in resources.connectors() {
        all.extend(named(card, connector, &[CRTC_ID])?.0);
    }
    Ok(all)
}

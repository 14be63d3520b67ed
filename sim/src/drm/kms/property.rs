//! Properties: what they are called, which objects have them, and how they are read and set.

use nix::errno::Errno;
use vc4_kernel_abi::uapi::{MODIFIER_LINEAR, MODIFIER_T_TILED};

use super::display::State;
use super::framebuffer::FORMATS;
use super::mode;
use super::objects::{CONNECTOR, CRTC, CURSOR, ENCODER, PRIMARY};
use super::scene::Plane;
use crate::drm::node::Answer;
use crate::drm::uapi::ModeInfo;

/// `flags` of a property.
const RANGE: u32 = 1 << 1;
const IMMUTABLE: u32 = 1 << 2;
const ENUM: u32 = 1 << 3;
const BLOB: u32 = 1 << 4;
const OBJECT: u32 = 1 << 6;
const SIGNED_RANGE: u32 = 2 << 6;
pub const IS_ATOMIC: u32 = 1 << 31;

/// Types of objects.
pub const TYPE_CRTC: u32 = 0xcccc_cccc;
pub const TYPE_CONNECTOR: u32 = 0xc0c0_c0c0;
const TYPE_ENCODER: u32 = 0xe0e0_e0e0;
const TYPE_PLANE: u32 = 0xeeee_eeee;
const TYPE_FB: u32 = 0xfbfb_fbfb;
const TYPE_BLOB: u32 = 0xbbbb_bbbb;
pub const TYPE_ANY: u32 = 0;

/// A property.
pub struct Property {
    pub id: u32,
    pub name: &'static str,
    pub flags: u32,
    /// Bounds of a range, type of an object.
    pub values: &'static [u64],
    pub enums: &'static [(u64, &'static str)],
}

/// Declares the table, and a constant for each number.
macro_rules! properties {
    ($($id:literal $konst:ident $name:literal $flags:expr, $values:expr, $enums:expr;)*) => {
        $(pub const $konst: u32 = $id;)*
        pub const PROPERTIES: &[Property] =
            &[$(Property { id: $id, name: $name, flags: $flags, values: $values, enums: $enums },)*];
    };
}

/// -1 as signed ranges have it.
const MINUS_ONE: u64 = u64::MAX;
const LEAST_I32: u64 = i32::MIN as i64 as u64;
const MOST_I32: u64 = i32::MAX as u64;
const MOST_U32: u64 = u32::MAX as u64;

properties! {
    1 EDID "EDID" BLOB | IMMUTABLE, &[], &[];
    2 DPMS "DPMS" ENUM, &[0, 1, 2, 3], &[(0, "On"), (1, "Standby"), (2, "Suspend"), (3, "Off")];
    3 LINK_STATUS "link-status" ENUM, &[0, 1], &[(0, "Good"), (1, "Bad")];
    4 NON_DESKTOP "non-desktop" RANGE | IMMUTABLE, &[0, 1], &[];
    5 CRTC_ID "CRTC_ID" OBJECT | IS_ATOMIC, &[TYPE_CRTC as u64], &[];
    6 KIND "type" ENUM | IMMUTABLE, &[0, 1, 2], &[(0, "Overlay"), (1, "Primary"), (2, "Cursor")];
    7 FB_ID "FB_ID" OBJECT | IS_ATOMIC, &[TYPE_FB as u64], &[];
    8 IN_FENCE_FD "IN_FENCE_FD" SIGNED_RANGE | IS_ATOMIC, &[MINUS_ONE, MOST_I32], &[];
    9 OUT_FENCE_PTR "OUT_FENCE_PTR" RANGE | IS_ATOMIC, &[0, u64::MAX], &[];
    10 CRTC_X "CRTC_X" SIGNED_RANGE | IS_ATOMIC, &[LEAST_I32, MOST_I32], &[];
    11 CRTC_Y "CRTC_Y" SIGNED_RANGE | IS_ATOMIC, &[LEAST_I32, MOST_I32], &[];
    12 CRTC_W "CRTC_W" RANGE | IS_ATOMIC, &[0, MOST_I32], &[];
    13 CRTC_H "CRTC_H" RANGE | IS_ATOMIC, &[0, MOST_I32], &[];
    14 SRC_X "SRC_X" RANGE | IS_ATOMIC, &[0, MOST_U32], &[];
    15 SRC_Y "SRC_Y" RANGE | IS_ATOMIC, &[0, MOST_U32], &[];
    16 SRC_W "SRC_W" RANGE | IS_ATOMIC, &[0, MOST_U32], &[];
    17 SRC_H "SRC_H" RANGE | IS_ATOMIC, &[0, MOST_U32], &[];
    18 ACTIVE "ACTIVE" RANGE | IS_ATOMIC, &[0, 1], &[];
    19 MODE_ID "MODE_ID" BLOB | IS_ATOMIC, &[], &[];
    20 IN_FORMATS "IN_FORMATS" BLOB | IMMUTABLE, &[], &[];
}

/// Number of the blob that IN_FORMATS names: below those that files make.
pub const IN_FORMATS_BLOB: u32 = 45;

impl Property {
    pub fn find(id: u32) -> Option<&'static Property> {
        PROPERTIES.iter().find(|property| property.id == id)
    }

    /// Whether a value may be given to it, as far as the property alone can tell.
    pub fn accepts(&self, value: u64, state: &State) -> bool {
        if self.flags & IMMUTABLE != 0 {
            return false;
        }
        match self.flags & !IS_ATOMIC {
            ENUM => self.values.contains(&value),
            RANGE => (self.values[0]..=self.values[1]).contains(&value),
            SIGNED_RANGE => (self.values[0] as i64..=self.values[1] as i64).contains(&(value as i64)),
            BLOB => value == 0 || state.blobs.keys().any(|&id| u64::from(id) == value),
            _ if self.id == FB_ID => value == 0 || state.fbs.keys().any(|&id| u64::from(id) == value),
            _ => value == 0 || value == CRTC.into(),
        }
    }
}

/// The blob of IN_FORMATS: formats, and for each modifier which of them it goes with.
pub fn in_formats() -> Vec<u8> {
    const HEADER: u32 = 24;
    let count = FORMATS.len() as u32;
    let modifiers_at = (HEADER + 4 * count).next_multiple_of(8);
    let mut words = vec![1, 0, count, HEADER, 2, modifiers_at];
    words.extend(FORMATS.iter().map(|format| format.code));
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(modifiers_at as usize, 0);
    let mask = |wanted: &dyn Fn(usize) -> bool| {
        (0..FORMATS.len()).filter(|&number| wanted(number)).fold(0u64, |mask, number| mask | 1 << number)
    };
    for (modifier, formats) in
        [(MODIFIER_LINEAR, mask(&|_| true)), (MODIFIER_T_TILED, mask(&|number| FORMATS[number].tiled))]
    {
        for word in [formats, 0, modifier] {
            bytes.extend(word.to_le_bytes());
        }
    }
    bytes
}

/// The type of an object; `None` when there is none with this number.
fn type_of(state: &State, id: u32) -> Option<u32> {
    match id {
        PRIMARY | CURSOR => Some(TYPE_PLANE),
        CRTC => Some(TYPE_CRTC),
        ENCODER => Some(TYPE_ENCODER),
        CONNECTOR => Some(TYPE_CONNECTOR),
        IN_FORMATS_BLOB => Some(TYPE_BLOB),
        _ if state.blobs.contains_key(&id) => Some(TYPE_BLOB),
        _ => state.fbs.contains_key(&id).then_some(TYPE_FB),
    }
}

/// The object's properties with their values.
///
/// # Errors
/// `ENOENT` when there is no such object; `EINVAL` when it has no properties.
pub fn values(state: &State, id: u32, kind: u32) -> Result<Vec<(u32, u64)>, Errno> {
    let real = type_of(state, id).filter(|&real| kind == TYPE_ANY || kind == real).ok_or(Errno::ENOENT)?;
    let scene = &state.scene;
    let of_crtc = |on: bool| u64::from(if on { CRTC } else { 0 });
    Ok(match real {
        TYPE_CONNECTOR => vec![
            (EDID, 0),
            (DPMS, if scene.active { 0 } else { 3 }),
            (LINK_STATUS, 0),
            (NON_DESKTOP, 0),
            (CRTC_ID, of_crtc(scene.connected)),
        ],
        TYPE_CRTC => vec![
            (ACTIVE, scene.active.into()),
            (MODE_ID, scene.mode.map_or(0, |(blob, _)| blob.into())),
            (OUT_FENCE_PTR, 0),
        ],
        TYPE_PLANE => {
            let plane = &scene.planes[usize::from(id == CURSOR)];
            let [sx, sy, sw, sh] = plane.source.map(u64::from);
            vec![
                (KIND, if id == CURSOR { 2 } else { 1 }),
                (FB_ID, plane.fb.as_ref().map_or(0, |fb| fb.id.into())),
                (IN_FENCE_FD, MINUS_ONE),
                (CRTC_ID, plane.crtc.into()),
                (CRTC_X, plane.x as i64 as u64),
                (CRTC_Y, plane.y as i64 as u64),
                (CRTC_W, plane.width.into()),
                (CRTC_H, plane.height.into()),
                (SRC_X, sx),
                (SRC_Y, sy),
                (SRC_W, sw),
                (SRC_H, sh),
                (IN_FORMATS, IN_FORMATS_BLOB.into()),
            ]
        }
        _ => return Err(Errno::EINVAL),
    })
}

/// The mode in a blob.
pub fn mode_of(state: &State, blob: u32) -> Result<Option<(u32, ModeInfo)>, Errno> {
    if blob == 0 {
        return Ok(None);
    }
    let data = &state.blobs.get(&blob).ok_or(Errno::EINVAL)?.data;
    let mode: ModeInfo = bytemuck::try_pod_read_unaligned(data).map_err(|_| Errno::EINVAL)?;
    // Other than SETCRTC, properties have one error for all that is wrong with a mode.
    mode::check(&mode).map_err(|_| Errno::EINVAL)?;
    Ok(Some((blob, mode)))
}

impl Plane {
    /// Sets a property of it.
    pub fn set(&mut self, state: &State, id: u32, value: u64) -> Answer {
        let place = match id {
            FB_ID => {
                self.fb = if value == 0 { None } else { Some(state.fb(value as u32)?) };
                return Ok(());
            }
            CRTC_X => {
                self.x = value as i32;
                return Ok(());
            }
            CRTC_Y => {
                self.y = value as i32;
                return Ok(());
            }
            CRTC_ID => &mut self.crtc,
            CRTC_W => &mut self.width,
            CRTC_H => &mut self.height,
            SRC_X => &mut self.source[0],
            SRC_Y => &mut self.source[1],
            SRC_W => &mut self.source[2],
            SRC_H => &mut self.source[3],
            _ => return Err(Errno::EINVAL),
        };
        *place = value as u32;
        Ok(())
    }
}

//! Calls that only look.

use bytemuck::bytes_of;
use nix::errno::Errno;

use crate::drm::file::File;
use crate::drm::kms::display::Blob;
use crate::drm::kms::framebuffer::FORMATS;
use crate::drm::kms::objects::{CONNECTOR, CRTC, CURSOR, ENCODER, GAMMA_SIZE, MAX_EDGE, PRIMARY};
use crate::drm::kms::property::{self, Property};
use crate::drm::node::Answer;
use crate::drm::process::{Process, read_bytes};
use crate::drm::sync_file::padded;
use crate::drm::uapi::{
    CardRes, CreateBlob, Crtc, Gamma, GetBlob, GetConnector, GetEncoder, GetPlane, GetProperty, Id, ModeInfo,
    ObjGetProperties, PlaneRes, PropertyEnum,
};

/// `kind` of connector and encoder: HDMI-A, TMDS.
const HDMI_A: u32 = 11;
const TMDS: u32 = 2;
/// `connection`: something is plugged in, or nothing.
const CONNECTED: u32 = 1;
const DISCONNECTED: u32 = 2;
/// `subpixel`: unknown.
const SUBPIXEL_UNKNOWN: u32 = 1;
/// Size of the picture in millimetres.
const MILLIMETRES: (u32, u32) = (520, 290);
/// Bytes that a blob may have.
const MAX_BLOB: u32 = 1 << 20;

impl File {
    pub(in super::super) fn get_resources(&self, arg: &mut CardRes, process: &dyn Process) -> Answer {
        let state = self.display().state();
        let fbs: Vec<u32> =
            state.fbs.values().filter(|fb| fb.owner == self.seat.number).map(|fb| fb.id).collect();
        drop(state);
        (arg.min_width, arg.min_height) = (0, 0);
        (arg.max_width, arg.max_height) = (MAX_EDGE, MAX_EDGE);
        give_list(process, arg.fbs, &mut arg.count_fbs, &fbs)?;
        give_list(process, arg.crtcs, &mut arg.count_crtcs, &[CRTC])?;
        give_list(process, arg.connectors, &mut arg.count_connectors, &[CONNECTOR])?;
        give_list(process, arg.encoders, &mut arg.count_encoders, &[ENCODER])
    }

    pub(in super::super) fn get_crtc(&self, arg: &mut Crtc, _: &dyn Process) -> Answer {
        if arg.crtc_id != CRTC {
            return Err(Errno::ENOENT);
        }
        let state = self.display().state();
        let primary = &state.scene.planes[0];
        arg.gamma_size = GAMMA_SIZE;
        (arg.x, arg.y) = (primary.source[0] >> 16, primary.source[1] >> 16);
        arg.fb_id = primary.fb.as_ref().map_or(0, |fb| fb.id);
        arg.mode_valid = state.scene.mode.is_some().into();
        arg.mode = state.scene.mode.map(|(_, mode)| mode).unwrap_or_default();
        Ok(())
    }

    pub(in super::super) fn get_encoder(&self, arg: &mut GetEncoder, _: &dyn Process) -> Answer {
        if arg.encoder_id != ENCODER {
            return Err(Errno::ENOENT);
        }
        let connected = self.display().state().scene.connected;
        let crtc_id = if connected { CRTC } else { 0 };
        *arg = GetEncoder { kind: TMDS, crtc_id, possible_crtcs: 1, possible_clones: 1, ..*arg };
        Ok(())
    }

    pub(in super::super) fn get_connector(&self, arg: &mut GetConnector, process: &dyn Process) -> Answer {
        if arg.connector_id != CONNECTOR {
            return Err(Errno::ENOENT);
        }
        let state = self.display().state();
        let values = property::values(&state, CONNECTOR, property::TYPE_CONNECTOR)?;
        let connected = state.scene.connected;
        drop(state);
        let plugged = self.display().is_plugged();
        let connection = if plugged { CONNECTED } else { DISCONNECTED };
        (arg.kind, arg.kind_id, arg.connection) = (HDMI_A, 1, connection);
        (arg.mm_width, arg.mm_height) = if plugged { MILLIMETRES } else { (0, 0) };
        arg.subpixel = SUBPIXEL_UNKNOWN;
        arg.encoder_id = if connected { ENCODER } else { 0 };
        arg.pad = 0;
        give_list(process, arg.encoders, &mut arg.count_encoders, &[ENCODER])?;
        let modes = if plugged { &self.display().modes[..] } else { &[] };
        give_list(process, arg.modes, &mut arg.count_modes, modes)?;
        let mut count = arg.count_props;
        self.give_properties(&values, arg.props, arg.values, &mut count, process)?;
        arg.count_props = count;
        Ok(())
    }

    /// Numbers and values of properties, as far as this file is to know of them.
    fn give_properties(
        &self,
        values: &[(u32, u64)],
        numbers_at: u64,
        values_at: u64,
        count: &mut u32,
        process: &dyn Process,
    ) -> Answer {
        let atomic = self.caps().atomic;
        let known = |id| Property::find(id).is_some_and(|it| atomic || it.flags & property::IS_ATOMIC == 0);
        let (numbers, values): (Vec<u32>, Vec<u64>) =
            values.iter().copied().filter(|&(id, _)| known(id)).unzip();
        let mut room = *count;
        give_list(process, numbers_at, &mut room, &numbers)?;
        give_list(process, values_at, count, &values)
    }

    pub(in super::super) fn get_obj_properties(
        &self,
        arg: &mut ObjGetProperties,
        process: &dyn Process,
    ) -> Answer {
        let values = property::values(&self.display().state(), arg.obj_id, arg.obj_type)?;
        self.give_properties(&values, arg.props, arg.values, &mut arg.count, process)
    }

    pub(in super::super) fn get_property(&self, arg: &mut GetProperty, process: &dyn Process) -> Answer {
        let property = Property::find(arg.prop_id).ok_or(Errno::ENOENT)?;
        arg.name = padded(property.name);
        arg.flags = property.flags;
        give_list(process, arg.values, &mut arg.count_values, property.values)?;
        let enums: Vec<PropertyEnum> =
            property.enums.iter().map(|&(value, name)| PropertyEnum { value, name: padded(name) }).collect();
        give_list(process, arg.enums, &mut arg.count_enums, &enums)
    }

    pub(in super::super) fn get_blob(&self, arg: &mut GetBlob, process: &dyn Process) -> Answer {
        let data = match arg.blob_id {
            property::IN_FORMATS_BLOB => property::in_formats(),
            id => self.display().state().blobs.get(&id).ok_or(Errno::ENOENT)?.data.clone(),
        };
        if arg.length as usize == data.len() {
            process.write(arg.data, &data)?;
        }
        arg.length = data.len() as u32;
        Ok(())
    }

    pub(in super::super) fn create_blob(&self, arg: &mut CreateBlob, process: &dyn Process) -> Answer {
        if arg.length == 0 || arg.length > i32::MAX as u32 {
            return Err(Errno::EINVAL);
        }
        if arg.length > MAX_BLOB {
            return Err(Errno::ENOMEM);
        }
        let data = read_bytes(process, arg.data, arg.length)?;
        arg.blob_id =
            self.display().state().add_blob(Blob { data, owner: Some(self.seat.number), destroyed: false });
        Ok(())
    }

    pub(in super::super) fn destroy_blob(&self, arg: &mut Id, _: &dyn Process) -> Answer {
        let mut state = self.display().state();
        let blob = state.blobs.get(&arg.id).ok_or(Errno::ENOENT)?;
        if blob.owner != Some(self.seat.number) {
            return Err(Errno::EPERM);
        }
        state.destroy_blob(arg.id);
        Ok(())
    }

    pub(in super::super) fn get_plane_resources(&self, arg: &mut PlaneRes, process: &dyn Process) -> Answer {
        let planes: &[u32] = if self.caps().universal_planes { &[PRIMARY, CURSOR] } else { &[] };
        give_list(process, arg.planes, &mut arg.count, planes)
    }

    pub(in super::super) fn get_plane(&self, arg: &mut GetPlane, process: &dyn Process) -> Answer {
        let number = match arg.plane_id {
            PRIMARY => 0,
            CURSOR => 1,
            _ => return Err(Errno::ENOENT),
        };
        let plane = self.display().state().scene.planes[number].clone();
        (arg.crtc_id, arg.possible_crtcs, arg.gamma_size) = (plane.crtc, 1, 0);
        arg.fb_id = plane.fb.map_or(0, |fb| fb.id);
        let formats = FORMATS.map(|format| format.code);
        give_list(process, arg.formats, &mut arg.count_formats, &formats)
    }

    /// The gamma table is kept, but what is shown is not changed by it.
    pub(in super::super) fn gamma(&self, arg: &mut Gamma, process: &dyn Process, set: bool) -> Answer {
        if arg.crtc_id != CRTC {
            return Err(Errno::ENOENT);
        }
        if arg.size != GAMMA_SIZE {
            return Err(Errno::EINVAL);
        }
        let places = [arg.red, arg.green, arg.blue];
        if set {
            let mut tables: [Vec<u16>; 3] = Default::default();
            for (table, place) in tables.iter_mut().zip(places) {
                let bytes = read_bytes(process, place, GAMMA_SIZE * 2)?;
                *table = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            }
            self.display().state().gamma = tables;
            return Ok(());
        }
        let tables = self.display().state().gamma.clone();
        for (table, place) in tables.iter().zip(places) {
            process.write(place, bytemuck::cast_slice(table))?;
        }
        Ok(())
    }

    pub(in super::super) fn get_gamma(&self, arg: &mut Gamma, process: &dyn Process) -> Answer {
        self.gamma(arg, process, false)
    }

    pub(in super::super) fn set_gamma(&self, arg: &mut Gamma, process: &dyn Process) -> Answer {
        self.gamma(arg, process, true)
    }
}

/// The bytes of a mode, for a blob.
pub(super) fn mode_bytes(mode: &ModeInfo) -> Vec<u8> {
    bytes_of(mode).to_vec()
}

/// A list of the kernel's for a caller that gave room for `count` elements: filled if all fit. The number there are
/// is told in any case.
fn give_list<T: bytemuck::Pod>(process: &dyn Process, address: u64, count: &mut u32, list: &[T]) -> Answer {
    let room = std::mem::replace(count, list.len() as u32);
    if room as usize >= list.len() && !list.is_empty() {
        process.write(address, bytemuck::cast_slice(list))?;
    }
    Ok(())
}

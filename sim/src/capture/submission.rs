//! A submission and its BOs, and their form in a file.

use vc4_kernel_abi::{BoHandle, Submit, SubmitFlags, Surface};

use super::codec::{Malformed, Reader, Writer};

/// DRM_VC4_SUBMIT_CL as the program gave it.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// Lists, BOs, surfaces and clear values.
    pub submit: Submit,
    /// Syncobj to wait for, 0 for none.
    pub in_sync: u32,
    /// Syncobj that the job signals, 0 for none.
    pub out_sync: u32,
    /// Performance monitor, 0 for none.
    pub perfmon: u32,
}

/// A BO of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoUse {
    /// What names it in the whole file.
    pub key: u32,
    /// Bytes, whole pages.
    pub bytes: u32,
    /// Whether it holds a validated shader.
    pub shader: bool,
}

/// Pages of a BO that the program changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The BO.
    pub key: u32,
    /// First page that changed.
    pub first: u32,
    /// Numbers of the pages that stand there from now on.
    pub pages: Vec<u32>,
}

fn put_surface(out: &mut Writer, surface: Option<Surface>) {
    out.u8(u8::from(surface.is_some()));
    if let Some(Surface { bo_index, offset, bits, flags }) = surface {
        out.u32(bo_index);
        out.u32(offset);
        out.u16(bits);
        out.u16(flags);
    }
}

fn surface(from: &mut Reader) -> Result<Option<Surface>, Malformed> {
    if !from.flag("a surface's presence")? {
        return Ok(None);
    }
    Ok(Some(Surface { bo_index: from.u32()?, offset: from.u32()?, bits: from.u16()?, flags: from.u16()? }))
}

impl Submission {
    pub(super) fn put(&self, out: &mut Writer) {
        let Submission { submit, in_sync, out_sync, perfmon } = self;
        out.bytes(&submit.bin_cl);
        out.bytes(&submit.shader_rec);
        out.u32(submit.shader_rec_count);
        out.bytes(&submit.uniforms);
        out.list(&submit.bos, |out, handle| out.u32(handle.0));
        out.u16(submit.width);
        out.u16(submit.height);
        submit.tiles.iter().for_each(|&tile| out.u8(tile));
        put_surface(out, submit.color_read);
        put_surface(out, submit.color_write);
        out.u16(submit.color_write_bits_if_absent);
        put_surface(out, submit.zs_read);
        put_surface(out, submit.zs_write);
        put_surface(out, submit.msaa_color_write);
        put_surface(out, submit.msaa_zs_write);
        submit.clear_color.iter().for_each(|&word| out.u32(word));
        out.u32(submit.clear_z);
        out.u8(submit.clear_s);
        out.u32(submit.flags.bits());
        [in_sync, out_sync, perfmon].into_iter().for_each(|&handle| out.u32(handle));
    }

    pub(super) fn take(from: &mut Reader) -> Result<Submission, Malformed> {
        // Fields are read in the order in which they stand here.
        let submit = Submit {
            bin_cl: from.bytes()?,
            shader_rec: from.bytes()?,
            shader_rec_count: from.u32()?,
            uniforms: from.bytes()?,
            bos: from.list(4, |from| from.u32().map(BoHandle))?,
            width: from.u16()?,
            height: from.u16()?,
            tiles: [from.u8()?, from.u8()?, from.u8()?, from.u8()?],
            color_read: surface(from)?,
            color_write: surface(from)?,
            color_write_bits_if_absent: from.u16()?,
            zs_read: surface(from)?,
            zs_write: surface(from)?,
            msaa_color_write: surface(from)?,
            msaa_zs_write: surface(from)?,
            clear_color: [from.u32()?, from.u32()?],
            clear_z: from.u32()?,
            clear_s: from.u8()?,
            flags: SubmitFlags::from_bits_retain(from.u32()?),
            // It is noted beside the submission.
            perfmon: None,
        };
        Ok(Submission { submit, in_sync: from.u32()?, out_sync: from.u32()?, perfmon: from.u32()? })
    }

    /// Places in [`Submit::bos`] of the BOs that the job may write, each once.
    pub fn written(&self) -> Vec<usize> {
        let Submit { color_write, zs_write, msaa_color_write, msaa_zs_write, .. } = &self.submit;
        let surfaces = [color_write, zs_write, msaa_color_write, msaa_zs_write];
        let mut places: Vec<usize> =
            surfaces.into_iter().flatten().map(|surface| surface.bo_index as usize).collect();
        places.retain(|&place| place < self.submit.bos.len());
        places.sort_unstable();
        places.dedup();
        places
    }
}

impl BoUse {
    pub(super) fn put(&self, out: &mut Writer) {
        out.u32(self.key);
        out.u32(self.bytes);
        out.u8(u8::from(self.shader));
    }

    pub(super) fn take(from: &mut Reader) -> Result<BoUse, Malformed> {
        Ok(BoUse { key: from.u32()?, bytes: from.u32()?, shader: from.flag("a BO's kind")? })
    }
}

impl Update {
    pub(super) fn put(&self, out: &mut Writer) {
        out.u32(self.key);
        out.u32(self.first);
        out.list(&self.pages, |out, page| out.u32(*page));
    }

    pub(super) fn take(from: &mut Reader) -> Result<Update, Malformed> {
        Ok(Update { key: from.u32()?, first: from.u32()?, pages: from.list(4, Reader::u32)? })
    }
}

//! The submission itself (kernel-abi.md §7): fields, handles, sizes, and the way between [`Submit`] and the
//! ioctl's struct.

use super::rule::Rule;
use super::violation::{Mode, Place, Violation};
use crate::gpu::{BoHandle, PerfmonId, Submit, SubmitFlags, Surface};
use crate::uapi::{NO_SURFACE, SURFACE_READ_IS_FULL_RES, SubmitCl, SubmitRclSurface};
use std::collections::BTreeSet;

/// Bytes that the kernel keeps per shader record while it validates; they count against SUB-10.
const RECORD_STATE_SIZE: u32 = 8;

/// Where the kernel puts the pieces of a binning job in the one BO that it makes for it (kernel-abi.md §5.3).
/// Offsets from the start of that BO, in bytes; the bin list stands at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopySizes {
    /// Shader records, 16-byte aligned.
    pub records: u32,
    /// Uniforms.
    pub uniforms: u32,
    /// Size of the whole.
    pub total: u32,
}

/// Bus addresses of the kernel's copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bin list.
    pub list: u32,
    /// Shader records, 16-byte aligned.
    pub records: u32,
    /// Uniforms.
    pub uniforms: u32,
}

impl CopySizes {
    /// SUB-10: sizes of the copies that `job` needs; `total` is 0 for a job without binning.
    pub fn of(job: &Submit) -> Result<CopySizes, Violation> {
        if job.bin_cl.is_empty() {
            return Ok(CopySizes { records: 0, uniforms: 0, total: 0 });
        }
        Self::checked(job).ok_or_else(|| {
            Violation::new(
                Rule::Sub10,
                Place::Frame("bin_cl_size"),
                format!(
                    "{} bytes of list, {} of records, {} of uniforms, {} records",
                    job.bin_cl.len(),
                    job.shader_rec.len(),
                    job.uniforms.len(),
                    job.shader_rec_count
                ),
            )
        })
    }

    fn checked(job: &Submit) -> Option<CopySizes> {
        let size = |list: &[u8]| u32::try_from(list.len()).ok();
        let records = size(&job.bin_cl)?.checked_next_multiple_of(16)?;
        let uniforms = records.checked_add(size(&job.shader_rec)?)?;
        let total = uniforms.checked_add(size(&job.uniforms)?)?;
        if job.shader_rec_count >= u32::MAX / RECORD_STATE_SIZE {
            return None;
        }
        total.checked_add(RECORD_STATE_SIZE * job.shader_rec_count)?;
        Some(CopySizes { records, uniforms, total })
    }

    /// The addresses when the BO stands at `address`, a multiple of 16.
    pub fn at(&self, address: u32) -> Layout {
        Layout {
            list: address,
            records: address.wrapping_add(self.records),
            uniforms: address.wrapping_add(self.uniforms),
        }
    }
}

/// SUB-2, SUB-4, SUB-6, SUB-10: what needs no knowledge of the BOs. The mode is taken as in the other steps; none
/// of these rules has a quirk.
pub fn check(job: &Submit, _mode: Mode) -> Result<(), Violation> {
    let unknown = job.flags.difference(SubmitFlags::all());
    if !unknown.is_empty() {
        let what = format!("flags {:#x}", job.flags.bits());
        return Err(Violation::new(Rule::Sub2, Place::Frame("flags"), what));
    }
    if job.bos.is_empty() {
        return Err(Violation::new(Rule::Sub4, Place::Frame("bo_handle_count"), "no BO"));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = job.bos.iter().find(|bo| !seen.insert(**bo)) {
        let what = format!("handle {} is listed twice", twice.0);
        return Err(Violation::new(Rule::Sub6, Place::Frame("bo_handles"), what));
    }
    CopySizes::of(job).map(drop)
}

/// The ioctl's struct, without the pointers. Sizes above 32 bits are cut: [`check`] first.
pub fn to_uapi(job: &Submit) -> SubmitCl {
    let surface = |surface: Option<Surface>, bits_if_absent| match surface {
        Some(s) => SubmitRclSurface { hindex: s.bo_index, offset: s.offset, bits: s.bits, flags: s.flags },
        None => SubmitRclSurface { hindex: NO_SURFACE, bits: bits_if_absent, ..Default::default() },
    };
    let [min_x_tile, min_y_tile, max_x_tile, max_y_tile] = job.tiles;
    SubmitCl {
        bin_cl_size: job.bin_cl.len() as u32,
        shader_rec_size: job.shader_rec.len() as u32,
        shader_rec_count: job.shader_rec_count,
        uniforms_size: job.uniforms.len() as u32,
        bo_handle_count: job.bos.len() as u32,
        width: job.width,
        height: job.height,
        min_x_tile,
        min_y_tile,
        max_x_tile,
        max_y_tile,
        color_read: surface(job.color_read, 0),
        color_write: surface(job.color_write, job.color_write_bits_if_absent),
        zs_read: surface(job.zs_read, 0),
        zs_write: surface(job.zs_write, 0),
        msaa_color_write: surface(job.msaa_color_write, 0),
        msaa_zs_write: surface(job.msaa_zs_write, 0),
        clear_color: job.clear_color,
        clear_z: job.clear_z,
        clear_s: job.clear_s,
        flags: job.flags.bits(),
        perfmonid: job.perfmon.map_or(0, |perfmon| perfmon.0),
        ..Default::default()
    }
}

/// What the ioctl's struct points to.
#[derive(Clone, Debug, Default)]
pub struct Pointees {
    /// Binning list.
    pub bin_cl: Vec<u8>,
    /// Shader records.
    pub shader_rec: Vec<u8>,
    /// Uniforms.
    pub uniforms: Vec<u8>,
    /// Handles.
    pub bos: Vec<BoHandle>,
}

/// The job that the ioctl's struct describes; whether its performance monitor exists, and syncobjs, are the caller's
/// business.
///
/// # Errors
/// SUB-3, and the rules about absent surfaces that [`Submit`] cannot express (RCL-4, RCL-6, RCL-14).
pub fn from_uapi(frame: &SubmitCl, data: Pointees) -> Result<Submit, Violation> {
    if frame.pad2 != 0 {
        return Err(Violation::new(Rule::Sub3, Place::Frame("pad2"), format!("{:#x}", frame.pad2)));
    }
    absent(Rule::Rcl4, "color_write", &frame.color_write, u16::MAX, 0)?;
    absent(Rule::Rcl6, "color_read", &frame.color_read, u16::MAX, SURFACE_READ_IS_FULL_RES)?;
    absent(Rule::Rcl6, "zs_read", &frame.zs_read, u16::MAX, SURFACE_READ_IS_FULL_RES)?;
    absent(Rule::Rcl6, "zs_write", &frame.zs_write, u16::MAX, SURFACE_READ_IS_FULL_RES)?;
    absent(Rule::Rcl14, "msaa_color_write", &frame.msaa_color_write, 0, 0)?;
    absent(Rule::Rcl14, "msaa_zs_write", &frame.msaa_zs_write, 0, 0)?;
    let surface = |s: SubmitRclSurface| {
        let present = Surface { bo_index: s.hindex, offset: s.offset, bits: s.bits, flags: s.flags };
        (s.hindex != NO_SURFACE).then_some(present)
    };
    Ok(Submit {
        bin_cl: data.bin_cl,
        shader_rec: data.shader_rec,
        shader_rec_count: frame.shader_rec_count,
        uniforms: data.uniforms,
        bos: data.bos,
        width: frame.width,
        height: frame.height,
        tiles: [frame.min_x_tile, frame.min_y_tile, frame.max_x_tile, frame.max_y_tile],
        color_read: surface(frame.color_read),
        color_write: surface(frame.color_write),
        color_write_bits_if_absent: frame.color_write.bits,
        zs_read: surface(frame.zs_read),
        zs_write: surface(frame.zs_write),
        msaa_color_write: surface(frame.msaa_color_write),
        msaa_zs_write: surface(frame.msaa_zs_write),
        clear_color: frame.clear_color,
        clear_z: frame.clear_z,
        clear_s: frame.clear_s,
        flags: SubmitFlags::from_bits_retain(frame.flags),
        perfmon: (frame.perfmonid != 0).then_some(PerfmonId(frame.perfmonid)),
    })
}

/// A surface that is not there may carry only these bits and flags.
fn absent(
    rule: Rule,
    name: &'static str,
    surface: &SubmitRclSurface,
    bits: u16,
    flags: u16,
) -> Result<(), Violation> {
    if surface.hindex != NO_SURFACE || surface.bits & !bits == 0 && surface.flags & !flags == 0 {
        return Ok(());
    }
    let what = format!("absent surface with bits {:#x}, flags {:#x}", surface.bits, surface.flags);
    Err(Violation::new(rule, Place::Frame(name), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Submit {
        Submit {
            bos: vec![BoHandle(1), BoHandle(2)],
            color_write: Some(Surface { bo_index: 1, offset: 16, bits: 4, flags: 0 }),
            color_write_bits_if_absent: 4,
            ..Default::default()
        }
    }

    fn rule(job: &Submit) -> Option<Rule> {
        check(job, Mode::Faithful).err().map(|violation| violation.rule)
    }

    #[test]
    fn frame_rules() {
        assert_eq!(rule(&job()), None);
        assert_eq!(rule(&Submit { flags: SubmitFlags::from_bits_retain(16), ..job() }), Some(Rule::Sub2));
        assert_eq!(rule(&Submit { bos: vec![], ..job() }), Some(Rule::Sub4));
        assert_eq!(rule(&Submit { bos: vec![BoHandle(1), BoHandle(1)], ..job() }), Some(Rule::Sub6));
        let many = Submit { shader_rec_count: u32::MAX / 8, bin_cl: vec![4], ..job() };
        assert_eq!(rule(&many), Some(Rule::Sub10));
        // SUB-15: without a bin list nobody looks at the records.
        assert_eq!(rule(&Submit { bin_cl: vec![], ..many }), None);
    }

    #[test]
    fn copies_stand_behind_each_other() {
        let job = Submit { bin_cl: vec![0; 17], shader_rec: vec![0; 60], uniforms: vec![0; 8], ..job() };
        let sizes = CopySizes::of(&job).unwrap();
        assert_eq!(sizes, CopySizes { records: 32, uniforms: 92, total: 100 });
        assert_eq!(sizes.at(0x1000), Layout { list: 0x1000, records: 0x1020, uniforms: 0x105c });
    }

    #[test]
    fn the_struct_and_back() {
        let job = Submit {
            bin_cl: vec![1, 2],
            uniforms: vec![3; 4],
            tiles: [1, 2, 3, 4],
            zs_read: Some(Surface { bo_index: 0, offset: 0, bits: 0, flags: 1 }),
            clear_color: [5, 6],
            clear_s: 7,
            flags: SubmitFlags::USE_CLEAR_COLOR,
            ..job()
        };
        let data = Pointees {
            bin_cl: job.bin_cl.clone(),
            shader_rec: vec![],
            uniforms: job.uniforms.clone(),
            bos: job.bos.clone(),
        };
        let back = from_uapi(&to_uapi(&job), data).unwrap();
        assert_eq!(format!("{back:?}"), format!("{job:?}"));
        let frame = SubmitCl { pad2: 1, ..to_uapi(&job) };
        assert_eq!(from_uapi(&frame, Pointees::default()).unwrap_err().rule, Rule::Sub3);
    }
}

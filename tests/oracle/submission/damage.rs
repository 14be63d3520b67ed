//! What can be wrong with a submission.

use vc4_kernel_abi::{SubmitFlags, Surface};

use super::case::Case;
use super::source::Source;

/// Breaks something.
pub fn damage(case: &mut Case, source: &mut Source) {
    let kind = source.byte() % 12;
    match kind {
        0 | 1 => poke(source, &mut case.list),
        2 => poke(source, &mut case.job.shader_rec),
        3 => poke(source, &mut case.job.uniforms),
        4 | 5 => {
            let program = source.below(case.code.len());
            if let Some((_, code)) = case.code.get_mut(program) {
                let at = source.below(code.len());
                match source.byte() % 4 {
                    0 => code[at] = u64::from(source.word()) << 32 | u64::from(source.word()),
                    1 => code.swap(at, 0),
                    _ => code[at] ^= 1 << source.below(64),
                }
            }
        }
        6 => {
            let bo = source.below(case.data.len());
            poke(source, &mut case.data[bo].1);
        }
        7 => damage_surface(case, source),
        8 => damage_frame(case, source),
        9 => {
            // A stretch of the list again, or gone.
            let at = source.below(case.list.len());
            let end = (at + source.below(30)).min(case.list.len());
            let stretch: Vec<u8> = case.list[at..end].to_vec();
            if source.byte() % 2 == 0 {
                case.list.splice(at..at, stretch);
            } else {
                case.list.drain(at..end);
            }
        }
        10 => {
            let length = source.below(case.job.uniforms.len() + 1);
            case.job.uniforms.truncate(length);
        }
        _ => case.job.shader_rec_count = case.job.shader_rec_count.wrapping_add(source.strange()),
    }
}

fn damage_surface(case: &mut Case, source: &mut Source) {
    let job = &mut case.job;
    let surface = match source.byte() % 6 {
        0 => &mut job.color_write,
        1 => &mut job.color_read,
        2 => &mut job.zs_write,
        3 => &mut job.zs_read,
        4 => &mut job.msaa_color_write,
        _ => &mut job.msaa_zs_write,
    };
    let surface = surface.get_or_insert(Surface { bo_index: 2, offset: 0, bits: 0, flags: 0 });
    match source.byte() % 4 {
        0 => surface.bits ^= 1 << (source.byte() % 16),
        1 => surface.flags ^= 1 << (source.byte() % 16),
        2 => surface.bo_index = source.strange() % 16,
        _ => surface.offset = source.strange() & 0x3ffff,
    }
}

fn damage_frame(case: &mut Case, source: &mut Source) {
    let job = &mut case.job;
    match source.byte() % 4 {
        0 => job.width = source.strange() as u16,
        1 => job.height = source.strange() as u16,
        // Frames of thousands of tiles only cost time.
        2 => job.tiles[source.below(4)] = source.byte() % 12,
        _ => job.flags = SubmitFlags::from_bits_truncate(source.word()),
    }
}

fn poke(source: &mut Source, bytes: &mut [u8]) {
    if bytes.is_empty() {
        return;
    }
    let at = source.below(bytes.len());
    match source.byte() % 3 {
        0 => bytes[at] ^= 1 << (source.byte() % 8),
        1 => bytes[at] = source.byte(),
        _ => {
            let word = source.strange().to_le_bytes();
            for (byte, new) in bytes[at..].iter_mut().zip(word) {
                *byte = new;
            }
        }
    }
}

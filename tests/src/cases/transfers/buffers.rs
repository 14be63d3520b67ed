//! Copies between buffers and fills, at places that suit words and at others.

use ash::vk;

use crate::vulkan::{Error, Lab};

/// Bytes of each buffer.
const SIZE: usize = 200_001;

/// What a buffer holds at the end; all of it, as what is beside copies has to stay.
pub(super) fn copied_and_filled(lab: &Lab<'_>) -> Result<Vec<u8>, Error> {
    let bytes = |seed: u32| -> Vec<u8> {
        (0..SIZE as u32).map(|n| (n ^ seed).wrapping_mul(0x9e37_79b1).to_le_bytes()[3]).collect()
    };
    let source = lab.buffer(&bytes(0), vk::BufferUsageFlags::TRANSFER_SRC)?;
    let both = vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::TRANSFER_SRC;
    let target = lab.mapped(&bytes(0x5555), both)?;
    let copy = |src_offset, dst_offset, size| vk::BufferCopy { src_offset, dst_offset, size };
    let regions = [
        // Whole words; bytes that begin inside of them, on both sides; the source's last byte; and a few.
        copy(1024, 4096, 40_000),
        copy(50_003, 50_000, 20_001),
        copy(7, 80_005, 18_000),
        copy(SIZE as u64 - 17_000, 100_000, 17_000),
        copy(3, 1, 2),
    ];
    // From a buffer of uniforms, which may lie where jobs see copies only; then from what the host made of it.
    let own = lab
        .mapped(&bytes(0xaaaa), vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let from_own = [copy(1001, 0, 30_000), copy(60_000, 40_000, 50)];
    // Within one buffer, to its end.
    let within = [copy(4097, SIZE as u64 - 33_333, 33_333)];
    // SAFETY: the lab keeps the buffers to its end; regions lie inside and apart.
    lab.run(|commands| unsafe {
        lab.device.cmd_copy_buffer(commands, source, target.buffer, &regions);
        lab.device.cmd_fill_buffer(commands, target.buffer, 120_004, 30_000, 0x0123_4567);
        lab.barrier(commands);
        lab.device.cmd_copy_buffer(commands, target.buffer, target.buffer, &within);
    })?;
    let mut held = lab.contents(&target, SIZE)?;
    for offset in [2_003, 2_100, 60_010] {
        // SAFETY: as above.
        lab.run(|commands| unsafe {
            lab.device.cmd_copy_buffer(commands, own.buffer, target.buffer, &from_own);
        })?;
        held.extend(lab.contents(&target, SIZE)?);
        lab.write(&own, offset, &[offset as u8; 40])?;
    }
    Ok(held)
}

//! What the device is, and its memory.

use vc4_kernel_abi::{GpuError, Ident};

use super::outcome::Outcome;
use crate::jobs::bench::{Bench, Failure};

const PIECE: u32 = 4 << 20;

/// The registers name the machine.
pub fn identity(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let Ident { ident0, ident1, ident2 } = bench.gpu.ident()?;
    if ident0 != Ident::REFERENCE.ident0 {
        return Err(Failure::Wrong(format!("IDENT0 is {ident0:08x}, no VideoCore IV")));
    }
    let field = |low: u32| ident1 >> low & 15;
    let (slices, per_slice) = (field(4), field(8));
    Ok(Outcome::said(format!(
        "V3D {}.{}, {} QPUs in {slices} slices",
        ident0 >> 24,
        field(0),
        slices * per_slice
    ))
    .register("ident0", ident0)
    .register("ident1", ident1)
    .register("ident2", ident2))
}

/// BOs begin as zeroes, keep what is written and do not overlap.
pub fn memory(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let sizes: [u32; 5] = [1, 4096, 5000, 256 << 10, 1 << 20];
    let mut maps = Vec::new();
    for size in sizes {
        let map = bench.map(bench.bo(size)?)?;
        if (map.len() as u32) < size {
            return Err(Failure::Wrong(format!("a BO of {size} bytes is mapped with {}", map.len())));
        }
        let mut bytes = vec![1; map.len()];
        map.read(0, &mut bytes);
        if let Some(at) = bytes.iter().position(|byte| *byte != 0) {
            return Err(Failure::Wrong(format!("byte {at} of a new BO is {}", bytes[at])));
        }
        maps.push(map);
    }
    // A word tells its BO and its place.
    let word = |bo: usize, at: usize| (at as u32).wrapping_mul(0x9e37_79b1) ^ (bo as u32) << 28;
    let content = |bo: usize| -> Vec<u8> {
        (0..maps[bo].len() / 4).flat_map(|at| word(bo, at).to_le_bytes()).collect()
    };
    (0..maps.len()).for_each(|bo| maps[bo].write(0, &content(bo)));
    for (bo, map) in maps.iter().enumerate() {
        let mut bytes = vec![0; map.len()];
        map.read(0, &mut bytes);
        if let Some(at) = bytes.iter().zip(content(bo)).position(|(seen, written)| *seen != written) {
            return Err(Failure::Wrong(format!(
                "byte {at} of a BO of {} is not what was written",
                map.len()
            )));
        }
    }
    Ok(Outcome::said(format!("{} BOs", sizes.len())))
}

/// How much there is. A quarter of what is free is left to others.
pub fn allocation(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let free = bench.gpu.memory_free();
    let most = (free / 4 * 3 / u64::from(PIECE)).max(1);
    let mut pieces = 0;
    while pieces < most {
        match bench.bo(PIECE) {
            Ok(_) => pieces += 1,
            Err(GpuError::OutOfMemory(_)) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let got = pieces * u64::from(PIECE);
    let text = format!("{} MiB of {} MiB free, in pieces of {} MiB", got >> 20, free >> 20, PIECE >> 20);
    // Less than half means that what is free is scattered or not there.
    if pieces * 2 < most {
        return Err(Failure::Wrong(format!("only {text}")));
    }
    Ok(Outcome::said(text).measured("free", free as f64, "bytes").measured("allocated", got as f64, "bytes"))
}

//! How long results and shared units take, by the GPU's own counters.

use vc4::cl::packets::{ConfigurationBits, Oversample, Tiling};
use vc4::hw::LANES;
use vc4::qpu::cost::{CLOCKS_PER_SLOT, QPUS_PER_SLICE, SLICES};
use vc4_kernel_abi::perfmon::Event;

use super::super::experiments::common::{EDGE, all, draw, everywhere};
use super::super::experiments::textures::{far_lookups, near_lookups};
use super::counting::{counts, counts_on};
use super::sizes::Image;
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target, at};
use crate::jobs::programs::{NOP, REWRITING, fragment, moving_uniforms, rereading, rewriting, white};

type Answer = Result<Vec<Option<f64>>, Failure>;

/// Quads of a lookup.
const QUADS: f64 = (LANES / 4) as f64;
/// Instances of a program that covers the usual target.
const INSTANCES: f64 = (EDGE * EDGE) as f64 / LANES as f64;

/// Slots of so many clocks.
fn slots(clocks: u64) -> f64 {
    clocks as f64 / f64::from(CLOCKS_PER_SLOT)
}

/// Slots of a lookup whose result is taken by the next instruction.
fn latency(stalled: u64, quads: u64) -> Option<f64> {
    (quads > 0 && stalled > 0).then(|| slots(stalled) / (quads as f64 / QUADS) + 1.0)
}

fn looked_up(bench: &Bench<'_>, one: Draw) -> Answer {
    let [stalled, quads] = counts(bench, [Event::QpuStalledTmu, Event::TextureQuads], &[one])?;
    Ok(vec![latency(stalled, quads)])
}

pub fn tmu_hit(bench: &Bench<'_>) -> Answer {
    looked_up(bench, near_lookups(bench)?)
}

pub fn tmu_memory(bench: &Bench<'_>) -> Answer {
    looked_up(bench, far_lookups(bench)?)
}

/// More lines than the cache of the unit has, fewer than L2 has, looked up once and three times: what the later rounds take.
pub fn tmu_l2(bench: &Bench<'_>) -> Answer {
    let image = Image::new(bench)?;
    let lines = image.all(16 << 10)?;
    let of = |rounds| counts(bench, [Event::QpuStalledTmu, Event::TextureQuads], &[lines.looked_up(rounds)]);
    let ([stalled, quads], [stalled_more, quads_more]) = (of(1)?, of(3)?);
    Ok(vec![latency(stalled_more.saturating_sub(stalled), quads_more.saturating_sub(quads))])
}

/// Layers of a colour: a batch of four quads takes a QPU some slots, but there are twelve. One access of the tile buffer takes no longer than
/// a batch takes the rasteriser (qpu.md §7); two might, and what waits then are the QPUs.
pub fn quads(bench: &Bench<'_>) -> Answer {
    let all_clocks = [Event::QpuIdle, Event::QpuVertex, Event::QpuFragment, Event::ValidQuads];
    let layer = |_| Draw { fragment: white(), uniforms: vec![], ..draw(all(0.5)) };
    let of = |layers: usize| {
        let [idle, vertex, fragment, quads] =
            counts(bench, all_clocks, &(0..layers).map(layer).collect::<Vec<_>>())?;
        let whole = (idle + vertex + fragment) / u64::from(QPUS_PER_SLICE * SLICES);
        let idles = idle * 4 > whole;
        Ok::<_, Failure>((whole as f64, quads as f64, idles))
    };
    let ((few, less, _), (many, more, idles)) = (of(8)?, of(64)?);
    Ok(vec![(idles && more > less).then(|| (many - few) / (more - less))])
}

/// Slots of an instance of a program over the usual target.
fn instance(bench: &Bench<'_>, one: Draw) -> Result<f64, Failure> {
    let [clocks] = counts(bench, [Event::QpuFragment], &[one])?;
    Ok(slots(clocks) / INSTANCES)
}

/// 32 varyings at once: so many of a slot's as come while the QPUs of a slice wait for nothing else.
pub fn varyings(bench: &Bench<'_>) -> Answer {
    const COUNT: u8 = 32;
    let read = "sig_none ; r0 = or.always(a, a, vary) ; nop = nop() ;\n".repeat(COUNT.into());
    let one = Draw { fragment: fragment(&read), zeros: COUNT, uniforms: vec![], ..draw(all(0.5)) };
    let [stalled, clocks] = counts(bench, [Event::QpuStalledVarying, Event::QpuFragment], &[one])?;
    let together = f64::from(COUNT) * f64::from(QPUS_PER_SLICE) * INSTANCES;
    Ok(vec![(stalled > 0).then(|| together / slots(clocks))])
}

/// Requests as close as they may follow each other; `None` where a QPU alone asks no faster than its slice can answer.
pub fn special_functions(bench: &Bench<'_>) -> Answer {
    const FEW: usize = 32;
    const MANY: usize = 160;
    /// Instructions of a request: r4 is its own for two more.
    const ISSUED: f64 = 3.0;
    let request = format!("sig_none ; sfu_recip = or.always(r0, r0) ; nop = nop() ;\n{NOP}{NOP}");
    let of = |count: usize| {
        let code = fragment(&format!(
            "sig_small_imm ; r0 = or.always(b, b, nop, 1) ; nop = nop() ;\n{}",
            request.repeat(count)
        ));
        instance(bench, Draw { fragment: code, uniforms: vec![], ..draw(all(0.5)) })
    };
    let each = (of(MANY)? - of(FEW)?) / (MANY - FEW) as f64;
    Ok(vec![(each > 1.02 * ISSUED).then(|| each / f64::from(QPUS_PER_SLICE))])
}

/// Programs of which each instance has more accesses than a twelfth of its slots: the tile buffer is what all QPUs wait for. Layers, because
/// in the end of a tile they are fewer.
pub fn tile_access(bench: &Bench<'_>) -> Answer {
    const LAYERS: usize = 16;
    let target = Target::new(bench, Tiling::Raster, EDGE, EDGE)?.multisampled();
    let layer = |_| {
        let one = Draw { fragment: rewriting(), uniforms: vec![], ..draw(all(0.5)) };
        Draw { config: ConfigurationBits { oversample: Oversample::X4, ..one.config }, ..one }
    };
    let layers: Vec<_> = (0..LAYERS).map(layer).collect();
    let [clocks] = counts_on(bench, &target, [Event::QpuFragment], &layers)?;
    let each = slots(clocks) / (LAYERS as f64 * INSTANCES);
    let waits = each > 1.25 * rewriting().len() as f64;
    let accesses = REWRITING as f64 * f64::from(QPUS_PER_SLICE * SLICES);
    Ok(vec![waits.then_some(each / accesses)])
}

/// A stream that moves to where it stands, again and again, beside one that does not move.
pub fn uniform_refill(bench: &Bench<'_>) -> Answer {
    const ROUNDS: usize = 32;
    /// From the write of the address to the next uniform, without a wait (qpu.md §4.1).
    const ISSUED: f64 = 3.0;
    let of = |moves: bool| {
        let code = moving_uniforms(ROUNDS, moves);
        instance(bench, Draw { fragment: code, uniforms: vec![0; 2 * ROUNDS], ..draw(all(0.5)) })
    };
    let (moving, resting) = (of(true)?, of(false)?);
    let waited = (moving - resting) / ROUNDS as f64;
    // As many slots as an instruction takes are noise.
    Ok(vec![(waited > 1.0 / ROUNDS as f64).then_some(waited + ISSUED)])
}

/// Coordinate programs that read a word, or seven, again and again.
pub fn vectors(bench: &Bench<'_>) -> Answer {
    const ROUNDS: usize = 32;
    const VERTICES: usize = 64 * LANES;
    let of = |words: usize| {
        let mut vertices = everywhere(EDGE, EDGE, 0.5);
        vertices.resize(VERTICES, at(0.0, 0.0, 0.5));
        let one = Draw { coordinate: rereading(ROUNDS, words), ..draw(vertices) };
        counts(bench, [Event::QpuVertex], &[one]).map(|[clocks]| slots(clocks))
    };
    let (one, seven) = (of(1)?, of(7)?);
    let each = (seven - one) / (6 * ROUNDS * VERTICES / LANES) as f64;
    Ok(vec![(each > 0.0).then_some(each)])
}

//! Experiments with what the depth and stencil tests let through.

use vc4::cl::packets::CompareFunc;
use vc4::cl::packets::Tiling;
use vc4::cl::words::{StencilFace, StencilOp, StencilSetup, StencilWriteMask};
use vc4_kernel_abi::perfmon::Event;

use super::common::{CLEAR, EDGE, Monitor, WHITE, all, at_places, draw, picture, run};
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target};
use crate::jobs::programs::{DONE, END, NOP, words};

/// A set-up of both faces.
fn set_up(func: CompareFunc, pass: StencilOp, reference: u8) -> u32 {
    StencilSetup {
        face: StencilFace::Both,
        write_mask: StencilWriteMask::All,
        stencil_fail: StencilOp::Keep,
        depth_fail: StencilOp::Keep,
        depth_pass: pass,
        func,
        compare_mask: 0xff,
        reference,
    }
    .bits()
}

/// Tests with each of some set-ups in turn, which are the uniforms behind the colour.
fn tested(set_ups: Vec<u32>) -> Draw {
    let one = "sig_none ; r1 = or.always(a, a, uni) ; nop = nop() ;\n\
        sig_none ; tlb_stencil_setup = or.always(r1, r1) ; nop = nop() ;\n\
        sig_none ; tlb_z = or.always(b, b, nop, rb15) ; nop = nop() ;\n";
    let code = format!(
        "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n{NOP}{}\
         sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;\n{END}{NOP}{DONE}",
        one.repeat(set_ups.len())
    );
    let uniforms = [vec![WHITE], set_ups].concat();
    Draw { fragment: words(&code), uniforms, ..draw(all(0.5)) }
}

/// v3d.md §12 HW-2924: a program tests twice, with set-ups that leave 1 and 2; which of them is there afterwards.
pub fn stencil_latch(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let left = |value| set_up(CompareFunc::Always, StencilOp::Replace, value);
    let is = |value| tested(vec![set_up(CompareFunc::Equal, StencilOp::Keep, value)]);
    let twice = || Draw { uniforms: vec![CLEAR, left(1), left(2)], ..tested(vec![left(1), left(2)]) };
    let seen = |value| Ok::<u32, Failure>(at_places(&picture(bench, &[twice(), is(value)])?, &[(20, 20)])[0]);
    [1, 2].into_iter().map(|value| Ok(u32::from(seen(value)? == WHITE))).collect()
}

/// Quads that pass the depth and stencil tests, and quads whose colour is written (v3d.md §13).
const EVENTS: [u8; 2] = [Event::QuadsPassingZAndStencil as u8, Event::QuadsWrittenToColor as u8];

/// Draws whose program masks all samples away, by the mask of samples and by conditions: whether they are counted.
pub fn occlusion_events(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let by_mask = format!(
        "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n\
         sig_small_imm ; ms_flags = or.always(b, b, nop, 0) ; nop = nop() ;\n{NOP}\
         sig_none ; tlb_z = or.always(b, b, nop, rb15) ; nop = nop() ;\n\
         sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;\n{END}{NOP}{DONE}"
    );
    // The colour is not zero.
    let by_condition = format!(
        "sig_none ; r0 = or.sf.always(a, a, uni) ; nop = nop() ;\n{NOP}\
         sig_none ; tlb_z = or.zs(b, b, nop, rb15) ; nop = nop() ;\n\
         sig_none ; tlb_color_all = or.zs(r0, r0) ; nop = nop() ;\n{END}{NOP}{DONE}"
    );
    let mut counted = Vec::new();
    for code in [by_mask, by_condition] {
        let masked = Draw { fragment: words(&code), ..draw(all(0.5)) };
        counted.extend(counts(bench, masked)?.map(|count| u32::from(count > 0)));
    }
    Ok(counted)
}

/// What the counters say of a draw.
fn counts(bench: &Bench<'_>, one: Draw) -> Result<[u64; 2], Failure> {
    let target = Target::new(bench, Tiling::Raster, EDGE, EDGE)?;
    let monitor = Monitor::new(bench, &EVENTS)?;
    let mut job = target.draw(CLEAR, &[one])?;
    job.perfmon = Some(monitor.id);
    run(bench, &target, &job)?;
    let [passing, written, ..] = monitor.values()?;
    Ok([passing, written])
}

//! The sample mask of a pixel: pipeline mask, the program's own mask and alpha to coverage (v3d.md §9.6,
//! T-SMASK).

use super::emitter::{Emitter, SampleEmitter, StateUniform};

/// Multisample state of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Multisample {
    /// Pixels have four samples.
    pub four_samples: bool,
    /// The sample mask leaves samples out; which, is [`StateUniform::SampleMask`].
    pub sample_mask: bool,
    /// Alpha of the first colour becomes coverage.
    pub alpha_to_coverage: bool,
    /// Alpha counts as 1 from then on.
    pub alpha_to_one: bool,
}

/// What narrows the coverage of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage<V> {
    /// The pipeline has a sample mask that leaves samples out.
    pub pipeline_mask: bool,
    /// Mask that the program computed, bits 3:0.
    pub shader_mask: Option<V>,
    /// Alpha that becomes coverage.
    pub alpha: Option<V>,
}

/// Narrows the pixel's sample mask; before the depth write. Emits nothing if nothing narrows it.
///
/// Alpha a covers round(4a) samples, the lowest numbers first.
pub fn emit_coverage<E: SampleEmitter>(e: &mut E, coverage: &Coverage<E::Value>) {
    let mut mask = coverage.shader_mask;
    if coverage.pipeline_mask {
        let pipeline = e.uniform(StateUniform::SampleMask);
        mask = Some(mask.map_or(pipeline, |mask| e.and(mask, pipeline)));
    }
    if let Some(alpha) = coverage.alpha {
        let samples = alpha_mask(e, alpha);
        mask = Some(mask.map_or(samples, |mask| e.and(mask, samples)));
    }
    if let Some(mask) = mask {
        let covered = e.coverage();
        let kept = e.and(covered, mask);
        e.write_coverage(kept);
    }
}

/// A mask of round(4 * alpha) low bits.
fn alpha_mask<E: Emitter>(e: &mut E, alpha: E::Value) -> E::Value {
    let (zero, one, four, half) = (e.word(0), e.float(1.0), e.float(4.0), e.float(0.5));
    let alpha = e.fmax(alpha, zero);
    let alpha = e.fmin(alpha, one);
    let scaled = e.fmul(alpha, four);
    let rounded = e.fadd(scaled, half);
    let count = e.ftoi(rounded);
    // count ones move over bit 4 and come back as the low bits.
    let ones = e.word(0xf);
    let shifted = e.add(crate::qpu::AddOp::Shl, ones, count);
    e.shr(shifted, 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::StateWords;
    use crate::state::model::Model;

    fn run(covered: u32, coverage: Coverage<u32>) -> u32 {
        let mut model = Model::new(StateWords { sample_mask: 0b1101, ..Default::default() });
        model.mask = covered;
        emit_coverage(&mut model, &coverage);
        model.mask
    }

    #[test]
    fn masks_are_combined() {
        let none = Coverage { pipeline_mask: false, shader_mask: None, alpha: None };
        assert_eq!(run(0b0111, none), 0b0111);
        assert_eq!(run(0b0111, Coverage { pipeline_mask: true, ..none }), 0b0101);
        let both = Coverage { pipeline_mask: true, shader_mask: Some(0b1100), alpha: None };
        assert_eq!(run(0b0111, both), 0b0100);
    }

    #[test]
    fn alpha_covers_its_share() {
        let mask = |alpha: f32| {
            run(15, Coverage { pipeline_mask: false, shader_mask: None, alpha: Some(alpha.to_bits()) })
        };
        assert_eq!(
            [mask(-1.0), mask(0.0), mask(0.25), mask(0.5), mask(0.8), mask(1.0), mask(9.0)],
            [0, 0, 1, 3, 7, 15, 15]
        );
    }
}

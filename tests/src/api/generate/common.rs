//! Objects that programs on several threads share: those that nobody has to keep others away from (Vulkan 1.0 §2.6).

use ash::vk;

use super::{Maker, Program};
use crate::api::formats::ROWS;
use crate::api::model::Model;
use crate::api::step::*;
use crate::random::Random;

/// The first of their numbers, behind those of any program.
const FIRST: u32 = 1 << 20;
/// Kernels, and pipelines that draw.
const KERNELS: usize = 3;
const PIPELINES: usize = 6;

impl Maker {
    /// Whether a step may be added: those that make such objects, where only they are wanted.
    pub(super) fn may_add(&self, step: &Step) -> bool {
        let is_shared = |what: &Create| {
            matches!(
                what,
                Create::Sampler { .. }
                    | Create::SetLayout { .. }
                    | Create::Template { .. }
                    | Create::PipelineLayout { .. }
                    | Create::Module { .. }
                    | Create::Cache { .. }
                    | Create::Compute { .. }
                    | Create::Graphics { .. }
                    | Create::RenderPass { .. }
            )
        };
        !self.shares || matches!(step, Step::Create { what, .. } if is_shared(what))
    }
}

impl Program {
    /// Steps that make what programs share.
    pub fn common(seed: u64) -> Vec<Step> {
        let mut maker = Maker {
            model: Model::default(),
            steps: Vec::new(),
            next: FIRST,
            random: Random(seed),
            surfaces: false,
            shares: true,
        };
        maker.make(Create::Cache { from: None });
        (0..KERNELS).for_each(|_| maker.kernel());
        let targets: Vec<vk::Format> = ROWS.iter().filter(|row| row.target).map(|row| row.format).collect();
        for _ in 0..PIPELINES {
            let format = maker.random.pick(&targets);
            let is_depth = crate::format::aspects(format).contains(vk::ImageAspectFlags::DEPTH);
            let (colors, depth) = if is_depth { (Vec::new(), Some(format)) } else { (vec![format], None) };
            maker.pipeline_for(Shape { colors, depth, samples: 1 }, None, 0);
        }
        maker.steps
    }
}

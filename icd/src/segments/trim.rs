//! What tiles need not load or store, because memory holds it and no draw changes it, or nobody keeps it: a tile of 64x64
//! pixels is 16 KiB of memory each way, and few draws cost as much.

use std::sync::Arc;

use vc4::state::PixelRect;

use super::list::DrawList;
use super::target::{Start, Target};
use crate::pipeline::Effects;

impl Target {
    /// The target as far as these draws need it; `None` if memory stays as it is.
    pub fn trimmed(&self, draws: &[Arc<DrawList>]) -> Option<Target> {
        let any = |may: &dyn Fn(&Effects) -> bool| {
            let mut pipelines = draws.iter().flat_map(|list| list.pipelines());
            pipelines
                .any(|pipeline| pipeline.compiled.as_ref().is_some_and(|compiled| may(&compiled.effects)))
        };
        let mut target = self.clone();
        for (pass, color) in target.colors.iter_mut().enumerate() {
            let stays = || !color.start.clears() && !any(&|draws| draws.change_color(pass));
            // What is not kept may be read by the draws themselves.
            let is_kept = color.store || color.is_read;
            color.is_idle = color.resolve.is_none() && (!is_kept || stays());
        }
        if !target.depth_stencil_start.clears() && !any(&|draws| draws.change_depth_stencil) {
            target.depth_stencil_store = false;
            // Where draws need several jobs, these store between them what there is: so it is not there.
            if !any(&|draws| draws.test) {
                (target.depth_stencil, target.depth_stencil_start) = (None, Start::Any);
            }
        }
        (target.depth_stencil_store || target.colors.iter().any(|color| !color.is_idle)).then_some(target)
    }

    /// The target without the tiles that no draw touches, where those are in memory as they are to be. `touched` is
    /// what draws may change; `None` if there are no such tiles left.
    pub fn within(mut self, touched: PixelRect) -> Option<Target> {
        let mut colors = self.colors.iter();
        let colors_change =
            colors.any(|color| color.start.clears() && color.store || color.resolve.is_some());
        let depth_changes = self.depth_stencil_start.clears() && self.depth_stencil_store;
        if !colors_change && !depth_changes {
            self.area = self.area.intersect(touched);
        }
        (!self.area.is_empty()).then_some(self)
    }
}

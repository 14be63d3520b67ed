//! What draws of a pipeline may do to attachments, whatever their shaders compute.

use vc4::cl::words::StencilOp;
use vc4::state::DepthStencil;
use vc4::state::depth_stencil::StencilFaceState;

use super::info::GraphicsInfo;
use super::translate::ColorPass;

/// What draws may do to attachments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    /// Whether they may change a colour, in the order of [`crate::segments::Target::colors`].
    colors: Box<[bool]>,
    /// They look at depth or stencil.
    pub test: bool,
    /// They may change depth or stencil.
    pub change_depth_stencil: bool,
}

impl Effects {
    /// Those of a state. `shades`: there is a fragment stage.
    pub(super) fn new(
        info: &GraphicsInfo,
        colors: &[ColorPass],
        depth_stencil: Option<&DepthStencil>,
        shades: bool,
    ) -> Effects {
        // Finished programs do what they do.
        let any = info.has_assembly();
        let state = |ask: fn(&DepthStencil) -> bool| any || depth_stencil.is_some_and(ask);
        Effects {
            colors: colors.iter().map(|pass| any || shades && pass.output.writes_color()).collect(),
            test: state(|state| state.depth_test || state.stencil.is_some()),
            change_depth_stencil: state(|state| {
                let stencil = state.stencil.is_some_and(|faces| faces.iter().any(changes));
                state.depth_test && state.depth_write || stencil
            }),
        }
    }

    /// Whether they may change a colour.
    pub fn change_color(&self, pass: usize) -> bool {
        self.colors.get(pass).copied().unwrap_or(true)
    }
}

/// Whether a face's state changes stencils. Write masks may be dynamic, so they are not asked.
fn changes(face: &StencilFaceState) -> bool {
    [face.fail, face.pass, face.depth_fail].iter().any(|op| *op != StencilOp::Keep)
}

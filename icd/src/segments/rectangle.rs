//! A rectangle that one fragment program fills.

use std::sync::Arc;

use ash::vk;
use vc4::state::PixelRect;

use super::draw::{DrawCall, DrawParameters};
use super::list::{DrawList, DrawState};
use super::segment::RenderSegment;
use super::target::{ColorTarget, Start, Target};
use crate::objects::descriptor::DescriptorSet;
use crate::objects::image_view::ImageView;
use crate::pipeline::Pipeline;
use crate::pipeline::dynamic::Dynamic;

/// A rectangle of a view.
pub struct Rectangle {
    /// What it is drawn to.
    pub view: Arc<ImageView>,
    /// Its pixels.
    pub area: PixelRect,
    /// Whether what else is in its tiles stays as it was. Without this the rectangle ends where tiles or the view do.
    pub keeps: bool,
}

impl Rectangle {
    /// A segment that draws it by a pipeline of [`crate::pipeline::Rectangles`], with sets by number and push constants.
    pub fn segment<'a>(
        self,
        pipeline: &Arc<Pipeline>,
        sets: impl Fn(usize) -> Option<(&'a Arc<DescriptorSet>, &'a [u32])>,
        push: &[u32],
    ) -> RenderSegment {
        let Rectangle { view, area, keeps } = self;
        let list = cover(pipeline, area, Dynamic::default(), sets, push);
        let size = view.extent();
        let start = if keeps { Start::Load } else { Start::Any };
        let color = |plane| ColorTarget {
            view: view.clone(),
            location: 0,
            plane,
            start,
            store: true,
            resolve: None,
            is_read: false,
            is_idle: false,
        };
        let colors = (0..view.stored.planes()).map(color).collect();
        let target = Target { colors, ..Target::empty(size, area) };
        RenderSegment::new(target, vec![Arc::new(list)])
    }
}

/// A draw over pixels with a pipeline for rectangles. Of the state its depth range and stencil references count.
pub fn cover<'a>(
    pipeline: &Arc<Pipeline>,
    area: PixelRect,
    state: Dynamic,
    sets: impl Fn(usize) -> Option<(&'a Arc<DescriptorSet>, &'a [u32])>,
    push: &[u32],
) -> DrawList {
    let (width, height) = ((area.right - area.left) as u32, (area.bottom - area.top) as u32);
    let viewport = vk::Viewport {
        x: area.left as f32,
        y: area.top as f32,
        width: width as f32,
        height: height as f32,
        ..state.viewport
    };
    let offset = vk::Offset2D { x: area.left, y: area.top };
    let scissor = vk::Rect2D { offset, extent: vk::Extent2D { width, height } };
    let dynamic = Dynamic { viewport, scissor, ..state };
    let mut list = DrawList::default();
    let state = DrawState {
        pipeline: list.add_pipeline(pipeline),
        dynamic: list.add_dynamic(pipeline.fix(dynamic)),
        sets: list.add_sets(DrawState::NOTHING.sets, u32::MAX, sets),
        push: list.add_push(push),
        ..DrawState::NOTHING
    };
    list.add_state(state);
    let corners = DrawParameters { count: 4, instances: 1, first: 0, vertex_offset: None, first_instance: 0 };
    list.push(DrawCall::Direct(corners));
    list
}

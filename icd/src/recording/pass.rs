//! A render pass under recording: subpasses become render segments, load and store operations their starts and
//! stores (vulkan-on-vc4.md §8.6).
//!
//! Tiles are cleared, loaded and stored as a whole, depth and stencil together. What does not fit that (render areas
//! that cut tiles, clears of one aspect beside loads of the other) is cleared by the CPU in memory, and the tiles load it.
//! vkCmdClearAttachments between draws is a draw itself where one says the same.

use std::sync::Arc;

use ash::vk;
use vc4::image::format::depth_to_unorm24;
use vc4::state::PixelRect;

use super::stand_in::{Attached, StandIn};
use crate::foundation::error::Error;
use crate::objects::device::Device;
use crate::objects::image_view::ImageView;
use crate::objects::placement::common_width;
use crate::objects::query::{Counting, QueryCommand};
use crate::objects::render_pass::{Attachment, Framebuffer, RenderPass, Subpass};
use crate::pipeline::dynamic::{Dynamic, StencilFace};
use crate::pipeline::{Cleared, Clears};
use crate::segments::DrawList;
use crate::segments::{
    ColorTarget, DepthStencilWord, RenderSegment, Segment, Segments, Start, Target, append, cover, tile_px,
};
use crate::transfers::clear::FillParts;
use crate::transfers::fill::{ClearWords, Fill};
use crate::transfers::resolve::{Resolve, tiles_can_average};

/// vkCmdBeginRenderPass, vkCmdBeginRendering.
pub struct PassBegin {
    /// What happens to attachments.
    pub render_pass: Arc<RenderPass>,
    /// The attachments.
    pub framebuffer: Arc<Framebuffer>,
    /// Pixels that are touched.
    pub area: vk::Rect2D,
    /// Clear values by attachment number.
    pub clears: Vec<ClearWords>,
    /// Another command buffer goes on: everything is kept as it is, nothing resolved.
    pub suspends: bool,
}

/// One attachment of vkCmdClearAttachments.
#[derive(Clone, Copy, Debug)]
pub struct ClearAttachment {
    /// Aspects.
    pub aspects: vk::ImageAspectFlags,
    /// Index among the subpass's colours.
    pub color: u32,
    /// Value.
    pub value: ClearWords,
}

/// An attachment of a render pass and the view of the pass that draws to it.
type Number = (u32, u32);

/// The pass and where recording is in it.
pub struct Pass {
    device: Arc<Device>,
    begin: PassBegin,
    subpass: usize,
    area: PixelRect,
    /// What the subpass draws to, view by view: all draw the same.
    targets: Vec<Target>,
    /// What is drawn to instead of attachments of the subpass.
    stand_ins: Vec<(Number, StandIn)>,
    draws: Vec<Arc<DrawList>>,
    /// What happens when the segment under way has been drawn.
    after: Segments,
    /// What queries that are under way ask.
    counting: Counting,
}

/// The layers of a view that a clear names, of those that there are.
fn clear_layers(rect: &vk::ClearRect, there: u32) -> std::ops::Range<u32> {
    rect.base_array_layer..rect.base_array_layer.saturating_add(rect.layer_count).min(there)
}

impl Pass {
    /// Begins the first subpass.
    pub fn begin(
        device: &Arc<Device>,
        begin: PassBegin,
        counting: Counting,
        segments: &mut Segments,
    ) -> Result<Pass, Error> {
        let (width, height) = (begin.framebuffer.width, begin.framebuffer.height);
        let rect = begin.area;
        let area = PixelRect::new(rect.offset.x, rect.offset.y, rect.extent.width, rect.extent.height);
        let area = area.intersect(PixelRect::new(0, 0, width, height));
        let mut pass = Pass {
            device: device.clone(),
            begin,
            subpass: 0,
            area,
            targets: Vec::new(),
            stand_ins: Vec::new(),
            draws: Vec::new(),
            after: Vec::new(),
            counting,
        };
        pass.start(segments)?;
        Ok(pass)
    }

    fn current(&self) -> Result<&Subpass, Error> {
        let count = self.begin.render_pass.subpasses.len();
        let outside = || Error::InvalidUse(format!("subpass {} of {count}", self.subpass));
        self.begin.render_pass.subpasses.get(self.subpass).ok_or_else(outside)
    }

    /// Sets the current subpass up.
    fn start(&mut self, segments: &mut Segments) -> Result<(), Error> {
        let views: Vec<u32> = self.current()?.views().collect();
        let stand_ins = views.iter().map(|view| self.replace(*view)).collect::<Result<Vec<_>, _>>()?;
        self.stand_ins = stand_ins.into_iter().flatten().collect();
        for ((index, view), stand_in) in &self.stand_ins {
            if self.is_used_before(*index, *view) || self.attachment(*index).loads() {
                segments.extend(stand_in.take_over(self.area)?);
            }
        }
        let targets = views.into_iter().map(|view| self.start_view(view, segments));
        self.targets = targets.collect::<Result<_, _>>()?;
        // Inputs are read where they are, cleared.
        self.bring_back(Self::is_input, segments)
    }

    /// Makes what a view of the current subpass draws to instead of attachments whose rows do not go with the others'.
    fn replace(&self, view: u32) -> Result<Vec<(Number, StandIn)>, Error> {
        let subpass = self.current()?;
        let attached = |index| Ok::<_, Error>((index, self.view(index, view)?));
        let attached = Attached {
            colors: subpass.drawn_colors().map(|(_, index)| attached(index)).collect::<Result<_, _>>()?,
            depth_stencil: subpass.depth_stencil.map(attached).transpose()?,
        };
        let Some((replaced, width)) = attached.replaced() else { return Ok(Vec::new()) };
        let Framebuffer { height, layers, .. } = *self.begin.framebuffer;
        let stand_in = |index| {
            let of = self.view(index, view)?;
            Ok(((index, view), StandIn::new(&self.device, &of, [width, height], layers.max(1))?))
        };
        replaced.into_iter().map(stand_in).collect()
    }

    /// Brings what stands in for attachments of a kind to them.
    fn bring_back(&self, is: impl Fn(&Pass, Number) -> bool, segments: &mut Segments) -> Result<(), Error> {
        for (_, stand_in) in self.stand_ins.iter().filter(|(number, _)| is(self, *number)) {
            segments.extend(stand_in.bring_back(self.area)?);
        }
        Ok(())
    }

    /// Whether the current subpass reads an attachment.
    fn is_input(&self, (index, _): Number) -> bool {
        self.current().is_ok_and(|subpass| subpass.inputs.contains(&Some(index)))
    }

    /// Whether what the current subpass draws to an attachment is needed after it.
    fn is_kept(&self, (index, view): Number) -> bool {
        self.is_used_later(index, view) || self.attachment(index).stores()
    }

    /// What is drawn to in the place of an attachment, if that is not itself.
    fn stand_in(&self, number: Number) -> Option<&StandIn> {
        self.stand_ins.iter().find(|(of, _)| *of == number).map(|(_, stand_in)| stand_in)
    }

    /// What a view of the pass draws to, and whether its tiles hold nothing else that counts: only the pass's area.
    fn drawn(&self, number: Number) -> Result<(Arc<ImageView>, bool), Error> {
        match self.stand_in(number) {
            Some(stand_in) => Ok((stand_in.view.clone(), true)),
            None => {
                let view = self.view(number.0, number.1)?;
                let covers = covers(&view, self.area);
                Ok((view, covers))
            }
        }
    }

    /// Sets a view of the current subpass up.
    fn start_view(&self, view: u32, segments: &mut Segments) -> Result<Target, Error> {
        let subpass = self.current()?;
        let size = (self.begin.framebuffer.width, self.begin.framebuffer.height);
        let mut target = Target { view, ..Target::empty(size, self.area) };
        for index in subpass.only_read() {
            self.clear_apart(index, view, ANY_ASPECT, segments)?;
        }
        if let Some(resolve) = subpass.depth_stencil_resolve {
            self.clear_apart(resolve.attachment, view, resolve.left_alone(), segments)?;
        }
        for (location, index) in subpass.drawn_colors() {
            self.start_color(location, (index, view), &mut target.colors, segments)?;
        }
        if let Some(index) = subpass.depth_stencil {
            target.depth_stencil = Some(self.drawn((index, view))?.0);
            target.depth_stencil_start = self.start_depth_stencil((index, view), segments)?;
            target.depth_stencil_store = self.is_kept((index, view));
        }
        target.count_samples();
        for pass in target.passes() {
            let places: Vec<_> = target.pass(pass).views().filter_map(|view| view.shape()).collect();
            if !places.is_empty() && common_width(&places).is_none() {
                let widths: Vec<u32> = places.iter().map(|place| place.padded_width()).collect();
                let what = format!("attachments whose rows have {widths:?} pixels in memory in one subpass");
                return Err(Error::unsupported(what, "use attachments of equal size"));
            }
        }
        Ok(target)
    }

    /// The current subpass's resolve target of a location, for a view.
    fn resolve(&self, location: u32, view: u32) -> Result<Option<Arc<ImageView>>, Error> {
        let resolves = &self.current()?.resolves;
        resolves.get(location as usize).copied().flatten().map(|index| self.view(index, view)).transpose()
    }

    /// What a view of the pass draws to of an attachment: the layer of its number.
    fn view(&self, index: u32, view: u32) -> Result<Arc<ImageView>, Error> {
        let missing = || Error::InvalidUse(format!("a framebuffer without attachment {index}"));
        let attachment = self.begin.framebuffer.attachments.get(index as usize).ok_or_else(missing)?;
        Ok(if view == 0 { attachment.clone() } else { Arc::new(attachment.layer(view)?) })
    }

    /// Render passes check their indices when they are made.
    fn attachment(&self, index: u32) -> &Attachment {
        &self.begin.render_pass.attachments[index as usize]
    }

    fn clear_value(&self, index: u32) -> ClearWords {
        self.begin.clears.get(index as usize).copied().unwrap_or_default()
    }

    fn is_used(&self, mut range: impl Iterator<Item = usize>, index: u32, view: u32) -> bool {
        range.any(|subpass| self.begin.render_pass.subpasses[subpass].uses(index, view))
    }

    fn is_used_before(&self, index: u32, view: u32) -> bool {
        self.is_used(0..self.subpass, index, view)
    }

    fn is_used_later(&self, index: u32, view: u32) -> bool {
        self.is_used(self.subpass + 1..self.begin.render_pass.subpasses.len(), index, view)
    }

    /// Clears aspects of an attachment that nothing draws to before a subpass reads them, or leaves them as they are.
    fn clear_apart(
        &self,
        index: u32,
        number: u32,
        aspects: vk::ImageAspectFlags,
        segments: &mut Segments,
    ) -> Result<(), Error> {
        let aspects = self.attachment(index).cleared() & aspects;
        if aspects.is_empty() || self.is_used_before(index, number) {
            return Ok(());
        }
        let (view, value) = (self.view(index, number)?, self.clear_value(index));
        let fill = match aspects.contains(vk::ImageAspectFlags::COLOR) {
            true => Fill::color(&view, value)?,
            false => Fill::depth_stencil(aspects, value),
        };
        self.clear_layers(&view, fill, 0, segments);
        Ok(())
    }

    /// Appends what drawing to an attachment begins with, one plane after the other.
    fn start_color(
        &self,
        location: u32,
        (index, number): Number,
        colors: &mut Vec<ColorTarget>,
        segments: &mut Segments,
    ) -> Result<(), Error> {
        let (view, covered) = self.drawn((index, number))?;
        let (fill, value) = (Fill::color(&view, self.clear_value(index))?, self.attachment(index).load);
        let is_read = self.is_input((index, number));
        let whole = covered && !is_read;
        let start = match value {
            _ if self.is_used_before(index, number) => Start::Load,
            vk::AttachmentLoadOp::CLEAR => {
                self.clear_layers(&view, fill, if whole { 1 } else { 0 }, segments);
                if whole { Start::Clear(fill) } else { Start::Load }
            }
            vk::AttachmentLoadOp::LOAD => Start::Load,
            _ if whole => Start::Any,
            _ => Start::Load,
        };
        let store = self.is_kept((index, number));
        colors.extend((0..view.stored.planes()).map(|plane| ColorTarget {
            view: view.clone(),
            location,
            plane,
            start: start.map(|fill| fill.word(plane)),
            store,
            resolve: None,
            is_read,
            is_idle: false,
        }));
        Ok(())
    }

    fn start_depth_stencil(
        &self,
        (index, number): Number,
        segments: &mut Segments,
    ) -> Result<Start<DepthStencilWord>, Error> {
        let (view, covered) = self.drawn((index, number))?;
        if self.is_used_before(index, number) {
            return Ok(Start::Load);
        }
        let (attachment, value) = (self.attachment(index), self.clear_value(index));
        let aspects = attachment.cleared();
        let fill = Fill::depth_stencil(aspects, value);
        let whole = covered && !attachment.loads() && !self.is_input((index, number));
        self.clear_layers(&view, fill, if whole { 1 } else { 0 }, segments);
        Ok(match (whole, !aspects.is_empty()) {
            (true, true) => Start::Clear(DepthStencilWord {
                depth: depth_to_unorm24(value.depth()),
                stencil: value.stencil() as u8,
            }),
            (true, false) => Start::Any,
            (false, _) => Start::Load,
        })
    }

    /// Clears layers of an attachment from `first` on by the CPU: drawing reaches the first one only.
    fn clear_layers(&self, view: &Arc<ImageView>, fill: Fill, first: u32, segments: &mut Segments) {
        if fill.mask != 0 {
            let layers = first..self.begin.framebuffer.layers.max(1);
            segments.extend(layers.map(|layer| fill_segment(view, fill, layer, self.area)));
        }
    }

    /// Appends draws. Without attachments they may have other samples than those before, which a job cannot.
    pub fn draw(&mut self, draws: Arc<DrawList>, segments: &mut Segments) -> Result<(), Error> {
        let samples = draws.pipelines().iter().find_map(|pipeline| pipeline.samples());
        let changes = |target: &Target| {
            target.views().next().is_none() && samples.is_some_and(|samples| samples != target.samples)
        };
        if !self.draws.is_empty() && self.targets.iter().any(changes) {
            self.split(segments)?;
        }
        self.append(draws)
    }

    fn append(&mut self, draws: Arc<DrawList>) -> Result<(), Error> {
        for samples in draws.pipelines().iter().filter_map(|pipeline| pipeline.samples()) {
            for target in &mut self.targets {
                let (attached, have) = (target.views().next().is_some(), target.samples);
                if attached && samples != have {
                    let what = format!("a pipeline of {samples} samples on attachments of {have}");
                    return Err(Error::InvalidUse(what));
                }
                target.samples = samples;
            }
        }
        self.draws.push(draws);
        Ok(())
    }

    /// vkCmdPipelineBarrier: where the subpass reads an attachment that it draws to, what was drawn goes to memory.
    pub fn barrier(&mut self, segments: &mut Segments) -> Result<(), Error> {
        let subpass = self.current()?;
        let drawn = subpass.colors.iter().chain([&subpass.depth_stencil]).flatten();
        let reads_own = drawn.into_iter().any(|index| subpass.inputs.contains(&Some(*index)));
        if reads_own && !self.draws.is_empty() { self.split(segments) } else { Ok(()) }
    }

    /// A command of a query pool. Monitors count whole jobs, so queries begin and end between segments; timestamps
    /// are taken when the segment is complete. Views have queries of their own, one behind the other: the first counts
    /// for all, the others find nothing.
    pub fn query(&mut self, command: QueryCommand, segments: &mut Segments) -> Result<(), Error> {
        let views = self.targets.len().max(1) as u32;
        if let QueryCommand::Timestamp(pool, first) = &command {
            let queries =
                (0..views).map(|view| QueryCommand::Timestamp(pool.clone(), first.saturating_add(view)));
            self.after.extend(queries.map(Segment::Query));
            return Ok(());
        }
        if !self.draws.is_empty() {
            self.split(segments)?;
        }
        self.counting.note(&command);
        if let QueryCommand::End(pool, first) = &command {
            let queries = (0..views).map(|view| QueryCommand::End(pool.clone(), first.saturating_add(view)));
            segments.extend(queries.map(Segment::Query));
            return Ok(());
        }
        segments.push(Segment::Query(command));
        Ok(())
    }

    /// vkCmdClearAttachments.
    pub fn clear(
        &mut self,
        attachments: &[ClearAttachment],
        rects: &[vk::ClearRect],
        segments: &mut Segments,
    ) -> Result<(), Error> {
        for clear in attachments {
            for rect in rects {
                self.clear_one(clear, rect, segments)?;
            }
        }
        Ok(())
    }

    fn clear_one(
        &mut self,
        clear: &ClearAttachment,
        rect: &vk::ClearRect,
        segments: &mut Segments,
    ) -> Result<(), Error> {
        let color = clear.aspects.contains(vk::ImageAspectFlags::COLOR).then_some(clear.color);
        let cleared = |target: &Target| match color {
            Some(location) => target.color_at(location).map(|color| color.view.clone()),
            None => target.depth_stencil.clone(),
        };
        let Some(view) = self.targets.first().and_then(cleared) else { return Ok(()) };
        let fill = match color {
            Some(_) => Fill::color(&view, clear.value)?,
            None => Fill::depth_stencil(clear.aspects & view.row.aspects(), clear.value),
        };
        let vk::Rect2D { offset, extent } = rect.rect;
        let area = PixelRect::new(offset.x, offset.y, extent.width, extent.height).intersect(self.area);
        if area.is_empty() || fill.mask == 0 {
            return Ok(());
        }
        let first = rect.base_array_layer == 0 && self.clears_all(&view, area, fill, color);
        let counts = self.counting.samples || self.counting.statistics;
        if !first && !counts && self.clear_by_draw(clear, rect, area)? {
            return Ok(());
        }
        if !first {
            self.split(segments)?;
        }
        for view in self.targets.iter().filter_map(cleared) {
            let layers =
                clear_layers(rect, view.image.slices(view.base_level).saturating_sub(view.base_layer));
            let layers = layers.skip(usize::from(first));
            segments.extend(layers.map(|layer| fill_segment(&view, fill, layer, area)));
        }
        Ok(())
    }

    /// Makes a clear of everything before the first draw the start of the tiles. The views of all targets are alike.
    fn clears_all(&mut self, view: &ImageView, area: PixelRect, fill: Fill, color: Option<u32>) -> bool {
        if !self.draws.is_empty() || area != self.area || !covers(view, area) {
            return false;
        }
        let needed = color.is_some() || !view.row.has_stencil() || fill.mask == u32::MAX;
        for target in self.targets.iter_mut().filter(|_| needed) {
            match color {
                Some(location) => target.clear_color(location, |plane| fill.word(plane)),
                None => {
                    let word = DepthStencilWord { depth: fill.word(0) >> 8, stencil: fill.word(0) as u8 };
                    target.depth_stencil_start = Start::Clear(word);
                }
            }
        }
        needed
    }

    /// Appends a draw that clears pixels as exactly as tiles are cleared, if there is one and memory for it; it would reach
    /// one layer.
    fn clear_by_draw(
        &mut self,
        clear: &ClearAttachment,
        rect: &vk::ClearRect,
        area: PixelRect,
    ) -> Result<bool, Error> {
        let Some(samples) = self.targets.first().map(|target| target.samples) else { return Ok(false) };
        let formats = self.begin.render_pass.formats(self.subpass as u32)?;
        let ClearWords(words) = clear.value;
        let (cleared, push, depth) = match clear.aspects.contains(vk::ImageAspectFlags::COLOR) {
            true => (Cleared::Color(clear.color), &words[..], 0.0),
            false => {
                let aspects = clear.aspects & formats.depth_stencil;
                let has_depth = aspects.contains(vk::ImageAspectFlags::DEPTH);
                let depth = if has_depth { clear.value.depth() } else { 0.0 };
                (Cleared::DepthStencil(aspects), &[][..], depth)
            }
        };
        // How the machine rounds depths between the ends is not known.
        if (rect.base_array_layer, rect.layer_count) != (0, 1) || ![0.0, 1.0].contains(&depth) {
            return Ok(false);
        }
        let clears = self.device.shelf().get::<Clears>();
        let Ok(pipeline) = clears.pipeline(&self.device, &formats, samples, cleared) else {
            return Ok(false);
        };
        let viewport = vk::Viewport { min_depth: depth, max_depth: depth, ..Default::default() };
        let reference = StencilFace { reference: clear.value.stencil(), ..StencilFace::default() };
        let state = Dynamic { viewport, stencil: [reference; 2], ..Dynamic::default() };
        self.append(Arc::new(cover(&pipeline, area, state, |_| None, push)))?;
        Ok(true)
    }

    /// Ends the segment so that the CPU can work on the attachments; what follows loads them.
    fn split(&mut self, segments: &mut Segments) -> Result<(), Error> {
        let mut targets = self.targets.clone();
        targets.iter_mut().for_each(Target::keep);
        self.push(targets, segments);
        self.targets.iter_mut().for_each(Target::load);
        self.bring_back(Self::is_input, segments)
    }

    /// Appends what was drawn on `targets`, unless that changes nothing, and what waits for it.
    fn push(&mut self, targets: Vec<Target>, segments: &mut Segments) {
        let draws = std::mem::take(&mut self.draws);
        for mut target in targets {
            target.counts_samples = self.counting.exact;
            target.counts_draws = self.counting.statistics;
            let does = |color: &ColorTarget| color.start.clears() || color.resolve.is_some();
            let does = target.depth_stencil_start.clears() || target.colors.iter().any(does);
            if !target.area.is_empty() && (does || !draws.is_empty()) {
                append(segments, RenderSegment::new(target, draws.clone()));
            }
        }
        segments.append(&mut self.after);
    }

    /// Ends the subpass: tiles resolve what they can while they are stored, the CPU does the rest in memory.
    fn flush(&mut self, segments: &mut Segments) -> Result<(), Error> {
        if self.begin.suspends {
            self.split(segments)?;
            return self.bring_back(|_, _| true, segments);
        }
        let layers = self.begin.framebuffer.layers.max(1);
        let depth_stencil_resolve = self.current()?.depth_stencil_resolve;
        let mut targets = self.targets.clone();
        let mut by_cpu: Vec<Segment> = Vec::new();
        for target in &mut targets {
            for pass in 0..target.colors.len() {
                let in_tiles = target.pass(pass);
                let color = &mut target.colors[pass];
                let Some(to) = self.resolve(color.location, target.view)? else { continue };
                let first = u32::from(resolves_in_tiles(&in_tiles, &to));
                if first > 0 {
                    color.resolve = Some(to.clone());
                } else {
                    color.store = true;
                }
                // The CPU resolves all planes at once.
                if color.plane == 0 && first < layers {
                    let resolve = Resolve::of_views(&color.view, &to, self.area, first..layers);
                    by_cpu.push(Segment::Cpu(Arc::new(resolve)));
                }
            }
            if let (Some(from), Some(resolve)) = (&target.depth_stencil, depth_stencil_resolve) {
                target.depth_stencil_store = true;
                let to = self.view(resolve.attachment, target.view)?;
                let (layers, ways) = (0..layers, resolve.ways);
                let resolve = Resolve::of_depth_stencil_views(from, &to, self.area, layers, ways);
                by_cpu.push(Segment::Cpu(Arc::new(resolve)));
            }
        }
        self.push(targets, segments);
        segments.extend(by_cpu);
        self.bring_back(Self::is_kept, segments)
    }

    /// vkCmdNextSubpass.
    pub fn next(&mut self, segments: &mut Segments) -> Result<(), Error> {
        self.flush(segments)?;
        self.subpass += 1;
        self.start(segments)
    }

    /// vkCmdEndRenderPass, vkCmdEndRendering.
    pub fn end(mut self, segments: &mut Segments) -> Result<(), Error> {
        self.flush(segments)
    }
}

/// Aspects that attachments have.
const ANY_ASPECT: vk::ImageAspectFlags = vk::ImageAspectFlags::from_raw(
    vk::ImageAspectFlags::COLOR.as_raw()
        | vk::ImageAspectFlags::DEPTH.as_raw()
        | vk::ImageAspectFlags::STENCIL.as_raw(),
);

fn fill_segment(view: &Arc<ImageView>, fill: Fill, layer: u32, area: PixelRect) -> Segment {
    Segment::Cpu(Arc::new(FillParts::of_view(fill, view, layer, area)))
}

/// Whether a pass's stores can resolve its colour to `to`: the format averages, no tile holds pixels outside of the
/// area, and one width gives all surfaces their row pitch.
fn resolves_in_tiles(target: &Target, to: &ImageView) -> bool {
    let places: Option<Vec<_>> = target.views().map(|view| view.shape()).chain([to.shape()]).collect();
    tiles_can_average(to)
        && covers_tiles(to, target.area, target.tile_px())
        && places.is_some_and(|places| common_width(&places).is_some())
}

/// Whether the tiles that `area` touches hold no other pixels of the view, so that they need not be loaded.
fn covers(view: &ImageView, area: PixelRect) -> bool {
    covers_tiles(view, area, tile_px(view.samples()))
}

/// As [`covers`], for tiles of another edge than the view's own.
fn covers_tiles(view: &ImageView, area: PixelRect, tile_px: u32) -> bool {
    let (width, height) = view.extent();
    let tile = tile_px as i32;
    let ends = |low: i32, high: i32, edge: u32| low % tile == 0 && (high % tile == 0 || high >= edge as i32);
    ends(area.left, area.right, width) && ends(area.top, area.bottom, height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_has_no_more_layers_than_there_are() {
        let rect = |base_array_layer, layer_count| vk::ClearRect {
            base_array_layer,
            layer_count,
            ..Default::default()
        };
        assert_eq!(clear_layers(&rect(0, 2), 4), 0..2);
        assert_eq!(clear_layers(&rect(1, u32::MAX), 4), 1..4);
        assert!(clear_layers(&rect(u32::MAX, 1), 4).is_empty());
    }
}

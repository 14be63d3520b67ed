//! Descriptors as the API takes them.

use ash::vk::{self, Handle};

use super::Runner;
use crate::api::slot::Id;
use crate::api::step::*;

/// What the items of a write become.
#[derive(Default)]
struct Described {
    images: Vec<vk::DescriptorImageInfo>,
    buffers: Vec<vk::DescriptorBufferInfo>,
    texels: Vec<vk::BufferView>,
}

fn is_image(kind: vk::DescriptorType) -> bool {
    matches!(
        kind,
        vk::DescriptorType::SAMPLER
            | vk::DescriptorType::COMBINED_IMAGE_SAMPLER
            | vk::DescriptorType::SAMPLED_IMAGE
            | vk::DescriptorType::STORAGE_IMAGE
            | vk::DescriptorType::INPUT_ATTACHMENT
    )
}

fn is_texels(kind: vk::DescriptorType) -> bool {
    matches!(kind, vk::DescriptorType::UNIFORM_TEXEL_BUFFER | vk::DescriptorType::STORAGE_TEXEL_BUFFER)
}

impl Runner<'_> {
    fn image_info(&self, item: &Item) -> vk::DescriptorImageInfo {
        let (view, sampler) = match item {
            Item::Image { view, sampler } => (self.some(*view), self.some(*sampler)),
            _ => (vk::ImageView::null(), vk::Sampler::null()),
        };
        vk::DescriptorImageInfo { sampler, image_view: view, image_layout: vk::ImageLayout::GENERAL }
    }

    fn buffer_info(&self, item: &Item) -> vk::DescriptorBufferInfo {
        match item {
            Item::Buffer { buffer, offset, range } => {
                vk::DescriptorBufferInfo { buffer: self.handle(*buffer), offset: *offset, range: *range }
            }
            _ => vk::DescriptorBufferInfo::default(),
        }
    }

    /// Whether items are what a template says of the data: drivers cannot tell.
    pub(super) fn is_described(&self, template: Id, items: &[Item]) -> bool {
        let Some(Create::Template { bindings, .. }) = self.objects.get(&template).map(|object| &object.what)
        else {
            return false;
        };
        let same = |(binding, item): (&Binding, &Item)| {
            let fits = match item {
                Item::Buffer { .. } => !is_image(binding.kind) && !is_texels(binding.kind),
                Item::Texels { .. } => is_texels(binding.kind),
                Item::Image { .. } => is_image(binding.kind),
            };
            binding.count == 1 && fits
        };
        bindings.len() == items.len() && bindings.iter().zip(items).all(same)
    }

    /// An item in the data of a template.
    pub(super) fn item_words(&self, item: &Item) -> [u64; 3] {
        match item {
            Item::Buffer { .. } => {
                let info = self.buffer_info(item);
                [info.buffer.as_raw(), info.offset, info.range]
            }
            Item::Texels { view } => [self.handle::<vk::BufferView>(*view).as_raw(), 0, 0],
            Item::Image { .. } => {
                let info = self.image_info(item);
                [info.sampler.as_raw(), info.image_view.as_raw(), info.image_layout.as_raw() as u64]
            }
        }
    }

    /// Makes the API's writes of a program's: each has as many items as its array, of whatever kind it says.
    pub(super) fn with_writes(
        &mut self,
        set: vk::DescriptorSet,
        writes: &[Write],
        take: impl FnOnce(&mut Self, &[vk::WriteDescriptorSet<'_>]),
    ) {
        let described: Vec<Described> = writes
            .iter()
            .map(|write| {
                let items = write.items.iter();
                let mut described = Described::default();
                if is_image(write.kind) {
                    described.images = items.map(|item| self.image_info(item)).collect();
                } else if is_texels(write.kind) {
                    let view = |item: &Item| match item {
                        Item::Texels { view } => self.handle(*view),
                        _ => vk::BufferView::null(),
                    };
                    described.texels = items.map(view).collect();
                } else {
                    described.buffers = items.map(|item| self.buffer_info(item)).collect();
                }
                described
            })
            .collect();
        let all: Vec<_> = writes
            .iter()
            .zip(&described)
            .map(|(write, described)| {
                let one = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(write.binding)
                    .dst_array_element(write.element)
                    .descriptor_type(write.kind);
                if is_image(write.kind) {
                    one.image_info(&described.images)
                } else if is_texels(write.kind) {
                    one.texel_buffer_view(&described.texels)
                } else {
                    one.buffer_info(&described.buffers)
                }
            })
            .collect();
        take(self, &all);
    }
}

//! What steps are made of: words that can be looked at, and spoiled, whatever step they stand in.

use ash::vk;

/// An object of a program, of whatever kind. Never given twice in a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(pub u32);

/// A place in a step.
pub enum Slot<'a> {
    /// An object that the step names.
    Id(&'a mut Id),
    /// A number, a set of flags or one of a list of values.
    Word(&'a mut u32),
    /// A size or offset.
    Long(&'a mut u64),
    /// A coordinate.
    Float(&'a mut f32),
    /// A choice.
    Flag(&'a mut bool),
}

/// Data with places in it.
pub trait Slots {
    /// Shows each place, in an order that is always the same.
    fn slots(&mut self, each: &mut dyn FnMut(Slot<'_>));
}

/// The objects that a piece of data names.
pub fn ids<T: Slots + Clone>(data: &T) -> Vec<Id> {
    let mut found = Vec::new();
    data.clone().slots(&mut |slot| {
        if let Slot::Id(id) = slot {
            found.push(*id);
        }
    });
    found
}

macro_rules! plain {
    ($($ty:ty: $slot:ident),*) => {$(
        impl Slots for $ty {
            fn slots(&mut self, each: &mut dyn FnMut(Slot<'_>)) {
                each(Slot::$slot(self));
            }
        }
    )*};
}
plain!(Id: Id, u32: Word, u64: Long, f32: Float, bool: Flag);

impl Slots for i32 {
    fn slots(&mut self, each: &mut dyn FnMut(Slot<'_>)) {
        let mut word = *self as u32;
        each(Slot::Word(&mut word));
        *self = word as i32;
    }
}

macro_rules! flags {
    ($($ty:ty),*) => {$(
        impl Slots for $ty {
            fn slots(&mut self, each: &mut dyn FnMut(Slot<'_>)) {
                let mut word = self.as_raw();
                each(Slot::Word(&mut word));
                *self = <$ty>::from_raw(word);
            }
        }
    )*};
}
flags!(
    vk::BufferUsageFlags,
    vk::ImageUsageFlags,
    vk::ImageCreateFlags,
    vk::ImageAspectFlags,
    vk::ShaderStageFlags,
    vk::CommandPoolCreateFlags,
    vk::CommandBufferUsageFlags,
    vk::CullModeFlags,
    vk::ColorComponentFlags,
    vk::QueryControlFlags,
    vk::QueryResultFlags,
    vk::PipelineStageFlags
);

macro_rules! values {
    ($($ty:ty),*) => {$(
        impl Slots for $ty {
            fn slots(&mut self, each: &mut dyn FnMut(Slot<'_>)) {
                let mut word = self.as_raw() as u32;
                each(Slot::Word(&mut word));
                *self = <$ty>::from_raw(word as i32);
            }
        }
    )*};
}
values!(
    vk::Format,
    vk::ImageType,
    vk::ImageViewType,
    vk::ImageLayout,
    vk::Filter,
    vk::SamplerAddressMode,
    vk::BorderColor,
    vk::CompareOp,
    vk::DescriptorType,
    vk::PrimitiveTopology,
    vk::PolygonMode,
    vk::FrontFace,
    vk::BlendFactor,
    vk::BlendOp,
    vk::LogicOp,
    vk::StencilOp,
    vk::AttachmentLoadOp,
    vk::AttachmentStoreOp,
    vk::IndexType,
    vk::QueryType,
    vk::PresentModeKHR
);

impl<T: Slots> Slots for Vec<T> {
    fn slots(&mut self, each: &mut dyn FnMut(Slot<'_>)) {
        self.iter_mut().for_each(|one| one.slots(each));
    }
}

impl<T: Slots> Slots for Option<T> {
    fn slots(&mut self, each: &mut dyn FnMut(Slot<'_>)) {
        self.iter_mut().for_each(|one| one.slots(each));
    }
}

impl<T: Slots, const N: usize> Slots for [T; N] {
    fn slots(&mut self, each: &mut dyn FnMut(Slot<'_>)) {
        self.iter_mut().for_each(|one| one.slots(each));
    }
}

/// Declares structures and enumerations whose places can be seen.
macro_rules! data {
    () => {};
    ($(#[$meta:meta])* struct $name:ident { $($(#[$doc:meta])* $field:ident: $ty:ty),* $(,)? } $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[$doc])* pub $field: $ty),* }
        impl $crate::api::slot::Slots for $name {
            fn slots(&mut self, each: &mut dyn FnMut($crate::api::slot::Slot<'_>)) {
                $(self.$field.slots(each);)*
            }
        }
        data!($($rest)*);
    };
    ($(#[$meta:meta])* enum $name:ident { $($(#[$doc:meta])* $variant:ident { $($field:ident: $ty:ty),* $(,)? }),* $(,)? } $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name { $($(#[$doc])* $variant { $($field: $ty),* }),* }
        impl $crate::api::slot::Slots for $name {
            fn slots(&mut self, each: &mut dyn FnMut($crate::api::slot::Slot<'_>)) {
                match self {
                    $($name::$variant { $($field),* } => {
                        let _ = &each;
                        $($field.slots(each);)*
                    })*
                }
            }
        }
        data!($($rest)*);
    };
}
pub(crate) use data;

//! Dispatches: kernels of the CPU's back end with what is bound.
//!
//! [`bindings`] is what a command buffer binds for a dispatch, [`dispatch`] the command. Where the kernel is a picture, `picture`
//! makes jobs of it instead. What a kernel's image operations do
//! is resolved once per dispatch: `images` has one entry per operation, made of views (`surface`), their texels (`texel`) and
//! samplers (`sampler`, with `cube`). [`vertices`] runs vertex stages.

pub mod bindings;
mod cube;
pub mod dispatch;
mod images;
mod picture;
mod sampler;
mod surface;
mod texel;
pub mod vertices;

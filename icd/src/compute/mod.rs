//! Dispatches: kernels of the CPU's back end with what is bound.
//!
//! [`bindings`] is what a command buffer binds for a dispatch, [`dispatch`] the command. What a kernel's image operations do
//! is resolved once per dispatch: `images` has one entry per operation, made of views (`texture`), their texels (`texel`) and
//! samplers (`sampler`).

pub mod bindings;
pub mod dispatch;
mod images;

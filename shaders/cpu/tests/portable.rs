//! Kernels as byte code that is interpreted.

mod suite;

const ENGINE: vc4_shaders_cpu::Engine = vc4_shaders_cpu::Engine::Portable;

//! Kernels as this machine's code.
#![cfg(target_pointer_width = "64")]

mod suite;

const ENGINE: vc4_shaders_cpu::Engine = vc4_shaders_cpu::Engine::Native;

//! What names a compilation: the compiler itself, and everything that decides the code of a pipeline.
//!
//! Keys are derived with [`Hash`], so that a new field of [`PipelineState`] is part of them without anybody's thought.
//! They need not agree between builds or machines: a cache belongs to one [`COMPILER`].

use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};

use crate::compile::PipelineState;
use crate::spirv::StageSource;

/// The compiler: a hash over its version, its sources and the versions of its dependencies (`build.rs`).
pub const COMPILER: u128 = match u128::from_str_radix(env!("VC4_COMPILER"), 16) {
    Ok(compiler) => compiler,
    Err(_) => panic!("VC4_COMPILER is not a hexadecimal number"),
};

/// SHA-256 over everything that decides the code of a pipeline.
pub type Key = [u8; 32];

/// The key of a pipeline: its modules, entry points, specialisation and the state that becomes code.
pub fn pipeline(vertex: &StageSource<'_>, fragment: Option<&StageSource<'_>>, state: &PipelineState) -> Key {
    let mut hasher = Sha(Sha256::new());
    (vertex, fragment, state).hash(&mut hasher);
    hasher.0.finalize().into()
}

/// SHA-256 as what [`Hash`] writes to.
struct Sha(Sha256);

impl Hasher for Sha {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = self.0.clone().finalize().into();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::VertexAttribute;
    use vc4::state::blend::ColorOutput;
    use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
    use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};

    fn source<'a>(words: &'a [u32], entry: &'a str, specialization: &'a [(u32, u32)]) -> StageSource<'a> {
        StageSource { words, entry, specialization }
    }

    #[test]
    fn everything_that_decides_code_is_part_of_the_key() {
        let plain = PipelineState::default();
        let (words, other) = ([1, 2, 3], [1, 2, 4]);
        let main = source(&words, "main", &[]);
        let attribute = |bytes| VertexAttribute {
            location: 0,
            format: VertexFormat { packing: Packing::Bytes(bytes), numeric: Numeric::Unorm, swap_rb: false },
            per_instance: false,
        };
        let colors = |n: usize| Some(ColorOutput::plain(&vc4::image::format::FORMATS[n], false));
        let states = [
            PipelineState { attributes: vec![attribute(4)], ..plain.clone() },
            PipelineState { attributes: vec![attribute(3)], ..plain.clone() },
            PipelineState { attributes: vec![attribute(4), attribute(4)], ..plain.clone() },
            PipelineState { points: true, ..plain.clone() },
            PipelineState { lines: true, ..plain.clone() },
            PipelineState { color: colors(0), ..plain.clone() },
            PipelineState { color: colors(1), ..plain.clone() },
            PipelineState { color: colors(1), color_location: 1, ..plain.clone() },
            PipelineState {
                depth_stencil: DepthStencilPlan { write_z: true, stencil: StencilPlan::Off },
                ..plain.clone()
            },
        ];
        let mut keys: Vec<Key> = states.iter().map(|state| pipeline(&main, Some(&main), state)).collect();
        for changed in [
            source(&other, "main", &[]),
            source(&words[..2], "main", &[]),
            source(&words, "mainx", &[]),
            source(&words, "main", &[(0, 1)]),
            source(&words, "main", &[(1, 0)]),
            source(&words, "main", &[(0, 1), (1, 0)]),
        ] {
            keys.push(pipeline(&changed, Some(&main), &plain));
            keys.push(pipeline(&main, Some(&changed), &plain));
        }
        keys.push(pipeline(&main, Some(&main), &plain));
        keys.push(pipeline(&main, None, &plain));
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
        assert_eq!(pipeline(&main, None, &plain), pipeline(&main.clone(), None, &plain.clone()));
    }
}

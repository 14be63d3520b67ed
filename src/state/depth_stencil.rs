//! Depth and stencil tests: the patch that starts them and the words that set them up (v3d.md §9.7, §10.3).
//!
//! The test runs when the program writes its depth; its function and whether depth is kept stand in
//! CONFIGURATION_BITS ([`super::raster`]). Stencil words are uniforms, so all of them may change per draw; only
//! their number is part of the program.
//!
//! The machine latches front and back set-up per batch of four quads (HW-2924, v3d.md §12). Where both faces may fall
//! into one batch with different state, programs test them one after the other: each with its own set-up for both
//! faces, and with the other's samples taken out of the mask ([`StencilPlan::Apart`]). UNVERIFIED: does the machine take
//! a new set-up between two Z writes of a batch, whatever its last quad's facing is?

use super::emitter::{Flag, SampleEmitter, StateUniform};
use crate::cl::packets::CompareFunc;
use crate::cl::words::{StencilFace, StencilMasks, StencilOp, StencilSetup, StencilWriteMask};
use crate::hw::DEPTH_MAX;

/// Stencil state of one face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StencilFaceState {
    /// The stencil test fails.
    pub fail: StencilOp,
    /// Both tests pass.
    pub pass: StencilOp,
    /// The stencil test passes, the depth test fails.
    pub depth_fail: StencilOp,
    /// (reference & mask) func (stored & mask).
    pub func: CompareFunc,
    /// Bits that are compared.
    pub compare_mask: u8,
    /// Bits that change.
    pub write_mask: u8,
    /// The reference.
    pub reference: u8,
}

impl Default for StencilFaceState {
    fn default() -> Self {
        StencilFaceState {
            fail: StencilOp::Keep,
            pass: StencilOp::Keep,
            depth_fail: StencilOp::Keep,
            func: CompareFunc::Always,
            compare_mask: 0xff,
            write_mask: 0xff,
            reference: 0,
        }
    }
}

/// Depth and stencil state of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DepthStencil {
    /// Compare depth; without, depth is not written either.
    pub depth_test: bool,
    /// Keep the depth of what passes.
    pub depth_write: bool,
    /// Incoming func stored.
    pub depth_func: CompareFunc,
    /// Front and back; `None` without a stencil test.
    pub stencil: Option<[StencilFaceState; 2]>,
}

/// The stencil words of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct StencilWords {
    /// Of front faces, or of both.
    pub front: u32,
    /// Of back faces.
    pub back: u32,
    /// Full write masks; where faces are tested apart, that of front faces twice.
    pub masks: u32,
    /// The full write mask of back faces twice.
    pub back_masks: u32,
}

/// How many stencil words a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StencilPlan {
    /// No stencil test.
    Off,
    /// One word for both faces with a write mask that fits it.
    Both,
    /// One word for both faces and the word of full write masks.
    BothMasks,
    /// A word per face with write masks that fit them.
    Faces,
    /// A word per face and the word of full write masks: serves every state.
    Full,
    /// Two tests, one per face, each with a word and full write masks that hold for both faces.
    Apart,
}

/// What a program does about depth and stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DepthStencilPlan {
    /// Write the depth, which starts the tests.
    pub write_z: bool,
    /// Stencil words.
    pub stencil: StencilPlan,
}

impl DepthStencilPlan {
    /// A program without tests.
    pub const OFF: Self = DepthStencilPlan { write_z: false, stencil: StencilPlan::Off };

    /// The plan for a pipeline whose pass has a depth attachment. `dynamic`: some of the stencil masks or references
    /// are set per draw.
    pub fn new(state: &DepthStencil, dynamic: bool) -> Self {
        let stencil = match state.stencil {
            None => StencilPlan::Off,
            Some(_) if dynamic => StencilPlan::Full,
            Some(faces) => StencilPlan::for_faces(&faces),
        };
        DepthStencilPlan { write_z: state.depth_test || stencil != StencilPlan::Off, stencil }
    }
}

impl DepthStencilPlan {
    /// The plan for batches in which faces of both kinds meet.
    pub fn apart(self) -> Self {
        let stencil = match self.stencil {
            StencilPlan::Faces | StencilPlan::Full => StencilPlan::Apart,
            other => other,
        };
        DepthStencilPlan { stencil, ..self }
    }

    /// The plan where only one face is drawn, whose state stands for both.
    pub fn one_face(self) -> Self {
        let stencil = match self.stencil {
            StencilPlan::Full => StencilPlan::BothMasks,
            other => other,
        };
        DepthStencilPlan { stencil, ..self }
    }
}

impl StencilPlan {
    /// The fewest words that express this state.
    fn for_faces(faces: &[StencilFaceState; 2]) -> Self {
        let masks_fit = faces.iter().all(|face| StencilWriteMask::from_mask(face.write_mask).is_some());
        match (faces[0] == faces[1], masks_fit) {
            (true, true) => StencilPlan::Both,
            (true, false) => StencilPlan::BothMasks,
            (false, true) => StencilPlan::Faces,
            (false, false) => StencilPlan::Full,
        }
    }
}

impl StencilWords {
    /// The words of front and back state for a program made after `plan`.
    pub fn new(plan: StencilPlan, [front, back]: &[StencilFaceState; 2]) -> Self {
        let apart = plan == StencilPlan::Apart;
        let both = apart || matches!(plan, StencilPlan::Both | StencilPlan::BothMasks);
        let masks = |front, back| StencilMasks { front, back }.bits();
        StencilWords {
            front: setup(if both { StencilFace::Both } else { StencilFace::Front }, front),
            back: setup(if apart { StencilFace::Both } else { StencilFace::Back }, back),
            masks: masks(front.write_mask, if apart { front.write_mask } else { back.write_mask }),
            back_masks: masks(back.write_mask, back.write_mask),
        }
    }
}

fn setup(face: StencilFace, state: &StencilFaceState) -> u32 {
    StencilSetup {
        face,
        // A mask that does not fit is replaced by the word of full masks.
        write_mask: StencilWriteMask::from_mask(state.write_mask).unwrap_or(StencilWriteMask::All),
        depth_fail: state.depth_fail,
        depth_pass: state.pass,
        stencil_fail: state.fail,
        func: state.func,
        reference: state.reference,
        compare_mask: state.compare_mask,
    }
    .bits()
}

/// Sets up the stencil and writes the depth: the interpolated one, or `shader_depth` in 0..1. Emits nothing if
/// the plan has no test. Writes of discarded elements are the emitter's to suppress.
pub fn emit_depth_stencil<E: SampleEmitter>(
    e: &mut E,
    plan: DepthStencilPlan,
    shader_depth: Option<E::Value>,
) {
    if !plan.write_z {
        return;
    }
    let slots: &[StateUniform] = match plan.stencil {
        StencilPlan::Off => &[],
        StencilPlan::Both => &[StateUniform::StencilFront],
        StencilPlan::BothMasks => &[StateUniform::StencilFront, StateUniform::StencilMasks],
        StencilPlan::Faces => &[StateUniform::StencilFront, StateUniform::StencilBack],
        StencilPlan::Full => {
            &[StateUniform::StencilFront, StateUniform::StencilBack, StateUniform::StencilMasks]
        }
        StencilPlan::Apart => {
            let z = depth(e, shader_depth);
            return emit_apart(e, z);
        }
    };
    set_up(e, slots);
    let z = depth(e, shader_depth);
    e.write_tlb_z(z);
}

fn set_up<E: SampleEmitter>(e: &mut E, slots: &[StateUniform]) {
    for &slot in slots {
        let word = e.uniform(slot);
        e.write_tlb_stencil(word);
    }
}

fn depth<E: SampleEmitter>(e: &mut E, shader_depth: Option<E::Value>) -> E::Value {
    match shader_depth {
        Some(depth) => depth_to_integer(e, depth),
        None => e.payload_z(),
    }
}

/// Tests back faces, then front faces; what passes is covered afterwards.
fn emit_apart<E: SampleEmitter>(e: &mut E, z: E::Value) {
    let (covered, reverse, none) = (e.coverage(), e.reverse(), e.word(0));
    let back = e.select(Flag::NotZero, reverse, covered, none);
    let front = e.select(Flag::NotZero, reverse, none, covered);
    let mut test = |mask, slots: [StateUniform; 2]| {
        e.write_coverage(mask);
        set_up(e, &slots);
        e.write_tlb_z(z);
        e.coverage()
    };
    let back = test(back, [StateUniform::StencilBack, StateUniform::StencilBackMasks]);
    let front = test(front, [StateUniform::StencilFront, StateUniform::StencilMasks]);
    let passed = e.or(back, front);
    e.write_coverage(passed);
}

/// A depth as the 24-bit number that the test takes (v3d.md §9.7).
fn depth_to_integer<E: SampleEmitter>(e: &mut E, depth: E::Value) -> E::Value {
    let (zero, one) = (e.word(0), e.float(1.0));
    let depth = e.fmax(depth, zero);
    let depth = e.fmin(depth, one);
    let steps = e.float(DEPTH_MAX as f32);
    let scaled = e.fmul(depth, steps);
    e.ftoi(scaled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::StateWords;
    use crate::state::model::Model;

    const FACE: StencilFaceState = StencilFaceState {
        fail: StencilOp::Zero,
        pass: StencilOp::Replace,
        depth_fail: StencilOp::IncrementWrap,
        func: CompareFunc::Equal,
        compare_mask: 0xf0,
        write_mask: 0x0f,
        reference: 0x42,
    };

    fn state(front: StencilFaceState, back: StencilFaceState) -> DepthStencil {
        DepthStencil {
            depth_test: false,
            depth_write: false,
            depth_func: CompareFunc::Always,
            stencil: Some([front, back]),
        }
    }

    #[test]
    fn plans_are_as_small_as_the_state_allows() {
        let plan = |front, back, dynamic| DepthStencilPlan::new(&state(front, back), dynamic).stencil;
        let other = StencilFaceState { reference: 1, ..FACE };
        let odd_mask = StencilFaceState { write_mask: 0x10, ..FACE };
        assert_eq!(plan(FACE, FACE, false), StencilPlan::Both);
        assert_eq!(plan(FACE, other, false), StencilPlan::Faces);
        assert_eq!(plan(FACE, odd_mask, false), StencilPlan::Full);
        assert_eq!(plan(odd_mask, odd_mask, false), StencilPlan::BothMasks);
        assert_eq!(plan(FACE, FACE, true), StencilPlan::Full);
        let depth_only = DepthStencil { depth_test: true, stencil: None, ..state(FACE, FACE) };
        let expected = DepthStencilPlan { write_z: true, stencil: StencilPlan::Off };
        assert_eq!(DepthStencilPlan::new(&depth_only, false), expected);
        let off = DepthStencil { depth_test: false, ..depth_only };
        assert_eq!(DepthStencilPlan::new(&off, false), DepthStencilPlan::OFF);
    }

    #[test]
    fn words_match_the_manual() {
        // v3d.md §10.3: mask code 2, depth fail 6, depth pass 2, stencil fail 0, function 2.
        let common = 2 << 28 | 6 << 25 | 2 << 22 | 2 << 16 | 0x42f0;
        let both = StencilWords::new(StencilPlan::Both, &[FACE, FACE]);
        assert_eq!(both.front, 3 << 30 | common);
        let back = StencilFaceState { write_mask: 0x10, ..FACE };
        let merged = StencilWords::new(StencilPlan::BothMasks, &[back, back]);
        assert_eq!((merged.front, merged.masks), (3 << 30 | (common | 3 << 28), 0x1010));
        let full = StencilWords::new(StencilPlan::Full, &[FACE, back]);
        assert_eq!(full.front, 1 << 30 | common);
        assert_eq!(full.back, 2 << 30 | (common | 3 << 28));
        assert_eq!(full.masks, 0x100f);
    }

    #[test]
    fn words_come_before_the_depth() {
        let stencil = StencilWords { front: 1, back: 2, masks: 3, back_masks: 4 };
        let mut model = Model::new(StateWords { stencil, ..Default::default() });
        model.payload_z = 77;
        emit_depth_stencil(&mut model, DepthStencilPlan { write_z: true, stencil: StencilPlan::Full }, None);
        assert_eq!((model.stencil, model.z), (vec![1, 2, 3], vec![77]));
        let mut idle = Model::new(StateWords::default());
        emit_depth_stencil(&mut idle, DepthStencilPlan::OFF, None);
        assert!(idle.z.is_empty() && idle.stencil.is_empty());
    }

    #[test]
    fn faces_are_tested_apart() {
        let other = StencilFaceState { write_mask: 0x10, reference: 1, ..FACE };
        let plan = DepthStencilPlan::new(&state(FACE, other), true).apart();
        assert_eq!(plan.stencil, StencilPlan::Apart);
        let words = StencilWords::new(plan.stencil, &[FACE, other]);
        assert_eq!((words.masks, words.back_masks), (0x0f0f, 0x1010));
        assert_eq!((words.front >> 30, words.back >> 30), (3, 3));
        for reverse in [0, 1] {
            let mut model = Model::new(StateWords { stencil: words, ..Default::default() });
            (model.payload_z, model.mask, model.reverse) = (77, 0b0110, reverse);
            emit_depth_stencil(&mut model, plan, None);
            assert_eq!(model.stencil, [words.back, words.back_masks, words.front, words.masks]);
            // Without a test that fails, all that was covered is covered again.
            assert_eq!((model.z, model.mask), (vec![77, 77], 0b0110));
        }
        let same = DepthStencilPlan::new(&state(FACE, FACE), false);
        let dynamic = DepthStencilPlan::new(&state(FACE, FACE), true);
        assert_eq!(dynamic.one_face().stencil, StencilPlan::BothMasks);
        assert_eq!(same.apart(), same);
    }

    #[test]
    fn shader_depth_is_clamped_and_truncated() {
        let z = |depth: f32| {
            let mut model = Model::new(StateWords::default());
            let plan = DepthStencilPlan { write_z: true, stencil: StencilPlan::Off };
            emit_depth_stencil(&mut model, plan, Some(depth.to_bits()));
            model.z[0]
        };
        assert_eq!([z(0.0), z(1.0), z(2.0), z(-1.0), z(0.5)], [0, DEPTH_MAX, DEPTH_MAX, 0, 0x7f_ffff]);
    }
}

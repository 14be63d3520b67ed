//! Varyings beyond those that the machine interpolates (T-VARY). The CPU runs the vertex stage, too, and leaves what it
//! stores in memory ([`crate::relay`]); the fragment program reads the values of the primitive's corners there and weighs them.
//!
//! What corners weigh, their *shares*, are varyings themselves: two, for the third has the rest. They are interpolated as what
//! they stand for would be, in perspective or not and at whichever place of the pixel. A third varying, flat, says where the
//! corners' values stand.

use vc4::hw::VARYINGS;

use super::corners::{Corner, PLACE, SHARES, hidden};
use super::error::LowerError;
use super::inputs::{Varying, implicit, used_varyings};
use super::outputs::last_block;
use crate::binding::Descriptor;
use crate::ir::{Builder, Interpolation, Op, Output, Shader, Value};
use crate::pass::analysis::outputs::{Name, user_outputs};
use crate::pass::rewrite::{Action, rewrite};
use crate::state::PipelineState;

/// Bytes of a word.
const WORD: u32 = 4;
/// Bits of a place that say which corner a vertex is.
const CORNER: u32 = 3;

/// Which varyings come from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// As few as will do.
    Least,
    /// All that the vertex stage stores.
    All,
}

/// Whether a fragment stage reads more than the machine interpolates.
pub fn is_needed(shader: &Shader) -> bool {
    used_varyings(shader).len() > VARYINGS
}

/// Makes a fragment stage take varyings from memory. `vertex` is the optimised vertex stage, whose outputs stand there.
///
/// # Errors
/// Too many varyings that no vertex stage stores.
pub fn fragment(
    shader: &mut Shader,
    vertex: &Shader,
    state: &PipelineState,
    extent: Extent,
) -> Result<(), LowerError> {
    let varyings = used_varyings(shader);
    let outputs = user_outputs(vertex);
    let relayed = choose(&varyings, &outputs, implicit(state), extent)?;
    let corners = Corners::new(state, outputs.len() as u32);
    let Ok(()) = rewrite(shader, |b, data| {
        let Op::LoadInput { location, component, interpolation } = data.op else {
            return Ok::<_, std::convert::Infallible>(Action::Keep);
        };
        let varying = Varying { location, component, interpolation: interpolation.at_center() };
        let number = outputs.iter().position(|name| *name == (location, component));
        Ok(match number {
            Some(number) if relayed.contains(&varying) => {
                Action::with(corners.load(b, number as u32, interpolation))
            }
            _ => Action::Keep,
        })
    });
    Ok(())
}

/// Those that memory is for. Flat ones first, of which one corner's value is enough, then what is read last.
fn choose(
    varyings: &[Varying],
    outputs: &[Name],
    implicit: u32,
    extent: Extent,
) -> Result<Vec<Varying>, LowerError> {
    let flat = |varying: &&Varying| varying.interpolation == Interpolation::Flat;
    let order = varyings.iter().filter(flat).chain(varyings.iter().rev().filter(|v| !flat(v)));
    let stored: Vec<Varying> =
        order.filter(|varying| outputs.contains(&(varying.location, varying.component))).copied().collect();
    let fits = |relayed: &[Varying]| {
        let has = |interpolation| relayed.iter().any(|varying| varying.interpolation == interpolation);
        let kinds =
            [Interpolation::Smooth, Interpolation::NoPerspective].into_iter().filter(|kind| has(*kind));
        varyings.len() - relayed.len() + 1 + 2 * kinds.count() + implicit as usize <= VARYINGS
    };
    let least = match extent {
        Extent::Least => 1,
        Extent::All => stored.len(),
    };
    let count = (least..=stored.len()).find(|&count| fits(&stored[..count]));
    match count {
        Some(count) => Ok(stored[..count].to_vec()),
        None => Err(LowerError::TooManyVaryings { count: varyings.len(), limit: VARYINGS }),
    }
}

/// How a primitive's corners stand in memory.
struct Corners {
    /// How many.
    count: u32,
    /// Bytes from corner to corner.
    stride: u32,
    /// The provoking one. Without polygons primitives are rewritten for it, as for all that is flat, to be the last.
    provoking: u32,
}

impl Corners {
    fn new(state: &PipelineState, words: u32) -> Corners {
        let count = match (state.polygon, state.points, state.lines) {
            (None, true, _) => 1,
            (None, false, true) => 2,
            _ => 3,
        };
        let provoking = if state.polygon.is_some() { 0 } else { count - 1 };
        Corners { count, stride: WORD * words, provoking }
    }

    /// An output of a corner, by number.
    fn at(&self, b: &mut Builder, corner: u32, number: u32) -> Value {
        let place = hidden(b, PLACE);
        let offset = corner * self.stride + WORD * number;
        let last = self.count * self.stride - WORD;
        b.op(Op::LoadUboDynamic { buffer: Descriptor::OUTPUTS, offset, last }, &[place])
    }

    /// An output, interpolated.
    fn load(&self, b: &mut Builder, number: u32, interpolation: Interpolation) -> Value {
        if self.count == 1 || interpolation == Interpolation::Flat {
            return self.at(b, self.provoking, number);
        }
        let last = self.at(b, self.count - 1, number);
        (0..self.count - 1).fold(last, |sum, corner| {
            let value = self.at(b, corner, number);
            let way = b.op(Op::FSub, &[value, last]);
            let load = Op::LoadInput { location: SHARES, component: corner as u8, interpolation };
            let share = b.op(load, &[]);
            let part = b.op(Op::FMul, &[way, share]);
            b.op(Op::FAdd, &[sum, part])
        })
    }
}

/// Makes a vertex stage without ifs say which corner a vertex is, if the fragment program asks.
///
/// # Errors
/// A stage that does not end in one place.
pub fn vertex(shader: &mut Shader, varyings: &[Varying]) -> Result<(), LowerError> {
    if varyings.iter().all(|varying| varying.location != PLACE) {
        return Ok(());
    }
    let block = last_block(shader)?;
    let mut b = Builder::new(shader, block);
    let word = hidden(&mut b, Corner::PLACE);
    let (mask, rest) = (b.word(CORNER), b.word(!CORNER));
    let place = b.op(Op::And, &[word, rest]);
    b.store_output(Output::User { location: PLACE, component: 0 }, place);
    let corner = b.op(Op::And, &[word, mask]);
    for number in 0..2 {
        let own = b.word(number);
        let is_own = b.op(Op::IEq, &[corner, own]);
        let (one, none) = (b.float(1.0), b.float(0.0));
        let share = b.select(is_own, one, none);
        b.store_output(Output::User { location: SHARES, component: number as u8 }, share);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varyings(kinds: &[(usize, Interpolation)]) -> (Vec<Varying>, Vec<Name>) {
        let each = kinds.iter().flat_map(|&(count, kind)| std::iter::repeat_n(kind, count));
        let varying = |(n, interpolation): (u32, Interpolation)| Varying {
            location: n / 4,
            component: (n % 4) as u8,
            interpolation,
        };
        let varyings: Vec<Varying> = (0..).zip(each).map(varying).collect();
        let names = varyings.iter().map(|varying| (varying.location, varying.component)).collect();
        (varyings, names)
    }

    #[test]
    fn as_few_as_will_do_come_from_memory() {
        let (smooth, straight, flat) =
            (Interpolation::Smooth, Interpolation::NoPerspective, Interpolation::Flat);
        let chosen = |kinds: &[_], implicit, extent| {
            let (varyings, names) = varyings(kinds);
            choose(&varyings, &names, implicit, extent).map(|chosen| {
                let count = |kind| chosen.iter().filter(|varying| varying.interpolation == kind).count();
                [count(smooth), count(straight), count(flat)]
            })
        };
        // Three varyings are the price of the first, five that of two kinds.
        assert_eq!(chosen(&[(33, smooth)], 0, Extent::Least).unwrap(), [4, 0, 0]);
        assert_eq!(chosen(&[(33, smooth)], 2, Extent::Least).unwrap(), [6, 0, 0]);
        assert_eq!(chosen(&[(32, smooth), (8, straight)], 0, Extent::Least).unwrap(), [5, 8, 0]);
        // Flat ones need a place only.
        assert_eq!(chosen(&[(31, smooth), (3, flat)], 0, Extent::Least).unwrap(), [0, 0, 3]);
        assert_eq!(chosen(&[(31, smooth), (3, flat)], 1, Extent::Least).unwrap(), [3, 0, 3]);
        assert_eq!(chosen(&[(40, smooth), (24, flat)], 0, Extent::All).unwrap(), [40, 0, 24]);
    }

    #[test]
    fn what_no_vertex_stage_stores_is_not_in_memory() {
        let (varyings, names) = varyings(&[(40, Interpolation::Smooth)]);
        assert!(choose(&varyings, &names[..8], 0, Extent::Least).is_err());
        assert_eq!(choose(&varyings, &names[..11], 0, Extent::Least).unwrap().len(), 11);
    }
}

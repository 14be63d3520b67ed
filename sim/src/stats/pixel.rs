//! What the fragment programs of a job do to one pixel, instruction by instruction.

use std::fmt;

/// Where a word stands that an instruction can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A register of file A.
    FileA(u8),
    /// A register of file B.
    FileB(u8),
    /// An accumulator.
    Accumulator(u8),
    /// Z in bit 0, N in bit 1, C in bit 2.
    Flags,
    /// The multisample mask.
    Coverage,
    /// 1 behind a back-facing primitive.
    Reverse,
    /// A sample of the tile buffer.
    Color(u8),
    /// The same: depth above stencil.
    DepthStencil(u8),
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Held::FileA(n) => write!(f, "ra{n}"),
            Held::FileB(n) => write!(f, "rb{n}"),
            Held::Accumulator(n) => write!(f, "r{n}"),
            Held::Flags => f.write_str("flags (z 1, n 2, c 4)"),
            Held::Coverage => f.write_str("coverage"),
            Held::Reverse => f.write_str("facing"),
            Held::Color(0) => f.write_str("colour"),
            Held::Color(sample) => write!(f, "colour of sample {sample}"),
            Held::DepthStencil(0) => f.write_str("depth and stencil"),
            Held::DepthStencil(sample) => write!(f, "depth and stencil of sample {sample}"),
        }
    }
}

/// Instructions of a program that are noted: one that never ends runs millions.
const MOST_STEPS: usize = 1 << 16;

/// What stands where.
pub type Words = Vec<(Held, u32)>;

/// An instruction that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number in the program.
    pub index: usize,
    /// What it wrote: registers, whether their words changed or not, and what changed of the rest.
    pub left: Words,
}

/// A program that ran for the pixel, because a primitive covers it and early Z did not drop it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// Number of the draw in the job.
    pub draw: u32,
    /// Bus address of the program.
    pub program: u32,
    /// What stood there before the first instruction: W in `ra15` and Z in `rb15` (qpu.md §4.3), and the tile buffer.
    pub begins: Words,
    /// The instructions in the order in which they ran; the first 65,536.
    pub steps: Vec<Step>,
}

/// All that ran for one pixel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PixelTrace {
    /// Its column in the frame.
    pub x: i32,
    /// Its row.
    pub y: i32,
    /// The programs, in the order of the tile list.
    pub visits: Vec<Visit>,
    /// The draw that is rendered.
    draw: u32,
    /// The pixel's element, while a program runs for it.
    element: Option<usize>,
    /// What stood in the tile buffer behind the last instruction.
    held: Words,
}

/// The first thing that is different in two traces of a pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parting<'a> {
    /// This program ran in one of them, and in the other none or another one.
    Visit(&'a Visit),
    /// A program began with another word.
    Begin {
        /// The program's run.
        visit: &'a Visit,
        /// Where the word stands.
        held: Held,
        /// In this trace and in the other one.
        words: [u32; 2],
    },
    /// An instruction left another word, or ran in one of them alone.
    Step {
        /// The program's run.
        visit: &'a Visit,
        /// The instruction's number in the program.
        index: usize,
        /// Where the word stands; nowhere if the instructions wrote nothing.
        held: Option<Held>,
        /// In this trace and in the other one, where it was written.
        words: [Option<u32>; 2],
    },
}

impl PixelTrace {
    /// Nothing yet of this pixel.
    pub fn new((x, y): (u32, u32)) -> PixelTrace {
        PixelTrace { x: x as i32, y: y as i32, ..PixelTrace::default() }
    }

    /// Nothing yet, for another part of the same job.
    pub fn part(&self) -> PixelTrace {
        PixelTrace { x: self.x, y: self.y, ..PixelTrace::default() }
    }

    /// Adds what another part of the job did behind this.
    pub fn merge(&mut self, part: PixelTrace) {
        self.visits.extend(part.visits);
    }

    /// What follows belongs to this draw.
    pub fn enter(trace: &mut Option<Box<PixelTrace>>, draw: u32) {
        if let Some(trace) = trace {
            trace.draw = draw;
        }
    }

    /// A program begins for the pixel in this element.
    pub fn begin(&mut self, program: u32, element: usize, payload: [(Held, u32); 2], held: Words) {
        let begins = payload.into_iter().chain(held.iter().copied()).collect();
        self.visits.push(Visit { draw: self.draw, program, begins, steps: Vec::new() });
        (self.element, self.held) = (Some(element), held);
    }

    /// The element of the pixel while a program runs for it.
    pub fn element(&self) -> Option<usize> {
        self.element
    }

    /// An instruction ran and wrote these registers; `held` stands in the tile buffer now.
    pub fn step(&mut self, index: usize, mut left: Words, held: Words) {
        let old = std::mem::replace(&mut self.held, held);
        left.extend(self.held.iter().filter(|word| !old.contains(word)));
        if let Some(visit) = self.visits.last_mut().filter(|visit| visit.steps.len() < MOST_STEPS) {
            visit.steps.push(Step { index, left });
        }
    }

    /// The program that began last is over.
    pub fn end(&mut self) {
        self.element = None;
    }

    /// Where this trace and another one of the same job part: on machines that behave differently.
    pub fn parting<'a>(&'a self, other: &'a PixelTrace) -> Option<Parting<'a>> {
        for at in 0..self.visits.len().max(other.visits.len()) {
            let (visit, its) = match (self.visits.get(at), other.visits.get(at)) {
                (Some(visit), Some(its)) if (visit.draw, visit.program) == (its.draw, its.program) => {
                    (visit, its)
                }
                (Some(visit), Some(its)) => {
                    return Some(Parting::Visit(if its.draw < visit.draw { its } else { visit }));
                }
                (visit, its) => return visit.or(its).map(Parting::Visit),
            };
            let mut begins = visit.begins.iter().zip(&its.begins);
            if let Some((&(held, word), &(_, other))) = begins.find(|(word, other)| word != other) {
                return Some(Parting::Begin { visit, held, words: [word, other] });
            }
            for at in 0..visit.steps.len().max(its.steps.len()) {
                let (step, other) = (visit.steps.get(at), its.steps.get(at));
                if step != other {
                    return Some(step_parting(visit, step, other));
                }
            }
        }
        None
    }
}

fn step_parting<'a>(visit: &'a Visit, step: Option<&Step>, other: Option<&Step>) -> Parting<'a> {
    let index = step.or(other).map_or(0, |step| step.index);
    let (left, others) = (words(step), words(other));
    let of = |words: &[(Held, u32)], held| words.iter().find(|word| word.0 == held).map(|word| word.1);
    let all = left.iter().chain(others).map(|word| word.0);
    let differs = all.into_iter().find(|&held| of(left, held) != of(others, held));
    let words = differs.map_or([None; 2], |held| [of(left, held), of(others, held)]);
    Parting::Step { visit, index, held: differs, words }
}

fn words(step: Option<&Step>) -> &[(Held, u32)] {
    step.map_or(&[], |step| &step.left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two visits; `change` makes another machine of it.
    fn trace(change: impl FnOnce(&mut PixelTrace)) -> PixelTrace {
        let mut trace = PixelTrace::new((3, 4));
        for draw in [1, 4] {
            trace.draw = draw;
            let payload = [(Held::FileA(15), 0x3f80_0000), (Held::FileB(15), 7)];
            trace.begin(0x1000 + draw, 5, payload, vec![(Held::Color(0), 0)]);
            trace.step(0, vec![(Held::Accumulator(0), 1)], vec![(Held::Color(0), 0)]);
            trace.step(1, vec![], vec![(Held::Color(0), 9)]);
            trace.end();
        }
        change(&mut trace);
        trace
    }

    #[test]
    fn only_what_changed_of_the_tile_is_noted() {
        let trace = trace(|_| ());
        let steps = &trace.visits[1].steps;
        assert_eq!(steps[0].left, [(Held::Accumulator(0), 1)]);
        assert_eq!(steps[1].left, [(Held::Color(0), 9)]);
        assert_eq!((trace.element(), trace.visits[1].draw), (None, 4));
    }

    #[test]
    fn endless_programs_are_noted_for_a_while() {
        let mut trace = trace(|_| ());
        (0..MOST_STEPS).for_each(|index| trace.step(index, vec![], vec![]));
        assert_eq!(trace.visits[1].steps.len(), MOST_STEPS);
    }

    #[test]
    fn traces_part_where_they_first_differ() {
        let usual = trace(|_| ());
        assert_eq!(usual.parting(&trace(|_| ())), None);
        let other = trace(|other| other.visits[0].begins[1].1 = 8);
        let begin = Parting::Begin { visit: &usual.visits[0], held: Held::FileB(15), words: [7, 8] };
        assert_eq!(usual.parting(&other), Some(begin));
        let other = trace(|other| {
            other.visits[1].steps[0].left[0].1 = 2;
            other.visits[1].steps[1].left[0].1 = 3;
        });
        let (visit, held) = (&usual.visits[1], Some(Held::Accumulator(0)));
        assert_eq!(
            usual.parting(&other),
            Some(Parting::Step { visit, index: 0, held, words: [Some(1), Some(2)] })
        );
        let other = trace(|other| drop(other.visits.remove(0)));
        assert_eq!(usual.parting(&other), Some(Parting::Visit(&usual.visits[0])));
        assert_eq!(other.parting(&usual), Some(Parting::Visit(&usual.visits[0])));
    }

    #[test]
    fn a_word_may_be_written_by_one_of_them_alone() {
        let usual = trace(|_| ());
        let other = trace(|other| other.visits[0].steps[1].left.clear());
        let (visit, held) = (&usual.visits[0], Some(Held::Color(0)));
        assert_eq!(
            usual.parting(&other),
            Some(Parting::Step { visit, index: 1, held, words: [Some(9), None] })
        );
        let other = trace(|other| drop(other.visits[0].steps.pop()));
        assert_eq!(
            usual.parting(&other),
            Some(Parting::Step { visit, index: 1, held, words: [Some(9), None] })
        );
    }
}

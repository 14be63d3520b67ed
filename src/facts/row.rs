//! What a row of the table is.

/// How a question could be put to a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// `vc4 probe` asks it.
    Probe,
    /// It is a number, which is measured and not chosen: by what.
    Measure(&'static str),
    /// Nothing asks it: why, and what would.
    Not(&'static str),
}

/// A thinkable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypothesis {
    /// A stable name, for files.
    pub name: &'static str,
    /// What it says.
    pub text: &'static str,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// A stable name, for files.
    pub name: &'static str,
    /// What is asked.
    pub question: &'static str,
    /// Thinkable answers, the one in use first; none where the answer is a number or has no form yet.
    pub hypotheses: &'static [Hypothesis],
    /// What speaks for the answer in use: a section of the manual, or published results.
    pub evidence: &'static str,
    /// File and item that the answer decides about.
    pub place: (&'static str, &'static str),
    /// Who else depends on it.
    pub users: &'static str,
    /// How a board could be asked.
    pub ask: Ask,
}

impl Row {
    /// Whether there are answers to choose from.
    pub fn is_choice(&self) -> bool {
        !self.hypotheses.is_empty()
    }

    /// The hypothesis of this name.
    pub fn hypothesis(&self, name: &str) -> Option<usize> {
        self.hypotheses.iter().position(|hypothesis| hypothesis.name == name)
    }
}

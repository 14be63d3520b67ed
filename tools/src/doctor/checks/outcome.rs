//! What a check that passed has to tell.

use crate::jobs::picture::Picture;

/// A measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
}

/// What a check that passed has to tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// In a few words.
    pub said: String,
    pub measured: Vec<Measured>,
    pub registers: Vec<(&'static str, u32)>,
    pub picture: Option<Picture>,
    /// Known pictures that are different.
    pub differing: Vec<Compared>,
}

/// A picture beside the one that was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub name: &'static str,
    pub why: String,
    pub seen: Picture,
    pub expected: Picture,
}

impl Outcome {
    pub fn said(text: impl Into<String>) -> Outcome {
        Outcome { said: text.into(), ..Outcome::default() }
    }

    pub fn picture(picture: Picture) -> Outcome {
        Outcome { picture: Some(picture), ..Outcome::default() }
    }

    pub fn measured(mut self, name: &'static str, value: f64, unit: &'static str) -> Outcome {
        self.measured.push(Measured { name, value, unit });
        self
    }

    pub fn register(mut self, name: &'static str, value: u32) -> Outcome {
        self.registers.push((name, value));
        self
    }
}

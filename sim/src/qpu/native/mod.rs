//! QPU programs as machine code.
//!
//! A program is cut into traces ([`trace`]), which make a function, or several if it is long ([`function`]). Its instructions
//! are cut into parts ([`part`]): arithmetic, which becomes code ([`run`], [`vector`], [`shift`], [`float`], [`pack`],
//! [`special`]), memory lookups and loads of results ([`lookup`]) and the usual accesses to the tile buffer ([`tlb`]), which do
//! too, and everything else that concerns the QPU's neighbours, for which the code ([`emit`]) calls the interpreter's own
//! functions. Registers, flags and stream pointer stay where the interpreter has them; [`live`] tells which of them somebody
//! looks at. So the interpreter can take over at every trace, and does parts of one where floats leave the range in which the
//! host computes as a QPU does.

mod code;
mod emit;
mod float;
mod function;
mod known;
mod layout;
mod library;
mod live;
mod lookup;
mod pack;
mod part;
mod run;
mod shift;
mod special;
mod tlb;
mod trace;
mod vector;
mod work;

pub(super) use code::Native;
#[cfg(test)]
pub(super) use known::Floats;
pub(super) use layout::Context;
pub(super) use library::Compiled;
pub(super) use part::Part;
pub(super) use work::{Exit, Work};

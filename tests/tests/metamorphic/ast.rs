//! The programs of the fuzzer: a small language with exact meaning.
//!
//! Integers wrap, divisors are made positive, shifts are masked. Floats are multiples of powers of two that fit a float's
//! mantissa with room to spare, so that every sum and product is exact and no rounding can make two compilers differ;
//! [`Program::bound`] proves it. Functions that are not exact (roots, sines) only appear where their result is rounded to
//! an integer far from the turning point ([`crate::ops`]).

use crate::ops;
use crate::value::{Base, Bound, Type, Value};

/// What a program can read, each a vector of four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    InputInt,
    InputUint,
    InputFloat,
    UniformInt,
    UniformUint,
    UniformFloat,
    PushInt,
    PushFloat,
}

pub const SOURCES: [Source; 8] = [
    Source::InputInt,
    Source::InputUint,
    Source::InputFloat,
    Source::UniformInt,
    Source::UniformUint,
    Source::UniformFloat,
    Source::PushInt,
    Source::PushFloat,
];

impl Source {
    pub fn base(self) -> Base {
        match self {
            Source::InputInt | Source::UniformInt | Source::PushInt => Base::Int,
            Source::InputUint | Source::UniformUint => Base::Uint,
            Source::InputFloat | Source::UniformFloat | Source::PushFloat => Base::Float,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Source::InputInt => "in_i",
            Source::InputUint => "in_u",
            Source::InputFloat => "in_f",
            Source::UniformInt => "u.i",
            Source::UniformUint => "u.u",
            Source::UniformFloat => "u.f",
            Source::PushInt => "p.i",
            Source::PushFloat => "p.f",
        }
    }

    /// Its place in [`SOURCES`].
    pub fn place(self) -> usize {
        self as usize
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Literal(Type, Value),
    /// A literal that the program reads from the uniform buffer: its place there.
    Stored(Type, usize),
    /// 0 or 1 from the uniform buffer, as no compiler can know.
    Opaque(Type, bool),
    Var(usize),
    Read(Source),
    /// Row of the uniform table by a per-element index.
    Table(Box<Expr>),
    /// Element of an array of unsigned words.
    Element(usize, Box<Expr>),
    /// Component by a per-element index.
    Component(Box<Expr>, Box<Expr>),
    /// Index into [`ops::ROWS`]; components of the result.
    Op(usize, u8, Vec<Expr>),
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    Swizzle(Box<Expr>, Vec<u8>),
    Construct(Type, Vec<Expr>),
    Call(usize, Vec<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Var(usize),
    Swizzle(usize, Vec<u8>),
    Component(usize, Expr),
    Element(usize, Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    Assign(Place, Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Counter, count, body.
    For(usize, Expr, Vec<Stmt>),
    /// Counter, rounds at most, condition to go on, body.
    DoWhile(usize, u32, Expr, Vec<Stmt>),
    /// Labels, body and whether it ends with a break; no labels: default.
    Switch(Expr, Vec<(Vec<i32>, Vec<Stmt>, bool)>),
    Break(Expr),
    Continue(Expr),
    Discard(Expr),
    Return(Expr, Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub parameters: Vec<usize>,
    pub locals: Vec<usize>,
    pub body: Vec<Stmt>,
    pub result: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Vertex,
    Fragment,
}

/// Elements of every array.
pub const ARRAY: usize = 5;
/// Rows of the uniform table.
pub const TABLE: usize = 8;
/// Literals that the uniform buffer has room for.
pub const STORED: usize = 48;

#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub stage: Stage,
    /// Types of all variables; functions and main share the numbers.
    pub variables: Vec<Type>,
    /// First values of the variables.
    pub initial: Vec<Value>,
    /// Variables of main.
    pub locals: Vec<usize>,
    /// Arrays of main.
    pub arrays: usize,
    pub functions: Vec<Function>,
    pub body: Vec<Stmt>,
    /// What the result is made of.
    pub shown: Vec<usize>,
    pub shown_arrays: Vec<usize>,
    pub stored: Vec<Value>,
}

/// What a float variable, input or literal may be.
pub const VARIABLE: Bound = (6, 4);
/// Binary digits that a float may need.
const DIGITS: i32 = 22;

impl Program {
    pub fn type_of(&self, expr: &Expr) -> Type {
        match expr {
            Expr::Literal(ty, _) | Expr::Stored(ty, _) | Expr::Opaque(ty, _) | Expr::Construct(ty, _) => *ty,
            Expr::Var(v) => self.variables[*v],
            Expr::Read(source) => Type { base: source.base(), size: 4 },
            Expr::Table(_) => Type { base: Base::Int, size: 4 },
            Expr::Element(..) => Type::scalar(Base::Uint),
            Expr::Component(v, _) => Type::scalar(self.type_of(v).base),
            Expr::Op(row, size, _) => Type { base: ops::ROWS[*row].result, size: *size },
            Expr::Select(_, a, _) => self.type_of(a),
            Expr::Swizzle(v, components) => Type { base: self.type_of(v).base, size: components.len() as u8 },
            Expr::Call(f, _) => self.type_of(&self.functions[*f].result),
        }
    }

    /// Bound of a float expression; `None` if it may need more digits than a float has.
    pub fn bound(&self, expr: &Expr) -> Option<Bound> {
        let both = |a: Bound, b: Bound| (a.0.max(b.0), a.1.max(b.1));
        let bound = match expr {
            Expr::Op(row, _, args) => {
                let mut bounds = Vec::new();
                for arg in args {
                    let is_float = self.type_of(arg).base == Base::Float;
                    bounds.push(if is_float { self.bound(arg)? } else { (0, 0) });
                }
                (ops::ROWS[*row].bound)(&bounds)
            }
            Expr::Select(_, a, b) => both(self.bound(a)?, self.bound(b)?),
            Expr::Swizzle(v, _) | Expr::Component(v, _) => self.bound(v)?,
            Expr::Construct(_, parts) => {
                let mut all = (0, 0);
                for part in parts {
                    all = both(all, self.bound(part)?);
                }
                all
            }
            _ => VARIABLE,
        };
        (bound.0 + bound.1 <= DIGITS).then_some(bound)
    }

    /// Whether all floats are exact and what is kept in variables stays in their bound.
    pub fn is_exact(&self) -> bool {
        let mut fine = true;
        let mut copy = self.clone();
        let kept = |expr: &Expr| {
            self.type_of(expr).base != Base::Float
                || self.bound(expr).is_some_and(|b| b.0 <= VARIABLE.0 && b.1 <= VARIABLE.1)
        };
        for function in &self.functions {
            fine &= kept(&function.result);
        }
        copy.blocks(&mut |block| {
            for stmt in block.iter() {
                if let Stmt::Assign(_, expr) | Stmt::Return(_, expr) = stmt {
                    fine &= kept(expr);
                }
            }
            false
        });
        copy.expressions(&mut |expr| {
            fine &= self.type_of(expr).base != Base::Float || self.bound(expr).is_some();
            if let Expr::Call(_, args) = expr {
                fine &= args.iter().all(kept);
            }
            false
        });
        fine
    }

    /// Visits every block, outer ones first, until the visitor says stop.
    pub fn blocks(&mut self, visit: &mut dyn FnMut(&mut Vec<Stmt>) -> bool) -> bool {
        self.functions.iter_mut().any(|function| block(&mut function.body, visit))
            || block(&mut self.body, visit)
    }

    /// Visits every expression, outer ones first, until the visitor says stop.
    pub fn expressions(&mut self, visit: &mut dyn FnMut(&mut Expr) -> bool) -> bool {
        for function in &mut self.functions {
            if statements(&mut function.body, visit) || expression(&mut function.result, visit) {
                return true;
            }
        }
        statements(&mut self.body, visit)
    }
}

/// The blocks inside a statement.
pub fn inner(stmt: &mut Stmt) -> Vec<&mut Vec<Stmt>> {
    match stmt {
        Stmt::If(_, a, b) => vec![a, b],
        Stmt::For(_, _, body) | Stmt::DoWhile(_, _, _, body) => vec![body],
        Stmt::Switch(_, cases) => cases.iter_mut().map(|(_, body, _)| body).collect(),
        _ => Vec::new(),
    }
}

fn block(list: &mut Vec<Stmt>, visit: &mut dyn FnMut(&mut Vec<Stmt>) -> bool) -> bool {
    visit(list) || list.iter_mut().any(|stmt| inner(stmt).into_iter().any(|list| block(list, visit)))
}

fn statements(list: &mut [Stmt], visit: &mut dyn FnMut(&mut Expr) -> bool) -> bool {
    list.iter_mut().any(|stmt| {
        let own = match stmt {
            Stmt::Assign(place, value) => {
                let index = match place {
                    Place::Component(_, index) | Place::Element(_, index) => expression(index, visit),
                    _ => false,
                };
                index || expression(value, visit)
            }
            Stmt::If(c, ..) | Stmt::For(_, c, _) | Stmt::DoWhile(_, _, c, _) | Stmt::Switch(c, _) => {
                expression(c, visit)
            }
            Stmt::Break(c) | Stmt::Continue(c) | Stmt::Discard(c) => expression(c, visit),
            Stmt::Return(c, value) => expression(c, visit) || expression(value, visit),
        };
        own || inner(stmt).into_iter().any(|list| statements(list, visit))
    })
}

/// Visits an expression and those inside.
pub fn expression(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr) -> bool) -> bool {
    visit(expr) || children(expr).into_iter().any(|child| expression(child, visit))
}

/// The operands of an expression.
pub fn children(expr: &mut Expr) -> Vec<&mut Expr> {
    match expr {
        Expr::Table(a) | Expr::Element(_, a) | Expr::Swizzle(a, _) => vec![a],
        Expr::Component(a, b) => vec![a, b],
        Expr::Op(_, _, args) | Expr::Construct(_, args) | Expr::Call(_, args) => args.iter_mut().collect(),
        Expr::Select(a, b, c) => vec![a, b, c],
        _ => Vec::new(),
    }
}

/// Whether a break or continue in these statements would leave a loop or switch around them.
pub fn leaves(list: &[Stmt], in_switch: bool) -> bool {
    list.iter().any(|stmt| match stmt {
        Stmt::Break(_) => !in_switch,
        Stmt::Continue(_) => true,
        Stmt::If(_, a, b) => leaves(a, in_switch) || leaves(b, in_switch),
        Stmt::Switch(_, cases) => cases.iter().any(|(_, body, _)| leaves(body, true)),
        _ => false,
    })
}

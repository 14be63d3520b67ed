//! Changes that keep a program's meaning.

use crate::ast::*;
use crate::generate::dead_statement;
use crate::ops::{self, ROWS};
use crate::random::Random;
use crate::value::{Base, Type};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// Statements behind a condition that never holds.
    DeadCode,
    /// Statements behind a condition that always holds.
    OpaqueBranch,
    /// Statements in a loop of one round.
    LoopWrap,
    /// Expressions become functions.
    Outline,
    /// Literals are read from the uniform buffer.
    LiteralsToUniforms,
    /// Operations that do nothing.
    Identities,
    /// Branches exchanged, their condition negated.
    SwapBranches,
}

pub const TRANSFORMS: [Transform; 7] = [
    Transform::DeadCode,
    Transform::OpaqueBranch,
    Transform::LoopWrap,
    Transform::Outline,
    Transform::LiteralsToUniforms,
    Transform::Identities,
    Transform::SwapBranches,
];

fn opaque(truth: bool) -> Expr {
    Expr::Opaque(Type::scalar(Base::Bool), truth)
}

/// The program with `transform` applied here and there.
pub fn apply(program: &Program, transform: Transform, random: &mut Random) -> Program {
    let mut changed = program.clone();
    match transform {
        Transform::DeadCode => dead_code(&mut changed, random),
        Transform::OpaqueBranch => wrap(&mut changed, random, |program, random, stmts| {
            let other = if random.one_in(2) { dead_statement(program, random) } else { Vec::new() };
            if random.one_in(2) {
                Stmt::If(opaque(true), stmts, other)
            } else {
                Stmt::If(opaque(false), other, stmts)
            }
        }),
        Transform::LoopWrap => wrap(&mut changed, random, |program, random, stmts| {
            let counter = program.variables.len();
            program.variables.push(Type::scalar(Base::Int));
            program.initial.push([0; 4]);
            program.locals.push(counter);
            if random.one_in(2) {
                Stmt::For(counter, Expr::Opaque(Type::scalar(Base::Int), true), stmts)
            } else {
                Stmt::DoWhile(counter, 3, opaque(false), stmts)
            }
        }),
        Transform::Outline => outline(&mut changed, random),
        Transform::LiteralsToUniforms => literals(&mut changed, random),
        Transform::Identities => identities(&mut changed, random),
        Transform::SwapBranches => swap_branches(&mut changed),
    }
    changed
}

fn dead_code(program: &mut Program, random: &mut Random) {
    for _ in 0..3 {
        let dead = Stmt::If(opaque(false), dead_statement(program, random), Vec::new());
        let at = random.below(program.body.len() + 1);
        program.body.insert(at, dead);
    }
}

/// Wraps runs of main's statements. Those that leave a loop around them stay where they are.
fn wrap(
    program: &mut Program,
    random: &mut Random,
    mut with: impl FnMut(&mut Program, &mut Random, Vec<Stmt>) -> Stmt,
) {
    let mut body = std::mem::take(&mut program.body);
    wrap_block(&mut body, program, random, &mut with);
    program.body = body;
}

fn wrap_block(
    list: &mut Vec<Stmt>,
    program: &mut Program,
    random: &mut Random,
    with: &mut dyn FnMut(&mut Program, &mut Random, Vec<Stmt>) -> Stmt,
) {
    for stmt in list.iter_mut() {
        for inner in inner(stmt) {
            wrap_block(inner, program, random, with);
        }
    }
    let mut at = 0;
    while at < list.len() {
        let end = (at + 1 + random.below(3)).min(list.len());
        if random.one_in(3) && !leaves(&list[at..end], false) {
            let run: Vec<Stmt> = list.drain(at..end).collect();
            let wrapped = with(program, random, run);
            list.insert(at, wrapped);
        }
        at += 1;
    }
}

fn outline(program: &mut Program, random: &mut Random) {
    let mut functions = program.functions.clone();
    let first = functions.len();
    let (mut variables, mut initial) = (program.variables.clone(), program.initial.clone());
    let whole = program.clone();
    let mut body = std::mem::take(&mut program.body);
    let mut shell = Program { body: std::mem::take(&mut body), functions: Vec::new(), ..program.clone() };
    shell.expressions(&mut |expr| {
        let mut copy = expr.clone();
        let mut free = Vec::new();
        let mut movable = !matches!(expr, Expr::Literal(..) | Expr::Var(_) | Expr::Read(_));
        expression(&mut copy, &mut |e| {
            match e {
                Expr::Var(v) if !free.contains(v) => free.push(*v),
                Expr::Element(..) => movable = false,
                _ => {}
            }
            false
        });
        // What is moved must fit a result, which may be kept anywhere.
        let is_float = whole.type_of(expr).base == Base::Float;
        let fits = !is_float || whole.bound(expr).is_some_and(|b| b.0 <= VARIABLE.0 && b.1 <= VARIABLE.1);
        if !movable || !fits || !random.one_in(4) || functions.len() > first + 3 {
            return false;
        }
        let parameters: Vec<usize> = free
            .iter()
            .map(|&v| {
                variables.push(variables[v]);
                initial.push(initial[v]);
                variables.len() - 1
            })
            .collect();
        expression(&mut copy, &mut |e| {
            if let Expr::Var(v) = e {
                let at = free.iter().position(|f| f == v);
                // A parameter that has been put in is visited again only as a child, which a variable has not.
                if let Some(at) = at {
                    *v = parameters[at];
                }
            }
            false
        });
        functions.push(Function { parameters, locals: Vec::new(), body: Vec::new(), result: copy });
        *expr = Expr::Call(functions.len() - 1, free.into_iter().map(Expr::Var).collect());
        false
    });
    program.body = shell.body;
    program.functions = functions;
    program.variables = variables;
    program.initial = initial;
}

fn literals(program: &mut Program, random: &mut Random) {
    let mut stored = std::mem::take(&mut program.stored);
    program.expressions(&mut |expr| {
        if let Expr::Literal(ty, value) = expr {
            if stored.len() < STORED && !random.one_in(3) {
                stored.push(*value);
                *expr = Expr::Stored(*ty, stored.len() - 1);
            }
        }
        false
    });
    program.stored = stored;
}

fn identities(program: &mut Program, random: &mut Random) {
    let whole = program.clone();
    let row = |text: &str, base| ROWS.iter().position(|r| r.text == text && r.result == base);
    program.expressions(&mut |expr| {
        let ty = whole.type_of(expr);
        // Component bases stay variables, and a call that was just put in is not wrapped again.
        if matches!(expr, Expr::Var(_) | Expr::Opaque(..)) || !random.one_in(5) {
            return false;
        }
        let zero = Expr::Opaque(ty, false);
        let texts: &[&str] = match ty.base {
            Base::Int | Base::Uint => &["({0} + {1})", "({0} ^ {1})", "({0} | {1})", "({0} - {1})"],
            Base::Float => &["({0} + {1})", "({0} - {1})"],
            Base::Bool => &["({0} || {1})", "({0} ^^ {1})"],
        };
        let inner = std::mem::replace(expr, Expr::Opaque(ty, true));
        let wrapped = match row(texts[random.below(texts.len())], ty.base) {
            Some(row) => Expr::Op(row, ty.size, vec![inner.clone(), zero]),
            None => inner.clone(),
        };
        // The sum of a large float and nothing may need a digit more than there is.
        let fine = ty.base != Base::Float
            || matches!((whole.bound(&wrapped), whole.bound(&inner)), (Some(new), Some(old)) if new == (old.0 + 1, old.1) && old.0 < VARIABLE.0);
        *expr = if fine { wrapped } else { inner };
        false
    });
}

fn swap_branches(program: &mut Program) {
    program.blocks(&mut |list| {
        for stmt in list.iter_mut() {
            if let Stmt::If(condition, yes, no) = stmt {
                let old = std::mem::replace(condition, opaque(true));
                *condition = Expr::Op(ops::not_row(), 1, vec![old]);
                std::mem::swap(yes, no);
            }
        }
        false
    });
}

//! Makes a failing program small: deletes and simplifies as long as it keeps failing.

use crate::ast::*;
use crate::value::Base;

/// The smallest program found that `fails`.
pub fn reduce(program: &Program, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let mut at = 0;
        let mut smaller = false;
        while let Some(candidate) = edit(&best, at) {
            if candidate != best && candidate.is_exact() && fails(&candidate) {
                best = candidate;
                smaller = true;
            } else {
                at += 1;
            }
        }
        if !smaller {
            return best;
        }
    }
}

/// The program after its edit number `at`; `None` when there are fewer.
fn edit(program: &Program, mut at: usize) -> Option<Program> {
    let mut copy = program.clone();
    if at < copy.shown.len() {
        copy.shown.remove(at);
        return Some(copy);
    }
    at -= copy.shown.len();
    if at < copy.shown_arrays.len() {
        copy.shown_arrays.remove(at);
        return Some(copy);
    }
    at -= copy.shown_arrays.len();
    if copy.blocks(&mut |list| edit_block(list, &mut at)) {
        return Some(copy);
    }
    let whole = copy.clone();
    copy.expressions(&mut |expr| edit_expression(expr, &whole, &mut at)).then_some(copy)
}

fn edit_block(list: &mut Vec<Stmt>, at: &mut usize) -> bool {
    for n in 0..list.len() {
        if take(at) {
            list.remove(n);
            return true;
        }
        let parts: Vec<Vec<Stmt>> = match &list[n] {
            Stmt::If(_, yes, no) => vec![yes.clone(), no.clone()],
            Stmt::For(_, _, body) | Stmt::DoWhile(_, _, _, body) if !leaves(body, false) => {
                vec![body.clone()]
            }
            Stmt::Switch(_, cases) => {
                cases.iter().map(|c| c.1.clone()).filter(|body| !leaves(body, false)).collect()
            }
            _ => Vec::new(),
        };
        for part in parts {
            if take(at) {
                list.splice(n..=n, part);
                return true;
            }
        }
        match &mut list[n] {
            Stmt::Switch(_, cases) if cases.len() > 1 => {
                for case in 0..cases.len() {
                    if take(at) {
                        cases.remove(case);
                        return true;
                    }
                }
            }
            Stmt::If(_, _, no) if !no.is_empty() && take(at) => {
                no.clear();
                return true;
            }
            _ => {}
        }
    }
    false
}

fn edit_expression(expr: &mut Expr, program: &Program, at: &mut usize) -> bool {
    let ty = program.type_of(expr);
    let mut simple: Vec<Expr> = Vec::new();
    if !matches!(expr, Expr::Literal(..) | Expr::Var(_)) {
        let one = if ty.base == Base::Float { 1f32.to_bits() } else { 1 };
        simple.push(Expr::Literal(ty, [0; 4]));
        simple.push(Expr::Literal(ty, std::array::from_fn(|n| if n < ty.size.into() { one } else { 0 })));
    }
    let own = children(&mut expr.clone()).into_iter().map(|child| child.clone()).collect::<Vec<_>>();
    simple.extend(own.into_iter().filter(|child| program.type_of(child) == ty));
    for candidate in simple {
        if take(at) {
            *expr = candidate;
            return true;
        }
    }
    false
}

fn take(at: &mut usize) -> bool {
    if *at == 0 {
        return true;
    }
    *at -= 1;
    false
}

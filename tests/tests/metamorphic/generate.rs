//! Random programs.

use crate::ast::*;
use crate::ops::{self, ROWS};
use crate::random::Random;
use crate::value::{Base, Bound, Type, Value};

/// What may stand where the generator is.
#[derive(Clone)]
struct Scope {
    /// Variables that may be read.
    readable: Vec<usize>,
    /// Variables that may be assigned.
    writable: Vec<usize>,
    arrays: usize,
    /// Functions below this may be called.
    functions: usize,
    in_loop: bool,
    in_switch: bool,
    /// Result type of the function around; none in main.
    result: Option<Type>,
    /// Variables that the function or main declares, for new counters.
    counters: Vec<usize>,
}

pub struct Generator<'a> {
    pub random: &'a mut Random,
    pub program: Program,
}

const BASES: [Base; 4] = [Base::Int, Base::Uint, Base::Float, Base::Bool];

/// A program of either stage.
pub fn program(random: &mut Random) -> Program {
    let stage = if random.one_in(3) { Stage::Vertex } else { Stage::Fragment };
    let program = Program {
        stage,
        variables: Vec::new(),
        initial: Vec::new(),
        locals: Vec::new(),
        arrays: random.below(3).min(1),
        functions: Vec::new(),
        body: Vec::new(),
        shown: Vec::new(),
        shown_arrays: Vec::new(),
        stored: Vec::new(),
    };
    let mut generator = Generator { random, program };
    for number in 0..generator.random.below(3) {
        let function = generator.function(number);
        generator.program.functions.push(function);
    }
    let mut scope = generator.scope();
    let count = 2 + generator.random.below(3);
    for _ in 0..count {
        let ty = generator.any_type();
        let v = generator.variable(ty);
        scope.readable.push(v);
        scope.writable.push(v);
    }
    scope.functions = generator.program.functions.len();
    scope.arrays = generator.program.arrays;
    // Large programs need more registers than there are; most are small.
    let depth = if generator.random.one_in(3) { 3 } else { 2 };
    let statements = 2 + generator.random.below(5);
    let body = generator.block(&mut scope, statements, depth);
    generator.program.body = body;
    generator.program.shown = scope.writable.clone();
    generator.program.shown_arrays = (0..generator.program.arrays).collect();
    generator.program.locals = scope.writable;
    generator.program.locals.extend(scope.counters);
    generator.program
}

/// A statement that never runs, for main of an existing program.
pub fn dead_statement(program: &mut Program, random: &mut Random) -> Vec<Stmt> {
    let mut generator = Generator { random, program: program.clone() };
    let mut scope = generator.scope();
    scope.writable = program.shown.clone();
    scope.readable = program.shown.clone();
    scope.arrays = program.arrays;
    let list = generator.block(&mut scope, 2, 2);
    *program = generator.program;
    program.locals.extend(scope.counters);
    list
}

impl Generator<'_> {
    fn scope(&self) -> Scope {
        Scope {
            readable: Vec::new(),
            writable: Vec::new(),
            arrays: 0,
            functions: 0,
            in_loop: false,
            in_switch: false,
            result: None,
            counters: Vec::new(),
        }
    }

    fn any_type(&mut self) -> Type {
        let base = self.random.pick(&BASES);
        let size = self.random.pick(&[1, 1, 1, 2, 3, 4]);
        Type { base, size: if base == Base::Bool { 1 } else { size } }
    }

    fn variable(&mut self, ty: Type) -> usize {
        let first = self.literal_value(ty);
        self.program.variables.push(ty);
        self.program.initial.push(first);
        self.program.variables.len() - 1
    }

    fn function(&mut self, number: usize) -> Function {
        let mut scope = self.scope();
        let mut parameters = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let ty = self.any_type();
            parameters.push(self.variable(ty));
        }
        let result = self.any_type();
        let ty = self.any_type();
        let mut locals = vec![self.variable(ty), self.variable(result)];
        scope.readable = parameters.iter().chain(&locals).copied().collect();
        scope.writable = scope.readable.clone();
        scope.functions = number;
        scope.result = Some(result);
        let statements = 1 + self.random.below(4);
        let body = self.block(&mut scope, statements, 2);
        let value = self.kept(&scope, result, 2);
        locals.extend(scope.counters);
        Function { parameters, locals, body, result: value }
    }

    fn block(&mut self, scope: &mut Scope, count: usize, depth: u32) -> Vec<Stmt> {
        (0..count).map(|_| self.statement(scope, depth)).collect()
    }

    fn short_block(&mut self, scope: &mut Scope, depth: u32) -> Vec<Stmt> {
        let count = 1 + self.random.below(3);
        self.block(scope, count, depth)
    }

    fn condition(&mut self, scope: &Scope) -> Expr {
        self.expr(scope, Type::scalar(Base::Bool), 2)
    }

    fn statement(&mut self, scope: &mut Scope, depth: u32) -> Stmt {
        let kind = if depth == 0 { self.random.below(9) } else { self.random.below(20) };
        match kind {
            7 if scope.in_loop => Stmt::Continue(self.condition(scope)),
            8 if scope.in_loop || scope.in_switch => Stmt::Break(self.condition(scope)),
            9 if scope.result.is_none() && self.program.stage == Stage::Fragment && self.random.one_in(3) => {
                Stmt::Discard(self.condition(scope))
            }
            10 if scope.result.is_some() => {
                let result = scope.result.unwrap_or(Type::scalar(Base::Int));
                Stmt::Return(self.condition(scope), self.kept(scope, result, 2))
            }
            11..=13 => {
                let condition = self.condition(scope);
                let yes = self.short_block(scope, depth - 1);
                let no = if self.random.one_in(2) { self.short_block(scope, depth - 1) } else { Vec::new() };
                Stmt::If(condition, yes, no)
            }
            14 | 15 => {
                let counter = self.counter(scope);
                let count = match self.random.below(4) {
                    0 => self.small(scope),
                    n => Expr::Literal(Type::scalar(Base::Int), [1 + n as u32, 0, 0, 0]),
                };
                let mut inner = Scope { in_loop: true, ..scope.clone() };
                inner.readable.push(counter);
                let body = self.short_block(&mut inner, depth - 1);
                scope.counters = inner.counters;
                Stmt::For(counter, count, body)
            }
            16 => {
                let counter = self.counter(scope);
                let most = 1 + self.random.below(4) as u32;
                let mut inner = Scope { in_loop: true, ..scope.clone() };
                inner.readable.push(counter);
                let body = self.short_block(&mut inner, depth - 1);
                scope.counters = inner.counters;
                Stmt::DoWhile(counter, most, self.condition(scope), body)
            }
            17 => {
                let selector = self.small(scope);
                let mut inner = Scope { in_switch: true, ..scope.clone() };
                let mut cases = Vec::new();
                let mut label = 0;
                for _ in 0..2 + self.random.below(3) {
                    let count = 1 + self.random.below(2) as i32;
                    let body = self.short_block(&mut inner, depth - 1);
                    cases.push(((label..label + count).collect(), body, !self.random.one_in(3)));
                    label += count + self.random.below(2) as i32;
                }
                if self.random.one_in(2) {
                    let at = self.random.below(cases.len() + 1);
                    let body = self.short_block(&mut inner, depth - 1);
                    cases.insert(at, (Vec::new(), body, !self.random.one_in(3)));
                }
                scope.counters = inner.counters;
                Stmt::Switch(selector, cases)
            }
            _ => self.assignment(scope),
        }
    }

    /// An int from 0 to 7 that differs per element.
    fn small(&mut self, scope: &Scope) -> Expr {
        let int = Type::scalar(Base::Int);
        let and = row("({0} & {1})", Base::Int);
        let value = self.expr(scope, int, 1);
        Expr::Op(and, 1, vec![value, Expr::Literal(int, [7, 0, 0, 0])])
    }

    fn counter(&mut self, scope: &mut Scope) -> usize {
        let counter = self.variable(Type::scalar(Base::Int));
        self.program.initial[counter] = [0; 4];
        scope.counters.push(counter);
        counter
    }

    fn assignment(&mut self, scope: &Scope) -> Stmt {
        if scope.arrays > 0 && self.random.one_in(4) {
            let array = self.random.below(scope.arrays);
            let index = self.index(scope);
            let value = self.expr(scope, Type::scalar(Base::Uint), 3);
            return Stmt::Assign(Place::Element(array, index), value);
        }
        let v = self.random.pick(&scope.writable);
        let ty = self.program.variables[v];
        if ty.size > 1 && self.random.one_in(4) {
            let scalar = Type::scalar(ty.base);
            if self.random.one_in(2) {
                let index = self.index(scope);
                return Stmt::Assign(Place::Component(v, index), self.kept(scope, scalar, 2));
            }
            let mut components: Vec<u8> = (0..ty.size).collect();
            let rotation = self.random.below(components.len());
            components.rotate_left(rotation);
            components.truncate(1 + self.random.below(components.len()));
            let part = Type { size: components.len() as u8, ..ty };
            return Stmt::Assign(Place::Swizzle(v, components), self.kept(scope, part, 2));
        }
        Stmt::Assign(Place::Var(v), self.kept(scope, ty, 3))
    }

    fn index(&mut self, scope: &Scope) -> Expr {
        self.expr(scope, Type::scalar(Base::Uint), 1)
    }

    /// An expression that fits a variable.
    fn kept(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let expr = self.expr(scope, ty, depth);
        let fits = |b: Bound| b.0 <= VARIABLE.0 && b.1 <= VARIABLE.1;
        if ty.base == Base::Float && !self.program.bound(&expr).is_some_and(fits) {
            return Expr::Op(ops::fit_row(), ty.size, vec![expr]);
        }
        expr
    }

    fn literal_value(&mut self, ty: Type) -> Value {
        std::array::from_fn(|component| {
            if component >= ty.size.into() {
                return 0;
            }
            let word = self.random.word();
            match ty.base {
                Base::Bool => word & 1,
                Base::Float => (((word % 1024) as f32 - 512.0) / 16.0).to_bits(),
                _ if self.random.one_in(2) => word % 17,
                _ if self.random.one_in(4) => [0, 1, !0, 0x8000_0000, 0x7fff_ffff][word as usize % 5],
                _ => word >> (word & 31),
            }
        })
    }

    fn leaf(&mut self, scope: &Scope, ty: Type) -> Expr {
        let same: Vec<usize> =
            scope.readable.iter().copied().filter(|&v| self.program.variables[v] == ty).collect();
        if !same.is_empty() && !self.random.one_in(4) {
            return Expr::Var(self.random.pick(&same));
        }
        let wider: Vec<usize> = scope
            .readable
            .iter()
            .copied()
            .filter(|&v| {
                let have = self.program.variables[v];
                have.base == ty.base && have.size > 1 && ty.base != Base::Bool
            })
            .collect();
        let components = |random: &mut Random, size: u8| -> Vec<u8> {
            (0..ty.size).map(|_| random.below(size.into()) as u8).collect()
        };
        if !wider.is_empty() && self.random.one_in(2) {
            let v = self.random.pick(&wider);
            let picked = components(self.random, self.program.variables[v].size);
            return Expr::Swizzle(Box::new(Expr::Var(v)), picked);
        }
        let sources: Vec<Source> = SOURCES.into_iter().filter(|s| s.base() == ty.base).collect();
        if !sources.is_empty() && !self.random.one_in(3) {
            let source = self.random.pick(&sources);
            if ty.size == 4 && self.random.one_in(2) {
                return Expr::Read(source);
            }
            let picked = components(self.random, 4);
            return Expr::Swizzle(Box::new(Expr::Read(source)), picked);
        }
        Expr::Literal(ty, self.literal_value(ty))
    }

    fn expr(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf(scope, ty);
        }
        match self.random.below(14) {
            0 => return self.leaf(scope, ty),
            1 => {
                let condition = self.expr(scope, Type::scalar(Base::Bool), depth - 1);
                let yes = self.kept(scope, ty, depth - 1);
                let no = self.kept(scope, ty, depth - 1);
                return Expr::Select(Box::new(condition), Box::new(yes), Box::new(no));
            }
            2 if ty == Type::scalar(Base::Uint) && scope.arrays > 0 => {
                let array = self.random.below(scope.arrays);
                return Expr::Element(array, Box::new(self.expr(scope, ty, depth - 1)));
            }
            3 if ty.base == Base::Int => {
                let row = Expr::Table(Box::new(self.expr(scope, Type::scalar(Base::Int), depth - 1)));
                let picked = (0..ty.size).map(|_| self.random.below(4) as u8).collect();
                return Expr::Swizzle(Box::new(row), picked);
            }
            4 if ty.size == 1 && ty.base != Base::Bool => {
                let size = 2 + self.random.below(3) as u8;
                let vector = self.kept(scope, Type { base: ty.base, size }, depth - 1);
                if let Expr::Var(_) = vector {
                    let index = self.index(scope);
                    return Expr::Component(Box::new(vector), Box::new(index));
                }
                return Expr::Swizzle(Box::new(vector), vec![self.random.below(size.into()) as u8]);
            }
            5 if ty.size > 1 => {
                let parts =
                    (0..ty.size).map(|_| self.kept(scope, Type::scalar(ty.base), depth - 1)).collect();
                return Expr::Construct(ty, parts);
            }
            6 | 7 => {
                let fitting: Vec<usize> = (0..scope.functions)
                    .filter(|&f| self.program.type_of(&self.program.functions[f].result) == ty)
                    .collect();
                if !fitting.is_empty() {
                    let f = self.random.pick(&fitting);
                    let parameters = self.program.functions[f].parameters.clone();
                    let args = parameters
                        .into_iter()
                        .map(|v| self.kept(scope, self.program.variables[v], depth - 1))
                        .collect();
                    return Expr::Call(f, args);
                }
            }
            _ => {}
        }
        self.operation(scope, ty, depth)
    }

    fn operation(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let fitting: Vec<usize> = (0..ROWS.len())
            .filter(|&r| ROWS[r].result == ty.base && (ty.size == 1 || ROWS[r].vector))
            .collect();
        let row = self.random.pick(&fitting);
        let args: Vec<Expr> = ROWS[row]
            .args
            .iter()
            .map(|&base| {
                let size = if base == Base::Bool || !ROWS[row].vector { 1 } else { ty.size };
                self.expr(scope, Type { base, size }, depth - 1)
            })
            .collect();
        // Booleans are scalars in this language.
        if ROWS[row].args.contains(&Base::Bool) && ty.size > 1 {
            return self.leaf(scope, ty);
        }
        let expr = Expr::Op(row, ty.size, args);
        if !self.exact(&expr) {
            let Expr::Op(row, size, args) = expr else { return expr };
            let args = args
                .into_iter()
                .map(|arg| {
                    let ty = self.program.type_of(&arg);
                    if ty.base == Base::Float { Expr::Op(ops::fit_row(), ty.size, vec![arg]) } else { arg }
                })
                .collect();
            return Expr::Op(row, size, args);
        }
        expr
    }

    fn exact(&self, expr: &Expr) -> bool {
        let Expr::Op(_, _, args) = expr else { return true };
        let float = |e: &Expr| self.program.type_of(e).base == Base::Float;
        args.iter().all(|arg| !float(arg) || self.program.bound(arg).is_some())
            && (!float(expr) || self.program.bound(expr).is_some())
    }
}

fn row(text: &str, base: Base) -> usize {
    ROWS.iter().position(|row| row.text == text && row.result == base).expect("the table has it")
}

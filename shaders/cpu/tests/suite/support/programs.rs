//! Random programs: nested ifs and loops with breaks, continues and returns, memory of every kind, and barriers where control
//! flow is the same for all invocations.

use vc4_shaders::ir::{
    Atomic, Block, Builder, BuiltinInput, Invocation, Memory, Node, Op, Region, Shader, Type, Value,
};

use super::{buffer, compute};

/// Invocations' own values.
const OWN: usize = 4;
/// Values that all invocations share.
const SHARED: usize = 2;
/// Words of the input buffer.
pub const INPUT: u32 = 64;

type Env = [Value; OWN + SHARED];

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Where jumps of a loop go, with what values have there.
#[derive(Default)]
struct Ends {
    breaks: Vec<(Block, Env)>,
    continues: Vec<(Block, Env)>,
}

struct Writer {
    shader: Shader,
    random: Random,
    block: Block,
    total: Value,
    index: Value,
    local: Value,
    barriers: bool,
    subgroups: bool,
    budget: i32,
}

/// What a program may use.
#[derive(Clone, Copy, Debug)]
pub struct Uses {
    /// Barriers of the workgroup.
    pub barriers: bool,
    /// Ballots and shuffles.
    pub subgroups: bool,
}

/// Writes a program. Buffer 0 is input, buffer 1 has room for results, buffer 2 for counters.
pub fn program(seed: u64, size: [u32; 3], Uses { barriers, subgroups }: Uses) -> Shader {
    let invocations = size.iter().product::<u32>();
    let mut shader = compute(size, 4 * invocations, 32);
    let block = shader.entry().unwrap();
    let zero = Builder::new(&mut shader, block).word(0);
    let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut writer = Writer {
        shader,
        random,
        block,
        total: zero,
        index: zero,
        local: zero,
        barriers,
        subgroups,
        budget: (seed % 60) as i32,
    };
    let mut env = writer.prologue(invocations);
    let mut body = vec![Node::Block(block)];
    if writer.nodes(&mut body, &mut env, 0, true, &mut None) {
        writer.results(&env);
    }
    writer.shader.body = body;
    writer.shader
}

/// a of the invocation c, or a number where that one does not come by.
fn shuffle(b: &mut Builder<'_>, a: Value, c: Value) -> Value {
    let (yes, three, one, zero, nobody) = (b.truth(true), b.word(3), b.word(1), b.word(0), b.word(77));
    let present = b.emit(Op::Ballot, &[yes])[0];
    let word = b.emit(Op::Shuffle, &[a, c])[0];
    let from = b.and(c, three);
    let moved = b.shr(present, from);
    let bit = b.and(moved, one);
    let there = b.emit(Op::INe, &[bit, zero])[0];
    b.select(there, word, nobody)
}

impl Writer {
    fn b(&mut self) -> Builder<'_> {
        Builder::new(&mut self.shader, self.block)
    }

    fn builtin(&mut self, place: Invocation) -> Value {
        self.b().emit(Op::LoadBuiltin(BuiltinInput::Invocation(place)), &[])[0]
    }

    fn prologue(&mut self, invocations: u32) -> Env {
        let group = self.builtin(Invocation::WorkgroupId(0));
        let count = self.builtin(Invocation::WorkgroupCount(0));
        self.local = self.builtin(Invocation::LocalIndex);
        let local = self.local;
        let x = self.builtin(Invocation::LocalId(0));
        let y = self.builtin(Invocation::LocalId(1));
        let z = self.builtin(Invocation::LocalId(2));
        let mut b = self.b();
        let size = b.word(invocations);
        let first = b.imul(group, size);
        let index = b.iadd(first, local);
        let total = b.imul(count, size);
        let two = b.word(2);
        let place = b.shl(index, two);
        let word = b.emit(Op::Load { memory: Memory::Buffer(buffer(0)), offset: 8 }, &[place])[0];
        let push = b.emit(Op::LoadPush(4), &[])[0];
        let yz = b.iadd(y, z);
        let zero = b.word(0);
        for offset in (0..32).step_by(4) {
            b.emit(Op::Store { memory: Memory::Scratch, offset }, &[zero, zero]);
        }
        (self.index, self.total) = (index, total);
        [word, x, yz, local, group, push]
    }

    /// Stores all values.
    fn results(&mut self, env: &Env) {
        for (at, &value) in env.iter().enumerate() {
            self.store_own(at as u32, value);
        }
    }

    /// Stores to a word of the invocation's own.
    fn store_own(&mut self, row: u32, value: Value) {
        let (index, total) = (self.index, self.total);
        let mut b = self.b();
        let row = b.word(row);
        let start = b.imul(row, total);
        let word = b.iadd(start, index);
        let two = b.word(2);
        let place = b.shl(word, two);
        b.emit(Op::Store { memory: Memory::Buffer(buffer(1)), offset: 0 }, &[place, value]);
    }

    fn pick(&mut self, env: &Env, shared: bool) -> Value {
        if self.random.chance(20) {
            let word = self.random.below(20) as u32;
            return self.b().word(word);
        }
        let at = if shared {
            OWN as u64 + self.random.below(SHARED as u64)
        } else {
            self.random.below(env.len() as u64)
        };
        env[at as usize]
    }

    fn condition(&mut self, env: &Env, shared: bool) -> Value {
        let (a, b) = (self.pick(env, shared), self.pick(env, shared));
        let mask = 1 << self.random.below(3);
        let op = [Op::ULt, Op::SLt, Op::INe, Op::IEq][self.random.below(4) as usize];
        let bit = self.random.chance(60);
        let mut builder = self.b();
        if bit {
            let mask = builder.word(mask);
            let (a, zero) = (builder.and(a, mask), builder.word(0));
            builder.emit(op, &[zero, a])[0]
        } else {
            builder.emit(op, &[a, b])[0]
        }
    }

    /// Appends nodes. Returns whether control gets to their end.
    fn nodes(
        &mut self,
        region: &mut Region,
        env: &mut Env,
        depth: u32,
        shared: bool,
        ends: &mut Option<Ends>,
    ) -> bool {
        for _ in 0..1 + self.random.below(4) {
            self.budget -= 1;
            match self.random.below(10) {
                0..=3 => self.statements(env, shared),
                4 if shared && self.barriers => self.exchange(env),
                _ if depth >= 4 || self.budget < 0 => self.statements(env, shared),
                4..=7 => {
                    if !self.branch(region, env, depth, shared, ends) {
                        return false;
                    }
                }
                _ => self.endless_loop(region, env, depth, shared),
            }
        }
        if depth > 0 && ends.is_some() && self.random.chance(25) {
            let again = self.random.chance(50);
            let ends = ends.as_mut().unwrap();
            let list = if again { &mut ends.continues } else { &mut ends.breaks };
            list.push((self.block, *env));
            region.push(if again { Node::Continue } else { Node::Break });
            return false;
        }
        if depth > 1 && !self.barriers && self.random.chance(6) {
            self.results(env);
            region.push(Node::Return);
            return false;
        }
        true
    }

    fn statements(&mut self, env: &mut Env, shared: bool) {
        for _ in 0..1 + self.random.below(3) {
            self.statement(env, shared);
        }
    }

    fn statement(&mut self, env: &mut Env, shared: bool) {
        let to_shared = shared && self.random.chance(25);
        let (a, c) = (self.pick(env, to_shared), self.pick(env, to_shared));
        let to = if to_shared {
            OWN as u64 + self.random.below(SHARED as u64)
        } else {
            self.random.below(OWN as u64)
        };
        let ops =
            [Op::IAdd, Op::ISub, Op::IMul, Op::Xor, Op::And, Op::Shl, Op::Shr, Op::UMin, Op::UMod, Op::SDiv];
        let op = ops[self.random.below(ops.len() as u64) as usize];
        let kinds = if self.subgroups { 10 } else { 8 };
        let kind = if to_shared { 0 } else { self.random.below(kinds) };
        let row = 6 + self.random.below(2) as u32;
        match kind {
            5 => return self.store_own(row, a),
            6 => return self.count(a),
            _ => {}
        }
        let index = self.index;
        let mut b = self.b();
        env[to as usize] = match kind {
            1 => {
                // Sometimes outside.
                let mask = b.word(4 * INPUT + 0x3f);
                let mask = b.emit(Op::Or, &[mask, mask])[0];
                let place = b.and(a, mask);
                let three = b.word(!3);
                let place = b.and(place, three);
                b.emit(Op::Load { memory: Memory::Buffer(buffer(0)), offset: 4 }, &[place])[0]
            }
            2 => {
                let two = b.word(2);
                let place = b.shl(index, two);
                b.emit(Op::LoadUboDynamic { buffer: buffer(0), offset: 12, last: 12 }, &[place])[0]
            }
            3 | 4 => {
                let mask = b.word(0x3c);
                let place = b.and(a, mask);
                let memory = Memory::Scratch;
                b.emit(Op::Store { memory, offset: 0 }, &[place, c]);
                let place = b.and(c, mask);
                b.emit(Op::Load { memory, offset: 0 }, &[place])[0]
            }
            7 => {
                let cond = b.emit(Op::ULt, &[a, c])[0];
                b.select(cond, a, c)
            }
            8 => {
                let cond = b.emit(Op::ULt, &[a, c])[0];
                b.emit(Op::Ballot, &[cond])[0]
            }
            9 => shuffle(&mut b, a, c),
            _ => b.emit(op, &[a, c])[0],
        };
    }

    fn count(&mut self, value: Value) {
        let mut b = self.b();
        let mask = b.word(12);
        let place = b.and(value, mask);
        let one = b.word(1);
        let add = Op::Atomic { memory: Memory::Buffer(buffer(2)), offset: 0, action: Atomic::Add };
        b.emit(add, &[place, one]);
        let umax = Op::Atomic { memory: Memory::Buffer(buffer(2)), offset: 16, action: Atomic::UMax };
        b.emit(umax, &[place, value]);
    }

    /// Hands a value to a neighbour through shared memory.
    fn exchange(&mut self, env: &mut Env) {
        let (from, to) = (self.random.below(OWN as u64) as usize, self.random.below(OWN as u64) as usize);
        let (by, local) = (self.random.below(5) as u32, self.local);
        let mut b = self.b();
        let two = b.word(2);
        let place = b.shl(local, two);
        b.emit(Op::Barrier, &[]);
        b.emit(Op::Store { memory: Memory::Shared, offset: 0 }, &[place, env[from]]);
        b.emit(Op::Barrier, &[]);
        let by = b.word(by);
        let other = b.emit(Op::Xor, &[local, by])[0];
        let place = b.shl(other, two);
        env[to] = b.emit(Op::Load { memory: Memory::Shared, offset: 0 }, &[place])[0];
    }

    /// Joins ways into a new block.
    fn join(&mut self, region: &mut Region, env: &mut Env, ways: &[(Block, Env)]) -> bool {
        self.block = self.shader.blocks.push(Default::default());
        region.push(Node::Block(self.block));
        for (at, value) in env.iter_mut().enumerate() {
            let args: Vec<(Block, Value)> = ways.iter().map(|&(block, ref env)| (block, env[at])).collect();
            if let Some(&(_, first)) = args.first() {
                let same = args.iter().all(|&(_, value)| value == first);
                *value = if same { first } else { self.b().phi(Type::Word, &args) };
            }
        }
        !ways.is_empty()
    }

    fn branch(
        &mut self,
        region: &mut Region,
        env: &mut Env,
        depth: u32,
        shared: bool,
        ends: &mut Option<Ends>,
    ) -> bool {
        let same = self.random.chance(40);
        let cond = self.condition(env, same);
        let mut ways = Vec::new();
        let mut arms = Vec::new();
        for other in [false, true] {
            self.block = self.shader.blocks.push(Default::default());
            let mut arm = vec![Node::Block(self.block)];
            let mut inner = *env;
            let empty = other && self.random.chance(50);
            // What differs may not change what is shared.
            let goes_on = empty || self.nodes(&mut arm, &mut inner, depth + 1, shared && same, ends);
            if goes_on {
                ways.push((self.block, inner));
            }
            arms.push(arm);
        }
        let otherwise = arms.pop().unwrap();
        region.push(Node::If { cond, then: arms.pop().unwrap(), otherwise });
        self.join(region, env, &ways)
    }

    /// A loop that ends after some iterations at the latest.
    fn endless_loop(&mut self, region: &mut Region, env: &mut Env, depth: u32, shared: bool) {
        let before = (self.block, *env);
        // A jump behind a differing branch parts the invocations: nothing is shared in such a loop.
        let same = shared && self.random.chance(40);
        let limit = self.pick(env, same);
        let (mask, zero) = (self.b().word(7), self.b().word(0));
        let limit = self.b().and(limit, mask);
        self.block = self.shader.blocks.push(Default::default());
        let header = self.block;
        let mut body = vec![Node::Block(header)];
        let counter = self.b().phi(Type::Word, &[(before.0, zero)]);
        let phis: Vec<Value> =
            before.1.iter().map(|&value| self.b().phi(Type::Word, &[(before.0, value)])).collect();
        env.copy_from_slice(&phis);
        let one = self.b().word(1);
        let next = self.b().iadd(counter, one);
        let over = self.b().emit(Op::ULe, &[limit, counter])[0];
        let mut ends = Ends::default();
        let out = self.shader.blocks.push(Default::default());
        ends.breaks.push((out, *env));
        let on = self.shader.blocks.push(Default::default());
        body.push(Node::If {
            cond: over,
            then: vec![Node::Block(out), Node::Break],
            otherwise: vec![Node::Block(on)],
        });
        self.block = self.shader.blocks.push(Default::default());
        body.push(Node::Block(self.block));
        let mut jumps = Some(ends);
        let jumps_allowed = if same { &mut None } else { &mut jumps };
        let goes_on = self.nodes(&mut body, env, depth + 1, same, jumps_allowed);
        let mut ends = jumps.unwrap();
        if goes_on {
            ends.continues.push((self.block, *env));
        }
        for (block, env) in &ends.continues {
            self.b().add_phi_arg(counter, *block, next);
            for (&phi, &value) in phis.iter().zip(env) {
                self.b().add_phi_arg(phi, *block, value);
            }
        }
        region.push(Node::Loop(body));
        self.join(region, env, &ends.breaks);
        // What one counted is seen behind the loop, where it differs.
        if !same && self.random.chance(50) {
            env[0] = counter;
        }
    }
}

//! An interpreter that knows nothing of batches: every invocation has a program counter of its own and runs alone to its next
//! barrier. At an operation of the subgroup it waits for those that come to the same one, in the same iterations of all loops
//! around it: whoever is furthest behind in the program's order goes on first.

use std::collections::HashMap;

use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::eval::{atomic, eval};
use vc4_shaders::ir::{Block, BuiltinInput, Inst, Invocation, Memory, Node, Op, Region, Shader, Value};

enum Step {
    Enter(Block),
    Do(Inst),
    /// Jumps if the condition does not hold.
    Unless(Value, usize),
    Jump(usize),
    /// A loop begins.
    Begin,
    /// Another iteration.
    Again(usize),
    /// The innermost loop is left.
    Leave(usize),
    End,
}

#[derive(Default)]
struct Program {
    steps: Vec<Step>,
    breaks: Vec<Vec<usize>>,
    headers: Vec<usize>,
}

impl Program {
    fn region(&mut self, shader: &Shader, region: &Region) {
        for node in region {
            match node {
                &Node::Block(block) => {
                    self.steps.push(Step::Enter(block));
                    let insts = shader.blocks[block].insts.iter();
                    self.steps
                        .extend(insts.filter(|&&i| shader.insts[i].op != Op::Phi).map(|&i| Step::Do(i)));
                }
                Node::If { cond, then, otherwise } => {
                    let branch = self.hole();
                    self.region(shader, then);
                    let end = self.hole();
                    self.steps[branch] = Step::Unless(*cond, self.steps.len());
                    self.region(shader, otherwise);
                    self.steps[end] = Step::Jump(self.steps.len());
                }
                Node::Loop(body) => {
                    self.steps.push(Step::Begin);
                    self.headers.push(self.steps.len());
                    self.breaks.push(Vec::new());
                    self.region(shader, body);
                    let header = self.headers.pop().unwrap();
                    self.steps.push(Step::Again(header));
                    for at in self.breaks.pop().unwrap() {
                        self.steps[at] = Step::Leave(self.steps.len());
                    }
                }
                Node::Break => {
                    let at = self.hole();
                    self.breaks.last_mut().unwrap().push(at);
                }
                Node::Continue => {
                    let header = *self.headers.last().unwrap();
                    self.steps.push(Step::Again(header));
                }
                Node::Return | Node::Discard => self.steps.push(Step::End),
            }
        }
    }

    fn hole(&mut self) -> usize {
        self.steps.push(Step::End);
        self.steps.len() - 1
    }
}

#[derive(Clone, Default)]
struct Thread {
    at: usize,
    from: Option<Block>,
    values: HashMap<Value, u32>,
    local: [u32; 3],
    index: u32,
    scratch: Vec<u32>,
    /// The loops around, by the place where they begin, and their iterations.
    loops: Vec<[usize; 2]>,
    stop: Stop,
}

/// Why a thread does not run.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stop {
    #[default]
    No,
    Barrier,
    /// An operation of its subgroup.
    Subgroup(Inst),
    End,
}

impl Thread {
    /// Where it is, in the order in which a program comes by.
    fn place(&self) -> Vec<usize> {
        self.loops.iter().flatten().copied().chain([self.at]).collect()
    }
}

struct Group<'a> {
    shader: &'a Shader,
    steps: &'a [Step],
    push: &'a [u32],
    buffers: &'a mut [Vec<u32>],
    shared: Vec<u32>,
    id: [u32; 3],
    count: [u32; 3],
}

/// Runs all workgroups, one after the other.
pub fn run(shader: &Shader, groups: [u32; 3], push: &[u32], buffers: &mut [Vec<u32>]) {
    let mut program = Program::default();
    program.region(shader, &shader.body);
    program.steps.push(Step::End);
    let [x, y, z] = groups;
    for number in 0..x * y * z {
        let mut group = Group {
            shader,
            steps: &program.steps,
            push,
            buffers,
            shared: vec![0; shader.workgroup.shared_bytes as usize / 4],
            id: [number % x, number / x % y, number / x / y],
            count: groups,
        };
        group.run();
    }
}

impl Group<'_> {
    fn run(&mut self) {
        let [x, y, z] = self.shader.workgroup.size;
        let thread = |index| Thread {
            local: [index % x, index / x % y, index / x / y],
            index,
            scratch: vec![0; self.shader.workgroup.scratch_bytes as usize / 4],
            ..Thread::default()
        };
        let mut threads: Vec<Thread> = (0..x * y * z).map(thread).collect();
        while threads.iter().any(|thread| thread.stop != Stop::End) {
            for subgroup in threads.chunks_mut(4) {
                self.subgroup(subgroup);
            }
            threads
                .iter_mut()
                .filter(|thread| thread.stop == Stop::Barrier)
                .for_each(|thread| thread.stop = Stop::No);
        }
    }

    /// Runs a subgroup to the next barrier or the end.
    fn subgroup(&mut self, threads: &mut [Thread]) {
        loop {
            threads.iter_mut().for_each(|thread| self.thread(thread));
            let waiting = threads.iter().filter_map(|thread| match thread.stop {
                Stop::Subgroup(inst) => Some((thread.place(), inst)),
                _ => None,
            });
            let Some((first, inst)) = waiting.min_by(|(a, _), (b, _)| a.cmp(b)) else {
                return;
            };
            let together = |thread: &Thread| thread.stop != Stop::End && thread.place() == first;
            let numbers: Vec<usize> = (0..threads.len()).filter(|&n| together(&threads[n])).collect();
            let data = &self.shader.insts[inst];
            let words = |at: usize| -> Vec<u32> {
                threads.iter().map(|thread| thread.values.get(&data.args[at]).copied().unwrap_or(0)).collect()
            };
            let results: Vec<u32> = match data.op {
                Op::Ballot => {
                    let votes = words(0);
                    vec![numbers.iter().map(|&n| votes[n] << n).sum(); threads.len()]
                }
                _ => words(1)
                    .iter()
                    .map(|&from| words(0).get(from as usize % 4).copied().unwrap_or(0))
                    .collect(),
            };
            for n in numbers {
                threads[n].values.insert(data.results[0], results[n]);
                threads[n].stop = Stop::No;
            }
        }
    }

    /// Runs to the next barrier or the end.
    fn thread(&mut self, thread: &mut Thread) {
        let mut limit = 10_000_000u64;
        while thread.stop == Stop::No {
            limit = limit.checked_sub(1).expect("the interpreted kernel ends");
            let at = thread.at;
            thread.at += 1;
            match self.steps[at] {
                Step::Enter(block) => self.enter(thread, block),
                Step::Do(inst) => match self.shader.insts[inst].op {
                    Op::Barrier => thread.stop = Stop::Barrier,
                    Op::Ballot | Op::Shuffle => thread.stop = Stop::Subgroup(inst),
                    _ => self.inst(thread, inst),
                },
                Step::Unless(cond, to) if thread.values[&cond] == 0 => thread.at = to,
                Step::Unless(..) => {}
                Step::Jump(to) => thread.at = to,
                Step::Begin => thread.loops.push([at, 0]),
                Step::Again(header) => {
                    thread.loops.last_mut().unwrap()[1] += 1;
                    thread.at = header;
                }
                Step::Leave(to) => {
                    thread.loops.pop();
                    thread.at = to;
                }
                Step::End => thread.stop = Stop::End,
            }
        }
    }

    fn enter(&mut self, thread: &mut Thread, block: Block) {
        let insts = self.shader.blocks[block].insts.iter().map(|&inst| &self.shader.insts[inst]);
        let mut found = Vec::new();
        for data in insts.take_while(|data| data.op == Op::Phi) {
            let at = data.phi_blocks.iter().position(|&from| Some(from) == thread.from).unwrap();
            found.push((data.results[0], thread.values[&data.args[at]]));
        }
        thread.values.extend(found);
        thread.from = Some(block);
    }

    fn inst(&mut self, thread: &mut Thread, inst: Inst) {
        let data = &self.shader.insts[inst];
        let args: Vec<u32> = data.args.iter().map(|arg| thread.values[arg]).collect();
        let result = match data.op {
            Op::Undef => 0,
            Op::Fence => return,
            Op::LoadPush(offset) => self.push.get(offset as usize / 4).copied().unwrap_or(0),
            Op::LoadUbo { buffer, offset } => {
                self.word(thread, Memory::Buffer(buffer), offset.into()).map_or(0, |w| *w)
            }
            Op::LoadUboDynamic { buffer, offset, .. } => {
                let at = u64::from(args[0]) + u64::from(offset);
                self.word(thread, Memory::Buffer(buffer), at).map_or(0, |word| *word)
            }
            Op::Load { memory, offset } => {
                let at = u64::from(args[0]) + u64::from(offset);
                self.word(thread, memory, at).map_or(0, |word| *word)
            }
            Op::Store { memory, offset } => {
                let at = u64::from(args[0]) + u64::from(offset);
                if let Some(word) = self.word(thread, memory, at) {
                    *word = args[1];
                }
                return;
            }
            Op::Atomic { memory, offset, action } => {
                let at = u64::from(args[0]) + u64::from(offset);
                match self.word(thread, memory, at) {
                    Some(word) => {
                        let old = *word;
                        *word = atomic(action, old, args[1], args.get(2).copied().unwrap_or(0));
                        old
                    }
                    None => 0,
                }
            }
            Op::BufferElements { buffer, offset, stride } => {
                (4 * self.buffer(buffer).len() as u32).saturating_sub(offset) / stride
            }
            Op::LoadBuiltin(BuiltinInput::Invocation(place)) => self.place(thread, place),
            op => eval(op, &args).unwrap_or_else(|| panic!("the oracle knows {op}")),
        };
        thread.values.insert(data.results[0], result);
    }

    fn buffer(&mut self, buffer: Descriptor) -> &mut Vec<u32> {
        &mut self.buffers[buffer.binding as usize]
    }

    fn word<'t>(&'t mut self, thread: &'t mut Thread, memory: Memory, at: u64) -> Option<&'t mut u32> {
        let words = match memory {
            Memory::Buffer(buffer) => self.buffer(buffer),
            Memory::Shared => &mut self.shared,
            Memory::Scratch => &mut thread.scratch,
        };
        words.get_mut(usize::try_from(at / 4).ok()?)
    }

    fn place(&self, thread: &Thread, place: Invocation) -> u32 {
        match place {
            Invocation::WorkgroupId(axis) => self.id[usize::from(axis)],
            Invocation::WorkgroupCount(axis) => self.count[usize::from(axis)],
            Invocation::LocalId(axis) => thread.local[usize::from(axis)],
            Invocation::LocalIndex => thread.index,
            Invocation::SubgroupInvocation => thread.index % 4,
            Invocation::SubgroupId => thread.index / 4,
        }
    }
}

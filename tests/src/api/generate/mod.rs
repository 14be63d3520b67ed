//! Makes programs up. A program is a list of moves; each has a seed of its own and adds the steps that the model admits, so
//! that what changes one move leaves the next ones much as they were.

mod commands;
mod common;
mod create;
mod draw;
mod host;

use ash::vk;

use super::model::{Inside, Model, Phase, Recording};
use super::slot::Id;
use super::step::*;
use crate::random::Random;

/// A program: steps that the specification allows, one after the other.
#[derive(Clone, Debug)]
pub struct Program {
    /// The steps.
    pub steps: Vec<Step>,
    /// Steps that made what it finds there.
    common: Vec<Step>,
}

/// Most objects of a program.
const OBJECTS: usize = 90;

/// What programs are made with.
struct Maker {
    model: Model,
    steps: Vec<Step>,
    next: u32,
    random: Random,
    /// Whether there are surfaces.
    surfaces: bool,
    /// Makes only what any number of threads may use.
    shares: bool,
}

impl Program {
    /// The program of a seed, by so many moves, among objects that others use, too.
    pub fn of_seed(seed: u64, moves: usize, surfaces: bool, common: Vec<Step>) -> Program {
        let mut random = Random(seed);
        Program::of_moves((0..moves).map(|_| random.long()), surfaces, common)
    }

    /// The program of the seeds of its moves.
    fn of_moves(moves: impl IntoIterator<Item = u64>, surfaces: bool, common: Vec<Step>) -> Program {
        let model = Model::among(&common);
        let mut maker =
            Maker { model, steps: Vec::new(), next: 1, random: Random(0), surfaces, shares: false };
        maker.begin();
        for seed in moves {
            maker.random = Random(seed);
            maker.make_a_move();
        }
        maker.end();
        Program { steps: maker.steps, common }
    }

    /// The program of bytes: four of them make a move.
    pub fn of_bytes(bytes: &[u8]) -> Program {
        let moves = bytes.chunks_exact(4).map(|b| u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        Program::of_moves(moves, true, Vec::new())
    }

    /// What is left of steps when those that are not allowed any more are left out.
    pub fn of_steps(steps: &[Step], common: Vec<Step>) -> Program {
        let mut model = Model::among(&common);
        Program { steps: steps.iter().filter(|step| model.take(step)).cloned().collect(), common }
    }

    /// The model after all steps.
    pub fn model(&self) -> Model {
        let mut model = Model::among(&self.common);
        for step in &self.steps {
            model.take(step);
        }
        model
    }
}

impl Maker {
    /// Adds a step, if it is allowed.
    fn push(&mut self, step: Step) -> bool {
        let allowed = self.may_add(&step) && self.model.take(&step);
        if allowed {
            self.steps.push(step);
        }
        allowed
    }

    /// Makes an object.
    fn make(&mut self, what: Create) -> Option<Id> {
        let id = Id(self.next);
        self.next += 1;
        self.push(Step::Create { id, what }).then_some(id)
    }

    fn host(&mut self, what: Host) -> bool {
        self.push(Step::Do { what })
    }

    fn command(&mut self, commands: Id, command: Command) -> bool {
        self.push(Step::Record { commands, command })
    }

    /// The objects that fit.
    fn all(&self, fits: impl Fn(&Create) -> bool) -> Vec<Id> {
        self.model.things.iter().filter(|(_, thing)| fits(&thing.create)).map(|(id, _)| *id).collect()
    }

    /// One of them.
    fn any(&mut self, fits: impl Fn(&Create) -> bool) -> Option<Id> {
        let all = self.all(fits);
        (!all.is_empty()).then(|| self.random.pick(&all))
    }

    /// A buffer with memory and usage.
    fn a_buffer(&mut self, usage: vk::BufferUsageFlags) -> Option<(Id, u64)> {
        let all: Vec<(Id, u64)> = self
            .model
            .things
            .keys()
            .filter_map(|id| {
                let (size, has) = self.model.buffer(*id)?;
                has.contains(usage).then_some((*id, size))
            })
            .collect();
        (!all.is_empty()).then(|| self.random.pick(&all))
    }

    /// An image with contents.
    fn an_image(&mut self, fits: impl Fn(&ImageShape) -> bool) -> Option<(Id, ImageShape)> {
        let fit = |id: &Id| {
            let thing = self.model.get(*id)?;
            let image = self.model.image(*id)?;
            (thing.ready && fits(image)).then(|| (*id, image.clone()))
        };
        let all: Vec<(Id, ImageShape)> = self.model.things.keys().filter_map(fit).collect();
        if all.is_empty() { None } else { Some(all[self.random.below(all.len())].clone()) }
    }

    /// Command buffers in a phase.
    fn in_phase(&self, phase: Phase) -> Vec<Id> {
        let things = self.model.things.iter();
        let fits = |thing: &super::model::Thing| {
            matches!(thing.create, Create::Commands { .. }) && thing.recording.phase == phase
        };
        things.filter(|(_, thing)| fits(thing)).map(|(id, _)| *id).collect()
    }

    /// A command buffer that is recorded, and what it holds.
    fn recording(&mut self) -> Option<(Id, Recording)> {
        let all = self.in_phase(Phase::Recording);
        if all.is_empty() {
            return None;
        }
        let id = self.random.pick(&all);
        Some((id, self.model.get(id)?.recording.clone()))
    }

    fn inside(&self, commands: Id) -> Option<Inside> {
        self.model.get(commands)?.recording.inside.clone()
    }

    /// A number that is often small, or at the limit.
    fn number(&mut self, limit: u64) -> u64 {
        match self.random.below(4) {
            0 => 0,
            1 => limit,
            2 => self.random.long() % (limit + 1).min(9),
            _ => self.random.long() % (limit + 1),
        }
    }

    /// What every program has at hand.
    fn begin(&mut self) {
        self.random = Random(1);
        self.buffers();
        self.make(Create::CommandPool { flags: vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER });
        self.make(Create::Fence { signaled: false });
    }

    fn make_a_move(&mut self) {
        let busy = !self.in_phase(Phase::Recording).is_empty();
        // Most moves go on with what is recorded.
        if busy && !self.random.one_in(4) {
            return self.go_on();
        }
        match self.random.below(16) {
            0..=4 if self.model.things.len() < OBJECTS => self.create(),
            5 | 6 => self.begin_commands(),
            7 | 8 => self.submit(),
            9 => self.destroy(),
            _ => self.host_move(),
        }
    }

    /// Ends what is recorded, runs it, and shows everything.
    fn end(&mut self) {
        self.random = Random(2);
        for commands in self.in_phase(Phase::Recording) {
            self.close(commands);
        }
        let primaries = |id: &Id| {
            self.model
                .get(*id)
                .is_some_and(|one| matches!(one.create, Create::Commands { secondary: false, .. }))
        };
        let all: Vec<Id> = self.in_phase(Phase::Executable).into_iter().filter(primaries).collect();
        for commands in all {
            self.push(Step::Submit {
                commands: vec![commands],
                waits: Vec::new(),
                signals: Vec::new(),
                fence: None,
                newer: false,
            });
        }
        self.host(Host::WaitIdle { device: false });
        for memory in self.all(|what| matches!(what, Create::Memory { .. })) {
            self.host(Host::Unmap { memory });
        }
        let all: Vec<Id> = self.model.things.keys().copied().collect();
        for id in all {
            if !self.host(Host::Read { buffer: id }) {
                self.host(Host::ReadImage { image: id });
            }
        }
    }

    fn destroy(&mut self) {
        let all = self.all(|_| true);
        let id = self.random.pick(&all);
        let rare = self.model.get(id).is_some_and(|thing| {
            matches!(thing.create, Create::CommandPool { .. } | Create::Buffer { .. } | Create::Image { .. })
        });
        if !rare || self.random.one_in(3) {
            self.push(Step::Destroy { id });
        }
    }

    fn begin_commands(&mut self) {
        let pools = |what: &Create| matches!(what, Create::CommandPool { .. });
        let Some(pool) = self.any(pools) else { return };
        let secondary = self.random.one_in(4);
        let used =
            self.all(|what| matches!(what, Create::Commands { secondary: kind, .. } if *kind == secondary));
        let commands = match used.len() {
            0..4 => self.make(Create::Commands { pool, secondary }),
            _ => Some(self.random.pick(&used)),
        };
        let Some(commands) = commands else { return };
        let flags = self.random.pick(&[
            vk::CommandBufferUsageFlags::empty(),
            vk::CommandBufferUsageFlags::empty(),
            vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT,
            vk::CommandBufferUsageFlags::SIMULTANEOUS_USE,
        ]);
        let framebuffer = match secondary && self.random.one_in(2) {
            true => self.any(|what| matches!(what, Create::Framebuffer { .. })),
            false => None,
        };
        let pass = framebuffer.and_then(|framebuffer| match self.model.get(framebuffer)?.create {
            Create::Framebuffer { pass, .. } => Some(pass),
            _ => None,
        });
        let (flags, framebuffer) = match pass {
            Some(_) => (flags | vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE, framebuffer),
            None => (flags, None),
        };
        if self.push(Step::Begin { commands, flags, pass, framebuffer }) {
            return;
        }
        if self.host(Host::ResetCommands { commands, release: self.model.things.len() % 2 == 0 }) {
            self.push(Step::Begin { commands, flags, pass, framebuffer });
        }
    }

    /// Ends a recording, with all that has to end before.
    fn close(&mut self, commands: Id) {
        let Some(thing) = self.model.get(commands) else { return };
        let recording = thing.recording.clone();
        if let Some((queries, query, _)) = recording.active {
            self.command(commands, Command::EndQuery { queries, query });
        }
        for _ in 0..4 {
            let _ = self.command(commands, Command::EndPass {})
                || self.command(commands, Command::EndRendering {})
                || (self.inside(commands).is_some_and(|inside| inside.own)
                    && self.command(commands, Command::NextSubpass { secondary: false }));
        }
        for (image, from) in recording.layouts {
            self.command(commands, Command::Barrier { newer: false, buffer: None });
            self.command(commands, Command::Transition { image, from, to: vk::ImageLayout::GENERAL });
        }
        self.push(Step::End { commands });
    }

    fn submit(&mut self) {
        let mut commands = self.in_phase(Phase::Executable);
        while commands.len() > 3 {
            let at = self.random.below(commands.len());
            commands.remove(at);
        }
        let semaphores = self.all(|what| matches!(what, Create::Semaphore { .. }));
        let (mut waits, mut signals) = (Vec::new(), Vec::new());
        for semaphore in semaphores {
            let Some(thing) = self.model.get(semaphore) else { continue };
            let (timeline, value) =
                (matches!(thing.create, Create::Semaphore { timeline: true, .. }), thing.value);
            match (timeline, self.random.below(3)) {
                (_, 0) => (),
                (true, 1) => waits.push(Signal { semaphore, value }),
                (true, _) => {
                    signals.push(Signal { semaphore, value: value + 1 + self.random.below(3) as u64 })
                }
                (false, _) if value == 1 => waits.push(Signal { semaphore, value: 0 }),
                (false, _) => signals.push(Signal { semaphore, value: 0 }),
            }
        }
        let fence = match self.random.one_in(2) {
            true => self.any(|what| matches!(what, Create::Fence { .. })),
            false => None,
        };
        let newer = self.random.one_in(2);
        // The layer takes every buffer by itself when one of them must not go again.
        for commands in commands.iter().map(|one| vec![*one]).chain([Vec::new()]) {
            let step = Step::Submit {
                commands,
                waits: std::mem::take(&mut waits),
                signals: std::mem::take(&mut signals),
                fence,
                newer,
            };
            self.push(step);
        }
    }
}

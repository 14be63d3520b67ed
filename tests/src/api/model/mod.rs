//! What a program has made so far, and which steps the specification allows next.
//!
//! A program is valid as long as the model admits each of its steps; what it does not admit is left out, so that any
//! part of a valid program is a valid program. The model is stricter than Vulkan where that makes it simpler: images are
//! in the layout GENERAL between command buffers, everything waits for everything, waits are for what was submitted.

mod commands;
mod creates;
mod draws;
mod flow;
mod hosts;
mod recording;

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;

pub use flow::Flow;
pub use recording::{Inside, Phase, Recording};

use super::slot::{Id, ids};
use super::step::*;

/// An object.
#[derive(Clone, Debug)]
pub struct Thing {
    /// What it was made from.
    pub create: Create,
    /// Objects that must outlive it.
    needs: Vec<Id>,
    /// Memory of a buffer or image.
    pub bound: Option<Id>,
    /// Whether an image, or a pool of queries, may be used.
    pub ready: bool,
    /// The last submission that uses it.
    busy: u64,
    /// Of semaphores and fences.
    pub value: u64,
    /// Whether memory is mapped.
    pub mapped: bool,
    /// What a set holds, by binding.
    pub contents: BTreeMap<u32, Vec<Item>>,
    /// What a command buffer holds.
    pub recording: Recording,
    /// Queries that were executed.
    pub counted: BTreeSet<u32>,
    /// Shaders of a pipeline, by number.
    pub shaders: Vec<u32>,
}

/// All objects.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Those that live.
    pub things: BTreeMap<Id, Thing>,
    /// What results depend on.
    pub flow: Flow,
    /// Those that other programs use, too.
    common: BTreeSet<Id>,
    submitted: u64,
    done: u64,
}

/// `None` unless something holds.
fn need(holds: bool) -> Option<()> {
    holds.then_some(())
}

impl Model {
    /// A model of a program that finds objects there, which others use at the same time.
    pub fn among(common: &[Step]) -> Model {
        let mut model = Model::default();
        common.iter().for_each(|step| {
            model.take(step);
        });
        model.common = model.things.keys().copied().collect();
        model
    }

    /// Whether other programs use an object, too.
    pub fn is_common(&self, id: Id) -> bool {
        self.common.contains(&id)
    }

    /// Takes a step if it is allowed; whether it was.
    pub fn take(&mut self, step: &Step) -> bool {
        let allowed = self.admits(step).is_some();
        if allowed {
            self.apply(step);
        }
        allowed
    }

    /// An object that lives.
    pub fn get(&self, id: Id) -> Option<&Thing> {
        self.things.get(&id)
    }

    /// Whether the queue does not use an object any more.
    pub fn idle(&self, id: Id) -> bool {
        self.get(id).is_some_and(|thing| thing.busy <= self.done)
    }

    fn thing(&mut self, id: Id) -> &mut Thing {
        self.things.get_mut(&id).expect("an admitted step names what lives")
    }

    fn admits(&self, step: &Step) -> Option<()> {
        match step {
            Step::Create { id, what } => {
                need(!self.things.contains_key(id))?;
                ids(what).iter().try_for_each(|id| need(self.things.contains_key(id)))?;
                self.admits_create(what)
            }
            Step::Destroy { id } => self.admits_destroy(*id),
            Step::Begin { commands, flags, pass, framebuffer } => {
                self.admits_begin(*commands, *flags, *pass, *framebuffer)
            }
            Step::Record { commands, command } => {
                ids(command).iter().try_for_each(|id| need(self.things.contains_key(id)))?;
                let recording = &self.get(*commands)?.recording;
                need(recording.phase == Phase::Recording)?;
                self.admits_command(recording, command)
            }
            Step::End { commands } => need(self.get(*commands)?.recording.can_end()),
            Step::Submit { commands, waits, signals, fence, .. } => {
                self.admits_submit(commands, waits, signals, *fence)
            }
            Step::Do { what } => {
                ids(what).iter().try_for_each(|id| need(self.things.contains_key(id)))?;
                self.admits_host(what)
            }
        }
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Create { id, what } => self.create(*id, what),
            Step::Destroy { id } => self.destroy(*id),
            Step::Begin { commands, flags, pass, framebuffer } => {
                self.invalidate(*commands);
                let secondary =
                    matches!(self.things[commands].create, Create::Commands { secondary: true, .. });
                let mut recording = Recording::begun(*flags, secondary);
                if let Some(pass) = *pass {
                    recording.uses.insert(pass);
                    recording.uses.extend(*framebuffer);
                    recording.inside = self.inherited(pass, *framebuffer);
                }
                self.thing(*commands).recording = recording;
            }
            Step::Record { commands, command } => self.record(*commands, command),
            Step::End { commands } => self.thing(*commands).recording.phase = Phase::Executable,
            Step::Submit { commands, waits, signals, fence, .. } => {
                self.submit(commands, waits, signals, *fence);
            }
            Step::Do { what } => self.host(what),
        }
    }

    fn create(&mut self, id: Id, what: &Create) {
        let needs = match what {
            Create::Compute { .. }
            | Create::Graphics { .. }
            | Create::PipelineLayout { .. }
            | Create::Cache { .. }
            | Create::Memory { .. } => Vec::new(),
            Create::Framebuffer { views, .. } => views.clone(),
            Create::Swapchain { surface, .. } => vec![*surface],
            _ => ids(what),
        };
        if let Create::Memory { owners, .. } = what {
            owners.iter().for_each(|owner| self.thing(*owner).bound = Some(id));
        }
        if let Create::Swapchain { old: Some(old), .. } = what {
            // A retired swapchain gives no more images.
            self.thing(*old).value = 1;
        }
        let value = match *what {
            Create::Fence { signaled } => u64::from(signaled),
            Create::Semaphore { timeline: true, value } => value,
            _ => 0,
        };
        let thing = Thing {
            create: what.clone(),
            needs,
            bound: None,
            ready: false,
            busy: 0,
            value,
            mapped: false,
            contents: BTreeMap::new(),
            recording: Recording::default(),
            counted: BTreeSet::new(),
            shaders: self.shaders(what),
        };
        self.things.insert(id, thing);
    }

    fn shaders(&self, what: &Create) -> Vec<u32> {
        let modules = match what {
            Create::Compute { module, .. } => vec![*module],
            Create::Graphics { pipeline } => [pipeline.vertex].into_iter().chain(pipeline.fragment).collect(),
            _ => Vec::new(),
        };
        let number = |module: &Id| match self.things[module].create {
            Create::Module { shader } => shader,
            _ => 0,
        };
        modules.iter().map(number).collect()
    }

    /// What ends together with an object.
    fn family(&self, id: Id) -> Vec<Id> {
        let child = |thing: &Thing| match thing.create {
            Create::Set { pool, .. } | Create::Commands { pool, .. } => pool == id,
            _ => false,
        };
        let children = self.things.iter().filter(|(_, thing)| child(thing)).map(|(&child, _)| child);
        children.chain([id]).collect()
    }

    fn admits_destroy(&self, id: Id) -> Option<()> {
        let thing = self.get(id)?;
        need(!self.is_common(id))?;
        let family = self.family(id);
        family.iter().try_for_each(|&id| need(self.idle(id)))?;
        for (other, user) in &self.things {
            need(family.contains(other) || !user.needs.iter().any(|needed| family.contains(needed)))?;
            need(user.bound != Some(id))?;
        }
        match thing.create {
            Create::Set { pool, .. } => {
                need(matches!(self.get(pool)?.create, Create::SetPool { frees: true, .. }))
            }
            _ => Some(()),
        }
    }

    fn destroy(&mut self, id: Id) {
        for id in self.family(id) {
            self.invalidate(id);
            self.things.remove(&id);
            for thing in self.things.values_mut() {
                thing.contents.retain(|_, items| !ids(items).contains(&id));
            }
        }
    }

    /// Ends what was recorded with an object.
    fn invalidate(&mut self, id: Id) {
        let users: Vec<Id> = self
            .things
            .iter()
            .filter(|(_, user)| user.recording.uses.contains(&id))
            .map(|(&user, _)| user)
            .collect();
        for user in users {
            self.thing(user).recording = Recording { phase: Phase::Invalid, ..Recording::default() };
            self.invalidate(user);
        }
    }

    fn admits_submit(
        &self,
        commands: &[Id],
        waits: &[Signal],
        signals: &[Signal],
        fence: Option<Id>,
    ) -> Option<()> {
        let mut seen = BTreeSet::new();
        for id in commands {
            let thing = self.get(*id)?;
            need(matches!(thing.create, Create::Commands { secondary: false, .. }))?;
            need(thing.recording.phase == Phase::Executable)?;
            let again = thing.recording.simultaneous && !thing.recording.once;
            need(again || (self.idle(*id) && seen.insert(*id)))?;
            // What is executed in it must not be pending by way of another buffer.
            for used in thing.recording.uses.iter().filter(|used| self.is_commands(**used)) {
                need(again || (self.idle(*used) && seen.insert(*used)))?;
            }
        }
        let mut semaphores = BTreeSet::new();
        for (signal, waited) in waits.iter().map(|s| (s, true)).chain(signals.iter().map(|s| (s, false))) {
            let thing = self.get(signal.semaphore)?;
            need(semaphores.insert(signal.semaphore))?;
            match thing.create {
                Create::Semaphore { timeline: true, .. } if waited => need(signal.value <= thing.value)?,
                Create::Semaphore { timeline: true, .. } => need(signal.value > thing.value)?,
                Create::Semaphore { timeline: false, .. } => need((thing.value == 1) == waited)?,
                _ => return None,
            }
        }
        fence.map_or(Some(()), |fence| {
            let thing = self.get(fence)?;
            need(matches!(thing.create, Create::Fence { .. }) && thing.value == 0 && self.idle(fence))
        })
    }

    fn is_commands(&self, id: Id) -> bool {
        self.get(id).is_some_and(|thing| matches!(thing.create, Create::Commands { .. }))
    }

    fn submit(&mut self, commands: &[Id], waits: &[Signal], signals: &[Signal], fence: Option<Id>) {
        self.submitted += 1;
        let serial = self.submitted;
        let mut used = BTreeSet::new();
        for id in commands {
            used.insert(*id);
            let recording = self.things[id].recording.clone();
            for queries in &recording.cleared {
                self.thing(*queries).counted.clear();
            }
            for (queries, query) in &recording.counted {
                self.thing(*queries).counted.insert(*query);
            }
            used.extend(recording.uses);
        }
        for signal in waits.iter().chain(signals) {
            used.insert(signal.semaphore);
        }
        for wait in waits {
            let thing = self.thing(wait.semaphore);
            if matches!(thing.create, Create::Semaphore { timeline: false, .. }) {
                thing.value = 0;
            }
        }
        for signal in signals {
            let thing = self.thing(signal.semaphore);
            let timeline = matches!(thing.create, Create::Semaphore { timeline: true, .. });
            thing.value = if timeline { signal.value } else { 1 };
        }
        if let Some(fence) = fence {
            used.insert(fence);
            self.thing(fence).value = 2;
        }
        for id in used {
            if let Some(thing) = self.things.get_mut(&id) {
                thing.busy = serial;
                if thing.recording.once && thing.recording.phase == Phase::Executable {
                    thing.recording.phase = Phase::Spent;
                }
            }
        }
    }

    /// The queue has done all that was submitted up to a serial number.
    fn finish(&mut self, serial: u64) {
        self.done = self.done.max(serial);
        for thing in self.things.values_mut() {
            if thing.busy <= self.done && thing.value == 2 && matches!(thing.create, Create::Fence { .. }) {
                thing.value = 1;
            }
        }
    }

    /// An image's shape.
    pub fn image(&self, id: Id) -> Option<&ImageShape> {
        match &self.get(id)?.create {
            Create::Image { image } => Some(image),
            _ => None,
        }
    }

    /// A buffer with memory: its size and usage.
    pub fn buffer(&self, id: Id) -> Option<(u64, vk::BufferUsageFlags)> {
        let thing = self.get(id)?;
        match thing.create {
            Create::Buffer { size, usage } if thing.bound.is_some() => Some((size, usage)),
            _ => None,
        }
    }
}

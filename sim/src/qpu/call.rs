//! Calling machine code, and what it calls.
#![expect(unsafe_code, reason = "machine code is called, and shares the QPU's state with its host")]

use std::sync::atomic::Ordering::Relaxed;

use vc4::hw::LANES;
use vc4_jit::truncating;

use super::exec::{Instance, of_tmu};
use super::fault::Fault;
use super::native::{Context, Exit, Native, Part, Work};
use super::op::Op;
use super::ports::{Ports, Varyings};
use super::program::Program;
use super::state::{Qpu, Register};
use crate::memory::Memory;
use crate::stats::Note;

impl Native {
    /// Runs an instance from the first instruction to the end, as [`Instance::run_loop`]. Rules that its accesses break go to
    /// `notes`, with the instructions that broke them.
    pub fn call<P: Ports>(
        &self,
        instance: &mut Instance<'_, P>,
        program: &Program,
        notes: Option<&mut Vec<(usize, Note)>>,
    ) -> Result<(), Fault> {
        let limit = instance.limit;
        let mut host = Host {
            head: truncating::Host::new(perform::<P>),
            qpu: instance.q,
            ports: instance.ports,
            memory: instance.memory,
            program,
            native: self,
            context: std::ptr::null_mut(),
            limit,
            fault: None,
            notes,
        };
        let mut context = Context {
            qpu: host.qpu,
            constants: self.constants.as_ptr(),
            memory: host.memory.host_ptr(0),
            memory_bytes: u64::from(host.memory.size()),
            budget: i64::try_from(limit).unwrap_or(i64::MAX),
            entry: 0,
            // SAFETY: the instance's exclusive reference is not used while the code runs, only this pointer.
            varyings: unsafe { (*host.ports).varyings() },
            // SAFETY: as above.
            tlb: unsafe { (*host.ports).tlb() },
            pixels: std::ptr::null(),
            lookups: 0,
            host: std::ptr::null_mut(),
            perform: truncating::service(),
        };
        // SAFETY: as above.
        let pixels = self.pixels.then(|| unsafe { (*host.ports).pixel_xy() }).map(|(x, y)| [x, y]);
        context.pixels = pixels.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let budget = context.budget;
        host.context = &raw mut context;
        let argument = host.context;
        let head: *mut truncating::Host = (&raw mut host).cast();
        // SAFETY: `host` lives until the code returns.
        unsafe { (*argument).host = head };
        let mut start = 0;
        let exit = loop {
            let (code, entry) = self.entry(start);
            // SAFETY: the context is the code's alone, which does not run.
            unsafe { (*argument).entry = entry };
            // SAFETY: the code was compiled, so the mode works, as a function of a context. This one leads to a QPU, to the bus
            // memory and to as many varyings as it says, and its host is of the type that `perform` takes.
            let exit = unsafe { truncating::call(code, argument.cast(), head) };
            match self.exits[exit as usize] {
                Exit::Next(next) => start = next,
                exit => break exit,
            }
        };
        let Host { fault, notes, .. } = host;
        let Context { budget: left, varyings: Varyings { next, .. }, lookups, .. } = context;
        instance.ports.set_next_varying(next);
        instance.lookups += lookups;
        instance.executed += (budget - left) as u64;
        match exit {
            Exit::End(at) => {
                instance.q.pc = at.min(program.ops.len() - 1);
                Ok(())
            }
            // Another function has gone on there.
            Exit::Next(at) | Exit::Resume(at) => {
                let result = instance.run_loop(program, at, &mut ());
                take_notes(notes, instance.ports, instance.q, instance.q.pc);
                result
            }
            Exit::Fault(end) => {
                let (at, fault) = fault.unwrap_or((0, Fault::port("work failed without a reason")));
                instance.executed -= (end - (at + 1)) as u64;
                instance.q.pc = at;
                Err(fault.at(at as u32))
            }
        }
    }
}

/// Whom code calls. Nothing else touches the QPU and its ports while the code runs.
#[repr(C)]
struct Host<'a, P> {
    /// What leads calls to [`perform`].
    head: truncating::Host,
    qpu: *mut Qpu,
    ports: *mut P,
    memory: &'a Memory,
    program: &'a Program,
    native: &'a Native,
    context: *mut Context,
    limit: u64,
    /// The instruction that failed, and why.
    fault: Option<(usize, Fault)>,
    /// Broken rules and where, if somebody asks.
    notes: Option<&'a mut Vec<(usize, Note)>>,
}

/// Takes the rules that an instruction broke.
fn take_notes<P: Ports>(notes: Option<&mut Vec<(usize, Note)>>, ports: &mut P, q: &mut Qpu, at: usize) {
    if let Some(notes) = notes {
        while let Some(rule) = ports.take_note().or_else(|| q.take_note()) {
            notes.push((at, rule));
        }
    }
}

/// See [`Context::perform`].
///
/// # Safety
/// `host` is the [`Host`] of these ports to whose context the calling code belongs.
unsafe extern "C" fn perform<P: Ports>(host: *mut truncating::Host, work: u32, first: u32) -> u32 {
    // SAFETY: the caller vouches for it; the code does not run meanwhile.
    let (host, context) = unsafe {
        let host = &mut *host.cast::<Host<'_, P>>();
        let context = &mut *host.context;
        (host, context)
    };
    // SAFETY: the code's host is the only one to use both.
    let (q, ports) = unsafe { (&mut *host.qpu, &mut *host.ports) };
    let work = &host.native.work[work as usize];
    // Most calls are these, and they concern no port.
    if let Work::Request(at, unit) = work {
        context.lookups += 1;
        let result = q.tmus[usize::from(*unit) & 1].send(host.memory);
        take_notes(host.notes.as_deref_mut(), ports, q, *at);
        return host.over(result.map_err(|fault| (*at, of_tmu(fault, *at as u32))));
    }
    ports.set_next_varying(context.varyings.next);
    let mut instance = Instance { q, memory: host.memory, ports, lookups: 0, executed: 0, limit: host.limit };
    let result = match work {
        // Sent above.
        Work::Request(..) => Ok(()),
        Work::Part(at, part) => part.perform(&mut instance, host.program, *at).map_err(|fault| (*at, fault)),
        Work::Run { ops, written } => {
            host.native.repeated.fetch_add(1, Relaxed);
            run(&mut instance, host.program, ops, written, first as usize, &mut host.notes)
        }
    };
    if let Work::Part(at, _) = work {
        take_notes(host.notes.as_deref_mut(), instance.ports, instance.q, *at);
    }
    context.lookups += instance.lookups;
    context.varyings.next = instance.ports.next_varying();
    context.tlb = instance.ports.tlb();
    host.over(result)
}

impl<P> Host<'_, P> {
    /// What the code hears of its work.
    fn over(&mut self, result: Result<(), (usize, Fault)>) -> u32 {
        match result {
            Ok(()) => 0,
            Err(fault) => {
                self.fault = Some(fault);
                1
            }
        }
    }
}

impl Part {
    /// Has the interpreter do it.
    fn perform<P: Ports>(
        &self,
        instance: &mut Instance<'_, P>,
        program: &Program,
        at: usize,
    ) -> Result<(), Fault> {
        let index = at as u32;
        match self {
            Part::Alu(op) | Part::Whole(op) => instance.execute(op, index, program).map(drop),
            Part::Fetch(op) => instance.read_ports(op, &mut None),
            Part::Deliver { op, dest, from, cond } => {
                let mask = instance.condition(*cond);
                let value = *instance.q.register(*from);
                instance.deliver(op, *dest, mask, &value, false, index)
            }
            Part::Act(op) => instance.act(op, index, program).map(drop),
            Part::Decide(_) => Ok(()),
        }
    }
}

/// Interprets a run of arithmetic for the elements from `first` on; those before are done.
fn run<P: Ports>(
    instance: &mut Instance<'_, P>,
    program: &Program,
    ops: &[(usize, Op)],
    written: &[u8],
    first: usize,
    notes: &mut Option<&mut Vec<(usize, Note)>>,
) -> Result<(), (usize, Fault)> {
    let done: Vec<Register> = written.iter().map(|&s| Register(*instance.q.register(s))).collect();
    let flags = instance.q.flags();
    for (at, op) in ops {
        let result = instance.execute(op, *at as u32, program);
        take_notes(notes.as_deref_mut(), instance.ports, instance.q, *at);
        result.map_err(|fault| (*at, fault))?;
    }
    for (&s, Register(old)) in written.iter().zip(&done) {
        instance.q.regs[usize::from(s)].0[..first].copy_from_slice(&old[..first]);
    }
    let before = ((1u32 << first) - 1) as u16;
    let merge = |new: u16, old: u16| new & !before | old & before;
    let q = &mut *instance.q;
    (q.z, q.n, q.c) = (merge(q.z, flags[0]), merge(q.n, flags[1]), merge(q.c, flags[2]));
    debug_assert!(first < LANES);
    Ok(())
}

//! VkQueue: work in order.
//!
//! Three threads meet here. The application pushes [`Work`]; the queue thread (`executor`) waits for semaphores,
//! builds submissions and runs CPU commands; the retire thread (`retire`) waits for the GPU and signals fences. So
//! the next frame is built while the GPU draws the last one, and nobody but the retire thread sleeps on it.

use std::sync::{Arc, PoisonError};

use ash::vk;

use super::executor::Executor;
use super::retire::{self, Progress};
use super::work::{Call, Work};
use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::threads::{Builder, JoinHandle, Mutex, Ordering, Sender, channel, sync_channel};
use crate::objects::device::Device;
use crate::objects::semaphore::Semaphore;
use crate::objects::sync::Fence;
use crate::recording::command_buffer::CommandBuffer;
use crate::recording::labels::Labels;

/// Jobs that may wait for the GPU before the queue thread pauses.
const JOBS_IN_FLIGHT: usize = 32;

/// One VkSubmitInfo.
#[derive(Default)]
pub struct Batch {
    /// Semaphores waited for before anything of the batch runs, and the values of timelines.
    pub waits: Vec<(Arc<Semaphore>, u64)>,
    /// Primary command buffers.
    pub command_buffers: Vec<Arc<CommandBuffer>>,
    /// Semaphores signalled at its end, and the values of timelines.
    pub signals: Vec<(Arc<Semaphore>, u64)>,
}

struct Threads {
    work: Sender<Work>,
    executor: JoinHandle<()>,
    retirer: JoinHandle<()>,
}

/// The queue of a device.
pub struct Queue {
    device: Arc<Device>,
    progress: Arc<Progress>,
    /// Started with the first work; `None` before.
    threads: Mutex<Option<Threads>>,
    /// Where in the application's frame submissions are.
    labels: Mutex<Labels>,
}

impl Object for Queue {
    type Handle = vk::Queue;
    const SCOPE: vk::SystemAllocationScope = vk::SystemAllocationScope::DEVICE;
}

impl Queue {
    /// The queue of `device`.
    pub fn new(device: Arc<Device>) -> Arc<Queue> {
        Arc::new(Queue {
            device,
            progress: Arc::default(),
            threads: Mutex::default(),
            labels: Mutex::default(),
        })
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Appends work; an error when the device is lost.
    pub fn push(&self, work: Work) -> Result<(), Error> {
        self.device.check()?;
        self.append(work)
    }

    /// Appends work, also to a lost device: the rest of a submission whose beginning was accepted.
    fn append(&self, work: Work) -> Result<(), Error> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = match &mut *threads {
            Some(threads) => threads,
            none => none.insert(self.start()?),
        };
        self.progress.pushed.fetch_add(1, Ordering::SeqCst);
        threads.work.send(work).map_err(|_| Error::DeviceLost)
    }

    fn start(&self) -> Result<Threads, Error> {
        let (work, works) = channel();
        let (retire, retires) = sync_channel(JOBS_IN_FLIGHT);
        let (device, progress) = (self.device.clone(), self.progress.clone());
        let retirer = spawn("vc4-retire", move || retire::run(&device, &progress, &retires))?;
        let executor = Executor::new(self.device.clone(), self.progress.clone(), retire);
        let executor = spawn("vc4-queue", move || executor.run(&works))?;
        Ok(Threads { work, executor, retirer })
    }

    /// Changes the label of what is submitted.
    pub fn label(&self, change: impl FnOnce(&mut Labels)) {
        change(&mut self.labels.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// vkQueueSubmit.
    pub fn submit(&self, batches: Vec<Batch>, fence: Option<Arc<Fence>>) -> Result<(), Error> {
        self.device.check()?;
        let label = self.labels.lock().unwrap_or_else(PoisonError::into_inner).path().cloned();
        let works = batches.into_iter().map(|batch| work(batch, label.clone()));
        let works: Vec<Work> = works.collect::<Result<_, _>>()?;
        for work in works {
            self.append(work)?;
        }
        match fence {
            Some(fence) => self.append(Work::Fence(fence)),
            None => Ok(()),
        }
    }

    /// Has the queue thread call `run` once `waits` are signalled.
    pub fn call(&self, waits: &[Arc<Semaphore>], run: Call) -> Result<(), Error> {
        self.push(Work::Call { waits: waits.iter().map(|semaphore| semaphore.take(0)).collect(), run })
    }

    /// vkQueueWaitIdle: waits until everything that was pushed before is complete.
    pub fn wait_idle(&self) -> Result<(), Error> {
        let goal = self.progress.pushed.load(Ordering::SeqCst);
        let complete = || self.progress.complete.load(Ordering::SeqCst) >= goal;
        self.device.waker().wait_until(None, || complete() || self.device.is_lost());
        self.device.check()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Threads { work, executor, retirer }) = threads {
            // Each thread ends when its channel does; panics were caught and reported inside.
            drop(work);
            let _ = executor.join();
            let _ = retirer.join();
        }
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    Builder::new().name(name.into()).spawn(run).map_err(|error| {
        log::error!(target: "vc4::queue", "the thread {name} cannot start: {error}");
        Error::OutOfHostMemory
    })
}

fn work(batch: Batch, label: Option<Arc<str>>) -> Result<Work, Error> {
    let segments = batch.command_buffers.iter().enumerate().map(|(index, buffer)| {
        let refused = || Error::InvalidUse(format!("command buffer {index} of a batch is not executable"));
        buffer.recorded().map(|recorded| recorded.segments).ok_or_else(refused)
    });
    let segments = segments.collect::<Result<_, _>>()?;
    // A semaphore may be among both; what it signals is for the next wait.
    let waits = batch.waits.iter().map(|(semaphore, value)| semaphore.take(*value)).collect();
    let signals = batch.signals.iter().map(|(semaphore, value)| semaphore.signal(*value)).collect();
    Ok(Work::Commands { waits, segments, signals, label })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::sync::Event;
    use crate::segments::{CpuCommand, Segment, Segments, Touch};
    use crate::testing::device;
    use crate::transfers::event::ChangeEvent;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn work_is_done_in_order_and_fences_come_last() {
        let device = device();
        let queue = Queue::new(device.clone());
        let semaphore = Arc::new(Semaphore::binary(&device));
        let fence = Arc::new(Fence::new(&device, vk::FenceCreateFlags::empty()));
        let called = Arc::new(AtomicBool::new(false));
        let run: Call = Box::new({
            let (called, fence) = (called.clone(), fence.clone());
            move |last| called.store(last.is_none() && !fence.is_signalled(), Ordering::SeqCst)
        });
        let signal = semaphore.signal(0);
        queue.push(Work::Call { waits: vec![semaphore.take(0)], run }).unwrap();
        queue.submit(vec![Batch::default()], Some(fence.clone())).unwrap();
        assert!(!called.load(Ordering::SeqCst) && !fence.is_signalled());
        signal.give();
        queue.wait_idle().unwrap();
        assert!(called.load(Ordering::SeqCst) && fence.is_signalled());
    }

    #[test]
    fn timelines_order_batches_and_tell_the_host() {
        let device = device();
        let queue = Queue::new(device.clone());
        let semaphore = Arc::new(Semaphore::timeline(&device, 0));
        let Semaphore::Timeline(timeline) = &*semaphore else { panic!("a timeline was asked for") };
        let batch = |wait, signal| Batch {
            waits: vec![(semaphore.clone(), wait)],
            signals: vec![(semaphore.clone(), signal)],
            ..Batch::default()
        };
        // The first batch waits for the host, the second for the first.
        queue.submit(vec![batch(1, 2), batch(2, 3)], None).unwrap();
        assert_eq!(timeline.value(), 0);
        timeline.complete(1);
        queue.wait_idle().unwrap();
        assert_eq!(timeline.value(), 3);
    }

    #[test]
    fn a_lost_device_drops_work_and_lets_everybody_go() {
        let device = device();
        let queue = Queue::new(device.clone());
        let never = Arc::new(Semaphore::binary(&device));
        let held = Arc::new(());
        let run: Call = Box::new({
            let held = held.clone();
            move |_| drop(held)
        });
        queue.push(Work::Call { waits: vec![never.take(0)], run }).unwrap();
        device.lose(&"test");
        assert!(matches!(queue.wait_idle(), Err(Error::DeviceLost)));
        assert!(queue.push(Work::Fence(Arc::new(Fence::new(&device, Default::default())))).is_err());
        drop(queue);
        assert_eq!(Arc::strong_count(&held), 1);
    }

    /// A CPU command that ends as it was told to.
    struct Ends(fn() -> Result<(), Error>);

    impl CpuCommand for Ends {
        fn describe(&self) -> String {
            "a test".into()
        }

        fn touches(&self) -> Touch {
            Touch::Nothing
        }

        fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
            (self.0)()
        }
    }

    #[test]
    fn commands_that_cannot_be_executed_are_left_out() {
        let device = device();
        let queue = Queue::new(device.clone());
        let event = Arc::new(Event::new(&device));
        let change = ChangeEvent { event: event.clone(), set: true };
        let wrong = Ends(|| Err(Error::InvalidUse("test".into())));
        let segments: Segments = vec![Segment::Cpu(Arc::new(wrong)), Segment::Cpu(Arc::new(change))];
        let run = |segments| {
            let (segments, waits, signals) = (vec![Arc::new(segments)], vec![], vec![]);
            queue.push(Work::Commands { waits, segments, signals, label: None })
        };
        run(segments).unwrap();
        queue.wait_idle().unwrap();
        assert!(event.is_set());
        run(vec![Segment::Cpu(Arc::new(Ends(|| Err(Error::OutOfHostMemory))))]).unwrap();
        assert!(matches!(queue.wait_idle(), Err(Error::DeviceLost)));
    }

    #[test]
    fn a_panic_loses_the_device() {
        let device = device();
        let queue = Queue::new(device.clone());
        queue.push(Work::Call { waits: vec![], run: Box::new(|_| panic!("test")) }).unwrap();
        assert!(matches!(queue.wait_idle(), Err(Error::DeviceLost)));
    }
}

//! Queue, fences, semaphores and presentation in many orders of their threads' steps (`cargo xtask test --sanitize model`).
//!
//! shuttle runs each program again and again, one thread at a time, and chooses at every lock, atomic and channel who goes on:
//! at random, and with few changes at the worst places (PCT). Nobody being able to go on is a failure.

use std::sync::Arc;

use ash::vk;
use shuttle::thread;

use crate::execution::queue::{Batch, Queue};
use crate::foundation::error::Error;
use crate::foundation::handle::HostAllocator;
use crate::foundation::threads::{AtomicU64, Ordering};
use crate::objects::device::Device;
use crate::objects::semaphore::Semaphore;
use crate::objects::sync::{Event, Fence, fence_status, wait_for_fences};
use crate::objects::timeline::{self, Timeline};
use crate::presentation::tests::{info, present, swapchain};
use crate::presentation::{Acquired, Surface, Swapchain, Tags};
use crate::testing::device;

/// Random orders of each program, and as many with few changes.
const ORDERS: usize = 10_000;
/// Changes of these.
const DEPTH: usize = 4;

fn check(program: fn()) {
    shuttle::check_random(program, ORDERS);
    shuttle::check_pct(program, ORDERS, DEPTH);
}

fn fence(device: &Device) -> Arc<Fence> {
    Arc::new(Fence::new(device, vk::FenceCreateFlags::empty()))
}

fn batch(waits: &[(&Arc<Semaphore>, u64)], signals: &[(&Arc<Semaphore>, u64)]) -> Batch {
    let own = |list: &[(&Arc<Semaphore>, u64)]| {
        list.iter().map(|(semaphore, value)| ((*semaphore).clone(), *value)).collect()
    };
    Batch { waits: own(waits), signals: own(signals), ..Batch::default() }
}

/// Two threads wait for fences of submissions that depend on each other; the last fence means all of them.
#[test]
fn fences_end_waits_in_order() {
    check(|| {
        let device = device();
        let queue = Queue::new(device.clone());
        let semaphore = Arc::new(Semaphore::binary(&device));
        let fences = [fence(&device), fence(&device)];
        let waiter = thread::spawn({
            let (device, first) = (device.clone(), fences[0].clone());
            move || wait_for_fences(&device, &[first], true, u64::MAX).unwrap()
        });
        queue.submit(vec![batch(&[], &[(&semaphore, 0)])], Some(fences[0].clone())).unwrap();
        queue.submit(vec![batch(&[(&semaphore, 0)], &[])], Some(fences[1].clone())).unwrap();
        let all = wait_for_fences(&device, &fences[1..], true, u64::MAX).unwrap();
        assert_eq!(all, vk::Result::SUCCESS);
        assert!(fences[0].is_signalled(), "the first submission was complete before the second");
        assert_eq!(waiter.join().unwrap(), vk::Result::SUCCESS);
        queue.wait_idle().unwrap();
    });
}

/// A fence is reset and used again while another thread looks at it, and any of two is waited for.
#[test]
fn fences_are_used_again() {
    check(|| {
        let device = device();
        let queue = Queue::new(device.clone());
        let fences = [fence(&device), fence(&device)];
        let looks = thread::spawn({
            let (device, second) = (device.clone(), fences[1].clone());
            move || fence_status(&device, &second).unwrap()
        });
        for _ in 0..2 {
            queue.submit(vec![Batch::default()], Some(fences[0].clone())).unwrap();
            assert_eq!(wait_for_fences(&device, &fences, false, u64::MAX).unwrap(), vk::Result::SUCCESS);
            assert!(fences[0].is_signalled() && !fences[1].is_signalled());
            fences[0].reset();
        }
        assert_eq!(looks.join().unwrap(), vk::Result::NOT_READY);
    });
}

/// The host signals what the queue waits for, and waits for what it signals then.
#[test]
fn timelines_go_back_and_forth() {
    check(|| {
        let device = device();
        let queue = Queue::new(device.clone());
        let semaphore = Arc::new(Semaphore::timeline(&device, 0));
        let Semaphore::Timeline(line) = &*semaphore else { panic!("a timeline was asked for") };
        let wait = |device: &Device, line: &Arc<Timeline>, value| {
            let waited = timeline::wait(device, &[(line.clone(), value)], false, u64::MAX).unwrap();
            assert_eq!(waited, vk::Result::SUCCESS);
        };
        let host = thread::spawn({
            let (device, line) = (device.clone(), line.clone());
            move || {
                line.complete(1);
                wait(&device, &line, 2);
                line.complete(3);
            }
        });
        // The second batch may be reached before the host has said anything.
        let work = vec![
            batch(&[(&semaphore, 1)], &[(&semaphore, 2)]),
            batch(&[(&semaphore, 3)], &[(&semaphore, 4)]),
        ];
        queue.submit(work, None).unwrap();
        wait(&device, line, 4);
        assert_eq!(line.value(), 4);
        host.join().unwrap();
        queue.wait_idle().unwrap();
    });
}

/// A device is lost at any time: everybody who waits learns it, and the queue ends.
#[test]
fn a_loss_ends_every_wait() {
    check(|| {
        let device = device();
        let queue = Queue::new(device.clone());
        let (never, event) = (Arc::new(Semaphore::binary(&device)), Arc::new(Event::new(&device)));
        let last = fence(&device);
        let waits = thread::spawn({
            let (device, last) = (device.clone(), last.clone());
            move || wait_for_fences(&device, &[last], true, u64::MAX)
        });
        let on_event = thread::spawn({
            let (device, event) = (device.clone(), event.clone());
            move || event.wait(&device)
        });
        let loses = thread::spawn({
            let device = device.clone();
            move || device.lose(&"test")
        });
        let submitted = queue.submit(vec![batch(&[(&never, 0)], &[])], Some(last));
        assert!(matches!(submitted, Ok(()) | Err(Error::DeviceLost)));
        assert!(matches!(queue.wait_idle(), Err(Error::DeviceLost)));
        assert!(matches!(waits.join().unwrap(), Err(Error::DeviceLost)));
        assert!(matches!(on_event.join().unwrap(), Err(Error::DeviceLost)));
        loses.join().unwrap();
        drop(queue);
    });
}

/// A queue that ends does first what it was given.
#[test]
fn a_queue_ends_with_its_work_done() {
    check(|| {
        let device = device();
        let queue = Queue::new(device.clone());
        let (count, last) = (Arc::new(AtomicU64::new(0)), fence(&device));
        for _ in 0..2 {
            let counted = count.clone();
            let run = move |_| {
                counted.fetch_add(1, Ordering::SeqCst);
            };
            queue.call(&[], Box::new(run)).unwrap();
        }
        queue.submit(vec![Batch::default()], Some(last.clone())).unwrap();
        drop(queue);
        assert!(count.load(Ordering::SeqCst) == 2 && last.is_signalled());
    });
}

fn acquire(swapchain: &Swapchain) -> u32 {
    match swapchain.acquire(u64::MAX).unwrap() {
        Acquired::Image(index) => index,
        other => panic!("{other:?}"),
    }
}

/// One thread acquires and presents more pictures than there are images, another waits until the last is shown.
#[test]
fn pictures_take_turns() {
    check(|| {
        let (device, surface) = (device(), Surface::headless());
        let chain = swapchain(&device, &surface, &info(16, 16)).unwrap();
        let shown = thread::spawn({
            let chain = chain.clone();
            move || chain.wait_for_present(4, u64::MAX)
        });
        for id in 1..=4 {
            let index = acquire(&chain);
            let (shows, answer) = chain.present(index, Tags { id, ..Tags::default() }).unwrap();
            shows.hand_over(None);
            answer.unwrap();
        }
        shown.join().unwrap().unwrap();
        chain.close();
    });
}

/// A successor takes over while the predecessor's thread still shows, and somebody waits for an image of it.
#[test]
fn a_successor_takes_over() {
    check(|| {
        let (device, surface) = (device(), Surface::headless());
        let first = swapchain(&device, &surface, &info(16, 16)).unwrap();
        let held = [acquire(&first), acquire(&first)];
        present(&first, held[0]).unwrap();
        let waits = thread::spawn({
            let first = first.clone();
            move || first.acquire(u64::MAX)
        });
        let second = Swapchain::new(&device, &surface, &info(16, 16), Some(&first), HostAllocator::default());
        let second = Arc::new(second.unwrap());
        match waits.join().unwrap() {
            Ok(Acquired::Image(index)) => assert_eq!(index, held[0]),
            Ok(other) => panic!("{other:?}"),
            Err(error) => assert_eq!(error.result(), vk::Result::ERROR_OUT_OF_DATE_KHR),
        }
        present(&first, held[1]).unwrap();
        first.close();
        let index = acquire(&second);
        present(&second, index).unwrap();
        second.close();
    });
}

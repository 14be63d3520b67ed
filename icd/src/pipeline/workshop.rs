//! Compilations that nobody waits for: a thread of the queue's does them in order, while the CPU serves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Something to compile.
type Order = Box<dyn FnOnce() + Send>;

/// The thread, started with its first order. What it has not begun when this is dropped it never does.
#[derive(Default)]
pub struct Workshop {
    worker: Option<(Sender<Order>, JoinHandle<()>)>,
    closed: Arc<AtomicBool>,
}

impl Workshop {
    /// Has something done, unless there is no thread to be had.
    pub fn order(&mut self, order: impl FnOnce() + Send + 'static) {
        if self.worker.is_none() {
            let (orders, received) = channel::<Order>();
            let closed = self.closed.clone();
            let work = move || {
                for order in received.iter().take_while(|_| !closed.load(Ordering::Relaxed)) {
                    if catch_unwind(AssertUnwindSafe(order)).is_err() {
                        log::error!(target: "vc4::pipeline", "driver bug (panic) in a compilation");
                    }
                }
            };
            match Builder::new().name("vc4-compile".into()).spawn(work) {
                Ok(thread) => self.worker = Some((orders, thread)),
                Err(error) => log::error!(target: "vc4::pipeline", "no thread for compilations: {error}"),
            }
        }
        if let Some((orders, _)) = &self.worker {
            // The thread ends with the sender.
            let _ = orders.send(Box::new(order));
        }
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        if let Some((orders, thread)) = self.worker.take() {
            drop(orders);
            // Its panics are caught.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn orders_are_done_in_order_and_the_last_begun_is_waited_for() {
        let (done, results) = mpsc::channel();
        let (begin, gate) = mpsc::channel::<()>();
        let mut workshop = Workshop::default();
        let sent = done.clone();
        workshop.order(move || sent.send(1).unwrap());
        workshop.order(|| panic!("an order that fails"));
        let sent = done.clone();
        workshop.order(move || {
            sent.send(2).unwrap();
            gate.recv().unwrap();
            std::thread::sleep(Duration::from_millis(20));
            sent.send(3).unwrap();
        });
        workshop.order(move || done.send(4).unwrap());
        assert_eq!([results.recv(), results.recv()], [Ok(1), Ok(2)]);
        // The third has begun, the fourth has not.
        workshop.closed.store(true, Ordering::Relaxed);
        begin.send(()).unwrap();
        drop(workshop);
        assert_eq!(results.iter().collect::<Vec<_>>(), [3]);
    }
}

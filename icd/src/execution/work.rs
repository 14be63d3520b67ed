//! What the queue is given to do.

use std::sync::Arc;

use vc4_kernel_abi::Seqno;

use crate::objects::semaphore::Signal;
use crate::objects::sync::Fence;
use crate::segments::Segments;

/// Something that the queue thread calls in its turn. The argument is the last job that was submitted to the device
/// before, `None` if there was none: what it draws is complete once that job is.
pub type Call = Box<dyn FnOnce(Option<Seqno>) + Send>;

/// What the queue does, in the order of pushing.
pub enum Work {
    /// Recorded commands.
    Commands {
        /// What is waited for before.
        waits: Vec<Signal>,
        /// What the command buffers recorded, as it was when they were submitted.
        segments: Vec<Arc<Segments>>,
        /// What is signalled after.
        signals: Vec<Signal>,
        /// Where in the application's frame they are.
        label: Option<Arc<str>>,
    },
    /// A call, for presentation. It must not block; after a loss of the device it is dropped uncalled.
    Call {
        /// What is waited for before.
        waits: Vec<Signal>,
        /// The call.
        run: Call,
    },
    /// Signals a fence once everything before is complete.
    Fence(Arc<Fence>),
}

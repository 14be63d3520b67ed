//! What the job thread is given.

use std::sync::{Arc, Mutex};

use crate::capture::Submission;
use crate::kernel::Job;
use crate::profile::Profile;

/// A job, and what is wanted of it besides its picture.
pub(crate) struct Order {
    /// The job.
    pub job: Job,
    /// Whether a performance monitor counts what caches and stalls do.
    pub counted: bool,
    /// The submission as it came, if it is recorded.
    pub submission: Option<Box<Submission>>,
    /// What is noted while it runs, if anybody wants to know.
    pub profile: Option<Arc<Mutex<Profile>>>,
}

impl Order {
    /// Nothing but the picture.
    pub fn new(job: Job) -> Order {
        Order { job, counted: false, submission: None, profile: None }
    }
}

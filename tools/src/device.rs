//! The GPU that is meant.

use vc4_kernel_abi::{Choice, DrmGpu, Gpu, GpuError, Noop};
use vc4_sim::{Config, Simulator};

use crate::output::Error;

/// The variable by which the driver chooses.
const VARIABLE: &str = "VC4VK_DEVICE";

/// What the option says, or the driver's variable without one.
pub fn choice(option: Option<&Choice>) -> Result<Choice, Error> {
    match (option, std::env::var(VARIABLE)) {
        (Some(choice), _) => Ok(choice.clone()),
        (None, Ok(text)) => {
            text.parse().map_err(|error| Error::Input(format!("{VARIABLE}={text:?} is {error}")))
        }
        (None, Err(_)) => Ok(Choice::Auto),
    }
}

/// Opens it. Without a GPU, `auto` finds none: a simulated one says nothing about the machine.
pub fn open(choice: &Choice) -> Result<Box<dyn Gpu>, GpuError> {
    Ok(match choice {
        Choice::Auto => Box::new(DrmGpu::open(None)?),
        Choice::Drm(path) => Box::new(DrmGpu::open(path.as_deref())?),
        Choice::Sim => {
            let config = Config::default().with_facts_of_environment().map_err(GpuError::NoDevice)?;
            Box::new(Simulator::new(config))
        }
        Choice::Noop => Box::new(Noop::new()),
    })
}

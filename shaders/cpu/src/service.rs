//! What generated code calls outside of itself.

use vc4_shaders::ir::Atomic;

use crate::math::Call;

/// A function of the host. Machine code finds its address in the context; code that is interpreted stops with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// [`crate::layout::Tick`]: the host; whether to stop.
    Tick,
    /// [`crate::layout::Perform`] of an image operation.
    Image,
    /// [`crate::layout::Perform`] of an operation too rare for code of its own.
    Rare,
    /// Four floats by address, in place.
    Function(Call),
    /// An atomic operation, of code without instructions for it: address and operands; what was there before.
    Atomic(Atomic),
    /// A fence, of such code.
    Fence,
}

/// By number.
const ALL: [Service; 22] = [
    Service::Tick,
    Service::Image,
    Service::Rare,
    Service::Fence,
    Service::Function(Call::Exp2),
    Service::Function(Call::Log2),
    Service::Function(Call::Sin),
    Service::Function(Call::Cos),
    Service::Function(Call::Floor),
    Service::Function(Call::Ceil),
    Service::Function(Call::Trunc),
    Service::Function(Call::RoundEven),
    Service::Atomic(Atomic::Add),
    Service::Atomic(Atomic::SMin),
    Service::Atomic(Atomic::UMin),
    Service::Atomic(Atomic::SMax),
    Service::Atomic(Atomic::UMax),
    Service::Atomic(Atomic::And),
    Service::Atomic(Atomic::Or),
    Service::Atomic(Atomic::Xor),
    Service::Atomic(Atomic::Exchange),
    Service::Atomic(Atomic::CompareExchange),
];

impl Service {
    /// Its number.
    pub fn number(self) -> u8 {
        ALL.iter().position(|&service| service == self).unwrap_or(ALL.len()) as u8
    }

    /// The service with a number.
    #[cfg(feature = "portable")]
    pub fn of(number: u8) -> Option<Service> {
        ALL.get(usize::from(number)).copied()
    }
}

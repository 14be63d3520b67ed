//! Calling code whose float arithmetic truncates.
//!
//! A QPU rounds sums and products toward zero and takes numbers below the smallest normal one for zero (qpu.md §2.3). The host's
//! units do both if they are told to, but compiled Rust must not run that way. So the mode is set around code that was made for
//! it, and set back around what that code calls.
#![expect(unsafe_code, reason = "the processor's rounding is no matter of the language")]

use std::sync::OnceLock;

/// A function that code calls. Its first argument is what leads it to its data.
pub type Service = unsafe extern "C" fn(host: *mut Host, first: u32, second: u32) -> u32;

/// The head of what code's calls lead to: the function, and the modes of rounding inside and outside of the code.
#[derive(Debug)]
#[repr(C)]
pub struct Host {
    function: Service,
    outside: u32,
    inside: u32,
}

impl Host {
    /// The head of data that `function` knows how to use.
    pub fn new(function: Service) -> Host {
        Host { function, outside: 0, inside: machine::TRUNCATING }
    }
}

/// Whether this machine's floats can do it. Emulators and checkers of programs may leave numbers as they are.
pub fn works() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let tiny = f32::from_bits(1);
        let below_one = f32::from_bits(0x3f7f_ffff);
        machine::sum(tiny, 0.0) == Some(0.0) && machine::sum(1.0, -1e-20) == Some(below_one)
    })
}

/// Calls code with one argument. Whatever the code calls has to be [`service`], with the host as its first argument.
///
/// # Safety
/// [`works`] said so; `entry` is a function of such an argument that returns a word, and both pointers are what it and its
/// host's function take them for.
pub unsafe fn call(entry: *const u8, argument: *mut (), host: *mut Host) -> u32 {
    // SAFETY: the caller vouches for it.
    unsafe { machine::call(entry, argument, host) }
}

/// What code calls: sets the mode back, calls the host's function, and sets it again.
pub fn service() -> Service {
    machine::service
}

/// Defines what code calls from a machine's instructions: the mode of outside, the call, the mode of inside.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! define_service {
    ($($line:literal,)*) => {
        unsafe extern "C" {
            #[link_name = "vc4_jit_service"]
            pub fn service(host: *mut Host, first: u32, second: u32) -> u32;
        }

        std::arch::global_asm!(
            ".pushsection .text.vc4_jit_service, \"ax\", %progbits",
            ".balign 4",
            ".globl vc4_jit_service",
            ".hidden vc4_jit_service",
            ".type vc4_jit_service, %function",
            "vc4_jit_service:",
            ".cfi_startproc",
            $($line,)*
            "ret",
            ".cfi_endproc",
            ".size vc4_jit_service, . - vc4_jit_service",
            ".popsection",
            function = const std::mem::offset_of!(Host, function),
            outside = const std::mem::offset_of!(Host, outside),
            inside = const std::mem::offset_of!(Host, inside),
        );
    };
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod machine {
    use std::arch::asm;

    use super::Host;

    /// MXCSR: no exception traps; toward zero; results and operands without a normal exponent are zero.
    pub const TRUNCATING: u32 = 0x1f80 | 0x6000 | 0x8000 | 0x0040;

    define_service!(
        "push rdi",
        ".cfi_def_cfa_offset 16",
        "ldmxcsr [rdi + {outside}]",
        "call [rdi + {function}]",
        "pop rdi",
        ".cfi_def_cfa_offset 8",
        "ldmxcsr [rdi + {inside}]",
    );

    pub unsafe fn call(entry: *const u8, argument: *mut (), host: *mut Host) -> u32 {
        let result: u32;
        // SAFETY: the mode is as before behind it, and the caller vouches for the rest.
        unsafe {
            asm!(
                "stmxcsr [r12 + {outside}]",
                "ldmxcsr [r12 + {inside}]",
                "call {entry}",
                "ldmxcsr [r12 + {outside}]",
                outside = const std::mem::offset_of!(Host, outside),
                inside = const std::mem::offset_of!(Host, inside),
                entry = in(reg) entry,
                in("r12") host,
                in("rdi") argument,
                lateout("eax") result,
                clobber_abi("C"),
            );
        }
        result
    }

    pub fn sum(x: f32, y: f32) -> Option<f32> {
        let (mut sum, mut modes) = (x, [0, TRUNCATING]);
        // SAFETY: the mode is as before behind it.
        unsafe {
            asm!(
                "stmxcsr [{modes}]",
                "ldmxcsr [{modes} + 4]",
                "addss {sum}, {y}",
                "ldmxcsr [{modes}]",
                modes = in(reg) modes.as_mut_ptr(),
                sum = inout(xmm_reg) sum,
                y = in(xmm_reg) y,
            );
        }
        Some(sum)
    }
}

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
mod machine {
    use std::arch::asm;

    use super::Host;

    /// FPCR: toward zero; results and operands without a normal exponent are zero.
    pub const TRUNCATING: u32 = 0b11 << 22 | 1 << 24;

    define_service!(
        "stp x29, x30, [sp, #-32]!",
        ".cfi_def_cfa_offset 32",
        ".cfi_offset x29, -32",
        ".cfi_offset x30, -24",
        "str x0, [sp, #16]",
        "ldr w9, [x0, #{outside}]",
        "msr fpcr, x9",
        "ldr x9, [x0, #{function}]",
        "blr x9",
        "ldr x10, [sp, #16]",
        "ldr w9, [x10, #{inside}]",
        "msr fpcr, x9",
        "ldp x29, x30, [sp], #32",
    );

    pub unsafe fn call(entry: *const u8, argument: *mut (), host: *mut Host) -> u32 {
        let result: u64;
        // SAFETY: the mode is as before behind it, and the caller vouches for the rest.
        unsafe {
            asm!(
                "mrs x9, fpcr",
                "str w9, [x21, #{outside}]",
                "ldr w9, [x21, #{inside}]",
                "msr fpcr, x9",
                "blr x10",
                "ldr w9, [x21, #{outside}]",
                "msr fpcr, x9",
                outside = const std::mem::offset_of!(Host, outside),
                inside = const std::mem::offset_of!(Host, inside),
                in("x21") host,
                in("x10") entry,
                inout("x0") argument as u64 => result,
                clobber_abi("C"),
            );
        }
        result as u32
    }

    pub fn sum(x: f32, y: f32) -> Option<f32> {
        let mut sum = x;
        // SAFETY: the mode is as before behind it.
        unsafe {
            asm!(
                "mrs {outside}, fpcr",
                "msr fpcr, {inside}",
                "fadd {sum:s}, {sum:s}, {y:s}",
                "msr fpcr, {outside}",
                outside = out(reg) _,
                inside = in(reg) u64::from(TRUNCATING),
                sum = inout(vreg) sum,
                y = in(vreg) y,
            );
        }
        Some(sum)
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod machine {
    use super::Host;

    pub const TRUNCATING: u32 = 0;

    pub unsafe extern "C" fn service(host: *mut Host, first: u32, second: u32) -> u32 {
        // SAFETY: the caller vouches for it.
        unsafe { ((*host).function)(host, first, second) }
    }

    pub unsafe fn call(_: *const u8, _: *mut (), _: *mut Host) -> u32 {
        unreachable!("the code's arithmetic does not work here")
    }

    pub fn sum(_: f32, _: f32) -> Option<f32> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    struct Asked {
        host: Host,
        sum: f32,
    }

    unsafe extern "C" fn ask(host: *mut Host, first: u32, second: u32) -> u32 {
        // SAFETY: the only host of this function is an `Asked`.
        let asked = unsafe { &mut *host.cast::<Asked>() };
        asked.sum = std::hint::black_box(1.0) - std::hint::black_box(1e-20);
        first + second
    }

    unsafe extern "C" fn entry(argument: *mut ()) -> u32 {
        // SAFETY: the test passes a host.
        unsafe { service()(argument.cast(), 40, 2) }
    }

    #[test]
    fn what_code_calls_rounds_as_before() {
        if !works() {
            return;
        }
        let mut asked = Asked { host: Host::new(ask), sum: 0.0 };
        let host = &raw mut asked;
        // SAFETY: the function takes its argument for the host.
        let result = unsafe { call(entry as *const u8, host.cast(), host.cast()) };
        assert_eq!((result, asked.sum), (42, 1.0));
        assert_eq!(std::hint::black_box(1.0) - std::hint::black_box(1e-20), 1.0);
        let inside = machine::sum(1.0, -1e-20);
        assert!(inside.is_some_and(|sum| sum < 1.0));
    }
}

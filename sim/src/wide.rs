//! Functions that the host's wider vectors run faster.

/// Defines a function whose body is compiled a second time for x86 processors with AVX2; which one runs is decided when it is
/// called. What it calls profits as far as it is inlined.
macro_rules! on_wide_vectors {
    ($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty $body:block) => {
        $(#[$attribute])*
        fn $name($($argument: $type),*) -> $result {
            #[inline(always)]
            fn anywhere($($argument: $type),*) -> $result $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                #[expect(unsafe_code, reason = "only processors with these instructions may run it")]
                unsafe fn with_avx2($($argument: $type),*) -> $result {
                    anywhere($($argument),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    #[expect(unsafe_code, reason = "a function for certain processors is called")]
                    // SAFETY: the processor has the instructions.
                    return unsafe { with_avx2($($argument),*) };
                }
            }
            anywhere($($argument),*)
        }
    };
}

pub(crate) use on_wide_vectors;

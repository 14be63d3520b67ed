//! The operations of the precision table: how each is written, its exact value, and the error that Vulkan allows.

/// Distance of neighbouring floats at a magnitude; that of the smallest normal number below it.
pub fn ulp(of: f64) -> f64 {
    let exponent = if of == 0.0 { -126 } else { (of.abs().log2().floor() as i32).max(-126) };
    2f64.powi(exponent - 23)
}

/// Operands of a sweep.
pub struct Domain {
    pub text: &'static str,
    /// Smallest and largest binary exponent.
    pub exponents: (i32, i32),
    /// Smallest and largest value.
    pub limits: (f32, f32),
    /// What else must hold.
    pub also: fn(&[f32; 3]) -> bool,
}

pub struct Operation {
    pub name: &'static str,
    /// Over x, y and z.
    pub glsl: &'static str,
    pub operands: usize,
    pub domain: &'static Domain,
    pub exact: fn(&[f64; 3]) -> f64,
    /// The specification's words.
    pub asks: &'static str,
    /// The error that they allow, at these operands with this exact result.
    pub allowed: fn(&[f64; 3], f64) -> f64,
}

type Limits = (f32, f32);
const EVERY: Limits = (f32::MIN, f32::MAX);

const fn domain(text: &'static str, exponents: (i32, i32), limits: Limits) -> Domain {
    Domain { text, exponents, limits, also: |_| true }
}

const ALL: Domain = domain("all", (-126, 127), EVERY);
/// Above this the SFU's estimate of a reciprocal is below the smallest normal number, and flushed: a quotient by what lies
/// between this and 2^126 is 0. `docs/precision.md` says so.
const LARGEST_DIVISOR: f32 = 8.506e37;
/// Below this the rest of a dividend, by which a quotient is refined, is flushed.
const SMALLEST_DIVIDEND: f64 = 1.0 / (1u128 << 102) as f64;
const NORMAL_DIVISORS: Domain =
    Domain { text: "abs(y) < 2^126 · (1 - 2^-13)", also: |a| a[1].abs() < LARGEST_DIVISOR, ..ALL };
const NORMAL_RECIPROCALS: Domain =
    Domain { text: "abs(x) < 2^126 · (1 - 2^-13)", also: |a| a[0].abs() < LARGEST_DIVISOR, ..ALL };
const POSITIVE: Domain = domain("x > 0", (-126, 127), (f32::MIN_POSITIVE, f32::MAX));
const MIDDLE: Domain = domain("2^-40 to 2^40", (-40, 40), EVERY);
const SMALL: Domain = domain("2^-20 to 2^20", (-20, 20), EVERY);
const EXPONENTS: Domain = domain("abs(x) < 127", (-30, 6), (-126.0, 127.0));
const NATURAL_EXPONENTS: Domain = domain("abs(x) < 87", (-30, 6), (-87.0, 87.0));
const HYPERBOLIC: Domain = domain("abs(x) < 80", (-20, 6), (-80.0, 80.0));
const CIRCLE: Domain = domain("[-π, π]", (-20, 1), (-std::f32::consts::PI, std::f32::consts::PI));
const TANGENTS: Domain = domain("[-1.5, 1.5]", (-20, 0), (-1.5, 1.5));
const UNIT: Domain = domain("[-1, 1]", (-20, 0), (-1.0, 1.0));
const BELOW_ONE: Domain = domain("abs(x) < 0.99", (-20, -1), (-0.99, 0.99));
const FRACTION: Domain = domain("[0, 1]", (-20, 0), (0.0, 1.0));
const FROM_ONE: Domain = domain("[1, 2^20]", (0, 19), (1.0, 1_048_576.0));
const POWERS: Domain = Domain {
    text: "x > 0, result normal",
    exponents: (-12, 12),
    limits: EVERY,
    also: |a| a[0] > 0.0 && (a[1] * a[0].log2()).abs() < 125.0,
};
/// Bases whose constant powers are normal numbers.
const BASES: Domain = domain("2^-80 to 2^80", (-80, 79), (f32::MIN_POSITIVE, f32::MAX));
const SMALL_BASES: Domain = domain("2^-7 to 2^7", (-7, 6), (f32::MIN_POSITIVE, f32::MAX));
const BASES_NEAR_ONE: Domain = domain("0.72 to 1.39", (-1, 0), (0.72, 1.39));
const WEIGHTS: Domain = Domain {
    text: "z in [0, 1]",
    exponents: (-12, 12),
    limits: EVERY,
    also: |a| (0.0..=1.0).contains(&a[2]),
};
const QUOTIENTS: Domain = Domain {
    text: "abs(x/y) < 2^12",
    exponents: (-12, 12),
    limits: EVERY,
    also: |a| (a[0] / a[1]).abs() < 4096.0,
};
const INT: Domain = domain("abs(x) < 2^31", (-2, 30), (-2_147_483_520.0, 2_147_483_520.0));
const UINT: Domain = domain("[0, 2^32)", (-2, 31), (0.0, 4_294_967_040.0));

/// The distance to a neighbouring float: either of the two around the exact result is right. (The reference itself is
/// rounded: an error next to one ULP may show as one.)
fn correct(_: &[f64; 3], exact: f64) -> f64 {
    ulp(exact)
}

fn none(_: &[f64; 3], _: f64) -> f64 {
    0.0
}

/// Errors of log2, of exp2 and of a product as the specification has them.
fn log2_error(x: f64) -> f64 {
    if (0.5..=2.0).contains(&x) { 2f64.powi(-21) } else { 3.0 * ulp(x.log2()) }
}

fn exp_error(x: f64, exact: f64) -> f64 {
    (3.0 + 2.0 * x.abs()) * ulp(exact)
}

/// What exp2(y · log2(x)) may be off by.
fn pow_error(x: f64, y: f64, exact: f64) -> f64 {
    let t = y * x.log2();
    let argument = y.abs() * log2_error(x) + ulp(t);
    exp_error(t, exact) + exact.abs() * (std::f64::consts::LN_2 * argument).exp_m1()
}

fn sinh_error(x: f64) -> f64 {
    let (up, down) = (x.exp(), (-x).exp());
    0.5 * (exp_error(x, up) + exp_error(x, down)) + ulp(up - down) * 2.0
}

fn cosh_error(x: f64) -> f64 {
    let (up, down) = (x.exp(), (-x).exp());
    0.5 * (exp_error(x, up) + exp_error(x, down)) + ulp(up + down) * 2.0
}

/// log(t) of an argument that is itself off by `error`.
fn log_of(t: f64, error: f64) -> f64 {
    let own = if (0.5..=2.0).contains(&t) { 2f64.powi(-21) } else { 3.0 * ulp(t.ln()) };
    own + error / t
}

/// sqrt as 1/inversesqrt: two ULP of the one and two and a half of the other.
const SQRT_ULPS: f64 = 4.5;
/// Of atan and atan2.
const ATAN_ULPS: f64 = 4096.0;
/// Of sin and cos in [-π, π].
const SINE_ERROR: f64 = 1.0 / 2048.0;

macro_rules! operations {
    ($($name:literal $glsl:literal $operands:literal $domain:ident, $exact:expr, $asks:literal, $allowed:expr;)*) => {
        &[$(Operation {
            name: $name,
            glsl: $glsl,
            operands: $operands,
            domain: &$domain,
            exact: $exact,
            asks: $asks,
            allowed: $allowed,
        }),*]
    };
}

pub const OPERATIONS: &[Operation] = operations! {
    "add" "x + y" 2 ALL, |a| a[0] + a[1], "correctly rounded", correct;
    "sub" "x - y" 2 ALL, |a| a[0] - a[1], "correctly rounded", correct;
    "mul" "x * y" 2 ALL, |a| a[0] * a[1], "correctly rounded", correct;
    "div" "x / y" 2 NORMAL_DIVISORS, |a| a[0] / a[1], "2.5 ULP; 3.6 below 2^-102",
        |a, e| if a[0].abs() < SMALLEST_DIVIDEND { 3.6 * ulp(e) } else { 2.5 * ulp(e) };
    "rcp" "1.0 / x" 1 NORMAL_RECIPROCALS, |a| 1.0 / a[0], "2.5 ULP", |_, e| 2.5 * ulp(e);
    "div_constant" "x / 3.0" 1 ALL, |a| a[0] / 3.0, "2.5 ULP", |_, e| 2.5 * ulp(e);
    "fma" "fma(x, y, z)" 3 MIDDLE, |a| a[0] * a[1] + a[2], "inherited: x * y + z",
        |a, e| ulp(a[0] * a[1]) + ulp(e);
    "sqrt" "sqrt(x)" 1 POSITIVE, |a| a[0].sqrt(), "inherited: 1 / inversesqrt", |_, e| SQRT_ULPS * ulp(e);
    "inversesqrt" "inversesqrt(x)" 1 POSITIVE, |a| 1.0 / a[0].sqrt(), "2 ULP", |_, e| 2.0 * ulp(e);
    "exp2" "exp2(x)" 1 EXPONENTS, |a| a[0].exp2(), "3 + 2·abs(x) ULP", |a, e| exp_error(a[0], e);
    "exp" "exp(x)" 1 NATURAL_EXPONENTS, |a| a[0].exp(), "3 + 2·abs(x) ULP", |a, e| exp_error(a[0], e);
    "log2" "log2(x)" 1 POSITIVE, |a| a[0].log2(), "3 ULP; 2^-21 in [0.5, 2]", |a, _| log2_error(a[0]);
    "log" "log(x)" 1 POSITIVE, |a| a[0].ln(), "3 ULP; 2^-21 in [0.5, 2]", |a, _| log_of(a[0], 0.0);
    "pow" "pow(x, y)" 2 POWERS, |a| a[0].powf(a[1]), "inherited: exp2(y · log2(x))", |a, e| pow_error(a[0], a[1], e);
    "pow_256" "pow(x, 256.0)" 1 BASES_NEAR_ONE, |a| a[0].powf(256.0), "inherited: exp2(y · log2(x))", |a, e| {
        pow_error(a[0], 256.0, e)
    };
    "pow_1_5" "pow(x, 1.5)" 1 BASES, |a| a[0].powf(1.5), "inherited: exp2(y · log2(x))", |a, e| {
        pow_error(a[0], 1.5, e)
    };
    "pow_16_5" "pow(x, 16.5)" 1 SMALL_BASES, |a| a[0].powf(16.5), "inherited: exp2(y · log2(x))", |a, e| {
        pow_error(a[0], 16.5, e)
    };
    "pow_minus_4" "pow(x, -4.0)" 1 SMALL_BASES, |a| a[0].powf(-4.0), "inherited: exp2(y · log2(x))", |a, e| {
        pow_error(a[0], -4.0, e)
    };
    "pow_minus_1_5" "pow(x, -1.5)" 1 BASES, |a| a[0].powf(-1.5), "inherited: exp2(y · log2(x))", |a, e| {
        pow_error(a[0], -1.5, e)
    };
    "sin" "sin(x)" 1 CIRCLE, |a| a[0].sin(), "2^-11 absolute", |_, _| SINE_ERROR;
    "cos" "cos(x)" 1 CIRCLE, |a| a[0].cos(), "2^-11 absolute", |_, _| SINE_ERROR;
    "tan" "tan(x)" 1 TANGENTS, |a| a[0].tan(), "inherited: sin / cos", |a, e| {
        (SINE_ERROR * (1.0 + e.abs())) / (a[0].cos().abs() - SINE_ERROR) + 2.5 * ulp(e)
    };
    "asin" "asin(x)" 1 UNIT, |a| a[0].asin(), "inherited: atan2(x, sqrt(1 - x·x))", |a, e| {
        let root = (1.0 - a[0] * a[0]).sqrt();
        // What the root is off turns the angle.
        ATAN_ULPS * ulp(e) + (root - (1.0 - a[0] * a[0] - 2f64.powi(-23)).max(0.0).sqrt()) + SQRT_ULPS * ulp(root)
    };
    "acos" "acos(x)" 1 UNIT, |a| a[0].acos(), "inherited: atan2(sqrt(1 - x·x), x)", |a, e| {
        let root = (1.0 - a[0] * a[0]).sqrt();
        ATAN_ULPS * ulp(e) + ((1.0 - a[0] * a[0] + 2f64.powi(-23)).sqrt() - root).max(2f64.powi(-23)) + SQRT_ULPS * ulp(root)
    };
    "atan" "atan(x)" 1 MIDDLE, |a| a[0].atan(), "4096 ULP", |_, e| ATAN_ULPS * ulp(e);
    "atan2" "atan(x, y)" 2 SMALL, |a| a[0].atan2(a[1]), "4096 ULP", |_, e| ATAN_ULPS * ulp(e);
    "sinh" "sinh(x)" 1 HYPERBOLIC, |a| a[0].sinh(), "inherited: (exp(x) - exp(-x)) / 2", |a, _| sinh_error(a[0]);
    "cosh" "cosh(x)" 1 HYPERBOLIC, |a| a[0].cosh(), "inherited: (exp(x) + exp(-x)) / 2", |a, _| cosh_error(a[0]);
    "tanh" "tanh(x)" 1 HYPERBOLIC, |a| a[0].tanh(), "inherited: sinh / cosh", |a, e| {
        (sinh_error(a[0]) + e.abs() * cosh_error(a[0])) / a[0].cosh() + 2.5 * ulp(e)
    };
    "asinh" "asinh(x)" 1 SMALL, |a| a[0].asinh(), "inherited: log(x + sqrt(x·x + 1))", |a, _| {
        let root = (a[0] * a[0] + 1.0).sqrt();
        log_of(a[0] + root, (SQRT_ULPS + 2.0) * ulp(root) + ulp(a[0] + root))
    };
    "acosh" "acosh(x)" 1 FROM_ONE, |a| a[0].acosh(), "inherited: log(x + sqrt(x·x - 1))", |a, _| {
        let inside = a[0] * a[0] - 1.0;
        let root = inside.sqrt();
        let slip = (inside + 2.0 * ulp(a[0] * a[0])).sqrt() - root;
        log_of(a[0] + root, slip + SQRT_ULPS * ulp(root) + ulp(a[0] + root))
    };
    "atanh" "atanh(x)" 1 BELOW_ONE, |a| a[0].atanh(), "inherited: log((1 + x) / (1 - x)) / 2", |a, _| {
        let q = (1.0 + a[0]) / (1.0 - a[0]);
        0.5 * log_of(q, 5.0 * ulp(q))
    };
    "length" "length(vec3(x, y, z))" 3 MIDDLE, |a| (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt(),
        "inherited: sqrt(dot(v, v))", |_, e| (SQRT_ULPS + 2.5) * ulp(e);
    "distance" "distance(vec2(x, y), vec2(z, 1.0))" 3 SMALL, |a| (a[0] - a[2]).hypot(a[1] - 1.0),
        "inherited: length(a - b)", |_, e| (SQRT_ULPS + 4.5) * ulp(e);
    "normalize" "normalize(vec3(x, y, z)).x" 3 MIDDLE, |a| a[0] / (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt(),
        "inherited: v / length(v)", |_, e| (SQRT_ULPS + 2.5) * 2.0 * ulp(e) + 2.5 * ulp(e);
    "dot" "dot(vec2(x, y), vec2(y, z))" 3 SMALL, |a| a[0] * a[1] + a[1] * a[2], "inherited: sums of products",
        |a, e| ulp(a[0] * a[1]) + ulp(a[1] * a[2]) + ulp(e);
    "mix" "mix(x, y, z)" 3 WEIGHTS, |a| a[0] * (1.0 - a[2]) + a[1] * a[2], "inherited: x·(1 - z) + y·z",
        |a, e| a[0].abs() * ulp(1.0 - a[2]) + ulp(a[0] * (1.0 - a[2])) + ulp(a[1] * a[2]) + ulp(e);
    "smoothstep" "smoothstep(0.0, 1.0, x)" 1 FRACTION, |a| a[0] * a[0] * (3.0 - 2.0 * a[0]),
        "inherited: t·t·(3 - 2·t)", |a, e| 10.0 * ulp(e) + a[0] * a[0] * ulp(3.0 - 2.0 * a[0]);
    "mod" "mod(x, y)" 2 QUOTIENTS, |a| {
        // The remainder may come out at either end where the quotient is next to an integer.
        let q = a[0] / a[1];
        if (q - q.round()).abs() <= 4.0 * ulp(q) { f64::NAN } else { a[0] - a[1] * q.floor() }
    }, "inherited: x - y·floor(x / y)", |a, e| ulp(a[1] * (a[0] / a[1]).floor()) + ulp(e);
    "floor" "floor(x)" 1 ALL, |a| a[0].floor(), "exact", none;
    "ceil" "ceil(x)" 1 ALL, |a| a[0].ceil(), "exact", none;
    "trunc" "trunc(x)" 1 ALL, |a| a[0].trunc(), "exact", none;
    "roundEven" "roundEven(x)" 1 ALL, |a| a[0].round_ties_even(), "exact", none;
    // Either side of a tie is right.
    "round" "round(x)" 1 ALL, |a| (a[0] + 0.5).floor(), "exact", none;
    "fract" "fract(x)" 1 ALL, |a| a[0] - a[0].floor(), "correctly rounded: x - floor(x)", correct;
    "abs_neg" "abs(-x)" 1 ALL, |a| a[0].abs(), "exact", none;
    "sign" "sign(x)" 1 ALL, |a| a[0].signum(), "exact", none;
    "min" "min(x, y)" 2 ALL, |a| a[0].min(a[1]), "exact", none;
    "max" "max(x, y)" 2 ALL, |a| a[0].max(a[1]), "exact", none;
    "clamp" "clamp(x, -1.5, 2.5)" 1 ALL, |a| a[0].clamp(-1.5, 2.5), "exact", none;
    "less" "x < y ? 1.0 : 0.0" 2 ALL, |a| f64::from(a[0] < a[1]), "correct", none;
    "less_equal_self" "x <= x ? 1.0 : 0.0" 1 ALL, |_| 1.0, "correct", none;
    "equal" "x == abs(x) ? 1.0 : 0.0" 1 ALL, |a| f64::from(a[0] > 0.0), "correct", none;
    "to_int" "float(int(x) >> 8)" 1 INT, |a| (a[0] as i32 >> 8) as f64, "exact: toward zero", none;
    "to_uint" "float(uint(x) >> 8)" 1 UINT, |a| f64::from(a[0] as u32 >> 8), "exact: toward zero", none;
    "from_int" "float(floatBitsToInt(x))" 1 ALL, |a| f64::from((a[0] as f32).to_bits() as i32), "correctly rounded", correct;
    "from_uint" "float(floatBitsToUint(x))" 1 ALL, |a| f64::from((a[0] as f32).to_bits()), "correctly rounded", correct;
    "unpack_unorm8" "unpackUnorm4x8(floatBitsToUint(x)).x" 1 ALL, |a| f64::from((a[0] as f32).to_bits() & 255) / 255.0,
        "2.5 ULP (a division)", |_, e| 2.5 * ulp(e);
    "unpack_unorm16" "unpackUnorm2x16(floatBitsToUint(x)).x" 1 ALL,
        |a| f64::from((a[0] as f32).to_bits() & 65535) / 65535.0, "2.5 ULP (a division)", |_, e| 2.5 * ulp(e);
    "unpack_snorm16" "unpackSnorm2x16(floatBitsToUint(x)).x" 1 ALL,
        |a| (f64::from((a[0] as f32).to_bits() as u16 as i16) / 32767.0).max(-1.0), "2.5 ULP (a division)", |_, e| 2.5 * ulp(e);
    "unpack_half" "unpackHalf2x16(floatBitsToUint(x) & 0xbfffu | 0x400u).x" 1 ALL, |a| {
        let half = (a[0] as f32).to_bits() & 0xbfff | 0x400;
        f64::from(f32::from_bits(vc4::qpu::pack::f16_to_f32(half)))
    }, "exact", none;
    "radians" "radians(x)" 1 MIDDLE, |a| a[0].to_radians(), "inherited: x · π / 180", |_, e| 2.0 * ulp(e);
    "ldexp" "ldexp(x, 5)" 1 MIDDLE, |a| a[0] * 32.0, "exact", none;
};

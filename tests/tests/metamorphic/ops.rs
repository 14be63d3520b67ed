//! The operations of the fuzzer's language: how each is written and what it means, one row each.

use crate::value::{Base, Bound};

/// One operation. It is written with its operands in place of `{0}`, `{1}`, `{2}`.
pub struct Row {
    pub text: &'static str,
    pub args: &'static [Base],
    pub result: Base,
    /// Works on vectors, component by component.
    pub vector: bool,
    /// The value of one component.
    pub value: fn(&[u32]) -> u32,
    /// Bound of a float result by the bounds of the operands.
    pub bound: fn(&[Bound]) -> Bound,
}

fn f(word: u32) -> f32 {
    f32::from_bits(word)
}

fn any(_: &[Bound]) -> Bound {
    (0, 0)
}

fn same(b: &[Bound]) -> Bound {
    b[0]
}

fn whole(b: &[Bound]) -> Bound {
    (b[0].0, 0)
}

fn either(b: &[Bound]) -> Bound {
    (b[0].0.max(b[1].0), b[0].1.max(b[1].1))
}

fn sum(b: &[Bound]) -> Bound {
    let (m, d) = either(b);
    (m + 1, d)
}

fn product(b: &[Bound]) -> Bound {
    (b[0].0 + b[1].0, b[0].1 + b[1].1)
}

macro_rules! rows {
    ($($text:literal ($($arg:ident),*) $result:ident $vector:ident $bound:expr, |$words:ident| $value:expr;)*) => {
        &[$(Row {
            text: $text,
            args: &[$(Base::$arg),*],
            result: Base::$result,
            vector: rows!($vector),
            value: |$words| $value,
            bound: $bound,
        }),*]
    };
    (vector) => { true };
    (scalar) => { false };
}

/// All operations. The bit width of helper functions is that of [`PRELUDE`].
pub const ROWS: &[Row] = rows! {
    "({0} + {1})" (Int, Int) Int vector any, |w| w[0].wrapping_add(w[1]);
    "({0} - {1})" (Int, Int) Int vector any, |w| w[0].wrapping_sub(w[1]);
    "({0} * {1})" (Int, Int) Int vector any, |w| w[0].wrapping_mul(w[1]);
    "({0} / ((({1}) & 255) | 1))" (Int, Int) Int vector any, |w| (w[0] as i32).wrapping_div((w[1] & 255 | 1) as i32) as u32;
    // GLSL leaves remainders of negative operands open, and glslang folds them in another way than it compiles them.
    "((({0}) & 2147483647) % ((({1}) & 255) | 1))" (Int, Int) Int vector any, |w| (w[0] & 0x7fff_ffff) % (w[1] & 255 | 1);
    "({0} & {1})" (Int, Int) Int vector any, |w| w[0] & w[1];
    "({0} | {1})" (Int, Int) Int vector any, |w| w[0] | w[1];
    "({0} ^ {1})" (Int, Int) Int vector any, |w| w[0] ^ w[1];
    "(~{0})" (Int) Int vector any, |w| !w[0];
    "(-{0})" (Int) Int vector any, |w| w[0].wrapping_neg();
    "({0} << ({1} & 31))" (Int, Int) Int vector any, |w| w[0] << (w[1] & 31);
    "({0} >> ({1} & 31))" (Int, Int) Int vector any, |w| (w[0] as i32 >> (w[1] & 31)) as u32;
    "min({0}, {1})" (Int, Int) Int vector any, |w| (w[0] as i32).min(w[1] as i32) as u32;
    "max({0}, {1})" (Int, Int) Int vector any, |w| (w[0] as i32).max(w[1] as i32) as u32;
    "abs({0})" (Int) Int vector any, |w| (w[0] as i32).wrapping_abs() as u32;
    "sign({0})" (Int) Int vector any, |w| (w[0] as i32).signum() as u32;
    "clamp({0}, -100, 3000)" (Int) Int vector any, |w| (w[0] as i32).clamp(-100, 3000) as u32;
    "bitCount({0})" (Int) Int vector any, |w| w[0].count_ones();
    "findLSB({0})" (Int) Int vector any, |w| if w[0] == 0 { !0 } else { w[0].trailing_zeros() };
    "findMSB({0})" (Int) Int vector any, |w| most_significant(if (w[0] as i32) < 0 { !w[0] } else { w[0] });
    "bitfieldExtract({0}, 3, 11)" (Int) Int vector any, |w| ((w[0] << 18) as i32 >> 21) as u32;
    "bitfieldInsert({0}, {1}, 7, 9)" (Int, Int) Int vector any, |w| w[0] & !(511 << 7) | (w[1] & 511) << 7;
    "(({0}) / 10)" (Int) Int vector any, |w| (w[0] as i32 / 10) as u32;
    "(({0}) * 12)" (Int) Int vector any, |w| w[0].wrapping_mul(12);
    "({0} + {1})" (Uint, Uint) Uint vector any, |w| w[0].wrapping_add(w[1]);
    "({0} - {1})" (Uint, Uint) Uint vector any, |w| w[0].wrapping_sub(w[1]);
    "({0} * {1})" (Uint, Uint) Uint vector any, |w| w[0].wrapping_mul(w[1]);
    "({0} / ({1} | 1u))" (Uint, Uint) Uint vector any, |w| w[0] / (w[1] | 1);
    "({0} % ({1} | 1u))" (Uint, Uint) Uint vector any, |w| w[0] % (w[1] | 1);
    "({0} & {1})" (Uint, Uint) Uint vector any, |w| w[0] & w[1];
    "({0} | {1})" (Uint, Uint) Uint vector any, |w| w[0] | w[1];
    "({0} ^ {1})" (Uint, Uint) Uint vector any, |w| w[0] ^ w[1];
    "({0} << ({1} & 31u))" (Uint, Uint) Uint vector any, |w| w[0] << (w[1] & 31);
    "({0} >> ({1} & 31u))" (Uint, Uint) Uint vector any, |w| w[0] >> (w[1] & 31);
    "min({0}, {1})" (Uint, Uint) Uint vector any, |w| w[0].min(w[1]);
    "max({0}, {1})" (Uint, Uint) Uint vector any, |w| w[0].max(w[1]);
    "bitfieldReverse({0})" (Uint) Uint vector any, |w| w[0].reverse_bits();
    "bitfieldExtract({0}, 5, 13)" (Uint) Uint vector any, |w| w[0] >> 5 & 0x1fff;
    "(({0}) / 7u)" (Uint) Uint vector any, |w| w[0] / 7;
    "(({0}) % 16u)" (Uint) Uint vector any, |w| w[0] % 16;
    "high({0}, {1})" (Uint, Uint) Uint scalar any, |w| ((u64::from(w[0]) * u64::from(w[1])) >> 32) as u32;
    "carry({0}, {1})" (Uint, Uint) Uint scalar any, |w| u32::from(w[0].checked_add(w[1]).is_none());
    "borrow({0}, {1})" (Uint, Uint) Uint scalar any, |w| u32::from(w[0] < w[1]);
    "findMSB({0})" (Uint) Int vector any, |w| most_significant(w[0]);
    "packUnorm4x8(unpackUnorm4x8({0}))" (Uint) Uint scalar any, |w| w[0];
    "{I}({0})" (Uint) Int vector any, |w| w[0];
    "{U}({0})" (Int) Uint vector any, |w| w[0];
    "{I}({0})" (Bool) Int vector any, |w| w[0];
    "{U}({0})" (Bool) Uint vector any, |w| w[0];
    "{I}({0})" (Float) Int vector any, |w| f(w[0]) as i32 as u32;
    "{U}(abs({0}))" (Float) Uint vector any, |w| f(w[0]).abs() as u32;
    "int(floor((float({0} & 255) + 0.5) / float(({1} & 15) + 1)))" (Int, Int) Int scalar any,
        |w| ((w[0] & 255) * 2 + 1) / (2 * ((w[1] & 15) + 1));
    "int(sqrt(float({0} & 255)) + 0.015625)" (Int) Int scalar any, |w| (w[0] & 255).isqrt();
    "int(length(vec2(float({0} & 15), float({1} & 15))) + 0.0078125)" (Int, Int) Int scalar any,
        |w| ((w[0] & 15).pow(2) + (w[1] & 15).pow(2)).isqrt();
    "int(exp2(float({0} & 7)) + 0.25)" (Int) Int scalar any, |w| 1 << (w[0] & 7);
    "int(log2(float({0} & 255) + 1.0) + 0.001953125)" (Int) Int scalar any, |w| ((w[0] & 255) + 1).ilog2();
    "int(pow(float({0} & 7) + 1.0, 3.0) + 0.25)" (Int) Int scalar any, |w| ((w[0] & 7) + 1).pow(3);
    "(sin(float({0} & 31) + 0.5) > 0.0)" (Int) Bool scalar any, |w| u32::from((f64::from(w[0] & 31) + 0.5).sin() > 0.0);
    "(atan(float({0} & 15) - 7.5, float({1} & 15) - 7.5) > 1.0)" (Int, Int) Bool scalar any,
        |w| u32::from((f64::from(w[0] & 15) - 7.5).atan2(f64::from(w[1] & 15) - 7.5) > 1.0);
    "({0} + {1})" (Float, Float) Float vector sum, |w| (f(w[0]) + f(w[1])).to_bits();
    "({0} - {1})" (Float, Float) Float vector sum, |w| (f(w[0]) - f(w[1])).to_bits();
    "({0} * {1})" (Float, Float) Float vector product, |w| (f(w[0]) * f(w[1])).to_bits();
    "(-{0})" (Float) Float vector same, |w| (-f(w[0])).to_bits();
    "abs({0})" (Float) Float vector same, |w| f(w[0]).abs().to_bits();
    "sign({0})" (Float) Float vector any, |w| (if f(w[0]) == 0.0 { 0.0 } else { f(w[0]).signum() }).to_bits();
    "floor({0})" (Float) Float vector whole, |w| f(w[0]).floor().to_bits();
    "ceil({0})" (Float) Float vector whole, |w| f(w[0]).ceil().to_bits();
    "trunc({0})" (Float) Float vector whole, |w| f(w[0]).trunc().to_bits();
    "roundEven({0})" (Float) Float vector whole, |w| f(w[0]).round_ties_even().to_bits();
    "fract({0})" (Float) Float vector (|b| (0, b[0].1)), |w| (f(w[0]) - f(w[0]).floor()).to_bits();
    "min({0}, {1})" (Float, Float) Float vector either, |w| f(w[0]).min(f(w[1])).to_bits();
    "max({0}, {1})" (Float, Float) Float vector either, |w| f(w[0]).max(f(w[1])).to_bits();
    "clamp({0}, -2.0, 3.0)" (Float) Float vector (|b| (2, b[0].1)), |w| f(w[0]).clamp(-2.0, 3.0).to_bits();
    "step({0}, {1})" (Float, Float) Float vector any, |w| (if f(w[1]) < f(w[0]) { 0f32 } else { 1.0 }).to_bits();
    "mix({0}, {1}, fract({2}))" (Float, Float, Float) Float vector (|b| (either(b).0 + 2, either(b).1 + b[2].1)),
        |w| { let t = f(w[2]) - f(w[2]).floor(); (f(w[0]) * (1.0 - t) + f(w[1]) * t).to_bits() };
    "mod({0}, 4.0)" (Float) Float vector (|b| (2, b[0].1)), |w| (f(w[0]) - 4.0 * (f(w[0]) / 4.0).floor()).to_bits();
    "({0} / 8.0)" (Float) Float vector (|b| (b[0].0 - 3, b[0].1 + 3)), |w| (f(w[0]) / 8.0).to_bits();
    "({0} * 0.5)" (Float) Float vector (|b| (b[0].0 - 1, b[0].1 + 1)), |w| (f(w[0]) * 0.5).to_bits();
    "fma({0}, {1}, {2})" (Float, Float, Float) Float vector (|b| sum(&[product(b), b[2]])),
        |w| (f(w[0]) * f(w[1]) + f(w[2])).to_bits();
    "{F}({0} & 63)" (Int) Float vector (|_| (6, 0)), |w| ((w[0] & 63) as f32).to_bits();
    "{F}({0} & 63u)" (Uint) Float vector (|_| (6, 0)), |w| ((w[0] & 63) as f32).to_bits();
    "{F}({0})" (Bool) Float vector any, |w| (w[0] as f32).to_bits();
    "fit({0})" (Float) Float vector (|_| (6, 4)), |w| fit(w[0]);
    "({0} < {1})" (Int, Int) Bool scalar any, |w| u32::from((w[0] as i32) < w[1] as i32);
    "({0} >= {1})" (Int, Int) Bool scalar any, |w| u32::from(w[0] as i32 >= w[1] as i32);
    "({0} == {1})" (Int, Int) Bool scalar any, |w| u32::from(w[0] == w[1]);
    "({0} < {1})" (Uint, Uint) Bool scalar any, |w| u32::from(w[0] < w[1]);
    "({0} > {1})" (Uint, Uint) Bool scalar any, |w| u32::from(w[0] > w[1]);
    "({0} != {1})" (Uint, Uint) Bool scalar any, |w| u32::from(w[0] != w[1]);
    "({0} < {1})" (Float, Float) Bool scalar any, |w| u32::from(f(w[0]) < f(w[1]));
    "({0} <= {1})" (Float, Float) Bool scalar any, |w| u32::from(f(w[0]) <= f(w[1]));
    "({0} == {1})" (Float, Float) Bool scalar any, |w| u32::from(f(w[0]) == f(w[1]));
    "({0} != {1})" (Float, Float) Bool scalar any, |w| u32::from(f(w[0]) != f(w[1]));
    "({0} && {1})" (Bool, Bool) Bool scalar any, |w| w[0] & w[1];
    "({0} || {1})" (Bool, Bool) Bool scalar any, |w| w[0] | w[1];
    "({0} ^^ {1})" (Bool, Bool) Bool scalar any, |w| w[0] ^ w[1];
    "(!{0})" (Bool) Bool scalar any, |w| w[0] ^ 1;
    "bool({0} & 5)" (Int) Bool scalar any, |w| u32::from(w[0] & 5 != 0);
};

/// The row written `fit({0})`, which brings any exact float back into the bound of variables.
pub fn fit_row() -> usize {
    ROWS.iter().position(|row| row.text == "fit({0})").expect("the table has it")
}

/// The row written `(!{0})`.
pub fn not_row() -> usize {
    ROWS.iter().position(|row| row.text == "(!{0})").expect("the table has it")
}

fn fit(word: u32) -> u32 {
    ((f(word).clamp(-63.0, 63.0) * 16.0).floor() * 0.0625).to_bits()
}

fn most_significant(word: u32) -> u32 {
    if word == 0 { !0 } else { 31 - word.leading_zeros() }
}

/// Functions that the rows' texts call.
pub const PRELUDE: &str = "\
uint high(uint a, uint b) { uint h, l; umulExtended(a, b, h, l); return h; }
uint carry(uint a, uint b) { uint c; uaddCarry(a, b, c); return c; }
uint borrow(uint a, uint b) { uint c; usubBorrow(a, b, c); return c; }
float fit(float x) { return floor(clamp(x, -63.0, 63.0) * 16.0) * 0.0625; }
vec2 fit(vec2 x) { return floor(clamp(x, -63.0, 63.0) * 16.0) * 0.0625; }
vec3 fit(vec3 x) { return floor(clamp(x, -63.0, 63.0) * 16.0) * 0.0625; }
vec4 fit(vec4 x) { return floor(clamp(x, -63.0, 63.0) * 16.0) * 0.0625; }
";

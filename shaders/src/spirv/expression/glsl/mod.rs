//! The extended instructions of GLSL.std.450: common, geometric and integer functions.
//! Functions with a numerical method are in [`math`], packing in [`pack`].

mod math;
mod pack;

use spirv::GlslStd450Op as Glsl;

use super::emit::{Emit, Scalars, Typed, map, map2, map3};
use super::matrix::{determinant, inverse};
use crate::ir::{Builder, Op, Value};
use crate::spirv::error::Result;

/// Translates an extended instruction without pointer operands. `Modf` and `Frexp` yield both results,
/// as their structure forms do.
pub fn extended(e: &mut Emit<'_>, op: Glsl, args: &[Typed]) -> Result<Scalars> {
    if let Some(values) = simple(e, op, args)? {
        return Ok(values);
    }
    if let Some(values) = geometric(e, op, args)? {
        return Ok(values);
    }
    if let Some(values) = math::math(e, op, args)? {
        return Ok(values);
    }
    if let Some(values) = pack::pack(e, op, args)? {
        return Ok(values);
    }
    let supported = "all of GLSL.std.450 except interpolation functions and 64-bit packing";
    Err(e.inst.unsupported(format!("GLSL.std.450 {op:?}"), supported))
}

fn simple(e: &mut Emit<'_>, op: Glsl, args: &[Typed]) -> Result<Option<Scalars>> {
    let one = |op: Op| Some((op, 1));
    let two = |op: Op| Some((op, 2));
    let direct = match op {
        Glsl::RoundEven => one(Op::FRoundEven),
        Glsl::Trunc => one(Op::FTrunc),
        Glsl::FAbs => one(Op::FAbs),
        Glsl::FSign => one(Op::FSign),
        Glsl::Floor => one(Op::FFloor),
        Glsl::Ceil => one(Op::FCeil),
        Glsl::Sin => one(Op::FSin),
        Glsl::Cos => one(Op::FCos),
        Glsl::Exp2 => one(Op::FExp2),
        Glsl::Log2 => one(Op::FLog2),
        Glsl::Sqrt => one(Op::FSqrt),
        Glsl::InverseSqrt => one(Op::FRsqrt),
        Glsl::FMin | Glsl::NMin => two(Op::FMin),
        Glsl::FMax | Glsl::NMax => two(Op::FMax),
        Glsl::UMin => two(Op::UMin),
        Glsl::UMax => two(Op::UMax),
        Glsl::SMin => two(Op::SMin),
        Glsl::SMax => two(Op::SMax),
        _ => None,
    };
    if let Some((op, operands)) = direct {
        return e.each(op, args, &[0, 1][..operands]).map(Some);
    }
    let clamp = |low: Op, high: Op| {
        move |b: &mut Builder<'_>, x: Value, least: Value, most: Value| {
            let x = b.op(low, &[x, least]);
            b.op(high, &[x, most])
        }
    };
    Ok(Some(match op {
        Glsl::SAbs => map(e, args, |b, x| {
            let zero = b.word(0);
            let negated = b.isub(zero, x);
            b.smax(x, negated)
        })?,
        Glsl::SSign => map(e, args, |b, x| {
            let (one, minus_one) = (b.word(1), b.word(!0));
            let x = b.smin(x, one);
            b.smax(x, minus_one)
        })?,
        Glsl::Fract => map(e, args, |b, x| {
            let whole = b.ffloor(x);
            b.fsub(x, whole)
        })?,
        Glsl::Radians => scaled(e, args, std::f32::consts::PI / 180.0)?,
        Glsl::Degrees => scaled(e, args, 180.0 / std::f32::consts::PI)?,
        Glsl::FClamp | Glsl::NClamp => map3(e, args, clamp(Op::FMax, Op::FMin))?,
        Glsl::UClamp => map3(e, args, clamp(Op::UMax, Op::UMin))?,
        Glsl::SClamp => map3(e, args, clamp(Op::SMax, Op::SMin))?,
        Glsl::FMix => map3(e, args, mix)?,
        Glsl::Step => map2(e, args, |b, edge, x| {
            let (zero, one) = (b.float(0.0), b.float(1.0));
            let below = b.flt(x, edge);
            b.select(below, zero, one)
        })?,
        Glsl::SmoothStep => map3(e, args, smooth_step)?,
        Glsl::Fma => map3(e, args, |b, x, y, z| b.fmad(x, y, z))?,
        Glsl::FindILsb => map(e, args, lowest_bit)?,
        Glsl::FindUMsb => map(e, args, highest_bit)?,
        Glsl::FindSMsb => map(e, args, |b, x| {
            let sign_shift = b.word(31);
            let sign = b.asr(x, sign_shift);
            let x = b.xor(x, sign);
            highest_bit(b, x)
        })?,
        Glsl::Determinant => vec![determinant(e, args)?],
        Glsl::MatrixInverse => inverse(e, args)?,
        _ => return Ok(None),
    }))
}

fn scaled(e: &mut Emit<'_>, args: &[Typed], factor: f32) -> Result<Scalars> {
    map(e, args, |b, x| {
        let factor = b.float(factor);
        b.fmul(x, factor)
    })
}

/// The specification's x(1-a) + ya keeps both ends exact; relaxed precision allows the shorter x + (y-x)a.
fn mix(b: &mut Builder<'_>, x: Value, y: Value, a: Value) -> Value {
    if b.relaxed {
        let difference = b.fsub(y, x);
        return b.fmad(difference, a, x);
    }
    let one = b.float(1.0);
    let rest = b.fsub(one, a);
    let (from_x, from_y) = (b.fmul(x, rest), b.fmul(y, a));
    b.fadd(from_x, from_y)
}

fn smooth_step(b: &mut Builder<'_>, low: Value, high: Value, x: Value) -> Value {
    let (distance, range) = (b.fsub(x, low), b.fsub(high, low));
    let quotient = b.fdiv(distance, range);
    let t = b.saturate(quotient);
    let (two, three) = (b.float(2.0), b.float(3.0));
    let twice = b.fmul(two, t);
    let rest = b.fsub(three, twice);
    let square = b.fmul(t, t);
    b.fmul(square, rest)
}

/// Number of the highest set bit, -1 for none.
pub fn highest_bit(b: &mut Builder<'_>, x: Value) -> Value {
    let zeros = b.clz(x);
    let last = b.word(31);
    b.isub(last, zeros)
}

/// Number of the lowest set bit, -1 for none: x & -x has that bit only.
pub fn lowest_bit(b: &mut Builder<'_>, x: Value) -> Value {
    let zero = b.word(0);
    let negated = b.isub(zero, x);
    let lowest = b.and(x, negated);
    highest_bit(b, lowest)
}

fn geometric(e: &mut Emit<'_>, op: Glsl, args: &[Typed]) -> Result<Option<Scalars>> {
    Ok(Some(match op {
        Glsl::Length => {
            let x = e.words(args, 0)?;
            vec![length(e, &x)]
        }
        Glsl::Distance => {
            let (x, y) = vectors(e, args)?;
            let difference: Scalars = x.iter().zip(&y).map(|(&x, &y)| e.b.fsub(x, y)).collect();
            vec![length(e, &difference)]
        }
        Glsl::Normalize => {
            let x = e.like_result(args, 0)?;
            if let [x] = x[..] {
                return Ok(Some(vec![e.b.op(Op::FSign, &[x])]));
            }
            let square = e.dot(&x, &x);
            let scale = e.b.op(Op::FInverseLength, &[square]);
            x.iter().map(|&x| e.b.fmul(x, scale)).collect()
        }
        Glsl::Cross => {
            let (x, y) = vectors(e, args)?;
            if x.len() != 3 {
                return Err(e.invalid("a cross product takes three components"));
            }
            cross(&mut e.b, &x, &y)
        }
        Glsl::FaceForward => {
            let (n, i, reference) =
                (e.like_result(args, 0)?, e.like_result(args, 1)?, e.like_result(args, 2)?);
            let (angle, zero) = (e.dot(&reference, &i), e.b.float(0.0));
            let towards = e.b.flt(angle, zero);
            let face = |&n: &Value| {
                let negated = e.b.fneg(n);
                e.b.select(towards, n, negated)
            };
            n.iter().map(face).collect()
        }
        Glsl::Reflect => {
            let (i, n) = (e.like_result(args, 0)?, e.like_result(args, 1)?);
            let angle = e.dot(&n, &i);
            let twice = e.b.fadd(angle, angle);
            let reflect = |(&i, &n): (&Value, &Value)| {
                let step = e.b.fmul(twice, n);
                e.b.fsub(i, step)
            };
            i.iter().zip(n.iter()).map(reflect).collect()
        }
        Glsl::Refract => refract(e, args)?,
        _ => return Ok(None),
    }))
}

fn vectors(e: &Emit<'_>, args: &[Typed]) -> Result<(Scalars, Scalars)> {
    let (x, y) = (e.words(args, 0)?, e.words(args, 1)?);
    if x.len() != y.len() {
        return Err(e.invalid("the vectors differ in size"));
    }
    Ok((x.to_vec(), y.to_vec()))
}

fn length(e: &mut Emit<'_>, x: &[Value]) -> Value {
    if let &[x] = x {
        return e.b.fabs(x);
    }
    let square = e.dot(x, x);
    e.b.fsqrt(square)
}

fn cross(b: &mut Builder<'_>, x: &[Value], y: &[Value]) -> Scalars {
    let component = |(i, j): (usize, usize)| {
        let (plus, minus) = (b.fmul(x[i], y[j]), b.fmul(x[j], y[i]));
        b.fsub(plus, minus)
    };
    [(1, 2), (2, 0), (0, 1)].into_iter().map(component).collect()
}

/// eta·I - (eta·(N·I) + sqrt(k))·N with k = 1 - eta²(1 - (N·I)²), zero where k is negative.
fn refract(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let (i, n) = (e.like_result(args, 0)?, e.like_result(args, 1)?);
    let eta = e.scalar(args, 2)?;
    let cosine = e.dot(&n, &i);
    let b = &mut e.b;
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let square = b.fmul(cosine, cosine);
    let sine = b.fsub(one, square);
    let eta_square = b.fmul(eta, eta);
    let bent = b.fmul(eta_square, sine);
    let k = b.fsub(one, bent);
    let total = b.flt(k, zero);
    let inside = b.fmax(k, zero);
    let root = b.fsqrt(inside);
    let along = b.fmad(eta, cosine, root);
    let component = |(&i, &n): (&Value, &Value)| {
        let (from_i, from_n) = (b.fmul(eta, i), b.fmul(along, n));
        let bent = b.fsub(from_i, from_n);
        b.select(total, zero, bent)
    };
    Ok(i.iter().zip(n.iter()).map(component).collect())
}

//! Arithmetic of translated shaders against values computed here.

#[allow(dead_code, reason = "shared by several test programs")]
mod support;

use support::{World, expect_floats, expect_ints, floats, ints, outcomes, user};

fn vec4(world: &mut World, location: u32, f: impl Fn(usize, usize) -> f32) {
    for component in 0..4 {
        world.inputs.insert((location, component as u8), floats(|lane| f(lane, component)));
    }
}

#[test]
fn float_functions() {
    let x = |lane: usize| {
        [-7.5f32, -2.5, -1.0, -0.3, 0.0, 0.3, 0.5, 1.0, 1.5, 2.5, 3.7, 5.0, 7.25, 8.0, -8.0, 6.1][lane]
    };
    let y = |lane: usize| {
        [1.0f32, 2.0, -0.5, 0.3, 1.0, -1.5, 2.0, 1.0, -3.0, 0.25, 2.5, -1.0, 0.5, 3.0, 1.25, -2.0][lane]
    };
    let mut world = World::default();
    world.inputs.insert((0, 0), floats(x));
    world.inputs.insert((1, 0), floats(y));
    expect_floats("common.frag", &world, 3e-6, |lane| {
        let (x, y) = (f64::from(x(lane)), f64::from(y(lane)));
        let u = (x * 0.125).clamp(-1.0, 1.0);
        let p = x.abs() + 0.5;
        let even = f64::from((x as f32).round_ties_even());
        let truth = |truth: bool| f64::from(u8::from(truth));
        let t = ((x + 2.0) / 5.0).clamp(0.0, 1.0);
        let sign = if x == 0.0 { 0.0 } else { x.signum() };
        let (mantissa, exponent) = match x {
            0.0 => (0.0, 0.0),
            x => (x / 2f64.powi(x.abs().log2().floor() as i32 + 1), x.abs().log2().floor() + 1.0),
        };
        let less = [x < y, y < 0.0, 1.0 < x];
        vec![
            // Of ties the upper side; Vulkan leaves it open.
            (x + 0.5).floor(),
            even,
            x.trunc(),
            x.abs(),
            sign,
            x.floor(),
            x.ceil(),
            x - x.floor(),
            x.to_radians(),
            x.to_degrees(),
            x.sin(),
            x.cos(),
            u.tan(),
            u.asin(),
            u.acos(),
            x.atan(),
            y.atan2(x),
            u.sinh(),
            u.cosh(),
            x.tanh(),
            p.powf(y),
            u.exp(),
            p.ln(),
            u.exp2(),
            p.log2(),
            p.sqrt(),
            1.0 / p.sqrt(),
            x - 1.75 * (x / 1.75).floor(),
            x - x.trunc(),
            x.trunc(),
            x.min(y),
            x.max(y),
            x.clamp(-1.0, 2.0),
            x * 0.75 + y * 0.25,
            truth(y >= x),
            t * t * (3.0 - 2.0 * t),
            x * y + 0.5,
            x.asinh(),
            (p + 1.0).acosh(),
            (u * 0.9).atanh(),
            mantissa,
            exponent,
            x * 8.0,
            y / 4.0,
            x / y,
            x - y * 2.0,
            -x,
            p * p,
            if x < y { y } else { x },
            if x == y { 1.0 } else { 2.0 },
            if x != y { 1.0 } else { 2.0 },
            if x >= y { 1.0 } else { 2.0 },
            truth(less.contains(&true)),
            truth(!less.contains(&false)),
            truth(!less[0]),
            0.0,
        ]
    });
}

type V = Vec<f64>;

#[test]
fn powers_of_constants() {
    let [x, y] = [0.3f32, 0.7].map(|step| {
        move |lane: usize, component: usize| 0.25 + step * (lane as f32 / 16.0 + component as f32 / 4.0)
    });
    let mut world = World::default();
    vec4(&mut world, 0, x);
    vec4(&mut world, 1, y);
    // 100 times what one product is off by.
    expect_floats("powers.frag", &world, 3e-5, |lane| {
        let exponents: [[f64; 4]; 3] =
            [[7.0, 32.0, 100.0, 256.0], [0.5, 1.5, 2.5, 16.5], [-1.0, -4.0, -0.5, -1.5]];
        let of_x = exponents.into_iter().flat_map(|exponents| (0..4).zip(exponents));
        let mut all: Vec<f64> =
            of_x.map(|(component, power)| f64::from(x(lane, component)).powf(power)).collect();
        let of_y = (0..3).zip([2.2, 255.0, -2.5]);
        all.extend(of_y.map(|(component, power)| f64::from(y(lane, component)).powf(power)));
        all.push(1.0);
        all
    });
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn scaled(a: &[f64], by: f64) -> V {
    a.iter().map(|x| x * by).collect()
}

fn added(a: &[f64], b: &[f64]) -> V {
    a.iter().zip(b).map(|(x, y)| x + y).collect()
}

fn normalized(a: &[f64]) -> V {
    scaled(a, 1.0 / dot(a, a).sqrt())
}

/// Columns times a vector.
fn times(m: &[V], v: &[f64]) -> V {
    (0..m[0].len()).map(|row| m.iter().zip(v).map(|(column, x)| column[row] * x).sum()).collect()
}

fn determinant(m: &[V]) -> f64 {
    if m.len() == 1 {
        return m[0][0];
    }
    let minor = |at: usize| -> Vec<V> {
        m.iter()
            .enumerate()
            .filter(|&(column, _)| column != at)
            .map(|(_, column)| column[1..].to_vec())
            .collect()
    };
    (0..m.len()).map(|at| if at % 2 == 0 { 1.0 } else { -1.0 } * m[at][0] * determinant(&minor(at))).sum()
}

#[test]
fn vectors_and_matrices() {
    let a =
        |lane: usize, c: usize| [0.5f32, -1.5, 2.0, 1.25][c] + lane as f32 * [0.25, 0.5, -0.125, 0.375][c];
    let b =
        |lane: usize, c: usize| [1.5f32, 0.75, -2.5, 0.5][c] - lane as f32 * [0.375, -0.25, 0.5, 0.125][c];
    let mut world = World::default();
    vec4(&mut world, 0, a);
    vec4(&mut world, 1, b);
    world.inputs.insert((2, 0), ints(|lane| lane as i32));
    expect_floats("vectors.frag", &world, 2e-4, |lane| {
        let a: V = (0..4).map(|c| f64::from(a(lane, c))).collect();
        let b: V = (0..4).map(|c| f64::from(b(lane, c))).collect();
        let i = lane & 3;
        let a3 = &a[..3];
        let b3 = &b[..3];
        let mut out = vec![dot(a3, a3).sqrt()];
        let difference = added(&a, &scaled(&b, -1.0));
        out.extend([dot(&difference, &difference).sqrt(), dot(&a[..2], &b[2..]), a[0].abs()]);
        out.extend([
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
            a[3].signum(),
        ]);
        out.extend(normalized(&b));
        let facing = dot(&[1.0, 0.5, -0.25], b3) < 0.0;
        out.extend(scaled(a3, if facing { 1.0 } else { -1.0 }));
        out.push(0.0);
        let n = normalized(&b);
        out.extend(added(&a, &scaled(&n, -2.0 * dot(&n, &a))));
        let (direction, normal) = (normalized(a3), normalized(b3));
        let cosine = dot(&normal, &direction);
        let k = 1.0 - 0.75 * 0.75 * (1.0 - cosine * cosine);
        let bent = added(&scaled(&direction, 0.75), &scaled(&normal, -(0.75 * cosine + k.max(0.0).sqrt())));
        out.extend(if k < 0.0 { vec![0.0; 3] } else { bent });
        out.push(1.0);
        let mut t = vec![b[1], a[2], b[1], a[0]];
        t[i] = 9.0;
        out.extend(&t);
        out.extend([a[i], b[lane >> 1 & 3], t[2], t[3]]);
        let mut m = vec![a.clone(), b.clone(), vec![b[1], -a[0], 4.0, a[3]], vec![1.0, -2.0, 0.5, 3.0]];
        out.extend(times(&m, &b));
        out.extend(m.iter().map(|column| dot(column, &b)));
        out.extend(m.iter().map(|column| column[1]));
        let n = vec![a3.to_vec(), b3.to_vec(), vec![0.25, -1.0, 2.0]];
        out.extend([determinant(&n), a[0] * a[3] - a[1] * a[2], determinant(&m), b[2]]);
        out.extend((0..4).map(|c| if c == i { 1.0 } else { 0.0 }));
        out.extend([a[0] * b[0], a[1] * b[0], a[2] * b[0], a[1] * b[1]]);
        let p = vec![scaled(a3, b[0]), scaled(a3, b[1])];
        out.extend(times(&p, &b[..2]));
        out.push(dot(&p[0], a3));
        let squares: V = m[0].iter().map(|x| x * x).collect();
        out.extend(added(&scaled(&m[2], 2.0), &squares));
        m[i][1] = 5.0;
        m[2] = scaled(&m[2], 2.0);
        let sum = (0..4).map(|row| (0..4).map(|c| m[c][row] * 10f64.powi(c as i32)).sum::<f64>());
        out.extend(sum);
        out.extend([1.0, 0.0, 0.0, 1.0]);
        let s: Vec<V> = (0..3).map(|c| added(&scaled(&m[c][..3], 0.25), &n[c])).collect();
        out.extend([s[0][0], s[1][1], s[2][2], times(&n, &s[1])[0]]);
        out
    });
}

#[test]
fn integers() {
    let a = |lane: usize| {
        [0, 1, -1, 7, -7, 100, -100, 65537, -65536, 12345678, i32::MAX, i32::MIN + 1, 2, -3, 99, 255][lane]
    };
    let b = |lane: usize| [1, 2, 3, -2, 5, 7, -9, 4099, 3, -77777, 2, 3, -5, 8, 31, 16][lane];
    let f = |lane: usize| lane as f32 * 100.75 - 700.3;
    let mut world = World::default();
    world.inputs.insert((0, 0), ints(a));
    world.inputs.insert((1, 0), ints(b));
    world.inputs.insert((2, 0), floats(f));
    expect_ints("integers.frag", &world, |lane| {
        let (a, b, f) = (a(lane), b(lane), f(lane));
        let (u, v) = (a as u32, b as u32);
        let (wide, signed) = (u64::from(u) * u64::from(v), i64::from(a) * i64::from(b));
        let msb = |x: u32| 31 - i64::from(x.leading_zeros());
        let field = (u & !(0x1ff << 5)) | (v & 0x1ff) << 5;
        let words: Vec<i64> = vec![
            a.wrapping_add(b).into(),
            a.wrapping_sub(b).into(),
            a.wrapping_mul(b).into(),
            a.wrapping_neg().into(),
            // GLSL's % is OpSMod here: the sign of the divisor.
            (a / b).into(),
            (i64::from(a) - i64::from(b) * (f64::from(a) / f64::from(b)).floor() as i64),
            (u / v).into(),
            (u % v).into(),
            (a << (b & 31)).into(),
            (a >> (b & 31)).into(),
            (u >> (v & 31)).into(),
            (!a).into(),
            (a & b).into(),
            (a | b).into(),
            (a ^ b).into(),
            a.abs().into(),
            a.min(b).into(),
            a.max(b).into(),
            u.min(v).into(),
            u.max(v).into(),
            a.signum().into(),
            a.clamp(-7, 100).into(),
            a.count_ones().into(),
            a.reverse_bits().into(),
            if a == 0 { -1 } else { a.trailing_zeros().into() },
            msb(if a < 0 { !u } else { u }),
            msb(u),
            field.into(),
            ((a << 22) >> 25).into(),
            (u >> 3 & 127).into(),
            a.into(),
            b.into(),
            u.wrapping_add(v).into(),
            i64::from(u.checked_add(v).is_none()),
            u.wrapping_sub(v).into(),
            i64::from(u < v),
            (wide >> 32) as i64,
            wide as u32 as i64,
            signed >> 32,
            signed as i32 as i64,
            (f as i32).into(),
            (f.abs() as u32).into(),
            (a as f32).to_bits().into(),
            (u as f32).to_bits().into(),
            (a < b).into(),
            (a <= b).into(),
            (u < v).into(),
            (u >= v).into(),
            (a == b).into(),
            (a != b).into(),
            (a > b).into(),
            (a != 0).into(),
            (a / 8).into(),
            a.rem_euclid(8).into(),
            (u / 16).into(),
            a.wrapping_mul(6).into(),
        ];
        words
    });
}

#[test]
fn packing() {
    let v = |lane: usize, c: usize| lane as f32 * 0.17 - 1.2 + c as f32 * 0.33;
    let w = |lane: usize| (0x9e37_79b9u32.wrapping_mul(lane as u32 + 1) & 0xbfff_bfff) as i32;
    let mut world = World::default();
    vec4(&mut world, 0, v);
    world.inputs.insert((1, 0), ints(w));
    for (what, outcome) in outcomes("pack.frag", &world, &[]) {
        for lane in 0..16 {
            let v: Vec<f32> = (0..4).map(|c| v(lane, c)).collect();
            let field = |x: f32, least: f32, scale: f32, bits: u32| {
                ((x.clamp(least, 1.0) * scale).round_ties_even() as i32) as u32 & (u32::MAX >> (32 - bits))
            };
            let pack = |count: usize, least: f32, scale: f32| {
                let bits = 32 / count as u32;
                (0..count).fold(0, |word, at| word | field(v[at], least, scale, bits) << (at as u32 * bits))
            };
            let word = |component: u8| outcome.output(user(0, component))[lane];
            for byte in 0..4 {
                let (got, want) = (word(0) >> (8 * byte) & 255, pack(4, 0.0, 255.0) >> (8 * byte) & 255);
                assert!(got.abs_diff(want) <= 1, "{what}: {got} {want}");
            }
            assert_eq!(word(1), pack(4, -1.0, 127.0), "{what}");
            assert_eq!(word(2), pack(2, 0.0, 65535.0), "{what}");
            assert_eq!(word(3), pack(2, -1.0, 32767.0), "{what}");
            for (component, values) in [(0, [v[0] * 100.0, v[1] * 100.0]), (1, [v[2] * 0.001, v[3] * 0.001])]
            {
                let word = outcome.output(user(1, component))[lane];
                for (at, value) in values.into_iter().enumerate() {
                    let half = half_value((word >> (16 * at)) as u16);
                    assert!((half - value).abs() <= value.abs() / 2047.0 + 6.2e-5, "{what}: {half} {value}");
                }
            }
            let w = w(lane) as u32;
            let bytes = w.to_le_bytes();
            let near = |location: u32, component: u8, want: f32| {
                let got = outcome.floats(user(location, component))[lane];
                assert!(
                    (got - want).abs() <= 1e-6 + want.abs() * 1e-6,
                    "{what}, {location}.{component}: {got} {want}"
                );
            };
            for at in 0..4u8 {
                near(2, at, f32::from(bytes[usize::from(at)]) / 255.0);
                near(3, at, (f32::from(bytes[usize::from(at)] as i8) / 127.0).max(-1.0));
            }
            let halves = [w as u16, (w >> 16) as u16];
            for at in 0..2u8 {
                let half = halves[usize::from(at)];
                near(4, at, f32::from(half) / 65535.0);
                near(4, at + 2, (f32::from(half as i16) / 32767.0).max(-1.0));
                if half >> 10 & 31 != 0 {
                    near(5, at, half_value(half));
                }
            }
        }
    }
}

fn half_value(half: u16) -> f32 {
    let magnitude = match (half >> 10 & 31, half & 0x3ff) {
        (0, mantissa) => f32::from(mantissa) / 16_777_216.0,
        (exponent, mantissa) => (1024.0 + f32::from(mantissa)) * 2f32.powi(i32::from(exponent) - 25),
    };
    if half >> 15 == 0 { magnitude } else { -magnitude }
}

//! Compute shaders, translated and optimised, run by the interpreter and compared with values computed here.

#[allow(dead_code, reason = "shared by several test programs")]
mod support;

use std::collections::BTreeMap;

use support::words;
use vc4_shaders::compile::compute_stage;
use vc4_shaders::ir::interp::{Environment, SampleRequest, run_dispatch};
use vc4_shaders::ir::verify::verify;
use vc4_shaders::ir::{Fetch, Memory, Op, Shader, Stage, Texel};
use vc4_shaders::program::Descriptor;
use vc4_shaders::spirv::{StageSource, translate};
use vc4_shaders::state::Conversions;

type Lanes = [u32; 16];

/// Buffers and images as a compute shader sees them; texels by their coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
struct World {
    push: Vec<u32>,
    buffers: BTreeMap<(u32, u32), Vec<u32>>,
    texels: BTreeMap<(u32, u32, Vec<i32>), [u32; 4]>,
}

impl World {
    fn words(&mut self, binding: u32) -> &mut Vec<u32> {
        self.buffers.entry((0, binding)).or_default()
    }

    fn ints(&self, binding: u32) -> Vec<i32> {
        self.buffers[&(0, binding)].iter().map(|&word| word as i32).collect()
    }

    fn floats(&self, binding: u32) -> Vec<f32> {
        self.buffers[&(0, binding)].iter().map(|&word| f32::from_bits(word)).collect()
    }

    fn texel(&self, set: u32, binding: u32, at: &[i32]) -> [u32; 4] {
        self.texels.get(&(set, binding, at.to_vec())).copied().unwrap_or_default()
    }
}

fn key(texel: Texel, coordinates: &[u32]) -> (u32, u32, Vec<i32>) {
    assert_eq!(coordinates.len(), texel.coordinates());
    let at = coordinates.iter().map(|&word| word as i32).collect();
    (texel.image.set, texel.image.binding, at)
}

impl Environment for World {
    fn push(&mut self, offset: u32) -> u32 {
        self.push[offset as usize / 4]
    }

    fn load(&mut self, buffer: Descriptor, offset: u32) -> u32 {
        assert_eq!((buffer.element, offset % 4), (0, 0));
        let words = &self.buffers[&(buffer.set, buffer.binding)];
        words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn store(&mut self, buffer: Descriptor, offset: u32, word: u32) {
        assert_eq!((buffer.element, offset % 4), (0, 0));
        let words = self.buffers.get_mut(&(buffer.set, buffer.binding)).expect("the buffer is bound");
        if let Some(place) = words.get_mut(offset as usize / 4) {
            *place = word;
        }
    }

    fn image_read(&mut self, texel: Texel, coordinates: &[u32]) -> [u32; 4] {
        self.texels.get(&key(texel, coordinates)).copied().unwrap_or_default()
    }

    fn image_write(&mut self, texel: Texel, coordinates: &[u32], words: [u32; 4]) {
        self.texels.insert(key(texel, coordinates), words);
    }

    fn sample(&mut self, request: &SampleRequest) -> [Lanes; 4] {
        assert_eq!(request.rest.len(), request.sample.lod_arguments());
        let arguments = || request.coordinates.iter().chain(&request.rest);
        let sum = |lane: usize| arguments().map(|words| f32::from_bits(words[lane])).sum::<f32>();
        [1.0, 2.0, 3.0, 4.0].map(|factor: f32| std::array::from_fn(|lane| (sum(lane) * factor).to_bits()))
    }

    fn fetch(&mut self, _: Fetch, arguments: &[Lanes], _: u16) -> [Lanes; 4] {
        let texel = |component: u32| {
            std::array::from_fn(|lane| ((arguments[0][lane] * 10 + component) as f32).to_bits())
        };
        [0, 1, 2, 3].map(texel)
    }

    fn machine(&mut self, op: Op, _: &[Lanes], _: u16) -> Option<Lanes> {
        match op {
            Op::BufferElements { buffer, offset, stride } => {
                let bytes = 4 * self.buffers[&(buffer.set, buffer.binding)].len() as u32;
                Some([(bytes - offset) / stride; 16])
            }
            Op::ImageSize { image, axis, .. } => Some([100 * image.binding + u32::from(axis); 16]),
            _ => None,
        }
    }
}

/// Runs a file as translated and as optimised, and its form that spirv-opt made, if there is one. What each leaves behind.
fn outcomes(
    name: &str,
    specialization: &[(u32, u32)],
    groups: [u32; 3],
    world: &World,
) -> Vec<(String, World, Shader)> {
    let mut all = Vec::new();
    for name in [name.to_string(), format!("{name}.opt")] {
        let path = format!("{}/tests/spirv/{name}.spv", env!("CARGO_MANIFEST_DIR"));
        if !std::path::Path::new(&path).exists() {
            continue;
        }
        let words = words(&name);
        let source = StageSource { words: &words, entry: "main", specialization };
        let translated = translate(&source, Stage::Compute).unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Err(error) = verify(&translated) {
            panic!("{name}: {error}\n{translated}");
        }
        for (what, shader) in
            [("translated", translated), ("optimised", compute_stage(&source, &Conversions::new()).unwrap())]
        {
            let mut world = world.clone();
            run_dispatch(&shader, &mut world, groups).unwrap_or_else(|error| panic!("{name}: {error}"));
            all.push((format!("{name}, {what}"), world, shader));
        }
    }
    all
}

fn count(shader: &Shader, wanted: impl Fn(Op) -> bool) -> usize {
    shader.insts_in_order().into_iter().filter(|&inst| wanted(shader.insts[inst].op)).count()
}

#[test]
fn matrix_product() {
    const SIZE: usize = 32;
    let a: Vec<f32> = (0..SIZE * SIZE).map(|n| (n % 23) as f32 * 0.37 - 2.0).collect();
    let b: Vec<f32> = (0..SIZE * SIZE).map(|n| (n % 19) as f32 * 0.11 + 1.0).collect();
    let mut world = World { push: vec![SIZE as u32], ..World::default() };
    *world.words(0) = a.iter().map(|x| x.to_bits()).collect();
    *world.words(1) = b.iter().map(|x| x.to_bits()).collect();
    *world.words(2) = vec![0; SIZE * SIZE];
    for (what, after, shader) in outcomes("matrix.comp", &[], [2, 2, 1], &world) {
        assert_eq!(shader.workgroup.size, [16, 16, 1]);
        assert_eq!(shader.workgroup.shared_bytes, 2 * 16 * 17 * 4);
        for (at, &got) in after.floats(2).iter().enumerate() {
            let (y, x) = (at / SIZE, at % SIZE);
            // In the order of the source, and rounded as there: equal to the bit.
            let want = (0..SIZE).fold(0.0f32, |sum, k| sum + a[y * SIZE + k] * b[k * SIZE + x]);
            assert_eq!(got.to_bits(), want.to_bits(), "{what}, row {y}, column {x}: {got} instead of {want}");
        }
    }
}

#[test]
fn prefix_sum_with_barriers() {
    for width in [1u32, 3, 8, 32, 500] {
        let size = 2 * width as usize;
        let groups = 3;
        let numbers: Vec<i32> = (0..size * groups).map(|n| (n as i32 * 7) % 13 - 6).collect();
        let mut world = World::default();
        *world.words(0) = numbers.iter().map(|&number| number as u32).collect();
        *world.words(1) = vec![0; 4 * size * groups];
        for (what, after, shader) in outcomes("scan.comp", &[(3, width)], [groups as u32, 1, 1], &world) {
            assert_eq!(shader.workgroup.size, [width, 2, 1], "{what}");
            let sums = numbers.chunks(size).flat_map(|group| {
                group.iter().scan(0, |sum, number| {
                    *sum += number;
                    Some(if *sum & 1 != 0 { *sum } else { -*sum })
                })
            });
            assert_eq!(after.ints(0), sums.collect::<Vec<i32>>(), "{what}, {width}");
            for (at, place) in after.ints(1).chunks(4).enumerate() {
                let (group, local) = (at / size, at % size);
                let (x, y) = (local % width as usize, local / width as usize);
                let want = [group * width as usize + x, y, groups, y].map(|number| number as i32);
                assert_eq!(place, want, "{what}, {width}, invocation {at}");
            }
        }
    }
}

#[test]
fn atomics() {
    let numbers: Vec<u32> = (0..80u32).map(|n| n * 37 % 91 + 3).collect();
    let mut world = World::default();
    *world.words(0) = numbers.clone();
    *world.words(1) = vec![0; 20];
    world.words(1)[10] = u32::MAX;
    world.words(1)[12] = u32::MAX;
    world.texels.insert((1, 1, vec![5]), [1000, 0, 0, 1]);
    for (what, after, _) in outcomes("atomics.comp", &[], [2, 1, 1], &world) {
        let mut want = vec![0u32; 20];
        let signed = |number: u32| number as i32 - 100;
        for &number in &numbers {
            want[number as usize % 8] += 1;
        }
        want[8] = numbers.iter().map(|&number| signed(number)).min().unwrap().min(0) as u32;
        // The larger of each group's, which is at least -5, and of what was there.
        want[9] = numbers.iter().map(|&number| signed(number)).max().unwrap().max(-5).max(0) as u32;
        want[10] = *numbers.iter().min().unwrap();
        want[11] = *numbers.iter().max().unwrap();
        want[12] = numbers.iter().fold(!0, |all, number| all & (number | 64));
        want[13] = numbers.iter().fold(0, |all, number| all | number & 6);
        want[14] = numbers.iter().fold(0, |all, number| all ^ number);
        want[15] = numbers[79];
        want[16] = numbers[0];
        want[17] = 80u32.wrapping_neg();
        want[18] = 0;
        // The second group finds what the first exchanged, except where all of them sought a minimum.
        let least =
            |group: usize| numbers[40 * group..][..40].iter().map(|&number| signed(number)).min().unwrap();
        let exchanged: i32 = (0..40).filter(|&n| n != 3).map(|n| n * 2).sum();
        want[19] = (1000 + exchanged + least(0).min(0) + least(1).min(6)) as u32;
        assert_eq!(after.buffers[&(0, 1)], want, "{what}");
        for column in 0..4 {
            let sum: u32 = (0..80).filter(|n| n % 40 % 4 == column).map(|n| numbers[n]).sum();
            assert_eq!(after.texel(1, 0, &[column as i32, 1])[0], sum, "{what}");
        }
        assert_eq!(after.texel(1, 0, &[0, 0])[0], *numbers.iter().max().unwrap(), "{what}");
        assert_eq!(after.texel(1, 1, &[5])[0], 10, "{what}");
        assert_eq!(after.texel(1, 1, &[50])[0], 7, "{what}");
    }
}

mod arrays {
    //! `arrays.comp` in Rust.

    pub const START: [i32; 20] = [5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];

    pub fn visited(seed: i32) -> i32 {
        let mut stack = vec![seed % 7 + 3];
        let mut visited = 0;
        while let Some(node) = stack.pop() {
            visited += node;
            if node > 1 {
                stack.extend([node / 2, node - 2]);
            }
        }
        visited
    }

    pub fn local(seed: i32) -> [i32; 20] {
        std::array::from_fn(|i| (START[i] * seed + i as i32) % 31)
    }
}

#[test]
fn arrays_and_structures() {
    let seeds: Vec<i32> = (0..8).map(|n| n * 5 + 2).collect();
    let mut world = World::default();
    *world.words(0) = seeds.iter().map(|&seed| seed as u32).collect();
    *world.words(1) = vec![0; 8 * 8];
    // Rows of 16 bytes three times, columns of 8 bytes three times up to byte 80, items of 32 bytes.
    let rows: Vec<f32> = (0..12).map(|n| n as f32 * 0.5 + 1.0).collect();
    let columns: Vec<f32> = (0..6).map(|n| n as f32 + 50.0).collect();
    let buffer = world.words(2);
    buffer.extend(rows.iter().chain(&columns).map(|x| x.to_bits()));
    buffer.resize(20 + 16 * 8, 0);
    for (what, after, shader) in outcomes("arrays.comp", &[], [1, 1, 1], &world) {
        assert!(shader.workgroup.scratch_bytes >= 4 * (64 + 20), "{what}");
        let (results, stored) = (after.ints(1), after.floats(2));
        let items = after.ints(2);
        for n in 0..8usize {
            let seed = seeds[n];
            let mut local = arrays::local(seed);
            let tripled = (local[n + 2] + 1) * 3;
            local[..12 + n].sort_unstable();
            let mut place = [n, n * 2, n * 3].map(|x| x as i32);
            place[n % 3] = 100;
            let want = [
                arrays::visited(seed),
                local[n],
                local[11 + n],
                ((seed as usize + n) % 40).pow(2) as i32,
                tripled,
                place.iter().sum(),
                8,
                16 + if (n + 3) % 8 % 3 == 0 { 1000 } else { 0 },
            ];
            assert_eq!(results[8 * n..8 * n + 8], want, "{what}, invocation {n}");
            let next = (n + 1) % 8;
            let other = [next, next * 2, next * 3].map(|x| x as f32);
            let item = &stored[20 + 8 * n..20 + 8 * n + 8];
            for column in 0..3 {
                // v * M: the products with each column; its elements stand in the rows.
                let want: f32 = (0..3).map(|row| other[row] * rows[4 * row + column]).sum();
                assert_eq!(item[column], want, "{what}, invocation {n}");
            }
            let kind = if next % 3 == 0 { seeds[next] } else { -1 };
            assert_eq!(items[20 + 8 * n + 3], kind, "{what}, invocation {n}");
            let mut turn = [n as f32, 1.0, 2.0, 3.0];
            turn[2 * (n & 1) + 1] = -(n as f32);
            assert_eq!(item[4..], turn, "{what}, invocation {n}");
            let copy = &stored[20 + 8 * (n + 8)..20 + 8 * (n + 9)];
            turn[2 * (n & 1)] = columns[2 * (n % 3) + (n & 1)];
            assert_eq!(copy[..3], item[..3], "{what}, invocation {n}");
            assert_eq!(copy[4..], turn, "{what}, invocation {n}");
        }
        for (at, (&before, &after)) in rows.iter().zip(&stored).enumerate() {
            let (row, column) = (at / 4, at % 4);
            let changed = column < 3 && row == (column + 1) % 3;
            assert_eq!(
                after,
                before + if changed { 10.0 } else { 0.0 },
                "{what}, row {row}, column {column}"
            );
        }
    }
}

/// What one invocation of `subgroups.comp` finds: `numbers` are those of its subgroup, `all` those of its workgroup.
fn of_subgroup(numbers: &[u32], own: usize, local: usize, all: &[u32], group: usize) -> (Vec<u32>, Vec<f32>) {
    let number = numbers[own];
    let odd = |n: u32| n & 1 != 0;
    let ballot = |holds: &dyn Fn(u32) -> bool| {
        numbers.iter().enumerate().fold(0u32, |bits, (at, &n)| bits | u32::from(holds(n)) << at)
    };
    let all_equal = |key: &dyn Fn(u32) -> u32| numbers.iter().all(|&n| key(n) == key(numbers[0]));
    let before = &numbers[..own];
    let up_to = &numbers[..=own];
    let minus = |n: &u32| (*n as i32).wrapping_neg();
    let bits = number & 15;
    let mask = |below: usize| (1u32 << below) - 1;
    let nan = numbers.iter().any(|&n| f32::from_bits(n).is_nan());
    let reals_equal = !nan && all_equal(&|n| n);
    let next = all[(local + 1) % all.len()];
    let whole = numbers.len() == 4;

    // Those in the same branch.
    let with_me: Vec<usize> = (0..numbers.len()).filter(|&at| odd(numbers[at]) == odd(number)).collect();
    let me_first = u32::from(with_me[0] == own);
    let earlier = with_me.iter().filter(|&&at| at < own).map(|&at| numbers[at]);
    let branch = if odd(number) {
        let present = with_me.iter().map(|&at| 1 << at).sum::<u32>();
        let sum = earlier.fold(number, u32::wrapping_add);
        [me_first + 2 * present, sum, numbers[with_me[0]]]
    } else {
        let thirds = with_me.iter().filter(|&&at| numbers[at] % 3 == 0).map(|&at| 1 << at).sum::<u32>();
        let equal = with_me.iter().all(|&at| numbers[at] % 3 == numbers[with_me[0]] % 3);
        [me_first + 2 * thirds, earlier.max().unwrap_or(0), u32::from(equal)]
    };
    let comes_by = |n: u32, i: u32| i < n % 5 && !(i == 2 && odd(n));
    let company = (0..5)
        .filter(|&i| comes_by(number, i))
        .fold(0, |company, i| 10 * company + numbers.iter().filter(|&&n| comes_by(n, i)).count() as u32);

    let words = vec![
        4,
        local as u32 / 4,
        4,
        own as u32,
        u32::from(own == 0)
            + 2 * u32::from(numbers.iter().all(|&n| odd(n)))
            + 4 * u32::from(numbers.iter().any(|&n| odd(n)))
            + 8 * u32::from(all_equal(&|n| n))
            + 16 * u32::from(reals_equal)
            + 32 * u32::from(all_equal(&|n| n & 1))
            + 64,
        numbers[1] + numbers[0] + 1,
        ballot(&odd),
        (number >> own & 1) + 2 * (number >> 2 & 1),
        bits.count_ones() + 8 * (bits & mask(own + 1)).count_ones() + 64 * (bits & mask(own)).count_ones(),
        (bits | 8).trailing_zeros() + 4 * (bits | 1).ilog2(),
        1 << own
            | (15 & !mask(own)) << 4
            | (15 & !mask(own + 1)) << 8
            | mask(own + 1) << 12
            | mask(own) << 16,
        numbers[own ^ 1],
        numbers[own ^ 1],
        if own > 0 { numbers[own - 1] } else { 0 },
        numbers.get(own + 1).copied().unwrap_or(0),
        numbers.iter().fold(0, |sum, &n| sum.wrapping_add(n)),
        up_to.iter().fold(1, |product: u32, &n| product.wrapping_mul(n)),
        numbers[own].max(numbers[own ^ 1]),
        numbers.iter().map(minus).min().unwrap() as u32,
        before.iter().fold(0, |sum, &n| sum.wrapping_add(n)),
        before.iter().fold(1, |product: u32, &n| product.wrapping_mul(n)),
        before.iter().map(minus).min().unwrap_or(i32::MAX) as u32,
        before.iter().copied().min().unwrap_or(u32::MAX),
        before.iter().map(minus).max().unwrap_or(i32::MIN) as u32,
        before.iter().copied().max().unwrap_or(0),
        before.iter().fold(u32::MAX, |all, &n| all & n),
        before.iter().fold(0, |all, &n| all | n),
        before.iter().fold(0, |all, &n| all ^ n),
        u32::from(before.iter().all(|&n| odd(n)))
            + 2 * u32::from(before.iter().any(|&n| odd(n)))
            + 4 * (before.iter().filter(|&&n| odd(n)).count() as u32 & 1)
            + 8 * (ballot(&odd).count_ones() & 1),
        next + 5 * (next & 1),
        numbers[1],
        numbers[own ^ 1],
        if whole { numbers[own ^ 2] } else { 0 },
        if whole { numbers[own ^ 3] } else { 0 },
        branch[0],
        branch[1],
        branch[2],
        company,
        numbers[group],
        numbers[own ^ 1] & 1,
    ];
    let small = |n: &u32| (n % 100) as f32;
    let most = up_to.iter().map(small).fold(f32::NEG_INFINITY, f32::max);
    let floats = vec![
        numbers.iter().map(small).sum(),
        before.iter().map(small).sum::<f32>() + 0.0,
        before.iter().map(small).product(),
        before.iter().map(small).fold(f32::INFINITY, f32::min),
        before.iter().map(small).fold(f32::NEG_INFINITY, f32::max),
        most + 1000.0,
        -up_to.iter().map(small).fold(f32::INFINITY, f32::min),
    ];
    (words, floats)
}

#[test]
fn subgroups_know_of_each_other() {
    let mut numbers: Vec<u32> = (0..28u32).map(|n| n * 37 % 91 + 3).collect();
    // A subgroup that agrees, one that is odd, and one with a number that is not equal to itself.
    numbers[4..8].fill(44);
    numbers[8..12].copy_from_slice(&[7, 9, 11, 1]);
    numbers[14..18].fill(0x7fc0_0001);
    let mut world = World::default();
    *world.words(0) = numbers.clone();
    *world.words(1) = vec![0; 28 * 40];
    *world.words(2) = vec![0; 28 * 8];
    for (what, after, _) in outcomes("subgroups.comp", &[], [2, 1, 1], &world) {
        let (words, floats) = (&after.buffers[&(0, 1)], after.floats(2));
        for n in 0..28 {
            let (group, local) = (n / 14, n % 14);
            let all = &numbers[14 * group..][..14];
            let subgroup = all.chunks(4).nth(local / 4).unwrap();
            let (want, want_floats) = of_subgroup(subgroup, local % 4, local, all, group);
            assert_eq!(words[40 * n..][..want.len()], want, "{what}, invocation {n}");
            assert_eq!(floats[8 * n..][..want_floats.len()], want_floats, "{what}, invocation {n}");
        }
    }
}

#[test]
fn long_tables() {
    let table: Vec<u32> = (0..1000u32).map(|n| (n * 7919 + 13) % 10007).collect();
    let numbers: Vec<u32> = (0..32).map(|n| n * 11 + 5).collect();
    let mut world = World::default();
    *world.words(0) = numbers.clone();
    for (what, after, shader) in outcomes("table.comp", &[], [1, 1, 1], &world) {
        for (n, &number) in numbers.iter().enumerate() {
            let terms = (0..number as usize % 50).map(|i| table[(n * 31 + i) % 1000] ^ table[i * n % 1000]);
            assert_eq!(after.buffers[&(0, 0)][n], terms.sum::<u32>(), "{what}, invocation {n}");
        }
        // One copy serves both functions.
        assert_eq!(shader.workgroup.scratch_bytes, 4000, "{what}");
        let stores = count(&shader, |op| matches!(op, Op::Store { memory: Memory::Scratch, .. }));
        assert_eq!(stores, 1000, "{what}");
    }
}

mod control {
    //! `control.comp` in Rust.

    pub fn collatz(mut n: u32) -> i32 {
        let mut steps = 0;
        while n != 1 {
            n = if n & 1 != 0 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    }

    pub fn find(n: i32, entries: &mut [i32]) -> i32 {
        for i in 0.. {
            if i * i > 3 * n {
                return i;
            }
            if i == 5 && n > 8 {
                entries[40 + n as usize] = n;
                return -i;
            }
            if let Some(j) = (0..i).find(|j| i * j == n) {
                return 100 * i + j;
            }
        }
        unreachable!()
    }

    pub fn choose(a: i32, b: i32, entries: &mut [i32]) -> i32 {
        match (a, b) {
            (0, 1) => 101 + b,
            (0, 2) => 12,
            (0, _) => 10,
            (1 | 2, 0) => 5,
            (1..=3, _) => {
                let x = if a == 3 { 0 } else { 5 };
                entries[(60 + a * 4 + b) as usize] = x;
                x + 1000 + b
            }
            _ => -1,
        }
    }
}

#[test]
fn control_flow_with_stores() {
    let mut world = World::default();
    *world.words(0) = vec![0; 80];
    *world.words(1) = vec![0; 100];
    for (what, after, _) in outcomes("control.comp", &[], [1, 1, 1], &world) {
        let mut log = [0; 99];
        let mut taken = Vec::new();
        for n in 0..20 {
            let mut want = [
                control::collatz(n as u32 + 1),
                control::find(n, &mut log),
                control::choose(n / 4, n % 4, &mut log),
                0,
            ];
            if n % 5 != 3 {
                if n % 2 == 0 {
                    taken.push(n);
                } else {
                    want[3] = 7;
                }
                want[3] += n;
            }
            assert_eq!(after.ints(0)[4 * n as usize..][..4], want, "{what}, invocation {n}");
        }
        let got = after.ints(1);
        assert_eq!(got[0], taken.len() as i32, "{what}");
        let mut slots = got[1..1 + taken.len()].to_vec();
        slots.sort_unstable();
        assert_eq!(slots, taken, "{what}");
        assert_eq!(got[1 + 40..], log[40..], "{what}");
    }
}

/// Programs that a generator made, with what it computed for them: a line of what the buffer holds before, one of after.
#[test]
fn generated_programs() {
    for number in 1..=4 {
        let path = format!("{}/tests/spirv/random_{number}.comp.expected", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let lines =
            text.lines().map(|line| line.split(' ').map(|word| word.parse::<i32>().unwrap()).collect());
        let [before, after]: [Vec<i32>; 2] = lines.collect::<Vec<_>>().try_into().unwrap();
        let mut world = World::default();
        *world.words(0) = before.iter().map(|&word| word as u32).collect();
        for (what, world, _) in outcomes(&format!("random_{number}.comp"), &[], [1, 1, 1], &world) {
            assert_eq!(world.ints(0), after, "{what}");
        }
    }
}

#[test]
fn assembly() {
    let mut world = World::default();
    *world.words(0) = vec![0; 34 + 2 * 8];
    for (what, after, _) in outcomes("assembly.comp", &[], [1, 1, 1], &world) {
        let words = &after.buffers[&(0, 0)];
        assert_eq!(words[..2], [0, 8], "{what}");
        let mut taken = Vec::new();
        for n in 0..8usize {
            // What was exchanged an odd number of times.
            let a = if n % 2 == 0 { 1 } else { n as u32 };
            let value = match n {
                1 => 3,
                2 | 7 => 7,
                _ => 8,
            };
            assert_eq!(words[34 + 2 * n..][..2], [a, value], "{what}, invocation {n}");
            taken.push(words[2 + 4 * n] - a);
        }
        taken.sort_unstable();
        assert_eq!(taken, [1, 2, 3, 4, 5, 6, 7, 8], "{what}");
    }
}

#[test]
fn images() {
    let mut world = World::default();
    let float = |x: f32| x.to_bits();
    for (x, y) in (0..2).flat_map(|y| (0..4).map(move |x| (x, y))) {
        let n = (x + 4 * y) as f32;
        world.texels.insert((0, 0, vec![x, y]), [n, n + 0.25, n + 0.5, n + 0.75].map(float));
        world.texels.insert((0, 2, vec![x, y, 1]), [float(10.0 * n), 0, 0, 0]);
        world.texels.insert((0, 3, vec![x, y, 4]), [n as u32, 1, 2, 3]);
    }
    for (what, after, _) in outcomes("images.comp", &[], [1, 1, 1], &world) {
        for (x, y) in (0..2).flat_map(|y| (0..4).map(move |x| (x, y))) {
            let n = (x + 4 * y) as f32;
            let reversed = [n + 0.75, n + 0.5, n + 0.25, n].map(float);
            assert_eq!(after.texel(0, 1, &[x, y]), reversed, "{what}");
            assert_eq!(after.texel(0, 2, &[x, y, 2])[0], float(n + 10.0 * n), "{what}");
            let cube = [(n as i32 + x) as u32, 1 + y as u32, 2, 4];
            assert_eq!(after.texel(0, 3, &[x, y, 5]), cube, "{what}");
            assert_eq!(after.texel(0, 4, &[x + 4 * y])[..2], [100, 101], "{what}");
            let (x, y) = (x as f32, y as f32);
            let sampled: [u32; 4] = std::array::from_fn(|component| {
                let factor = component as f32 + 1.0;
                let lod = (x + y + 1.5) * factor;
                float(lod + (x * 10.0 + component as f32) + (x + y + 6.0) * factor)
            });
            assert_eq!(after.texel(0, 5, &[x as i32, y as i32, 3]), sampled, "{what}");
        }
    }
}

#[test]
fn packing_and_arithmetic_are_ieee() {
    let special = [0.0, -0.0, 1.0, -1.5, 6.0e-8, -5.0e-6, 65504.0, 65520.0, 1.0e9, f32::NAN, f32::INFINITY];
    let value = |n: usize| special[n % special.len()];
    let vectors: Vec<[f32; 4]> = (0..16)
        .map(|n| {
            let halves = f32::from_bits((n as u32 * 0x0123_4567) ^ 0x7c01_0200 >> (n % 5));
            [value(n), value(n + n / 3), halves, f32::from_bits(n as u32 * 0x0f0f_0f0f + 3)]
        })
        .collect();
    let mut world = World::default();
    *world.words(0) = vectors.iter().flatten().map(|x| x.to_bits()).collect();
    *world.words(1) = vec![0; 16 * 8];
    let half = |x: f32| u32::from(half::f16::from_f32(x).to_bits());
    let same = |got: u32, want: f32| f32::from_bits(got).is_nan() && want.is_nan() || got == want.to_bits();
    for (what, after, _) in outcomes("pack.comp", &[], [1, 1, 1], &world) {
        for (n, &[x, y, z, w]) in vectors.iter().enumerate() {
            let got = &after.buffers[&(0, 1)][8 * n..8 * n + 8];
            if !x.is_nan() && !y.is_nan() {
                assert_eq!(got[0], half(x) | half(y) << 16, "{what}: {x} and {y}");
            }
            for (at, bits) in [z.to_bits() as u16, (z.to_bits() >> 16) as u16].into_iter().enumerate() {
                let want = half::f16::from_bits(bits).to_f32();
                assert!(same(got[2 + at], want), "{what}: half {bits:#x}: {:#x}", got[2 + at]);
            }
            assert!(same(got[4], (w.to_bits() >> 16 & 0xff) as f32 / 255.0), "{what}: {w}");
            // All but != are false of NaNs; the last is the opposite of one.
            let ordered = !x.is_nan() && !y.is_nan();
            let compared = [x != y, x == y, x < y, !ordered || x < y];
            let bits = (0..4).fold(0, |bits, at| bits | u32::from(compared[at]) << at);
            assert_eq!(got[5], bits, "{what}: {x} and {y}");
            if !x.is_nan() && !y.is_nan() && !(x - y).is_nan() {
                let want = (x + 0.0).to_bits() ^ (x * 0.0).to_bits();
                assert!(x.is_infinite() || got[6] == want, "{what}: {x}: {:#x} instead of {want:#x}", got[6]);
                let (quotient, difference) = ((y / 3.0).to_bits(), (-(x - y)).to_bits());
                let want = quotient.wrapping_add(difference).wrapping_add(x.abs().max(y.abs()).to_bits());
                assert_eq!(got[7], want, "{what}: {x} and {y}");
            }
        }
    }
}

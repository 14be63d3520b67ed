//! Times of kernels' compilation and dispatches: `cargo bench -p vc4-shaders-cpu [NAME]`; with a name, its code as well.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use vc4_shaders::compile::compute_stage;
use vc4_shaders::ir::Op;
use vc4_shaders::spirv::StageSource;
use vc4_shaders::state::Conversions;
use vc4_shaders_cpu::{Dispatch, Engine, Images, Kernel, Range, WIDTH, Words};

/// A kernel, the words of its buffers by binding, its workgroups, and what the rate counts: operations by dispatch, in
/// millions, and their name.
struct Row {
    name: &'static str,
    spirv: &'static [u8],
    buffers: &'static [usize],
    groups: [u32; 3],
    millions: f64,
    unit: &'static str,
}

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/shaders/kernels/",
            $name,
            ".comp.spv"
        ))
    };
}

const ROWS: [Row; 7] = [
    Row {
        name: "product",
        spirv: spirv!("product"),
        buffers: &[512 * 512; 3],
        groups: [32, 32, 1],
        millions: 2.0 * 512.0 * 512.0 * 512.0 / 1e6,
        unit: "GFLOP/s",
    },
    Row {
        name: "blur",
        spirv: spirv!("blur"),
        buffers: &[],
        groups: [64, 64, 1],
        millions: 1.048576,
        unit: "Gtexel/s",
    },
    Row {
        name: "mandelbrot",
        spirv: spirv!("mandelbrot"),
        buffers: &[],
        groups: [64, 64, 1],
        millions: 1.048576,
        unit: "Gtexel/s",
    },
    Row {
        name: "sum",
        spirv: spirv!("sum"),
        buffers: &[16 << 20, 1024],
        groups: [1024, 1, 1],
        millions: 64.0,
        unit: "GB/s",
    },
    Row {
        name: "prefix",
        spirv: spirv!("prefix"),
        buffers: &[1 << 20, 1 << 20],
        groups: [4096, 1, 1],
        millions: 1.048576,
        unit: "Gword/s",
    },
    Row {
        name: "bodies",
        spirv: spirv!("bodies"),
        buffers: &[4 << 16, 4 << 16],
        groups: [256, 1, 1],
        millions: 16.777216,
        unit: "Gpair/s",
    },
    Row {
        name: "histogram",
        spirv: spirv!("histogram"),
        buffers: &[4 << 20, 256],
        groups: [256, 1, 1],
        millions: 16.777216,
        unit: "Gbyte/s",
    },
];

/// RGBA8 images of 1024 x 1024 texels whose reads cost next to nothing.
struct Flat {
    ops: Vec<Op>,
}

impl Images for Flat {
    fn access(&self, index: usize, arguments: &[Words], _: u8, results: &mut [Words]) {
        match self.ops[index] {
            Op::ImageSize { .. } => results[0] = [1024; WIDTH],
            Op::ImageRead(_) => {
                for (at, result) in results.iter_mut().enumerate() {
                    *result = arguments[at & 1].map(|place| (place as f32 / 1024.0).to_bits());
                }
            }
            _ => {}
        }
    }
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!("{:12} {:8} {:>9} {:>9} {:>9} {:>6}", "", "", "to IR ms", "code ms", "run ms", "bytes");
    for row in &ROWS {
        if wanted.as_ref().is_none_or(|name| name == row.name) {
            for &engine in Engine::ALL {
                run(row, engine, wanted.is_some());
            }
        }
    }
}

fn run(row: &Row, engine: Engine, listed: bool) {
    let words: Vec<u32> =
        row.spirv.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let begin = Instant::now();
    let source = StageSource { words: &words, entry: "main", specialization: &[] };
    let shader = compute_stage(&source, &Conversions::new()).expect("a kernel of this project compiles");
    let translated = begin.elapsed();
    let begin = Instant::now();
    let kernel = Kernel::compile_for(&shader, engine).expect("a kernel of this project has code");
    let compiled = begin.elapsed();
    if listed && engine == Engine::Native {
        let listed = Kernel::compile_listed(&shader).expect("it had code");
        println!("{shader}\n{}", listed.listing().unwrap_or_default());
    }
    let mut buffers: HashMap<u32, Vec<f32>> = HashMap::new();
    for (binding, &words) in row.buffers.iter().enumerate() {
        buffers.insert(binding as u32, (0..words).map(|at| (at % 1021) as f32 / 1021.0).collect());
    }
    let ranges: Vec<Range> = kernel
        .buffers()
        .iter()
        .map(|descriptor| {
            let words = buffers.get_mut(&descriptor.binding).expect("a buffer of the row");
            Range { address: words.as_mut_ptr().cast(), bytes: 4 * words.len() as u32 }
        })
        .collect();
    let images = Flat { ops: kernel.images().to_vec() };
    let dispatch = Dispatch {
        base: [0; 3],
        groups: row.groups,
        count: row.groups,
        push: &[],
        buffers: &ranges,
        images: &images,
        deadline: Some(Instant::now() + Duration::from_secs(600)),
    };
    let mut shortest = f64::INFINITY;
    for _ in 0..7 {
        let begin = Instant::now();
        // SAFETY: the ranges are those of vectors that live on.
        unsafe { kernel.run(&dispatch) }.expect("the kernel ends");
        shortest = shortest.min(begin.elapsed().as_secs_f64());
    }
    println!(
        "{:12} {:8} {:9.2} {:9.2} {:9.2} {:6}   {:.3} {}",
        row.name,
        engine.name(),
        translated.as_secs_f64() * 1e3,
        compiled.as_secs_f64() * 1e3,
        shortest * 1e3,
        kernel.code_bytes(),
        row.millions / 1e3 / shortest,
        row.unit
    );
}

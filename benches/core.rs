//! How fast text becomes words, words become values and back, and packets become bytes. Wall time on one core.
//!
//! `cargo bench -p vc4`, with a filter for row names as argument.

use std::hint::black_box;
use std::time::{Duration, Instant};
use vc4::cl::packets::*;
use vc4::cl::{Addr, Binner, Count, List, Reader, Renderer};
use vc4::image::Level;
use vc4::qpu::{Access, Inst, Stage, assemble, check_program, disassemble};

/// Time that each row is measured for, after a fifth of it as warm-up.
const MEASURED: Duration = Duration::from_millis(500);

/// Runs `work`, which does `amount` units, and prints units per second.
fn measure(name: &str, unit: &str, amount: usize, mut work: impl FnMut()) {
    let filter = std::env::args().nth(1).filter(|arg| !arg.starts_with('-'));
    if filter.is_some_and(|filter| !name.contains(&filter)) {
        return;
    }
    let warm_up = Instant::now();
    while warm_up.elapsed() < MEASURED / 5 {
        work();
    }
    // The fastest of many runs: other programs only ever add time.
    let (start, mut best) = (Instant::now(), Duration::MAX);
    while start.elapsed() < MEASURED {
        let run = Instant::now();
        work();
        best = best.min(run.elapsed());
    }
    let rate = amount as f64 / best.as_secs_f64();
    println!("{name:<34} {:>10.1} M {unit}/s", rate / 1e6);
}

/// The texts and words of the independent vectors.
fn vectors() -> (String, Vec<u64>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/qpu-vectors.tsv");
    let file = std::fs::read_to_string(path).expect("the vectors stand beside the crate");
    let rows = file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    let text: String = rows.map(|(_, text)| format!("{text}\n")).collect();
    let words = assemble(&text).expect("vectors assemble").words;
    (text, words)
}

/// A program as a developer writes it.
const SHADER: &str = "sig_none ; r0 = fadd.always(a, b, ra1, rb2) ; r1 = fmul.always(r2, r3) ;\n";

/// The state and primitives of one draw, as the driver writes them.
fn draw(list: &mut List<Binner>, n: u32) {
    list.push(ClipWindow { left: 0, bottom: 0, width: 1920, height: 1080 })
        .push(ConfigurationBits { depth_write: true, ..Default::default() })
        .push(DepthOffset::default())
        .push(PointSize { size: 1.0 })
        .push(LineWidth { width: 1.0 })
        .push(ClipperXyScaling { x: 960.0 * 16.0, y: -540.0 * 16.0 })
        .push(ClipperZScaleAndOffset { scale: 1.0, offset: 0.0 })
        .push(ViewportOffset::default())
        .push(FlatShadeFlags { flags: 0 })
        .push(GlShaderState {
            attribute_arrays: Count::new(2).expect("two"),
            extended: false,
            address: Addr::new(n << 4).unwrap_or(Addr::ZERO),
        })
        .push(VertexArrayPrimitives { mode: PrimitiveMode::Triangles, count: 36, first: n });
}

/// The packets of one tile.
fn tile(list: &mut List<Renderer>, n: u32) {
    list.push(TileCoordinates { column: n as u8, row: (n >> 8) as u8 })
        .push(BranchToSubList { address: Addr::new(n * 32).unwrap_or(Addr::ZERO) })
        .push(StoreMsTileBuffer {});
}

fn lists() {
    const DRAWS: u32 = 4096;
    let mut bin = List::<Binner>::new();
    let mut write = move || {
        bin.clear();
        (0..DRAWS).for_each(|n| draw(&mut bin, n));
        bin.len()
    };
    let bytes = write();
    measure("write bin list", "bytes", bytes, || {
        black_box(write());
    });
    let mut render = List::<Renderer>::new();
    let mut write = move || {
        render.clear();
        (0..DRAWS).for_each(|n| tile(&mut render, n));
        render.len()
    };
    let bytes = write();
    measure("write render list", "bytes", bytes, || {
        black_box(write());
    });
    let mut list = List::<Binner>::new();
    (0..DRAWS).for_each(|n| draw(&mut list, n));
    measure("read bin list", "bytes", list.len(), || {
        let packets = Reader::binner(black_box(list.bytes())).filter(Result::is_ok).count();
        assert_eq!(black_box(packets), DRAWS as usize * 11);
    });
}

/// Copies of a whole level between rows and tiles, beside a loop over its texels.
fn tiling() {
    const EDGE: u32 = 1024;
    let level = Level::sampled(4, EDGE, EDGE).expect("the edge is even");
    let (texels, stride) = ((EDGE * EDGE) as usize, EDGE as usize * 4);
    let (mut rows, mut tiles) = (vec![1u8; texels * 4], vec![0u8; level.size as usize]);
    measure("tile by runs", "texels", texels, || {
        level.copy_from_linear(&mut tiles, level.rect(), black_box(&rows), stride).expect("it fits");
    });
    measure("tile by texels", "texels", texels, || {
        for (at, texel) in black_box(&rows).chunks_exact(4).enumerate() {
            let to = level.offset_of(at as u32 % EDGE, at as u32 / EDGE) as usize;
            tiles[to..to + 4].copy_from_slice(texel);
        }
    });
    measure("untile by runs", "texels", texels, || {
        level.copy_to_linear(black_box(&tiles), level.rect(), &mut rows, stride).expect("it fits");
    });
    measure("untile by texels", "texels", texels, || {
        for (at, texel) in rows.chunks_exact_mut(4).enumerate() {
            let from = level.offset_of(at as u32 % EDGE, at as u32 / EDGE) as usize;
            texel.copy_from_slice(&black_box(&tiles)[from..from + 4]);
        }
    });
}

fn main() {
    tiling();
    let (text, words) = vectors();
    measure("assemble vectors", "instructions", words.len(), || {
        black_box(assemble(black_box(&text)).expect("vectors assemble"));
    });
    let shader = SHADER.repeat(1000);
    measure("assemble add and mul", "instructions", 1000, || {
        black_box(assemble(black_box(&shader)).expect("it assembles"));
    });
    measure("disassemble vectors", "instructions", words.len(), || {
        black_box(disassemble(black_box(&words)));
    });
    measure("decode", "words", words.len(), || {
        for &word in black_box(&words[..]) {
            let _ = black_box(Inst::decode(word));
        }
    });
    let insts: Vec<Inst> = words.iter().filter_map(|&word| Inst::decode(word).ok()).collect();
    measure("encode", "words", insts.len(), || {
        for inst in black_box(&insts[..]) {
            black_box(inst.encode());
        }
    });
    // The checker looks at nothing behind an end signal.
    let endless: Vec<Inst> = insts.iter().filter(|inst| !Access::of(inst).is_end()).copied().collect();
    measure("check rules", "instructions", endless.len(), || {
        black_box(check_program(Stage::Fragment, black_box(&endless)));
    });
    lists();
}

//! Reading speed: `cargo bench -p shader-containers`.
//!
//! Prints the best of several rounds, in MB of file per second. A Metal library of 100 MB with as many functions as
//! the largest real one seen (17 248) is built first; small real files are read from the samples. Compared with
//! nothing: no reader of these formats was found among the pages of the Python registry, and the ones people use are a
//! Swift package, a Julia package and a fork of LLVM.

use shader_containers::mbs::Mbs;
use shader_containers::metallib::{FunctionSpec, Library, LibraryBuilder, Platform};
use shader_containers::shbin::Shbin;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const FUNCTIONS: usize = 17_248;
const BITCODE: usize = 5_780;

fn library() -> Vec<u8> {
    let mut bitcode = vec![0x5A; BITCODE];
    bitcode[..4].copy_from_slice(b"BC\xC0\xDE");
    let functions = (0..FUNCTIONS).map(|i| {
        let name = format!("kernel_with_a_name_of_some_length_{i}");
        FunctionSpec::new(&name, 2, (2, 6), (3, 1), &bitcode)
    });
    let builder = functions.fold(LibraryBuilder::new(Platform::MacOs, (14, 0, 0)), LibraryBuilder::function);
    builder.build().expect("a plain library")
}

/// The shortest of several rounds.
fn best(mut work: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    let start = Instant::now();
    for round in 0.. {
        let begin = Instant::now();
        work();
        best = best.min(begin.elapsed());
        if round >= 4 && start.elapsed() > Duration::from_secs(1) {
            break;
        }
    }
    best
}

fn report(name: &str, bytes: usize, work: impl FnMut()) {
    let time = best(work);
    let speed = bytes as f64 / 1e6 / time.as_secs_f64();
    println!("{name:<44} {bytes:>10} bytes {:>12.3} ms {speed:>10.0} MB/s", time.as_secs_f64() * 1e3);
}

fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name);
    std::fs::read(path).expect("sample")
}

fn main() {
    let file = library();
    report("metallib: parse, no digests", file.len(), || {
        black_box(Library::parse(&file).expect("good file"));
    });
    let list = |file: &[u8]| {
        let library = Library::parse(file).expect("good file");
        let mut out = std::io::sink();
        for function in &library.functions {
            let module = library.module(function).expect("module");
            let tags = library.public_metadata(function).expect("metadata");
            writeln!(out, "{} {} {}", function.name_text(), module.at, tags.len()).expect("sink");
        }
    };
    report("metallib: parse and list every function", file.len(), || list(&file));
    report("metallib: check with digests", file.len(), || {
        assert!(Library::parse(&file).expect("good file").check().is_empty());
    });
    report("metallib: write", file.len(), || {
        black_box(Library::parse(&file).expect("good file").write());
    });
    let front = sample("metallib/metaljl_kernels.15.metallib");
    report("metallib: parse a small file", front.len(), || {
        black_box(Library::parse(&front).expect("good file"));
    });
    let mbs = sample("mbs/arrays_frag.m400.mbs");
    report("mbs: parse a small file", mbs.len(), || {
        black_box(Mbs::parse(&mbs).expect("good file"));
    });
    report("mbs: parse and check", mbs.len(), || {
        black_box(Mbs::parse(&mbs).expect("good file").check());
    });
    let shbin = sample("shbin/own_allops.shbin");
    report("shbin: parse a small file", shbin.len(), || {
        black_box(Shbin::parse(&shbin).expect("good file"));
    });
}

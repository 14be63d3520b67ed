//! What the blocks of the machine do besides pictures: performance events, early Z, binner memory, and results that do not
//! depend on the number of threads.

mod support;

use std::num::NonZeroUsize;

use proptest::prelude::*;
use support::*;
use vc4::cl::packets::*;
use vc4::cl::{Binner, List};
use vc4_kernel_abi::{Gpu, GpuError};
use vc4_sim::counters::Event;
use vc4_sim::{Config, Simulator, Totals};

const BLACK: u32 = 0xff00_0000;
const RED: u32 = 0xff00_00ff;
const GREEN: u32 = 0xff00_ff00;

fn counting(threads: usize) -> Simulator {
    Simulator::new(Config {
        memory_bytes: 64 << 20,
        threads: NonZeroUsize::new(threads),
        check_programs: true,
        count_caches: true,
        ..Config::default()
    })
}

/// The picture of these draws and what it took.
fn picture(gpu: &Simulator, width: u16, height: u16, draws: &[Draw]) -> (Vec<u32>, Totals) {
    let before = gpu.totals();
    let target = Target::new(gpu, width, height, Tiling::T);
    run(gpu, &target.draw_job(gpu, BLACK, draws)).unwrap();
    assert_eq!(before, Totals::default(), "one job per simulator");
    (target.pixels(gpu).words, gpu.totals())
}

fn triangle(corners: [(f32, f32); 3], z: f32) -> Vec<Vertex> {
    corners.map(|(x, y)| at(x, y, z)).to_vec()
}

fn strip(z: f32, color: u32) -> Draw {
    let corners = [(0.0, 0.0), (64.0, 0.0), (0.0, 64.0), (64.0, 64.0)];
    let vertices = corners.map(|(x, y)| at(x, y, z)).to_vec();
    Draw::color(vertices, color).mode(PrimitiveMode::TriangleStrip)
}

fn early(draw: Draw) -> Draw {
    let config = ConfigurationBits { early_z: true, early_z_update: true, ..draw.config };
    Draw { config, ..draw }
}

#[test]
fn results_and_counters_do_not_depend_on_threads() {
    let mut scene = Vec::new();
    for i in 0..40u32 {
        let f = |n: u32| ((i * 37 + n * 61) % 97) as f32 - 16.0;
        let corners = [(f(0), f(1)), (f(2), f(3)), (f(4), f(5))];
        let z = (i * 29 % 40) as f32 / 40.0;
        let vertices: Vec<Vertex> =
            triangle(corners, z).into_iter().map(|v| v.varyings([z, 0.5, 1.0 - z, 1.0])).collect();
        let draw = if i % 3 == 0 { Draw::color(vertices, RED ^ i) } else { Draw::varying(vertices) };
        scene.push(if i % 2 == 0 { early(draw) } else { draw });
    }
    // Wide targets stretch the scene over several tiles.
    let all: Vec<_> = [1, 2, 4].map(|threads| picture(&counting(threads), 400, 300, &scene)).to_vec();
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
    let count = |event| all[0].1.counters.of(event);
    for event in [
        Event::ValidQuads,
        Event::ClippedQuads,
        Event::PrimitivesReversed,
        Event::QpuFragment,
        Event::QpuVertex,
        Event::InstructionCacheMisses,
        Event::UniformCacheMisses,
        Event::L2Misses,
    ] {
        assert!(count(event) > 0, "{event:?}");
    }
}

#[test]
fn tiles_and_draws_find_what_others_read_in_the_shared_cache() {
    let misses = |width: u16, draws: usize| {
        let gpu = counting(2);
        let corners = [(0.0, 0.0), (2.0 * f32::from(width), 0.0), (0.0, 128.0)];
        let target = Target::new(&gpu, width, 64, Tiling::T);
        let mut job = target.draw_job(&gpu, BLACK, &[Draw::color(triangle(corners, 0.5), RED)]);
        // The same programs, streams and vertices again, in front of what ends the list.
        let mut again = List::<Binner>::new();
        again.push(VertexArrayPrimitives { mode: PrimitiveMode::Triangles, count: 3, first: 0 });
        let mut end = List::<Binner>::new();
        end.push(IncrementSemaphore {}).push(Flush {});
        let at = job.bin_cl.len() - end.into_bytes().len();
        job.bin_cl.splice(at..at, again.into_bytes().repeat(draws - 1));
        run(&gpu, &job).unwrap();
        let totals = gpu.totals();
        [Event::InstructionCacheMisses, Event::UniformCacheMisses, Event::L2Misses]
            .map(|event| totals.counters.of(event))
    };
    let [code, words, all] = misses(64, 1);
    // Each of four tiles has a slice to itself, and so have the vertices of each draw.
    for (more, draws) in [(misses(256, 1), 1), (misses(64, 3), 3)] {
        assert!(more[0] > code && (more[1] > words || draws > 1), "{more:?}; {code}, {words}");
        assert_eq!(more[2], all, "{draws} draws");
    }
}

#[test]
fn events_count_what_happened() {
    let gpu = counting(2);
    let mut lost = triangle([(0.0, 0.0), (8.0, 0.0), (0.0, 8.0)], 0.5);
    lost.iter_mut().for_each(|vertex| vertex.clip[0] += 100.0);
    let mut cut = triangle([(0.0, 0.0), (8.0, 0.0), (0.0, 8.0)], 0.75);
    cut[1].clip[2] = 3.0;
    let behind = strip(0.5, RED);
    let back = Draw::color(triangle([(0.0, 0.0), (0.0, 64.0), (64.0, 0.0)], 0.9), RED);
    let draws = [strip(0.25, GREEN), behind, back, Draw::color(lost, RED), Draw::color(cut, RED)];
    let (_, totals) = picture(&gpu, 64, 64, &draws);
    let count = |event| totals.counters.of(event);
    assert_eq!(count(Event::PrimitivesOutside), 1);
    assert_eq!(count(Event::PrimitivesClipped), 1);
    assert_eq!(count(Event::PrimitivesReversed), 1);
    // Two triangles of 1024 quads and a diagonal of 32 in both, twice; half of them once; the cut one.
    let valid = count(Event::ValidQuads);
    let whole = 2 * (1024 + 32);
    assert!((whole + 528..whole + 528 + 11).contains(&valid), "{valid}");
    assert_eq!(count(Event::QuadsNonZeroCoverage), valid);
    assert_eq!(count(Event::QuadsPassingZAndStencil), 1024 + 32);
    assert_eq!(count(Event::QuadsFailingZAndStencil), valid - 1056);
    assert_eq!(count(Event::QuadsFailingStencil), 0);
    assert_eq!(count(Event::QuadsWrittenToColor), 1056);
    assert_eq!(count(Event::ClippedQuads), 0);
    assert!(count(Event::ValidPrimitives) >= 6);
    assert_eq!(count(Event::QpuInstructions), 4 * totals.instructions);
    assert_eq!(count(Event::InstructionCacheHits), totals.instructions);
}

#[test]
fn stencil_failures_are_counted() {
    let gpu = counting(1);
    // Never passes.
    let setup = 3 << 30 | 3 << 28 | 1 << 25 | 1 << 22 | 1 << 19 | 0xff;
    let draw = Draw { fragment: stencil_and_color(), uniforms: vec![setup, RED], ..strip(0.5, RED) };
    let (pixels, totals) = picture(&gpu, 64, 64, &[draw]);
    assert!(pixels.iter().all(|&pixel| pixel == BLACK));
    let count = |event| totals.counters.of(event);
    assert_eq!(count(Event::QuadsFailingStencil), 1056);
    assert_eq!(count(Event::QuadsFailingZAndStencil), 1056);
    assert_eq!(count(Event::QuadsWrittenToColor), 0);
}

#[test]
fn early_z_drops_hidden_quads() {
    let gpu = counting(1);
    let (pixels, totals) = picture(&gpu, 64, 64, &[early(strip(0.25, GREEN)), early(strip(0.5, RED))]);
    assert!(pixels.iter().all(|&pixel| pixel == GREEN));
    // The quads on the diagonal are behind their first half's depth already, and behind the cleared one's.
    assert_eq!(totals.counters.of(Event::ClippedQuads), 1056);
    assert_eq!(totals.counters.of(Event::ValidQuads), 1056);
}

fn scene() -> impl Strategy<Value = Vec<(Draw, bool)>> {
    let corner = || (-10.0f32..74.0, -10.0f32..74.0);
    let function = prop::sample::select(CompareFunc::ALL);
    let draw = (corner(), corner(), corner(), 0.0f32..1.0, function, any::<bool>(), any::<bool>());
    let draw = draw.prop_map(|(a, b, c, z, depth_func, depth_write, early)| {
        let color = z.to_bits() | 0xff00_0000;
        let base = Draw::color(triangle([a, b, c], z), color);
        (Draw { config: ConfigurationBits { depth_func, depth_write, ..base.config }, ..base }, early)
    });
    proptest::collection::vec(draw, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Early Z is never seen, whatever else changes depth in between.
    #[test]
    fn early_z_does_not_change_pictures(scene in scene()) {
        let plain: Vec<Draw> = scene.iter().map(|(draw, _)| draw.clone()).collect();
        let tested: Vec<Draw> = scene.into_iter().map(|(draw, on)| if on { early(draw) } else { draw }).collect();
        prop_assert_eq!(picture(&counting(1), 64, 64, &plain).0, picture(&counting(1), 64, 64, &tested).0);
    }
}

#[test]
fn mistakes_with_early_z_are_found() {
    let found = |draws: &[Draw]| {
        let gpu = counting(1);
        picture(&gpu, 64, 64, draws);
        let findings = gpu.findings();
        findings.iter().map(|f| f.rule.id).filter(|id| id.starts_with("early-z")).collect::<Vec<_>>()
    };
    let with =
        |draw: Draw, depth_func| Draw { config: ConfigurationBits { depth_func, ..draw.config }, ..draw };
    assert_eq!(found(&[early(strip(0.5, RED))]), Vec::<&str>::new());
    assert_eq!(found(&[early(with(strip(0.5, RED), CompareFunc::Greater))]), ["early-z-function"]);
    let stale = with(strip(0.5, RED), CompareFunc::Always);
    assert_eq!(found(&[stale, early(strip(0.25, RED))]), ["early-z-updates"]);
    let setup = 3 << 30 | 3 << 28 | 3 << 25 | 1 << 22 | 1 << 19 | 7 << 16 | 0xff;
    let stencil = Draw { fragment: stencil_and_color(), uniforms: vec![setup, RED], ..strip(0.5, RED) };
    assert_eq!(found(&[early(stencil)]), ["early-z-stencil"]);
}

/// A triangle between two visible ones, so often that its tile's list takes this many bytes. It covers no pixel.
fn long_list(bytes: usize) -> Draw {
    let place = |n: usize| (if n % 2 == 0 { 3.1 } else { 3.2 }, if n % 3 == 0 { 3.1 } else { 3.2 });
    let mut vertices: Vec<Vertex> = (0..3003).map(|n| at(place(n).0, place(n).1, 0.5)).collect();
    for (n, (x, y)) in [(0.0, 0.0), (32.0, 0.0), (0.0, 32.0)].into_iter().enumerate() {
        vertices[n] = at(x, y, 0.5);
        vertices[3000 + n] = at(64.0 - x, 64.0 - y, 0.5);
    }
    let mut indices = vec![0, 1, 2];
    // Far from each other, so that each takes seven bytes.
    for _ in 0..bytes / 14 {
        indices.extend([103u16, 1104, 2108, 1507, 504, 2002]);
    }
    indices.extend([3000, 3001, 3002]);
    Draw::color(vertices, RED).indexed(IndexType::U16, &indices)
}

#[test]
fn lists_that_outgrow_their_memory_overflow() {
    let expected = |x: u32, y: u32| x + y < 31 || (63 - x) + (63 - y) < 32;
    for (bytes, spills) in [(100_000, 0), (600_000, 1), (1_700_000, 3)] {
        let gpu = counting(1);
        let (pixels, totals) = picture(&gpu, 64, 64, &[long_list(bytes)]);
        assert_eq!(totals.spills, spills, "{bytes}");
        for (i, &pixel) in pixels.iter().enumerate() {
            let (x, y) = (i as u32 % 64, i as u32 / 64);
            assert_eq!(pixel, if expected(x, y) { RED } else { BLACK }, "{bytes}: {x},{y}");
        }
    }
}

#[test]
fn without_binner_memory_the_job_hangs_and_the_next_one_runs() {
    let gpu = counting(1);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let hungry = gpu.submit(&target.draw_job(&gpu, BLACK, &[long_list(18 << 20)])).unwrap();
    match gpu.wait_seqno(hungry, None) {
        Err(GpuError::Hang(text)) => assert!(text.contains("binner memory"), "{text}"),
        other => panic!("{other:?}"),
    }
    let next = gpu.submit(&target.draw_job(&gpu, BLACK, &[long_list(1_700_000)])).unwrap();
    // The first hang stays with the device; what counts is that the job was run.
    let _ = gpu.wait_seqno(next, None);
    assert_eq!(target.pixels(&gpu).at(1, 1), RED);
}

//! Jobs through the public device interface: their order, the ways in which they end, what is refused.

mod support;

use std::time::Duration;

use support::*;
use vc4::cl::packets::*;
use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Seqno, Submit};
use vc4_sim::{Config, Simulator};

#[test]
fn jobs_run_in_order_and_keep_closed_bos() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let mut last = Seqno(0);
    for color in 1..=40 {
        let job = target.draw_job(&gpu, BLACK, &[Draw::color(half(0.5), color)]);
        last = gpu.submit(&job).unwrap();
        assert_eq!(last.0, u64::from(color));
        for &bo in &job.bos[2..] {
            gpu.close_bo(bo);
            assert!(gpu.map_bo(bo).is_err());
        }
    }
    assert!(gpu.wait_seqno(last, None).unwrap());
    assert_eq!(target.pixels(&gpu).at(0, 0), 40);
    assert_eq!(gpu.totals().jobs, 40);
}

#[test]
fn a_program_without_end_hangs_the_job_and_those_behind_it() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let good = run(&gpu, &target.clear_job(1)).unwrap();
    // A backward branch without a later reset takes a slot for the uniforms' address (SHD-20).
    let hanging = Draw { fragment: endless(), uniforms: vec![0], ..Draw::color(half(0.5), 0) };
    let bad = gpu.submit(&target.draw_job(&gpu, BLACK, &[hanging])).unwrap();
    let next = gpu.submit(&target.clear_job(2)).unwrap();
    for seqno in [bad, next] {
        match gpu.wait_seqno(seqno, None) {
            Err(GpuError::Hang(text)) => assert!(text.contains("Fragment shader"), "{text}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(gpu.wait_seqno(good, None).unwrap());
}

#[test]
fn faults_name_stage_place_and_cause() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let nop = "sig_none ; nop = nop() ; nop = nop() ;\n";
    let stuck = format!("{nop}{nop}sig_load_tmu1 ; nop = nop() ; nop = nop() ;\n");
    let end = format!("sig_end ; nop = nop() ; nop = nop() ;\n{nop}{nop}");
    let draw =
        Draw { fragment: assemble(&format!("{stuck}{end}")), uniforms: vec![], ..Draw::color(half(0.5), 0) };
    let job = gpu.submit(&target.draw_job(&gpu, BLACK, &[draw])).unwrap();
    match gpu.wait_seqno(job, None) {
        Err(GpuError::Hang(text)) => {
            assert!(text.contains("Fragment") && text.contains("TMU1 without a request"), "{text}");
            assert!(text.contains(">    2: sig_load_tmu1"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn broken_rules_are_found_and_can_be_errors() {
    // Four varyings are declared, none is read.
    let draw = || Draw { fragment: uniform_color(), uniforms: vec![RED], ..Draw::varying(half(0.5)) };
    for strict in [false, true] {
        let gpu = Simulator::new(Config {
            memory_bytes: 64 << 20,
            check_programs: true,
            findings_are_errors: strict,
            ..Config::default()
        });
        let target = Target::new(&gpu, 64, 64, Tiling::T);
        let job = gpu.submit(&target.draw_job(&gpu, BLACK, &[draw()])).unwrap();
        let result = gpu.wait_seqno(job, None);
        let ids: Vec<_> = gpu.findings().iter().map(|finding| finding.rule.id).collect();
        assert!(ids.contains(&"varyings-left"), "{ids:?}");
        match result {
            Ok(true) => assert!(!strict),
            Err(GpuError::Hang(text)) => assert!(strict && text.contains("varyings-left"), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn dropping_the_device_does_not_wait_for_the_queue() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 2048, 2048, Tiling::T);
    for _ in 0..200 {
        gpu.submit(&target.clear_job(1)).unwrap();
    }
    drop(gpu);
}

#[test]
fn only_jobs_take_simulation_time() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!(gpu.simulation_time(), Duration::ZERO);
    run(&gpu, &target.clear_job(1)).unwrap();
    assert!(gpu.simulation_time() > Duration::ZERO);
    // The job thread looks for more of them a moment later.
    let stands = |_| {
        let before = gpu.simulation_time();
        std::thread::sleep(Duration::from_millis(2));
        gpu.simulation_time() == before
    };
    assert!((0..1000).any(stands));
}

#[test]
fn refusals_name_the_rule() {
    let gpu = simulator(1);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let refused = |job: &Submit| match gpu.submit(job) {
        Err(GpuError::Refused(text)) => text,
        other => panic!("{other:?}"),
    };
    let mut job = target.clear_job(0);
    job.bos.push(BoHandle(999));
    assert!(refused(&job).contains("SUB-6"));
    let mut job = target.clear_job(0);
    job.color_write = None;
    assert!(refused(&job).contains("RCL-15"));
    let mut job = target.draw_job(&gpu, 0, &[Draw::color(half(0.5), RED)]);
    job.bin_cl.pop();
    assert!(refused(&job).contains("BIN-"));
    let mut breakpoint = uniform_color();
    breakpoint[1] = 0;
    let breakpoint = gpu.create_shader_bo(&breakpoint);
    assert!(matches!(&breakpoint, Err(GpuError::Refused(text)) if text.contains("SHD-13")), "{breakpoint:?}");
    // Nothing was queued, and the device still works.
    let seqno = run(&gpu, &target.draw_job(&gpu, 0, &[Draw::color(half(0.5), RED)])).unwrap();
    assert_eq!(seqno, Seqno(1));
}

#[test]
fn device_facts_and_limits() {
    let gpu = simulator(1);
    let ident = gpu.ident().unwrap();
    assert_eq!((ident.ident0, ident.ident1, ident.ident2), (0x0244_3356, 0xc110_2431, 0x121));
    assert!(gpu.is_simulated() && gpu.memory_size() < 64 << 20);
    assert!(gpu.create_bo(0).is_err());
    assert!(matches!(gpu.create_bo(65 << 20), Err(GpuError::OutOfMemory(_))));
    let bo = gpu.create_bo(5000).unwrap();
    let map = gpu.map_bo(bo).unwrap();
    assert_eq!((map.len(), map.read_u32(8188)), (8192, 0));
    map.write_u32(4096, 77);
    assert_eq!(gpu.map_bo(bo).unwrap().read_u32(4096), 77);
    gpu.close_bo(bo);
    let again = gpu.create_bo(8192).unwrap();
    assert_eq!(gpu.map_bo(again).unwrap().read_u32(4096), 0);
    let shader = gpu.create_shader_bo(&uniform_color()).unwrap();
    assert!(gpu.map_bo(shader).is_err());
    assert!(!gpu.wait_seqno(Seqno(1), Some(Duration::from_millis(2))).unwrap());
    assert!(gpu.wait_seqno(Seqno(0), Some(Duration::ZERO)).unwrap());
}

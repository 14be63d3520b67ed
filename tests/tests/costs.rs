//! What the driver takes apart costs what its parts do: estimated times of the machine, and clocks of its QPUs.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use vc4::facts::Numbers;
use vc4_sim::capture::VARIABLE;
use vc4_sim::capture::read::Capture;
use vc4_sim::price::Price;
use vc4_sim::replay::{Replay, Watch};
use vc4_tests::{driver, scratch};

/// The price of all that a program of [`vc4_tests::drawing`] submits.
fn price(name: &str) -> Price {
    let directory = scratch::empty(concat!(env!("CARGO_TARGET_TMPDIR"), "/costs"), name);
    let file = directory.join("submissions.vc4cap");
    let mut command = driver::command(env!("CARGO_BIN_EXE_drawing"), &driver::ours());
    driver::run(command.arg(&directory).arg(name).env(VARIABLE, &file), name);
    let capture =
        Capture::read(std::fs::File::open(&file).expect("the simulator records")).expect("a capture");
    let mut replay = Replay::new(&capture, Replay::config(&capture));
    let mut sum = Price::default();
    for entry in &capture.entries {
        let replayed = replay.step(Watch::Profile).expect("there is another").expect("it can be run");
        if let Some(profile) = &replayed.profile {
            sum.add(&Price::of(&entry.submission.submit, profile, &Numbers::default()));
        }
    }
    sum
}

/// Estimated time and clocks of QPUs of one beside another.
fn ratios(name: &str, beside: &str) -> [f64; 2] {
    let (one, other) = (price(name), price(beside));
    let clocks = |price: &Price| price.qpu_clocks.iter().sum::<u64>() as f64;
    let ratios = [one.seconds[0] / other.seconds[0], clocks(&one) / clocks(&other)];
    println!("{name} beside {beside}: {:.3} of the time, {:.3} of the clocks", ratios[0], ratios[1]);
    assert!(ratios.iter().all(|ratio| ratio.is_finite() && *ratio > 0.5), "{ratios:?}");
    ratios
}

#[test]
fn a_large_target_costs_what_its_parts_do() {
    assert!(ratios("cost-large", "cost-parts").iter().all(|ratio| *ratio <= 1.3));
}

#[test]
fn two_views_cost_two_passes() {
    assert!(ratios("cost-two-views", "cost-one-view").iter().all(|ratio| *ratio <= 2.1));
}

//! The pause of the display on the simulated node. Tests run again in processes of their own that have the preload library, each with
//! a display of its own.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use drm::buffer::DrmFourcc;
use drm::control::{Device as _, Mode, connector, crtc, encoder, framebuffer};
use vc4_kernel_abi::{Card, DrmGpu, Gpu};
use vc4_sim::{Config, Simulator};

use super::dark;
use super::screen::Pause;
use crate::jobs::faulty::{Fault, Faulty};

/// Set in the process that has the library.
const MARK: &str = "VC4_TEST_PRELOADED";

/// Runs `body` in a process that has the library; `name` is the test's.
fn preloaded(name: &str, body: impl FnOnce()) {
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    let executable = std::env::current_exe().expect("a process knows its executable");
    let library = executable.parent().and_then(|deps| deps.parent()).expect("a folder of the build");
    let library = library.join("libvc4_drm_shim.so");
    assert!(library.exists(), "{} is not built: run `cargo build -p vc4-drm-shim`", library.display());
    let name = format!("probe::numbers::screen_tests::{name}");
    let output = Command::new(executable)
        .args([&name, "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .env("LD_PRELOAD", library)
        .env_remove("VC4SIM_FACTS")
        .output()
        .expect("the test starts again");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{}\n{out}\n{err}", output.status);
}

/// That there is an answer to each rate. The simulator's memory takes as long as the machine lets it, and so a rate may be too close
/// to nothing to be told.
fn assert_rates(rates: &[Option<f64>]) {
    assert_eq!(rates.len(), 3, "{rates:?}");
    assert!(rates.iter().flatten().all(|rate| rate.is_finite() && *rate > 0.0), "{rates:?}");
}

/// A screen that somebody lit, and what every client can see of it.
struct Lit {
    card: Card,
    connector: connector::Handle,
    crtc: crtc::Handle,
}

/// Mode, picture and place of a CRTC, and what a connector is fed by.
type Seen = (Option<Mode>, Option<framebuffer::Handle>, (u32, u32), Option<encoder::Handle>);

impl Lit {
    /// The second mode, and a picture that is larger.
    fn new() -> Lit {
        let card = Card::find().expect("a card");
        let resources = card.resource_handles().expect("resources");
        let (connector, crtc) = (resources.connectors()[0], resources.crtcs()[0]);
        let mode = card.get_connector(connector, false).expect("a connector").modes()[1];
        let buffer = card.create_dumb_buffer((1920, 1080), DrmFourcc::Xrgb8888, 32).expect("a buffer");
        let picture = card.add_framebuffer(&buffer, 24, 32).expect("a framebuffer");
        card.set_crtc(crtc, Some(picture), (8, 16), &[connector], Some(mode)).expect("a screen");
        Lit { card, connector, crtc }
    }

    fn seen(&self) -> Seen {
        let crtc = self.card.get_crtc(self.crtc).expect("a CRTC");
        let connector = self.card.get_connector(self.connector, false).expect("a connector");
        (crtc.mode(), crtc.framebuffer(), crtc.position(), connector.current_encoder())
    }

    fn is_on(&self) -> bool {
        let values = self.card.get_properties(self.crtc).expect("properties");
        let active = values.as_hashmap(&self.card).expect("names")["ACTIVE"].handle();
        values.iter().any(|(property, value)| *property == active && *value == 1)
    }
}

#[test]
fn a_screen_is_off_meanwhile_and_then_as_it_was() {
    preloaded("a_screen_is_off_meanwhile_and_then_as_it_was", || {
        let lit = Lit::new();
        lit.card.resign();
        let before = lit.seen();
        assert!(lit.is_on() && before.0.is_some() && before.1.is_some(), "{before:?}");
        // Ended, and left alone as by a panic.
        for ends in [true, false] {
            let pause = Pause::begin(Card::find().expect("a card")).expect("a pause");
            assert!(pause.was_on() && !lit.is_on());
            match ends {
                true => assert_eq!(pause.end(), Ok(())),
                false => drop(pause),
            }
            assert!(lit.is_on());
            assert_eq!(lit.seen(), before);
        }
        // Nobody keeps the display.
        drm::Device::acquire_master_lock(&lit.card).expect("a display without a master");
    });
}

#[test]
fn a_display_that_changed_meanwhile_is_told() {
    preloaded("a_display_that_changed_meanwhile_is_told", || {
        let lit = Lit::new();
        lit.card.resign();
        let pause = Pause::begin(Card::find().expect("a card")).expect("a pause");
        // Takes its picture and the screen with it.
        drop(lit);
        let why = pause.end().expect_err("something is missing");
        assert!(!why.is_empty());
    });
}

#[test]
fn the_display_of_another_program_stays_on() {
    preloaded("the_display_of_another_program_stays_on", || {
        let lit = Lit::new();
        let before = lit.seen();
        let why = Pause::begin(Card::find().expect("a card")).err().expect("another's display");
        assert!(why.contains("another program's") && why.contains("end the desktop"), "{why}");
        assert!(lit.is_on());
        assert_eq!(lit.seen(), before);
        let gpu = DrmGpu::open(None).expect("a node");
        let (rates, said) = dark::measure(&gpu, gpu.card());
        assert_eq!(rates.expect_err("no rates").to_string(), format!("the display {said}"));
        assert!(said.contains("another program's"), "{said}");
    });
}

#[test]
fn rates_are_measured_in_the_dark() {
    preloaded("rates_are_measured_in_the_dark", || {
        let lit = Lit::new();
        lit.card.resign();
        let before = lit.seen();
        let gpu = DrmGpu::open(None).expect("a node");
        let done = AtomicBool::new(false);
        let (changes, rates, said) = std::thread::scope(|scope| {
            let mut changes = vec![lit.is_on()];
            let (lit, done) = (&lit, &done);
            let watch = scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let is_on = lit.is_on();
                    if changes.last() != Some(&is_on) {
                        changes.push(is_on);
                    }
                }
                changes
            });
            let (rates, said) = dark::measure(&gpu, gpu.card());
            done.store(true, Ordering::Relaxed);
            (watch.join().expect("a witness"), rates, said)
        });
        assert_rates(&rates.expect("rates"));
        assert!(said.starts_with("was switched off"), "{said}");
        assert_eq!(changes[..2], [true, false]);
        assert!(lit.is_on());
        assert_eq!(lit.seen(), before);
    });
}

#[test]
fn a_job_that_hangs_leaves_no_screen_off() {
    preloaded("a_job_that_hangs_leaves_no_screen_off", || {
        let lit = Lit::new();
        lit.card.resign();
        let before = lit.seen();
        let simulator = Simulator::new(Config { memory_bytes: 96 << 20, ..Config::default() });
        let (rates, said) = dark::measure(&Faulty::new(simulator, Fault::AllHangs), Card::find());
        assert!(rates.expect_err("a hang").is_hang());
        assert!(said.starts_with("was switched off"), "{said}");
        assert!(lit.is_on());
        assert_eq!(lit.seen(), before);
    });
}

#[test]
fn a_display_that_is_off_needs_no_switch() {
    preloaded("a_display_that_is_off_needs_no_switch", || {
        let gpu = DrmGpu::open(None).expect("a node");
        let (rates, said) = dark::measure(&gpu, gpu.card());
        assert_rates(&rates.expect("rates"));
        assert!(said.starts_with("was off all the time"), "{said}");
    });
}

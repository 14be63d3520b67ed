//! Rates while no display reads memory: beside those with one they tell what it costs.

use vc4_kernel_abi::{Card, Gpu};

use super::rates;
use super::screen::Pause;
use crate::jobs::bench::{Bench, Failure};

type Answer = Result<Vec<Option<f64>>, Failure>;

/// Bytes of tiles stored and loaded, and bytes that the CPU reads, per second.
fn rates(bench: &Bench<'_>) -> Answer {
    let mut all = rates::tiles(bench)?;
    let copies = rates::copies(bench)?;
    all.extend(copies.get(1));
    Ok(all)
}

/// Why a device has no display that could be switched off.
fn without_card(gpu: &dyn Gpu) -> String {
    match gpu.is_simulated() {
        true => "is not there: the GPU is simulated".to_owned(),
        false => "is not to be reached: `/dev/dri/card0` and the like belong to the group `video`".to_owned(),
    }
}

/// The rates, and in a sentence what the display did meanwhile.
pub fn measure(gpu: &dyn Gpu, card: Option<Card>) -> (Answer, String) {
    let begun = card.ok_or_else(|| without_card(gpu)).and_then(Pause::begin);
    let pause = match begun {
        Ok(pause) => pause,
        Err(why) => return (Err(Failure::Wrong(format!("the display {why}"))), why),
    };
    let was_on = pause.was_on();
    let rates = rates(&Bench::new(gpu));
    let said = match pause.end() {
        Ok(()) if was_on => "was switched off for what is called dark, and is on again as it was".to_owned(),
        Ok(()) => "was off all the time: what is not called dark was measured without one, too".to_owned(),
        Err(why) => {
            format!(
                "did not come back as it was ({why}); a change of consoles brings it (`sudo chvt 2; sudo chvt 1`)"
            )
        }
    };
    (rates, said)
}

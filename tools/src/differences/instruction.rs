//! Which instruction made a pixel what it is, or another one than on a machine that behaves otherwise.

use vc4_sim::profile::Profile;
use vc4_sim::stats::{Held, Parting, PixelTrace, Visit};

/// Where two machines part that drew the same submission, in words.
pub fn parting(usual: &Profile, other: &Profile) -> String {
    let traces = |profile: &Profile| profile.pixel.clone().unwrap_or_default();
    let (mine, its) = (traces(usual), traces(other));
    match mine.parting(&its) {
        None => "the programs do the same: it is the tile's load or store".into(),
        Some(Parting::Visit(visit)) => {
            format!("draw {} covers that pixel on one of the two machines alone", visit.draw)
        }
        Some(Parting::Begin { visit, held, words: [usual, other] }) => format!(
            "draw {} begins there with {other:08x} in {}, not {usual:08x}: before its fragment program runs",
            visit.draw,
            before(held)
        ),
        Some(Parting::Step { visit, index, held, words }) => {
            let place = place(usual, visit, index);
            match (held, words) {
                (Some(held), [Some(usual), Some(other)]) => {
                    format!("{place} leaves {other:08x} in {held}, not {usual:08x}")
                }
                (Some(held), [Some(_), None]) => format!("{place} leaves {held} as it was"),
                (Some(held), [None, Some(other)]) => format!("{place} leaves {other:08x} in {held}"),
                _ => format!("{place} runs on one of the two machines alone"),
            }
        }
    }
}

/// The instruction that left a pixel's colour, or its depth and stencil, in words.
pub fn last(profile: &Profile, zs: bool) -> Option<String> {
    let PixelTrace { x, y, visits, .. } = profile.pixel.as_deref()?;
    let sought = |held: &Held| match held {
        Held::Color(_) => !zs,
        Held::DepthStencil(_) => zs,
        _ => false,
    };
    let writes = visits.iter().rev().find_map(|visit| {
        let step = visit.steps.iter().rev().find(|step| step.left.iter().any(|(held, _)| sought(held)))?;
        Some(place(profile, visit, step.index))
    });
    Some(match writes {
        Some(place) => format!("the simulator's pixel ({x}, {y}) is left by {place}"),
        None => format!("no program of the simulator changes pixel ({x}, {y})"),
    })
}

/// A payload register by what it holds (qpu.md §4.3).
fn before(held: Held) -> String {
    match held {
        Held::FileA(15) => "W".into(),
        Held::FileB(15) => "Z".into(),
        held => held.to_string(),
    }
}

fn place(profile: &Profile, visit: &Visit, index: usize) -> String {
    let code = profile.fragment_code(visit.draw);
    let text = code.get(index).map_or(String::new(), |inst| format!(" `{inst}`"));
    format!("instruction {index} of draw {}{text}", visit.draw)
}

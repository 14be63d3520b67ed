//! Makes valid programs invalid, in ways that a driver can survive.
//!
//! Left out is what no driver can: handles that lead to no object of its own where nothing tells, pointers, counts of arrays,
//! dispatchable handles that have ended (the loader itself reads those), and waits of the queue for what never comes, which
//! the specification lets take forever.

use ash::vk;

use super::slot::{Id, Slot, Slots};
use super::step::*;
use crate::random::Random;

/// Most vertices, indices and instances of a draw, so that it ends.
const MOST: u32 = 1 << 16;

/// Spoils some of the steps.
pub fn spoil(steps: &[Step], seed: u64) -> Vec<Step> {
    let mut random = Random(seed ^ 0x5b0_11ed);
    let often = random.pick(&[3, 8, 20, 60]);
    let ids: Vec<Id> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Create { id, .. } => Some(*id),
            _ => None,
        })
        .collect();
    let mut fresh = 1 + ids.iter().map(|id| id.0).max().unwrap_or(0);
    let mut spoiled = Vec::new();
    for step in steps {
        let mut step = step.clone();
        if random.one_in(often) {
            match random.below(10) {
                0 => continue,
                1 => spoiled.push(step.clone()),
                2 => {
                    let commands = match &step {
                        Step::Record { commands, .. } | Step::Begin { commands, .. } => *commands,
                        _ => continue,
                    };
                    // A buffer that executes itself, or one that executes it.
                    let other = if random.one_in(2) { commands } else { random.pick(&ids) };
                    let command = Command::Execute { commands: vec![other] };
                    spoiled.push(step.clone());
                    step = Step::Record { commands, command };
                }
                3 if !spoiled.is_empty() => {
                    let at = random.below(spoiled.len());
                    let old: &mut Step = &mut spoiled[at];
                    std::mem::swap(old, &mut step);
                }
                4 => {
                    if let Some(id) = (!ids.is_empty()).then(|| random.pick(&ids)) {
                        spoiled.push(Step::Destroy { id });
                    }
                }
                5 | 6 => change(&mut step, &ids, &mut random),
                _ => {
                    // Beside the right one, so that the program lives on.
                    let mut copy = step.clone();
                    if let Step::Create { id, .. } = &mut copy {
                        (*id, fresh) = (Id(fresh), fresh + 1);
                    }
                    change(&mut copy, &ids, &mut random);
                    if !matches!(copy, Step::Destroy { .. }) {
                        spoiled.push(copy);
                    }
                }
            }
        }
        bound(&mut step);
        spoiled.push(step);
    }
    spoiled.iter_mut().for_each(bound);
    spoiled
}

/// Puts something else into a place of a step.
fn change(step: &mut Step, ids: &[Id], random: &mut Random) {
    let mut places = 0;
    step.slots(&mut |_| places += 1);
    if places == 0 {
        return;
    }
    // The first place of what is made, recorded or begun is whose it is.
    let own = usize::from(matches!(step, Step::Create { .. } | Step::Record { .. } | Step::Begin { .. }));
    if places == own {
        return;
    }
    let chosen = own + random.below(places - own);
    let mut at = 0;
    step.slots(&mut |slot| {
        if at == chosen {
            match slot {
                Slot::Id(id) => {
                    *id = if ids.is_empty() || random.one_in(2) { Id(0) } else { random.pick(ids) }
                }
                Slot::Word(word) => {
                    let near = [word.wrapping_add(1), word.wrapping_sub(1), 0, word.wrapping_mul(2)];
                    let far = [1, 2, 4, 7, 255, 1 << 16, i32::MAX as u32, 1 << 31, u32::MAX, random.word()];
                    *word = if random.one_in(2) { random.pick(&near) } else { random.pick(&far) };
                }
                Slot::Long(long) => {
                    let near = [long.wrapping_add(1), long.wrapping_sub(1), 0, long.wrapping_mul(2)];
                    let far = [1, 3, 4096, 1 << 31, 1 << 32, 1 << 40, u64::MAX - 3, u64::MAX, random.long()];
                    *long = if random.one_in(2) { random.pick(&near) } else { random.pick(&far) };
                }
                Slot::Float(float) => {
                    *float = random.pick(&[f32::NAN, f32::INFINITY, -1.0, 0.0, 1e-30, 1e30, f32::MIN]);
                }
                Slot::Flag(flag) => *flag = !*flag,
            }
        }
        at += 1;
    });
}

/// Takes out what would only take time, or wait without end.
fn bound(step: &mut Step) {
    match step {
        Step::Submit { waits, .. } => waits.clear(),
        Step::Record { command, .. } => match command {
            Command::Draw { vertices, instances, .. } => bound_draw(vertices, instances),
            Command::DrawIndexed { indices, instances, .. } => bound_draw(indices, instances),
            Command::DrawIndirect { count, .. } => *count = (*count).min(1000),
            Command::Dispatch { groups } => {
                // Thousands of groups are many, and more than the limit are refused.
                groups
                    .iter_mut()
                    .filter(|count| (64..=65_535).contains(*count))
                    .for_each(|count| *count = 64);
            }
            Command::WaitEvents { events } => events.clear(),
            Command::CopyQueries { flags, .. } => *flags &= !vk::QueryResultFlags::WAIT,
            _ => (),
        },
        // Device memory that nobody needs is only slow.
        Step::Create { what: Create::Buffer { size, .. }, .. } if (1 << 22..1 << 31).contains(size) => {
            *size = 1 << 22;
        }
        Step::Create { what: Create::Memory { spare, .. }, .. } if (1 << 22..1 << 31).contains(spare) => {
            *spare = 1 << 22;
        }
        Step::Create { what: Create::Image { image }, .. } => {
            image.extent.iter_mut().filter(|edge| (512..=4096).contains(*edge)).for_each(|edge| *edge = 512);
            image.layers = if (9..=256).contains(&image.layers) { 9 } else { image.layers };
        }
        _ => (),
    }
}

fn bound_draw(vertices: &mut u32, instances: &mut u32) {
    *vertices = (*vertices).min(MOST);
    if u64::from(*vertices) * u64::from(*instances) > u64::from(4 * MOST) {
        *instances = 2;
    }
}

//! One unit as a QPU sees it: requests, configuration words and the result FIFO (qpu.md §4.5, §4.6).

use std::mem::offset_of;

use vc4::facts::Facts;
use vc4::hw::LANES;

use crate::lanes::Lanes;
use crate::memory::Memory;
use crate::stats::Note;

use super::fault::TmuFault;
use super::texture::Texture;
use super::trace;

/// Requests whose results fit the result FIFO (qpu.md §4.6).
const RESULT_FIFO: usize = 4;
/// Parameter slots of the request FIFO (qpu.md §4.6).
const REQUEST_SLOTS: u8 = 8;
/// Most requests that can be on their way: the results, then requests of a single slot.
const IN_FLIGHT: usize = RESULT_FIFO + REQUEST_SLOTS as usize;
/// Request slots of a direct lookup.
const DIRECT_SLOTS: u8 = 1;
/// Decoded set-ups that a unit remembers. Only a matter of speed.
pub(super) const CACHED_SETUPS: usize = 8;

/// Parameters of a request.
const PARAMETERS: usize = 4;
/// The parameter that sends the request.
const S: u8 = 0;

/// One texture unit as seen by one QPU. Machine code looks up memory and loads results by itself: see [`place`].
#[derive(Default)]
pub struct Tmu {
    facts: Facts,
    /// s, t, r, b of the request under assembly, where they were given.
    params: [Lanes; PARAMETERS],
    /// Those that were given, a bit each.
    given: usize,
    config: [u32; PARAMETERS],
    /// Configuration words written so far.
    written: usize,
    results: [Lanes; IN_FLIGHT],
    /// Request FIFO slots that each result's request took.
    slots: [u8; IN_FLIGHT],
    first: usize,
    count: usize,
    /// Results that may wait without another thought: nothing stalls, and no rule is broken.
    room: usize,
    setups: Vec<([u32; 4], Texture)>,
    /// The one that was asked for last.
    latest: usize,
    /// Set-up that the next decoded one replaces.
    oldest: usize,
    /// The program has two threads, each with half of the FIFOs.
    threaded: bool,
    note: Option<Note>,
    /// Lines that the last request read, while somebody counts them.
    lines: Option<Vec<u32>>,
}

/// Where machine code finds a unit's state. It sends direct lookups while nothing is [`written`](place::WRITTEN), fewer
/// than [`ROOM`](place::ROOM) results wait and nobody traces lines, writes the parameters of other lookups as long as there
/// are fewer than [`PARAMETERS`](place::PARAMETERS), and loads results while some wait.
pub mod place {
    use super::*;

    /// The parameter that sends a request.
    pub const S: u8 = super::S;
    /// Parameters of the request under assembly, a count.
    pub const WRITTEN: usize = offset_of!(Tmu, written);
    /// Most of them.
    pub const PARAMETERS: usize = super::PARAMETERS;
    /// Which parameters were given, a bit each.
    pub const GIVEN: usize = offset_of!(Tmu, given);
    /// The parameters, registers.
    pub const PARAMS: usize = offset_of!(Tmu, params);
    /// Their configuration words, in the order in which they were written.
    pub const CONFIG: usize = offset_of!(Tmu, config);
    /// The results, a ring of [`RING`] registers.
    pub const RESULTS: usize = offset_of!(Tmu, results);
    /// Request slots of each, bytes.
    pub const SLOTS: usize = offset_of!(Tmu, slots);
    /// Index of the oldest result.
    pub const FIRST: usize = offset_of!(Tmu, first);
    /// How many wait.
    pub const COUNT: usize = offset_of!(Tmu, count);
    /// How many may.
    pub const ROOM: usize = offset_of!(Tmu, room);
    /// Results in the ring.
    pub const RING: usize = IN_FLIGHT;
    /// Request slots of a direct lookup.
    pub const DIRECT_SLOTS: u8 = super::DIRECT_SLOTS;
}

const HALF_A_FIFO: Note = Note {
    id: "tmu-half-fifo",
    manual: "qpu.md §4.6",
    text: "a threaded program uses half of a TMU's FIFOs: two results of four slots",
};

impl Tmu {
    /// A unit of a machine that behaves so.
    pub fn of(facts: &Facts) -> Tmu {
        Tmu { facts: *facts, ..Tmu::default() }
    }

    /// Forgets requests and results, not what was decoded.
    pub fn reset(&mut self, threaded: bool, trace: bool) {
        self.threaded = threaded;
        self.room = if threaded { RESULT_FIFO / 2 } else { RESULT_FIFO };
        self.note = None;
        if self.lines.is_some() != trace {
            self.lines = trace.then(Vec::new);
        }
        self.first = 0;
        self.count = 0;
        self.clear_request();
    }

    fn clear_request(&mut self) {
        if self.written > 0 {
            self.config = [0; PARAMETERS];
            self.written = 0;
            self.given = 0;
        }
    }

    /// Whether writing `parameter` (0 s, 1 t, 2 r, 3 b) now is a direct memory lookup, which takes no
    /// configuration word.
    pub fn is_direct(&self, parameter: u8) -> bool {
        parameter == S && self.written == 0
    }

    /// Lines that the last request read; none when they are not traced.
    pub fn last_lines(&self) -> &[u32] {
        self.lines.as_deref().unwrap_or_default()
    }

    /// The rule that was broken since the last call.
    pub fn take_note(&mut self) -> Option<Note> {
        self.note.take()
    }

    /// Results that were requested and not loaded.
    pub fn outstanding(&self) -> usize {
        self.count
    }

    /// Writes a parameter with its configuration word; s sends the request.
    ///
    /// # Errors
    /// A request without an answer, or one that would stall for ever on full FIFOs.
    pub fn write(
        &mut self,
        memory: &Memory,
        parameter: u8,
        value: &Lanes,
        config: u32,
    ) -> Result<(), TmuFault> {
        if self.is_direct(parameter) {
            if let Some(lines) = &mut self.lines {
                trace::direct(value, lines);
            }
            let place = self.place_of_result(DIRECT_SLOTS)?;
            for (word, &address) in self.results[place].iter_mut().zip(value) {
                *word = memory.read(address & !3)?;
            }
            self.count += 1;
            return Ok(());
        }
        if self.written == PARAMETERS {
            return Err(TmuFault::Unsupported(
                "a fifth TMU parameter before s; send the request first".into(),
            ));
        }
        self.params[usize::from(parameter) & 3] = *value;
        self.given |= 1 << (parameter & 3);
        self.config[self.written] = config;
        self.written += 1;
        if parameter == S { self.send(memory) } else { Ok(()) }
    }

    /// Sends the request under assembly.
    ///
    /// # Errors
    /// As [`Tmu::write`].
    pub fn send(&mut self, memory: &Memory) -> Result<(), TmuFault> {
        let place = self.place_of_result(self.written as u8)?;
        let index = self.setup()?;
        let texture = &self.setups[index].1;
        let [s, t, r, b] =
            [0, 1, 2, 3].map(|n| if self.given >> n & 1 != 0 { &self.params[n] } else { &[0; LANES] });
        if let Some(lines) = &mut self.lines {
            texture.trace([s, t, r, b], lines);
        }
        texture.sample(memory, [s, t, r, b], &mut self.results[place])?;
        self.count += 1;
        self.clear_request();
        Ok(())
    }

    /// Pops the oldest result; `None` when nothing was requested.
    pub fn load(&mut self) -> Option<Lanes> {
        if self.count == 0 {
            return None;
        }
        let result = self.results[self.first];
        self.first = around(self.first + 1);
        self.count -= 1;
        Some(result)
    }

    /// The place of the next result, whose request takes so many slots.
    #[inline]
    fn place_of_result(&mut self, slots: u8) -> Result<usize, TmuFault> {
        let place = around(self.first + self.count);
        if self.count >= self.room {
            let waiting: u8 =
                (RESULT_FIFO..self.count).map(|i| self.slots[(self.first + i) % IN_FLIGHT]).sum::<u8>();
            if self.count >= RESULT_FIFO && waiting + slots > REQUEST_SLOTS {
                let what = "TMU request while both FIFOs are full stalls for ever; load results first";
                return Err(TmuFault::Unsupported(what.into()));
            }
            if self.threaded && waiting_slots(self) + slots > REQUEST_SLOTS / 2 {
                self.note = Some(HALF_A_FIFO);
            }
        }
        self.slots[place] = slots;
        Ok(place)
    }

    /// The decoded set-up of the assembled configuration words.
    fn setup(&mut self) -> Result<usize, TmuFault> {
        let is_it = |(words, _): &([u32; 4], Texture)| *words == self.config;
        if self.setups.get(self.latest).is_some_and(is_it) {
            return Ok(self.latest);
        }
        if let Some(i) = self.setups.iter().position(is_it) {
            self.latest = i;
            return Ok(i);
        }
        let texture = Texture::decode(&self.facts, &self.config)?;
        if self.setups.len() < CACHED_SETUPS {
            self.setups.push((self.config, texture));
            return Ok(self.setups.len() - 1);
        }
        self.oldest = (self.oldest + 1) % CACHED_SETUPS;
        self.setups[self.oldest] = (self.config, texture);
        Ok(self.oldest)
    }
}

/// An index of the ring, at most once around.
#[inline]
fn around(index: usize) -> usize {
    if index >= IN_FLIGHT { index - IN_FLIGHT } else { index }
}

/// Request FIFO slots of the requests that half of the result FIFO does not hold.
fn waiting_slots(tmu: &Tmu) -> u8 {
    (RESULT_FIFO / 2..tmu.count).map(|i| tmu.slots[(tmu.first + i) % IN_FLIGHT]).sum()
}

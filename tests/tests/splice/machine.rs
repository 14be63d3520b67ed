//! The neighbours of the QPU, and programs on it.

use vc4::qpu::{Inst, Stage, assemble, check_program, disassemble};
use vc4::splice::{Slot, Spliced};
use vc4::state::StateWords;
use vc4_kernel_abi::validate::{Mode, shader};
use vc4_sim::memory::Memory;
use vc4_sim::qpu::{Fault, LaneMask, Lanes, Payload, Ports, Program, Stats, run};
use vc4_tests::hash::hash;

pub const LANES: usize = vc4::hw::LANES;

/// What a word of a test program's stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Itself.
    Value(u32),
    /// The address of the stream.
    Stream,
    /// Texture parameter 0 of the only image.
    Image,
}

/// Texture parameter 1: 4x4 texels, nearest, clamped.
pub const P1: Word = Word::Value(4 << 20 | 4 << 8 | 1 << 7 | 1 << 4 | 1 << 2 | 1);

/// The tile buffer, the VPM and what was done to them.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Makes machines differ.
    pub seed: u32,
    /// Varyings: partial sum and C.
    pub varyings: Vec<(Lanes, Lanes)>,
    pub varyings_read: usize,
    /// Attribute words.
    pub attributes: Vec<Lanes>,
    pub attributes_read: usize,
    /// Rows that read set-ups announced.
    pub announced: usize,
    /// The VPM must be set up.
    pub strict: bool,
    pub write_setups: usize,
    pub rows: Vec<Lanes>,
    /// Colour reads and writes so far.
    pub reads: usize,
    pub colors: Vec<(LaneMask, Lanes, bool)>,
    pub depths: Vec<(LaneMask, Lanes)>,
    pub stencil: Vec<u32>,
    /// MS_FLAGS, and what the depth test leaves of them.
    pub flags: Vec<u32>,
}

impl Machine {
    pub fn new(seed: u32) -> Machine {
        Machine { seed, strict: true, flags: vec![15; LANES], ..Machine::default() }
    }

    /// The colour of a sample in the tile buffer.
    pub fn destination(&self, sample: usize, lane: usize) -> u32 {
        hash(&[self.seed, 1, sample as u32, lane as u32])
    }

    /// The only texel of the image.
    pub fn texel(&self) -> u32 {
        hash(&[self.seed, 2])
    }

    /// The payload: W is 1, Z some number.
    pub fn payload(&self) -> Payload {
        Payload {
            ra15: [1f32.to_bits(); LANES],
            rb15: std::array::from_fn(|lane| hash(&[self.seed, 3, lane as u32]) & 0xff_ffff),
        }
    }
}

impl Ports for Machine {
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        self.varyings_read += 1;
        Ok(self.varyings[self.varyings_read - 1])
    }

    fn vpm_read_setup(&mut self, word: u32) -> Result<(), Fault> {
        assert_eq!(word & !0x00f0_003f, 0x1a00, "rows, one after another");
        assert_eq!((word & 63) as usize, self.announced);
        assert_eq!(self.attributes_read, self.announced, "a block is read before the next is set up");
        let count = (word >> 20 & 15) as usize;
        self.announced += if count == 0 { 16 } else { count };
        Ok(())
    }

    fn vpm_write_setup(&mut self, word: u32) -> Result<(), Fault> {
        assert_eq!(word, 0x1a00);
        self.write_setups += 1;
        Ok(())
    }

    fn vpm_read(&mut self) -> Result<Lanes, Fault> {
        assert!(!self.strict || self.attributes_read < self.announced, "reads stay inside the set-up");
        self.attributes_read += 1;
        Ok(self.attributes[self.attributes_read - 1])
    }

    fn vpm_write(&mut self, value: &Lanes) -> Result<(), Fault> {
        assert!(!self.strict || self.write_setups == 1, "the VPM is set up once");
        self.rows.push(*value);
        Ok(())
    }

    fn tlb_color_read(&mut self) -> Result<Lanes, Fault> {
        self.reads += 1;
        Ok(std::array::from_fn(|lane| self.destination(self.reads - 1, lane)))
    }

    fn tlb_color_write(&mut self, mask: LaneMask, value: &Lanes, all: bool) -> Result<(), Fault> {
        self.colors.push((mask, *value, all));
        Ok(())
    }

    fn tlb_z(&mut self, mask: LaneMask, z: &Lanes) -> Result<(), Fault> {
        assert!(self.depths.is_empty() && self.colors.is_empty(), "one depth write, before the colour");
        self.depths.push((mask, *z));
        Ok(())
    }

    fn tlb_stencil(&mut self, word: u32) -> Result<(), Fault> {
        assert!(self.depths.is_empty(), "stencil words come before the depth");
        self.stencil.push(word);
        Ok(())
    }

    fn ms_flags(&self) -> Lanes {
        std::array::from_fn(|lane| self.flags[lane])
    }

    fn set_ms_flags(&mut self, mask: LaneMask, value: &Lanes) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            self.flags[lane] = value[lane] & 15;
        }
    }

    fn rev_flag(&self) -> Lanes {
        [0; LANES]
    }

    fn pixel_xy(&self) -> (Lanes, Lanes) {
        (std::array::from_fn(|lane| lane as u32), [7; LANES])
    }
}

/// Instructions of a text.
pub fn insts(text: &str) -> Vec<Inst> {
    assemble(text).unwrap_or_else(|error| panic!("{error}\n{text}")).instructions().expect("instructions")
}

/// Runs a program; `kernel` resolves the words.
fn execute(
    insts: &[Inst],
    words: impl Fn(u32, u32) -> Vec<u32>,
    machine: &mut Machine,
) -> Vec<(&'static str, u32)> {
    let memory = Memory::new(1 << 20);
    let image = memory.allocate(4096).expect("room");
    for word in 0..1024 {
        memory.write(image + 4 * word, machine.texel()).expect("allocated");
    }
    let stream = memory.allocate(4096).expect("room");
    memory.write_words(stream, &words(stream, image)).expect("allocated");
    let decoded = Program::from_insts(insts.to_vec(), 0).expect("a program");
    let mut stats = Stats { check: true, ..Default::default() };
    let payload = machine.payload();
    run(&decoded, &memory, stream, machine, &payload, &mut stats).expect("it runs");
    stats.findings.iter().map(|finding| (finding.rule.id, finding.index)).collect()
}

fn resolve(word: Word, stream: u32, image: u32) -> u32 {
    match word {
        Word::Value(value) => value,
        Word::Stream => stream,
        Word::Image => image,
    }
}

/// What a program does as it was written, without state.
pub fn run_raw(insts: &[Inst], uniforms: &[Word], machine: &Machine) -> Machine {
    let mut machine = Machine { strict: false, ..machine.clone() };
    execute(insts, |s, i| uniforms.iter().map(|&word| resolve(word, s, i)).collect(), &mut machine);
    machine
}

/// What a spliced program does; all rules of the machine and of the kernel hold.
pub fn run_spliced(stage: Stage, spliced: &Spliced<Word>, state: &StateWords, machine: &Machine) -> Machine {
    check(stage, spliced);
    let mut machine = machine.clone();
    let words = |stream, image| {
        let word = |slot: &Slot<Word>| match *slot {
            Slot::Own(word) => resolve(word, stream, image),
            Slot::State(slot) => state.word(slot),
            Slot::Const(word) => word,
            Slot::StreamAddress => stream,
        };
        spliced.slots.iter().map(word).collect()
    };
    let findings = execute(&spliced.insts, words, &mut machine);
    assert_eq!(findings, [], "{}", disassemble(&spliced.words()));
    assert_eq!(machine.varyings_read, machine.varyings.len());
    assert_eq!(machine.attributes_read, machine.attributes.len());
    machine
}

/// The rules of the machine and of the kernel, and the stream as the kernel sees it.
pub fn check(stage: Stage, spliced: &Spliced<Word>) {
    let listing = || disassemble(&spliced.words());
    let violations = check_program(stage, &spliced.insts);
    assert!(violations.is_empty(), "{violations:?}\n{}", listing());
    let info =
        shader::validate(&spliced.words(), Mode::Strict).unwrap_or_else(|e| panic!("{e}\n{}", listing()));
    assert_eq!(info.uniforms_size as usize, 4 * spliced.slots.len(), "{}", listing());
    assert_eq!(info.threaded, spliced.threaded);
    let address = |slot: &Slot<Word>| matches!(slot, Slot::StreamAddress | Slot::Own(Word::Stream));
    let addresses: Vec<u32> =
        (0u32..).zip(&spliced.slots).filter(|(_, s)| address(s)).map(|(n, _)| n).collect();
    assert_eq!(info.uniform_addr_slots, addresses, "{}", listing());
    assert_eq!(spliced.origins.len(), spliced.insts.len());
}

//! The pass over the instructions in order (kernel-abi.md §6.2).

use super::branches::Branches;
use super::info::{SampleInfo, ShaderInfo, TMU_PARAMETERS};
use super::live::Live;
use super::program::Program;
use super::word::{Unit, Word};
use crate::validate::rule::Rule;
use crate::validate::violation::{Mode, Violation};
use vc4::qpu::{AddOp, Cond, Pack, Signal, Waddr};

/// Checks the program of a shader BO.
///
/// # Errors
/// The first broken rule in the kernel's order of evaluation.
pub fn validate(code: &[u64], mode: Mode) -> Result<ShaderInfo, Violation> {
    let program = Program::new(code);
    let branches = Branches::find(&program, mode)?;
    let mut walk = Walk::new(program, mode);
    for ip in 0..=branches.last {
        walk.step(ip, branches.is_target(ip))?;
    }
    walk.finish()
}

/// The set-up of one TMU that has not been sent yet.
#[derive(Clone, Copy, Default)]
struct Request {
    written: usize,
    sample: SampleInfo,
}

/// The pass over the instructions in order.
struct Walk<'a> {
    program: Program<'a>,
    mode: Mode,
    ip: u32,
    info: ShaderInfo,
    tmu: [Request; 2],
    live: Live,
    /// Since a branch target: the stream's address is unknown.
    uniform_address_lost: bool,
    /// Since a backward branch: its target will reset the address from the next word.
    slot_wanted_by_loop: bool,
    /// The first instruction that touches registers 16 to 31.
    upper_registers: Option<u32>,
    last_switch: Option<u32>,
}

impl<'a> Walk<'a> {
    fn new(program: Program<'a>, mode: Mode) -> Self {
        Walk {
            program,
            mode,
            ip: 0,
            info: ShaderInfo::default(),
            tmu: [Request::default(); 2],
            live: Live::new(mode),
            uniform_address_lost: false,
            slot_wanted_by_loop: false,
            upper_registers: None,
            last_switch: None,
        }
    }

    fn fail<T>(&self, rule: Rule, what: impl AsRef<str>) -> Result<T, Violation> {
        Err(self.program.violation(rule, self.ip, what))
    }

    fn step(&mut self, ip: u32, is_target: bool) -> Result<(), Violation> {
        self.ip = ip;
        let word = self.program.word(ip);
        if is_target {
            self.enter_block()?;
        }
        if self.last_switch.is_some_and(|switch| ip == switch + 3) {
            self.live.forget_accumulators();
        }
        match word.signal() {
            Signal::LoadImm => self.writes(word),
            Signal::Branch => self.branch(word),
            Signal::Breakpoint | Signal::CoverageLoad | Signal::ColorLoadEnd | Signal::AlphaMaskLoad => {
                self.fail(Rule::Shd13, format!("signal {}", word.signal().name()))
            }
            signal => {
                self.writes(word)?;
                self.reads(word)?;
                match signal {
                    Signal::ThreadSwitch | Signal::LastThreadSwitch => self.thread_switch(),
                    _ => Ok(()),
                }
            }
        }
    }

    /// SHD-12 and the loss of all knowledge where several paths meet.
    fn enter_block(&mut self) -> Result<(), Violation> {
        if let Some(tmu) = self.tmu.iter().position(|request| request.written > 0) {
            return self.fail(
                Rule::Shd12,
                format!("a branch lands here while {} parameters of TMU{tmu} wait", self.tmu[tmu].written),
            );
        }
        self.live = Live::new(self.mode);
        self.uniform_address_lost = true;
        Ok(())
    }

    fn writes(&mut self, word: Word) -> Result<(), Violation> {
        let (add, mul) = (word.waddr(Unit::Add), word.waddr(Unit::Mul));
        if add.is_tmu() && mul.is_tmu() {
            return self.fail(Rule::Shd15, format!("write addresses {} and {}", add.code(), mul.code()));
        }
        self.write(word, Unit::Add)?;
        self.write(word, Unit::Mul)?;
        self.live.track_clamps(word, self.info.uniforms_size);
        Ok(())
    }

    fn write(&mut self, word: Word, unit: Unit) -> Result<(), Violation> {
        let waddr = word.waddr(unit);
        if waddr.is_reg() && waddr.code() >= 16 {
            self.upper_registers.get_or_insert(self.ip);
        }
        self.live.track_immediate(word, unit);
        match waddr {
            Waddr::UNIF_ADDR => self.uniform_address_write(word, unit),
            Waddr::TMU_NOSWAP
            | Waddr::HOST_INT
            | Waddr::TLB_ALPHA_MASK
            | Waddr::VPM_ADDR
            | Waddr::MUTEX_RELEASE => self.fail(Rule::Shd14, format!("write address {}", waddr.code())),
            _ => match waddr.tmu() {
                Some(tmu) => self.tmu_write(word, unit, usize::from(tmu)),
                None => Ok(()),
            },
        }
    }

    /// SHD-16 to SHD-19, SHD-24.
    fn tmu_write(&mut self, word: Word, unit: Unit, tmu: usize) -> Result<(), Violation> {
        let submit = matches!(word.waddr(unit), Waddr::TMU0_S | Waddr::TMU1_S);
        let position = self.info.uniforms_size;
        let direct = submit && self.tmu[tmu].written == 0;
        if direct {
            let clamp = self.direct_lookup(word, unit)?;
            let sample = &mut self.tmu[tmu].sample;
            sample.direct = true;
            sample.p[1] = Some(clamp);
        } else {
            if word.reads_uniform() {
                return self.fail(Rule::Shd17, format!("TMU{tmu} parameter and uniform read"));
            }
            if self.mode == Mode::Strict && self.tmu[tmu].sample.direct {
                return self.fail(
                    Rule::Shd24,
                    format!("TMU{tmu} did a direct lookup before: the kernel takes this sample for another"),
                );
            }
        }
        let request = &mut self.tmu[tmu];
        if request.written >= TMU_PARAMETERS {
            return self.fail(Rule::Shd16, format!("fifth parameter of TMU{tmu}"));
        }
        request.sample.p[request.written] = Some(position);
        request.written += 1;
        // The word of a direct lookup is an explicit uniform read and counted as such.
        if !direct {
            if self.uniform_address_lost {
                return self.fail(Rule::Shd18, format!("TMU{tmu} parameter before a uniform address reset"));
            }
            self.info.uniforms_size += 4;
        }
        if submit {
            let sample = self.tmu[tmu].sample;
            self.info.samples.push(sample);
            // SHD-24: the kernel forgets the positions but not that the lookup was direct.
            self.tmu[tmu] =
                Request { written: 0, sample: SampleInfo { direct: sample.direct, ..Default::default() } };
        }
        Ok(())
    }

    /// SHD-19: the position of the clamp's uniform.
    fn direct_lookup(&self, word: Word, unit: Unit) -> Result<u32, Violation> {
        if word.signal() == Signal::SmallImm {
            return self.fail(Rule::Shd19, "direct lookup with a small immediate");
        }
        if unit == Unit::Mul || word.op_add() != AddOp::Add.code() {
            return self
                .fail(Rule::Shd19, "direct lookup whose address is no integer addition of the add unit");
        }
        if self.mode == Mode::Strict {
            if word.signal() == Signal::LoadImm {
                return self.fail(Rule::Shd19, "direct lookup at an immediate");
            }
            if word.cond(Unit::Add) != Cond::Always.code() || word.changes_add_value() {
                return self.fail(Rule::Shd19, "direct lookup with a condition, pack or unpack");
            }
        }
        let Some(clamp) = self.live.clamp_of_add_a(word) else {
            return self.fail(Rule::Shd19, "direct lookup: the first operand is no clamped offset");
        };
        if !word.add_b_is_uniform() {
            return self.fail(Rule::Shd19, "direct lookup: the second operand is no uniform");
        }
        Ok(clamp)
    }

    /// SHD-20.
    fn uniform_address_write(&mut self, word: Word, unit: Unit) -> Result<(), Violation> {
        let expected = self.info.uniforms_size + 4;
        let complaint = if word.writes_file_b(unit) {
            Some("relative change (file B)".to_owned())
        } else if !matches!(
            word.signal(),
            Signal::None | Signal::UnlockScoreboard | Signal::ColorLoad | Signal::LoadTmu0 | Signal::LoadTmu1
        ) {
            Some(format!("signal {}", word.signal().name()))
        } else if unit == Unit::Mul || word.op_add() != AddOp::Add.code() {
            Some("no integer addition of the add unit".to_owned())
        } else if word.cond(Unit::Add) != Cond::Always.code() {
            Some("conditional".to_owned())
        } else if word.pack() != Pack::Nop.code() && !word.pm() {
            Some("packed".to_owned())
        } else {
            match self.live.immediate_of_add_a(word) {
                None => Some("the first operand is no immediate".to_owned()),
                Some(value) if value != expected => Some(format!("offset {value}, expected {expected}")),
                Some(_) if !word.add_b_is_uniform() => Some("the second operand is no uniform".to_owned()),
                Some(_) if self.mode == Mode::Strict && word.changes_add_value() => {
                    Some("unpacked".to_owned())
                }
                Some(_) => None,
            }
        };
        if let Some(complaint) = complaint {
            return self.fail(Rule::Shd20, format!("uniform address write: {complaint}"));
        }
        self.uniform_address_lost = false;
        self.slot_wanted_by_loop = false;
        self.info.uniform_addr_slots.push(self.info.uniforms_size / 4);
        Ok(())
    }

    /// SHD-21; load immediates and branches are not looked at.
    fn reads(&mut self, word: Word) -> Result<(), Violation> {
        if word.reads_uniform() {
            self.info.uniforms_size += 4;
            if self.uniform_address_lost {
                return self.fail(Rule::Shd21, "uniform read before a uniform address reset");
            }
        }
        let upper = |raddr: u8| (16..32).contains(&raddr);
        if upper(word.raddr_a()) || word.signal() != Signal::SmallImm && upper(word.raddr_b()) {
            self.upper_registers.get_or_insert(self.ip);
        }
        Ok(())
    }

    fn branch(&mut self, word: Word) -> Result<(), Violation> {
        if word.imm() < 0 {
            self.slot_wanted_by_loop = true;
        }
        let (add, mul) = (word.waddr(Unit::Add), word.waddr(Unit::Mul));
        if add != Waddr::NOP || mul != Waddr::NOP {
            return self.fail(Rule::Shd8, format!("write addresses {} and {}", add.code(), mul.code()));
        }
        match self.last_switch {
            Some(switch) if self.ip < switch + 3 => {
                self.fail(Rule::Shd9, format!("thread switch at instruction {switch}"))
            }
            _ => Ok(()),
        }
    }

    fn thread_switch(&mut self) -> Result<(), Violation> {
        self.info.threaded = true;
        if let Some(switch) = self.last_switch.filter(|switch| self.ip < switch + 3) {
            return self.fail(Rule::Shd11, format!("thread switch at instruction {switch}"));
        }
        self.last_switch = Some(self.ip);
        Ok(())
    }

    fn finish(mut self) -> Result<ShaderInfo, Violation> {
        if let (true, Some(ip)) = (self.info.threaded, self.upper_registers) {
            return Err(self.program.violation(Rule::Shd22, ip, "register above 15 in a threaded program"));
        }
        if self.slot_wanted_by_loop {
            self.info.uniform_addr_slots.push(self.info.uniforms_size / 4);
            self.info.uniforms_size += 4;
        }
        self.info.source_size = self.info.uniforms_size + 4 * self.info.samples.len() as u32;
        Ok(self.info)
    }
}

//! The uniform stream as a program consumes it (qpu.md §4.1, §4.5, §5.3): one word per instruction that reads it, and one
//! per TMU parameter that takes its configuration from it.

use super::access::{Access, link_tmu};
use super::inst::Inst;
use super::isa::Waddr;

/// What takes a word of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UniformSource {
    /// A read of the uniform address, through either file or both.
    Read,
    /// A TMU parameter written to this address takes a configuration word.
    Tmu(Waddr),
}

/// One word of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UniformRead {
    /// The instruction that takes it.
    pub instruction: usize,
    /// What takes it.
    pub source: UniformSource,
}

/// The words that a program takes, in program order, which is the order the kernel counts them in. Both sources in one
/// instruction break a rule; the read stands first then.
pub fn uniform_reads(insts: &[Inst]) -> Vec<UniformRead> {
    let mut accesses: Vec<Access> = insts.iter().map(Access::of).collect();
    link_tmu(&mut accesses);
    let mut out = Vec::new();
    for (instruction, access) in accesses.iter().enumerate() {
        if access.reads_uniform() {
            out.push(UniformRead { instruction, source: UniformSource::Read });
        }
        if let Some(waddr) = access.tmu_write().filter(|_| access.tmu_takes_uniform) {
            out.push(UniformRead { instruction, source: UniformSource::Tmu(waddr) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::assemble;
    use super::*;

    #[test]
    fn reads_and_texture_parameters_count() {
        let text = "sig_none ; r0 = or.always(a, b, uni, uni) ; nop = nop(r0, r0) ;
            sig_none ; tmu0_t = or.always(r0, r0) ; nop = nop(r0, r0) ;
            sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop(r0, r0) ;
            sig_none ; tmu1_s = or.always(r0, r0) ; nop = nop(r0, r0) ;";
        let insts = assemble(text).expect(text).instructions().expect(text);
        let reads: Vec<_> = uniform_reads(&insts).iter().map(|r| (r.instruction, r.source)).collect();
        let tmu = UniformSource::Tmu;
        assert_eq!(reads, [(0, UniformSource::Read), (1, tmu(Waddr::TMU0_T)), (2, tmu(Waddr::TMU0_S))]);
    }
}

//! Assembly modules as rpi-vk-driver takes them: the third word of `pCode` is a magic number, the fifth the address
//! of a structure. An address is one word there, so this works in 32-bit processes.
//!
//! The structure holds, in words: type, next pointer, and the addresses of four arrays of four: addresses of
//! instructions, numbers of instructions, addresses of mappings, numbers of mappings. The arrays are indexed by stage:
//! coordinate, vertex, fragment, compute. A mapping is six words: kind, descriptor type, set, binding, element,
//! byte offset. Without mappings of its own the coordinate program has those of the vertex program.
//!
//! Reading goes through [`Memory`], so that the layout is tested wherever addresses are longer.

use ash::vk;
use vc4::qpu::{Inst, Stage, UniformSource, Waddr, uniform_reads};
use vc4_shaders::program::{Descriptor, Lookup, UniformSlot};

use super::{Code, MAX_INSTRUCTIONS, MAX_UNIFORMS, Mode, Module, RasterWindow, Source, Word, refuse, wrong};
use crate::foundation::error::Error;

/// The third word of such a module.
pub const MAGIC: u32 = 0x14e4_5250;
/// Words up to the structure's address.
const HEADER_WORDS: usize = 5;

const DESCRIPTOR: u32 = 0;
const PUSH_CONSTANT: u32 = 1;

/// Stages by index in the arrays; the fourth is compute.
const STAGES: [Stage; 3] = [Stage::Coordinate, Stage::Vertex, Stage::Fragment];
const COMPUTE: usize = 3;

/// The memory of the process that a module is created in.
pub trait Memory {
    /// `count` words of 32 bits at an address; `None` if they cannot be there.
    fn words(&self, address: u32, count: u32) -> Option<Vec<u32>>;
}

/// The address of the structure, if `code` is such a module.
pub fn address(code: &[u32]) -> Option<u32> {
    (code.len() >= HEADER_WORDS && code[2] == MAGIC).then(|| code[4])
}

/// Reads the module whose structure is at `address`.
///
/// # Errors
/// An address that leads nowhere, or a module that is none.
pub fn read(memory: &impl Memory, address: u32) -> Result<Module, Error> {
    let structure = words(memory, "the structure", address, 6)?;
    let [_, _, instructions, counts, mappings, mapping_counts] = structure[..] else {
        return refuse("the structure is incomplete");
    };
    let instructions = words(memory, "instructions", instructions, 4)?;
    let counts = words(memory, "numInstructions", counts, 4)?;
    let optional = |what, address| match address {
        0 => Ok(vec![0; 4]),
        address => words(memory, what, address, 4),
    };
    let mappings = optional("mappings", mappings)?;
    let mapping_counts = optional("numMappings", mapping_counts)?;
    if instructions[COMPUTE] != 0 {
        return refuse(
            "a compute program: the kernel starts none on this GPU; give compute stages in SPIR-V",
        );
    }
    let mut programs = Vec::new();
    let mut lookups = Vec::new();
    for (index, stage) in STAGES.into_iter().enumerate().filter(|(index, _)| instructions[*index] != 0) {
        if counts[index] as usize > MAX_INSTRUCTIONS {
            return refuse(format!("{} instructions, at most {MAX_INSTRUCTIONS}", counts[index]));
        }
        let halves = words(memory, "a program", instructions[index], 2 * counts[index])?;
        let code: Vec<u64> =
            halves.chunks_exact(2).map(|pair| u64::from(pair[1]) << 32 | u64::from(pair[0])).collect();
        // The coordinate program without mappings of its own has those of the vertex program.
        let from = if stage == Stage::Coordinate && mapping_counts[index] == 0 { 1 } else { index };
        let mappings = read_mappings(memory, mappings[from], mapping_counts[from])?;
        let uniforms = expand(&code, &mappings, &mut lookups)?;
        // The position is always at location 0.
        let inputs = if stage == Stage::Coordinate { vec![(0, 0)] } else { Vec::new() };
        let source = Source::new(stage, &Code::Words(&code), Some(uniforms))?;
        programs.push(Source { inputs, ..source });
    }
    Module::new(Module {
        mode: Mode::Raw,
        window: RasterWindow::Viewport,
        lenient: true,
        lookups,
        programs,
        varyings: None,
        flat: 0,
        names: Vec::new(),
    })
}

fn words(memory: &impl Memory, what: &str, address: u32, count: u32) -> Result<Vec<u32>, Error> {
    let words = if address == 0 || address % 4 != 0 { None } else { memory.words(address, count) };
    words.ok_or_else(|| wrong(format!("{what}: there are no {count} words at address {address:#x}")))
}

/// One mapping.
enum Mapping {
    /// A push-constant word at a byte offset.
    Push(u32),
    /// The parameters of a lookup of an image.
    Image(Descriptor),
    /// The buffer of a direct lookup, whose words are other mappings.
    Buffer(Descriptor),
}

fn read_mappings(memory: &impl Memory, address: u32, count: u32) -> Result<Vec<Mapping>, Error> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if count > MAX_UNIFORMS {
        return refuse(format!("{count} mappings, at most {MAX_UNIFORMS}"));
    }
    let words = words(memory, "mappings of a program", address, 6 * count)?;
    words.chunks_exact(6).map(mapping).collect()
}

fn mapping(words: &[u32]) -> Result<Mapping, Error> {
    let &[kind, ty, set, binding, element, offset] = words else { return refuse("an incomplete mapping") };
    let descriptor = Descriptor { set, binding, element };
    match (kind, vk::DescriptorType::from_raw(ty as i32)) {
        (PUSH_CONSTANT, _) if offset % 4 == 0 => Ok(Mapping::Push(offset)),
        (PUSH_CONSTANT, _) => refuse(format!("push constant byte {offset} is not the start of a word")),
        (
            DESCRIPTOR,
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER
            | vk::DescriptorType::SAMPLED_IMAGE
            | vk::DescriptorType::STORAGE_IMAGE,
        ) => Ok(Mapping::Image(descriptor)),
        (
            DESCRIPTOR,
            vk::DescriptorType::UNIFORM_BUFFER
            | vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC
            | vk::DescriptorType::STORAGE_BUFFER
            | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
        ) => Ok(Mapping::Buffer(descriptor)),
        (DESCRIPTOR, ty) => refuse(format!("a mapping to a descriptor of type {ty:?}")),
        _ => refuse(format!("a mapping of kind {kind}")),
    }
}

/// The words of a stream: an image stands for all parameters of one lookup.
fn expand(code: &[u64], mappings: &[Mapping], lookups: &mut Vec<Descriptor>) -> Result<Vec<Word>, Error> {
    let insts: Vec<Inst> = code.iter().map(|&word| Inst::decode(word).unwrap_or(Inst::NOP)).collect();
    let reads = uniform_reads(&insts);
    let mut reads = reads.iter().peekable();
    let mut out = Vec::new();
    for mapping in mappings {
        match mapping {
            Mapping::Push(offset) => {
                reads.next();
                out.push(Word::Slot(UniformSlot::Push(*offset)));
            }
            Mapping::Buffer(buffer) => lookups.push(*buffer),
            Mapping::Image(image) => {
                let mut parameter = 0;
                loop {
                    let next = reads.next_if(|read| matches!(read.source, UniformSource::Tmu(_)));
                    let Some(UniformSource::Tmu(waddr)) = next.map(|read| read.source) else {
                        return refuse("an image is mapped where the program does not begin a lookup");
                    };
                    out.push(Word::Slot(parameter_of(*image, parameter)));
                    parameter += 1;
                    if matches!(waddr, Waddr::TMU0_S | Waddr::TMU1_S) {
                        break;
                    }
                }
            }
        }
    }
    Ok(out)
}

fn parameter_of(image: Descriptor, parameter: u32) -> UniformSlot {
    match parameter {
        0 => UniformSlot::TextureP0(Lookup::combined(image)),
        1 => UniformSlot::TextureP1(Lookup::combined(image)),
        2 => UniformSlot::TextureP2 { lookup: Lookup::combined(image), explicit_lod: false },
        _ => UniformSlot::Const(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4::qpu::assemble;

    /// Memory of a 32-bit process that begins at [`START`].
    #[derive(Default)]
    struct Image(Vec<u32>);

    const START: u32 = 0x1_0000;

    impl Memory for Image {
        fn words(&self, address: u32, count: u32) -> Option<Vec<u32>> {
            let at = (address.checked_sub(START)? / 4) as usize;
            self.0.get(at..at.checked_add(count as usize)?).map(<[u32]>::to_vec)
        }
    }

    impl Image {
        fn put(&mut self, words: &[u32]) -> u32 {
            let address = START + 4 * self.0.len() as u32;
            self.0.extend_from_slice(words);
            address
        }

        fn program(&mut self, text: &str) -> (u32, u32) {
            let words = assemble(text).unwrap().words;
            let halves: Vec<u32> = words.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).collect();
            (self.put(&halves), words.len() as u32)
        }

        /// The structure of programs and mappings by stage.
        fn module(&mut self, programs: [&str; 4], mappings: [&[[u32; 6]]; 4]) -> u32 {
            let programs = programs.map(|text| if text.is_empty() { (0, 0) } else { self.program(text) });
            let mappings = mappings.map(|rows| match rows {
                [] => (0, 0),
                rows => (self.put(rows.as_flattened()), rows.len() as u32),
            });
            let arrays = [
                self.put(&programs.map(|p| p.0)),
                self.put(&programs.map(|p| p.1)),
                self.put(&mappings.map(|m| m.0)),
                self.put(&mappings.map(|m| m.1)),
            ];
            self.put(&[0, 0, arrays[0], arrays[1], arrays[2], arrays[3]])
        }
    }

    const END: &str = "sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
        sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
        sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;";
    const READ: &str = "sig_none ; r0 = or.always(a, a, uni, nop) ; nop = nop(r0, r0) ;\n";
    const SAMPLE: &str = "sig_none ; tmu0_r = or.always(r0, r0) ; nop = nop(r0, r0) ;
        sig_none ; tmu0_t = or.always(r0, r0) ; nop = nop(r0, r0) ;
        sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop(r0, r0) ;\n";
    const PUSH: [u32; 6] = [1, 0x7fff_ffff, 0, 0, 0, 8];
    const TEXTURE: [u32; 6] = [0, 1, 2, 3, 4, 0];

    fn fails(image: &Image, address: u32) -> String {
        read(image, address).unwrap_err().to_string()
    }

    #[test]
    fn programs_and_mappings_are_found() {
        let mut image = Image::default();
        let read_twice = format!("{READ}{END}");
        let fragment = format!("{READ}{SAMPLE}{READ}{END}");
        let address = image
            .module([&read_twice, &read_twice, &fragment, ""], [&[], &[PUSH], &[PUSH, TEXTURE, PUSH], &[]]);
        let module = read(&image, address).unwrap();
        assert_eq!((module.mode, module.window), (Mode::Raw, RasterWindow::Viewport));
        let words = |stage| module.program(stage).unwrap().uniforms.clone();
        let push = Word::Slot(UniformSlot::Push(8));
        assert_eq!(words(Stage::Vertex), [push]);
        assert_eq!(words(Stage::Coordinate), [push], "the vertex program's mapping");
        let image = Descriptor { set: 2, binding: 3, element: 4 };
        let slots = [
            UniformSlot::TextureP0(Lookup::combined(image)),
            UniformSlot::TextureP1(Lookup::combined(image)),
            UniformSlot::TextureP2 { lookup: Lookup::combined(image), explicit_lod: false },
        ];
        let [p0, p1, p2] = slots.map(Word::Slot);
        assert_eq!(words(Stage::Fragment), [push, p0, p1, p2, push]);
        assert_eq!(module.program(Stage::Coordinate).unwrap().inputs, [(0, 0)]);
        assert_eq!(module.program(Stage::Vertex).unwrap().inputs, []);
    }

    #[test]
    fn addresses_that_lead_nowhere_are_errors() {
        let mut image = Image::default();
        let address = image.module(["", "", END, ""], [&[]; 4]);
        read(&image, address).unwrap();
        for bad in [0, 4, START - 4, START + 1, u32::MAX, u32::MAX - 3, address + 4] {
            assert!(read(&image, bad).is_err(), "{bad:#x}");
        }
        assert!(fails(&image, 0).contains("the structure"));
        // Every word of the structure and of its arrays, one at a time.
        let end = image.0.len();
        for at in end - 22..end {
            for word in [1, 6, 0xffff_fffc, u32::MAX] {
                let old = std::mem::replace(&mut image.0[at], word);
                let _ = read(&image, address);
                image.0[at] = old;
            }
        }
    }

    #[test]
    fn what_is_no_module_is_refused() {
        let mut image = Image::default();
        let mut refused = |programs, mappings: [&[[u32; 6]]; 4]| {
            let address = image.module(programs, mappings);
            fails(&image, address)
        };
        assert!(refused(["", "", "", ""], [&[]; 4]).contains("no program"));
        assert!(refused(["", END, "", ""], [&[]; 4]).contains("coordinate program is missing"));
        assert!(refused(["", "", "", END], [&[]; 4]).contains("compute"));
        let read = format!("{READ}{END}");
        assert!(refused(["", "", &read, ""], [&[]; 4]).contains("takes 1 uniform"));
        assert!(refused(["", "", &read, ""], [&[], &[], &[TEXTURE], &[]]).contains("begin a lookup"));
        assert!(refused(["", "", &read, ""], [&[], &[], &[[2, 0, 0, 0, 0, 0]], &[]]).contains("kind 2"));
        let odd = [1, 0, 0, 0, 0, 2];
        assert!(refused(["", "", &read, ""], [&[], &[], &[odd], &[]]).contains("start of a word"));
        let wrong = [0, 10, 0, 0, 0, 0];
        assert!(refused(["", "", &read, ""], [&[], &[], &[wrong], &[]]).contains("INPUT_ATTACHMENT"));
    }

    #[test]
    fn the_magic_number_tells_a_module() {
        assert_eq!(address(&[0x0723_0203, 0x10000, MAGIC, 1, 0x1234, 1 << 16]), Some(0x1234));
        assert_eq!(address(&[0x0723_0203, 0x10000, MAGIC, 1]), None);
        assert_eq!(address(&[0x0723_0203, 0x10000, 7, 1, 0]), None);
    }
}

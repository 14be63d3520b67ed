//! Assembly modules that are refused: with an error and a message, never a crash. And the C header against the
//! structures that the driver reads.

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

use ash::vk;
use support::Vk;
use support::assembly::{
    COORDINATE, FRAGMENT, PATCHED, RAW, VERTEX, create, info, keep_log, log_of_this_thread, module, qasm,
    text, words,
};
use support::canvas::{Canvas, FLOAT_COLOR, POSITION, Parts, Setup, WRITE, build, spirv_module};
use vulkan_vc4::assembly::uniform::{SOURCES, form, table};
use vulkan_vc4::entry::assembly::{
    AUTO, AssemblyCreateInfo, AssemblyInput, AssemblyProgram, AssemblyUniform, AssemblyVarying, BGRA_COLOR,
    FLOAT_COLOR as FLOAT_COLOR_BIT, STRUCTURE_TYPE, VERSION, VERTEX_INDEX, VIEWPORT_RASTER,
};

const END: &str = "sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
    sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
    sig_unlock_score ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;";
const NOP: &str = "sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;\n";

fn start() -> Vk {
    keep_log();
    Vk::new()
}

/// The module is refused with this message.
#[track_caller]
fn refused(vk: &Vk, info: &AssemblyCreateInfo, message: &str) {
    log_of_this_thread();
    assert_eq!(create(vk, info), Err(vk::Result::ERROR_INVALID_SHADER_NV), "{message}");
    let log = log_of_this_thread();
    assert!(log.contains("vkCreateShaderModule") && log.contains(message), "{message:?} in {log}");
}

#[test]
fn structures_that_say_nonsense() {
    let vk = start();
    let program = text(FRAGMENT, END);
    let good = info(RAW, std::slice::from_ref(&program));
    create(&vk, &good).unwrap();
    let with = |change: &dyn Fn(&mut AssemblyCreateInfo)| {
        let mut info = good;
        change(&mut info);
        info
    };
    refused(&vk, &with(&|i| i.version = 0), "version 0");
    refused(&vk, &with(&|i| i.version = 2), "knows version 1");
    refused(&vk, &with(&|i| i.flags = 2), "unknown flags 0x2");
    refused(&vk, &with(&|i| i.mode = 2), "mode 2");
    refused(&vk, &with(&|i| (i.mode, i.flags) = (0, 1)), "for raw programs");
    refused(&vk, &with(&|i| i.program_count = 0), "no program");
    refused(&vk, &with(&|i| i.program_count = u32::MAX), "count of 4294967295");
    refused(&vk, &with(&|i| i.programs = ptr::null()), "pPrograms");
    refused(&vk, &with(&|i| i.programs = ptr::without_provenance(1)), "pPrograms");
    refused(&vk, &with(&|i| i.varying_count = 33), "33 varyings");
    let name = AssemblyVarying { location: 0, component: 4 };
    refused(&vk, &with(&|i| i.varyings = &name), "without a varyingCount");
    refused(&vk, &with(&|i| (i.varying_count, i.varyings) = (1, &name)), "component 4");
    refused(&vk, &with(&|i| (i.varying_count, i.varyings) = (AUTO - 1, &name)), "pVaryings");
}

#[test]
fn programs_that_say_nonsense() {
    let vk = start();
    let refused = |program: AssemblyProgram, message: &str| {
        refused(&vk, &info(RAW, std::slice::from_ref(&program)), message);
    };
    let good = text(FRAGMENT, END);
    let input = AssemblyInput { location: 0, components: 5 };
    refused(AssemblyProgram { stage: 3, ..good }, "stage 3");
    refused(AssemblyProgram { flags: 8, ..good }, "flags 0x8");
    refused(AssemblyProgram { flags: VERTEX_INDEX, ..good }, "flags 0x1");
    refused(AssemblyProgram { flags: BGRA_COLOR | FLOAT_COLOR_BIT, ..good }, "flags 0x6");
    refused(AssemblyProgram { stage: VERTEX, flags: BGRA_COLOR, ..good }, "flags 0x2");
    refused(AssemblyProgram { input_count: 1, inputs: &input, ..good }, "no attributes");
    let vertex = AssemblyProgram { stage: VERTEX, ..good };
    refused(AssemblyProgram { input_count: 1, ..vertex }, "pInputs");
    refused(AssemblyProgram { input_count: 1, inputs: &input, ..vertex }, "5 components");
    let twice = [AssemblyInput::default(); 2];
    refused(AssemblyProgram { input_count: 2, inputs: twice.as_ptr(), ..vertex }, "must increase");
    refused(AssemblyProgram { text: ptr::null(), ..good }, "neither pText nor pWords");
    refused(AssemblyProgram { words: &0, word_count: 1, ..good }, "pText and pWords");
    refused(AssemblyProgram { text_size: usize::MAX, ..good }, "pText");
    refused(AssemblyProgram { text: c"\xff\xfe".as_ptr(), text_size: 0, ..good }, "UTF-8");
    refused(AssemblyProgram { uniform_count: 1, ..good }, "pUniforms");
    let uniform = AssemblyUniform { source: 99, ..AssemblyUniform::default() };
    refused(
        AssemblyProgram { uniform_count: 1, uniforms: &uniform, ..good },
        "pUniforms[0]: uniform source 99",
    );
    refused(AssemblyProgram { uniform_count: u32::MAX, uniforms: &uniform, ..good }, "pUniforms");
    let odd = AssemblyUniform { source: 2, value: 3, ..AssemblyUniform::default() };
    refused(AssemblyProgram { uniform_count: 1, uniforms: &odd, ..good }, "start of a word");
    let word = AssemblyUniform::default();
    let three = [word; 3];
    refused(AssemblyProgram { uniform_count: 3, uniforms: three.as_ptr(), ..good }, "takes 0 uniform words");
    refused(words(FRAGMENT, &[u64::MAX], &[]), "instruction 0, 0xffffffffffffffff");
    refused(AssemblyProgram { word_count: usize::MAX, ..words(FRAGMENT, &[0], &[]) }, "pWords");
    refused(text(FRAGMENT, "sig_none ; r9 = or.always(r0, r0) ; nop = nop(r0, r0) ;"), "1:12");
    refused(vertex, "coordinate program is missing");
    refused(AssemblyProgram { stage: COORDINATE, ..good }, "vertex program is missing");
    // A text that ends with a zero byte.
    let ended = format!("{END}\0 what follows is not read");
    let ended = AssemblyProgram { text_size: 0, ..text(FRAGMENT, &ended) };
    create(&vk, &info(RAW, &[ended])).unwrap();
}

#[test]
#[cfg(target_pointer_width = "64")]
fn an_address_in_a_word_is_for_32_bit_processes() {
    let vk = start();
    let code = [0x0723_0203, 0x10000, 0x14e4_5250, 1, 0x1000, 1 << 16];
    let info = vk::ShaderModuleCreateInfo::default().code(&code);
    // SAFETY: the driver does not follow the address.
    let made = unsafe { vk.device.create_shader_module(&info, None) };
    assert_eq!(made, Err(vk::Result::ERROR_INVALID_SHADER_NV));
    assert!(log_of_this_thread().contains("VkShaderModuleAssemblyCreateInfoVC4"));
}

/// Modules that pipelines refuse.
struct Bench {
    vk: Vk,
    canvas: Canvas,
    vertex: vk::ShaderModule,
    fragment: vk::ShaderModule,
}

impl Bench {
    fn new() -> Bench {
        let vk = start();
        let canvas = Canvas::new(&vk, 64, true, vk::AttachmentLoadOp::CLEAR);
        let position = AssemblyInput::default();
        let coordinate = text(COORDINATE, qasm!("raw.coord"));
        let coordinate = AssemblyProgram { input_count: 1, inputs: &position, ..coordinate };
        let vertex = module(&vk, RAW, &[text(VERTEX, qasm!("raw.vert")), coordinate]);
        let fragment = module(&vk, RAW, &[text(FRAGMENT, qasm!("color.frag"))]);
        Bench { vk, canvas, vertex, fragment }
    }

    fn build(
        &self,
        vertex: vk::ShaderModule,
        fragment: vk::ShaderModule,
        setup: &Setup,
    ) -> Result<(), String> {
        log_of_this_thread();
        let parts = Parts::new(&self.vk, vertex, fragment, &[POSITION, FLOAT_COLOR]);
        match build(&self.vk, &self.canvas, setup, &parts) {
            Ok(_) => Ok(()),
            Err(vk::Result::ERROR_INVALID_SHADER_NV) => Err(log_of_this_thread()),
            Err(other) => panic!("{other}"),
        }
    }

    #[track_caller]
    fn refuses(&self, vertex: vk::ShaderModule, fragment: vk::ShaderModule, message: &str) {
        let log = self.build(vertex, fragment, &Setup::default()).unwrap_err();
        assert!(log.contains("vkCreateGraphicsPipelines") && log.contains(message), "{message:?} in {log}");
    }

    #[track_caller]
    fn refuses_fragment(&self, code: &str, message: &str) {
        let fragment = module(&self.vk, RAW, &[text(FRAGMENT, code)]);
        self.refuses(self.vertex, fragment, message);
    }
}

#[test]
fn programs_that_break_rules_are_refused_with_the_checkers_words() {
    let bench = Bench::new();
    bench.build(bench.vertex, bench.fragment, &Setup::default()).unwrap();
    let good = qasm!("color.frag");
    // The machine's rules.
    bench.refuses_fragment(&good.replace("sig_unlock_score", "sig_none"), "scoreboard-release");
    let early = "sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop(r0, r0) ;\n";
    bench.refuses_fragment(&format!("{early}{END}"), "start-scoreboard");
    let latency = "sig_none ; rx3 = or.always(r0, r0) ; nop = nop(r0, r0) ;
        sig_none ; r0 = or.always(a, a, ra3) ; nop = nop(r0, r0) ;\n";
    bench.refuses_fragment(&format!("{latency}{good}"), "file-latency");
    bench.refuses_fragment(NOP, "end-missing");
    // The kernel's rules.
    let swap = "sig_none ; tmu_noswap = or.always(r0, r0) ; nop = nop(r0, r0) ;\n";
    bench.refuses_fragment(&format!("{swap}{good}"), "SHD-14");
}

#[test]
fn programs_that_do_not_go_together() {
    let bench = Bench::new();
    let Bench { vk, vertex, fragment, .. } = &bench;
    bench.refuses(*fragment, *fragment, "no vertex program");
    bench.refuses(*vertex, *vertex, "no fragment program");
    let spirv = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/shaders/pos_color.frag.spv"));
    bench.refuses(*vertex, spirv_module(vk, spirv), "fragment stage of SPIR-V");
    // Three varyings where the vertex program writes four.
    let three = qasm!("color.frag").replacen(
        "r3 = fadd.always(r3, r5) ; nop = nop(r0, r0) ;",
        "nop = nop(r0, r0) ; nop = nop(r0, r0) ;",
        1,
    );
    let three = three.replace("r2 = fadd.always(r2, r5, pay_zw, vary)", "r2 = fadd.always(r2, r5, pay_zw)");
    bench.refuses_fragment(&three, "writes 7 words to the VPM, 6 are needed");
    // Points put two varyings in front, and a size behind the header.
    let points = Setup { topology: vk::PrimitiveTopology::POINT_LIST, ..Setup::default() };
    let log = bench.build(*vertex, *fragment, &points).unwrap_err();
    assert!(log.contains("words to the VPM"), "{log}");
    // A declared number of varyings that is not read.
    let program = text(FRAGMENT, qasm!("color.frag"));
    let mut info = info(RAW, std::slice::from_ref(&program));
    info.varying_count = 5;
    bench.refuses(*vertex, create(vk, &info).unwrap(), "varyings-left");
    // More attributes than are loaded.
    let coordinate = text(COORDINATE, qasm!("raw.coord"));
    let position = AssemblyInput::default();
    let short = AssemblyProgram { input_count: 1, inputs: &position, ..text(VERTEX, qasm!("raw.vert")) };
    let module = |programs: &[AssemblyProgram]| module(vk, RAW, programs);
    bench.refuses(
        module(&[short, coordinate]),
        *fragment,
        "reads 7 words of attributes per vertex, 3 are loaded",
    );
    let absent = AssemblyInput { location: 7, components: 0 };
    let absent = AssemblyProgram { input_count: 1, inputs: &absent, ..text(VERTEX, qasm!("raw.vert")) };
    bench.refuses(module(&[absent, coordinate]), *fragment, "loads location 7");
}

#[test]
fn words_that_the_pipeline_does_not_have() {
    let bench = Bench::new();
    let read = "sig_none ; r0 = or.always(a, a, uni) ; nop = nop(r0, r0) ;\n";
    let refused = |name: &str, message: &str| {
        bench.refuses_fragment(&format!(".uniform {name}\n{read}{}", qasm!("color.frag")), message);
    };
    refused("push[0]", "the pipeline layout has 0 bytes");
    refused("ubo[0][1][0]", "set 0, binding 1 is not in the pipeline layout");
    refused("tex.width[3][1]", "set 3, binding 1 is not in the pipeline layout");
    refused("spec[4]", "specialization constant 4 has no value");
    refused("instance.attribute[0][0]", "no attribute that advances per instance");
    refused("stream", "which it cannot be here");
}

const HEADER: &str = include_str!("../include/vulkan_vc4.h");

#[test]
fn header_table_and_page_say_the_same() {
    for source in SOURCES {
        let value = format!("VK_ASSEMBLY_UNIFORM_{}_VC4 = {},", source.constant, source.number);
        assert!(HEADER.contains(&value), "{value}");
        let name = form(source);
        let described = HEADER.lines().any(|line| {
            line.trim_start().starts_with("/* [")
                && (line.contains(&format!("[{name}]")) || line.contains(&format!(" {name}]")))
        });
        assert!(described, "{name} in a comment");
    }
    let page = include_str!("../ASSEMBLY.md");
    assert!(page.contains(&table()), "the table of ASSEMBLY.md should be:\n{}", table());
}

fn compile(compiler: &str, arguments: &[&str], source: &Path, out: &Path) {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut command = Command::new(compiler);
    command.args(arguments).args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-I"]).arg(include);
    let output =
        command.arg(source).arg("-o").arg(out).output().unwrap_or_else(|error| {
            panic!("{compiler}: {error}: install Debian's gcc, g++ and libvulkan-dev")
        });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn scratch(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("assembly-header");
    std::fs::create_dir_all(&directory).unwrap();
    directory.join(name)
}

macro_rules! layout {
    ($($c:literal $rust:ident { $($c_field:literal $field:ident),* };)*) => {{
        let mut checks = String::new();
        $(
            let size = size_of::<$rust>();
            checks.push_str(&format!("CHECK(sizeof({}) == {size})\n", $c));
            $(
                let offset = std::mem::offset_of!($rust, $field);
                checks.push_str(&format!("CHECK(offsetof({}, {}) == {offset})\n", $c, $c_field));
            )*
        )*
        checks
    }};
}

/// A C program that compiles if the header has these sizes, places and values.
fn checks() -> String {
    let mut checks = layout! {
        "VkAssemblyUniformVC4" AssemblyUniform {
            "source" source, "set" set, "binding" binding, "element" element, "value" value
        };
        "VkAssemblyVaryingVC4" AssemblyVarying { "location" location, "component" component };
        "VkAssemblyInputVC4" AssemblyInput { "location" location, "components" components };
        "VkAssemblyProgramVC4" AssemblyProgram {
            "stage" stage, "flags" flags, "inputCount" input_count, "pInputs" inputs,
            "uniformCount" uniform_count, "pUniforms" uniforms, "pText" text, "textSize" text_size,
            "pWords" words, "wordCount" word_count
        };
        "VkShaderModuleAssemblyCreateInfoVC4" AssemblyCreateInfo {
            "sType" s_type, "pNext" p_next, "version" version, "flags" flags, "mode" mode,
            "programCount" program_count, "pPrograms" programs, "varyingCount" varying_count,
            "flatVaryings" flat_varyings, "pVaryings" varyings
        };
    };
    let mut value = |name: &str, value: u32| {
        checks.push_str(&format!("CHECK((unsigned)({name}) == {value}u)\n"));
    };
    value("VK_STRUCTURE_TYPE_SHADER_MODULE_ASSEMBLY_CREATE_INFO_VC4", STRUCTURE_TYPE as u32);
    value("VK_ASSEMBLY_VERSION_VC4", VERSION);
    value("VK_ASSEMBLY_AUTO_VC4", AUTO);
    value("VK_ASSEMBLY_VIEWPORT_RASTER_BIT_VC4", VIEWPORT_RASTER);
    value("VK_ASSEMBLY_PROGRAM_VERTEX_INDEX_BIT_VC4", VERTEX_INDEX);
    value("VK_ASSEMBLY_PROGRAM_BGRA_COLOR_BIT_VC4", BGRA_COLOR);
    value("VK_ASSEMBLY_PROGRAM_FLOAT_COLOR_BIT_VC4", FLOAT_COLOR_BIT);
    value("VK_ASSEMBLY_STAGE_COORDINATE_VC4", COORDINATE);
    value("VK_ASSEMBLY_STAGE_VERTEX_VC4", VERTEX);
    value("VK_ASSEMBLY_STAGE_FRAGMENT_VC4", FRAGMENT);
    value("VK_ASSEMBLY_MODE_PATCHED_VC4", PATCHED);
    value("VK_ASSEMBLY_MODE_RAW_VC4", RAW);
    for source in SOURCES {
        value(&format!("VK_ASSEMBLY_UNIFORM_{}_VC4", source.constant), source.number);
    }
    let check = "#define CHECK(what) { const char checked[(what) ? 1 : -1] = {0}; (void)checked; }";
    format!("#include \"vulkan_vc4.h\"\n{check}\nint main(void)\n{{\n{checks}return 0;\n}}\n")
}

#[test]
fn the_header_is_c_and_cpp_with_the_drivers_layout() {
    let (c, cpp) = (scratch("checks.c"), scratch("checks.cpp"));
    std::fs::write(&c, checks()).unwrap();
    std::fs::write(&cpp, checks()).unwrap();
    compile("gcc", &["-std=c99"], &c, &scratch("checks-c"));
    compile("g++", &["-std=c++11"], &cpp, &scratch("checks-cpp"));
}

/// Pseudo-random numbers, the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Words with some bits changed, and perhaps an instruction moved, repeated or left out.
fn damaged(words: &[u64], random: &mut Random) -> Vec<u64> {
    let mut words = words.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(words.len());
        match random.below(5) {
            0 => words.swap(at, 0),
            1 => words.insert(at, words[at]),
            2 if words.len() > 1 => drop(words.remove(at)),
            _ => words[at] ^= 1 << random.below(64),
        }
    }
    words
}

#[test]
fn damaged_programs_are_built_or_refused() {
    let bench = Bench::new();
    let vk = &bench.vk;
    let assembled = |text: &str| vc4::qpu::assemble(text).unwrap().words;
    let fragments = [qasm!("color.frag"), qasm!("raw_depth.frag")].map(assembled);
    let vertices = [qasm!("patched.vert"), qasm!("raw.vert")].map(assembled);
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut built, mut refused) = (0, 0);
    let patched = module(vk, PATCHED, &[text(VERTEX, qasm!("patched.vert"))]);
    for round in 0..400 {
        let mode = [PATCHED, RAW][round % 2];
        let blend = vk::PipelineColorBlendAttachmentState { blend_enable: vk::TRUE, ..WRITE };
        let setup = Setup { blend, depth: Some(vk::CompareOp::LESS), ..Setup::default() };
        let constant = [AssemblyUniform::default(); 16];
        let create = |stage, words_of: &[u64], others: &[AssemblyProgram]| {
            let insts: Option<Vec<vc4::qpu::Inst>> =
                words_of.iter().map(|&word| vc4::qpu::Inst::decode(word).ok()).collect();
            let takes = vc4::qpu::uniform_reads(&insts?).len().min(16);
            let programs = [&[words(stage, words_of, &constant[..takes])], others].concat();
            create(vk, &info(mode, &programs)).ok()
        };
        let code = damaged(&fragments[random.below(2)], &mut random);
        let outcome = match round % 4 {
            0 | 1 => {
                let vertex = if mode == RAW { bench.vertex } else { patched };
                create(FRAGMENT, &code, &[]).map(|fragment| bench.build(vertex, fragment, &setup))
            }
            _ => {
                let code = damaged(&vertices[round % 2], &mut random);
                let coordinate = text(COORDINATE, qasm!("raw.coord"));
                let others = if mode == RAW { vec![coordinate] } else { Vec::new() };
                create(VERTEX, &code, &others).map(|vertex| bench.build(vertex, bench.fragment, &setup))
            }
        };
        match outcome {
            Some(Ok(())) => built += 1,
            _ => refused += 1,
        }
    }
    assert!(built > 20 && refused > 100, "{built} built, {refused} refused");
}

//! `vc4 check`

use crate::input::{Form, Program};
use crate::output::{self, Error, Status, json_list, json_string};
use std::path::PathBuf;
use vc4::qpu::{Declared, Inst, Stage, check_declared, rules};
use vc4_kernel_abi::validate::{Mode, Place, shader};

const EXAMPLES: &str = "\
Examples:
  vc4 check --stage fragment shader.qpu
  vc4 check --stage vertex --hex words.txt
  vc4 check --stage fragment --varyings 4 --listing shader.qpu
  vc4 check --stage fragment --rules kernel --bin captured.bin

One finding per line, with the rule's name and its place in the manual: `vc4 isa rules` lists them.";

/// What a program runs for.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum StageName {
    Vertex,
    Coordinate,
    Fragment,
}

/// Whose rules.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum RuleSet {
    /// Of the machine and of the Linux kernel's validator.
    All,
    /// Of the machine.
    Machine,
    /// Of the Linux kernel's validator.
    Kernel,
}

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Program text or words; standard input without
    file: Option<PathBuf>,
    /// What the program runs for
    #[arg(long, value_enum)]
    stage: StageName,
    #[command(flatten)]
    form: Form,
    /// Number of scalar varyings that the shader record declares
    #[arg(long, value_name = "N")]
    varyings: Option<u8>,
    /// Whose rules
    #[arg(long, value_enum, default_value_t = RuleSet::All)]
    rules: RuleSet,
    /// Print the whole program with the findings under their instructions
    #[arg(long, conflicts_with = "json")]
    listing: bool,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// A finding of either rule set.
struct Finding {
    instruction: usize,
    rule: String,
    message: String,
    manual: String,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let program = Program::read(options.file.as_deref(), options.form)?;
    let mut findings = Vec::new();
    if options.rules != RuleSet::Kernel {
        let insts = program.instructions()?;
        let violations = check_declared(stage(options), &insts, Declared { varyings: options.varyings });
        if options.listing {
            output::print(&rules::render(&insts, &violations))?;
        }
        findings.extend(violations.iter().map(|violation| Finding {
            instruction: violation.index,
            rule: violation.rule.id.to_string(),
            message: violation.message.clone(),
            manual: format!("qpu.md {}", violation.rule.manual),
        }));
    } else if options.listing {
        output::print(&vc4::qpu::disassemble(&program.words))?;
    }
    if options.rules != RuleSet::Machine {
        findings.extend(kernel(&program.words, options));
    }
    findings.sort_by_key(|finding| finding.instruction);
    output::print(&printed(&program, &findings, options))?;
    Ok(Status::of_findings(!findings.is_empty()))
}

fn stage(options: &Options) -> Stage {
    match options.stage {
        StageName::Vertex => Stage::Vertex,
        StageName::Coordinate => Stage::Coordinate,
        StageName::Fragment => Stage::Fragment,
    }
}

/// The kernel stops at the first fault. Beyond the program itself it asks that only fragment programs switch threads.
fn kernel(words: &[u64], options: &Options) -> Option<Finding> {
    let fragment = matches!(options.stage, StageName::Fragment);
    match shader::validate(words, Mode::Faithful) {
        Ok(info) if info.threaded && !fragment && options.rules == RuleSet::Kernel => Some(Finding {
            instruction: words.iter().position(|&word| switches(word)).unwrap_or(0),
            rule: "threads".into(),
            message: "the kernel takes vertex and coordinate programs without thread switches only".into(),
            manual: "qpu.md §5.3".into(),
        }),
        Ok(_) => None,
        Err(violation) => Some(Finding {
            instruction: match violation.place {
                Place::Instruction(number) => number as usize,
                _ => 0,
            },
            rule: violation.rule.id().to_string(),
            message: format!("the kernel refuses this: {} ({})", violation.what, violation.rule.text()),
            manual: "kernel-abi.md, qpu.md §5.3".into(),
        }),
    }
}

fn switches(word: u64) -> bool {
    Inst::decode(word).is_ok_and(|inst| vc4::qpu::Access::of(&inst).is_switch())
}

fn printed(program: &Program, findings: &[Finding], options: &Options) -> String {
    if options.json {
        let rows = findings.iter().map(|finding| {
            format!(
                "{{\"instruction\": {}, \"rule\": {}, \"message\": {}, \"manual\": {}}}",
                finding.instruction,
                json_string(&finding.rule),
                json_string(&finding.message),
                json_string(&finding.manual)
            )
        });
        return json_list(rows) + "\n";
    }
    let line = |finding: &Finding| {
        let Finding { instruction, rule, message, manual } = finding;
        format!("{}instruction {instruction}: {message} ({rule}, {manual})\n", program.place(*instruction))
    };
    findings.iter().map(line).collect()
}

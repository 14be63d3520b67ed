//! Spliced programs as text, words or JSON.

use crate::names;
use crate::output::{self, Error, Status, json_list, json_string};
use vc4::qpu::{Inst, uniform_reads};
use vc4::splice::{Origin, Slot, Spliced};
use vc4::state::StateWords;

/// How to print.
#[derive(clap::Args)]
pub struct Printing {
    /// One word per line, as 0x and 16 digits
    #[arg(long, conflicts_with = "json")]
    hex: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// A word of the stream.
struct Uniform {
    instruction: usize,
    name: String,
    value: Option<u32>,
}

impl Printing {
    /// Prints the instructions whose origin passes.
    pub fn print(
        &self,
        spliced: &Spliced<String>,
        words: Option<&StateWords>,
        shown: impl Fn(Origin) -> bool,
    ) -> Result<Status, Error> {
        let lines: Vec<usize> = (0..spliced.insts.len()).filter(|&n| shown(spliced.origins[n])).collect();
        let uniforms = uniforms(spliced, words);
        let text = match (self.hex, self.json) {
            (true, _) => lines.iter().map(|&n| format!("{:#018x}\n", spliced.insts[n].encode())).collect(),
            (_, true) => json(spliced, &lines, &uniforms),
            _ => listing(spliced, &lines, &uniforms),
        };
        output::print(&text)?;
        Ok(Status::Success)
    }
}

fn uniforms(spliced: &Spliced<String>, words: Option<&StateWords>) -> Vec<Uniform> {
    let reads = uniform_reads(&spliced.insts);
    let uniform = |(n, slot): (usize, &Slot<String>)| {
        let (name, value) = match slot {
            Slot::Own(name) => (name.clone(), None),
            Slot::State(slot) => (names::uniform(*slot), words.map(|words| words.word(*slot))),
            Slot::Const(word) => (format!("const[{word:#x}]"), Some(*word)),
            Slot::StreamAddress => ("stream".to_string(), None),
        };
        let instruction = reads.get(n).map_or(spliced.insts.len(), |read| read.instruction);
        Uniform { instruction, name, value }
    };
    spliced.slots.iter().enumerate().map(uniform).collect()
}

fn origin(origin: Origin) -> String {
    match origin {
        Origin::Own(index) => format!("own {index}"),
        Origin::Patch(patch) => patch.to_string(),
    }
}

fn listing(spliced: &Spliced<String>, lines: &[usize], uniforms: &[Uniform]) -> String {
    let mut out = String::new();
    for &n in lines {
        for uniform in uniforms.iter().filter(|uniform| uniform.instruction == n) {
            let value = uniform.value.map_or(String::new(), |value| format!("    # {value:#010x}"));
            out.push_str(&format!(".uniform {}{value}\n", uniform.name));
        }
        out.push_str(&format!(
            "{:<88} # {n}: {}\n",
            spliced.insts[n].to_string(),
            origin(spliced.origins[n])
        ));
    }
    let cost = spliced.cost();
    let own = spliced.origins.len() - spliced.added();
    out.push_str(&format!(
        "# {} instructions, {} of them added to {own}; {} uniforms; about {} cycles\n",
        spliced.insts.len(),
        spliced.added(),
        spliced.slots.len(),
        cost.cycles()
    ));
    out
}

fn json(spliced: &Spliced<String>, lines: &[usize], uniforms: &[Uniform]) -> String {
    let code = |&n: &usize| {
        let inst: &Inst = &spliced.insts[n];
        format!(
            "{{\"word\": {}, \"text\": {}, \"origin\": {}}}",
            json_string(&format!("{:#018x}", inst.encode())),
            json_string(&inst.to_string()),
            json_string(&origin(spliced.origins[n]))
        )
    };
    let uniform = |uniform: &Uniform| {
        let value = uniform.value.map_or("null".to_string(), |value| value.to_string());
        let name = json_string(&uniform.name);
        format!("{{\"name\": {name}, \"instruction\": {}, \"value\": {value}}}", uniform.instruction)
    };
    format!(
        "{{\"instructions\": {}, \"added\": {}, \"cycles\": {}, \"threaded\": {}, \"code\": {}, \"uniforms\": {}}}\n",
        spliced.insts.len(),
        spliced.added(),
        spliced.cost().cycles(),
        spliced.threaded,
        json_list(lines.iter().map(code)),
        json_list(uniforms.iter().map(uniform))
    )
}

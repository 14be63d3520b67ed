//! Which cases run: groups, and an evenly spaced sample of each.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Error;

/// What every case name begins with.
const ROOT: &str = "dEQP-VK.";

/// Prefixes of case names; cases under an excluded prefix belong to no group.
#[derive(Debug, Default)]
pub struct Groups {
    /// In the order of the list.
    pub included: Vec<String>,
    excluded: Vec<String>,
}

impl Groups {
    /// Reads a list: a prefix a line, `!` before those to leave out, `#` before remarks; `*` is any text between dots.
    pub fn parse(text: &str) -> Groups {
        let mut groups = Groups::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix('!') {
                Some(prefix) => groups.excluded.push(prefix.to_owned()),
                None => groups.included.push(line.to_owned()),
            }
        }
        groups
    }

    /// The groups of a command line.
    pub fn named(names: &[String]) -> Groups {
        let full =
            |name: &String| if name.starts_with(ROOT) { name.clone() } else { format!("{ROOT}{name}") };
        Groups { included: names.iter().map(full).collect(), excluded: Vec::new() }
    }

    /// The group that `case` belongs to: the longest prefix.
    pub fn of<'a>(&'a self, case: &str) -> Option<&'a str> {
        if self.excluded.iter().any(|prefix| under(case, prefix)) {
            return None;
        }
        let fitting = self.included.iter().filter(|prefix| under(case, prefix));
        fitting.max_by_key(|prefix| prefix.len()).map(String::as_str)
    }

    /// Every `fraction`-th case of each group, evenly spaced, and no fewer than `at_least` where there are as many.
    pub fn sample(&self, all: &[String], fraction: Option<usize>, at_least: usize) -> Vec<String> {
        let mut by_group: HashMap<&str, Vec<&String>> = HashMap::new();
        for case in all {
            if let Some(group) = self.of(case) {
                by_group.entry(group).or_default().push(case);
            }
        }
        let mut chosen = Vec::new();
        for group in &self.included {
            let cases = by_group.get(group.as_str()).map_or(&[][..], Vec::as_slice);
            let wanted =
                fraction.map_or(0, |step| cases.len().div_ceil(step.max(1))).max(at_least).min(cases.len());
            chosen.extend((0..wanted).map(|index| cases[index * cases.len() / wanted].clone()));
        }
        chosen
    }
}

/// Whether `case` is `prefix` or lies under it. A `*` in a part between dots stands for any text.
fn under(case: &str, prefix: &str) -> bool {
    let mut parts = case.split('.');
    prefix.split('.').all(|wanted| parts.next().is_some_and(|part| fits(part, wanted)))
}

fn fits(part: &str, wanted: &str) -> bool {
    match wanted.split_once('*') {
        None => part == wanted,
        Some((start, rest)) => part.strip_prefix(start).is_some_and(|left| {
            left.char_indices().map(|(at, _)| at).chain([left.len()]).any(|at| fits(&left[at..], rest))
        }),
    }
}

/// The case names of a list: one a line, or as deqp prints them (`TEST: name`).
pub fn read(text: &str) -> Vec<String> {
    let names = text.lines().map(|line| line.trim().trim_start_matches("TEST: "));
    names.filter(|line| line.starts_with(ROOT)).map(str::to_owned).collect()
}

/// All cases that `deqp` has, asked from it once and kept beside it.
pub fn of(deqp: &Path) -> Result<Vec<String>, Error> {
    // Some cases are made from files beside the binary, and the list is written where it is started.
    let directory = deqp.parent().unwrap_or(Path::new("."));
    let kept = directory.join("dEQP-VK-cases.txt");
    let newer = |file: &Path| fs::metadata(file).and_then(|data| data.modified());
    if !kept.exists() || newer(&kept)? < newer(deqp)? {
        println!("Asking {} for its cases", deqp.display());
        let mut command = Command::new(deqp);
        command.arg("--deqp-runmode=txt-caselist").current_dir(directory).stdout(Stdio::null());
        let status = command.status()?;
        if !status.success() {
            return Err(format!("{} does not list its cases ({status})", deqp.display()).into());
        }
    }
    Ok(read(&fs::read_to_string(kept)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(range: std::ops::Range<usize>, group: &str) -> Vec<String> {
        range.map(|index| format!("dEQP-VK.{group}.case_{index}")).collect()
    }

    #[test]
    fn the_longest_prefix_owns_a_case() {
        let groups = Groups::parse("# remark\ndEQP-VK.api\ndEQP-VK.api.info\n!dEQP-VK.api.sparse\n");
        assert_eq!(groups.of("dEQP-VK.api.info.device"), Some("dEQP-VK.api.info"));
        assert_eq!(groups.of("dEQP-VK.api.information"), Some("dEQP-VK.api"));
        assert_eq!(groups.of("dEQP-VK.api.sparse.one"), None);
        assert_eq!(groups.of("dEQP-VK.draw.one"), None);
    }

    #[test]
    fn parts_of_names_may_be_open() {
        let groups = Groups::parse("dEQP-VK.glsl\n!dEQP-VK.glsl.*.*_compute\n!dEQP-VK.glsl.*.*.compute\n");
        let of = |case: &str| groups.of(&format!("dEQP-VK.glsl.{case}")).is_some();
        assert!(
            !of("abs.vec2_compute") && !of("abs.vec2_compute.scalar") && !of("sampler.constant.compute.cube")
        );
        assert!(
            of("abs.vec2_vertex") && of("vec2_compute") && of("abs.compute") && of("sampler.a.b.compute")
        );
        let groups = Groups::parse("dEQP-VK.op\n!dEQP-VK.op.*_compute*\n");
        let of = |case: &str| groups.of(&format!("dEQP-VK.op.{case}")).is_some();
        assert!(!of("write_compute_read") && !of("write_compute") && of("write_comp_ute") && of("compute"));
    }

    #[test]
    fn a_sample_is_evenly_spaced_and_large_enough() {
        let all = [names(0..1000, "a"), names(0..7, "b")].concat();
        let groups = Groups::named(&["a".to_owned(), "b".to_owned()]);
        let chosen = groups.sample(&all, Some(100), 5);
        assert_eq!(chosen.iter().filter(|case| case.contains(".a.")).count(), 10);
        assert_eq!(chosen[1], "dEQP-VK.a.case_100");
        assert_eq!(chosen.iter().filter(|case| case.contains(".b.")).count(), 5);
        assert_eq!(groups.sample(&all, None, 60).len(), 67);
        assert_eq!(groups.sample(&all, Some(1), 0).len(), 1007);
    }

    #[test]
    fn lists_of_both_kinds_are_read() {
        let text = "GROUP: dEQP-VK.info\nTEST: dEQP-VK.info.build\ndEQP-VK.info.device\n";
        assert_eq!(read(text), ["dEQP-VK.info.build", "dEQP-VK.info.device"]);
    }
}

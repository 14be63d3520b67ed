//! The results of a run by group.

use std::fmt::Write;

use super::cases::Groups;

/// How many cases of a group ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Row {
    pass: usize,
    fail: usize,
    unsupported: usize,
    crash: usize,
    skipped: usize,
    seconds: f64,
}

/// One case of `results.csv`.
#[derive(Debug, PartialEq)]
pub struct Case<'a> {
    name: &'a str,
    status: &'a str,
    seconds: f64,
}

/// Reads lines of `name,status,seconds`.
pub fn parse(text: &str) -> Vec<Case<'_>> {
    let case = |line: &'_ str| -> Option<(usize, usize, f64)> {
        let (rest, seconds) = line.rsplit_once(',')?;
        let (name, _) = rest.rsplit_once(',')?;
        Some((name.len(), rest.len(), seconds.parse().unwrap_or(0.0)))
    };
    let mut cases = Vec::new();
    for line in text.lines() {
        if let Some((name, rest, seconds)) = case(line) {
            cases.push(Case { name: &line[..name], status: &line[name + 1..rest], seconds });
        }
    }
    cases
}

impl Row {
    fn add(&mut self, case: &Case<'_>) {
        self.seconds += case.seconds;
        let count = match case.status {
            "Pass" | "Warn" | "Flake" | "UnexpectedImprovement(Pass)" => &mut self.pass,
            "NotSupported" | "UnexpectedImprovement(Skip)" => &mut self.unsupported,
            "Skip" => &mut self.skipped,
            "Crash" | "Timeout" | "Missing" | "UnexpectedImprovement(Crash)" => &mut self.crash,
            _ => &mut self.fail,
        };
        *count += 1;
    }

    /// Share of the executed cases that passed, in percent.
    fn percent(&self) -> f64 {
        let executed = self.pass + self.fail + self.crash;
        if executed == 0 { 100.0 } else { 100.0 * self.pass as f64 / executed as f64 }
    }
}

/// The table of all groups that ran, and its sum.
pub fn print(groups: &Groups, cases: &[Case<'_>]) -> String {
    let mut rows: Vec<(&str, Row)> =
        groups.included.iter().map(|group| (group.as_str(), Row::default())).collect();
    let mut total = Row::default();
    for case in cases {
        let group = groups.of(case.name);
        if let Some((_, row)) = rows.iter_mut().find(|(name, _)| Some(*name) == group) {
            row.add(case);
        }
        total.add(case);
    }
    rows.retain(|(_, row)| *row != Row::default());
    rows.push(("all", total));
    let mut text = format!(
        "{:<46} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7} {:>8}\n",
        "group", "pass", "fail", "n/s", "crash", "skip", "passed", "seconds"
    );
    for (name, row) in rows {
        let name = name.trim_start_matches("dEQP-VK.");
        let _ = writeln!(
            text,
            "{name:<46} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6.1}% {:>8.1}",
            row.pass,
            row.fail,
            row.unsupported,
            row.crash,
            row.skipped,
            row.percent(),
            row.seconds
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted_by_group() {
        let text = "dEQP-VK.a.x,Pass,0.5\ndEQP-VK.a.y,Fail,0.25\ndEQP-VK.b.z,NotSupported,0.0\ndEQP-VK.b.w,Crash,1.0\n";
        let groups = Groups::named(&["a".to_owned(), "b".to_owned(), "c".to_owned()]);
        let table = print(&groups, &parse(text));
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1], ["a", "1", "1", "0", "0", "0", "50.0%", "0.8"]);
        assert_eq!(rows[2], ["b", "0", "0", "1", "1", "0", "0.0%", "1.0"]);
        assert_eq!(rows[3][..6], ["all", "1", "1", "1", "1", "0"]);
        assert_eq!(rows.len(), 4);
    }
}

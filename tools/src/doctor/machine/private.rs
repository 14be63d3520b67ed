//! What must not leave the machine: names, addresses, serial numbers.

use super::root::Root;

/// What stands in the place of a private word.
const HIDDEN: &str = "(hidden)";
/// User numbers from here belong to people.
const FIRST_PERSON: u32 = 1000;
const NOBODY: u32 = 65534;

/// The machine's private words.
#[derive(Clone, Debug, Default)]
pub struct Private(Vec<String>);

impl Private {
    pub fn collect(root: Root<'_>, variable: &dyn Fn(&str) -> Option<String>) -> Private {
        let mut words: Vec<String> = Vec::new();
        let files = [
            "/etc/hostname",
            "/proc/sys/kernel/hostname",
            "/proc/device-tree/serial-number",
            "/sys/firmware/devicetree/base/serial-number",
            "/etc/machine-id",
        ];
        words.extend(files.iter().filter_map(|file| root.word(file)));
        words.extend(["USER", "LOGNAME", "SUDO_USER"].iter().filter_map(|name| variable(name)));
        let passwd = root.text("/etc/passwd").unwrap_or_default();
        words.extend(passwd.lines().flat_map(people).map(str::to_owned));
        let cpuinfo = root.text("/proc/cpuinfo").unwrap_or_default();
        let serial = cpuinfo.lines().find_map(|line| line.strip_prefix("Serial")?.trim().strip_prefix(':'));
        words.extend(serial.map(|serial| serial.trim().to_owned()));
        let cards = root.names("/sys/class/net");
        words.extend(cards.iter().filter_map(|card| root.word(&format!("/sys/class/net/{card}/address"))));
        // Root is everybody's, and a word of one letter would hide half of the text.
        words.retain(|word| word.len() > 1 && word != "root");
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.dedup();
        Private(words)
    }

    /// The text without private words, home directories and addresses.
    pub fn hide(&self, text: &str) -> String {
        let mut text = hide_homes(text);
        for word in &self.0 {
            text = hide_word(&text, word);
        }
        let words = text.split_inclusive(|c: char| c.is_whitespace() || "()[],;\"'`=".contains(c));
        words
            .map(|word| {
                let bare = word.trim_end_matches(|c: char| c.is_whitespace() || "()[],;\"'`=:.".contains(c));
                match is_address(bare) {
                    true => format!("{HIDDEN}{}", &word[bare.len()..]),
                    false => word.to_owned(),
                }
            })
            .collect()
    }
}

/// Names of a line of `/etc/passwd` that tells of a person.
fn people(line: &str) -> Vec<&str> {
    let fields: Vec<&str> = line.split(':').collect();
    let person = |number: u32| number >= FIRST_PERSON && number != NOBODY;
    match fields[..] {
        [name, _, number, _, full, ..] if number.parse().is_ok_and(person) => {
            let full = full.split(',').next().unwrap_or_default();
            vec![name, full]
        }
        _ => Vec::new(),
    }
}

/// Home directories, with all that stands behind their names.
fn hide_homes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = ["/home/", "/root/"].iter().filter_map(|home| rest.find(home)).min() {
        out.push_str(&rest[..at]);
        out.push_str(HIDDEN);
        let path = &rest[at + 1..];
        let end = path.find(|c: char| c.is_whitespace() || "\"'`,;:".contains(c)).unwrap_or(path.len());
        rest = &path[end..];
    }
    out + rest
}

/// The word where it is not part of a longer one.
fn hide_word(text: &str, word: &str) -> String {
    let part = |c: char| c.is_alphanumeric();
    let mut out = String::new();
    let mut from = 0;
    while let Some(found) = text[from..].find(word) {
        let (start, end) = (from + found, from + found + word.len());
        let whole = !text[..start].ends_with(part) && !text[end..].starts_with(part);
        out.push_str(&text[from..start]);
        out.push_str(if whole { HIDDEN } else { word });
        from = end;
    }
    out + &text[from..]
}

/// Whether it is an address of a network or of a card in one.
fn is_address(word: &str) -> bool {
    let pairs: Vec<&str> = word.split(':').collect();
    let card = pairs.len() == 6
        && pairs.iter().all(|pair| pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit()));
    // Versions have at most three parts or a letter.
    card || word.parse::<std::net::Ipv4Addr>().is_ok()
        || pairs.len() > 2 && word.parse::<std::net::Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_hidden_where_they_stand_alone() {
        let private = Private(vec!["0000cafe".into(), "pi".into()]);
        let hide = |text| private.hide(text);
        assert_eq!(
            hide("Raspberry Pi, pipes of pi, 0000cafe."),
            "Raspberry Pi, pipes of (hidden), (hidden)."
        );
        assert_eq!(hide("/home/ann/a b: gone"), "(hidden) b: gone");
        assert_eq!(hide("drm:/home/ann/node: no"), "drm:(hidden): no");
        assert_eq!(hide("at 10.0.0.7, b8:27:eb:01:02:03; fe80::1"), "at (hidden), (hidden); (hidden)");
        assert_eq!(hide("1.3.239 vc4::drm 6.1.0-18"), "1.3.239 vc4::drm 6.1.0-18");
    }
}

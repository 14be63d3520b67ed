//! What a misspelt name was probably meant to be.

/// Longest name that is compared; no name of the syntax is longer.
const LONGEST: usize = 32;

/// The candidate closest to `word`, if one is close enough to be meant.
pub fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let limit = (word.len() / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(word, candidate)?, candidate)))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate.to_string())
}

/// Letters to insert, delete, replace or swap with their neighbour to get from `a` to `b`; capital letters count as
/// small ones. `None` for words too long to be a name.
fn distance(a: &str, b: &str) -> Option<usize> {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() > LONGEST || b.len() > LONGEST {
        return None;
    }
    // Three rows of the table: the one above the previous one serves swaps.
    let mut rows = [[0usize; LONGEST + 1]; 3];
    for (at, cell) in rows[0].iter_mut().enumerate() {
        *cell = at;
    }
    for i in 1..=a.len() {
        let [above2, above, row] = [(i + 1) % 3, (i + 2) % 3, i % 3];
        rows[row][0] = i;
        for j in 1..=b.len() {
            let same = a[i - 1].eq_ignore_ascii_case(&b[j - 1]);
            let mut cost =
                (rows[above][j - 1] + usize::from(!same)).min(rows[above][j] + 1).min(rows[row][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(rows[above2][j - 2] + 1);
            }
            rows[row][j] = cost;
        }
    }
    Some(rows[a.len() % 3][b.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("fadd", "fadd", 0),
            ("", "fadd", 4),
            ("fad", "fadd", 1),
            ("fdad", "fadd", 1),
            ("FADD", "fadd", 0),
            ("sig_nonne", "sig_none", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), Some(expected), "{a} {b}");
            assert_eq!(distance(b, a), Some(expected), "{b} {a}");
        }
        assert_eq!(distance(&"x".repeat(40), "x"), None);
    }

    #[test]
    fn only_close_names_are_suggested() {
        assert_eq!(closest("alwyas", ["never", "always"]).as_deref(), Some("always"));
        assert_eq!(closest("qwerty", ["never", "always"]), None);
    }
}

//! What is drawn and how far pictures may differ: `tests/mesa/scenes.tsv`.

use crate::Error;

/// Share of pixels in percent that may be off where nothing else is said.
pub const USUAL_PERCENT: f64 = 1.0;

/// Mesa's software renderers.
pub const REFERENCES: [&str; 2] = ["softpipe", "llvmpipe"];

/// A line of the table.
#[derive(Debug, PartialEq)]
pub struct Scene {
    /// As the program calls it.
    pub name: String,
    /// Whether a quick run draws it.
    pub quick: bool,
    /// The software renderer whose picture counts.
    pub reference: String,
    /// What is expected.
    pub expected: Expected,
    /// Why, where that is not the usual.
    pub reason: String,
}

/// What a scene is to give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// At most `percent` of pixels off; `reach` pixels of displacement are no difference.
    Close {
        /// Of all pixels.
        percent: f64,
        /// Pixels.
        reach: usize,
    },
    /// The driver does not offer what it draws.
    Absent,
}

/// Reads the table: `scene`, `ci` or `all`, reference, bound, reason. The bound is `-` (the usual), a percentage, a percentage
/// with a reach (`2.5~1`), or `absent`.
pub fn parse(text: &str) -> Result<Vec<Scene>, Error> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| scene(line).map_err(|what| format!("scenes.tsv:{}: {what}", number + 1).into()))
        .collect()
}

fn scene(line: &str) -> Result<Scene, String> {
    let mut fields = line.split('\t');
    let mut next = |what: &str| fields.next().ok_or_else(|| format!("no {what}"));
    let (name, set, reference, bound) = (next("scene")?, next("set")?, next("reference")?, next("bound")?);
    let reason = next("reason").unwrap_or("").to_owned();
    let quick = match set {
        "ci" => true,
        "all" => false,
        other => return Err(format!("the set is ci or all, not {other:?}")),
    };
    if !REFERENCES.contains(&reference) {
        return Err(format!("the reference is one of {REFERENCES:?}, not {reference:?}"));
    }
    let expected = match bound {
        "-" => Expected::Close { percent: USUAL_PERCENT, reach: 0 },
        "absent" => Expected::Absent,
        bound => {
            let (percent, reach) = bound.split_once('~').unwrap_or((bound, "0"));
            let numbers = percent.parse().ok().zip(reach.parse().ok());
            let (percent, reach) = numbers.ok_or_else(|| format!("bad bound {bound:?}"))?;
            Expected::Close { percent, reach }
        }
    };
    if bound != "-" && reason.is_empty() {
        return Err(format!("the bound {bound} of {name} needs a reason"));
    }
    Ok(Scene { name: name.into(), quick, reference: reference.into(), expected, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_that_is_not_usual_has_a_reason() {
        let scenes =
            parse("# head\na\tci\tsoftpipe\t-\nb\tall\tsoftpipe\t2.5~1\twhy\nc\tall\tllvmpipe\tabsent\tno\n")
                .expect("a table");
        assert_eq!(scenes[0].expected, Expected::Close { percent: USUAL_PERCENT, reach: 0 });
        assert_eq!(scenes[1].expected, Expected::Close { percent: 2.5, reach: 1 });
        assert_eq!((scenes[2].expected, scenes[2].quick), (Expected::Absent, false));
        assert!(parse("b\tall\tsoftpipe\t2.5").is_err());
        assert!(parse("b\tsome\tsoftpipe\t-").is_err());
        assert!(parse("b\tall\tsoftpipe\tmuch\twhy").is_err());
        assert!(parse("b\tall\tnvidia\t-").is_err());
    }
}

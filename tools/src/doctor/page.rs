//! A diagnosis as one page that needs nothing else: tables, pictures and the JSON document.

use super::checks::outcome::Compared;
use super::checks::{Checked, Ended};
use super::diagnosis::Diagnosis;
use super::document;
use super::findings::Finding;
use super::text;
use crate::jobs::picture::Picture;
use crate::json::inside_html;
use crate::picture::{data_uri, png};
use crate::probe::{self, Asked};
use vc4::facts::Row;
use vc4_sim::capture::attachments::Picture as Pixels;

/// A page with the pictures of everything would be too large to send.
const MOST_PICTURES: usize = 24;
const STYLE: &str = include_str!("page.css");

/// The page.
pub fn html(diagnosis: &Diagnosis) -> String {
    let verdict = diagnosis.verdict().name();
    let facts = text::facts(diagnosis);
    let facts = facts.iter().map(|(name, value)| format!("<tr><th>{name}<td>{}\n", escaped(value)));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>vc4 doctor: {verdict}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>vc4 doctor</h1>\n\
         <p class=\"verdict {verdict}\">{}</p>\n\
         <h2>Findings</h2>\n{}<h2>Checks</h2>\n{}<h2>Questions</h2>\n{}<h2>Machine</h2>\n<table>\n{}</table>\n\
         <p class=\"dim\">Names, addresses and serial numbers were left out. The same as JSON is in this page's element \
         <code>data</code>.</p>\n\
         <script type=\"application/json\" id=\"data\">{}</script>\n</body>\n</html>\n",
        escaped(&diagnosis.sentence()),
        findings(&diagnosis.findings),
        checks(&diagnosis.checks),
        answers(diagnosis.answers.as_ref()),
        facts.collect::<String>(),
        inside_html(&document::value(diagnosis).to_string()),
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "<p>None.</p>\n".into();
    }
    let row = |finding: &Finding| {
        let weight = finding.weight.name();
        let (seen, advice) = (escaped(&finding.seen), escaped(&finding.advice));
        format!("<tr><th class=\"{weight}\">{weight}<td>{seen}<br><span class=\"dim\">{advice}</span>\n")
    };
    format!("<table>\n{}</table>\n", findings.iter().map(row).collect::<String>())
}

fn checks(checks: &[Checked]) -> String {
    if checks.is_empty() {
        return "<p>None were run.</p>\n".into();
    }
    let row = |checked: &Checked| {
        let (class, said, pictures) = match &checked.ended {
            Ended::Passed(outcome) => (
                "passed",
                &outcome.said[..],
                outcome.picture.iter().map(|picture| figure("", picture)).collect(),
            ),
            Ended::Differs(outcome) => ("differs", &outcome.said[..], differing(&outcome.differing)),
            Ended::Failed { why, pictures } => {
                ("failed", &why[..], pictures.iter().map(|both| compared(&both.0, &both.1)).collect())
            }
            Ended::Skipped => ("skipped", text::SKIPPED, String::new()),
        };
        let said = if said.is_empty() { String::new() } else { format!("<br>{}", escaped(said)) };
        format!(
            "<tr><th class=\"{class}\">{}<br><small>{class}</small><td><span class=\"dim\">{}</span>{said}<br>{pictures}<td class=\"number\">{:.2} s\n",
            checked.name,
            checked.proves,
            checked.took.as_secs_f64(),
        )
    };
    format!("<table>\n{}</table>\n", checks.iter().map(row).collect::<String>())
}

/// What the chip is like: of each question the answer, how sure it is, and on what evidence another one was assumed.
fn answers(report: Option<&probe::Report>) -> String {
    let Some(report) = report else { return "<p>None were asked.</p>\n".into() };
    let row = |asked: &Asked| {
        let ((told, sure), Row { name, question, hypotheses, evidence, .. }) =
            (probe::answer(asked), asked.row);
        let class = match probe::mark(&asked.answer) {
            ' ' => "passed",
            '*' => "differs",
            _ => "failed",
        };
        let assumed = match class {
            "passed" => String::new(),
            _ => format!("<br>assumed: {}", hypotheses[0].name),
        };
        format!(
            "<tr><th>{name}<td><span class=\"dim\">{}</span><td class=\"{class}\">{}{assumed}<td>{}<br><span class=\"dim\">{}</span>\n",
            escaped(question),
            escaped(&told),
            escaped(&sure),
            escaped(evidence),
        )
    };
    let rows: String = report.asked.iter().map(row).collect();
    format!("<p>{}</p>\n<table>\n{rows}</table>\n", escaped(&probe::summary(report)))
}

/// The first of them as pictures, the others in words.
fn differing(all: &[Compared]) -> String {
    let one = |(number, picture): (usize, &Compared)| {
        let Compared { name, why, seen, expected } = picture;
        let pictures = if number < MOST_PICTURES { compared(seen, expected) } else { String::new() };
        format!("<p>{name}: {}</p>{pictures}", escaped(why))
    };
    all.iter().enumerate().map(one).collect()
}

fn compared(seen: &Picture, expected: &Picture) -> String {
    figure("drawn", seen) + &figure("expected", expected) + &figure("different", &seen.difference(expected))
}

fn figure(caption: &str, picture: &Picture) -> String {
    let pixels = Pixels::Rgba(picture.words.iter().flat_map(|word| word.to_le_bytes()).collect());
    match png(picture.width, picture.height, &pixels) {
        Ok(file) => {
            format!(
                "<figure><img alt=\"{caption}\" src=\"{}\"><figcaption>{caption}</figcaption></figure>",
                data_uri(&file)
            )
        }
        Err(error) => format!("<p>{}</p>", escaped(&error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::diagnosis::Depth;
    use crate::doctor::machine::tree::{SECRETS, Tree};
    use vc4_kernel_abi::{Choice, Gpu, GpuError, Noop};

    fn diagnosis(tree: &Tree, device: Result<Box<dyn Gpu>, GpuError>) -> Diagnosis {
        Diagnosis::make(tree.machine(), &Choice::Auto, device, Depth::Questions, &mut |_| ())
    }

    #[test]
    fn the_page_holds_everything_and_loads_nothing() {
        let tree = Tree::pi3("page").denied().file("/etc/os-release", "PRETTY_NAME=\"<b>&\"\n");
        let page = html(&diagnosis(&tree, Ok(Box::new(Noop::new()))));
        for part in [
            "Raspberry Pi 3",
            "usermod",
            "pixels are wrong",
            "&lt;b&gt;&amp;",
            "data:image/png",
            "\"schema\":1",
            "provoking-vertex",
            "stored nothing",
        ] {
            assert!(page.contains(part), "{part}");
        }
        // Five checks keep pictures; each failed one shows three.
        assert!(page.matches("<img").count() >= 15, "{}", page.matches("<img").count());
        assert!(!page.contains("http") && !page.contains("<b>"));
    }

    #[test]
    fn nothing_private_is_in_it() {
        let tree = Tree::pi3("page-private")
            .manifest("/home/ann/.local/share/vulkan/icd.d/bob.json", "/home/ann/lib/lib-bob.so")
            .manifest("/home/ann/.local/share/vulkan/implicit_layer.d/x.json", "/home/ann/lib/x.so")
            .file("/etc/os-release", "PRETTY_NAME=\"anns-kitchen OS of Ann Example at 192.168.7.31\"\n")
            .file("/proc/sys/kernel/osrelease", "6.6.31-bob\n");
        let error = "drm:/home/ann/node of ann at anns-kitchen, b8:27:eb:ca:fe:12";
        let page = html(&diagnosis(&tree, Err(GpuError::NoDevice(error.into()))));
        assert!(page.contains("(hidden)"));
        let words: Vec<&str> = page.split(|c: char| !c.is_alphanumeric()).collect();
        for secret in SECRETS {
            let parts: Vec<&str> =
                secret.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
            assert!(!words.windows(parts.len()).any(|seen| seen == parts), "{secret}: {page}");
        }
    }
}

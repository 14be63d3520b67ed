//! Shaders larger than any that programs have: each is compiled, or refused in words that say why.

use std::fmt::Write;

use vc4_tests::corpus::Module;
use vc4_tests::scratch;

/// What is to become of a shader.
enum Answer {
    /// It compiles, to at least so many instructions.
    Compiled(usize),
    /// It is refused, in these words among others.
    Refused(&'static str),
}

use Answer::{Compiled, Refused};

/// Lines of text.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        writeln!(text, "{}", line(n)).expect("writing to a string does not fail");
        text
    })
}

/// A fragment stage: what it declares besides, and what it does with `sum`, which begins as a varying and becomes the colour.
fn fragment(declared: &str, body: &str) -> String {
    format!(
        "#version 450\nlayout(location = 0) in vec4 color;\nlayout(location = 0) out vec4 result;\n\
         layout(set = 0, binding = 0) uniform Words {{ vec4 words[64]; int count; }};\n{declared}\n\
         void main() {{\n    vec4 sum = color;\n{body}\n    result = sum;\n}}\n"
    )
}

fn samplers(count: usize) -> String {
    lines(count, |n| format!("layout(set = 1, binding = {n}) uniform sampler2D t{n};"))
}

/// Name, source and answer.
fn cases() -> Vec<(&'static str, String, Answer)> {
    let nested = |count: usize, open: &dyn Fn(usize) -> String| lines(count, open) + &"}".repeat(count);
    let doubled = lines(24, |n| format!("vec4 f{}(vec4 v) {{ return f{n}(v) + f{n}(v * 2.0); }}", n + 1));
    vec![
        (
            "statements",
            fragment(
                "",
                &lines(2000, |n| format!("sum = sum * words[{}] + words[{}];", n % 64, (7 * n + 3) % 64)),
            ),
            Compiled(10_000),
        ),
        (
            "statements_beyond_the_limit",
            fragment(
                "",
                &lines(20_000, |n| format!("sum = sum * words[{}] + words[{}];", n % 64, (7 * n + 3) % 64)),
            ),
            Refused("limit"),
        ),
        (
            "values_in_use",
            fragment(
                "",
                &(lines(160, |n| format!("vec4 v{n} = sin(color * words[{}] + {n}.0);", n % 64))
                    + &lines(80, |n| format!("sum += v{n} * v{}.wzyx;", 159 - n))),
            ),
            Compiled(5000),
        ),
        (
            "loops_in_loops",
            fragment(
                "",
                &nested(64, &|n| {
                    format!("for (int i{n} = 0; i{n} < count; i{n}++) {{ sum += words[i{n} & 63];")
                }),
            ),
            Refused("values are alive"),
        ),
        (
            "ifs_in_ifs",
            fragment(
                "",
                &nested(400, &|n| format!("if (sum.x < words[{}].x) {{ sum += words[{}];", n % 64, n % 61)),
            ),
            Refused("limit"),
        ),
        (
            "ifs_in_a_row",
            fragment(
                "",
                &lines(400, |n| {
                    format!("if (sum.x < words[{}].x) {{ sum += words[3]; }} else {{ sum *= sum; }}", n % 64)
                }),
            ),
            Compiled(2000),
        ),
        (
            "cases_of_a_switch",
            fragment(
                "",
                &(String::from("switch (count) {")
                    + &lines(10_000, |n| format!("case {n}: sum += words[{}]; break;", n % 64))
                    + "}"),
            ),
            Refused("limit"),
        ),
        (
            "samplers",
            fragment(&samplers(1000), &lines(1000, |n| format!("sum += texture(t{n}, color.xy);"))),
            Compiled(3000),
        ),
        (
            "lookups_that_wait_for_each_other",
            fragment(&samplers(1), &lines(1000, |n| format!("sum = texture(t0, sum.xy * {n}.0);"))),
            Compiled(3000),
        ),
        (
            "functions_that_double",
            fragment(
                &format!("vec4 f0(vec4 v) {{ return v * words[0] + words[1]; }}\n{doubled}"),
                "sum = f24(sum);",
            ),
            Refused("limit"),
        ),
        (
            "an_array_in_a_loop",
            fragment(
                "",
                "float t[1024];\nfor (int i = 0; i < 1024; i++) t[i] = sum.x * i;\nfor (int i = 0; i < count; i++) t[(i * 7) & 1023] += t[i & 1023];\nsum.x = t[count & 1023];",
            ),
            Refused("values are alive"),
        ),
        ("no_end", fragment("", "while (true) { sum += words[0]; }"), Refused("loops")),
    ]
}

#[test]
fn large_shaders_get_an_answer() {
    let vertex = "#version 450\nlayout(location = 0) in vec4 position;\nlayout(location = 0) out vec4 color;\n\
        void main() { gl_Position = position; color = position; }\n";
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "large");
    for (name, source, answer) in cases() {
        let module = Module::from_source(&directory, name, [vertex, &source]).expect("the source is valid");
        match (module.compile(), answer) {
            (Ok(pipeline), Compiled(least)) => {
                let length = pipeline.fragment.code.len();
                assert!(length >= least, "{name}: {length} instructions");
            }
            (Err(error), Refused(words)) => {
                assert!(error.contains(words), "{name}: {error}");
                assert!(!error.contains("bug"), "{name}: {error}");
            }
            (Ok(_), Refused(words)) => panic!("{name}: compiled, and should be refused: {words}"),
            (Err(error), Compiled(_)) => panic!("{name}: {error}"),
        }
    }
}

//! Programs as GLSL.

use std::fmt::Write;

use crate::ast::*;
use crate::ops::{PRELUDE, ROWS};
use crate::value::{Base, LANES, Type, Value};

fn type_name(ty: Type) -> String {
    let (scalar, vector) = match ty.base {
        Base::Int => ("int", "ivec"),
        Base::Uint => ("uint", "uvec"),
        Base::Float => ("float", "vec"),
        Base::Bool => ("bool", "bvec"),
    };
    if ty.size == 1 { scalar.to_string() } else { format!("{vector}{}", ty.size) }
}

const UNIFORMS: &str = "layout(set = 0, binding = 0, std140) uniform U {
    ivec4 zero_one; vec4 float_zero_one; ivec4 i; uvec4 u; vec4 f; ivec4 table[8]; uvec4 stored[48];
} u;
layout(push_constant) uniform P { ivec4 i; vec4 f; uvec4 limits; } p;
uint mixed(uint h, uint w) { return (h * 31u ^ h >> 15) + w; }
";

/// GLSL of the program as a compute shader: an invocation is an element, which leaves 1 and what it shows, or nothing.
pub fn kernel(program: &Program) -> String {
    let (functions, main) = body(program, "return;");
    format!(
        "#version 450\nlayout(local_size_x = {LANES}) in;\nstruct Given {{ ivec4 i; uvec4 u; vec4 f; }};\n\
         layout(set = 0, binding = 1, std430) readonly buffer G {{ Given given[]; }};\n\
         layout(set = 0, binding = 2, std430) buffer S {{ uvec2 shown[]; }};\n\
         #define in_i given[gl_GlobalInvocationID.x].i\n#define in_u given[gl_GlobalInvocationID.x].u\n\
         #define in_f given[gl_GlobalInvocationID.x].f\n{UNIFORMS}{PRELUDE}{functions}\
         void main() {{\n{main}    shown[gl_GlobalInvocationID.x] = uvec2(1u, h);\n}}\n"
    )
}

/// GLSL of the program as a compute shader around it: `head` declares what it works on and what `in_i`, `in_u` and `in_f` are,
/// `first` and `last` are statements of main, of which the last ones find the result in `h`. How it ends without one.
pub fn around(program: &Program, head: &str, first: &str, last: &str, discard: &'static str) -> String {
    let (functions, main) = body(program, discard);
    format!(
        "#version 450\n{head}{UNIFORMS}{PRELUDE}{functions}void main() {{\n    {first}\n{main}    {last}\n}}\n"
    )
}

/// GLSL of the vertex and of the fragment stage. The stage that is not the program's hands through.
pub fn sources(program: &Program) -> [String; 2] {
    let main = body(program, "discard;");
    let vertex_inputs = "#version 450\nlayout(location = 0) in vec4 position;\nlayout(location = 1) in ivec4 in_i;\n\
        layout(location = 2) in uvec4 in_u;\nlayout(location = 3) in vec4 in_f;\n";
    match program.stage {
        Stage::Vertex => [
            format!(
                "{vertex_inputs}layout(location = 0) flat out uvec2 shown;\n{UNIFORMS}{PRELUDE}{}\
                 void main() {{\n    gl_Position = position;\n{}    shown = uvec2(h, h * 3u);\n}}\n",
                main.0, main.1
            ),
            "#version 450\nlayout(location = 0) flat in uvec2 shown;\nlayout(location = 0) out vec4 color;\n\
             void main() { color = unpackUnorm4x8(shown.x + (shown.y - shown.x * 3u)); }\n"
                .to_string(),
        ],
        Stage::Fragment => [
            format!(
                "{vertex_inputs}layout(location = 0) flat out ivec4 out_i;\nlayout(location = 1) flat out uvec4 out_u;\n\
                 layout(location = 2) out vec4 out_f;\n\
                 void main() {{ gl_Position = position; out_i = in_i; out_u = in_u; out_f = in_f; }}\n"
            ),
            format!(
                "#version 450\nlayout(location = 0) flat in ivec4 in_i;\nlayout(location = 1) flat in uvec4 in_u;\n\
                 layout(location = 2) in vec4 in_f;\nlayout(location = 0) out vec4 color;\n{UNIFORMS}{PRELUDE}{}\
                 void main() {{\n{}    color = unpackUnorm4x8(h);\n}}\n",
                main.0, main.1
            ),
        ],
    }
}

/// Functions, and the statements of main, which leave the result in `h`; how main discards.
fn body(program: &Program, discard: &'static str) -> (String, String) {
    let mut printer = Printer { program, out: String::new(), depth: 1, discard };
    for (number, function) in program.functions.iter().enumerate() {
        let parameters: Vec<String> = function
            .parameters
            .iter()
            .map(|&v| format!("{} v{v}", type_name(program.variables[v])))
            .collect();
        let result = type_name(program.type_of(&function.result));
        writeln!(printer.out, "{result} f{number}({}) {{", parameters.join(", ")).expect("a string grows");
        printer.declare(&function.locals);
        printer.block(&function.body);
        let value = printer.expr(&function.result);
        printer.line(&format!("return {value};"));
        printer.out.push_str("}\n");
    }
    let functions = std::mem::take(&mut printer.out);
    printer.declare(&program.locals);
    for a in 0..program.arrays {
        let first: Vec<String> =
            (0..ARRAY).map(|e| format!("{}u", crate::eval::first_of_array(a, e))).collect();
        printer.line(&format!("uint a{a}[{ARRAY}] = uint[]({});", first.join(", ")));
    }
    printer.block(&program.body);
    printer.line("uint h = 0x811c9dc5u;");
    for &v in &program.shown {
        let ty = program.variables[v];
        for c in 0..ty.size {
            let name = if ty.size == 1 { format!("v{v}") } else { format!("v{v}.{}", NAMES[usize::from(c)]) };
            let word = if ty.base == Base::Float {
                format!("uint(int({name} * 16.0))")
            } else {
                format!("uint({name})")
            };
            printer.line(&format!("h = mixed(h, {word});"));
        }
    }
    for &a in &program.shown_arrays {
        printer.line(&format!("for (int n = 0; n < {ARRAY}; n++) h = mixed(h, a{a}[n]);"));
    }
    (functions, printer.out)
}

const NAMES: [char; 4] = ['x', 'y', 'z', 'w'];

struct Printer<'a> {
    program: &'a Program,
    out: String,
    depth: usize,
    discard: &'static str,
}

fn literal(ty: Type, value: &Value) -> String {
    let word = |w: u32| match ty.base {
        Base::Int if w == 0x8000_0000 => "(-2147483647 - 1)".to_string(),
        Base::Int => format!("{}", w as i32),
        Base::Uint => format!("{w}u"),
        Base::Float => format!("{:?}", f32::from_bits(w)),
        Base::Bool => format!("{}", w != 0),
    };
    let words: Vec<String> = value[..ty.size.into()].iter().map(|&w| word(w)).collect();
    if ty.size == 1 { format!("({})", words[0]) } else { format!("{}({})", type_name(ty), words.join(", ")) }
}

fn swizzle(components: &[u8]) -> String {
    components.iter().map(|&c| NAMES[usize::from(c)]).collect()
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        writeln!(self.out, "{:1$}{text}", "", 4 * self.depth).expect("a string grows");
    }

    fn declare(&mut self, variables: &[usize]) {
        for &v in variables {
            let ty = self.program.variables[v];
            self.line(&format!("{} v{v} = {};", type_name(ty), literal(ty, &self.program.initial[v])));
        }
    }

    fn block(&mut self, list: &[Stmt]) {
        list.iter().for_each(|stmt| self.statement(stmt));
    }

    fn nested(&mut self, head: &str, list: &[Stmt], tail: &str) {
        self.line(head);
        self.depth += 1;
        self.block(list);
        self.depth -= 1;
        self.line(tail);
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(place, value) => {
                let place = match place {
                    Place::Var(v) => format!("v{v}"),
                    Place::Swizzle(v, components) => format!("v{v}.{}", swizzle(components)),
                    Place::Component(v, index) => {
                        format!("v{v}[uint({}) % {}u]", self.expr(index), self.program.variables[*v].size)
                    }
                    Place::Element(a, index) => format!("a{a}[uint({}) % {ARRAY}u]", self.expr(index)),
                };
                let value = self.expr(value);
                self.line(&format!("{place} = {value};"));
            }
            Stmt::If(c, yes, no) => {
                let head = format!("if ({}) {{", self.expr(c));
                if no.is_empty() {
                    self.nested(&head, yes, "}");
                } else {
                    self.nested(&head, yes, "} else {");
                    self.depth += 1;
                    self.block(no);
                    self.depth -= 1;
                    self.line("}");
                }
            }
            Stmt::For(v, count, body) => {
                let count = self.expr(count);
                // The count is taken once; the counter is not assigned in the body.
                let head = format!("for (int n{v} = 0, e{v} = {count}; n{v} < e{v}; n{v}++) {{ v{v} = n{v};");
                self.nested(&head, body, "}");
            }
            Stmt::DoWhile(v, most, c, body) => {
                self.line(&format!("int n{v} = 0;"));
                // A continue goes on with the condition, which comes with the step.
                let head = format!("do {{ v{v} = n{v}++;");
                let tail = format!("}} while ({} && n{v} < {most});", self.expr(c));
                self.nested(&head, body, &tail);
            }
            Stmt::Switch(selector, cases) => {
                let head = format!("switch ({}) {{", self.expr(selector));
                self.line(&head);
                for (labels, body, ends) in cases {
                    let labels: Vec<String> = labels.iter().map(|label| format!("case {label}: ")).collect();
                    let label = if labels.is_empty() { "default: ".to_string() } else { labels.concat() };
                    self.nested(&format!("{label}{{"), body, if *ends { "} break;" } else { "}" });
                }
                self.line("}");
            }
            Stmt::Break(c) => self.leave(c, "break;"),
            Stmt::Continue(c) => self.leave(c, "continue;"),
            Stmt::Discard(c) => self.leave(c, self.discard),
            Stmt::Return(c, value) => {
                let value = self.expr(value);
                self.leave(c, &format!("return {value};"));
            }
        }
    }

    fn leave(&mut self, condition: &Expr, how: &str) {
        let condition = self.expr(condition);
        self.line(&format!("if ({condition}) {how}"));
    }

    fn list(&self, list: &[Expr]) -> String {
        list.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Literal(ty, value) => literal(*ty, value),
            Expr::Stored(ty, at) => {
                let words = format!("u.stored[{at}].{}", swizzle(&[0, 1, 2, 3][..ty.size.into()]));
                match ty.base {
                    Base::Float => format!("uintBitsToFloat({words})"),
                    _ => format!("{}({words})", type_name(*ty)),
                }
            }
            Expr::Opaque(ty, truth) => {
                let source = if ty.base == Base::Float { "u.float_zero_one" } else { "u.zero_one" };
                format!("{}({source}.{})", type_name(*ty), if *truth { 'y' } else { 'x' })
            }
            Expr::Var(v) => format!("v{v}"),
            Expr::Read(source) => source.name().to_string(),
            Expr::Table(index) => format!("u.table[uint({}) % {TABLE}u]", self.expr(index)),
            Expr::Element(a, index) => format!("a{a}[uint({}) % {ARRAY}u]", self.expr(index)),
            Expr::Component(v, index) => {
                format!("{}[uint({}) % {}u]", self.expr(v), self.expr(index), self.program.type_of(v).size)
            }
            Expr::Op(row, size, args) => {
                let name = |base| type_name(Type { base, size: *size });
                let mut text = ROWS[*row].text.to_string();
                for (key, base) in [("{I}", Base::Int), ("{U}", Base::Uint), ("{F}", Base::Float)] {
                    text = text.replace(key, &name(base));
                }
                // Operands may contain braces of nothing: replace from the last.
                for (n, arg) in args.iter().enumerate().rev() {
                    text = text.replace(&format!("{{{n}}}"), &self.expr(arg));
                }
                text
            }
            Expr::Select(c, a, b) => format!("({} ? {} : {})", self.expr(c), self.expr(a), self.expr(b)),
            Expr::Swizzle(v, components) => format!("{}.{}", self.expr(v), swizzle(components)),
            Expr::Construct(ty, parts) => format!("{}({})", type_name(*ty), self.list(parts)),
            Expr::Call(f, args) => format!("f{f}({})", self.list(args)),
        }
    }
}

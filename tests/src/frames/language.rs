//! Shaders in two languages, from the same bodies.

use std::fmt::Write;

use super::frame::{Attribute, Program};

/// The vertex and fragment shader in OpenGL ES' language.
pub(super) fn es(program: &Program) -> [String; 2] {
    let (mut vertex, mut fragment) = (String::new(), String::from("precision mediump float;\n"));
    for (location, attribute) in program.attributes.iter().enumerate() {
        let _ = writeln!(vertex, "attribute {} a{location};", type_of(*attribute));
    }
    for (ty, name) in program.varyings {
        let _ = writeln!(vertex, "varying {ty} {name};");
        let _ = writeln!(fragment, "varying {ty} {name};");
    }
    for (text, words, name) in
        [(&mut vertex, program.vertex_words, 'u'), (&mut fragment, program.fragment_words, 'f')]
    {
        if words > 0 {
            let _ = writeln!(text, "uniform vec4 {name}[{words}];");
        }
    }
    for (number, &cube) in program.samplers.iter().enumerate() {
        let _ = writeln!(fragment, "uniform {} s{number};", sampler(cube));
    }
    fragment += "#define TEXTURE texture2D\n#define CUBE textureCube\n#define COLOR gl_FragColor\n";
    [("", vertex, program.vertex), ("", fragment, program.fragment)].map(finish)
}

/// The vertex and fragment shader in Vulkan's language. Words of both stages are one block, of push constants or of a buffer.
pub(super) fn vulkan(program: &Program, pushed: bool) -> [String; 2] {
    let mut block = String::new();
    let words = [(program.vertex_words, 'u'), (program.fragment_words, 'f')];
    if words.iter().any(|(words, _)| *words > 0) {
        let place = if pushed { "layout(push_constant)" } else { "layout(set = 0, binding = 0)" };
        let _ = writeln!(block, "{place} uniform Words {{");
        for (words, name) in words.iter().filter(|(words, _)| *words > 0) {
            let _ = writeln!(block, "vec4 {name}[{words}];");
        }
        block += "};\n";
    }
    let (mut vertex, mut fragment) = (block.clone(), block);
    for (location, attribute) in program.attributes.iter().enumerate() {
        let _ = writeln!(vertex, "layout(location = {location}) in {} a{location};", type_of(*attribute));
    }
    for (location, (ty, name)) in program.varyings.iter().enumerate() {
        let _ = writeln!(vertex, "layout(location = {location}) out {ty} {name};");
        let _ = writeln!(fragment, "layout(location = {location}) in {ty} {name};");
    }
    for (number, &cube) in program.samplers.iter().enumerate() {
        let binding = number + 1;
        let _ =
            writeln!(fragment, "layout(set = 0, binding = {binding}) uniform {} s{number};", sampler(cube));
    }
    fragment += "layout(location = 0) out vec4 COLOR;\n#define TEXTURE texture\n#define CUBE texture\n";
    [("#version 450\n", vertex, program.vertex), ("#version 450\n", fragment, program.fragment)].map(finish)
}

fn finish((head, declarations, body): (&str, String, &str)) -> String {
    format!("{head}{declarations}void main() {{\n{body}\n}}\n")
}

fn sampler(cube: bool) -> &'static str {
    if cube { "samplerCube" } else { "sampler2D" }
}

fn type_of(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::Floats(1) => "float",
        Attribute::Floats(2) => "vec2",
        Attribute::Floats(3) => "vec3",
        Attribute::Floats(_) | Attribute::Bytes => "vec4",
    }
}

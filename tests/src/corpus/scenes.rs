//! The shared shader corpus as pictures: inputs are made up from what each shader declares, which its README's conventions
//! make readable line by line. The committed part has scenes with inputs of its own (`scenes/corpus.rs`).

use std::path::{Path, PathBuf};

use ash::vk;

use crate::format::attribute_bytes;
use crate::scene::{Draw, ImageSource, Resource, Scene, Texture, bytes, sampler};

/// Names of the programs.
pub fn names(corpus: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(corpus).expect("the corpus is readable");
    let paths = entries.map(|entry| entry.expect("a directory entry").path());
    let mut names: Vec<String> = paths
        .filter(|path| path.join("vk.frag").exists())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

/// A member of a block: type, name, elements (0: no array), byte offset if it is given.
struct Member {
    ty: String,
    name: String,
    elements: u32,
    offset: Option<u32>,
}

/// A uniform or push-constant block.
struct Block {
    /// Binding; `None` for push constants.
    binding: Option<u32>,
    members: Vec<Member>,
}

fn number_behind(text: &str, key: &str) -> Option<u32> {
    let rest = text.split_once(key)?.1.trim_start().strip_prefix('=')?.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn blocks(source: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    for line in source.lines().map(str::trim) {
        if line.contains("uniform") && line.ends_with('{') {
            found.push(Block { binding: number_behind(line, "binding"), members: Vec::new() });
            open = true;
        } else if line.starts_with('}') {
            open = false;
        } else if let (true, Some(block)) = (open, found.last_mut()) {
            let offset = number_behind(line, "offset");
            let line = line.rsplit_once(')').map_or(line, |(_, rest)| rest).trim();
            let Some((ty, name)) = line.strip_suffix(';').and_then(|line| line.split_once(' ')) else {
                continue;
            };
            let (name, elements) = match name.split_once('[') {
                Some((name, count)) => {
                    (name, count.trim_end_matches(']').parse().expect("a number of elements"))
                }
                None => (name, 0),
            };
            block.members.push(Member { ty: ty.into(), name: name.into(), elements, offset });
        }
    }
    found
}

/// A number in (0, 1) that depends on its name.
fn fraction(name: &str, n: usize) -> f32 {
    let sum =
        name.bytes().fold(n as u32 * 7 + 11, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    (sum % 47 + 8) as f32 / 64.0
}

/// Writes a block's members where std140 (or the push constants' std430, the same for these types) has them.
fn fill(block: &Block, data: &mut Vec<u8>) {
    let mut at = 0u32;
    for member in &block.members {
        let (align, columns, rows) = match member.ty.as_str() {
            "float" | "int" => (4, 1, 1),
            "vec2" => (8, 1, 2),
            "vec3" => (16, 1, 3),
            "vec4" => (16, 1, 4),
            "mat3" => (16, 3, 3),
            "mat4" => (16, 4, 4),
            other => panic!("corpus blocks have no {other}"),
        };
        let align = if member.elements > 0 { 16 } else { align };
        at = member.offset.unwrap_or(at).next_multiple_of(align);
        for element in 0..member.elements.max(1) {
            for column in 0..columns {
                for row in 0..rows {
                    // Matrices turn a little and keep everything in view.
                    let value = match columns {
                        1 => fraction(&member.name, (element * 4 + row) as usize),
                        _ if column == row => 0.96875,
                        _ if row == 3 => 0.0,
                        _ => fraction(&member.name, (4 * column + row) as usize) / 16.0,
                    };
                    let place = (at + 4 * row) as usize;
                    data.resize(data.len().max(place + 4), 0);
                    let word = if member.ty == "int" { 3 } else { value.to_bits() };
                    data[place..place + 4].copy_from_slice(&word.to_le_bytes());
                }
                at += if columns > 1 || member.elements > 0 { 16 } else { 4 * rows };
            }
        }
    }
    data.resize(data.len().next_multiple_of(16), 0);
}

fn module(directory: &Path, name: &str, stage: &str) -> PathBuf {
    directory.join(format!("{name}.{stage}.spv"))
}

/// The picture of a program whose modules lie in `directory` ([`crate::corpus::Module::from_corpus`]): a quad that nearly fills the target, or a grid of points.
///
/// # Errors
/// A file that cannot be read.
pub fn scene(corpus: &Path, name: &str, directory: &Path) -> std::io::Result<Scene> {
    let source = |stage: &str| std::fs::read_to_string(corpus.join(name).join(format!("vk.{stage}")));
    let [vertex, fragment] = [source("vert")?, source("frag")?];
    let mut attributes: Vec<(u32, vk::Format, String)> = Vec::new();
    for line in vertex.lines().filter(|line| line.contains(" in ") && line.starts_with("layout")) {
        let location = number_behind(line, "location").expect("an attribute has a location");
        let declared = line.trim_end_matches(';').split_once(" in ").expect("just seen").1;
        let (ty, attribute) = declared.split_once(' ').expect("a type and a name");
        let format = match ty {
            "float" => vk::Format::R32_SFLOAT,
            "vec2" => vk::Format::R32G32_SFLOAT,
            "vec3" => vk::Format::R32G32B32_SFLOAT,
            _ => vk::Format::R32G32B32A32_SFLOAT,
        };
        attributes.push((location, format, attribute.to_string()));
    }
    attributes.sort_by_key(|a| a.0);
    let points = name == "point_sprite";
    let corners: Vec<[f32; 2]> = if points {
        (0..16).map(|n| [(n % 4) as f32 / 4.0 + 0.125, (n / 4) as f32 / 4.0 + 0.125]).collect()
    } else {
        vec![[0., 0.], [1., 0.], [1., 1.], [0., 0.], [1., 1.], [0., 1.]]
    };
    let mut floats: Vec<f32> = Vec::new();
    for [u, v] in corners.iter().copied() {
        for (location, format, attribute) in &attributes {
            let size = attribute_bytes(*format) as usize / 4;
            let values = match (location, attribute.as_str()) {
                (0, _) => [u * 1.5 - 0.75, v * 1.5 - 0.75, 0.25, 1.0],
                (_, "a_normal") => [u * 0.5 - 0.25, v * 0.5 - 0.25, 0.875, 0.0],
                (_, "a_bones") => [0.0, 1.0, 2.0, 3.0],
                (_, attribute) => {
                    let f = |n| fraction(attribute, n) * 0.25;
                    [u * 0.75 + f(0), v * 0.75 + f(1), f(2) + u * 0.5, f(3) + 0.5]
                }
            };
            floats.extend(&values[..size]);
        }
    }
    let (mut uniforms, mut push) = (Vec::new(), Vec::new());
    for block in blocks(&vertex).iter().chain(&blocks(&fragment)) {
        match block.binding {
            Some(binding) => {
                let mut data = Vec::new();
                fill(block, &mut data);
                uniforms.push((binding, data));
            }
            None => fill(block, &mut push),
        }
    }
    let bindings = |kind: &str| -> Vec<u32> {
        let samplers = vertex.lines().chain(fragment.lines()).filter(|line| line.contains(kind));
        samplers.filter_map(|line| number_behind(line, "binding")).collect()
    };
    let view = vk::ImageViewType::CUBE;
    let cube = ImageSource { view, layers: 6, ..ImageSource::flat(vk::Format::R8G8B8A8_UNORM, 16, 16, 1) };
    let near = sampler(vk::Filter::NEAREST, vk::SamplerAddressMode::CLAMP_TO_EDGE);
    let cubes = bindings("uniform samplerCube").into_iter();
    let cubes = cubes.map(|binding| (binding, vec![Resource::Combined(cube, near)])).collect();
    let textures = bindings("uniform sampler2D")
        .into_iter()
        .map(|binding| (binding, Texture::waves(64, 7 * binding), vk::Filter::LINEAR))
        .collect();
    let read = |stage: &str| Ok::<_, std::io::Error>(&*std::fs::read(module(directory, name, stage))?.leak());
    Ok(Scene {
        name: format!("shared_{name}"),
        size: [128; 2],
        clear: [0.1, 0.15, 0.2, 1.0],
        draws: vec![Draw {
            vertex_shader: read("vert")?,
            fragment_shader: read("frag")?,
            stride: (4 * floats.len() / corners.len()) as u32,
            vertices: bytes(&floats),
            attributes: attributes.iter().map(|a| a.1).collect(),
            count: if attributes.is_empty() { 36 } else { corners.len() as u32 },
            topology: if points {
                vk::PrimitiveTopology::POINT_LIST
            } else {
                vk::PrimitiveTopology::TRIANGLE_LIST
            },
            uniforms,
            push,
            textures,
            resources: cubes,
            ..Draw::default()
        }],
        ..Scene::default()
    })
}

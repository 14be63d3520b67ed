//! Cases as text: suites that make kernels up hand them to the program that runs them, each beside its SPIR-V.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use ash::vk;

use super::case::{Case, Start};
use super::resource::{Resource, Shape};
use crate::vulkan::Error;

const EXTENSION: &str = "case";

impl Case {
    /// A kernel in SPIR-V that suites have made up.
    pub fn made_up(
        name: impl Into<String>,
        resources: Vec<Resource>,
        push: Vec<u32>,
        groups: [u32; 3],
    ) -> Case {
        Case { push, ..Case::new(name, String::new(), resources) }.groups(groups)
    }

    /// Writes a case that [`read`] finds, and its SPIR-V.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn write(&self, words: &[u32], directory: &Path) -> std::io::Result<()> {
        let mut text = format!("name {}\n", self.name);
        let numbers =
            |words: &mut dyn Iterator<Item = u32>| words.map(|word| format!(" {word}")).collect::<String>();
        let mut line = |name: &str, words: &mut dyn Iterator<Item = u32>| {
            writeln!(text, "{name}{}", numbers(words)).expect("a string grows");
        };
        line("push", &mut self.push.iter().copied());
        if let [Start::Groups(groups)] = self.starts[..] {
            line("groups", &mut groups.into_iter());
        }
        for resource in &self.resources {
            match resource {
                Resource::Buffer(ty, content, _) => {
                    let words = content.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                    line("buffer", &mut [ty.as_raw() as u32].into_iter().chain(words));
                }
                Resource::Storage(format, Shape { ty, size: [width, height, depth], layers, .. }) => {
                    let (format, ty) = (format.as_raw() as u32, ty.as_raw() as u32);
                    line("image", &mut [format, ty, *width, *height, *depth, *layers].into_iter());
                }
                _ => panic!("{}: cases that are made up have buffers and storage images", self.name),
            }
        }
        fs::write(self.result(directory).with_extension(EXTENSION), text)?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(self.module(directory), bytes)
    }
}

/// The cases that a directory has, by name.
///
/// # Errors
/// It cannot be read, or has files that are no cases.
pub fn read(directory: &Path) -> Result<Vec<Case>, Error> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            let text = fs::read_to_string(&path)?;
            let case =
                parse(&text).ok_or_else(|| std::io::Error::other(format!("{}: no case", path.display())))?;
            cases.push(case);
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

fn parse(text: &str) -> Option<Case> {
    let (mut name, mut push, mut groups, mut resources) = (String::new(), Vec::new(), [0; 3], Vec::new());
    for line in text.lines() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        if kind == "name" {
            name = rest.into();
            continue;
        }
        let words: Vec<u32> = rest.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        match (kind, &words[..]) {
            ("push", _) => push = words,
            ("groups", _) => groups = words.try_into().ok()?,
            ("buffer", [ty, content @ ..]) => {
                let content = content.iter().flat_map(|word| word.to_le_bytes()).collect();
                resources.push(Resource::Buffer(vk::DescriptorType::from_raw(*ty as i32), content, None));
            }
            ("image", &[format, ty, width, height, depth, layers]) => {
                let ty = vk::ImageViewType::from_raw(ty as i32);
                let shape = Shape { ty, size: [width, height, depth], layers, levels: 1 };
                resources.push(Resource::Storage(vk::Format::from_raw(format as i32), shape));
            }
            _ => return None,
        }
    }
    Some(Case::made_up(name, resources, push, groups))
}

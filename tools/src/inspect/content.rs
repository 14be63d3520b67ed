//! What a file turned out to be.

use super::{mbs, metallib, program, shbin, spirv};
use crate::json::Value;
use shader_containers::mbs::Mbs;
use shader_containers::metallib::Library;
use shader_containers::shbin::Shbin;
use shader_containers::{Finding, Format};
use std::io::{self, Write};
use std::path::Path;

/// The formats `inspect` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Mali-200/400 shader binary
    Mbs,
    /// Nintendo 3DS shader binary
    Shbin,
    /// Apple Metal library
    Metallib,
    /// SPIR-V module
    Spirv,
    /// Compiled programs of `vc4 compile`
    Vc4p,
}

/// A parsed file.
pub enum Content<'a> {
    Mbs(Mbs),
    Shbin(Shbin),
    Metallib(Library<'a>),
    Spirv(spirv::Module),
    Vc4p(Box<vc4_shaders::file::Contents>),
}

impl Kind {
    /// The format whose magic begins the bytes.
    pub fn detect(bytes: &[u8]) -> Option<Kind> {
        match Format::detect(bytes) {
            Some(Format::Mbs) => Some(Kind::Mbs),
            Some(Format::Shbin) => Some(Kind::Shbin),
            Some(Format::Metallib) => Some(Kind::Metallib),
            None if program::is_program_file(bytes) => Some(Kind::Vc4p),
            None => spirv::is_spirv(bytes).then_some(Kind::Spirv),
        }
    }

    /// The format a name ends with: for files so damaged that their magic is gone.
    pub fn by_extension(path: &Path) -> Option<Kind> {
        match path.extension()?.to_str()? {
            "mbs" => Some(Kind::Mbs),
            "shbin" => Some(Kind::Shbin),
            "metallib" => Some(Kind::Metallib),
            "spv" => Some(Kind::Spirv),
            "vc4p" => Some(Kind::Vc4p),
            _ => None,
        }
    }

    /// The name in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Mbs => "mbs",
            Kind::Shbin => "shbin",
            Kind::Metallib => "metallib",
            Kind::Spirv => "spirv",
            Kind::Vc4p => "vc4p",
        }
    }
}

/// Containers inside a file of another kind, with offset and size, by offset.
pub fn embedded(bytes: &[u8]) -> Vec<(Kind, usize, usize)> {
    let libraries = shader_containers::metallib::embedded(bytes).map(|(at, size)| (Kind::Metallib, at, size));
    let mut list: Vec<_> = libraries.collect();
    for at in shader_containers::shbin::embedded(bytes) {
        if let Ok(shbin) = Shbin::parse(&bytes[at..]) {
            list.push((Kind::Shbin, at, shbin.extent().min(bytes.len() - at)));
        }
    }
    list.sort_by_key(|(_, at, _)| *at);
    list
}

/// Everything wrong or odd in a file.
pub fn check(kind: Kind, bytes: &[u8]) -> Vec<Finding> {
    match kind {
        Kind::Mbs => shader_containers::mbs::check(bytes),
        Kind::Shbin => shader_containers::shbin::check(bytes),
        Kind::Metallib => shader_containers::metallib::check(bytes),
        Kind::Spirv => spirv::Module::parse(bytes).err().into_iter().collect(),
        Kind::Vc4p => program::check(bytes),
    }
}

impl<'a> Content<'a> {
    /// The structure of a file.
    ///
    /// # Errors
    /// The finding for which the file is refused.
    pub fn parse(kind: Kind, bytes: &'a [u8]) -> Result<Content<'a>, Finding> {
        Ok(match kind {
            Kind::Mbs => Content::Mbs(Mbs::parse(bytes)?),
            Kind::Shbin => Content::Shbin(Shbin::parse(bytes)?),
            Kind::Metallib => Content::Metallib(Library::parse(bytes)?),
            Kind::Spirv => Content::Spirv(spirv::Module::parse(bytes)?),
            Kind::Vc4p => Content::Vc4p(Box::new(program::parse(bytes)?)),
        })
    }

    /// Prints the tree below the file's line.
    pub fn text(&self, out: &mut impl Write, code: bool) -> io::Result<()> {
        match self {
            Content::Mbs(mbs) => mbs::text(mbs, out, code),
            Content::Shbin(shbin) => shbin::text(shbin, out, code),
            Content::Metallib(library) => metallib::text(library, out, code),
            Content::Spirv(module) => module.text(out),
            Content::Vc4p(contents) => program::text(contents, out, code),
        }
    }

    /// The `content` field of the JSON document.
    pub fn json(&self, code: bool) -> Value {
        match self {
            Content::Mbs(mbs) => mbs::json(mbs, code),
            Content::Shbin(shbin) => shbin::json(shbin, code),
            Content::Metallib(library) => metallib::json(library),
            Content::Spirv(module) => module.json(),
            Content::Vc4p(contents) => program::json(contents, code),
        }
    }
}

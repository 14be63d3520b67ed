//! From a builder's values to the bytes of a file.
//!
//! Everything but the reflection list is independent of its place; that one pads its buffers to multiples of 16 in
//! the file, so its place is found first, and the function list, which names places in it, is written last.

use super::archive::write_tar;
use super::build::{BuildError, FunctionSpec, LibraryBuilder, SourceSpec};
use super::extension::{ExtensionTag, write_tags};
use super::function::{Offsets, Version};
use super::group::{SizeForm, longest_content, write_group, write_tag};
use super::header::{Header, Platform, Section};
use super::metadata::MetadataTag;
use super::module::wrap;
use bzip2::Compression;
use bzip2::read::BzEncoder;
use sha2::{Digest, Sha256};
use std::io::Read;

/// What the function list says of one function's parts.
struct Entry {
    offsets: Offsets,
    hash: [u8; 32],
    module_size: u64,
    source: Option<u64>,
}

/// A tag's characters and content.
type OwnedTag = ([u8; 4], Vec<u8>);

/// The sections that do not depend on their places.
#[derive(Default)]
struct Content {
    entries: Vec<Entry>,
    public: Vec<u8>,
    private: Vec<u8>,
    modules: Vec<u8>,
    sources: Vec<u8>,
    dynamic: Vec<u8>,
    uuid: [u8; 16],
}

impl LibraryBuilder<'_> {
    /// The file.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn build(&self) -> Result<Vec<u8>, BuildError> {
        let content = self.content()?;
        let no_places = vec![0; self.functions.len()];
        let list_size = self.function_list(&content, &no_places)?.len() as u64;
        let list = Section { offset: Header::SIZE as u64, size: list_size };
        let extension_at = list.offset + 4 + list.size;
        let mut at = extension_at + self.extension(&content, 0, 0).len() as u64;
        let mut next = |size: usize| {
            let section = Section { offset: at, size: size as u64 };
            at += section.size;
            section
        };
        let (public, private) = (next(content.public.len()), next(content.private.len()));
        let modules = next(content.modules.len());
        let sources = next(content.sources.len());
        let reflection_at = next(content.dynamic.len());
        let (reflection, places) = self.reflection(reflection_at.offset + reflection_at.size)?;
        let file_size = next(reflection.len());

        let mut out = Vec::new();
        self.header(list, [public, private, modules], file_size.offset + file_size.size).write(&mut out);
        out.extend_from_slice(&(self.functions.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.function_list(&content, &places)?);
        out.extend_from_slice(&self.extension(&content, sources.offset, reflection.len()));
        for bytes in [&content.public, &content.private, &content.modules, &content.sources, &content.dynamic]
        {
            out.extend_from_slice(bytes);
        }
        out.extend_from_slice(&reflection);
        Ok(out)
    }

    fn header(&self, functions: Section, [public, private, modules]: [Section; 3], file_size: u64) -> Header {
        let target = self.target;
        // Platform and OS appear in patch 6 (containers.md §3.1).
        let known = target.patch >= 6;
        Header {
            platform_word: 1 | u16::from(target.platform == Platform::MacOs) << 15,
            minor: 2,
            patch: target.patch,
            type_byte: self.library_type as u8,
            os_byte: if known { 0x80 | target.platform as u8 } else { 0 },
            os_version: if known { target.os } else { (0, 0, 0) },
            file_size,
            functions,
            public,
            private,
            modules,
        }
    }

    fn content(&self) -> Result<Content, BuildError> {
        let mut content = Content { sources: Vec::new(), ..Content::default() };
        let mut archives = Vec::new();
        if let Some(sources) = &self.sources {
            (content.sources, archives) = self.source_section(sources)?;
        }
        let mut digests = Sha256::new();
        for function in &self.functions {
            let source = match function.source {
                Some(index) => {
                    let missing = || BuildError::NoSource(function.name.clone());
                    Some(*archives.get(index).ok_or_else(missing)?)
                }
                None => None,
            };
            let module = wrap(function.bitcode);
            let entry = Entry {
                offsets: Offsets {
                    public: content.public.len() as u64,
                    private: content.private.len() as u64,
                    module: content.modules.len() as u64,
                },
                hash: Sha256::digest(&module).into(),
                module_size: module.len() as u64,
                source,
            };
            digests.update(entry.hash);
            metadata(&mut content.public, self.metadata_form, &function.public)?;
            metadata(&mut content.private, self.metadata_form, &function.private)?;
            content.modules.extend_from_slice(&module);
            content.entries.push(entry);
        }
        content.uuid = name_based_uuid(&digests.finalize());
        if let Some((name, linked)) = &self.dynamic {
            put(&mut content.dynamic, *b"NAME", &terminated(name)?)?;
            for library in linked {
                put(&mut content.dynamic, *b"DYNL", &terminated(library)?)?;
            }
            content.dynamic.extend_from_slice(b"ENDT");
        }
        Ok(content)
    }

    /// Groups of the function list; `reflection` has the place in `RLST` of each function that is in it.
    fn function_list(&self, content: &Content, reflection: &[u64]) -> Result<Vec<u8>, BuildError> {
        let mut out = Vec::new();
        for ((function, entry), &place) in self.functions.iter().zip(&content.entries).zip(reflection) {
            let tags = self.function_tags(function, entry, function.reflection.map(|_| place))?;
            tags.iter().try_for_each(|(id, content)| fits(*id, content))?;
            write_group(&mut out, SizeForm::Includes, |out| {
                tags.iter().for_each(|(id, content)| write_tag(out, *id, content));
            });
        }
        Ok(out)
    }

    /// In the order of the newer linker, or of the older archiver, which puts `MDSZ` behind the digest.
    fn function_tags(
        &self,
        function: &FunctionSpec<'_>,
        entry: &Entry,
        reflection: Option<u64>,
    ) -> Result<Vec<OwnedTag>, BuildError> {
        let Offsets { public, private, module } = entry.offsets;
        let Version { air, language } = Version { air: function.air, language: function.language };
        let offsets = [public, private, module].iter().flat_map(|offset| offset.to_le_bytes()).collect();
        let version =
            [air.0, air.1, language.0, language.1].iter().flat_map(|half| half.to_le_bytes()).collect();
        let word = |value: u64| value.to_le_bytes().to_vec();
        let mut tags = vec![
            (*b"NAME", terminated(&function.name)?),
            (*b"TYPE", vec![function.function_type]),
            (*b"HASH", entry.hash.to_vec()),
            (*b"OFFT", offsets),
            (*b"VERS", version),
        ];
        if self.module_sizes {
            let place = if self.metadata_form == SizeForm::Excludes { 3 } else { tags.len() };
            tags.insert(place, (*b"MDSZ", word(entry.module_size)));
        }
        let optional = [
            (*b"LAYR", function.layer.map(|byte| vec![byte])),
            (*b"TESS", function.tessellation.map(|byte| vec![byte])),
            (*b"SOFF", entry.source.map(word)),
            (*b"RFLT", reflection.map(word)),
        ];
        tags.extend(optional.into_iter().filter_map(|(id, content)| Some((id, content?))));
        Ok(tags)
    }

    /// The extension when the sections behind the modules begin at `at`; its length does not depend on that.
    fn extension(&self, content: &Content, mut at: u64, reflection_size: usize) -> Vec<u8> {
        let mut out = Vec::new();
        if self.target.patch < 3 {
            return out;
        }
        let sources = if self.target.patch >= 6 { *b"HSRD" } else { *b"HSRC" };
        let has_reflection = self.functions.iter().any(|function| function.reflection.is_some());
        let sections = [
            (sources, content.sources.len(), self.sources.is_some()),
            (*b"HDYN", content.dynamic.len(), self.dynamic.is_some()),
            (*b"RLST", reflection_size, has_reflection),
        ];
        let mut tags = Vec::new();
        for (id, size, _) in sections.into_iter().filter(|(_, _, present)| *present) {
            tags.push(ExtensionTag::Section(id, Section { offset: at, size: size as u64 }));
            at += size as u64;
        }
        if self.with_uuid {
            tags.push(ExtensionTag::Uuid(self.uuid.unwrap_or(content.uuid)));
        }
        write_tags(&mut out, tags.into_iter());
        out
    }

    /// `RLST` beginning at `at` in the file, and the place of each function's group in it.
    fn reflection(&self, at: u64) -> Result<(Vec<u8>, Vec<u64>), BuildError> {
        let buffers = self.functions.iter().map(|function| function.reflection);
        let count = buffers.clone().flatten().count();
        let (mut out, mut places) = (Vec::new(), Vec::new());
        if count > 0 {
            out.extend_from_slice(&(count as u32).to_le_bytes());
        }
        for buffer in buffers {
            places.push(out.len() as u64);
            let Some(buffer) = buffer else { continue };
            // Size word, four characters and a u32 size come before the content, whose flat buffer begins on a
            // multiple of 16 in the file.
            let content_at = at + out.len() as u64 + 12;
            let mut content = vec![0; (content_at.next_multiple_of(16) - content_at) as usize];
            content.extend_from_slice(buffer);
            fits(*b"RBUF", &content)?;
            write_group(&mut out, SizeForm::Includes, |out| write_tag(out, *b"RBUF", &content));
        }
        Ok((out, places))
    }

    /// The source section and the offset of each archive's `SARC` in it.
    fn source_section(&self, sources: &SourceSpec) -> Result<(Vec<u8>, Vec<u64>), BuildError> {
        let mut out = (sources.archives.len() as u32).to_le_bytes().to_vec();
        out.extend(terminated(&sources.link_options)?);
        if self.target.patch >= 6 {
            out.extend(terminated(&sources.working_directory)?);
        }
        let mut offsets = Vec::new();
        for (id, files) in &sources.archives {
            let failed = || BuildError::Archive(id.clone());
            let mut content = terminated(id)?;
            let tar = write_tar(files).ok_or_else(failed)?;
            BzEncoder::new(&tar[..], Compression::best()).read_to_end(&mut content).map_err(|_| failed())?;
            offsets.push(out.len() as u64 + 4);
            fits(*b"SARC", &content)?;
            write_group(&mut out, SizeForm::Excludes, |out| write_tag(out, *b"SARC", &content));
        }
        Ok((out, offsets))
    }
}

fn metadata(out: &mut Vec<u8>, form: SizeForm, tags: &[MetadataTag<'_>]) -> Result<(), BuildError> {
    tags.iter().try_for_each(|tag| fits(tag.id(), &tag.content()))?;
    write_group(out, form, |out| tags.iter().for_each(|tag| tag.write(out)));
    Ok(())
}

fn fits(id: [u8; 4], content: &[u8]) -> Result<(), BuildError> {
    let too_long = || BuildError::TagTooLong(id.escape_ascii().to_string());
    (content.len() <= longest_content(id)).then_some(()).ok_or_else(too_long)
}

fn put(out: &mut Vec<u8>, id: [u8; 4], content: &[u8]) -> Result<(), BuildError> {
    fits(id, content)?;
    write_tag(out, id, content);
    Ok(())
}

fn terminated(text: &str) -> Result<Vec<u8>, BuildError> {
    match text.contains('\0') {
        true => Err(BuildError::Name(text.into())),
        false => Ok([text.as_bytes(), &[0]].concat()),
    }
}

/// Newer libraries carry the bits of a name-based UUID (version 3); what name theirs is made of is not known.
fn name_based_uuid(digest: &[u8]) -> [u8; 16] {
    let mut uuid: [u8; 16] = std::array::from_fn(|i| digest[i]);
    uuid[6] = uuid[6] & 0x0F | 0x30;
    uuid[8] = uuid[8] & 0x3F | 0x80;
    uuid
}

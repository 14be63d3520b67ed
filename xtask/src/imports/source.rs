//! A crate as its source files: the tree of its modules, what each binds by `use`, and every path that it writes.
//!
//! What only tests see (`#[cfg(test)]`) is left out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemUse, Meta, UseTree};

use crate::Error;

/// Index of a module in [`Source::modules`].
pub type ModuleId = usize;
/// Index of a file in [`Source::files`].
pub type FileId = usize;

/// All modules of one library or program.
#[derive(Default)]
pub struct Source {
    /// The root first.
    pub modules: Vec<Module>,
    pub files: Vec<File>,
}

/// A file, which holds one module and those that are written inside it.
pub struct File {
    pub path: PathBuf,
    /// Names of the modules from the root to this file's.
    pub place: Vec<String>,
}

/// A module, whether it has a file of its own or not.
pub struct Module {
    pub file: FileId,
    pub parent: Option<ModuleId>,
    pub children: HashMap<String, ModuleId>,
    /// Names that the module defines itself.
    pub items: Vec<String>,
    /// Names that `use` binds, and the paths that they stand for.
    pub bindings: HashMap<String, Vec<String>>,
    /// Modules whose names are all taken: `use path::*`.
    pub globs: Vec<Vec<String>>,
    pub mentions: Vec<Mention>,
}

/// A path as it stands in the code.
pub struct Mention {
    pub segments: Vec<String>,
    /// Every name behind it is taken.
    pub glob: bool,
    pub line: usize,
}

impl Source {
    /// Reads the crate whose root file (`lib.rs`, `main.rs`) is `root`.
    ///
    /// # Errors
    /// A file that cannot be read, is missing, or is no Rust.
    pub fn read(root: &Path) -> Result<Self, Error> {
        let mut source = Self::default();
        let directory = root.parent().unwrap_or(Path::new("."));
        source.file(root.to_path_buf(), directory, None, Vec::new())?;
        Ok(source)
    }

    /// Reads one file; `directory` is where the files of its modules lie.
    fn file(
        &mut self,
        path: PathBuf,
        directory: &Path,
        parent: Option<ModuleId>,
        place: Vec<String>,
    ) -> Result<ModuleId, Error> {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let syntax = syn::parse_file(&text)
            .map_err(|error| format!("{}:{}: {error}", path.display(), error.span().start().line))?;
        self.files.push(File { path, place });
        self.module(&syntax.items, self.files.len() - 1, directory, parent)
    }

    fn module(
        &mut self,
        items: &[Item],
        file: FileId,
        directory: &Path,
        parent: Option<ModuleId>,
    ) -> Result<ModuleId, Error> {
        let id = self.modules.len();
        let mut reader = Reader::default();
        items.iter().for_each(|item| reader.visit_item(item));
        self.modules.push(Module {
            file,
            parent,
            children: HashMap::new(),
            items: items.iter().filter_map(name).collect(),
            bindings: reader.bindings,
            globs: reader.globs,
            mentions: reader.mentions,
        });
        for item in items {
            let Item::Mod(child) = item else { continue };
            if only_in_tests(&child.attrs) {
                continue;
            }
            let name = child.ident.unraw().to_string();
            let below = directory.join(&name);
            let module = match &child.content {
                Some((_, items)) => self.module(items, file, &below, Some(id))?,
                None => {
                    let mut place = self.files[file].place.clone();
                    place.push(name.clone());
                    self.file(self.locate(file, &name, &below, &child.attrs)?, &below, Some(id), place)?
                }
            };
            self.modules[id].children.insert(name, module);
        }
        Ok(id)
    }

    /// The file of the module `name`: `name.rs`, `name/mod.rs` or what `#[path]` says.
    fn locate(
        &self,
        parent: FileId,
        name: &str,
        below: &Path,
        attributes: &[Attribute],
    ) -> Result<PathBuf, Error> {
        let told = attributes.iter().find_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                    Some(self.files[parent].path.with_file_name(text.value()))
                }
                _ => None,
            },
            _ => None,
        });
        let places = [told, Some(below.with_extension("rs")), Some(below.join("mod.rs"))];
        places.into_iter().flatten().find(|place| place.is_file()).ok_or_else(|| {
            format!("{}: the module {name} has no file", self.files[parent].path.display()).into()
        })
    }
}

/// Whether an item is compiled for tests alone.
fn only_in_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else { return false };
        if !list.path.is_ident("cfg") {
            return false;
        }
        let mut words = list.tokens.clone().into_iter();
        let is_test = |tokens: &mut dyn Iterator<Item = TokenTree>| {
            matches!(tokens.next(), Some(TokenTree::Ident(word)) if word == "test")
        };
        match words.next() {
            Some(TokenTree::Ident(word)) if word == "test" => true,
            Some(TokenTree::Ident(word)) if word == "all" => match words.next() {
                Some(TokenTree::Group(all)) => is_test(&mut all.stream().into_iter()),
                _ => false,
            },
            _ => false,
        }
    })
}

/// What an item is called in its module.
fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.unraw().to_string())
}

/// Collects what one module's own items write; modules inside it are read on their own.
#[derive(Default)]
struct Reader {
    bindings: HashMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    mentions: Vec<Mention>,
}

impl Reader {
    fn mention(&mut self, segments: Vec<String>, span: Span) {
        self.mentions.push(Mention { segments, glob: false, line: span.start().line });
    }

    /// One branch of a `use`; `path` is what stands before it.
    fn take(&mut self, tree: &UseTree, path: &[String]) {
        let with = |ident: &syn::Ident| {
            let mut path = path.to_vec();
            // `use a::{self}` is `use a`.
            if ident != "self" || path.is_empty() {
                path.push(ident.unraw().to_string());
            }
            path
        };
        match tree {
            UseTree::Path(inner) => self.take(&inner.tree, &with(&inner.ident)),
            UseTree::Name(leaf) => {
                let target = with(&leaf.ident);
                if let Some(name) = target.last() {
                    self.bindings.insert(name.clone(), target.clone());
                }
                self.mention(target, leaf.ident.span());
            }
            UseTree::Rename(leaf) => {
                let target = with(&leaf.ident);
                self.bindings.insert(leaf.rename.unraw().to_string(), target.clone());
                self.mention(target, leaf.ident.span());
            }
            UseTree::Glob(star) => {
                self.globs.push(path.to_vec());
                let line = star.star_token.spans[0].start().line;
                self.mentions.push(Mention { segments: path.to_vec(), glob: true, line });
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.take(tree, path)),
        }
    }

    /// Paths in what a macro is given, which is not Rust before the macro has run.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        let mut last = Span::call_site();
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end_of_path(&mut path, last);
                    }
                    path.push(ident.unraw().to_string());
                    (colons, last) = (0, ident.span());
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end_of_path(&mut path, last);
                    self.tokens(group.stream());
                    colons = 0;
                }
                _ => {
                    self.end_of_path(&mut path, last);
                    colons = 0;
                }
            }
        }
        self.end_of_path(&mut path, last);
    }

    fn end_of_path(&mut self, path: &mut Vec<String>, span: Span) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.mention(path, span);
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(_) => return,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Const(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !only_in_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !only_in_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.take(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|part| part.ident.unraw().to_string()).collect();
        if segments.len() > 1 && path.leading_colon.is_none() {
            self.mention(segments, path.segments[0].ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(in path)` takes nothing from there.
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        self.visit_path(&invoked.path);
        self.tokens(invoked.tokens.clone());
    }
}

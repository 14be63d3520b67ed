//! From a path in the code to the file that defines what it names.

use super::source::{FileId, Mention, ModuleId, Source};

/// So many re-exports in a row are a circle of their own.
const MOST_HOPS: usize = 16;

impl Source {
    /// The file that defines what `mention` names in `module`; `None` for other crates, and for a path that ends at a
    /// module: naming a module takes nothing from it yet, unless all its names are taken.
    pub fn definition(&self, module: ModuleId, mention: &Mention) -> Option<FileId> {
        match self.resolve(module, &mention.segments, 0)? {
            Target::Item(file) => Some(file),
            Target::Module(module) => mention.glob.then(|| self.modules[module].file),
        }
    }

    fn resolve(&self, module: ModuleId, path: &[String], hops: usize) -> Option<Target> {
        if hops > MOST_HOPS {
            return None;
        }
        let mut at = module;
        let mut rest = path;
        let mut relative = false;
        while let Some((first, behind)) = rest.split_first() {
            at = match first.as_str() {
                "crate" => 0,
                "self" => at,
                "super" => self.modules[at].parent?,
                _ => break,
            };
            relative = true;
            rest = behind;
        }
        loop {
            let Some((name, behind)) = rest.split_first() else { return Some(Target::Module(at)) };
            match self.lookup(at, name, behind.is_empty(), hops) {
                Some(Target::Module(child)) => at = child,
                Some(item) => return Some(item),
                // Behind a module of ours stands something that it defines in a way that is not read, by a macro for instance.
                None if relative => return Some(Target::Item(self.modules[at].file)),
                None => return None,
            }
            rest = behind;
            relative = true;
        }
    }

    /// What `name` stands for in `module`. As the last word of a path it prefers items, before others modules.
    fn lookup(&self, at: ModuleId, name: &str, last: bool, hops: usize) -> Option<Target> {
        let module = &self.modules[at];
        let item = || module.items.iter().any(|item| item == name).then_some(Target::Item(module.file));
        let child = || module.children.get(name).map(|child| Target::Module(*child));
        let binding = || {
            let path = module.bindings.get(name)?;
            // `use name;` and `use self::name` would find themselves.
            (path.as_slice() != [name]).then(|| self.resolve(at, path, hops + 1))?
        };
        let glob = || {
            module.globs.iter().find_map(|path| match self.resolve(at, path, hops + 1)? {
                Target::Module(from) if from != at => self.lookup(from, name, last, hops + 1),
                _ => None,
            })
        };
        if last {
            item().or_else(binding).or_else(child).or_else(glob)
        } else {
            child().or_else(binding).or_else(item).or_else(glob)
        }
    }
}

enum Target {
    Module(ModuleId),
    /// Defined in this file.
    Item(FileId),
}

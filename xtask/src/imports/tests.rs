use std::path::PathBuf;

use super::graph::{imports, levels};
use super::source::Source;

/// A crate in a directory of its own.
struct Crate(PathBuf);

impl Crate {
    fn new(name: &str, files: &[(&str, &str)]) -> Crate {
        let directory = std::env::temp_dir().join(format!("vc4-imports-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = directory.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Crate(directory)
    }

    /// Every circle: the folder, or `files`, and its members.
    fn circles(&self) -> Vec<String> {
        let mut source = Source::read(&self.0.join("lib.rs")).unwrap();
        for file in &mut source.files {
            file.path = file.path.strip_prefix(&self.0).unwrap().to_path_buf();
        }
        let imports = imports(&source);
        let mut found = Vec::new();
        for level in levels(&source, &imports) {
            for circle in level.circles() {
                assert!(!circle.climbing.is_empty());
                let place = level.folder.as_deref().map_or("files".into(), |folder| format!("/{folder}"));
                found.push(format!("{place}: {}", circle.members.join(" ")));
            }
            assert_eq!(level.floors().is_none(), !level.circles().is_empty());
        }
        found
    }
}

impl Drop for Crate {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn circles(name: &str, files: &[(&str, &str)]) -> Vec<String> {
    Crate::new(name, files).circles()
}

const LIB: (&str, &str) = ("lib.rs", "mod a; mod b;");

#[test]
fn files_that_take_from_each_other_are_a_circle() {
    let there = ("a.rs", "use crate::b::B; pub struct A(B);");
    assert_eq!(circles("one-way", &[LIB, there, ("b.rs", "pub struct B;")]), [""; 0]);
    let both = circles("both", &[LIB, there, ("b.rs", "pub struct B; fn f(_: &crate::a::A) {}")]);
    assert_eq!(both, ["files: a.rs b.rs", "/: a b"]);
}

#[test]
fn every_way_of_naming_counts() {
    let a =
        ("a.rs", "pub struct A; pub fn make() -> A { A } pub enum E { One } use super::b::B; type T = B;");
    for (number, text) in [
        "use crate::a::{self, make}; pub struct B; fn f() { make(); }",
        "use super::a as other; pub struct B; fn f() { other::make(); }",
        "use crate::a::*; pub struct B;",
        "pub struct B; fn f() -> impl Sized { println!(\"{:?}\", crate::a::make()); }",
        "pub struct B; fn f() { use crate::a::E::One; let _ = One; }",
        "pub struct B; macro_rules! m { () => { $crate::a::make() }; }",
        "pub struct B; impl Iterator for B { type Item = super::a::A; }",
    ]
    .into_iter()
    .enumerate()
    {
        let found = circles(&format!("naming-{number}"), &[LIB, a, ("b.rs", text)]);
        assert_eq!(found, ["files: a.rs b.rs", "/: a b"], "{text}");
    }
}

#[test]
fn what_names_only_a_module_or_serves_tests_takes_nothing() {
    let a = ("a.rs", "use crate::b::B; pub struct A(B);");
    for (number, text) in [
        "use crate::a; pub struct B;",
        "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }",
        "pub struct B; #[cfg(test)] use crate::a::A;",
        "pub struct B; impl B { #[cfg(all(test, unix))] fn f(_: crate::a::A) {} }",
        "//! [`crate::a::A`]\npub struct B;",
        "pub struct B; fn f() { other::a::A::new(); ::a::A::new(); }",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(circles(&format!("nothing-{number}"), &[LIB, a, ("b.rs", text)]), [""; 0], "{text}");
    }
    let other = "pub struct B; #[cfg(not(test))] use crate::a::A;";
    assert_eq!(circles("not-test", &[LIB, a, ("b.rs", other)]).len(), 2);
}

#[test]
fn a_name_leads_to_the_file_that_defines_it() {
    let lib = ("lib.rs", "pub mod room; pub use room::Thing; mod user;");
    let page = ("room/mod.rs", "mod thing; mod other; pub use thing::Thing;");
    let thing = ("room/thing.rs", "pub struct Thing;");
    let user = ("user.rs", "use crate::Thing; fn f(_: Thing) {}");
    // A file beside what the page hands on may take it by the page.
    let other = ("room/other.rs", "use super::Thing; pub struct Other(Thing);");
    assert_eq!(circles("face", &[lib, page, thing, user, other]), [""; 0]);
    // What the page defines itself is not for the files whose names it hands on.
    let defines = ("room/mod.rs", "mod thing; mod other; pub use thing::Thing; pub const N: u32 = 1;");
    let takes = ("room/thing.rs", "pub struct Thing([u8; super::N as usize]);");
    let found = circles("page", &[lib, defines, takes, user, other]);
    assert_eq!(found, ["files: room/mod.rs room/thing.rs", "/room: mod.rs thing"]);
}

#[test]
fn folders_are_held_to_it_as_wholes() {
    let files = [
        ("lib.rs", "mod high; mod low;"),
        ("high/mod.rs", "pub mod one; pub mod two;"),
        ("low/mod.rs", "pub mod one; pub mod two;"),
        ("high/one.rs", "use crate::low::one::L; pub struct H(L);"),
        ("high/two.rs", "pub struct Two;"),
        ("low/one.rs", "pub struct L;"),
        ("low/two.rs", "use crate::high::two::Two; pub struct L(Two);"),
    ];
    assert_eq!(circles("folders", &files), ["/: high low"]);
}

#[test]
fn a_module_without_a_file_is_an_error() {
    let lost = Crate::new("lost", &[("lib.rs", "mod nowhere;")]);
    let error = Source::read(&lost.0.join("lib.rs")).err().unwrap().to_string();
    assert!(error.ends_with("lib.rs: the module nowhere has no file"), "{error}");
    let broken = Crate::new("broken", &[("lib.rs", "fn (")]);
    assert!(Source::read(&broken.0.join("lib.rs")).err().unwrap().to_string().contains("lib.rs:1: "));
}

//! The check itself, on small made-up crates.

use super::circles;
use std::path::Path;

/// The circles of a crate made of these files, as they are shown.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let sources = |path: &Path| {
        let file = files.iter().find(|(name, _)| Path::new("src").join(name) == path);
        file.map(|(_, text)| (*text).to_owned())
    };
    circles(Path::new("src/lib.rs"), &sources).iter().map(ToString::to_string).collect()
}

#[test]
fn two_modules_that_name_each_other_are_shown_with_both_places() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "\nuse crate::b::B;"),
        ("b.rs", "fn b() {\n    let a = super::a::A::new();\n}"),
    ];
    let shown = "in `crate`, each of these depends on all others: a, b\n    \
                 a -> b: src/a.rs:2 names `crate::b::B`\n    \
                 b -> a: src/b.rs:2 names `super::a::A::new`";
    assert_eq!(found(&files), [shown]);
}

#[test]
fn one_direction_is_no_circle() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::{b::B, c};"),
        ("b.rs", "use crate::c::C;"),
        ("c.rs", "pub struct C;"),
    ];
    assert!(found(&files).is_empty());
}

#[test]
fn a_longer_circle_is_one_and_what_only_leads_to_it_is_no_part() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::{b::{self, B as Other}, d::D};"),
        ("b.rs", "use crate::c::C;"),
        ("c.rs", "fn c() { info!(\"{}\", crate::a::A) }"),
        ("d.rs", ""),
    ];
    let found = found(&files);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("in `crate`, each of these depends on all others: a, b, c\n"));
}

#[test]
fn a_child_stands_for_its_module_at_each_level_above() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod x; mod y;"),
        ("a/x.rs", "use super::y::Y; use crate::b::B;"),
        ("a/y.rs", "use super::x::X;"),
        ("b.rs", "use crate::a::x::X;"),
    ];
    let found = found(&files);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("in `crate`, each of these depends on all others: a, b\n"));
    assert!(found[1].starts_with("in `a`, each of these depends on all others: x, y\n"));
}

#[test]
fn a_name_is_followed_through_reexports_to_the_module_that_defines_it() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use b::B; pub use crate::a::*;"),
        ("a.rs", "use crate::B;"),
        ("b.rs", "use super::a; type Other = a::A;"),
    ];
    assert_eq!(found(&files).len(), 1);
    let by_glob = [
        ("lib.rs", "mod a; mod b; pub use b::*;"),
        ("a.rs", "use crate::B;"),
        ("b.rs", "use crate::a::A;"),
    ];
    assert_eq!(found(&by_glob).len(), 1);
}

#[test]
fn a_parent_that_defines_what_its_children_name_must_not_use_them() {
    let uses = [
        ("lib.rs", "mod a; struct Shared; fn start() { a::run() }"),
        ("a.rs", "use crate::Shared;"),
    ];
    let shown = found(&uses);
    assert!(
        shown[0].starts_with("in `crate`, each of these depends on all others: (its own file), a")
    );
    let reexports = [("lib.rs", "mod a; pub(crate) use a::run; struct Shared;"), uses[1]];
    assert!(found(&reexports).is_empty());
    let uses_its_reexport = [
        ("lib.rs", "mod a; pub use a::A; struct Shared(A);"),
        ("a.rs", "struct A(super::Shared);"),
    ];
    assert_eq!(found(&uses_its_reexport).len(), 1);
    let defines_nothing_they_name = [uses[0], ("a.rs", "pub fn run() {}")];
    assert!(found(&defines_nothing_they_name).is_empty());
}

#[test]
fn tests_comments_strings_and_visibilities_are_no_uses() {
    let b = "//! See crate::a::A.\n\
             pub(in crate::a) struct B(&'static str);\n\
             const B: &str = \"crate::a\";\n\
             #[cfg(test)] use crate::a::{self, A};\n\
             #[cfg(test)] impl B { fn b() { crate::a::A::new() } }\n\
             #[cfg(test)] mod tests { use crate::a::A; }";
    let files = [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", b)];
    assert!(found(&files).is_empty(), "{:?}", found(&files));
}

#[test]
fn an_inline_module_belongs_to_its_file() {
    let files = [
        ("lib.rs", "mod a { pub struct A(super::b::B); mod inner { type A = super::A; } } mod b;"),
        ("b.rs", "type Of = crate::a::A;"),
    ];
    assert_eq!(found(&files).len(), 1);
    let one_file = [("lib.rs", "mod a { type A = super::b::B; } mod b { type B = super::a::A; }")];
    assert!(found(&one_file).is_empty());
}

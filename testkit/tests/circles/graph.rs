//! Finds the circles: resolves what each module names, and asks at each level who can reach whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use super::source::{Mention, Module, ModulePath, Sources, modules};

/// The node of the parent's own file among its children.
const ITSELF: &str = "(its own file)";

/// Imports that lead to each other are followed this far.
const MAX_STEPS: usize = 16;

/// Modules of one level, each of which can reach all others.
pub struct Circle {
    /// The module whose children they are.
    pub level: String,
    pub edges: Vec<Edge>,
}

/// That one of them names something of another, and where it does so first.
pub struct Edge {
    pub from: String,
    pub to: String,
    path: String,
    file: PathBuf,
    line: usize,
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members: BTreeSet<&str> = self.edges.iter().map(|edge| edge.from.as_str()).collect();
        let members: Vec<&str> = members.into_iter().collect();
        write!(
            f,
            "in `{}`, each of these depends on all others: {}",
            self.level,
            members.join(", ")
        )?;
        for Edge { from, to, path, file, line } in &self.edges {
            write!(f, "\n    {from} -> {to}: {}:{line} names `{path}`", file.display())?;
        }
        Ok(())
    }
}

/// From a module to another, by the first mention that makes the edge.
type Edges<'a> = BTreeMap<(&'a str, &'a str), &'a Mention>;

/// The circles of the crate whose root is `root`, from the root down.
pub fn circles(root: &Path, sources: Sources<'_>) -> Vec<Circle> {
    let tree = Tree(modules(root, sources));
    let mut levels: BTreeMap<&[String], Edges<'_>> = BTreeMap::new();
    for (module, content) in &tree.0 {
        for mention in &content.mentions {
            for target in tree.resolve(module, &mention.path, 0) {
                if let Some((level, edge)) = tree.edge(module, mention, target) {
                    levels.entry(level).or_default().entry(edge).or_insert(mention);
                }
            }
        }
    }
    levels.iter().flat_map(|(level, edges)| circles_of_level(level, edges)).collect()
}

/// Where a path leads.
#[derive(Clone, Copy)]
struct Target<'a> {
    module: &'a [String],
    /// The module as such, and nothing in it.
    is_module: bool,
}

struct Tree(BTreeMap<ModulePath, Module>);

impl Tree {
    /// The modules that `path`, written in `from`, leads to: none for another crate, several through a glob.
    fn resolve(&self, from: &[String], path: &[String], steps: usize) -> Vec<Target<'_>> {
        let Some(first) = path.first().filter(|_| steps < MAX_STEPS) else { return Vec::new() };
        match first.as_str() {
            "crate" => self.resolve_in(&[], &path[1..], steps),
            "self" => self.resolve_in(from, &path[1..], steps),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                self.resolve_in(&from[..from.len().saturating_sub(ups)], &path[ups..], steps)
            }
            name if self.0[from].children.contains(name) => self.resolve_in(from, path, steps),
            name => match self.0[from].imports.get(name) {
                // `use name::name;` brings in what is in another crate.
                Some(import) if import[0] != name => {
                    self.resolve(from, &[import.as_slice(), &path[1..]].concat(), steps + 1)
                }
                _ => Vec::new(),
            },
        }
    }

    /// As `resolve`, for names that are looked up in `module` itself.
    fn resolve_in(&self, module: &[String], path: &[String], steps: usize) -> Vec<Target<'_>> {
        let Some((module, content)) = self.0.get_key_value(module) else { return Vec::new() };
        let Some(name) = path.first() else {
            return vec![Target { module, is_module: true }];
        };
        if content.children.contains(name) {
            return self.resolve_in(&[module.as_slice(), &path[..1]].concat(), &path[1..], steps);
        }
        if let Some(import) = content.imports.get(name) {
            return self.resolve(module, &[import.as_slice(), &path[1..]].concat(), steps + 1);
        }
        let globs = content.globs.iter().flat_map(|glob| self.resolve(module, glob, steps + 1));
        let globs: Vec<Target<'_>> =
            globs.map(|target| Target { is_module: false, ..target }).collect();
        if globs.is_empty() { vec![Target { module, is_module: false }] } else { globs }
    }

    /// The module whose file holds `module`.
    fn with_file<'a>(&self, module: &'a [String]) -> &'a [String] {
        let inline = |length: &usize| !self.0[&module[..*length]].is_file;
        let length = (0..=module.len()).rev().find(|length| !inline(length)).unwrap_or_default();
        &module[..length]
    }

    /// The level at which a mention joins two modules, and these two.
    fn edge<'a>(
        &self,
        from: &'a [String],
        mention: &Mention,
        target: Target<'a>,
    ) -> Option<(&'a [String], (&'a str, &'a str))> {
        let (from, to) = (self.with_file(from), self.with_file(target.module));
        let shared = from.iter().zip(to).take_while(|(from, to)| from == to).count();
        let words = &self.0[from].words;
        let is_unused = mention.exported_as.as_ref().is_some_and(|name| !words.contains(name));
        let is_reexport_of_child = from.len() == shared && is_unused;
        let is_name_of_parent = to.len() == shared && target.is_module;
        let name = |path: &'a [String]| path.get(shared).map_or(ITSELF, String::as_str);
        let edge = (name(from), name(to));
        (edge.0 != edge.1 && !is_reexport_of_child && !is_name_of_parent)
            .then_some((&from[..shared], edge))
    }
}

fn circles_of_level(level: &[String], edges: &Edges<'_>) -> Vec<Circle> {
    let nodes: BTreeSet<&str> = edges.keys().flat_map(|(from, to)| [*from, *to]).collect();
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        nodes.iter().map(|node| (*node, reachable(node, edges))).collect();
    let members = |node: &&str| -> BTreeSet<&str> {
        let both_ways =
            |other: &&&str| reach[*node].contains(**other) && reach[**other].contains(node);
        nodes.iter().filter(both_ways).copied().collect()
    };
    let first_of = |node: &&&str| members(node).first() == Some(*node);
    nodes.iter().filter(first_of).map(|node| circle(level, &members(node), edges)).collect()
}

/// What can be reached from `start` in one step or more.
fn reachable<'a>(start: &str, edges: &Edges<'a>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        let next = edges.keys().filter(|(from, _)| *from == node).map(|(_, to)| *to);
        let new: Vec<&str> = next.filter(|to| reached.insert(*to)).collect();
        open.extend(new);
    }
    reached
}

fn circle(level: &[String], members: &BTreeSet<&str>, edges: &Edges<'_>) -> Circle {
    let inside =
        edges.iter().filter(|((from, to), _)| members.contains(from) && members.contains(to));
    let edges = inside.map(|((from, to), mention)| Edge {
        from: (*from).to_owned(),
        to: (*to).to_owned(),
        path: mention.path.join("::"),
        file: mention.file.clone(),
        line: mention.line,
    });
    let level = if level.is_empty() { "crate".to_owned() } else { level.join("::") };
    Circle { level, edges: edges.collect() }
}

//! Circles between the modules of one crate: found in the sources, shown edge by edge.
//!
//! Used by `walls.rs`. A module is a file; an inline `mod` belongs to the file that holds it. `A` depends on `B` when
//! code of `A`, or of a module below it, names something of `B` in a path that starts with `crate`, `super`, `self`, a
//! child module or an imported name. Tests (`#[cfg(test)]`) do not count.
//!
//! The rule: at each level, the children of a module have no circle. Its own file is one more node at that level:
//!
//! - a child that names an item which that file defines depends on it;
//! - that file depends on each child it names, unless in a re-export (`pub use`, with any visibility) whose name its own
//!   code does not use.
//!
//! So a file of `mod` and `pub use` lines is never part of a circle, and a file that defines what its children name
//! must not use these children itself. A name is followed through re-exports and imports to the module that defines it.

mod graph;
mod source;
mod tests;

pub use graph::circles;

//! How sizes without room are written down: one JSON array of five figures each.

use domain::placement::Shapes;
use domain::resources::Resources;

pub(super) fn to_json(lacks: &Shapes) -> String {
    let sizes: Vec<_> = lacks.least().iter().map(|size| size.dimensions()).collect();
    serde_json::to_string(&sizes).unwrap_or_else(|_| "[]".to_owned())
}

/// What cannot be read parks nothing: at worst a task is tried in vain.
pub(crate) fn of_json(text: &str) -> Shapes {
    let sizes: Vec<[u32; 5]> = serde_json::from_str(text).unwrap_or_default();
    sizes.into_iter().map(Resources::from_dimensions).collect()
}

//! The graph of a run as SVG: a column for each layer, which the API gives, and a row for each node of it.
//!
//! Rows are ordered by where a node's parents stand, so that edges cross little.

use super::critical::Path;
use super::stands::stands;
use crate::svg::Escaped;
use crate::words::{length, mark_of};
use api_types::GraphNode;
use askama::filters::HtmlSafe;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

const WIDE: usize = 190;
const HIGH: usize = 46;
const ACROSS: usize = 60;
const DOWN: usize = 18;
/// Characters of a name that fit.
const FITS: usize = 24;

/// The drawing.
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// From, to, and whether it is on the critical path.
    edges: Vec<(usize, usize, bool)>,
    width: usize,
    height: usize,
}

struct Node {
    name: String,
    state: String,
    tone: &'static str,
    href: String,
    on_path: bool,
    x: usize,
    y: usize,
}

impl Graph {
    /// Of the nodes of a run, of which those on `path` are marked.
    pub(super) fn of(nodes: &[GraphNode], path: &Path) -> Self {
        let places: HashMap<&str, usize> =
            nodes.iter().enumerate().map(|(place, node)| (node.name.as_str(), place)).collect();
        let parents = |node: &GraphNode| -> Vec<usize> {
            node.after
                .iter()
                .filter_map(|parent| places.get(parent.node.as_str()).copied())
                .collect()
        };
        let mut layers = BTreeMap::<u32, Vec<usize>>::new();
        for (place, node) in nodes.iter().enumerate() {
            layers.entry(node.layer).or_default().push(place);
        }
        let mut rows = vec![0_usize; nodes.len()];
        for layer in layers.values_mut() {
            // The mean row of its parents, in hundredths.
            let mean = |place: &usize| {
                let above = nodes.get(*place).map(parents).unwrap_or_default();
                let sum: usize = above.iter().filter_map(|parent| rows.get(*parent)).sum();
                (sum * 100).checked_div(above.len()).unwrap_or(*place * 100)
            };
            layer.sort_by_cached_key(mean);
            for (row, place) in layer.iter().enumerate() {
                if let Some(of) = rows.get_mut(*place) {
                    *of = row;
                }
            }
        }
        let most = layers.values().map(Vec::len).max().unwrap_or(1);
        let columns: HashMap<u32, usize> =
            layers.keys().enumerate().map(|(column, layer)| (*layer, column)).collect();
        let drawn = nodes.iter().zip(&rows).map(|(node, row)| {
            let column = columns.get(&node.layer).copied().unwrap_or_default();
            Self::node(node, (column, *row), path.has(&node.name))
        });
        let edges = nodes
            .iter()
            .enumerate()
            .flat_map(|(to, node)| parents(node).into_iter().map(move |from| (from, to)));
        let name = |place: usize| nodes.get(place).map_or("", |node| node.name.as_str());
        let edges =
            edges.map(|(from, to)| (from, to, path.has_edge(name(from), name(to)))).collect();
        let width = columns.len().max(1) * (WIDE + ACROSS) - ACROSS + 4;
        Self { nodes: drawn.collect(), edges, width, height: most * (HIGH + DOWN) - DOWN + 4 }
    }

    fn node(node: &GraphNode, (column, row): (usize, usize), on_path: bool) -> Node {
        let state = stands(node);
        let took = node.started_at.zip(node.finished_at).filter(|_| !node.taken_over);
        let took = took.map(|(started, finished)| format!(", {}", length(finished - started)));
        let items = node.items.as_ref().map(|items| format!(", {} items", items.len()));
        Node {
            name: node.name.clone(),
            tone: mark_of(&state).tone(),
            state: format!(
                "{}{}{}",
                mark_of(&state).word(),
                items.unwrap_or_default(),
                took.unwrap_or_default()
            ),
            on_path,
            href: format!("/tasks/{}", node.task),
            x: column * (WIDE + ACROSS) + 2,
            y: row * (HIGH + DOWN) + 2,
        }
    }
}

/// Texts are escaped below.
impl HtmlSafe for Graph {}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = (self.width, self.height);
        write!(
            f,
            r#"<svg class="graph" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="group" aria-label="The graph of the run. The table of nodes says the same, with what each waits for">"#
        )?;
        for (from, to, on_path) in &self.edges {
            let (Some(from), Some(to)) = (self.nodes.get(*from), self.nodes.get(*to)) else {
                continue;
            };
            let (x1, y1, x2, y2) = (from.x + WIDE, from.y + HIGH / 2, to.x, to.y + HIGH / 2);
            let middle = usize::midpoint(x1, x2);
            write!(
                f,
                r#"<path class="edge{}" d="M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"/>"#,
                if *on_path { " path" } else { "" }
            )?;
        }
        for node in &self.nodes {
            let short: String = node.name.chars().take(FITS).collect();
            let Node { name, state, tone, href, on_path, x, y } = node;
            let (class, says) =
                if *on_path { (" path", ", on the critical path") } else { ("", "") };
            write!(
                f,
                r#"<a href="{}"><title>{}: {}{says}</title><rect class="node {tone}{class}" x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="8"/><text x="{}" y="{}">{}</text><text class="state" x="{}" y="{}">{}</text></a>"#,
                Escaped(href),
                Escaped(name),
                Escaped(state),
                x + 12,
                y + 19,
                Escaped(&short),
                x + 12,
                y + 36,
                Escaped(state)
            )?;
        }
        f.write_str("</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_never_markup_and_no_two_nodes_share_a_place() {
        let node = |name: &str, layer: u32, after: &[&str]| -> GraphNode {
            let after: Vec<_> =
                after.iter().map(|node| json!({"node": node, "on": "succeeded"})).collect();
            serde_json::from_value(json!({
                "name": name, "task": domain::id::TaskId::fresh(), "state": "running", "layer": layer, "after": after,
                "join": null, "waits_for": null, "items": null, "taken_over": false, "starts_by": null, "attempts": 0,
                "started_at": null, "finished_at": null, "reason": null
            })).unwrap()
        };
        let nodes = [
            node("<b>", 0, &[]),
            node("c", 0, &[]),
            node("d", 1, &["<b>", "c"]),
            node("e", 1, &["c"]),
        ];
        let graph = Graph::of(&nodes, &Path::default());
        let mut places: Vec<(usize, usize)> =
            graph.nodes.iter().map(|node| (node.x, node.y)).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!((places.len(), graph.edges.len()), (4, 3));
        assert!(!graph.to_string().contains("<b>"));
        assert!(Graph::of(&[], &Path::default()).to_string().ends_with("</svg>"));
    }
}

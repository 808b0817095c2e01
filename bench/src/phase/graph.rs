//! Graphs of noop nodes, as bodies of `POST /v1/workflow-runs`.

use bytes::Bytes;

/// Entries of `after` that a node may have.
const MOST_PARENTS: usize = 1000;
/// Distances from a node's place to those of its parents in the layer above.
const PARENTS: [usize; 3] = [0, 1, 37];

/// One run.
pub(super) struct Graph {
    /// Its definition, to be posted.
    pub(super) body: Bytes,
    /// Number of its nodes.
    pub(super) nodes: u64,
}

#[derive(Default)]
struct Nodes {
    json: Vec<String>,
}

impl Graph {
    /// Layers of `width` nodes each; those below the first have three parents each.
    pub(super) fn layers(layers: usize, width: usize) -> Self {
        let name = |layer: usize, place: usize| format!("layer-{layer}-{}", place % width);
        let mut nodes = Nodes::default();
        for layer in 0..layers {
            for place in 0..width {
                let parents = match layer {
                    0 => Vec::new(),
                    _ => PARENTS.map(|distance| name(layer - 1, place + distance)).to_vec(),
                };
                nodes.add(&name(layer, place), &parents);
            }
        }
        nodes.finish()
    }

    /// One node, `width` nodes after it, and one node after these. Where a node cannot have so many parents, nodes between join
    /// a thousand each.
    pub(super) fn fan(width: usize) -> Self {
        let mut nodes = Nodes::default();
        nodes.add("first", &[]);
        let middle: Vec<String> = (0..width).map(|place| format!("middle-{place}")).collect();
        for name in &middle {
            nodes.add(name, &["first".to_owned()]);
        }
        let mut ends = middle;
        while ends.len() > MOST_PARENTS {
            let joins = ends.chunks(MOST_PARENTS).enumerate().map(|(place, parents)| {
                let name = format!("join-{place}");
                nodes.add(&name, parents);
                name
            });
            ends = joins.collect();
        }
        nodes.add("last", &ends);
        nodes.finish()
    }

    /// Three nodes and one after these.
    pub(super) fn family() -> Self {
        let parents = PARENTS.map(|n| format!("parent-{n}"));
        let mut nodes = Nodes::default();
        for name in &parents {
            nodes.add(name, &[]);
        }
        nodes.add("child", &parents);
        nodes.finish()
    }
}

impl Nodes {
    fn add(&mut self, name: &str, parents: &[String]) {
        let after = match parents {
            [] => String::new(),
            _ => format!(r#""after":["{}"],"#, parents.join(r#"",""#)),
        };
        self.json
            .push(format!(r#""{name}":{{{after}"task":{{"run":{{"noop":{{"sleep":"0s"}}}}}}}}"#));
    }

    fn finish(self) -> Graph {
        let nodes = self.json.join(",");
        Graph {
            body: Bytes::from(format!(r#"{{"definition":{{"nodes":{{{nodes}}}}}}}"#)),
            nodes: self.json.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn parents(graph: &Graph) -> Vec<(String, usize)> {
        let body: Value = serde_json::from_slice(&graph.body).unwrap();
        let nodes = body["definition"]["nodes"].as_object().unwrap();
        assert_eq!(nodes.len() as u64, graph.nodes);
        for after in nodes.values().filter_map(|node| node["after"].as_array()) {
            assert!(after.iter().all(|parent| nodes.contains_key(parent.as_str().unwrap())));
        }
        let count = |node: &Value| node["after"].as_array().map_or(0, Vec::len);
        nodes.iter().map(|(name, node)| (name.clone(), count(node))).collect()
    }

    #[test]
    fn each_node_below_the_first_layer_has_three_parents() {
        let all = parents(&Graph::layers(100, 100));
        assert_eq!(all.iter().filter(|(_, parents)| *parents == 0).count(), 100);
        assert_eq!(all.iter().filter(|(_, parents)| *parents == 3).count(), 9900);
    }

    #[test]
    fn a_wide_fan_is_joined_by_thousands() {
        let of = |graph: Graph| -> Vec<(String, usize)> {
            let several = |(_, parents): &(String, usize)| *parents > 1;
            let mut all: Vec<_> = parents(&graph).into_iter().filter(several).collect();
            all.sort();
            all
        };
        assert_eq!(of(Graph::fan(100)), [("last".to_owned(), 100)]);
        let wide = of(Graph::fan(2500));
        let joins = [("join-0", 1000), ("join-1", 1000), ("join-2", 500), ("last", 3)];
        assert_eq!(wide, joins.map(|(name, parents)| (name.to_owned(), parents)));
        assert_eq!(of(Graph::family()), [("child".to_owned(), 3)]);
    }
}

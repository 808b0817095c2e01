//! Large workflow runs: how long a start takes, and how fast their nodes drain, relative to as many tasks without edges.
//!
//! As in `drain`, everything is stored before an executor comes. Both drains of a ratio have a rig of their own, as each other does.

use super::batch_and_drain::{cost, drain, without_keys};
use super::graph::Graph;
use crate::http::closed_loop;
use crate::report::Measured;
use crate::rig::Rig;
use crate::statistics::of;

/// Runs that are started at once over so many connections, at most.
const CONNECTIONS: u64 = 4;
/// Tasks of a batch.
const BATCH: u64 = 1000;

/// One graph, and what its figures are called.
struct Case {
    graph: Graph,
    runs: u64,
    rate: &'static str,
    part: &'static str,
}

/// A run of 100 layers of 100 nodes, and ten runs of 1, 5000 and 1 nodes.
pub async fn workflow_drain(graph_first: bool) -> anyhow::Result<Vec<Measured>> {
    let layers = Case {
        graph: Graph::layers(100, 100),
        runs: 1,
        rate: "layers_drain_per_s",
        part: "layers_drain_part",
    };
    let fans = Case {
        graph: Graph::fan(5000),
        runs: 10,
        rate: "fans_drain_per_s",
        part: "fans_drain_part",
    };
    let (start, mut all) = beside_plain(&layers, graph_first).await?;
    let (starts, more) = beside_plain(&fans, graph_first).await?;
    all.extend(more);
    let start = Measured::new("workflow_start_ms", of(&start, 1.0))
        .with("body_kib", layers.graph.body.len() as f64 / 1024.0)
        .with("of_ten_at_once_max_ms", of(&starts, 1.0));
    all.push(start);
    Ok(all)
}

/// The times of the starts, in milliseconds, and the figures.
async fn beside_plain(case: &Case, graph_first: bool) -> anyhow::Result<(Vec<f64>, Vec<Measured>)> {
    let tasks = (case.runs * case.graph.nodes).next_multiple_of(BATCH);
    let (starts, graph, plain) = if graph_first {
        let (starts, graph) = drain_of_runs(case).await?;
        (starts, graph, without_keys(tasks).await?)
    } else {
        let plain = without_keys(tasks).await?;
        let (starts, graph) = drain_of_runs(case).await?;
        (starts, graph, plain)
    };
    let part = Measured::new(case.part, graph.value / plain.value)
        .with("plain_per_s", plain.value)
        .with("cpu_graph_to_plain", cost(&graph) / cost(&plain));
    Ok((starts, vec![graph, part]))
}

async fn drain_of_runs(case: &Case) -> anyhow::Result<(Vec<f64>, Measured)> {
    let mut rig = Rig::start(0).await?;
    let mut connections = rig.connections(case.runs.min(CONNECTIONS) as usize).await?;
    let path = "/v1/workflow-runs";
    let limits = (None, case.runs);
    let done = closed_loop(&mut connections, path, &case.graph.body, 201, limits).await?;
    let nodes = case.runs * case.graph.nodes;
    rig.stored_well(nodes).await?;
    let drained = drain(&mut rig, nodes, case.rate).await?;
    rig.runs_ended_well(case.runs, case.graph.nodes).await?;
    let tail = "select extract(epoch from max(r.finished_at) - (select max(ended_at) from attempt)) * 1000 from workflow_run r";
    let tail = rig.numbers(tail).await?;
    Ok((done.latencies_ms, drained.with("last_run_end_after_last_node_ms", tail[0])))
}

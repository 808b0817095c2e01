//! Many small workflow runs at once, of 1, 100 and 1 nodes, from the first submit until all have ended.

use super::graph::Graph;
use super::single_submit::CONNECTIONS;
use crate::clock_offset;
use crate::http::closed_loop;
use crate::report::Measured;
use crate::rig::Rig;
use crate::statistics::of;
use anyhow::ensure;
use runtime::clock;
use std::time::Duration;

/// Nodes between the first and the last.
const WIDTH: usize = 100;

/// So many runs.
pub async fn graph_runs(runs: u64) -> anyhow::Result<Vec<Measured>> {
    let graph = Graph::fan(WIDTH);
    let mut rig = Rig::start(1).await?;
    let mut connections = rig.connections(CONNECTIONS).await?;
    let offset = clock_offset::measure(rig.database_url()).await?;
    let meter = rig.meter().await?;
    let before = meter.read();
    let began = clock::wall();
    let limits = (None, runs);
    let done = closed_loop(&mut connections, "/v1/workflow-runs", &graph.body, 201, limits).await?;
    rig.drained(Duration::from_secs(120)).await?;
    let nodes = runs * graph.nodes;
    let cpu = meter.since(&before, nodes);
    rig.runs_ended_well(runs, graph.nodes).await?;
    rig.ended_well(nodes).await?;
    ran_in_order(&rig, runs).await?;
    let ends = rig
        .numbers(
            "select extract(epoch from max(finished_at)) * 1000, extract(epoch from (select max(ended_at) from attempt)) * 1000
                from workflow_run",
        )
        .await?;
    let began = began.timestamp_micros() as f64 / 1e3 + offset.ms;
    let graphs = Measured::new("graph_nodes_per_s", nodes as f64 / (ends[0] - began) * 1e3)
        .with_cpu(cpu)
        .with("start_p50_ms", of(&done.latencies_ms, 0.5))
        .with("start_max_ms", of(&done.latencies_ms, 1.0))
        .with("all_started_ms", done.elapsed.as_secs_f64() * 1e3)
        .with("last_node_ended_ms", ends[1] - began)
        .with("last_run_ended_ms", ends[0] - began);
    Ok(vec![graphs])
}

/// Fails unless in each run the first node ended before the others were placed, and the last one was placed after these ended.
async fn ran_in_order(rig: &Rig, runs: u64) -> anyhow::Result<()> {
    let counts = rig
        .numbers(&format!(
            "with node as materialized (
                select r.id, n.task, n.place, n.place = 1 as is_first, n.place = cardinality(r.tasks) as is_last
                from workflow_run r cross join unnest(r.tasks) with ordinality n(task, place)
            ), run as (
                select count(*) as nodes, max(a.ended_at) filter (where is_first) as first_ended,
                    min(a.placed_at) filter (where not is_first and not is_last) as next_placed,
                    max(a.ended_at) filter (where not is_first and not is_last) as next_ended,
                    min(a.placed_at) filter (where is_last) as last_placed
                from node n join attempt a on a.task_id = n.task group by n.id
            )
            select count(*) from run where nodes = {WIDTH} + 2 and first_ended <= next_placed and next_ended <= last_placed"
        ))
        .await?;
    ensure!(counts == [runs as f64], "of {runs} runs {} ran in order", counts[0]);
    Ok(())
}

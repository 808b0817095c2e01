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
    let done =
        closed_loop(&mut connections, "/v1/workflow-runs", &graph.body, 201, limits).await?;
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
            "select count(*) from workflow_run r
                join attempt f on f.tenant_id = r.tenant_id and f.task_id = r.tasks[1]
                join attempt l on l.tenant_id = r.tenant_id and l.task_id = r.tasks[cardinality(r.tasks)]
                cross join lateral (
                    select count(*) as nodes, min(placed_at) as placed, max(ended_at) as ended from attempt m
                    where m.tenant_id = r.tenant_id and m.task_id = any (r.tasks[2:cardinality(r.tasks) - 1])) m
                where m.nodes = {WIDTH} and f.ended_at <= m.placed and m.ended <= l.placed_at"
        ))
        .await?;
    ensure!(counts == [runs as f64], "of {runs} runs {} ran in order", counts[0]);
    Ok(())
}

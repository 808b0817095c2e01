//! What waiting nodes cost the processes that hand tasks out.

mod chaos {
    use anyhow::ensure;
    use e2e::{Cluster, Customer, Role, Shape};
    use runtime::clock;
    use serde_json::{Map, Value, json};
    use std::time::Duration;
    use testkit::{memory, poll};

    /// A run has layers of 100 nodes, each with three parents.
    const LAYERS: usize = 100;
    const WIDTH: usize = 100;
    const RUNS: usize = 100;
    /// The most that a process may grow for a waiting node.
    const BYTES: usize = 64;

    fn definition() -> Value {
        let name = |layer: usize, place: usize| format!("n{layer}-{}", place % WIDTH);
        let mut nodes = Map::new();
        for layer in 0..LAYERS {
            for place in 0..WIDTH {
                let above = layer.checked_sub(1).into_iter();
                let after: Vec<_> =
                    above.flat_map(|above| [0, 1, 37].map(|at| name(above, place + at))).collect();
                let node = json!({ "after": after, "task": { "run": { "noop": {} } } });
                nodes.insert(name(layer, place), node);
            }
        }
        json!({ "definition": { "nodes": nodes } })
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_million_waiting_nodes_are_held_by_no_process() -> anyhow::Result<()> {
        let one = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
        // Nothing runs, so that all but the first layers wait.
        let mut cluster = Cluster::start(one.with(Role::Executor, 0)).await?;
        let customer = Customer::sign_up(&cluster, "acme").await?;
        let create = ["admin", "plan", "create", "large", "--backlog", "2000000"];
        let runs = ["--workflow-runs", "1000", "--workflow-tasks", "10000"];
        cluster.berth(&[&create[..], &runs].concat()).await?;
        cluster.berth(&["admin", "tenant", "set-plan", "acme", "large"]).await?;
        let roles = [Role::Scheduler, Role::ResourceManager].map(|role| cluster.of(role)[0]);
        let mut resident = || -> anyhow::Result<Vec<usize>> {
            roles.iter().map(|at| memory::resident_kib(cluster.process(*at)?.pid())).collect()
        };
        let definition = definition();
        let start = async |number: usize| {
            let key = format!("run-{number}");
            let answer = customer.call("POST", "/v1/workflow-runs", Some(&definition), Some(&key));
            let (status, run) = answer.await?;
            ensure!(status == 201, "{status}: {run}");
            anyhow::Ok(())
        };
        start(0).await?;
        clock::sleep(Duration::from_secs(15)).await;
        let before = resident()?;
        for number in 1..=RUNS {
            start(number).await?;
        }
        // Through some rounds of every loop.
        clock::sleep(Duration::from_secs(60)).await;
        let after = resident()?;
        eprintln!("scheduler, resource manager: {before:?} KiB before, {after:?} KiB after");
        let most = BYTES * RUNS * LAYERS * WIDTH / 1024;
        for (before, after) in before.iter().zip(&after) {
            assert!(after.saturating_sub(*before) <= most, "{before} to {after} KiB, of {most}");
        }
        let waiting = "select count(*) from task";
        let many = async || cluster.database().sql(waiting).await.is_ok_and(|n| n.len() >= 6);
        poll::until("the nodes to wait", Duration::from_secs(5), many).await
    }
}

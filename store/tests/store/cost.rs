//! What a row costs on the hot path. Ignored: a measurement for people, not a check.
//!
//! `cargo nextest run -p store --run-ignored only --no-capture -E 'test(cost)'`. The planner is made to believe that the
//! tables are empty, each connection plans, and then they fill: figures are those of plans that are never good by luck.

use crate::support::{Leader, Owned, World, claim, ended, new_task};
use domain::id::{NodeId, TaskId, TenantId};
use domain::placement::Shapes;
use domain::task::Event;
use std::time::Duration;
use store::TenantScope;
use store::idempotency::IdempotencyKey;
use store::lease::LeaseKey;
use store::session::lapse;
use store::task::submit::{NewTask, insert};
use store::task::transition::{self, FailedAttempt, SessionEpoch};
use store::task::{SelectionQuery, due_for_a_look, select_ready};

struct Bench {
    world: World,
    leader: Leader,
    owned: Owned,
    tenants: Vec<TenantId>,
    figures: Vec<(String, usize, Vec<Duration>)>,
}

impl Bench {
    /// Runs `work` and keeps its time under `name`.
    async fn timed<T>(&mut self, name: &str, rows: usize, work: impl Future<Output = T>) -> T {
        let began = runtime::clock::monotonic();
        let answer = work.await;
        let took = began.elapsed();
        match self.figures.iter_mut().find(|(known, n, _)| known == name && *n == rows) {
            Some((_, _, times)) => times.push(took),
            None => self.figures.push((name.to_owned(), rows, vec![took])),
        }
        answer
    }

    fn tasks(&self, count: usize) -> Vec<NewTask> {
        (0..count).map(|at| new_task(self.tenants[at % self.tenants.len()])).collect()
    }

    async fn submit(&mut self, count: usize) -> Vec<(TenantId, TaskId)> {
        let (tasks, db) = (self.tasks(count), self.world.submit.clone());
        self.timed("submit", count, insert(&db, &tasks)).await.unwrap();
        tasks.iter().map(|task| (task.tenant, task.id)).collect()
    }

    async fn submit_keyed(&mut self, count: usize) {
        let (mut tasks, db) = (self.tasks(count), self.world.submit.clone());
        for task in &mut tasks {
            let key = task.id.to_string();
            task.idempotency = Some(IdempotencyKey {
                route: "POST /v1/tasks".to_owned(),
                key,
                body_hash: [1; 32],
            });
        }
        self.timed("submit with keys", count, insert(&db, &tasks)).await.unwrap();
        let again: Vec<_> =
            tasks.iter().map(|task| NewTask { id: TaskId::fresh(), ..task.clone() }).collect();
        self.timed("submit replayed", count, insert(&db, &again)).await.unwrap();
    }

    async fn run(&mut self, tasks: &[(TenantId, TaskId)]) -> Vec<LeaseKey> {
        let (leader, owned, rm, scheduler) =
            (self.leader, self.owned, self.world.rm.clone(), self.world.scheduler.clone());
        let term = Duration::from_secs(5);
        let mark = transition::dispatched(&scheduler, leader.node, leader.epoch, tasks, term);
        let marked = self.timed("dispatched", tasks.len(), mark).await.unwrap().unwrap();
        let claims: Vec<_> = marked
            .iter()
            .zip(1..)
            .map(|(m, n)| claim(owned, (m.tenant, m.task, m.dispatch_epoch), n))
            .collect();
        let sessions = [SessionEpoch { session: owned.session, epoch: owned.epoch }];
        let place = transition::placed(&rm, owned.node, &sessions, &claims, term);
        let placed = self.timed("placed", tasks.len(), place).await.unwrap();
        assert_eq!(placed.len(), tasks.len());
        placed.into_iter().map(|placed| placed.lease).collect()
    }

    async fn whole_life(&mut self, count: usize) {
        let tasks = self.submit(count).await;
        let leases = self.run(&tasks).await;
        let rm = self.world.rm.clone();
        let told: Vec<_> = leases.iter().map(|lease| ended(*lease, Event::Completed)).collect();
        self.timed("completed", count, transition::completed(&rm, &told)).await.unwrap();
        self.timed("completed again", count, transition::completed(&rm, &told)).await.unwrap();
    }

    async fn retried(&mut self, count: usize) {
        let tasks = self.submit(count).await;
        let leases = self.run(&tasks).await;
        let (rm, scheduler) = (self.world.rm.clone(), self.world.scheduler.clone());
        let failed: Vec<_> = leases
            .iter()
            .map(|lease| FailedAttempt {
                ended: ended(*lease, Event::AttemptFailed),
                retry_after: Duration::ZERO,
                held: None,
            })
            .collect();
        self.timed("attempt_failed", count, transition::attempt_failed(&rm, &failed))
            .await
            .unwrap();
        let look = due_for_a_look(&scheduler, i64::try_from(count).unwrap());
        self.timed("due_for_a_look", count, look).await.unwrap();
        self.timed("due", count, transition::due(&scheduler, &tasks)).await.unwrap();
        let leases = self.run(&tasks).await;
        assert_eq!(leases.len(), count);
        let session = self.owned.session.uuid();
        self.world
            .sql(format!("update executor_session set expires_at = now() where id = '{session}'"))
            .await;
        self.timed("lapse", count, lapse(&rm, Duration::ZERO, 10)).await.unwrap();
        self.owned = self.world.open(NodeId::fresh()).await;
        let mut mine: Vec<_> =
            tasks.iter().filter(|task| task.0 == self.tenants[0]).map(|task| task.1).collect();
        mine.truncate(200);
        let (api, scope) = (self.world.api.clone(), TenantScope::new(self.tenants[0]));
        let cancel = transition::cancel_requested(&api, &scope, &mine, Duration::ZERO);
        self.timed("cancel_requested", mine.len(), cancel).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn cost_of_a_row_on_the_hot_path() {
    let pre = World::new().await;
    let world = pre;
    {
        let n = world.database.name().to_owned();
        world.sql(format!("alter database {n} set session_preload_libraries = 'auto_explain'; alter database {n} set auto_explain.log_min_duration = 100; alter database {n} set auto_explain.log_analyze = on")).await;
    }

    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let mut tenants = Vec::new();
    for _ in 0..20 {
        tenants.push(world.tenant().await);
    }
    store::partition::ensure(&world.scheduler, 60).await.unwrap();
    store::partition::ensure(&world.scheduler, 60).await.unwrap();
    world.sql("vacuum analyze").await;
    let mut bench = Bench { world, leader, owned, tenants, figures: Vec::new() };
    bench.whole_life(1).await;
    bench.figures.clear();
    for _ in 0..50 {
        bench.submit(1000).await;
    }
    for _ in 0..8 {
        bench.submit_keyed(1000).await;
        bench.whole_life(500).await;
        bench.retried(500).await;
        bench.whole_life(50).await;
        let (scheduler, pool) = (bench.world.scheduler.clone(), "default".parse().unwrap());
        let any = domain::resources::Resources::from_dimensions([u32::MAX; 5]);
        bench
            .timed(
                "select_ready",
                20 * 50,
                select_ready(
                    &scheduler,
                    &pool,
                    SelectionQuery {
                        after: None,
                        strands_per_tenant: 4,
                        scanned_strands: 100,
                        requested: &[],
                        requested_strands: 100,
                        rows: 4096,
                        rows_per_strand: 50,
                        tenant_limits: &[],
                        largest: any,
                        lacks: &Shapes::default(),
                    },
                ),
            )
            .await
            .unwrap();
    }
    for _ in 0..100 {
        bench.whole_life(1).await;
    }
    println!(
        "{:?}",
        bench.world.text("select indexdef from pg_indexes where indexname = 'task_by_turn'").await
    );
    println!(
        "{:>18} {:>6} {:>12} {:>12} {:>14}",
        "statement", "rows", "median us", "best us", "median us/row"
    );
    for (name, rows, mut times) in bench.figures {
        times.sort_unstable();
        let (median, best) = (times[times.len() / 2].as_micros(), times[0].as_micros());
        println!(
            "{name:>18} {rows:>6} {median:>12} {best:>12} {:>14.1}",
            median as f64 / rows as f64
        );
    }
}

//! What a look of the batcher costs follows what is looked at, not what waits.
//!
//! With `SCALE=1` at the promised size: ten million tasks of 10 000 tenants wait.

mod alone {
    use crate::support::World;
    use domain::id::{PoolName, TaskId, TenantId};
    use domain::placement::Shapes;
    use domain::resources::Resources;
    use runtime::clock;
    use std::time::Duration;
    use store::connect::SchedulerDb;
    use store::task::{Look, candidates};
    use testkit::settings::rounds;

    const LOOKS: usize = 500;
    const FEW: usize = 10_000;

    struct Backlog {
        _world: World,
        db: SchedulerDb,
        tenants: Vec<TenantId>,
        after: Option<TenantId>,
        took: Vec<Duration>,
    }

    impl Backlog {
        /// `tasks` of `tenants`, as many of each.
        async fn of(tenants: usize, tasks: usize) -> Self {
            let world = World::new().await;
            let mut known: Vec<_> = (0..tenants).map(|_| TenantId::fresh()).collect();
            known.sort_unstable();
            let ids: Vec<_> = known.iter().map(|tenant| format!("'{}'", tenant.uuid())).collect();
            let each = tasks / tenants;
            world
                .sql(format!(
                    "insert into task (tenant_id, id, pool, state, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                        start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once)
                    select t, gen_random_uuid(), 'default', 'ready', 250, 256, 512, 50, 1, 1, now(),
                        now() + interval '1 hour' + n * interval '1 second', 60000, 1, false, false
                    from unnest(array[{}]::uuid[]) t, generate_series(1, {each}) n",
                    ids.join(",")
                ))
                .await;
            world.sql("vacuum analyze task").await;
            // What was just written goes to the disk now, and not while looks are timed.
            world.sql("checkpoint").await;
            let db = world.scheduler.clone();
            Self { _world: world, db, tenants: known, after: None, took: Vec::new() }
        }

        /// Looks as the batcher does: on with the round, and at those whose turn it is.
        async fn look(&mut self, number: usize) -> usize {
            let named: Vec<_> = (0..32)
                .map(|n| self.tenants[(number * 32 + n) * 7 % self.tenants.len()])
                .map(|tenant| (tenant, None))
                .collect();
            let pool: PoolName = "default".parse().unwrap();
            let lacks = Shapes::default();
            let look = Look {
                after: self.after,
                of_tenant: 4,
                strands: 64,
                named: &named,
                named_strands: 256,
                rows: 4096,
                per_strand: 32,
                fewer: &[],
                largest: Resources::from_dimensions([u32::MAX; 5]),
                lacks: &lacks,
            };
            let began = clock::monotonic();
            let seen = candidates(&self.db, &pool, look).await.unwrap();
            self.took.push(began.elapsed());
            self.after = seen.next;
            let rows: Vec<TaskId> =
                seen.strands.iter().flat_map(|strand| &strand.rows).map(|row| row.task).collect();
            rows.len()
        }

        fn took_ms(&mut self, share: f64) -> f64 {
            self.took.sort_unstable();
            self.took[(self.took.len() as f64 * share) as usize].as_secs_f64() * 1e3
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_look_costs_the_same_however_many_wait() {
        let many = rounds(200_000, 10_000_000);
        let tenants = rounds(200, 10_000);
        // As many of each are read where few wait: only how many are not read differs.
        let mut of_few = Backlog::of(FEW / 50, FEW).await;
        let mut of_many = Backlog::of(tenants, many).await;
        for number in 0..LOOKS {
            // In turn: what disturbs one disturbs the other.
            let (few, many) = (of_few.look(number).await, of_many.look(number).await);
            assert!(few >= 64 * 32 / 4 && many >= 64 * 32 / 4, "{few} and {many} rows");
        }
        let shares = [0.5, 0.99];
        let [few, very_many] = [&mut of_few, &mut of_many].map(|b| shares.map(|s| b.took_ms(s)));
        eprintln!(
            "a look took {:.2} ms (p50) and {:.2} ms (p99) where {FEW} wait, {:.2} and {:.2} ms where {many} of {tenants} tenants do",
            few[0], few[1], very_many[0], very_many[1]
        );
        assert!(very_many[0] <= 1.2 * few[0], "p50 {very_many:?} after {few:?}");
        assert!(very_many[1] <= 1.2 * few[1], "p99 {very_many:?} after {few:?}");
    }
}

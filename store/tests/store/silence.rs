//! A database that is gone without a word: nobody waits for it for ever, and its connections are given up.

use crate::support::{World, config, new_task};
use domain::id::{NodeId, TenantId};
use runtime::clock::monotonic;
use runtime::config::DatabaseConfig;
use std::time::Duration;
use store::connect::{ApiDb, SchedulerDb, SubmitDb};
use store::task::submit::insert;
use store::task::{TaskFilter, find, held};
use store::{StoreError, TenantScope};
use testkit::db::TestDatabase;
use testkit::poll::until;
use testkit::proxy::{Mode, Proxy};
use testkit::services::PrivatePostgres;

const CONNECTIONS: u32 = 3;

/// A pool that reaches the database through a proxy.
async fn through_a_proxy(world: &World) -> (SchedulerDb, Proxy) {
    through_a_proxy_with(world, CONNECTIONS).await
}

async fn through_a_proxy_with(world: &World, connections: u32) -> (SchedulerDb, Proxy) {
    let (settings, proxy) = behind_a_proxy(world).await;
    let settings = DatabaseConfig {
        scheduler_connections: connections,
        acquire_timeout: Duration::from_secs(3),
        ..settings
    };
    (SchedulerDb::connect(&settings).unwrap(), proxy)
}

async fn behind_a_proxy(world: &World) -> (DatabaseConfig, Proxy) {
    let url = world.database.owner_url();
    let address = url.rsplit('@').next().unwrap().split('/').next().unwrap();
    let proxy = Proxy::start(address).await.unwrap();
    let url = proxy.url(url).unwrap().into();
    (DatabaseConfig { url, ..config(&world.database) }, proxy)
}

/// As many statements at once as there are connections.
async fn all_at_once(db: &SchedulerDb) -> Vec<Result<(), StoreError>> {
    let (one, two, three) = tokio::join!(db.ping(), db.ping(), db.ping());
    vec![one, two, three]
}

/// Its answer would come after the term it is about; and nobody waits for the silent connection to be asked.
#[tokio::test]
async fn a_lead_is_renewed_soon_after_its_connection_fell_silent() {
    let world = World::new().await;
    let (db, proxy) = through_a_proxy(&world).await;
    let (node, term) = (NodeId::fresh(), Duration::from_secs(1));
    let first = store::leadership::acquire(&db, node, term).await.unwrap().unwrap();
    proxy.set(Mode::HalfOpen);
    let began = monotonic();
    let error = store::leadership::acquire(&db, node, term).await.unwrap_err();
    assert!(error.outcome_unknown(), "{error:?}");
    assert!(began.elapsed() < term * 2, "{:?}", began.elapsed());
    proxy.set(Mode::Pass);
    let again = monotonic();
    let second = store::leadership::acquire(&db, node, term).await.unwrap().unwrap();
    assert!(second > first, "the term is over");
    assert!(again.elapsed() < Duration::from_secs(1), "{:?}", again.elapsed());
}

/// Nobody waits for a `begin` to its end: the next one of that connection is no part of a transaction that nobody commits.
#[tokio::test]
async fn what_a_cancelled_transaction_leaves_behind_takes_nothing_with_it() {
    let world = World::new().await;
    let (db, proxy) = through_a_proxy_with(&world, 1).await;
    db.ping().await.unwrap();
    proxy.set(Mode::Delay(Duration::from_millis(300)));
    let open = "select count(*) from pg_stat_activity where datname = current_database()
        and usename = 'berth_scheduler' and state = 'idle in transaction'";
    // The `begin` has been done, and its answer is on the way.
    let begun = async || world.number(open).await == 1;
    tokio::select! {
        sealed = store::audit::seal_batch(&db, 1) => panic!("it was to be cancelled: {sealed:?}"),
        begun = until("a transaction to be open", Duration::from_secs(10), begun) => begun.unwrap(),
    }
    proxy.set(Mode::Pass);
    let node = NodeId::fresh();
    let term = Duration::from_secs(60);
    store::shard::beat(&db, node, term).await.unwrap();
    assert_eq!(world.number("select count(*) from scheduler_node").await, 1);
    assert_eq!(proxy.accepted(), 1, "by the same connection");
}

/// Whoever reads Postgres's log would take each for something that is wrong.
#[tokio::test]
async fn connections_that_come_back_leave_no_warning_in_the_log_of_the_database() {
    let postgres = PrivatePostgres::start().await.unwrap();
    let database = TestDatabase::on(&postgres.url().unwrap()).await.unwrap();
    let (config, scope) = (config(&database), TenantScope::of_role(TenantId::fresh()));
    let (scheduler, api) =
        (SchedulerDb::connect(&config).unwrap(), ApiDb::connect(&config).unwrap());
    for _ in 0..3 {
        held(&scheduler).await.unwrap();
        store::audit::seal_batch(&scheduler, 1).await.unwrap();
        assert!(find(&api, &scope, &TaskFilter::default(), 1).await.unwrap().is_empty());
    }
    scheduler.close().await;
    api.close().await;
    let log = postgres.log();
    assert!(!log.contains("WARNING"), "{log}");
}

#[tokio::test]
async fn statements_under_way_are_given_up_and_their_connections_replaced() {
    let world = World::new().await;
    let (db, proxy) = through_a_proxy(&world).await;
    let mut blocker = world.owner.begin().await.unwrap();
    sqlx::raw_sql("lock table task in access exclusive mode").execute(&mut *blocker).await.unwrap();
    let both_wait = async || {
        let waiting =
            "select count(*) from pg_locks where relation = 'task'::regclass and not granted";
        world.number(waiting).await == 2
    };
    let began = monotonic();
    // As many as the batcher has connections.
    let (one, two, ()) = tokio::join!(held(&db), held(&db), async {
        until("both are under way", Duration::from_secs(5), both_wait).await.unwrap();
        proxy.set(Mode::HalfOpen);
    });
    for answer in [one, two] {
        let error = answer.unwrap_err();
        assert!(error.outcome_unknown() && error.is_retryable(), "{error:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    blocker.rollback().await.unwrap();
    proxy.set(Mode::Pass);
    let (one, two) = tokio::join!(held(&db), held(&db));
    assert_eq!((one.unwrap(), two.unwrap()), (Vec::new(), Vec::new()));
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
}

/// What is about seconds that pass waits for them.
mod waits {
    use super::*;

    #[tokio::test]
    async fn connections_that_fell_silent_while_idle_are_not_used() {
        let world = World::new().await;
        let (db, proxy) = through_a_proxy(&world).await;
        assert!(all_at_once(&db).await.iter().all(Result::is_ok));
        proxy.set(Mode::HalfOpen);
        // So long as makes a connection idle.
        runtime::clock::sleep(Duration::from_millis(1100)).await;
        proxy.set(Mode::Pass);
        let began = monotonic();
        for answer in all_at_once(&db).await {
            answer.unwrap();
        }
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn the_hot_path_keeps_its_connection_while_that_answers_and_gives_it_back_at_the_end() {
        let world = World::new().await;
        let (db, proxy) = through_a_proxy(&world).await;
        let sessions =
            "select count(distinct pid) from pg_stat_activity where datname = current_database()
            and usename = 'berth_scheduler'";
        for _ in 0..20 {
            held(&db).await.unwrap();
        }
        assert_eq!(world.number(sessions).await, 1, "one after the other need no second");
        proxy.set(Mode::HalfOpen);
        runtime::clock::sleep(Duration::from_millis(1100)).await;
        proxy.set(Mode::Pass);
        let began = monotonic();
        held(&db).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        db.close().await;
        assert!(held(&db).await.is_err(), "closed for the hot path, too");
        let none = async || world.number(sessions).await == 0;
        until("no connection to be left", Duration::from_secs(5), none).await.unwrap();
    }

    /// What else is under way may wait in vain, and only a later epoch gives it up.
    #[tokio::test]
    async fn a_lead_whose_idle_connection_fell_silent_is_renewed_under_a_later_epoch() {
        let world = World::new().await;
        let (db, proxy) = through_a_proxy(&world).await;
        let (node, term) = (NodeId::fresh(), Duration::from_secs(60));
        let renew = async || store::leadership::acquire(&db, node, term).await.unwrap().unwrap();
        let first = renew().await;
        assert_eq!(renew().await, first);
        runtime::clock::sleep(Duration::from_millis(1100)).await;
        assert_eq!(renew().await, first, "asked, and it answers");
        proxy.set(Mode::HalfOpen);
        runtime::clock::sleep(Duration::from_millis(1100)).await;
        proxy.set(Mode::Pass);
        let second = renew().await;
        assert!(second > first, "{second} after {first}");
        assert_eq!(renew().await, second);
    }

    #[tokio::test]
    async fn a_writer_goes_on_where_its_connection_fell_silent() {
        let world = World::new().await;
        let tenant = world.tenant().await;
        let (settings, proxy) = behind_a_proxy(&world).await;
        let db = SubmitDb::connect_for_writer(&settings).unwrap();
        let store = async || insert(&db, &[new_task(tenant)]).await.map(drop);
        for _ in 0..20 {
            store().await.unwrap();
        }
        assert_eq!(proxy.accepted(), 1);
        proxy.set(Mode::HalfOpen);
        runtime::clock::sleep(Duration::from_millis(1100)).await;
        proxy.set(Mode::Pass);
        let began = monotonic();
        store().await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        assert_eq!(proxy.accepted(), 2, "the silent one was given up");
    }

    #[tokio::test]
    async fn of_connections_that_fell_silent_together_one_is_asked() {
        let world = World::new().await;
        let (settings, proxy) = behind_a_proxy(&world).await;
        let db = SubmitDb::connect_for_sign_in(&settings).unwrap();
        let (one, two, three, four) = tokio::join!(db.ping(), db.ping(), db.ping(), db.ping());
        assert!([one, two, three, four].iter().all(Result::is_ok));
        assert_eq!(proxy.accepted(), 4);
        proxy.set(Mode::HalfOpen);
        runtime::clock::sleep(Duration::from_millis(1100)).await;
        proxy.set(Mode::Pass);
        let began = monotonic();
        db.ping().await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
}

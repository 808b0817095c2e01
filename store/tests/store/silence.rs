//! A database that is gone without a word: nobody waits for it for ever, and its connections are given up.

use crate::support::{World, config};
use runtime::clock::monotonic;
use runtime::config::DatabaseConfig;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::held;
use testkit::poll::until;
use testkit::proxy::{Mode, Proxy};

const CONNECTIONS: u32 = 3;

/// A pool that reaches the database through a proxy.
async fn through_a_proxy(world: &World) -> (SchedulerDb, Proxy) {
    let url = world.database.owner_url();
    let address = url.rsplit('@').next().unwrap().split('/').next().unwrap();
    let proxy = Proxy::start(address).await.unwrap();
    let settings = DatabaseConfig {
        url: proxy.url(url).unwrap().into(),
        scheduler_connections: CONNECTIONS,
        acquire_timeout: Duration::from_secs(3),
        ..config(&world.database)
    };
    (SchedulerDb::connect(&settings).unwrap(), proxy)
}

/// As many statements at once as there are connections.
async fn all_at_once(db: &SchedulerDb) -> Vec<Result<(), StoreError>> {
    let (one, two, three) = tokio::join!(db.ping(), db.ping(), db.ping());
    vec![one, two, three]
}

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

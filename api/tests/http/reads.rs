//! One tenant's reads leave room for those of all others, and none reads without end.

use crate::server::{ALL_SCOPES, Server};
use futures::future::join_all;
use runtime::clock::monotonic;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use testkit::psql::Session;
use testkit::{fill, poll};

/// Every task of a month, and none fits.
const HEAVIEST: &str = "/v1/tasks?limit=200&label=no=such";

/// A server whose tenant has so many tasks that ended, and so many that wait for their time.
async fn with_tasks(ended: u64, waiting: u64) -> Server {
    let server = Server::start().await;
    let run = json!({"run": {"noop": {}}, "labels": {"kind": "usual"}, "delay": "1h"});
    let submit = async || {
        let made = server.post("/v1/tasks", run.to_string()).await.json();
        made["id"].as_str().unwrap().to_owned()
    };
    let bare = |id: &str| id.trim_start_matches("task_").to_owned();
    let (first, second) = (submit().await, submit().await);
    assert_eq!(server.post(&format!("/v1/tasks/{first}/cancel"), b"").await.status, 200);
    fill::ended(server.db.owner_url(), &uuid_of(&bare(&first)), ended).await.unwrap();
    fill::scheduled(server.db.owner_url(), &uuid_of(&bare(&second)), waiting).await.unwrap();
    server
}

/// With its dashes, as Postgres shows it.
fn uuid_of(hex: &str) -> String {
    let at = |range: std::ops::Range<usize>| &hex[range];
    [at(0..8), at(8..12), at(12..16), at(16..20), at(20..32)].join("-")
}

/// The p95 of sixty requests of another tenant, one after the other; none is refused.
async fn p95_of_another(server: &Server, key: &str) -> Duration {
    let mut times = Vec::new();
    for _ in 0..60 {
        let began = monotonic();
        let answer = server.get_as(key, "/v1/tasks?limit=1").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        times.push(began.elapsed());
    }
    times.sort_unstable();
    times[57]
}

/// The others' p95 alone, and while fifty connections of the first tenant list without a pause.
async fn beside_fifty_lists(server: &Server, other: &str) -> (Duration, Duration) {
    let (stop, pages) = (AtomicBool::new(false), AtomicUsize::new(0));
    let alone = p95_of_another(server, other).await;
    let lists = join_all((0..50).map(async |_| {
        while !stop.load(Ordering::Relaxed) {
            let answer = server.get(HEAVIEST).await;
            assert!([200, 429].contains(&answer.status), "{answer:?}");
            pages.fetch_add(1, Ordering::Relaxed);
        }
    }));
    let measure = async {
        let under_way = async || pages.load(Ordering::Relaxed) >= 10;
        poll::until("the lists are under way", Duration::from_secs(20), under_way).await.unwrap();
        let beside = p95_of_another(server, other).await;
        stop.store(true, Ordering::Relaxed);
        beside
    };
    let (_, beside) = tokio::join!(lists, measure);
    (alone, beside)
}

async fn crowd(tasks: u64) {
    let server = with_tasks(tasks, tasks / 10).await;
    let other = server.new_tenant("second").await;
    let key = server.new_key(other, &ALL_SCOPES).await;
    let mut measured = Vec::new();
    // What else the machine does meets one of the two now and then; the fault is there every time.
    for _ in 0..5 {
        let (alone, beside) = beside_fifty_lists(&server, &key).await;
        measured.push((alone, beside));
        if beside <= alone * 3 {
            eprintln!("others' p95: {measured:?}");
            return;
        }
    }
    panic!("others' p95 alone and beside fifty lists of one tenant: {measured:?}");
}

mod filled {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn fifty_lists_of_one_tenant_cost_another_no_more_than_three_times_its_p95() {
        crowd(30_000).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_page_of_a_filter_reads_so_many_tasks_and_the_next_goes_on_where_it_stopped() {
        let server = with_tasks(12_000, 11_000).await;
        // The oldest, and some in the middle, of both kinds.
        server
            .db
            .sql(
                "with of as (select id, row_number() over (order by id) as n from task_history),
                    live as (select id, row_number() over (order by id) as n from task)
                update task_spec s set labels = '{\"kind\": \"rare\"}'
                    from (select id from of where n in (1, 2, 5000, 6001) union all select id from live where n in (1, 7000)) rare
                    where s.id = rare.id",
            )
            .await
            .unwrap();
        for (filter, wanted) in
            [("label=kind=rare", 6), ("label=kind=rare&state=scheduled", 2), ("name=none", 0)]
        {
            let (mut seen, mut cursor, mut pages) = (BTreeSet::new(), String::new(), 0);
            loop {
                let page = server.get(&format!("/v1/tasks?limit=2&{filter}{cursor}")).await.json();
                for task in page["data"].as_array().unwrap_or_else(|| panic!("{page}")) {
                    assert!(seen.insert(task["id"].as_str().unwrap().to_owned()), "{task} twice");
                }
                pages += 1;
                match page["next_cursor"].as_str() {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => break,
                }
            }
            assert_eq!(seen.len(), wanted, "{filter}");
            assert!((2..=7).contains(&pages), "{filter}: {pages} pages");
        }
        let usual = server.get("/v1/tasks?limit=200&label=kind=usual").await.json();
        assert_eq!(usual["data"].as_array().unwrap().len(), 200, "a page of what fits is full");
        let none = server.get("/v1/tasks?limit=200&label=kind=usual&state=running").await.json();
        assert_eq!(none["data"], json!([]));
        assert!(none["next_cursor"].is_string(), "others may come: {none}");
    }
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn fifty_lists_over_two_hundred_thousand_tasks_cost_another_tenant_no_more() {
        super::crowd(200_000).await;
    }
}

/// Holds up every read of ended tasks until it is dropped.
async fn held_up(server: &Server) -> Session {
    let mut holder = Session::open(server.db.owner_url()).unwrap();
    let lock = "begin; lock table task_history in access exclusive mode; select 'held'";
    assert_eq!(holder.row(lock).await.unwrap(), "held");
    holder
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_whose_reads_are_all_taken_is_told_so_while_others_read_and_all_submit() {
    let server = Server::start_with(&[
        ("BERTH_DATABASE__TENANT_CONNECTIONS", "2"),
        ("BERTH_DATABASE__TENANT_WAITING", "1"),
        ("BERTH_DATABASE__TENANT_WAIT", "400ms"),
    ])
    .await;
    let other = server.new_tenant("second").await;
    let key = server.new_key(other, &ALL_SCOPES).await;
    let holder = held_up(&server).await;
    let blocked = "select count(*) from pg_stat_activity where datname = current_database() and usename = 'berth_api'
        and wait_event_type = 'Lock'";
    let reads = async || server.get("/v1/tasks").await;
    let both = async {
        let both_run = async || server.db.sql(blocked).await.unwrap().trim() == "2";
        poll::until("both reads run", Duration::from_secs(10), both_run).await.unwrap();
        // One waits, and behind it there is no place.
        let (waits, refused) = tokio::join!(reads(), reads());
        for answer in [&waits, &refused] {
            assert_eq!((answer.status, answer.code().as_str()), (429, "too_many_at_once"));
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
        // Whatever it reads or writes there, in any route of its own.
        assert_eq!(server.get("/v1/keys").await.code(), "too_many_at_once");
        assert_eq!(server.get_as(&key, "/v1/keys").await.status, 200, "another tenant's");
        assert_eq!(server.get_as(&key, "/v1/schedules").await.status, 200, "another tenant's");
        server.noop().await;
        drop(holder);
    };
    let (first, second, ()) = tokio::join!(reads(), reads(), both);
    assert_eq!((first.status, second.status), (200, 200));
    assert_eq!(server.get("/v1/tasks").await.status, 200, "its turns have come back");
}

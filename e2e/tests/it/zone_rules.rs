//! A release whose time zones have other rules than the one before: what is due in the changed zone moves, at its start, and nothing
//! else; nothing is fired twice or left out because of it.
//!
//! The release before is one that held Berlin to be an hour further east: its due times are reckoned here, by another time zone
//! database than Berth's own, and stored as it would have stored them.

use e2e::{Cluster, Role, Shape};
use runtime::clock;
use std::time::Duration;
use testkit::schedules::noop_template;
use testkit::{poll, psql};

/// When the first of them are due, from now: time to store them and to start.
const SOON: Duration = Duration::from_secs(20);

/// What the release before has left behind. Berlin: a third is due soon by the true rules, and was due an hour later by the old;
/// a third was due soon by the old ones, and is an hour later; a third was fired an hour ago by the old, and is due soon by the
/// new: that day's is done. And as many and more of zones that stay as they are.
async fn store(url: &str) -> anyhow::Result<()> {
    let template = serde_json::to_string(&noop_template("tick"))?;
    let soon = SOON.as_secs();
    psql::run(
        url,
        &format!(
            "insert into tenant (id, name) values ('018f0000-0000-7000-8000-0000000000aa', 'zones');
            create table expected as
                select gen_random_uuid() as id, z.zone, z.kind, n, c.first + z.local as wanted, z.was as was
                from (select date_trunc('second', clock_timestamp()) + interval '{soon} seconds' as first) c
                cross join lateral (values
                    ('Europe/Berlin', 'later', interval '0', c.first + interval '1 hour', 100),
                    ('Europe/Berlin', 'sooner', interval '1 hour', c.first, 100),
                    ('Europe/Berlin', 'fired', interval '0',
                        ((c.first at time zone 'Europe/Berlin') + interval '1 day') at time zone 'Europe/Berlin' - interval '1 hour', 100),
                    ('Asia/Tokyo', 'beside', interval '2 hours', c.first + interval '2 hours', 350),
                    ('America/New_York', 'beside', interval '2 hours', c.first + interval '2 hours', 350)
                ) z(zone, kind, local, was, count)
                cross join lateral generate_series(1, z.count) n;
            insert into schedule (id, tenant_id, name, timing, template, overlap, misfire, created_at, created_by, shard, due_at, fire_at, tzdb)
                select id, '018f0000-0000-7000-8000-0000000000aa', id::text,
                    '{{\"specs\":[{{\"daily\":{{\"at\":[\"' || to_char(wanted at time zone zone, 'HH24:MI:SS') || '\"]}}}}],\"zone\":\"' || zone || '\"}}',
                    '{template}', 'allow', '\"fire_next_soon\"', now() - interval '30 days', 'aaaaaaaaaaaa', n % 64, was, was, '2020a'
                from expected;
            update expected set wanted = was + interval '1 hour' where kind = 'fired'"
        ),
    )
    .await
    .map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_schedules_move_where_the_rules_changed_and_nowhere_else() -> anyhow::Result<()>
{
    let shape = [Role::Api, Role::ResourceManager, Role::Executor]
        .into_iter()
        .fold(Shape::default(), |shape, role| shape.with(role, 0));
    let mut cluster = Cluster::start(shape.with(Role::Scheduler, 1)).await?;
    let at = cluster.of(Role::Scheduler)[0];
    cluster.kill9(at)?;
    let url = cluster.database().owner_url().to_owned();
    // As the release before has seen to it.
    psql::run(&url, "update schedule_shard set tzdb = '2020a'").await?;
    store(&url).await?;
    let before = cluster.process(at)?.log().len();
    cluster.launch(at)?;
    cluster.ready(at).await?;
    let count = async |sql: &str| psql::number(&url, sql).await;
    poll::until("all are of the new release", SOON - Duration::from_secs(5), || async {
        let old = count("select count(*) from schedule where tzdb = '2020a'").await;
        let shards = count("select count(*) from schedule_shard where tzdb = '2020a'").await;
        matches!((old, shards), (Ok(0), Ok(0)))
    })
    .await?;
    let wrong =
        "select count(*) from schedule s join expected t using (id) where s.due_at <> t.wanted";
    assert_eq!(count(wrong).await?, 0, "each is due by the new rules");
    let moved =
        "select count(*) from schedule s join expected t using (id) where s.due_at <> t.was";
    assert_eq!(count(moved).await?, 300);
    let beside = "select count(*) from schedule s join expected t using (id) where t.zone <> 'Europe/Berlin' and s.due_at <> t.was";
    assert_eq!(count(beside).await?, 0, "of the other zones none has moved");
    let log = cluster.process(at)?.log()[before..].to_owned();
    assert_eq!(log.lines().filter(|line| line.contains("by time zones of 2020a")).count(), 300);
    let sums = log.lines().filter(|line| line.contains("Time zones are those of release"));
    let (mut schedules, mut moved) = (0, 0);
    for line in sums {
        schedules += number_in(line, "of ", " schedules, ")?;
        moved += number_in(line, " schedules, ", " are due")?;
    }
    assert_eq!((schedules, moved), (1000, 300), "it says so at its start");
    // The moment at which a third was due by either rule.
    let past = "select clock_timestamp() > min(was) + interval '3 seconds' from expected";
    poll::until("their time has come", SOON * 2, || async {
        psql::run(&url, past).await.is_ok_and(|answer| answer.trim() == "t")
    })
    .await?;
    let fired = "select string_agg(k || ' ' || c, ', ' order by k) from (
        select t.kind as k, count(f.due_at) as c from expected t left join schedule_fire f on f.schedule_id = t.id and f.task_id is not null
        group by 1) of_kind";
    let fired = psql::run(&url, fired).await?;
    assert_eq!(fired.trim(), "beside 0, fired 0, later 100, sooner 0", "none twice, none left out");
    let early = "select count(*) from schedule_fire f join expected t on t.id = f.schedule_id where f.due_at <> t.wanted or f.fired_at < f.due_at";
    assert_eq!(count(early).await?, 0);
    // Once more: nothing is left to be moved.
    cluster.kill9(at)?;
    let before = cluster.process(at)?.log().len();
    cluster.launch(at)?;
    cluster.ready(at).await?;
    clock::sleep(Duration::from_secs(5)).await;
    let log = cluster.process(at)?.log()[before..].to_owned();
    assert!(!log.contains("Time zones are those of release"), "{log}");
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

fn number_in(line: &str, before: &str, after: &str) -> anyhow::Result<i64> {
    let head = line.split_once(after).map_or("", |(head, _)| head);
    let number = head.rsplit_once(before).map_or("", |(_, number)| number);
    number
        .parse()
        .map_err(|_| anyhow::anyhow!("no number between `{before}` and `{after}`: {line}"))
}

//! The roll-up is computed again from the attempts: it comes out as it was counted, whatever was wrong and whatever happens meanwhile.

use crate::rollup::{count, random_attempts};
use crate::support::{World, labels, new_task, priced};
use chrono::{Days, NaiveDate, NaiveTime};
use domain::id::TenantId;
use domain::price::{MOST_VALUES, Micros};
use std::time::Duration;
use store::usage_rebuild::{DayRebuilt, RebuildDay, RebuildError, differing, first_day, rebuild};
use testkit::poll;

const RETENTION_DAYS: u32 = 30;

/// Every row.
const ROWS: &str =
    "select coalesce(md5(string_agg(u::text, ';' order by u::text)), '') from usage_rollup u";

fn of(day: NaiveDate, dry_run: bool) -> RebuildDay {
    RebuildDay { day, tenant: None, retention_days: RETENTION_DAYS, dry_run }
}

/// Yesterday and today.
fn days() -> [NaiveDate; 2] {
    let today = runtime::clock::wall().date_naive();
    [today.checked_sub_days(Days::new(1)).unwrap(), today]
}

async fn rebuild_all(world: &World, dry_run: bool) -> Vec<DayRebuilt> {
    let mut all = Vec::new();
    for day in days() {
        all.push(rebuild(&world.scheduler, &of(day, dry_run)).await.unwrap());
    }
    all
}

fn changed(days: &[DayRebuilt]) -> usize {
    days.iter().map(|day| day.changed_rows).sum()
}

/// A world with counted attempts of yesterday and today, of a tenant with prices and one without.
async fn world() -> (World, [TenantId; 2]) {
    let world = World::new().await;
    let tenants = [world.tenant().await, world.tenant().await];
    priced(&world, tenants[0]).await;
    // Of yesterday, too.
    world.sql("update tenant_plan set since = since - interval '9 days'; update plan_billing set since = since - interval '9 days'").await;
    count(&world).await;
    for (tenant, seed) in tenants.into_iter().zip([0.1, 0.2]) {
        world.sql(random_attempts(tenant, 400, (20, seed))).await;
    }
    count(&world).await;
    (world, tenants)
}

async fn rows(world: &World) -> String {
    world.text(ROWS).await.unwrap()
}

#[tokio::test]
async fn what_was_corrupted_comes_out_as_it_was_counted_and_what_differed_is_said() {
    let (world, [tenant, _]) = world().await;
    let counted = rows(&world).await;
    let same = rebuild_all(&world, false).await;
    assert_eq!(changed(&same), 0, "{same:?}");
    assert_eq!(same.iter().map(|day| day.attempts).sum::<usize>(), 800);
    assert!(same.iter().flat_map(|day| &day.costs).all(|cost| cost.before == cost.after));

    let changes = world
        .number(
            "with wrong as (update usage_rollup set attempts_cost = attempts_cost + 7, run_ms = 3
                    where kind = 'tier' and value = 'basic' and price_book <> '' returning 1),
                gone as (delete from usage_rollup where kind = 'schedule' returning 1),
                made as (insert into usage_rollup (tenant_id, kind, starts_at, key, value, price_book, attempts, charged_attempts, tasks, run_ms,
                    cpu_millis_ms, memory_mib_ms, disk_mib_ms, iops_ms, port_ms, attempts_cost, tasks_cost)
                    select distinct tenant_id, 'label', starts_at, 'no', 'thing', '', 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0
                    from usage_rollup where kind = 'workflow' returning 1)
            select (select count(*) from wrong) + (select count(*) from gone) + (select count(*) from made)",
        )
        .await;
    let off = world.number("select 7 * count(*) from usage_rollup where kind = 'tier' and value = 'basic' and price_book <> ''").await;
    let corrupted = rows(&world).await;
    let shown = rebuild_all(&world, true).await;
    assert_eq!(rows(&world).await, corrupted, "a dry run changes nothing");
    assert_eq!(changed(&shown), usize::try_from(changes).unwrap());
    let moved: Micros = shown
        .iter()
        .flat_map(|day| &day.costs)
        .map(|cost| {
            assert_eq!(cost.currency, "EUR");
            cost.before - cost.after
        })
        .sum();
    assert_eq!(moved, Micros(off));
    let corrections = shown.iter().flat_map(|day| &day.corrections);
    assert!(corrections.clone().all(|one| one.tenant == tenant && one.cost == Micros(-7)));
    assert_eq!(corrections.map(|one| one.cost).sum::<Micros>(), Micros(-off));

    assert_eq!(rebuild_all(&world, false).await, shown);
    assert_eq!(rows(&world).await, counted);
    assert_eq!(changed(&rebuild_all(&world, false).await), 0, "and once more");
}

#[tokio::test]
async fn what_is_added_up_of_other_things_and_of_purged_tenants_stays() {
    let (world, [tenant, other]) = world().await;
    // As in a release that counts something else, too: in rows of attempts, and in a row that has only this.
    world
        .sql(
            "alter table usage_rollup add column others_count bigint not null default 0;
            update usage_rollup set others_count = 5 where kind = 'tier' and value = 'basic';
            insert into usage_rollup (tenant_id, kind, starts_at, key, value, price_book, attempts, charged_attempts, tasks, run_ms,
                    cpu_millis_ms, memory_mib_ms, disk_mib_ms, iops_ms, port_ms, attempts_cost, tasks_cost, others_count)
                select tenant_id, kind, starts_at, key, 'alone', price_book, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9
                from usage_rollup where kind = 'workflow'",
        )
        .await;
    // A tenant whose attempts are being purged.
    world
        .sql(format!(
            "update tenant set state = 'deleted', deleted_at = now() where id = '{id}'; delete from attempt where tenant_id = '{id}'",
            id = other.uuid()
        ))
        .await;
    let counted = rows(&world).await;
    assert_eq!(changed(&rebuild_all(&world, false).await), 0);
    let of_other = RebuildDay { tenant: Some(other), ..of(days()[1], false) };
    assert_eq!(rebuild(&world.scheduler, &of_other).await.unwrap().changed_rows, 0);
    world
        .sql(format!(
            "insert into usage_rollup (tenant_id, kind, starts_at, key, value, price_book, attempts, charged_attempts, tasks, run_ms,
                    cpu_millis_ms, memory_mib_ms, disk_mib_ms, iops_ms, port_ms, attempts_cost, tasks_cost)
                select tenant_id, kind, starts_at, key, 'no such', price_book, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
                from usage_rollup where kind = 'workflow' and value = '';
            update usage_rollup set tasks = tasks + 1 where kind in ('tier', 'schedule') and tenant_id = '{}'",
            tenant.uuid()
        ))
        .await;
    world
        .sql(format!(
            "delete from usage_rollup where tenant_id = '{}' and value = 'no such'",
            other.uuid()
        ))
        .await;
    assert_ne!(rows(&world).await, counted);
    rebuild_all(&world, false).await;
    assert_eq!(rows(&world).await, counted);
}

#[tokio::test]
async fn whoever_is_killed_in_the_middle_has_changed_a_day_wholly_or_not_at_all() {
    let (world, _) = world().await;
    let counted = rows(&world).await;
    let (mut cut, mut whole) = (0, 0);
    for round in 0_u32..200 {
        world
            .sql("update usage_rollup set attempts_cost = attempts_cost + 1 where price_book <> ''")
            .await;
        let corrupted = rows(&world).await;
        let limit = Duration::from_millis(2) * (round % 60);
        let both = async {
            for day in days() {
                rebuild(&world.scheduler, &of(day, false)).await.unwrap();
            }
        };
        let ended = runtime::clock::timeout(limit, both).await;
        let now = rows(&world).await;
        match ended {
            Ok(()) => assert_eq!(now, counted),
            Err(_) if now == corrupted => cut += 1,
            Err(_) => {}
        }
        rebuild_all(&world, false).await;
        assert_eq!(rows(&world).await, counted);
        whole += usize::from(ended.is_ok());
        if cut > 3 && whole > 3 {
            break;
        }
    }
    assert!(cut > 0, "none was cut off");
    assert_eq!(count(&world).await, 0, "nothing is left locked");
}

#[tokio::test]
async fn while_others_count_each_attempt_is_counted_once() {
    let (world, tenants) = world().await;
    let writing = async {
        for round in 0..30_u32 {
            let tenant = tenants[usize::try_from(round % 2).unwrap()];
            world.sql(random_attempts(tenant, 20, (20, f64::from(round) / 100.0))).await;
        }
    };
    let counting = async {
        for _ in 0..30 {
            store::rollup::count(&world.scheduler).await.unwrap();
        }
    };
    let rebuilding = async {
        for _ in 0..10 {
            rebuild_all(&world, false).await;
        }
    };
    tokio::join!(writing, counting, rebuilding);
    count(&world).await;
    let all = "select sum(attempts)::bigint from usage_rollup where kind = ";
    for kind in ["tier", "schedule", "workflow"] {
        assert_eq!(world.number(format!("{all}'{kind}'")).await, 800 + 600, "{kind}");
    }
    let now = rows(&world).await;
    let again = rebuild_all(&world, false).await;
    assert_eq!((changed(&again), rows(&world).await), (0, now), "{again:?}");
}

#[tokio::test]
async fn what_is_not_counted_yet_is_left_to_the_count() {
    let (world, [tenant, _]) = world().await;
    let mut late = world.owner.begin().await.unwrap();
    let early = random_attempts(tenant, 30, (20, 0.7));
    sqlx::raw_sql(sqlx::AssertSqlSafe(early)).execute(&mut *late).await.unwrap();
    // Written and committed, and behind one that is open.
    world.sql(random_attempts(tenant, 50, (20, 0.8))).await;
    let before = rows(&world).await;
    let rebuilt = rebuild_all(&world, false).await;
    assert_eq!((changed(&rebuilt), rows(&world).await), (0, before));
    late.commit().await.unwrap();
    let rebuilt = rebuild_all(&world, false).await;
    assert_eq!(changed(&rebuilt), 0, "the count has not passed it");
    assert_eq!(count(&world).await, 80);
    let all = "select sum(attempts)::bigint from usage_rollup where kind = 'tier'";
    assert_eq!(world.number(all).await, 880);
    assert_eq!(changed(&rebuild_all(&world, false).await), 0);
}

#[tokio::test]
async fn values_of_labels_that_are_kept_apart_stay_so() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    count(&world).await;
    // One attempt a value, all in one quarter; each counted by itself, from the last to the first.
    let many = MOST_VALUES + 5;
    let today = format!("{}T00:00:00Z", days()[1]);
    for value in (0..many).rev() {
        let mut task = new_task(tenant);
        task.spec.labels = labels("v", &format!("{value:03}"));
        let task = world.store(task).await;
        world
            .sql(format!(
                "insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, cpu_millis, memory_mib, disk_mib, iops, ports,
                    session_id, placed_at, ended_at, usage_ms)
                values ('{}', '{}', 1, 'succeeded', true, 'default', 1, 1, 1, 1, 1, gen_random_uuid(), '{today}', '{today}', 0)",
                tenant.uuid(),
                task.uuid()
            ))
            .await;
        if value % 20 == 0 {
            count(&world).await;
        }
    }
    count(&world).await;
    let counted = rows(&world).await;
    let others = "select attempts from usage_rollup where kind = 'label' and others";
    assert_eq!(world.number(others).await, 5);
    let rebuilt = rebuild_all(&world, false).await;
    assert_eq!((changed(&rebuilt), rows(&world).await), (0, counted), "{rebuilt:?}");
    world.sql("delete from usage_rollup where kind = 'label'").await;
    rebuild_all(&world, false).await;
    assert_eq!(world.number(others).await, 5);
    let kept = "select count(*) from usage_rollup where kind = 'label' and not others";
    assert_eq!(world.number(kept).await, MOST_VALUES as i64);
}

#[tokio::test]
async fn days_of_which_not_all_is_kept_are_refused_with_the_first_that_is() {
    let (world, _) = world().await;
    let first = first_day(&world.scheduler, RETENTION_DAYS).await.unwrap();
    let [yesterday, today] = days();
    assert!(first <= yesterday, "partitions begin then: {first}");
    let old = first.checked_sub_days(Days::new(1)).unwrap();
    let refused = rebuild(&world.scheduler, &of(old, false)).await;
    assert!(
        matches!(refused, Err(RebuildError::NotKept { day, first: from }) if day == old && from == first),
        "{refused:?}"
    );
    // The last day that is kept is being forgotten.
    assert_eq!(first_day(&world.scheduler, 1).await.unwrap(), today);
    let short = RebuildDay { retention_days: 1, ..of(yesterday, false) };
    let before = rows(&world).await;
    assert!(rebuild(&world.scheduler, &short).await.is_err());
    assert_eq!(rows(&world).await, before);
    world.sql("update event_cursor set seq = 5 where consumer = 'usage'").await;
    let refused = rebuild(&world.scheduler, &of(today, false)).await;
    assert!(matches!(refused, Err(RebuildError::NotCounted)), "{refused:?}");
}

#[tokio::test]
async fn final_invoices_that_bill_something_else_are_named_and_stay() {
    let (world, [tenant, _]) = world().await;
    let billed = world
        .number("select sum(attempts_cost + tasks_cost)::bigint from usage_rollup where kind = 'tier' and price_book <> ''")
        .await;
    world
        .sql(format!(
            "insert into invoice (tenant_id, number, sequence, month, currency, zone, starts_at, ends_at, total, document) values
            ('{}', '2030-01-0001', 1, '2030-01-01', 'EUR', 'UTC', now() - interval '9 days', now() + interval '1 day', 0,
            '{{\"lines\": [{{\"kind\": \"attempts\", \"amount\": {}}}, {{\"kind\": \"tasks\", \"amount\": 5}}, {{\"kind\": \"rounding\", \"amount\": 77}}]}}')",
            tenant.uuid(),
            billed - 5
        ))
        .await;
    let [yesterday, today] = days();
    let range = [yesterday, today.checked_add_days(Days::new(1)).unwrap()]
        .map(|day| day.and_time(NaiveTime::MIN).and_utc());
    let differing = async |corrections: &[_]| {
        differing(&world.scheduler, range, None, corrections).await.unwrap()
    };
    assert_eq!(differing(&[]).await, []);
    world.sql("update usage_rollup set tasks_cost = tasks_cost + 3 where kind = 'tier' and value = 'basic' and price_book <> ''").await;
    let wrong = differing(&[]).await;
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].counted > wrong[0].billed && wrong[0].billed == Micros(billed), "{wrong:?}");
    // Of a dry run, with what it would correct.
    let shown = rebuild_all(&world, true).await;
    let corrections: Vec<_> = shown.into_iter().flat_map(|day| day.corrections).collect();
    assert_eq!(differing(&corrections).await, []);
    rebuild_all(&world, false).await;
    assert_eq!(differing(&[]).await, []);
    // What the attempts come to is other than what was billed.
    world.sql("update attempt set usage_ms = usage_ms + 3600000 where charged").await;
    rebuild_all(&world, false).await;
    let differs = async || differing(&[]).await.len() == 1;
    poll::until("it differs", Duration::from_secs(5), differs).await.unwrap();
    world.sql("update invoice set state = 'void', voided_at = now()").await;
    assert_eq!(differing(&[]).await, []);
}

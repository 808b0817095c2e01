//! Fills a database with copies of one task, so that tables are as large as after months, in seconds.
//!
//! Used by tests of what must not cost more because there is more. The rule: copies differ from their model in their ids and
//! times only, and are spread over the last hour or the coming month.

use crate::psql;

/// `m.at`: an hour ago to now.
const LAST_HOUR: &str = "clock_timestamp() - random() * interval '1 hour'";
/// A week to a month from now: nothing of it is due while a test runs.
const COMING_MONTH: &str = "clock_timestamp() + interval '7 days' + random() * interval '23 days'";

/// `count` copies of an ended task (a bare uuid), each with its spec and its attempts.
pub async fn ended(url: &str, model: &str, count: u64) -> anyhow::Result<()> {
    let copies = format!(
        "insert into task_history select (jsonb_populate_record(h,
                jsonb_build_object('id', m.id, 'finished_at', m.at + interval '1 second'))).*
            from made m, task_history h where h.id = '{model}';
        insert into attempt select (jsonb_populate_record(a,
                jsonb_build_object('task_id', m.id, 'placed_at', m.at, 'ended_at', m.at + interval '1 second'))).*
            from made m, attempt a where a.task_id = '{model}';"
    );
    copy(url, (model, count), LAST_HOUR, &copies).await
}

/// `count` copies of a task that waits for its time (a bare uuid), each with its spec.
pub async fn scheduled(url: &str, model: &str, count: u64) -> anyhow::Result<()> {
    let copies = format!(
        "insert into task select (jsonb_populate_record(t, jsonb_build_object('id', m.id, 'run_at', m.at, 'wake_at', m.at,
                'start_deadline', m.at + interval '5 minutes'))).*
            from made m, task t where t.id = '{model}';"
    );
    copy(url, (model, count), COMING_MONTH, &copies).await
}

/// Ids are made within the last hour, as those of tasks are that were submitted then.
async fn copy(
    url: &str,
    (model, count): (&str, u64),
    at: &str,
    copies: &str,
) -> anyhow::Result<()> {
    let sql = format!(
        "create temp table made as select gen_random_uuid() as id, {at} as at, {LAST_HOUR} as created_at
            from generate_series(1, {count});
        update made set id = (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0')
            || '7' || substr(id::text, 16, 3) || substr(replace(id::text, '-', ''), 17))::uuid;
        insert into task_spec select (jsonb_populate_record(s,
                jsonb_build_object('id', m.id, 'created_at', m.created_at, 'run_at', m.at))).*
            from made m, task_spec s where s.id = '{model}';
        {copies}"
    );
    psql::run(url, &sql).await?;
    // Statistics as autovacuum would have made them; it cannot run inside the session's one transaction.
    psql::run(url, "vacuum analyze").await.map(drop)
}

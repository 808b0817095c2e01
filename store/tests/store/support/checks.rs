//! What must hold after anything.

use super::world::World;
use domain::id::TaskId;
use domain::task::State;

impl World {
    /// Where a task is; `None` where there is none. Fails when it is in two places.
    pub async fn state(&self, task: TaskId) -> Option<State> {
        let id = task.uuid();
        let all = format!(
            "(select state from task where id = '{id}' union all select state from task_history where id = '{id}') s"
        );
        assert!(
            self.number(format!("select count(*) from {all}")).await <= 1,
            "{task} is in two places"
        );
        self.text(format!("select state::text from {all}"))
            .await
            .map(|state| state.parse().unwrap())
    }

    /// A fingerprint of every row of every task but `except`.
    pub async fn fingerprint(&self, except: Option<TaskId>) -> String {
        let id = except.map_or_else(String::new, |task| task.uuid().to_string());
        let part = |table: &str, key: &str| {
            format!(
                "select '{table}' || coalesce(md5(string_agg(r::text, '|' order by r::text)), '') as print
                    from {table} r where {key}::text <> '{id}'"
            )
        };
        let parts = [
            part("task", "id"),
            part("task_history", "id"),
            part("attempt", "task_id"),
            part("task_result", "task_id"),
            part("task_spec", "id"),
            "select md5(string_agg(r::text, '|' order by r::text)) from executor_session r"
                .to_owned(),
        ];
        let sql = format!(
            "select string_agg(print, ' ' order by print) from ({}) p",
            parts.join(" union all ")
        );
        self.text(sql).await.unwrap()
    }

    /// The promises that can be read from the tables, with `submitted` tasks in all.
    pub async fn check_promises(&self, submitted: usize) {
        let counted = self
            .number("select (select count(*) from task) + (select count(*) from task_history)")
            .await;
        assert_eq!(usize::try_from(counted).unwrap(), submitted, "submitted = live + ended");
        let wrong = [
            ("ended twice, or ended and alive", "select id from (select id from task union all select id from task_history) a
                group by id having count(*) > 1"),
            ("attempts not dense", "select a.id from (
                    select id, attempt - (session_id is not null)::integer as ended from task
                    union all select id, attempt from task_history) a
                left join (select task_id, count(*) as n, count(distinct attempt) as d, max(attempt) as m from attempt group by 1) b
                    on b.task_id = a.id
                where a.ended <> coalesce(b.n, 0) or a.ended <> coalesce(b.d, 0) or a.ended <> coalesce(b.m, 0)"),
            ("leases overlap", "select a.task_id as id from attempt a join attempt b on b.task_id = a.task_id and b.attempt > a.attempt
                where b.placed_at < a.ended_at"),
            ("charged and lost, or billed and not charged", "select task_id as id from attempt
                where charged <> (outcome not in ('lost', 'handed_back', 'not_started')) or (not charged and usage_ms <> 0)"),
            ("billed longer than the lease", "select task_id as id from attempt
                where usage_ms > extract(epoch from ended_at - placed_at) * 1000 + 1"),
            ("a lease under a session that is over", "select t.id from task t join executor_session s on s.id = t.session_id
                where s.state = 'over'"),
            ("waits for nobody", "select id from task where wake_at is null and state in ('scheduled', 'queued', 'retrying')"),
            ("no spec", "select id from (select id from task union all select id from task_history) a
                where not exists (select from task_spec s where s.id = a.id)"),
        ];
        for (what, sql) in wrong {
            let rows = self
                .text(format!(
                    "select string_agg(id::text, ' ') from (select id from ({sql}) w limit 3) x"
                ))
                .await;
            assert_eq!(rows, None, "{what}");
        }
    }
}

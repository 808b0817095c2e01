//! Tells per report what became of it. What moved is known; for the rest the database is asked what stands, which is rare.

use super::EndedAttempt;
use super::row::EndedLease;
use crate::StoreError;
use crate::statement::named;
use crate::task::transition::TransitionResult;
use domain::task::LeaseKey;
use sqlx::PgConnection;
use std::collections::HashMap;

/// Answers in the order of `ended`; `moved` are the leases that the statement before ended, each counted once.
pub(super) async fn answers(
    tx: &mut PgConnection,
    ended: &[EndedAttempt],
    mut moved: HashMap<LeaseKey, TransitionResult>,
) -> Result<Vec<TransitionResult>, StoreError> {
    let mut answers = vec![TransitionResult::NotFound; ended.len()];
    let mut missed = Vec::new();
    for (at, report) in ended.iter().enumerate() {
        match moved.remove(&report.lease) {
            Some(applied) => answers[at] = applied,
            None => missed.push(at),
        }
    }
    if !missed.is_empty() {
        let found = what_stands(tx, missed.iter().map(|at| &ended[*at])).await?;
        for (at, answer) in missed.into_iter().zip(found) {
            answers[at] = answer;
        }
    }
    Ok(answers)
}

async fn what_stands(
    tx: &mut PgConnection,
    missed: impl Iterator<Item = &EndedAttempt>,
) -> Result<Vec<TransitionResult>, StoreError> {
    let rows: Vec<_> = missed.map(|ended| EndedLease::of(ended, 0)).collect();
    let query = sqlx::query!(
        r#"select coalesce(
                    (select t.state::text from task t where t.tenant_id = i.tenant_id and t.id = i.id limit 1),
                    (select h.state::text from task_history h where h.tenant_id = i.tenant_id and h.id = i.id limit 1)
                ) as state,
                exists (select from task t where t.tenant_id = i.tenant_id and t.id = i.id and t.attempt = i.attempt
                    and t.session_id = i.session_id) as "leased!",
                (select a.outcome from attempt a where a.tenant_id = i.tenant_id and a.task_id = i.id
                    and a.attempt = i.attempt and a.session_id = i.session_id limit 1) is not distinct from i.outcome as "repeated!"
            from unnest($1::lease_end[]) with ordinality i order by i.ordinality"#,
        &rows as &[EndedLease<'_>]
    );
    let rows = named("lease_end.what_stands", query.fetch_all(tx)).await?;
    let answers =
        rows.into_iter().map(|row| match row.state.and_then(|state| state.parse().ok()) {
            _ if row.repeated => TransitionResult::Repeated,
            Some(actual) => TransitionResult::Stale { actual, leased: row.leased },
            None => TransitionResult::NotFound,
        });
    Ok(answers.collect())
}

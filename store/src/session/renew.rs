//! Renews sessions: one row a heartbeat, and many heartbeats a statement.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::{named, repeated};
use domain::epoch::Epoch;
use domain::id::{NodeId, SessionId};
use domain::time::millis;
use std::time::Duration;

/// One heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renewal {
    /// The session.
    pub session: SessionId,
    /// Under which the caller owns it.
    pub epoch: Epoch,
    /// True once the executor wants no more work.
    pub draining: bool,
}

/// What became of a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewed {
    /// Good for another term.
    Live,
    /// Lapsed, fenced, or owned by another: nothing was renewed.
    Over,
}

/// Renews each of `renewals`, in order, for `term` from now (the database's now).
///
/// # Errors
/// When the database cannot answer: then nothing is known to be renewed.
pub async fn renew(
    db: &RmDb,
    owner: NodeId,
    renewals: &[Renewal],
    term: Duration,
) -> Result<Vec<Renewed>, StoreError> {
    let mut sorted: Vec<&Renewal> = renewals.iter().collect();
    // Of two heartbeats of a session the one that drains counts.
    sorted.sort_by_key(|r| (r.session, !r.draining));
    let ids: Vec<_> = sorted.iter().map(|r| r.session.uuid()).collect();
    let epochs: Vec<i64> = sorted.iter().map(|r| r.epoch.0).collect();
    let draining: Vec<bool> = sorted.iter().map(|r| r.draining).collect();
    let live: std::collections::HashSet<_> = repeated(|| async {
        let query = sqlx::query!(
            "update executor_session s
                set expires_at = clock_timestamp() + $5 * interval '1 millisecond',
                    state = case when i.draining then 'draining' else s.state end
                from unnest($1::uuid[], $2::bigint[], $3::boolean[]) as i(id, epoch, draining)
                where s.id = any (array[i.id]) and s.owner = $4 and s.owner_epoch = i.epoch and s.state <> 'over'
                    and s.expires_at > clock_timestamp()
                returning s.id, s.owner_epoch",
            &ids,
            &epochs,
            &draining,
            owner.uuid(),
            millis(term) as f64
        );
        let rows = named("session.renew", query.fetch_all(db.pool())).await?;
        Ok(rows)
    })
    .await?
    .into_iter()
    .map(|row| (row.id, Epoch(row.owner_epoch)))
    .collect();
    let answer = |r: &Renewal| {
        if live.contains(&(r.session.uuid(), r.epoch)) { Renewed::Live } else { Renewed::Over }
    };
    Ok(renewals.iter().map(answer).collect())
}

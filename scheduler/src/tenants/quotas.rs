//! Tells tenants that a quota is nearly used up.
//!
//! The batcher's process looks, tenant after tenant, at all that they hold; the database sees to it that each crossing is told once,
//! also while the batcher changes. What a look costs grows with the live tasks there are, so each tick counts one slice of
//! one tenant and rests for longer than that took. A tenant whose tasks cannot be counted in time is passed over in this round.

use crate::leader::Leader;
use domain::id::TenantId;
use runtime::clock::monotonic;
use runtime::tick::TickOutcome;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::tenant::{Count, Holding, NearlyUsed, Watched};
use tracing::{info, warn};

/// Tenants listed in one statement.
const TENANTS: i64 = 100;
/// The longest that a slice may take.
const LONGEST_SLICE: Duration = Duration::from_secs(5);
/// After a slice it rests so many times as long as that took.
const RESTS: u32 = 5;
/// The longest rest: the process is held to be alive by its ticks.
const LONGEST_REST: Duration = Duration::from_secs(10);

pub(crate) struct QuotaTick {
    db: SchedulerDb,
    leader: Arc<Leader>,
    round: Round,
}

/// How far this round over all tenants has come.
#[derive(Default)]
struct Round {
    /// Listed and not judged yet.
    tenants: VecDeque<Watched>,
    /// The last one that was listed.
    last: Option<TenantId>,
    /// Of the first of `tenants`.
    count: Count,
}

impl QuotaTick {
    pub(crate) fn new(db: SchedulerDb, leader: Arc<Leader>) -> Self {
        Self { db, leader, round: Round::default() }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if self.leader.epoch().is_none() {
            self.round = Round::default();
            return Ok(TickOutcome::idle(0));
        }
        let began = monotonic();
        let Some(Watched { tenant, backlog }) = self.next().await? else {
            self.round = Round::default();
            return Ok(TickOutcome::idle(0));
        };
        let (db, count) = (&self.db, &mut self.round.count);
        let slice = store::tenant::count_slice(db, tenant, count, backlog, LONGEST_SLICE);
        let counted = match slice.await {
            Ok(None) => 0,
            Ok(counted) => self.judge(tenant, counted).await?,
            Err(StoreError::Timeout) => {
                warn!(tenant.id = %tenant, "The tasks of `{tenant}` cannot be counted in time; it is not warned of them in this round");
                self.judge(tenant, None).await?
            }
            Err(error) => return Err(error),
        };
        Ok(TickOutcome::after((began.elapsed() * RESTS).min(LONGEST_REST), counted))
    }

    /// The tenant to look at.
    async fn next(&mut self) -> Result<Option<Watched>, StoreError> {
        if self.round.tenants.is_empty() {
            let listed = store::tenant::watched(&self.db, self.round.last, TENANTS).await?;
            self.round.last = listed.last().map(|watched| watched.tenant);
            self.round.tenants = listed.into();
        }
        Ok(self.round.tenants.front().copied())
    }

    /// Tells what is to be told of the tenant, which is done with then.
    async fn judge(
        &mut self,
        tenant: TenantId,
        holding: Option<Holding>,
    ) -> Result<u64, StoreError> {
        let warned = store::tenant::tell_nearly_used(&self.db, tenant, holding).await?;
        for NearlyUsed { tenant, quota, used, limit } in &warned {
            info!(tenant.id = %tenant, quota, used, limit, "Tenant `{tenant}` has used {used} of {limit} of `{quota}`");
        }
        self.round.tenants.pop_front();
        self.round.count = Count::default();
        Ok(warned.len() as u64)
    }
}

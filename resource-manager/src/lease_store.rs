//! The statements about leases that placing and settling need.
//!
//! `PoolWorker`, `Settler` and `end_returned` call `store` through this trait and in no other way, so that their unit tests put a
//! fake in the place of the database. Each method has the name and the promise of its function in `store`; none does more.

use domain::id::{NodeId, SessionId};
use domain::task::Dispatch;
use std::collections::HashMap;
use std::time::Duration;
use store::StoreError;
use store::connect::RmDb;
use store::lease::LiveLease;
use store::session::SessionOwner;
use store::task::transition::{
    self, Claim, EndedAttempt, FailedAttempt, LapsedLease, Placed, SessionEpoch, TransitionResult,
};

/// What a statement over many leases returns: an answer each, in their order.
pub(crate) type TransitionResults = Result<Vec<TransitionResult>, StoreError>;

/// See the functions of the same name in `store::task::transition`, `store::lease` and `store::session`.
pub(crate) trait LeaseStore: Clone + Send + Sync + 'static {
    fn placed(
        &self,
        owner: NodeId,
        sessions: &[SessionEpoch],
        claims: &[Claim],
        grace: Duration,
    ) -> impl Future<Output = Result<Vec<Placed>, StoreError>> + Send;

    fn unplaced(
        &self,
        dispatches: &[Dispatch],
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    fn live(
        &self,
        sessions: &[SessionId],
    ) -> impl Future<Output = Result<Vec<LiveLease>, StoreError>> + Send;

    fn owners(
        &self,
        sessions: &[SessionId],
    ) -> impl Future<Output = Result<HashMap<SessionId, SessionOwner>, StoreError>> + Send;

    fn called(&self, ended: &[EndedAttempt]) -> impl Future<Output = TransitionResults> + Send;
    fn completed(&self, ended: &[EndedAttempt]) -> impl Future<Output = TransitionResults> + Send;
    fn attempt_failed(
        &self,
        failed: &[FailedAttempt],
    ) -> impl Future<Output = TransitionResults> + Send;
    fn attempts_exhausted(
        &self,
        ended: &[EndedAttempt],
    ) -> impl Future<Output = TransitionResults> + Send;
    fn attempt_aborted(
        &self,
        ended: &[EndedAttempt],
    ) -> impl Future<Output = TransitionResults> + Send;
    fn attempt_killed(
        &self,
        ended: &[EndedAttempt],
    ) -> impl Future<Output = TransitionResults> + Send;
    fn handed_back(&self, ended: &[EndedAttempt])
    -> impl Future<Output = TransitionResults> + Send;
    fn not_started(&self, ended: &[EndedAttempt])
    -> impl Future<Output = TransitionResults> + Send;
    fn stopped(&self, ended: &[EndedAttempt]) -> impl Future<Output = TransitionResults> + Send;
    fn lease_lapsed(
        &self,
        leases: &[LapsedLease],
    ) -> impl Future<Output = TransitionResults> + Send;

    fn returned_again(
        &self,
        ended: &[EndedAttempt],
        waits: &[Duration],
    ) -> impl Future<Output = TransitionResults> + Send;
}

impl LeaseStore for RmDb {
    async fn placed(
        &self,
        owner: NodeId,
        sessions: &[SessionEpoch],
        claims: &[Claim],
        grace: Duration,
    ) -> Result<Vec<Placed>, StoreError> {
        transition::placed(self, owner, sessions, claims, grace).await
    }

    async fn unplaced(&self, dispatches: &[Dispatch]) -> Result<u64, StoreError> {
        transition::unplaced(self, dispatches).await
    }

    async fn live(&self, sessions: &[SessionId]) -> Result<Vec<LiveLease>, StoreError> {
        store::lease::live(self, sessions).await
    }

    async fn owners(
        &self,
        sessions: &[SessionId],
    ) -> Result<HashMap<SessionId, SessionOwner>, StoreError> {
        store::session::owners(self, sessions).await
    }

    async fn called(&self, ended: &[EndedAttempt]) -> TransitionResults {
        transition::called(self, ended).await
    }

    async fn completed(&self, ended: &[EndedAttempt]) -> TransitionResults {
        transition::completed(self, ended).await
    }

    async fn attempt_failed(&self, failed: &[FailedAttempt]) -> TransitionResults {
        transition::attempt_failed(self, failed).await
    }

    async fn attempts_exhausted(&self, ended: &[EndedAttempt]) -> TransitionResults {
        transition::attempts_exhausted(self, ended).await
    }

    async fn attempt_aborted(&self, ended: &[EndedAttempt]) -> TransitionResults {
        transition::attempt_aborted(self, ended).await
    }

    async fn attempt_killed(&self, ended: &[EndedAttempt]) -> TransitionResults {
        transition::attempt_killed(self, ended).await
    }

    async fn handed_back(&self, ended: &[EndedAttempt]) -> TransitionResults {
        transition::handed_back(self, ended).await
    }

    async fn not_started(&self, ended: &[EndedAttempt]) -> TransitionResults {
        transition::not_started(self, ended).await
    }

    async fn stopped(&self, ended: &[EndedAttempt]) -> TransitionResults {
        transition::stopped(self, ended).await
    }

    async fn lease_lapsed(&self, leases: &[LapsedLease]) -> TransitionResults {
        transition::lease_lapsed(self, leases).await
    }

    async fn returned_again(
        &self,
        ended: &[EndedAttempt],
        waits: &[Duration],
    ) -> TransitionResults {
        transition::returned_again(self, ended, waits).await
    }
}

//! What can happen to a task. Each event has one file of SQL in `store`, named like it.

use std::fmt;

/// One thing that moves a task from a state to another.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum Event {
    /// Its time came (scheduler).
    Due,
    /// The batcher picked it (scheduler).
    Dispatched,
    /// Its hint went stale or was never published (scheduler's sweep).
    DispatchStale,
    /// A resource manager held its hint and found no room (resource manager).
    Unplaced,
    /// A resource manager gave it a lease on an executor (resource manager).
    Placed,
    /// Its call was taken on: it needs its executor no more, and runs until it is completed (executor's report).
    Called,
    /// The attempt ended well (executor's report, or who completes it).
    Completed,
    /// The attempt failed, or was killed where its policy retries that, and another may follow (executor's report).
    AttemptFailed,
    /// The attempt failed and no other may follow: attempts used up, or failures are not retried (executor's report).
    AttemptsExhausted,
    /// The attempt failed with an error marked as not retryable (executor's report).
    AttemptAborted,
    /// The attempt was killed, over its cap or its resources, and no other may follow (executor's report).
    AttemptKilled,
    /// The lease ended without a report: the executor is gone, or did not list it (resource manager).
    LeaseLapsed,
    /// The lease of a task that may run at most once ended without a report (resource manager).
    LeaseLapsedForGood,
    /// A draining executor gave it back unfinished (executor's report).
    HandedBack,
    /// The assignment was never started (executor's report, or not listed in a heartbeat).
    NotStarted,
    /// The same as one of these two or a lapse, and not for the first time: it waits before its next turn (resource manager).
    ReturnedAgain,
    /// Its owner asked to cancel it (api).
    CancelRequested,
    /// The executor confirmed that the attempt was stopped (executor's report).
    Stopped,
    /// Its start deadline passed before it first ran, and it asked to expire (scheduler).
    Expired,
    /// Enough of its parents ended as its edges ask (in the statement that ends a parent).
    Released,
    /// Too few of its parents can still end as its edges ask (scheduler).
    Skipped,
    /// Its gate is open: it has the values of other nodes, and runs (scheduler).
    Prepared,
    /// Its gate cannot be opened: a value is missing, or its items did not succeed (scheduler).
    PrepareFailed,
    /// What it waited for has come: a signal, an approval, a time, or the ends of its items (api, scheduler).
    WaitOver,
    /// A person rejected what it asked approval for (api).
    Rejected,
    /// Its owner does not want to wait for its time (api).
    RunNow,
    /// Its owner says that it was done by other means (api).
    MarkedSucceeded,
    /// Its owner changed it while its hint was in the broker (api).
    Recalled,
    /// Its owner gave it a later time (api).
    Postponed,
}

impl Event {
    /// Every event.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in logs, metrics, docs, and as a file in `store/src/task/transition/`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Who raises it, in the words of the docs.
    #[must_use]
    pub const fn mover(self) -> &'static str {
        match self {
            Self::CancelRequested
            | Self::RunNow
            | Self::MarkedSucceeded
            | Self::Recalled
            | Self::Postponed
            | Self::Rejected => "api",
            Self::WaitOver => "api, scheduler",
            Self::Released => "who ends its parent",
            Self::Due
            | Self::Dispatched
            | Self::DispatchStale
            | Self::Expired
            | Self::Skipped
            | Self::Prepared
            | Self::PrepareFailed => "scheduler",
            Self::Unplaced
            | Self::Placed
            | Self::Called
            | Self::LeaseLapsed
            | Self::LeaseLapsedForGood
            | Self::HandedBack
            | Self::NotStarted
            | Self::ReturnedAgain => "resource-manager",
            Self::Completed | Self::AttemptAborted => "resource-manager, api",
            Self::AttemptFailed | Self::AttemptsExhausted => "resource-manager, api, scheduler",
            Self::AttemptKilled | Self::Stopped => "resource-manager, scheduler",
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

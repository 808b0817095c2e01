//! The checks of `berth doctor`, their names, and what an operator should do when one fails.
//!
//! The names are those in JSON and in the label of the metric; they keep their meaning. docs/observability.md lists them.

use strum::VariantArray;

/// An invariant of a running installation.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::Display,
    strum::IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum Check {
    /// No task is `scheduled` long after its time.
    ScheduledOverdue,
    /// No task is `queued` long after the sweep should have taken it back.
    QueuedStale,
    /// No task is `retrying` long after its time.
    RetryingOverdue,
    /// No task that was to expire is `ready` long after its deadline.
    ExpiryOverdue,
    /// Whatever waits for a time has one.
    TasksWithoutWake,
    /// No task is `ready` for long where there is room and nothing holds it back.
    ReadyUnseen,
    /// No task is `ready` for long that fits none of its pool's executors, however idle.
    TasksUnplaceable,
    /// No task waits for long in a pool that has room for it and in which nothing is placed.
    PlacementStalled,
    /// No executor gives back what it is given.
    ExecutorsQuarantined,
    /// Each lease is of a session that is not over.
    LeaseWithoutSession,
    /// No session's term is long over without the session being ended.
    SessionsLapsed,
    /// No task is `running` past the hard end of its lease.
    RunningPastEnd,
    /// No task is `cancelling` past the hard end of its lease.
    CancellingPastEnd,
    /// No two leases of a session have one assignment number.
    AssignmentDoubled,
    /// No two leases of a task overlap.
    LeasesOverlap,
    /// No executor has granted more than it has, in any dimension.
    CapacityExceeded,
    /// No two leases of a session share a port, and none lies outside of the session's.
    PortsOverlap,
    /// A task's attempts are numbered from 1 without gaps.
    AttemptsMissing,
    /// Each attempt is of a task.
    AttemptWithoutTask,
    /// What is not charged costs nothing, and what is charged no more than the lease lasted.
    UsageWrong,
    /// What was counted as used is the sum of its attempts, at their prices.
    UsageCountedWrong,
    /// Of each spend cap, what is free, spent and reserved by tasks that live is its amount.
    SpendCapWrong,
    /// Each task ends once.
    TaskEndedTwice,
    /// No schedule's due time is long past without an outcome.
    ScheduleOverdue,
    /// Each schedule that is not over is due some time, or waits for a task that lives.
    ScheduleWithoutDue,
    /// Each fire that made a task has it.
    FireWithoutTask,
    /// Each due time has one outcome.
    FireDoubled,
    /// No due time was fired before it came.
    FireEarly,
    /// Some scheduler is the batcher.
    BatcherMissing,
    /// Each shard of schedules has an owner that lives.
    ShardsUnowned,
    /// Schedules fire: none is held after a restore.
    SchedulesHeld,
    /// Each schedule can be read.
    SchedulesMalformed,
    /// No table is mostly dead rows that nobody cleans up.
    Bloat,
    /// No transaction is open for long: it would keep every dead row.
    OldTransaction,
    /// No transaction is open without doing anything.
    IdleInTransaction,
    /// The days to come have their partitions.
    PartitionsMissing,
    /// No row is outside of the days' partitions.
    PartitionStrays,
    /// The database's clock and this machine's agree.
    ClockOffset,
    /// The queues of hints are there, with the settings of this release.
    QueueArguments,
}

impl Check {
    /// Every check, in the order of `berth doctor`.
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    /// Its name in JSON, SQL, metrics and docs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What an operator should do when it fails.
    #[must_use]
    pub const fn what_to_do(self) -> &'static str {
        match self {
            Self::ScheduledOverdue | Self::RetryingOverdue | Self::ExpiryOverdue => {
                "is a scheduler up? look at its tick `due`: berth_tick_last_success_timestamp_seconds{tick=\"due\"} and its log"
            }
            Self::QueuedStale => {
                "the sweep does not run: is a scheduler up? look at its tick `stale_hints` and its log"
            }
            Self::TasksWithoutWake => {
                "nobody looks at these tasks again: cancel them, or set `wake_at = now()` as the owner; and report it"
            }
            Self::ReadyUnseen => {
                "the batcher passes these by: look at its tick `batcher`; `berth explain` says what each waits for"
            }
            Self::TasksUnplaceable => {
                "start an executor of that pool that can hold them, or cancel them; `berth explain` says what each asks for"
            }
            Self::PlacementStalled => {
                "hints do not arrive: is RabbitMQ whole (`rabbitmq-diagnostics check_if_node_is_quorum_critical`)? Delete the hint queue of that pool, or restart its resource managers"
            }
            Self::ExecutorsQuarantined => {
                "it gets probes only: its log says why it refuses or loses what it is given; mend it or stop it (SIGTERM)"
            }
            Self::LeaseWithoutSession => {
                "these leases never end by themselves: cancel the tasks, end them as the owner, and report it"
            }
            Self::SessionsLapsed => {
                "the reaper does not run: is a resource manager up? Its attempts run again once it does"
            }
            Self::RunningPastEnd | Self::CancellingPastEnd => {
                "its session is to be fenced: is the resource manager that owns it up? look at its tick `reap`, and at the executor"
            }
            Self::AssignmentDoubled | Self::LeasesOverlap => {
                "two leases where one may be: keep the database as it is, stop the executor named, and report it"
            }
            Self::CapacityExceeded | Self::PortsOverlap => {
                "drain the executor named (SIGTERM): it comes back with nothing granted; and report it"
            }
            Self::AttemptsMissing
            | Self::AttemptWithoutTask
            | Self::UsageWrong
            | Self::SpendCapWrong => "bills made of these rows are wrong: keep them, and report it",
            Self::UsageCountedWrong => {
                "report it, with what `berth doctor rebuild-usage --dry-run` prints; without --dry-run that corrects it"
            }
            Self::TaskEndedTwice => "keep both rows, and report it",
            Self::ScheduleOverdue => {
                "does a scheduler own its shard (berth_schedule_shards)? What was missed is fired as its misfire policy says"
            }
            Self::ScheduleWithoutDue => "put the schedule again: that finds its next due time",
            Self::FireWithoutTask | Self::FireDoubled | Self::FireEarly => {
                "keep the rows, and report it; a due time can be made up for with `berth schedule backfill`"
            }
            Self::BatcherMissing => {
                "nothing is handed out: start a scheduler, or see in its log why it does not reach Postgres"
            }
            Self::ShardsUnowned => "start a scheduler: these schedules do not fire",
            Self::SchedulesHeld => {
                "see what would fire with `berth admin resume-after-restore`, and let it with --confirm (docs/restore.md)"
            }
            Self::SchedulesMalformed => {
                "paused because they cannot be read: delete each and put it again"
            }
            Self::Bloat => {
                "autovacuum does not keep up or is held up: see old_transaction; then `vacuum` the table named"
            }
            Self::OldTransaction | Self::IdleInTransaction => {
                "end it: `select pg_terminate_backend(pid)`; no service of Berth has such a transaction"
            }
            Self::PartitionsMissing => {
                "is a scheduler up? Its tick `keep` makes them; a long transaction can hold it up"
            }
            Self::PartitionStrays => {
                "some clock is days off: look at clock_offset on every machine"
            }
            Self::ClockOffset => "set the clocks right on this machine and the database's (NTP)",
            Self::QueueArguments => {
                "delete the queue named: it is declared anew within seconds, and what it held is swept up"
            }
        }
    }
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The invariant holds.
    Passed,
    /// Some rows violate it.
    Failed {
        /// How many: at least 1.
        count: u64,
        /// One of them: an id, or a short description.
        example: String,
    },
    /// It does not apply to this installation; the reason.
    NotApplicable(String),
    /// It could not be run; the reason.
    NotChecked(String),
}

/// A check and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// The check.
    pub check: Check,
    /// Its outcome.
    pub outcome: CheckOutcome,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const DOC: &str = include_str!("../../../docs/observability.md");

    #[test]
    fn every_check_has_a_name_of_its_own_and_is_in_the_docs() {
        let names: BTreeSet<_> = Check::ALL.iter().map(|check| check.as_str()).collect();
        assert_eq!(names.len(), Check::ALL.len());
        let missing: Vec<_> =
            names.iter().filter(|name| !DOC.contains(&format!("| `{name}` |"))).collect();
        assert!(missing.is_empty(), "not in docs/observability.md: {missing:?}");
    }
}

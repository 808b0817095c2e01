//! From what a client sent to a task that can be stored, or everything that is wrong with it.
//!
//! Called for single submits and for each task of a batch. Whatever passes here must pass the database's
//! own checks: a bad input is a 4xx with a pointer, never a 500.

use super::dependencies::{LinkFields, Links};
use super::findings::Findings;
use super::pool::usable;
use super::run::run;
use super::text::{duration, has_length, number, put_once, read, short_text};
use super::warning::{Need, warnings};
use crate::problem::{Code, Problem};
use api_types::TaskWarning;
use api_types::request::{self as body, Given, Pairs};
use domain::id::{PoolName, TaskId, TenantId};
use domain::plan::PlanLimits;
use domain::pool::PoolUser;
use domain::resources::{Resources, Tier};
use domain::task::{Delivery, Labels, RetryOn, RetryPolicy};
use domain::time::Timestamp;
use runtime::config::LimitsConfig;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;
use store::idempotency::IdempotencyKey;
use store::pool::SubmitPool;
use store::task::submit::NewTask;

const MAX_NAME: usize = 200;
const MAX_LABELS: usize = 32;
const MAX_LABEL_KEY: usize = 63;
const MAX_LABEL_VALUE: usize = 200;
const MAX_EXIT_CODES: usize = 256;
/// Exit codes of commands go to 255, statuses of answers to 599.
const EXIT_CODES: RangeInclusive<i32> = 0..=599;
/// Nothing starts at the very instant at which it becomes due.
const NO_TIME_TO_START: &str = "must be above 0 with `expire_if_late`: the task would always expire before it starts; \
                                give it the time it may take to start, or leave `expire_if_late` out";
const HOUR: Duration = Duration::from_secs(3600);
const MAX_RETRY_WAIT: Duration = Duration::from_secs(7 * 24 * 3600);
/// Ten years, for `delay` and `run_at`: beyond it is a typing mistake.
const MAX_AHEAD: Duration = Duration::from_secs(10 * 8760 * 3600);
/// Largest figures in the order of [`Resources::DIMENSIONS`]; each fits the database's integer.
const MAX_RESOURCES: [u32; 5] = [1_024_000, 67_108_864, 1_073_741_824, 100_000_000, 64_512];

/// What tasks are checked against.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// Ranges and defaults.
    pub limits: &'a LimitsConfig,
    /// The pools there are.
    pub pools: &'a [SubmitPool],
    /// Who submits: a pool that is not granted to it is none.
    pub user: PoolUser<'a>,
    /// The present time; bounds `run_at`.
    pub now: Timestamp,
    /// The tenant's plan: its limits, and whether tasks are flexible that do not say.
    pub plan: &'a PlanLimits,
    /// What a task may name as its parents.
    pub links: Links<'a>,
}

/// Where a task comes from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The tenant.
    pub tenant: TenantId,
    /// Public part of the API key.
    pub key_id: String,
    /// W3C traceparent of the request.
    pub traceparent: String,
    /// For a single submit, its idempotency key.
    pub idempotency: Option<IdempotencyKey>,
}

impl Rules<'_> {
    /// Checks `spec`, which stands at `base` in the body (empty, or `/tasks/3`).
    ///
    /// # Errors
    /// `validation_failed` or `not_available`, with all that was found.
    pub fn check(
        &self,
        spec: body::NewTask,
        base: String,
        origin: Origin,
    ) -> Result<NewTask, Problem> {
        let mut found = Findings::new(base);
        let task = self.look(&mut found, spec, origin);
        found.into_result()?;
        task.ok_or_else(|| Problem::at(Code::ValidationFailed, "/run", "is required"))
    }

    /// The same where more is looked at than this: what is wrong is noted, and then the task is not to be used. `None` where it runs
    /// nothing, which is noted too.
    pub fn look(&self, f: &mut Findings, spec: body::NewTask, origin: Origin) -> Option<NewTask> {
        if let Some(name) = &spec.name {
            short_text(f, "/name", name, MAX_NAME);
        }
        if let Some(key) = &spec.unique_key {
            short_text(f, "/unique_key", key, MAX_NAME);
        }
        let links =
            LinkFields { reference: spec.reference, depends_on: spec.depends_on, join: spec.join };
        let depends_on = self.links.read(f, links);
        let (tier, resources) = demand(f, spec.tier, spec.resources);
        let (delay, run_at) = self.due(f, spec.delay, spec.run_at);
        let limits = self.limits;
        let tolerance = Duration::ZERO..=limits.max_delay_tolerance;
        let cap = Duration::from_millis(1)..=limits.max_execution_cap;
        let max_attempts = spec.max_attempts.unwrap_or(limits.default_max_attempts);
        let attempts = number(f, "/max_attempts", max_attempts, 1..=limits.max_attempts);
        let delay_tolerance = duration(
            f,
            "/delay_tolerance",
            spec.delay_tolerance,
            tolerance,
            limits.default_delay_tolerance,
        );
        let execution_cap =
            duration(f, "/execution_cap", spec.execution_cap, cap, limits.default_execution_cap);
        let expire_if_late = spec.expire_if_late.unwrap_or(false);
        if expire_if_late && delay_tolerance.is_zero() {
            f.wrong("/delay_tolerance", NO_TIME_TO_START);
        }
        let priority = read(f, "/priority", spec.priority).unwrap_or_default();
        let concurrency_key = read(f, "/concurrency_key", spec.concurrency_key);
        let retry = spec.retry.map(|retry| policy(f, retry));
        let labels = spec.labels.map(|pairs| read_labels(f, pairs));
        let pool = self.pool(f, spec.pool);
        let run = run(f, limits, spec.run)?;
        Some(NewTask {
            tenant: origin.tenant,
            id: TaskId::fresh(),
            name: spec.name,
            pool,
            tier,
            resources,
            spec: domain::task::TaskSpec { run, retry, labels: labels.unwrap_or_default() },
            delay,
            run_at,
            delay_tolerance,
            execution_cap,
            expire_if_late,
            priority,
            flexible: spec.flexible.unwrap_or(self.plan.flexible),
            concurrency_key,
            max_attempts: attempts,
            delivery: spec.delivery.unwrap_or(Delivery::AtLeastOnce),
            unique_key: spec.unique_key,
            traceparent: Some(origin.traceparent),
            key_id: origin.key_id,
            schedule: None,
            rerun_of: None,
            reservation: None,
            node: None,
            depends_on,
            idempotency: origin.idempotency,
        })
    }

    /// What to know of a task without mistakes, which stands at `base` in the body.
    #[must_use]
    pub fn warnings(&self, task: &NewTask, base: &str) -> Vec<TaskWarning> {
        let NewTask { pool, resources, tier, .. } = task;
        let need = Need { pool, resources: *resources, tier: *tier, base };
        warnings(self.pools, need)
    }

    fn due(
        &self,
        f: &mut Findings,
        delay: Option<Given<Duration>>,
        run_at: Option<Given<Timestamp>>,
    ) -> (Option<Duration>, Option<Timestamp>) {
        if delay.is_some() && run_at.is_some() {
            f.wrong("/run_at", "cannot be given together with `delay`");
        }
        let delay = delay.map(|given| {
            duration(f, "/delay", Some(given), Duration::ZERO..=MAX_AHEAD, Duration::ZERO)
        });
        let run_at = run_at.and_then(|given| match given.read() {
            Ok(at) if at >= Timestamp::UNIX_EPOCH && at <= self.now + MAX_AHEAD => Some(at),
            Ok(_) => {
                f.wrong("/run_at", "must be from 1970 on and no more than ten years ahead");
                None
            }
            Err(_) => {
                f.wrong("/run_at", "must be a time such as \"2030-01-31T12:00:00Z\" (RFC 3339)");
                None
            }
        });
        (delay, run_at)
    }

    fn pool(&self, f: &mut Findings, given: Option<Given<PoolName>>) -> PoolName {
        let wrong = if given.is_some() { NO_POOL } else { NO_USUAL_POOL };
        // A text that is no name is no pool either.
        let name = given.map_or_else(|| Some(PoolName::default()), |given| given.read().ok());
        let pool = name.and_then(|name| usable(self.pools, self.user, name.as_str()));
        pool.map(|pool| pool.name.clone()).unwrap_or_else(|| {
            f.wrong("/pool", wrong);
            PoolName::default()
        })
    }
}

/// What is said of a pool that is none, and of one that is not granted to whoever asks: nobody learns which.
const NO_POOL: &str = "is not a pool of this installation";
const NO_USUAL_POOL: &str = "must be given: `default` is not a pool of this installation";

fn demand(
    f: &mut Findings,
    tier: Option<Tier>,
    own: Option<body::Resources>,
) -> (Option<Tier>, Resources) {
    let Some(own) = own else {
        let tier = tier.unwrap_or(Tier::Basic);
        return (Some(tier), tier.resources());
    };
    if tier.is_some() {
        f.wrong("/resources", "cannot be given together with `tier`");
    }
    let wanted = [own.cpu_millis, own.memory_mib, own.disk_mib, own.iops, own.ports];
    for (at, name) in Resources::DIMENSIONS.iter().enumerate() {
        let least = u32::from(at < 2);
        number(
            f,
            &format!("/resources/{name}"),
            wanted[at].unwrap_or(0),
            least..=MAX_RESOURCES[at],
        );
    }
    (None, Resources::from_dimensions(wanted.map(Option::unwrap_or_default)))
}

fn policy(f: &mut Findings, spec: body::Retry) -> RetryPolicy {
    let usual = RetryPolicy::default();
    let initial =
        duration(f, "/retry/initial", spec.initial, Duration::ZERO..=24 * HOUR, usual.initial);
    let max = duration(
        f,
        "/retry/max",
        spec.max,
        Duration::ZERO..=MAX_RETRY_WAIT,
        usual.max.max(initial),
    );
    if max < initial {
        f.wrong("/retry/max", "must not be below `initial`");
    }
    let factor = spec.factor.unwrap_or(usual.factor);
    if !(1.0..=100.0).contains(&factor) {
        f.wrong("/retry/factor", "must be from 1 to 100");
    }
    let codes = spec.abort_on_exit_codes.unwrap_or_default();
    if codes.len() > MAX_EXIT_CODES {
        f.wrong(
            "/retry/abort_on_exit_codes",
            format!("must have {MAX_EXIT_CODES} entries or fewer"),
        );
    } else {
        for (at, _) in codes.iter().enumerate().filter(|(_, code)| !EXIT_CODES.contains(*code)) {
            f.wrong(
                &format!("/retry/abort_on_exit_codes/{at}"),
                format!("must be from {} to {}", EXIT_CODES.start(), EXIT_CODES.end()),
            );
        }
    }
    RetryPolicy {
        backoff: spec.backoff.unwrap_or(usual.backoff),
        initial,
        factor,
        max,
        jitter: spec.jitter.unwrap_or(usual.jitter),
        abort_on_exit_codes: codes,
        on: spec.on.map_or_else(RetryOn::usual, BTreeSet::from_iter),
    }
}

/// Checks labels, which stand at `/labels`.
pub(crate) fn read_labels(f: &mut Findings, pairs: Pairs) -> Labels {
    const AT: &str = "/labels";
    let mut labels = Labels::new();
    if pairs.0.len() > MAX_LABELS {
        f.wrong(AT, format!("must have {MAX_LABELS} entries or fewer"));
        return labels;
    }
    for (key, value) in pairs.0 {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        if !(1..=MAX_LABEL_KEY).contains(&key.len()) || !key.bytes().all(plain) {
            f.wrong_entry(AT, &key, "must have a key of 1 to 63 of a-z A-Z 0-9 _ . -");
        } else if value.contains('\0') {
            f.wrong_entry(AT, &key, "must not contain a NUL character");
        } else if !has_length(&value, 0..=MAX_LABEL_VALUE) {
            f.wrong_entry(AT, &key, format!("must have {MAX_LABEL_VALUE} characters at most"));
        } else if let Some((key, _)) = put_once(&mut labels, key, value) {
            f.wrong_entry(AT, &key, "is given twice");
        }
    }
    labels
}

//! What whoever submits a task should know at once, though nothing is wrong with it.
//!
//! Made from what the api knows of executors, a second old: it costs no statement. Executors come and go, so none of this refuses
//! anything.

use super::pool::usable;
use domain::id::PoolName;
use domain::placement::{Misfit, misfit};
use domain::pool::PoolUser;
use domain::resources::{Resources, Tier};
use domain::schedule::Outcome;
use serde::Serialize;
use store::pool::SubmitPool;
use utoipa::ToSchema;

/// A warning about an accepted task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = TaskWarning)]
pub struct Warning {
    /// Code: `no_executor` or `too_large`; for a schedule also `schedules_held` and `pool_unavailable`.
    code: &'static str,
    /// Explanation for people.
    detail: String,
    /// JSON pointer into the body.
    pointer: String,
}

impl Warning {
    /// Of a schedule that is read while none fires.
    #[must_use]
    pub fn schedules_held() -> Self {
        let detail = "the installation was restored, and its operators hold all schedules: no due time fires";
        Self { code: "schedules_held", detail: detail.to_owned(), pointer: String::new() }
    }
}

/// What a task needs, and where it stands in the body.
#[derive(Debug, Clone, Copy)]
pub struct Need<'a> {
    /// Where it is to run.
    pub pool: &'a PoolName,
    /// What it needs.
    pub resources: Resources,
    /// The name under which it was asked for, where it was not by resources.
    pub tier: Option<Tier>,
    /// Where the task stands in the body: empty, or `/tasks/3`.
    pub base: &'a str,
}

/// Warns of a task that fits none of its pool's executors as they are now; nothing where it fits one.
pub(crate) fn warnings(pools: &[SubmitPool], need: Need<'_>) -> Vec<Warning> {
    let Need { pool, resources, tier, base } = need;
    let Some(known) = pools.iter().find(|known| known.name == *pool) else { return Vec::new() };
    let Some(misfit) = misfit(resources, &known.executors) else { return Vec::new() };
    let of_size = |dimension: Option<&str>| match (tier, dimension) {
        (Some(_), _) => format!("{base}/tier"),
        (None, Some(dimension)) => format!("{base}/resources/{dimension}"),
        (None, None) => format!("{base}/resources"),
    };
    let waits = "it waits for a suitable one";
    let (pointer, detail) = match misfit {
        Misfit::NoExecutor => (
            format!("{base}/pool"),
            format!("no executor of the pool `{pool}` is connected; {waits}"),
        ),
        Misfit::TooLarge { dimension, asked, largest } => {
            let name = dimension.as_str();
            let detail = format!(
                "no executor of the pool `{pool}` is large enough: it requests {name} {asked}, the largest has {largest}; \
                 {waits}"
            );
            (of_size(Some(name)), detail)
        }
        Misfit::NotTogether => {
            let detail = format!(
                "no executor of the pool `{pool}` is large enough: none has all requested resources at once; {waits}"
            );
            (of_size(None), detail)
        }
    };
    vec![Warning { code: misfit.as_str(), detail, pointer }]
}

/// Warns of a schedule whose tasks go to a `pool` that is none, or none for `user`: its due times make none.
pub(crate) fn no_pool(
    pools: &[SubmitPool],
    user: PoolUser<'_>,
    pool: &PoolName,
) -> Option<Warning> {
    usable(pools, user, pool.as_str()).is_none().then(|| Warning {
        code: Outcome::PoolUnavailable.as_str(),
        detail: format!(
            "`{pool}` is not a pool of this installation: due times create no task until it is changed"
        ),
        pointer: "/task/pool".to_owned(),
    })
}

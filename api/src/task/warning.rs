//! What whoever submits a task should know at once, though nothing is wrong with it.
//!
//! Made from what the api knows of executors, a second old: it costs no statement. Executors come and go, so none of this refuses
//! anything.

use super::pool::usable;
use api_types::{TaskWarning, WarningCode};
use domain::id::PoolName;
use domain::placement::{Misfit, misfit};
use domain::pool::PoolUser;
use domain::resources::{Resources, Tier};
use store::pool::SubmitPool;

/// Of a schedule that is read while none fires.
#[must_use]
pub(crate) fn schedules_held() -> TaskWarning {
    let detail =
        "the installation was restored, and its operators hold all schedules: no due time fires";
    let code = WarningCode::SchedulesHeld.into();
    TaskWarning { code, detail: detail.to_owned(), pointer: String::new() }
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
pub(crate) fn warnings(pools: &[SubmitPool], need: Need<'_>) -> Vec<TaskWarning> {
    let Need { pool, resources, tier, base } = need;
    let Some(known) = pools.iter().find(|known| known.name == *pool) else { return Vec::new() };
    let Some(misfit) = misfit(resources, &known.executors) else { return Vec::new() };
    let of_size = |dimension: Option<&str>| match (tier, dimension) {
        (Some(_), _) => format!("{base}/tier"),
        (None, Some(dimension)) => format!("{base}/resources/{dimension}"),
        (None, None) => format!("{base}/resources"),
    };
    let waits = "it waits for a suitable one";
    let (code, pointer, detail) = match misfit {
        Misfit::NoExecutor => (
            WarningCode::NoExecutor,
            format!("{base}/pool"),
            format!("no executor of the pool `{pool}` is connected; {waits}"),
        ),
        Misfit::TooLarge { dimension, asked, largest } => {
            let name = dimension.as_str();
            let detail = format!(
                "no executor of the pool `{pool}` is large enough: it requests {name} {asked}, the largest has {largest}; \
                 {waits}"
            );
            (WarningCode::TooLarge, of_size(Some(name)), detail)
        }
        Misfit::NotTogether => {
            let detail = format!(
                "no executor of the pool `{pool}` is large enough: none has all requested resources at once; {waits}"
            );
            (WarningCode::TooLarge, of_size(None), detail)
        }
    };
    vec![TaskWarning { code: code.into(), detail, pointer }]
}

/// Warns of a schedule whose tasks go to a `pool` that is none, or none for `user`: its due times make none.
pub(crate) fn no_pool(
    pools: &[SubmitPool],
    user: PoolUser<'_>,
    pool: &PoolName,
) -> Option<TaskWarning> {
    usable(pools, user, pool.as_str()).is_none().then(|| TaskWarning {
        code: WarningCode::PoolUnavailable.into(),
        detail: format!(
            "`{pool}` is not a pool of this installation: due times create no task until it is changed"
        ),
        pointer: "/task/pool".to_owned(),
    })
}

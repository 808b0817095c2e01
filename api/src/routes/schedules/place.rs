//! Which schedule a request is about, in which version; and the answer that shows one.

use crate::answer::Answer;
use crate::call::Call;
use crate::problem::{Code, Problem};
use crate::request::wanted_version as version_of;
use crate::schedule::schedule;
use crate::task::{no_pool, schedules_held};
use actix_web::http::StatusCode;
use api_types::{Schedule, TaskWarning};
use domain::id::PoolName;
use store::schedule::ScheduleRecord;

/// Longest name.
const MAX_NAME: usize = 100;

/// The schedule named in the path.
///
/// # Errors
/// `invalid_parameter` for what can be none.
pub(super) fn name_in_path(call: &Call) -> Result<&str, Problem> {
    let name = call.request.match_info().get("name").unwrap_or_default();
    if is_name(name) {
        return Ok(name);
    }
    let detail = format!(
        "must have 1 to {MAX_NAME} of a-z A-Z 0-9 _ . -, begin with a letter or digit, and not be `preview`"
    );
    Err(Problem::at(Code::InvalidParameter, "path:name", detail))
}

fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(plain)
        && name.as_bytes()[0].is_ascii_alphanumeric()
        && name != "preview"
}

/// The version that `If-Match` asks for; 0, where `If-None-Match: *` asks that there is none.
///
/// # Errors
/// `invalid_parameter` for what is no version, or for both.
pub(super) fn wanted_version(call: &Call) -> Result<Option<i64>, Problem> {
    version_of(call.request.headers())
}

/// "Not found", in the same words for a foreign, an unknown and a deleted one.
pub(crate) fn no_such_schedule() -> Problem {
    Problem::no_such("schedule")
}

/// It is in another version than was asked for.
pub(super) fn mismatch(version: Option<i64>) -> Problem {
    let detail = match version {
        Some(version) => format!("The schedule has version {version}."),
        None => "The schedule does not exist.".to_owned(),
    };
    Problem::new(Code::VersionMismatch, detail)
}

/// Shows a schedule to whoever reads it, with its version as `ETag`. It warns where its due times make no task.
pub(super) async fn shown(
    call: &Call,
    schedule: ScheduleRecord,
) -> Result<Answer<Schedule>, Problem> {
    let pools = call.state.pools.current().await?;
    let of_pool = no_pool(&pools, call.caller.pool_user(), &schedule.template.pool);
    let held = store::installation::held_for_tenant(&call.state.api, &call.scope()).await?;
    let warnings = of_pool.into_iter().chain(held.map(|_| schedules_held())).collect();
    Ok(stored(StatusCode::OK, schedule, warnings))
}

/// A schedule that is not fired now, because of its pool.
pub(super) fn unavailable(pool: &PoolName) -> Problem {
    let detail = format!(
        "`{pool}` is not a pool of this installation; change the pool of the schedule's `task`."
    );
    Problem::new(Code::Conflict, detail)
}

/// Shows a schedule, with its version as `ETag` and what its owner should know of it.
pub(super) fn stored(
    status: StatusCode,
    record: ScheduleRecord,
    warnings: Vec<TaskWarning>,
) -> Answer<Schedule> {
    Answer::versioned(status, record.version, schedule(record, warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_and_not_the_word_of_another_route() {
        for good in ["a", "report", "Report-2.daily_x", "0", &"x".repeat(100)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "preview", ".", "..", ".x", "-x", "a b", "a/b", "ä", &"x".repeat(101)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}

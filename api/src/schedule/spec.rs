//! What a client may send as a schedule, field by field.
//!
//! As for tasks: read by `json::parse`, checked by `check`, shown in the OpenAPI document. Texts that have a form of their own stay texts
//! here, so that several mistakes can be told at once.

use crate::task::TaskSpec;
use domain::schedule::{Counting, Gap, Overlap, Repeat};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A schedule to store.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object with `timing` and `task`")]
#[schema(as = SchedulePut, example = json!({
    "timing": {"specs": [{"cron": "30 2 * * *"}], "zone": "America/New_York"},
    "task": {"name": "report", "run": {"command": {"argv": ["bash", "-c", "echo hi"]}}}}))]
pub struct ScheduleSpec {
    /// When it is due.
    #[schema(required, nullable = false)]
    pub timing: Option<TimingSpec>,
    /// What each fire makes: a task as for `POST /v1/tasks`, without `delay` and `run_at`.
    #[schema(required, nullable = false)]
    pub task: Option<TaskSpec>,
    /// What a due time does while an earlier task of the schedule has not ended; `skip` when left out.
    #[schema(value_type = Option<super::super::openapi::words::Overlap>)]
    pub overlap: Option<Overlap>,
    /// What becomes of overdue times: `fire_now` for what fires once, `fire_next_soon` for all else, when left out.
    pub misfire: Option<MisfireSpec>,
    /// It is paused when so many of its tasks in a row have ended `failed`, `aborted`, `killed` or `expired`; never, when left out.
    #[schema(minimum = 1, maximum = 1000)]
    pub pause_after_failures: Option<u32>,
    /// Paused or not; as it is, when left out.
    pub paused: Option<bool>,
}

/// When a schedule is due.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"specs\": [{\"cron\": \"30 2 * * *\"}], \"zone\": \"Europe/Berlin\"}"
)]
#[schema(as = Timing)]
pub struct TimingSpec {
    /// Due whenever one of these says so; at the same instant once.
    #[schema(required, nullable = false, min_items = 1, max_items = 16)]
    pub specs: Option<Vec<WhenSpec>>,
    /// The IANA time zone in which times of day and dates are meant; `UTC` when left out.
    #[schema(example = "America/New_York")]
    pub zone: Option<String>,
    /// Not due before this (RFC 3339).
    #[schema(format = DateTime)]
    pub start_at: Option<String>,
    /// Not due after this (RFC 3339).
    #[schema(format = DateTime)]
    pub end_at: Option<String>,
    /// Over once it has made so many tasks.
    #[schema(minimum = 1)]
    pub max_fires: Option<u64>,
    /// Not due in these: dates (`"2026-12-24"`) or ranges (`{"from", "to"}`, of dates or times).
    #[schema(value_type = Option<Vec<super::super::openapi::words::Exclusion>>, max_items = 500)]
    pub exclude: Option<Vec<Value>>,
    /// Each fire waits a part of this, by chance; `"0s"` when left out, at most `"24h"`.
    pub jitter: Option<String>,
    /// What becomes of a fixed time of day that does not exist, because the clocks go forward; `next_valid` when left out, and all
    /// there may be in a timing without fixed times of day.
    #[schema(value_type = Option<super::super::openapi::words::Gap>)]
    pub gap: Option<Gap>,
    /// What becomes of a fixed time of day that comes twice, because the clocks go back; `first` when left out, and all there may be in
    /// a timing without fixed times of day.
    #[schema(value_type = Option<super::super::openapi::words::Repeat>)]
    pub repeat: Option<Repeat>,
}

/// What makes a schedule due: exactly one of these.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object of one kind, such as {\"cron\": \"30 2 * * *\"} or {\"every\": {\"every\": \"90s\"}}"
)]
#[schema(as = When)]
pub struct WhenSpec {
    /// A pattern of 5 fields, or of 6 with seconds first; `L`, `W`, `#` and `@daily` too. Its times are fixed unless its minute or hour
    /// field begins with `*`.
    #[schema(example = "30 2 * * mon-fri")]
    pub cron: Option<String>,
    /// Again and again after the same time, whatever the clocks do.
    pub every: Option<EverySpec>,
    /// Once, at this time (RFC 3339).
    #[schema(format = DateTime)]
    pub at: Option<String>,
    /// Once, so long after the schedule was made.
    pub after: Option<String>,
    /// Each day.
    pub daily: Option<DailySpec>,
    /// On days of the week.
    pub weekly: Option<WeeklySpec>,
    /// On days of the month; a month without the day is passed over.
    pub monthly: Option<MonthlySpec>,
    /// On dates of the year; 02-29 in leap years.
    pub yearly: Option<YearlySpec>,
}

/// An interval.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"every\": \"90s\"}")]
#[schema(as = Every)]
pub struct EverySpec {
    /// How long, such as `"90s"`; `"1s"` at least.
    #[schema(required, nullable = false)]
    pub every: Option<String>,
    /// A due time, from which the others count; when the schedule was made, if left out.
    #[schema(format = DateTime)]
    pub anchor: Option<String>,
    /// `fixed_rate`: from due time to due time; `fixed_delay`: from the end of a task to the next due time. The first when left out.
    #[schema(value_type = Option<super::super::openapi::words::Counting>)]
    pub counting: Option<Counting>,
}

/// Times of each day.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"at\": [\"09:00\"]}")]
#[schema(as = Daily)]
pub struct DailySpec {
    /// Such as `"09:00"` or `"23:59:59"`.
    #[schema(required, nullable = false)]
    pub at: Option<Vec<String>>,
}

/// Times on days of the week.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"on\": [\"monday\"], \"at\": [\"09:00\"]}"
)]
#[schema(as = Weekly)]
pub struct WeeklySpec {
    /// `monday` to `sunday`.
    #[schema(required, nullable = false, value_type = Option<Vec<super::super::openapi::words::Weekday>>)]
    pub on: Option<Vec<String>>,
    /// Such as `"09:00"`.
    #[schema(required, nullable = false)]
    pub at: Option<Vec<String>>,
}

/// Times on days of the month.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"on\": [1, \"last\"], \"at\": [\"09:00\"]}"
)]
#[schema(as = Monthly)]
pub struct MonthlySpec {
    /// 1 to 31, or `last`.
    #[schema(required, nullable = false, value_type = Option<Vec<super::super::openapi::words::MonthDay>>)]
    pub on: Option<Vec<Value>>,
    /// Such as `"09:00"`.
    #[schema(required, nullable = false)]
    pub at: Option<Vec<String>>,
}

/// Times on dates of the year.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"on\": [\"12-24\"], \"at\": [\"09:00\"]}"
)]
#[schema(as = Yearly)]
pub struct YearlySpec {
    /// Month and day, such as `"12-24"`.
    #[schema(required, nullable = false)]
    pub on: Option<Vec<String>>,
    /// Such as `"09:00"`.
    #[schema(required, nullable = false)]
    pub at: Option<Vec<String>>,
}

/// What becomes of overdue times.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Misfire)]
pub enum MisfireSpec {
    /// Each fires now.
    FireNow,
    /// They become one, which fires now.
    FireNextSoon,
    /// None fires.
    Skip,
    /// The newest fire.
    CatchUp(CatchUpSpec),
}

/// Which overdue times fire.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"count\": 10, \"max_age\": \"24h\"}")]
#[schema(as = CatchUp)]
pub struct CatchUpSpec {
    /// So many of the newest.
    #[schema(required, nullable = false, minimum = 1, maximum = 1000)]
    pub count: Option<u32>,
    /// None that was due longer ago.
    #[schema(required, nullable = false)]
    pub max_age: Option<String>,
    /// So many a second; all at once when left out.
    #[schema(minimum = 1)]
    pub per_second: Option<u32>,
}

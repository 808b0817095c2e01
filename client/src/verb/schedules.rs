//! `/v1/schedules`.

use crate::send::{Call, to_json};
use crate::{
    ApiResponse, Client, ClientError, DeletedSchedule, Fire, IdempotencyKey, NewSchedule, Page,
    PageRequest, Schedule, ScheduleBackfillPlan, SchedulePreview,
};
use api_types::request::{Given, ScheduleBackfill, SchedulePause, SchedulePreviewAsk, Timing};
use domain::schedule::Outcome;
use domain::time::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

impl Client {
    /// Makes a schedule, or changes it: with `if_version` only in that version. The same again changes nothing.
    ///
    /// # Errors
    /// An invalid schedule; 412 for another version; no response.
    pub async fn put_schedule(
        &self,
        name: &str,
        schedule: &NewSchedule,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<Schedule>, ClientError> {
        self.put_schedule_json(name, to_json(schedule)?, if_version).await
    }

    /// The same with a body that is JSON already, sent as it is.
    ///
    /// # Errors
    /// As [`Self::put_schedule`].
    pub async fn put_schedule_json(
        &self,
        name: &str,
        body: impl Into<bytes::Bytes> + Send,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<Schedule>, ClientError> {
        self.send(Call::put(path(name)).json(body).if_version(if_version)).await
    }

    /// Shows a schedule.
    ///
    /// # Errors
    /// 404 for an unknown schedule; no response.
    pub async fn schedule(&self, name: &str) -> Result<ApiResponse<Schedule>, ClientError> {
        self.send(Call::get(path(name))).await
    }

    /// One page of your schedules, by name. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; no response.
    pub async fn schedules(
        &self,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<Schedule>>, ClientError> {
        self.send(Call::get("v1/schedules").query(page.parameters())).await
    }

    /// Deletes a schedule: with `if_version` only in that version.
    ///
    /// # Errors
    /// 404 for an unknown schedule; 412 for another version; no response.
    pub async fn delete_schedule(
        &self,
        name: &str,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<DeletedSchedule>, ClientError> {
        self.send(Call::delete(path(name)).if_version(if_version)).await
    }

    /// Pauses a schedule; one that is paused stays as it is.
    ///
    /// # Errors
    /// 404 for an unknown schedule; no response.
    pub async fn pause_schedule(
        &self,
        name: &str,
        reason: Option<&str>,
    ) -> Result<ApiResponse<Schedule>, ClientError> {
        let body = to_json(&SchedulePause { reason: reason.map(str::to_owned) })?;
        self.send(act(name, "pause").json(body)).await
    }

    /// Resumes a paused schedule; one that is not stays as it is.
    ///
    /// # Errors
    /// 404 for an unknown schedule; no response.
    pub async fn resume_schedule(&self, name: &str) -> Result<ApiResponse<Schedule>, ClientError> {
        self.send(act(name, "resume")).await
    }

    /// Fires a schedule now.
    ///
    /// # Errors
    /// 404 for an unknown schedule; no response.
    pub async fn trigger_schedule(&self, name: &str) -> Result<ApiResponse<Fire>, ClientError> {
        self.send(act(name, "trigger")).await
    }

    /// Fires the due times of a past range that made no task.
    ///
    /// # Errors
    /// An invalid range; 404 for an unknown schedule; 409 while another runs; no response.
    pub async fn backfill_schedule(
        &self,
        name: &str,
        range: &ScheduleBackfill,
    ) -> Result<ApiResponse<ScheduleBackfillPlan>, ClientError> {
        self.send(act(name, "backfill").json(to_json(range)?)).await
    }

    /// One page of what became of a schedule's due times, newest first; with these outcomes, or all where there is none.
    ///
    /// # Errors
    /// 404 for an unknown schedule; an outcome or a cursor that the server refuses; no response.
    pub async fn schedule_fires(
        &self,
        name: &str,
        outcomes: &[Outcome],
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<Fire>>, ClientError> {
        let names: Vec<&str> = outcomes.iter().map(|outcome| outcome.as_str()).collect();
        let outcomes = (!names.is_empty()).then(|| names.join(","));
        let call = Call::get(format!("{}/fires", path(name))).query([("outcome", outcomes)]);
        self.send(call.query(page.parameters())).await
    }

    /// When a schedule will be due: the next `count` times, or those after `from`.
    ///
    /// # Errors
    /// 404 for an unknown schedule; a count out of range; no response.
    pub async fn preview_schedule(
        &self,
        name: &str,
        count: Option<u32>,
        from: Option<Timestamp>,
    ) -> Result<ApiResponse<SchedulePreview>, ClientError> {
        let from = from.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true));
        let query = [("count", count.map(|count| count.to_string())), ("from", from)];
        self.send(Call::get(format!("{}/preview", path(name))).query(query)).await
    }

    /// When a timing would be due, if a schedule with it were made now.
    ///
    /// # Errors
    /// An invalid timing; a count out of range; no response.
    pub async fn preview_timing(
        &self,
        timing: impl Into<Timing> + Send,
        count: Option<u32>,
        from: Option<Timestamp>,
    ) -> Result<ApiResponse<SchedulePreview>, ClientError> {
        let count = count.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        let (timing, from) = (Some(timing.into()), from.map(Given::from));
        let body = to_json(&SchedulePreviewAsk { timing, count, from })?;
        let call = Call::post("v1/schedules/preview", IdempotencyKey::fresh());
        self.send(call.json(body)).await
    }
}

fn path(name: &str) -> String {
    format!("v1/schedules/{}", utf8_percent_encode(name, NON_ALPHANUMERIC))
}

fn act(name: &str, verb: &str) -> Call {
    Call::post(format!("{}/{verb}", path(name)), IdempotencyKey::fresh())
}

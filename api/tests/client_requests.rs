//! Holds the client's requests equal to the server's: a task and a schedule have a form of their own on each side, typed in the
//! client and lenient in the server, which reports all mistakes at once.

#![expect(clippy::expect_used, reason = "a helper that cannot go on fails its test")]

use api::description::document;
use api::request::json;
use api::schedule::ScheduleSpec;
use api::task::TaskSpec;
use client::{NewSchedule, NewTask};
use domain::batch::Priority;
use domain::resources::Tier;
use domain::schedule::{Misfire, Overlap, Spec, Timing};
use domain::task::{Delivery, RetryPolicy};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

fn keys(object: &Value) -> BTreeSet<String> {
    object.as_object().expect("an object").keys().cloned().collect()
}

/// The fields of a schema of the document.
fn fields(schema: &str) -> BTreeSet<String> {
    let config = runtime::config::load_from(None, []).expect("the defaults");
    let document = serde_json::to_value(document(&config.limits)).expect("JSON");
    keys(&document["components"]["schemas"][schema]["properties"])
}

fn text() -> Option<String> {
    Some("x".to_owned())
}

fn task() -> NewTask {
    let second = Duration::from_secs(1);
    NewTask {
        name: text(),
        tier: Some(Tier::Basic),
        resources: Some(Tier::Basic.resources()),
        delay: Some(second),
        run_at: "2030-01-31T12:00:00Z".parse().ok(),
        delay_tolerance: Some(second),
        execution_cap: Some(second),
        expire_if_late: Some(true),
        priority: Priority::new(1),
        flexible: Some(true),
        concurrency_key: text(),
        max_attempts: Some(1),
        retry: Some(RetryPolicy::default()),
        delivery: Some(Delivery::AtLeastOnce),
        pool: text(),
        unique_key: text(),
        labels: [("a".to_owned(), "b".to_owned())].into(),
        ..NewTask::noop(second)
    }
}

#[test]
fn a_task_of_the_client_has_the_fields_that_the_server_reads() {
    let task = serde_json::to_value(task()).expect("JSON");
    let mut wanted = fields("TaskSubmit");
    // Refused by name until it is available.
    assert!(wanted.remove("depends_on"));
    assert_eq!(keys(&task), wanted);
    json::parse::<TaskSpec>(task.to_string().as_bytes()).expect("a task");
}

#[test]
fn a_schedule_of_the_client_has_the_fields_that_the_server_reads() {
    let schedule = NewSchedule {
        overlap: Some(Overlap::Skip),
        misfire: Some(Misfire::Skip),
        pause_after_failures: Some(1),
        paused: Some(true),
        ..NewSchedule::new(Timing::of(vec![Spec::After(Duration::from_secs(1))]), task())
    };
    let schedule = serde_json::to_value(schedule).expect("JSON");
    assert_eq!(keys(&schedule), fields("SchedulePut"));
    json::parse::<ScheduleSpec>(schedule.to_string().as_bytes()).expect("a schedule");
}

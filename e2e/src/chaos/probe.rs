//! Small questions that are asked all the while: does a stranger's id answer like nobody's, and does a limit hold?

use crate::Customer;
use crate::promise::{Promise, Violation};
use runtime::clock::{self, Instant};
use serde_json::{Value, json};
use std::time::Duration;

const BETWEEN_LOOKS: Duration = Duration::from_millis(400);

/// What was seen of other tenants' tasks.
#[derive(Debug, Default)]
pub struct Foreign {
    /// How often a foreign and an unknown id were both answered.
    pub compared: u64,
    /// What was wrong.
    pub violations: Vec<Violation>,
}

/// Asks for and tries to cancel `theirs`, the task of another tenant, and an id that nobody has; until it is dropped.
pub async fn foreign(customer: &Customer, theirs: &str, seen: &mut Foreign) {
    let nobodys = "task_018f0000-0000-7000-8000-00000000dead";
    for number in 0_u64.. {
        clock::sleep(BETWEEN_LOOKS).await;
        let (method, rest) = match number % 3 {
            0 => ("GET", ""),
            1 => ("GET", "/attempts"),
            _ => ("POST", "/cancel"),
        };
        let ask = async |id: &str| {
            customer.call(method, &format!("/v1/tasks/{id}{rest}"), None, None).await
        };
        let (Ok(foreign), Ok(unknown)) = (ask(theirs).await, ask(nobodys).await) else { continue };
        // Nobody can answer while Postgres is away.
        if foreign.0 >= 500 || unknown.0 >= 500 {
            continue;
        }
        seen.compared += 1;
        let (foreign, unknown) = (without_ids(foreign, theirs), without_ids(unknown, nobodys));
        if foreign != unknown || foreign.0 != 404 {
            let what = format!(
                "{method} of another's task{rest} answered {foreign:?}, of nobody's {unknown:?}"
            );
            seen.violations.extend(Violation::counted(Promise::Isolation, 1, what));
        }
    }
}

/// An answer without what always differs.
fn without_ids((status, mut body): (u16, Value), id: &str) -> (u16, String) {
    if let Some(body) = body.as_object_mut() {
        body.remove("request_id");
    }
    (status, body.to_string().replace(id, "ID"))
}

/// What became of submits above a limit.
#[derive(Debug, Default)]
pub struct Limited {
    /// Ids of those admitted.
    pub admitted: Vec<String>,
    /// Refused with 429.
    pub refused: u64,
    /// Requests without an answer or with one of 5xx: whether they were counted nobody knows.
    pub unknown: u64,
    /// For how long.
    pub lasted: Duration,
    /// What was wrong.
    pub violations: Vec<Violation>,
}

/// Submits single tasks at three times `per_second`, until it is dropped.
pub async fn limited(customer: &Customer, per_second: u32, began: Instant, seen: &mut Limited) {
    let pause = Duration::from_secs_f64(1.0 / (3.0 * f64::from(per_second)));
    let task = json!({ "run": { "noop": {} } });
    let mut next = began;
    loop {
        // No catching up after an answer that was long in coming: that would be another load.
        next = (next + pause).max(clock::monotonic());
        clock::sleep_until(next).await;
        let answer = customer.answer("POST", "/v1/tasks", Some(&task), None).await;
        seen.lasted = began.elapsed();
        match answer {
            Ok((201, _, task)) => match task["id"].as_str() {
                Some(id) => seen.admitted.push(id.to_owned()),
                None => seen.wrong(format!("admitted submit has no id: {task}")),
            },
            Ok((429, headers, problem)) => {
                seen.refused += 1;
                let wait =
                    headers.get("retry-after").and_then(|wait| wait.to_str().ok()?.parse().ok());
                if wait.is_none_or(|seconds: u64| seconds == 0) || !problem["code"].is_string() {
                    seen.wrong(format!(
                        "refusal does not say why and when to return: {headers:?} {problem}"
                    ));
                }
            }
            Ok((500..=599, ..)) | Err(_) => seen.unknown += 1,
            Ok((status, _, problem)) => {
                seen.wrong(format!("submit above a limit answered {status}: {problem}"));
            }
        }
    }
}

impl Limited {
    fn wrong(&mut self, what: String) {
        self.violations.extend(Violation::counted(Promise::Limits, 1, what));
    }

    /// Whether more was admitted than the limit and one burst allow. Redis may forget or be out of reach: then each api process
    /// holds its share, and a fifth more is allowed, and a burst for each `losses` of what it had counted.
    pub fn over(&self, per_second: u32, losses: u32) -> Option<Violation> {
        let (rate, burst) = (f64::from(per_second), f64::from(per_second));
        let margin = if losses == 0 { 1.05 } else { 1.2 };
        let allowed = margin * rate * self.lasted.as_secs_f64() + burst * f64::from(1 + losses);
        let over = self.admitted.len() as f64 - allowed;
        if over <= 0.0 {
            return None;
        }
        let what = format!("task(s) admitted above the limit of {per_second} a second");
        Violation::counted(Promise::Limits, over.ceil() as i64, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(admitted: usize) -> Limited {
        let admitted = vec!["task_x".to_owned(); admitted];
        Limited { admitted, lasted: Duration::from_secs(10), ..Limited::default() }
    }

    #[test]
    fn a_limit_holds_up_to_its_burst_and_a_loss_is_one_more() {
        assert_eq!(of(115).over(10, 0), None);
        assert_eq!(of(116).over(10, 0).map(|v| v.count), Some(1));
        assert_eq!(of(140).over(10, 1), None);
        assert!(of(141).over(10, 1).is_some());
    }

    #[test]
    fn answers_are_compared_without_their_ids() {
        let mine = (404, json!({ "detail": "no task_a", "request_id": "1" }));
        let other = (404, json!({ "detail": "no task_b", "request_id": "2" }));
        assert_eq!(without_ids(mine, "task_a"), without_ids(other, "task_b"));
    }
}

//! `GET /v1/admin/usage-events`: what was used, an event an attempt and one a day of stored output, for a billing provider.
//!
//! Lines of JSON: CloudEvents as OpenMeter takes them, or meter events as Stripe does. The id of an event is made of what it is about, so
//! that one that is sent twice counts once; the cursor in the answer's header is where to go on.

use crate::call::OperatorCall;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, Form, Param};
use crate::pagination::outdated_cursor;
use crate::problem::{Code, Problem};
use crate::request::wrong_parameter;
use actix_web::HttpResponse;
use api_types::Cursor;
use domain::id::TenantId;
use domain::time::format_time;
use serde_json::{Value, json};
use store::usage_event::{UsageEvent, UsagePosition, Used, UsedAttempt};
use uuid::Uuid;

/// Most events of one answer.
const MOST: u32 = 10_000;
const USUAL: u32 = 1000;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Export usage to a billing provider",
    description: "An event for each attempt that is charged, and for each day of stored output, one a line, each once, in an order that never changes behind a cursor. \
                  `openmeter`: CloudEvents 1.0 with the tenant as `subject`, for OpenMeter and whatever else reads CloudEvents. `stripe`: \
                  bodies of `POST /v1/billing/meter_events`; the value is the cost in micro-units, the event name \
                  `berth_cost_micros_` and the currency, the customer that of the tenant's billing, or its id. Attempts without prices \
                  are not in it. `Next-Cursor` is where to go on, also when there was nothing; keep it with what was sent. Attempts are \
                  in it when they are counted, within five seconds, and kept for `limits.history_retention_days`.",
    query: &[
        Param {
            name: "format",
            text: "`openmeter` (default) or `stripe`",
            form: Form::OneOf(&["openmeter", "stripe"]),
        },
        Param {
            name: "limit",
            text: "Events, 1 to 10000; default 1000",
            form: Form::Whole { least: 1, most: MOST, usual: Some(USUAL) },
        },
        Param {
            name: "cursor",
            text: "The `Next-Cursor` of the answer before; from the beginning without it",
            form: Form::Text,
        },
    ],
    answers: &[AnswerDoc { status: 200, text: "The events", content: Content::AnyLines }],
    answer_headers: &[AnswerHeader::NextCursor],
    problems: &[Code::InvalidParameter, Code::InvalidCursor],
    ..Doc::EMPTY
};

/// Cursors are signed for a tenant; those of operators for none.
const NOBODY: TenantId = TenantId(Uuid::nil());

/// Answers.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    let mut query = call.query()?;
    let stripe = match query.one("format")?.as_deref() {
        None | Some("openmeter") => false,
        Some("stripe") => true,
        Some(_) => return Err(wrong_parameter("format", "must be openmeter or stripe")),
    };
    let limit = match query.one("limit")? {
        None => USUAL,
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (1..=MOST).contains(limit))
            .ok_or_else(|| wrong_parameter("limit", "must be a whole number from 1 to 10000"))?,
    };
    let cursor = query.one("cursor")?.map(Cursor::from);
    query.finish()?;
    let (sealer, context) = (&call.state.sealer, Context::new(List::UsageEvents, []));
    let after = match cursor {
        None => UsagePosition::default(),
        Some(cursor) => {
            read(&sealer.open(NOBODY, context, &cursor)?).ok_or_else(outdated_cursor)?
        }
    };
    let read = store::usage_event::read(&call.state.admin, after, limit as usize).await?;
    let (events, place) = read.ok_or_else(outdated_cursor)?;
    let mut body = String::new();
    for event in &events {
        let line = if stripe { meter_event(event) } else { cloud_event(event, &call.state.source) };
        body.push_str(&line.to_string());
        body.push('\n');
    }
    let next = sealer.seal(NOBODY, context, &written(place));
    Ok(HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .insert_header(("Next-Cursor", next.as_str().to_owned()))
        .body(body))
}

fn written(place: UsagePosition) -> Vec<u8> {
    let mut bytes = place.txid.to_be_bytes().to_vec();
    bytes.extend_from_slice(place.task.as_bytes());
    bytes.extend_from_slice(&place.attempt.to_be_bytes());
    bytes
}

fn read(bytes: &[u8]) -> Option<UsagePosition> {
    let (txid, rest) = bytes.split_first_chunk::<8>()?;
    let (task, attempt) = rest.split_first_chunk::<16>()?;
    let attempt = i32::from_be_bytes(attempt.try_into().ok()?);
    Some(UsagePosition { txid: i64::from_be_bytes(*txid), task: Uuid::from_bytes(*task), attempt })
}

/// The same for whoever sends it, and however often.
fn id(event: &UsageEvent) -> String {
    match &event.used {
        Used::Attempt(of) => format!("{}/{}", of.task, of.attempt),
        Used::Stored { day, .. } => format!("{}/stored/{day}", event.tenant),
    }
}

/// A CloudEvent. Amounts of money are texts, because numbers of JSON are not exact everywhere.
fn cloud_event(event: &UsageEvent, source: &str) -> Value {
    let (kind, mut data) = match &event.used {
        Used::Attempt(of) => ("berth.attempt", of_attempt(of)),
        Used::Stored { day, bytes, .. } => ("berth.stored", json!({"day": day, "bytes": bytes})),
    };
    data["currency"] = json!(event.currency);
    data["cost_micros"] = json!(event.cost().0.to_string());
    json!({
        "specversion": "1.0",
        "id": id(event),
        "source": source,
        "type": kind,
        "subject": event.tenant.to_string(),
        "time": format_time(event.at),
        "datacontenttype": "application/json",
        "data": data,
    })
}

fn of_attempt(of: &UsedAttempt) -> Value {
    let held = of.resources;
    json!({
        "task": of.task.to_string(),
        "attempt": of.attempt,
        "tier": of.tier.map(|tier| tier.to_string()),
        "placed_at": format_time(of.placed_at),
        "usage_ms": of.usage_ms,
        "cpu_millis": held.cpu_millis,
        "memory_mib": held.memory_mib,
        "disk_mib": held.disk_mib,
        "iops": held.iops,
        "ports": held.ports,
        "attempt_cost_micros": of.cost.0.to_string(),
        "task_cost_micros": of.task_cost.0.to_string(),
        "fire_cost_micros": of.fire_cost.0.to_string(),
    })
}

/// The body of a meter event.
fn meter_event(event: &UsageEvent) -> Value {
    let currency = event.currency.to_string().to_lowercase();
    let customer = event.customer.clone().unwrap_or_else(|| event.tenant.to_string());
    json!({
        "event_name": format!("berth_cost_micros_{currency}"),
        "identifier": id(event),
        "timestamp": event.at.timestamp(),
        "payload": {
            "stripe_customer_id": customer,
            "value": event.cost().0.to_string(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::TaskId;
    use domain::price::Micros;
    use domain::resources::Tier;

    fn event() -> UsageEvent {
        let id = |n| Uuid::from_u128(n);
        UsageEvent {
            tenant: TenantId(id(1)),
            customer: Some("cus_NciAYcXfLnqBoz".into()),
            at: domain::time::parse_time("2030-01-31T23:59:59.5Z").unwrap(),
            currency: "EUR".parse().unwrap(),
            used: Used::Attempt(UsedAttempt {
                task: TaskId(id(2)),
                attempt: 3,
                placed_at: domain::time::parse_time("2030-01-31T23:58:59Z").unwrap(),
                tier: Some(Tier::Basic),
                resources: Tier::Basic.resources(),
                usage_ms: 60_500,
                cost: Micros(211),
                task_cost: Micros(5),
                fire_cost: Micros(2),
            }),
        }
    }

    #[test]
    fn a_day_of_stored_output_is_an_event_of_its_own() {
        let day = "2030-01-31".parse().unwrap();
        let stored =
            UsageEvent { used: Used::Stored { day, bytes: 7, cost: Micros(3) }, ..event() };
        let line = cloud_event(&stored, "urn:berth:live");
        let id = "tenant_00000000000000000000000000000001/stored/2030-01-31";
        assert_eq!((&line["type"], &line["id"]), (&json!("berth.stored"), &json!(id)));
        let data = json!({"day": "2030-01-31", "bytes": 7, "currency": "EUR", "cost_micros": "3"});
        assert_eq!(line["data"], data);
        assert_eq!(meter_event(&stored)["payload"]["value"], "3");
    }

    #[test]
    fn an_attempt_is_a_cloud_event() {
        let line = cloud_event(&event(), "urn:berth:live");
        let wanted = json!({
            "specversion": "1.0", "id": "task_00000000000000000000000000000002/3", "source": "urn:berth:live", "type": "berth.attempt",
            "subject": "tenant_00000000000000000000000000000001", "time": "2030-01-31T23:59:59.500Z",
            "datacontenttype": "application/json",
            "data": {"task": "task_00000000000000000000000000000002", "attempt": 3, "tier": "basic",
                "placed_at": "2030-01-31T23:58:59Z", "usage_ms": 60500, "cpu_millis": 250, "memory_mib": 512, "disk_mib": 1024,
                "iops": 50, "ports": 1, "currency": "EUR", "cost_micros": "218", "attempt_cost_micros": "211",
                "task_cost_micros": "5", "fire_cost_micros": "2"},
        });
        assert_eq!(line, wanted);
    }

    #[test]
    fn an_attempt_is_a_meter_event() {
        let wanted = json!({"event_name": "berth_cost_micros_eur", "identifier": "task_00000000000000000000000000000002/3",
            "timestamp": 1_896_134_399, "payload": {"stripe_customer_id": "cus_NciAYcXfLnqBoz", "value": "218"}});
        assert_eq!(meter_event(&event()), wanted);
        let unknown = meter_event(&UsageEvent { customer: None, ..event() });
        assert_eq!(
            unknown["payload"]["stripe_customer_id"],
            "tenant_00000000000000000000000000000001"
        );
    }

    #[test]
    fn a_place_is_read_as_it_was_written() {
        let place = UsagePosition { txid: i64::MAX, task: Uuid::from_u128(7), attempt: 9 };
        assert_eq!(read(&written(place)), Some(place));
        assert_eq!(read(b"short"), None);
    }
}

//! `PUT /v1/webhooks/{name}`: which events are sent where.

use super::place::name_of;
use super::view::shown;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, Problem};
use crate::request::{json as body, other_version, wanted_version};
use crate::task::Findings;
use actix_web::http::StatusCode;
use api_types::{Webhook, WebhookPut};
use domain::event::{ParseTypePatternError, TypePattern};
use domain::target::parse_url;
use domain::task::check_header;
use domain::webhook::{
    MOST_EVENTS, MOST_HEADERS, MOST_LABELS, MOST_WEBHOOKS, ParseSecretError, SigningSecret,
    WebhookSpec,
};
use store::webhook::{Secret, WebhookStored};

/// Longest text of a filter, bytes: longer names and labels do not exist.
const MOST_TEXT: usize = 800;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a webhook",
    description: "What happens from now on is sent to its URL as CloudEvents 1.0, signed as Standard Webhooks say: `webhook-id`, \
                  `webhook-timestamp` and `webhook-signature`. A delivery is a success if the response's status is from 200 to 299 within 15 \
                  seconds; otherwise it is tried again for three days. Redirects are not followed, and private addresses are refused. The \
                  response to a new webhook has its secret, which is not shown again.",
    headers: &[IF_MATCH, IF_NONE_MATCH],
    request: Some("WebhookPut"),
    answers: &[
        AnswerDoc { status: 201, text: "The new webhook", content: Content::Json("Webhook") },
        AnswerDoc { status: 200, text: "Changed, or unchanged", content: Content::Json("Webhook") },
    ],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::Conflict, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with it; `conflict` where the tenant has too many; `version_mismatch`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Webhook>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    let (spec, given) = checked(body::parse(&call.body)?)?;
    let secret = match given {
        Some(given) => Secret::Given(given),
        None => Secret::Fresh(identity::signing_secret()?),
    };
    let (db, scope) = (&call.state.api, call.scope());
    match store::webhook::put(db, &scope, (&name, if_version), &spec, &secret).await? {
        WebhookStored::Created(record) => {
            Ok(shown(StatusCode::CREATED, record, Some(secret.get())))
        }
        WebhookStored::Updated(record) | WebhookStored::Unchanged(record) => {
            Ok(shown(StatusCode::OK, record, None))
        }
        WebhookStored::TooMany => {
            let detail = format!(
                "The tenant has {MOST_WEBHOOKS} webhooks, which is the maximum; delete one first."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
        WebhookStored::VersionMismatch { version } => Err(other_version("webhook", version)),
    }
}

fn checked(put: WebhookPut) -> Result<(WebhookSpec, Option<SigningSecret>), Problem> {
    let mut found = Findings::default();
    if let Err(problem) = parse_url(&put.url) {
        found.wrong("/url", problem.to_string());
    }
    let counts = [
        ("/events", put.events.len(), MOST_EVENTS),
        ("/labels", put.labels.len(), MOST_LABELS),
        ("/headers", put.headers.len(), MOST_HEADERS),
    ];
    for (pointer, count, most) in counts.into_iter().filter(|(_, count, most)| count > most) {
        found.wrong(pointer, format!("must have at most {most} entries, not {count}"));
    }
    for (at, text) in put.events.iter().enumerate() {
        if let Err(error) = text.parse::<TypePattern>() {
            let error: ParseTypePatternError = error;
            found.wrong(&format!("/events/{at}"), error.to_string());
        }
    }
    for (pointer, text) in
        [("/task_name", &put.task_name), ("/schedule", &put.schedule), ("/workflow", &put.workflow)]
    {
        if text.as_ref().is_some_and(|text| !is_text(text, 1)) {
            found.wrong(pointer, format!("must have 1 to {MOST_TEXT} bytes"));
        }
    }
    if !put.labels.iter().all(|(key, value)| is_text(key, 1) && is_text(value, 0)) {
        found.wrong("/labels", format!("must have keys and values of {MOST_TEXT} bytes at most"));
    }
    for (name, value) in &put.headers {
        let is_ours = name.to_ascii_lowercase().starts_with("webhook-");
        let wrong = check_header(name, value).err().map(|problem| problem.to_string());
        let wrong = wrong.or_else(|| is_ours.then(|| "is set by Berth".to_owned()));
        if let Some(wrong) = wrong {
            let shown: String = name.chars().take(100).collect();
            found.wrong("/headers", format!("header `{shown}` {wrong}"));
        }
    }
    let secret = put.secret.as_deref().map(str::parse).transpose();
    if let Err(error) = &secret {
        let error: &ParseSecretError = error;
        found.wrong("/secret", error.to_string());
    }
    found.into_result()?;
    let spec = WebhookSpec {
        url: put.url,
        events: put.events,
        name: put.task_name,
        labels: put.labels,
        schedule: put.schedule,
        workflow: put.workflow,
        headers: put.headers,
        payload: put.payload,
        ordered: put.ordered,
        paused: put.paused,
    };
    Ok((spec, secret.unwrap_or_default()))
}

fn is_text(text: &str, least: usize) -> bool {
    (least..=MOST_TEXT).contains(&text.len()) && !text.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn pointers(value: Value) -> Vec<String> {
        let put: WebhookPut = serde_json::from_value(value).unwrap();
        let problem = checked(put).unwrap_err();
        problem.errors().iter().map(|error| error.pointer.clone()).collect()
    }

    #[test]
    fn what_can_be_delivered_is_accepted() {
        let put = json!({"url": "https://a.example/x", "events": ["berth.task.*"], "labels": {"team": ""},
            "headers": {"Authorization": "Bearer x"}, "payload": {"text": {"$event": "/data/name"}}, "ordered": true});
        let (spec, secret) = checked(serde_json::from_value(put).unwrap()).unwrap();
        assert!(spec.ordered && secret.is_none() && spec.payload.is_some());
    }

    #[test]
    fn each_mistake_is_pointed_at() {
        let put = json!({"url": "ftp://a", "events": ["berth.task.failed", "nonsense"], "task_name": "",
            "headers": {"Webhook-Id": "1"}, "secret": "short"});
        assert_eq!(pointers(put), ["/url", "/events/1", "/task_name", "/headers", "/secret"]);
        let many: Vec<_> = (0..51).map(|_| "berth.*").collect();
        assert_eq!(pointers(json!({"url": "https://a.example", "events": many})), ["/events"]);
        let labels: std::collections::BTreeMap<_, _> =
            (0..21).map(|n| (n.to_string(), "")).collect();
        assert_eq!(pointers(json!({"url": "https://a.example", "labels": labels})), ["/labels"]);
        assert_eq!(pointers(json!({"url": "https://a.example", "headers": labels})), ["/headers"]);
        let host = json!({"url": "https://a.example", "headers": {"Host": "b", "a b": "c"}});
        assert_eq!(pointers(host), ["/headers", "/headers"]);
        let template = json!({"url": "https://a.example", "payload": []});
        assert!(serde_json::from_value::<WebhookPut>(template).is_err());
    }
}

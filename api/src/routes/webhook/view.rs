//! A webhook and a delivery as they are shown.

use crate::answer::Answer;
use actix_web::http::StatusCode;
use api_types::{Webhook, WebhookDelivery, WebhookTry};
use domain::webhook::SigningSecret;
use store::webhook::{Delivery, WebhookRecord};

/// The webhook as it is shown, with its secret where that was made just now.
pub(super) fn view(record: WebhookRecord, secret: Option<&SigningSecret>) -> Webhook {
    let WebhookRecord { name, version, spec, disabled, created_at, updated_at, .. } = record;
    let (disabled_at, disabled_reason) = disabled.map(|one| (one.at, one.reason)).unzip();
    Webhook {
        name,
        version,
        url: spec.url,
        events: spec.events,
        task_name: spec.name,
        labels: spec.labels,
        schedule: spec.schedule,
        workflow: spec.workflow,
        headers: spec.headers,
        payload: spec.payload,
        ordered: spec.ordered,
        paused: spec.paused,
        disabled_at,
        disabled_reason,
        failures: record.failures,
        failing_since: record.failing_since,
        old_secret_until: record.old_secret_until,
        secret: secret.map(SigningSecret::reveal),
        created_at,
        updated_at,
    }
}

/// The answer with its version.
pub(super) fn shown(
    status: StatusCode,
    record: WebhookRecord,
    secret: Option<&SigningSecret>,
) -> Answer<Webhook> {
    let version = record.version;
    Answer::versioned(status, version, view(record, secret))
}

/// The delivery as it is shown.
pub(super) fn delivery(delivery: Delivery) -> WebhookDelivery {
    let tries = delivery.log.into_iter().map(|one| WebhookTry {
        at: one.at,
        ms: one.ms,
        status: one.status,
        error: one.error,
        answer: one.answer,
    });
    WebhookDelivery {
        id: delivery.place.id,
        event_id: delivery.event_id,
        event_type: delivery.event_type,
        subject: delivery.subject,
        time: delivery.place.at,
        state: delivery.state,
        tries: delivery.tries,
        due_at: delivery.due_at,
        ended_at: delivery.ended_at,
        log: tries.collect(),
        body: delivery.body,
    }
}

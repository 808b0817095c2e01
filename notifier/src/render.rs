//! What is sent of an event.

use domain::event::About;
use store::webhook::{Event, NewDelivery};

/// The delivery of an event to a webhook that asks for it: the event as `source` tells it, or what the webhook's template makes of that.
pub(crate) fn render(event: Event<'_>, source: &str) -> Option<NewDelivery> {
    let content = event.record.content();
    let filter = event.spec.filter().ok()?;
    if !filter.fits(&About::of(event.record, &content)) {
        return None;
    }
    let (event_type, subject) = (content.event_type.clone(), content.subject.clone());
    let whole = api_types::Event::of(event.record, content, source);
    let body = match &event.spec.payload {
        None => serde_json::to_string(&whole).ok()?,
        Some(template) => template.of(&serde_json::to_value(&whole).ok()?).to_string(),
    };
    Some(NewDelivery { event_type, subject, body })
}

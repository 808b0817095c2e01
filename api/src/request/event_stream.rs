//! Whether a client takes server-sent events.

use actix_web::http::header::{ACCEPT, HeaderMap};

/// Whether `Accept` names `text/event-stream`. A range such as `*/*` does not: who takes anything is served a document.
pub fn accepts_events(headers: &HeaderMap) -> bool {
    let kinds = headers.get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    kinds.flat_map(|value| value.split(',')).any(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("text/event-stream")
    })
}

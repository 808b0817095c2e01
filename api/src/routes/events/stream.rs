//! Events as they come: server-sent events (WHATWG HTML, `text/event-stream`).
//!
//! Each stream asks for itself, twice a second while nothing comes, and reads only as fast as the client takes. The id of an event is
//! the place to go on from, in any process.

use super::place::{opened, sealed};
use super::view::{Shown, is_for, line};
use crate::auth::Authority;
use crate::call::Call;
use crate::live::Slot;
use crate::pagination::outdated_cursor;
use crate::problem::{Code, Problem};
use crate::request::Hold;
use crate::state::State;
use actix_web::HttpResponse;
use actix_web::http::header::HeaderName;
use actix_web::web::Bytes;
use api_types::Cursor;
use domain::access::{Permission, PermissionSet};
use domain::event::EventFilter;
use domain::id::TenantId;
use futures::stream::unfold;
use runtime::clock::{Instant, monotonic, sleep_until};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use store::TenantScope;
use store::event::EventPlace;
use tokio::sync::watch;

static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Between two reads that find nothing.
const PAUSE: Duration = Duration::from_millis(500);
/// Events of one read.
const STEP: u32 = 100;
/// Between two looks whether its consumer has to be kept on.
const FOLLOW: Duration = Duration::from_mins(30);
/// What a client waits before it connects again, ms.
const RETRY_MS: u32 = 1000;

struct Follower {
    shared: Arc<State>,
    scope: TenantScope,
    tenant: TenantId,
    may: PermissionSet,
    filter: EventFilter,
    authority: Authority,
    place: EventPlace,
    closing: watch::Receiver<bool>,
    next_read: Instant,
    next_follow: Instant,
    quiet_until: Instant,
    is_greeted: bool,
    /// Counts what is made and not sent yet.
    hold: Hold,
    _slot: Slot,
}

/// The events of `filter`, from now on or from where the client was.
pub(super) async fn answer(call: &Call, filter: EventFilter) -> Result<HttpResponse, Problem> {
    let resumed = call.request.headers().get(&LAST_EVENT_ID);
    let resumed = resumed.map(|id| id.to_str().unwrap_or("?").to_owned());
    let resumed = resumed.filter(|id| !id.is_empty());
    let after = resumed.map(|id| opened(call, &Cursor::from(id))).transpose()?;
    let (db, scope) = (&call.state.api, call.scope());
    store::event::follow_feed(db, &scope).await?;
    // A place that is no more is told before the stream begins.
    let found = store::event::feed(db, &scope, after, 0).await?.ok_or_else(outdated_cursor)?;
    let (slot, closing) = (call.state.slots.take(call.caller.tenant())?, call.state.closing());
    let now = monotonic();
    let follower = Follower {
        filter,
        authority: Authority::new(call.request.headers(), Permission::ReadTasks),
        place: after.unwrap_or(found.next),
        closing,
        next_read: now,
        next_follow: now + FOLLOW,
        quiet_until: now + call.state.stream_keep_alive,
        is_greeted: false,
        scope: call.scope(),
        tenant: call.caller.tenant(),
        may: call.caller.permissions(),
        hold: call.hold.clone(),
        shared: Arc::clone(&call.state),
        _slot: slot,
    };
    let events = unfold(follower, |mut follower| async move {
        let bytes = follower.next().await?;
        Some((Ok::<_, Infallible>(bytes), follower))
    });
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header(("x-accel-buffering", "no"))
        .force_close()
        .streaming(events))
}

impl Follower {
    /// The next bytes to send; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if !self.is_greeted {
            self.is_greeted = true;
            return Some(Bytes::from(format!("retry: {RETRY_MS}\n\n")));
        }
        loop {
            self.hold.shrink_to(0);
            if *self.closing.borrow() {
                return None;
            }
            let until = self.next_read.min(self.quiet_until);
            tokio::select! {
                _ = self.closing.changed() => continue,
                () = sleep_until(until) => {}
            }
            if self.quiet_until <= monotonic() {
                self.quiet_until = monotonic() + self.shared.stream_keep_alive;
                return Some(Bytes::from_static(b": still here\n\n"));
            }
            match self.read().await {
                Ok(text) if text.is_empty() => {}
                Ok(text) => {
                    self.hold.grow(text.len()).ok()?;
                    self.quiet_until = monotonic() + self.shared.stream_keep_alive;
                    return Some(Bytes::from(text));
                }
                Err(problem) => {
                    let code = problem.code();
                    if code != Code::Unauthenticated {
                        let error = problem.cause().unwrap_or_else(|| problem.detail());
                        tracing::warn!(error, "A stream of events was cut off: {error}");
                    }
                    return None;
                }
            }
        }
    }

    /// What there is behind the place.
    async fn read(&mut self) -> Result<String, Problem> {
        let (shared, scope) = (&self.shared, &self.scope);
        self.authority.check(&shared.authenticator).await?;
        if self.next_follow <= monotonic() {
            store::event::follow_feed(&shared.api, scope).await?;
            self.next_follow = monotonic() + FOLLOW;
        }
        let found = store::event::feed(&shared.api, scope, Some(self.place), STEP).await?;
        let found = found.ok_or_else(outdated_cursor)?;
        // What is full is read on at once.
        let is_full = found.events.len() >= STEP as usize;
        self.next_read = if is_full { monotonic() } else { monotonic() + PAUSE };
        let mut text = String::new();
        for record in found.events {
            let place = record.place;
            let shown = Shown::of(record);
            if is_for(self.may, &self.filter, &shown) {
                let event = shown.event(&shared.source);
                let (id, name) = (sealed(shared, self.tenant, place), &event.event_type);
                let data = line(&event)?;
                text.push_str(&format!("event: {name}\nid: {}\ndata: {data}\n\n", id.as_str()));
            }
        }
        self.place = found.next;
        Ok(text)
    }
}

//! One try of a delivery.

use crate::metrics::{SECONDS_OF_TRIES, TRIES};
use bytes::Bytes;
use domain::target::TargetPolicy;
use domain::task::{HttpMethod, SuccessRule};
use domain::webhook::{DeliveryTry, next_try};
use egress::header::{HeaderMap, HeaderName, HeaderValue};
use egress::{Client, Failure, Request, Rules, StatusCode, Transcript, Version, Waits};
use runtime::clock::{self, Instant};
use std::time::Duration;
use store::webhook::{Claimed, TryResult};
use url::Url;

/// Most of an answer's body that is read and kept, bytes.
const ANSWER: u64 = 1024;
/// The receiver wants no more.
const GONE: u16 = 410;

/// What all tries share.
pub(crate) struct Sender {
    pub(crate) client: Client,
    pub(crate) policy: TargetPolicy,
    pub(crate) timeout: Duration,
    /// Redirects lead nowhere: a receiver is where its owner said. So they end an exchange as successes do.
    pub(crate) ends: SuccessRule,
}

impl Sender {
    /// Sends a delivery and says what follows from that; `None`: it could not begin before `until`, when another notifier may claim it.
    pub(crate) async fn send(&self, claimed: &Claimed, until: Instant) -> Option<TryResult> {
        let (at, began) = (clock::wall(), clock::monotonic());
        let mut answer = AnswerStart::default();
        let outcome = match request(claimed, at.timestamp()) {
            Ok(request) => self.exchange((claimed, until), request, &mut answer).await?,
            Err(error) => Outcome { error: Some(error), ..Outcome::default() },
        };
        let took = began.elapsed();
        let is_delivered = matches!(outcome.status, Some(200..=299)) && outcome.error.is_none();
        let is_gone = outcome.status == Some(GONE);
        let age = (clock::wall() - claimed.since).to_std().unwrap_or_default();
        let tries = u32::try_from(claimed.tries).unwrap_or(u32::MAX).saturating_add(1);
        let unit = runtime::random::unit();
        let again_after = (!is_delivered && !is_gone)
            .then(|| next_try(tries, age, outcome.retry_after, unit))
            .flatten();
        let label = match (is_delivered, again_after) {
            (true, _) => "delivered",
            (false, Some(_)) => "again",
            (false, None) => "given_up",
        };
        TRIES.with(&[label]).inc();
        SECONDS_OF_TRIES.observe_duration(took);
        let tried = DeliveryTry {
            at,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            status: outcome.status,
            error: outcome.error,
            answer: answer.text(),
        };
        let (webhook, at, id) = (claimed.hook.id, claimed.at, claimed.id);
        Some(TryResult { webhook, at, id, tried, is_delivered, again_after, is_gone })
    }

    async fn exchange(
        &self,
        (claimed, until): (&Claimed, Instant),
        request: Request,
        answer: &mut AnswerStart,
    ) -> Option<Outcome> {
        let waits = Waits::default();
        let rules = Rules {
            tenant: claimed.hook.tenant,
            policy: self.policy,
            timeout: self.timeout,
            success: &self.ends,
            body_limit: ANSWER,
            may_go_on: &|| clock::monotonic() < until,
            waits: &waits,
        };
        Some(match self.client.exchange(request, rules, answer).await {
            Err(Failure::Withdrawn) => return None,
            Ok(answered) => Outcome {
                status: Some(answered.status),
                retry_after: answered.retry_after,
                error: (300..400).contains(&answered.status).then(|| {
                    "redirects are not followed: store the URL that it leads to".to_owned()
                }),
            },
            // An answer that broke off was one; what the receiver did with the event is its affair.
            Err(failure) => Outcome {
                status: failure.status(),
                error: Some(failure.to_string()),
                retry_after: None,
            },
        })
    }
}

#[derive(Default)]
struct Outcome {
    status: Option<u16>,
    error: Option<String>,
    retry_after: Option<Duration>,
}

/// The request of a try at `timestamp`, seconds since 1970.
fn request(claimed: &Claimed, timestamp: i64) -> Result<Request, String> {
    let (id, body) = (claimed.id.to_string(), &claimed.body);
    let sign =
        |secret: &domain::webhook::SigningSecret| secret.sign(&id, timestamp, body.as_bytes());
    let signatures: Vec<_> = claimed.hook.secrets.iter().map(sign).collect();
    let spec = &claimed.hook.spec;
    let kind =
        if spec.payload.is_some() { "application/json" } else { "application/cloudevents+json" };
    let ours = [
        ("content-type", kind.to_owned()),
        ("user-agent", format!("Berth/{}", env!("CARGO_PKG_VERSION"))),
        ("accept", "*/*".to_owned()),
        ("webhook-id", id.clone()),
        ("webhook-timestamp", timestamp.to_string()),
        ("webhook-signature", signatures.join(" ")),
    ];
    let ours: HeaderMap = ours
        .into_iter()
        .filter_map(|(name, value)| {
            Some((HeaderName::from_static(name), HeaderValue::try_from(value).ok()?))
        })
        .collect();
    let given = spec.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let body = Bytes::from(body.clone());
    Request::new(HttpMethod::Post, &spec.url, given, ours, body).map_err(|error| error.to_string())
}

/// The beginning of the answer's body.
#[derive(Default)]
struct AnswerStart(Vec<u8>);

impl AnswerStart {
    fn text(self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.0).replace('\0', "\u{fffd}");
        (!text.is_empty()).then_some(text)
    }
}

impl Transcript for AnswerStart {
    fn asked(&mut self, _: &str, _: &Url) {}

    fn answered(&mut self, _: Version, _: StatusCode, _: &HeaderMap) {}

    fn remark(&mut self, _: &str) {}

    fn body(&mut self, data: &[u8]) {
        self.0.extend_from_slice(data);
    }
}

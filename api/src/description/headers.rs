//! The headers that answers have, and on which.

use super::parameters::takes_idempotency_key;
use crate::openapi::AnswerHeader;
use crate::openapi::Form;
use crate::routes::table::{Access, Endpoint};
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::ComponentsBuilder;
use utoipa::openapi::{Header, Ref};

/// Name of a header's component, the header, what it says, its form.
const ALL: [(&str, &str, &str, Form); 9] = [
    (
        "RequestId",
        "X-Request-Id",
        "Names this request in the logs of the server; tell it to whom you ask for help",
        Form::Pattern("^req_[0-9a-f]{24}$"),
    ),
    (
        "RateLimit",
        "RateLimit",
        "What your tenant may still submit: tasks left (`r`), and seconds until the limit is whole again (`t`)",
        Form::Text,
    ),
    (
        "RateLimitPolicy",
        "RateLimit-Policy",
        "What your tenant's plan allows: tasks (`q`) in a window of so many seconds (`w`)",
        Form::Text,
    ),
    (
        "RetryAfter",
        "Retry-After",
        "Seconds to wait before the same request is sent again",
        Form::Whole { least: 1, most: u32::MAX, usual: None },
    ),
    ("Allow", "Allow", "The methods that the path has, with commas", Form::Text),
    (
        "WwwAuthenticate",
        "WWW-Authenticate",
        "How to authenticate: with a bearer credential",
        Form::Text,
    ),
    (
        "IdempotencyReplayed",
        "Idempotency-Replayed",
        "`true` where this is the answer to an earlier request with the same `Idempotency-Key`; else it is absent",
        Form::OneOf(&["true"]),
    ),
    (
        "ETag",
        "ETag",
        "The version of what is shown, for `If-Match`",
        Form::Pattern("^\"[1-9][0-9]*\"$"),
    ),
    ("Location", "Location", "The path of what is shown, or of what to read instead", Form::Text),
];

pub(super) fn add(components: ComponentsBuilder) -> ComponentsBuilder {
    ALL.into_iter().fold(components, |components, (component, _, text, form)| {
        let header: Header =
            HeaderBuilder::new().schema(Some(form.schema())).description(Some(text)).build();
        components.header(component, header)
    })
}

/// The headers of the answers of a route with this status; `good` where it did what was asked.
pub(super) fn of(
    endpoint: &Endpoint,
    status: u16,
    good: bool,
) -> impl Iterator<Item = (&'static str, Ref)> {
    let says = endpoint.doc.answer_headers;
    let (tenants, keyed) =
        (matches!(endpoint.access, Access::Tenant(..)), takes_idempotency_key(endpoint));
    let has = move |component: &str| match component {
        "RequestId" => true,
        "RateLimit" | "RateLimitPolicy" => tenants && ![401, 405].contains(&status),
        "RetryAfter" => !good && [429, 503].contains(&status),
        "Allow" => status == 405,
        "WwwAuthenticate" => status == 401,
        "IdempotencyReplayed" => good && keyed,
        "ETag" => good && says.contains(&AnswerHeader::ETag),
        "Location" => good && says.contains(&AnswerHeader::Location),
        _ => false,
    };
    ALL.into_iter()
        .filter(move |(component, ..)| has(component))
        .map(|(component, name, ..)| (name, Ref::new(format!("#/components/headers/{component}"))))
}

//! The headers that answers have, and on which.

use super::parameters::takes_idempotency_key;
use crate::openapi::AnswerHeader;
use crate::openapi::Form;
use crate::routes::table::{Access, Endpoint};
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::ComponentsBuilder;
use utoipa::openapi::{Header, Ref};

/// Name of a header's component, the header, what it says, its form.
const ALL: [(&str, &str, &str, Form); 10] = [
    (
        "RequestId",
        "X-Request-Id",
        "Identifies the request in the server's logs; include it in support requests",
        Form::Pattern("^req_[0-9a-f]{24}$"),
    ),
    (
        "RateLimit",
        "RateLimit",
        "Remaining submits of the tenant: tasks (`r`), and seconds until the limit is full again (`t`)",
        Form::Text,
    ),
    (
        "RateLimitPolicy",
        "RateLimit-Policy",
        "Rate limits of the tenant's plan: tasks (`q`) per window in seconds (`w`)",
        Form::Text,
    ),
    (
        "RetryAfter",
        "Retry-After",
        "Seconds to wait before a retry",
        Form::Whole { least: 1, most: u32::MAX, usual: None },
    ),
    ("Allow", "Allow", "Allowed methods, comma-separated", Form::Text),
    ("WwwAuthenticate", "WWW-Authenticate", "The authentication scheme: bearer", Form::Text),
    (
        "IdempotencyReplayed",
        "Idempotency-Replayed",
        "`true`: this repeats the response to an earlier request with the same `Idempotency-Key`; else absent",
        Form::OneOf(&["true"]),
    ),
    ("ETag", "ETag", "The version, for `If-Match`", Form::Pattern("^\"[1-9][0-9]*\"$")),
    ("NextCursor", "Next-Cursor", "Where to go on, for `cursor`", Form::Text),
    ("Location", "Location", "The path of the object or of the redirect", Form::Text),
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
        "NextCursor" => good && says.contains(&AnswerHeader::NextCursor),
        "Location" => good && says.contains(&AnswerHeader::Location),
        _ => false,
    };
    ALL.into_iter()
        .filter(move |(component, ..)| has(component))
        .map(|(component, name, ..)| (name, Ref::new(format!("#/components/headers/{component}"))))
}

//! The answers of an operation: the good ones that its route names, and the problems that follow from what kind of route it is.

use super::headers;
use super::parameters::takes_idempotency_key;
use crate::openapi::{AnswerDoc, Content};
use crate::problem::Code;
use crate::request::BodyRule;
use crate::routes::table::{Access, Endpoint};
use std::collections::BTreeMap;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::OperationBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{OneOfBuilder, Ref, RefOr, Schema};

/// Name of the answer to a method that a path does not have.
const NO_SUCH_METHOD: &str = "MethodNotAllowed";

pub(super) fn add(endpoint: &Endpoint, mut operation: OperationBuilder) -> OperationBuilder {
    for answer in endpoint.doc.answers {
        let response = with_headers(endpoint, answer.status, true, good(answer));
        operation = operation.response(answer.status.to_string(), response);
    }
    for (status, codes) in problems(endpoint) {
        let response = with_headers(endpoint, status, false, bad(&codes));
        operation = operation.response(status.to_string(), response);
    }
    operation.response("405", RefOr::Ref(Ref::from_response_name(NO_SUCH_METHOD)))
}

/// What each operation refers to: its name, and the answer.
pub(super) fn shared() -> (&'static str, Response) {
    let response = bad(&[Code::MethodNotAllowed])
        .header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId"))
        .header_ref("Allow", Ref::new("#/components/headers/Allow"));
    (NO_SUCH_METHOD, response.build())
}

/// The name of the schema of a page of these.
pub(super) fn page_of(schema: &str) -> String {
    format!("{schema}Page")
}

fn with_headers(
    endpoint: &Endpoint,
    status: u16,
    is_good: bool,
    response: ResponseBuilder,
) -> Response {
    headers::of(endpoint, status, is_good)
        .fold(response, |response, (name, header)| response.header_ref(name, header))
        .build()
}

fn good(answer: &AnswerDoc) -> ResponseBuilder {
    let of = |schema: &str| content(Ref::from_schema_name(schema));
    let plain = |kind| content(ObjectBuilder::new().schema_type(SchemaType::Type(kind)));
    let text = || plain(Type::String);
    let bytes = || {
        let binary = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        content(binary.format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary))))
    };
    let response = ResponseBuilder::new().description(answer.text);
    match answer.content {
        Content::Json(schema) => response.content("application/json", of(schema)),
        Content::JsonOrLines(schema, [item, last]) => response
            .content("application/json", of(schema))
            .content("application/x-ndjson", either(item, last)),
        Content::Page(schema) => response.content("application/json", of(&page_of(schema))),
        Content::Output(schema, state) => response
            .content("application/json", of(&page_of(schema)))
            .content("application/octet-stream", bytes())
            .content("text/event-stream", either(schema, state)),
        Content::Document(schema) => response
            .content("application/json", of(schema))
            .content("text/csv", text())
            .content("application/pdf", bytes()),
        Content::AnyLines => response.content("application/x-ndjson", bytes()),
        Content::AnyJson => response.content("application/json", plain(Type::Object)),
        Content::AnyValue => response.content("application/json", content(any_value())),
        Content::Text => response.content("text/plain", text()),
        Content::Html => response.content("text/html", text()),
        Content::AnyFile => response.content("text/css", text()).content("text/javascript", text()),
        Content::Nothing => response,
    }
}

/// Whatever is JSON.
fn any_value() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::AnyValue).description(Some("Any JSON value"))
}

fn content(schema: impl Into<RefOr<Schema>>) -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(schema)).build()
}

/// One of two schemas.
fn either(one: &str, other: &str) -> utoipa::openapi::Content {
    let refs = [one, other].map(Ref::from_schema_name);
    content(refs.into_iter().fold(OneOfBuilder::new(), OneOfBuilder::item))
}

/// The route's own problems, and those that follow from what kind of route it is; by status.
fn problems(endpoint: &Endpoint) -> BTreeMap<u16, Vec<Code>> {
    let mut codes = endpoint.doc.problems.to_vec();
    if let Access::Tenant(..) | Access::Operator(..) = endpoint.access {
        codes.extend([Code::Unauthenticated, Code::ScopeMissing, Code::WrongKindOfKey]);
    }
    if !matches!(endpoint.access, Access::Open(_)) {
        codes.extend([Code::InvalidParameter, Code::Internal]);
        codes.extend([Code::Overloaded, Code::Unavailable, Code::Timeout]);
    }
    if endpoint.body != BodyRule::None {
        codes.extend([Code::InvalidJson, Code::PayloadTooLarge, Code::UnsupportedMediaType]);
        codes.push(Code::ValidationFailed);
    }
    if takes_idempotency_key(endpoint) {
        codes.push(Code::IdempotencyKeyReuse);
    }
    if endpoint.counts_peers() {
        codes.push(Code::RateLimited);
    }
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes {
        let same = by_status.entry(code.info().status).or_default();
        if !same.contains(&code) {
            same.push(code);
        }
    }
    by_status
}

fn bad(codes: &[Code]) -> ResponseBuilder {
    let lines: Vec<String> =
        codes.iter().map(|code| format!("`{}`: {}", code.info().code, code.info().title)).collect();
    ResponseBuilder::new()
        .description(lines.join("; "))
        .content("application/problem+json", content(Ref::from_schema_name("Problem")))
}

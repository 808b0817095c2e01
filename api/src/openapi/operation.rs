//! One row of the table of routes as an operation.

use super::doc::{AnswerDoc, Content};
use super::schemas::{OPERATOR_SECURITY, SECURITY};
use crate::auth::Permission;
use crate::problem::Code;
use crate::request::BodyRule;
use crate::routes::table::{Access, Endpoint, Verb};
use std::collections::BTreeMap;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{
    Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{ArrayBuilder, OneOfBuilder, Ref, Required};

/// Under what it is listed: the noun of its name.
pub(super) fn tag_of(endpoint: &Endpoint) -> &'static str {
    endpoint.name.split('.').next().unwrap_or_default()
}

pub(super) fn operation(endpoint: &Endpoint) -> Operation {
    let doc = endpoint.doc;
    let mut operation = OperationBuilder::new()
        .operation_id(Some(endpoint.name))
        .tag(tag_of(endpoint))
        .summary(Some(doc.summary));
    let mut text = doc.description.to_owned();
    let needs = match endpoint.access {
        Access::Open(_) | Access::SignIn(_) => None,
        Access::Tenant(permission, _) => Some((SECURITY, format!("the permission `{permission}`"))),
        Access::Operator(scope, _) => {
            Some((OPERATOR_SECURITY, format!("an operator's key with the scope `{scope}`")))
        }
    };
    if let Some((security, needed)) = needs {
        operation = operation.security(SecurityRequirement::new(security, Vec::<String>::new()));
        text = format!("{text}\n\nNeeds {needed}.").trim().to_owned();
    }
    if !text.is_empty() {
        operation = operation.description(Some(text));
    }
    for parameter in parameters(endpoint) {
        operation = operation.parameter(parameter);
    }
    if let Some(schema) = doc.request {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
        let mut body = RequestBodyBuilder::new().content("application/json", content).required(
            Some(match endpoint.body {
                BodyRule::Empty | BodyRule::Optional | BodyRule::Change => Required::False,
                BodyRule::None | BodyRule::Small | BodyRule::Task | BodyRule::Batch => {
                    Required::True
                }
            }),
        );
        if let Some(line) = doc.request_lines {
            let lines = ContentBuilder::new().schema(Some(Ref::from_schema_name(line))).build();
            body = body.content("application/x-ndjson", lines);
        }
        operation = operation.request_body(Some(body.build()));
    }
    for answer in doc.answers {
        operation = operation.response(answer.status.to_string(), good(answer));
    }
    for (status, codes) in problems(endpoint) {
        operation = operation.response(status.to_string(), bad(&codes));
    }
    operation.build()
}

fn parameters(endpoint: &Endpoint) -> Vec<Parameter> {
    let text = || ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).build();
    let mut all = Vec::new();
    let id = match endpoint.path {
        path if path.starts_with("/v1/keys/") => "The public part of the key, 12 of `a-z2-7`",
        path if path.starts_with("/v1/users/") => "`user_` and 32 hex digits",
        path if path.starts_with("/v1/sessions/") => "`signin_` and 32 hex digits",
        path if path.starts_with("/v1/tasks/") => "`task_` and 32 hex digits",
        _ => "Its kind, `_` and 32 hex digits",
    };
    let key = "The key, percent-encoded: `/` is `%2F`";
    let named = match endpoint.path {
        path if path.starts_with("/v1/schedules/") => {
            "Its name: 1 to 100 of `a-z A-Z 0-9 _ . -`, first a letter or digit, not `preview`"
        }
        _ => "Its name",
    };
    for (name, words) in [("id", id), ("key", key), ("name", named), ("file", "Its name")] {
        if endpoint.path.contains(&format!("{{{name}}}")) {
            let part = ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Path)
                .required(Required::True);
            all.push(part.description(Some(words)).schema(Some(text())).build());
        }
    }
    for param in endpoint.doc.query {
        let query = ParameterBuilder::new().name(param.name).parameter_in(ParameterIn::Query);
        all.push(
            query
                .required(Required::False)
                .description(Some(param.text))
                .schema(Some(text()))
                .build(),
        );
    }
    for param in endpoint.doc.headers {
        let header = ParameterBuilder::new().name(param.name).parameter_in(ParameterIn::Header);
        all.push(
            header
                .required(Required::False)
                .description(Some(param.text))
                .schema(Some(text()))
                .build(),
        );
    }
    if takes_idempotency_key(endpoint) {
        let key = ParameterBuilder::new().name("Idempotency-Key").parameter_in(ParameterIn::Header);
        let words = "1 to 200 visible ASCII characters, remembered for at least 24 hours: the same key and request, \
                     byte for byte, get the same answer, with `Idempotency-Replayed: true`; another request with the key gets 422";
        all.push(
            key.required(Required::False).description(Some(words)).schema(Some(text())).build(),
        );
    }
    all
}

/// A tenant's write that would otherwise do a second thing when it is repeated; a question that has a body is none.
fn takes_idempotency_key(endpoint: &Endpoint) -> bool {
    let writes = matches!(endpoint.access, Access::Tenant(permission, _) if permission != Permission::ReadTasks);
    endpoint.verb == Verb::Post && writes
}

fn good(answer: &AnswerDoc) -> Response {
    let of =
        |schema: &str| ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
    let pages = |schema: &str| ContentBuilder::new().schema(Some(page(schema))).build();
    let nothing_said = || ContentBuilder::new().build();
    let response = ResponseBuilder::new().description(answer.text);
    match answer.content {
        Content::Json(schema) => response.content("application/json", of(schema)),
        Content::JsonOrLines(schema, [item, last]) => response
            .content("application/json", of(schema))
            .content("application/x-ndjson", either(item, last)),
        Content::Page(schema) => response.content("application/json", pages(schema)),
        Content::Output(schema, state) => response
            .content("application/json", pages(schema))
            .content("application/octet-stream", nothing_said())
            .content("text/event-stream", either(schema, state)),
        Content::AnyJson => response.content("application/json", nothing_said()),
        Content::Text => response.content("text/plain", nothing_said()),
        Content::Html => response.content("text/html", nothing_said()),
        Content::AnyFile => response.content("*/*", nothing_said()),
        Content::Nothing => response,
    }
    .build()
}

/// One of two schemas.
fn either(one: &str, other: &str) -> utoipa::openapi::Content {
    let both =
        OneOfBuilder::new().item(Ref::from_schema_name(one)).item(Ref::from_schema_name(other));
    ContentBuilder::new().schema(Some(both)).build()
}

fn page(schema: &str) -> ObjectBuilder {
    let cursor = SchemaType::Array(vec![Type::String, Type::Null]);
    ObjectBuilder::new()
        .property("data", ArrayBuilder::new().items(Ref::from_schema_name(schema)))
        .property("next_cursor", ObjectBuilder::new().schema_type(cursor))
        .required("data")
        .required("next_cursor")
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
        let same = by_status.entry(code.row().status).or_default();
        if !same.contains(&code) {
            same.push(code);
        }
    }
    by_status
}

fn bad(codes: &[Code]) -> Response {
    let lines: Vec<String> =
        codes.iter().map(|code| format!("`{}`: {}", code.row().code, code.row().title)).collect();
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    ResponseBuilder::new()
        .description(lines.join("; "))
        .content("application/problem+json", content)
        .build()
}

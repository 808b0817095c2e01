//! One row of the table of routes as an operation.

use super::{answers, parameters, security};
use crate::request::BodyRule;
use crate::routes::table::Endpoint;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{Operation, OperationBuilder};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::{Ref, Required};

/// Under what it is listed: the noun of its name.
pub(super) fn tag_of(endpoint: &Endpoint) -> &'static str {
    endpoint.name.split('.').next().unwrap_or_default()
}

pub(super) fn operation(endpoint: &Endpoint) -> Operation {
    let doc = endpoint.doc;
    let text = format!("{}\n\n{}", doc.description, security::words(endpoint.access));
    let mut operation = OperationBuilder::new()
        .operation_id(Some(endpoint.name))
        .tag(tag_of(endpoint))
        .summary(Some(doc.summary))
        .description(Some(text.trim()))
        .securities(Some(security::of(endpoint.access)))
        .request_body(body(endpoint));
    for parameter in parameters::of(endpoint) {
        operation = operation.parameter(parameter);
    }
    answers::add(endpoint, operation).build()
}

fn body(endpoint: &Endpoint) -> Option<RequestBody> {
    let schema = endpoint.doc.request?;
    let of =
        |schema: &str| ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
    let required = match endpoint.body {
        BodyRule::Empty | BodyRule::Optional | BodyRule::Change | BodyRule::Payload => {
            Required::False
        }
        BodyRule::None
        | BodyRule::Small
        | BodyRule::Task
        | BodyRule::Batch
        | BodyRule::Workflow => Required::True,
    };
    let mut body =
        RequestBodyBuilder::new().content("application/json", of(schema)).required(Some(required));
    if let Some(line) = endpoint.doc.request_lines {
        body = body.content("application/x-ndjson", of(line));
    }
    Some(body.build())
}

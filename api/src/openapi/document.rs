//! The whole document.

use super::defaults;
use super::operation::{operation, tag_of};
use super::schemas::components;
use crate::routes::table::{TABLE, Verb};
use runtime::config::LimitsConfig;
use utoipa::openapi::path::{HttpMethod, PathItem, PathsBuilder};
use utoipa::openapi::tag::Tag;
use utoipa::openapi::{InfoBuilder, OpenApi, OpenApiBuilder};

/// Every route of the table, as OpenAPI, with the defaults of an installation that has these settings.
#[must_use]
pub fn document(limits: &LimitsConfig) -> OpenApi {
    let info = InfoBuilder::new()
        .title("Berth")
        .version("1")
        .description(Some(
            "Submit work with a resource tier and the delay you tolerate; Berth runs it and sees to it that it ends once. \
             Unknown fields are refused. Durations are texts such as \"90s\" or \"PT5M\", times are RFC 3339.",
        ))
        .build();
    let mut paths = PathsBuilder::new();
    // In the order of the table: tasks first.
    let mut tags: Vec<Tag> = Vec::new();
    for endpoint in &TABLE {
        if tags.iter().all(|tag| tag.name != tag_of(endpoint)) {
            tags.push(Tag::new(tag_of(endpoint)));
        }
        let method = match endpoint.verb {
            Verb::Get => HttpMethod::Get,
            Verb::Post => HttpMethod::Post,
            Verb::Put => HttpMethod::Put,
            Verb::Patch => HttpMethod::Patch,
            Verb::Delete => HttpMethod::Delete,
        };
        paths = paths.path(endpoint.path, PathItem::new(method, operation(endpoint)));
    }
    let mut components = components();
    defaults::add(&mut components, limits);
    OpenApiBuilder::new()
        .info(info)
        .tags(Some(tags))
        .paths(paths.build())
        .components(Some(components))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::table::Access;
    use serde_json::Value;
    use std::collections::BTreeSet;

    fn json() -> Value {
        let config = runtime::config::load_from(None, []).unwrap();
        serde_json::to_value(document(&config.limits)).unwrap()
    }

    fn refs(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                if let Some(Value::String(target)) = map.get("$ref") {
                    found.insert(target.clone());
                }
                map.values().for_each(|inner| refs(inner, found));
            }
            Value::Array(list) => list.iter().for_each(|inner| refs(inner, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_schema_is_used() {
        let json = json();
        let mut found = BTreeSet::new();
        refs(&json, &mut found);
        let schemas: BTreeSet<String> = json["components"]["schemas"]
            .as_object()
            .unwrap()
            .keys()
            .map(|name| format!("#/components/schemas/{name}"))
            .collect();
        assert_eq!(found, schemas);
    }

    #[test]
    fn the_document_has_exactly_the_routes_of_the_table() {
        let json = json();
        let mut documented = BTreeSet::new();
        for (path, item) in json["paths"].as_object().unwrap() {
            for verb in item.as_object().unwrap().keys() {
                documented.insert((verb.to_uppercase(), path.clone()));
            }
        }
        let table: BTreeSet<_> =
            TABLE.iter().map(|e| (e.verb.as_str().to_owned(), e.path.to_owned())).collect();
        assert_eq!(documented, table);
    }

    #[test]
    fn each_operation_says_what_it_is_and_answers() {
        let json = json();
        for endpoint in &TABLE {
            let operation = &json["paths"][endpoint.path][endpoint.verb.as_str().to_lowercase()];
            assert_eq!(operation["operationId"], endpoint.name);
            assert!(operation["summary"].as_str().is_some_and(|s| !s.is_empty()), "{endpoint:?}");
            assert!(
                operation["responses"].as_object().is_some_and(|r| !r.is_empty()),
                "{endpoint:?}"
            );
            let needs_a_key = matches!(endpoint.access, Access::Tenant(..) | Access::Operator(..));
            assert_eq!(operation.get("security").is_some(), needs_a_key, "{endpoint:?}");
        }
    }
}

//! The whole document.

use super::defaults;
use super::operation::{operation, tag_of};
use super::schemas::components;
use super::shape::shape;
use super::tags::tag;
use crate::routes::table::{TABLE, Verb};
use runtime::config::LimitsConfig;
use utoipa::openapi::info::LicenseBuilder;
use utoipa::openapi::path::{HttpMethod, PathItem, PathsBuilder};
use utoipa::openapi::tag::Tag;
use utoipa::openapi::{InfoBuilder, OpenApi, OpenApiBuilder, ServerBuilder};

/// For whom has the document alone.
const TEXT: &str = "Submit tasks with a resource tier and a delay tolerance; Berth runs each task until it ends exactly once.\n\n\
     **Requests.** Unknown fields are refused. Durations are strings such as \"90s\" or \"PT5M\", times are RFC 3339. A body may be \
     compressed with gzip (`Content-Encoding: gzip`). A nullable field may be omitted.\n\n\
     **Responses.** A nullable field is always present; an optional field is never null. Later versions may add fields and enum \
     values: ignore unknown ones.\n\n\
     **Lists** are paged: send `next_cursor` as `cursor`, with the same filters, until it is null.\n\n\
     **Problems** are `application/problem+json` (RFC 9457): `code` is for programs, `detail` for people, `retryable` says whether \
     the same request may succeed later.";
const SERVER: &str = "The server of this document. For a document of `berth openapi`, use the address of your server";

/// Every route of the table, as OpenAPI, with the defaults of an installation that has these settings.
#[must_use]
pub fn document(limits: &LimitsConfig) -> OpenApi {
    let license = LicenseBuilder::new()
        .name("Apache-2.0")
        .url(Some("https://www.apache.org/licenses/LICENSE-2.0"));
    let info = InfoBuilder::new()
        .title("Berth")
        .version("1")
        .license(Some(license.build()))
        .description(Some(TEXT))
        .build();
    let mut paths = PathsBuilder::new();
    // In the order of the table: tasks first.
    let mut tags: Vec<Tag> = Vec::new();
    for endpoint in &TABLE {
        if tags.iter().all(|tag| tag.name != tag_of(endpoint)) {
            tags.push(tag(tag_of(endpoint)));
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
    shape(&mut components);
    let server = ServerBuilder::new().url("/").description(Some(SERVER)).build();
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([server]))
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
    fn every_reference_leads_somewhere_and_every_component_is_used() {
        let json = json();
        let mut found = BTreeSet::new();
        refs(&json, &mut found);
        let mut all = BTreeSet::new();
        for kind in ["schemas", "headers", "responses"] {
            let names = json["components"][kind].as_object().unwrap().keys();
            all.extend(names.map(|name| format!("#/components/{kind}/{name}")));
        }
        assert_eq!(found, all);
    }

    /// Visits each schema within a schema, told whether it has a place of its own among the components.
    fn visit(schema: &Value, at: &str, is_named: bool, see: &mut impl FnMut(&Value, &str, bool)) {
        see(schema, at, is_named);
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            visit(property, &format!("{at}/{name}"), false, see);
        }
        for within in ["items", "additionalProperties"] {
            if schema[within].is_object() {
                visit(&schema[within], &format!("{at}/{within}"), false, see);
            }
        }
        for within in ["oneOf", "anyOf", "allOf"] {
            for part in schema[within].as_array().into_iter().flatten() {
                // The parts of a whole are the whole's own.
                visit(part, &format!("{at}/{within}"), within == "allOf" && is_named, see);
            }
        }
    }

    fn visit_all(see: &mut impl FnMut(&Value, &str, bool)) {
        for (name, schema) in json()["components"]["schemas"].as_object().unwrap() {
            visit(schema, name, true, see);
        }
    }

    #[test]
    fn each_object_and_each_list_of_words_in_a_branch_has_a_name() {
        visit_all(&mut |schema, at, is_named| {
            assert!(is_named || schema.get("properties").is_none(), "{at} has fields and no name");
            let is_branch = at.ends_with("oneOf") || at.ends_with("anyOf");
            assert!(!is_branch || schema.get("enum").is_none(), "{at} has words and no name");
        });
    }

    #[test]
    fn what_an_answer_may_have_as_null_is_always_there() {
        let mut nullable = 0;
        visit_all(&mut |schema, at, _| {
            // Requests refuse what they do not know.
            if schema["additionalProperties"] == false {
                return;
            }
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let types = property["type"].as_array();
                let parts = property["oneOf"].as_array();
                let is_nullable = types.is_some_and(|types| types.contains(&"null".into()))
                    || parts.is_some_and(|parts| parts.iter().any(|part| part["type"] == "null"));
                let required = schema["required"].as_array();
                let is_there = required.is_some_and(|names| names.contains(&name.as_str().into()));
                assert!(!is_nullable || is_there, "{at}/{name}");
                nullable += usize::from(is_nullable);
            }
        });
        assert!(nullable > 40, "{nullable}");
    }

    #[test]
    fn only_requests_refuse_unknown_fields_and_all_of_them_do() {
        let json = json();
        let mut requests = BTreeSet::new();
        for item in json["paths"].as_object().unwrap().values() {
            for operation in item.as_object().unwrap().values() {
                refs(&operation["requestBody"], &mut requests);
            }
        }
        loop {
            let before = requests.len();
            for to in requests.clone() {
                refs(json.pointer(to.trim_start_matches('#')).unwrap(), &mut requests);
            }
            if requests.len() == before {
                break;
            }
        }
        for (name, schema) in json["components"]["schemas"].as_object().unwrap() {
            let of_requests = requests.contains(&format!("#/components/schemas/{name}"));
            let refuses = schema["additionalProperties"] == false;
            let has_fields = schema.get("properties").is_some();
            assert!(!has_fields || refuses == of_requests, "{name}");
        }
    }

    #[test]
    fn each_noun_of_the_table_says_what_it_stands_for() {
        for tag in json()["tags"].as_array().unwrap() {
            let text = tag["description"].as_str();
            assert!(text.is_some(), "{} needs a line in `tags`", tag["name"]);
        }
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
            let schemes = operation["security"].as_array().unwrap();
            assert_eq!(!schemes.is_empty(), needs_a_key, "{endpoint:?}");
            for scheme in schemes.iter().flat_map(|scheme| scheme.as_object().unwrap().keys()) {
                assert!(json["components"]["securitySchemes"][scheme].is_object(), "{scheme}");
            }
        }
    }
}

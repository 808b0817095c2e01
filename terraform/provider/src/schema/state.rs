//! What a resource is: from the API's answer, in the words of the plan or of the state before.

use super::{Attribute, Given, Kind};
use crate::value::{Value, from_json};
use serde_json::Value as Json;

/// The state of a resource by the API's answer. `reference` is the plan, or the state before: what is the same there keeps its form.
#[must_use]
pub fn state(attributes: &[Attribute], reference: &Value, answer: &Json) -> Value {
    object(attributes, reference, &from_json(answer))
}

fn object(attributes: &[Attribute], reference: &Value, answer: &Value) -> Value {
    let fields = attributes.iter().map(|attribute| {
        let (before, now) = (reference.get(attribute.name), answer.get(attribute.name));
        let value =
            if attribute.local { local(attribute, before) } else { one(attribute, before, now) };
        (attribute.name.to_owned(), value)
    });
    Value::Map(fields.collect())
}

/// What the API does not know stays, or has its default in a state that is imported.
fn local(attribute: &Attribute, before: &Value) -> Value {
    match (before, &attribute.given) {
        (Value::Null | Value::Unknown, Given::Default(value)) => value.clone(),
        (Value::Unknown, _) => Value::Null,
        (before, _) => before.clone(),
    }
}

fn one(attribute: &Attribute, before: &Value, now: &Value) -> Value {
    match (&attribute.kind, now) {
        // The API leaves out what has its default.
        (_, Value::Null) => match &attribute.given {
            Given::Default(value) if attribute.same(before, value) => before.clone(),
            Given::Default(value) => value.clone(),
            _ if is_empty(before) => before.clone(),
            _ => Value::Null,
        },
        (Kind::Object(attributes), Value::Map(_)) => object(attributes, before, now),
        (Kind::Objects(attributes), Value::List(items)) => {
            let nothing = Value::Null;
            let before = match before {
                Value::List(before) => before.as_slice(),
                _ => &[],
            };
            let items = items.iter().enumerate().map(|(index, item)| {
                object(attributes, before.get(index).unwrap_or(&nothing), item)
            });
            Value::List(items.collect())
        }
        (Kind::ObjectMap(attributes), Value::Map(items)) => {
            let items = items
                .iter()
                .map(|(key, item)| (key.clone(), object(attributes, before.get(key), item)));
            Value::Map(items.collect())
        }
        // Of one type in the configuration, of several in the API.
        (Kind::Text, now) if now.text().is_none() => {
            keep(attribute, before, Value::Text(crate::value::to_json(now).to_string()))
        }
        (Kind::Texts | Kind::TextSet, Value::List(items)) => {
            let texts = items.iter().map(|item| match item {
                Value::Text(_) => item.clone(),
                other => Value::Text(crate::value::to_json(other).to_string()),
            });
            keep(attribute, before, Value::List(texts.collect()))
        }
        _ => keep(attribute, before, now.clone()),
    }
}

/// An empty list or map in the configuration is left out by the API.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::List(items) => items.is_empty(),
        Value::Map(fields) => fields.is_empty(),
        _ => false,
    }
}

fn keep(attribute: &Attribute, before: &Value, now: Value) -> Value {
    // Not given, and nothing: an empty list of the API is the null of a configuration.
    let nothing = before.is_null() && is_empty(&now) && matches!(attribute.given, Given::Optional);
    if nothing || attribute.same(before, &now) { before.clone() } else { now }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_the_same_keeps_its_form_and_what_differs_is_seen() {
        let every = Attribute::duration("every", Given::Optional, "");
        let attributes = [
            every.clone(),
            Attribute::new("tags", Kind::TextSet, Given::Optional, ""),
            Attribute::switch("guard", Given::Default(true.into()), "").local(),
            Attribute::number("count", Given::Optional, ""),
            Attribute::new("named", Kind::ObjectMap(vec![every]), Given::Optional, ""),
        ];
        let tags = |texts: &[&str]| Value::List(texts.iter().map(|text| (*text).into()).collect());
        let named = |every: &str| Value::from([("a", Value::from([("every", every.into())]))]);
        let before = Value::from([
            ("every", "90s".into()),
            ("tags", tags(&["b", "a"])),
            ("guard", false.into()),
            ("count", Value::Null),
            ("named", named("90s")),
        ]);
        let same = json!({
            "every": "1m30s", "tags": ["a", "b"], "count": null, "other": 1, "named": {"a": {"every": "1m30s"}},
        });
        assert_eq!(state(&attributes, &before, &same), before);
        let other = json!({
            "every": "2m", "tags": ["a"], "count": 2, "named": {"a": {"every": "2m"}},
        });
        let after = state(&attributes, &before, &other);
        let wanted = Value::from([
            ("every", "2m".into()),
            ("tags", tags(&["a"])),
            ("guard", false.into()),
            ("count", 2.into()),
            ("named", named("2m")),
        ]);
        assert_eq!(after, wanted);
        // Imported: nothing is known before.
        let after = state(&attributes, &Value::Null, &same);
        assert_eq!((after.get("every"), after.get("guard")), (&"1m30s".into(), &true.into()));
    }

    #[test]
    fn an_empty_list_that_the_api_leaves_out_stays() {
        let attributes = [Attribute::new("tags", Kind::TextSet, Given::Optional, "")];
        let empty = Value::from([("tags", Value::List(Vec::new()))]);
        assert_eq!(state(&attributes, &empty, &json!({})), empty);
        let null = Value::from([("tags", Value::Null)]);
        assert_eq!(state(&attributes, &null, &json!({"tags": []})), null);
    }
}

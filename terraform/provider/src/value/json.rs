//! Values as JSON: bodies and answers of the API, and stored states.

use super::{Value, msgpack};
use serde_json::Value as Json;

/// The JSON of a value. Nulls in objects are left out: what is not given has the API's default.
#[must_use]
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Null | Value::Unknown => Json::Null,
        Value::Bool(switch) => Json::Bool(*switch),
        Value::Number(number) => Json::Number(number.clone()),
        Value::Decimal(_) => value.number().map_or(Json::Null, Json::from),
        Value::Text(text) => Json::String(text.clone()),
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::Map(fields) => Json::Object(
            fields
                .iter()
                .filter(|(_, field)| !matches!(field, Value::Null | Value::Unknown))
                .map(|(name, field)| (name.clone(), to_json(field)))
                .collect(),
        ),
    }
}

/// The value of JSON.
#[must_use]
pub fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(switch) => Value::Bool(*switch),
        Json::Number(number) if number.is_f64() => {
            msgpack::number(number.as_f64().unwrap_or_default()).unwrap_or_default()
        }
        Json::Number(number) => Value::Number(number.clone()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(from_json).collect()),
        Json::Object(fields) => Value::Map(
            fields.iter().map(|(name, field)| (name.clone(), from_json(field))).collect(),
        ),
    }
}

//! Payload templates: a JSON object in which `{"$event": "/pointer"}` stands for a value of the event.
//!
//! JSON pointers (RFC 6901) and nothing else: no code of a customer runs here.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Longest template, bytes of its JSON.
pub const MAX_PAYLOAD: usize = 8 * 1024;
/// Deepest template.
const MAX_DEPTH: usize = 32;
/// The key of what is replaced.
const EVENT: &str = "$event";

/// A template that was checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct PayloadTemplate(Map<String, Value>);

/// Why a value is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// No object.
    #[error("must be a JSON object")]
    NoObject,
    /// Too much.
    #[error("must have at most {MAX_PAYLOAD} bytes")]
    TooLong,
    /// Too deep.
    #[error("must be nested at most {MAX_DEPTH} deep")]
    TooDeep,
    /// `$event` with something else than a pointer, or beside other keys.
    #[error(
        "must have {{\"$event\": \"/data/name\"}} where a value of the event is wanted: a JSON pointer, and no other key beside it"
    )]
    Pointer,
}

impl TryFrom<Value> for PayloadTemplate {
    type Error = PayloadError;

    fn try_from(value: Value) -> Result<Self, PayloadError> {
        if value.to_string().len() > MAX_PAYLOAD {
            return Err(PayloadError::TooLong);
        }
        let Value::Object(object) = value else { return Err(PayloadError::NoObject) };
        if object.contains_key(EVENT) {
            return Err(PayloadError::Pointer);
        }
        object.values().try_for_each(|value| check(value, MAX_DEPTH))?;
        Ok(Self(object))
    }
}

impl From<PayloadTemplate> for Value {
    fn from(template: PayloadTemplate) -> Self {
        Self::Object(template.0)
    }
}

impl PayloadTemplate {
    /// What is sent of `event`. A pointer to nothing gives null.
    #[must_use]
    pub fn of(&self, event: &Value) -> Value {
        let all = self.0.iter().map(|(key, value)| (key.clone(), filled(value, event)));
        Value::Object(all.collect())
    }
}

fn check(value: &Value, depth: usize) -> Result<(), PayloadError> {
    let Some(deeper) = depth.checked_sub(1) else { return Err(PayloadError::TooDeep) };
    match value {
        Value::Array(all) => all.iter().try_for_each(|value| check(value, deeper)),
        Value::Object(all) if all.contains_key(EVENT) => {
            let pointer = all.get(EVENT).and_then(Value::as_str).filter(|_| all.len() == 1);
            let is_pointer = |text: &str| text.is_empty() || text.starts_with('/');
            if pointer.is_some_and(is_pointer) { Ok(()) } else { Err(PayloadError::Pointer) }
        }
        Value::Object(all) => all.values().try_for_each(|value| check(value, deeper)),
        _ => Ok(()),
    }
}

fn filled(value: &Value, event: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(|value| filled(value, event)).collect(),
        Value::Object(all) => match all.get(EVENT).and_then(Value::as_str) {
            Some(pointer) => event.pointer(pointer).cloned().unwrap_or(Value::Null),
            None => {
                let all = all.iter().map(|(key, value)| (key.clone(), filled(value, event)));
                Value::Object(all.collect())
            }
        },
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pointers_are_replaced_and_all_else_is_sent_as_it_stands() {
        let template = json!({"text": {"$event": "/data/name"}, "all": [{"$event": ""}, 1], "no": {"$event": "/x/y"},
            "fixed": {"a": null}});
        let template = PayloadTemplate::try_from(template).unwrap();
        let event = json!({"data": {"name": "nächtlich"}});
        let sent =
            json!({"text": "nächtlich", "all": [event, 1], "no": null, "fixed": {"a": null}});
        assert_eq!(template.of(&event), sent);
    }

    #[test]
    fn what_is_no_template_is_refused_and_why() {
        let wrong = |value| PayloadTemplate::try_from(value).unwrap_err();
        assert_eq!(wrong(json!([])), PayloadError::NoObject);
        assert_eq!(wrong(json!({"$event": "/a"})), PayloadError::Pointer);
        for value in [json!({"$event": 1}), json!({"$event": "a"}), json!({"$event": "/a", "b": 1})]
        {
            assert_eq!(wrong(json!({"a": [value]})), PayloadError::Pointer);
        }
        assert_eq!(wrong(json!({"a": "x".repeat(MAX_PAYLOAD)})), PayloadError::TooLong);
        let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(wrong(json!({"a": deep})), PayloadError::TooDeep);
    }
}

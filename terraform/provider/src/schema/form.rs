//! Texts that may be written in several ways, and which texts are none.
//!
//! What the API writes differently from the configuration (`1m30s` for `90s`) is the same text here, or it would be a change in
//! every plan.

use chrono::Utc;
use domain::name::TenantName;
use domain::time::{format_duration, format_time, parse_duration, parse_time};
use serde_json::Value as Json;

/// A way to write a text.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// Only as it is.
    Exact,
    /// A duration.
    Duration,
    /// A time with an offset.
    Time,
    /// A document of JSON: spaces and the order of fields do not count.
    Json,
    /// A whole number from 0 to this one.
    Whole(u64),
    /// One of these words.
    Words(&'static [&'static str]),
    /// A name of a tenant: forms of letters and numbers of spaces do not count.
    TenantName,
    /// An e-mail address: case does not count.
    Address,
    /// The name of an object in a path of the API, which this reads.
    Parsed(fn(&str) -> Result<String, String>),
}

impl Form {
    /// Its usual form.
    ///
    /// # Errors
    /// What it should be, where it is none.
    pub fn canonical(self, text: &str) -> Result<String, String> {
        match self {
            Self::Exact => Ok(text.to_owned()),
            Self::Duration => {
                parse_duration(text).map(format_duration).map_err(|error| error.to_string())
            }
            Self::Time => parse_time(text)
                .map(|at| format_time(at.with_timezone(&Utc)))
                .map_err(|error| error.to_string()),
            Self::Json => serde_json::from_str::<Json>(text)
                .map(|json| sorted(json).to_string())
                .map_err(|error| format!("must be JSON: {error}")),
            Self::Whole(most) => match text.parse::<u64>() {
                Ok(number) if number <= most => Ok(text.to_owned()),
                _ => Err(format!("must be a whole number from 0 to {most}")),
            },
            Self::Words(words) if words.contains(&text) => Ok(text.to_owned()),
            Self::Words(words) => Err(format!("must be one of {}", words.join(", "))),
            Self::TenantName => text
                .parse::<TenantName>()
                .map(|name| name.as_str().to_owned())
                .map_err(|error| error.to_string()),
            Self::Address => Ok(text.trim().to_lowercase()),
            Self::Parsed(read) => read(text),
        }
    }

    /// Whether two texts are the same to the API.
    #[must_use]
    pub fn same(self, one: &str, other: &str) -> bool {
        one == other
            || match (self.canonical(one), self.canonical(other)) {
                (Ok(one), Ok(other)) => one == other,
                _ => false,
            }
    }
}

/// Fields in the order of their names, and whole numbers without a point.
fn sorted(json: Json) -> Json {
    match json {
        Json::Object(fields) => {
            let mut fields: Vec<_> =
                fields.into_iter().map(|(name, field)| (name, sorted(field))).collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            Json::Object(fields.into_iter().collect())
        }
        Json::Array(items) => items.into_iter().map(sorted).collect(),
        Json::Number(number) => crate::value::to_json(&crate::value::from_json(&number.into())),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_value_are_the_same() {
        assert!(Form::Duration.same("90s", "1m30s"));
        assert!(!Form::Duration.same("90s", "1m"));
        assert!(Form::Time.same("2027-01-01T00:00:00+01:00", "2026-12-31T23:00:00Z"));
        assert!(Form::Json.same(r#"{"b":1.0, "a":[1]}"#, r#"{"a":[1],"b":1}"#));
        assert!(!Form::Json.same("[1,2]", "[2,1]"));
        assert!(Form::TenantName.same(" Acme   Corp", "Acme Corp"));
        assert!(Form::Address.same("Ann@Example.com", "ann@example.com"));
        assert!(!Form::Exact.same("A", "a"));
    }

    #[test]
    fn what_has_no_form_says_what_is_wanted() {
        assert!(Form::Duration.canonical("soon").unwrap_err().contains("duration"));
        assert!(Form::Json.canonical("{").unwrap_err().contains("JSON"));
        let words = Form::Words(&["skip", "allow"]);
        assert_eq!(words.canonical("never").unwrap_err(), "must be one of skip, allow");
        for number in ["-1", "1.5", "101", "1e+30"] {
            let wanted = Form::Whole(100).canonical(number).unwrap_err();
            assert_eq!(wanted, "must be a whole number from 0 to 100", "{number}");
        }
        assert!(Form::Whole(100).canonical("100").is_ok());
    }
}

//! Mistakes that the schema alone shows.

use super::{Attribute, Kind};
use crate::value::{Path, Value};

/// Each text and number that has no valid form, with what it should be.
#[must_use]
pub fn check(attributes: &[Attribute], config: &Value) -> Vec<(Path, String)> {
    let mut mistakes = Vec::new();
    object(attributes, config, &Path::default(), &mut mistakes);
    mistakes
}

fn object(
    attributes: &[Attribute],
    config: &Value,
    path: &Path,
    mistakes: &mut Vec<(Path, String)>,
) {
    for attribute in attributes {
        let value = config.get(attribute.name);
        let path = path.attribute(attribute.name);
        match (&attribute.kind, value) {
            (Kind::Object(attributes), Value::Map(_)) => object(attributes, value, &path, mistakes),
            (Kind::Objects(attributes), Value::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    object(attributes, item, &path.index(index), mistakes);
                }
            }
            (Kind::ObjectMap(attributes), Value::Map(items)) => {
                for (key, item) in items {
                    let path = path.key(key);
                    let wanted = attribute.form.canonical(key).err();
                    mistakes.extend(wanted.map(|wanted| (path.clone(), wanted)));
                    object(attributes, item, &path, mistakes);
                }
            }
            (_, Value::Number(number)) => {
                let wanted = attribute.form.canonical(&number.to_string()).err();
                mistakes.extend(wanted.map(|wanted| (path, wanted)));
            }
            (_, Value::Text(text) | Value::Decimal(text)) => {
                mistakes.extend(attribute.form.canonical(text).err().map(|wanted| (path, wanted)));
            }
            // A path into a set would need the whole item: the set is named instead.
            (Kind::Texts | Kind::TextSet, Value::List(items)) => {
                let wrong = items.iter().filter_map(Value::text).find_map(|text| {
                    let wanted = attribute.form.canonical(text).err()?;
                    Some(format!("`{text}`: {wanted}"))
                });
                mistakes.extend(wrong.map(|wanted| (path, wanted)));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Form, Given};
    use super::*;

    #[test]
    fn mistakes_are_found_where_they_are() {
        let attributes = [
            Attribute::new(
                "specs",
                Kind::Objects(vec![Attribute::duration("every", Given::Optional, "")]),
                Given::Required,
                "",
            ),
            Attribute::new("scopes", Kind::TextSet, Given::Required, "")
                .form(Form::Words(&["read"])),
            Attribute::new(
                "tiers",
                Kind::ObjectMap(vec![Attribute::whole("port", 9, Given::Optional, "")]),
                Given::Optional,
                "",
            )
            .form(Form::Words(&["basic"])),
        ];
        let item = |text: &str| Value::from([("every", text.into())]);
        let rate = |port: &str| Value::from([("port", Value::Decimal(port.to_owned()))]);
        let config = Value::from([
            ("specs", Value::List(vec![item("1s"), item("soon"), Value::Unknown])),
            ("scopes", Value::List(vec!["read".into(), "all".into()])),
            ("tiers", Value::from([("basic", rate("0.5")), ("huge", rate("9"))])),
        ]);
        let mistakes = check(&attributes, &config);
        assert_eq!(mistakes[0].0, Path::of("specs").index(1).attribute("every"));
        assert_eq!(mistakes[1], (Path::of("scopes"), "`all`: must be one of read".to_owned()));
        let tier = |key| Path::of("tiers").key(key);
        assert_eq!(mistakes[2].0, tier("basic").attribute("port"));
        assert_eq!(mistakes[3], (tier("huge"), "must be one of basic".to_owned()));
        assert_eq!(mistakes.len(), 4);
    }
}

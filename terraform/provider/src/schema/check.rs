//! Mistakes that the schema alone shows.

use super::{Attribute, Kind};
use crate::value::{Path, Value};

/// Each text that has no valid form, with what it should be.
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
            (_, Value::Text(text)) => {
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
        ];
        let item = |text: &str| Value::from([("every", text.into())]);
        let config = Value::from([
            ("specs", Value::List(vec![item("1s"), item("soon"), Value::Unknown])),
            ("scopes", Value::List(vec!["read".into(), "all".into()])),
        ]);
        let mistakes = check(&attributes, &config);
        assert_eq!(mistakes[0].0, Path::of("specs").index(1).attribute("every"));
        assert_eq!(mistakes[1], (Path::of("scopes"), "`all`: must be one of read".to_owned()));
        assert_eq!(mistakes.len(), 2);
    }
}

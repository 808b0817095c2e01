//! A value of Terraform in the shape of its schema.

use super::{Attribute, Kind};
use crate::value::Value;

/// The value with every attribute, absent ones null, and with numbers where it has texts of numbers. A state of another release may
/// lack attributes, and have others, which are dropped.
#[must_use]
pub fn fitted(attributes: &[Attribute], value: Value) -> Value {
    let Value::Map(mut fields) = value else { return value };
    let fields = attributes.iter().map(|attribute| {
        let field = fields.remove(attribute.name).unwrap_or_default();
        (attribute.name.to_owned(), field_of(&attribute.kind, field))
    });
    Value::Map(fields.collect())
}

fn field_of(kind: &Kind, field: Value) -> Value {
    match (kind, field) {
        (Kind::Number, Value::Text(text)) => Value::Decimal(text),
        (Kind::Numbers, Value::List(items)) => {
            Value::List(items.into_iter().map(|item| field_of(&Kind::Number, item)).collect())
        }
        (Kind::Object(attributes), field) => fitted(attributes, field),
        (Kind::Objects(attributes), Value::List(items)) => {
            Value::List(items.into_iter().map(|item| fitted(attributes, item)).collect())
        }
        (Kind::ObjectMap(attributes), Value::Map(items)) => {
            let items = items.into_iter().map(|(key, item)| (key, fitted(attributes, item)));
            Value::Map(items.collect())
        }
        (_, field) => field,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Given;
    use super::*;

    #[test]
    fn a_value_gets_the_shape_of_its_schema() {
        let inner = vec![
            Attribute::number("weight", Given::Optional, ""),
            Attribute::text("name", Given::Optional, ""),
        ];
        let attributes = [
            Attribute::new("one", Kind::Object(inner.clone()), Given::Optional, ""),
            Attribute::new("many", Kind::Objects(inner.clone()), Given::Optional, ""),
            Attribute::new("named", Kind::ObjectMap(inner), Given::Optional, ""),
            Attribute::text("unknown", Given::Optional, ""),
        ];
        let item = Value::from([("weight", "0.1".into()), ("old", 1.into())]);
        let value = Value::from([
            ("one", item.clone()),
            ("many", Value::List(vec![item.clone(), Value::Unknown])),
            ("named", Value::from([("a", item)])),
            ("unknown", Value::Unknown),
        ]);
        let item =
            Value::from([("weight", Value::Decimal("0.1".to_owned())), ("name", Value::Null)]);
        let wanted = Value::from([
            ("one", item.clone()),
            ("many", Value::List(vec![item.clone(), Value::Unknown])),
            ("named", Value::from([("a", item)])),
            ("unknown", Value::Unknown),
        ]);
        assert_eq!(fitted(&attributes, value), wanted);
    }
}

//! What a resource will be: from its state and its configuration.
//!
//! Terraform holds the provider to its plan, and refuses one that differs from the configuration, except where the state is kept.
//! So what is given in another form keeps the state; what is not given has its default, its state, or is unknown.

use super::{Attribute, Given, Kind};
use crate::value::{Path, Value};
use std::collections::BTreeMap;

/// A plan.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    /// What the resource will be.
    pub value: Value,
    /// Attributes whose change needs another object.
    pub replaces: Vec<Path>,
    /// Whether something changes.
    pub changes: bool,
}

/// Plans a resource with these attributes; `prior` is null for one that is created.
#[must_use]
pub fn planned(attributes: &[Attribute], prior: &Value, config: &Value) -> Outcome {
    let mut plan = Plan { creates: prior.is_null(), replaces: Vec::new() };
    let value = plan.object(attributes, prior, config, &Path::default());
    let changes = plan.creates || value != *prior;
    let mut outcome = Outcome { value, replaces: plan.replaces, changes };
    // What only Terraform knows changes nothing of the object.
    let follows = attributes.iter().any(|attribute| {
        !attribute.local && outcome.value.get(attribute.name) != prior.get(attribute.name)
    });
    if follows {
        outcome.follow(attributes);
    }
    outcome
}

impl Outcome {
    /// What follows every change of the object is unknown until it is done.
    fn follow(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            if matches!(attribute.given, Given::Server) {
                self.value.set(attribute.name, Value::Unknown);
            }
        }
    }
}

struct Plan {
    creates: bool,
    replaces: Vec<Path>,
}

impl Plan {
    fn object(
        &mut self,
        attributes: &[Attribute],
        prior: &Value,
        config: &Value,
        path: &Path,
    ) -> Value {
        let fields = attributes.iter().map(|attribute| {
            let path = path.attribute(attribute.name);
            let (prior, config) = (prior.get(attribute.name), config.get(attribute.name));
            let value = self.attribute(attribute, prior, config, &path);
            if attribute.replaces && !self.creates && value != *prior {
                self.replaces.push(path);
            }
            (attribute.name.to_owned(), value)
        });
        Value::Map(fields.collect::<BTreeMap<_, _>>())
    }

    fn attribute(
        &mut self,
        attribute: &Attribute,
        prior: &Value,
        config: &Value,
        path: &Path,
    ) -> Value {
        match (config, &attribute.kind) {
            (Value::Unknown, _) => Value::Unknown,
            (Value::Null, _) => match &attribute.given {
                Given::Default(value) => value.clone(),
                Given::OrServer | Given::Fixed | Given::Server if prior.is_null() => {
                    self.not_known(attribute)
                }
                Given::OrServer | Given::Fixed | Given::Server => prior.clone(),
                Given::Required | Given::Optional => Value::Null,
            },
            (config, Kind::Object(attributes)) => self.object(attributes, prior, config, path),
            (Value::List(items), Kind::Objects(attributes)) => {
                let nothing = Value::Null;
                let prior = match prior {
                    Value::List(prior) => prior.as_slice(),
                    _ => &[],
                };
                let items = items.iter().enumerate().map(|(index, item)| match item {
                    Value::Unknown => Value::Unknown,
                    item => {
                        let prior = prior.get(index).unwrap_or(&nothing);
                        self.object(attributes, prior, item, &path.index(index))
                    }
                });
                Value::List(items.collect())
            }
            (Value::Map(items), Kind::ObjectMap(attributes)) => {
                let items = items.iter().map(|(key, item)| {
                    let value = match item {
                        Value::Unknown => Value::Unknown,
                        item => self.object(attributes, prior.get(key), item, &path.key(key)),
                    };
                    (key.clone(), value)
                });
                Value::Map(items.collect())
            }
            (config, _) if attribute.same(prior, config) => prior.clone(),
            (config, _) => config.clone(),
        }
    }

    /// Null in the state of an object that exists is what the server says: it stays. At create nothing is known.
    fn not_known(&self, attribute: &Attribute) -> Value {
        if self.creates || matches!(attribute.given, Given::OrServer) {
            Value::Unknown
        } else {
            Value::Null
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes() -> Vec<Attribute> {
        vec![
            Attribute::text("name", Given::Required, "").replaces(),
            Attribute::duration("every", Given::Optional, ""),
            Attribute::number("weight", Given::Default(1.into()), ""),
            Attribute::text("id", Given::Fixed, ""),
            Attribute::number("version", Given::Server, ""),
        ]
    }

    fn of(name: &str, every: &str, rest: [(&str, Value); 3]) -> Value {
        let mut value = Value::from([("name", name.into()), ("every", every.into())]);
        rest.into_iter().for_each(|(name, field)| value.set(name, field));
        value
    }

    fn config(name: &str, every: &str) -> Value {
        of(name, every, ["weight", "id", "version"].map(|name| (name, Value::Null)))
    }

    fn stored() -> Value {
        let rest = [("weight", 1.into()), ("id", "i".into()), ("version", 3.into())];
        of("a", "1m30s", rest)
    }

    #[test]
    fn at_create_defaults_are_known_and_the_servers_values_are_not() {
        let plan = planned(&attributes(), &Value::Null, &config("a", "90s"));
        let rest = [("weight", 1.into()), ("id", Value::Unknown), ("version", Value::Unknown)];
        assert_eq!(plan.value, of("a", "90s", rest));
        assert!(plan.changes && plan.replaces.is_empty());
    }

    #[test]
    fn another_form_of_the_same_value_changes_nothing() {
        let plan = planned(&attributes(), &stored(), &config("a", "90s"));
        assert_eq!((plan.value, plan.changes), (stored(), false));
    }

    #[test]
    fn a_change_makes_the_version_unknown_and_keeps_the_id() {
        let plan = planned(&attributes(), &stored(), &config("a", "2m"));
        let rest = [("weight", 1.into()), ("id", "i".into()), ("version", Value::Unknown)];
        assert_eq!(plan.value, of("a", "2m", rest));
        let plan = planned(&attributes(), &stored(), &config("b", "90s"));
        assert_eq!(plan.replaces, [Path::of("name")]);
    }

    #[test]
    fn what_only_terraform_knows_leaves_the_version() {
        let mut attributes = attributes();
        attributes.push(Attribute::switch("guard", Given::Default(true.into()), "").local());
        let mut stored = stored();
        stored.set("guard", false.into());
        let plan = planned(&attributes, &stored, &config("a", "90s"));
        stored.set("guard", true.into());
        assert_eq!((plan.value, plan.changes), (stored, true));
    }

    #[test]
    fn objects_by_name_have_their_defaults_and_keep_their_state_by_name() {
        let inner = vec![
            Attribute::number("count", Given::Default(0.into()), ""),
            Attribute::duration("every", Given::Required, ""),
        ];
        let attributes = [Attribute::new("named", Kind::ObjectMap(inner), Given::Optional, "")];
        let item = |count: Value, every: &str| {
            Value::from([("count", count), ("every", Value::from(every))])
        };
        let of = |items| Value::from([("named", items)]);
        let prior = of(Value::from([("b", item(0.into(), "1m30s"))]));
        let items = [("a", item(2.into(), "1s")), ("b", item(Value::Null, "90s"))];
        let plan = planned(&attributes, &prior, &of(Value::from(items)));
        let wanted = [("a", item(2.into(), "1s")), ("b", item(0.into(), "1m30s"))];
        assert_eq!(plan.value, of(Value::from(wanted)));
    }

    #[test]
    fn a_value_that_is_not_known_yet_stays_so() {
        let mut config = config("a", "90s");
        config.set("every", Value::Unknown);
        let plan = planned(&attributes(), &stored(), &config);
        assert_eq!(plan.value.get("every"), &Value::Unknown);
        assert!(plan.changes);
    }
}

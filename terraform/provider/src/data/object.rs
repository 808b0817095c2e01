//! A data source of one object, by its name: the resource, read.

use crate::provider::{Answer, Berth, DataSource, Problem, Resource};
use crate::schema::{Attribute, Given, Kind};
use crate::value::Value;
use serde_json::Value as Json;

/// The data source of a resource.
pub struct Object<R>(R);

/// The data source of `resource`, whose attribute `name` names it.
pub const fn of<R: Resource>(resource: R) -> Object<R> {
    Object(resource)
}

/// The attribute, and those in it, as the server has them.
fn shown(attribute: Attribute) -> Attribute {
    let all = |inner: Vec<Attribute>| inner.into_iter().map(shown).collect();
    let kind = match attribute.kind {
        Kind::Object(inner) => Kind::Object(all(inner)),
        Kind::Objects(inner) => Kind::Objects(all(inner)),
        Kind::ObjectMap(inner) => Kind::ObjectMap(all(inner)),
        kind => kind,
    };
    Attribute { kind, given: Given::Fixed, replaces: false, ..attribute }
}

impl<R: Resource> DataSource for Object<R> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn text(&self) -> &'static str {
        self.0.text()
    }

    fn attributes(&self) -> Vec<Attribute> {
        let known = self.0.attributes().into_iter().filter(|attribute| !attribute.local);
        known
            .map(|attribute| match attribute.name {
                "name" => {
                    Attribute { given: Given::Required, local: true, replaces: false, ..attribute }
                }
                _ => shown(attribute),
            })
            .collect()
    }

    fn read<'a>(&'a self, berth: &'a Berth, config: &'a Value) -> Answer<'a, Json> {
        Box::pin(async move {
            self.0.read(berth, config).await?.ok_or_else(|| {
                let name = config.get("name").text().unwrap_or_default();
                Problem::at("name", format!("There is no {} named {name}", self.0.name()), "")
            })
        })
    }
}

//! Every type of the provider.

use super::extra;
use super::{DataSource, Ephemeral, Resource};
use crate::schema::Attribute;
use crate::{data, ephemeral, resources};
use std::collections::BTreeMap;

/// A type with its attributes.
pub struct Entry<T: ?Sized> {
    /// What it does.
    pub does: Box<T>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
}

/// The types, by name.
pub struct Registry {
    /// Resources.
    pub resources: BTreeMap<&'static str, Entry<dyn Resource>>,
    /// Data sources.
    pub data: BTreeMap<&'static str, Entry<dyn DataSource>>,
    /// Ephemeral resources.
    pub ephemeral: BTreeMap<&'static str, Entry<dyn Ephemeral>>,
}

impl Registry {
    /// All types.
    #[must_use]
    pub fn new() -> Self {
        let resources = resources::all().into_iter().map(|does| {
            let mut attributes = does.attributes();
            attributes.push(extra::timeouts());
            (does.name(), Entry { attributes, does })
        });
        let data = data::all()
            .into_iter()
            .map(|does| (does.name(), Entry { attributes: does.attributes(), does }));
        let ephemeral = ephemeral::all()
            .into_iter()
            .map(|does| (does.name(), Entry { attributes: does.attributes(), does }));
        Self {
            resources: resources.collect(),
            data: data.collect(),
            ephemeral: ephemeral.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_attribute_has_a_name_that_terraform_keeps_for_itself() {
        const KEPT: [&str; 7] = [
            "count",
            "for_each",
            "depends_on",
            "lifecycle",
            "provider",
            "connection",
            "provisioner",
        ];
        let Registry { resources, data, ephemeral } = Registry::new();
        let names = resources
            .values()
            .map(|entry| &entry.attributes)
            .chain(data.values().map(|entry| &entry.attributes))
            .chain(ephemeral.values().map(|entry| &entry.attributes))
            .flatten();
        for attribute in names {
            assert!(!KEPT.contains(&attribute.name), "{}", attribute.name);
        }
    }
}

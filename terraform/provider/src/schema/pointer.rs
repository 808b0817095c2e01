//! From a place in the API's request to a place in the configuration.

use super::{Attribute, Kind};
use crate::value::Path;

/// The path of a JSON pointer, as far as the configuration has it.
#[must_use]
pub fn path_of(attributes: &[Attribute], pointer: &str) -> Path {
    let mut path = Path::default();
    let mut attributes = attributes;
    let mut steps =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
    while let Some(step) = steps.next() {
        let Some(attribute) = attributes.iter().find(|attribute| attribute.name == step) else {
            return path;
        };
        path = path.attribute(attribute.name);
        match &attribute.kind {
            Kind::Object(inner) => attributes = inner,
            Kind::Objects(inner) => {
                let Some(index) = steps.next().and_then(|step| step.parse().ok()) else {
                    return path;
                };
                path = path.index(index);
                attributes = inner;
            }
            Kind::ObjectMap(inner) => {
                let Some(key) = steps.next() else { return path };
                path = path.key(&key);
                attributes = inner;
            }
            Kind::TextMap => return steps.next().map_or(path.clone(), |key| path.key(&key)),
            Kind::Texts | Kind::Numbers => {
                let index = steps.next().and_then(|step| step.parse().ok());
                return index.map_or(path.clone(), |index| path.index(index));
            }
            Kind::Bool | Kind::Number | Kind::Text | Kind::TextSet => return path,
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::super::Given;
    use super::*;

    #[test]
    fn a_pointer_leads_as_far_as_the_configuration_goes() {
        let every = Attribute::text("every", Given::Optional, "");
        let every = Attribute::new("every", Kind::Object(vec![every]), Given::Optional, "");
        let specs = Attribute::new("specs", Kind::Objects(vec![every]), Given::Required, "");
        let labels = Attribute::new("labels", Kind::TextMap, Given::Optional, "");
        let port = Attribute::number("port", Given::Optional, "");
        let tiers = Attribute::new("tiers", Kind::ObjectMap(vec![port]), Given::Optional, "");
        let attributes = [specs, labels, tiers];
        let wanted = Path::of("specs").index(1).attribute("every").attribute("every");
        assert_eq!(path_of(&attributes, "/specs/1/every/every"), wanted);
        assert_eq!(path_of(&attributes, "/labels/a~1b"), Path::of("labels").key("a/b"));
        let port = Path::of("tiers").key("basic").attribute("port");
        assert_eq!(path_of(&attributes, "/tiers/basic/port"), port);
        assert_eq!(path_of(&attributes, "/specs/x"), Path::of("specs"));
        assert_eq!(path_of(&attributes, "query:limit"), Path::default());
    }
}

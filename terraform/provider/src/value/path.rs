//! Where in a value something is, for diagnostics and replacements.

use crate::plugin::messages::{AttributePath, PathStep, Selector};
use std::fmt;

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Into an attribute.
    Attribute(String),
    /// To an item of a list.
    Index(usize),
    /// To an entry of a map.
    Key(String),
}

/// A path from the resource downwards.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The path to an attribute of the resource.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self::default().attribute(name)
    }

    /// One step further, into an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Self {
        self.with(Step::Attribute(name.to_owned()))
    }

    /// One step further, to an item.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    /// One step further, to an entry of a map.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned()))
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

/// As a JSON pointer, like those of the API.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            Step::Attribute(name) | Step::Key(name) => {
                write!(f, "/{}", name.replace('~', "~0").replace('/', "~1"))
            }
            Step::Index(index) => write!(f, "/{index}"),
        })
    }
}

impl From<&Path> for AttributePath {
    fn from(path: &Path) -> Self {
        let steps = path.0.iter().map(|step| PathStep {
            selector: Some(match step {
                Step::Attribute(name) => Selector::Attribute(name.clone()),
                Step::Index(index) => Selector::Index(i64::try_from(*index).unwrap_or(i64::MAX)),
                Step::Key(key) => Selector::Key(key.clone()),
            }),
        });
        Self { steps: steps.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_as_a_pointer() {
        let path = Path::of("prices").index(1).attribute("tiers").key("a/b~c");
        assert_eq!(path.to_string(), "/prices/1/tiers/a~1b~0c");
    }
}

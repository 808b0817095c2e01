//! Names and values: of a query, or of a form that was sent.

use url::form_urlencoded::{self, Serializer};

/// More fields than any form has.
const MOST: usize = 512;

/// Pairs, in the order in which they came. Empty values are those of fields that were left empty: as good as absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads them.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(text).take(MOST);
        let owned = pairs.map(|(name, value)| (name.into_owned(), value.into_owned()));
        Self(owned.collect())
    }

    /// A value that is not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut named = self.0.iter().filter(|(found, value)| found == name && !value.is_empty());
        named.next().map(|(_, value)| value.as_str())
    }

    /// The same without spaces around it; empty where there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default().trim()
    }

    /// All values of a name that are not empty.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(found, value)| found == name && !value.is_empty());
        named.map(|(_, value)| value.as_str())
    }

    /// Whether a box is ticked.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A query of those with one of these names, with what is to be added.
    pub(crate) fn query(&self, names: &[&str], more: &[(&str, &str)]) -> String {
        let mut query = Serializer::new(String::new());
        let kept = self.0.iter().filter(|(name, value)| {
            names.contains(&name.as_str())
                && !value.trim().is_empty()
                && !more.iter().any(|(added, _)| added == name)
        });
        query.extend_pairs(kept);
        query.extend_pairs(more.iter().filter(|(_, value)| !value.is_empty()));
        query.finish()
    }
}

/// `path` with a query, where there is one.
pub(crate) fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_keeps_the_named_fields_and_replaces_what_is_added() {
        let fields =
            Fields::parse(b"state=ready&state=running&cursor=x&name=&label=a%3Db+c&other=1");
        let names = ["state", "label", "name", "cursor"];
        let query = fields.query(&names, &[("cursor", "y"), ("limit", "")]);
        assert_eq!(query, "state=ready&state=running&label=a%3Db+c&cursor=y");
        assert_eq!((fields.get("name"), fields.text("other")), (None, "1"));
        assert_eq!(fields.all("state").collect::<Vec<_>>(), ["ready", "running"]);
        assert_eq!(with_query("/tasks", ""), "/tasks");
    }
}

//! Which labels an object must carry to be deleted by `--prune`.

use std::collections::BTreeMap;

/// A label with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelValue {
    key: String,
    value: String,
}

/// A label as it is typed: only equality, so that what has no label is never meant.
pub fn label(text: &str) -> Result<LabelValue, String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() && !key.ends_with('!') && !value.starts_with('=') => {
            Ok(LabelValue { key: key.to_owned(), value: value.to_owned() })
        }
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// Whether `labels` has each of `wanted`, of which there must be one at least.
pub(super) fn carries(labels: &BTreeMap<String, String>, wanted: &[LabelValue]) -> bool {
    let has = |one: &LabelValue| labels.get(&one.key) == Some(&one.value);
    !wanted.is_empty() && wanted.iter().all(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_carries_every_label_is_meant() {
        let labels = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let wanted = [label("app=shop").unwrap(), label("env=").unwrap()];
        assert!(carries(&labels(&[("app", "shop"), ("env", ""), ("x", "y")]), &wanted));
        for other in [&[("app", "shop")][..], &[("app", "shop2"), ("env", "")], &[]] {
            assert!(!carries(&labels(other), &wanted), "{other:?}");
        }
        assert!(!carries(&labels(&[("app", "shop")]), &[]), "without a selector nothing is meant");
        for bad in ["app", "=x", "app!=x", "app==x", ""] {
            assert!(label(bad).is_err(), "{bad}");
        }
    }
}

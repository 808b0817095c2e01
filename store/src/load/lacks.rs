//! How sizes without room are written down: one JSON array of five figures each; those of one driver by its name.

use domain::placement::{Lacks, Shapes};
use domain::resources::Resources;
use domain::task::DriverName;
use std::collections::BTreeMap;

type Sizes = Vec<[u32; 5]>;

/// Of all drivers, and by driver.
pub(super) fn to_json(lacks: &Lacks) -> (String, String) {
    let sizes = |shapes: &Shapes| -> Sizes {
        shapes.least().iter().map(|size| size.dimensions()).collect()
    };
    let by_driver: BTreeMap<&str, Sizes> =
        lacks.by_driver().iter().map(|(driver, shapes)| (driver.as_str(), sizes(shapes))).collect();
    (
        serde_json::to_string(&sizes(lacks.any())).unwrap_or_else(|_| "[]".to_owned()),
        serde_json::to_string(&by_driver).unwrap_or_else(|_| "{}".to_owned()),
    )
}

/// What cannot be read parks nothing: at worst a task is tried in vain.
pub(crate) fn of_json(any: &str, by_driver: Option<&str>) -> Lacks {
    let any: Sizes = serde_json::from_str(any).unwrap_or_default();
    let by_driver: BTreeMap<String, Sizes> =
        by_driver.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let of = |(name, sizes): (String, Sizes)| {
        let driver = name.parse::<DriverName>().ok();
        let sizes = driver.map(|_| sizes).unwrap_or_default();
        sizes.into_iter().map(move |size| (driver, size))
    };
    let all = any.into_iter().map(|size| (None, size)).chain(by_driver.into_iter().flat_map(of));
    all.map(|(driver, size)| (driver, Resources::from_dimensions(size))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_what_cannot_be_read_is_left_out() {
        let size = |n| Resources::from_dimensions([n; 5]);
        let lacks: Lacks = [(None, size(9)), ("noop".parse().ok(), size(2))].into_iter().collect();
        let (any, by_driver) = to_json(&lacks);
        assert_eq!(
            (any.as_str(), by_driver.as_str()),
            ("[[9,9,9,9,9]]", r#"{"noop":[[2,2,2,2,2]]}"#)
        );
        assert_eq!(of_json(&any, Some(&by_driver)), lacks);
        assert!(of_json("{}", Some(r#"{"No Name":[[1,1,1,1,1]]}"#)).is_empty());
        assert_eq!(of_json(&any, None).least().count(), 1);
    }
}

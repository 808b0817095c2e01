//! Drivers of executors, as columns hold them.

use domain::task::DriverSet;

/// For `string_to_array(..., ',')`, because an argument of a statement is no array of arrays.
pub(crate) fn to_text(drivers: &DriverSet) -> Option<String> {
    let names = drivers.names()?;
    Some(names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(","))
}

/// Names that this release cannot read are left out.
pub(crate) fn of_column(names: Option<&Vec<String>>) -> DriverSet {
    names.map_or_else(DriverSet::default, |names| {
        DriverSet::of(names.iter().filter_map(|name| name.parse().ok()))
    })
}

//! `/v1/admin/…`: what operators do, with an operator key. One file per noun.

mod canaries;
mod costs;
mod executors;
mod invoices;
mod operator_keys;
mod plans;
mod pools;
mod price_books;
mod price_dry_run;
mod restore;
mod tenant_keys;
mod tenant_users;
mod tenants;
mod usage_events;

pub use costs::TenantCostsQuery;
pub use price_dry_run::PriceDryRunQuery;
pub use usage_events::UsageEvents;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// A path of a fixed beginning and further parts, which may be any text. An empty part and those that a URL takes for a step (`.`, `..`)
/// name nothing: `-` stands for them, which no object is named.
fn path(parts: &[&str]) -> String {
    let mut parts = parts.iter();
    let mut path = parts.next().map_or_else(String::new, |first| (*first).to_owned());
    for part in parts {
        path.push('/');
        match *part {
            "" | "." | ".." => path.push('-'),
            part => path.extend(utf8_percent_encode(part, NON_ALPHANUMERIC)),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn no_part_of_a_path_leads_out_of_its_place() {
        let of = |part| path(&["/v1/admin/plans", part, "x"]);
        assert_eq!(of("a/b"), "/v1/admin/plans/a%2Fb/x");
        for step in ["", ".", ".."] {
            assert_eq!(of(step), "/v1/admin/plans/-/x");
        }
    }
}

//! The version of all that due times follow from, which is kept with each due time: where it is another, the due time is found again.

use super::zone::tzdb_release;
use std::sync::LazyLock;

/// Counts the changes of what a timing means. Increase it with each change by which a stored timing is due at other times.
///
/// 2: a pattern with `*` at the start of its minute or hour recurs, and no other; a field of days that begins with `*` is open.
const MEANING: u32 = 2;

static VERSION: LazyLock<String> = LazyLock::new(|| format!("{}+{MEANING}", tzdb_release()));

/// The release of the time zone data and the version of what timings mean, for example `2026e+2`.
#[must_use]
pub fn rules_version() -> &'static str {
    &VERSION
}

/// The release of the time zone data in a version of [`rules_version`]; also in one of old, which was only that.
#[must_use]
pub fn tzdb_of(version: &str) -> &str {
    version.split_once('+').map_or(version, |(tzdb, _)| tzdb)
}

/// Whether timings of `version` mean what they mean now.
#[must_use]
pub fn is_same_meaning(version: &str) -> bool {
    let meaning = version.split_once('+').map(|(_, meaning)| meaning.parse());
    meaning == Some(Ok(MEANING))
}

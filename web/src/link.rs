//! Links that sign somebody in, once.
//!
//! `berth up` prints them. A link holds its credential encrypted, so there is no table of links; the process that is asked
//! remembers which were used. The rule: a process takes none that was made before it started, for it cannot know whether that was
//! used.

use crate::seal::Sealer;
use domain::time::Timestamp;
use parking_lot::Mutex;
use runtime::clock::wall;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

const PURPOSE: &str = "link/v1";
/// A link that nobody followed for so long is over.
const LIFE_SECONDS: i64 = 3600;

#[derive(Serialize, Deserialize)]
struct Link {
    id: u64,
    credential: String,
    /// Microseconds of Unix time.
    made_at: i64,
}

/// The path, with its query, that signs a browser in with `credential`, an API key or an operator key: once, within an hour.
/// `key` is that of the installation's cookies. `None` without random bytes.
#[must_use]
pub fn sign_in_path(key: &[u8; 32], credential: &str) -> Option<String> {
    let sealer = Sealer::new(key)?;
    let made_at = wall().timestamp_micros();
    let id = u64::from_le_bytes(sealer.random()?);
    let link = Link { id, credential: credential.to_owned(), made_at };
    let token = sealer.seal(PURPOSE, &serde_json::to_vec(&link).ok()?)?;
    Some(format!("/sign-in/link?token={token}"))
}

/// The links that this process has taken.
#[derive(Debug)]
pub(crate) struct Links {
    since: Timestamp,
    used: Mutex<HashMap<u64, i64>>,
}

impl Links {
    /// Takes links that are made from `since` on.
    pub(crate) fn new(since: Timestamp) -> Self {
        Self { since, used: Mutex::default() }
    }

    /// The credential of a link that is good: it is used from now on.
    pub(crate) fn take(&self, sealer: &Sealer, token: &str, now: Timestamp) -> Option<String> {
        let link: Link = serde_json::from_slice(&sealer.open(PURPOSE, token)?).ok()?;
        let is_live = |made_at: i64| made_at + LIFE_SECONDS * 1_000_000 > now.timestamp_micros();
        if link.made_at < self.since.timestamp_micros() || !is_live(link.made_at) {
            return None;
        }
        let mut used = self.used.lock();
        used.retain(|_, made_at| is_live(*made_at));
        used.insert(link.id, link.made_at).is_none().then_some(link.credential)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    #[test]
    fn a_link_is_good_once_within_an_hour_and_in_no_process_that_started_after_it() {
        let (before, key) = (wall(), [3; 32]);
        let path = sign_in_path(&key, "berth_live_x").unwrap();
        let token = path.strip_prefix("/sign-in/link?token=").unwrap();
        let sealer = Sealer::new(&key).unwrap();
        let take = |links: &Links, now| links.take(&sealer, token, now);

        let links = Links::new(before);
        assert_eq!(take(&links, before + TimeDelta::hours(2)), None, "too late");
        assert_eq!(take(&links, before).as_deref(), Some("berth_live_x"));
        assert_eq!(take(&links, before), None, "it was used");
        assert_eq!(take(&Links::new(wall() + TimeDelta::seconds(1)), before), None);
        assert_eq!(links.take(&Sealer::new(&[4; 32]).unwrap(), token, before), None);
    }
}

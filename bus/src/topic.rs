//! Wake-up topics: which loops may have something to do.
//!
//! A wake-up carries no payload and may be lost: each of these loops also polls, at least every
//! 200 ms. So a lost wake-up costs that long and nothing else.

/// Which loops to wake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Topic {
    /// The scheduler's batcher: tasks became ready, or capacity rose.
    Batcher,
    /// The schedulers' clock work: a task became due by something other than time (a lapse, a failed attempt).
    ShardOwner,
    /// Resource managers: a cancel, a drain or a takeover.
    ResourceManager,
    /// Readers of live output: a chunk was stored.
    Output,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 4] =
        [Self::Batcher, Self::ShardOwner, Self::ResourceManager, Self::Output];

    /// Its name as routing key and metric label.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The topic of a routing key.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.as_str() == name)
    }

    /// Its index in [`Self::ALL`].
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// Its bit in a set of topics.
    pub(crate) const fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_found_by_its_name_place_and_bit() {
        for (place, topic) in Topic::ALL.into_iter().enumerate() {
            assert_eq!(Topic::from_name(topic.as_str()), Some(topic));
            assert_eq!(topic.index(), place);
            assert_eq!(topic.bit(), 1 << place);
        }
        assert_eq!(Topic::from_name("unknown"), None);
    }
}

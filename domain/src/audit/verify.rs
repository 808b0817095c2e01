//! Checks a chain and reports faults.
//!
//! Reads link by link in order of positions, so chains of any length can be checked. It cannot detect rows removed at
//! the end together with their seals *and* a reset head; for that, store the head elsewhere.

use super::{Entry, Seal, seal};
use crate::id::AuditId;
use std::fmt;

/// A place in a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Counted from 1.
    pub position: u64,
    /// The stored seal.
    pub seal: Seal,
    /// Which row has this place.
    pub id: AuditId,
    /// The row, if it is still there.
    pub entry: Option<Entry>,
}

/// Where a chain ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last position; 0 for none.
    pub position: u64,
    /// The last seal.
    pub seal: Seal,
}

/// A fault of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Places without a seal.
    Missing {
        /// The first of them.
        first: u64,
        /// The last.
        last: u64,
    },
    /// The row of a place was removed.
    Removed {
        /// The place.
        position: u64,
        /// The row that it had.
        id: AuditId,
    },
    /// The row differs from what was sealed.
    Changed {
        /// The place.
        position: u64,
        /// The row.
        id: AuditId,
    },
    /// The row is as sealed, but the stored seal is wrong.
    WrongSeal {
        /// The place.
        position: u64,
        /// The row.
        id: AuditId,
    },
    /// The chain does not end at the stored head.
    WrongHead {
        /// Where it ends.
        position: u64,
    },
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { first, last } if first == last => {
                write!(f, "position {first} is missing")
            }
            Self::Missing { first, last } => write!(f, "positions {first} to {last} are missing"),
            Self::Removed { position, id } => write!(f, "position {position}: {id} was removed"),
            Self::Changed { position, id } => write!(f, "position {position}: {id} was changed"),
            Self::WrongSeal { position, id } => {
                write!(f, "position {position}: the hash of {id} is wrong")
            }
            Self::WrongHead { position } => {
                write!(f, "the chain does not end as was noted, after position {position}")
            }
        }
    }
}

/// A link that does not match its predecessor; the next link shows whether the row or the seal is wrong.
#[derive(Debug, Clone, Copy)]
struct Doubt {
    position: u64,
    id: AuditId,
    /// The seal computed from the row.
    wanted: Seal,
}

/// Walks one chain.
#[derive(Debug)]
pub struct Verifier {
    position: u64,
    seal: Seal,
    doubt: Option<Doubt>,
    gaps: Vec<Gap>,
}

impl Default for Verifier {
    fn default() -> Self {
        Self { position: 0, seal: Seal::START, doubt: None, gaps: Vec::new() }
    }
}

impl Verifier {
    /// The last position that was walked over; 0 at first.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Checks one link. Positions must rise; returns at most two faults at once.
    pub fn walk(&mut self, link: &Link) {
        let next = self.position + 1;
        let follows = link.position == next;
        let fits = |previous: Seal| {
            link.entry.as_ref().is_some_and(|row| seal(previous, next, row) == link.seal)
        };
        let doubt = self.doubt.take();
        // If the chain continues from the computed seal, the row is intact and only its stored seal was changed.
        let went_on = doubt.filter(|doubt| follows && fits(doubt.wanted));
        if let Some(doubt) = doubt {
            self.judge(doubt, went_on.is_some());
        }
        let previous = went_on.map_or(self.seal, |doubt| doubt.wanted);
        if !follows {
            self.gaps.push(Gap::Missing { first: next, last: link.position - 1 });
        }
        match &link.entry {
            None => self.gaps.push(Gap::Removed { position: link.position, id: link.id }),
            // After a gap the previous seal is unknown.
            Some(_) if !follows => {}
            Some(row) => {
                let wanted = seal(previous, link.position, row);
                if wanted != link.seal {
                    self.doubt = Some(Doubt { position: link.position, id: link.id, wanted });
                }
            }
        }
        (self.position, self.seal) = (link.position, link.seal);
    }

    /// All faults after the last link; none in an intact chain.
    #[must_use]
    pub fn finish(mut self, head: Head) -> Vec<Gap> {
        let right_end = self
            .doubt
            .is_some_and(|doubt| (head.position, head.seal) == (doubt.position, doubt.wanted));
        if let Some(doubt) = self.doubt.take() {
            self.judge(doubt, right_end);
        }
        if head.position > self.position {
            self.gaps.push(Gap::Missing { first: self.position + 1, last: head.position });
        } else if (head.position, head.seal) != (self.position, self.seal) && !right_end {
            self.gaps.push(Gap::WrongHead { position: self.position });
        }
        self.gaps
    }

    fn judge(&mut self, Doubt { position, id, .. }: Doubt, sound_row: bool) {
        self.gaps.push(if sound_row {
            Gap::WrongSeal { position, id }
        } else {
            Gap::Changed { position, id }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::tests::{CHANGES, entry};
    use super::*;

    const LENGTH: u8 = 6;

    fn chain() -> (Vec<Link>, Head) {
        let (mut links, mut last) = (Vec::new(), Seal::START);
        for number in 1..=LENGTH {
            let (position, row) = (u64::from(number), entry(number));
            last = seal(last, position, &row);
            links.push(Link { position, seal: last, id: row.id, entry: Some(row) });
        }
        (links, Head { position: u64::from(LENGTH), seal: last })
    }

    fn verified(links: &[Link], head: Head) -> Vec<Gap> {
        let mut verifier = Verifier::default();
        links.iter().for_each(|link| verifier.walk(link));
        verifier.finish(head)
    }

    #[test]
    fn a_sound_chain_has_no_gap_and_neither_has_an_empty_one() {
        let (links, head) = chain();
        assert_eq!(verified(&links, head), []);
        assert_eq!(verified(&[], Head { position: 0, seal: Seal::START }), []);
    }

    #[test]
    fn a_removed_row_is_named_wherever_it_was() {
        for at in 0..LENGTH.into() {
            let (mut links, head) = chain();
            links[at].entry = None;
            let gap = Gap::Removed { position: at as u64 + 1, id: links[at].id };
            assert_eq!(verified(&links, head), [gap]);
        }
    }

    #[test]
    fn a_row_removed_with_its_seal_is_a_missing_position() {
        for at in 0..LENGTH.into() {
            let (mut links, head) = chain();
            links.remove(at);
            let position = at as u64 + 1;
            let gap = Gap::Missing { first: position, last: position };
            assert_eq!(verified(&links, head), [gap]);
        }
        let (links, head) = chain();
        assert_eq!(verified(&links[..4], head), [Gap::Missing { first: 5, last: 6 }]);
        assert_eq!(verified(&links[2..], head), [Gap::Missing { first: 1, last: 2 }]);
    }

    #[test]
    fn a_row_that_was_changed_in_anything_is_named() {
        for change in CHANGES {
            for at in 0..LENGTH.into() {
                let (mut links, head) = chain();
                let id = links[at].id;
                change(links[at].entry.as_mut().unwrap());
                let gap = Gap::Changed { position: at as u64 + 1, id };
                assert_eq!(verified(&links, head), [gap]);
            }
        }
    }

    #[test]
    fn a_seal_that_was_changed_is_told_from_a_row_that_was() {
        for at in 0..LENGTH.into() {
            let (mut links, head) = chain();
            links[at].seal = Seal([1; 32]);
            let gap = Gap::WrongSeal { position: at as u64 + 1, id: links[at].id };
            assert_eq!(verified(&links, head), [gap]);
        }
    }

    #[test]
    fn several_wrongs_are_all_named() {
        let (mut links, head) = chain();
        links[0].entry.as_mut().unwrap().action = "key.revoke".to_owned();
        links[1].entry = None;
        links.remove(3);
        let (first, second) = (links[0].id, links[1].id);
        let wanted = [
            Gap::Changed { position: 1, id: first },
            Gap::Removed { position: 2, id: second },
            Gap::Missing { first: 4, last: 4 },
        ];
        assert_eq!(verified(&links, head), wanted);
    }

    #[test]
    fn rows_that_changed_places_are_named() {
        let (mut links, head) = chain();
        let (left, right) = links.split_at_mut(3);
        std::mem::swap(&mut left[2].entry, &mut right[0].entry);
        let gaps = verified(&links, head);
        assert_eq!(gaps.len(), 2, "{gaps:?}");
        assert!(gaps.iter().all(|gap| matches!(gap, Gap::Changed { position: 3 | 4, .. })));
    }

    #[test]
    fn a_head_that_was_set_back_or_forged_is_named() {
        let (links, head) = chain();
        let gap = Gap::WrongHead { position: head.position };
        assert_eq!(verified(&links, Head { position: 3, seal: links[2].seal }), [gap]);
        assert_eq!(verified(&links, Head { seal: Seal([2; 32]), ..head }), [gap]);
        assert_eq!(verified(&links, Head { position: 0, seal: Seal::START }), [gap]);
    }
}

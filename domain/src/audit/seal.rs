//! Links a row of the audit log to the previous one.

use super::Entry;
use sha2::{Digest, Sha256};
use std::fmt;

/// A hash of a row and all rows before it: a change of one row would need new seals for all later ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seal(pub [u8; 32]);

impl Seal {
    /// The predecessor of the first row of a chain.
    pub const START: Self = Self([0; 32]);
}

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The seal of `entry` at `position`, counted from 1, after `previous`.
#[must_use]
pub fn seal(previous: Seal, position: u64, entry: &Entry) -> Seal {
    let mut sha = Sha256::new();
    sha.update(b"berth audit 1");
    sha.update(previous.0);
    sha.update(position.to_be_bytes());
    sha.update(entry.encode());
    Seal(sha.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::super::entry::tests::{CHANGES, entry};
    use super::*;

    #[test]
    fn a_seal_is_another_after_another_seal_in_another_place_and_for_another_row() {
        let one = seal(Seal::START, 1, &entry(1));
        assert_eq!(one, seal(Seal::START, 1, &entry(1)));
        assert_ne!(one, seal(one, 1, &entry(1)));
        assert_ne!(one, seal(Seal::START, 2, &entry(1)));
        for change in CHANGES {
            let mut changed = entry(1);
            change(&mut changed);
            assert_ne!(one, seal(Seal::START, 1, &changed), "{changed:?}");
        }
    }

    #[test]
    fn the_form_of_seals_does_not_change_between_versions() {
        let text = seal(Seal::START, 1, &entry(1)).to_string();
        assert_eq!(text, "f2fa5fe361b4da57685134083dc3cc83314ae86d51d4aca42b125fa5418fab00");
    }
}

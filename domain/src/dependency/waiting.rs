//! What a task that waits for others still needs.

/// The two counters of a task that waits for others. `store` keeps them in its row and counts in SQL as [`Waiting::decide`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// So many more edges must hold.
    pub needs: u32,
    /// Edges whose parents have not ended.
    pub undecided: u32,
}

/// What is known of a task that waits for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It waits on.
    Waits(Waiting),
    /// Enough edges hold: it is released. What its other parents do changes nothing.
    Released,
    /// Too few can still hold: it is to be skipped.
    Doomed,
}

impl Waiting {
    /// After an edge was decided: it `holds`, or it does not and never will.
    #[must_use]
    pub const fn decide(self, holds: bool) -> Verdict {
        let left = Self {
            needs: self.needs.saturating_sub(holds as u32),
            undecided: self.undecided.saturating_sub(1),
        };
        left.verdict()
    }

    /// What the counters say.
    #[must_use]
    pub const fn verdict(self) -> Verdict {
        if self.needs == 0 {
            Verdict::Released
        } else if self.undecided < self.needs {
            Verdict::Doomed
        } else {
            Verdict::Waits(self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_any_and_some() {
        let waiting = |needs, undecided| Waiting { needs, undecided };
        assert_eq!(waiting(2, 2).decide(true), Verdict::Waits(waiting(1, 1)));
        assert_eq!(waiting(1, 1).decide(true), Verdict::Released);
        assert_eq!(waiting(2, 2).decide(false), Verdict::Doomed);
        assert_eq!(waiting(1, 3).decide(false), Verdict::Waits(waiting(1, 2)));
        assert_eq!(waiting(1, 3).decide(true), Verdict::Released);
        assert_eq!(waiting(1, 1).decide(false), Verdict::Doomed);
    }

    proptest! {
        /// The order in which parents end changes when a task is released or skipped, and never which of the two.
        #[test]
        fn the_order_of_ends_does_not_matter(holds in prop::collection::vec(any::<bool>(), 1..12), wanted in 1u32..12, turn in 0usize..12) {
            let undecided = u32::try_from(holds.len()).unwrap();
            let needs = wanted.min(undecided);
            let end = |order: &[bool]| {
                let mut waiting = Waiting { needs, undecided };
                for holds in order {
                    match waiting.decide(*holds) {
                        Verdict::Waits(left) => waiting = left,
                        decided => return decided,
                    }
                }
                Verdict::Waits(waiting)
            };
            let mut turned = holds.clone();
            turned.rotate_left(turn % holds.len());
            let enough = holds.iter().filter(|holds| **holds).count() >= needs as usize;
            prop_assert_eq!(end(&holds), if enough { Verdict::Released } else { Verdict::Doomed });
            prop_assert_eq!(end(&holds), end(&turned));
        }
    }
}

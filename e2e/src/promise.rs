//! The promises, as values: what a check is about, and what a run found against it.

use std::collections::BTreeMap;
use std::fmt;

/// What Berth promises, in the order and with the numbers of the design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promise {
    /// 1: what was acknowledged is there.
    Durable,
    /// 2: exactly one end a task.
    EndsOnce,
    /// 3: leases of one task never overlap, and a stale one has no effect.
    Leases,
    /// 4: attempts are dense, and those lost to the infrastructure cost nothing.
    Attempts,
    /// 5: never more is granted than there is.
    Capacity,
    /// 6: one firing a due time, none early or silently missed.
    Fires,
    /// 7: a child starts after its parents, once.
    Workflows,
    /// 8: a bill is the sum of the attempts.
    Bills,
    /// 9: nobody sees what is another's.
    Isolation,
    /// 10: limits hold over all replicas, and say so.
    Limits,
    /// 11: work resumes by itself, in time.
    Resumes,
    /// 12: each event reaches each consumer.
    Events,
}

impl Promise {
    /// All of them, in order.
    pub const ALL: [Self; 12] = [
        Self::Durable,
        Self::EndsOnce,
        Self::Leases,
        Self::Attempts,
        Self::Capacity,
        Self::Fires,
        Self::Workflows,
        Self::Bills,
        Self::Isolation,
        Self::Limits,
        Self::Resumes,
        Self::Events,
    ];

    /// Its number, 1 to 12.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// In a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Durable => "what was acknowledged is there, and nothing else",
            Self::EndsOnce => "each task ends exactly once",
            Self::Leases => "leases of a task never overlap; a stale one has no effect",
            Self::Attempts => "attempts are dense; what infrastructure lost costs nothing",
            Self::Capacity => "never more is granted than there is; all is free at the end",
            Self::Fires => "one firing a due time: none early, doubled or silently missed",
            Self::Workflows => "children start after their parents, once",
            Self::Bills => "a bill is the sum of the attempts, to the last unit",
            Self::Isolation => "foreign and unknown ids answer alike: 404",
            Self::Limits => "limits hold over all replicas; each refusal says when to return",
            Self::Resumes => "work resumes by itself, in time",
            Self::Events => "each event reaches its consumer, in spite of transactions left open",
        }
    }
}

/// Something that is not as it was promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which promise it breaks.
    pub promise: Promise,
    /// How often, at least 1.
    pub count: u64,
    /// What, as the rest of a sentence that begins with the count.
    pub what: String,
}

impl Violation {
    /// One of a kind that happened so often; none for zero. A negative count is as bad as a positive one.
    #[must_use]
    pub fn counted(promise: Promise, count: i64, what: impl Into<String>) -> Option<Self> {
        let what = if count < 0 { format!("(too few) {}", what.into()) } else { what.into() };
        (count != 0).then(|| Self { promise, count: count.unsigned_abs(), what })
    }

    /// One for each sentence.
    pub fn each(
        promise: Promise,
        sentences: impl IntoIterator<Item = String>,
    ) -> impl Iterator<Item = Self> {
        sentences.into_iter().map(move |what| Self { promise, count: 1, what })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "promise {}: {} {}", self.promise.number(), self.count, self.what)
    }
}

/// How often each promise was broken, zero where it held.
#[must_use]
pub fn by_promise(violations: &[Violation]) -> BTreeMap<Promise, u64> {
    let mut counts: BTreeMap<Promise, u64> =
        Promise::ALL.into_iter().map(|promise| (promise, 0)).collect();
    for violation in violations {
        *counts.entry(violation.promise).or_default() += violation.count;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_numbered_as_in_the_design() {
        let numbers: Vec<u8> = Promise::ALL.into_iter().map(Promise::number).collect();
        assert_eq!(numbers, (1..=12).collect::<Vec<u8>>());
    }

    #[test]
    fn counts_add_up_and_none_is_no_violation() {
        assert_eq!(Violation::counted(Promise::Durable, 0, "task(s)"), None);
        let found: Vec<Violation> = [3, -2]
            .into_iter()
            .filter_map(|count| Violation::counted(Promise::Bills, count, "bill(s)"))
            .collect();
        let counts = by_promise(&found);
        assert_eq!(counts[&Promise::Bills], 5);
        assert_eq!(counts.values().sum::<u64>(), 5);
    }
}

//! What is truly enforced here: for the log, the metrics, and whoever starts an executor inside another process.

use crate::metrics::ENFORCED;
use std::fmt;

/// How firmly something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// The kernel refuses.
    Enforced,
    /// The executor looks a few times a second and kills an attempt that has passed it.
    Watched,
    /// Nothing holds it.
    Missing,
}

/// One thing that an attempt is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Its name, as in the metric `berth_executor_limit_enforced`.
    pub name: &'static str,
    /// How firmly it holds on this machine.
    pub strength: Strength,
}

/// All that attempts of the `command` driver are held to. Its `Display` is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsolationReport {
    limits: Vec<Limit>,
    notes: Vec<String>,
}

/// What was found to work.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Works {
    pub(crate) own_user: bool,
    pub(crate) sandbox: bool,
    pub(crate) memory: bool,
    pub(crate) pids: bool,
    pub(crate) cpu: bool,
}

impl IsolationReport {
    pub(crate) fn new(works: Works, notes: Vec<String>) -> Self {
        let or = |holds: bool, otherwise: Strength| {
            if holds { Strength::Enforced } else { otherwise }
        };
        let wall = or(works.sandbox, Strength::Missing);
        let limits = [
            ("own user", or(works.own_user, Strength::Missing)),
            ("user namespace", wall),
            ("pid namespace", wall),
            ("mount namespace", wall),
            ("ipc namespace", wall),
            ("network namespace", wall),
            ("no capabilities", wall),
            ("seccomp", wall),
            ("no new privileges", Strength::Enforced),
            ("memory", or(works.memory, Strength::Watched)),
            ("pids", or(works.pids, Strength::Watched)),
            ("cpu", or(works.cpu, Strength::Missing)),
            ("open files", Strength::Enforced),
            ("disk", Strength::Watched),
            ("inodes", Strength::Watched),
        ];
        let limits = limits.map(|(name, strength)| Limit { name, strength });
        Self { limits: limits.to_vec(), notes }
    }

    /// Each of them.
    #[must_use]
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// Why what is missing is missing, a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How firmly the limit with this name holds; [`Strength::Missing`] when there is none.
    #[must_use]
    pub fn strength(&self, name: &str) -> Strength {
        let found = self.limits.iter().find(|limit| limit.name == name);
        found.map_or(Strength::Missing, |limit| limit.strength)
    }

    pub(crate) fn publish(&self) {
        for limit in &self.limits {
            let value = f64::from(u8::from(limit.strength == Strength::Enforced));
            ENFORCED.with(&[limit.name]).set(value);
        }
    }

    fn names(&self, strength: Strength) -> String {
        let of = self.limits.iter().filter(|limit| limit.strength == strength);
        let names: Vec<&str> = of.map(|limit| limit.name).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    }
}

impl fmt::Display for IsolationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [enforced, watched, missing] =
            [Strength::Enforced, Strength::Watched, Strength::Missing].map(|one| self.names(one));
        write!(f, "enforced: {enforced}; watched: {watched}; not enforced: {missing}")?;
        for note in &self.notes {
            write!(f, "; {note}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_says_what_holds_and_what_does_not() {
        let some = Works { memory: true, ..Works::default() };
        let report = IsolationReport::new(some, vec!["no bubblewrap".to_owned()]);
        assert_eq!(report.strength("memory"), Strength::Enforced);
        assert_eq!(report.strength("cpu"), Strength::Missing);
        let line = report.to_string();
        assert!(
            line.starts_with("enforced: no new privileges, memory, open files; watched: pids,")
        );
        assert!(line.ends_with("network namespace, no capabilities, seccomp, cpu; no bubblewrap"));
        let all = Works { own_user: true, sandbox: true, memory: true, pids: true, cpu: true };
        let line = IsolationReport::new(all, Vec::new()).to_string();
        assert!(line.ends_with("watched: disk, inodes; not enforced: nothing"), "{line}");
    }
}

//! Quarantine of executors that return their work.
//!
//! Used by each resource manager for its executors; pure: times are passed in, relative to a fixed start. Each returned
//! attempt adds one, each completed one subtracts one, so an executor that returns more than it runs is quarantined. In
//! quarantine it gets no work; then one attempt as a probe, whose result decides. Each quarantine is twice as long as
//! the previous one, until there was none for the longest duration.

use std::time::Duration;

/// When an executor goes into quarantine, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuarantineRule {
    /// Surplus of returned attempts that starts a quarantine.
    pub after: u32,
    /// First duration.
    pub least: Duration,
    /// At most.
    pub most: Duration,
}

/// End of an attempt with regard to its executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It ran, with any result, or was cancelled.
    Ran,
    /// It was returned: never started, handed back, or lost.
    CameBack,
}

/// Work that an executor may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Any that fits.
    All,
    /// One attempt.
    Probe,
    /// Nothing for now.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Standing {
    #[default]
    Trusted,
    Quarantined {
        until: Duration,
    },
    Probing,
}

/// Conduct of one executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Conduct {
    surplus: u32,
    standing: Standing,
    /// Quarantines in succession.
    rounds: u32,
    /// End of the last one.
    last: Duration,
}

impl Conduct {
    /// Work that it may get at `now`.
    #[must_use]
    pub fn admission(&self, now: Duration) -> Admission {
        match self.standing {
            Standing::Trusted => Admission::All,
            Standing::Quarantined { until } if until <= now => Admission::Probe,
            Standing::Quarantined { .. } | Standing::Probing => Admission::Nothing,
        }
    }

    /// Whether it gets at most a probe.
    #[must_use]
    pub fn is_quarantined(&self) -> bool {
        self.standing != Standing::Trusted
    }

    /// Whether it equals a new one.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.surplus == 0 && self.rounds == 0 && !self.is_quarantined()
    }

    /// Records an assignment, which may be the probe.
    pub fn given(&mut self, now: Duration) {
        if self.admission(now) == Admission::Probe {
            self.standing = Standing::Probing;
        }
    }

    /// Records that an assignment did not reach it; a lost probe may be repeated.
    pub fn not_given(&mut self, now: Duration) {
        if self.standing == Standing::Probing {
            self.standing = Standing::Quarantined { until: now };
        }
    }

    /// Records the end of an attempt; returns the duration of a quarantine that it starts.
    pub fn ended(
        &mut self,
        rule: &QuarantineRule,
        ending: Ending,
        now: Duration,
    ) -> Option<Duration> {
        match (self.standing, ending) {
            (Standing::Trusted, Ending::Ran) => {
                self.surplus = self.surplus.saturating_sub(1);
                None
            }
            (Standing::Trusted, Ending::CameBack) => {
                self.surplus += 1;
                (self.surplus >= rule.after).then(|| self.begin(rule, now))
            }
            // An assignment from before the quarantine.
            (Standing::Quarantined { .. }, _) => None,
            (Standing::Probing, Ending::Ran) => {
                self.standing = Standing::Trusted;
                self.surplus = 0;
                None
            }
            (Standing::Probing, Ending::CameBack) => Some(self.begin(rule, now)),
        }
    }

    fn begin(&mut self, rule: &QuarantineRule, now: Duration) -> Duration {
        if now > self.last + rule.most {
            self.rounds = 0;
        }
        let twice = 2_u32.saturating_pow(self.rounds.min(31));
        let lasts = rule.least.saturating_mul(twice).min(rule.most);
        self.rounds = self.rounds.saturating_add(1);
        self.last = now + lasts;
        self.surplus = 0;
        self.standing = Standing::Quarantined { until: self.last };
        lasts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: QuarantineRule =
        QuarantineRule { after: 3, least: Duration::from_secs(5), most: Duration::from_secs(60) };

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn bad(conduct: &mut Conduct, now: Duration) -> Option<Duration> {
        conduct.ended(&RULE, Ending::CameBack, now)
    }

    #[test]
    fn what_comes_back_too_often_is_followed_by_a_probe_and_that_decides() {
        let mut conduct = Conduct::default();
        assert_eq!([bad(&mut conduct, at(0)), bad(&mut conduct, at(0))], [None, None]);
        assert_eq!(conduct.admission(at(0)), Admission::All);
        assert_eq!(bad(&mut conduct, at(1)), Some(at(5)));
        assert_eq!(bad(&mut conduct, at(1)), None, "it was given before");
        assert_eq!(conduct.admission(at(5)), Admission::Nothing);
        assert_eq!(conduct.admission(at(6)), Admission::Probe);
        conduct.given(at(6));
        assert_eq!(conduct.admission(at(7)), Admission::Nothing, "one probe");
        conduct.not_given(at(7));
        assert_eq!(conduct.admission(at(7)), Admission::Probe, "it did not arrive");
        conduct.given(at(7));
        assert_eq!(bad(&mut conduct, at(8)), Some(at(10)), "twice as long");
        conduct.given(at(18));
        assert_eq!(conduct.ended(&RULE, Ending::Ran, at(19)), None);
        assert_eq!(conduct.admission(at(19)), Admission::All);
    }

    #[test]
    fn one_that_refuses_more_than_it_runs_gets_there_and_one_that_runs_more_does_not() {
        let (mut worse, mut better) = (Conduct::default(), Conduct::default());
        let mut quarantined = false;
        for _ in 0..10 {
            for ending in [Ending::CameBack, Ending::CameBack, Ending::Ran] {
                quarantined |= worse.ended(&RULE, ending, at(1)).is_some();
            }
            for ending in [Ending::CameBack, Ending::Ran, Ending::Ran] {
                assert_eq!(better.ended(&RULE, ending, at(1)), None);
            }
        }
        assert!(quarantined);
        assert!(better.is_clean());
    }

    #[test]
    fn quarantines_grow_to_the_longest_and_are_forgotten_after_as_long() {
        let mut conduct = Conduct::default();
        let mut now = at(0);
        let mut lasted = Vec::new();
        for _ in 0..3 {
            bad(&mut conduct, now);
        }
        for _ in 0..6 {
            now += at(60);
            conduct.given(now);
            lasted.extend(bad(&mut conduct, now).map(|lasts| lasts.as_secs()));
        }
        assert_eq!(lasted, [10, 20, 40, 60, 60, 60]);
        now += at(60);
        conduct.given(now);
        conduct.ended(&RULE, Ending::Ran, now);
        now += at(61);
        assert_eq!([bad(&mut conduct, now), bad(&mut conduct, now)], [None, None]);
        assert_eq!(bad(&mut conduct, now), Some(at(5)));
    }
}

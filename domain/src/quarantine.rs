//! When an executor that gives back what it is given is left alone, and for how long.
//!
//! Kept by each resource manager of the executors connected to it; pure: times are passed in, counted from any fixed moment before.
//! Each attempt that came back counts one up, each that ran its course one down, so that an executor which refuses more than it
//! runs gets there, too. In quarantine it gets nothing; after it one attempt, the probe, and how that ends decides. Each quarantine is
//! twice as long as the one before, until there was none for as long as the longest.

use std::time::Duration;

/// When an executor goes into quarantine, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuarantineRule {
    /// At so many more attempts that came back than ran.
    pub after: u32,
    /// The first time.
    pub least: Duration,
    /// At most.
    pub most: Duration,
}

/// How an attempt ended, as far as its executor is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It ran, whatever came of it, or was cancelled.
    Ran,
    /// It came back: never started, given back, or lost.
    CameBack,
}

/// What an executor may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Whatever fits.
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

/// What is known of one executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Conduct {
    surplus: u32,
    standing: Standing,
    /// Quarantines in succession.
    rounds: u32,
    /// When the last one ended, or will.
    last: Duration,
}

impl Conduct {
    /// What it may be given at `now`.
    #[must_use]
    pub fn admission(&self, now: Duration) -> Admission {
        match self.standing {
            Standing::Trusted => Admission::All,
            Standing::Quarantined { until } if until <= now => Admission::Probe,
            Standing::Quarantined { .. } | Standing::Probing => Admission::Nothing,
        }
    }

    /// True while it gets probes at most.
    #[must_use]
    pub fn is_quarantined(&self) -> bool {
        self.standing != Standing::Trusted
    }

    /// True where nothing needs to be remembered of it.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.surplus == 0 && self.rounds == 0 && !self.is_quarantined()
    }

    /// It is given something. Where that is all it may be given, it is the probe.
    pub fn given(&mut self, now: Duration) {
        if self.admission(now) == Admission::Probe {
            self.standing = Standing::Probing;
        }
    }

    /// What it was to be given did not reach it: if it was the probe, another may go.
    pub fn not_given(&mut self, now: Duration) {
        if self.standing == Standing::Probing {
            self.standing = Standing::Quarantined { until: now };
        }
    }

    /// Notes how an attempt ended; where that begins a quarantine, how long it lasts.
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
            // What it was given before.
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

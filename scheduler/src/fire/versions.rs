//! The versions of a schedule, current and before edits, that apply to its due times.

use super::parsed::{Parsed, ParsedCache};
use chrono::TimeDelta;
use domain::id::ScheduleId;
use domain::schedule::{Coming, FireTemplate, Misfire, Overlap, Reckoner, Source, Timing};
use domain::tenant::TenantState;
use domain::time::Timestamp;
use std::sync::Arc;
use store::StoreError;
use store::fire::{Facts, Span};
use store::schedule::TimingVersion;

/// An earlier version, parsed.
struct Earlier<'a> {
    span: &'a Span,
    reckoner: Reckoner,
}

/// All versions of a schedule that may apply.
pub(super) struct Versions<'a> {
    facts: &'a Facts,
    earlier: Vec<Earlier<'a>>,
    now: Arc<Parsed>,
}

/// The version of a schedule that applies to a due time.
pub(super) struct Judged {
    pub version: i64,
    pub overlap: Overlap,
    pub misfire: Misfire,
    pub max_fires: Option<u64>,
    pub template: Arc<FireTemplate>,
    pub paused: bool,
    pub suspended: bool,
    /// End of its validity; `None`: current.
    pub until: Option<Timestamp>,
}

impl<'a> Versions<'a> {
    /// Reads what `facts` holds.
    pub(super) fn of(facts: &'a Facts, cache: &ParsedCache) -> Result<Self, StoreError> {
        let id = facts.due.schedule;
        let read = |span: &'a Span| {
            let timing: Timing = store::schedule::read_json("timing", id, &span.timing)?;
            let reckoner = store::schedule::reckoner(id, &timing, facts.created_at)?;
            Ok::<_, StoreError>(Earlier { span, reckoner })
        };
        let earlier = facts.spans.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { facts, earlier, now: cache.get(facts)? })
    }

    /// Sources of due times. A deleted schedule has none of its own.
    pub(super) fn sources(&self) -> Vec<Source<'_>> {
        let earlier = self.earlier.iter().map(|earlier| TimingVersion {
            reckoner: &earlier.reckoner,
            since: earlier.span.timing_since,
            until: Some(earlier.span.until),
        });
        let since = self.facts.timing_since;
        let now = TimingVersion { reckoner: &self.now.reckoner, since, until: None };
        let now = self.facts.deleted_at.is_none().then_some(now);
        store::schedule::sources(self.facts.created_at, earlier.chain(now))
    }

    /// The reckoner, if the next due time counts from the end of a task.
    pub(super) fn fixed_delay(&self) -> Option<&Reckoner> {
        let reckoner = &self.now.reckoner;
        (reckoner.is_fixed_delay() && self.facts.deleted_at.is_none()).then_some(reckoner)
    }

    /// The version that applies at `fire_at`; `None`: the schedule or its tenant was deleted by then.
    pub(super) fn judged(&self, fire_at: Timestamp) -> Result<Option<Judged>, StoreError> {
        let facts = self.facts;
        if facts.tenant_state == TenantState::Deleted {
            return Ok(None);
        }
        let past = facts.past_states.iter().find(|past| past.until >= fire_at);
        let state = past.map_or(facts.tenant_state, |past| past.state);
        let suspended = state != TenantState::Active;
        let earlier = self.earlier.iter().find(|earlier| earlier.span.until >= fire_at);
        let earliest = |until: Timestamp| past.map_or(until, |past| past.until.min(until));
        if let Some(Earlier { span, reckoner }) = earlier {
            let id = facts.due.schedule;
            // Parsed from the version that the database selected.
            let template = span.template.as_deref().unwrap_or_default();
            return Ok(Some(Judged {
                version: span.version,
                overlap: span.overlap,
                misfire: store::schedule::read_json("misfire", id, &span.misfire)?,
                max_fires: reckoner.max_fires(),
                template: Arc::new(store::schedule::read_template(id, template)?),
                paused: span.paused,
                suspended,
                until: Some(earliest(span.until)),
            }));
        }
        if facts.deleted_at.is_some() {
            return Ok(None);
        }
        Ok(Some(Judged {
            version: facts.version,
            overlap: facts.overlap,
            misfire: self.now.misfire,
            max_fires: self.now.reckoner.max_fires(),
            template: Arc::clone(&self.now.template),
            paused: facts.paused,
            suspended,
            until: past.map(|past| past.until),
        }))
    }

    /// Earlier versions that no longer apply once `next` is the next due time.
    pub(super) fn settled(&self, next: Option<Coming>) -> Vec<i64> {
        let is_settled = |earlier: &&Earlier<'_>| {
            let longest = TimeDelta::from_std(earlier.reckoner.jitter()).unwrap_or_default();
            next.is_none_or(|next| next.fire_at > earlier.span.until + longest)
        };
        self.earlier.iter().filter(is_settled).map(|earlier| earlier.span.version).collect()
    }

    /// The next due time after a task that ended at `ended`.
    pub(super) fn after_end(&self, ended: Timestamp) -> Option<Coming> {
        let reckoner = self.fixed_delay()?;
        let due = reckoner.after_end(ended)?;
        Some(Coming::of(self.schedule(), reckoner, due.at))
    }

    fn schedule(&self) -> ScheduleId {
        self.facts.due.schedule
    }
}

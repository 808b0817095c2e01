//! What a run is made of, and the scenarios that have a name.

use super::fault::{KINDS, Kind};
use std::time::Duration;

/// What the tenant above its limit may submit.
pub const LIMIT_PER_SECOND: u32 = 10;
/// The tenants whose tasks are counted one by one: a condition on a row `h`.
pub const OURS: &str =
    "h.tenant_id in (select t.id from tenant t where t.name in ('acme', 'globex'))";

/// A load and what is done to Berth meanwhile.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What it is called.
    pub name: String,
    /// Tasks of the customers under faults, of both tenants together.
    pub tasks: usize,
    /// Tasks a second.
    pub rate: f64,
    /// Tasks of the run in peace before it, at the same rate.
    pub calm_tasks: usize,
    /// Due times of schedules a second.
    pub fires: u32,
    /// Faults come for so long.
    pub faults_for: Duration,
    /// The faults.
    pub faults: Faults,
    /// The least share of the calm run's goodput.
    pub goodput: Option<f64>,
    /// Longest until all tasks have ended after the load, or after the last fault if that is later.
    pub drain: Duration,
}

/// Which faults come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Faults {
    /// One after the other, of these kinds, each on all it can be done to in turn.
    InTurn(Vec<Kind>),
    /// A process at random is killed every 1 to 3 s.
    Carousel,
}

/// Row 12's figures.
const CAROUSEL_RATE: f64 = 300.0;
const CAROUSEL_TASKS: usize = 20_000;
const CAROUSEL_FOR: Duration = Duration::from_secs(60);
const GOODPUT: f64 = 0.85;
const DRAIN: Duration = Duration::from_secs(60);
/// Tasks a second where engines fail: what comes after an outage must be worked off beside what goes on coming.
const RATE: f64 = 100.0;

impl Scenario {
    /// By name; `length` is for how long faults come, none: as long as is usual.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn named(name: &str, length: Option<Duration>) -> anyhow::Result<Self> {
        match name {
            "carousel" => Ok(Self::carousel(length.unwrap_or(CAROUSEL_FOR))),
            "mix" => {
                Ok(Self::in_turn(name, KINDS.to_vec(), length.unwrap_or(Duration::from_secs(360))))
            }
            single => {
                let kind = KINDS.into_iter().find(|kind| kind.0 == single);
                let kind = kind.ok_or_else(|| {
                    let names = KINDS.map(|kind| kind.0).join(", ");
                    anyhow::anyhow!(
                        "there is no scenario `{single}`: mix, carousel, churn, or a fault: {names}"
                    )
                })?;
                Ok(Self::in_turn(name, vec![kind], length.unwrap_or(Duration::from_secs(60))))
            }
        }
    }

    /// A process killed every 1 to 3 s; of the usual length, row 12.
    #[must_use]
    pub fn carousel(length: Duration) -> Self {
        let share = length.as_secs_f64() / CAROUSEL_FOR.as_secs_f64();
        let tasks = (CAROUSEL_TASKS as f64 * share) as usize;
        Self {
            name: "carousel".to_owned(),
            tasks,
            rate: CAROUSEL_RATE,
            calm_tasks: tasks,
            fires: 20,
            faults_for: length,
            faults: Faults::Carousel,
            // A shorter one is mostly its tail.
            goodput: (length >= CAROUSEL_FOR).then_some(GOODPUT),
            drain: DRAIN,
        }
    }

    /// Faults of these kinds, one after the other.
    #[must_use]
    pub fn in_turn(name: &str, kinds: Vec<Kind>, length: Duration) -> Self {
        // Tasks come for a while after the last fault: work must be there to be resumed.
        let seconds = (length + Duration::from_secs(10)).as_secs_f64();
        Self {
            name: name.to_owned(),
            tasks: (seconds * RATE) as usize,
            rate: RATE,
            calm_tasks: ((seconds / 4.0).clamp(8.0, 30.0) * RATE) as usize,
            fires: 20,
            faults_for: length,
            faults: Faults::InTurn(kinds),
            goodput: None,
            drain: DRAIN,
        }
    }

    /// How long the load comes.
    #[must_use]
    pub fn length(&self) -> Duration {
        Duration::from_secs_f64(self.tasks as f64 / self.rate)
    }
}

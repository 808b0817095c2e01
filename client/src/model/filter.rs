//! Which tasks a list shows.

use domain::resources::Tier;
use domain::task::State;
use domain::time::Timestamp;

/// Which tasks a list shows: those that fit all that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// In one of these states; any when empty.
    pub states: Vec<State>,
    /// Of this tier.
    pub tier: Option<Tier>,
    /// Of exactly this name.
    pub name: Option<String>,
    /// With this label: key and value.
    pub label: Option<(String, String)>,
    /// Made by the schedule of this name or id.
    pub schedule: Option<String>,
    /// Submitted at or after this time.
    pub created_from: Option<Timestamp>,
    /// Submitted before this time.
    pub created_before: Option<Timestamp>,
}

impl TaskFilter {
    pub(crate) fn parameters(&self) -> [(&'static str, Option<String>); 7] {
        let states: Vec<&str> = self.states.iter().map(|state| state.as_str()).collect();
        let time = |at: Option<Timestamp>| {
            at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true))
        };
        [
            ("state", (!states.is_empty()).then(|| states.join(","))),
            ("tier", self.tier.map(|tier| tier.to_string())),
            ("name", self.name.clone()),
            ("label", self.label.as_ref().map(|(key, value)| format!("{key}={value}"))),
            ("schedule", self.schedule.clone()),
            ("created_from", time(self.created_from)),
            ("created_before", time(self.created_before)),
        ]
    }
}

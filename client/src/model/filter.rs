//! Filters of a task list.

use domain::id::ScheduleId;
use domain::resources::Tier;
use domain::task::State;
use domain::time::Timestamp;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A condition on a label: `key=value` or `key!=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelFilter {
    /// The label's key.
    pub key: String,
    /// The value to compare with.
    pub value: String,
    /// True: equal. False: another value, or no such label.
    pub equal: bool,
}

/// A text is not a label condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected KEY=VALUE or KEY!=VALUE")]
pub struct ParseLabelFilterError;

impl FromStr for LabelFilter {
    type Err = ParseLabelFilterError;

    fn from_str(text: &str) -> Result<Self, ParseLabelFilterError> {
        let (key, value) = text.split_once('=').ok_or(ParseLabelFilterError)?;
        let (key, equal) = key.strip_suffix('!').map_or((key, true), |key| (key, false));
        if key.is_empty() {
            return Err(ParseLabelFilterError);
        }
        Ok(Self { key: key.to_owned(), value: value.to_owned(), equal })
    }
}

impl fmt::Display for LabelFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compares = if self.equal { "=" } else { "!=" };
        write!(f, "{}{compares}{}", self.key, self.value)
    }
}

/// A schedule, by id or name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhichSchedule {
    /// By id.
    Id(ScheduleId),
    /// By name: 1 to 100 of `a-z A-Z 0-9 _ . -`.
    Name(String),
}

impl FromStr for WhichSchedule {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Id))
    }
}

impl fmt::Display for WhichSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// Filter of a task list; all conditions must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// States; empty: any.
    pub states: Vec<State>,
    /// Tier.
    pub tier: Option<Tier>,
    /// Exact name.
    pub name: Option<String>,
    /// Labels; all must match.
    pub labels: Vec<LabelFilter>,
    /// Schedule that created the task.
    pub schedule: Option<WhichSchedule>,
    /// Submitted at or after this time.
    pub created_from: Option<Timestamp>,
    /// Submitted before this time.
    pub created_before: Option<Timestamp>,
    /// Include what each task runs; large pages are shorter.
    pub with_run: bool,
}

impl TaskFilter {
    pub(crate) fn parameters(&self) -> Vec<(&'static str, Option<String>)> {
        let states: Vec<&str> = self.states.iter().map(|state| state.as_str()).collect();
        let time = |at: Option<Timestamp>| {
            at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true))
        };
        let mut parameters = vec![
            ("state", (!states.is_empty()).then(|| states.join(","))),
            ("tier", self.tier.map(|tier| tier.to_string())),
            ("name", self.name.clone()),
            ("schedule", self.schedule.as_ref().map(ToString::to_string)),
            ("created_from", time(self.created_from)),
            ("created_before", time(self.created_before)),
            ("include", self.with_run.then(|| "run".to_owned())),
        ];
        parameters.extend(self.labels.iter().map(|label| ("label", Some(label.to_string()))));
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_on_a_label_reads_as_it_is_written() {
        for text in ["team=media", "team!=media", "team=", "team!=", "a=b=c", "a!=b!=c"] {
            let label: LabelFilter = text.parse().unwrap();
            assert_eq!(label.to_string(), text);
            assert_eq!(label.equal, !text.contains("!="));
        }
        for text in ["", "team", "=x", "!=x"] {
            assert_eq!(text.parse::<LabelFilter>(), Err(ParseLabelFilterError), "{text}");
        }
    }
}

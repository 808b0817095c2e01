//! One flag for each limit of a plan, and one column of the table, made from the limits themselves.

use super::pool::{on_or_off, switch};
use crate::failure::Failure;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use domain::id::PlanName;
use domain::plan::{LIMITS, Limit, LimitRange, PlanLimits};
use domain::price::Billing;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The names of the flags, in the order of the limits.
static FLAGS: LazyLock<Vec<String>> =
    LazyLock::new(|| LIMITS.iter().map(|limit| limit.name.replace('_', "-")).collect());

/// The limits that were given.
#[derive(Debug, Default)]
pub struct LimitArguments(Map<String, Value>);

impl LimitArguments {
    /// `limits` with what was given in their place.
    pub fn over(&self, limits: &PlanLimits) -> Result<PlanLimits, Failure> {
        let mut values = limits.values();
        values.extend(self.0.clone());
        serde_json::from_value(Value::Object(values))
            .map_err(|error| Failure::usage(error.to_string()))
    }
}

impl Args for LimitArguments {
    fn augment_args(command: Command) -> Command {
        LIMITS.iter().zip(FLAGS.iter()).fold(command, |command, (limit, flag)| {
            let argument = Arg::new(limit.name).long(flag.as_str()).value_name(limit.unit);
            let help = format!("{} ({})", limit.text.trim_end_matches('.'), allowed(limit.range));
            command.arg(argument.help(help).value_parser(|text: &str| read(limit, text)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LimitArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut arguments = Self::default();
        arguments.update_from_arg_matches(matches)?;
        Ok(arguments)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for limit in LIMITS {
            if let Some(value) = matches.get_one::<Value>(limit.name) {
                self.0.insert(limit.name.to_owned(), value.clone());
            }
        }
        Ok(())
    }
}

/// What may be written for a limit.
fn allowed(range: LimitRange) -> String {
    match range {
        LimitRange::Switch => "on or off".to_owned(),
        LimitRange::Whole { .. } | LimitRange::Positive(_) => range.to_string(),
    }
}

fn read(limit: &Limit, text: &str) -> Result<Value, String> {
    let value = match limit.range {
        LimitRange::Whole { .. } => text.parse::<u64>().ok().map(|number| json!(number)),
        LimitRange::Positive(_) => text.parse::<f64>().ok().map(|number| json!(number)),
        LimitRange::Switch => switch(text).ok().map(|on| json!(on)),
    };
    value
        .filter(|value| limit.range.admits(value))
        .ok_or_else(|| format!("must be {}", allowed(limit.range)))
}

/// How many columns a table of plans has.
pub const COLUMNS: usize = LIMITS.len() + 2;

/// The heads of the columns.
pub fn heads() -> [String; COLUMNS] {
    let heads = LIMITS.iter().map(|limit| limit.name.replace('_', " ").to_uppercase());
    in_columns("NAME".to_owned(), heads.chain(["PRICE BOOK".to_owned()]))
}

/// A plan in these columns.
pub fn cells(name: &PlanName, limits: &PlanLimits, billing: Option<&Billing>) -> [String; COLUMNS] {
    let values = limits.values();
    let cell = |limit: &Limit| match (limit.range, values.get(limit.name)) {
        (LimitRange::Whole { zero: Some(_), .. }, Some(value)) if value == 0 => "-".to_owned(),
        (_, Some(Value::Bool(on))) => on_or_off(*on).to_owned(),
        (LimitRange::Positive(_), Some(Value::Number(number))) => {
            number.as_f64().unwrap_or_default().to_string()
        }
        (_, value) => value.map(ToString::to_string).unwrap_or_default(),
    };
    let book = billing.map_or_else(|| "-".to_owned(), |billing| billing.price_book.to_string());
    in_columns(name.to_string(), LIMITS.iter().map(cell).chain([book]))
}

fn in_columns(first: String, rest: impl Iterator<Item = String>) -> [String; COLUMNS] {
    let mut cells = std::iter::once(first).chain(rest);
    std::array::from_fn(|_| cells.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(arguments: &[&str]) -> Result<PlanLimits, String> {
        let command = LimitArguments::augment_args(Command::new("set").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments).map_err(|error| error.to_string())?;
        let arguments = LimitArguments::from_arg_matches(&matches).unwrap();
        arguments.over(&PlanLimits::default()).map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn each_limit_has_a_flag_that_takes_what_is_in_its_range() {
        for (limit, flag) in LIMITS.iter().zip(FLAGS.iter()) {
            let flag = format!("--{flag}");
            let (good, bad) = match limit.range {
                LimitRange::Whole { least, most, .. } => {
                    (vec![least.to_string(), most.to_string()], (most + 1).to_string())
                }
                LimitRange::Positive(most) => {
                    (vec!["0.5".to_owned(), most.to_string()], "NaN".to_owned())
                }
                LimitRange::Switch => (vec!["on".to_owned(), "off".to_owned()], "yes".to_owned()),
            };
            for value in good {
                let limits = given(&[&flag, &value]).unwrap();
                limits.check().unwrap();
                let at = 1 + LIMITS.iter().position(|other| other == limit).unwrap();
                let shown = &cells(&PlanName::default(), &limits, None)[at];
                let expected = if shown == "-" { "0" } else { shown };
                assert_eq!(expected, value, "{flag}");
            }
            let refused = given(&[&flag, &bad]).unwrap_err();
            assert!(refused.contains("must be") && refused.contains(&flag), "{refused}");
        }
    }

    #[test]
    fn what_is_not_given_stays() {
        let limits = given(&["--submits-per-second", "7", "--flexible", "on"]).unwrap();
        let expected =
            PlanLimits { submits_per_second: 7, flexible: true, ..PlanLimits::default() };
        assert_eq!(limits, expected);
    }
}

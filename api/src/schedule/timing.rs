//! From what a client says of when, to a timing that can be reckoned with, or everything that is wrong with it.
//!
//! The forms of single values are looked at here; what they mean together is the domain's to say. The domain stops at the first
//! mistake, so it is asked about each part by itself.

use crate::problem::FieldError;
use crate::task::{self, Findings};
use api_types::request::{self as body, Given, Written, Wrong};
use domain::schedule::{Reckoner, Spec, Steps, Timing, TimingError, TimingProblem};
use domain::time::{Timestamp, format_duration};
use serde_json::Value;
use std::ops::RangeInclusive;
use std::time::Duration;

/// How much of a wrong value is said back.
const QUOTED: usize = 64;
/// Longest pattern and longest name of a zone: the longest that mean something have not half as many characters.
const LONGEST: usize = 1000;

/// Due times of one schedule that may wait for their jitter at once.
const MOST_WAITING: usize = 2_000;

/// A timing of which nothing is wrong in itself.
#[derive(Debug)]
pub struct Judged {
    /// It.
    pub timing: Timing,
    /// It is not due from now on. Of a schedule that is stored so already that is no mistake.
    pub never: Option<FieldError>,
    /// What a new timing may not have. In a schedule that is stored so already it is no mistake.
    pub refused: Vec<FieldError>,
}

/// Reads and judges what stands at `base` in the body. `None` where something is wrong, which is in `found` then.
pub fn judge(
    found: &mut Findings,
    base: &str,
    spec: Option<body::Timing>,
    now: Timestamp,
) -> Option<Judged> {
    let Some(spec) = spec else {
        found.wrong(base, "is required");
        return None;
    };
    let mut own = Findings::new(base.to_owned());
    let timing = read(&mut own, spec);
    let mut refused = Vec::new();
    if own.is_empty() {
        let errors = parts(&timing);
        refused = timing.check_new();
        refused.retain(|new| !errors.iter().any(|error| error.pointer == new.pointer));
        errors.iter().for_each(|error| note(&mut own, error));
    }
    if own.is_empty()
        && let Err(error) = timing.check()
    {
        note(&mut own, &error);
    }
    let (mut never, mut crowded) = (None, None);
    if own.is_empty() {
        match Reckoner::within(&timing, now, &Steps::new(Steps::OF_A_CHECK)) {
            Ok(reckoner) => crowded = crowd(&reckoner, now, base),
            Err(error) if error.problem == TimingProblem::TooIntricate => {
                crowded = Some(too_intricate(base));
            }
            Err(error) if error.problem == TimingProblem::NeverFires => {
                let pointer = format!("{base}{}", error.pointer);
                never = Some(FieldError { pointer, detail: error.problem.to_string() });
            }
            Err(error) => note(&mut own, &error),
        }
    }
    let fine = own.is_empty();
    if !fine {
        refused.iter().for_each(|error| note(&mut own, error));
    }
    found.join(own);
    let field = |error: TimingError| FieldError {
        pointer: format!("{base}{}", error.pointer),
        detail: error.problem.to_string(),
    };
    fine.then(|| Judged {
        timing,
        never,
        refused: refused.into_iter().map(field).chain(crowded).collect(),
    })
}

fn too_intricate(base: &str) -> FieldError {
    FieldError { pointer: base.to_owned(), detail: TimingProblem::TooIntricate.to_string() }
}

/// What is wrong where more due times come within the jitter than may wait at once: each fire looks through those that wait.
fn crowd(reckoner: &Reckoner, now: Timestamp, base: &str) -> Option<FieldError> {
    if reckoner.jitter().is_zero() {
        return None;
    }
    let (mut walk, steps) = (reckoner.walk(), Steps::new(Steps::OF_A_PREVIEW));
    let (end, mut after, mut waiting) = (now + reckoner.jitter(), now, 0);
    while let Some(due) = walk.next_after(after, &steps).filter(|due| due.at <= end) {
        (after, waiting) = (due.at, waiting + 1);
        if waiting > MOST_WAITING {
            let detail =
                format!("is too large: more than {MOST_WAITING} due times would wait at once");
            return Some(FieldError { pointer: format!("{base}/jitter"), detail });
        }
    }
    steps.is_out().then(|| too_intricate(base))
}

fn note(found: &mut Findings, error: &TimingError) {
    found.wrong(&error.pointer, error.problem.to_string());
}

/// What the domain says against each part by itself.
fn parts(timing: &Timing) -> Vec<TimingError> {
    let mut errors = Vec::new();
    for (at, spec) in timing.specs.iter().enumerate() {
        if let Err(mut error) = Timing::of(vec![spec.clone()]).check() {
            if let Some(rest) = error.pointer.strip_prefix("/specs/0") {
                error.pointer = format!("/specs/{at}{rest}");
            }
            errors.push(error);
        }
    }
    let plain = || Timing::of(vec![Spec::After(Timing::LEAST_EVERY)]);
    let alone = [
        Timing { zone: timing.zone.clone(), ..plain() },
        Timing { start_at: timing.start_at, end_at: timing.end_at, ..plain() },
        Timing { max_fires: timing.max_fires, ..plain() },
        Timing { exclude: timing.exclude.clone(), ..plain() },
        Timing { jitter: timing.jitter, ..plain() },
    ];
    errors.extend(alone.iter().filter_map(|part| part.check().err()));
    errors
}

fn read(found: &mut Findings, spec: body::Timing) -> Timing {
    let mut specs = Vec::new();
    let whens = spec.specs.unwrap_or_default();
    if (1..=Timing::MOST_SPECS).contains(&whens.len()) {
        for (at, when) in whens.into_iter().enumerate() {
            specs.extend(one(found, &format!("/specs/{at}"), when));
        }
    } else {
        found.wrong("/specs", format!("must have 1 to {} entries", Timing::MOST_SPECS));
    }
    let mut exclude = Vec::new();
    let days = spec.exclude.unwrap_or_default();
    if days.len() > Timing::MOST_EXCLUSIONS {
        found.wrong("/exclude", format!("must have {} entries or fewer", Timing::MOST_EXCLUSIONS));
    } else {
        for (at, day) in days.into_iter().enumerate() {
            exclude.extend(task::read(found, &format!("/exclude/{at}"), Some(day)));
        }
    }
    let utc = Timing::of(Vec::new());
    let jitter = Duration::ZERO..=Timing::MOST_JITTER;
    Timing {
        specs,
        zone: spec.zone.map_or(utc.zone, |zone| short(found, "/zone", zone)),
        start_at: instant(found, "/start_at", spec.start_at),
        end_at: instant(found, "/end_at", spec.end_at),
        max_fires: spec.max_fires,
        exclude,
        jitter: spec
            .jitter
            .map_or(Duration::ZERO, |given| duration(found, "/jitter", given, jitter)),
        gap: spec.gap.unwrap_or_default(),
        repeat: spec.repeat.unwrap_or_default(),
    }
}

/// The field that a pointer names.
fn field_of(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or_default()
}

/// What was sent, as a message quotes it.
fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// The same of any value.
fn quoted_value<T: Written>(wrong: &Wrong<T>) -> String {
    match serde_json::to_value(wrong.sent()) {
        Ok(Value::String(text)) => quoted(&text),
        Ok(Value::Number(number)) => number.to_string(),
        _ => "a value of another type".to_owned(),
    }
}

fn duration(
    found: &mut Findings,
    pointer: &str,
    given: Given<Duration>,
    range: RangeInclusive<Duration>,
) -> Duration {
    let field = field_of(pointer);
    let wrong = match given.read() {
        Ok(duration) if range.contains(&duration) => return duration,
        Ok(duration) => {
            let [least, most, given] =
                [*range.start(), *range.end(), duration].map(format_duration);
            format!("`{field}` must be from \"{least}\" to \"{most}\", and not \"{given}\"")
        }
        Err(wrong) => format!(
            "`{field}` must be a duration such as \"90s\", \"5m\" or \"1h30m\", and not {}",
            quoted_value(&wrong)
        ),
    };
    found.wrong(pointer, wrong);
    Timing::LEAST_EVERY
}

fn instant(
    found: &mut Findings,
    pointer: &str,
    given: Option<Given<Timestamp>>,
) -> Option<Timestamp> {
    let note = |wrong: Wrong<Timestamp>| {
        let field = field_of(pointer);
        found.wrong(pointer, format!("`{field}` {wrong}, and not {}", quoted_value(&wrong)));
    };
    given?.read().map_err(note).ok()
}

/// A text that the domain quotes when it is wrong.
fn short(found: &mut Findings, pointer: &str, text: String) -> String {
    if text.len() > LONGEST || text.contains('\0') {
        found.wrong(pointer, format!("must have at most {LONGEST} bytes and no NUL character"));
        return String::new();
    }
    text
}

fn one(found: &mut Findings, at: &str, when: body::When) -> Option<Spec> {
    let given = [
        when.cron.is_some(),
        when.every.is_some(),
        when.at.is_some(),
        when.after.is_some(),
        when.daily.is_some(),
        when.weekly.is_some(),
        when.monthly.is_some(),
        when.yearly.is_some(),
    ];
    if given.into_iter().filter(|given| *given).count() != 1 {
        let kinds = "`cron`, `every`, `at`, `after`, `daily`, `weekly`, `monthly`, `yearly`";
        found.wrong(at, format!("must have exactly one of {kinds}"));
        return None;
    }
    let pointer = |field: &str| format!("{at}/{field}");
    if let Some(text) = when.cron {
        return Some(Spec::Cron(short(found, &pointer("cron"), text)));
    }
    if let Some(spec) = when.every {
        return every(found, &pointer("every"), spec);
    }
    if when.at.is_some() {
        return instant(found, &pointer("at"), when.at).map(Spec::At);
    }
    if let Some(given) = when.after {
        let range = Timing::LEAST_EVERY..=Timing::MOST_EVERY;
        return Some(Spec::After(duration(found, &pointer("after"), given, range)));
    }
    if let Some(body::Daily { at }) = when.daily {
        return Some(Spec::Daily { at: entries(found, &pointer("daily/at"), at) });
    }
    if let Some(body::Weekly { on, at }) = when.weekly {
        let at = entries(found, &pointer("weekly/at"), at);
        return Some(Spec::Weekly { on: entries(found, &pointer("weekly/on"), on), at });
    }
    if let Some(body::Monthly { on, at }) = when.monthly {
        let at = entries(found, &pointer("monthly/at"), at);
        return Some(Spec::Monthly { on: entries(found, &pointer("monthly/on"), on), at });
    }
    let body::Yearly { on, at } = when.yearly?;
    let at = entries(found, &pointer("yearly/at"), at);
    Some(Spec::Yearly { on: entries(found, &pointer("yearly/on"), on), at })
}

fn every(found: &mut Findings, at: &str, spec: body::Every) -> Option<Spec> {
    let anchor = instant(found, &format!("{at}/anchor"), spec.anchor);
    let Some(given) = spec.every else {
        found.wrong(&format!("{at}/every"), "is required: a duration such as \"90s\" or \"1h30m\"");
        return None;
    };
    let range = Timing::LEAST_EVERY..=Timing::MOST_EVERY;
    let every = duration(found, &format!("{at}/every"), given, range);
    Some(Spec::Every { every, anchor, counting: spec.counting.unwrap_or_default() })
}

/// Each entry, read. How many there may be is the domain's to say.
fn entries<T: Written>(
    found: &mut Findings,
    pointer: &str,
    given: Option<Vec<Given<T>>>,
) -> Vec<T> {
    let Some(given) = given else {
        found.wrong(pointer, "is required");
        return Vec::new();
    };
    let mut read = Vec::new();
    for (at, entry) in given.into_iter().enumerate() {
        match entry.read() {
            Ok(entry) => read.push(entry),
            Err(wrong) => {
                found.wrong(
                    &format!("{pointer}/{at}"),
                    format!("{wrong}, and not {}", quoted_value(&wrong)),
                );
            }
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judged(timing: Value) -> Result<Judged, Vec<String>> {
        let now = "2027-01-01T00:00:00Z".parse().unwrap();
        let mut found = Findings::default();
        let spec = serde_json::from_value(timing).unwrap();
        let judged = judge(&mut found, "/timing", Some(spec), now);
        match found.into_result() {
            Ok(()) => Ok(judged.unwrap()),
            Err(problem) => {
                assert!(judged.is_none());
                Err(problem.errors().iter().map(|error| error.pointer.clone()).collect())
            }
        }
    }

    #[test]
    fn every_kind_is_read_and_stored_as_it_was_said() {
        let said = json!({"specs": [
            {"cron": "30 2 * * mon-fri"},
            {"every": {"every": "1m30s", "anchor": "2027-01-01T00:00:30Z", "counting": "fixed_rate"}},
            {"at": "2030-01-31T12:00:00Z"},
            {"after": "10m"},
            {"daily": {"at": ["09:00", "23:59:59"]}},
            {"weekly": {"on": ["monday", "sunday"], "at": ["09:00"]}},
            {"monthly": {"on": [1, 31, "last"], "at": ["00:00"]}},
            {"yearly": {"on": ["02-29", "12-24"], "at": ["12:00"]}}],
            "zone": "Europe/Berlin", "start_at": "2027-02-01T00:00:00Z", "end_at": "2037-01-01T00:00:00Z", "max_fires": 7,
            "exclude": ["2027-12-24", {"from": "2027-12-27", "to": "2027-12-31T12:00:00Z"}],
            "jitter": "5m", "gap": "skip", "repeat": "both"});
        let judged = judged(said.clone()).unwrap();
        assert!(judged.never.is_none(), "{judged:?}");
        assert_eq!(serde_json::to_value(judged.timing).unwrap(), said);
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once_where_it_is() {
        let wrong = judged(json!({"specs": [
            {"cron": "* * * * *", "at": "2030-01-31T12:00:00Z"},
            {"every": {"anchor": "yesterday"}},
            {"at": "2030-01-31"},
            {"daily": {"at": ["24:00", "09:00", "9"]}},
            {"weekly": {"on": ["mon"]}},
            {"monthly": {"on": [0, 32, "first"], "at": ["00:00"]}},
            {"yearly": {"on": ["02-30"]}}],
            "exclude": ["tomorrow", {"from": "2027-12-27"}, 7], "jitter": "25h", "end_at": "never"}));
        let wanted = [
            "specs/0",
            "specs/1/every/anchor",
            "specs/1/every/every",
            "specs/2/at",
            "specs/3/daily/at/0",
            "specs/3/daily/at/2",
            "specs/4/weekly/at",
            "specs/4/weekly/on/0",
            "specs/5/monthly/on/0",
            "specs/5/monthly/on/1",
            "specs/5/monthly/on/2",
            "specs/6/yearly/at",
            "specs/6/yearly/on/0",
            "exclude/0",
            "exclude/1",
            "exclude/2",
            "end_at",
            "jitter",
        ];
        assert_eq!(wrong.unwrap_err(), wanted.map(|place| format!("/timing/{place}")));
    }

    #[test]
    fn a_jitter_in_which_too_many_due_times_would_wait_is_refused() {
        // Also of a schedule that is stored: then it is no mistake.
        let refused = |every: &str, jitter: &str| -> Vec<String> {
            let timing = json!({"specs": [{"every": {"every": every}}], "jitter": jitter});
            judged(timing).unwrap().refused.into_iter().map(|error| error.pointer).collect()
        };
        assert_eq!(refused("1s", "1h"), ["/timing/jitter"]);
        for (every, jitter) in [("1s", "30m"), ("1m", "24h"), ("24h", "24h")] {
            assert_eq!(refused(every, jitter), Vec::<String>::new(), "{every} {jitter}");
        }
    }

    #[test]
    fn what_the_domain_refuses_is_told_at_once_too() {
        let wrong = judged(
            json!({"specs": [{"cron": "* * * *"}, {"cron": "*/5 * * * *"}, {"cron": "61 * * * *"}],
            "zone": "Mars/Olympus", "start_at": "2030-01-01T00:00:00Z", "end_at": "2029-01-01T00:00:00Z", "max_fires": 0}),
        );
        let wrong = wrong.unwrap_err();
        for place in
            ["/timing/specs/0/cron", "/timing/specs/2/cron", "/timing/zone", "/timing/max_fires"]
        {
            assert!(wrong.contains(&place.to_owned()), "{place}: {wrong:?}");
        }
        assert!(
            wrong
                .iter()
                .any(|place| place.starts_with("/timing/end_at") || place == "/timing/start_at"),
            "{wrong:?}"
        );
        assert!(!wrong.iter().any(|place| place.starts_with("/timing/specs/1")), "{wrong:?}");
    }

    fn details(timing: Value) -> Vec<(String, String)> {
        let now = "2027-01-01T00:00:00Z".parse().unwrap();
        let mut found = Findings::default();
        judge(&mut found, "/timing", Some(serde_json::from_value(timing).unwrap()), now);
        let problem = found.into_result().unwrap_err();
        let errors = problem.errors().iter();
        errors.map(|error| (error.pointer.clone(), error.detail.clone())).collect()
    }

    #[test]
    fn what_is_wrong_is_said_with_its_field_and_what_was_sent() {
        let wrong = details(json!({"specs": [
            {"every": {"every": "often", "anchor": "yesterday"}},
            {"every": {"every": "1ms"}},
            {"every": {}},
            {"after": "-1s"},
            {"at": "2030-01-31"},
            {"daily": {"at": ["24:00"]}},
            {"weekly": {"on": ["mon"], "at": ["09:00"]}},
            {"monthly": {"on": [32, "first", {}], "at": ["09:00"]}}],
            "jitter": "x".repeat(1000), "end_at": "never"}));
        for (place, says) in [
            (
                "specs/0/every/every",
                r#"`every` must be a duration such as "90s", "5m" or "1h30m", and not "often""#,
            ),
            ("specs/0/every/anchor", r#"`anchor` must be a time such as"#),
            ("specs/1/every/every", r#"`every` must be from "1s" to "876000h", and not "1ms""#),
            ("specs/2/every/every", r#"is required: a duration such as "90s" or "1h30m""#),
            ("specs/3/after", r#"`after` must be a duration"#),
            (
                "specs/4/at",
                r#"`at` must be a time such as 2030-01-31T12:00:00Z (RFC 3339), and not "2030-01-31""#,
            ),
            (
                "specs/5/daily/at/0",
                r#"expected a time of day such as "09:30" or "23:59:59", and not "24:00""#,
            ),
            ("specs/6/weekly/on/0", r#"expected a day from "monday" to "sunday", and not "mon""#),
            ("specs/7/monthly/on/0", r#"or "last", and not 32"#),
            ("specs/7/monthly/on/1", r#"or "last", and not "first""#),
            ("specs/7/monthly/on/2", r#"or "last", and not a value of another type"#),
            ("jitter", "`jitter` must be a duration"),
            ("end_at", r#"and not "never""#),
        ] {
            let place = format!("/timing/{place}");
            let (_, detail) = wrong.iter().find(|(pointer, _)| *pointer == place).expect(&place);
            assert!(detail.contains(says) && detail.len() < 200, "{place}: {detail}");
        }
    }

    #[test]
    fn what_only_a_stored_timing_may_have_is_known_and_told_with_the_rest() {
        let odd = json!({"cron": "*/90 * * * *"});
        let judged = judged(json!({"specs": [odd], "gap": "skip"})).unwrap();
        let refused: Vec<_> = judged.refused.iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(refused, ["/timing/specs/0/cron", "/timing/gap"]);
        let rest = details(json!({"specs": [odd, {"cron": "61 * * * *"}]}));
        let places: Vec<_> = rest.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(places, ["/timing/specs/1/cron", "/timing/specs/0/cron"]);
        assert!(rest[1].1.contains(r#"{"every": {"every": "90m"}}"#), "{rest:?}");
    }

    #[test]
    fn what_is_never_due_is_known_and_said_where() {
        for dead in [json!({"cron": "0 0 30 2 *"}), json!({"at": "2026-12-31T23:59:59Z"})] {
            let judged = judged(json!({"specs": [dead]})).unwrap();
            let never = judged.never.expect("it is never due");
            assert!(never.pointer.starts_with("/timing"), "{never:?}");
        }
    }
}

//! When a schedule is due, and what its fires run: attributes, and the two places where the API's JSON has another form.

use crate::schema::{Attribute, Form, Given, Kind};
use crate::value::{Value, to_json};
use domain::schedule::{ClockTime, Weekday, YearDay};
use domain::task::SuccessRule;
use serde_json::{Value as Json, json};

/// The names of tiers.
pub const TIERS: &[&str] = &["basic", "regular", "premium"];

/// `complete` where nothing is said.
const ANSWER: &str = "answer";

fn object(name: &'static str, fields: Vec<Attribute>, text: &str) -> Attribute {
    Attribute::new(name, Kind::Object(fields), Given::Optional, text)
}

/// The usual form of a text that `T` reads.
fn parsed<T>(text: &str) -> Result<String, String>
where
    T: std::str::FromStr + ToString,
    T::Err: std::fmt::Display,
{
    text.parse::<T>().map(|value| value.to_string()).map_err(|error| error.to_string())
}

fn weekday(text: &str) -> Result<String, String> {
    text.parse::<Weekday>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// A date stays as it is; a time with an offset has its usual form.
fn moment(text: &str) -> Result<String, String> {
    Ok(Form::Time.canonical(text).unwrap_or_else(|_| text.to_owned()))
}

/// The attributes of `timing`.
pub fn timing() -> Vec<Attribute> {
    vec![
        Attribute::new(
            "specs",
            Kind::Objects(specs()),
            Given::Required,
            "Due when any of these is, 1 to 16; each has exactly one of the attributes below.",
        ),
        Attribute::text(
            "zone",
            Given::Default("UTC".into()),
            "IANA time zone of times of day and dates.",
        ),
        Attribute::time("start_at", Given::Optional, "Earliest due time."),
        Attribute::time("end_at", Given::Optional, "Latest due time."),
        Attribute::number(
            "max_fires",
            Given::Optional,
            "The schedule is over after this many tasks.",
        ),
        Attribute::list(
            "exclude",
            Kind::Objects(vec![
                Attribute::text("date", Given::Optional, "A date, such as `2026-12-24`."),
                Attribute::text("from", Given::Optional, "Begin of a range: a date or a time.")
                    .form(Form::Parsed(moment)),
                Attribute::text(
                    "to",
                    Given::Optional,
                    "Its end: a date, included, or a time, not included.",
                )
                .form(Form::Parsed(moment)),
            ]),
            "When it is not due, up to 500: a `date`, or `from` and `to`.",
        ),
        Attribute::duration(
            "jitter",
            Given::Default("0s".into()),
            "Largest random delay of a fire, up to `24h`.",
        ),
        Attribute::text(
            "gap",
            Given::Default("next_valid".into()),
            "For a time of day that does not exist: `next_valid` or `skip`.",
        )
        .form(Form::Words(&["next_valid", "skip"])),
        Attribute::text(
            "repeat",
            Given::Default("first".into()),
            "For one that occurs twice: `first`, `last` or `both`.",
        )
        .form(Form::Words(&["first", "last", "both"])),
    ]
}

fn specs() -> Vec<Attribute> {
    let at = || {
        Attribute::new("at", Kind::Texts, Given::Required, "Times of day, such as `09:00`.")
            .form(Form::Parsed(parsed::<ClockTime>))
    };
    let on = |text, form| Attribute::new("on", Kind::Texts, Given::Required, text).form(form);
    vec![
        Attribute::text("cron", Given::Optional, "A cron pattern (docs/time.md)."),
        object(
            "every",
            vec![
                Attribute::duration("every", Given::Required, "Length, at least `1s`."),
                Attribute::time(
                    "anchor",
                    Given::Optional,
                    "Its start. Default: the creation of the schedule.",
                ),
                Attribute::text(
                    "counting",
                    Given::Default("fixed_rate".into()),
                    "`fixed_rate`, or `fixed_delay`: from the end of a task.",
                )
                .form(Form::Words(&["fixed_rate", "fixed_delay"])),
            ],
            "An interval.",
        ),
        Attribute::time("at", Given::Optional, "Once, at this time."),
        Attribute::duration("after", Given::Optional, "Once, this long after the creation."),
        object("daily", vec![at()], "Each day."),
        object(
            "weekly",
            vec![on("`monday` to `sunday`.", Form::Parsed(weekday)), at()],
            "On days of the week.",
        ),
        object(
            "monthly",
            vec![on("`1` to `31`, or `last`.", Form::Exact), at()],
            "On days of the month.",
        ),
        object(
            "yearly",
            vec![on("Dates, such as `12-24`.", Form::Parsed(parsed::<YearDay>)), at()],
            "On dates of the year.",
        ),
    ]
}

/// The attributes of `task`.
pub fn task() -> Vec<Attribute> {
    let whole = |name, text| Attribute::number(name, Given::Default(0.into()), text);
    vec![
        Attribute::text("name", Given::Optional, "Name of the tasks."),
        Attribute::text(
            "tier",
            Given::OrServer,
            "`basic`, `regular` or `premium`; not with `resources`. Default without them: `basic`.",
        )
        .form(Form::Words(TIERS)),
        object(
            "resources",
            vec![
                Attribute::number("cpu_millis", Given::Required, "Thousandths of a core."),
                Attribute::number("memory_mib", Given::Required, "MiB of memory."),
                whole("disk_mib", "MiB of disk."),
                whole("iops", "Disk operations per second."),
                whole("ports", "TCP ports."),
            ],
            "Resources, instead of a tier.",
        ),
        Attribute::new(
            "run",
            Kind::Object(run()),
            Given::Required,
            "What it runs: exactly one of these.",
        ),
        Attribute::duration(
            "delay_tolerance",
            Given::OrServer,
            "How long after its due time it may start.",
        ),
        Attribute::duration("execution_cap", Given::OrServer, "Longest run time of one attempt."),
        Attribute::switch(
            "expire_if_late",
            Given::Default(false.into()),
            "Whether it ends as `expired` if it is not started in time.",
        ),
        Attribute::number(
            "priority",
            Given::Default(0.into()),
            "Priority among the tenant's tasks, -10 to 10; more is earlier.",
        ),
        Attribute::switch(
            "flexible",
            Given::OrServer,
            "Whether it runs only in spare room until its tolerance is nearly used up. Default: the plan's at creation.",
        ),
        Attribute::number("max_attempts", Given::OrServer, "Maximum of charged attempts."),
        Attribute::defaults("retry", retry(), "Retry policy."),
        Attribute::text(
            "delivery",
            Given::Default("at_least_once".into()),
            "After a lost attempt: `at_least_once` runs it again, `at_most_once` does not.",
        )
        .form(Form::Words(&["at_least_once", "at_most_once"])),
        Attribute::text("pool", Given::Default("default".into()), "Pool of executors."),
        Attribute::text(
            "concurrency_key",
            Given::Optional,
            "Tasks with the same key run one at a time, or as `berth_concurrency_limit` says.",
        ),
        Attribute::text(
            "unique_key",
            Given::Optional,
            "Unique among the tenant's unfinished tasks.",
        ),
        Attribute::map("labels", "Labels."),
    ]
}

fn run() -> Vec<Attribute> {
    let map = |name, text| Attribute::map(name, text);
    vec![
        object(
            "command",
            vec![
                Attribute::new("argv", Kind::Texts, Given::Required, "Program and arguments."),
                map("env", "Environment. It is in the state: no place for secrets."),
                Attribute::text("stdin", Given::Optional, "What it reads on standard input."),
            ],
            "A program, without a shell.",
        ),
        object(
            "http",
            vec![
                Attribute::text("url", Given::Required, "URL: http or https."),
                Attribute::text(
                    "method",
                    Given::OrServer,
                    "Method. Default: `POST` with a body, else `GET`.",
                ),
                map("headers", "Request headers. They are in the state: no place for secrets."),
                Attribute::text("body", Given::Optional, "Request body, as text."),
                Attribute::text(
                    "body_base64",
                    Given::Optional,
                    "Request body in base64, instead of `body`.",
                ),
                Attribute::text(
                    "success",
                    Given::Default("2xx".into()),
                    "Statuses of success, such as `200,204` or `200-299`.",
                )
                .form(Form::Parsed(parsed::<SuccessRule>)),
                Attribute::duration("timeout", Given::Optional, "Timeout of the whole exchange."),
                Attribute::text(
                    "complete",
                    Given::Default(ANSWER.into()),
                    "When the task is over: with the `answer`, or with a `callback` after it (docs/http-tasks.md).",
                )
                .form(Form::Words(&[ANSWER, "callback"])),
            ],
            "A URL to call.",
        ),
        object(
            "noop",
            vec![Attribute::duration("sleep", Given::Default("0s".into()), "Duration.")],
            "Nothing, for some time.",
        ),
    ]
}

/// The API's task as attributes: it leaves the usual `complete` out.
pub fn answered_task(task: &mut Json) {
    if let Some(http) = task.pointer_mut("/run/http").and_then(Json::as_object_mut) {
        http.entry("complete").or_insert_with(|| ANSWER.into());
    }
}

fn retry() -> Vec<Attribute> {
    vec![
        Attribute::text(
            "backoff",
            Given::Default("exponential".into()),
            "`exponential`, `linear` or `constant`.",
        ),
        Attribute::duration("initial", Given::Default("1s".into()), "First wait."),
        Attribute::number("factor", Given::Default(2.into()), "Factor of `exponential`."),
        Attribute::duration("max", Given::Default("5m".into()), "Longest wait."),
        Attribute::switch(
            "jitter",
            Given::Default(true.into()),
            "Whether the wait is random from 0 to the back-off.",
        ),
        Attribute::list(
            "abort_on_exit_codes",
            Kind::Numbers,
            "Exit codes, or HTTP statuses, after which it is not retried.",
        ),
        Attribute::new(
            "on",
            Kind::TextSet,
            Given::Default(Value::List(vec!["failure".into()])),
            "Which results are retried: `failure`, `cap`, `resources`.",
        )
        .form(Form::Words(&["failure", "cap", "resources"])),
    ]
}

/// `timing` as the API reads it: days of the month are numbers, an excluded date is a text.
pub fn request(timing: &Value) -> Json {
    let mut json = to_json(timing);
    for spec in items(&mut json, "/specs") {
        for day in items(spec, "/monthly/on") {
            if let Some(number) = day.as_str().and_then(|text| text.parse::<u8>().ok()) {
                *day = json!(number);
            }
        }
    }
    for excluded in items(&mut json, "/exclude") {
        if let Some(date) = excluded.get("date") {
            *excluded = date.clone();
        }
    }
    json
}

/// The API's timing as attributes.
pub fn answered(timing: &mut Json) {
    for excluded in items(timing, "/exclude") {
        if excluded.is_string() {
            *excluded = json!({"date": excluded});
        }
    }
}

/// The items of the list at `pointer`, if it is there.
fn items<'a>(json: &'a mut Json, pointer: &str) -> impl Iterator<Item = &'a mut Json> {
    json.pointer_mut(pointer).and_then(Json::as_array_mut).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::from_json;

    #[test]
    fn a_timing_goes_to_the_api_and_back() {
        let value = json!({
            "specs": [{"cron": "@daily"}, {"monthly": {"on": ["1", "last"], "at": ["09:00"]}}],
            "exclude": [{"date": "2027-01-01"}, {"from": "2027-02-01", "to": "2027-02-03"}],
        });
        let mut sent = request(&from_json(&value));
        let wanted = json!({
            "specs": [{"cron": "@daily"}, {"monthly": {"on": [1, "last"], "at": ["09:00"]}}],
            "exclude": ["2027-01-01", {"from": "2027-02-01", "to": "2027-02-03"}],
        });
        assert_eq!(sent, wanted);
        answered(&mut sent);
        assert_eq!(sent["exclude"], value["exclude"]);
    }
}

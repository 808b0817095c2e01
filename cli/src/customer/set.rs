//! `--set FIELD=VALUE` and `--unset FIELD`: what changes of a task, as the API's merge patch.
//!
//! Called for reruns, and for edits of a schedule's task. A field is named by its path with dots; those of a command, such as `env.A` or
//! `stdin`, need no `run.command` before them. The rule: a value is a text wherever the API wants one, so that `--set env.A=1` is the
//! text "1", and JSON elsewhere.

use serde_json::{Map, Value};

/// Fields whose values are JSON and no texts.
const JSON_FIELDS: [&str; 12] = [
    "expire_if_late",
    "priority",
    "flexible",
    "max_attempts",
    "resources",
    "run",
    "run.command",
    "run.http",
    "run.noop",
    "run.command.argv",
    "retry",
    "labels",
];
/// The same, where all under it are so, but for these of `retry`.
const RETRY_TEXTS: [&str; 3] = ["backoff", "initial", "max"];
/// Objects of texts: what follows them is one key, dots and all.
const TEXTS: [&str; 3] = ["labels", "run.command.env", "run.http.headers"];
/// What may be named without the driver before it.
const SHORT: [(&str, &str); 9] = [
    ("argv", "run.command.argv"),
    ("env", "run.command.env"),
    ("stdin", "run.command.stdin"),
    ("url", "run.http.url"),
    ("method", "run.http.method"),
    ("headers", "run.http.headers"),
    ("body", "run.http.body"),
    ("success", "run.http.success"),
    ("sleep", "run.noop.sleep"),
];

/// One field and its value; no value takes it away.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    path: Vec<String>,
    value: Value,
}

impl Setting {
    /// The same for the object `outer`, which holds it.
    pub(super) fn within(mut self, outer: &str) -> Self {
        self.path.insert(0, outer.to_owned());
        self
    }
}

/// Reads `FIELD=VALUE`.
pub fn setting(text: &str) -> Result<Setting, String> {
    let (field, value) =
        text.split_once('=').ok_or("expected FIELD=VALUE, such as execution_cap=5m")?;
    let path = path(field)?;
    let value = if is_json(&path) {
        let mistake = |_| format!("`{field}` needs JSON, such as {}", example(&path));
        serde_json::from_str(value).map_err(mistake)?
    } else {
        Value::from(value)
    };
    Ok(Setting { path, value })
}

/// Reads the name of a field that is to have its default again.
pub fn unset(field: &str) -> Result<Setting, String> {
    Ok(Setting { path: path(field)?, value: Value::Null })
}

/// Another program with its arguments; nothing where none is given.
pub fn command(argv: &[String]) -> Option<Setting> {
    let path = ["run", "command", "argv"].map(str::to_owned).to_vec();
    (!argv.is_empty()).then(|| Setting { path, value: Value::from(argv) })
}

/// The merge patch of all `settings`; of two for one field the later one holds.
pub fn patch<'a>(settings: impl IntoIterator<Item = &'a Setting>) -> Value {
    let mut patch = Value::Object(Map::new());
    for Setting { path, value } in settings {
        let mut at = &mut patch;
        for step in path {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            let Value::Object(fields) = at else { break };
            at = fields.entry(step.clone()).or_insert(Value::Null);
        }
        *at = value.clone();
    }
    patch
}

fn path(field: &str) -> Result<Vec<String>, String> {
    let (first, rest) =
        field.split_once('.').map_or((field, None), |(first, rest)| (first, Some(rest)));
    let long = SHORT.iter().find(|(short, _)| *short == first).map_or(first, |(_, long)| long);
    let field = rest.map_or_else(|| long.to_owned(), |rest| format!("{long}.{rest}"));
    let texts = TEXTS.iter().find_map(|texts| {
        let key = field.strip_prefix(texts)?.strip_prefix('.')?;
        Some((texts, key))
    });
    let path: Vec<String> = match texts {
        Some((texts, key)) => {
            texts.split('.').chain(std::iter::once(key)).map(str::to_owned).collect()
        }
        None => field.split('.').map(str::to_owned).collect(),
    };
    if path.iter().any(String::is_empty) {
        return Err(format!(
            "`{field}` is not a field; expected one such as execution_cap or env.NAME"
        ));
    }
    Ok(path)
}

fn is_json(path: &[String]) -> bool {
    let whole = path.join(".");
    match path.first().map(String::as_str) {
        Some("resources") => true,
        Some("retry") => path.get(1).is_none_or(|field| !RETRY_TEXTS.contains(&field.as_str())),
        _ => JSON_FIELDS.contains(&whole.as_str()) || TEXTS.contains(&whole.as_str()),
    }
}

fn example(path: &[String]) -> &'static str {
    match path.last().map_or("", String::as_str) {
        "argv" => r#"'["bash","-c","echo hi"]'"#,
        "expire_if_late" | "flexible" | "jitter" => "true",
        "abort_on_exit_codes" => "'[2,3]'",
        "priority" | "max_attempts" | "factor" => "3",
        "resources" | "retry" | "run" | "command" | "http" | "noop" | "labels" | "env"
        | "headers" => r#"'{"…":…}'"#,
        _ => "1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(texts: &[&str]) -> Value {
        let settings: Vec<Setting> = texts.iter().map(|text| setting(text).unwrap()).collect();
        patch(&settings)
    }

    #[test]
    fn fields_are_named_by_their_path_and_those_of_a_command_without_it() {
        assert_eq!(
            of(&[
                "execution_cap=5m",
                "env.A=2",
                "env.B.c=x=y",
                "stdin=",
                "max_attempts=3",
                "labels.app.kind/x=1",
                "name=7"
            ]),
            json!({"execution_cap": "5m", "max_attempts": 3, "labels": {"app.kind/x": "1"}, "name": "7",
                "run": {"command": {"env": {"A": "2", "B.c": "x=y"}, "stdin": ""}}})
        );
        assert_eq!(
            of(&[
                r#"argv=["a","b c"]"#,
                "retry.initial=1s",
                "retry.factor=1.5",
                "resources.cpu_millis=500",
                "run.noop.sleep=1s"
            ]),
            json!({"run": {"command": {"argv": ["a", "b c"]}, "noop": {"sleep": "1s"}},
                "retry": {"initial": "1s", "factor": 1.5}, "resources": {"cpu_millis": 500}})
        );
    }

    #[test]
    fn the_later_of_two_holds_and_what_is_unset_is_null() {
        assert_eq!(of(&["tier=basic", "tier=premium"]), json!({"tier": "premium"}));
        let gone = unset("labels.team").unwrap();
        assert_eq!(patch([&gone]), json!({"labels": {"team": null}}));
        assert_eq!(patch([&unset("stdin").unwrap()]), json!({"run": {"command": {"stdin": null}}}));
    }

    #[test]
    fn what_is_no_field_or_no_value_says_what_is_one() {
        for text in ["execution_cap", "=5", "a..b=1", "env.=1"] {
            assert!(setting(text).is_err(), "{text}");
        }
        let mistake = setting("max_attempts=many").unwrap_err();
        assert!(mistake.contains("`max_attempts` needs JSON, such as 3"), "{mistake}");
        assert!(setting("argv=echo hi").unwrap_err().contains(r#"["bash""#));
    }
}

//! Puts values into what a node runs.
//!
//! A run with holes is stored with a stand-in at each of them, so that its shape is checked when it is defined; what a value makes of it
//! is checked here, by the rules of a submit, when the value is known.

use super::value::text_of;
use crate::target::parse_url;
use crate::task::{Run, check_argument, check_command_size, check_header, check_variable};
use serde_json::Value;

/// Longest run with its values in it, bytes of JSON.
pub const MAX_FILLED_RUN: usize = 1024 * 1024;

/// Why values cannot be put into a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the value at `{at}` {why}")]
pub struct FillProblem {
    /// Where, as a JSON pointer into the run.
    pub at: String,
    /// Why.
    pub why: String,
}

/// `run` with the text of each value at its pointer, such as `/command/env/A` or `/http/url`.
///
/// # Errors
/// The first value that cannot stand where it is wanted.
pub fn fill(run: &Run, values: &[(&str, &Value)]) -> Result<Run, FillProblem> {
    let problem = |at: &str, why: String| FillProblem { at: at.to_owned(), why };
    let mut json = serde_json::to_value(run).map_err(|why| problem("", why.to_string()))?;
    for (at, value) in values {
        let text = text_of(value);
        check(at, &text).map_err(|why| problem(at, why))?;
        match json.pointer_mut(at) {
            Some(place) => *place = Value::String(text),
            None => return Err(problem(at, "has no place in what the node runs".to_owned())),
        }
    }
    let last = values.last().map_or("", |(at, _)| at);
    let filled: Run = serde_json::from_value(json)
        .map_err(|why| problem(last, format!("does not fit: {why}")))?;
    if let Run::Command(command) = &filled {
        check_command_size(&command.argv, &command.env)
            .map_err(|why| problem(last, why.to_string()))?;
    }
    if filled.to_json().len() > MAX_FILLED_RUN {
        return Err(problem(last, format!("makes the run longer than {MAX_FILLED_RUN} bytes")));
    }
    Ok(filled)
}

/// Checks one text by its place.
fn check(at: &str, text: &str) -> Result<(), String> {
    let steps: Vec<&str> = at.split('/').skip(1).collect();
    let unescaped = |step: &str| step.replace("~1", "/").replace("~0", "~");
    match steps.as_slice() {
        ["command", "argv", place] => {
            check_argument(place.parse().unwrap_or(1), text).map_err(|why| why.to_string())
        }
        ["command", "env", name] => {
            check_variable(&unescaped(name), text).map_err(|why| why.to_string())
        }
        ["http", "url"] => parse_url(text).map(|_| ()).map_err(|why| why.to_string()),
        ["http", "headers", name] => {
            check_header(&unescaped(name), text).map_err(|why| why.to_string())
        }
        ["command", "stdin"] | ["http", "body"] if text.contains('\0') => {
            Err("must not contain a NUL character".to_owned())
        }
        ["command", "stdin"] | ["http", "body"] => Ok(()),
        _ => Err("cannot be a value of another node".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(json: Value) -> Run {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn each_place_takes_a_value() {
        let command = run(json!({"command": {"argv": ["x", ""], "env": {"A": ""}, "stdin": ""}}));
        let (name, list, one) = (json!("prog"), json!([1, {"a": 2}]), json!(1));
        let filled = fill(
            &command,
            &[
                ("/command/argv/1", &list),
                ("/command/env/A", &one),
                ("/command/stdin", &name),
                ("/command/argv/0", &name),
            ],
        );
        let wanted = run(
            json!({"command": {"argv": ["prog", r#"[1,{"a":2}]"#], "env": {"A": "1"}, "stdin": "prog"}}),
        );
        assert_eq!(filled, Ok(wanted));
        let http = run(
            json!({"http": {"method": "POST", "url": "https://a/", "headers": {"X-~/": ""}, "body": "", "success": "2xx"}}),
        );
        let url = json!("https://b/c");
        let filled = fill(
            &http,
            &[("/http/url", &url), ("/http/headers/X-~0~1", &one), ("/http/body", &list)],
        );
        assert!(filled.is_err(), "`/` is no character of a header's name");
        let filled = fill(&http, &[("/http/url", &url), ("/http/body", &list)]).unwrap();
        assert_eq!(filled.target().as_deref(), Some("https://b:443"));
    }

    #[test]
    fn a_value_that_no_submit_could_have_is_refused_by_its_place() {
        let command = run(json!({"command": {"argv": ["x"], "env": {"A": ""}}}));
        let http = run(
            json!({"http": {"method": "GET", "url": "https://a/", "headers": {"A": ""}, "success": "2xx"}}),
        );
        let (empty, nul, line, long) =
            (json!(""), json!("a\0"), json!("a\nb"), json!("x".repeat(200_000)));
        for (run, at, value) in [
            (&command, "/command/argv/0", &empty),
            (&command, "/command/env/A", &nul),
            (&command, "/command/env/A", &long),
            (&command, "/command/stdin", &nul),
            (&http, "/http/url", &line),
            (&http, "/http/headers/A", &line),
            (&http, "/http/method", &line),
        ] {
            let problem = fill(run, &[(at, value)]).unwrap_err();
            assert_eq!(problem.at, at);
            assert!(!problem.why.is_empty());
        }
    }
}

//! A file with JSON or YAML, such as the definition of a workflow.
//!
//! Of YAML, plain words such as `on`, `no` and `yes` are texts, as YAML 1.2 has it; only `true` and `false` are booleans. So are numbers
//! that a person may mean as a text: `007` and `1_000`.

use super::super::submit::read;
use super::located::{Located, Position};
use super::ordered::Ordered;
use crate::failure::Failure;
use client::RawJson;
use serde_saphyr::{MessageFormatter, NonFiniteFloatPolicy, Options, UserMessageFormatter};

/// What YAML may have of anything: more than a definition of 10 000 nodes needs.
const MOST_YAML: usize = 10_000_000;

/// Where something is wrong in a file, and what.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::customer) struct Mistake {
    /// Line and column, from 1.
    pub at: Option<Position>,
    /// In words.
    pub detail: String,
}

/// Whether `name` is that of a file with a definition rather than of a stored workflow.
pub(super) fn is_file(name: &str) -> bool {
    name == "-"
        || has_ending(name, &["json", "yaml", "yml"])
        || std::path::Path::new(name).is_file()
}

/// The file as JSON. `-` is standard input.
pub(crate) fn json(file: &str) -> Result<RawJson, Failure> {
    let (value, name) = (value(file)?, shown(file));
    let text = serde_json::to_string(&value).ok();
    let json = text.as_deref().and_then(RawJson::parse);
    json.ok_or_else(|| Failure::usage(format!("{name} cannot be written as JSON")))
}

/// What the file holds. `-` is standard input.
pub(super) fn value(file: &str) -> Result<Ordered, Failure> {
    let name = shown(file);
    let text = String::from_utf8(read(file)?)
        .map_err(|_| Failure::usage(format!("{name} is not UTF-8 text")))?;
    parsed(file, &text).map_err(|Mistake { at, detail }| {
        let at = at.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        Failure::usage(format!("{name}{at}: {detail}"))
    })
}

/// The documents of `text`, which is the content of `file`. Empty ones are left out.
pub(in crate::customer) fn documents(file: &str, text: &str) -> Result<Vec<Located>, Mistake> {
    let found = || {
        serde_saphyr::from_multiple_with_options(text, options()).map_err(|error| mistake(&error))
    };
    let is_json = has_ending(file, &["json"]);
    if !is_json && !text.trim_start().starts_with(['{', '[']) {
        return found();
    }
    match from_json(text) {
        // JSON is YAML, which knows the lines, unless its strings are written as only JSON has them.
        Ok(value) => Ok(found()
            .ok()
            .filter(|found: &Vec<Located>| matches!(&found[..], [only] if only.value() == value))
            .unwrap_or_else(|| vec![Located::nowhere(value)])),
        Err(mistake) if is_json => Err(mistake),
        // It begins as JSON does, and may still be YAML.
        Err(mistake) => found().map_err(|_| mistake),
    }
}

fn shown(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

fn has_ending(name: &str, endings: &[&str]) -> bool {
    let ending = std::path::Path::new(name).extension();
    ending.is_some_and(|ending| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

fn parsed(file: &str, text: &str) -> Result<Ordered, Mistake> {
    if has_ending(file, &["json"]) {
        return from_json(text);
    }
    if has_ending(file, &["yaml", "yml"]) || !text.trim_start().starts_with(['{', '[']) {
        return from_yaml(text);
    }
    // It begins as JSON does, and may still be YAML.
    from_json(text).or_else(|mistake| from_yaml(text).map_err(|_| mistake))
}

fn from_json(text: &str) -> Result<Ordered, Mistake> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let detail = error.to_string();
        let place = format!(" at line {line} column {column}");
        let detail = detail.strip_suffix(&place).unwrap_or(&detail).to_owned();
        Mistake { at: Some((line as u64, column as u64)), detail }
    })
}

fn from_yaml(text: &str) -> Result<Ordered, Mistake> {
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| mistake(&error))
}

fn mistake(error: &serde_saphyr::Error) -> Mistake {
    let at = error.location().map(|place| (place.line(), place.column()));
    let detail = UserMessageFormatter.format_message(error.without_snippet()).into_owned();
    Mistake { at, detail }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: MOST_YAML,
            max_nodes: MOST_YAML,
        },
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(text: &str) -> String {
        serde_json::to_string(&from_yaml(text).unwrap()).unwrap()
    }

    #[test]
    fn yaml_keeps_the_order_of_nodes_and_its_plain_words() {
        let text = "\
# Loads what was extracted.
nodes:
  zulu: {task: {run: {command: {argv: [echo, no, on, y, ~, 'true', 1.5, 007, 1_000, .inf]}}}}
  alpha:
    after:
      - zulu
      - {node: zulu, on: failed}
    if: {$from: zulu, pointer: /ok, eq: true}
";
        assert_eq!(
            yaml(text),
            r#"{"nodes":{"zulu":{"task":{"run":{"command":{"argv":["echo","no","on","y",null,"true",1.5,"007","1_000",".inf"]}}}},"alpha":{"after":["zulu",{"node":"zulu","on":"failed"}],"if":{"$from":"zulu","pointer":"/ok","eq":true}}}}"#
        );
        assert_eq!(yaml("on: 1\nno: 2\n1: 3\n"), r#"{"on":1,"no":2,"1":3}"#);
        assert_eq!(yaml(""), "null");
    }

    #[test]
    fn a_yaml_anchor_is_written_once_and_used_again() {
        let text = "\
defaults: &usual {tier: basic, labels: {a: b}}
nodes:
  one: {task: {<<: *usual, name: x}}
  two: {task: *usual}
";
        assert_eq!(
            yaml(text),
            r#"{"defaults":{"tier":"basic","labels":{"a":"b"}},"nodes":{"one":{"task":{"name":"x","tier":"basic","labels":{"a":"b"}}},"two":{"task":{"tier":"basic","labels":{"a":"b"}}}}}"#
        );
    }

    #[test]
    fn a_script_over_several_lines_stays_as_it_is() {
        let text = "run: |\n  echo 'a: b'\n  exit 3\nfolded: >-\n  one\n  two\n";
        assert_eq!(yaml(text), r#"{"run":"echo 'a: b'\nexit 3\n","folded":"one two"}"#);
    }

    #[test]
    fn a_mistake_has_its_line_and_column() {
        for (text, at) in [
            ("nodes:\n  a: [1\n  b: 2\n", (3, 4)),
            ("a: 1\nb: {}\na: 2\n", (3, 1)),
            ("a: *b\n", (1, 4)),
        ] {
            let mistake = from_yaml(text).unwrap_err();
            assert_eq!(mistake.at, Some(at), "{mistake:?}");
            assert!(
                !mistake.detail.contains("column") && !mistake.detail.contains('\n'),
                "{mistake:?}"
            );
        }
        let mistake = from_json("{\"a\":\n  1,}").unwrap_err();
        assert_eq!((mistake.at, mistake.detail.as_str()), (Some((2, 5)), "trailing comma"));
    }

    #[test]
    fn json_is_known_by_its_ending_or_its_first_letter() {
        let read = |file, text| parsed(file, text).ok();
        let object = Some(Ordered::Map(vec![("a".to_owned(), Ordered::Number(1.into()))]));
        assert_eq!(read("-", "{\"a\": 1}"), object);
        assert_eq!(read("-", "{a: 1}"), object);
        assert_eq!(read("a.yml", "a: 1"), object);
        assert_eq!(read("a.json", "{a: 1}"), None);
        assert!(is_file("-") && is_file("a.YAML") && !is_file("load.daily"));
    }

    #[test]
    fn each_document_knows_its_lines_and_empty_ones_are_left_out() {
        let found = documents("-", "---\n# only a comment\n---\na: 1\nb:\n  - c: [x]\n---\nd: 2\n")
            .unwrap();
        let values: Vec<String> =
            found.iter().map(|one| serde_json::to_string(&one.value()).unwrap()).collect();
        assert_eq!(values, [r#"{"a":1,"b":[{"c":["x"]}]}"#, r#"{"d":2}"#]);
        assert_eq!(found[0].position(""), Some((4, 1)));
        assert_eq!(found[0].position("/b/0/c/0"), Some((6, 9)));
        assert_eq!(found[0].position("/b/0/none/at/all"), Some((6, 5)), "of what holds it");
        assert_eq!(found[1].position("/d"), Some((8, 4)));
        let json = documents("a.json", "{\n  \"a\": [\n    {\"b\": 1}]}").unwrap();
        assert_eq!(json[0].position("/a/0/b"), Some((3, 11)));
        assert_eq!(documents("a.json", "{\n \"a\": 1,}").unwrap_err().at, Some((2, 9)));
    }

    #[test]
    fn a_bomb_of_aliases_is_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..10 {
            let of = format!("*a{}", level - 1);
            let all = vec![of; 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{all}]\n"));
        }
        assert!(from_yaml(&text).is_err());
    }
}

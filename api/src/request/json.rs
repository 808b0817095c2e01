//! Reads a JSON body into a type, and says exactly where it does not fit.
//!
//! The fast path is plain `serde_json`; only a body that does not fit is read again with its path tracked.
//! Depth is bounded by `serde_json` (128). Unknown and doubled fields are refused by the types themselves
//! (`deny_unknown_fields`).

use super::mismatch::rewritten;
use super::objects::Objects;
use crate::problem::{Code, FieldError, Problem};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_path_to_error::{Path, Segment};

/// Longest sentence taken over from the parser: it may quote the client's own text.
const MAX_DETAIL: usize = 400;

/// Reads `body` as `T`.
///
/// # Errors
/// `invalid_json` when it is no JSON, `validation_failed` with a pointer when it is no `T`.
pub fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Problem> {
    parse_at(body, "")
}

/// Reads `body`, which stands at the pointer `base` in the whole, as `T`.
///
/// # Errors
/// As [`parse`], with pointers into the whole.
pub fn parse_at<'a, T: Deserialize<'a>>(body: &'a [u8], base: &str) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    T::deserialize(Objects(&mut deserializer))
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| explain::<T>(body, base, &error))
}

/// Refuses a body that says something, where there is nothing to say.
///
/// # Errors
/// As [`parse`]: unknown fields are refused here as everywhere.
pub fn nothing(body: &[u8]) -> Result<(), Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    if !body.is_empty() {
        let Nothing {} = parse(body)?;
    }
    Ok(())
}

fn explain<'a, T: Deserialize<'a>>(
    body: &'a [u8],
    base: &str,
    error: &serde_json::Error,
) -> Problem {
    // What a typed reader meets first says little: an array where an enum is wanted looks like bad syntax to it, and it stops at a
    // wrong type whatever follows.
    let Some(mistake) = mistake_of_form(body) else {
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        return match serde_path_to_error::deserialize::<_, T>(Objects(&mut deserializer)) {
            Err(error) => misfit(pointer_of(base, error.path()), error.inner()),
            Ok(_) => misfit(base.to_owned(), error),
        };
    };
    let detail = if body.is_empty() {
        "A JSON body is required, but it is empty.".to_owned()
    } else {
        format!("The body is not valid JSON: {}.", shortened(&mistake))
    };
    Problem::new(Code::InvalidJson, detail)
}

/// Why it is no text, or no JSON as far as its form goes.
fn mistake_of_form(body: &[u8]) -> Option<String> {
    match std::str::from_utf8(body) {
        Err(error) => Some(error.to_string()),
        Ok(text) => serde_json::from_str::<IgnoredAny>(text).err().map(|error| error.to_string()),
    }
}

fn misfit(mut pointer: String, error: &serde_json::Error) -> Problem {
    let text = error.to_string();
    let sentence = text.rsplit_once(" at line ").map_or(text.as_str(), |(sentence, _)| sentence);
    // These two are found while the object around the field is read, so the path ends there.
    for start in ["duplicate field `", "missing field `"] {
        if let Some(name) = sentence.strip_prefix(start).and_then(|rest| rest.strip_suffix('`')) {
            push(&mut pointer, name);
        }
    }
    let errors = vec![FieldError { pointer, detail: shortened(&rewritten(sentence)) }];
    Problem::with_errors(Code::ValidationFailed, errors)
}

fn pointer_of(base: &str, path: &Path) -> String {
    let mut pointer = base.to_owned();
    for segment in path {
        match segment {
            Segment::Seq { index } => push(&mut pointer, &index.to_string()),
            Segment::Map { key } => push(&mut pointer, key),
            Segment::Enum { variant } => push(&mut pointer, variant),
            Segment::Unknown => {}
        }
    }
    pointer
}

/// Appends one step to a JSON pointer.
pub fn push(pointer: &mut String, step: &str) {
    pointer.push('/');
    for c in step.chars().take(200) {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

fn shortened(text: &str) -> String {
    if text.len() <= MAX_DETAIL {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(MAX_DETAIL).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[expect(dead_code, reason = "only read")]
        inner: Option<Inner>,
        #[expect(dead_code, reason = "only read")]
        list: Option<Vec<u32>>,
        #[expect(dead_code, reason = "only read")]
        word: Option<Word>,
        #[expect(dead_code, reason = "only read")]
        many: Option<Vec<Inner>>,
        #[expect(dead_code, reason = "only read")]
        tagged: Option<Tagged>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Tagged {
        Inner(#[expect(dead_code, reason = "only read")] Inner),
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        One,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[expect(dead_code, reason = "only read")]
        a: u8,
    }

    fn refused(text: &str) -> (Code, String) {
        let problem = parse::<Outer>(text.as_bytes()).unwrap_err();
        (problem.code(), problem.errors().first().map(|e| e.pointer.clone()).unwrap_or_default())
    }

    #[test]
    fn what_does_not_fit_is_pointed_at() {
        for (text, pointer) in [
            (r#"{"inner":{"a":"x"}}"#, "/inner/a"),
            (r#"{"inner":{"a":256}}"#, "/inner/a"),
            (r#"{"inner":{}}"#, "/inner/a"),
            (r#"{"inner":{"a":1,"a":2}}"#, "/inner/a"),
            (r#"{"inner":{"a":1,"b~/":2}}"#, "/inner/b~0~1"),
            (r#"{"inner":[]}"#, "/inner"),
            (r#"{"list":[1,2,-3]}"#, "/list/2"),
            (r#"{"list":[1,1e999]}"#, "/list/1"),
            (r#"{"word":["one"]}"#, "/word"),
            (r#"{"word":{"one":1}}"#, "/word/one"),
            (r#"{"word":"\ud800"}"#, "/word"),
            (r#"{"other":1}"#, "/other"),
            (r#"{"inner":[1]}"#, "/inner"),
            (r#"{"many":[{"a":1},[1]]}"#, "/many/1"),
            (r#"{"tagged":{"inner":[1]}}"#, "/tagged/inner"),
            (r#"[]"#, ""),
            (r#"[{"a":1},null,null]"#, ""),
            (r#"null"#, ""),
        ] {
            let (code, found) = refused(text);
            assert_eq!((code, found.as_str()), (Code::ValidationFailed, pointer), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_said_so() {
        let deep = format!("{{\"list\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        for text in
            ["", "{", "{]", "nul", "{\"list\":[1],}", "{} {}", "\u{0}", "{\"list\":\"\u{0}\"}"]
        {
            assert_eq!(refused(text).0, Code::InvalidJson, "{text:?}");
        }
        assert_ne!(refused(&deep).0, Code::Internal);
        assert!(
            parse::<serde_json::Value>(deep.as_bytes()).unwrap_err().detail().contains("recursion")
        );
        assert!(parse::<String>(b"\"\xff\"").is_err());
    }

    #[test]
    fn a_text_in_the_wrong_place_is_not_said_back() {
        for text in [
            r#"{"inner":"hunter2"}"#,
            r#"{"list":["hunter2"]}"#,
            r#"{"word":"hunter2"}"#,
            r#"{"inner":{"a":"x\", expected hunter2 and more"}}"#,
            r#""hunter2""#,
        ] {
            let problem = parse::<Outer>(text.as_bytes()).unwrap_err();
            let said = format!("{problem:?}");
            assert!(!said.contains("hunter2"), "{said}");
            assert!(said.contains("must be"), "{said}");
        }
    }

    #[test]
    fn a_quoted_value_does_not_blow_up_the_answer() {
        let text = format!("{{\"inner\":\"{}\"}}", "x".repeat(100_000));
        let problem = parse::<Outer>(text.as_bytes()).unwrap_err();
        assert!(problem.detail().len() < 1000);
    }
}

//! A parser's sentence about JSON that does not fit, in words that a client knows.
//!
//! `serde_json` names this program's types (`expected struct CommandRun`, `expected u32`) and may quote the client's own text, which
//! can be a secret in the wrong place. Called by `json` for each mistake. The rule: neither is said back.

/// What is wrong, as "must be …".
pub(super) fn rewritten(sentence: &str) -> String {
    if sentence.starts_with("duplicate field `") {
        return "is given twice".to_owned();
    }
    if sentence.starts_with("missing field `") {
        return "is required".to_owned();
    }
    if sentence.starts_with("unknown field `") {
        return match sentence.rsplit_once("`, expected ") {
            Some((_, known)) => format!("is not a field here; the fields are {}", words(known)),
            None => "is not a field here; there are no fields".to_owned(),
        };
    }
    if sentence.starts_with("unknown variant `") {
        let known = sentence.rsplit_once("`, expected ").map(|(_, known)| known);
        return format!("must be {}", known.unwrap_or("another value"));
    }
    for start in ["invalid type: ", "invalid value: ", "invalid length "] {
        if let Some(rest) = sentence.strip_prefix(start)
            && let Some((given, expected)) = rest.rsplit_once(", expected ")
        {
            return format!("must be {}{}", kind(expected), instead(given));
        }
    }
    sentence.to_owned()
}

/// Names in backquotes: "`a`, `b`", "`a` or `b`", or "`a`".
fn words(known: &str) -> &str {
    known.strip_prefix("one of ").unwrap_or(known)
}

/// What JSON is wanted, from how the parser calls it.
fn kind(expected: &str) -> &str {
    match expected {
        "a string" | "string" | "str" | "a borrowed string" | "a character" => "a string",
        "a boolean" | "bool" | "boolean" => "true or false",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number, 0 or more",
        "i8" => "a whole number from -128 to 127",
        "i16" => "a whole number from -32768 to 32767",
        "i32" => "a whole number from -2147483648 to 2147483647",
        "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" | "sequence" => "a list",
        "an object of strings" => "an object of strings",
        "a map" | "map" => "an object",
        "unit" | "null" => "null",
        of if of.starts_with("struct ") || of.starts_with("internally tagged enum ") => "an object",
        of if of.starts_with("enum ") => "a string",
        of if of.starts_with("tuple ") || of.starts_with("an array of ") => "a list",
        other => other,
    }
}

/// ", not a list": what stands there, by its kind alone.
fn instead(given: &str) -> &'static str {
    let starts = |start: &str| given.starts_with(start);
    if starts("string ") {
        ", not a string"
    } else if starts("integer ") || starts("floating point ") {
        ", not this number"
    } else if starts("boolean ") {
        ", not true or false"
    } else if starts("sequence") {
        ", not a list"
    } else if starts("map") {
        ", not an object"
    } else if starts("null") || starts("unit") {
        ", not null"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_said_as_json_and_never_as_a_type_of_this_program() {
        for (sentence, wanted) in [
            (
                "invalid type: string \"x\", expected struct CommandRun",
                "must be an object, not a string",
            ),
            ("invalid type: integer `5`, expected a string", "must be a string, not this number"),
            (
                "invalid value: integer `-3`, expected u32",
                "must be a whole number from 0 to 4294967295, not this number",
            ),
            ("invalid type: map, expected a sequence", "must be a list, not an object"),
            ("invalid type: null, expected a boolean", "must be true or false, not null"),
            (
                "invalid type: sequence, expected an object of strings",
                "must be an object of strings, not a list",
            ),
            ("unknown field `b`, expected `a`", "is not a field here; the fields are `a`"),
            (
                "unknown field `c`, expected one of `a`, `b`",
                "is not a field here; the fields are `a`, `b`",
            ),
            ("unknown field `c`, there are no fields", "is not a field here; there are no fields"),
            ("unknown variant `hunter2`, expected one of `a`, `b`", "must be one of `a`, `b`"),
            ("unknown variant `x`, expected `a` or `b`", "must be `a` or `b`"),
            ("missing field `a`", "is required"),
            ("duplicate field `a`", "is given twice"),
            ("number out of range", "number out of range"),
        ] {
            assert_eq!(rewritten(sentence), wanted, "{sentence}");
        }
    }
}

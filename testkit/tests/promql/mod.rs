//! The series and labels that a PromQL expression names.
//!
//! Used by `observability.rs`. It reads what the shipped rules and dashboards use of the language; that an expression is one, `promtool`
//! says (`scripts/observability check`).

/// `name{label="value"}`.
#[derive(Debug, PartialEq, Eq)]
pub struct Selector {
    pub name: String,
    /// Label, operator, value.
    pub matchers: Vec<(String, String, String)>,
}

/// What an expression names.
#[derive(Debug, Default)]
pub struct Named {
    pub selectors: Vec<Selector>,
    /// Labels of `by (...)` and the like.
    pub grouped_by: Vec<String>,
}

/// Words before a list of labels in parentheses.
const BEFORE_LABELS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];

/// Reads `expression`. Of names only `up` and those that begin with `berth` are series; others are functions.
pub fn named(expression: &str) -> Named {
    let mut named = Named::default();
    let mut rest = expression;
    while let Some(next) = rest.chars().next() {
        if next == '"' || next == '\'' {
            let (_, after) = quoted(rest);
            rest = after;
        } else if next.is_ascii_alphabetic() || next == '_' {
            let (word, after) = word(rest);
            let after = after.trim_start();
            rest = after;
            if BEFORE_LABELS.contains(&word) && after.starts_with('(') {
                let (inside, after) = after[1..].split_once(')').expect("a list of labels ends");
                let labels = inside.split(',').map(|label| label.trim().to_owned());
                named.grouped_by.extend(labels.filter(|label| !label.is_empty()));
                rest = after;
            } else if word == "up" || word.starts_with("berth") {
                let (matchers, after) = matchers(after);
                named.selectors.push(Selector { name: word.to_owned(), matchers });
                rest = after;
            }
        } else if next.is_ascii_digit() {
            // With its unit: 5m is no name.
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.');
            rest = &rest[end.unwrap_or(rest.len())..];
        } else {
            rest = &rest[next.len_utf8()..];
        }
    }
    named
}

fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':');
    text.split_at(end.unwrap_or(text.len()))
}

/// What the quotes at its beginning hold, and the rest.
fn quoted(text: &str) -> (&str, &str) {
    let (mark, inside) = text.split_at(1);
    inside.split_once(mark).expect("quotes end")
}

fn matchers(text: &str) -> (Vec<(String, String, String)>, &str) {
    let mut matchers = Vec::new();
    let Some(mut rest) = text.strip_prefix('{') else { return (matchers, text) };
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        if let Some(after) = rest.strip_prefix('}') {
            return (matchers, after);
        }
        let (label, after) = word(rest);
        assert!(!label.is_empty(), "no label at {rest}");
        let end = after.find(['"', '\'']).expect("a value in quotes");
        let (value, after_value) = quoted(&after[end..]);
        matchers.push((label.to_owned(), after[..end].trim().to_owned(), value.to_owned()));
        rest = after_value;
    }
}

//! The three layers as maps, checked against the keys of the defaults before they are merged.
//!
//! Called by `load`. The defaults say which keys exist and of which type each is, so an environment
//! value is read as that type and never guessed: a password `1234` stays text. Unknown keys are
//! collected here with the nearest known one, and so is where each value came from.

use super::environment::{PREFIX, variable_of};
use super::error::{ConfigError, Problem};
use figment::Figment;
use figment::providers::{Format, Serialized, Toml};
use figment::value::{Dict, Tag, Value};
use std::collections::BTreeMap;

/// The merged settings and their origins.
pub(super) struct Layers {
    pub(super) merged: Figment,
    origins: BTreeMap<String, String>,
}

impl Layers {
    /// Where the value of `section.key` came from, for messages.
    pub(super) fn origin(&self, key: &str) -> String {
        self.origins.get(key).cloned().unwrap_or_else(|| "the defaults".to_owned())
    }

    /// Puts a key, a message and the key's origin together.
    pub(super) fn problem(&self, key: &str, message: String) -> Problem {
        Problem { key: key.to_owned(), origin: self.origin(key), message }
    }
}

/// Reads TOML text into a map of sections.
pub(super) fn parse(path: &str, text: &str) -> Result<Dict, ConfigError> {
    Toml::from_str(text)
        .map_err(|error| ConfigError::Syntax { path: path.to_owned(), message: error.to_string() })
}

/// Lays the file and the environment over the defaults.
///
/// # Errors
/// `ConfigError::Invalid` with every key that the defaults do not have and every environment value
/// that is not of its key's type.
pub(super) fn lay(
    defaults: Dict,
    file: Option<(&str, Dict)>,
    environment: Vec<(String, String)>,
) -> Result<Layers, ConfigError> {
    let mut problems = Vec::new();
    let mut origins = BTreeMap::new();
    let mut merged = Figment::from(Serialized::defaults(&defaults));
    if let Some((path, dict)) = file {
        check_file(path, &dict, &defaults, &mut problems, &mut origins);
        merged = merged.merge(Serialized::defaults(dict));
    }
    let mut over = BTreeMap::<String, Dict>::new();
    for (name, text) in environment {
        let Some((section, key)) = split(&name, &defaults, &mut problems) else { continue };
        let full = format!("{section}.{key}");
        let origin = format!("the environment variable {name}");
        match known(&defaults, &section, &key) {
            None => problems.push(unknown(&defaults, full, origin)),
            Some(default) => match typed(&text, default) {
                Err(message) => {
                    problems.push(Problem { key: full, origin, message: message.to_owned() })
                }
                Ok(value) => {
                    origins.insert(full, origin);
                    over.entry(section).or_default().insert(key, value);
                }
            },
        }
    }
    if !problems.is_empty() {
        return Err(ConfigError::Invalid(problems));
    }
    Ok(Layers { merged: merged.merge(Serialized::defaults(over)), origins })
}

fn check_file(
    path: &str,
    dict: &Dict,
    defaults: &Dict,
    problems: &mut Vec<Problem>,
    origins: &mut BTreeMap<String, String>,
) {
    let origin = format!("the file {path}");
    for (section, value) in dict {
        let Some(keys) = value.as_dict() else {
            problems.push(unknown(defaults, section.clone(), origin.clone()));
            continue;
        };
        if !defaults.contains_key(section) {
            problems.push(unknown(defaults, section.clone(), origin.clone()));
            continue;
        }
        for key in keys.keys() {
            let full = format!("{section}.{key}");
            match known(defaults, section, key) {
                None => problems.push(unknown(defaults, full, origin.clone())),
                Some(_) => {
                    origins.insert(full, origin.clone());
                }
            }
        }
    }
}

/// Section and key of a variable; `None` when it is not a setting at all (`BERTH_CONFIG`, a test's
/// own). `BERTH_BUS_URL` is refused: it is a setting with one underscore too few.
fn split(name: &str, defaults: &Dict, problems: &mut Vec<Problem>) -> Option<(String, String)> {
    let rest = name.strip_prefix(PREFIX)?;
    if let Some((section, key)) = rest.split_once("__") {
        return Some((section.to_lowercase(), key.to_lowercase()));
    }
    let meant = keys(defaults).find(|key| key.replace('.', "_") == rest.to_lowercase())?;
    problems.push(Problem {
        origin: format!("the environment variable {name}"),
        message: format!("two underscores go between section and key: {}", variable_of(&meant)),
        key: meant,
    });
    None
}

fn known<'a>(defaults: &'a Dict, section: &str, key: &str) -> Option<&'a Value> {
    defaults.get(section)?.as_dict()?.get(key)
}

/// All keys, as `section.key`.
pub(super) fn keys(defaults: &Dict) -> impl Iterator<Item = String> + '_ {
    defaults.iter().flat_map(|(section, value)| {
        let inner = value.as_dict().into_iter().flat_map(Dict::keys);
        inner.map(move |key| format!("{section}.{key}"))
    })
}

/// An environment text as the type that the key's default has.
fn typed(text: &str, default: &Value) -> Result<Value, &'static str> {
    match default {
        Value::Num(..) => text
            .trim()
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_| "expected a whole number, without unit or separators"),
        Value::Bool(..) => {
            text.trim().parse::<bool>().map(Value::from).map_err(|_| "expected true or false")
        }
        Value::Array(..) => Ok(Value::Array(Tag::Default, list(text))),
        Value::String(..) | Value::Char(..) | Value::Dict(..) | Value::Empty(..) => {
            Ok(Value::from(text))
        }
    }
}

/// `a,b` or `["a", "b"]`.
fn list(text: &str) -> Vec<Value> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    inner
        .split(',')
        .map(|item| item.trim().trim_matches(['"', '\'']))
        .filter(|item| !item.is_empty())
        .map(Value::from)
        .collect()
}

fn unknown(defaults: &Dict, key: String, origin: String) -> Problem {
    let candidates: Vec<String> = if key.contains('.') {
        keys(defaults).collect()
    } else {
        defaults.keys().cloned().collect()
    };
    let nearest = candidates.into_iter().min_by_key(|known| distance(known, &key));
    let message = match nearest.filter(|known| distance(known, &key) <= 1 + key.len() / 4) {
        Some(near) => format!("there is no such setting; did you mean `{near}`?"),
        None => "there is no such setting; config/default.toml lists all".to_owned(),
    };
    Problem { key, origin, message }
}

/// Edits (insert, delete, replace) between two short texts.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

//! `$from`, `$input` and `$item`: where values come from, and where they may stand in what a node runs.

use crate::request::json;
use crate::task::Findings;
use domain::workflow::{Comparison, Hole, Source, Test, is_pointer};
use serde_json::{Map, Value};

/// What a node may read.
pub(super) struct Readable<'a> {
    /// Places of nodes by name.
    pub place: &'a dyn Fn(&str) -> Option<usize>,
    /// It has a `for_each`.
    pub has_items: bool,
}

/// Whether a value is one of these: an object with `$from`, `$input` or `$item`.
fn is_source(value: &Value) -> Option<&Map<String, Value>> {
    value
        .as_object()
        .filter(|fields| ["$from", "$input", "$item"].iter().any(|key| fields.contains_key(*key)))
}

impl Readable<'_> {
    /// Reads a source at `pointer`; what is no source is noted.
    pub(super) fn source(
        &self,
        f: &mut Findings,
        pointer: &str,
        value: &Value,
    ) -> Option<Source<usize>> {
        const WANTED: &str = "must be {\"$from\": \"node\", \"pointer\": \"/a\"}, {\"$input\": \"/a\"} or {\"$item\": \"/a\"}";
        let Some(fields) = is_source(value) else {
            f.wrong(pointer, WANTED);
            return None;
        };
        self.read(f, pointer, fields, &["pointer"])
    }

    fn read(
        &self,
        f: &mut Findings,
        pointer: &str,
        fields: &Map<String, Value>,
        besides: &[&str],
    ) -> Option<Source<usize>> {
        let of = |key: &str| fields.get(key).map(|value| value.as_str());
        let kinds =
            ["$from", "$input", "$item"].iter().filter(|key| fields.contains_key(**key)).count();
        let known = |key: &String| {
            ["$from", "$input", "$item"].contains(&key.as_str()) || besides.contains(&key.as_str())
        };
        if kinds != 1 {
            f.wrong(pointer, "must have exactly one of `$from`, `$input`, `$item`");
            return None;
        }
        if let Some(unknown) = fields.keys().find(|key| !known(key)) {
            f.wrong_entry(pointer, unknown, "is not a field here");
            return None;
        }
        let own = match (of("$from"), of("$input"), of("$item")) {
            (Some(Some(name)), ..) => {
                return self.of_node(f, pointer, (name, fields.get("pointer")));
            }
            (_, Some(Some(at)), _) => Source::Input(at.to_owned()),
            (.., Some(Some(_))) if !self.has_items => {
                f.wrong(pointer, "`$item` is allowed only in the task of a node with `for_each`");
                return None;
            }
            (.., Some(Some(at))) => Source::Item(at.to_owned()),
            _ => {
                f.wrong(pointer, "must be a text: the name of a node in `$from`, a JSON pointer in `$input` and `$item`");
                return None;
            }
        };
        if fields.contains_key("pointer") && besides.contains(&"pointer") {
            f.wrong(pointer, "`pointer` goes with `$from` only");
        }
        self.checked(f, pointer, own)
    }

    fn of_node(
        &self,
        f: &mut Findings,
        pointer: &str,
        (name, at): (&str, Option<&Value>),
    ) -> Option<Source<usize>> {
        let at = match at.map(Value::as_str) {
            None => "",
            Some(Some(at)) => at,
            Some(None) => {
                f.wrong(pointer, "`pointer` must be a text");
                return None;
            }
        };
        let Some(place) = (self.place)(name) else {
            f.wrong(pointer, format!("`{}` is not a node of this workflow", short(name)));
            return None;
        };
        self.checked(f, pointer, Source::Node(place, at.to_owned()))
    }

    fn checked(
        &self,
        f: &mut Findings,
        pointer: &str,
        source: Source<usize>,
    ) -> Option<Source<usize>> {
        if is_pointer(source.pointer()) {
            return Some(source);
        }
        f.wrong(
            pointer,
            "must have a JSON pointer (RFC 6901): empty, or steps that each begin with `/`",
        );
        None
    }

    /// Reads an `if` at `pointer`: a source and one comparison.
    pub(super) fn test(
        &self,
        f: &mut Findings,
        pointer: &str,
        value: &Value,
    ) -> Option<Test<usize>> {
        const WORDS: [&str; 8] = ["eq", "ne", "lt", "le", "gt", "ge", "in", "exists"];
        const WANTED: &str = "must be a value and one comparison, such as {\"$from\": \"check\", \"pointer\": \"/ok\", \"eq\": true}";
        let Some(fields) = is_source(value) else {
            f.wrong(pointer, WANTED);
            return None;
        };
        let words: Vec<&str> =
            WORDS.into_iter().filter(|word| fields.contains_key(*word)).collect();
        let [word] = words.as_slice() else {
            f.wrong(
                pointer,
                "must have exactly one of `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `in`, `exists`",
            );
            return None;
        };
        let with: Vec<&str> = WORDS.into_iter().chain(["pointer"]).collect();
        let own = Readable { has_items: false, place: self.place };
        let of = own.read(f, pointer, fields, &with)?;
        let given: Map<String, Value> =
            [((*word).to_owned(), fields[*word].clone())].into_iter().collect();
        let is = serde_json::from_value::<Comparison>(Value::Object(given)).ok();
        let is_ordered = |value: &Value| value.is_number() || value.is_string();
        let fits = match &is {
            Some(Comparison::Lt(v) | Comparison::Le(v) | Comparison::Gt(v) | Comparison::Ge(v)) => {
                is_ordered(v)
            }
            Some(
                Comparison::Eq(_) | Comparison::Ne(_) | Comparison::In(_) | Comparison::Exists(_),
            ) => true,
            None => false,
        };
        match is.filter(|_| fits) {
            Some(is) => Some(Test { of, is }),
            None => {
                f.wrong_entry(pointer, word, "must be a number or a text for lt, le, gt and ge, a list for in, true or false for exists");
                None
            }
        }
    }

    /// Takes the sources out of what a node runs, which stands at `pointer`, and puts texts in their places that pass as such.
    pub(super) fn holes(
        &self,
        f: &mut Findings,
        pointer: &str,
        run: &mut Value,
    ) -> Vec<Hole<usize>> {
        let mut holes = Vec::new();
        self.walk(f, (pointer, String::new()), run, &mut holes);
        holes
    }

    fn walk(
        &self,
        f: &mut Findings,
        (pointer, at): (&str, String),
        value: &mut Value,
        holes: &mut Vec<Hole<usize>>,
    ) {
        if is_source(value).is_some() {
            let here = format!("{pointer}{at}");
            let steps: Vec<&str> = at.split('/').skip(1).collect();
            let stand_in = match steps.as_slice() {
                ["command", "argv", "0"] => "program",
                ["http", "url"] => "https://value.invalid/",
                ["command", "argv" | "env", _]
                | ["command", "stdin"]
                | ["http", "body"]
                | ["http", "headers", _] => "",
                _ => {
                    f.wrong(&here, "a value can stand only in `argv`, `env`, `stdin`, `url`, `headers` and `body`");
                    return;
                }
            };
            if let Some(from) = self.source(f, &here, value) {
                holes.push(Hole { at: at.clone(), from });
            }
            *value = Value::from(stand_in);
            return;
        }
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let mut next = at.clone();
                    json::push(&mut next, key);
                    self.walk(f, (pointer, next), value, holes);
                }
            }
            Value::Array(items) => {
                for (place, value) in items.iter_mut().enumerate() {
                    self.walk(f, (pointer, format!("{at}/{place}")), value, holes);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

pub(super) fn short(name: &str) -> String {
    name.chars().take(64).collect()
}

/// The pointer of a node, from the start of the definition.
pub(super) fn pointer(name: &str) -> String {
    let mut pointer = "/nodes".to_owned();
    json::push(&mut pointer, name);
    pointer
}

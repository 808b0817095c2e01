//! Finds the objects of files and folders.
//!
//! Every file is read to its end, so that all mistakes are reported at once.

use super::super::submit;
use super::super::workflow::{Ordered, documents};
use super::kind::Kind;
use super::object::{Mistake, Object, Source};
use crate::failure::Failure;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Folders below each other.
const MOST_DEEP: usize = 32;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub objects: Vec<Object>,
    pub mistakes: Vec<Mistake>,
}

/// Reads each of `paths`: a file, a folder, or `-` for standard input.
pub(super) fn read(paths: &[String]) -> Result<Found, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path != "-" && Path::new(path).is_dir() {
            folder(Path::new(path), MOST_DEEP, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    let mut found = Found::default();
    for file in &files {
        let bytes = submit::read(file)?;
        let shown = if file == "-" { "standard input" } else { file };
        match String::from_utf8(bytes) {
            Ok(text) => found.add(file, shown, &text),
            Err(_) => found.mistakes.push(Mistake::new(shown, None, "", "is not UTF-8 text")),
        }
    }
    found.refuse_doubles();
    Ok(found)
}

/// The files of a folder and of those below, by name. Hidden ones are left out, and linked folders.
fn folder(path: &Path, deep: usize, files: &mut Vec<String>) -> Result<(), Failure> {
    let unreadable =
        |error: std::io::Error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        entries.push((entry.path(), entry.file_type().map_err(unreadable)?));
    }
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (path, kind) in entries {
        let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if is_hidden {
            continue;
        }
        if kind.is_dir() && deep > 0 {
            folder(&path, deep - 1, files)?;
        } else if path.is_file() && ["yaml", "yml", "json"].contains(&ending.as_str()) {
            files.push(path.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

impl Found {
    fn add(&mut self, file: &str, shown: &str, text: &str) {
        let documents = match documents(file, text) {
            Ok(documents) => documents,
            Err(mistake) => {
                self.mistakes.push(Mistake::new(shown, mistake.at, "", mistake.detail));
                return;
            }
        };
        let shown: Arc<str> = shown.into();
        for (place, document) in documents.into_iter().enumerate() {
            for located in document.items() {
                let (file, located) = (Arc::clone(&shown), Arc::new(located));
                self.object(Source { file, document: place + 1, located });
            }
        }
    }

    fn object(&mut self, source: Source) {
        let Ordered::Map(mut fields) = source.located.value() else {
            let detail = "expected an object with `kind` and `name`";
            return self.mistakes.push(source.mistake("", detail));
        };
        let mut take = |name: &str| {
            let place = fields.iter().position(|(field, _)| field == name)?;
            Some(fields.remove(place).1)
        };
        let (kind, name) = (take("kind"), take("name"));
        let kind = match &kind {
            Some(Ordered::Text(text)) => Kind::of(text),
            _ => None,
        };
        let Some(kind) = kind else {
            let detail = format!("must be one of {}", Kind::names());
            return self.mistakes.push(source.mistake("/kind", detail));
        };
        let name = match name {
            Some(Ordered::Text(text)) => kind.name(&text),
            Some(_) => Err("must be a text; put it in quotes".to_owned()),
            None => Err("is required".to_owned()),
        };
        match name {
            Ok(name) => {
                self.objects.push(Object { kind, name, body: Ordered::Map(fields), source });
            }
            Err(detail) => self.mistakes.push(source.mistake("/name", detail)),
        }
    }

    /// An object that is given twice could be neither.
    fn refuse_doubles(&mut self) {
        let mut first: HashMap<(Kind, &str), &Source> = HashMap::new();
        let mut doubles = Vec::new();
        for Object { kind, name, source, .. } in &self.objects {
            match first.get(&(*kind, name.as_str())) {
                Some(other) => {
                    let detail = format!("{kind} {name} is given twice, first in {other}");
                    doubles.push(source.mistake("/name", detail));
                }
                None => _ = first.insert((*kind, name.as_str()), source),
            }
        }
        self.mistakes.extend(doubles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Found {
        let mut found = Found::default();
        found.add("-", "standard input", text);
        found.refuse_doubles();
        found
    }

    #[test]
    fn an_object_is_a_document_or_an_item_of_one() {
        let text = "kind: concurrency_limit\nname: exports\nrunning: 3\n---\n- {kind: user, name: Ann@example.com, role: viewer}\n\
                    - kind: workflow\n  name: load\n  nodes: {}\n";
        let Found { objects, mistakes } = found(text);
        assert_eq!(mistakes, []);
        let short = |object: &Object| {
            (object.kind, object.name.clone(), serde_json::to_string(&object.body).unwrap())
        };
        assert_eq!(
            objects.iter().map(short).collect::<Vec<_>>(),
            [
                (Kind::ConcurrencyLimit, "exports".to_owned(), r#"{"running":3}"#.to_owned()),
                (Kind::User, "ann@example.com".to_owned(), r#"{"role":"viewer"}"#.to_owned()),
                (Kind::Workflow, "load".to_owned(), r#"{"nodes":{}}"#.to_owned()),
            ]
        );
        assert_eq!(found(r#"[{"kind": "user", "name": "a@b"}]"#).objects.len(), 1);
    }

    #[test]
    fn each_mistake_has_its_file_document_line_and_pointer() {
        let text = "kind: task\nname: a\n---\nkind: schedule\n---\nkind: schedule\nname: 7\n---\njust text\n---\n\
                    kind: user\nname: a@b\n---\nkind: user\nname: A@b\n";
        let said: Vec<String> = found(text).mistakes.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "standard input:1:7: document 1: /kind: must be one of concurrency_limit, workflow, schedule, user",
                "standard input:4:1: document 2: /name: is required",
                "standard input:7:7: document 3: /name: must be a text; put it in quotes",
                "standard input:9:1: document 4: expected an object with `kind` and `name`",
                "standard input:15:7: document 6: /name: user a@b is given twice, first in standard input:11",
            ]
        );
        let open = found("a: [1\nb: 2\n").mistakes;
        assert!(open[0].line == Some(2) && open[0].file == "standard input", "{open:?}");
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let user = |name: &str| {
            format!("{{\"kind\": \"user\", \"name\": \"{name}\", \"role\": \"viewer\"}}")
        };
        std::fs::create_dir(folder.path().join("below")).unwrap();
        for (file, text) in [
            ("b.yaml", user("b@x")),
            ("a.json", user("a@x")),
            ("below/c.yml", user("c@x")),
            ("notes.txt", "none".to_owned()),
            (".hidden.yaml", "none".to_owned()),
            ("d.yaml", String::new()),
        ] {
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        let found = read(&[folder.path().display().to_string()]).unwrap();
        let names: Vec<&str> = found.objects.iter().map(|object| object.name.as_str()).collect();
        assert_eq!((names, found.mistakes), (vec!["a@x", "b@x", "c@x"], Vec::new()));
        assert!(read(&["/none/of/this/name".to_owned()]).is_err());
    }
}

//! What is said of a plan and of what became of it: for people, or as one JSON document.

use super::super::warned::warned;
use super::object::Mistake;
use super::plan::{Action, Change};
use super::write::Outcome;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format, cell};
use serde_json::{Value, json};

/// How many objects there are of each action, and how many were not done.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    create: usize,
    update: usize,
    delete: usize,
    unchanged: usize,
    refused: usize,
    not_tried: usize,
}

impl Counts {
    fn add(&mut self, action: Action) {
        match action {
            Action::Create => self.create += 1,
            Action::Update => self.update += 1,
            Action::Delete => self.delete += 1,
            Action::Unchanged => self.unchanged += 1,
        }
    }

    fn changes(&self) -> usize {
        self.create + self.update + self.delete
    }

    fn line(&self, words: [&str; 3]) -> String {
        let numbers = [self.create, self.update, self.delete];
        let mut parts: Vec<String> =
            numbers.iter().zip(words).map(|(number, word)| format!("{number} {word}")).collect();
        parts.push(format!("{} unchanged", self.unchanged));
        for (number, word) in [(self.refused, "refused"), (self.not_tried, "not tried")] {
            if number > 0 {
                parts.push(format!("{number} {word}"));
            }
        }
        parts.join(", ")
    }

    fn json(&self) -> Value {
        json!({"create": self.create, "update": self.update, "delete": self.delete, "unchanged": self.unchanged,
            "refused": self.refused, "not_tried": self.not_tried})
    }
}

/// Reports what is wrong with files; nothing was written.
pub(super) fn mistakes(mistakes: &[Mistake], format: Format) -> Failure {
    let shown = match format {
        Format::Json => output::line(&json!({"errors": mistakes}).to_string()),
        Format::Table => {
            mistakes.iter().for_each(|mistake| output::remark(&mistake.to_string()));
            Ok(())
        }
    };
    let number = match mistakes.len() {
        1 => "1 mistake".to_owned(),
        number => format!("{number} mistakes"),
    };
    shown.err().unwrap_or_else(|| Failure::usage(format!("{number}; nothing was changed")))
}

/// Shows what would be done. Fails with its own exit code where that is something.
pub(super) fn plan(changes: &[Change], format: Format) -> Result<(), Failure> {
    let mut counts = Counts::default();
    changes.iter().for_each(|change| counts.add(change.action));
    match format {
        Format::Json => {
            let objects: Vec<Value> = changes.iter().map(object).collect();
            let whole = json!({"dry_run": true, "objects": objects, "counts": counts.json()});
            output::line(&whole.to_string())?;
        }
        Format::Table => {
            let mut text = String::new();
            for change in changes {
                let word = match change.action {
                    Action::Create => "create",
                    Action::Update => "update",
                    Action::Delete => "delete",
                    Action::Unchanged => "unchanged",
                };
                text.push_str(&lines(change, word, ""));
            }
            let last = counts.line(["to create", "to update", "to delete"]);
            output::text(&format!("{text}{last}\n"))?;
        }
    }
    match counts.changes() {
        0 => Ok(()),
        1 => Err(Failure::new(Exit::Changes, "1 object would change")),
        number => Err(Failure::new(Exit::Changes, format!("{number} objects would change"))),
    }
}

/// Shows what became of `changes`. Fails where something was refused, with the highest of the exit codes.
pub(super) fn outcomes(
    changes: &[Change],
    outcomes: &[Outcome],
    format: Format,
) -> Result<(), Failure> {
    let (mut counts, mut objects, mut text) = (Counts::default(), Vec::new(), String::new());
    let mut worst: Option<Exit> = None;
    for (change, outcome) in changes.iter().zip(outcomes) {
        let mut object = object(change);
        match outcome {
            Outcome::Done { action, version, warnings } => {
                counts.add(*action);
                object["action"] = json!(action);
                object["version"] = json!(version);
                let (word, shown) = done(*action, (change.version, *version));
                let change = Change { action: *action, ..change.clone() };
                text.push_str(&lines(&change, word, &shown));
                warned(warnings);
            }
            Outcome::Refused(failure) => {
                counts.refused += 1;
                object["error"] = json!(failure.to_string());
                if worst.is_none_or(|worst| worst as u8 <= failure.exit() as u8) {
                    worst = Some(failure.exit());
                }
                text.push_str(&lines(change, "refused", ""));
                let (kind, name) = (change.kind, cell::plain(&change.name));
                output::remark(&format!("berth: {kind} {name}: {failure}"));
            }
            Outcome::NotTried => {
                counts.not_tried += 1;
                object["error"] = json!("not tried");
                text.push_str(&lines(change, "not tried", ""));
            }
        }
        objects.push(object);
    }
    match format {
        Format::Json => {
            let whole = json!({"dry_run": false, "objects": objects, "counts": counts.json()});
            output::line(&whole.to_string())?;
        }
        Format::Table => {
            output::text(&format!("{text}{}\n", counts.line(["created", "updated", "deleted"])))?;
        }
    }
    let Some(exit) = worst else { return Ok(()) };
    let not_tried = match counts.not_tried {
        0 => String::new(),
        number => format!(", {number} not tried"),
    };
    let said = format!("{} refused{not_tried}; run the command again", counts.refused);
    Err(Failure::new(exit, said))
}

/// The word for what was done, and its version.
fn done(action: Action, (before, now): (Option<i64>, Option<i64>)) -> (&'static str, String) {
    let version = |now: i64| format!(" (version {now})");
    match action {
        Action::Create => ("created", now.map(version).unwrap_or_default()),
        Action::Update => match (before, now) {
            (Some(before), Some(now)) => ("updated", format!(" (version {before} -> {now})")),
            _ => ("updated", String::new()),
        },
        Action::Delete => ("deleted", String::new()),
        Action::Unchanged => ("unchanged", String::new()),
    }
}

/// The line of an object, and the fields of one that is updated.
fn lines(change: &Change, word: &str, version: &str) -> String {
    let mut text = format!("{word} {} {}{version}\n", change.kind, cell::plain(&change.name));
    if change.action == Action::Update {
        for line in change.diff.iter().flat_map(super::diff::FieldChange::lines) {
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}

fn object(change: &Change) -> Value {
    json!({"kind": change.kind.as_str(), "name": change.name, "action": change.action,
        "version": change.version.filter(|version| *version > 0), "diff": change.diff})
}

#[cfg(test)]
mod tests {
    use super::super::diff::diff;
    use super::super::kind::Kind;
    use super::*;

    fn change(name: &str, action: Action) -> Change {
        let diff = diff(&json!({"running": 1}), &json!({"running": 2}));
        Change {
            kind: Kind::Schedule,
            name: name.to_owned(),
            action,
            version: Some(1),
            body: None,
            diff,
        }
    }

    #[test]
    fn a_plan_with_changes_has_its_own_exit_code() {
        assert!(plan(&[change("a", Action::Unchanged)], Format::Json).is_ok());
        let one = plan(&[change("a", Action::Update)], Format::Json).unwrap_err();
        assert_eq!(
            (one.exit(), one.to_string().as_str()),
            (Exit::Changes, "1 object would change")
        );
    }

    #[test]
    fn an_update_shows_its_fields() {
        assert_eq!(
            lines(&change("a", Action::Update), "update", ""),
            "update schedule a\n    - /running: 1\n    + /running: 2\n"
        );
        assert_eq!(lines(&change("a\n", Action::Delete), "delete", ""), "delete schedule a\\n\n");
        assert_eq!(done(Action::Update, (Some(1), Some(2))).1, " (version 1 -> 2)");
    }

    #[test]
    fn what_was_refused_decides_the_exit_code() {
        let changes =
            [change("a", Action::Update), change("b", Action::Create), change("c", Action::Create)];
        let all = [
            Outcome::Refused(Failure::usage("no")),
            Outcome::Refused(Failure::new(Exit::Unreachable, "away")),
            Outcome::NotTried,
        ];
        let failed = outcomes(&changes, &all, Format::Json).unwrap_err();
        assert_eq!(failed.exit(), Exit::Unreachable);
        assert_eq!(failed.to_string(), "2 refused, 1 not tried; run the command again");
        let counts = Counts { create: 1, refused: 2, ..Counts::default() };
        assert_eq!(
            counts.line(["created", "updated", "deleted"]),
            "1 created, 0 updated, 0 deleted, 0 unchanged, 2 refused"
        );
    }
}

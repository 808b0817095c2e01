//! `berth apply`.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::check::{Normal, Rules};
use super::invitations;
use super::kind::Kind;
use super::object::{Mistake, Object};
use super::plan::{Action, Change, change, pruned};
use super::read::{Found, read};
use super::report;
use super::selector::{LabelValue, label};
use super::stored::{self, Stored};
use super::write::{Writer, refused_by_server};
use crate::failure::Failure;
use client::RawJson;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Which files, and what is done with what is not in them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth apply -f berth/ --dry-run\n  berth apply -f berth/ --prune -l app=shop\n  \
                  berth export > all.yaml && berth apply -f all.yaml\n\n\
                  A document is an object: `kind` (concurrency_limit, workflow, schedule, user), `name`, and what the API takes.\n\
                  All files are checked before anything is written. Equal objects stay as they are. Repeat the command after a\n\
                  failure. Exit code of --dry-run: 0 for no changes, 8 for changes."
)]
pub struct ApplyArguments {
    /// YAML or JSON file; a folder: its files and those below; `-`: standard input.
    #[arg(short = 'f', long = "file", value_name = "FILE|DIR", required = true)]
    pub files: Vec<String>,
    /// Show what would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Delete the schedules and workflows that carry the labels of --selector and are in none of the files.
    #[arg(long, requires = "selector")]
    pub prune: bool,
    /// Labels for --prune, all of which an object must carry.
    #[arg(short = 'l', long, value_name = "KEY=VALUE,...", value_delimiter = ',', value_parser = label, requires = "prune")]
    pub selector: Vec<LabelValue>,
    /// Invite users who are new, and append their tokens to this file.
    #[arg(long, value_name = "FILE")]
    pub invitations: Option<String>,
}

/// Makes what exists what the files say.
pub async fn run(connection: &Connection, arguments: &ApplyArguments) -> Result<(), Failure> {
    let format = connection.format;
    let Found { objects, mistakes } = read(&arguments.files)?;
    if !mistakes.is_empty() {
        return Err(report::mistakes(&mistakes, format));
    }
    if objects.is_empty() {
        return Err(Failure::usage("the files have no objects; nothing was changed"));
    }
    let rules = Rules::of_server(connection).await?;
    let wanted = normal(&objects, &rules).map_err(|found| report::mistakes(&found, format))?;
    let exists = exists(connection, &objects, arguments.prune).await?;
    let changes = changes(&objects, (&wanted, &exists), &rules, arguments)
        .map_err(|found| report::mistakes(&found, format))?;
    let refused = refused_by_server(connection, &changes).await?;
    if !refused.is_empty() {
        let mut mistakes = Vec::new();
        for (change, problem) in refused {
            let source = objects
                .iter()
                .find(|object| object.kind == change.kind && object.name == change.name)
                .map(|object| &object.source);
            let Some(source) = source else { continue };
            if problem.errors.is_empty() {
                mistakes.push(source.mistake("", problem.detail.clone()));
            }
            let each = problem.errors.iter();
            mistakes.extend(each.map(|error| source.mistake(&error.pointer, &error.detail)));
        }
        return Err(report::mistakes(&mistakes, format));
    }
    if arguments.dry_run {
        return report::plan(&changes, format);
    }
    let invitations = arguments.invitations.as_deref().map(invitations::open).transpose()?;
    let writer = Writer {
        connection,
        rules: &rules,
        wanted: &wanted,
        selector: &arguments.selector,
        invitations: invitations.as_ref(),
    };
    let outcomes = writer.write(&changes).await;
    report::outcomes(&changes, &outcomes, format)
}

/// The objects in the form of the server, or all that is wrong with them.
fn normal(
    objects: &[Object],
    rules: &Rules,
) -> Result<HashMap<(Kind, String), Normal>, Vec<Mistake>> {
    let (mut wanted, mut mistakes) = (HashMap::new(), Vec::new());
    for Object { kind, name, body, source } in objects {
        let text = serde_json::to_string(body).ok();
        let Some(body) = text.as_deref().and_then(RawJson::parse) else {
            mistakes.push(source.mistake("", "cannot be written as JSON"));
            continue;
        };
        match rules.normal(*kind, body) {
            Ok(normal) => _ = wanted.insert((*kind, name.clone()), normal),
            Err(errors) => {
                let each = errors.iter();
                mistakes.extend(each.map(|error| source.mistake(&error.pointer, &error.detail)));
            }
        }
    }
    if mistakes.is_empty() { Ok(wanted) } else { Err(mistakes) }
}

/// What exists of the kinds that the files have, and of those that may be pruned.
async fn exists(
    connection: &Connection,
    objects: &[Object],
    prune: bool,
) -> Result<Vec<Stored>, Failure> {
    let mut kinds: BTreeSet<Kind> = objects.iter().map(|object| object.kind).collect();
    if prune {
        kinds.extend(Kind::PRUNED);
    }
    let mut exists = Vec::new();
    for kind in kinds {
        let all = stored::all(connection, kind).await;
        exists.extend(all.map_err(|error| failure(&error))?);
    }
    Ok(exists)
}

/// What has to be done, in order: first what is in the files, what others name before what names it; then what is pruned.
fn changes(
    objects: &[Object],
    (wanted, exists): (&HashMap<(Kind, String), Normal>, &[Stored]),
    rules: &Rules,
    arguments: &ApplyArguments,
) -> Result<Vec<Change>, Vec<Mistake>> {
    let by_name: HashMap<(Kind, &str), &Stored> =
        exists.iter().map(|stored| ((stored.kind, stored.name.as_str()), stored)).collect();
    let (mut changes, mut mistakes) = (Vec::new(), Vec::new());
    for Object { kind, name, source, .. } in objects {
        let Some(normal) = wanted.get(&(*kind, name.clone())) else { continue };
        let stored = by_name.get(&(*kind, name.as_str())).copied();
        match change((*kind, name), normal, stored, rules) {
            Ok(change) if *kind == Kind::User && arguments.invitations.is_none() => {
                if change.action == Action::Create && !arguments.dry_run {
                    let detail = "is new: give --invitations FILE for the token, or use `berth users invite`";
                    mistakes.push(source.mistake("/name", detail));
                }
                changes.push(change);
            }
            Ok(change) => changes.push(change),
            Err(errors) => {
                let each = errors.iter();
                mistakes.extend(each.map(|error| source.mistake(&error.pointer, &error.detail)));
            }
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    // Stable: objects of a kind stay in the order of the files.
    changes.sort_by_key(|change| change.kind);
    if arguments.prune {
        let named: HashSet<(Kind, String)> = wanted.keys().cloned().collect();
        changes.extend(pruned(exists, &named, &arguments.selector));
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, clap::Parser)]
    struct Alone {
        #[command(flatten)]
        apply: ApplyArguments,
    }

    fn parsed(line: &[&str]) -> Result<ApplyArguments, clap::Error> {
        Alone::try_parse_from([&["apply"], line].concat()).map(|alone| alone.apply)
    }

    #[test]
    fn to_prune_needs_labels() {
        assert!(parsed(&["-f", "a", "--prune"]).is_err());
        assert!(parsed(&["-f", "a", "-l", "app=shop"]).is_err());
        assert!(parsed(&["--prune", "-l", "app=shop"]).is_err());
        let both = parsed(&["-f", "a", "-f", "b", "--prune", "-l", "app=shop,env=prod"]).unwrap();
        assert_eq!((both.files.len(), both.selector.len()), (2, 2));
    }

    #[test]
    fn workflows_come_before_the_schedules_that_name_them_and_deletes_last() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("all.yaml");
        std::fs::write(
            &file,
            "kind: schedule\nname: nightly\ntiming: {specs: [{cron: '@daily'}]}\nworkflow: {name: load}\n---\n\
             kind: user\nname: a@b\nrole: viewer\n---\n\
             kind: workflow\nname: load\nnodes: {a: {wait: {approval: true}}}\n---\n\
             kind: concurrency_limit\nname: exports\nrunning: 2\n",
        )
        .unwrap();
        let found = read(&[file.display().to_string()]).unwrap();
        let rules = Rules::lenient().unwrap();
        let wanted = normal(&found.objects, &rules).unwrap();
        let old = |kind, value: serde_json::Value| Stored {
            kind,
            name: "old".to_owned(),
            version: Some(1),
            text: value.to_string(),
            value,
        };
        let labels = serde_json::json!({"app": "shop"});
        let exists = [
            old(Kind::Workflow, serde_json::json!({"labels": labels})),
            old(Kind::Schedule, serde_json::json!({"task": {"labels": labels}})),
        ];
        let line = ["-f", "x", "--prune", "-l", "app=shop", "--invitations", "tokens"];
        let all = changes(&found.objects, (&wanted, &exists), &rules, &parsed(&line).unwrap());
        let order: Vec<_> = all.unwrap().iter().map(|one| (one.kind, one.action)).collect();
        assert_eq!(
            order,
            [
                (Kind::ConcurrencyLimit, Action::Create),
                (Kind::Workflow, Action::Create),
                (Kind::Schedule, Action::Create),
                (Kind::User, Action::Create),
                (Kind::Schedule, Action::Delete),
                (Kind::Workflow, Action::Delete),
            ]
        );
        let mistakes =
            changes(&found.objects, (&wanted, &exists), &rules, &parsed(&["-f", "x"]).unwrap());
        assert!(
            mistakes.unwrap_err()[0].detail.contains("--invitations"),
            "a token needs its file"
        );
    }
}

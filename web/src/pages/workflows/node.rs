//! `/workflows/runs/{id}/nodes/{node}/do/{lever}`: decide for a node that waits for a person, send the signal that it waits for, or run
//! it again.

use super::lever::{Asks, Lever, On, PLAIN, asking, json, named, run_path, sentence, to, write};
use crate::fault::Fault;
use crate::visit::{Visit, in_path};
use actix_web::HttpResponse;
use api_types::{GraphNode, WorkflowGraph, WorkflowRun};
use domain::access::Permission;
use serde_json::{Value, json as value};

const LEVERS: [Lever; 4] = [
    Lever {
        word: "approve",
        label: "Approve",
        title: "Approve this node?",
        says: "It ends as succeeded, and what waits for it goes on. Your name and the note are kept with it.",
        asks: Asks::Note,
        done: "approved",
        permission: Permission::ApproveTasks,
        ..PLAIN
    },
    Lever {
        word: "reject",
        label: "Reject",
        title: "Reject this node?",
        says: "It ends as aborted, and what needs its success does not run. Your name and the note are kept with it.",
        asks: Asks::Note,
        is_danger: true,
        done: "rejected",
        permission: Permission::ApproveTasks,
    },
    Lever {
        word: "signal",
        label: "Send the signal",
        title: "Send the signal that this node waits for?",
        says: "Each node that waits for a signal of this key goes on, of other runs too.",
        asks: Asks::Signal,
        done: "signalled",
        ..PLAIN
    },
    Lever {
        word: "rerun",
        label: "Run again from here",
        title: "Run this node again?",
        says: "A new run with the same definition and input starts. It runs this node; the others are taken over with their results. This run stays as it is.",
        asks: Asks::Below,
        done: "rerun",
        ..PLAIN
    },
];

/// A link to a lever: path, label, whether it is a grave one.
pub(super) type Act = (String, &'static str, bool);

/// Those that do something with this node, for whoever asks.
pub(super) fn of(visit: &Visit, run: &WorkflowRun, node: &GraphNode) -> Vec<Act> {
    let is_waiting_for = |word: &str| match &node.waits_for {
        Some(wait) if wait.signal.is_some() => word == "signal",
        Some(_) => matches!(word, "approve" | "reject"),
        None => word == "rerun" && run.is_finished(),
    };
    let fits = |lever: &&Lever| {
        let ended = node.finished_at.is_some();
        is_waiting_for(lever.word)
            && (lever.word == "rerun" || !ended)
            && visit.may(lever.permission)
    };
    let path = run_path(&run.id.to_string());
    let act = |lever: &Lever| {
        (
            format!("{path}/nodes/{}/do/{}", in_path(&node.name), lever.word),
            lever.label,
            lever.is_danger,
        )
    };
    LEVERS.iter().filter(fits).map(act).collect()
}

/// The node, and the lever on it.
async fn found(visit: &Visit) -> Result<(Lever, GraphNode, On), Fault> {
    let lever = named(visit, &LEVERS)?;
    let target = format!("/v1/workflow-runs/{}/graph", visit.part_in_path("id"));
    let WorkflowGraph { run, nodes } = visit.get(target).await?;
    let name = visit.part("node");
    let node = nodes.into_iter().find(|node| node.name == name).ok_or(Fault::NoPage)?;
    let back = run_path(&run.id.to_string());
    let mut more = vec![format!("Node {name} of the run {}.", run.id)];
    match (lever.word, &node.waits_for) {
        ("signal", Some(wait)) => {
            more.extend(wait.signal.as_ref().map(|key| format!("Key of the signal: {key}.")));
        }
        ("rerun", _) if !run.is_finished() => {
            more.push("The run has not ended: wait until it has, or cancel it first.".to_owned());
        }
        _ => {}
    }
    let action = format!("{back}/nodes/{}/do/{}", in_path(&name), lever.word);
    let on = On { name: run.workflow.unwrap_or_else(|| "the run".to_owned()), back, action, more };
    Ok((lever, node, on))
}

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    let (lever, _, on) = found(&visit).await?;
    asking(&visit, lever, on, None)
}

/// Does it.
pub(crate) async fn pull(visit: Visit) -> Result<HttpResponse, Fault> {
    let (lever, node, on) = found(&visit).await?;
    let (target, body) = match what(&visit, lever, &node) {
        Ok(what) => what,
        Err(wrong) => return asking(&visit, lever, on, Some(wrong)),
    };
    match write(&visit, target, body).await {
        Ok(run) if lever.word == "rerun" => {
            Err(to(&run_path(run["id"].as_str().unwrap_or_default()), lever))
        }
        Ok(_) => Err(to(&on.back, lever)),
        Err(Fault::Problem(problem)) if matches!(problem.status, 400 | 409 | 422) => {
            asking(&visit, lever, on, Some(sentence(*problem)))
        }
        Err(fault) => Err(fault),
    }
}

/// The call that does it.
fn what(visit: &Visit, lever: Lever, node: &GraphNode) -> Result<(String, Option<Value>), String> {
    match lever.word {
        "rerun" => {
            let below = visit.form.has("below");
            let target = format!("/v1/workflow-runs/{}/rerun", visit.part_in_path("id"));
            Ok((target, Some(value!({"nodes": [node.name], "below": below}))))
        }
        "signal" => {
            let key = node.waits_for.as_ref().and_then(|wait| wait.signal.as_deref());
            let key = key.ok_or("The node waits for no signal, or not any more.")?;
            let mut body = value!({});
            if let Some(payload) = json(visit)? {
                body["payload"] = payload;
            }
            if visit.form.has("keep") {
                body["keep"] = visit.form.text("keep").into();
            }
            Ok((format!("/v1/signals/{}", in_path(key)), Some(body)))
        }
        word => {
            let note = visit.form.text("note");
            let body = (!note.is_empty()).then(|| value!({"note": note}));
            Ok((format!("/v1/tasks/{}/{word}", node.task), body))
        }
    }
}

//! `POST /tasks/bulk`: one lever for several tasks.
//!
//! The first form says what will be done; the second, sent from there, does it, task by task as the API would be asked for one.

use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::pages::sign_in::own_path;
use crate::visit::{Visit, in_path, read};
use actix_web::HttpResponse;
use api_types::Task;
use askama::Template;

/// As many as a page of the list has.
const MOST: usize = 50;

#[derive(Template)]
#[template(path = "tasks/bulk.html")]
struct BulkPage {
    frame: Frame,
    lever: Lever,
    back: String,
    once: String,
    tasks: Vec<Picked>,
    is_done: bool,
}

struct Picked {
    id: String,
    /// What became of it; empty before.
    outcome: String,
    is_done: bool,
}

#[derive(Clone, Copy)]
struct Lever {
    word: &'static str,
    title: &'static str,
    says: &'static str,
    button: &'static str,
}

const LEVERS: [Lever; 2] = [
    Lever {
        word: "cancel",
        title: "Cancel these tasks?",
        says: "A task that waits is cancelled at once. One that runs is asked to stop, and ends as cancelled unless it succeeds first. One that has ended stays as it is.",
        button: "Cancel them",
    },
    Lever {
        word: "retry",
        title: "Run these tasks again?",
        says: "A task that has ended is submitted again as a new task, which is billed as any other. One that waits for a retry is retried now. One that waits or runs stays as it is.",
        button: "Run them again",
    },
];

/// Asks whether it is meant, or does it.
pub(crate) async fn pull(visit: Visit) -> Result<HttpResponse, Fault> {
    let wanted = visit.form.text("lever");
    let lever = LEVERS.into_iter().find(|lever| lever.word == wanted).ok_or(Fault::NoPage)?;
    let is_done = visit.form.has("sure");
    let mut tasks = Vec::new();
    for id in visit.form.all("task").take(MOST) {
        let mut picked = Picked { id: id.to_owned(), outcome: String::new(), is_done: false };
        if is_done {
            (picked.is_done, picked.outcome) = done(&visit, lever, id).await?;
        }
        tasks.push(picked);
    }
    if tasks.is_empty() {
        return Err(Fault::BadForm("No task was ticked. Go back and tick some."));
    }
    let title = if is_done { "Done" } else { lever.title };
    let frame = Frame::new(&visit, Section::Tasks, title);
    let back = own_path(visit.form.get("back")).to_owned();
    page(&BulkPage { frame, lever, back, once: visit.once(), tasks, is_done })
}

async fn done(visit: &Visit, lever: Lever, id: &str) -> Result<(bool, String), Fault> {
    let target = format!("/v1/tasks/{}/{}", in_path(id), lever.word);
    let key = format!("{}-{id}", visit.form.text("once"));
    let reply = visit.reply(Method::Post, target, None, vec![("idempotency-key", key)]).await;
    match read::<Task>(&reply) {
        Ok(task) if lever.word == "retry" && task.id.to_string() != id => {
            Ok((true, format!("submitted again as {}", task.id)))
        }
        Ok(task) => Ok((true, format!("now {}", task.state))),
        Err(Fault::Problem(problem)) => Ok((false, problem.detail)),
        Err(fault) => Err(fault),
    }
}

//! `/webhooks/{name}/do/{lever}`: test, rotate, resume, replay, delete: asked first, then done.

use super::ask::{Ask, Question};
use super::secret::SecretPage;
use super::words::{delivery_path, path};
use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{page, page_with};
use crate::pages::tasks::list::moment;
use crate::visit::Visit;
use crate::words::count;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{Webhook, WebhookDelivery, WebhookReplayed};
use serde_json::{Value, json};

/// What can be done with a webhook.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lever {
    pub word: &'static str,
    pub label: &'static str,
    title: &'static str,
    says: &'static str,
    pub is_danger: bool,
    /// States in which it does something; empty: all.
    states: &'static [&'static str],
}

const LEVERS: [Lever; 5] = [
    Lever {
        word: "test",
        label: "Send a test",
        title: "Send a test to this webhook?",
        says: "An event of the type berth.webhook.test is sent now, signed as all are, without the webhook's filters and payload. The next page shows what the receiver answers.",
        is_danger: false,
        states: &["active"],
    },
    Lever {
        word: "resume",
        label: "Resume",
        title: "Resume this webhook?",
        says: "What waits is sent first, then what happened meanwhile, up to three days back.",
        is_danger: false,
        states: &["disabled"],
    },
    Lever {
        word: "replay",
        label: "Send again",
        title: "Send deliveries of a range again?",
        says: "Deliveries that have ended are sent again with the same ids and bodies, those of the oldest events first, 10 000 at most.",
        is_danger: false,
        states: &[],
    },
    Lever {
        word: "rotate",
        label: "Rotate the secret",
        title: "Give this webhook another secret?",
        says: "The new secret is shown once, on the next page. The old one signs as well for a while, so that the receiver can be changed without a break.",
        is_danger: false,
        states: &[],
    },
    Lever {
        word: "delete",
        label: "Delete",
        title: "Delete this webhook?",
        says: "Nothing is sent to it any more, and its deliveries can no longer be read. It cannot be taken back.",
        is_danger: true,
        states: &[],
    },
];

/// Those that do something in this state.
pub(super) fn of(state: &str) -> Vec<Lever> {
    let fits = |lever: &Lever| lever.states.is_empty() || lever.states.contains(&state);
    LEVERS.into_iter().filter(fits).collect()
}

fn named(visit: &Visit) -> Result<Lever, Fault> {
    let word = visit.part("lever");
    LEVERS.into_iter().find(|lever| lever.word == word).ok_or(Fault::NoPage)
}

fn asking(visit: &Visit, lever: Lever) -> Ask {
    let Lever { word, label, title, says, is_danger, .. } = lever;
    let question = Question { title, word, says: says.to_owned(), button: label, is_danger };
    let back = path(&visit.part("name"));
    Ask::new(visit, question, format!("{back}/do/{word}"), back)
}

fn target(visit: &Visit) -> String {
    format!("/v1/webhooks/{}", visit.part_in_path("name"))
}

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    let lever = named(&visit)?;
    let _exists: Webhook = visit.get(target(&visit)).await?;
    page(&asking(&visit, lever))
}

/// Does it.
pub(crate) async fn pull(visit: Visit) -> Result<HttpResponse, Fault> {
    let lever = named(&visit)?;
    match done(&visit, lever).await {
        Err(Fault::Problem(problem)) if matches!(problem.status, 400 | 422) => {
            let each = |error: &api_types::FieldError| {
                format!("{} {}.", error.pointer.trim_start_matches('/'), error.detail)
            };
            let all: Vec<String> = problem.errors.iter().map(each).collect();
            let mut shown = asking(&visit, lever);
            shown.wrong = Some(if all.is_empty() { problem.detail } else { all.join(" ") });
            page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown)
        }
        done => done,
    }
}

async fn done(visit: &Visit, lever: Lever) -> Result<HttpResponse, Fault> {
    let (target, name) = (target(visit), visit.part("name"));
    match lever.word {
        "test" => {
            let sent: WebhookDelivery = visit.act(Method::Post, format!("{target}/test")).await?;
            let to = delivery_path(&name, &sent.id.to_string());
            Err(Fault::to(format!("{to}?done=sent")))
        }
        "resume" => {
            let _resumed: Webhook = visit.act(Method::Post, format!("{target}/resume")).await?;
            Err(Fault::to(format!("{}?done=resumed", path(&name))))
        }
        "replay" => replay(visit, lever, target).await,
        "rotate" => {
            let mut body = json!({"keep_old": visit.form.get("keep_old").unwrap_or("24h")});
            if visit.form.has("secret") {
                body["secret"] = visit.form.text("secret").into();
            }
            let rotated: Webhook =
                visit.send(Method::Post, format!("{target}/rotate"), &body).await?;
            page(&SecretPage::of(visit, rotated, "The new secret"))
        }
        _ => {
            let _gone: Value = visit.act(Method::Delete, target).await?;
            Err(Fault::to("/webhooks?done=deleted"))
        }
    }
}

/// Sends a range again, and says how many that are.
async fn replay(visit: &Visit, lever: Lever, target: String) -> Result<HttpResponse, Fault> {
    let only = if visit.form.text("only") == "all" { "all" } else { "failed" };
    let mut body = json!({"from": moment(visit.form.text("from")), "only": only});
    if visit.form.has("until") {
        body["until"] = moment(visit.form.text("until")).into();
    }
    let sent: WebhookReplayed = visit.send(Method::Post, format!("{target}/replay"), &body).await?;
    let mut shown = asking(visit, lever);
    let number = count(i64::try_from(sent.deliveries).unwrap_or(i64::MAX));
    shown.came_to = Some(match (sent.deliveries, sent.is_cut) {
        (0, _) => "No delivery of that range is to be sent again.".to_owned(),
        (1, _) => "One delivery is sent again.".to_owned(),
        (_, false) => format!("{number} deliveries are sent again."),
        (_, true) => format!(
            "{number} deliveries are sent again. There may be more: do it again when these were received."
        ),
    });
    page_with(StatusCode::ACCEPTED, &shown)
}

//! What an operator with the scope `admin` can do with a pool, a tenant or an invoice: asked first, then done.

use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::{Value, json};

/// What a lever is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Pool,
    Tenant,
    Invoice,
}

/// What can be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lever {
    of: Of,
    pub word: &'static str,
    pub label: &'static str,
    title: &'static str,
    says: &'static str,
    is_danger: bool,
    /// States in which it does something.
    states: &'static [&'static str],
}

const LEVERS: [Lever; 7] = [
    Lever {
        of: Of::Pool,
        word: "pause",
        label: "Pause",
        title: "Pause this pool?",
        says: "No task of it starts until it is resumed. What runs goes on, and tasks are accepted and wait.",
        is_danger: true,
        states: &["active"],
    },
    Lever {
        of: Of::Pool,
        word: "resume",
        label: "Resume",
        title: "Resume this pool?",
        says: "What waits for it starts again, in the order of its turn.",
        is_danger: false,
        states: &["paused"],
    },
    Lever {
        of: Of::Tenant,
        word: "suspend",
        label: "Suspend",
        title: "Suspend this tenant?",
        says: "Its submissions are refused, its schedules make nothing, and nothing of it starts. What runs goes on, and nothing is lost.",
        is_danger: true,
        states: &["active"],
    },
    Lever {
        of: Of::Tenant,
        word: "resume",
        label: "Resume",
        title: "Resume this tenant?",
        says: "Its submissions are accepted again, and what waits starts.",
        is_danger: false,
        states: &["suspended"],
    },
    Lever {
        of: Of::Invoice,
        word: "finalize",
        label: "Make final",
        title: "Make this invoice final?",
        says: "Its lines and its total stay as they are from then on. What is wrong later is put right by a credit.",
        is_danger: false,
        states: &["draft"],
    },
    Lever {
        of: Of::Invoice,
        word: "pay",
        label: "Mark as paid",
        title: "Was this invoice paid?",
        says: "It is recorded as paid in full, now.",
        is_danger: false,
        states: &["final"],
    },
    Lever {
        of: Of::Invoice,
        word: "void",
        label: "Void",
        title: "Void this invoice?",
        says: "Nothing of it is owed any more. It stays in the list, and its number is not given out again.",
        is_danger: true,
        states: &["final"],
    },
];

/// A link to a lever: path, label.
pub(super) type Act = (String, &'static str);

fn links(of: Of, state: &str, path: &str) -> Vec<Act> {
    let fits = |lever: &&Lever| lever.of == of && lever.states.contains(&state);
    let link = |lever: &Lever| (format!("{path}/do/{}", lever.word), lever.label);
    LEVERS.iter().filter(fits).map(link).collect()
}

/// What can be done with a pool.
pub(super) fn of_pool(name: &str, is_paused: bool) -> Vec<Act> {
    let state = if is_paused { "paused" } else { "active" };
    links(Of::Pool, state, &format!("/operators/pools/{}", in_path(name)))
}

/// What can be done with a tenant in this state.
pub(super) fn of_tenant(id: &str, state: &str) -> Vec<Act> {
    links(Of::Tenant, state, &format!("/operators/tenants/{}", in_path(id)))
}

/// What can be done with an invoice in this state.
pub(super) fn of_invoice(tenant: &str, number: &str, state: &str) -> Vec<Act> {
    let path = format!("/operators/tenants/{}/invoices/{}", in_path(tenant), in_path(number));
    links(Of::Invoice, state, &path)
}

#[derive(Template)]
#[template(path = "operators/lever.html")]
struct LeverPage {
    frame: Frame,
    lever: Lever,
    /// What it is done with.
    name: String,
    back: String,
    once: String,
    reason: String,
    wrong: Option<String>,
}

/// The lever of a request, what it is of, the page it came from, and the path of the thing at the API.
struct Pulled {
    lever: Lever,
    name: String,
    back: String,
    target: String,
}

impl Pulled {
    fn of(visit: &Visit, of: Of) -> Result<Self, Fault> {
        let word = visit.part("lever");
        let named = |lever: &Lever| lever.of == of && lever.word == word;
        let lever = LEVERS.into_iter().find(named).ok_or(Fault::NoPage)?;
        let part = |name| visit.part_in_path(name);
        let (name, back, target) = match of {
            Of::Pool => (
                visit.part("name"),
                "/operators/pools".to_owned(),
                format!("/v1/admin/pools/{}", part("name")),
            ),
            Of::Tenant => (
                visit.part("id"),
                format!("/operators/tenants/{}", part("id")),
                format!("/v1/admin/tenants/{}", part("id")),
            ),
            Of::Invoice => (
                visit.part("number"),
                format!("/operators/tenants/{}", part("id")),
                format!("/v1/admin/tenants/{}/invoices/{}", part("id"), part("number")),
            ),
        };
        Ok(Self { lever, name, back, target })
    }

    async fn ask(self, visit: &Visit) -> Result<HttpResponse, Fault> {
        let _exists: Value = visit.get(self.target.clone()).await?;
        page(&self.asking(visit, None))
    }

    fn asking(&self, visit: &Visit, wrong: Option<String>) -> LeverPage {
        LeverPage {
            frame: Frame::new(visit, Section::Operators, self.lever.title),
            lever: self.lever,
            name: self.name.clone(),
            back: self.back.clone(),
            once: visit.once(),
            reason: visit.form.text("reason").to_owned(),
            wrong,
        }
    }

    async fn pull(self, visit: &Visit) -> Result<HttpResponse, Fault> {
        let target = format!("{}/{}", self.target, self.lever.word);
        let done: Result<Value, Fault> = if self.lever.wants_reason() {
            let body = json!({"reason": visit.form.text("reason")});
            visit.send(Method::Post, target, &body).await
        } else {
            visit.act(Method::Post, target).await
        };
        match done {
            Ok(_) => Err(Fault::to(self.back)),
            Err(Fault::Problem(problem)) if problem.status < 500 => {
                let status =
                    StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
                let said = problem.errors.iter().map(|one| one.detail.as_str());
                let wrong = said.fold(problem.detail.clone(), |all, one| format!("{all} {one}"));
                page_with(status, &self.asking(visit, Some(wrong)))
            }
            Err(fault) => Err(fault),
        }
    }
}

impl Lever {
    /// Whether it says why: what customers are told of a paused pool.
    fn wants_reason(&self) -> bool {
        self.of == Of::Pool && self.word == "pause"
    }
}

/// Asks whether it is meant, of a pool.
pub(crate) async fn ask_pool(visit: Visit) -> Result<HttpResponse, Fault> {
    Pulled::of(&visit, Of::Pool)?.ask(&visit).await
}

/// Does it with a pool.
pub(crate) async fn pull_pool(visit: Visit) -> Result<HttpResponse, Fault> {
    Pulled::of(&visit, Of::Pool)?.pull(&visit).await
}

/// Asks whether it is meant, of a tenant.
pub(crate) async fn ask_tenant(visit: Visit) -> Result<HttpResponse, Fault> {
    Pulled::of(&visit, Of::Tenant)?.ask(&visit).await
}

/// Does it with a tenant.
pub(crate) async fn pull_tenant(visit: Visit) -> Result<HttpResponse, Fault> {
    Pulled::of(&visit, Of::Tenant)?.pull(&visit).await
}

/// Asks whether it is meant, of an invoice.
pub(crate) async fn ask_invoice(visit: Visit) -> Result<HttpResponse, Fault> {
    Pulled::of(&visit, Of::Invoice)?.ask(&visit).await
}

/// Does it with an invoice.
pub(crate) async fn pull_invoice(visit: Visit) -> Result<HttpResponse, Fault> {
    Pulled::of(&visit, Of::Invoice)?.pull(&visit).await
}

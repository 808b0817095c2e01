//! `/account/users/new`: invites somebody. The one-time token is shown once, on the page that answers the form.

use super::roles::{Choice, choices};
use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::Visit;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{FieldError, NewUser, Secret};
use askama::Template;
use serde_json::json;

#[derive(Template)]
#[template(path = "account/invite.html")]
struct InvitePage {
    frame: Frame,
    once: String,
    email: String,
    roles: Vec<Choice>,
    errors: Vec<FieldError>,
    wrong: Option<String>,
}

impl InvitePage {
    fn wrong_with(&self, pointer: &str) -> Option<&str> {
        let found = self.errors.iter().find(|error| error.pointer.starts_with(pointer));
        found.map(|error| error.detail.as_str())
    }
}

#[derive(Template)]
#[template(path = "account/invited.html")]
struct InvitedPage {
    frame: Frame,
    email: String,
    role: String,
    token: Option<Secret>,
}

/// Shows the form.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    page(&form(&visit, Vec::new(), None))
}

/// Invites.
pub(crate) async fn send(visit: Visit) -> Result<HttpResponse, Fault> {
    let body = json!({"email": visit.form.text("email"), "role": visit.form.text("role")});
    let made: Result<NewUser, Fault> = visit.send(Method::Post, "/v1/users", &body).await;
    match made {
        Ok(NewUser { info, invite_token }) => {
            let frame = Frame::new(&visit, Section::Account, "Invited");
            let (email, role) = (info.email, info.role.to_string());
            page_with(StatusCode::CREATED, &InvitedPage { frame, email, role, token: invite_token })
        }
        Err(Fault::Problem(problem)) if matches!(problem.status, 400 | 403 | 409 | 422) => {
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
            let wrong = problem.errors.is_empty().then_some(problem.detail);
            page_with(status, &form(&visit, problem.errors, wrong))
        }
        Err(fault) => Err(fault),
    }
}

fn form(visit: &Visit, errors: Vec<FieldError>, wrong: Option<String>) -> InvitePage {
    let chosen = visit.form.get("role").unwrap_or("viewer");
    InvitePage {
        frame: Frame::new(visit, Section::Account, "Invite a user"),
        once: visit.once(),
        email: visit.form.text("email").to_owned(),
        roles: choices(visit, chosen),
        errors,
        wrong,
    }
}

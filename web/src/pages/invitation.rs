//! `/sign-in/invitation`: whoever is invited pastes the token, chooses a password and is signed in.
//!
//! The token is in the body of the form alone: no URL has it, so no log and no history does.

use super::sign_in::{form_cookie, with_cookie, with_password};
use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page_with};
use crate::visit::Visit;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{AcceptedUser, FieldError, Secret, request};
use askama::Template;
use runtime::clock::wall;

#[derive(Template)]
#[template(path = "invitation.html")]
struct InvitationPage {
    frame: Frame,
    wrong: Option<String>,
    errors: Vec<FieldError>,
    token: String,
}

impl InvitationPage {
    fn wrong_with(&self, pointer: &str) -> Option<&str> {
        let found = self.errors.iter().find(|error| error.pointer == pointer);
        found.map(|error| error.detail.as_str())
    }
}

/// Shows the form, also to somebody who is signed in: as another user, perhaps.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    form(&visit, StatusCode::OK, (None, Vec::new()))
}

fn form(
    visit: &Visit,
    status: StatusCode,
    (wrong, errors): (Option<String>, Vec<FieldError>),
) -> Result<HttpResponse, Fault> {
    let mut frame = Frame::new(visit, Section::Nowhere, "Accept an invitation");
    frame.signed_in = false;
    let token = visit.form.text("token").to_owned();
    let answer = page_with(status, &InvitationPage { frame, wrong, errors, token })?;
    form_cookie(visit, answer)
}

/// Sets the password, and signs in with it.
pub(crate) async fn accept(visit: Visit) -> Result<HttpResponse, Fault> {
    let password = visit.form.get("password").unwrap_or_default();
    if password != visit.form.get("again").unwrap_or_default() {
        let detail = "The two passwords are not the same.".to_owned();
        let error = FieldError { pointer: "/again".to_owned(), detail };
        return form(&visit, StatusCode::UNPROCESSABLE_ENTITY, (None, vec![error]));
    }
    let body = request::InvitationAccept {
        token: Secret::from(visit.form.text("token")),
        password: Secret::from(password),
    };
    let accepted: Result<AcceptedUser, Fault> =
        visit.send(Method::Post, "/v1/sessions/accept", &body).await;
    let user = match accepted {
        Ok(user) => user,
        Err(Fault::SignedOut) => {
            let wrong = "The invitation is not good, was used, or is too old. Ask whoever invited you for another.";
            return form(&visit, StatusCode::UNAUTHORIZED, (Some(wrong.to_owned()), Vec::new()));
        }
        Err(Fault::Problem(problem)) => {
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
            let wrong = problem.errors.is_empty().then_some(problem.detail);
            return form(&visit, status, (wrong, problem.errors));
        }
        Err(fault) => return Err(fault),
    };
    // The password is set whatever becomes of the sign-in.
    let Some(tenant) = user.tenant_name else { return Err(Fault::to("/sign-in?done=accepted")) };
    let password = Secret::from(password);
    match with_password(&visit, request::SignIn { tenant, email: user.email, password }).await {
        Ok(session) => {
            let cookie = session.cookie(&visit.dashboard.sealer, visit.is_secure(), wall());
            with_cookie("/", &cookie.ok_or_else(|| Fault::Broken("a cookie".to_owned()))?)
        }
        Err(_) => Err(Fault::to("/sign-in?done=accepted")),
    }
}

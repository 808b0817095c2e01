//! `/account/users/{id}`: another role for a user, and removing one.

use super::roles::{Choice, choices};
use crate::backend::Method;
use crate::confirm::Confirm;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path};
use crate::words::{Mark, Moment, mark_of};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::User;
use askama::Template;
use serde_json::{Value, json};

#[derive(Template)]
#[template(path = "account/user.html")]
struct UserPage {
    frame: Frame,
    path: String,
    email: String,
    role: String,
    state: Mark,
    since: Moment,
    roles: Vec<Choice>,
    wrong: Option<String>,
}

async fn found(visit: &Visit) -> Result<User, Fault> {
    visit.get(format!("/v1/users/{}", visit.part_in_path("id"))).await
}

fn path(user: &User) -> String {
    format!("/account/users/{}", in_path(&user.id.to_string()))
}

/// Shows the user.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    page(&shown(&visit, None).await?)
}

async fn shown(visit: &Visit, wrong: Option<String>) -> Result<UserPage, Fault> {
    let user = found(visit).await?;
    let role = user.role.to_string();
    let chosen = visit.form.get("role").unwrap_or(&role);
    Ok(UserPage {
        frame: Frame::new(visit, Section::Account, user.email.clone()),
        path: path(&user),
        state: mark_of(&user.state.to_string()),
        since: Moment(user.created_at),
        roles: choices(visit, chosen),
        email: user.email,
        role,
        wrong,
    })
}

/// Gives the role.
pub(crate) async fn change(visit: Visit) -> Result<HttpResponse, Fault> {
    let target = format!("/v1/users/{}", visit.part_in_path("id"));
    let body = json!({"role": visit.form.text("role")});
    let changed: Result<User, Fault> = visit.send(Method::Patch, target, &body).await;
    match changed {
        Ok(user) => Err(Fault::to(format!("{}?done=changed", path(&user)))),
        Err(Fault::Problem(problem)) if matches!(problem.status, 400 | 403 | 409 | 422) => {
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::CONFLICT);
            page_with(status, &shown(&visit, Some(problem.detail)).await?)
        }
        Err(fault) => Err(fault),
    }
}

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    let user = found(&visit).await?;
    let back = path(&user);
    let says = format!(
        "{} ({}) can no longer sign in, is signed out everywhere, and API keys that the user made are revoked.",
        user.email, user.role
    );
    let frame = Frame::new(&visit, Section::Account, "Remove this user?");
    let action = format!("{back}/remove");
    page(&Confirm { frame, says, action, back, button: "Remove the user" })
}

/// Removes the user.
pub(crate) async fn remove(visit: Visit) -> Result<HttpResponse, Fault> {
    let target = format!("/v1/users/{}", visit.part_in_path("id"));
    let removed: Result<Value, Fault> = visit.act(Method::Delete, target).await;
    match removed {
        Ok(_) => Err(Fault::to("/account/users?done=removed")),
        Err(Fault::Problem(problem)) if matches!(problem.status, 403 | 409) => {
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::CONFLICT);
            page_with(status, &shown(&visit, Some(problem.detail)).await?)
        }
        Err(fault) => Err(fault),
    }
}

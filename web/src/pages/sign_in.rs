//! `/sign-in`: a user with a password, or whoever has a key.
//!
//! The credential is tried at the API before the browser gets a cookie. A wrong one is told as the API tells it.

use crate::backend::{Kind, Method};
use crate::fault::Fault;
use crate::frame::{Frame, Section, page_with};
use crate::session::{Holder, Session};
use crate::visit::Visit;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, LOCATION, SET_COOKIE};
use api_types::{ErrorCode, Operator, Problem, Secret, WhoAmI, request};
use askama::Template;
use runtime::clock::wall;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    frame: Frame,
    wrong: Option<&'a str>,
    next: &'a str,
    tenant: &'a str,
    email: &'a str,
}

/// Shows the form.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    if visit.who.is_some() {
        return Err(Fault::to(own_path(visit.query.get("next"))));
    }
    form(&visit, StatusCode::OK, None)
}

fn form(visit: &Visit, status: StatusCode, wrong: Option<&str>) -> Result<HttpResponse, Fault> {
    let mut frame = Frame::new(visit, Section::Nowhere, "Sign in");
    frame.signed_in = false;
    let asked = visit.form.get("next").or_else(|| visit.query.get("next"));
    let (tenant, email) = (visit.form.text("tenant"), visit.form.text("email"));
    let next = own_path(asked);
    form_cookie(visit, page_with(status, &SignInPage { frame, wrong, next, tenant, email })?)
}

/// A form for somebody who is not signed in: its token is good with its cookie only.
pub(super) fn form_cookie(visit: &Visit, mut answer: HttpResponse) -> Result<HttpResponse, Fault> {
    let (sealer, now) = (&visit.dashboard.sealer, wall());
    if let Some(cookie) = visit.session.cookie(sealer, visit.is_secure(), now) {
        answer.headers_mut().append(SET_COOKIE, HeaderValue::from_str(&cookie)?);
    }
    Ok(answer)
}

/// Follows a link that signs in once. Whoever follows it again is led to where it led, or is told what to do.
pub(crate) async fn follow(visit: Visit) -> Result<HttpResponse, Fault> {
    let (sealer, now) = (&visit.dashboard.sealer, wall());
    let token = visit.query.get("token").unwrap_or_default();
    let Some(key) = visit.dashboard.links.take(sealer, token, now) else {
        if visit.who.is_some() {
            return Err(Fault::to("/"));
        }
        let wrong = "This link was used, is over an hour old, or is of another start of Berth. Sign in with the key that `berth up` \
                     printed beside it.";
        return form(&visit, StatusCode::UNAUTHORIZED, Some(wrong));
    };
    entered(&visit, with_key(&visit, key).await)
}

/// Signs in.
pub(crate) async fn enter(visit: Visit) -> Result<HttpResponse, Fault> {
    let signed_in = match visit.form.get("key") {
        Some(key) => with_key(&visit, key.trim().to_owned()).await,
        None => {
            let body = request::SignIn {
                tenant: visit.form.text("tenant").to_owned(),
                email: visit.form.text("email").to_owned(),
                password: Secret::from(visit.form.get("password").unwrap_or_default()),
            };
            with_password(&visit, body).await
        }
    };
    entered(&visit, signed_in)
}

/// Leads on whoever signed in, and shows the form again to anybody else.
fn entered(visit: &Visit, signed_in: Result<Session, Fault>) -> Result<HttpResponse, Fault> {
    match signed_in {
        Ok(session) => {
            let cookie = session.cookie(&visit.dashboard.sealer, visit.is_secure(), wall());
            let cookie = cookie.ok_or_else(|| Fault::Broken("a cookie".to_owned()))?;
            with_cookie(own_path(visit.form.get("next")), &cookie)
        }
        Err(Fault::SignedOut) => {
            let wrong = "The organisation, the e-mail address or the password is wrong.";
            form(visit, StatusCode::UNAUTHORIZED, Some(wrong))
        }
        Err(Fault::Problem(problem)) => {
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
            form(visit, status, Some(&problem.detail))
        }
        Err(fault) => Err(fault),
    }
}

/// A session of a user with a password.
pub(super) async fn with_password(visit: &Visit, body: request::SignIn) -> Result<Session, Fault> {
    let tokens = visit.sign_in(&body).await?;
    of_tenant(visit, Holder::of_user(&tokens, wall())).await
}

async fn with_key(visit: &Visit, key: String) -> Result<Session, Fault> {
    let backend = &visit.dashboard.backend;
    match backend.admit(Kind::Tenant, &key, &visit.http).await {
        Ok(_) => of_tenant(visit, Holder::Key { key }).await,
        // A key of the other kind says so.
        Err(problem) if problem.code == ErrorCode::WrongKindOfKey => {
            backend.admit(Kind::Operator, &key, &visit.http).await.map_err(refused_key)?;
            of_operator(visit, key).await
        }
        Err(problem) => Err(refused_key(problem)),
    }
}

/// The form stays and says why.
fn refused_key(problem: Box<Problem>) -> Fault {
    Fault::Problem(problem)
}

async fn of_tenant(visit: &Visit, holder: Holder) -> Result<Session, Fault> {
    let mut session = fresh(visit, holder)?;
    let who: WhoAmI = as_holder(visit, &session, "/v1/whoami").await?;
    session.place = who.tenant_name.unwrap_or_else(|| who.tenant.to_string());
    let key = |key: api_types::OwnKey| format!("key {}", key.name);
    let user = who.user.map(|user| user.email);
    session.name = user.or_else(|| who.key.map(key)).unwrap_or_default();
    Ok(session)
}

async fn of_operator(visit: &Visit, key: String) -> Result<Session, Fault> {
    let mut session = fresh(visit, Holder::Operator { key })?;
    let operator: Operator = as_holder(visit, &session, "/v1/admin/operator").await?;
    session.place = "operators".to_owned();
    session.name = operator.name;
    Ok(session)
}

/// A session with a new secret: what was known of the form before signing in is worth nothing after it.
fn fresh(visit: &Visit, holder: Holder) -> Result<Session, Fault> {
    let session = Session::new(&visit.dashboard.sealer, holder, wall());
    session.ok_or_else(|| Fault::Broken("random bytes".to_owned()))
}

async fn as_holder<T: serde::de::DeserializeOwned>(
    visit: &Visit,
    session: &Session,
    target: &str,
) -> Result<T, Fault> {
    let (method, target, from) = (Method::Get, target.to_owned(), &visit.http);
    let (body, headers, credential) = (None, Vec::new(), session.credential());
    let call = crate::backend::Call { method, target, body, headers, credential, from };
    crate::visit::read(&visit.dashboard.backend.call(call).await)
}

/// Leads to a path, with a cookie.
pub(super) fn with_cookie(path: &str, cookie: &str) -> Result<HttpResponse, Fault> {
    let mut answer = HttpResponse::SeeOther();
    answer.insert_header((LOCATION, HeaderValue::from_str(path)?));
    answer.append_header((SET_COOKIE, HeaderValue::from_str(cookie)?));
    Ok(answer.finish())
}

/// A path of this dashboard, whatever was sent; else the first page.
pub(super) fn own_path(sent: Option<&str>) -> &str {
    let is_own = |path: &&str| {
        let rest = path.strip_prefix('/');
        rest.is_some_and(|rest| !rest.starts_with(['/', '\\']))
            && path.bytes().all(|byte| byte.is_ascii_graphic())
            && !path.starts_with("/sign-")
    };
    sent.filter(is_own).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_led_to_another_host() {
        for (sent, wanted) in [
            (None, "/"),
            (Some("/tasks?state=ready"), "/tasks?state=ready"),
            (Some("//evil.example"), "/"),
            (Some("/\\evil.example"), "/"),
            (Some("https://evil.example"), "/"),
            (Some("/a\r\nSet-Cookie: x=y"), "/"),
            (Some("/sign-out"), "/"),
            (Some(""), "/"),
        ] {
            assert_eq!(own_path(sent), wanted, "{sent:?}");
        }
    }
}

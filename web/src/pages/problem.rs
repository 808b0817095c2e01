//! The page that says what went wrong and what to do next.

use crate::fault::Fault;
use crate::frame::{Frame, Section, page_with};
use crate::needs::Needs;
use crate::visit::Visit;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::LOCATION;
use api_types::{FieldError, Problem};
use askama::Template;
use url::form_urlencoded;

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    frame: Frame,
    title: String,
    detail: String,
    errors: Vec<FieldError>,
    next: Vec<(String, &'static str)>,
    request_id: Option<String>,
}

/// The page for a fault, or a redirect.
pub(crate) fn answer(visit: &Visit, fault: Fault) -> HttpResponse {
    let (status, title, detail) = match &fault {
        Fault::Elsewhere(path) => return elsewhere(path),
        Fault::SignedOut => return elsewhere(&sign_in(visit)),
        Fault::Problem(problem) => of_problem(problem),
        Fault::ForeignForm(why) => {
            let detail = format!("{why} Open the page again and send the form from there.");
            (StatusCode::FORBIDDEN, "This form was not accepted".to_owned(), detail)
        }
        Fault::BadForm(why) => {
            (StatusCode::BAD_REQUEST, "This form could not be read".to_owned(), (*why).to_owned())
        }
        Fault::NotAllowed(needs) => {
            (StatusCode::FORBIDDEN, "You may not see this".to_owned(), lacking(*needs))
        }
        Fault::NoPage => {
            let detail = "Perhaps it was deleted, or the address was not copied whole.".to_owned();
            (StatusCode::NOT_FOUND, "There is no such page".to_owned(), detail)
        }
        Fault::Broken(_) => {
            let detail =
                "Try again. If it stays so, tell whoever runs this installation.".to_owned();
            (StatusCode::INTERNAL_SERVER_ERROR, "This page could not be made".to_owned(), detail)
        }
    };
    let (errors, request_id) = match fault {
        Fault::Problem(problem) => (problem.errors, problem.request_id.map(|id| id.to_string())),
        Fault::Broken(why) => {
            tracing::error!(why, "A page could not be made: {why}");
            (Vec::new(), None)
        }
        _ => (Vec::new(), None),
    };
    let retry = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    let frame = Frame::new(visit, Section::Nowhere, title.clone());
    let next = next(visit, retry);
    let page = ProblemPage { frame, title, detail, errors, next, request_id };
    page_with(status, &page).unwrap_or_else(|_| HttpResponse::new(status))
}

/// The same for a part of a page: the script needs the status alone.
pub(crate) fn bare(visit: &Visit, fault: Fault) -> HttpResponse {
    match fault {
        Fault::SignedOut | Fault::Elsewhere(_) => HttpResponse::new(StatusCode::UNAUTHORIZED),
        fault => HttpResponse::new(answer(visit, fault).status()),
    }
}

fn of_problem(problem: &Problem) -> (StatusCode, String, String) {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
    (status, problem.title.clone().into_owned(), problem.detail.clone())
}

fn lacking(needs: Needs) -> String {
    match needs {
        Needs::May(permission) => format!(
            "It needs the permission {permission}, which your role or key does not have. Ask an owner or an admin of your organisation."
        ),
        Needs::Operator(scope) => {
            format!(
                "It is for operators of this installation, with a key that has the scope {scope}."
            )
        }
        Needs::Tenant => {
            "It is for members of an organisation; you are signed in as an operator.".to_owned()
        }
        Needs::Nothing | Needs::SignedIn => "Sign in again.".to_owned(),
    }
}

fn next(visit: &Visit, retry: bool) -> Vec<(String, &'static str)> {
    let here = visit.http.uri().path_and_query().map_or("/", |here| here.as_str());
    let again = (retry && visit.http.method() == "GET").then(|| (here.to_owned(), "Try again"));
    let home = match visit.who {
        Some(_) => ("/".to_owned(), "Go to the overview"),
        None => ("/sign-in".to_owned(), "Sign in"),
    };
    again.into_iter().chain([home]).collect()
}

/// Where to sign in, to come back here.
fn sign_in(visit: &Visit) -> String {
    let here = visit.http.uri().path_and_query().map_or("/", |here| here.as_str());
    let had_session = visit.session.credential().is_some();
    let mut query = form_urlencoded::Serializer::new(String::new());
    if visit.http.method() == "GET" && here != "/" {
        query.append_pair("next", here);
    }
    if had_session {
        query.append_pair("done", "session-over");
    }
    crate::form::with_query("/sign-in", &query.finish())
}

fn elsewhere(path: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, path)).finish()
}

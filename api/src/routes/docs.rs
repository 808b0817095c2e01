//! `GET /docs`: the API's description for people, from the binary (Swagger UI).
//!
//! Served without a key, as `/openapi.json` is. Nothing is loaded from elsewhere: the policy sent with each file lets a
//! browser load from this server only, so the page works without the internet and can leak nothing to it.

use crate::call::OpenCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY};
use actix_web::web::Bytes;
use std::borrow::Cow;
use std::sync::Arc;
use utoipa_swagger_ui::Config;

/// Swagger UI writes style attributes and draws its icons from `data:`; scripts come from files only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PAGE: &str = include_str!("docs/index.html");
const START: &str = include_str!("docs/start.js");
/// What the page loads of Swagger UI.
const PARTS: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];

/// The document's words.
pub const PAGE_DOC: Doc = Doc {
    summary: "This document as a web page",
    answers: &[AnswerDoc { status: 200, text: "A web page", content: Content::Html }],
    ..Doc::PROBE
};

/// The document's words.
pub const FILE_DOC: Doc = Doc {
    summary: "A file of the page",
    answers: &[AnswerDoc { status: 200, text: "The file", content: Content::AnyFile }],
    problems: &[Code::NotFound],
    ..Doc::PROBE
};

/// The document's words.
pub const HOME_DOC: Doc = Doc {
    summary: "Redirect to the web page",
    answers: &[AnswerDoc { status: 307, text: "The page is `/docs`", content: Content::Nothing }],
    answer_headers: &[AnswerHeader::Location],
    ..Doc::PROBE
};

/// The document's words.
pub const SLASH_DOC: Doc = Doc {
    summary: "Redirect from the other name of the page",
    answers: &[AnswerDoc { status: 308, text: "The page is `/docs`", content: Content::Nothing }],
    answer_headers: &[AnswerHeader::Location],
    ..Doc::PROBE
};

/// Leads to the page: for now, until there is one here.
///
/// # Errors
/// Never.
pub async fn home(_call: OpenCall) -> Result<HttpResponse, Problem> {
    Ok(HttpResponse::TemporaryRedirect().insert_header((LOCATION, "/docs")).finish())
}

/// Leads to the page, whose links are relative to `/docs`.
///
/// # Errors
/// Never.
pub async fn slash(_call: OpenCall) -> Result<HttpResponse, Problem> {
    Ok(HttpResponse::PermanentRedirect().insert_header((LOCATION, "/docs")).finish())
}

/// Answers with the page.
///
/// # Errors
/// Never.
pub async fn page(_call: OpenCall) -> Result<HttpResponse, Problem> {
    Ok(file("text/html; charset=utf-8", Cow::Borrowed(PAGE.as_bytes())))
}

/// Answers with one of its files.
///
/// # Errors
/// `not_found`.
pub async fn part(call: OpenCall) -> Result<HttpResponse, Problem> {
    let name = call.request.match_info().get("file").unwrap_or_default();
    if name == "start.js" {
        return Ok(file("text/javascript; charset=utf-8", Cow::Borrowed(START.as_bytes())));
    }
    let none = || Problem::new(Code::NotFound, "There is no such file.");
    let name = PARTS.into_iter().find(|part| *part == name).ok_or_else(none)?;
    let found = utoipa_swagger_ui::serve(name, Arc::new(Config::from("openapi.json")));
    let found = found.ok().flatten().ok_or_else(none)?;
    Ok(file(&found.content_type, found.bytes))
}

fn file(kind: &str, bytes: Cow<'static, [u8]>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(kind)
        .insert_header((CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .body(match bytes {
            // Part of the program: no request has a copy of its own.
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        })
}

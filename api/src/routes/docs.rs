//! `GET /docs`: the API's description for people, from the binary (Swagger UI).
//!
//! Served without a key, as `/openapi.json` is. Nothing is loaded from elsewhere: the policy sent with each file lets a
//! browser load from this server only, so the page works without the internet and can leak nothing to it.

use crate::call::OpenCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::accepts_gzip;
use actix_web::HttpResponse;
use actix_web::http::header::{
    CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderValue, LOCATION, REFERRER_POLICY,
};
use actix_web::web::Bytes;
use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::OnceLock;

/// Swagger UI writes style attributes and draws its icons from `data:`; scripts come from files only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PAGE: &str = include_str!("docs/index.html");
const START: &str = include_str!("docs/start.js");
const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// What the page loads of Swagger UI, packed by `build.rs`.
static STYLE: Packed = Packed {
    kind: CSS,
    gzip: include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui.css.gz")),
    plain: OnceLock::new(),
};
static SCRIPT: Packed = Packed {
    kind: JAVASCRIPT,
    gzip: include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js.gz")),
    plain: OnceLock::new(),
};

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
pub const SLASH_DOC: Doc = Doc {
    summary: "Redirect from the other name of the page",
    answers: &[AnswerDoc { status: 308, text: "The page is `/docs`", content: Content::Nothing }],
    answer_headers: &[AnswerHeader::Location],
    ..Doc::PROBE
};

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
    Ok(file(HTML, Bytes::from_static(PAGE.as_bytes())))
}

/// Answers with one of its files.
///
/// # Errors
/// `not_found`.
pub async fn part(call: OpenCall) -> Result<HttpResponse, Problem> {
    let gzip = accepts_gzip(call.request.headers());
    match call.request.part("file").unwrap_or_default() {
        "start.js" => Ok(file(JAVASCRIPT, Bytes::from_static(START.as_bytes()))),
        "swagger-ui-bundle.js" => SCRIPT.answer(gzip),
        "swagger-ui.css" => STYLE.answer(gzip),
        _ => Err(Problem::new(Code::NotFound, "There is no such file.")),
    }
}

/// A file that is part of the program in a packed form. No answer has a copy of its own of either form.
struct Packed {
    kind: &'static str,
    gzip: &'static [u8],
    plain: OnceLock<Bytes>,
}

impl Packed {
    fn answer(&self, gzip: bool) -> Result<HttpResponse, Problem> {
        if gzip {
            let mut answer = file(self.kind, Bytes::from_static(self.gzip));
            answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            return Ok(answer);
        }
        if let Some(plain) = self.plain.get() {
            return Ok(file(self.kind, plain.clone()));
        }
        let mut plain = Vec::new();
        GzDecoder::new(self.gzip).read_to_end(&mut plain).map_err(|error| {
            Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error)
        })?;
        Ok(file(self.kind, self.plain.get_or_init(|| Bytes::from(plain)).clone()))
    }
}

fn file(kind: &str, bytes: Bytes) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(kind)
        .insert_header((CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .body(bytes)
}

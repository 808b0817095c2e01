//! Every request to a page goes through here: cookie, renewal, form, permission, page, headers.
//!
//! Called by `api` for each page of the table. The rule: nothing is done for a form that did not come from a page of the same
//! session, and no page is kept by a cache or loads anything from elsewhere.

use crate::backend::{Call, Kind, Method, Who};
use crate::dashboard::Dashboard;
use crate::fault::Fault;
use crate::form::Fields;
use crate::origin::is_from_here;
use crate::page::{Needs, Page, Verb};
use crate::pages::problem;
use crate::session::{Holder, Session, forget};
use crate::visit::{Visit, read};
use actix_web::body::to_bytes;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HeaderMap, HeaderName, HeaderValue,
    LOCATION, REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web::{Bytes, BytesMut, Payload};
use actix_web::{HttpRequest, HttpResponse};
use api_types::{Secret, request};
use domain::time::Timestamp;
use futures::StreamExt;
use runtime::clock::wall;
use std::cell::RefCell;
use std::sync::Arc;

/// Nothing but our own files, no script or style in a page, and no page inside another.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
static OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
static RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The largest form of somebody who is signed in, bytes: a task or a workflow with what a browser adds.
const MOST_OF_A_FORM: usize = 1024 * 1024;
/// The same of anybody else: an e-mail address and a password.
const MOST_OF_A_STRANGER: usize = 16 * 1024;
/// An access token is renewed so many seconds before its end.
const RENEW_BEFORE: i64 = 20;

impl Page {
    /// Answers a request to this page.
    pub async fn answer(
        &'static self,
        dashboard: Arc<Dashboard>,
        http: HttpRequest,
        payload: Payload,
    ) -> HttpResponse {
        let mut visit = visit(dashboard, http);
        let fault = begin(self, &mut visit, payload).await.err();
        let (secure, http) = (visit.is_secure(), visit.http.clone());
        let dashboard = Arc::clone(&visit.dashboard);
        let cookies = visit.cookies.take();
        let mut answer = match fault {
            Some(fault) => problem::answer(&visit, fault),
            None => self.show(visit).await,
        };
        keep(&mut answer, cookies);
        if answer.headers().get(LOCATION).is_some_and(|to| to.as_bytes().starts_with(b"/sign-in?"))
            && has_session(&http, &dashboard, secure)
        {
            // It opens nothing any more.
            if let Ok(value) = HeaderValue::from_str(&forget(secure)) {
                answer.headers_mut().append(SET_COOKIE, value);
            }
        }
        guard(&mut answer);
        answer
    }

    async fn show(&'static self, visit: Visit) -> HttpResponse {
        if self.method == Verb::Get && visit.fragment().is_some() {
            return self.fragment(visit).await;
        }
        let shown = Shown::of(&visit);
        match (self.handler)(visit).await {
            Ok(answer) => answer,
            Err(fault) => problem::answer(&shown.visit(), fault),
        }
    }

    /// A part of a page, which may be one that was made for somebody else with the same rights.
    async fn fragment(&'static self, visit: Visit) -> HttpResponse {
        let dashboard = Arc::clone(&visit.dashboard);
        let here = visit.http.uri().path_and_query().map_or("/", |here| here.as_str());
        let key = format!("{:?} {here}", visit.who);
        let name = visit.fragment().unwrap_or_default().to_owned();
        let shown = Shown::of(&visit);
        let make = async || {
            let answer = (self.handler)(visit).await?;
            to_bytes(answer.into_body()).await.map_err(|_| Fault::Broken("a fragment".to_owned()))
        };
        match dashboard.fragments.get(key, &name, make).await {
            Ok(html) => HttpResponse::Ok().content_type("text/html; charset=utf-8").body(html),
            Err(fault) => problem::bare(&shown.visit(), fault),
        }
    }
}

/// What is left of a visit for the page that tells what went wrong.
struct Shown {
    http: HttpRequest,
    dashboard: Arc<Dashboard>,
    session: Session,
    who: Option<Who>,
}

impl Shown {
    fn of(visit: &Visit) -> Self {
        let Visit { http, dashboard, session, who, .. } = visit;
        let (http, dashboard) = (http.clone(), Arc::clone(dashboard));
        Self { http, dashboard, session: session.clone(), who: who.clone() }
    }

    fn visit(self) -> Visit {
        let Self { http, dashboard, session, who } = self;
        let (query, form) = (Fields::parse(http.query_string().as_bytes()), Fields::default());
        Visit { http, dashboard, session, who, query, form, cookies: RefCell::default() }
    }
}

impl Dashboard {
    /// The page that says that there is none, with the navigation of whoever is signed in.
    pub async fn no_such_page(self: Arc<Self>, http: HttpRequest) -> HttpResponse {
        let mut visit = visit(self, http);
        // To somebody whose session has ended there is no such page either.
        let _ = identify(&mut visit, true).await;
        let mut answer = problem::answer(&visit, Fault::NoPage);
        keep(&mut answer, visit.cookies.take());
        guard(&mut answer);
        answer
    }
}

/// Whether a request for a path that nothing answers comes from a browser that shows pages.
#[must_use]
pub fn wants_page(http: &HttpRequest) -> bool {
    let accepted = http.headers().get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|value| value.split(','));
    let is_html = |kind: &str| kind.trim().to_ascii_lowercase().starts_with("text/html");
    let is_api = |path: &str| path == "/v1" || path.starts_with("/v1/");
    !is_api(http.path()) && kinds.any(is_html)
}

fn cookies(http: &HttpRequest) -> String {
    let all = http.headers().get_all(COOKIE).filter_map(|value| value.to_str().ok());
    all.collect::<Vec<_>>().join("; ")
}

fn has_session(http: &HttpRequest, dashboard: &Dashboard, secure: bool) -> bool {
    Session::read(&dashboard.sealer, &cookies(http), secure, wall()).is_some()
}

/// The request with the session of its cookie, or one that is nobody's.
fn visit(dashboard: Arc<Dashboard>, http: HttpRequest) -> Visit {
    let (secure, now) = (dashboard.backend.is_secure(&http), wall());
    let sealer = &dashboard.sealer;
    let kept = Session::read(sealer, &cookies(&http), secure, now);
    let session = kept.unwrap_or_else(|| Session::of_nobody(sealer, now));
    let query = Fields::parse(http.query_string().as_bytes());
    let (who, form, cookies) = (None, Fields::default(), RefCell::default());
    Visit { http, dashboard, session, who, query, form, cookies }
}

/// Everything before the page itself.
async fn begin(page: &Page, visit: &mut Visit, payload: Payload) -> Result<(), Fault> {
    if page.method == Verb::Post && !is_from_here(&visit.http) {
        return Err(Fault::ForeignForm("It was sent from another site."));
    }
    identify(visit, page.needs == Needs::Nothing).await?;
    if page.method == Verb::Post {
        let most = if visit.who.is_some() { MOST_OF_A_FORM } else { MOST_OF_A_STRANGER };
        visit.form = Fields::parse(&body(payload, most).await?);
        if !visit.session.is_own_form(visit.form.text("csrf")) {
            return Err(Fault::ForeignForm("It is older than your session."));
        }
    }
    let allowed = match page.needs {
        Needs::Nothing => return Ok(()),
        _ if visit.who.is_none() => return Err(Fault::SignedOut),
        Needs::SignedIn => true,
        Needs::Tenant => !visit.is_operator(),
        Needs::May(permission) => visit.may(permission),
        Needs::Operator(scope) => visit.may_as_operator(scope),
    };
    if allowed { Ok(()) } else { Err(Fault::NotAllowed(page.needs)) }
}

/// Whose the session is, with an access token that is not about to end. `also_ended`: signing in again, and signing out, work with a
/// credential that has ended.
async fn identify(visit: &mut Visit, also_ended: bool) -> Result<(), Fault> {
    renew(visit).await?;
    let kind = match &visit.session.holder {
        Holder::Nobody => None,
        Holder::Operator { .. } => Some(Kind::Operator),
        Holder::Key { .. } | Holder::User { .. } => Some(Kind::Tenant),
    };
    if let (Some(kind), Some(credential)) = (kind, visit.session.credential()) {
        match visit
            .dashboard
            .backend
            .admit(kind, credential, &visit.http)
            .await
            .map_err(Fault::from)
        {
            Ok(who) => visit.who = Some(who),
            Err(Fault::SignedOut) if also_ended => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}

/// Has the browser keep cookies.
fn keep(answer: &mut HttpResponse, cookies: Vec<String>) {
    for cookie in cookies {
        if let Ok(value) = HeaderValue::from_str(&cookie) {
            answer.headers_mut().append(SET_COOKIE, value);
        }
    }
}

/// Gets a new access token shortly before the old one ends.
async fn renew(visit: &mut Visit) -> Result<(), Fault> {
    let now = wall();
    let Holder::User { access_until, refresh, .. } = &visit.session.holder else { return Ok(()) };
    if *access_until - RENEW_BEFORE > now.timestamp() {
        return Ok(());
    }
    let (dashboard, token) = (Arc::clone(&visit.dashboard), refresh.clone());
    let renewed = dashboard.renewals.once(&token, async || refreshed(visit, &token, now).await);
    visit.session.holder = renewed.await?;
    visit.session.until = now.timestamp() + crate::session::USER_LIFE_SECONDS;
    let secure = visit.is_secure();
    if let Some(cookie) = visit.session.cookie(&visit.dashboard.sealer, secure, now) {
        visit.cookies.borrow_mut().push(cookie);
    }
    Ok(())
}

async fn refreshed(visit: &Visit, token: &str, now: Timestamp) -> Result<Holder, Fault> {
    let body = request::SessionRefresh { refresh_token: Secret::from(token) };
    let call = Call {
        method: Method::Post,
        target: "/v1/sessions/refresh".to_owned(),
        body: Some(serde_json::to_vec(&body)?),
        headers: vec![("content-type", "application/json".to_owned())],
        credential: None,
        from: &visit.http,
    };
    let session: api_types::Session = read(&visit.dashboard.backend.call(call).await)?;
    Ok(Holder::of_user(&session, now))
}

/// The body of a form.
async fn body(mut payload: Payload, most: usize) -> Result<Bytes, Fault> {
    let mut bytes = BytesMut::new();
    while let Some(some) = payload.next().await {
        let some = some.map_err(|_| Fault::BadForm("It did not come to its end."))?;
        if bytes.len() + some.len() > most {
            return Err(Fault::BadForm("It is too large."));
        }
        bytes.extend_from_slice(&some);
    }
    Ok(bytes.freeze())
}

/// The headers of every page. An asset has its own: it may be kept.
fn guard(answer: &mut HttpResponse) {
    let keeps = answer.headers().contains_key(CACHE_CONTROL);
    let is_error = answer.status() >= StatusCode::BAD_REQUEST;
    let headers: &mut HeaderMap = answer.headers_mut();
    let mut set = |name: HeaderName, value| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(REFERRER_POLICY, "same-origin");
    set(OPENER.clone(), "same-origin");
    set(RESOURCE.clone(), "same-origin");
    if !keeps || is_error {
        set(CACHE_CONTROL, "no-store");
    }
}

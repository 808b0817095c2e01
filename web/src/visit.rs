//! A request to a page: who asks, with what, and the API on their behalf.

use crate::backend::{Call, Method, Reply, Who};
use crate::dashboard::Dashboard;
use crate::fault::Fault;
use crate::form::Fields;
use crate::session::{Session, cookie};
use actix_web::HttpRequest;
use actix_web::http::header::COOKIE;
use api_types::{Problem, request};
use domain::access::{OperatorScope, Permission};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::sync::Arc;

/// What stands in a path as it is; everything else is percent-encoded.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A text as a part of a path.
pub(crate) fn in_path(text: &str) -> String {
    // Browsers and proxies resolve these two.
    match text {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        text => utf8_percent_encode(text, IN_PATH).to_string(),
    }
}

/// One request.
pub(crate) struct Visit {
    pub http: HttpRequest,
    pub dashboard: Arc<Dashboard>,
    pub session: Session,
    pub who: Option<Who>,
    pub query: Fields,
    pub form: Fields,
    /// What the answer has the browser keep, besides its page.
    pub cookies: RefCell<Vec<String>>,
}

impl Visit {
    /// Whether the browser came by TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.dashboard.backend.is_secure(&self.http)
    }

    /// Whether the one who asks may do this in a tenant.
    pub(crate) fn may(&self, permission: Permission) -> bool {
        matches!(&self.who, Some(Who::Tenant(_, all)) if all.contains(permission))
    }

    /// Whether the one who asks is an operator with this scope.
    pub(crate) fn may_as_operator(&self, scope: OperatorScope) -> bool {
        matches!(&self.who, Some(Who::Operator(scopes)) if scopes.contains(&scope))
    }

    /// Whether an operator asks.
    pub(crate) const fn is_operator(&self) -> bool {
        matches!(self.who, Some(Who::Operator(_)))
    }

    /// A part of the path, decoded.
    pub(crate) fn part(&self, name: &str) -> String {
        let text = self.http.match_info().get(name).unwrap_or_default();
        percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
    }

    /// The same as a part of another path.
    pub(crate) fn part_in_path(&self, name: &str) -> String {
        in_path(&self.part(name))
    }

    /// Which fragment of the page is asked for.
    pub(crate) fn fragment(&self) -> Option<&str> {
        self.query.get("fragment")
    }

    /// The value of a cookie.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        let headers = self.http.headers().get_all(COOKIE);
        headers.filter_map(|value| value.to_str().ok()).find_map(|text| cookie(text, name))
    }

    /// A token for a form of this page.
    pub(crate) fn token(&self) -> String {
        self.session.form_token(&self.dashboard.sealer)
    }

    /// A key that makes a form that is sent twice do its work once.
    pub(crate) fn once(&self) -> String {
        let bytes = self.dashboard.sealer.random::<16>().unwrap_or_default();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Calls the API as whoever asks.
    pub(crate) async fn reply(
        &self,
        method: Method,
        target: String,
        body: Option<Vec<u8>>,
        headers: Vec<(&'static str, String)>,
    ) -> Reply {
        let credential = self.session.credential();
        let call = Call { method, target, body, headers, credential, from: &self.http };
        self.dashboard.backend.call(call).await
    }

    /// Reads.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        target: impl Into<String>,
    ) -> Result<T, Fault> {
        read(&self.reply(Method::Get, target.into(), None, Vec::new()).await)
    }

    /// Reads, and says what was wrong where it does not work: for a part of a page that has others.
    pub(crate) async fn try_get<T: DeserializeOwned>(
        &self,
        target: impl Into<String>,
    ) -> Result<T, String> {
        self.get(target).await.map_err(|fault| match fault {
            Fault::Problem(problem) => problem.detail,
            Fault::SignedOut => "You are signed out.".to_owned(),
            _ => "This part could not be read.".to_owned(),
        })
    }

    /// Writes without a body.
    pub(crate) async fn act<T: DeserializeOwned>(
        &self,
        method: Method,
        target: impl Into<String>,
    ) -> Result<T, Fault> {
        let headers = self.key_of_form();
        read(&self.reply(method, target.into(), None, headers).await)
    }

    /// Writes.
    pub(crate) async fn send<B: Serialize, T: DeserializeOwned>(
        &self,
        method: Method,
        target: impl Into<String>,
        body: &B,
    ) -> Result<T, Fault> {
        let mut headers = self.key_of_form();
        headers.push(("content-type", "application/json".to_owned()));
        let body = serde_json::to_vec(body)?;
        read(&self.reply(method, target.into(), Some(body), headers).await)
    }

    /// A form that is sent twice writes once.
    fn key_of_form(&self) -> Vec<(&'static str, String)> {
        let keys = self.form.get("once").map(|key| ("idempotency-key", key.to_owned()));
        keys.into_iter().collect()
    }

    /// Signs in with a password.
    pub(crate) async fn sign_in(
        &self,
        body: &request::SignIn,
    ) -> Result<api_types::Session, Fault> {
        self.send(Method::Post, "/v1/sessions", body).await
    }
}

/// What a reply holds.
pub(crate) fn read<T: DeserializeOwned>(reply: &Reply) -> Result<T, Fault> {
    if reply.status >= 400 {
        let problem: Box<Problem> = serde_json::from_slice(&reply.body)?;
        return Err(problem.into());
    }
    Ok(serde_json::from_slice(&reply.body)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_path_leads_nowhere_else() {
        for (text, wanted) in [
            ("a b/c?d#e", "a%20b%2Fc%3Fd%23e"),
            ("..", "%2E%2E"),
            (".", "%2E"),
            ("a.b-c_d~e", "a.b-c_d~e"),
            ("zwölf", "zw%C3%B6lf"),
        ] {
            assert_eq!(in_path(text), wanted);
        }
    }
}

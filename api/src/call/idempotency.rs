//! The `Idempotency-Key` header, and what makes two requests the same.
//!
//! Taken by every write. Same means same method, path, query and body, byte for byte; keys of one
//! tenant and route are told apart by their text, and other tenants' do not matter. A batch of lines has a key for each slice
//! of it: the client's, and where the slice begins.

use super::handler::Call;
use crate::problem::{Code, Problem};
use crate::request::NdjsonLine;
use actix_web::http::header::HeaderName;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use store::idempotency::IdempotencyKey;

static HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const MAX_LENGTH: usize = 200;

/// A client's key, and the request it is for but for its body.
#[derive(Debug, Clone)]
pub struct KeyText {
    key: String,
    route: String,
    /// Method, path and query. Keyed, because a body may hold what is not to be guessed from its hash: a password.
    request: Hmac<Sha256>,
}

/// The key of this write, where the client sent one. `route` is the path with its ids.
///
/// # Errors
/// `invalid_parameter` when it is not one header of 1 to 200 visible ASCII characters.
pub fn idempotency_key(call: &Call) -> Result<Option<IdempotencyKey>, Problem> {
    Ok(idempotency_text(call)?.map(|key| key.of_body(&call.body)))
}

/// The key of this write before its body is known.
///
/// # Errors
/// As [`idempotency_key`].
pub fn idempotency_text(call: &Call) -> Result<Option<KeyText>, Problem> {
    let mut all = call.request.headers().get_all(&HEADER);
    let Some(header) = all.next() else { return Ok(None) };
    let bytes = header.as_bytes();
    let visible = bytes.iter().all(|b| b.is_ascii_graphic());
    let key = std::str::from_utf8(bytes)
        .ok()
        .filter(|_| visible && (1..=MAX_LENGTH).contains(&bytes.len()));
    let (Some(key), None) = (key, all.next()) else {
        let detail = format!("must be given once, with 1 to {MAX_LENGTH} visible ASCII characters");
        return Err(Problem::at(Code::InvalidParameter, "header:Idempotency-Key", detail));
    };
    let (method, uri) = (call.request.method(), call.request.uri());
    let mut request = call.state.request_mac.begin();
    request.update(method.as_str().as_bytes());
    request.update(b" ");
    request.update(uri.path_and_query().map_or(uri.path(), |p| p.as_str()).as_bytes());
    request.update(b"\n");
    Ok(Some(KeyText { key: key.to_owned(), route: format!("{method} {}", uri.path()), request }))
}

/// The key stands for another request.
#[must_use]
pub fn key_reused() -> Problem {
    Problem::at(
        Code::IdempotencyKeyReuse,
        "header:Idempotency-Key",
        "was used for another request; use a new key for a new write",
    )
}

impl KeyText {
    /// The key of the whole body.
    #[must_use]
    pub fn of_body(self, body: &[u8]) -> IdempotencyKey {
        let body_hash = self.request.chain_update(body).finalize().into_bytes().into();
        IdempotencyKey { route: self.route, key: self.key, body_hash }
    }

    /// The key of some lines of the body.
    #[must_use]
    pub fn of_lines(&self, lines: &[NdjsonLine]) -> IdempotencyKey {
        let mut mac = self.request.clone();
        for line in lines {
            let text = line.text.as_deref().unwrap_or_default();
            mac.update(&(line.index as u64).to_be_bytes());
            mac.update(&(text.len() as u64).to_be_bytes());
            mac.update(text);
        }
        let first = lines.first().map_or(0, |line| line.index);
        IdempotencyKey {
            route: format!("{} lines {first}", self.route),
            key: self.key.clone(),
            body_hash: mac.finalize().into_bytes().into(),
        }
    }
}

//! The `Idempotency-Key` header, and what makes two requests the same.
//!
//! Taken by every write. Same means same method, path, query and body, byte for byte; keys of one
//! tenant and route are told apart by their text, and other tenants' do not matter.

use super::Call;
use crate::problem::{Code, Problem};
use actix_web::http::header::HeaderName;
use sha2::{Digest, Sha256};
use store::idempotency::IdempotencyKey;

static HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const MAX_LENGTH: usize = 200;

/// The key of this write, where the client sent one. `route` is the path with its ids.
///
/// # Errors
/// `invalid_parameter` when it is not one header of 1 to 200 visible ASCII characters.
pub fn idempotency_key(call: &Call) -> Result<Option<IdempotencyKey>, Problem> {
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
    let uri = call.request.uri();
    let mut sha = Sha256::new();
    sha.update(call.request.method().as_str());
    sha.update(b" ");
    sha.update(uri.path_and_query().map_or(uri.path(), |p| p.as_str()));
    sha.update(b"\n");
    sha.update(&call.body);
    Ok(Some(IdempotencyKey {
        route: format!("{} {}", call.request.method(), uri.path()),
        key: key.to_owned(),
        body_hash: sha.finalize().into(),
    }))
}

//! A write that may be done twice without harm, answered once for each idempotency key.
//!
//! Its key and its answer are not in the write's own transaction: one that was begun and never answered is done again.

use super::handler::Call;
use super::idempotency::{idempotency_key, key_reused, replayed};
use crate::answer::raw_json;
use crate::problem::Problem;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use store::idempotency::Begun;

/// Does `write`, unless the call's key was answered before.
///
/// # Errors
/// As `write`; `idempotency_key_reuse`; what the database said.
pub async fn repeatable(
    call: &Call,
    write: impl AsyncFnOnce() -> Result<(StatusCode, Vec<u8>), Problem>,
) -> Result<HttpResponse, Problem> {
    let Some(key) = idempotency_key(call)? else {
        let (status, body) = write().await?;
        return Ok(raw_json(status, body));
    };
    let (db, scope) = (&call.state.api, call.scope());
    match store::idempotency::begin(db, &scope, &key).await? {
        Begun::Replayed { status, body } => Ok(replayed(status, body)),
        Begun::KeyReused => Err(key_reused()),
        Begun::Fresh | Begun::Unfinished => {
            let (status, body) = write().await?;
            store::idempotency::finish(db, &scope, &key, status.as_u16(), &body).await?;
            Ok(raw_json(status, body))
        }
    }
}

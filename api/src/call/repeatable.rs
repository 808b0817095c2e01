//! A write that may be done twice without harm, answered once for each idempotency key.
//!
//! Its key and its answer are not in the write's own transaction: one that was begun and never answered is done again.

use super::handler::Call;
use super::idempotency::{idempotency_key, key_reused};
use crate::answer::Answer;
use crate::problem::Problem;
use serde::Serialize;
use store::idempotency::Begun;

/// Does `write`, unless the call's key was answered before.
///
/// # Errors
/// As `write`; `idempotency_key_reuse`; what the database said.
pub async fn repeatable<T: Serialize>(
    call: &Call,
    write: impl AsyncFnOnce() -> Result<Answer<T>, Problem>,
) -> Result<Answer<T>, Problem> {
    let Some(key) = idempotency_key(call)? else { return write().await };
    let (db, scope) = (&call.state.api, call.scope());
    match store::idempotency::begin(db, &scope, &key).await? {
        Begun::Replayed { status, body } => Ok(Answer::replayed(status, body)),
        Begun::KeyReused => Err(key_reused()),
        Begun::Fresh | Begun::Unfinished => {
            let answer = write().await?;
            let (status, body) = answer.kept()?;
            store::idempotency::finish(db, &scope, &key, status, &body).await?;
            Ok(answer)
        }
    }
}

//! From where accounts were signed in to of late.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;

/// Whether `subject`, an account and a peer, was signed in with the right password in the last 30 days.
///
/// # Errors
/// When the database cannot answer.
pub async fn is_known_place(db: &SubmitDb, subject: &[u8; 32]) -> Result<bool, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select true as "known!" from sign_in_place where subject = $1 and seen_at > now() - interval '30 days'"#,
        &subject[..]
    );
    Ok(named("sign_in.is_known_place", query.fetch_optional(db.pool())).await?.is_some())
}

/// The password was right: `subject` is known for 30 days, give or take one.
///
/// # Errors
/// When the database cannot answer.
pub async fn know_place(db: &SubmitDb, subject: &[u8; 32]) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "insert into sign_in_place as p (subject) values ($1)
            on conflict (subject) do update set seen_at = now() where p.seen_at < now() - interval '1 day'",
        &subject[..]
    );
    named("sign_in.know_place", query.execute(db.pool())).await.map(|_| ())
}

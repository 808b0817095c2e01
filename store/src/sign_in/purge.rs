//! Drops what nobody will ask for any more.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;

/// Deletes sign-ins that ended a day ago, with their refresh tokens, those that were used a day ago, tries that no window holds, and
/// places that are known no more; at most `limit` of each. Says how many.
///
/// # Errors
/// When the database cannot answer.
pub async fn purge(db: &SubmitDb, limit: i64) -> Result<u64, StoreError> {
    let sign_ins = sqlx::query!(
        "delete from sign_in where id = any (array(
                select s.id from sign_in s where s.expires_at < now() - interval '1 day' order by s.expires_at limit $1))",
        limit
    );
    let gone = named("sign_in.purge", sign_ins.execute(db.pool())).await?.rows_affected();
    // One that was used is only kept to see whether somebody uses it again.
    let tokens = sqlx::query!(
        "delete from refresh_token where hash = any (array(
                select t.hash from refresh_token t where t.used_at < now() - interval '1 day' order by t.used_at limit $1))",
        limit
    );
    let gone =
        gone + named("sign_in.purge_tokens", tokens.execute(db.pool())).await?.rows_affected();
    let attempts = sqlx::query!(
        "delete from sign_in_attempt where subject = any (array(
                select a.subject from sign_in_attempt a where a.updated_at < now() - interval '1 day'
                order by a.updated_at limit $1))",
        limit
    );
    let gone =
        gone + named("sign_in.purge_attempts", attempts.execute(db.pool())).await?.rows_affected();
    let places = sqlx::query!(
        "delete from sign_in_place where subject = any (array(
                select p.subject from sign_in_place p where p.seen_at < now() - interval '30 days' order by p.seen_at limit $1))",
        limit
    );
    Ok(gone + named("sign_in.purge_places", places.execute(db.pool())).await?.rows_affected())
}

//! Which cap has no room for a task, for whoever asks why it waits. Nothing is locked or taken.

use crate::StoreError;
use crate::statement::patient;
use domain::explain::CapLack;
use domain::price::{Micros, Reservation};
use sqlx::PgConnection;

/// The first cap of `reservation` that has no room for it, by the rules of [`super::Shares::take`].
pub(crate) async fn lack(
    tx: &mut PgConnection,
    reservation: &Reservation,
) -> Result<Option<CapLack>, StoreError> {
    let needed = reservation.amount;
    if needed.0 == 0 {
        return Ok(None);
    }
    let query = sqlx::query!(
        r#"select p.name, p.currency, p.amount, s.free as "free!", b.currency as "billed_in?",
                (date_trunc(p.period, now() at time zone p.zone) + ('1 ' || p.period)::interval) at time zone p.zone as "resets_at!"
            from spend_cap p
            join tenant t on t.id = p.tenant_id
            join plan n on n.name = t.plan
            left join lateral (select k.document ->> 'currency' as currency from price_book k
                where k.name = n.price_book and k.document ->> 'currency' <> p.currency) b on true
            cross join lateral (
                select sum(i.free + case when i.period_start < date_trunc(p.period, now(), p.zone) then i.spent else 0 end)::bigint as free
                from spend_share i where i.cap_id = p.id) s
            where p.id = any ($1) and (s.free < $2 or b.currency is not null)
            order by p.id limit 1"#,
        &reservation.caps,
        needed.0
    );
    let Some(row) = patient("spend.lack", query.fetch_optional(tx)).await? else { return Ok(None) };
    let malformed = |what: &'static str, value: &str| StoreError::Malformed {
        what,
        row: "a spend cap".into(),
        value: value.to_owned(),
    };
    let currency = |code: &str| code.parse().map_err(|_| malformed("currency", code));
    Ok(Some(CapLack {
        cap: row.name.parse().map_err(|_| malformed("name", &row.name))?,
        currency: currency(&row.currency)?,
        amount: Micros(row.amount),
        free: Micros(row.free),
        needed,
        resets_at: row.resets_at,
        billed_in: row.billed_in.as_deref().map(currency).transpose()?,
    }))
}

//! What is free of caps, in a few rows each.
//!
//! A statement reserves from one row, selected by its connection, so that connections seldom wait for each other. If that row has too
//! little, all rows of the cap are locked, their sum decides, and the rest is spread over them. Rows are locked in the order of (cap,
//! share), after tasks.
//!
//! When a period is over, the amount spent in it is free again: the next statement that writes a row moves the row to the present period.

use super::refusal::CapRefusal;
use crate::StoreError;
use crate::statement::named;
use domain::price::{Micros, Reservation};
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Rows of a cap. The literal 8 in `end_tasks` and below is the same number.
pub(crate) const SHARES: i16 = 8;

/// What is taken of each cap, micro-units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Demand(BTreeMap<Uuid, i64>);

impl Demand {
    /// What all of `reservations` take.
    pub(crate) fn of<'a>(reservations: impl Iterator<Item = &'a Reservation>) -> Self {
        let mut demand = Self::default();
        for reservation in reservations {
            for cap in reservation.caps.iter().filter(|_| reservation.amount.0 > 0) {
                let sum = demand.0.entry(*cap).or_default();
                *sum = sum.saturating_add(reservation.amount.0);
            }
        }
        demand
    }

    /// Of each cap, in the order in which shares are locked.
    pub(crate) fn into_caps(self) -> impl Iterator<Item = (Uuid, i64)> {
        self.0.into_iter()
    }

    /// Whether nothing is taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A cap whose shares are all locked.
#[derive(Debug)]
struct Held {
    name: String,
    currency: String,
    amount: Micros,
    period_start: Timestamp,
    resets_at: Timestamp,
    /// Where the tenant is billed in another currency.
    billed_in: Option<String>,
    /// The sum, in the present period.
    free: i64,
    /// Of each share, in the present period.
    spent: Vec<i64>,
}

/// All shares of some caps, locked to the end of the transaction.
#[derive(Debug, Default)]
pub(crate) struct Shares(BTreeMap<Uuid, Held>);

impl Shares {
    /// Locks those of the caps that `reservations` name. A cap that is gone is none.
    pub(crate) async fn lock<'a>(
        tx: &mut PgConnection,
        reservations: impl Iterator<Item = &'a Reservation>,
    ) -> Result<Self, StoreError> {
        let caps: Vec<Uuid> = Demand::of(reservations).0.into_keys().collect();
        Self::lock_caps(tx, &caps).await
    }

    /// Locks those of a cap whose amount changes by `more`.
    pub(crate) async fn raised(
        tx: &mut PgConnection,
        cap: Uuid,
        more: Micros,
    ) -> Result<Self, StoreError> {
        let mut shares = Self::lock_caps(tx, &[cap]).await?;
        shares.0.values_mut().for_each(|held| held.free = held.free.saturating_add(more.0));
        Ok(shares)
    }

    async fn lock_caps(tx: &mut PgConnection, caps: &[Uuid]) -> Result<Self, StoreError> {
        let query = sqlx::query!(
            r#"select p.id, p.name, p.currency, p.amount, date_trunc(p.period, now(), p.zone) as "period_start!",
                    (date_trunc(p.period, now() at time zone p.zone) + ('1 ' || p.period)::interval) at time zone p.zone as "resets_at!",
                    b.currency as "billed_in?", s.free + case when s.period_start < date_trunc(p.period, now(), p.zone) then s.spent else 0 end as "free!",
                    case when s.period_start < date_trunc(p.period, now(), p.zone) then 0 else s.spent end as "spent!"
                from spend_cap p
                join spend_share s on s.cap_id = p.id
                join tenant t on t.id = p.tenant_id
                join plan n on n.name = t.plan
                left join lateral (select k.document ->> 'currency' as currency from price_book k
                    where k.name = n.price_book and k.document ->> 'currency' <> p.currency) b on true
                where p.id = any ($1)
                order by s.cap_id, s.share for no key update of s"#,
            caps
        );
        let mut held: BTreeMap<Uuid, Held> = BTreeMap::new();
        for row in named("spend.lock", query.fetch_all(tx)).await? {
            let cap = held.entry(row.id).or_insert_with(|| Held {
                name: row.name,
                currency: row.currency,
                amount: Micros(row.amount),
                period_start: row.period_start,
                resets_at: row.resets_at,
                billed_in: row.billed_in,
                free: 0,
                spent: Vec::new(),
            });
            cap.free = cap.free.saturating_add(row.free);
            cap.spent.push(row.spent);
        }
        Ok(Self(held))
    }

    /// Takes a reservation of all its caps, or says which has no room for it; [`Self::write`] stores it.
    pub(crate) fn take(&mut self, reservation: &Reservation) -> Result<(), CapRefusal> {
        let needed = reservation.amount.0;
        if needed == 0 {
            return Ok(());
        }
        let held = reservation.caps.iter().filter_map(|id| self.0.get(id));
        if let Some(cap) = held.into_iter().find(|cap| cap.free < needed || cap.billed_in.is_some())
        {
            return Err(CapRefusal {
                cap: cap.name.clone(),
                currency: cap.currency.clone(),
                amount: cap.amount,
                free: Micros(cap.free),
                needed: reservation.amount,
                resets_at: cap.resets_at,
                billed_in: cap.billed_in.clone(),
            });
        }
        for id in &reservation.caps {
            if let Some(cap) = self.0.get_mut(id) {
                cap.free -= needed;
            }
        }
        Ok(())
    }

    /// Gives a reservation back.
    pub(crate) fn give_back(&mut self, reservation: &Reservation) {
        for id in &reservation.caps {
            if let Some(cap) = self.0.get_mut(id) {
                cap.free = cap.free.saturating_add(reservation.amount.0);
            }
        }
    }

    /// Stores what was taken: the rest is spread over the shares.
    pub(crate) async fn write(&self, tx: &mut PgConnection) -> Result<(), StoreError> {
        let (mut caps, mut shares, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        let (mut free, mut spent, mut closed) = (Vec::new(), Vec::new(), Vec::new());
        for (id, cap) in &self.0 {
            for ((share, part), of_share) in (0_i16..).zip(spread(cap.free)).zip(&cap.spent) {
                caps.push(*id);
                shares.push(share);
                starts.push(cap.period_start);
                free.push(part);
                spent.push(*of_share);
                closed.push(cap.free < 0);
            }
        }
        let query = sqlx::query!(
            "update spend_share s set period_start = greatest(s.period_start, i.period_start), free = i.free, spent = i.spent, closed = i.closed
                from unnest($1::uuid[], $2::smallint[], $3::timestamptz[], $4::bigint[], $5::bigint[], $6::boolean[])
                    as i(cap_id, share, period_start, free, spent, closed)
                where s.cap_id = i.cap_id and s.share = i.share",
            &caps,
            &shares,
            &starts,
            &free,
            &spent,
            &closed
        );
        named("spend.spread", query.execute(tx)).await.map(drop)
    }
}

/// An amount over all shares, as evenly as whole numbers can be.
fn spread(amount: i64) -> impl Iterator<Item = i64> {
    let (part, rest) = (amount.div_euclid(SHARES.into()), amount.rem_euclid(SHARES.into()));
    (0..SHARES).map(move |share| part + i64::from(i64::from(share) < rest))
}

/// Takes `demand` from one share of each cap. `false`: some has too little, or is gone; undo the transaction, or the savepoint.
pub(crate) async fn take_at_once(
    tx: &mut PgConnection,
    demand: &Demand,
) -> Result<bool, StoreError> {
    let (caps, amounts): (Vec<Uuid>, Vec<i64>) = demand.0.iter().map(|(k, v)| (*k, *v)).unzip();
    let query = sqlx::query!(
        "with share as materialized (
                select s.cap_id, s.share, i.amount, date_trunc(p.period, now(), p.zone) as period_start
                from unnest($1::uuid[], $2::bigint[]) as i(cap_id, amount)
                join spend_cap p on p.id = i.cap_id
                join spend_share s on s.cap_id = i.cap_id and s.share = pg_backend_pid() % 8
                order by s.cap_id for no key update of s
            )
            update spend_share s set period_start = greatest(s.period_start, i.period_start),
                spent = case when s.period_start < i.period_start then 0 else s.spent end,
                free = s.free - i.amount + case when s.period_start < i.period_start then s.spent else 0 end
            from share i
            where s.cap_id = i.cap_id and s.share = i.share and not s.closed
                and s.free + case when s.period_start < i.period_start then s.spent else 0 end >= i.amount",
        &caps,
        &amounts
    );
    let taken = named("spend.take", query.execute(tx)).await?.rows_affected();
    Ok(taken == caps.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_spread_whole() {
        for amount in [0, 1, 7, 8, 9, 1_000_003, -1, -8, -9] {
            let parts: Vec<i64> = spread(amount).collect();
            assert_eq!(parts.len(), 8);
            assert_eq!(parts.iter().sum::<i64>(), amount);
            assert!(parts.iter().max().unwrap() - parts.iter().min().unwrap() <= 1, "{parts:?}");
        }
    }
}

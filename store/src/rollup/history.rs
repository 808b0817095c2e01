//! Reads what price books, plans and tenants were.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::plan;
use crate::price_book;
use crate::statement::named;
use domain::id::TenantId;
use domain::price::PriceHistory;
use std::collections::HashSet;

/// What prices were; of tenants those that were asked for.
pub(super) struct Known<'a> {
    db: &'a SchedulerDb,
    pub(super) history: PriceHistory,
    tenants: HashSet<TenantId>,
}

impl<'a> Known<'a> {
    /// All price books, and how plans were billed: both are few.
    pub(super) async fn read(db: &'a SchedulerDb) -> Result<Self, StoreError> {
        let mut history = PriceHistory::default();
        let query = sqlx::query!(r#"select name, document::text as "document!" from price_book"#);
        for row in named("rollup.price_books", query.fetch_all(db.pool())).await? {
            let book = price_book::book_of(&row.document)?;
            history.book(price_book::name_of(row.name)?, book);
        }
        let query = sqlx::query!("select plan, since, billing::text from plan_billing");
        for row in named("rollup.plans", query.fetch_all(db.pool())).await? {
            let billing = row.billing.as_deref().map(price_book::billing_of).transpose()?;
            history.plan(plan::name_of(row.plan)?, row.since, billing);
        }
        Ok(Self { db, history, tenants: HashSet::new() })
    }

    /// Reads which plans these tenants were on, unless that is known.
    pub(super) async fn know(
        &mut self,
        tenants: impl Iterator<Item = TenantId>,
    ) -> Result<(), StoreError> {
        let new: HashSet<_> = tenants.filter(|tenant| !self.tenants.contains(tenant)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = new.iter().map(|tenant| tenant.uuid()).collect();
        let query = sqlx::query!(
            r#"select p.tenant_id as "tenant_id!", p.since as "since!", p.plan as "plan!"
                from unnest($1::uuid[]) as i(id)
                cross join lateral (select t.tenant_id, t.since, t.plan from tenant_plan t where t.tenant_id = i.id) p"#,
            &ids
        );
        for row in named("rollup.tenants", query.fetch_all(self.db.pool())).await? {
            self.history.tenant(TenantId(row.tenant_id), row.since, plan::name_of(row.plan)?);
        }
        self.tenants.extend(new);
        Ok(())
    }
}

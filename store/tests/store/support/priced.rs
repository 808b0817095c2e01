//! A tenant that is billed.

use super::world::World;
use domain::audit::By;
use domain::id::TenantId;
use domain::plan::{PlanLimits, PutPlan};
use domain::price::{Billing, Included, PutBilling};
use serde_json::json;
use store::tenant::{self, TenantChange};
use store::{plan, price_book};

/// A plan with prices in which nothing is round: rates, two bands of tolerance, and a price a task, a fire and what is stored.
pub async fn priced(world: &World, tenant: TenantId) {
    let of = |from: &str, cpu: i64| {
        json!({ "effective_from": from, "each": { "task": 3, "fire": 2, "stored_gib_month": 70_001 },
            "rates": { "cpu_core": cpu, "memory_gib": 7_777, "disk_gib": 123, "thousand_iops": 999, "port": 11 },
            "tiers": { "premium": { "cpu_core": 33_333 } },
            "discounts": { "flexible_percent": 33, "tolerance": [{ "at_least_s": 60, "percent": 7 }, { "at_least_s": 3600, "percent": 41 }] } })
    };
    let book = json!({ "currency": "EUR", "prices": [of("2020-01-01T00:00:00Z", 41_000), of("2024-05-05T05:05:05Z", 59_999)] });
    let (eur, book) = ("eur".parse().unwrap(), serde_json::from_value(book).unwrap());
    price_book::put(&world.admin, &eur, None, &book, By::SYSTEM).await.unwrap();
    let billing = Billing { price_book: eur, included: Included::default(), minimum: 0 };
    let new = PutPlan { limits: PlanLimits::default(), billing: PutBilling::Is(Some(billing)) };
    let team: domain::id::PlanName = "team".parse().unwrap();
    plan::put(&world.admin, &team, None, new, By::SYSTEM).await.unwrap();
    let change = TenantChange { plan: Some(team), weight: None };
    tenant::change(&world.admin, tenant, &change, By::SYSTEM).await.unwrap();
}

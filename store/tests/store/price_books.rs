//! Price books, the plans that name them, and what stays of both.

use crate::support::World;
use domain::audit::By;
use domain::id::{PlanName, PriceBookName};
use domain::plan::PlanLimits;
use domain::plan::PutPlan;
use domain::price::{Billing, Included, PriceBook, PutBilling};
use serde_json::{Value, json};
use store::plan::{self, PlanStored};
use store::price_book::{self, Deleted, PriceBookStored};
use store::tenant::{self, TenantChange};

fn book(prices: &[(&str, i64)]) -> PriceBook {
    let of =
        |(from, cpu): &(&str, i64)| json!({ "effective_from": from, "rates": { "cpu_core": cpu } });
    let prices: Vec<Value> = prices.iter().map(of).collect();
    serde_json::from_value(json!({ "currency": "EUR", "prices": prices })).unwrap()
}

fn billing(book: &PriceBookName, minimum: i64) -> Billing {
    Billing { price_book: book.clone(), included: Included::default(), minimum }
}

#[tokio::test]
async fn a_price_book_is_stored_changed_and_deleted_while_no_plan_has_named_it() {
    let world = World::new().await;
    let eur: PriceBookName = "eur".parse().unwrap();
    let put = async |if_version, book: &PriceBook| {
        price_book::put(&world.admin, &eur, if_version, book, By::SYSTEM).await.unwrap()
    };
    let first = book(&[("2020-01-01T00:00:00Z", 1), ("2120-01-01T00:00:00Z", 2)]);
    assert_eq!(put(Some(1), &first).await, PriceBookStored::VersionMismatch { version: None });
    assert!(
        matches!(put(Some(0), &first).await, PriceBookStored::Created(made) if made.version == 1)
    );
    assert!(
        matches!(put(None, &first).await, PriceBookStored::Unchanged(made) if made.version == 1)
    );
    let changed = book(&[("2020-01-01T00:00:00Z", 1), ("2121-01-01T00:00:00Z", 3)]);
    for other in [Some(0), Some(2)] {
        let mismatch = PriceBookStored::VersionMismatch { version: Some(1) };
        assert_eq!(put(other, &changed).await, mismatch, "nothing is stored");
    }
    for altered in [
        book(&[("2020-01-01T00:00:00Z", 9), ("2120-01-01T00:00:00Z", 2)]),
        book(&[("2120-01-01T00:00:00Z", 2)]),
        book(&[("2020-01-01T00:00:00Z", 1), ("2021-01-01T00:00:00Z", 2)]),
    ] {
        let stored = put(None, &altered).await;
        assert!(matches!(&stored, PriceBookStored::Alters(at) if at.len() == 1), "{stored:?}");
    }
    assert!(
        matches!(put(Some(1), &changed).await, PriceBookStored::Updated(made) if made.version == 2)
    );
    let found = price_book::find(&world.admin, &eur).await.unwrap().unwrap();
    assert_eq!((&found.book, found.version), (&changed, 2));
    assert_eq!(price_book::list(&world.admin).await.unwrap(), [found]);
    let delete = async |if_version| {
        price_book::delete(&world.admin, &eur, if_version, By::SYSTEM).await.unwrap()
    };
    assert_eq!(delete(Some(1)).await, Deleted::VersionMismatch { version: 2 });
    assert_eq!(delete(Some(2)).await, Deleted::Yes);
    assert_eq!(delete(None).await, Deleted::NotFound);
    let audited =
        "select string_agg(action, ' ' order by id) from audit where target_kind = 'price_book'";
    let audited = world.text(audited).await.unwrap();
    assert_eq!(audited, "price_book.put price_book.put price_book.delete");
}

#[tokio::test]
async fn a_plan_names_a_price_book_that_is_there_and_what_it_named_stays() {
    let world = World::new().await;
    let (team, eur): (PlanName, PriceBookName) = ("team".parse().unwrap(), "eur".parse().unwrap());
    let put = async |billing: PutBilling| {
        let new = PutPlan { limits: PlanLimits::default(), billing };
        plan::put(&world.admin, &team, None, new, By::SYSTEM).await.unwrap()
    };
    let named = |minimum| PutBilling::Is(Some(billing(&eur, minimum)));
    assert_eq!(put(named(0)).await, PlanStored::NoPriceBook);
    price_book::put(&world.admin, &eur, None, &book(&[("2020-01-01T00:00:00Z", 1)]), By::SYSTEM)
        .await
        .unwrap();
    assert!(
        matches!(put(PutBilling::Kept).await, PlanStored::Created(made) if made.billing.is_none())
    );
    assert!(
        matches!(put(named(0)).await, PlanStored::Updated(made) if made.billing == Some(billing(&eur, 0)))
    );
    assert!(
        matches!(put(PutBilling::Kept).await, PlanStored::Unchanged(_)),
        "as a client that knows of no prices sends it"
    );
    assert!(matches!(put(named(7)).await, PlanStored::Updated(made) if made.version == 3));
    let other = PutPlan {
        limits: PlanLimits { backlog: 5, ..PlanLimits::default() },
        billing: PutBilling::Kept,
    };
    plan::put(&world.admin, &team, None, other, By::SYSTEM).await.unwrap();
    let ended = put(PutBilling::Is(None)).await;
    assert!(matches!(&ended, PlanStored::Updated(made) if made.billing.is_none()), "{ended:?}");
    let kept = "select string_agg(coalesce(billing ->> 'minimum', '-'), ' ' order by since) from plan_billing where plan = 'team'";
    assert_eq!(world.text(kept).await.unwrap(), "- 0 7 -");
    // No plan names it any more; what was used then still has its prices.
    let deleted = price_book::delete(&world.admin, &eur, None, By::SYSTEM).await.unwrap();
    assert_eq!(deleted, Deleted::InUse);

    let tenant = world.tenant().await;
    let change = TenantChange { plan: Some(team.clone()), weight: None };
    tenant::change(&world.admin, tenant, &change, By::SYSTEM).await.unwrap();
    let weight = TenantChange { plan: None, weight: Some(Some(2.0)) };
    tenant::change(&world.admin, tenant, &weight, By::SYSTEM).await.unwrap();
    let plans = format!(
        "select string_agg(plan, ' ' order by since) from tenant_plan where tenant_id = '{}'",
        tenant.uuid()
    );
    assert_eq!(world.text(plans).await.unwrap(), "default team");
}

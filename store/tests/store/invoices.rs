//! Each month is billed once, to the last unit; what is final stays; credits, refunds; and what was used is exported once.

use crate::rollup::{count, random_attempts};
use crate::support::{World, priced};
use domain::audit::By;
use domain::id::TenantId;
use domain::invoice::{BillingZone, InvoiceLine, InvoiceName, InvoiceState, LineKind};
use domain::price::Micros;
use domain::time::{Timestamp, parse_time};
use std::collections::BTreeSet;
use std::time::Duration;
use store::TenantScope;
use store::credit::{self, CreditKind, Credited, NewCredit};
use store::invoice::{
    self, Closed, Finalized, InvoiceRecord, Settled, TenantBillingPut, attempts, close_next,
};
use store::usage_event::{self, UsagePosition};

const SELLER: &str = "Berth Cloud\nHamburg";

fn time(text: &str) -> Timestamp {
    parse_time(text).unwrap()
}

/// A tenant that was made in March 2026, in Berlin, whose plan has had prices since before; all is counted until now.
async fn billed(world: &World) -> TenantId {
    let tenant = world.tenant().await;
    priced(world, tenant).await;
    world
        .sql(
            "delete from tenant_plan where plan <> 'team'; update tenant_plan set since = '2020-01-01';
            update plan_billing set since = '2020-01-01' where plan = 'team'; update tenant set created_at = '2026-03-15T12:00:00Z';
            update event_cursor set seq = -1, at = now() where consumer = 'usage'",
        )
        .await;
    let put = TenantBillingPut { zone: "Europe/Berlin".parse().unwrap(), ..Default::default() };
    let stored = invoice::put_billing(&world.admin, tenant, &put, By::SYSTEM).await.unwrap();
    assert_eq!(stored.unwrap().period.starts_at, time("2026-03-01T00:00:00Z"), "made in UTC");
    world.sql("update tenant_billing set starts_at = '2026-02-28T23:00:00Z'").await;
    tenant
}

/// What was used in a quarter of an hour.
async fn used(world: &World, tenant: TenantId, at: &str, (tier, attempts, cost): (&str, i64, i64)) {
    world
        .sql(format!(
            "insert into usage_rollup values ('{}', 'tier', '{at}', '', '{tier}', false, 'eur', {attempts}, {attempts}, {attempts},
                60000, 1, 2, 3, 4, 5, {cost}, {attempts} * 3)",
            tenant.uuid()
        ))
        .await;
}

async fn all(world: &World, tenant: TenantId) -> Vec<InvoiceRecord> {
    let (scope, now) = (TenantScope::of_role(tenant), runtime::clock::wall());
    invoice::list(&world.api, &scope, SELLER, now).await.unwrap()
}

async fn close(world: &World, tenant: TenantId) -> Closed {
    close_next(&world.scheduler, tenant, SELLER).await.unwrap()
}

fn shown(record: &InvoiceRecord) -> String {
    let line = |line: &InvoiceLine| format!("{} {}", line.kind, line.amount.0);
    let lines: Vec<_> = record.document.lines.iter().map(line).collect();
    format!("{} {} {}: {}", record.name, record.state, record.total.0, lines.join(", "))
}

fn name(text: &str) -> InvoiceName {
    text.parse().unwrap()
}

fn new_credit(key: &str, amount: i64) -> NewCredit {
    NewCredit {
        key: key.into(),
        kind: CreditKind::Credit,
        currency: "EUR".parse().unwrap(),
        amount: Micros(amount),
        invoice: None,
        reason: format!("for {key}"),
    }
}

async fn make(world: &World, tenant: TenantId, new: &NewCredit) -> Credited {
    credit::create(&world.admin, tenant, new, By::SYSTEM).await.unwrap()
}

#[tokio::test]
async fn a_month_is_billed_once_whoever_bills_it_and_ends_when_the_zone_says() {
    let world = World::new().await;
    let tenant = billed(&world).await;
    // The last quarter of an hour of March in Berlin, where summer has begun, and the first of April.
    used(&world, tenant, "2026-03-31T21:45:00Z", ("basic", 2, 1_004_994)).await;
    used(&world, tenant, "2026-03-31T22:00:00Z", ("premium", 5, 7_000_000)).await;
    let drafts: Vec<_> = all(&world, tenant).await.iter().map(shown).collect();
    assert_eq!(
        drafts,
        [
            "2026-04-EUR draft 7000000: attempts 7000000, tasks 15, rounding -15",
            "2026-03-EUR draft 1000000: attempts 1004994, tasks 6, rounding -5000",
        ],
        "half to even"
    );
    let ending = invoice::ending(&world.scheduler, None, 10).await.unwrap();
    assert_eq!(ending, [tenant]);
    let closed =
        futures::future::join_all((0..8).map(|_| close_next(&world.scheduler, tenant, SELLER)));
    let closed: Vec<_> = closed.await.into_iter().map(Result::unwrap).collect();
    let made: usize =
        closed.iter().map(|one| if let Closed::Yes(made) = one { *made } else { 0 }).sum();
    assert_eq!(made, 2, "eight months passed, two with anything in them: {closed:?}");
    let finals: Vec<_> = all(&world, tenant).await.iter().map(shown).collect();
    assert_eq!(
        finals,
        [
            "2026-04-0002 final 7000000: attempts 7000000, tasks 15, rounding -15",
            "2026-03-0001 final 1000000: attempts 1004994, tasks 6, rounding -5000",
        ]
    );
    let first = all(&world, tenant).await.remove(1);
    assert_eq!(first.period.ends_at, time("2026-03-31T22:00:00Z"));
    assert_eq!(first.document.seller, SELLER);
    let audited =
        "select count(*) from audit where action = 'invoice.finalize' and actor_kind = 'system'";
    assert_eq!(world.number(audited).await, 2);
    // What comes too late for its month changes nothing that is final.
    used(&world, tenant, "2026-03-15T00:00:00Z", ("basic", 1, 5_000_000)).await;
    assert_eq!(shown(&all(&world, tenant).await[1]), finals[1]);
}

#[tokio::test]
async fn a_month_is_not_billed_before_it_is_over_and_counted() {
    let world = World::new().await;
    let tenant = billed(&world).await;
    used(&world, tenant, "2026-03-20T00:00:00Z", ("basic", 1, 10_000)).await;
    let cursor = async |set: &str| {
        world.sql(format!("update event_cursor set {set} where consumer = 'usage'")).await;
    };
    let draft = name("2026-03-EUR");
    let finalize =
        async || invoice::finalize(&world.admin, tenant, draft, SELLER, By::SYSTEM).await.unwrap();
    // Counted to an instant before the end, and while an earlier release's usage is being counted.
    for set in ["at = '2026-03-31T21:59:59Z'", "at = now(), seq = 5"] {
        cursor(set).await;
        assert_eq!(invoice::ending(&world.scheduler, None, 10).await.unwrap(), [], "{set}");
        assert_eq!(close(&world, tenant).await, Closed::NotYet, "{set}");
        assert_eq!(finalize().await, Finalized::NotCounted, "{set}");
    }
    cursor("at = now(), seq = -1").await;
    let april = name("2026-04-EUR");
    let later = invoice::finalize(&world.admin, tenant, april, SELLER, By::SYSTEM).await.unwrap();
    assert_eq!(later, Finalized::NotFound, "March comes first");
    assert!(
        matches!(finalize().await, Finalized::Yes(record) if shown(&record).starts_with("2026-03-0001 final 10000:"))
    );
    assert_eq!(finalize().await, Finalized::NotFound, "it is no draft any more");
    // The present month.
    let present = BillingZone::default().month_of(runtime::clock::wall());
    world
        .sql(format!(
            "update tenant_billing set zone = 'UTC', month = '{}', starts_at = '{}', ends_at = '{}'",
            present.month, present.starts_at, present.ends_at
        ))
        .await;
    used(&world, tenant, &present.starts_at.to_rfc3339(), ("basic", 1, 10_000)).await;
    let draft = InvoiceName::Draft { month: present.month, currency: "EUR".parse().unwrap() };
    let early = invoice::finalize(&world.admin, tenant, draft, SELLER, By::SYSTEM).await.unwrap();
    assert!(matches!(early, Finalized::NotBefore(at) if at > present.ends_at), "{early:?}");
    assert_eq!(close(&world, tenant).await, Closed::NotYet);
}

#[tokio::test]
async fn another_zone_leaves_nothing_out_and_bills_nothing_twice() {
    let world = World::new().await;
    let tenant = billed(&world).await;
    for (at, cost) in [
        ("2026-03-31T15:00:00Z", 1_000_000),
        ("2026-03-31T22:00:00Z", 2_000_000),
        ("2026-04-30T15:00:00Z", 4_000_000),
    ] {
        used(&world, tenant, at, ("basic", 0, cost)).await;
    }
    assert_eq!(close(&world, tenant).await, Closed::Yes(1));
    // April began in Berlin, and ends in Tokyo.
    let put = TenantBillingPut { zone: "Asia/Tokyo".parse().unwrap(), ..Default::default() };
    let stored = invoice::put_billing(&world.admin, tenant, &put, By::SYSTEM).await.unwrap();
    let period = stored.unwrap().period;
    assert_eq!(period.starts_at, time("2026-03-31T22:00:00Z"));
    assert_eq!(period.ends_at, time("2026-04-30T15:00:00Z"));
    assert_eq!(close(&world, tenant).await, Closed::Yes(1));
    assert_eq!(close(&world, tenant).await, Closed::Yes(1));
    let totals: Vec<_> = all(&world, tenant).await.iter().map(|one| one.total.0).collect();
    assert_eq!(totals, [4_000_000, 2_000_000, 1_000_000]);
}

#[tokio::test]
async fn what_is_final_never_changes_whoever_writes() {
    let world = World::new().await;
    let tenant = billed(&world).await;
    used(&world, tenant, "2026-03-20T00:00:00Z", ("basic", 1, 10_000)).await;
    make(&world, tenant, &new_credit("a", -1)).await;
    close(&world, tenant).await;
    let refused = async |sql: &str| {
        let done = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(&world.owner).await;
        done.err().and_then(|error| error.as_database_error()?.code().map(|code| code.to_string()))
    };
    for sql in [
        "update invoice set total = total + 1",
        "update invoice set document = jsonb_set(document, '{lines}', '[]')",
        "update invoice set state = 'paid', paid_at = now(), total = 0",
        "update invoice set ends_at = now()",
        "delete from invoice",
        "update credit set amount = -5",
        "update credit set applied_to = null",
        "delete from credit",
    ] {
        assert_eq!(refused(sql).await.as_deref(), Some("23000"), "{sql}");
    }
    // Rows that cannot be.
    for sql in [
        "update invoice set state = 'paid'",
        "insert into credit (tenant_id, key, kind, currency, amount, reason) select id, 'x', 'refund', 'EUR', -5, 'r' from tenant",
        "insert into credit (tenant_id, key, kind, currency, amount, reason) select id, 'x', 'credit', 'EUR', 0, 'r' from tenant",
    ] {
        assert_eq!(refused(sql).await.as_deref(), Some("23514"), "{sql}");
    }
    let paid = invoice::pay(&world.admin, tenant, name("2026-03-0001"), By::SYSTEM).await.unwrap();
    assert!(matches!(paid, Settled::Yes(record) if record.state == InvoiceState::Paid));
    let void = "update invoice set state = 'void', paid_at = null, voided_at = now()";
    assert_eq!(refused(void).await.as_deref(), Some("23000"));
}

#[tokio::test]
async fn a_credit_is_applied_once_and_what_exceeds_the_charges_is_carried() {
    let world = World::new().await;
    let tenant = billed(&world).await;
    let new = new_credit("outage", -7_000_000);
    assert!(matches!(make(&world, tenant, &new).await, Credited::Created(_)));
    assert!(matches!(make(&world, tenant, &new).await, Credited::Repeated(_)));
    let other = NewCredit { amount: Micros(-1), ..new };
    assert_eq!(make(&world, tenant, &other).await, Credited::KeyReused);
    used(&world, tenant, "2026-03-20T00:00:00Z", ("basic", 0, 3_000_000)).await;
    used(&world, tenant, "2026-04-20T00:00:00Z", ("basic", 0, 5_000_000)).await;
    assert_eq!(close(&world, tenant).await, Closed::Yes(1));
    assert_eq!(close(&world, tenant).await, Closed::Yes(1));
    let found: Vec<_> = all(&world, tenant).await.iter().map(shown).collect();
    assert_eq!(
        found,
        [
            "2026-04-0002 final 1000000: attempts 5000000, credit -4000000",
            "2026-03-0001 final 0: attempts 3000000, credit -7000000, carried 4000000",
        ]
    );
    // Void: what it applied comes back, once.
    for _ in 0..2 {
        let void = invoice::void(&world.admin, tenant, name("2026-04-0002"), By::SYSTEM).await;
        assert!(
            matches!(void.unwrap(), Settled::Yes(record) if record.state == InvoiceState::Void)
        );
    }
    let pay = invoice::pay(&world.admin, tenant, name("2026-04-0002"), By::SYSTEM).await.unwrap();
    assert_eq!(pay, Settled::Not(InvoiceState::Void));
    used(&world, tenant, "2026-05-20T00:00:00Z", ("basic", 0, 9_000_000)).await;
    assert_eq!(close(&world, tenant).await, Closed::Yes(1));
    let may = shown(&all(&world, tenant).await[0]);
    assert_eq!(may, "2026-05-0003 final 5000000: attempts 9000000, credit -4000000");
    let credits = credit::list(&world.admin, tenant).await.unwrap();
    let kinds: Vec<_> = credits.iter().map(|one| (one.credit.kind, one.applied_to)).collect();
    assert_eq!(
        kinds,
        [
            (CreditKind::Returned, Some(name("2026-05-0003"))),
            (CreditKind::Carried, Some(name("2026-04-0002"))),
            (CreditKind::Credit, Some(name("2026-03-0001"))),
        ]
    );
}

#[tokio::test]
async fn a_refund_after_final_changes_neither_the_invoice_nor_the_next_one() {
    let world = World::new().await;
    let tenant = billed(&world).await;
    used(&world, tenant, "2026-03-20T00:00:00Z", ("basic", 0, 3_000_000)).await;
    used(&world, tenant, "2026-04-20T00:00:00Z", ("basic", 0, 5_000_000)).await;
    close(&world, tenant).await;
    let number = name("2026-03-0001");
    let refund = |key: &str, amount| NewCredit {
        kind: CreditKind::Refund,
        invoice: Some(number),
        ..new_credit(key, amount)
    };
    let early = make(&world, tenant, &refund("r1", -1_000_000)).await;
    assert_eq!(early, Credited::NotPaid(InvoiceState::Final));
    invoice::pay(&world.admin, tenant, number, By::SYSTEM).await.unwrap();
    assert!(matches!(make(&world, tenant, &refund("r1", -1_000_000)).await, Credited::Created(_)));
    let much = make(&world, tenant, &refund("r2", -2_000_001)).await;
    assert_eq!(much, Credited::TooMuch(Micros(2_000_000)), "no more than was paid");
    let usd = NewCredit { currency: "USD".parse().unwrap(), ..refund("r3", -1) };
    assert_eq!(make(&world, tenant, &usd).await, Credited::OtherCurrency("EUR".parse().unwrap()));
    let unknown = NewCredit { invoice: Some(name("2026-03-0009")), ..refund("r4", -1) };
    assert_eq!(make(&world, tenant, &unknown).await, Credited::NoSuchInvoice);
    close(&world, tenant).await;
    let found: Vec<_> = all(&world, tenant).await;
    assert_eq!(shown(&found[0]), "2026-04-0002 final 5000000: attempts 5000000");
    assert_eq!(shown(&found[1]), "2026-03-0001 paid 3000000: attempts 3000000");
    assert_eq!(found[1].refunded, Micros(1_000_000));
    assert_eq!(
        credit::list(&world.admin, tenant).await.unwrap().len(),
        1,
        "refused ones are not made"
    );
}

#[tokio::test]
async fn no_tenant_sees_anothers_invoices_or_credits() {
    let world = World::new().await;
    let tenant = billed(&world).await;
    let other = world.tenant().await;
    used(&world, tenant, "2026-03-20T00:00:00Z", ("basic", 0, 3_000_000)).await;
    make(&world, tenant, &new_credit("a", -1)).await;
    close(&world, tenant).await;
    assert_eq!(all(&world, other).await, []);
    let (scope, now) = (TenantScope::of_role(other), runtime::clock::wall());
    for number in ["2026-03-0001", "2026-04-EUR"] {
        let found = invoice::find(&world.api, &scope, name(number), SELLER, now).await.unwrap();
        assert_eq!(found, None);
    }
}

/// The attempts of a line, page by page.
async fn of_line(world: &World, record: &InvoiceRecord, line: &InvoiceLine) -> Vec<(String, i64)> {
    let scope = TenantScope::of_role(record.tenant);
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = attempts(&world.api, &scope, (record, line), after, 37).await.unwrap();
        assert!(page.attempts.len() <= 37);
        for (attempt, _) in &page.attempts {
            found.push((format!("{}/{}", attempt.task, attempt.attempt), attempt.cost.0));
        }
        after = page.attempts.last().map(|(_, place)| *place);
        if !page.more {
            return found;
        }
    }
}

/// What is exported after a place, some at a time.
async fn exported(world: &World, mut after: UsagePosition) -> (Vec<(String, i64)>, UsagePosition) {
    let mut found = Vec::new();
    loop {
        let (events, place) = usage_event::read(&world.admin, after, 101).await.unwrap().unwrap();
        if events.is_empty() {
            return (found, place);
        }
        after = place;
        found.extend(events.iter().map(|event| {
            let cost = event.cost();
            (format!("{:?}", event.used), cost.0)
        }));
    }
}

#[tokio::test]
async fn the_attempts_of_each_line_and_all_that_is_exported_add_up_to_the_invoice() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    world
        .sql(
            "delete from tenant_plan where plan <> 'team'; update tenant_plan set since = '2020-01-01';
            update plan_billing set since = '2020-01-01' where plan = 'team'; update tenant set created_at = now() - interval '20 days'",
        )
        .await;
    count(&world).await;
    world.sql(random_attempts(tenant, 1500, (20, 0.3))).await;
    // What is stored of it is measured by the day.
    let stored = format!(
        "insert into stored_day (tenant_id, day, bytes)
            select '{}', (now() at time zone 'UTC')::date - d, 5368709120 + d from generate_series(1, 12) d",
        tenant.uuid()
    );
    world.sql(stored).await;
    count(&world).await;
    let drafts = all(&world, tenant).await;
    let (mut billed, mut lines) = (0, 0);
    for draft in &drafts {
        for line in &draft.document.lines {
            let found = of_line(&world, draft, line).await;
            if ![LineKind::Attempts, LineKind::Tasks, LineKind::Fires].contains(&line.kind) {
                assert_eq!(found, []);
                billed += if line.kind == LineKind::Stored { line.amount.0 } else { 0 };
                continue;
            }
            let ids: BTreeSet<_> = found.iter().map(|(id, _)| id).collect();
            assert_eq!(ids.len(), found.len(), "each once");
            assert_eq!(Some(found.len() as i64), line.quantity, "{line:?}");
            assert_eq!(found.iter().map(|(_, cost)| cost).sum::<i64>(), line.amount.0, "{line:?}");
            billed += line.amount.0;
            lines += 1;
        }
    }
    assert!(lines >= 5 && billed > 1_000_000, "{lines} {billed}");
    let (events, place) = exported(&world, UsagePosition::default()).await;
    let ids: BTreeSet<_> = events.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(ids.len(), events.len(), "each once");
    assert_eq!(events.iter().map(|(_, cost)| cost).sum::<i64>(), billed);
    // One that commits late comes after what was read, once.
    let mut late = world.owner.begin().await.unwrap();
    let early = random_attempts(tenant, 20, (20, 0.5));
    sqlx::raw_sql(sqlx::AssertSqlSafe(early)).execute(&mut *late).await.unwrap();
    world.sql(random_attempts(tenant, 20, (20, 0.6))).await;
    store::rollup::count(&world.scheduler).await.unwrap();
    let (none, place) = exported(&world, place).await;
    assert_eq!(none, [], "who began later waits for who began earlier");
    late.commit().await.unwrap();
    count(&world).await;
    let (more, place) = exported(&world, place).await;
    let charged = "select count(*) from attempt where charged or attempt = 1";
    let days = world.number("select count(*) from stored_day").await;
    assert_eq!((events.len() + more.len()) as i64, world.number(charged).await + days);
    assert!(more.iter().all(|(id, _)| !ids.contains(id)));
    let ahead = UsagePosition { txid: place.txid + 1_000_000, ..place };
    assert_eq!(usage_event::read(&world.admin, ahead, 1).await.unwrap(), None);
}

#[tokio::test]
async fn an_invoice_of_a_million_attempts_is_there_in_time() {
    let world = World::new().await;
    let tenant = billed(&world).await;
    // Each quarter of an hour of the month, for each tier.
    world
        .sql(format!(
            "insert into usage_rollup select '{}', 'tier', at, '', tier, false, 'eur', 113, 113, 113, 60000, 1, 2, 3, 4, 5, 12345, 339
                from generate_series('2026-02-28T23:00:00Z'::timestamptz, '2026-03-31T21:45:00Z', interval '15 min') at,
                    unnest(array['basic', 'regular', 'premium']) tier;
            analyze usage_rollup",
            tenant.uuid()
        ))
        .await;
    let began = runtime::clock::monotonic();
    assert_eq!(close(&world, tenant).await, Closed::Yes(1));
    let found = all(&world, tenant).await;
    let took = runtime::clock::monotonic() - began;
    let quantity: i64 = found[0].document.lines.iter().filter_map(|line| line.quantity).sum();
    assert!(quantity > 2_000_000, "attempts and tasks: {quantity}");
    println!("an invoice of a million attempts took {took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

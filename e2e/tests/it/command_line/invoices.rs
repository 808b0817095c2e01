//! Invoices by the customer's commands and the operators', of months that the scheduler bills while it is killed.

use super::Shell;
use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use serde_json::Value;
use std::time::Duration;
use testkit::poll;

const BOOK: &str = "{ currency: EUR, prices: [{ effective_from: 2020-01-01T00:00:00Z, rates: { cpu_core: 40000 } }] }";

/// The scheduler looks every five seconds; and whatever else uses this Postgres may hold the count up.
const BILLED: Duration = Duration::from_secs(90);

/// The tenant was made in May, is in Berlin, and used something in each month to July: 3 units, and a little.
const PAST: &str = "
    update tenant set created_at = '2026-05-15T12:00:00Z';
    insert into tenant_plan (tenant_id, since, plan) select id, '2020-01-01', plan from tenant on conflict do nothing;
    update plan_billing set since = '2020-01-01' where price_book = 'eur';
    insert into usage_rollup select t.id, 'tier', at, '', 'basic', false, 'eur', 2, 2, 2, 60000, 1, 2, 3, 4, 5, 3004999, 0
        from tenant t, unnest(array['2026-05-31T21:45:00Z', '2026-06-30T21:45:00Z', '2026-07-31T21:45:00Z']::timestamptz[]) at;
    insert into tenant_billing (tenant_id, zone, month, starts_at, ends_at)
        select id, 'Europe/Berlin', '2026-05-01', '2026-04-30T22:00:00Z', '2026-05-31T22:00:00Z' from tenant
        on conflict (tenant_id) do update set zone = excluded.zone, month = excluded.month, starts_at = excluded.starts_at,
            ends_at = excluded.ends_at";

#[tokio::test(flavor = "multi_thread")]
async fn each_month_is_billed_once_and_is_listed_downloaded_paid_and_refunded() -> anyhow::Result<()>
{
    let shape = Shape::default().with(Role::Scheduler, 1);
    let shape = shape.set("BERTH_BILLING__SELLER", "Berth Cloud\nHamburg");
    let mut cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let file = shell.home.path().join("eur.yaml");
    std::fs::write(&file, BOOK)?;
    let file = file.to_str().context("a path")?;
    cluster.berth(&["admin", "price-book", "put", "eur", file]).await?;
    cluster.berth(&["admin", "plan", "set", "default", "--price-book", "eur"]).await?;
    let credit = ["admin", "credit", "create", "acme", "outage", "--amount", "-1000000"];
    let made = [&credit[..], &["--currency", "EUR", "--reason", "An outage"]].concat();
    assert!(cluster.berth(&made).await?.contains("An outage"));
    cluster.database().sql(PAST).await?;
    let scheduler = *cluster.of(Role::Scheduler).first().context("a scheduler")?;
    for _ in 0..3 {
        cluster.kill9(scheduler)?;
        cluster.launch(scheduler)?;
        cluster.ready(scheduler).await?;
    }
    let billed = async || {
        let (code, out, _) =
            shell.berth(&["invoice", "list", "--output", "json"], "").await.ok()?;
        let list: Value = serde_json::from_str(&out).ok().filter(|_| code == 0)?;
        let rows = list["data"].as_array()?.clone();
        (rows.len() == 3 && rows.iter().all(|row| row["state"] == "final")).then_some(rows)
    };
    let rows = poll::until_some("the months to be billed", BILLED, billed).await?;
    let shown: Vec<_> =
        rows.iter().map(|row| format!("{} {}", row["number"], row["total"])).collect();
    assert_eq!(
        shown,
        ["\"2026-07-0003\" 3000000", "\"2026-06-0002\" 3000000", "\"2026-05-0001\" 2000000"]
    );
    assert_eq!(rows[0]["seller"], "Berth Cloud\nHamburg");

    let (code, out, err) = shell.berth(&["invoice", "get", "2026-05-0001"], "").await?;
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Credit: An outage") && out.contains("total  2.00 EUR"), "{out}");
    let (code, _, err) = shell.berth(&["invoice", "download", "2026-05-0001"], "").await?;
    assert_eq!(code, 0, "{err}");
    let pdf = std::fs::read(shell.home.path().join("invoice-2026-05-0001.pdf"))?;
    assert!(pdf.starts_with(b"%PDF-"));
    let csv = ["invoice", "download", "2026-05-0001", "--format", "csv", "--to", "-"];
    let (code, csv, _) = shell.berth(&csv, "").await?;
    assert!(code == 0 && csv.contains(",total,Total,,,,2.00,EUR"), "{csv}");
    let (code, _, _) = shell.berth(&["invoice", "get", "2026-05-0009"], "").await?;
    assert_eq!(code, 3);

    let paid = cluster.berth(&["admin", "invoice", "pay", "acme", "2026-05-0001"]).await?;
    assert!(paid.contains("paid"), "{paid}");
    let refund = ["admin", "credit", "create", "acme", "r1", "--refund", "--amount", "-500000"];
    let of = ["--currency", "EUR", "--reason", "In error", "--invoice", "2026-05-0001"];
    cluster.berth(&[&refund[..], &of].concat()).await?;
    let (_, out, _) = shell.berth(&["invoice", "get", "2026-05-0001"], "").await?;
    assert!(out.contains("total  2.00 EUR") && out.contains("refunded  0.50 EUR"), "{out}");
    let listed = cluster.berth(&["admin", "credit", "list", "acme"]).await?;
    assert!(listed.contains("refund") && listed.contains("2026-05-0001"), "{listed}");
    let zone = ["admin", "invoice", "set-billing", "acme", "--zone", "Asia/Tokyo"];
    assert!(cluster.berth(&zone).await?.contains("Asia/Tokyo"));
    Ok(())
}

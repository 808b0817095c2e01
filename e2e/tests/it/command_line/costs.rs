//! Prices by the operators' commands, and what a customer's commands say that it costs.

use super::Shell;
use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use serde_json::Value;
use std::time::Duration;
use testkit::poll;

/// A core for an hour costs 3600 units, and a millicore for a second a thousandth of one.
const BOOK: &str = "
currency: EUR
prices:
  - effective_from: 2020-01-01T00:00:00Z
    rates: { cpu_core: 3600000000 }
    each: { task: 1000000 }
  - effective_from: 2120-01-01T00:00:00Z
";

/// An attempt is shown within five seconds of its end; and whatever else uses this Postgres may hold the count up.
const SHOWN: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_cost_is_shown_at_the_price_that_operators_stored() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default().with(Role::Executor, 1)).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let file = shell.home.path().join("eur.yaml");
    std::fs::write(&file, BOOK)?;
    let file = file.to_str().context("a path")?;
    let listed = cluster.berth(&["admin", "price-book", "put", "eur", file]).await?;
    let row = listed.lines().nth(1).context("a row")?;
    assert!(row.starts_with("eur") && row.contains("2020-01-01T00:00:00Z"), "{listed}");
    assert!(row.contains("2120-01-01T00:00:00Z"), "what comes next: {listed}");
    let kept = cluster.berth(&["admin", "price-book", "get", "eur"]).await?;
    std::fs::write(file, &kept)?;
    cluster.berth(&["admin", "price-book", "put", "eur", file]).await?;
    let plan = ["admin", "plan", "set", "default", "--price-book", "eur", "--included-tasks", "1"];
    let shown = cluster.berth(&plan).await?;
    assert!(shown.contains("PRICE BOOK") && shown.contains(" eur"), "{shown}");

    let (code, _, err) = shell
        .berth(&["submit", "--follow", "--label", "team=media", "--", "sleep", "0.2"], "")
        .await?;
    assert_eq!(code, 0, "{err}");
    let costs = async || {
        let (_, costs) = customer.call("GET", "/v1/costs", None, None).await.ok()?;
        costs["data"].get(0).cloned().map(|row| (row, costs))
    };
    let (row, costs) = poll::until_some("the attempt to be counted", SHOWN, costs).await?;
    // A thousand micro-units for a millisecond of a core; a task gives a quarter of one, unless it says.
    let used = row["cpu_millis_ms"].as_i64().context("cpu")?;
    assert!(used >= 200 * 250, "{row}");
    assert_eq!((&row["currency"], &row["attempts"]), (&Value::from("EUR"), &Value::from(1)));
    assert_eq!(
        (&row["attempts_cost"], &row["tasks_cost"]),
        (&Value::from(used), &Value::from(1_000_000))
    );
    assert_eq!(costs["month"]["so_far"]["included"], -1_000_000);
    assert_eq!(costs["month"]["so_far"]["total"], used);

    let (code, table, err) = shell.berth(&["cost", "--group-by", "label:team"], "").await?;
    assert_eq!(code, 0, "{err}");
    let total = format!("{}", 1.0 + used as f64 / 1e6);
    assert!(
        table.contains("media") && table.contains(&total) && table.contains("EUR so far, about"),
        "{table}"
    );
    assert!(table.contains("included: -1.00 EUR"), "{table}");
    let (code, out, _) = shell.berth(&["cost", "--output", "json", "--step", "hour"], "").await?;
    let json: Value = serde_json::from_str(&out)?;
    assert_eq!((code, &json["totals"][0]["cost"]), (0, &Value::from(used + 1_000_000)));

    let altered = BOOK.replace("3600000000", "1");
    std::fs::write(file, altered)?;
    let refused = cluster.berth(&["admin", "price-book", "put", "eur", file]).await;
    let refused = refused.err().context("prices in effect were changed")?.to_string();
    assert!(refused.contains("/prices/0") && refused.contains("in effect"), "{refused}");
    let refused = cluster.berth(&["admin", "price-book", "delete", "eur"]).await;
    let refused = refused.err().context("a book that is named was deleted")?.to_string();
    assert!(refused.contains("has its prices"), "{refused}");
    Ok(())
}

//! `berth doctor` on a Berth at work: healthy, with something broken, and where it cannot look.

use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use serde_json::{Value, json};
use testkit::db::SERVICE_PASSWORD;

/// Exit code, output, and remarks.
pub(crate) async fn doctor(
    cluster: &Cluster,
    database_url: &str,
    amqp_url: &str,
) -> anyhow::Result<(i32, Value, String)> {
    let output = tokio::process::Command::new(testkit::program::find("cli", "berth")?)
        .args(["doctor", "--output", "json"])
        .env("BERTH_DATABASE__URL", database_url)
        .env("BERTH_DATABASE__SERVICE_PASSWORD", SERVICE_PASSWORD)
        .env("BERTH_DATABASE__ACQUIRE_TIMEOUT", "2s")
        .env("BERTH_BUS__URL", amqp_url)
        .env("BERTH_BUS__QUEUE_PREFIX", cluster.broker().queue_prefix())
        .output()
        .await?;
    let page = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let remarks = String::from_utf8(output.stderr)?;
    Ok((output.status.code().context("an exit code")?, page, remarks))
}

/// What it found of a check.
pub(crate) fn of<'a>(page: &'a Value, check: &str) -> &'a Value {
    let checks = page["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
    checks.iter().find(|one| one["check"] == check).unwrap_or(&Value::Null)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_says_what_is_wrong_what_to_do_and_where_it_could_not_look() -> anyhow::Result<()>
{
    let shape = Shape::default().with(Role::Scheduler, 1).with(Role::ResourceManager, 1);
    let cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let tasks = vec![json!({"run": {"noop": {"sleep": "100ms"}}}); 500];
    customer.submit_batch(&tasks, "load").await?;
    let (url, amqp) =
        (cluster.database().owner_url().to_owned(), cluster.broker().url().to_owned());

    let (code, page, remarks) = doctor(&cluster, &url, &amqp).await?;
    assert_eq!(code, 0, "beside load: {page} {remarks}");
    assert_eq!(page["healthy"], true);
    assert_eq!(of(&page, "queue_arguments")["seen"], "ok");

    cluster.database().sql("insert into pool (name) values ('nowhere')").await?;
    let session = "update executor_session set cpu_millis = 0 where ended_at is null";
    cluster.database().sql(session).await?;
    customer.submit_batch(&vec![json!({"run": {"noop": {"sleep": "20s"}}}); 8], "more").await?;
    let found = async || {
        let asked = doctor(&cluster, &url, &amqp).await;
        asked.is_ok_and(|(code, page, _)| {
            code == 1
                && of(&page, "capacity_exceeded")["seen"] == "found"
                && of(&page, "capacity_exceeded")["what_to_do"]
                    .as_str()
                    .is_some_and(|what| what.contains("drain"))
                && of(&page, "queue_arguments")["example"]
                    .as_str()
                    .is_some_and(|what| what.ends_with("hints.nowhere does not exist"))
        })
    };
    testkit::poll::until("both are found", std::time::Duration::from_secs(60), found).await?;

    cluster.database().sql("delete from pool where name = 'nowhere'").await?;

    let (code, page, _) = doctor(&cluster, &url, "amqp://guest:guest@127.0.0.1:1/%2f").await?;
    assert_eq!(of(&page, "queue_arguments")["seen"], "not_seen", "{page}");
    assert!(code == 1 || code == 2, "{code}");
    let (code, page, remarks) = doctor(&cluster, "postgres://x@127.0.0.1:1/x", &amqp).await?;
    assert_eq!((code, page), (2, Value::Null), "{remarks}");
    Ok(())
}

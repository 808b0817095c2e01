//! `berth canary` on a service that fails: what it says, what everybody is told, and what is reported when the service is back.

use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;
use testkit::poll;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{ChildStdout, Command};

const SOON: Duration = Duration::from_secs(60);

/// Reads what it says until it says `words`.
async fn says(lines: &mut Lines<BufReader<ChildStdout>>, words: &str) -> anyhow::Result<()> {
    let read = async {
        while let Some(line) = lines.next_line().await? {
            if line.contains(words) {
                return Ok(());
            }
        }
        anyhow::bail!("it ended and never said: {words}")
    };
    runtime::clock::timeout(SOON, read).await.with_context(|| format!("to hear: {words}"))?
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canary_sees_that_the_api_is_gone_and_tells_of_it_when_it_is_back() -> anyhow::Result<()>
{
    let _installed_before = rustls::crypto::ring::default_provider().install_default();
    let shape = Shape::default().with(Role::Api, 2).set("BERTH_API__PUBLIC_STATUS", "true");
    let mut cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up_with(&cluster, "canary", &["read", "submit"]).await?;
    let create = ["admin", "operator-key", "create", "--name", "canary", "--scope", "report"];
    let operator = cluster.berth(&create).await?.trim().to_owned();
    let program = testkit::program::find("cli", "berth")?;
    let canary = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.arg("canary").args(arguments).env("BERTH_SERVER", &cluster.api_urls()[0]);
        command.env("BERTH_API_KEY", customer.key()).env("BERTH_OPERATOR_KEY", &operator);
        command.stdout(Stdio::piped()).kill_on_drop(true);
        command
    };

    let once = canary(&["--once"]).output().await?;
    let said = String::from_utf8(once.stdout)?;
    assert!(once.status.success() && said.contains("accepted in"), "{said}");

    let mut process = canary(&["--name", "eu", "--every", "1s"]).spawn()?;
    let mut lines = BufReader::new(process.stdout.take().context("its output")?).lines();
    says(&mut lines, "All is well.").await?;
    let [first, second] = [0, 1].map(|at| cluster.api_urls()[at].clone());
    let status = async || -> anyhow::Result<Value> {
        Ok(reqwest::get(format!("{second}/v1/status")).await?.json().await?)
    };
    let is = async |health: &str| status().await.is_ok_and(|status| status["health"] == health);
    poll::until("all to be well", SOON, || is("operational")).await?;

    let api = cluster.of(Role::Api)[0];
    cluster.kill9(api)?;
    says(&mut lines, "was not accepted").await?;
    let refused = "select count(*) from canary_hour where accepted < submits";
    assert_eq!(cluster.database().sql(refused).await?, "0", "{first} takes no report");
    cluster.launch(api)?;
    says(&mut lines, "All is well again").await?;
    let told = async || {
        let Ok(status) = status().await else { return false };
        let count = |name: &str| status["recent"][name].as_u64();
        status["health"] == "operational" && count("accepted") < count("submits")
    };
    poll::until("what was refused to be reported", SOON, told).await?;
    process.kill().await?;
    Ok(())
}
